/* SPDX-License-Identifier: MIT */
/*
 * Text: a borrowed span of bytes (struct fit_text) and a growable string (struct fit_str).
 *
 * Growable things report a lack of memory by FIT_ENOMEM and stay as they were.
 */
#ifndef FIT_BASE_TEXT_H
#define FIT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"

FIT_C_BEGIN

/* Borrowed bytes, not terminated by NUL; valid as long as their owner says. */
struct fit_text {
	const char *s;
	size_t n;
};

#define FIT_TEXT_LIT(lit) ((struct fit_text){ (lit), sizeof(lit) - 1 })
/* For printf: "%.*s", FIT_TEXT_ARG(t). */
#define FIT_TEXT_ARG(t) (int)((t).n > 200 ? 200 : (t).n), ((t).s ? (t).s : "")

struct fit_text fit_text_of(const char *s);
bool fit_text_eq(struct fit_text a, struct fit_text b);
bool fit_text_is(struct fit_text a, const char *s);
/* Plain byte order: <0, 0, >0. */
int fit_text_cmp(struct fit_text a, struct fit_text b);
/* Byte order, but runs of decimal digits compare as numbers of any length: j2 < j10. Total: texts
 * that differ only in leading zeros fall back to byte order. */
int fit_text_cmp_natural(struct fit_text a, struct fit_text b);
/* Is s[0..n) well-formed UTF-8 without NUL? */
bool fit_text_is_utf8(struct fit_text t);

/* The text without what is blank at its ends. */
static inline struct fit_text fit_text_trim(struct fit_text t, bool (*is_blank)(char c))
{
	while (t.n && is_blank(t.s[0])) {
		t.s++;
		t.n--;
	}
	while (t.n && is_blank(t.s[t.n - 1]))
		t.n--;
	return t;
}

/* The word that goes with a count: "1 job", "0 jobs". */
const char *fit_plural(uint64_t n, const char *one, const char *many);

/* A growable string, always terminated by NUL once something was added. Zero-initialise it. */
struct fit_str {
	char *s;
	size_t n, cap;
};

void fit_str_release(struct fit_str *b);
void fit_str_clear(struct fit_str *b);		/* keep the memory */
int fit_str_add(struct fit_str *b, const void *s, size_t n) FIT_MUST_CHECK;
int fit_str_puts(struct fit_str *b, const char *s) FIT_MUST_CHECK;
int fit_str_printf(struct fit_str *b, const char *fmt, ...) FIT_PRINTF(2, 3) FIT_MUST_CHECK;
int fit_str_vprintf(struct fit_str *b, const char *fmt, va_list ap) FIT_PRINTF(2, 0) FIT_MUST_CHECK;
/* A heap copy, terminated by NUL; NULL when out of memory. */
char *fit_strdup(struct fit_text t);

/* Make room for need elements of size elem in *array (realloc, doubling). *cap is in elements. */
int fit_grow(void *array_ptr, size_t *cap, size_t need, size_t elem) FIT_MUST_CHECK;

FIT_C_END

#endif
