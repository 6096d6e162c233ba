/* SPDX-License-Identifier: MIT */
/* Rows as TSV, the quick way: what large tables are written with. */
#include <math.h>
#include <string.h>

#include "libfit/base/digits.h"
#include "libfit/base/num.h"
#include "libfit/table/cell.h"

#define ONES UINT64_C(0x0101010101010101)
#define HIGH UINT64_C(0x8080808080808080)

/* Does a byte of w need a closer look: not ASCII, a control character, a backslash, or # (which may not
 * begin a line)? */
static inline uint64_t is_special(uint64_t w)
{
	uint64_t slash = w ^ ONES * '\\', hash = w ^ ONES * '#';

	return (w | ((w - ONES * 0x20) & ~w) | ((slash - ONES) & ~slash) | ((hash - ONES) & ~hash)) & HIGH;
}

#define X4 1, 1, 1, 1
#define X16 X4, X4, X4, X4
/* The same by byte. */
static const unsigned char special[256] = {
	X16, X16, ['#'] = 1, ['\\'] = 1, [128] = X16, X16, X16, X16, X16, X16, X16, X16
};

/* Copy a text of which no byte is special and that does not read NA, or return NULL. */
static inline char *put_text(char *p, const char *s, size_t n)
{
	unsigned char first, middle, end;
	uint64_t w, last;
	uint32_t a, b;

	if (n >= 8) {
		uint64_t bad = 0;

		for (size_t i = 0; i + 8 < n; i += 8) {
			memcpy(&w, s + i, 8);
			bad |= is_special(w);
			memcpy(p + i, &w, 8);
		}
		memcpy(&last, s + n - 8, 8);
		memcpy(p + n - 8, &last, 8);
		return bad | is_special(last) ? NULL : p + n;
	}
	if (n >= 4) {
		memcpy(&a, s, 4);
		memcpy(&b, s + n - 4, 4);
		memcpy(p, &a, 4);
		memcpy(p + n - 4, &b, 4);
		return is_special(a | (uint64_t)b << 32) ? NULL : p + n;
	}
	if (n == 0)
		return p;
	first = (unsigned char)s[0];
	middle = (unsigned char)s[n / 2];
	end = (unsigned char)s[n - 1];
	p[0] = (char)first;
	p[n / 2] = (char)middle;
	p[n - 1] = (char)end;
	if (special[first] | special[middle] | special[end] | (n == 2 && first == 'N' && end == 'A'))
		return NULL;
	return p + n;
}

/* Most numbers are small: one digit needs no arithmetic, and eight no second step. */
static inline char *put_number(char *p, uint64_t u)
{
	if (u < 10) {
		*p = (char)('0' + u);
		return p + 1;
	}
	return u < 100000000 ? fit_put_digits8(p, (uint32_t)u) : fit_put_digits(p, u);
}

static inline char *put_seconds(char *p, int64_t ns)
{
	uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, s = u / 1000000000u;

	if (ns < 0)
		*p++ = '-';
	return u == s * 1000000000u ? put_number(p, s) : NULL;
}

/* A number, where it is an easy one; else NULL. */
static inline char *put_easy(char *p, enum fit_type type, const struct fit_cell *c)
{
	if (type == FIT_TIME)
		return put_seconds(p, c->u.i);
	if (type == FIT_INT)
		return c->u.i < 0 ? NULL : put_number(p, (uint64_t)c->u.i);
	if (!(!signbit(c->u.d) && c->u.d < 1e15 && (double)(int64_t)c->u.d == c->u.d))
		return NULL;
	return put_number(p, (uint64_t)c->u.d);
}

static inline char *put_any(char *p, enum fit_type type, const struct fit_cell *c)
{
	char *end;

	if (type != FIT_REAL && c->u.i == FIT_INT_NA)	/* no value of a table */
		return NULL;
	end = put_easy(p, type, c);
	return end ? end : p + fit_cell_format(type, c, p);
}

#define EASY_MAX ((size_t)48)	/* bytes that a cell may write to, a long text aside */

bool fit_row_put(struct fit_str *b, const struct fit_field *fields, const struct fit_cell *cells, size_t n)
{
	size_t need = b->n + n * EASY_MAX + 1;
	char *p, *limit;

	if (n == 0 || (need > b->cap && fit_grow(&b->s, &b->cap, need, 1)))
		return false;
	p = b->s + b->n;
	limit = b->s + b->cap - n * EASY_MAX;	/* behind which a long text has no room */
	for (size_t i = 0; i < n; i++, cells++) {
		enum fit_type type;

		if (cells->n_plain) {
			memcpy(p, cells->u.plain, FIT_PLAIN_MAX);
			p += cells->n_plain;
		} else if (cells->na) {
			memcpy(p, "NA", 2);
			p += 2;
		} else if ((type = fields[i].type) != FIT_TEXT) {
			p = put_any(p, type, cells);
		} else {
			if (cells->u.t.n > EASY_MAX - 16 &&
			    (p > limit || cells->u.t.n > (size_t)(limit - p)))
				return false;
			p = put_text(p, cells->u.t.s, cells->u.t.n);
		}
		if (!p)
			return false;
		*p++ = '\t';
	}
	p[-1] = '\n';
	b->n = (size_t)(p - b->s);
	return true;
}
