/* SPDX-License-Identifier: MIT */
/*
 * Plain text out, in one stream: to standard output, or to a file that appears under its name only
 * when it is complete.
 */
#ifndef FIT_BASE_OUTFILE_H
#define FIT_BASE_OUTFILE_H

#include <stddef.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

/*
 * Open what dest names for writing. A device, a pipe and an open descriptor (/dev/stdout, /dev/fd/N) are
 * written directly, and *tmp and *target are NULL; else *fd is the new file *tmp, to be renamed to *target
 * once it is complete: dest, or the file in whose place dest is a symbolic link, which stays one. Both are
 * in one folder; free them. FIT_EIO.
 */
int fit_dest_open(const char *dest, int *fd, char **tmp, char **target, struct fit_err *err) FIT_MUST_CHECK;
/* The file that dest leads to through symbolic links, whether it is there or not; dest itself where it is
 * none. Free *target. FIT_EIO: links without an end. */
int fit_dest_follow(const char *dest, char **target, struct fit_err *err) FIT_MUST_CHECK;
/* The descriptor that a name such as /dev/stdout or /dev/fd/5 stands for, or -1. */
int fit_dest_descriptor(const char *dest);

struct fit_outfile;

/* dest NULL or "-": standard output. FIT_EIO. */
int fit_outfile_open(struct fit_outfile **o, const char *dest, struct fit_err *err) FIT_MUST_CHECK;
/* The text to add to; hand it over with fit_outfile_flush() from time to time. */
struct fit_str *fit_outfile_text(struct fit_outfile *o);
/* Write what is there, if it is at least min bytes. */
int fit_outfile_flush(struct fit_outfile *o, size_t min, struct fit_err *err) FIT_MUST_CHECK;
/* Write the rest, check, rename into place, free. abort() leaves nothing behind; NULL is fine. */
int fit_outfile_close(struct fit_outfile *o, struct fit_err *err) FIT_MUST_CHECK;
void fit_outfile_abort(struct fit_outfile *o);
/* A whole text at once. */
int fit_outfile_write(const char *dest, struct fit_text text, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
