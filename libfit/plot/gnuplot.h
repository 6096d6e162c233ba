/* SPDX-License-Identifier: MIT */
/*
 * From a figure to a picture: gnuplot is run once, in a new folder of its own, on a script file (a
 * script on its standard input would go on after an error). Its status and all that it prints are
 * looked at. No other process is started, and no shell. Its environment is fixed (LC_ALL=C.UTF-8, TZ=UTC;
 * PATH, HOME, TMPDIR and where fonts and libraries are pass through), its start-up files are not read.
 */
#ifndef FIT_PLOT_GNUPLOT_H
#define FIT_PLOT_GNUPLOT_H

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/plot/plot.h"
#include "libfit/plot/script.h"

FIT_C_BEGIN

/*
 * Draw p into dest. NULL or "-": standard output, and nothing is kept. Else a file; the script and
 * its data stay beside it under its name with .gp and .dat in place of the suffix. All three are made
 * under other names and appear when the picture is good, the picture last. A device or pipe is
 * written to, and nothing is kept.
 *
 * warnings (may be NULL) gets what gnuplot warned of, one line each. FIT_EDATA: the figure cannot be
 * drawn; FIT_EINVAL: dest has control characters; FIT_ECHILD: gnuplot is missing or failed; FIT_EIO.
 */
int fit_plot_render(const struct fit_plot *p, const char *dest, enum fit_plot_format format,
		    struct fit_str *warnings, struct fit_err *err) FIT_MUST_CHECK;

/* What gnuplot printed, taken apart: *fault is the first line that is not a warning (empty when
 * there is none), warnings are appended to warnings (may be NULL), one a line. */
int fit_gnuplot_sort_messages(const char *printed, struct fit_str *fault,
			      struct fit_str *warnings) FIT_MUST_CHECK;

FIT_C_END

#endif
