/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libfit/base/num.h"
#include "traces/csv.h"

static char path[512];

static int set_up(void **state)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	(void)state;
	snprintf(path, sizeof path, "%s/gf-test-csv.XXXXXX", dir ? dir : "/tmp");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

struct in {
	struct fit_source *s;
	struct fit_csv *c;
	struct fit_err err;
};

/* Write n bytes to the scratch file and open it. */
static int start(struct in *in, const char *bytes, size_t n, const struct fit_csv_options *o)
{
	FILE *f = fopen(path, "wb");

	*in = (struct in){ 0 };
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(fit_source_open(&in->s, path, &in->err), FIT_OK);
	return fit_csv_open(&in->c, in->s, o, &in->err);
}

#define START(in, text, o) start(in, text, sizeof(text) - 1, o)

static void stop(struct in *in)
{
	fit_csv_close(in->c);
	fit_source_close(in->s);
}

/* The message without the name of the scratch file. */
static const char *message(const struct in *in)
{
	assert_memory_equal(in->err.msg, path, strlen(path));
	return in->err.msg + strlen(path);
}

static void is_text(struct fit_cell c, const char *want)
{
	char buf[64];

	assert_false(c.na);
	assert_true(c.u.t.n < sizeof buf);
	memcpy(buf, c.u.t.s, c.u.t.n);
	buf[c.u.t.n] = '\0';
	assert_string_equal(buf, want);
}

static const struct fit_field two[] = {
	{ "b", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE }, { "a", FIT_TEXT, 0 }
};

static void binds_by_name_and_types(void **state)
{
	static const struct fit_field f[] = {
		{ "t", FIT_TIME, FIT_CSV_F_ROUND }, { "n", FIT_INT, FIT_CSV_F_WHOLE },
		{ "none", FIT_REAL, FIT_F_OPTIONAL }, { "x", FIT_REAL, 0 }, { "name", FIT_TEXT, 0 }
	};
	struct fit_str rest = { 0 };
	struct fit_cell c[5];
	struct in in;

	(void)state;
	assert_int_equal(START(&in, "name,x,extra,n,t\n"
			       "p q ,2.5,7,4550879.0,0.12345678949\n"
			       "\"r,\"\"s\"\"\",-3,8,12,17\n"
			       ",,,,\n", NULL), FIT_OK);
	assert_int_equal(fit_csv_n_columns(in.c), 5);
	assert_true(fit_csv_has(in.c, "extra"));
	assert_false(fit_csv_has(in.c, "none"));
	assert_int_equal(fit_csv_bind(in.c, f, 5, &in.err), FIT_OK);
	assert_int_equal(fit_csv_unbound(in.c, &rest), FIT_OK);
	assert_string_equal(rest.s, "extra");
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
	assert_int_equal(c[0].u.i, 123456789);	/* 0.12345678949 s, to the nearest ns */
	assert_int_equal(c[1].u.i, 4550879);
	assert_true(c[2].na);
	assert_true(c[3].u.d == 2.5);
	is_text(c[4], "p q");
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
	assert_int_equal(c[0].u.i, 17 * FIT_NS_PER_S);
	is_text(c[4], "r,\"s\"");
	assert_true(fit_text_is(fit_csv_raw(in.c, 2), "8"));
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
	for (size_t i = 0; i < 5; i++)
		assert_true(c[i].na);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_END);
	assert_int_equal(fit_csv_rows(in.c), 3);
	fit_str_release(&rest);
	stop(&in);
}

/* A mark, CRLF, blank lines, quotes and no final line feed: same records, same hash. */
static void bytes_do_not_matter(void **state)
{
	static const char *const texts[] = {
		"a,b\nx,1\n\"y, z\",2\n",
		("\xef\xbb\xbf" "a,b\r\n\r\nx,1\r\n\"y, z\",2"),
		"\n\"a\", b \n  \n\"x\",\"1\"\n\n\"y, z\",2\n\n"
	};
	char hash[3][FIT_HASH_HEX];

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct fit_cell c[2];
		struct in in;

		assert_int_equal(start(&in, texts[k], strlen(texts[k]), NULL), FIT_OK);
		assert_int_equal(fit_csv_bind(in.c, two, 2, &in.err), FIT_OK);
		assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
		is_text(c[1], "x");
		assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
		assert_int_equal(c[0].u.i, 2);
		is_text(c[1], "y, z");
		assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_END);
		fit_csv_hash(in.c, hash[k]);
		stop(&in);
	}
	assert_string_equal(hash[0], hash[1]);
	assert_string_equal(hash[0], hash[2]);
}

static void counts_lines_through_quotes(void **state)
{
	struct fit_cell c[2];
	struct in in;

	(void)state;
	assert_int_equal(START(&in, "a,b\n\n\"one\r\n\ntwo\",5\nlast,6\nbad,x\n", NULL), FIT_OK);
	assert_int_equal(fit_csv_bind(in.c, two, 2, &in.err), FIT_OK);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
	is_text(c[1], "one\r\n\ntwo");
	assert_int_equal(fit_csv_line(in.c), 3);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
	assert_int_equal(fit_csv_line(in.c), 6);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_EPARSE);
	assert_string_equal(message(&in), ":7:b: bad value 'x' (expected an integer)");
	stop(&in);
}

/* Faults of the first data row of "a,b\n": message, reason (NULL: the end), and whether the row
 * "ok,9" behind it is still read. */
static void faults_of_rows(void **state)
{
#define CASE(text, what, why) { "a,b\n" text, sizeof("a,b\n" text) - 1, what, why }
	static const struct {
		const char *text;
		size_t n;
		const char *what, *why;
	} cases[] = {
		CASE("x\nok,9\n", ":2: 1 field, 2 expected", "ragged row"),
		CASE("x,1,2\nok,9\n", ":2: 3 fields, 2 expected", "ragged row"),
		CASE("x,1,\nok,9\n", ":2: 3 fields, 2 expected", "ragged row"),
		CASE("x,\nok,9\n", ":2:b: missing value (expected an integer)", "missing value"),
		CASE("x,1.5\nok,9\n", ":2:b: bad value '1.5' (expected an integer)", "bad value"),
		CASE("x,0x10\nok,9\n", ":2:b: bad value '0x10' (expected an integer)", "bad value"),
		CASE("x,9223372036854775808\nok,9\n",
		     ":2:b: out of range '9223372036854775808' (expected an integer)", "bad value"),
		CASE("x\0y,1\nok,9\n", ":2: NUL byte (expected text)", "bad encoding"),
		CASE("\xff,1\nok,9\n", ":2: invalid UTF-8", "bad encoding"),
		CASE("\xc0\xaf,1\nok,9\n", ":2: invalid UTF-8", "bad encoding"),
		CASE("x\"y,1\nok,9\n", ":2: stray quote (expected quotes around a whole field, and "
		     "doubled inside)", "stray quote"),
		CASE("\"x\"y,1\nok,9\n", ":2: stray quote (expected quotes around a whole field, and "
		     "doubled inside)", "stray quote"),
		CASE("x,1\ry,2\nok,9\n", ":2: carriage return inside a line (expected LF or CRLF line "
		     "ends)", NULL),
		CASE("\"x,1\nok,9\n", ":2: quoted field without end (expected a closing quote)", NULL),
		CASE("\"x,1\nok,\"9\"\n", ":2: quoted field that opens here does not end well (line 3: "
		     "stray quote or bad bytes)", NULL),
		CASE("\"x\ny\",\"1\nok,9\n", ":3: quoted field without end (expected a closing quote)",
		     NULL),
	};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct fit_cell c[2];
		struct in in;

		assert_int_equal(start(&in, cases[k].text, cases[k].n, NULL), FIT_OK);
		assert_int_equal(fit_csv_bind(in.c, two, 2, &in.err), FIT_OK);
		assert_int_not_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
		assert_string_equal(message(&in), cases[k].what);
		if (cases[k].why) {
			assert_string_equal(fit_csv_reason(in.c), cases[k].why);
			assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
			is_text(c[1], "ok");
			assert_int_equal(c[0].u.i, 9);
			assert_int_equal(fit_csv_rows(in.c), 2);
		} else {
			assert_null(fit_csv_reason(in.c));
			assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_EPARSE);
		}
		stop(&in);
	}
}

static void faults_of_files(void **state)
{
#define FILE_CASE(text, what) { text, sizeof(text) - 1, what }
	static const struct {
		const char *text;
		size_t n;
		const char *what;
	} cases[] = {
		FILE_CASE("", ": empty file (expected a header row)"),
		FILE_CASE("\n \r\n", ": empty file (expected a header row)"),
		FILE_CASE("\xef\xbb\xbf", ": empty file (expected a header row)"),
		FILE_CASE("a,b,a\n", ":1: duplicate column 'a' (found a, b, a)"),
		FILE_CASE("\xff\xfe" "a\0,\0a\0\n\0", ":1: duplicate column 'a' (found a, a)"),
		FILE_CASE("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n",
			  ":1: Git LFS pointer, not the data (expected the file that 'git lfs pull' "
			  "fetches)"),
		FILE_CASE("\"a,b\nx,1\n", ":1: quoted field without end (expected a closing quote)"),
		FILE_CASE("a,b\rx,1\r", ":1: carriage return inside a line (expected LF or CRLF line "
			  "ends)"),
	};
	struct in in;

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		assert_int_equal(start(&in, cases[k].text, cases[k].n, NULL), FIT_EPARSE);
		assert_string_equal(message(&in), cases[k].what);
		assert_null(in.c);
		stop(&in);
	}
	assert_int_equal(START(&in, "\nalpha,a,\n1,2,3\n", NULL), FIT_OK);
	assert_int_equal(fit_csv_bind(in.c, two, 2, &in.err), FIT_ENOTFOUND);
	assert_string_equal(message(&in), ":2: no column 'b' (found alpha, a, )");
	stop(&in);
}

static void declared_names_blanks_and_missing(void **state)
{
	static const char *const names[] = { "a", "b" }, *const missing[] = { "None", "NaN", NULL };
	struct fit_csv_options o = { .names = names, .n_names = 2, .missing = missing, .delimiter = '|' };
	struct fit_cell c[2];
	struct in in;

	(void)state;
	assert_int_equal(START(&in, "None|3\nx, y|4\n", &o), FIT_OK);
	assert_int_equal(fit_csv_bind(in.c, two, 2, &in.err), FIT_OK);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
	assert_true(c[1].na);
	assert_int_equal(c[0].u.i, 3);
	assert_int_equal(fit_csv_line(in.c), 1);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
	is_text(c[1], "x, y");
	stop(&in);

	o = (struct fit_csv_options){ .flags = FIT_CSV_DETECT };
	assert_int_equal(START(&in, "\xef\xbb\xbf" "b  a\r\n12 \t q\"r\r\n\r\n 7 s t\n", &o), FIT_OK);
	assert_int_equal(fit_csv_bind(in.c, two, 2, &in.err), FIT_OK);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
	is_text(c[1], "q\"r");
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_EPARSE);
	assert_string_equal(message(&in), ":4: 3 fields, 2 expected");
	stop(&in);
	assert_int_equal(START(&in, "\nb\ta\n5\tu v\n", &o), FIT_OK);
	assert_int_equal(fit_csv_bind(in.c, two, 2, &in.err), FIT_OK);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
	is_text(c[1], "u v");
	stop(&in);

	o = (struct fit_csv_options){ .flags = FIT_CSV_TRAILING };
	assert_int_equal(START(&in, "a,b\nx,3,\ny,4,5\n", &o), FIT_OK);
	assert_int_equal(fit_csv_bind(in.c, two, 2, &in.err), FIT_OK);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_EPARSE);
	stop(&in);
}

/* A quote that opens early in a big file must not take the file into memory. */
static void limits_hold(void **state)
{
	size_t n = 3u << 20;
	char *big = malloc(n);
	struct fit_cell c[2];
	struct in in;

	(void)state;
	assert_non_null(big);
	memset(big, 'x', n);
	for (size_t i = 63; i < n; i += 64)
		big[i] = '\n';
	memcpy(big, "a,b\nok,2\n\"", 10);
	assert_int_equal(start(&in, big, n, NULL), FIT_OK);
	assert_int_equal(fit_csv_bind(in.c, two, 2, &in.err), FIT_OK);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_OK);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_EPARSE);
	assert_string_equal(message(&in), ":3: quoted field without end in 1048576 bytes (expected a "
			    "closing quote)");
	stop(&in);
	memset(big, 'x', n);
	memcpy(big, "a,b\n", 4);
	assert_int_equal(start(&in, big, n, NULL), FIT_OK);
	assert_int_equal(fit_csv_bind(in.c, two, 2, &in.err), FIT_OK);
	assert_int_equal(fit_csv_row(in.c, c, &in.err), FIT_EPARSE);
	assert_string_equal(message(&in), ":2: field or row too long (expected at most 1048576 bytes a "
			    "field, 16777216 a row, 4096 columns)");
	stop(&in);
	memset(big, ',', 5000);
	assert_int_equal(start(&in, big, 5000, NULL), FIT_EPARSE);
	stop(&in);
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(binds_by_name_and_types, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bytes_do_not_matter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counts_lines_through_quotes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(faults_of_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(faults_of_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(declared_names_blanks_and_missing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limits_hold, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
