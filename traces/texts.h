/* SPDX-License-Identifier: MIT */
/* Texts that come again and again, kept once and known by number. */
#ifndef TRACES_TEXTS_H
#define TRACES_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"

#define FIT_NO_TEXT UINT32_MAX

/* Zero-initialise; release with fit_texts_release(). Numbers count from 0 in order of appearance. */
struct fit_texts {
	struct fit_index index;
	size_t *at;			/* text i is bytes[at[i]] to bytes[at[i + 1]] */
	char *bytes;
	size_t n, cap, bytes_n, bytes_cap;
};
void fit_texts_release(struct fit_texts *t);
/* *number of the text; *fresh (may be NULL): it is a new one. An empty one is FIT_NO_TEXT. FIT_ENOMEM. */
int fit_texts_put(struct fit_texts *t, struct fit_text text, uint32_t *number,
		  bool *fresh) FIT_MUST_CHECK;
/* Lives until the next put. FIT_NO_TEXT: { NULL, 0 }. */
struct fit_text fit_texts_get(const struct fit_texts *t, uint32_t number);

#endif
