/* SPDX-License-Identifier: MIT */
/* libfit/table/store*: round trips, same bytes, replacing, foreign and damaged files, writers at once. */
#include "tests/unit/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libfit/table/cell.h"
#include "libfit/table/store.h"

static char dir[300];

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(dir, sizeof dir, "%s/test_store.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);	/* fails when a test left something: a lock, a temporary file */
}

static const char *in_dir(const char *name)
{
	static char path[4][600];
	static unsigned k;

	k = (k + 1) % 4;
	snprintf(path[k], sizeof path[k], "%s/%s", dir, name);
	return path[k];
}

static unsigned char *slurp(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	unsigned char *p;
	long size;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	size = ftell(f);
	assert_true(size >= 0);
	rewind(f);
	p = malloc((size_t)size + 1);
	assert_non_null(p);
	*n = fread(p, 1, (size_t)size, f);
	assert_int_equal(*n, size);
	fclose(f);
	return p;
}

static void spill(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void same_file(const char *a, const char *b)
{
	size_t na, nb;
	unsigned char *pa = slurp(a, &na), *pb = slurp(b, &nb);

	assert_int_equal(na, nb);
	assert_memory_equal(pa, pb, na);
	free(pa);
	free(pb);
}

/* n rows; what is in them depends on salt. */
static struct fit_table make_table(const char *name, size_t n, int salt)
{
	static const struct fit_field fields[] = {
		{ "job_id", FIT_TEXT, 0 }, { "n", FIT_INT, 0 }, { "x/y %", FIT_REAL, 0 }, { "at_s", FIT_TIME, 0 },
		{ ".hidden", FIT_TEXT, 0 }, { "a\tb", FIT_TEXT, 0 },
	};
	static const char *const words[] = { "NA", "\\NA", "\\\\NA", "", "plain", "\xe2\x82\xac", "a\nb\tc", "N", "ANA" };
	struct fit_table t = { 0 };
	struct fit_err err = { 0 };

	check_ok(fit_table_init(&t, name, fields, 6, &err), &err);
	check_ok(fit_meta_add(&t.meta, "tool", "test"), NULL);
	check_ok(fit_meta_add(&t.meta, "input", "one"), NULL);
	check_ok(fit_meta_add(&t.meta, "input", "two\n=\\"), NULL);
	t.n_end_meta = (size_t)salt % 3;
	for (size_t r = 0; r < n; r++) {
		size_t k = r * 7 + (size_t)salt;
		const char *w = words[k % 9];
		char id[40];
		struct fit_cell c[6] = {
			{ .u.t = { id, 0 } }, { .na = k % 5 == 0, .u.i = (int64_t)k * 1234567 - 99 },
			{ .na = k % 4 == 0, .u.d = k % 4 == 1 ? (double)NAN : (double)k / 7 }, { .na = k % 6 == 0, .u.i = -(int64_t)k },
			{ .na = k % 8 == 0, .u.t = fit_text_of(w) }, { .u.t = fit_text_of(r % 100 < 50 ? "same" : w) },
		};

		c[0].u.t.n = (size_t)snprintf(id, sizeof id, "job-%zu", k);
		check_ok(fit_table_add(&t, c), NULL);
	}
	return t;
}

static void same_cell(const struct fit_column *a, const struct fit_column *b, size_t r)
{
	struct fit_cell x = fit_column_cell(a, r), y = fit_column_cell(b, r);

	assert_int_equal(x.na, y.na);
	if (x.na)
		return;
	if (a->type == FIT_TEXT)
		assert_true(fit_text_eq(x.u.t, y.u.t));
	else
		assert_memory_equal(&x.u.i, &y.u.i, sizeof x.u.i);
}

static void same_table(const struct fit_table *a, const struct fit_table *b)
{
	check_text(b->name, a->name);
	assert_int_equal(a->meta.n, b->meta.n);
	assert_int_equal(a->n_end_meta, b->n_end_meta);
	for (size_t i = 0; i < a->meta.n; i++) {
		check_text(b->meta.pairs[i].key, a->meta.pairs[i].key);
		check_text(b->meta.pairs[i].value, a->meta.pairs[i].value);
	}
	assert_int_equal(a->n_rows, b->n_rows);
	assert_int_equal(a->n_columns, b->n_columns);
	for (size_t c = 0; c < a->n_columns; c++) {
		check_text(b->columns[c].name, a->columns[c].name);
		assert_int_equal(a->columns[c].type, b->columns[c].type);
		for (size_t r = 0; r < a->n_rows; r++)
			same_cell(&a->columns[c], &b->columns[c], r);
	}
}

static void put(const char *file, bool fresh, const char *path, const struct fit_table *t)
{
	struct fit_err err = { 0 };

	if (fresh)
		unlink(file);
	check_ok(fit_store_write(file, &path, &t, 1, &err), &err);
}

static struct fit_table get(const char *file, const char *path)
{
	struct fit_table t = { 0 };
	struct fit_store_request req = { .path = path, .table = &t };
	struct fit_err err = { 0 };

	check_ok(fit_store_read(file, &req, 1, NULL, &err), &err);
	return t;
}

/* ---- what goes in comes out ---- */

static void round_trip(void **state)
{
	static const size_t sizes[] = { 0, 1, 3, 500, 300000 };	/* the last in compressed chunks */
	const char *file = in_dir("a.h5"), *again = in_dir("b.h5");

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct fit_table t = make_table(i % 2 ? "" : "named", sizes[i], (int)i), back;

		put(file, true, "/deep/er/t", &t);
		back = get(file, "/deep/er/t");
		same_table(&t, &back);
		assert_int_equal(strlen(back.hash), 32);
		put(again, true, "/deep/er/t", &back);
		same_file(file, again);
		/* what was read can be added to */
		if (sizes[i] == 3) {
			struct fit_cell c[6] = { { .u.t = fit_text_of("new") }, { .na = true }, { .u.d = 1 }, { .u.i = 2 },
						 { .na = true }, { .u.t = fit_text_of("") } };

			check_ok(fit_table_add(&back, c), NULL);
			check_span(fit_column_text(&back.columns[0], 3), "new");
			check_span(fit_column_text(&back.columns[0], 1), "job-9");
		}
		fit_table_release(&back);
		fit_table_release(&t);
	}
	assert_int_equal(unlink(file), 0);
	assert_int_equal(unlink(again), 0);
}

static void long_texts(void **state)
{
	static const struct fit_field fields[] = { { "k", FIT_INT, 0 }, { "text", FIT_TEXT, 0 } };
	const char *file = in_dir("a.h5"), *again = in_dir("b.h5");
	struct fit_table t, back;
	struct fit_err err = { 0 };
	size_t n, size = 3000000;
	char *big = malloc(size + 1);

	(void)state;
	assert_non_null(big);
	memset(big, 'x', size);
	big[size] = '\0';
	check_ok(fit_table_init(&t, "long", fields, 2, &err), &err);
	check_ok(fit_meta_add(&t.meta, "big", big + size - 130000), NULL);
	/* padded to the longest this would be 30 GB */
	for (int i = 0; i < 10000; i++) {
		struct fit_cell c[2] = { { .u.i = i }, { .na = i % 100 == 7, .u.t = fit_text_of(i == 5000 ? big : "NA") } };

		check_ok(fit_table_add(&t, c), NULL);
	}
	put(file, true, "/t", &t);
	back = get(file, "/t");
	same_table(&t, &back);
	put(again, true, "/t", &back);
	same_file(file, again);
	free(slurp(file, &n));
	assert_true(n < 2 * size);
	fit_table_release(&back);
	fit_table_release(&t);
	free(big);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(unlink(again), 0);
}

static void many_columns(void **state)
{
	enum { N = 5000 };
	struct fit_field *fields = calloc(N, sizeof *fields);
	char (*names)[32] = calloc(N, sizeof *names);
	struct fit_table t, back;
	struct fit_err err = { 0 };

	(void)state;
	assert_non_null(fields);
	assert_non_null(names);
	/* names of more than one attribute's size in all */
	for (size_t i = 0; i < N; i++) {
		snprintf(names[i], sizeof names[i], "a_rather_long_name_%zu", i);
		fields[i] = (struct fit_field){ names[i], FIT_INT, 0 };
	}
	check_ok(fit_table_init(&t, "", fields, N, &err), &err);
	put(in_dir("a.h5"), true, "/t", &t);
	back = get(in_dir("a.h5"), "/t");
	same_table(&t, &back);
	fit_table_release(&t);
	fit_table_release(&back);
	free(fields);
	free(names);
	assert_int_equal(unlink(in_dir("a.h5")), 0);
}

/* ---- several tables ---- */

static void adds_and_replaces(void **state)
{
	const char *file = in_dir("a.h5"), *once = in_dir("b.h5");
	const char *const paths[] = { "/z", "/m/k", "/m" };
	struct fit_table a = make_table("", 20, 1), b = make_table("b", 30, 2), c = make_table("", 5, 3), back;
	const struct fit_table *tables[] = { &a, &b, &c };
	struct fit_err err = { 0 };
	char **list;
	size_t n;

	(void)state;
	check_ok(fit_store_write(once, paths, tables, 3, &err), &err);
	put(file, false, "/z", &b);
	put(file, false, "/m/k", &b);
	put(file, false, "/m", &c);
	put(file, false, "/z", &a);	/* replaced in its place */
	/* the bytes do not tell how a store came to be */
	same_file(file, once);
	check_ok(fit_store_list(file, &list, &n, &err), &err);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++) {
		check_text(list[i], paths[i]);
		free(list[i]);
	}
	free(list);
	back = get(file, "/m/k");
	same_table(&b, &back);
	fit_table_release(&back);
	put(file, true, "/m", &c);
	check_ok(fit_store_list(file, &list, &n, &err), &err);
	assert_int_equal(n, 1);
	free(list[0]);
	free(list);
	fit_table_release(&a);
	fit_table_release(&b);
	fit_table_release(&c);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(unlink(once), 0);
}

static void requests(void **state)
{
	static const struct fit_field fields[] = {
		{ "at_s", FIT_REAL, 0 }, { "none", FIT_TEXT, FIT_F_OPTIONAL }, { "n", FIT_TEXT, 0 }, { "none2", FIT_REAL, FIT_F_OPTIONAL },
		{ "none3", FIT_TIME, FIT_F_OPTIONAL }
	};
	static const struct fit_field missing[] = { { "q", FIT_INT, 0 } };
	static const struct fit_field full[] = { { "n", FIT_INT, FIT_F_NOT_NA } };
	static const struct fit_field wrong[] = { { "job_id", FIT_INT, 0 } };
	const char *file = in_dir("a.h5");
	char message[1000], hash[FIT_HASH_HEX];
	struct fit_table t = make_table("", 4, 1), back = { 0 }, other = { 0 };
	char first[FIT_HASH_HEX];
	struct fit_store_request req[2] = {
		{ .path = "/t", .fields = fields, .n_fields = 5, .table = &back },
		{ .path = "/not/there", .optional = true, .table = &other }
	};
	struct fit_err err = { 0 };

	(void)state;
	put(file, true, "/t", &t);
	check_ok(fit_store_read(file, req, 2, hash, &err), &err);
	assert_int_equal(other.n_columns, 0);
	assert_int_equal(strlen(hash), 32);
	assert_string_not_equal(back.hash, hash);	/* of both, the absent one too */
	memcpy(first, back.hash, sizeof first);
	fit_table_release(&back);
	check_ok(fit_store_read(file, req, 1, hash, &err), &err);
	check_text(back.hash, hash);
	check_text(first, hash);
	/* another table in the store changes nothing */
	put(file, false, "/u", &t);
	fit_table_release(&back);
	check_ok(fit_store_read(file, req, 1, hash, &err), &err);
	check_text(first, hash);
	assert_int_equal(back.n_columns, 5);
	check_same_bits(back.columns[0].d[0], -1e-9);
	assert_null(fit_column_text(&back.columns[1], 0).s);
	check_span(fit_column_text(&back.columns[2], 0), "1234468");
	assert_true(fit_real_is_na(back.columns[3].d[3]));
	assert_int_equal(back.columns[4].i[3], FIT_INT_NA);
	fit_table_release(&back);
	req[1].optional = false;
	snprintf(message, sizeof message, "%s: no table '/not/there' in this store", file);
	check_err(fit_store_read(file, req, 2, NULL, &err), &err, FIT_ENOTFOUND, message);
	assert_int_equal(back.n_columns, 0);
	req[0].fields = missing;
	req[0].n_fields = 1;
	snprintf(message, sizeof message, "%s:/t: no column 'q' (found job_id, n, x/y %%, at_s, .hidden, a?b)", file);
	check_err(fit_store_read(file, req, 1, NULL, &err), &err, FIT_ENOTFOUND, message);
	req[0].fields = full;
	fit_table_release(&t);
	t = make_table("", 9, 1);	/* k = 15 in row 3 has no n */
	put(file, true, "/t", &t);
	snprintf(message, sizeof message, "%s:/t:3:n: missing value 'NA' (expected an integer)", file);
	check_err(fit_store_read(file, req, 1, NULL, &err), &err, FIT_EDATA, message);
	req[0].fields = wrong;
	snprintf(message, sizeof message, "%s:/t:1:job_id: bad value 'job-1' (expected an integer)", file);
	check_err(fit_store_read(file, req, 1, NULL, &err), &err, FIT_EPARSE, message);
	fit_table_release(&t);
	assert_int_equal(unlink(file), 0);
}

/* Row by row, through the same functions as TSV. */
static void reader_and_writer(void **state)
{
	char operand[700];
	const char *file = in_dir("a.h5");
	struct fit_table t = make_table("first", 6, 2), u = make_table("second", 3, 4), back;
	struct fit_writer *w;
	struct fit_reader *r;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_writer_open(&w, file, 0, &err), &err);
	check_ok(fit_table_write(&t, w, &err), &err);
	check_ok(fit_table_write(&u, w, &err), &err);
	assert_int_equal(access(file, F_OK), -1);
	check_ok(fit_writer_close(w, &err), &err);
	check_err(fit_reader_open(&r, file, &err), &err, FIT_ENOTFOUND, err.msg);
	assert_non_null(strstr(err.msg, ": which table? (expected "));
	assert_non_null(strstr(err.msg, "with one of /first, /second)"));
	snprintf(operand, sizeof operand, "%s:/", file);
	check_ok(fit_reader_open(&r, operand, &err), &err);
	check_ok(fit_table_read_next(&back, r, NULL, 0, &err), &err);
	same_table(&t, &back);
	fit_table_release(&back);
	check_ok(fit_table_read_next(&back, r, NULL, 0, &err), &err);
	same_table(&u, &back);
	fit_table_release(&back);
	assert_int_equal(fit_table_read_next(&back, r, NULL, 0, &err), FIT_END);
	fit_reader_close(r);
	/* into a path: beside what is there, further tables below it */
	snprintf(operand, sizeof operand, "%s:/m", file);
	check_ok(fit_writer_open(&w, operand, 0, &err), &err);
	check_ok(fit_table_write(&t, w, &err), &err);
	check_ok(fit_table_write(&u, w, &err), &err);
	check_ok(fit_writer_close(w, &err), &err);
	back = get(file, "/m/second");
	same_table(&u, &back);
	fit_table_release(&back);
	back = get(file, "/first");
	same_table(&t, &back);
	fit_table_release(&back);
	snprintf(operand, sizeof operand, "%s:/mm", file);
	assert_int_equal(fit_reader_open(&r, operand, &err), FIT_ENOTFOUND);
	fit_table_release(&t);
	fit_table_release(&u);
	assert_int_equal(unlink(file), 0);
}

/* ---- faults ---- */

static void bad_paths(void **state)
{
	static const char *const bad[] = { "/", "", "t", "/a//b", "/a/", "/a/../b", "/.", "/a\nb", "/\xff" };
	struct fit_table t = make_table("", 1, 1);
	const struct fit_table *tables[] = { &t, &t };
	const char *const twice[] = { "/t", "/t" }, *const clash[] = { "/t", "/t/n" };
	const char *file = in_dir("a.h5");
	struct fit_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(fit_store_write(file, &bad[i], tables, 1, &err), FIT_EINVAL);
		assert_non_null(strstr(err.msg, "bad path '"));
	}
	assert_int_equal(fit_store_write(file, twice, tables, 2, &err), FIT_EINVAL);
	assert_non_null(strstr(err.msg, "two tables for the path '/t'"));
	assert_int_equal(fit_store_write(file, clash, tables, 2, &err), FIT_EINVAL);
	assert_non_null(strstr(err.msg, "a column of another table has that path"));
	assert_int_equal(access(file, F_OK), -1);
	fit_table_release(&t);
}

static void missing_and_wrong_files(void **state)
{
	static const char csv[] = "job_id,gpus\n1,2\n";
	struct fit_table t = make_table("", 2, 1);
	const struct fit_table *tp = &t;
	const char *path = "/t", *file = in_dir("a.h5");
	char message[1000], **list;
	struct fit_err err = { 0 };
	size_t n;

	(void)state;
	snprintf(message, sizeof message, "%s: cannot open: No such file or directory", file);
	check_err(fit_store_list(file, &list, &n, &err), &err, FIT_EIO, message);
	assert_null(list);
	snprintf(message, sizeof message, "%s: cannot read: Is a directory", dir);
	check_err(fit_store_list(dir, &list, &n, &err), &err, FIT_EIO, message);
	spill(file, csv, sizeof csv - 1);
	snprintf(message, sizeof message, "%s: not an HDF5 file", file);
	check_err(fit_store_list(file, &list, &n, &err), &err, FIT_EPARSE, message);
	/* adding to what is no store leaves it alone */
	check_err(fit_store_write(file, &path, &tp, 1, &err), &err, FIT_EPARSE, message);
	spill(file, "", 0);
	snprintf(message, sizeof message, "%s: empty file (expected an HDF5 file)", file);
	check_err(fit_store_list(file, &list, &n, &err), &err, FIT_EPARSE, message);
	spill(file, "\x89HDF", 4);
	snprintf(message, sizeof message, "%s: truncated HDF5 file", file);
	check_err(fit_store_list(file, &list, &n, &err), &err, FIT_EPARSE, message);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(fit_store_write("/no/such/folder/a.h5", &path, &tp, 1, &err), FIT_EIO);
	check_text(err.msg, "/no/such/folder/a.h5: cannot open for writing: No such file or directory");
	fit_table_release(&t);
}

static int read_bytes(const unsigned char *bytes, size_t n, struct fit_err *err)
{
	struct fit_store_image im;
	struct fit_store_paths paths = { 0 };
	unsigned char *copy = malloc(n ? n : 1);
	int rc;

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	rc = fit_store_load_bytes(&im, "s", copy, n, err);
	rc = rc ? rc : fit_store_open(&im, err);
	rc = rc ? rc : fit_store_paths(&im, &paths, err);
	for (size_t i = 0; i < paths.n && !rc; i++) {
		struct fit_table t;
		struct fit_store_request req = { .path = paths.p[i], .table = &t };

		rc = fit_store_read_table(&im, &req, err);
		fit_table_release(&t);
	}
	fit_store_paths_release(&paths);
	fit_store_release(&im);
	return rc;
}

static unsigned next_random(unsigned *s)
{
	*s = *s * 1664525u + 1013904223u;	/* Numerical Recipes' generator */
	return *s >> 8;
}

static void damage(void **state)
{
	struct fit_table t = make_table("t", 60, 1);
	const char *file = in_dir("a.h5");
	struct fit_err err = { 0 };
	unsigned char *bytes;
	unsigned seed = 5, refused = 0;
	size_t n, whole;

	(void)state;
	put(file, true, "/t", &t);
	bytes = slurp(file, &n);
	whole = n - FIT_SEAL_SIZE;
	check_ok(read_bytes(bytes, n, &err), &err);
	/* cut anywhere */
	for (size_t cut = 0; cut < n; cut += cut < 200 || cut > whole - 200 ? 1 : n / 90) {
		int rc = read_bytes(bytes, cut, &err);

		if (cut == whole)
			continue;	/* without its seal it is any HDF5 file */
		assert_int_equal(rc, FIT_EPARSE);
		assert_memory_equal(err.msg, "s: ", 3);
	}
	/* any one bit */
	for (int i = 0; i < 1000; i++) {
		size_t at = next_random(&seed) % n;
		unsigned char bit = (unsigned char)(1u << next_random(&seed) % 8);

		bytes[at] ^= bit;
		assert_int_equal(read_bytes(bytes, n, &err), FIT_EPARSE);
		bytes[at] ^= bit;
	}
	/* without the seal HDF5 sees the damage, or nobody does; nothing falls over */
	for (int i = 0; i < 200; i++) {
		size_t at = next_random(&seed) % whole;
		unsigned char bit = (unsigned char)(1u << next_random(&seed) % 8);

		bytes[at] ^= bit;
		refused += read_bytes(bytes, whole, &err) != FIT_OK;
		bytes[at] ^= bit;
	}
	assert_true(refused > 4);
	check_ok(read_bytes(bytes, whole, &err), &err);
	free(bytes);
	fit_table_release(&t);
	assert_int_equal(unlink(file), 0);
}

/* Found by fuzzing: HDF5 1.10.8 runs into a wild pointer when it opens this file. */
static void kills_hdf5(void **state)
{
	struct fit_err err = { 0 };
	char **list;
	size_t n;

	(void)state;
	assert_int_equal(fit_store_list("tests/data/table-kills-hdf5.h5", &list, &n, &err), FIT_EPARSE);
	assert_memory_equal(err.msg, "tests/data/table-kills-hdf5.h5: damaged HDF5 file", 49);
}

/* A store that another program changed is read, but not added to. */
static void foreign(void **state)
{
	struct fit_table t = make_table("", 3, 1), back;
	const struct fit_table *tp = &t;
	const char *file = in_dir("a.h5"), *path = "/u";
	struct fit_err err = { 0 };
	hsize_t dim = 3;
	hid_t h, space, d;
	double v[] = { 0.5, 1.5, 2.5 };
	unsigned short s[] = { 1, 2, 65535 };
	unsigned long long huge[] = { 1, 2, 18446744073709551615ull };
	size_t n;

	(void)state;
	put(file, true, "/t", &t);
	h = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
	assert_true(h >= 0);
	assert_true(H5Gclose(H5Gcreate2(h, "/other", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
	space = H5Screate_simple(1, &dim, NULL);
	d = H5Dcreate2(h, "/other/b", H5T_IEEE_F32BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	assert_true(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
	H5Dclose(d);
	d = H5Dcreate2(h, "/other/a", H5T_STD_U16BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	assert_true(H5Dwrite(d, H5T_NATIVE_USHORT, H5S_ALL, H5S_ALL, H5P_DEFAULT, s) >= 0);
	H5Dclose(d);
	d = H5Dcreate2(h, "/huge", H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	assert_true(H5Dwrite(d, H5T_NATIVE_ULLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, huge) >= 0);
	H5Dclose(d);
	H5Sclose(space);
	assert_true(H5Fclose(h) >= 0);
	back = get(file, "/t");
	same_table(&t, &back);
	fit_table_release(&back);
	back = get(file, "/other");
	assert_int_equal(back.n_columns, 2);
	check_text(back.columns[0].name, "a");
	assert_int_equal(back.columns[0].i[2], 65535);
	check_same_bits(back.columns[1].d[1], 1.5);
	fit_table_release(&back);
	{
		struct fit_store_request req = { .path = "/", .table = &back };

		assert_int_equal(fit_store_read(file, &req, 1, NULL, &err), FIT_EPARSE);
		assert_non_null(strstr(err.msg, "a value of column 'huge' is not an int64"));
	}
	assert_int_equal(fit_store_write(file, &path, &tp, 1, &err), FIT_EDATA);
	assert_non_null(strstr(err.msg, "made or changed by another program"));
	free(slurp(file, &n));
	assert_true(n > 0);
	fit_table_release(&t);
	assert_int_equal(unlink(file), 0);
}

/* HDF5's own messages: silent while we work, and as before afterwards. */
static void error_stack(void **state)
{
	H5E_auto2_t before, after;
	void *data;
	struct fit_err err = { 0 };
	char **list;
	size_t n;

	(void)state;
	H5Eget_auto2(H5E_DEFAULT, &before, &data);
	spill(in_dir("x.h5"), "\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0", 16);
	assert_int_equal(fit_store_list(in_dir("x.h5"), &list, &n, &err), FIT_EPARSE);
	H5Eget_auto2(H5E_DEFAULT, &after, &data);
	assert_true(before == after);
	assert_int_equal(unlink(in_dir("x.h5")), 0);
}

/* ---- writers at once, writers that die ---- */

static void writers_at_once(void **state)
{
	enum { N = 6 };
	const char *file = in_dir("a.h5");
	pid_t pids[N];
	struct fit_err err = { 0 };
	char **list;
	size_t n;

	(void)state;
	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			struct fit_table t = make_table("", 200, i);
			const struct fit_table *tp = &t;
			char name[20];
			const char *path = name;

			snprintf(name, sizeof name, "/t%d", i);
			_exit(fit_store_write(file, &path, &tp, 1, NULL));
		}
	}
	for (int i = 0; i < N; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	check_ok(fit_store_list(file, &list, &n, &err), &err);
	assert_int_equal(n, N);	/* none was lost */
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
	assert_int_equal(unlink(file), 0);
}

static void killed_holder(void **state)
{
	const char *file = in_dir("a.h5");
	struct fit_table t = make_table("", 2, 1);
	int ready[2], status;
	char c;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct fit_store_lock lock;

		if (fit_store_lock(&lock, file, NULL) == FIT_OK && write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* its lock file is still there, and in nobody's way */
	assert_int_equal(access(in_dir("a.h5.lock"), F_OK), 0);
	put(file, false, "/t", &t);
	assert_int_equal(access(in_dir("a.h5.lock"), F_OK), -1);
	close(ready[0]);
	close(ready[1]);
	fit_table_release(&t);
	assert_int_equal(unlink(file), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip), cmocka_unit_test(long_texts), cmocka_unit_test(many_columns),
		cmocka_unit_test(adds_and_replaces), cmocka_unit_test(requests), cmocka_unit_test(reader_and_writer),
		cmocka_unit_test(bad_paths), cmocka_unit_test(missing_and_wrong_files), cmocka_unit_test(damage), cmocka_unit_test(kills_hdf5),
		cmocka_unit_test(foreign), cmocka_unit_test(error_stack), cmocka_unit_test(writers_at_once),
		cmocka_unit_test(killed_holder),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
