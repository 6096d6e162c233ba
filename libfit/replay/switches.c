/* SPDX-License-Identifier: MIT */
#include "libfit/replay/switches.h"

#include <math.h>
#include <stdlib.h>

#include "libfit/base/text.h"
#include "libfit/replay/cluster.h"

#define CPUS_A_GPU 6	/* a worker's 2 and a parameter server's 4 */
#define CPUS_ALONE 2	/* one GPU has no server */
/* tenths */
#define MEM_A_WORKER 50
#define MEM_A_SERVER 60

int fit_switches_init(struct fit_switches *s, struct fit_err *err)
{
	size_t n = (size_t)s->n * (size_t)s->nodes;

	s->free_gpus = malloc((n + 1) * sizeof *s->free_gpus);
	s->free_cpus = malloc((n + 1) * sizeof *s->free_cpus);
	s->free_mem = malloc((n + 1) * sizeof *s->free_mem);
	if (!s->free_gpus || !s->free_cpus || !s->free_mem)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		s->free_gpus[i] = s->node_gpus;
		s->free_cpus[i] = s->cpus;
		s->free_mem[i] = (int64_t)floor(10 * s->mem_gib);
	}
	return FIT_OK;
}

void fit_switches_release(struct fit_switches *s)
{
	free(s->free_gpus);
	free(s->free_cpus);
	free(s->free_mem);
	*s = (struct fit_switches){ 0 };
}

struct demand {
	int64_t gpus, cpus, mem;
};

/* Of a job on so many GPUs in all, on a node where it has some. */
static struct demand demand_of(const struct fit_switches *s, int64_t all, int64_t here)
{
	if (all <= s->node_gpus)
		return (struct demand){ here, all == 1 ? CPUS_ALONE : CPUS_A_GPU * here, MEM_A_WORKER };
	return (struct demand){ here, CPUS_A_GPU * here, (MEM_A_WORKER + MEM_A_SERVER + all) * here };
}

static bool has_room(const struct fit_switches *s, int32_t node, struct demand d)
{
	return s->free_gpus[node] >= d.gpus && s->free_cpus[node] >= d.cpus && s->free_mem[node] >= d.mem;
}

static int add(struct fit_alloc *a, int32_t node, int64_t gpus)
{
	if (fit_grow(&a->shares, &a->cap, a->n + 1, sizeof *a->shares))
		return FIT_ENOMEM;
	a->shares[a->n++] = (struct fit_share){ node, (int32_t)gpus };
	a->gpus += gpus;
	return FIT_OK;
}

/* On the nodes from first to before end. FIT_END: no room. */
static int find_behind(const struct fit_switches *s, int32_t first, int32_t end, int64_t gpus,
		       struct fit_alloc *a)
{
	int64_t each = s->node_gpus, whole = gpus <= each ? 0 : gpus / each, rest = gpus - whole * each;
	int32_t node;

	a->n = 0;
	a->gpus = 0;
	for (node = first; node < end && (int64_t)a->n < whole; node++)
		if (has_room(s, node, demand_of(s, gpus, each)) && add(a, node, each))
			return FIT_ENOMEM;
	if ((int64_t)a->n < whole)
		return FIT_END;
	if (!rest)
		return FIT_OK;
	for (node = first; node < end; node++) {
		bool used = false;

		for (size_t i = 0; i < a->n && !used; i++)
			used = a->shares[i].node == node;
		if (!used && has_room(s, node, demand_of(s, gpus, rest)))
			return add(a, node, rest);
	}
	return FIT_END;
}

int fit_switches_find(const struct fit_switches *s, int64_t gpus, struct fit_alloc *a)
{
	int rc = FIT_END;

	for (int32_t k = 0; k < s->n && rc == FIT_END; k++)
		rc = find_behind(s, k * s->nodes, (k + 1) * s->nodes, gpus, a);
	if (rc) {
		a->n = 0;
		a->gpus = 0;
	}
	return rc;
}

void fit_switches_change(struct fit_switches *s, const struct fit_alloc *a, int sign)
{
	for (size_t i = 0; i < a->n; i++) {
		struct demand d = demand_of(s, a->gpus, a->shares[i].gpus);

		s->free_gpus[a->shares[i].node] += sign * (int32_t)d.gpus;
		s->free_cpus[a->shares[i].node] += sign * d.cpus;
		s->free_mem[a->shares[i].node] += sign * d.mem;
	}
}

bool fit_switches_hold(const struct fit_switches *s, int64_t gpus)
{
	int64_t most = gpus < s->node_gpus ? gpus : s->node_gpus;
	struct demand d = demand_of(s, gpus, most);

	return gpus <= (int64_t)s->nodes * s->node_gpus && d.cpus <= s->cpus &&
	       (double)d.mem <= floor(10 * s->mem_gib);
}
