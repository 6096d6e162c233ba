/* SPDX-License-Identifier: MIT */
/*
 * Where a byte stands in a line, 64 bytes at a time: one bit a byte. Lines of fit_source_line() may be
 * read so far behind their end (FIT_LINE_SLACK); what stands there is for the caller to mask out.
 */
#ifndef TRACES_SCAN_H
#define TRACES_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
/* Sixteen bytes at once; the builtins of gcc and clang need no header. */
typedef char fit_bytes16 __attribute__((vector_size(16)));
#endif

/* Bit i is set where s[i] is c; 64 bytes from s on may be read. */
static inline uint64_t fit_scan64(const char *s, char c)
{
	uint64_t bits = 0;

#ifdef __SSE2__
	for (int i = 0; i < 4; i++) {
		fit_bytes16 x;

		memcpy(&x, s + 16 * i, sizeof x);
		bits |= (uint64_t)(unsigned)__builtin_ia32_pmovmskb128((fit_bytes16)(x == c)) << 16 * i;
	}
#else
	for (int i = 0; i < 64; i++)
		bits |= (uint64_t)(s[i] == c) << i;
#endif
	return bits;
}

/* The same for up to 64 bytes of a line that has n bytes from s on: those behind its end count as c. */
static inline uint64_t fit_scan64_to(const char *s, size_t n, char c)
{
	return fit_scan64(s, c) | (n < 64 ? ~UINT64_C(0) << n : 0);
}

#endif
