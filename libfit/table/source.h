/* SPDX-License-Identifier: MIT */
/*
 * Bytes in, line by line: a file or standard input, plain, gzip or zstd, UTF-8 or UTF-16 (recognised by
 * content; UTF-16 comes out as UTF-8), hashed as they pass. Used by the TSV reader and by the readers of
 * traces/.
 */
#ifndef FIT_TABLE_SOURCE_H
#define FIT_TABLE_SOURCE_H

#include <stdbool.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

struct fit_source;

/* operand: a path, or "-" for standard input. FIT_EIO when it cannot be opened or is a folder. */
int fit_source_open(struct fit_source **s, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
/* The same from memory that outlives the source; name stands in messages. */
int fit_source_open_memory(struct fit_source **s, const char *name, const void *bytes, size_t n,
			   struct fit_err *err) FIT_MUST_CHECK;
void fit_source_close(struct fit_source *s);	/* NULL is fine */

/* The next bytes, up to cap, without consuming them; *whole: nothing comes behind them. They live until
 * the next call. */
int fit_source_peek(struct fit_source *s, size_t cap, struct fit_text *bytes, bool *whole,
		    struct fit_err *err) FIT_MUST_CHECK;

/* Up to cap raw bytes; *n is 0 at the end. */
int fit_source_read(struct fit_source *s, void *buf, size_t cap, size_t *n,
		    struct fit_err *err) FIT_MUST_CHECK;
/* All that is left, appended to *text; for files that are parsed as a whole. */
int fit_source_read_all(struct fit_source *s, struct fit_str *text, struct fit_err *err) FIT_MUST_CHECK;

/* Open, read_all, hash (NULL: nobody asks) and close. What was read before a fault stays in *text. */
int fit_source_slurp(const char *operand, struct fit_str *text, char hash[FIT_HASH_HEX],
		     struct fit_err *err) FIT_MUST_CHECK;
/* What messages call an operand: itself, or "<stdin>" for "-". */
const char *fit_operand_name(const char *operand);
bool fit_operand_is_json(const char *operand);	/* does its name end in ".json"? */

/* The next line without its LF; *line is writable and lives until the next call. A last line without
 * LF counts. Behind a line is an LF, or where it would be; FIT_LINE_SLACK bytes there may be read (and
 * mean nothing else). FIT_END at the end; FIT_EPARSE when a line is longer than FIT_LINE_MAX. */
#define FIT_LINE_MAX ((size_t)16 << 20)
#define FIT_LINE_SLACK ((size_t)80)
int fit_source_line(struct fit_source *s, char **line, size_t *n, struct fit_err *err) FIT_MUST_CHECK;

const char *fit_source_name(const struct fit_source *s);	/* the path, or "<stdin>" */
uint64_t fit_source_line_number(const struct fit_source *s);	/* of the last line, from 1 */
bool fit_source_line_ended(const struct fit_source *s);	/* did the last line have its LF? */
void fit_source_hash(const struct fit_source *s, char out[FIT_HASH_HEX]);
/* For readers that hash records instead: from here on nobody asks for the hash of the bytes. */
void fit_source_drop_hash(struct fit_source *s);

FIT_C_END

#endif
