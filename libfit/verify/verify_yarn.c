/* SPDX-License-Identifier: MIT */
/*
 * Placement yarn, and nodes behind switches with CPUs and memory (the Tiresias simulator, NSDI'19;
 * docs/methods/tiresias.md): where a job goes, and whether it can at all. What is free of CPUs and memory
 * follows from who holds GPUs where.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

struct need {
	int64_t gpus;
	double cpus, mem;		/* whole numbers; memory in tenths */
};

struct verify_yarn {
	int64_t n_switches;		/* 0: no CPUs and memory are asked for, all nodes are one switch */
	struct need node;		/* what a node has */
	struct need *used;		/* of each node: CPUs and memory */
	size_t n_used, cap_used;
	struct verify_place *found;
	size_t n_found, cap_found;
};

void verify_yarn_release(struct fit_verifier *v)
{
	if (!v->yarn)
		return;
	free(v->yarn->used);
	free(v->yarn->found);
	free(v->yarn);
	v->yarn = NULL;
}

int verify_yarn_meta(struct fit_verifier *v, const struct fit_meta *m)
{
	const char *gib = fit_meta_get(m, "node_mem_gib");
	double mem = 0;

	verify_yarn_release(v);
	v->yarn = calloc(1, sizeof *v->yarn);
	if (!v->yarn)
		return FIT_ENOMEM;
	if (!fit_meta_get(m, "switches"))
		return FIT_OK;
	v->yarn->n_switches = verify_meta_count(v, m, "switches");
	v->yarn->node.cpus = (double)verify_meta_count(v, m, "node_cpus");
	verify_check(v, RULE_META);
	if (!gib || fit_parse_double(fit_text_of(gib), &mem) || !(mem >= 0 && mem < 1e15))
		verify_fault(v, RULE_META, NONE, "metadata node_mem_gib is '%s' (expected a number)",
			     gib ? gib : "missing");
	v->yarn->node.mem = floor(10 * mem);
	return FIT_OK;
}

/* The cluster is known: as many nodes behind each switch. */
int verify_yarn_start(struct fit_verifier *v)
{
	struct verify_yarn *y = v->yarn;

	if (!y)
		return FIT_OK;
	if (fit_grow(&y->used, &y->cap_used, v->n_nodes + 1, sizeof *y->used) ||
	    fit_grow(&y->found, &y->cap_found, v->n_nodes + 1, sizeof *y->found))
		return FIT_ENOMEM;
	memset(y->used, 0, (v->n_nodes + 1) * sizeof *y->used);
	y->n_used = v->n_nodes;
	y->node.gpus = v->gpus_per_node;
	verify_check(v, RULE_META);
	if (y->n_switches && (v->n_nodes % (size_t)y->n_switches ||
			      v->total != (int64_t)v->n_nodes * v->gpus_per_node)) {
		verify_fault(v, RULE_META, NONE,
			     "metadata switches is %lld (expected as many like nodes behind each of them)",
			     (long long)y->n_switches);
		y->n_switches = 0;
	}
	return FIT_OK;
}

/* A worker has two CPUs and 5 of memory; on more than one GPU a parameter server for each has four, and on
 * several nodes 6 and a tenth for each worker. On one node memory is counted once. */
static struct need need_of(const struct verify_yarn *y, int64_t all, int64_t here)
{
	struct need n = { .gpus = here, .cpus = (all > 1 ? 2 + 4 : 2) * (double)here, .mem = 50 };

	if (all > y->node.gpus)
		n.mem = (50 + 60 + (double)all) * (double)here;
	return n;
}

void verify_yarn_hold(struct fit_verifier *v, const struct verify_live *l, int64_t sign)
{
	struct verify_yarn *y = v->yarn;

	for (size_t i = 0; y && y->n_switches && i < l->n_nodes; i++) {
		struct need n = need_of(y, l->gpus, l->nodes[i].gpus);

		if (l->nodes[i].node < 0 || (size_t)l->nodes[i].node >= y->n_used)
			continue;
		y->used[l->nodes[i].node].cpus += (double)sign * n.cpus;
		y->used[l->nodes[i].node].mem += (double)sign * n.mem;
	}
}

static bool has(const struct fit_verifier *v, int64_t node, struct need n)
{
	const struct verify_yarn *y = v->yarn;

	return v->size[node] - v->booked[node] >= n.gpus &&
	       (!y->n_switches || (y->node.cpus - y->used[node].cpus >= n.cpus &&
				   y->node.mem - y->used[node].mem >= n.mem));
}

static bool is_found(const struct verify_yarn *y, int64_t node)
{
	for (size_t i = 0; i < y->n_found; i++)
		if (y->found[i].node == node)
			return true;
	return false;
}

/* The first node of the part, behind the same switch, that was not taken yet and has that much; -1: none. */
static int64_t first(const struct fit_verifier *v, const struct verify_vc *vc, uint16_t type, int64_t from,
		     int64_t to, struct need n)
{
	for (int64_t i = verify_part_node(v, vc, from - 1); i >= 0 && i < to; i = verify_part_node(v, vc, i))
		if ((!type || v->node_type[i] == type) && has(v, i, n) && !is_found(v->yarn, i))
			return i;
	return -1;
}

static bool find_between(const struct fit_verifier *v, const struct verify_vc *vc, uint16_t type,
			 int64_t most, int64_t gpus, int64_t from, int64_t to)
{
	struct verify_yarn *y = v->yarn;

	y->n_found = 0;
	for (int64_t left = gpus; left > 0;) {
		int64_t here = gpus > most && left >= most ? most : left;
		int64_t node = first(v, vc, type, from, to, need_of(y, gpus, here));

		if (node < 0)
			return false;
		y->found[y->n_found++] = (struct verify_place){ (int32_t)node, (int32_t)here };
		left -= here;
	}
	return true;
}

const struct verify_place *verify_yarn_find(const struct fit_verifier *v, const struct verify_vc *vc,
					    uint16_t type, int64_t gpus, size_t *n)
{
	struct verify_yarn *y = v->yarn;
	int64_t behind = y && y->n_switches ? (int64_t)v->n_nodes / y->n_switches : (int64_t)v->n_nodes, most = 1;
	bool found = false;

	*n = 0;
	if (!y || y->n_used < v->n_nodes || behind < 1)
		return NULL;
	for (int64_t i = verify_part_node(v, vc, -1); i >= 0; i = verify_part_node(v, vc, i))
		if (!type || v->node_type[i] == type)
			most = v->size[i] > most ? v->size[i] : most;
	for (int64_t from = 0; from < (int64_t)v->n_nodes && !found; from += behind)
		found = find_between(v, vc, type, most, gpus, from, from + behind);
	*n = found ? y->n_found : 0;
	return found ? y->found : NULL;
}

bool verify_yarn_holds(const struct fit_verifier *v, int64_t gpus)
{
	const struct verify_yarn *y = v->yarn;
	struct need n;

	if (!y || !y->n_switches)
		return true;
	n = need_of(y, gpus, gpus < y->node.gpus ? gpus : y->node.gpus);
	return gpus <= (int64_t)v->n_nodes / y->n_switches * y->node.gpus && n.cpus <= y->node.cpus &&
	       n.mem <= y->node.mem;
}
