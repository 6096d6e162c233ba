/* SPDX-License-Identifier: MIT */
#include "libfit/model/goodput.h"

#include <math.h>
#include <stddef.h>

const char *fit_goodput_check(const struct fit_goodput *g)
{
	if (!(g->grad_sqr >= 0) || !(g->grad_var >= 0) || !isfinite(g->grad_sqr) || !isfinite(g->grad_var))
		return "the gradient statistics are negative or not finite";
	if (g->init_batch < 1 || g->max_batch < g->init_batch)
		return "the batch sizes are below 1 or out of order";
	if (g->min_local_bsz < 1 || g->max_local_bsz < g->min_local_bsz)
		return "the local batch sizes are below 1 or out of order";
	if (g->max_accum < -1)
		return "the limit of accumulation passes is below -1";
	return NULL;
}

double fit_goodput_gain(const struct fit_goodput *g, double batch)
{
	double scale = batch / (double)g->init_batch;
	double below = g->grad_var / scale + g->grad_sqr;

	if (g->fixed_efficiency)
		return scale;
	return below > 0 ? (g->grad_var + g->grad_sqr) / below : 1;
}

double fit_goodput_efficiency(const struct fit_goodput *g, double batch)
{
	return fit_goodput_gain(g, batch) / (batch / (double)g->init_batch);
}

struct fit_goodput_point fit_goodput_at(const struct fit_goodput *g, int64_t nodes, int64_t replicas,
					int64_t atomic_bsz, int64_t accum_steps)
{
	double batch = (double)(replicas * atomic_bsz * (accum_steps + 1));
	struct fit_goodput_point p = { .atomic_bsz = atomic_bsz, .accum_steps = accum_steps };

	p.throughput = fit_theta_throughput(&g->theta, nodes, replicas, (double)atomic_bsz, accum_steps);
	p.efficiency = fit_goodput_efficiency(g, batch);
	p.goodput = p.throughput * p.efficiency;
	return p;
}

/* The split of a total that stays as it is. */
static struct fit_goodput_point at_fixed(const struct fit_goodput *g, int64_t nodes, int64_t replicas)
{
	int64_t local = (int64_t)ceil((double)g->fixed_batch / (double)replicas - 1e-8);
	int64_t accum = (int64_t)ceil((double)local / (double)g->max_local_bsz - 1e-8) - 1, atomic, most;

	if (replicas == 1 && g->fixed_batch > g->init_batch && accum < 1)
		accum = 1;
	atomic = (int64_t)ceil((double)local / (double)(accum + 1) - 1e-8);
	most = g->max_batch / (replicas * (accum + 1));
	atomic = atomic < most ? atomic : most;
	if (atomic < g->min_local_bsz)
		return (struct fit_goodput_point){ 0 };
	return fit_goodput_at(g, nodes, replicas, atomic, accum);
}

struct fit_goodput_point fit_goodput_best(const struct fit_goodput *g, int64_t nodes, int64_t replicas)
{
	double lo = fmax((double)g->init_batch, (double)(g->min_local_bsz * replicas));
	double log_lo = log10(lo), log_hi = log10((double)g->max_batch);
	struct fit_goodput_point best = { 0 };

	if (g->fixed_batch)
		return at_fixed(g, nodes, replicas);
	if (lo > (double)g->max_batch)
		return best;
	for (int k = 0; k < FIT_GOODPUT_GRID; k++) {
		double batch = k == 0 ? lo : k == FIT_GOODPUT_GRID - 1 ? (double)g->max_batch :
			       pow(10, log_lo + k * ((log_hi - log_lo) / (FIT_GOODPUT_GRID - 1)));
		double local = batch / (double)replicas;
		int64_t accum = (int64_t)ceil(local / (double)g->max_local_bsz - 1e-8) - 1, atomic;
		struct fit_goodput_point p;

		if (replicas == 1 && local > (double)g->init_batch + 1e-8 && accum < 1)
			accum = 1;
		if (accum < 0)
			accum = 0;
		atomic = (int64_t)ceil(local / (double)(accum + 1) - 1e-8);
		if (g->strict_batch && atomic > g->max_batch / (replicas * (accum + 1)))
			atomic = g->max_batch / (replicas * (accum + 1));
		if (atomic < g->min_local_bsz || atomic > g->max_local_bsz ||
		    (g->max_accum >= 0 && accum > g->max_accum))
			continue;
		if (atomic == best.atomic_bsz && accum == best.accum_steps)
			continue;	/* neighbours of the grid often round to one split */
		p = fit_goodput_at(g, nodes, replicas, atomic, accum);
		if (p.goodput > best.goodput)
			best = p;
	}
	return best;
}
