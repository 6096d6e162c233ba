/* SPDX-License-Identifier: MIT */
#include "libfit/base/job_kind.h"

#include <stddef.h>

bool fit_job_kind_find(struct fit_text t, enum fit_job_kind *kind)
{
	static const char *const names[] = { "adaptive", "scale-gpus", "rigid" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!fit_text_is(t, names[i]))
			continue;
		*kind = (enum fit_job_kind)i;
		return true;
	}
	return false;
}
