/* SPDX-License-Identifier: MIT */
/* What the targets share that stand for several formats: the program's name says which one it is. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Does the command line ask for the list of formats? Then the target prints it and exits. */
static inline bool fuzz_lists(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "--formats") == 0;
}

/* What stands behind prefix in the name of the program; NULL: it is named otherwise, or "auto". */
static inline const char *fuzz_format(char **argv, const char *prefix)
{
	const char *name = strrchr(argv[0], '/');

	name = name ? name + 1 : argv[0];
	if (strncmp(name, prefix, strlen(prefix)) != 0 || strcmp(name + strlen(prefix), "auto") == 0)
		return NULL;
	return name + strlen(prefix);
}

static inline void fuzz_no_format(char **argv)
{
	fprintf(stderr, "%s: no such format\n", argv[0]);
	exit(1);
}

#endif
