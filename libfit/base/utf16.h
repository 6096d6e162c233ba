/* SPDX-License-Identifier: MIT */
/*
 * UTF-16 to UTF-8, piece by piece: what PowerShell and Excel write where others write text. Both byte
 * orders; surrogates are put together. Source: The Unicode Standard, 3.9 and 23.8 (byte order mark).
 */
#ifndef FIT_BASE_UTF16_H
#define FIT_BASE_UTF16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"

struct fit_utf16 {
	bool big;		/* the high byte of a unit comes first */
	bool half;		/* one byte of a unit waits */
	unsigned char waiting;
	uint32_t high;		/* the first half of a pair that waits for its second one; 0: none */
	uint64_t lines;		/* line feeds so far */
};

/* Is a text UTF-16, to judge by its first bytes (four are enough)? It begins with a mark, or it has none
 * and begins with two ASCII characters. *big: the high byte comes first; *mark: bytes of the mark, 0 or 2. */
bool fit_utf16_begins(const unsigned char *s, size_t n, bool *big, size_t *mark);
/* Is it UTF-32 with a mark, which nobody writes? To be asked first: its mark begins as that of UTF-16. */
bool fit_utf32_begins(const unsigned char *s, size_t n);

/* Convert the next n bytes; out has room for FIT_UTF16_ROOM(n) bytes, *n_out of which are written.
 * FIT_EPARSE: a half of a pair without the other one, behind u->lines line feeds. */
#define FIT_UTF16_ROOM(n) (((n) + 1) / 2 * 3 + 1)
int fit_utf16_convert(struct fit_utf16 *u, const unsigned char *s, size_t n, char *out,
		      size_t *n_out) FIT_MUST_CHECK;
/* Behind all of it. FIT_EPARSE: it ends inside a character. */
int fit_utf16_end(const struct fit_utf16 *u) FIT_MUST_CHECK;

#endif
