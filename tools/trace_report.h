/* SPDX-License-Identifier: MIT */
/*
 * What gf-trace says about an import, on standard error, and its table of formats.
 */
#ifndef TOOLS_TRACE_REPORT_H
#define TOOLS_TRACE_REPORT_H

#include "libfit/base/status.h"
#include "tools/common/cli.h"
#include "traces/jobs.h"

/* Bad records that were left out, by reason: one line, if there are any. */
void trace_say_left_out(const struct cli *cli, const char *input, const struct fit_trace_report *r);
/* Lines, each with a line feed at its end (NULL: none), as warnings about the input. */
void trace_say_notes(const struct cli *cli, const char *input, const char *note);
/* All there is to say: notes, records left out, values put right, and with -v counts and range. */
void trace_say_report(const struct cli *cli, const char *input, const struct fit_trace_report *r);
/* gf-trace --list. */
int trace_list_formats(struct cli *cli, struct fit_err *err) FIT_MUST_CHECK;

#endif
