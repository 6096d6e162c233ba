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

/* Files put together with lines "%%" between them: the next one, and so many bytes of it; *data and *size
 * are what stands behind. */
static inline size_t fuzz_next_part(const uint8_t **data, size_t *size, const uint8_t **part)
{
	const uint8_t *p = *data;
	size_t n = *size;

	*part = p;
	for (size_t i = 0; i + 3 <= n; i++) {
		if (memcmp(p + i, "%%\n", 3) != 0 || (i && p[i - 1] != '\n'))
			continue;
		*data += i + 3;
		*size -= i + 3;
		return i;
	}
	*data += n;
	*size = 0;
	return n;
}

static inline bool fuzz_write_part(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");
	bool good = f && fwrite(bytes, 1, n, f) == n;

	return f && fclose(f) == 0 && good;
}

#endif
