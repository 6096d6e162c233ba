/* SPDX-License-Identifier: MIT */
#include "libfit/replay/backlog.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"

#define NONE UINT32_MAX
#define LEVELS 10	/* each level has a quarter of the one below: enough for a million */

struct node {
	int64_t key, tie;
	uint32_t job, size;	/* size: index of its list */
	uint32_t next[LEVELS];
};

struct size_list {
	int64_t gpus;
	uint32_t head[LEVELS];
	uint32_t cursor;
};

struct fit_backlog {
	struct node *nodes;	/* a pool; free ones are chained by next[0] */
	size_t n_nodes, cap_nodes;
	uint32_t free;
	uint32_t *node_of;	/* by number */
	size_t n_numbers, cap_numbers;
	struct size_list *sizes;	/* ascending by gpus */
	size_t n_sizes, cap_sizes;
	uint32_t *by_number;	/* index in sizes of the k-th list made: nodes stay valid when sizes move */
	size_t cap_by_number;
	size_t count;
};

struct fit_backlog *fit_backlog_new(void)
{
	struct fit_backlog *b = calloc(1, sizeof *b);

	if (b)
		b->free = NONE;
	return b;
}

void fit_backlog_free(struct fit_backlog *b)
{
	if (!b)
		return;
	free(b->nodes);
	free(b->node_of);
	free(b->sizes);
	free(b->by_number);
	free(b);
}

static int levels_of(uint32_t job)
{
	uint64_t x = (job + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
	int n = 1;

	x ^= x >> 29;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 32;
	for (; n < LEVELS && !(x & 3); x >>= 2)
		n++;
	return n;
}

static bool before(const struct node *a, int64_t key, int64_t tie, uint32_t job)
{
	if (a->key != key)
		return a->key < key;
	return a->tie != tie ? a->tie < tie : a->job < job;
}

/* The links that a node of (key, tie, job) hangs on, one per level. */
static void find_links(struct fit_backlog *b, struct size_list *l, int64_t key, int64_t tie,
		       uint32_t job, uint32_t *links[LEVELS])
{
	uint32_t *at = l->head;

	for (int k = LEVELS - 1; k >= 0; k--) {
		while (at[k] != NONE && before(&b->nodes[at[k]], key, tie, job))
			at = b->nodes[at[k]].next;
		links[k] = &at[k];
	}
}

/* The list of a size; made when there is none. */
static struct size_list *list_of(struct fit_backlog *b, int64_t gpus, uint32_t *number)
{
	size_t lo = 0, hi = b->n_sizes;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (b->sizes[mid].gpus < gpus)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == b->n_sizes || b->sizes[lo].gpus != gpus) {
		if (fit_grow(&b->sizes, &b->cap_sizes, b->n_sizes + 1, sizeof *b->sizes) ||
		    fit_grow(&b->by_number, &b->cap_by_number, b->n_sizes + 1, sizeof *b->by_number))
			return NULL;
		memmove(b->sizes + lo + 1, b->sizes + lo, (b->n_sizes - lo) * sizeof *b->sizes);
		for (size_t k = 0; k < b->n_sizes; k++)
			b->by_number[k] += b->by_number[k] >= lo;
		b->by_number[b->n_sizes++] = (uint32_t)lo;
		b->sizes[lo].gpus = gpus;
		b->sizes[lo].cursor = NONE;
		memset(b->sizes[lo].head, 0xff, sizeof b->sizes[lo].head);
	}
	for (*number = 0; b->by_number[*number] != lo; ++*number)
		;
	return &b->sizes[lo];
}

int fit_backlog_add(struct fit_backlog *b, uint32_t number, uint32_t job, int64_t gpus, int64_t key,
		    int64_t tie)
{
	uint32_t *links[LEVELS], size, n = b->free;
	struct size_list *l;
	struct node *x;

	l = list_of(b, gpus, &size);
	if (!l || fit_grow(&b->node_of, &b->cap_numbers, (size_t)number + 1, sizeof *b->node_of))
		return FIT_ENOMEM;
	while (b->n_numbers <= number)
		b->node_of[b->n_numbers++] = NONE;
	if (n == NONE) {
		if (fit_grow(&b->nodes, &b->cap_nodes, b->n_nodes + 1, sizeof *b->nodes))
			return FIT_ENOMEM;
		n = (uint32_t)b->n_nodes++;
	} else {
		b->free = b->nodes[n].next[0];
	}
	find_links(b, l, key, tie, job, links);
	x = &b->nodes[n];
	*x = (struct node){ .key = key, .tie = tie, .job = job, .size = size };
	memset(x->next, 0xff, sizeof x->next);
	for (int k = levels_of(job) - 1; k >= 0; k--) {
		x->next[k] = *links[k];
		*links[k] = n;
	}
	b->node_of[number] = n;
	b->count++;
	return FIT_OK;
}

bool fit_backlog_remove(struct fit_backlog *b, uint32_t number)
{
	uint32_t *links[LEVELS], n = number < b->n_numbers ? b->node_of[number] : NONE;
	struct node *x;

	if (n == NONE)
		return false;
	x = &b->nodes[n];
	find_links(b, &b->sizes[b->by_number[x->size]], x->key, x->tie, x->job, links);
	for (int k = levels_of(x->job) - 1; k >= 0; k--)
		*links[k] = x->next[k];
	x->next[0] = b->free;
	b->free = n;
	b->node_of[number] = NONE;
	b->count--;
	return true;
}

bool fit_backlog_has(const struct fit_backlog *b, uint32_t number)
{
	return number < b->n_numbers && b->node_of[number] != NONE;
}

size_t fit_backlog_count(const struct fit_backlog *b)
{
	return b->count;
}

void fit_backlog_rewind(struct fit_backlog *b)
{
	for (size_t i = 0; i < b->n_sizes; i++)
		b->sizes[i].cursor = b->sizes[i].head[0];
}

bool fit_backlog_look(struct fit_backlog *b, int64_t most_gpus, uint32_t *job, int64_t *key, int64_t *tie)
{
	const struct node *first = NULL;

	for (size_t i = 0; i < b->n_sizes && b->sizes[i].gpus <= most_gpus; i++) {
		const struct node *x = b->sizes[i].cursor == NONE ? NULL : &b->nodes[b->sizes[i].cursor];

		if (x && (!first || before(x, first->key, first->tie, first->job)))
			first = x;
	}
	if (!first)
		return false;
	*job = first->job;
	*key = first->key;
	*tie = first->tie;
	return true;
}

bool fit_backlog_head(const struct fit_backlog *b, size_t i, struct fit_backlog_head *h)
{
	const struct node *x;

	*h = (struct fit_backlog_head){ .gpus = b->sizes[i].gpus };
	if (b->sizes[i].cursor == NONE)
		return false;
	x = &b->nodes[b->sizes[i].cursor];
	h->key = x->key;
	h->tie = x->tie;
	h->job = x->job;
	return true;
}

size_t fit_backlog_sizes(const struct fit_backlog *b)
{
	return b->n_sizes;
}

void fit_backlog_pass(struct fit_backlog *b, uint32_t number)
{
	const struct node *x = &b->nodes[b->node_of[number]];

	b->sizes[b->by_number[x->size]].cursor = x->next[0];
}

void fit_backlog_drop_size(struct fit_backlog *b, int64_t gpus)
{
	for (size_t i = 0; i < b->n_sizes; i++)
		if (b->sizes[i].gpus == gpus)
			b->sizes[i].cursor = NONE;
}
