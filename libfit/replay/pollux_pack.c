/* SPDX-License-Identifier: MIT */
#include "libfit/replay/pollux_pack.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"

void fit_pack_release(struct fit_pack *k)
{
	free(k->room);
	free(k->spanning);
	free(k->counts);
	free(k->sets);
	*k = (struct fit_pack){ 0 };
}

static uint64_t *set_of(const struct fit_pack *k, int shut, int room)
{
	return k->sets + ((size_t)shut * ((size_t)k->top + 1) + (size_t)room) * k->words;
}

static int shut(const struct fit_pack *k, int m)
{
	return k->avoid && k->spanning[m] > 0;
}

/* Put node m into the class that it is of, or take it out of there. */
static inline void enter(struct fit_pack *k, int m, int sign)
{
	int s = shut(k, m), room = k->room[m];

	set_of(k, s, room)[m / 64] ^= UINT64_C(1) << m % 64;
	k->now.count[s][room] += sign;
	k->now.spare += s ? 0 : sign * room;
	k->now.wide += s || !room ? 0 : sign;
}

int fit_pack_set(struct fit_pack *k, const struct fit_pollux_problem *p)
{
	size_t nodes = (size_t)p->n_nodes + 1, classes;
	int top = 0;

	for (int m = 0; m < p->n_nodes; m++)
		top = p->capacity[m] > top ? p->capacity[m] : top;
	classes = 2 * ((size_t)top + 1);
	k->n_nodes = p->n_nodes;
	k->top = top;
	k->avoid = p->avoid_interference;
	k->words = nodes / 64 + 1;
	if (fit_grow(&k->room, &k->room_cap, nodes, sizeof *k->room) ||
	    fit_grow(&k->spanning, &k->spanning_cap, nodes, sizeof *k->spanning) ||
	    fit_grow(&k->counts, &k->count_cap, 2 * classes, sizeof *k->counts) ||
	    fit_grow(&k->sets, &k->sets_cap, classes * k->words, sizeof *k->sets))
		return FIT_ENOMEM;
	memset(k->counts, 0, 2 * classes * sizeof *k->counts);
	memset(k->sets, 0, classes * k->words * sizeof *k->sets);
	for (int i = 0; i < 2; i++) {
		k->now.count[i] = k->counts + (size_t)i * ((size_t)top + 1);
		k->then.count[i] = k->now.count[i] + classes;
	}
	k->now.spare = k->now.wide = k->free = 0;
	for (int m = 0; m < p->n_nodes; m++) {
		k->free += p->capacity[m];
		k->room[m] = p->capacity[m];
		k->spanning[m] = 0;
		enter(k, m, 1);
	}
	return FIT_OK;
}

bool fit_pack_fits(const struct fit_pack *k, const struct fit_pack_row *row)
{
	for (int i = 0; i < row->n; i++)
		if (row->gpus[i] > k->room[row->node[i]] || (row->n > 1 && shut(k, row->node[i])))
			return false;
	return true;
}

static void book(struct fit_pack *k, const struct fit_pack_row *row, int sign)
{
	k->free -= sign * row->replicas;
	for (int i = 0; i < row->n; i++) {
		int m = row->node[i];

		enter(k, m, -1);
		k->room[m] -= sign * row->gpus[i];
		k->spanning[m] += row->n > 1 ? sign : 0;
		enter(k, m, 1);
	}
}

void fit_pack_take(struct fit_pack *k, const struct fit_pack_row *row)
{
	book(k, row, 1);
}

void fit_pack_give(struct fit_pack *k, const struct fit_pack_row *row)
{
	book(k, row, -1);
}

int fit_pack_most(const struct fit_pack *k, const struct fit_pack_counts *c, bool several)
{
	if (several)
		return c->wide > 1 ? c->spare : 0;
	for (int room = k->top; room > 0; room--)
		if (c->count[0][room] + c->count[1][room])
			return room;
	return 0;
}

void fit_pack_look(struct fit_pack *k)
{
	size_t classes = 2 * ((size_t)k->top + 1);

	memcpy(k->then.count[0], k->now.count[0], classes * sizeof *k->counts);
	k->then.spare = k->now.spare;
	k->then.wide = k->now.wide;
}

/* ---- choosing ---- */

/* The fullest open class that has so much room. */
static int fullest_open(const struct fit_pack *k, const struct fit_pack_counts *c, int gpus)
{
	int room = gpus;

	while (room < k->top && !c->count[0][room])
		room++;
	return room;
}

/* The next node for a job that spans nodes: of which room, and how many GPUs there. The first one may
 * not have all. */
static int next_open(const struct fit_pack *k, const struct fit_pack_counts *c, int left, bool first,
		     int *take)
{
	int most = k->top;

	while (!c->count[0][most])
		most--;
	if (left > most) {
		*take = most;
		return most;
	}
	*take = first ? left - 1 : left;
	return fullest_open(k, c, *take);
}

static int single_class(const struct fit_pack *k, const struct fit_pack_counts *c, int gpus, int *s)
{
	int room = gpus;

	while (room < k->top && !c->count[0][room] && !c->count[1][room])
		room++;
	*s = c->count[1][room] > 0;
	return room;
}

void fit_pack_try(const struct fit_pack *k, struct fit_pack_counts *c, int gpus, bool several)
{
	int rest[2], n_rest = 0, left = gpus, take, s;

	if (!several) {
		int room = single_class(k, c, gpus, &s);

		c->count[s][room]--;
		c->count[s][room - gpus]++;
		c->spare -= s ? 0 : gpus;
		c->wide -= !s && room == gpus;
		return;
	}
	for (; left > 0; left -= take) {
		int room = next_open(k, c, left, left == gpus, &take);

		c->count[0][room]--;
		c->spare -= room;
		c->wide--;
		/* of the nodes that do not go whole, what is left is of no use to this job: there are two at most,
		 * the first where it could have had all, and the last */
		if (room > take)
			rest[n_rest++] = room - take;
	}
	for (int i = 0; i < n_rest; i++) {
		c->count[k->avoid][rest[i]]++;
		c->spare += k->avoid ? 0 : rest[i];
		c->wide += !k->avoid;
	}
}

/* The first node of a class, which has some. */
static int node_of(const struct fit_pack *k, int s, int room)
{
	const uint64_t *set = set_of(k, s, room);
	int w = 0;

	while (!set[w])
		w++;
	return w * 64 + __builtin_ctzll(set[w]);
}

static void add(struct fit_pack_row *row, int m, int gpus)
{
	row->node[row->n] = m;
	row->gpus[row->n++] = (uint8_t)gpus;
	row->replicas += gpus;
}

void fit_pack_choose(struct fit_pack *k, int gpus, bool several, struct fit_pack_row *row)
{
	int left = gpus, take, s;

	row->n = row->replicas = 0;
	if (!several) {
		int room = single_class(k, &k->now, gpus, &s);

		add(row, node_of(k, s, room), gpus);
		return;
	}
	/* nodes leave their classes while they are chosen, and come back */
	for (; left > 0; left -= take) {
		int room = next_open(k, &k->now, left, row->n == 0, &take), m = node_of(k, 0, room);

		enter(k, m, -1);
		add(row, m, take);
	}
	for (int i = 0; i < row->n; i++)
		enter(k, row->node[i], 1);
}
