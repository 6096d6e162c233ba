/* SPDX-License-Identifier: MIT */
/*
 * Binary heaps of any element. FIT_HEAP(word, type, before) defines two functions in the file where it
 * stands:
 *
 *	static int word_push(type **heap, size_t *n, size_t *cap, type x);	FIT_ENOMEM
 *	static void word_pop(type *heap, size_t *n);				the first goes; *n is not 0
 *
 * before(const type *a, const type *b) says which of two comes first, and is total, so that what comes first
 * does not depend on the order in which elements came. heap[0] is the first of *n; zero-initialise all three,
 * and free heap.
 */
#ifndef FIT_BASE_HEAP_H
#define FIT_BASE_HEAP_H

#include "libfit/base/text.h"

#define FIT_HEAP(word, type, before)                                             \
	static int word##_push(type **heap, size_t *n, size_t *cap, type x)      \
	{                                                                        \
		size_t i = *n;                                                   \
		type *a;                                                         \
										 \
		if (fit_grow(heap, cap, i + 1, sizeof x))                        \
			return FIT_ENOMEM;                                       \
		++*n;                                                            \
		for (a = *heap; i && before(&x, &a[(i - 1) / 2]); i = (i - 1) / 2) \
			a[i] = a[(i - 1) / 2];                                   \
		a[i] = x;                                                        \
		return FIT_OK;                                                   \
	}                                                                        \
										 \
	static void word##_pop(type *heap, size_t *n)                            \
	{                                                                        \
		type last = heap[--*n];                                          \
		size_t i = 0, c;                                                 \
										 \
		while ((c = 2 * i + 1) < *n) {                                   \
			if (c + 1 < *n && before(&heap[c + 1], &heap[c]))        \
				c++;                                             \
			if (!before(&heap[c], &last))                            \
				break;                                           \
			heap[i] = heap[c];                                       \
			i = c;                                                   \
		}                                                                \
		heap[i] = last;                                                  \
	}

#endif
