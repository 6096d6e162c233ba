/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as each format of gf-import that recognises them, and as Prometheus text and widths, which recognise
 * little. What is read into a table must be a table.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libfit/model/handoff.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/gf-fuzz-handoff.XXXXXX";

static void gone(void)
{
	unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int fd = mkstemp(path);

	(void)argc;
	(void)argv;
	if (fd < 0 || close(fd) || atexit(gone))
		abort();
	return 0;
}

/* Read into a file. False: refused, with one line. What was read is sound tables. */
static bool read_to_file(const struct fit_handoff_format *f, struct fit_text bytes)
{
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	struct fit_reader *r = NULL;
	struct fit_err err;
	int rc;

	if (fit_writer_open(&w, path, 0, &err))
		abort();
	if (f->read("fuzz", bytes, w, &meta, &err)) {
		if (!*err.msg || strchr(err.msg, '\n'))
			abort();
		fit_writer_abort(w);
		return false;
	}
	if (fit_writer_close(w, &err) || fit_reader_open(&r, path, &err))
		abort();
	while ((rc = fit_reader_skip(r, &err)) == FIT_OK)
		;
	if (rc != FIT_END)
		abort();
	fit_reader_close(r);
	return true;
}

/* Where it can be written again, that is read again, and written the same. */
static void use(const struct fit_handoff_format *f, struct fit_text bytes)
{
	const struct fit_handoff_options none = { .app = NULL };
	struct fit_str one = { 0 }, two = { 0 };
	struct fit_err err;

	if (read_to_file(f, bytes) && !f->write(path, &none, &one, &err) && one.n) {
		if (!read_to_file(f, (struct fit_text){ one.s, one.n }) || f->write(path, &none, &two, &err))
			abort();
		if (one.n != two.n || memcmp(one.s, two.s, one.n) != 0)
			abort();
	}
	fit_str_release(&one);
	fit_str_release(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);	/* formats may look at the NUL behind the bytes */
	struct fit_text bytes = { copy, size };
	const struct fit_handoff_format *f;

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	f = fit_handoff_recognise(bytes);
	if (f)
		use(f, bytes);
	for (size_t i = 0; fit_handoff_formats[i]; i++)
		if (fit_handoff_formats[i] != f)
			use(fit_handoff_formats[i], bytes);
	free(copy);
	return 0;
}
