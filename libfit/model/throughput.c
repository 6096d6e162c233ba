/* SPDX-License-Identifier: MIT */
#include "libfit/model/throughput.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "libfit/model/throughput_math.h"

const char *const fit_theta_names[FIT_THETA_N] = {
	"alpha_c_s", "beta_c_s", "alpha_n_s", "beta_n_s", "alpha_r_s", "beta_r_s", "gamma"
};

/* ---- predictions ---- */

int fit_theta_check(const struct fit_theta *t, int *which, struct fit_err *err)
{
	for (int j = 0; j < FIT_THETA_N; j++) {
		double v = t->v[j];

		if (isfinite(v) && (j == FIT_GAMMA ? v >= 1 : v > 0))
			continue;
		if (which)
			*which = j;
		return fit_fail(err, FIT_EDATA, "bad %s '%g' (expected %s)", fit_theta_names[j], v,
				j == FIT_GAMMA ? "1 or more" : "a positive number");
	}
	return FIT_OK;
}

double fit_theta_accum_time(const struct fit_theta *t, double local_bsz)
{
	return t->v[FIT_ALPHA_C] + t->v[FIT_BETA_C] * local_bsz;
}

double fit_theta_network_time(const struct fit_theta *t, int64_t nodes, int64_t replicas)
{
	double r = fit_above_two(replicas);

	if (nodes > 1)
		return t->v[FIT_ALPHA_N] + t->v[FIT_BETA_N] * r;
	if (replicas > 1)
		return t->v[FIT_ALPHA_R] + t->v[FIT_BETA_R] * r;
	return FIT_THETA_TINY + FIT_THETA_TINY * r;
}

double fit_theta_step_time(const struct fit_theta *t, int64_t nodes, int64_t replicas,
			   double local_bsz)
{
	double wa, wk;

	return exp(fit_log_norm(log(fit_theta_accum_time(t, local_bsz)),
				log(fit_theta_network_time(t, nodes, replicas)), t->v[FIT_GAMMA],
				&wa, &wk));
}

double fit_theta_iteration_time(const struct fit_theta *t, int64_t nodes, int64_t replicas,
				double local_bsz, int64_t accum_steps)
{
	return (double)accum_steps * fit_theta_accum_time(t, local_bsz) +
	       fit_theta_step_time(t, nodes, replicas, local_bsz);
}

double fit_theta_throughput(const struct fit_theta *t, int64_t nodes, int64_t replicas,
			    double local_bsz, int64_t accum_steps)
{
	return (double)replicas * local_bsz * (double)(accum_steps + 1) /
	       fit_theta_iteration_time(t, nodes, replicas, local_bsz, accum_steps);
}

/* ---- observations and parameters ---- */

int fit_throughput_obs_check(const struct fit_throughput_obs *o, bool need_sync, const char **field,
			     struct fit_err *err)
{
	*field = "num_nodes";
	if (o->num_nodes < 1)
		return fit_fail(err, FIT_EDATA, "bad number of nodes '%lld' (expected 1 or more)",
				(long long)o->num_nodes);
	*field = "num_replicas";
	if (o->num_replicas < 1)
		return fit_fail(err, FIT_EDATA,
				"bad number of replicas '%lld' (expected 1 or more)",
				(long long)o->num_replicas);
	*field = "num_nodes";
	if (o->num_nodes > o->num_replicas)
		return fit_fail(err, FIT_EDATA,
				"more nodes than replicas '%lld' (expected at most %lld)",
				(long long)o->num_nodes, (long long)o->num_replicas);
	*field = "local_bsz";
	if (o->local_bsz < 1)
		return fit_fail(err, FIT_EDATA, "bad batch size '%lld' (expected 1 or more)",
				(long long)o->local_bsz);
	*field = "step_s";
	if (!(o->step_s >= FIT_STEP_MIN_S && o->step_s <= FIT_STEP_MAX_S))
		return fit_fail(err, FIT_EDATA, "bad step time '%g' (expected seconds, %g to %g)", o->step_s,
				FIT_STEP_MIN_S, FIT_STEP_MAX_S);
	*field = "sync_s";
	if (isnan(o->sync_s) ? need_sync : !(o->sync_s >= 0))
		return fit_fail(err, FIT_EDATA,
				"bad synchronisation time '%g' (expected 0 or more seconds)",
				o->sync_s);
	if (o->sync_s >= o->step_s)
		return fit_fail(err, FIT_EDATA, "synchronisation time not below the step time '%g' "
				"(expected less than %g)", o->sync_s, o->step_s);
	*field = "weight";
	if (!isfinite(o->weight) || !(o->weight > 0))
		return fit_fail(err, FIT_EDATA, "bad weight '%g' (expected a positive number)",
				o->weight);
	return FIT_OK;
}

void fit_throughput_params_default(struct fit_throughput_params *p)
{
	*p = (struct fit_throughput_params){
		.objective = FIT_RMSLE_ADAPTDL, .starts = 6, .max_iter = 20000, .max_restarts = 20,
		.tol = 1e-9, .std_errors = true, .gamma_penalty = 1e-3, .slope_penalty = 1e-2,
		.link_ratio = 1.1
	};
	for (int j = 0; j < FIT_THETA_N; j++) {
		p->lower[j] = j == FIT_GAMMA ? 1 : FIT_THETA_TINY;
		p->upper[j] = j == FIT_GAMMA ? 10 : (double)INFINITY;
		p->start[j] = (double)NAN;
	}
}

void fit_throughput_params_warm(struct fit_throughput_params *p, const struct fit_theta *from)
{
	fit_throughput_params_default(p);
	p->starts = 1;
	p->std_errors = false;
	for (int j = 0; j < FIT_THETA_N; j++)
		p->start[j] = fmin(fmax(from->v[j], p->lower[j]), p->upper[j]);
}

int fit_throughput_params_check(const struct fit_throughput_params *p, struct fit_err *err)
{
	if (p->objective != FIT_RMSLE_STEP && p->objective != FIT_RMSLE_ADAPTDL)
		return fit_fail(err, FIT_EINVAL, "bad objective '%d'", (int)p->objective);
	if (p->starts < 1 || p->starts > 64)
		return fit_fail(err, FIT_EINVAL, "bad number of starts '%d' (expected 1 to 64)",
				p->starts);
	if (p->max_iter < 1)
		return fit_fail(err, FIT_EINVAL, "bad iteration limit '%lld' (expected 1 or more)",
				(long long)p->max_iter);
	if (p->max_restarts < 1)
		return fit_fail(err, FIT_EINVAL, "bad restart limit '%d' (expected 1 or more)",
				p->max_restarts);
	if (!(p->tol > 0) || !isfinite(p->tol))
		return fit_fail(err, FIT_EINVAL, "bad tolerance '%g' (expected a positive number)",
				p->tol);
	if (!(p->gamma_penalty >= 0) || !(p->slope_penalty >= 0) || !isfinite(p->gamma_penalty) ||
	    !isfinite(p->slope_penalty))
		return fit_fail(err, FIT_EINVAL, "bad penalty (expected 0 or more)");
	if (!(p->link_ratio >= 0) || !isfinite(p->link_ratio))
		return fit_fail(err, FIT_EINVAL, "bad link ratio '%g' (expected 0 or more)",
				p->link_ratio);
	for (int j = 0; j < FIT_THETA_N; j++) {
		double least = j == FIT_GAMMA ? 1 : DBL_MIN, s = p->start[j];

		if (!(p->lower[j] >= least) || !(p->upper[j] >= p->lower[j]) || isinf(p->lower[j]))
			return fit_fail(err, FIT_EINVAL,
					"bad bounds of %s '%g' to '%g' (expected %s)",
					fit_theta_names[j], p->lower[j], p->upper[j],
					j == FIT_GAMMA ? "an interval from 1 or more"
						       : "an interval of positive numbers");
		if (!isnan(s) && !(s >= p->lower[j] && s <= p->upper[j] && isfinite(s)))
			return fit_fail(err, FIT_EINVAL,
					"start of %s is outside its bounds '%g' "
					"(expected %g to %g)",
					fit_theta_names[j], s, p->lower[j], p->upper[j]);
	}
	return FIT_OK;
}

const char *fit_throughput_status_name(enum fit_throughput_status s)
{
	static const char *const names[] = {
		"running", "converged", "iteration-limit", "restart-limit"
	};

	return (unsigned)s < sizeof names / sizeof *names ? names[s] : "unknown";
}
