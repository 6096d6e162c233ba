/* SPDX-License-Identifier: MIT */
/*
 * What a scheduler may change about a training job (Jayaram Subramanya et al., "Sia", SOSP'23, section 3.2):
 * column `scaling` of the jobs table (docs/formats/jobs.md).
 */
#ifndef FIT_BASE_JOB_KIND_H
#define FIT_BASE_JOB_KIND_H

#include <stdbool.h>

#include "libfit/base/linkage.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

enum fit_job_kind {
	FIT_JOB_ADAPTIVE,	/* its GPUs and its batch size */
	FIT_JOB_SCALES,		/* its GPUs: the total batch size stays */
	FIT_JOB_RIGID		/* neither; the type of its GPUs at most */
};

#define FIT_JOB_KINDS "adaptive, scale-gpus or rigid"

/* False: the text names none; *kind is then as it was. */
bool fit_job_kind_find(struct fit_text t, enum fit_job_kind *kind);

FIT_C_END

#endif
