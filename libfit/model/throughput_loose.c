/* SPDX-License-Identifier: MIT */
/*
 * The fit of the throughput model as simulators of Pollux's line do it (adaptdl): one run of L-BFGS-B from
 * one fixed point, in the parameters themselves, to a loose tolerance. It often ends before the minimum,
 * and batch sizes that jobs choose follow from where it ends; so replays of such a simulator need it.
 */
#include <math.h>

#include "libfit/model/lbfgsb.h"
#include "libfit/model/throughput.h"

#define EPSILON 1e-8
#define ITERATIONS_MAX 15000

static double value(const double *x, double *grad, void *ctx)
{
	struct fit_theta t;

	for (int j = 0; j < FIT_THETA_N; j++)
		t.v[j] = x[j];
	return fit_throughput_value(ctx, &t, grad);
}

static void pin(double *x, double *lower, double *upper, int j, double v)
{
	x[j] = lower[j] = upper[j] = v;
}

/* What observations cannot tell stays where it looks good (section 4.1 of Pollux). *several: some are on
 * several nodes. */
static void set_priors(const struct fit_throughput_obs *obs, size_t n, double *x, double *lower,
		       double *upper, bool *several)
{
	bool one_size = true, local = false, over_two = false;
	double compute = 0;

	*several = false;
	for (size_t i = 0; i < n; i++) {
		one_size = one_size && obs[i].local_bsz == obs[0].local_bsz;
		*several = *several || obs[i].num_nodes > 1;
		local = local || (obs[i].num_nodes == 1 && obs[i].num_replicas > 1);
		over_two = over_two || obs[i].num_replicas > 2;
		compute += obs[i].step_s - obs[i].sync_s;
	}
	if (one_size)
		pin(x, lower, upper, FIT_ALPHA_C, compute / (double)n / 2);
	if (!local)
		pin(x, lower, upper, FIT_ALPHA_R, EPSILON);
	if (!local || !over_two)
		pin(x, lower, upper, FIT_BETA_R, EPSILON);
	if (!*several)
		pin(x, lower, upper, FIT_ALPHA_N, EPSILON);
	if (!*several || !over_two)
		pin(x, lower, upper, FIT_BETA_N, EPSILON);
}

int fit_throughput_fit_loose(struct fit_throughput *w, const struct fit_throughput_obs *obs, size_t n,
			     double tol, struct fit_theta *theta, struct fit_err *err)
{
	double x[FIT_THETA_N], lower[FIT_THETA_N], upper[FIT_THETA_N];
	struct fit_throughput_params p;
	struct fit_lbfgsb *solver;
	bool several;
	int rc;

	fit_throughput_params_default(&p);
	p.std_errors = false;
	rc = fit_throughput_set(w, obs, n, &p, err);
	if (rc)
		return rc;
	for (int j = 0; j < FIT_THETA_N; j++) {
		x[j] = j == FIT_GAMMA ? 1 + 1e-3 : j % 2 ? 1e-2 : 1e-1;
		lower[j] = j == FIT_GAMMA ? 1 : EPSILON;
		upper[j] = j == FIT_GAMMA ? 10 : (double)INFINITY;
	}
	set_priors(obs, n, x, lower, upper, &several);
	rc = fit_lbfgsb_new(&solver, FIT_THETA_N, 10, err);
	if (rc)
		return rc;
	rc = fit_lbfgsb_set(solver, FIT_THETA_N, x, lower, upper, tol, tol, err);
	for (int k = 0; k < ITERATIONS_MAX && !rc; k++)
		rc = fit_lbfgsb_iterate(solver, value, w, err);
	if (rc == FIT_END || rc == FIT_ENOCONV || !rc) {
		for (int j = 0; j < FIT_THETA_N; j++)
			theta->v[j] = fit_lbfgsb_x(solver)[j];
		if (!several) {
			theta->v[FIT_ALPHA_N] = fmax(theta->v[FIT_ALPHA_N], theta->v[FIT_ALPHA_R] * 1.1);
			theta->v[FIT_BETA_N] = fmax(theta->v[FIT_BETA_N], theta->v[FIT_BETA_R] * 1.1);
		}
		rc = FIT_OK;
	}
	fit_lbfgsb_free(solver);
	return rc;
}
