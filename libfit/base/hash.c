/* SPDX-License-Identifier: MIT */
#include "libfit/base/hash.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL		/* keys are short: the calls would cost more than the hashing */
#include <xxhash.h>

#define GATHER ((size_t)4096)

/* What is added comes in small pieces: they are gathered, and hashed many at a time. */
struct fit_hasher {
	XXH3_state_t *state;
	size_t n;
	unsigned char gathered[GATHER];
};

struct fit_hasher *fit_hasher_new(void)
{
	struct fit_hasher *h = malloc(sizeof *h);

	if (!h)
		return NULL;
	h->n = 0;
	h->state = XXH3_createState();
	if (!h->state || XXH3_128bits_reset(h->state) != XXH_OK) {
		fit_hasher_free(h);
		return NULL;
	}
	return h;
}

void fit_hasher_free(struct fit_hasher *h)
{
	if (!h)
		return;
	XXH3_freeState(h->state);
	free(h);
}

static void add_many(struct fit_hasher *h, const void *p, size_t n)
{
	XXH3_128bits_update(h->state, h->gathered, h->n);
	h->n = 0;
	if (n >= GATHER) {
		XXH3_128bits_update(h->state, p, n);
		return;
	}
	memcpy(h->gathered, p, n);
	h->n = n;
}

void fit_hasher_add(struct fit_hasher *h, const void *p, size_t n)
{
	if (n > GATHER - h->n) {
		add_many(h, p, n);
	} else if (n) {
		memcpy(h->gathered + h->n, p, n);
		h->n += n;
	}
}

void fit_hasher_add_text(struct fit_hasher *h, struct fit_text t)
{
	uint64_t n = t.n;
	unsigned char *to;

	if (t.n + sizeof n > GATHER - h->n) {
		fit_hasher_add(h, &n, sizeof n);
		fit_hasher_add(h, t.s, t.n);
		return;
	}
	to = h->gathered + h->n;
	memcpy(to, &n, sizeof n);
	to += sizeof n;
	if (t.n >= 16) {	/* a line, mostly: no call is needed for it */
		for (size_t i = 0; i + 16 < t.n; i += 16)
			memcpy(to + i, t.s + i, 16);
		memcpy(to + t.n - 16, t.s + t.n - 16, 16);
	} else if (t.n) {
		memcpy(to, t.s, t.n);
	}
	h->n += sizeof n + t.n;
}

void fit_hasher_hex(const struct fit_hasher *h, char out[FIT_HASH_HEX])
{
	static const char digit[] = "0123456789abcdef";
	XXH128_canonical_t c;
	XXH3_state_t state;

	XXH3_copyState(&state, h->state);	/* h goes on as it is */
	XXH3_128bits_update(&state, h->gathered, h->n);
	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(&state));
	for (size_t i = 0; i < sizeof c.digest; i++) {
		out[2 * i] = digit[c.digest[i] >> 4];
		out[2 * i + 1] = digit[c.digest[i] & 15];
	}
	out[2 * sizeof c.digest] = '\0';
}

uint64_t fit_hash64(struct fit_text t, uint64_t seed)
{
	return XXH3_64bits_withSeed(t.s ? t.s : "", t.n, seed);
}

/* Sixteen bytes, so that four share a line of the cache: an index of many keys is bound by fetching slots. */
struct fit_index_slot {
	uint32_t hash, value;		/* value FIT_NO_INDEX marks a free slot */
	uint64_t at : 40, n : 24;	/* the key inside bytes */
};
#define KEY_MAX ((size_t)(1 << 24) - 1)
#define BYTES_MAX ((UINT64_C(1) << 40) - 1)

void fit_index_release(struct fit_index *ix)
{
	free(ix->slots);
	free(ix->bytes);
	*ix = (struct fit_index){ 0 };
}

static struct fit_index_slot *find_slot(const struct fit_index *ix, struct fit_text key, uint32_t hash)
{
	size_t mask = ix->n_slots - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct fit_index_slot *s = &ix->slots[i];

		if (s->value == FIT_NO_INDEX)
			return s;
		if (s->hash == hash && s->n == key.n &&
		    (key.n == 0 || memcmp(ix->bytes + s->at, key.s, key.n) == 0))
			return s;
	}
}

static int enlarge(struct fit_index *ix)
{
	size_t n = ix->n_slots ? 2 * ix->n_slots : 64;
	struct fit_index_slot *old = ix->slots, *s = malloc(n * sizeof *s);

	if (!s)
		return FIT_ENOMEM;
	for (size_t i = 0; i < n; i++)
		s[i].value = FIT_NO_INDEX;
	for (size_t i = 0; i < ix->n_slots; i++) {
		size_t k;

		if (old[i].value == FIT_NO_INDEX)
			continue;
		for (k = old[i].hash & (n - 1); s[k].value != FIT_NO_INDEX; k = (k + 1) & (n - 1))
			;
		s[k] = old[i];
	}
	free(old);
	ix->slots = s;
	ix->n_slots = n;
	return FIT_OK;
}

/* Half of the bytes or more are of keys that were removed: keep the others. */
static int pack_bytes(struct fit_index *ix, size_t room)
{
	size_t cap = ix->bytes_n - ix->bytes_lost + room, n = 0;
	char *bytes = malloc(cap + 1);

	if (!bytes)
		return FIT_ENOMEM;
	for (size_t i = 0; i < ix->n_slots; i++) {
		struct fit_index_slot *s = &ix->slots[i];

		if (s->value == FIT_NO_INDEX || !s->n)
			continue;
		memcpy(bytes + n, ix->bytes + s->at, s->n);
		s->at = n & BYTES_MAX;
		n += s->n;
	}
	free(ix->bytes);
	ix->bytes = bytes;
	ix->bytes_cap = cap + 1;
	ix->bytes_n = n;
	ix->bytes_lost = 0;
	return FIT_OK;
}

int fit_index_put(struct fit_index *ix, struct fit_text key, uint32_t value, uint32_t *found)
{
	uint32_t hash = (uint32_t)fit_hash64(key, 0);
	struct fit_index_slot *s;
	int rc;

	if (key.n > KEY_MAX || ix->bytes_n > BYTES_MAX - key.n)
		return FIT_ENOMEM;
	if (3 * (ix->n + 1) > 2 * ix->n_slots && (rc = enlarge(ix)))
		return rc;
	s = find_slot(ix, key, hash);
	if (found)
		*found = s->value;
	if (s->value != FIT_NO_INDEX)
		return FIT_OK;
	if (ix->bytes_n + key.n > ix->bytes_cap && 2 * ix->bytes_lost >= ix->bytes_n && ix->bytes_lost)
		rc = pack_bytes(ix, ix->bytes_n / 2 + key.n);
	else
		rc = fit_grow(&ix->bytes, &ix->bytes_cap, ix->bytes_n + key.n, 1);
	if (rc)
		return rc;
	if (key.n)
		memcpy(ix->bytes + ix->bytes_n, key.s, key.n);
	*s = (struct fit_index_slot){ .hash = hash, .value = value, .at = ix->bytes_n & BYTES_MAX,
				      .n = key.n & KEY_MAX };
	ix->bytes_n += key.n;
	ix->n++;
	return FIT_OK;
}

uint32_t fit_index_get(const struct fit_index *ix, struct fit_text key)
{
	return ix->n ? find_slot(ix, key, (uint32_t)fit_hash64(key, 0))->value : FIT_NO_INDEX;
}

/* Keys behind the gap move into it where their search would come by it, so no mark is needed. */
void fit_index_remove(struct fit_index *ix, struct fit_text key)
{
	struct fit_index_slot *s = ix->n ? find_slot(ix, key, (uint32_t)fit_hash64(key, 0)) : NULL;
	size_t mask = ix->n_slots - 1, gap;

	if (!s || s->value == FIT_NO_INDEX)
		return;
	ix->bytes_lost += s->n;
	ix->n--;
	gap = (size_t)(s - ix->slots);
	for (size_t i = (gap + 1) & mask; ix->slots[i].value != FIT_NO_INDEX; i = (i + 1) & mask) {
		size_t home = ix->slots[i].hash & mask;

		if (((i - home) & mask) < ((i - gap) & mask))
			continue;
		ix->slots[gap] = ix->slots[i];
		gap = i;
	}
	ix->slots[gap].value = FIT_NO_INDEX;
}
