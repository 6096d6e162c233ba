/* SPDX-License-Identifier: MIT */
/*
 * Logs that are lines of text: line ends, byte order marks and encodings done once. Records are hashed
 * by their text, so that CRLF, a byte order mark, blank lines and a missing final line feed do not
 * change the hash of a trace.
 */
#ifndef TRACES_LINES_H
#define TRACES_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/table/source.h"

struct fit_lines {
	struct fit_source *source;
	struct fit_hasher *hasher;
	uint64_t number;	/* of the current line, from 1 */
	struct fit_text text;	/* it, without LF, CRLF or byte order mark; may be blank */
	bool any;		/* some line was not empty */
};

/* A blank inside of a line, and what a CR leaves at its end. */
static inline bool fit_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A text without blanks at its ends. */
struct fit_text fit_trim(struct fit_text t);

/* The source is borrowed until close(). */
int fit_lines_open(struct fit_lines *l, struct fit_source *s, struct fit_err *err) FIT_MUST_CHECK;
void fit_lines_close(struct fit_lines *l);
/* The next line; it lives until the next call. FIT_END. FIT_EPARSE, FIT_EIO: Git LFS pointer,
 * over-long line, what the source says; all of them final. */
int fit_lines_next(struct fit_lines *l, struct fit_err *err) FIT_MUST_CHECK;
/* Is a text that starts on that line UTF-8 without NUL? Else FIT_EPARSE. */
int fit_lines_check(const struct fit_lines *l, struct fit_text t, uint64_t number,
		    struct fit_err *err) FIT_MUST_CHECK;
void fit_lines_hash(struct fit_lines *l, struct fit_text record);
/* "FILE:NUMBER:FIELD: what"; field may be NULL. */
int fit_lines_fail(const struct fit_lines *l, int code, uint64_t number, const char *field,
		   struct fit_err *err, const char *fmt, ...) FIT_PRINTF(6, 7);

#endif
