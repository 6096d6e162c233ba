/* SPDX-License-Identifier: MIT */
/*
 * What reader and writer of the Standard Workload Format share: the 18 fields, and the labels that our
 * own export adds, so that names survive in a format of numbers:
 *
 *	; Label: user 3 alice
 *
 * with job, user, group, app, queue or partition. A label goes to the end of the line; backslash, line
 * feed and carriage return in it are written \\, \n, \r.
 *
 * Source: D. Feitelson et al., "The Standard Workload Format", version 2.2, Parallel Workloads Archive.
 */
#ifndef TRACES_SWF_H
#define TRACES_SWF_H

#include "libfit/base/text.h"
#include "traces/jobs.h"

enum {
	FIT_SWF_JOB, FIT_SWF_SUBMIT, FIT_SWF_WAIT, FIT_SWF_RUN, FIT_SWF_ALLOC, FIT_SWF_CPU_TIME,
	FIT_SWF_USED_MEM, FIT_SWF_REQ, FIT_SWF_REQ_TIME, FIT_SWF_REQ_MEM, FIT_SWF_STATUS, FIT_SWF_USER,
	FIT_SWF_GROUP, FIT_SWF_APP, FIT_SWF_QUEUE, FIT_SWF_PARTITION, FIT_SWF_AFTER, FIT_SWF_THINK,
	FIT_SWF_FIELDS
};
/* "job number", "submit time", …: for messages. */
extern const char *const fit_swf_names[FIT_SWF_FIELDS];

/* "; Note: " and this: processors are GPUs, so nobody needs to ask. */
#define FIT_SWF_NOTE_GPUS "a processor is a GPU"

/* Append a label to out, escaped; and back. */
int fit_swf_escape(struct fit_str *out, struct fit_text t) FIT_MUST_CHECK;
int fit_swf_unescape(struct fit_str *out, struct fit_text t) FIT_MUST_CHECK;

#endif
