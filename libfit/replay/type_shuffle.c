/* SPDX-License-Identifier: MIT */
#include "libfit/replay/type_shuffle.h"

#define N 624u
#define M 397u

/* Matsumoto and Nishimura's init_by_array with a key of one word. */
void fit_type_shuffle_init(struct fit_type_shuffle *s, uint32_t seed)
{
	uint32_t *mt = s->mt;
	size_t i = 1;

	mt[0] = 19650218u;
	for (uint32_t k = 1; k < N; k++)
		mt[k] = 1812433253u * (mt[k - 1] ^ (mt[k - 1] >> 30)) + k;
	for (size_t k = 0; k < N; k++) {
		mt[i] = (mt[i] ^ ((mt[i - 1] ^ (mt[i - 1] >> 30)) * 1664525u)) + seed;
		if (++i == N) {
			mt[0] = mt[N - 1];
			i = 1;
		}
	}
	for (size_t k = 1; k < N; k++) {
		mt[i] = (mt[i] ^ ((mt[i - 1] ^ (mt[i - 1] >> 30)) * 1566083941u)) - (uint32_t)i;
		if (++i == N) {
			mt[0] = mt[N - 1];
			i = 1;
		}
	}
	mt[0] = 0x80000000u;
	s->at = N;
}

static void refill(struct fit_type_shuffle *s)
{
	for (size_t i = 0; i < N; i++) {
		uint32_t y = (s->mt[i] & 0x80000000u) | (s->mt[(i + 1) % N] & 0x7fffffffu);

		s->mt[i] = s->mt[(i + M) % N] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
	}
	s->at = 0;
}

static uint32_t next_word(struct fit_type_shuffle *s)
{
	uint32_t y;

	if (s->at == N)
		refill(s);
	y = s->mt[s->at++];
	y ^= y >> 11;
	y ^= (y << 7) & 0x9d2c5680u;
	y ^= (y << 15) & 0xefc60000u;
	return y ^ (y >> 18);
}

static size_t below(struct fit_type_shuffle *s, size_t n)
{
	unsigned bits = 0;
	size_t r;

	while (bits < 32 && n >> bits)
		bits++;
	do
		r = next_word(s) >> (32 - bits);
	while (r >= n);
	return r;
}

void fit_type_shuffle(struct fit_type_shuffle *s, size_t *list, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = below(s, i), tmp = list[i - 1];

		list[i - 1] = list[k];
		list[k] = tmp;
	}
}
