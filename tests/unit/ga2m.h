/* SPDX-License-Identifier: MIT */
/* Training of GA2M in unit tests. */
#ifndef TESTS_UNIT_GA2M_H
#define TESTS_UNIT_GA2M_H

#include "tests/unit/check.h"

#include "libfit/model/ga2m_train.h"

/* A sound model of d, which is released. */
CHECK_UNUSED static void train(struct fit_ga2m *m, struct fit_ga2m_data *d, const struct fit_ga2m_params *p)
{
	struct fit_err err;

	check_ok(fit_ga2m_train(m, d, p, NULL, &err), &err);
	assert_null(fit_ga2m_check(m));
	fit_ga2m_data_release(d);
}

#endif
