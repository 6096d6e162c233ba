/* SPDX-License-Identifier: MIT */
#include "libfit/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fit_outfile {
	int fd;
	char *dest, *tmp;	/* NULL: standard output */
	struct fit_str text;
};

void fit_outfile_abort(struct fit_outfile *o)
{
	if (!o)
		return;
	if (o->dest && o->fd >= 0)
		close(o->fd);
	if (o->tmp)
		unlink(o->tmp);
	free(o->dest);
	free(o->tmp);
	fit_str_release(&o->text);
	free(o);
}

static int open_beside(struct fit_outfile *o, const char *dest, struct fit_err *err)
{
	struct fit_str tmp = { 0 };

	o->dest = fit_strdup(fit_text_of(dest));
	if (!o->dest || fit_str_printf(&tmp, "%s.tmp.%ld", dest, (long)getpid())) {
		fit_str_release(&tmp);
		return fit_fail_nomem(err);
	}
	o->fd = open(tmp.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (o->fd < 0) {
		int rc = fit_fail_errno(err, "%s: cannot open for writing", dest);

		fit_str_release(&tmp);
		return rc;
	}
	o->tmp = tmp.s;
	return FIT_OK;
}

int fit_outfile_open(struct fit_outfile **out, const char *dest, struct fit_err *err)
{
	struct fit_outfile *o = calloc(1, sizeof *o);
	int rc = FIT_OK;

	*out = NULL;
	if (!o)
		return fit_fail_nomem(err);
	o->fd = STDOUT_FILENO;
	if (dest && strcmp(dest, "-") != 0)
		rc = open_beside(o, dest, err);
	if (rc) {
		fit_outfile_abort(o);
		return rc;
	}
	*out = o;
	return FIT_OK;
}

struct fit_str *fit_outfile_text(struct fit_outfile *o)
{
	return &o->text;
}

int fit_outfile_flush(struct fit_outfile *o, size_t min, struct fit_err *err)
{
	size_t at = 0;

	if (o->text.n < min)
		return FIT_OK;
	while (at < o->text.n) {
		ssize_t k = write(o->fd, o->text.s + at, o->text.n - at);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return fit_fail_errno(err, "%s: cannot write", o->dest ? o->dest : "standard output");
		at += (size_t)k;
	}
	fit_str_clear(&o->text);
	return FIT_OK;
}

int fit_outfile_close(struct fit_outfile *o, struct fit_err *err)
{
	int rc = fit_outfile_flush(o, 0, err);

	if (!rc && o->dest) {
		int fd = o->fd;

		o->fd = -1;
		if (close(fd))
			rc = fit_fail_errno(err, "%s: cannot write", o->dest);
		else if (rename(o->tmp, o->dest))
			rc = fit_fail_errno(err, "%s: cannot rename into place", o->dest);
	}
	if (!rc) {
		free(o->tmp);
		o->tmp = NULL;
	}
	fit_outfile_abort(o);
	return rc;
}
