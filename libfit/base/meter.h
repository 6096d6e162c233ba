/* SPDX-License-Identifier: MIT */
/*
 * How far long work is. Who does it tells, now and then; who wants to show it listens. This is the one
 * thing in libfit that is set for the whole process: no result depends on it, and what it would cost
 * to hand it through every call is more than it is worth. Without a listener telling costs a
 * comparison.
 */
#ifndef FIT_BASE_METER_H
#define FIT_BASE_METER_H

#include <stdint.h>

#include "libfit/base/linkage.h"

FIT_C_BEGIN

/* Bytes, or things that have this name. */
#define FIT_METER_BYTES ((const char *)0)

struct fit_progress_report {
	const char *what;	/* is done: one sequence of growing numbers each */
	uint64_t done, total;	/* total 0: not known */
	const char *unit;	/* plural; or FIT_METER_BYTES */
};

/* Called from any thread, from one at a time; it must not tell. NULL: nobody listens. Set it while no other
 * thread runs. */
typedef void fit_meter_listener(const struct fit_progress_report *r);
void fit_meter_listen(fit_meter_listener *hear);

/* Work is so far. Not more often than every some ten microseconds. */
void fit_meter_tell(const char *what, uint64_t done, uint64_t total, const char *unit);

FIT_C_END

#endif
