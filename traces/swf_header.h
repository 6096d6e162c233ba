/* SPDX-License-Identifier: MIT */
/*
 * The header comments of a log in the Standard Workload Format: what goes into the metadata, where the
 * times start, and the labels that our own export adds (traces/swf.h).
 */
#ifndef TRACES_SWF_HEADER_H
#define TRACES_SWF_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "traces/jobs.h"
#include "traces/lines.h"

struct fit_swf_header {
	int64_t unix_start, max_procs;	/* -1: not given */
	bool says_gpus;			/* a processor is a GPU */
	uint64_t not_kept;		/* comments that did not go into the metadata */
	size_t meta_n;			/* bytes of those that did */
	/* names of "user 3" and the like: that of number i ends at ends[i] of bytes */
	struct fit_index labels;
	struct fit_str bytes;
	size_t *ends;
	size_t n_labels, cap;
};
#define FIT_SWF_HEADER_INIT { .unix_start = -1, .max_procs = -1 }
void fit_swf_header_release(struct fit_swf_header *h);

/*
 * Take a comment, "; MaxProcs: 64", the current one of lines; records: one came already, so that it is no
 * header any more. FIT_EPARSE, FIT_EDATA: a start that is none, or that of another log.
 */
int fit_swf_header_take(struct fit_swf_header *h, struct fit_lines *lines, struct fit_trace_out *out,
			bool records, struct fit_text t, struct fit_err *err) FIT_MUST_CHECK;
/* The name of "user" "3"; empty when it has none. */
struct fit_text fit_swf_label(const struct fit_swf_header *h, const char *kind, struct fit_text number);

#endif
