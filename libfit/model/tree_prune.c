/* SPDX-License-Identifier: MIT */
/* Minimal cost-complexity pruning: the path, and cutting off. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/tree.h"

/* ---- the path ---- */

/* Inner nodes in a heap by (g, node); what a collapse makes stale is found out when it comes up. */
struct entry {
	double g;
	int32_t node;
};

struct pruner {
	const struct fit_tree *t;
	double *own, *below;	/* R of the node as a leaf; R of the leaves below it */
	size_t *leaves;
	bool *gone;
	struct entry *heap;
	size_t n, cap;
};

static bool before(struct entry a, struct entry b)
{
	if (a.g < b.g || a.g > b.g)
		return a.g < b.g;
	return a.node < b.node;
}

static int push(struct pruner *p, struct entry e)
{
	size_t i = p->n;

	if (fit_grow(&p->heap, &p->cap, p->n + 1, sizeof *p->heap))
		return FIT_ENOMEM;
	p->n++;
	for (; i > 0 && before(e, p->heap[(i - 1) / 2]); i = (i - 1) / 2)
		p->heap[i] = p->heap[(i - 1) / 2];
	p->heap[i] = e;
	return FIT_OK;
}

static struct entry pop(struct pruner *p)
{
	struct entry top = p->heap[0], e = p->heap[--p->n];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= p->n)
			break;
		if (child + 1 < p->n && before(p->heap[child + 1], p->heap[child]))
			child++;
		if (!before(p->heap[child], e))
			break;
		p->heap[i] = p->heap[child];
		i = child;
	}
	p->heap[i] = e;
	return top;
}

static double g_of(const struct pruner *p, int32_t node)
{
	return (p->own[node] - p->below[node]) / (double)(p->leaves[node] - 1);
}

/* Make an inner node a leaf; its ancestors have other sums then. */
static int collapse(struct pruner *p, int32_t node)
{
	const struct fit_tree_node *nodes = p->t->nodes;
	size_t fewer = p->leaves[node] - 1;

	/* everything below it is gone: preorder ends where the next node is no deeper */
	for (size_t i = (size_t)node + 1; i < p->t->n_nodes && nodes[i].depth > nodes[node].depth; i++)
		p->gone[i] = true;
	p->below[node] = p->own[node];
	p->leaves[node] = 1;
	for (int32_t a = nodes[node].parent; a >= 0; a = nodes[a].parent) {
		p->leaves[a] -= fewer;
		/* summed anew, not corrected by a difference, so that errors do not pile up */
		p->below[a] = p->below[nodes[a].left] + p->below[nodes[a].right];
		if (push(p, (struct entry){ g_of(p, a), a }))
			return FIT_ENOMEM;
	}
	return FIT_OK;
}

static int start(struct pruner *p)
{
	const struct fit_tree *t = p->t;

	p->own = calloc(t->n_nodes + 1, sizeof *p->own);
	p->below = calloc(t->n_nodes + 1, sizeof *p->below);
	p->leaves = calloc(t->n_nodes + 1, sizeof *p->leaves);
	p->gone = calloc(t->n_nodes + 1, sizeof *p->gone);
	if (!p->own || !p->below || !p->leaves || !p->gone)
		return FIT_ENOMEM;
	for (size_t i = t->n_nodes; i-- > 0;) {
		const struct fit_tree_node *a = &t->nodes[i];

		p->own[i] = a->weight / t->nodes[0].weight * a->impurity;
		p->below[i] = a->left < 0 ? p->own[i] : p->below[a->left] + p->below[a->right];
		p->leaves[i] = a->left < 0 ? 1 : p->leaves[a->left] + p->leaves[a->right];
		if (a->left >= 0 && push(p, (struct entry){ g_of(p, (int32_t)i), (int32_t)i }))
			return FIT_ENOMEM;
	}
	return FIT_OK;
}

int fit_tree_path(struct fit_tree *t, struct fit_tree_path *path, struct fit_err *err)
{
	struct pruner p = { .t = t };
	double alpha = 0;
	int rc = start(&p);

	*path = (struct fit_tree_path){ 0 };
	if (!rc) {
		path->steps = calloc(p.leaves[0] + 1, sizeof *path->steps);
		rc = path->steps ? FIT_OK : FIT_ENOMEM;
	}
	if (rc)
		goto out;
	path->steps[path->n++] = (struct fit_tree_step){ 0, p.leaves[0], p.below[0] };
	for (size_t i = 0; i < t->n_nodes; i++)
		t->nodes[i].alpha = 0;
	while (!rc && p.n > 0) {
		struct entry e = pop(&p);
		bool stale;

		/* an entry is of the past when its node is gone, or is a leaf, or has another g by now */
		stale = p.gone[e.node] || p.leaves[e.node] == 1;
		if (!stale) {
			double g = g_of(&p, e.node);

			stale = g < e.g || g > e.g;
		}
		if (stale)
			continue;
		alpha = fmax(alpha, e.g);
		rc = collapse(&p, e.node);
		t->nodes[e.node].alpha = alpha;
		path->steps[path->n++] = (struct fit_tree_step){ alpha, p.leaves[0], p.below[0] };
	}
	/* a node that went with an ancestor is no leaf of its own before that */
	for (size_t i = 1; i < t->n_nodes && !rc; i++) {
		struct fit_tree_node *a = &t->nodes[i];

		if (a->left >= 0 && a->alpha <= 0 && p.gone[i] && p.leaves[i] > 1)
			a->alpha = t->nodes[a->parent].alpha;
	}
out:
	free(p.own);
	free(p.below);
	free(p.leaves);
	free(p.gone);
	free(p.heap);
	if (rc) {
		free(path->steps);
		*path = (struct fit_tree_path){ 0 };
		return fit_fail_nomem(err);
	}
	return FIT_OK;
}

double fit_tree_path_alpha(const struct fit_tree_path *path, size_t leaves)
{
	for (size_t i = 0; i < path->n; i++)
		if (path->steps[i].leaves <= leaves)
			return path->steps[i].alpha;
	return path->n ? path->steps[path->n - 1].alpha : 0;
}

/* ---- cutting off ---- */

static bool is_leaf_at(const struct fit_tree_node *node, double alpha)
{
	return node->left < 0 || node->alpha <= alpha;
}

int fit_tree_prune(struct fit_tree *t, double alpha, struct fit_err *err)
{
	int32_t *to = malloc((t->n_nodes + 1) * sizeof *to);
	size_t n = 0, c = t->n_classes;

	if (!to)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct fit_tree_node *a = &t->nodes[i];
		bool kept = a->parent < 0 || (to[a->parent] >= 0 && !is_leaf_at(&t->nodes[a->parent], alpha));

		to[i] = kept ? (int32_t)n++ : -1;
	}
	/* preorder stays preorder, and a node never moves towards the end; parents are read before they
	 * are overwritten, as they stand in front and are themselves at their new place or before it */
	for (size_t i = 0; i < t->n_nodes; i++) {
		struct fit_tree_node a = t->nodes[i];

		if (to[i] < 0)
			continue;
		if (is_leaf_at(&a, alpha)) {
			a.left = a.right = a.feature = -1;
			a.threshold = a.alpha = 0;
			a.missing_left = a.saw_missing = a.other_left = false;
			a.levels = 0;
		} else {
			a.left = to[a.left];
			a.right = to[a.right];
		}
		a.parent = a.parent < 0 ? -1 : to[a.parent];
		t->nodes[to[i]] = a;
		if (c)
			memmove(t->class_weight + (size_t)to[i] * c, t->class_weight + i * c,
				c * sizeof *t->class_weight);
	}
	t->n_nodes = n;
	free(to);
	return FIT_OK;
}
