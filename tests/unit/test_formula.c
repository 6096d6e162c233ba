/* SPDX-License-Identifier: MIT */
/* Formulas over cells: arithmetic, cells and what is gathered of them, comparisons, faults. */
#include "libfit/base/num.h"
#include "libfit/table/formula.h"
#include "tests/unit/check.h"

static const char rows[] =
	"policy\tload\tjct_s\tnote\n"
	"fifo\t0.5\t10.5\tx\n"
	"fifo\t1.0\t21\tNA\n"
	"sjf\t0.5\t7\t3\n"
	"sjf\t1\t14\tx y\n"
	"srtf\t2\t1\t48.5 %\n";

static int find(void *arg, struct fit_text name, const struct fit_table **table, struct fit_err *err)
{
	if (!fit_text_is(name, "runs-1"))
		return fit_fail(err, FIT_ENOTFOUND, "no table %.*s", FIT_TEXT_ARG(name));
	*table = arg;
	return FIT_OK;
}

static void read_rows(struct fit_table *t)
{
	struct fit_reader *r;

	assert_int_equal(fit_reader_open_memory(&r, "rows", rows, sizeof rows - 1, NULL), FIT_OK);
	assert_int_equal(fit_table_read_next(t, r, NULL, 0, NULL), FIT_OK);
	assert_int_equal(fit_table_infer(t), FIT_OK);
	fit_reader_close(r);
}

static void test_values(void **state)
{
	static const struct {
		const char *formula;
		double value;
	} cases[] = {
		{ "3", 3 }, { " 2 + 3 * 4 ", 14 }, { "(2 + 3) * 4", 20 }, { "7 - 2 - 1", 4 }, { "8 / 4 / 2", 1 },
		{ "-2 * -3", 6 }, { "1.5e1-1E0", 14 }, { "abs(3 - 5)", 2 }, { "min(3, 2, 5)", 2 },
		{ "max(3, 2, 5)", 5 }, { "{runs-1 jct_s policy=sjf,load=1.0}", 14 },
		{ "{runs-1 jct_s policy=sjf,load=1}", 14 },
		{ "100 * (1 - {runs-1 jct_s policy=sjf,load=0.5} / {runs-1 jct_s policy=fifo,load=0.5})", 100. / 3 },
		{ "max{runs-1 jct_s}", 21 }, { "min{runs-1 jct_s policy=fifo}", 10.5 }, { "{runs-1 note policy=srtf}", 48.5 },
		{ "mean{runs-1 jct_s load=0.5}", 8.75 }, { "sum{runs-1 jct_s}", 53.5 },
		{ "count{runs-1}", 5 }, { "count{runs-1 policy=fifo}", 2 }, { "count{runs-1 policy=none}", 0 },
		{ "{runs-1 jct_s note=x y}", 14 }, { "{runs-1 note note=3}", 3 },
		{ "1 < 2", 1 }, { "2 < 1", 0 }, { "1 < 2 < 3", 1 }, { "1 < 3 < 2", 0 }, { "2 <= 2", 1 },
		{ "3 >= 4", 0 }, { "2 == 2", 1 }, { "2 == 2.5", 0 }, { "5 > 4 > 4", 0 },
		{ "{runs-1 jct_s policy=sjf,load=1} < {runs-1 jct_s policy=fifo,load=1}", 1 },
	};
	struct fit_table t = { 0 };

	(void)state;
	read_rows(&t);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fit_err err = { 0 };
		double x = -1;

		if (fit_formula_value(cases[i].formula, find, &t, &x, &err))
			fail_msg("%s: %s", cases[i].formula, err.msg);
		check_real(x, cases[i].value, 1e-15, 0);
		assert_int_equal(fit_formula_value(cases[i].formula, NULL, NULL, &x, &err), FIT_OK);
		assert_true(x == 0);
	}
	fit_table_release(&t);
}

static void test_faults(void **state)
{
	static const struct {
		const char *formula;
		int code;
		const char *message;
	} cases[] = {
		{ "", FIT_EPARSE, "bad formula at 'its end' (expected a number, {, ( or a function)" },
		{ "1 +", FIT_EPARSE, "bad formula at 'its end' (expected a number, {, ( or a function)" },
		{ "1 2", FIT_EPARSE, "bad formula at '2' (expected an operator or the end)" },
		{ "1..2", FIT_EPARSE, "bad formula at '1..2' (expected a number)" },
		{ "(1", FIT_EPARSE, "bad formula at 'its end' (expected ')')" },
		{ "median{runs-1 jct_s}", FIT_EPARSE, "bad formula at 'median{runs-1 jct_s}' (expected a number, "
		  "{, ( or a function)" },
		{ "mean(1, 2)", FIT_EPARSE, "bad formula at '(1, 2)' (expected '{')" },
		{ "{runs-1}", FIT_EPARSE, "bad formula at '}' (expected a column)" },
		{ "{runs-1 jct_s policy}", FIT_EPARSE, "bad formula at '}' (expected a condition COLUMN=VALUE)" },
		{ "{runs-1 jct_s policy=a", FIT_EPARSE, "bad formula at 'its end' (expected {TABLE COLUMN CONDITIONS})" },
		{ "{other x}", FIT_ENOTFOUND, "no table other" },
		{ "{runs-1 x}", FIT_ENOTFOUND, "table runs-1: no column 'x'" },
		{ "{runs-1 jct_s x=1}", FIT_ENOTFOUND, "table runs-1: no column 'x'" },
		{ "{runs-1 jct_s policy=x}", FIT_ENOTFOUND, "table runs-1: no such row" },
		{ "{runs-1 jct_s policy=sjf}", FIT_EDATA, "table runs-1: 2 such rows (expected one)" },
		{ "max{runs-1 note}", FIT_EDATA, "table runs-1: no number in column note of row 1" },
		{ "max{runs-1 note policy=none}", FIT_ENOTFOUND, "table runs-1: no such row" },
	};
	struct fit_table t = { 0 };
	char deep[1001];

	(void)state;
	read_rows(&t);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fit_err err = { 0 };
		double x = 7;

		assert_int_equal(fit_formula_value(cases[i].formula, find, &t, &x, &err), cases[i].code);
		assert_string_equal(err.msg, cases[i].message);
		assert_true(x == 7);
	}
	memset(deep, '(', 1000);
	deep[1000] = '\0';
	assert_int_equal(fit_formula_value(deep, find, &t, &(double){ 0 }, NULL), FIT_EPARSE);
	memset(deep, '-', 1000);
	assert_int_equal(fit_formula_value(deep, find, &t, &(double){ 0 }, NULL), FIT_EPARSE);
	fit_table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_values), cmocka_unit_test(test_faults) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
