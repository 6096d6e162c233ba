/* SPDX-License-Identifier: MIT */
/*
 * Generated jobs in the layouts of production traces, so that readers can be tried on any number of
 * them. Each layout holds the jobs of fit_synth_jobs() (users, sizes and durations are the same;
 * submissions are cut to whole seconds) and adds what it cannot do without: a wait before the start, a
 * status, machines, and, in Philly, now and then a second attempt. The clock starts at
 * 2020-01-01T00:00:00 without a zone.
 *
 * Job k (from 1) of user n is "uN" of group "vcM", M = N mod 10 (in SWF the numbers alone).
 */
#ifndef FIT_SYNTH_FORMATS_H
#define FIT_SYNTH_FORMATS_H

#include "libfit/base/linkage.h"
#include "libfit/base/outfile.h"
#include "libfit/base/status.h"
#include "libfit/synth/synth_jobs.h"

FIT_C_BEGIN

enum fit_synth_format {
	FIT_SYNTH_PHILLY,	/* cluster_job_log: one JSON array */
	FIT_SYNTH_SACCT,	/* sacct -P */
	FIT_SYNTH_HELIOS,	/* cluster_log.csv */
	FIT_SYNTH_SWF		/* Standard Workload Format 2.2; processors are GPUs */
};

/* Write the jobs of p, in constant memory. FIT_EINVAL: p is not in order, or the last job ends beyond
 * what the layout's years hold. */
int fit_synth_format_write(enum fit_synth_format format, const struct fit_synth_jobs_params *p,
			   struct fit_outfile *out, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
