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

#ifdef __SSE2__
static inline fit_bytes16 fit_load16(const char *s)
{
	fit_bytes16 x;

	memcpy(&x, s, sizeof x);
	return x;
}

/* One bit a byte, from four times sixteen bytes that are 0 or -1. */
static inline uint64_t fit_bits64(fit_bytes16 a, fit_bytes16 b, fit_bytes16 c, fit_bytes16 d)
{
	unsigned low = (unsigned)__builtin_ia32_pmovmskb128(a) | (unsigned)__builtin_ia32_pmovmskb128(b) << 16;
	unsigned high = (unsigned)__builtin_ia32_pmovmskb128(c) | (unsigned)__builtin_ia32_pmovmskb128(d) << 16;

	return low | (uint64_t)high << 32;
}
#endif

/* Bit i is set where s[i] is c; 64 bytes from s on may be read. */
static inline uint64_t fit_scan64(const char *s, char c)
{
#ifdef __SSE2__
	return fit_bits64(fit_load16(s) == c, fit_load16(s + 16) == c, fit_load16(s + 32) == c,
			  fit_load16(s + 48) == c);
#else
	uint64_t bits = 0;

	for (int i = 0; i < 64; i++)
		bits |= (uint64_t)(s[i] == c) << i;
	return bits;
#endif
}

#endif
