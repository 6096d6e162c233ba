/* SPDX-License-Identifier: MIT */
#include "libfit/base/id_set.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/digits.h"
#include "libfit/base/hash.h"

/* A slot is a hash and a line, side by side: looking at one costs one fetch from memory. */
#define SLOT 12
#define DIGITS_MAX ((size_t)18)	/* of a number in a run */

void fit_id_set_release(struct fit_id_set *s)
{
	for (size_t i = 0; i < FIT_ID_SHARDS; i++)
		free(s->shards[i].slots);
	fit_id_runs_release(&s->runs);
	*s = (struct fit_id_set){ 0 };
}

static uint64_t hash_at(const unsigned char *slots, uint32_t i)
{
	uint64_t h;

	memcpy(&h, slots + (size_t)i * SLOT, sizeof h);
	return h;
}

static uint32_t line_at(const unsigned char *slots, uint32_t i)
{
	uint32_t line;

	memcpy(&line, slots + (size_t)i * SLOT + sizeof(uint64_t), sizeof line);
	return line;
}

static void set_slot(unsigned char *slots, uint32_t i, uint64_t h, uint32_t line)
{
	memcpy(slots + (size_t)i * SLOT, &h, sizeof h);
	memcpy(slots + (size_t)i * SLOT + sizeof h, &line, sizeof line);
}

/* The low bits of a hash choose the shard, the high ones the slot. */
static uint32_t first_slot(uint32_t cap, uint64_t h)
{
	return (uint32_t)(((h >> 32) * cap) >> 32);
}

/* The slot of a hash, or the free one where it belongs. */
static uint32_t find(const unsigned char *slots, uint32_t cap, uint64_t h)
{
	uint32_t i = first_slot(cap, h);
	uint64_t there;

	while ((there = hash_at(slots, i)) && there != h)
		i = i + 1 == cap ? 0 : i + 1;
	return i;
}

static int enlarge(struct fit_id_shard *s)
{
	uint32_t cap = s->cap + s->cap / 4 + 16;
	unsigned char *slots;

	if (cap < s->cap)
		return FIT_ENOMEM;
	slots = calloc(cap, SLOT);
	if (!slots)
		return FIT_ENOMEM;
	for (uint32_t i = 0; i < s->cap; i++) {
		uint64_t h = hash_at(s->slots, i);

		if (h)
			set_slot(slots, find(slots, cap, h), h, line_at(s->slots, i));
	}
	free(s->slots);
	s->slots = slots;
	s->cap = cap;
	return FIT_OK;
}

static uint64_t hash_of(struct fit_text id)
{
	uint64_t h = fit_hash64(id, 0);

	return h ? h : FIT_ID_SHARDS;	/* of the same shard; 0 marks a free slot */
}

void fit_id_set_expect(const struct fit_id_set *set, struct fit_text id)
{
	const struct fit_id_shard *s;
	uint64_t h;

	if (!set->hashed)
		return;
	h = hash_of(id);
	s = &set->shards[h % FIT_ID_SHARDS];
	if (s->cap)
		__builtin_prefetch(s->slots + (size_t)first_slot(s->cap, h) * SLOT, 1);
}

static uint32_t line_of(uint64_t line)
{
	return line < 1 ? 1 : line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
}

static int put_hash(struct fit_id_set *set, struct fit_text id, uint64_t line, uint64_t *first)
{
	uint64_t h = hash_of(id);
	struct fit_id_shard *s = &set->shards[h % FIT_ID_SHARDS];
	uint32_t at;

	if ((uint64_t)(s->n + 1) * 20 > (uint64_t)s->cap * 17 && enlarge(s))
		return FIT_ENOMEM;
	at = find(s->slots, s->cap, h);
	*first = hash_at(s->slots, at) ? line_at(s->slots, at) : 0;
	if (*first)
		return FIT_OK;
	set_slot(s->slots, at, h, line_of(line));
	s->n++;
	return FIT_OK;
}

/* ---- runs ---- */

/* A prefix and a number without leading zeros, of at most eighteen digits. */
static bool take_number(struct fit_text id, size_t *n_prefix, uint64_t *v)
{
	uint64_t unit = 1;
	size_t at = id.n;

	*v = 0;
	for (; at && (unsigned)(unsigned char)id.s[at - 1] - '0' <= 9; at--, unit *= 10) {
		if (id.n - at == DIGITS_MAX)
			return false;
		*v += unit * (uint64_t)(id.s[at - 1] - '0');
	}
	*n_prefix = at;
	return at < id.n && (id.s[at] != '0' || at + 1 == id.n);
}

/* The line of a number, 0: no run has it. */
static uint64_t line_in_runs(const struct fit_id_runs *s, uint64_t v)
{
	size_t low = 0, high = s->n;
	const struct fit_id_run *r;

	while (low < high) {		/* how many runs start at v or before */
		size_t mid = low + (high - low) / 2;

		if (s->runs[mid].first <= v)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	r = &s->runs[low - 1];
	return v - r->first < r->n ? line_of(r->line + (v - r->first)) : 0;
}

/* Are n bytes the same? Short ids need no call. */
static inline bool same_bytes(const char *a, const char *b, size_t n)
{
	uint32_t a0, a1, b0, b1;

	if (n < 4 || n > 8)
		return memcmp(a, b, n) == 0;
	memcpy(&a0, a, 4);
	memcpy(&b0, b, 4);
	memcpy(&a1, a + n - 4, 4);
	memcpy(&b1, b + n - 4, 4);
	return a0 == b0 && a1 == b1;
}

/* The next id as text, so that the usual case is one comparison. */
static void set_next(struct fit_id_runs *s, uint64_t v)
{
	s->n_next = (size_t)(fit_put_digits(s->next + s->n_prefix, v) - s->next);
	if (s->n_next - s->n_prefix > DIGITS_MAX)
		s->n_next = 0;
}

static void count_next(struct fit_id_runs *s)
{
	char *last = &s->next[s->n_next - 1];
	const struct fit_id_run *r = &s->runs[s->n - 1];

	if (*last == '9')
		set_next(s, r->first + r->n);
	else
		++*last;
}

static int add_run(struct fit_id_runs *s, uint64_t v, uint64_t line)
{
	if (fit_grow(&s->runs, &s->cap, s->n + 1, sizeof *s->runs))
		return FIT_ENOMEM;
	s->runs[s->n++] = (struct fit_id_run){ v, line_of(line), 1 };
	set_next(s, v + 1);
	return FIT_OK;
}

void fit_id_runs_release(struct fit_id_runs *r)
{
	free(r->runs);
	*r = (struct fit_id_runs){ 0 };
}

int fit_id_runs_put(struct fit_id_runs *s, struct fit_text id, uint64_t line, uint64_t *first)
{
	struct fit_id_run *last = s->n ? &s->runs[s->n - 1] : NULL;
	size_t n_prefix;
	uint64_t v;

	if (s->n_next && id.n == s->n_next && line == (uint64_t)last->line + last->n && line < UINT32_MAX &&
	    same_bytes(id.s, s->next, id.n)) {
		*first = 0;
		last->n++;
		count_next(s);
		return FIT_OK;
	}
	if (!take_number(id, &n_prefix, &v) || n_prefix > FIT_ID_PREFIX ||
	    (last && (n_prefix != s->n_prefix || memcmp(id.s, s->next, n_prefix) != 0)))
		return FIT_END;
	*first = 0;
	if (!last) {
		memcpy(s->next, id.s, n_prefix);
		s->n_prefix = n_prefix;
		return add_run(s, v, line);
	}
	/* what is above all runs was never passed on: such numbers were below their end */
	if (v >= last->first + last->n)
		return add_run(s, v, line);
	*first = line_in_runs(s, v);
	return *first ? FIT_OK : FIT_END;
}

uint64_t fit_id_runs_get(const struct fit_id_runs *s, struct fit_text id)
{
	size_t n_prefix;
	uint64_t v;

	if (!s->n || !take_number(id, &n_prefix, &v) || n_prefix != s->n_prefix ||
	    memcmp(id.s, s->next, n_prefix) != 0)
		return 0;
	return line_in_runs(s, v);
}

int fit_id_set_put(struct fit_id_set *set, struct fit_text id, uint64_t line, uint64_t *first)
{
	int rc = fit_id_runs_put(&set->runs, id, line, first);

	set->hashed = rc == FIT_END;
	return set->hashed ? put_hash(set, id, line, first) : rc;
}

uint64_t fit_id_set_get(const struct fit_id_set *set, struct fit_text id)
{
	uint64_t line = fit_id_runs_get(&set->runs, id), h = hash_of(id);
	const struct fit_id_shard *s = &set->shards[h % FIT_ID_SHARDS];
	uint32_t at;

	if (line || !s->cap)
		return line;
	at = find(s->slots, s->cap, h);
	return hash_at(s->slots, at) ? line_at(s->slots, at) : 0;
}
