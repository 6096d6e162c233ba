/* SPDX-License-Identifier: MIT */
#include "traces/id_set.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/hash.h"

void fit_id_set_release(struct fit_id_set *s)
{
	for (size_t i = 0; i < FIT_ID_SHARDS; i++) {
		free(s->shards[i].hashes);
		free(s->shards[i].lines);
	}
	*s = (struct fit_id_set){ 0 };
}

/* The slot of a hash, or the free one where it belongs. The low bits choose the shard, the high ones
 * the slot. */
static uint32_t find(const uint64_t *hashes, uint32_t cap, uint64_t h)
{
	uint32_t i = (uint32_t)(((h >> 32) * cap) >> 32);

	while (hashes[i] && hashes[i] != h)
		i = i + 1 == cap ? 0 : i + 1;
	return i;
}

static int enlarge(struct fit_id_shard *s)
{
	uint32_t cap = s->cap + s->cap / 4 + 16;
	uint64_t *hashes;
	uint32_t *lines;

	if (cap < s->cap)
		return FIT_ENOMEM;
	hashes = calloc(cap, sizeof *hashes);
	lines = malloc(cap * sizeof *lines);
	if (!hashes || !lines) {
		free(hashes);
		free(lines);
		return FIT_ENOMEM;
	}
	for (uint32_t i = 0; i < s->cap; i++) {
		uint32_t at;

		if (!s->hashes[i])
			continue;
		at = find(hashes, cap, s->hashes[i]);
		hashes[at] = s->hashes[i];
		lines[at] = s->lines[i];
	}
	free(s->hashes);
	free(s->lines);
	s->hashes = hashes;
	s->lines = lines;
	s->cap = cap;
	return FIT_OK;
}

int fit_id_set_put(struct fit_id_set *set, struct fit_text id, uint64_t line, uint64_t *first)
{
	uint64_t h = fit_hash64(id, 0);
	struct fit_id_shard *s = &set->shards[h % FIT_ID_SHARDS];
	uint32_t at;

	if (!h)
		h = FIT_ID_SHARDS;	/* of the same shard; 0 marks a free slot */
	if ((uint64_t)(s->n + 1) * 20 > (uint64_t)s->cap * 17 && enlarge(s))
		return FIT_ENOMEM;
	at = find(s->hashes, s->cap, h);
	*first = s->hashes[at] ? s->lines[at] : 0;
	if (*first)
		return FIT_OK;
	s->hashes[at] = h;
	s->lines[at] = line < 1 ? 1 : line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
	s->n++;
	return FIT_OK;
}
