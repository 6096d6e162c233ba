/* SPDX-License-Identifier: MIT */
#include "libfit/model/rubick.h"

#include <math.h>
#include <string.h>

#include "libfit/model/lbfgsb.h"

#define MI 1048576.0
#define SLOW_NETWORK 2.0	/* of the data-parallel family, between nodes */
#define TURNS 50		/* of the solver, and its iterations in each */
#define ITERATIONS 2000
#define NODE_NETWORK 20.0	/* of plans of three degrees */

const char *const fit_rubick_names[FIT_RUBICK_N] = {
	"k_bwd", "k_sync", "k_opt", "k_os", "k_const", "k_off", "k_swap"
};

const struct fit_rubick_plan fit_rubick_plans[] = {
	{ "ga", 1, 1, 1, FIT_ZERO_NONE },
	{ "gc", 2, 1, 1, FIT_ZERO_NONE },
	{ "zero-dp", 1, 1, 1, FIT_ZERO_DP },
	{ "zero-offload", 1, 1, 1, FIT_ZERO_OFFLOAD },
	{ "zero-offload+gc", 2, 1, 1, FIT_ZERO_OFFLOAD },
	{ .name = NULL }
};

const struct fit_rubick_plan *fit_rubick_plan_find(struct fit_text name)
{
	for (size_t i = 0; fit_rubick_plans[i].name; i++)
		if (fit_text_is(name, fit_rubick_plans[i].name))
			return &fit_rubick_plans[i];
	return NULL;
}

/* (a^g + b^g)^(1/g) of numbers that are not negative, without overflow. */
static double p_norm(double a, double b, double g)
{
	double most = a > b ? a : b, least = a > b ? b : a;

	return most > 0 ? most * exp(log1p(pow(least / most, g)) / g) : 0;
}

static double optimize_ms(const struct fit_rubick *m, enum fit_rubick_zero zero,
			  const struct fit_rubick_run *r)
{
	if (zero == FIT_ZERO_NONE)
		return m->k[FIT_K_OPT] * r->params_mi;
	if (zero == FIT_ZERO_DP)
		return m->k[FIT_K_OPT] * r->params_mi / (double)r->gpus;
	return m->k[FIT_K_OS] * r->params_mi / (double)(r->gpus * r->cpu_threads);
}

static double comm_ms(const struct fit_rubick *m, const struct fit_rubick_plan *p,
		      const struct fit_rubick_run *r)
{
	double volume = 8 * r->params_mi * (double)(r->gpus - 1) / (double)r->gpus;

	return p->alpha_c * volume / (r->slow_network ? SLOW_NETWORK : m->nvlink);
}

static double offload_ms(const struct fit_rubick *m, enum fit_rubick_zero zero,
			 const struct fit_rubick_run *r)
{
	return zero == FIT_ZERO_OFFLOAD ? 4 * (r->params_mi / (double)r->gpus) / m->pcie : 0;
}

struct fit_rubick_parts fit_rubick_parts(const struct fit_rubick *m, const struct fit_rubick_plan *p,
					 const struct fit_rubick_run *r)
{
	double backward = m->k[FIT_K_BWD] * r->forward_ms, offload = offload_ms(m, p->zero, r);
	double overlap = p_norm(comm_ms(m, p, r), backward, m->k[FIT_K_SYNC]);
	struct fit_rubick_parts x;

	if (p->zero == FIT_ZERO_OFFLOAD)
		overlap += m->k[FIT_K_OFF] + offload;
	x.optimize_ms = optimize_ms(m, p->zero, r) + m->k[FIT_K_SWAP] + offload;
	x.iter_ms = p->alpha_f * r->forward_ms + (p->alpha_b - 1) * backward + overlap + x.optimize_ms +
		    m->k[FIT_K_CONST];
	x.sync_ms = backward * (p->alpha_f - 1) + overlap;
	return x;
}

double fit_rubick_grid_ms(const struct fit_rubick *m, const struct fit_rubick_grid *g)
{
	int64_t dp, micro;
	double tp = (double)g->tp, pp = (double)g->pp, tp_ms, pp_ms = 0, dp_ms, network = NODE_NETWORK;

	if (g->pp < 1 || g->tp < 1)
		return (double)NAN;
	dp = g->nodes * g->node_gpus / g->tp / g->pp;
	micro = dp > 0 ? g->batch / dp : 0;
	if (micro < 1)
		return (double)NAN;
	tp_ms = 32 * g->seq_hid * (tp - 1) * (double)micro * g->layers / tp / MI / m->nvlink;
	if (g->pp > 1)
		pp_ms = floor(16 * (double)micro * g->seq_hid / tp) / NODE_NETWORK / MI * pp;
	if (g->node_gpus > g->tp && g->pp == g->nodes)
		network = m->nvlink;
	dp_ms = floor(8 * (double)(dp - 1) / (double)dp * g->params_mi / tp) / pp / network;
	return g->forward_ms + p_norm(dp_ms, m->k[FIT_K_BWD] * g->forward_ms, m->k[FIT_K_SYNC]) +
	       g->params_mi / tp / pp * m->k[FIT_K_OPT] + m->k[FIT_K_CONST] + pp_ms + tp_ms;
}

/* ---- fitting ---- */

/* The derivatives of p_norm(c, b, g) by b and by g. */
static void d_norm(double c, double b, double g, double *by_b, double *by_g)
{
	double n = p_norm(c, b, g), log_c = c > 0 ? log(c / n) : 0, log_b = b > 0 ? log(b / n) : 0;
	double share_c = c > 0 ? exp(g * log_c) : 0, share_b = b > 0 ? exp(g * log_b) : 0;

	/* n^g = c^g + b^g, so d ln n / d b = share_b / b and
	 * d ln n / d g = (share_c ln(c/n) + share_b ln(b/n)) / g */
	*by_b = b > 0 ? n * share_b / b : 0;
	*by_g = n * (share_c * log_c + share_b * log_b) / g;
}

/* The gradients of the three parts of an iteration. */
static void gradients(const struct fit_rubick *m, const struct fit_rubick_obs *o, double sync[FIT_RUBICK_N],
		      double opt[FIT_RUBICK_N], double iter[FIT_RUBICK_N])
{
	const struct fit_rubick_run *r = &o->run;
	double by_b, by_g, share = (double)(o->plan.zero == FIT_ZERO_NONE ? 1 : r->gpus);

	d_norm(comm_ms(m, &o->plan, r), m->k[FIT_K_BWD] * r->forward_ms, m->k[FIT_K_SYNC], &by_b, &by_g);
	memset(sync, 0, FIT_RUBICK_N * sizeof *sync);
	memset(opt, 0, FIT_RUBICK_N * sizeof *opt);
	sync[FIT_K_BWD] = by_b * r->forward_ms;
	sync[FIT_K_SYNC] = by_g;
	sync[FIT_K_OFF] = o->plan.zero == FIT_ZERO_OFFLOAD;
	opt[o->plan.zero == FIT_ZERO_OFFLOAD ? FIT_K_OS : FIT_K_OPT] =
		r->params_mi / (o->plan.zero == FIT_ZERO_OFFLOAD ? share * (double)r->cpu_threads : share);
	opt[FIT_K_SWAP] = 1;
	for (int i = 0; i < FIT_RUBICK_N; i++)
		iter[i] = sync[i] + opt[i];
	iter[FIT_K_BWD] += (o->plan.alpha_b - 1) * r->forward_ms;
	iter[FIT_K_CONST] = 1;
	sync[FIT_K_BWD] += (o->plan.alpha_f - 1) * r->forward_ms;
}

double fit_rubick_loss(const struct fit_rubick *m, const struct fit_rubick_obs *obs, size_t n, double *grad)
{
	double sum[3] = { 0, 0, 0 }, g[3][FIT_RUBICK_N] = { { 0 } }, loss = 0;

	for (size_t i = 0; i < n; i++) {
		const struct fit_rubick_obs *o = &obs[i];
		struct fit_rubick_parts x = fit_rubick_parts(m, &o->plan, &o->run);
		const double pred[3] = { x.sync_ms, x.optimize_ms, x.iter_ms };
		const double seen[3] = { o->sync_ms, o->optimize_ms, o->iter_ms };
		double d[3][FIT_RUBICK_N];

		if (grad)
			gradients(m, o, d[0], d[1], d[2]);
		for (int t = 0; t < 3; t++) {
			double e = log(pred[t] / seen[t]);

			sum[t] += e * e;
			for (int k = 0; grad && k < FIT_RUBICK_N; k++)
				g[t][k] += e * d[t][k] / pred[t];
		}
	}
	for (int k = 0; grad && k < FIT_RUBICK_N; k++)
		grad[k] = 0;
	for (int t = 0; t < 3; t++) {
		double rms = sqrt(sum[t] / (double)n);

		loss += rms;
		for (int k = 0; grad && k < FIT_RUBICK_N && rms > 0; k++)
			grad[k] += g[t][k] / (double)n / rms;
	}
	return loss;
}

struct fitting {
	struct fit_rubick m;
	const struct fit_rubick_obs *obs;
	size_t n;
};

static double objective(const double *x, double *grad, void *ctx)
{
	struct fitting *f = ctx;

	memcpy(f->m.k, x, sizeof f->m.k);
	return fit_rubick_loss(&f->m, f->obs, f->n, grad);
}

int fit_rubick_fit(struct fit_rubick *m, const struct fit_rubick_obs *obs, size_t n, double *loss,
		   struct fit_err *err)
{
	/* the published start and bounds; the start of k_sync, 0.1, is moved to its lower bound */
	static const double start[FIT_RUBICK_N] = { 1.5, 1, 0.001, 1, 1, 1, 1 };
	static const double lower[FIT_RUBICK_N] = { 1, 1, 1e-8, 1e-8, 1e-8, 0, 0 };
	const double none = (double)INFINITY, upper[FIT_RUBICK_N] = { 10, none, none, none, none, none, none };
	struct fitting f = { .m = *m, .obs = obs, .n = n };
	struct fit_lbfgsb *w = NULL;
	double best = (double)INFINITY;
	int rc = FIT_OK;

	if (!n)
		return fit_fail(err, FIT_EINVAL, "no observations");
	rc = fit_lbfgsb_new(&w, FIT_RUBICK_N, 10, err);
	memcpy(m->k, start, sizeof start);
	/* the roots of the errors have kinks where curvature that was learned misleads: begun anew from where it
	 * ended, until that brings nothing more */
	for (int turn = 0; turn < TURNS && !rc; turn++) {
		double before = best;

		rc = fit_lbfgsb_set(w, FIT_RUBICK_N, m->k, lower, upper, 1e-13, 1e-9, err);
		for (int i = 0; i < ITERATIONS && !rc; i++)
			rc = fit_lbfgsb_iterate(w, objective, &f, err);
		rc = rc == FIT_END ? FIT_OK : rc;
		if (rc)
			break;
		best = fit_lbfgsb_f(w);
		memcpy(m->k, fit_lbfgsb_x(w), sizeof m->k);
		if (before - best <= 1e-9 * best)
			break;
	}
	if (!rc && loss)
		*loss = best;
	fit_lbfgsb_free(w);
	return rc;
}

const char *fit_rubick_obs_check(const struct fit_rubick_obs *o)
{
	if (o->run.gpus < 1 || o->run.cpu_threads < 1)
		return "GPUs and threads are not at least 1";
	if (!(o->run.params_mi > 0) || !(o->run.forward_ms > 0))
		return "the number of parameters or the forward time is not above 0";
	if (!(o->sync_ms > 0) || !(o->optimize_ms > 0) || !(o->iter_ms > 0))
		return "a measured time is not above 0";
	if (!(o->plan.alpha_f >= 1) || !(o->plan.alpha_b >= 1))
		return "the multipliers of the passes are not at least 1";
	return NULL;
}
