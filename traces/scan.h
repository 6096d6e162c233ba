/* SPDX-License-Identifier: MIT */
/*
 * Where a byte stands in a line, 64 bytes at a time: one bit a byte. Lines of fit_source_line() may be
 * read so far behind their end (FIT_LINE_SLACK); what stands there is for the caller to mask out.
 */
#ifndef TRACES_SCAN_H
#define TRACES_SCAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Bit i is set where s[i] is c; 64 bytes from s on may be read. */
static inline uint64_t fit_scan64(const char *s, char c)
{
	uint64_t bits = 0;

#ifdef __SSE2__
	const __m128i wanted = _mm_set1_epi8(c);

	for (int i = 0; i < 4; i++) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)(s + 16 * i));

		bits |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, wanted)) << 16 * i;
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
