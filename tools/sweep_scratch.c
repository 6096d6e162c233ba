/* SPDX-License-Identifier: MIT */
#include "tools/sweep_scratch.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

int sweep_scratch_open(struct fit_str *folder, struct fit_err *err)
{
	const char *parent = getenv("TMPDIR");

	if (fit_str_printf(folder, "%s/gf-sweep.XXXXXX", parent && *parent ? parent : "/tmp"))
		return fit_fail_nomem(err);
	if (!mkdtemp(folder->s)) {
		int rc = fit_fail_errno(err, "%s: cannot make the folder", folder->s);

		fit_str_release(folder);
		return rc;
	}
	return FIT_OK;
}

int sweep_scratch_file(const struct fit_str *folder, struct fit_str *s, size_t slot, const char *what)
{
	fit_str_clear(s);
	return fit_str_printf(s, "%s/%zu.%s", folder->s, slot, what);
}

void sweep_scratch_close(struct fit_str *folder)
{
	DIR *d = folder->s ? opendir(folder->s) : NULL;
	struct fit_str s = { 0 };
	struct dirent *e;

	while (d && (e = readdir(d))) {
		fit_str_clear(&s);
		if (e->d_name[0] != '.' && !fit_str_printf(&s, "%s/%s", folder->s, e->d_name))
			unlink(s.s);
	}
	if (d)
		closedir(d);
	if (folder->s)
		rmdir(folder->s);
	fit_str_release(&s);
	fit_str_release(folder);
}
