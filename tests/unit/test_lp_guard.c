/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <glpk.h>
#include <unistd.h>

#include "libfit/model/lp_guard.h"

/* One column in two rows: x <= b[0], x <= b[1] in units of a; the largest x. */
struct small {
	double a[2], b[2], x;
};

static int solve(void *arg, struct fit_err *err)
{
	const int rows[] = { 0, 1, 2 };
	struct small *s = arg;
	const double values[] = { 0, s->a[0], s->a[1] };
	glp_prob *lp = glp_create_prob();
	glp_smcp how;

	glp_set_obj_dir(lp, GLP_MAX);
	glp_add_rows(lp, 2);
	glp_add_cols(lp, 1);
	glp_set_col_bnds(lp, 1, GLP_LO, 0, 0);
	glp_set_obj_coef(lp, 1, 1);
	for (int i = 0; i < 2; i++)
		glp_set_row_bnds(lp, i + 1, GLP_UP, 0, s->b[i]);
	glp_set_mat_col(lp, 1, 2, rows, values);
	glp_scale_prob(lp, GLP_SF_GM | GLP_SF_EQ);
	glp_init_smcp(&how);
	how.msg_lev = GLP_MSG_OFF;
	if (glp_simplex(lp, &how) || glp_get_status(lp) != GLP_OPT)
		return fit_fail(err, FIT_EDATA, "no optimum");
	s->x = glp_get_col_prim(lp, 1);
	return FIT_OK;
}

static int out_of_range(void *arg, struct fit_err *err)
{
	glp_prob *lp = glp_create_prob();

	(void)arg;
	(void)err;
	glp_add_rows(lp, 2);
	glp_set_row_bnds(lp, 5, GLP_UP, 0, 1);
	return FIT_OK;
}

static void good_work(void **state)
{
	struct small s = { .a = { 2, 1 }, .b = { 6, 5 } }, open = { .a = { -1, -1 }, .b = { 1, 1 } };
	struct fit_err err;

	(void)state;
	assert_int_equal(fit_lp_call(solve, &s, "x", &err), FIT_OK);
	assert_true(s.x > 3 - 1e-9 && s.x < 3 + 1e-9);
	/* an error of its own is handed on */
	assert_int_equal(fit_lp_call(solve, &open, "x", &err), FIT_EDATA);
	assert_string_equal(err.msg, "no optimum");
}

/* GLPK ends the process on each of these; here it is an error, nothing is printed, and the next call
 * works. */
static void given_up(void **state)
{
	struct small far = { .a = { 1e299, 1e-310 }, .b = { 1, 1 } }, s = { .a = { 2, 1 }, .b = { 6, 5 } };
	FILE *kept = tmpfile();
	struct fit_err err;
	int out, said;

	(void)state;
	assert_non_null(kept);
	(void)fflush(stdout);
	out = dup(STDOUT_FILENO);
	assert_true(out >= 0 && dup2(fileno(kept), STDOUT_FILENO) >= 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(fit_lp_call(out_of_range, NULL, "rows", &err), FIT_ENOCONV);
		assert_string_equal(err.msg, "rows: the linear programme was given up: glp_set_row_bnds: i = 5; row "
				    "number out of range");
		assert_int_equal(fit_lp_call(solve, &far, "far", &err), FIT_ENOCONV);
		assert_ptr_equal(strstr(err.msg, "far: the linear programme was given up: "), err.msg);
		assert_int_equal(fit_lp_call(out_of_range, NULL, "no place for a message", NULL), FIT_ENOCONV);
		assert_int_equal(fit_lp_call(solve, &s, "x", &err), FIT_OK);
		assert_true(s.x > 3 - 1e-9 && s.x < 3 + 1e-9);
	}
	(void)fflush(stdout);
	said = (int)lseek(STDOUT_FILENO, 0, SEEK_END);
	assert_true(dup2(out, STDOUT_FILENO) >= 0);
	close(out);
	(void)fclose(kept);
	assert_int_equal(said, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(good_work), cmocka_unit_test(given_up) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
