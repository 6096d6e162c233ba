/* SPDX-License-Identifier: MIT */
/*
 * Command lines as words: cut apart, put together, and placeholders in them filled in. Used by
 * gf-sweep, whose plans hold command lines as text (docs/formats/sweep.md).
 */
#ifndef TOOLS_SWEEP_WORDS_H
#define TOOLS_SWEEP_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/status.h"
#include "libfit/base/text.h"

/* Owned words; w[n] is NULL once there is one, so that w is an argument vector. Zero-initialise. */
struct sweep_words {
	char **w;
	size_t n, cap;
};

void sweep_words_release(struct sweep_words *words);
int sweep_words_add(struct sweep_words *words, struct fit_text word) FIT_MUST_CHECK;	/* FIT_ENOMEM */
/* Append the words of a line as a shell cuts them: blanks part words; '…' and "…" hold blanks together;
 * outside of '…' a backslash takes the next byte as it is. Nothing is expanded. FIT_EINVAL: a quote
 * without its end. */
int sweep_words_split(struct sweep_words *words, struct fit_text line, struct fit_err *err) FIT_MUST_CHECK;
/* Append the words as one line that split() cuts into the same words, and a shell, too. */
int sweep_words_join(struct fit_str *line, const struct sweep_words *words) FIT_MUST_CHECK;

/* The value of a placeholder: FIT_OK, FIT_ENOTFOUND (unknown), or another failure with its message. */
typedef int sweep_lookup(void *arg, struct fit_text name, struct fit_text *value, struct fit_err *err);

/* Append word with each {NAME} (letters, digits, '.', '_' and '-') replaced by its value, and {{ by {. Any
 * other brace stands for itself. FIT_EINVAL: an unknown name. */
int sweep_fill(struct fit_str *out, struct fit_text word, sweep_lookup *lookup, void *arg,
	       struct fit_err *err) FIT_MUST_CHECK;
/* Does the word have the placeholder {NAME}? */
bool sweep_has(struct fit_text word, const char *name);

#endif
