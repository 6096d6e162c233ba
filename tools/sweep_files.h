/* SPDX-License-Identifier: MIT */
/*
 * What the rows of a sweep depend on besides their options: the bytes of files that their command lines
 * name, and of the programs that they run.
 */
#ifndef TOOLS_SWEEP_FILES_H
#define TOOLS_SWEEP_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/hash.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"

struct sweep_file {
	char *name;			/* path, or the name of a program */
	bool program;			/* found on PATH */
	char hash[FIT_HASH_HEX];	/* of its bytes */
};

/* Each file once, in the order in which it was first asked for. Zero-initialise. */
struct sweep_files {
	struct sweep_file *files;
	size_t n, cap;
	struct fit_index index;		/* name -> number */
};

void sweep_files_release(struct sweep_files *f);
/* The hash of a file's bytes. FIT_EIO. */
int sweep_file_hash(const char *path, char hash[FIT_HASH_HEX], struct fit_err *err) FIT_MUST_CHECK;
/* The same of a program, which is looked for as execvp() does. FIT_ENOTFOUND: it is not on PATH. */
int sweep_program_hash(const char *name, char hash[FIT_HASH_HEX], struct fit_err *err) FIT_MUST_CHECK;

/* The hash of a program or file, from f or now; it is in f afterwards. *hash lives as long as f. */
int sweep_files_get(struct sweep_files *f, const char *name, bool program, const char **hash,
		    struct fit_err *err) FIT_MUST_CHECK;

/* How much of an operand names a file: all but the :/PATH of a store. */
size_t sweep_file_length(const char *operand);

/* The file, if any, that a word of a command line names: all of it, or what stands behind its first '=' or
 * its second, in each case without the :/PATH of a store. A regular file must be there. *name is of the heap,
 * or NULL; *at is where it starts in word. FIT_ENOMEM. */
int sweep_word_file(const char *word, char **name, size_t *at) FIT_MUST_CHECK;

#endif
