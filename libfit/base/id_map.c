/* SPDX-License-Identifier: MIT */
#include "libfit/base/id_map.h"

#include <stdlib.h>
#include <string.h>

/* Looking a number up costs a step for each doubling of the runs, so many short ones lose. */
#define FEW_RUNS ((size_t)1024)
#define SHORT_RUN ((size_t)16)

void fit_id_map_release(struct fit_id_map *m)
{
	fit_id_runs_release(&m->runs);
	free(m->slots);
	free(m->ends);
	fit_str_release(&m->bytes);
	*m = (struct fit_id_map){ 0 };
}

struct fit_text fit_id_map_text(const struct fit_id_map *m, uint32_t number)
{
	size_t from = number ? m->ends[number - 1] : 0;

	return (struct fit_text){ m->bytes.s + from, m->ends[number] - from };
}

static uint32_t hash_of(struct fit_text id)
{
	return (uint32_t)fit_hash64(id, 0);
}

/* The slot of an id, or the free one where it belongs. */
static struct fit_id_map_slot *find(const struct fit_id_map *m, struct fit_text id, uint32_t hash)
{
	size_t mask = m->n_slots - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct fit_id_map_slot *s = &m->slots[i];

		if (s->number == FIT_NO_INDEX || (s->hash == hash && fit_text_eq(fit_id_map_text(m, s->number), id)))
			return s;
	}
}

/* Slots for that many ids. */
static int make_room(struct fit_id_map *m, size_t ids)
{
	size_t n = m->n_slots ? m->n_slots : 64;
	struct fit_id_map_slot *old = m->slots, *s;

	while (3 * ids > 2 * n)
		n *= 2;
	if (n == m->n_slots)
		return FIT_OK;
	s = malloc(n * sizeof *s);
	if (!s)
		return FIT_ENOMEM;
	for (size_t i = 0; i < n; i++)
		s[i].number = FIT_NO_INDEX;
	for (size_t i = 0; i < m->n_slots; i++) {
		size_t k = old[i].hash & (n - 1);

		if (old[i].number == FIT_NO_INDEX)
			continue;
		while (s[k].number != FIT_NO_INDEX)
			k = (k + 1) & (n - 1);
		s[k] = old[i];
	}
	free(old);
	m->slots = s;
	m->n_slots = n;
	return FIT_OK;
}

/* All ids so far go to the hash table. */
static int give_up_runs(struct fit_id_map *m)
{
	if (make_room(m, m->n + 1))
		return FIT_ENOMEM;
	for (uint32_t i = 0; i < m->n; i++) {
		struct fit_text id = fit_id_map_text(m, i);
		uint32_t hash = hash_of(id);

		*find(m, id, hash) = (struct fit_id_map_slot){ hash, i };
	}
	m->n_hashed = m->n;
	fit_id_runs_release(&m->runs);
	m->no_runs = true;
	return FIT_OK;
}

static int add_text(struct fit_id_map *m, struct fit_text id)
{
	if (fit_grow(&m->ends, &m->cap_ends, m->n + 1, sizeof *m->ends) || fit_str_add(&m->bytes, id.s, id.n))
		return FIT_ENOMEM;
	m->ends[m->n++] = m->bytes.n;
	return FIT_OK;
}

static int put_hash(struct fit_id_map *m, struct fit_text id, uint32_t *found)
{
	uint32_t hash = hash_of(id);
	struct fit_id_map_slot *s;

	if (make_room(m, m->n_hashed + 1))
		return FIT_ENOMEM;
	s = find(m, id, hash);
	*found = s->number;
	if (s->number != FIT_NO_INDEX)
		return FIT_OK;
	if (add_text(m, id))
		return FIT_ENOMEM;
	*s = (struct fit_id_map_slot){ hash, (uint32_t)(m->n - 1) };
	m->n_hashed++;
	return FIT_OK;
}

int fit_id_map_put(struct fit_id_map *m, struct fit_text id, uint32_t *found)
{
	uint32_t ignored;
	uint64_t line;
	int rc;

	if (!found)
		found = &ignored;
	if (m->n >= FIT_NO_INDEX - 1)
		return FIT_ENOMEM;
	if (!m->no_runs && m->runs.n > FEW_RUNS && m->runs.n > m->n / SHORT_RUN && give_up_runs(m))
		return FIT_ENOMEM;
	rc = m->no_runs ? FIT_END : fit_id_runs_put(&m->runs, id, m->n + 1, &line);
	if (rc == FIT_END)
		return put_hash(m, id, found);
	*found = FIT_NO_INDEX;
	if (rc)
		return rc;
	if (!line)
		return add_text(m, id);
	*found = (uint32_t)(line - 1);
	return FIT_OK;
}

uint32_t fit_id_map_get(const struct fit_id_map *m, struct fit_text id)
{
	uint64_t line = fit_id_runs_get(&m->runs, id);

	if (line)
		return (uint32_t)(line - 1);
	return m->n_hashed ? find(m, id, hash_of(id))->number : FIT_NO_INDEX;
}
