/* SPDX-License-Identifier: MIT */
#include "libfit/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libfit/base/num.h"

struct fit_outfile {
	int fd;
	char *dest;		/* NULL: standard output */
	char *tmp, *target;	/* NULL: written directly */
	struct fit_str text;
};

/* ---- destinations ---- */

int fit_dest_descriptor(const char *dest)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	int64_t n;

	if (strcmp(dest, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(dest, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		size_t k = strlen(folders[i]);

		if (strncmp(dest, folders[i], k) == 0 && !fit_parse_int64(fit_text_of(dest + k), &n) &&
		    n >= 0 && n <= INT_MAX)
			return (int)n;
	}
	return -1;
}

/* What the symbolic link file says, as seen from where we are. FIT_END: file is no link. */
static int read_link(const char *file, struct fit_str *to)
{
	const char *slash = strrchr(file, '/');
	char text[PATH_MAX];
	ssize_t n = readlink(file, text, sizeof text);
	int rc = FIT_OK;

	if (n < 0)
		return FIT_END;
	fit_str_clear(to);
	if (n == 0 || text[0] != '/')
		rc = fit_str_add(to, file, slash ? (size_t)(slash + 1 - file) : 0);
	return rc ? rc : fit_str_add(to, text, (size_t)n);
}

#define LINKS_MAX 40	/* as many as Linux follows */

int fit_dest_follow(const char *dest, char **target, struct fit_err *err)
{
	struct fit_str at = { 0 }, next = { 0 };
	int rc = fit_str_puts(&at, dest);

	*target = NULL;
	for (int i = 0; !rc && i <= LINKS_MAX; i++) {
		struct fit_str swap = at;

		rc = read_link(at.s, &next);
		if (!rc) {
			at = next;
			next = swap;
		}
	}
	if (rc == FIT_END) {
		rc = FIT_OK;
		*target = at.s;
		at.s = NULL;
	} else if (!rc) {
		errno = ELOOP;
		rc = fit_fail_errno(err, "%s: cannot write", dest);
	} else {
		rc = fit_fail_nomem(err);
	}
	fit_str_release(&at);
	fit_str_release(&next);
	return rc;
}

int fit_dest_open(const char *dest, int *fd, char **tmp, char **target, struct fit_err *err)
{
	int open_one = fit_dest_descriptor(dest), rc;
	struct fit_str name = { 0 };
	struct stat st;

	*tmp = *target = NULL;
	*fd = -1;
	if (!*dest)
		return fit_fail(err, FIT_EIO, "cannot open '' for writing (expected the name of a file)");
	if (open_one >= 0) {
		*fd = fcntl(open_one, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		return *fd < 0 ? fit_fail_errno(err, "%s: cannot open for writing", dest) : FIT_OK;
	}
	if (stat(dest, &st) == 0 && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return fit_fail_errno(err, "%s: cannot write", dest);
	}
	/* a device or a pipe cannot be renamed over */
	if (stat(dest, &st) == 0 && !S_ISREG(st.st_mode)) {
		*fd = open(dest, O_WRONLY | O_CLOEXEC);
		return *fd < 0 ? fit_fail_errno(err, "%s: cannot open for writing", dest) : FIT_OK;
	}
	rc = fit_dest_follow(dest, target, err);
	if (!rc && fit_str_printf(&name, "%s.tmp.%ld", *target, (long)getpid()))
		rc = fit_fail_nomem(err);
	if (!rc) {
		unlink(name.s);	/* left over by a killed process of the same number */
		*fd = open(name.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (*fd < 0)
			rc = fit_fail_errno(err, "%s: cannot open for writing", dest);
	}
	if (rc) {
		fit_str_release(&name);
		free(*target);
		*target = NULL;
		return rc;
	}
	*tmp = name.s;
	return FIT_OK;
}

/* ---- plain text ---- */

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
	free(o->target);
	fit_str_release(&o->text);
	free(o);
}

int fit_outfile_open(struct fit_outfile **out, const char *dest, struct fit_err *err)
{
	struct fit_outfile *o = calloc(1, sizeof *o);
	int rc = FIT_OK;

	*out = NULL;
	if (!o)
		return fit_fail_nomem(err);
	o->fd = STDOUT_FILENO;
	if (dest && strcmp(dest, "-") != 0) {
		o->dest = fit_strdup(fit_text_of(dest));
		o->fd = -1;
		rc = o->dest ? fit_dest_open(dest, &o->fd, &o->tmp, &o->target, err) :
		     fit_fail_nomem(err);
	}
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
		else if (o->tmp && rename(o->tmp, o->target))
			rc = fit_fail_errno(err, "%s: cannot rename into place", o->dest);
	}
	if (!rc) {
		free(o->tmp);
		o->tmp = NULL;
	}
	fit_outfile_abort(o);
	return rc;
}

int fit_outfile_write(const char *dest, struct fit_text text, struct fit_err *err)
{
	struct fit_outfile *o;
	int rc = fit_outfile_open(&o, dest, err);

	if (rc)
		return rc;
	if (!fit_str_add(&o->text, text.n ? text.s : "", text.n))
		return fit_outfile_close(o, err);
	fit_outfile_abort(o);
	return fit_fail_nomem(err);
}
