/* SPDX-License-Identifier: MIT */
/*
 * The usual record of a log in the Standard Workload Format: eighteen whole numbers, as they are written
 * when nobody asks for anything else, with blanks between. Nearly all records of nearly all logs are of
 * that kind, so telling them apart, and taking them, is what the time of reading such a log goes into.
 */
#ifndef TRACES_SWF_LINE_H
#define TRACES_SWF_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/text.h"
#include "traces/swf.h"

struct fit_swf_line {
	/* The number of a field; -1: missing. Only of job, submission, wait, run, both counts of processors,
	 * requested time and memory, status and think time: the others are names, or are passed over. */
	int64_t v[FIT_SWF_FIELDS];
	const char *s;		/* the fields, each with one blank behind it: the line, or compact */
	unsigned char at[FIT_SWF_FIELDS + 1];	/* field i begins at at[i], and its blank is at at[i + 1] - 1 */
	char compact[128 + FIT_PLAIN_MAX];
};

/* A field as it stands; FIT_PLAIN_MAX bytes from there on may be read. It lives as long as line and x. */
static inline struct fit_text fit_swf_line_text(const struct fit_swf_line *x, size_t field)
{
	return (struct fit_text){ x->s + x->at[field], (size_t)x->at[field + 1] - x->at[field] - 1 };
}

/*
 * Take a line of fit_source_line() that neither begins nor ends with a blank. False: it is something else
 * (a comment, tabs, fractions, +1, 007, more fields, a number of more than FIT_PLAIN_MAX digits, more than
 * 127 bytes), which says nothing about whether it is right; x has no meaning then.
 */
bool fit_swf_line_take(struct fit_text t, struct fit_swf_line *x) FIT_MUST_CHECK;

#endif
