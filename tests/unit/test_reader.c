/* SPDX-License-Identifier: MIT */
/* libfit/table: the TSV reader and the source below it, fault by fault; compressed inputs. */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "libfit/base/num.h"
#include "libfit/table/source.h"
#include "libfit/table/table.h"

#define HEAD "#fit-table/1\n"

static struct fit_reader *open_text(const char *text, size_t n)
{
	struct fit_reader *r = NULL;
	struct fit_err err = { 0 };

	check_ok(fit_reader_open_memory(&r, "in", text, n, &err), &err);
	return r;
}

/* Read all tables of a text; the status that ends it (FIT_END: all well) and its message. */
static int drain(const char *text, size_t n, const struct fit_field *fields, size_t n_fields,
		 struct fit_err *err)
{
	struct fit_reader *r = open_text(text, n);
	struct fit_cell cells[8];
	int rc;

	while (!(rc = fit_reader_begin(r, fields, n_fields, err))) {
		while (!(rc = fit_reader_row(r, cells, err)))
			;
		if (rc != FIT_END)
			break;
	}
	fit_reader_close(r);
	return rc;
}

static void good_at(const char *text, size_t n, int line)
{
	struct fit_err err = { 0 };
	int rc = drain(text, n, NULL, 0, &err);

	if (rc == FIT_END)
		return;
	print_error("%d: %s\n", rc, err.msg);
	_fail(__FILE__, line);
}
#define good(text) good_at((text), sizeof(text) - 1, __LINE__)
#define bad(text, code, message) do { \
	struct fit_err err_ = { 0 }; \
	check_err(drain((text), sizeof(text) - 1, NULL, 0, &err_), &err_, (code), (message)); \
} while (0)

/* ---- well-formed ---- */

static void types_and_missing(void **state)
{
	static const char text[] = HEAD "#tool=t\n#types=text,int,real,time\nname\tn\tx\tat_s\n"
				   "NA\tNA\tNA\tNA\n\\NA\t-7\tnan\t0.000000001\n\\#a\t0\tinf\t-3\n"
				   "#b\\t\\n\\r\\\\\t+5\t-inf\t2\n#end rows=3\n";
	struct fit_reader *r = open_text(text, sizeof text - 1);
	struct fit_err err = { 0 };
	struct fit_cell c[4];

	(void)state;
	check_ok(fit_reader_begin(r, NULL, 0, &err), &err);
	assert_int_equal(fit_reader_n_columns(r), 4);
	assert_true(fit_reader_has_types(r));
	assert_int_equal(fit_reader_columns(r)[3].type, FIT_TIME);
	check_text(fit_meta_get(fit_reader_meta(r), "tool"), "t");
	check_text(fit_reader_table_name(r), "");
	check_ok(fit_reader_row(r, c, &err), &err);
	for (int i = 0; i < 4; i++)
		assert_true(c[i].na);
	check_ok(fit_reader_row(r, c, &err), &err);
	assert_false(c[0].na);
	check_span(c[0].u.t, "NA");
	assert_int_equal(c[1].u.i, -7);
	assert_true(isnan(c[2].u.d) && !c[2].na && !fit_real_is_na(c[2].u.d));
	assert_int_equal(c[3].u.i, 1);
	check_ok(fit_reader_row(r, c, &err), &err);
	check_span(c[0].u.t, "#a");
	assert_int_equal(c[3].u.i, -3 * FIT_NS_PER_S);
	/* a row that starts with an unescaped '#' is no row */
	check_err(fit_reader_row(r, c, &err), &err, FIT_EPARSE,
		  "in:8: bad line '#b\\t\\n\\r\\\\?+5?-inf?2' (expected a row or #end rows=N)");
	fit_reader_close(r);
}

static void bound_columns(void **state)
{
	static const struct fit_field fields[] = {
		{ "gpus", FIT_REAL, FIT_F_NOT_NA }, { "job_id", FIT_TEXT, 0 }, { "user", FIT_TEXT, FIT_F_OPTIONAL }
	};
	static const struct fit_field more[] = { { "gpus", FIT_REAL, 0 }, { "app", FIT_TEXT, 0 } };
	static const char text[] = "job_id\textra\tgpus\nj1\t\xff\t2.5\nj2\t\tNA\n";
	struct fit_reader *r = open_text(text, sizeof text - 1);
	struct fit_err err = { 0 };
	struct fit_cell c[3];

	(void)state;
	check_ok(fit_reader_begin(r, fields, 3, &err), &err);
	/* the column that nobody asked for may hold anything */
	check_ok(fit_reader_row(r, c, &err), &err);
	check_same_bits(c[0].u.d, 2.5);
	check_span(c[1].u.t, "j1");
	assert_true(c[2].na);
	check_err(fit_reader_row(r, c, &err), &err, FIT_EDATA,
		  "in:3:gpus: missing value 'NA' (expected a number)");
	fit_reader_close(r);
	check_err(drain(text, sizeof text - 1, more, 2, &err), &err, FIT_ENOTFOUND,
		  "in:1: no column 'app' (found job_id, extra, gpus)");
}

static void several_tables(void **state)
{
	static const char text[] = HEAD "#table=a\n#k=1\nx\n1\n2\n#end rows=2\n" HEAD "#table=b\ny\tz\n#end rows=0\n"
				   HEAD "x\n7\n#end rows=1\n";
	struct fit_reader *r = open_text(text, sizeof text - 1);
	struct fit_err err = { 0 };
	struct fit_cell c[2];

	(void)state;
	check_ok(fit_reader_begin(r, NULL, 0, &err), &err);
	check_text(fit_reader_table_name(r), "a");
	check_ok(fit_reader_row(r, c, &err), &err);
	/* row 2 is passed over, and counted */
	check_ok(fit_reader_begin(r, NULL, 0, &err), &err);
	check_text(fit_reader_table_name(r), "b");
	assert_null(fit_meta_get(fit_reader_meta(r), "k"));
	assert_int_equal(fit_reader_row(r, c, &err), FIT_END);
	assert_int_equal(fit_reader_row(r, c, &err), FIT_END);
	check_ok(fit_reader_begin(r, NULL, 0, &err), &err);
	check_text(fit_reader_table_name(r), "");
	check_ok(fit_reader_row(r, c, &err), &err);
	check_span(c[0].u.t, "7");
	assert_int_equal(fit_reader_line(r), 14);
	assert_int_equal(fit_reader_row(r, c, &err), FIT_END);
	assert_int_equal(fit_reader_begin(r, NULL, 0, &err), FIT_END);
	fit_reader_close(r);
}

static void line_ends(void **state)
{
	(void)state;
	good("a\tb\n1\t2");			/* no final line feed */
	good("\xef\xbb\xbf" "a\tb\r\n1\t2\r\n");	/* byte order mark, CRLF */
	good(HEAD "a\tb\n1\t2\n#end rows=1");
	good("\xef\xbb\xbf#fit-table/1\r\na\r\n1\r\n#end rows=1\r\n");
	good("a\n\n");				/* one empty text */
	good("a\n#not a trailer\n");		/* plain: '#' is text */
}

static void crlf_is_not_text(void **state)
{
	static const char text[] = "\xef\xbb\xbf" "a\tb\r\nx\ty\r\n";
	struct fit_reader *r = open_text(text, sizeof text - 1);
	struct fit_err err = { 0 };
	struct fit_cell c[2];

	(void)state;
	check_ok(fit_reader_begin(r, NULL, 0, &err), &err);
	check_text(fit_reader_columns(r)[0].name, "a");
	check_text(fit_reader_columns(r)[1].name, "b");
	check_ok(fit_reader_row(r, c, &err), &err);
	check_span(c[1].u.t, "y");
	fit_reader_close(r);
}

/* ---- faults ---- */

static void heads(void **state)
{
	(void)state;
	bad("", FIT_EPARSE, "in: empty input (expected a table)");
	bad("#fit-table/2\na\n", FIT_EPARSE, "in:1: unknown table version '#fit-table/2' (expected #fit-table/1)");
	bad("#fit-ta", FIT_EPARSE, "in:1: truncated table (expected #fit-table/1)");
	bad("\x89HDF\r\n", FIT_EPARSE, "in: an HDF5 file (expected a name that ends in .h5)");
	bad(HEAD, FIT_EPARSE, "in:1: truncated table (expected a header row)");
	bad(HEAD "#tool=x\n", FIT_EPARSE, "in:2: truncated table (expected a header row)");
	bad(HEAD "#tool\na\n", FIT_EPARSE, "in:2: bad metadata '#tool' (expected #key=value)");
	bad(HEAD "#Tool=x\na\n", FIT_EPARSE,
	    "in:2: bad metadata key 'Tool' (expected lower-case letters, digits and _)");
	bad(HEAD "#end rows=0\n", FIT_EPARSE,
	    "in:2: bad metadata key 'end rows' (expected lower-case letters, digits and _)");
	bad(HEAD "#k=\\q\na\n", FIT_EPARSE,
	    "in:2:k: bad metadata (expected text in UTF-8, with escapes \\t \\n \\r \\\\)");
	bad(HEAD "#k=\xc3\na\n", FIT_EPARSE,
	    "in:2:k: bad metadata (expected text in UTF-8, with escapes \\t \\n \\r \\\\)");
	bad(HEAD "#types=text,word\na\tb\n", FIT_EPARSE,
	    "in:2: unknown type 'word' (expected text, int, real or time)");
	bad(HEAD "#types=text,int\na\n", FIT_EPARSE, "in:3: 1 columns, but #types has 2");
	bad("a\tb\ta\n", FIT_EPARSE, "in:1: duplicate column 'a'");
	bad("a\t\tb\n", FIT_EPARSE, "in:1: bad name of column 2 (expected text in UTF-8, not empty)");
	bad("a\t\xff\n", FIT_EPARSE, "in:1: bad name of column 2 (expected text in UTF-8, not empty)");
	bad("a\t\\x\n", FIT_EPARSE, "in:1: bad escape in a column name");
	bad("a\t\0b\n", FIT_EPARSE, "in:1: NUL byte (expected text)");
}

static void rows(void **state)
{
	(void)state;
	bad("a\tb\n1\n", FIT_EPARSE, "in:2: 1 fields (expected 2)");
	bad("a\tb\n1\t2\n1\t2\t3\t4\n", FIT_EPARSE, "in:3: 4 fields (expected 2)");
	bad("a\tb\n1\t2\n\n", FIT_EPARSE, "in:3: 1 fields (expected 2)");
	bad("a\tb\n1\tx\0y\n", FIT_EPARSE, "in:2: NUL byte (expected text)");
	bad("a\tb\n1\t\xc3\x28\n", FIT_EPARSE, "in:2:b: bad value '\xc3(' (expected text in UTF-8)");
	bad("a\tb\n1\tx\\y\n", FIT_EPARSE,
	    "in:2:b: bad escape in 'x\\y' (expected \\t \\n \\r \\\\ \\# or \\N)");
	bad("a\tb\n1\tx\\\n", FIT_EPARSE,
	    "in:2:b: bad escape in 'x\\' (expected \\t \\n \\r \\\\ \\# or \\N)");
	bad(HEAD "#types=int\nn\n1.5\n", FIT_EPARSE, "in:4:n: bad value '1.5' (expected an integer)");
	bad(HEAD "#types=int\nn\n\n", FIT_EPARSE, "in:4:n: bad value '' (expected an integer)");
	bad(HEAD "#types=int\nn\n9223372036854775808\n", FIT_EPARSE,
	    "in:4:n: out of range '9223372036854775808' (expected an integer)");
	bad(HEAD "#types=int\nn\n-9223372036854775808\n", FIT_EPARSE,
	    "in:4:n: out of range '-9223372036854775808' (expected an integer)");
	bad(HEAD "#types=real\nx\n1e999\n", FIT_EPARSE, "in:4:x: out of range '1e999' (expected a number)");
	bad(HEAD "#types=real\nx\n0x10\n", FIT_EPARSE, "in:4:x: bad value '0x10' (expected a number)");
	bad(HEAD "#types=time\nt_s\n1e3\n", FIT_EPARSE,
	    "in:4:t_s: bad value '1e3' (expected seconds with at most nine decimals)");
	bad(HEAD "#types=time\nt_s\n0.0000000001\n", FIT_EPARSE,
	    "in:4:t_s: out of range '0.0000000001' (expected seconds with at most nine decimals)");
}

static void trailers(void **state)
{
	(void)state;
	good(HEAD "a\n#end rows=0\n");
	bad(HEAD "a\n1\n", FIT_EPARSE, "in:3: truncated table (no #end after 1 rows)");
	bad(HEAD "a\n", FIT_EPARSE, "in:2: truncated table (no #end after 0 rows)");
	bad(HEAD "a\n1\n2\n#end rows=3\n", FIT_EPARSE, "in:5: 2 rows, but the trailer says 3");
	bad(HEAD "a\n1\n#end rows=0\n", FIT_EPARSE, "in:4: 1 rows, but the trailer says 0");
	bad(HEAD "a\n1\n#end rows=-1\n", FIT_EPARSE, "in:4: 1 rows, but the trailer says -1");
	bad(HEAD "a\n1\n#end rows=x\n", FIT_EPARSE, "in:4: bad line '#end rows=x' (expected a row or #end rows=N)");
	bad(HEAD "a\n1\n#end\n", FIT_EPARSE, "in:4: bad line '#end' (expected a row or #end rows=N)");
	bad(HEAD "a\n#end rows=0\nmore\n", FIT_EPARSE,
	    "in:4: text after the end of the table (expected #fit-table/1)");
	bad(HEAD "a\n#end rows=0\n" HEAD "b\n1\n", FIT_EPARSE, "in:6: truncated table (no #end after 1 rows)");
}

/* A table that was not read to its end is checked all the same. */
static void faults_in_what_is_passed_over(void **state)
{
	static const char text[] = HEAD "a\n1\n2\n#end rows=3\n" HEAD "b\n#end rows=0\n";
	static const char later[] = HEAD "a\n#end rows=0\n" HEAD "b\tc\n1\n#end rows=1\n";
	struct fit_reader *r = open_text(text, sizeof text - 1);
	struct fit_err err = { 0 };
	struct fit_cell c[1];

	(void)state;
	check_ok(fit_reader_begin(r, NULL, 0, &err), &err);
	check_ok(fit_reader_row(r, c, &err), &err);
	check_err(fit_reader_begin(r, NULL, 0, &err), &err, FIT_EPARSE, "in:5: 2 rows, but the trailer says 3");
	fit_reader_close(r);
	r = open_text(later, sizeof later - 1);
	check_ok(fit_reader_skip(r, &err), &err);
	check_err(fit_reader_skip(r, &err), &err, FIT_EPARSE, "in:6: 1 fields (expected 2)");
	fit_reader_close(r);
}

static void cut_anywhere(void **state)
{
	static const char text[] = HEAD "#table=t\n#types=text,int\na\tb\nx\t1\ny\t22\n#end rows=2\n";

	(void)state;
	/* the last line feed may be missing; nothing else may */
	for (size_t n = 0; n < sizeof text - 2; n++) {
		struct fit_err err = { 0 };

		assert_int_equal(drain(text, n, NULL, 0, &err), FIT_EPARSE);
		assert_memory_equal(err.msg, "in:", 3);
	}
	good_at(text, sizeof text - 2, __LINE__);
}

static void long_lines(void **state)
{
	size_t n = FIT_LINE_MAX + 300000;
	char *text = malloc(n);
	struct fit_err err = { 0 };

	(void)state;
	assert_non_null(text);
	memset(text, 'x', n);
	memcpy(text, "a\n", 2);
	text[FIT_LINE_MAX] = '\n';	/* a line just short of the limit */
	assert_int_equal(drain(text, FIT_LINE_MAX, NULL, 0, &err), FIT_END);
	text[FIT_LINE_MAX] = 'x';
	check_err(drain(text, n, NULL, 0, &err), &err, FIT_EPARSE,
		  "in:2: line too long (expected at most 16777216 bytes)");
	free(text);
}

/* ---- compressed ---- */

static size_t gzip(const char *text, size_t n, unsigned char *out, size_t cap)
{
	z_stream z = { 0 };
	size_t k;

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)(uintptr_t)text;
	z.avail_in = (uInt)n;
	z.next_out = out;
	z.avail_out = (uInt)cap;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	k = cap - z.avail_out;
	deflateEnd(&z);
	return k;
}

static void compressed(void **state)
{
	struct fit_str text = { 0 };
	struct fit_err err = { 0 };
	unsigned char *out = malloc(1 << 20);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t n, half;

	(void)state;
	assert_non_null(out);
	check_ok(fit_str_puts(&text, HEAD "name\tn\n"), NULL);
	for (int i = 0; i < 20000; i++)
		check_ok(fit_str_printf(&text, "row %d\t%d\n", i * 7919 % 20011, i), NULL);
	check_ok(fit_str_puts(&text, "#end rows=20000\n"), NULL);
	n = gzip(text.s, text.n, out, 1 << 20);
	good_at((char *)out, n, __LINE__);
	for (size_t cut = 3; cut < n; cut += n / 7) {
		assert_int_equal(drain((char *)out, cut, NULL, 0, &err), FIT_EPARSE);
		check_text(err.msg, "in: truncated gzip file");
	}
	out[n / 2] ^= 0x40;
	assert_int_equal(drain((char *)out, n, NULL, 0, &err), FIT_EPARSE);
	/* two members, one after another, are one text */
	half = gzip(text.s, text.n / 2, out, 1 << 20);
	n = half + gzip(text.s + text.n / 2, text.n - text.n / 2, out + half, (1 << 20) - half);
	good_at((char *)out, n, __LINE__);
	assert_non_null(zstd);
	assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1)));
	n = ZSTD_compress2(zstd, out, 1 << 20, text.s, text.n);
	assert_false(ZSTD_isError(n));
	good_at((char *)out, n, __LINE__);
	for (size_t cut = 5; cut < n; cut += n / 7) {
		assert_int_equal(drain((char *)out, cut, NULL, 0, &err), FIT_EPARSE);
		check_text(err.msg, "in: truncated zstd file");
	}
	out[n / 2] ^= 0x40;
	assert_int_equal(drain((char *)out, n, NULL, 0, &err), FIT_EPARSE);
	ZSTD_freeCCtx(zstd);
	free(out);
	fit_str_release(&text);
}

/* The hash is of the text, not of its packing. */
static void hashes(void **state)
{
	static const char text[] = HEAD "a\n1\n#end rows=1\n";
	unsigned char out[256];
	size_t n = gzip(text, sizeof text - 1, out, sizeof out);
	char plain[FIT_HASH_HEX], packed[FIT_HASH_HEX];
	struct fit_reader *r = open_text(text, sizeof text - 1);
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_reader_skip(r, &err), &err);
	assert_int_equal(fit_reader_skip(r, &err), FIT_END);
	fit_reader_hash(r, plain);
	fit_reader_close(r);
	r = open_text((char *)out, n);
	check_ok(fit_reader_skip(r, &err), &err);
	assert_int_equal(fit_reader_skip(r, &err), FIT_END);
	fit_reader_hash(r, packed);
	fit_reader_close(r);
	check_text(packed, plain);
	assert_int_equal(strlen(plain), 32);
}

static void files(void **state)
{
	struct fit_reader *r;
	struct fit_source *s;
	struct fit_err err = { 0 };

	(void)state;
	check_err(fit_reader_open(&r, "/no/such/file.tsv", &err), &err, FIT_EIO,
		  "/no/such/file.tsv: cannot open: No such file or directory");
	assert_null(r);
	check_err(fit_source_open(&s, "/", &err), &err, FIT_EIO, "/: cannot read: Is a directory");
	assert_null(s);
	fit_reader_close(NULL);
	fit_source_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_and_missing), cmocka_unit_test(bound_columns),
		cmocka_unit_test(several_tables), cmocka_unit_test(line_ends), cmocka_unit_test(crlf_is_not_text),
		cmocka_unit_test(heads), cmocka_unit_test(rows), cmocka_unit_test(trailers),
		cmocka_unit_test(faults_in_what_is_passed_over), cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(long_lines), cmocka_unit_test(compressed), cmocka_unit_test(hashes),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
