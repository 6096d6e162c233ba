/* SPDX-License-Identifier: MIT */
/* libfit/table: cells, the writer, tables in memory, inference, comparison, summaries and schemas. */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/table/cell.h"
#include "libfit/table/describe.h"
#include "libfit/table/diff.h"
#include "libfit/table/table.h"

static char dir[300];

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(dir, sizeof dir, "%s/test_table.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);	/* fails when a test left something */
}

static const char *in_dir(const char *name)
{
	static char path[600];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static char *slurp(const char *path)
{
	static char text[65536];
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f)
		return NULL;
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	return text;
}

static struct fit_table table_of(const char *text)
{
	struct fit_table t;
	struct fit_reader *r;
	struct fit_err err = { 0 };

	check_ok(fit_reader_open_memory(&r, "in", text, strlen(text), &err), &err);
	check_ok(fit_table_read_next(&t, r, NULL, 0, &err), &err);
	fit_reader_close(r);
	return t;
}

/* ---- cells ---- */

static void conversions(void **state)
{
	static const struct {
		enum fit_type from, to;
		const char *in, *out;	/* out NULL: refused */
	} c[] = {
		{ FIT_INT, FIT_TIME, "12", "12" }, { FIT_INT, FIT_TIME, "9223372037", NULL },
		{ FIT_TIME, FIT_INT, "-3", "-3" }, { FIT_TIME, FIT_INT, "3.5", NULL },
		{ FIT_REAL, FIT_INT, "7", "7" }, { FIT_REAL, FIT_INT, "7.25", NULL },
		{ FIT_REAL, FIT_INT, "1e19", NULL }, { FIT_REAL, FIT_INT, "nan", NULL },
		{ FIT_REAL, FIT_TIME, "0.1", "0.1" }, { FIT_REAL, FIT_TIME, "inf", NULL },
		{ FIT_TIME, FIT_REAL, "2.5", "2.5" }, { FIT_INT, FIT_REAL, "-8", "-8" },
		{ FIT_TEXT, FIT_INT, "19", "19" }, { FIT_TEXT, FIT_INT, "x", NULL },
		{ FIT_TEXT, FIT_TIME, "0.000000001", "0.000000001" }, { FIT_REAL, FIT_TEXT, "0.5", "0.5" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		struct fit_cell cell = { 0 };
		char scratch[40], buf[40];
		int rc;

		assert_int_equal(fit_cell_parse(c[i].from, fit_text_of(c[i].in), &cell), FIT_OK);
		rc = fit_cell_convert(c[i].from, c[i].to, &cell, scratch);
		if (!c[i].out) {
			assert_int_not_equal(rc, FIT_OK);
			continue;
		}
		assert_int_equal(rc, FIT_OK);
		if (c[i].to == FIT_TEXT) {
			check_span(cell.u.t, c[i].out);
		} else {
			fit_cell_format(c[i].to, &cell, buf);
			check_text(buf, c[i].out);
		}
	}
}

static void escapes(void **state)
{
	static const char *const texts[] = {
		"", "NA", "\\NA", "#", "#end rows=1", "a\tb", "\n", "\r", "\\", "\\t", "plain", "\xc3\xa9", "N", "NAN",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		for (int first = 0; first < 2; first++) {
			struct fit_str s = { 0 };
			size_t n;

			check_ok(fit_escape(&s, fit_text_of(texts[i]), first), NULL);
			assert_false(fit_text_is((struct fit_text){ s.s, s.n }, "NA"));
			assert_null(memchr(s.s, '\t', s.n));
			assert_null(memchr(s.s, '\n', s.n));
			assert_null(memchr(s.s, '\r', s.n));
			assert_false(first && s.s[0] == '#');
			n = s.n;
			check_ok(fit_unescape(s.s, &n), NULL);
			check_span(((struct fit_text){ s.s, n }), texts[i]);
			fit_str_release(&s);
		}
	}
}

static void operands(void **state)
{
	static const struct { const char *operand, *file, *path; } c[] = {
		{ "s.h5", "s.h5", NULL }, { "s.h5:/a/b", "s.h5", "/a/b" }, { "d.h5/x.hdf5:/t", "d.h5/x.hdf5", "/t" },
		{ "a:/b.h5", "a:/b.h5", NULL }, { "s.hdf5", "s.hdf5", NULL },
	};
	char *file, *path;
	struct fit_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		assert_true(fit_is_store(c[i].operand));
		check_ok(fit_store_split(c[i].operand, &file, &path, &err), &err);
		check_text(file, c[i].file);
		assert_true(!path == !c[i].path);
		if (path)
			check_text(path, c[i].path);
		free(file);
		free(path);
	}
	assert_false(fit_is_store("-"));
	assert_false(fit_is_store("x.h5.tsv"));
	assert_false(fit_is_store("x.h5:jobs"));
	check_err(fit_store_split("x.tsv", &file, &path, &err), &err, FIT_EINVAL,
		  "x.tsv: not a store (expected NAME.h5 or NAME.h5:/PATH)");
}

/* ---- the writer ---- */

static const struct fit_field four[] = {
	{ "name", FIT_TEXT, 0 }, { "n", FIT_INT, 0 }, { "x", FIT_REAL, 0 }, { "at_s", FIT_TIME, 0 }
};

static void writes(void **state)
{
	struct fit_meta meta = { 0 };
	struct fit_writer *w;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_meta_add(&meta, "note", "a\tb\\"), NULL);
	check_ok(fit_writer_open(&w, in_dir("out.tsv"), 0, &err), &err);
	check_ok(fit_writer_begin(w, "one", &meta, four, 4, &err), &err);
	fit_writer_str(w, "#1\t2");
	fit_writer_int(w, -5);
	fit_writer_real(w, 0.1);
	fit_writer_time(w, 1500000000);
	check_ok(fit_writer_end_row(w, &err), &err);
	fit_writer_str(w, "NA");
	fit_writer_na(w);
	fit_writer_real(w, fit_real_na());
	fit_writer_na(w);
	check_ok(fit_writer_end_row(w, &err), &err);
	fit_writer_str(w, NULL);
	fit_writer_int(w, INT64_MAX);
	fit_writer_real(w, (double)NAN);
	fit_writer_time(w, -INT64_MAX);
	check_ok(fit_writer_end_row(w, &err), &err);
	check_ok(fit_writer_end(w, &err), &err);
	check_ok(fit_writer_begin(w, "two", NULL, four + 1, 1, &err), &err);
	check_ok(fit_writer_end(w, &err), &err);
	assert_null(slurp(in_dir("out.tsv")));	/* not before it is whole */
	check_ok(fit_writer_close(w, &err), &err);
	check_text(slurp(in_dir("out.tsv")),
		   "#fit-table/1\n#table=one\n#note=a\\tb\\\\\n#types=text,int,real,time\nname\tn\tx\tat_s\n"
		   "\\#1\\t2\t-5\t0.10000000000000001\t1.5\n\\NA\tNA\tNA\tNA\n"
		   "NA\t9223372036854775807\tnan\t-9223372036.854775807\n#end rows=3\n"
		   "#fit-table/1\n#table=two\n#types=int\nn\n#end rows=0\n");
	assert_int_equal(unlink(in_dir("out.tsv")), 0);
	fit_meta_release(&meta);
}

static void writes_without_meta(void **state)
{
	struct fit_writer *w;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_writer_open(&w, in_dir("out.tsv"), FIT_W_NO_META, &err), &err);
	for (int k = 0; k < 2; k++) {
		check_ok(fit_writer_begin(w, "t", NULL, four, 2, &err), &err);
		fit_writer_str(w, "a");
		fit_writer_int(w, k);
		check_ok(fit_writer_end_row(w, &err), &err);
		check_ok(fit_writer_end(w, &err), &err);
	}
	check_ok(fit_writer_close(w, &err), &err);
	check_text(slurp(in_dir("out.tsv")), "name\tn\na\t0\n");
	assert_int_equal(unlink(in_dir("out.tsv")), 0);
}

/* Rows at once are the same bytes as cell by cell, whatever is in them. */
static void rows_at_once(void **state)
{
	static const char *const texts[] = {
		"", "a", "ab", "NA", "NAN", "abc", "#", "#abcdefgh", "a#", "abcd", "ab\tcd", "abcdefg", "abcdefgh",
		"abcdefghi", "0123456789abcde\n", "0123456789abcdef", "0123456789abcdefg", "\\", "xy\\", "12345678\\",
		"\\12345678", "1234567\r8", "\xc3\xa4", "abcdef\xc3\xa4", "abcdefgh\xc3\xa4ijklmnopq", "\x7f", "\x01",
		("a\x1f" "b"), " ", "~}|{z"
	};
	static const int64_t ints[] = {
		0, 1, 9, 10, 99, 100, 99999999, 100000000, 100000001, 9999999999999999, 10000000000000000, INT64_MAX,
		-1, -10, INT64_MIN + 1, 1000000000, -1000000000, 500000000, 86400000000000, 999999999
	};
	const double reals[] = {
		0, -0.0, 1, -1, 0.5, 999999999999999, 1e15, 1e300, 1e-300, (double)NAN, (double)INFINITY,
		-(double)INFINITY, 4503599627370497.5, 8
	};
	enum { N = 210 };
	char *by_cell = NULL;
	struct fit_err err = { 0 };

	(void)state;
	for (int at_once = 0; at_once < 2; at_once++) {
		const char *path = in_dir("out.tsv");
		struct fit_writer *w;

		check_ok(fit_writer_open(&w, path, 0, &err), &err);
		for (int from = 0; from < 4; from++) {	/* each type comes first once */
			struct fit_field fields[4];

			for (int j = 0; j < 4; j++)
				fields[j] = four[(from + j) % 4];
			check_ok(fit_writer_begin(w, "t", NULL, fields, 4, &err), &err);
			for (size_t i = 0; i < N; i++) {
				struct fit_cell c[4] = {
					{ .u.t = fit_text_of(texts[i % (sizeof texts / sizeof *texts)]) },
					{ .u.i = ints[i % (sizeof ints / sizeof *ints)] },
					{ .u.d = reals[i % (sizeof reals / sizeof *reals)] },
					{ .u.i = ints[(i + 3) % (sizeof ints / sizeof *ints)] }
				}, row[4];

				for (int j = 0; j < 4; j++) {
					row[j] = c[(from + j) % 4];
					row[j].na = (i * 7 + (size_t)j) % 11 == 0;
				}
				if (at_once) {
					check_ok(fit_writer_row(w, row, &err), &err);
					continue;
				}
				for (int j = 0; j < 4; j++)
					fit_writer_cell(w, fields[j].type, &row[j]);
				check_ok(fit_writer_end_row(w, &err), &err);
			}
			check_ok(fit_writer_end(w, &err), &err);
		}
		check_ok(fit_writer_close(w, &err), &err);
		if (!at_once) {
			by_cell = strdup(slurp(path));
			assert_non_null(by_cell);
			assert_non_null(strstr(by_cell, "#end rows=210"));
		} else {
			check_text(slurp(path), by_cell);
		}
		assert_int_equal(unlink(path), 0);
	}
	free(by_cell);
}

/* Cells of which it is known how they read: the same bytes as from those of which it is not. */
static void known_cells(void **state)
{
	char of_text[FIT_PLAIN_MAX + 1] = "sixteen bytes  x", digits[FIT_PLAIN_MAX + 1] = "12345678........";
	struct fit_writer *w;
	struct fit_err err = { 0 };
	char *with = NULL;

	(void)state;
	for (int known = 1; known >= 0; known--) {
		const char *path = in_dir("out.tsv");

		check_ok(fit_writer_open(&w, path, FIT_W_NO_META, &err), &err);
		check_ok(fit_writer_begin(w, NULL, NULL, four, 4, &err), &err);
		for (unsigned char n = 1; n <= FIT_PLAIN_MAX; n++) {
			struct fit_cell row[4] = {
				{ .n_plain = n, .u.t = { of_text, n } }, { .n_plain = 8, .u.plain = digits },
				{ .na = n % 2 == 0 }, { .n_plain = 1, .u.plain = digits }
			};

			row[1].u.i = 12345678;
			row[3].u.i = INT64_C(1000000000);
			for (int j = 0; j < 4 && !known; j++)
				row[j].n_plain = 0;
			check_ok(fit_writer_row(w, row, &err), &err);
		}
		check_ok(fit_writer_end(w, &err), &err);
		check_ok(fit_writer_close(w, &err), &err);
		if (known)
			assert_non_null(with = strdup(slurp(path)));
		else
			check_text(slurp(path), with);
		assert_int_equal(unlink(path), 0);
	}
	assert_non_null(strstr(with, "sixteen byt\t12345678\t0\t1\n"));
	free(with);
}

static void row_faults(void **state)
{
	struct fit_cell bad = { .u.t = { "ab\xff" "d", 4 } }, nul = { .u.t = { "abcdefg\0h", 9 } },
			least = { .u.i = INT64_MIN };
	struct fit_writer *w;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_writer_open(&w, in_dir("out.tsv"), 0, &err), &err);
	check_ok(fit_writer_begin(w, NULL, NULL, four, 1, &err), &err);
	assert_int_equal(fit_writer_row(w, &bad, &err), FIT_EDATA);
	check_ok(fit_writer_begin(w, NULL, NULL, four, 1, &err), &err);
	assert_int_equal(fit_writer_row(w, &nul, &err), FIT_EDATA);
	check_ok(fit_writer_begin(w, NULL, NULL, four + 1, 1, &err), &err);
	check_err(fit_writer_row(w, &least, &err), &err, FIT_EDATA,
		  "bad value '-2^63' in column 'n' (expected an integer)");
	check_ok(fit_writer_begin(w, NULL, NULL, four + 3, 1, &err), &err);
	check_err(fit_writer_row(w, &least, &err), &err, FIT_EDATA,
		  "bad value '-2^63' in column 'at_s' (expected seconds with at most nine decimals)");
	check_ok(fit_writer_begin(w, NULL, NULL, four, 2, &err), &err);
	fit_writer_str(w, "a");		/* half a row, and then a whole one */
	assert_int_equal(fit_writer_row(w, (struct fit_cell[]){ { .na = true }, { .u.i = 1 } }, &err),
			 FIT_EINVAL);
	fit_writer_abort(w);
}

static void writer_faults(void **state)
{
	struct fit_meta meta = { 0 };
	struct fit_writer *w;
	struct fit_err err = { 0 };

	(void)state;
	check_err(fit_writer_open(&w, "/no/such/folder/x.tsv", 0, &err), &err, FIT_EIO,
		  "/no/such/folder/x.tsv: cannot open for writing: No such file or directory");
	check_err(fit_writer_open(&w, "/", 0, &err), &err, FIT_EIO, "/: cannot write: Is a directory");
	check_ok(fit_writer_open(&w, in_dir("out.tsv"), 0, &err), &err);
	check_ok(fit_meta_add(&meta, "types", "x"), NULL);
	check_err(fit_writer_begin(w, NULL, &meta, four, 4, &err), &err, FIT_EINVAL,
		  "bad metadata key 'types' (expected lower-case letters, digits and _)");
	check_ok(fit_writer_begin(w, NULL, NULL, four, 4, &err), &err);
	fit_writer_int(w, 1);
	check_err(fit_writer_end_row(w, &err), &err, FIT_EINVAL, "column 'name' is text, not int");
	check_ok(fit_writer_begin(w, NULL, NULL, four, 2, &err), &err);
	fit_writer_str(w, "a");
	check_err(fit_writer_end_row(w, &err), &err, FIT_EINVAL, "1 cells in a row of 2 columns");
	check_ok(fit_writer_begin(w, NULL, NULL, four, 1, &err), &err);
	fit_writer_str(w, "a");
	fit_writer_str(w, "b");
	check_err(fit_writer_end_row(w, &err), &err, FIT_EINVAL, "more cells than columns in a row");
	check_ok(fit_writer_begin(w, NULL, NULL, four, 1, &err), &err);
	fit_writer_text(w, (struct fit_text){ "a\0b", 3 });
	assert_int_equal(fit_writer_end_row(w, &err), FIT_EDATA);
	check_ok(fit_writer_begin(w, NULL, NULL, four, 1, &err), &err);
	fit_writer_str(w, "\xe2\x28\xa1");
	assert_int_equal(fit_writer_end_row(w, &err), FIT_EDATA);
	check_ok(fit_writer_begin(w, NULL, NULL, four + 1, 1, &err), &err);
	fit_writer_int(w, INT64_MIN);
	check_err(fit_writer_end_row(w, &err), &err, FIT_EDATA, "bad value '-2^63' in column 'n' (expected an integer)");
	fit_writer_abort(w);	/* leaves nothing: remove_dir() sees to that */
	fit_meta_release(&meta);
}

static void full_device(void **state)
{
	struct fit_writer *w;
	struct fit_err err = { 0 };

	(void)state;
	if (access("/dev/full", W_OK))
		skip();
	check_ok(fit_writer_open(&w, "/dev/full", 0, &err), &err);
	check_ok(fit_writer_begin(w, NULL, NULL, four, 4, &err), &err);
	check_ok(fit_writer_end(w, &err), &err);
	check_err(fit_writer_close(w, &err), &err, FIT_EIO, "/dev/full: cannot write: No space left on device");
}

/* ---- tables in memory ---- */

static void inference(void **state)
{
	struct fit_table t = table_of("job_id\tgpus\tat_s\tfine_s\tshare\tcode\tword\tvoid\n"
				      "1\t4\t12.5\t1.0000000001\t0.5\t007\tx\tNA\n"
				      "2\tNA\t3\t2\t1\t8\t1\tNA\n");
	static const enum fit_type types[] = {
		FIT_TEXT, FIT_INT, FIT_TIME, FIT_REAL, FIT_REAL, FIT_TEXT, FIT_TEXT, FIT_TEXT
	};

	(void)state;
	assert_int_equal(t.n_columns, 8);
	for (size_t c = 0; c < 8; c++)
		assert_int_equal(t.columns[c].type, types[c]);
	assert_int_equal(t.columns[1].i[1], FIT_INT_NA);
	assert_int_equal(t.columns[2].i[0], 12500000000);
	check_span(fit_column_text(fit_table_column(&t, "code"), 0), "007");
	assert_null(fit_column_text(&t.columns[7], 0).s);
	assert_null(fit_table_column(&t, "none"));
	assert_int_equal(t.first_line, 2);
	fit_table_release(&t);
}

/* A table that was read can be added to, also where a column changed its type. */
static void grows(void **state)
{
	struct fit_table t = table_of("a_id\tn\tx\nu\t1\t0.5\n");
	struct fit_err err = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		char name[20];
		struct fit_cell c[3] = { { .u.t = { name, 0 } }, { .u.i = i * 3 }, { .na = i % 3 == 0, .u.d = i / 8.0 } };

		c[0].u.t.n = (size_t)snprintf(name, sizeof name, "k%d", i);
		check_ok(fit_table_add(&t, c), NULL);
	}
	assert_int_equal(t.n_rows, 1001);
	check_span(fit_column_text(&t.columns[0], 0), "u");
	check_span(fit_column_text(&t.columns[0], 700), "k699");
	assert_int_equal(t.columns[1].i[1000], 999 * 3);
	assert_true(fit_column_cell(&t.columns[2], 1).na);
	check_same_bits(fit_column_cell(&t.columns[2], 2).u.d, 0.125);
	assert_int_equal(fit_table_fail(&t, 4, FIT_EDATA, "n", &err, "odd %d", 3), FIT_EDATA);
	check_text(err.msg, "in:6:n: odd 3");
	fit_table_release(&t);
	check_ok(fit_table_init(&t, NULL, NULL, 0, &err), &err);
	check_ok(fit_table_add(&t, NULL), NULL);
	assert_int_equal(fit_table_fail(&t, 0, FIT_EDATA, NULL, &err, "x"), FIT_EDATA);
	check_text(err.msg, "table:1: x");
	fit_table_release(&t);
}

static void missing_is_not_nan(void **state)
{
	double na = fit_real_na(), zero = 0;

	(void)state;
	assert_true(isnan(na) && fit_real_is_na(na));
	assert_false(fit_real_is_na((double)NAN));
	assert_false(fit_real_is_na(zero / zero));
	assert_false(fit_real_is_na(-(zero / zero)));
	assert_false(fit_real_is_na((double)INFINITY - (double)INFINITY));
}

static void reading_checks_the_rest(void **state)
{
	const char *path = in_dir("two.tsv");
	struct fit_table t;
	struct fit_err err = { 0 };
	FILE *f = fopen(path, "w");

	(void)state;
	assert_non_null(f);
	fputs("#fit-table/1\na\n1\n#end rows=1\n#fit-table/1\nb\n2\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(fit_table_read(&t, path, NULL, 0, &err), FIT_EPARSE);
	assert_non_null(strstr(err.msg, ":7: truncated table (no #end after 1 rows)"));
	assert_int_equal(t.n_columns, 0);
	assert_int_equal(unlink(path), 0);
}

/* ---- comparison ---- */

static int diff_texts(struct fit_diff *d, struct fit_table *a, struct fit_table *b, const char *ta,
		      const char *tb, const struct fit_diff_params *p, struct fit_err *err)
{
	*a = table_of(ta);
	*b = table_of(tb);
	snprintf(a->input, sizeof a->input, "a");
	snprintf(b->input, sizeof b->input, "b");
	return fit_diff_tables(d, a, b, p, err);
}

static void diff_finds(void **state)
{
	struct fit_diff_params p = { .max = 2 };
	struct fit_diff d;
	struct fit_table a, b;
	struct fit_err err = { 0 };
	struct fit_str s = { 0 };

	(void)state;
	check_ok(diff_texts(&d, &a, &b, "k_id\tx\tn\told\nr1\t1.5\t7\tu\nr2\t2\tNA\tu\nr3\t3\t9\tu\nr4\t4\t1\tu\n",
			    "n\tx\tk_id\tnew\n9\t3.5\tr3\tv\n7\t1.25\tr1\tv\n5\t2\tr2\tv\n0\t0\tr9\tv\n", &p, &err),
		 &err);
	assert_false(fit_diff_equal(&d));
	assert_int_equal(d.n_columns, 2);
	assert_int_equal(d.n_columns_a, 1);
	check_text(a.columns[d.columns_a[0]].name, "old");
	check_text(b.columns[d.columns_b[0]].name, "new");
	assert_int_equal(d.n_rows_a, 1);
	assert_int_equal(d.rows_a[0], 3);
	assert_int_equal(d.n_rows_b, 1);
	assert_int_equal(d.rows_b[0], 3);
	assert_int_equal(d.n_cells, 3);
	assert_int_equal(d.n_compared, 6);
	check_text(d.columns[0].name, "x");
	assert_int_equal(d.columns[0].different, 2);
	assert_int_equal(d.columns[0].first.row_a, 0);
	check_real(d.columns[0].first.gap, 0.25, 0, 0);
	assert_int_equal(d.columns[0].worst.row_a, 2);
	assert_int_equal(d.columns[0].worst.row_b, 0);
	check_real(d.columns[0].worst.gap, 0.5, 0, 0);
	assert_true(isinf(d.columns[1].first.gap));
	check_ok(fit_diff_row_name(&s, &b, d.keys_b, d.n_keys, 1), NULL);
	check_text(s.s, "k_id=r1");
	fit_str_release(&s);
	fit_diff_release(&d);
	/* the same within a tolerance, and without the columns of one side */
	p.ignore = (const char *const[]){ "old", "new", "n" };
	p.n_ignore = 3;
	p.abs = 0.25;
	p.rel = 0.0714;	/* of 3.5: 0.2499 */
	check_ok(fit_diff_tables(&d, &a, &b, &p, &err), &err);
	assert_int_equal(d.n_cells, 1);
	assert_int_equal(d.cells[0].row_a, 2);
	fit_diff_release(&d);
	p.rel = 0.0715;
	check_ok(fit_diff_tables(&d, &a, &b, &p, &err), &err);
	assert_int_equal(d.n_cells, 0);
	fit_diff_release(&d);
	fit_table_release(&a);
	fit_table_release(&b);
}

#define TYPED(type, values) "#fit-table/1\n#types=int," type "\nk\tv\n" values "\n#end rows=1\n"

static void diff_of_one(bool equal, const char *ta, const char *tb, double rel, int line)
{
	struct fit_diff_params p = { .rel = rel };
	struct fit_diff d;
	struct fit_table a, b;
	struct fit_err err = { 0 };
	bool found;

	check_ok(diff_texts(&d, &a, &b, ta, tb, &p, &err), &err);
	found = fit_diff_equal(&d);
	fit_diff_release(&d);
	fit_table_release(&a);
	fit_table_release(&b);
	if (found != equal) {
		print_error("'%s' and '%s' are %sequal\n", ta, tb, found ? "" : "not ");
		_fail(__FILE__, line);
	}
}
#define equal(ta, va, tb, vb) diff_of_one(true, TYPED(ta, "1\t" va), TYPED(tb, "1\t" vb), 0, __LINE__)
#define differ(ta, va, tb, vb) diff_of_one(false, TYPED(ta, "1\t" va), TYPED(tb, "1\t" vb), 0, __LINE__)

static void diff_of_cells(void **state)
{
	(void)state;
	equal("int", "4", "real", "4");
	equal("time", "2.5", "real", "2.5");
	equal("time", "3", "int", "3");
	equal("text", "4", "int", "4");
	equal("real", "nan", "real", "nan");
	equal("real", "inf", "real", "inf");
	equal("real", "0", "real", "-0");
	equal("text", "NA", "real", "NA");
	differ("text", "\\NA", "text", "NA");
	differ("real", "nan", "real", "NA");
	differ("real", "inf", "real", "-inf");
	differ("real", "inf", "real", "1e308");
	differ("text", "a", "text", "A");
	differ("text", "4.0", "int", "4");
	/* these two are one double */
	differ("int", "9007199254740993", "int", "9007199254740992");
	differ("time", "9007199.254740993", "time", "9007199.254740992");
	differ("real", "0.10000000000000001", "real", "0.10000000000000002");
	diff_of_one(true, TYPED("real", "1\t0.10000000000000001"), TYPED("real", "1\t0.10000000000000002"), 1e-15,
		    __LINE__);
	diff_of_one(false, TYPED("real", "1\tinf"), TYPED("real", "1\t1"), 10, __LINE__);
	diff_of_one(false, TYPED("text", "1\ta"), TYPED("text", "1\tb"), 10, __LINE__);
}

static void diff_faults(void **state)
{
	static const char *const keys[] = { "a", "b" }, *const none[] = { "zz" };
	struct fit_diff_params p = { .keys = keys, .n_keys = 2 };
	struct fit_diff d;
	struct fit_table a, b;
	struct fit_err err = { 0 };

	(void)state;
	check_err(diff_texts(&d, &a, &b, "a\tb\tv\n1\t1\t0\n1\t2\t0\n1\t1\t9\n", "a\tb\tv\n", &p, &err), &err, FIT_EDATA,
		  "a:4:a: duplicate key 'a=1 b=1' (already in 2; expected one row a key, see --key)");
	assert_int_equal(d.n_cells, 0);
	check_err(fit_diff_tables(&d, &b, &a, &p, &err), &err, FIT_EDATA,
		  "a:4:a: duplicate key 'a=1 b=1' (already in 2; expected one row a key, see --key)");
	p.keys = none;
	p.n_keys = 1;
	check_err(fit_diff_tables(&d, &a, &b, &p, &err), &err, FIT_ENOTFOUND,
		  "a: no column 'zz' (found a, b, v)");
	p.n_keys = 0;
	p.columns = none;
	p.n_columns = 1;
	check_err(fit_diff_tables(&d, &b, &a, &p, &err), &err, FIT_ENOTFOUND,
		  "b: no column 'zz' (found a, b, v)");
	p.abs = (double)NAN;
	assert_int_equal(fit_diff_tables(&d, &a, &b, &p, &err), FIT_EINVAL);
	fit_table_release(&a);
	fit_table_release(&b);
}

/* ---- summaries, views, schemas ---- */

static void summaries(void **state)
{
	struct fit_table t = table_of("#fit-table/1\n#types=text,real\nw\tx\nb\t2\nNA\tnan\na\tNA\nb\t-0\na\t0\n\tnan\n"
				      "#end rows=6\n");
	struct fit_summary s;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_column_summarise(&s, &t.columns[0], t.n_rows, &err), &err);
	assert_int_equal(s.missing, 1);
	assert_int_equal(s.distinct, 3);
	check_span(s.min.u.t, "");
	check_span(s.max.u.t, "b");
	check_ok(fit_column_summarise(&s, &t.columns[1], t.n_rows, &err), &err);
	assert_int_equal(s.missing, 1);
	assert_int_equal(s.distinct, 3);	/* 2, nan, 0 */
	check_same_bits(s.max.u.d, 2);
	check_ok(fit_column_summarise(&s, &t.columns[1], 0, &err), &err);
	assert_false(s.has_range);
	fit_table_release(&t);
}

static void views(void **state)
{
	struct fit_table t = table_of("#fit-table/1\n#types=text,real,time\nw\txx\tat_s\n\xc3\xa9\xc3\xa9\xc3\xa9\t0.125\t1.5\n"
				      "a\\tb\tNA\t10\n#end rows=2\n");
	struct fit_str s = { 0 };

	(void)state;
	check_ok(fit_table_show(&s, &t, 9, 2), NULL);
	check_text(s.s, "w       xx  at_s\n\xc3\xa9\xc3\xa9\xc3\xa9   0.12   1.5\na\\tb    NA    10\n");
	fit_str_release(&s);
	fit_table_release(&t);
}

static void schemas(void **state)
{
	static const struct { const char *schema, *text, *message; } c[] = {
		{ "jobs", "job_id\tsubmit_s\tgpus\nj1\t0\t1\n", NULL },
		{ "jobs", "job_id\tsubmit_s\tgpus\tstatus\tmine\nj1\t0.5\t0.25\tOK\tx\nj2\t0\tNA\tNA\t\n", NULL },
		{ "jobs", "job_id\tgpus\nj1\t1\n", "in: no column 'submit_s' (found job_id, gpus)" },
		{ "jobs", "job_id\tsubmit_s\tgpus\nj1\t0\t1\nj1\t5\t1\n", "in:3:job_id: duplicate 'j1' (already in 2)" },
		{ "jobs", "job_id\tsubmit_s\tgpus\nNA\t0\t1\n",
		  "in:2:job_id: missing value 'NA' (expected text in UTF-8)" },
		{ "jobs", "job_id\tsubmit_s\tgpus\nj1\t0\t-1\n", "in:2:gpus: bad value '-1' (expected a number from 0)" },
		{ "jobs", "job_id\tsubmit_s\tgpus\nj1\tsoon\t1\n",
		  "in:2:submit_s: bad value 'soon' (expected seconds with at most nine decimals)" },
		{ "jobs", "job_id\tsubmit_s\tgpus\tstatus\nj1\t0\t1\tDONE\n",
		  "in:2:status: unknown word 'DONE' (expected OK, FAILED, CANCELLED, TIMEOUT, NODE_FAIL, RUNNING, "
		  "PENDING, UNKNOWN)" },
		{ "log", "time_s\tevent\tjob_id\tgpus\tnodes\tlocal_bsz\taccum_steps\tepoch\tprogress\tapp\tbatch_size\n"
		  "0\tcluster\tNA\t8\t2x4\tNA\tNA\tNA\tNA\tNA\tNA\n5\tsubmit\tj\t1\t-\tNA\tNA\tNA\t0\ta\t8\n"
		  "4.5\tstart\tj\t1\t0:1\tNA\tNA\tNA\t0\tNA\tNA\n",
		  "in:4:time_s: '4.5' is before the row above (expected rows in order)" },
	};
	struct fit_err err = { 0 };

	(void)state;
	assert_null(fit_schema_find("none"));
	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		struct fit_table t = table_of(c[i].text);
		int rc = fit_schema_check(fit_schema_find(c[i].schema), &t, &err);

		if (!c[i].message)
			check_ok(rc, &err);
		else
			check_text(rc ? err.msg : "no fault", c[i].message);
		fit_table_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversions), cmocka_unit_test(escapes), cmocka_unit_test(operands),
		cmocka_unit_test(writes), cmocka_unit_test(writes_without_meta), cmocka_unit_test(writer_faults),
		cmocka_unit_test(rows_at_once), cmocka_unit_test(known_cells), cmocka_unit_test(row_faults),
		cmocka_unit_test(full_device), cmocka_unit_test(inference), cmocka_unit_test(grows),
		cmocka_unit_test(missing_is_not_nan), cmocka_unit_test(reading_checks_the_rest),
		cmocka_unit_test(diff_finds), cmocka_unit_test(diff_of_cells), cmocka_unit_test(diff_faults),
		cmocka_unit_test(summaries), cmocka_unit_test(views), cmocka_unit_test(schemas),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
