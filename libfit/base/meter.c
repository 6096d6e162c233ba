/* SPDX-License-Identifier: MIT */
#include "libfit/base/meter.h"

#include <stdatomic.h>
#include <stddef.h>

static fit_meter_listener *listener;
static atomic_flag busy = ATOMIC_FLAG_INIT;

void fit_meter_listen(fit_meter_listener *hear)
{
	listener = hear;
}

void fit_meter_tell(const char *what, uint64_t done, uint64_t total, const char *unit)
{
	const struct fit_progress_report r = { what, done, total, unit };

	if (!listener || atomic_flag_test_and_set(&busy))
		return;
	listener(&r);
	atomic_flag_clear(&busy);
}
