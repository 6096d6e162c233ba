/* SPDX-License-Identifier: MIT */
#include "libfit/replay/ranked.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"

#define NONE UINT32_MAX

struct node {
	struct fit_ranked_entry e;
	int64_t sum, most;	/* of the subtree: GPUs, and the largest value */
	uint32_t left, right;
};

struct fit_ranked {
	struct node *nodes;	/* a pool; free ones are chained by left */
	size_t n_nodes, cap_nodes;
	uint32_t root, free;
	bool indexed;
	uint32_t *node_of;	/* by number */
	size_t n_numbers, cap_numbers;
	size_t count;
};

struct fit_ranked *fit_ranked_new(bool indexed)
{
	struct fit_ranked *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->root = r->free = NONE;
	r->indexed = indexed;
	return r;
}

void fit_ranked_free(struct fit_ranked *r)
{
	if (!r)
		return;
	free(r->nodes);
	free(r->node_of);
	free(r);
}

static bool before(const struct fit_ranked_entry *a, const struct fit_ranked_entry *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->tie != b->tie ? a->tie < b->tie : a->job < b->job;
}

/* Does node a belong above b? */
static bool above(const struct fit_ranked *r, uint32_t a, uint32_t b)
{
	uint64_t x = (r->nodes[a].e.job + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t y = (r->nodes[b].e.job + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);

	x ^= x >> 29;
	y ^= y >> 29;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	y *= UINT64_C(0xbf58476d1ce4e5b9);
	return x != y ? x > y : a < b;
}

static int64_t sum_of(const struct fit_ranked *r, uint32_t n)
{
	return n == NONE ? 0 : r->nodes[n].sum;
}

static void add_up(struct fit_ranked *r, uint32_t n)
{
	struct node *x = &r->nodes[n];

	x->sum = sum_of(r, x->left) + x->e.gpus + sum_of(r, x->right);
	x->most = x->e.value;
	if (x->left != NONE && r->nodes[x->left].most > x->most)
		x->most = r->nodes[x->left].most;
	if (x->right != NONE && r->nodes[x->right].most > x->most)
		x->most = r->nodes[x->right].most;
}

/* Cut tree n into what comes before e, and the rest. */
static void split(struct fit_ranked *r, uint32_t n, const struct fit_ranked_entry *e, uint32_t *low,
		  uint32_t *high)
{
	if (n == NONE) {
		*low = *high = NONE;
		return;
	}
	if (before(&r->nodes[n].e, e)) {
		split(r, r->nodes[n].right, e, &r->nodes[n].right, high);
		*low = n;
	} else {
		split(r, r->nodes[n].left, e, low, &r->nodes[n].left);
		*high = n;
	}
	add_up(r, n);
}

/* All of a comes before all of b. */
static uint32_t merge(struct fit_ranked *r, uint32_t a, uint32_t b)
{
	if (a == NONE || b == NONE)
		return a == NONE ? b : a;
	if (above(r, a, b)) {
		r->nodes[a].right = merge(r, r->nodes[a].right, b);
		add_up(r, a);
		return a;
	}
	r->nodes[b].left = merge(r, a, r->nodes[b].left);
	add_up(r, b);
	return b;
}

static int take_node(struct fit_ranked *r, uint32_t *n)
{
	*n = r->free;
	if (*n != NONE) {
		r->free = r->nodes[*n].left;
		return FIT_OK;
	}
	if (fit_grow(&r->nodes, &r->cap_nodes, r->n_nodes + 1, sizeof *r->nodes))
		return FIT_ENOMEM;
	*n = (uint32_t)r->n_nodes++;
	return FIT_OK;
}

static int index_node(struct fit_ranked *r, uint32_t number, uint32_t n)
{
	if (fit_grow(&r->node_of, &r->cap_numbers, (size_t)number + 1, sizeof *r->node_of))
		return FIT_ENOMEM;
	while (r->n_numbers <= number)
		r->node_of[r->n_numbers++] = NONE;
	r->node_of[number] = n;
	return FIT_OK;
}

int fit_ranked_add(struct fit_ranked *r, const struct fit_ranked_entry *e)
{
	uint32_t n, *at = &r->root;

	if (take_node(r, &n))
		return FIT_ENOMEM;
	if (r->indexed && index_node(r, e->number, n)) {
		r->nodes[n].left = r->free;
		r->free = n;
		return FIT_ENOMEM;
	}
	r->nodes[n] = (struct node){ *e, e->gpus, e->value, NONE, NONE };
	while (*at != NONE && above(r, *at, n)) {
		struct node *x = &r->nodes[*at];

		x->sum += e->gpus;
		x->most = e->value > x->most ? e->value : x->most;
		at = before(&x->e, e) ? &x->right : &x->left;
	}
	split(r, *at, e, &r->nodes[n].left, &r->nodes[n].right);
	*at = n;
	add_up(r, n);
	r->count++;
	return FIT_OK;
}

/* Take what stands at e's place out of tree n; the tree that is left, and the node. */
static uint32_t take_from(struct fit_ranked *r, uint32_t n, const struct fit_ranked_entry *e, uint32_t *out)
{
	struct node *x = &r->nodes[n];

	if (before(&x->e, e)) {
		x->right = take_from(r, x->right, e, out);
	} else if (before(e, &x->e)) {
		x->left = take_from(r, x->left, e, out);
	} else {
		*out = n;
		return merge(r, x->left, x->right);
	}
	add_up(r, n);
	return n;
}

void fit_ranked_take_out(struct fit_ranked *r, const struct fit_ranked_entry *e)
{
	uint32_t n = NONE;

	r->root = take_from(r, r->root, e, &n);
	if (r->indexed)
		r->node_of[r->nodes[n].e.number] = NONE;
	r->nodes[n].left = r->free;
	r->free = n;
	r->count--;
}

bool fit_ranked_remove(struct fit_ranked *r, uint32_t number)
{
	const struct fit_ranked_entry *e = fit_ranked_find(r, number);
	struct fit_ranked_entry copy;

	if (!e)
		return false;
	copy = *e;
	fit_ranked_take_out(r, &copy);
	return true;
}

const struct fit_ranked_entry *fit_ranked_find(const struct fit_ranked *r, uint32_t number)
{
	uint32_t n = number < r->n_numbers ? r->node_of[number] : NONE;

	return n == NONE ? NULL : &r->nodes[n].e;
}

size_t fit_ranked_count(const struct fit_ranked *r)
{
	return r->count;
}

int64_t fit_ranked_before(const struct fit_ranked *r,
			  bool (*first)(const void *arg, const struct fit_ranked_entry *e), const void *arg)
{
	int64_t sum = 0;

	for (uint32_t n = r->root; n != NONE;) {
		const struct node *x = &r->nodes[n];

		if (first(arg, &x->e)) {
			sum += sum_of(r, x->left) + x->e.gpus;
			n = x->right;
		} else {
			n = x->left;
		}
	}
	return sum;
}

const struct fit_ranked_entry *fit_ranked_over(const struct fit_ranked *r, int64_t gpus)
{
	uint32_t n = r->root;

	if (sum_of(r, n) <= gpus)
		return NULL;
	for (;;) {
		const struct node *x = &r->nodes[n];
		int64_t left = sum_of(r, x->left);

		if (left > gpus) {
			n = x->left;
			continue;
		}
		if (left + x->e.gpus > gpus)
			return &x->e;
		gpus -= left + x->e.gpus;
		n = x->right;
	}
}

const struct fit_ranked_entry *fit_ranked_least(const struct fit_ranked *r, int64_t value)
{
	uint32_t n = r->root;

	if (n == NONE || r->nodes[n].most < value)
		return NULL;
	for (;;) {
		const struct node *x = &r->nodes[n];

		if (x->left != NONE && r->nodes[x->left].most >= value)
			n = x->left;
		else if (x->e.value >= value)
			return &x->e;
		else
			n = x->right;
	}
}

static size_t list_tree(const struct fit_ranked *r, uint32_t n, struct fit_ranked_entry *list)
{
	size_t k = 0;

	for (; n != NONE; n = r->nodes[n].right) {
		k += list_tree(r, r->nodes[n].left, list + k);
		list[k++] = r->nodes[n].e;
	}
	return k;
}

void fit_ranked_list(const struct fit_ranked *r, struct fit_ranked_entry *list)
{
	(void)list_tree(r, r->root, list);
}

static void sum_tree(struct fit_ranked *r, uint32_t n)
{
	if (n == NONE)
		return;
	sum_tree(r, r->nodes[n].left);
	sum_tree(r, r->nodes[n].right);
	add_up(r, n);
}

/* Build the tree anew of its nodes, in that order. */
static void link_all(struct fit_ranked *r, const struct fit_ranked_entry *list)
{
	r->root = NONE;
	for (size_t i = 0; i < r->count; i++) {
		uint32_t n = r->node_of[list[i].number], *at = &r->root;

		while (*at != NONE && above(r, *at, n))
			at = &r->nodes[*at].right;
		r->nodes[n].left = *at;
		r->nodes[n].right = NONE;
		*at = n;
	}
	sum_tree(r, r->root);
}

void fit_ranked_rekey(struct fit_ranked *r, struct fit_ranked_entry *list)
{
	bool moved = false;

	for (size_t i = 1; i < r->count; i++) {
		struct fit_ranked_entry e = list[i];
		size_t k = i;

		for (; k && before(&e, &list[k - 1]); k--)
			list[k] = list[k - 1];
		list[k] = e;
		moved = moved || k < i;
	}
	for (size_t i = 0; i < r->count; i++)
		r->nodes[r->node_of[list[i].number]].e = list[i];
	if (moved)
		link_all(r, list);
}
