/* SPDX-License-Identifier: MIT */
#include "traces/swf_line.h"

#include "libfit/base/digits.h"
#include "traces/scan.h"

/*
 * Of 64 bytes of a line: where are blanks, and where is something else than blanks, -1, and digits without
 * a zero ahead of others? What is not allowed shows in a byte and the two behind it; behind the end of a
 * line are a blank or its line feed.
 */
#ifdef __SSE2__
typedef unsigned char unsigned16 __attribute__((vector_size(16)));

static inline fit_bytes16 in_range(fit_bytes16 x, unsigned char first, unsigned char last)
{
	return (fit_bytes16)((unsigned16)x - first <= (unsigned char)(last - first));
}

static inline fit_bytes16 is_bad(const char *s, fit_bytes16 x)
{
	fit_bytes16 y = fit_load16(s + 1), z = fit_load16(s + 2), ends = in_range(z, 0, ' ');

	return ~(in_range(x, '0', '9') | (x == ' ') | (x == '-')) |	/* no byte of a number */
	       ((x == '-') & ~((y == '1') & ends)) |			/* -2, -10, - */
	       ((x != ' ') & (y == '-')) |				/* 1-1 */
	       ((x == ' ') & (y == '0') & ~ends);			/* 01 */
}

static inline void look(const char *s, uint64_t *blank, uint64_t *bad)
{
	fit_bytes16 a = fit_load16(s), b = fit_load16(s + 16), c = fit_load16(s + 32), d = fit_load16(s + 48);

	*blank = fit_bits64(a == ' ', b == ' ', c == ' ', d == ' ');
	*bad = fit_bits64(is_bad(s, a), is_bad(s + 16, b), is_bad(s + 32, c), is_bad(s + 48, d));
}
#else
static inline bool is_bad(unsigned char x, unsigned char y, unsigned char z)
{
	return !((x >= '0' && x <= '9') || x == ' ' || x == '-') || (x == '-' && !(y == '1' && z <= ' ')) ||
	       (x != ' ' && y == '-') || (x == ' ' && y == '0' && z > ' ');
}

static inline void look(const char *s, uint64_t *blank, uint64_t *bad)
{
	*blank = *bad = 0;
	for (int i = 0; i < 64; i++) {
		*blank |= (uint64_t)(s[i] == ' ') << i;
		*bad |= (uint64_t)is_bad((unsigned char)s[i], (unsigned char)s[i + 1],
					 (unsigned char)s[i + 2]) << i;
	}
}
#endif

/* The usual line has one blank between fields, and fits one word: its 18 ends say all. */
static inline void list_single(uint64_t end, unsigned char at[FIT_SWF_FIELDS + 1])
{
	at[0] = 0;
#define NEXT(i) at[(i) + 1] = (unsigned char)(__builtin_ctzll(end) + 1); end &= end - 1
	NEXT(0); NEXT(1); NEXT(2); NEXT(3); NEXT(4); NEXT(5); NEXT(6); NEXT(7); NEXT(8);
	NEXT(9); NEXT(10); NEXT(11); NEXT(12); NEXT(13); NEXT(14); NEXT(15); NEXT(16); NEXT(17);
#undef NEXT
}

/* Bits of two words, one after the other, without a branch that depends on how many each has. */
static inline void list(uint64_t first, uint64_t second, unsigned char at[FIT_SWF_FIELDS], bool *rest)
{
	unsigned base = 0;

	for (size_t i = 0; i < FIT_SWF_FIELDS; i++) {
		uint64_t left;

		base = first ? base : 64;
		left = first ? second : 0;
		first = first ? first : second;
		second = left;
		at[i] = (unsigned char)(base + (unsigned)__builtin_ctzll(first | UINT64_C(1) << 63));
		first &= first - 1;
	}
	*rest = first | second;
}

/* Other lines are copied, so that they have one blank between fields, too. */
static bool compact(struct fit_text t, const uint64_t blank[2], struct fit_swf_line *x)
{
	unsigned char from[FIT_SWF_FIELDS], to[FIT_SWF_FIELDS];
	bool more_starts, more_ends;
	unsigned at = 0;

	list(~blank[0] & (blank[0] << 1 | 1), ~blank[1] & (blank[1] << 1 | blank[0] >> 63), from, &more_starts);
	list(blank[0] & (~blank[0] << 1), blank[1] & (~blank[1] << 1 | ~blank[0] >> 63), to, &more_ends);
	if (more_starts || more_ends || to[FIT_SWF_FIELDS - 2] >= t.n || to[FIT_SWF_FIELDS - 1] != t.n)
		return false;
	x->s = x->compact;
	for (size_t i = 0; i < FIT_SWF_FIELDS; i++) {
		unsigned n = (unsigned)to[i] - from[i];

		if (n > FIT_PLAIN_MAX)
			return false;
		memcpy(x->compact + at, t.s + from[i], FIT_PLAIN_MAX);
		x->at[i] = (unsigned char)at;
		at += n + 1;
	}
	x->at[FIT_SWF_FIELDS] = (unsigned char)at;
	return true;
}

static inline unsigned count(uint64_t bits)
{
	bits -= bits >> 1 & UINT64_C(0x5555555555555555);
	bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(bits * UINT64_C(0x0101010101010101) >> 56);
}

static bool find_fields(struct fit_text t, struct fit_swf_line *x)
{
	uint64_t blank[2], bad, more_bad, behind;

	if (t.n - 1 >= 127 || (t.s[0] == '0' && t.s[1] > ' '))
		return false;
	look(t.s, &blank[0], &bad);
	if (t.n < 64) {
		behind = ~UINT64_C(0) << t.n;
		if (bad & ~behind)
			return false;
		blank[0] &= ~behind;
		if (!(blank[0] & blank[0] << 1)) {
			if (count(blank[0]) != FIT_SWF_FIELDS - 1)
				return false;
			x->s = t.s;
			list_single(blank[0] | UINT64_C(1) << t.n, x->at);
			return true;
		}
		blank[0] |= behind;
		blank[1] = ~UINT64_C(0);
	} else {
		behind = ~UINT64_C(0) << (t.n - 64);
		look(t.s + 64, &blank[1], &more_bad);
		if (bad || (more_bad & ~behind))
			return false;
		blank[1] |= behind;
	}
	return compact(t, blank, x);
}

/* The number of a field. Which of these it is hardly changes from record to record. */
static inline __attribute__((always_inline)) bool number(const char *s, size_t n, int64_t *v)
{
	uint64_t u;

	if (s[0] == '-') {
		*v = -1;
		return true;
	}
	if (n <= 8) {
		*v = (int64_t)fit_number8(fit_load_digits(s, n));
		return true;
	}
	if (n > FIT_PLAIN_MAX || !fit_take_digits(s, n, &u))
		return false;
	*v = (int64_t)u;
	return true;
}

/* The same where one digit is what there usually is. */
static inline bool small(const char *s, size_t n, int64_t *v)
{
	if (n != 1)
		return number(s, n, v);
	*v = s[0] - '0';
	return true;
}

/*
 * One field after the other, written out, is quicker than a loop: what a field looks like is much the
 * same in all records, and the branches of each field are its own.
 */
bool fit_swf_line_take(struct fit_text t, struct fit_swf_line *x)
{
	if (!find_fields(t, x))
		return false;
#define TAKE(how, f) how(x->s + x->at[f], (size_t)x->at[f + 1] - x->at[f] - 1, &x->v[f])
#define FITS(f) ((size_t)x->at[f + 1] - x->at[f] <= FIT_PLAIN_MAX + 1)
	return TAKE(number, FIT_SWF_JOB) && TAKE(number, FIT_SWF_SUBMIT) && TAKE(number, FIT_SWF_WAIT) &&
	       TAKE(number, FIT_SWF_RUN) && TAKE(small, FIT_SWF_ALLOC) && TAKE(small, FIT_SWF_REQ) &&
	       TAKE(number, FIT_SWF_REQ_TIME) && TAKE(number, FIT_SWF_REQ_MEM) &&
	       TAKE(small, FIT_SWF_STATUS) && TAKE(number, FIT_SWF_THINK) && FITS(FIT_SWF_CPU_TIME) &&
	       FITS(FIT_SWF_USED_MEM) && FITS(FIT_SWF_USER) && FITS(FIT_SWF_GROUP) && FITS(FIT_SWF_APP) &&
	       FITS(FIT_SWF_QUEUE) && FITS(FIT_SWF_PARTITION) && FITS(FIT_SWF_AFTER);
#undef TAKE
#undef FITS
}
