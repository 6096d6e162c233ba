/* SPDX-License-Identifier: MIT */
/*
 * Autoscaling by utility: what jobs would get out of a cluster size by their rebuilt agents, against
 * perfect scaling, and the size that each rule makes of it. docs/methods/verify.md has the rules.
 */
#include "libfit/verify/verify_state.h"

#define HISTORY 15

struct basis {
	int64_t gpus;		/* perfect scaling starts from so many, on one node */
	bool throughput;	/* efficiency counts as 1 */
	const struct verify_pool *pool;	/* the nodes, and jobs that are, or could be, on them */
};

static int by_rank(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	uint32_t x = v->jobs[v->live[a].job].rank, y = v->jobs[v->live[b].job].rank;

	return (x > y) - (x < y);
}

/* Does the job hold GPUs of the pool, or hold none, and may be there? */
static bool is_of(const struct fit_verifier *v, const struct verify_pool *p, const struct verify_live *l)
{
	uint16_t asked = v->jobs[l->job].gpu_type;

	if (p->type == ANY_TYPE)
		return true;
	if (l->n_nodes)
		return verify_type_of(v, l->nodes[0].node) == p->type;
	return (!asked || asked == p->type) && verify_model_of(v, l->job, p->type);
}

/* Jobs of the pool into v->order, by rank; those that no decision saw yet are among them. */
static size_t gather(struct fit_verifier *v, const struct verify_pool *p)
{
	v->order.n = 0;
	for (size_t i = 0; i < v->active.n; i++)
		if (is_of(v, p, &v->live[v->active.a[i]]) && verify_list_push(&v->order, v->active.a[i]))
			v->code = FIT_ENOMEM;
	for (size_t i = 0; i < v->fresh.n; i++)
		if (is_of(v, p, &v->live[v->fresh.a[i]]) && verify_list_push(&v->order, v->fresh.a[i]))
			v->code = FIT_ENOMEM;
	verify_sort(v, v->order.a, v->order.n, by_rank);
	return v->order.n;
}

/* Speedups over one GPU of the basis, summed over what each job would have on so many nodes. */
static double of_size(struct fit_verifier *v, struct basis b, int64_t nodes)
{
	size_t n = gather(v, b.pool);
	int64_t each = v->nodes[b.pool->first].gpus, gpus = nodes * each, left = n ? gpus % (int64_t)n : 0;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		const struct verify_live *l = &v->live[v->order.a[i]];
		int64_t most = verify_agent_most_gpus(v, l, b.pool->type), share = gpus / (int64_t)n;

		if ((int64_t)i < left)
			share++;
		if (share > most)
			share = most;
		sum += verify_agent_speedup(l, b.pool->type, b.gpus, b.throughput, (share + each - 1) / each, share);
	}
	return sum / (double)gpus;
}

static double of_held(struct fit_verifier *v, struct basis b, int64_t nodes)
{
	size_t n = gather(v, b.pool);
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		const struct verify_live *l = &v->live[v->order.a[i]];

		sum += verify_agent_speedup(l, b.pool->type, b.gpus, b.throughput, (int64_t)l->n_nodes, l->gpus);
	}
	return sum / (double)(nodes * v->nodes[b.pool->first].gpus);
}

/* Bisection for the size whose utility is nearest to the target. */
static int64_t nearest(struct fit_verifier *v, struct basis b, double target)
{
	int64_t above = v->nodes_min > 1 ? v->nodes_min : 1, below = (int64_t)b.pool->n + 1;
	double over, under;

	while (below > above + 1) {
		int64_t middle = (above + below) / 2;

		if (of_size(v, b, middle) < target)
			below = middle;
		else
			above = middle;
	}
	if (below > (int64_t)b.pool->n)
		return above;
	over = of_size(v, b, above) - target;
	under = target - of_size(v, b, below);
	return under < over ? below : above;
}

static int64_t by_utility(struct fit_verifier *v, const struct verify_pool *p, bool throughput, int64_t now)
{
	const struct basis node = { v->nodes[p->first].gpus, throughput, p };
	double u = of_size(v, node, now);

	return u < v->scale_low || u > v->scale_high ? nearest(v, node, v->scale_low) : now;
}

static int64_t by_utilisation(struct fit_verifier *v, const struct verify_pool *p, int64_t now)
{
	const struct basis gpu = { 1, false, p };
	double mean = 0;

	v->scale_held[v->scale_n % HISTORY] = of_held(v, gpu, now);
	if (++v->scale_n <= HISTORY)
		return now;
	/* oldest first, so that sums round as they did */
	for (int64_t i = v->scale_n; i < v->scale_n + HISTORY; i++)
		mean += v->scale_held[i % HISTORY] / HISTORY;
	if (mean >= v->scale_low && mean <= v->scale_high)
		return now;
	v->scale_n = 0;
	return nearest(v, gpu, (v->scale_low + v->scale_high) / 2);
}

static double distance(double a, double b)
{
	return a > b ? a - b : b - a;
}

/* A size that is within 30 % of the target's room stays. */
static int64_t by_target(struct fit_verifier *v, const struct verify_pool *p, int64_t now)
{
	const struct basis gpu = { 1, false, p };
	double c = v->scale_target, room = c < 1 - c ? c : 1 - c, best;
	int64_t least = v->nodes_min > 1 ? v->nodes_min : 1, at = least;

	if (!(distance(of_size(v, gpu, now), c) > 0.3 * room))
		return now;
	if (v->autoscale != SCALE_RUBICK)
		return nearest(v, gpu, c);
	best = distance(of_size(v, gpu, least), c);
	for (int64_t n = least + 1; n <= (int64_t)p->n; n++) {
		double d = distance(of_size(v, gpu, n), c);

		if (d < best) {
			best = d;
			at = n;
		}
	}
	return at;
}

int64_t verify_scale_wanted(struct fit_verifier *v, struct verify_pool *p)
{
	int64_t now = p->wanted > 1 ? p->wanted : 1;

	/* asked once a decision; a trial decision asks nothing */
	if (v->mute || p->scaled_ns == v->now)
		return p->wanted;
	p->scaled_ns = v->now;
	if (v->autoscale == SCALE_UTILISATION)
		return by_utilisation(v, p, now);
	if (v->autoscale == SCALE_SIA && !gather(v, p))
		return 0;
	if (v->autoscale >= SCALE_POLLUX)
		return by_target(v, p, now);
	return by_utility(v, p, v->autoscale == SCALE_THROUGHPUT, now);
}
