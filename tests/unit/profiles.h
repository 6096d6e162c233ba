/* SPDX-License-Identifier: MIT */
/* Tables of an application profile in the layout of Pollux, for unit tests. */
#ifndef TESTS_UNIT_PROFILES_H
#define TESTS_UNIT_PROFILES_H

#include "tests/unit/check.h"

#include "libfit/model/profile.h"
#include "traces/prof_pollux.h"

CHECK_UNUSED static void read_profiles(const char *folder, struct fit_profile_tables *t)
{
	const struct fit_pollux_options how = { 0 };
	const struct fit_pollux_tables into = {
		&t->t[FIT_PROFILE_APPS], &t->t[FIT_PROFILE_PLACEMENTS],
		&t->t[FIT_PROFILE_SCALABILITY], &t->t[FIT_PROFILE_VALIDATION],
	};
	char hash[FIT_HASH_HEX];
	struct fit_err err;

	check_ok(fit_profile_tables_init(t, &err), &err);
	check_ok(fit_pollux_read_profiles(folder, &how, &into, hash, &err), &err);
	check_ok(fit_profile_tables_prepare(t, &err), &err);
}

#endif
