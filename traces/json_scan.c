/* SPDX-License-Identifier: MIT */
#include "traces/json_scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 16)

/* Where the scanner stands between two elements. */
enum state {
	START,		/* nothing was read */
	TOP,		/* between top-level values */
	FIRST,		/* behind the [ of the array */
	BEHIND,		/* behind an element of the array */
	NEXT,		/* behind a comma in the array */
	MEMBER_FIRST,	/* behind the { of the top-level object */
	MEMBER_BEHIND,	/* behind a member of it */
	MEMBER_NEXT,	/* behind a comma in it */
	OVER		/* everything was read */
};

struct fit_json_scan {
	struct fit_source *source;
	struct fit_json_options options;
	enum state state;
	bool in_object;			/* the array is a member */
	bool met_member;
	bool bad_element, fatal, cut;
	/* a window of the input; bytes [0, at) are used up */
	char *buf;
	size_t at, n;
	bool end;
	uint64_t line, byte;		/* of buf[at] */
	/* the element at hand */
	struct fit_str element, key;
	uint64_t element_line, element_byte, elements;
};

/* ---- bytes ---- */

static int refill(struct fit_json_scan *j, struct fit_err *err)
{
	int rc;

	if (j->at < j->n || j->end)
		return FIT_OK;
	j->at = j->n = 0;
	rc = fit_source_read(j->source, j->buf, CHUNK, &j->n, err);
	j->end = !rc && j->n == 0;
	return rc;
}

/* Use up k bytes of the window. */
static void pass(struct fit_json_scan *j, size_t k)
{
	const char *s = j->buf + j->at, *end = s + k;

	j->at += k;
	j->byte += k;
	while (s < end && (s = memchr(s, '\n', (size_t)(end - s))) != NULL) {
		j->line++;
		s++;
	}
}

static int fault(struct fit_json_scan *j, struct fit_err *err, const char *fmt, ...) FIT_PRINTF(3, 4);
static int fault(struct fit_json_scan *j, struct fit_err *err, const char *fmt, ...)
{
	va_list ap;

	j->fatal = true;
	va_start(ap, fmt);
	fit_fail_at(err, FIT_EPARSE, fit_source_name(j->source), j->line, NULL, fmt, ap);
	va_end(ap);
	return FIT_EPARSE;
}

static int cut_in_element(struct fit_json_scan *j, struct fit_err *err)
{
	return fault(j, err, "cut short at byte %llu (expected the end of the element that starts on line "
		     "%llu at byte %llu)", (unsigned long long)j->byte,
		     (unsigned long long)j->element_line, (unsigned long long)j->element_byte);
}

/* The next byte that is no blank, not used up; -1 at the end. */
static int look(struct fit_json_scan *j, int *c, struct fit_err *err)
{
	for (;;) {
		size_t k = 0, left;
		int rc = refill(j, err);

		if (rc)
			return rc;
		left = j->n - j->at;
		if (!left) {
			*c = -1;
			return FIT_OK;
		}
		while (k < left && (j->buf[j->at + k] == ' ' || j->buf[j->at + k] == '\n' ||
				    j->buf[j->at + k] == '\t' || j->buf[j->at + k] == '\r'))
			k++;
		pass(j, k);
		if (k < left) {
			*c = (unsigned char)j->buf[j->at];
			return FIT_OK;
		}
	}
}

static int unexpected(struct fit_json_scan *j, int c, const char *expected, struct fit_err *err)
{
	if (c < 0)
		return fault(j, err, "cut short at byte %llu (expected %s)", (unsigned long long)j->byte,
			     expected);
	if (c < 0x20 || c > 0x7e)
		return fault(j, err, "byte 0x%02x at byte %llu (expected %s)", (unsigned)c,
			     (unsigned long long)j->byte, expected);
	return fault(j, err, "'%c' at byte %llu (expected %s)", c, (unsigned long long)j->byte, expected);
}

/* ---- one value ---- */

enum { QUOTE = 1, OPEN, CLOSE, COMMA, STOP };	/* STOP: ends a number or a word */

static int keep(struct fit_json_scan *j, struct fit_str *to, size_t k, struct fit_err *err)
{
	if (to->n + k > FIT_JSON_BYTES)
		return fault(j, err, "too long an element (expected at most %zu bytes; it starts on line "
			     "%llu)", FIT_JSON_BYTES, (unsigned long long)j->element_line);
	if (fit_str_add(to, j->buf + j->at, k))
		return fit_fail_nomem(err);
	pass(j, k);
	return FIT_OK;
}

/* A string with its quotes onto the end of to. */
static int take_string(struct fit_json_scan *j, struct fit_str *to, struct fit_err *err)
{
	bool escaped = false, closed = false;
	int rc = keep(j, to, 1, err);

	while (!rc && !closed) {
		size_t k = 0, left;

		rc = refill(j, err);
		if (rc)
			break;
		left = j->n - j->at;
		if (!left)
			return cut_in_element(j, err);
		while (k < left && !closed) {
			char c = j->buf[j->at + k++];

			closed = c == '"' && !escaped;
			escaped = c == '\\' && !escaped;
		}
		rc = keep(j, to, k, err);
	}
	return rc;
}

static int class_of(char c)
{
	switch (c) {
	case '"':
		return QUOTE;
	case '{':
	case '[':
		return OPEN;
	case '}':
	case ']':
		return CLOSE;
	case ',':
		return COMMA;
	case ' ':
	case '\n':
	case '\t':
	case '\r':
		return STOP;
	default:
		return 0;
	}
}

/* A number or a word; what it is worth is for jansson to say. */
static int take_word(struct fit_json_scan *j, struct fit_str *to, struct fit_err *err)
{
	for (;;) {
		size_t k = 0, left;
		int rc = refill(j, err);

		if (rc)
			return rc;
		left = j->n - j->at;
		while (k < left && !class_of(j->buf[j->at + k]))
			k++;
		rc = keep(j, to, k, err);
		if (rc || k < left || !left)
			return rc;
	}
}

/* A value from its first byte to its last one onto the end of to. */
static int take_value(struct fit_json_scan *j, struct fit_str *to, struct fit_err *err)
{
	uint64_t braces = 0;	/* one bit a level: is it an object? */
	size_t values = 0;
	int depth = 0, rc = FIT_OK;

	j->element_line = j->line;
	j->element_byte = j->byte;
	if (class_of(j->buf[j->at]) == QUOTE)
		return take_string(j, to, err);
	if (class_of(j->buf[j->at]) != OPEN)
		return take_word(j, to, err);
	do {
		size_t k = 0, left;
		int class = 0;
		char c;

		rc = refill(j, err);
		if (rc)
			break;
		left = j->n - j->at;
		if (!left)
			return cut_in_element(j, err);
		while (k < left && ((class = class_of(j->buf[j->at + k])) == 0 || class == STOP))
			k++;
		rc = keep(j, to, k, err);
		if (rc || k == left)
			continue;
		c = j->buf[j->at];
		if (class == QUOTE) {
			rc = take_string(j, to, err);
			continue;
		}
		if (class == OPEN && depth == FIT_JSON_DEPTH)
			return fault(j, err, "too deep at byte %llu (expected at most %d levels)",
				     (unsigned long long)j->byte, FIT_JSON_DEPTH);
		if (class != CLOSE && ++values > FIT_JSON_VALUES)
			return fault(j, err, "too many values in an element (expected at most %zu; it starts on "
				     "line %llu)", FIT_JSON_VALUES, (unsigned long long)j->element_line);
		if (class == OPEN) {
			braces = braces << 1 | (c == '{');
			depth++;
		} else if (class == CLOSE) {
			if ((c == '}') != (braces & 1))
				return unexpected(j, c, c == '}' ? "']'" : "'}'", err);
			braces >>= 1;
			depth--;
		}
		rc = keep(j, to, 1, err);
	} while (!rc && depth);
	return rc;
}

/* ---- the array ---- */

static int start(struct fit_json_scan *j, struct fit_err *err)
{
	static const char lfs[] = "version https://git-lfs";
	struct fit_text head;
	bool whole;
	int rc = fit_source_peek(j->source, 64, &head, &whole, err), c;

	if (rc)
		return rc;
	if (head.n >= sizeof lfs - 1 && memcmp(head.s, lfs, sizeof lfs - 1) == 0)
		return fault(j, err, "Git LFS pointer, not the data (expected the file that 'git lfs pull' "
			     "fetches)");
	rc = refill(j, err);
	if (!rc && j->n >= 3 && memcmp(j->buf, "\xef\xbb\xbf", 3) == 0)
		pass(j, 3);
	rc = rc ? rc : look(j, &c, err);
	if (rc)
		return rc;
	if (c < 0) {
		j->fatal = true;
		return fit_fail(err, FIT_EPARSE, "%s: empty file (expected a JSON array)",
				fit_source_name(j->source));
	}
	j->state = TOP;
	if (c == '{' && j->options.member) {
		pass(j, 1);
		j->in_object = true;
		j->state = MEMBER_FIRST;
	}
	return FIT_OK;
}

/* Behind an array: the top-level object goes on, or the next top-level value comes. */
static enum state behind_array(const struct fit_json_scan *j)
{
	return j->in_object ? MEMBER_BEHIND : TOP;
}

static int give(struct fit_json_scan *j, struct fit_err *err)
{
	int rc;

	fit_str_clear(&j->element);
	rc = take_value(j, &j->element, err);
	if (!rc)
		j->elements++;
	return rc;
}

/* A top-level value: an array to look into, or an element on its own. */
static int at_top(struct fit_json_scan *j, int c, bool *given, struct fit_err *err)
{
	if (c < 0) {
		j->state = OVER;
		return FIT_END;
	}
	if (c == '[') {
		pass(j, 1);
		j->state = FIRST;
		return FIT_OK;
	}
	if (c != '{' || j->options.member)
		return unexpected(j, c, "'['", err);
	*given = true;
	return give(j, err);
}

static int in_array(struct fit_json_scan *j, int c, bool *given, struct fit_err *err)
{
	bool soft = j->options.forgiving;

	if (c < 0 && soft) {
		j->cut = true;
		j->state = OVER;
		return FIT_END;
	}
	if (c == ']' && (j->state != NEXT || soft)) {
		pass(j, 1);
		j->state = behind_array(j);
		return FIT_OK;
	}
	if (j->state == BEHIND) {
		if (c != ',')
			return unexpected(j, c, "',' or ']'", err);
		pass(j, 1);
		j->state = NEXT;
		return FIT_OK;
	}
	if (c < 0 || c == ',' || c == '}' || c == ']' || c == ':')
		return unexpected(j, c, j->state == FIRST ? "an element or ']'" : "an element", err);
	*given = true;
	j->state = BEHIND;
	return give(j, err);
}

/* A member of the top-level object: the array to look into, or another one. */
static int in_object(struct fit_json_scan *j, int c, bool *given, struct fit_err *err)
{
	int rc;

	if (c < 0 && j->options.forgiving && j->met_member) {
		j->cut = true;
		j->state = OVER;
		return FIT_END;
	}
	if (c == '}' && (j->state != MEMBER_NEXT || j->options.forgiving)) {
		pass(j, 1);
		if (!j->met_member)
			return fault(j, err, "no member '%s' (expected an array of that name)",
				     j->options.member);
		rc = look(j, &c, err);
		if (rc)
			return rc;
		j->state = OVER;
		return c < 0 ? FIT_END : unexpected(j, c, "nothing more", err);
	}
	if (j->state == MEMBER_BEHIND) {
		if (c != ',')
			return unexpected(j, c, "',' or '}'", err);
		pass(j, 1);
		j->state = MEMBER_NEXT;
		return FIT_OK;
	}
	if (c != '"')
		return unexpected(j, c, "the name of a member", err);
	fit_str_clear(&j->key);
	j->element_line = j->line;
	j->element_byte = j->byte;
	rc = take_string(j, &j->key, err);
	rc = rc ? rc : look(j, &c, err);
	if (rc)
		return rc;
	if (c != ':')
		return unexpected(j, c, "':'", err);
	pass(j, 1);
	rc = look(j, &c, err);
	if (rc)
		return rc;
	j->state = MEMBER_BEHIND;
	if (j->key.n == strlen(j->options.member) + 2 &&
	    memcmp(j->key.s + 1, j->options.member, j->key.n - 2) == 0) {
		if (c != '[')
			return unexpected(j, c, "'['", err);
		pass(j, 1);
		j->met_member = true;
		j->state = FIRST;
		return FIT_OK;
	}
	if (c < 0 || c == ',' || c == '}' || c == ']' || c == ':')
		return unexpected(j, c, "a value", err);
	*given = true;
	fit_str_clear(&j->element);
	return take_value(j, &j->element, err);
}

/* A byte order mark, which the window may cut. */
static int pass_mark(struct fit_json_scan *j, struct fit_err *err)
{
	static const char mark[] = "\xef\xbb\xbf";

	for (size_t i = 0; i < 3; i++) {
		int rc = refill(j, err);

		if (rc)
			return rc;
		if (j->at == j->n || j->buf[j->at] != mark[i])
			return unexpected(j, j->at == j->n ? -1 : (unsigned char)j->buf[j->at], "'['", err);
		pass(j, 1);
	}
	return FIT_OK;
}

int fit_json_scan_next(struct fit_json_scan *j, struct fit_text *element, struct fit_text *key,
		       struct fit_err *err)
{
	bool given = false;
	int rc = FIT_OK;

	j->bad_element = false;
	if (j->fatal)
		return fit_fail(err, FIT_EPARSE, "%s: cannot read on", fit_source_name(j->source));
	while (!rc && !given) {
		enum state before;
		int c;

		if (j->state == OVER)
			return FIT_END;
		if (j->state == START) {
			rc = start(j, err);
			continue;
		}
		rc = look(j, &c, err);
		if (rc)
			break;
		before = j->state;
		if (before == TOP && c == 0xef)		/* files put together bring theirs along */
			rc = pass_mark(j, err);
		else if (before == TOP)
			rc = at_top(j, c, &given, err);
		else if (before == FIRST || before == BEHIND || before == NEXT)
			rc = in_array(j, c, &given, err);
		else
			rc = in_object(j, c, &given, err);
		if (given && rc == FIT_EPARSE && j->options.forgiving && j->end && j->at == j->n) {
			j->cut = true;		/* inside of the last element */
			j->fatal = false;
			j->state = OVER;
			return FIT_END;
		}
		if (!rc && given && (before == MEMBER_FIRST || before == MEMBER_NEXT)) {
			if (key)
				*key = (struct fit_text){ j->key.s + 1, j->key.n - 2 };
			else
				given = false;
		} else if (key) {
			*key = (struct fit_text){ 0 };
		}
	}
	if (!rc)
		*element = (struct fit_text){ j->element.s, j->element.n };
	return rc;
}

int fit_json_scan_value(struct fit_json_scan *j, json_t **value, struct fit_text *key,
			struct fit_err *err)
{
	struct fit_text t;
	json_error_t why;
	int rc = fit_json_scan_next(j, &t, key, err);

	*value = NULL;
	if (rc)
		return rc;
	*value = json_loadb(t.s, t.n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
	if (*value)
		return FIT_OK;
	if (json_error_code(&why) == json_error_out_of_memory)
		return fit_fail_nomem(err);
	j->bad_element = true;
	return fit_fail(err, FIT_EPARSE, "%s:%llu: %s at byte %llu (expected a JSON value)",
			fit_source_name(j->source),
			(unsigned long long)(j->element_line + (uint64_t)(why.line > 1 ? why.line - 1 : 0)),
			why.text, (unsigned long long)(j->element_byte + (uint64_t)(why.position > 0 ?
			why.position : 0)));
}

/* ---- opening, closing, asking ---- */

int fit_json_scan_open(struct fit_json_scan **out, struct fit_source *s,
		       const struct fit_json_options *options, struct fit_err *err)
{
	struct fit_json_scan *j = calloc(1, sizeof *j);

	*out = NULL;
	if (!j)
		return fit_fail_nomem(err);
	j->source = s;
	j->line = j->element_line = 1;
	if (options)
		j->options = *options;
	j->buf = malloc(CHUNK);
	if (!j->buf) {
		fit_json_scan_close(j);
		return fit_fail_nomem(err);
	}
	*out = j;
	return FIT_OK;
}

void fit_json_scan_close(struct fit_json_scan *j)
{
	if (!j)
		return;
	fit_str_release(&j->element);
	fit_str_release(&j->key);
	free(j->buf);
	free(j);
}

bool fit_json_bad_element(const struct fit_json_scan *j)
{
	return j->bad_element;
}

bool fit_json_cut(const struct fit_json_scan *j)
{
	return j->cut;
}

uint64_t fit_json_line(const struct fit_json_scan *j)
{
	return j->element_line;
}

uint64_t fit_json_byte(const struct fit_json_scan *j)
{
	return j->element_byte;
}

uint64_t fit_json_elements(const struct fit_json_scan *j)
{
	return j->elements;
}

int fit_json_fail(const struct fit_json_scan *j, int code, const char *name, struct fit_err *err,
		  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fit_fail_at(err, code, fit_source_name(j->source), j->element_line, name, fmt, ap);
	va_end(ap);
	return code;
}
