/* SPDX-License-Identifier: MIT */
#include "tools/sweep_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void sweep_files_release(struct sweep_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->files[i].name);
	free(f->files);
	fit_index_release(&f->index);
	*f = (struct sweep_files){ 0 };
}

int sweep_file_hash(const char *path, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	struct fit_hasher *h = fit_hasher_new();
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = FIT_OK;
	char *bytes = malloc(1 << 16);
	ssize_t n = 1;

	if (!h || !bytes)
		rc = fit_fail_nomem(err);
	else if (fd < 0)
		rc = fit_fail_errno(err, "%s: cannot open", path);
	while (!rc && n > 0) {
		n = read(fd, bytes, 1 << 16);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			rc = fit_fail_errno(err, "%s: cannot read", path);
		else
			fit_hasher_add(h, bytes, (size_t)n);
	}
	if (!rc)
		fit_hasher_hex(h, hash);
	if (fd >= 0)
		close(fd);
	free(bytes);
	fit_hasher_free(h);
	return rc;
}

int sweep_program_hash(const char *name, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	const char *path = getenv("PATH");
	struct fit_str file = { 0 };
	int rc = FIT_ENOTFOUND;

	while (path && rc == FIT_ENOTFOUND) {
		size_t n = strcspn(path, ":");
		struct stat st;

		fit_str_clear(&file);
		if (fit_str_add(&file, n ? path : ".", n ? n : 1) || fit_str_printf(&file, "/%s", name)) {
			rc = fit_fail_nomem(err);
			break;
		}
		if (access(file.s, X_OK) == 0 && stat(file.s, &st) == 0 && S_ISREG(st.st_mode))
			rc = sweep_file_hash(file.s, hash, err);
		path = path[n] ? path + n + 1 : NULL;
	}
	fit_str_release(&file);
	return rc == FIT_ENOTFOUND ? fit_fail(err, FIT_ENOTFOUND, "no program '%s' on the PATH", name) : rc;
}

int sweep_files_get(struct sweep_files *f, const char *name, bool program, const char **hash,
		    struct fit_err *err)
{
	uint32_t found = fit_index_get(&f->index, fit_text_of(name));
	struct sweep_file *file;
	int rc;

	if (found != FIT_NO_INDEX) {
		*hash = f->files[found].hash;
		return FIT_OK;
	}
	if (fit_grow(&f->files, &f->cap, f->n + 1, sizeof *f->files))
		return fit_fail_nomem(err);
	file = &f->files[f->n];
	*file = (struct sweep_file){ .program = program };
	rc = program ? sweep_program_hash(name, file->hash, err) : sweep_file_hash(name, file->hash, err);
	if (rc)
		return rc;
	file->name = fit_strdup(fit_text_of(name));
	if (!file->name || fit_index_put(&f->index, fit_text_of(name), (uint32_t)f->n, NULL)) {
		free(file->name);
		return fit_fail_nomem(err);
	}
	f->n++;
	*hash = file->hash;
	return FIT_OK;
}

/* ---- files that words name ---- */

/* How much of an operand is the file: without the :/PATH of a store. */
size_t sweep_file_length(const char *operand)
{
	static const char *const ends[] = { ".h5:", ".hdf5:" };

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const char *s = strstr(operand, ends[i]);

		if (s)
			return (size_t)(s - operand) + strlen(ends[i]) - 1;
	}
	return strlen(operand);
}

int sweep_word_file(const char *word, char **name, size_t *at)
{
	const char *s = word;

	*name = NULL;
	for (int k = 0; k < 3 && s; k++) {
		char *file = fit_strdup((struct fit_text){ s, sweep_file_length(s) });
		struct stat st;

		if (!file)
			return FIT_ENOMEM;
		if (*file && stat(file, &st) == 0 && S_ISREG(st.st_mode)) {
			*name = file;
			*at = (size_t)(s - word);
			return FIT_OK;
		}
		free(file);
		s = strchr(s, '=');
		s = s ? s + 1 : NULL;
	}
	return FIT_OK;
}
