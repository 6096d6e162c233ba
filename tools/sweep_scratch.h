/* SPDX-License-Identifier: MIT */
/* A folder of this process for work that is half done, in $TMPDIR: where hosts share results, that is
 * mostly a disk of their own. */
#ifndef TOOLS_SWEEP_SCRATCH_H
#define TOOLS_SWEEP_SCRATCH_H

#include "libfit/base/text.h"

/* The name of a new folder; FIT_EIO. */
int sweep_scratch_open(struct fit_str *folder, struct fit_err *err) FIT_MUST_CHECK;
/* FOLDER/SLOT.WHAT becomes s. FIT_ENOMEM. */
int sweep_scratch_file(const struct fit_str *folder, struct fit_str *s, size_t slot,
		       const char *what) FIT_MUST_CHECK;
/* Remove the folder with all that is in it: programs that were ended leave files of names that they chose. */
void sweep_scratch_close(struct fit_str *folder);

#endif
