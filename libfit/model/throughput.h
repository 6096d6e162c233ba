/* SPDX-License-Identifier: MIT */
/*
 * The seven-parameter throughput model of data-parallel training, theta_sys of Qiao et al.,
 * "Pollux", OSDI'21, section 3.2, and its fit to measured step times (section 4.1).
 * docs/methods/throughput.md has the equations; docs/formats/theta.md the table.
 *
 *   name       paper              unit          meaning
 *   alpha_c_s  alpha_grad         s             gradient computation of one pass, fixed part
 *   beta_c_s   beta_grad          s a sample    the same, for each sample of the local batch
 *   alpha_n_s  alpha_sync, node   s             synchronisation over several nodes, fixed part
 *   beta_n_s   beta_sync, node    s a replica   the same, for each replica above two
 *   alpha_r_s  alpha_sync, local  s             synchronisation inside one node, fixed part
 *   beta_r_s   beta_sync, local   s a replica   the same, for each replica above two
 *   gamma      gamma              1             overlap: 1 is none (sum), infinity is full (max)
 *
 * With N nodes, R replicas (GPUs), b samples a replica and pass, a passes before the one that
 * synchronises:
 *
 *   T_grad = alpha_c + beta_c b
 *   T_sync = alpha + beta max(R - 2, 1e-8), with (alpha, beta) = (alpha_n, beta_n) where N > 1,
 *            (alpha_r, beta_r) where N = 1 and R > 1, (1e-8, 1e-8) where R = 1
 *   step   = (T_grad^gamma + T_sync^gamma)^(1/gamma)
 *   T_iter = a T_grad + step;  throughput = R b (a + 1) / T_iter
 *
 * The tiny constants are those of the reference implementation (adaptdl), where the paper has 0.
 */
#ifndef FIT_MODEL_THROUGHPUT_H
#define FIT_MODEL_THROUGHPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"

FIT_C_BEGIN

/* ---- parameters and predictions ---- */

enum {
	FIT_ALPHA_C,
	FIT_BETA_C,
	FIT_ALPHA_N,
	FIT_BETA_N,
	FIT_ALPHA_R,
	FIT_BETA_R,
	FIT_GAMMA,
	FIT_THETA_N
};

/* alpha_c_s, beta_c_s, alpha_n_s, beta_n_s, alpha_r_s, beta_r_s, gamma. */
extern const char *const fit_theta_names[FIT_THETA_N];

struct fit_theta {
	double v[FIT_THETA_N];
};

/* Every alpha and beta > 0, gamma >= 1, all finite? FIT_EDATA: *which (may be NULL) is the index of
 * the parameter that is not. The predictions below expect this, nodes >= 1, replicas >= nodes,
 * local_bsz > 0, accum_steps >= 0; all in seconds. */
int fit_theta_check(const struct fit_theta *t, int *which, struct fit_err *err) FIT_MUST_CHECK;
/* T_grad. */
double fit_theta_accum_time(const struct fit_theta *t, double local_bsz);
/* T_sync. */
double fit_theta_network_time(const struct fit_theta *t, int64_t nodes, int64_t replicas);
double fit_theta_step_time(const struct fit_theta *t, int64_t nodes, int64_t replicas,
			   double local_bsz);
/* T_iter: accum_steps passes and the synchronising one. */
double fit_theta_iteration_time(const struct fit_theta *t, int64_t nodes, int64_t replicas,
				double local_bsz, int64_t accum_steps);
/* Samples a second. */
double fit_theta_throughput(const struct fit_theta *t, int64_t nodes, int64_t replicas,
			    double local_bsz, int64_t accum_steps);

/* ---- observations ---- */

/* A step outside of these is a slip of units or of columns. */
#define FIT_STEP_MIN_S 1e-6
#define FIT_STEP_MAX_S 1e9

struct fit_throughput_obs {
	int64_t num_nodes, num_replicas, local_bsz;
	double step_s; /* one optimiser step without accumulation passes, FIT_STEP_MIN_S to _MAX_S */
	double sync_s; /* the part of it that is synchronisation, 0 <= sync_s < step_s; NAN: not
			* known (FIT_RMSLE_STEP only) */
	double weight; /* > 0; 1 unless there is a reason */
};

/* FIT_EDATA with what is wrong; *field is the name of the column, from num_nodes num_replicas
 * local_bsz step_s sync_s weight. */
int fit_throughput_obs_check(const struct fit_throughput_obs *o, bool need_sync, const char **field,
			     struct fit_err *err) FIT_MUST_CHECK;

/* ---- the fit ---- */

enum fit_throughput_objective {
	/* Section 4.1: root mean squared logarithmic error of the step time. */
	FIT_RMSLE_STEP,
	/* The reference implementation: RMSLE of the compute time (step - sync) plus RMSLE of the
	 * step time plus 1e-3 (gamma - 1)^2 plus 1e-2 [(beta_n/alpha_n)^2 + (beta_r/alpha_r)^2]. */
	FIT_RMSLE_ADAPTDL
};

struct fit_throughput_params {
	enum fit_throughput_objective objective;
	int starts;			/* 1..64 starting points, a fixed list */
	int64_t max_iter;		/* solver iterations over all starts, >= 1 */
	int max_restarts;		/* of the solver from its own end point, >= 1 */
	double tol;			/* converged: a restart lowers the objective by less, > 0 */
	double lower[FIT_THETA_N], upper[FIT_THETA_N];
	/* The first starting point: a value each, or NAN for one estimated from the data. A value
	 * on its lower bound is estimated too when the data can tell it (a warm start after a first
	 * look at several nodes would otherwise stay there). */
	double start[FIT_THETA_N];
	bool std_errors;
	double gamma_penalty, slope_penalty;	/* 1e-3, 1e-2; FIT_RMSLE_ADAPTDL only */
	double link_ratio;		/* see fit_throughput_result.theta; 1.1 */
};

/* FIT_RMSLE_ADAPTDL, bounds alpha, beta >= 1e-8 and 1 <= gamma <= 10, everything on. */
void fit_throughput_params_default(struct fit_throughput_params *p);
/* One start only: the given model. What a replay refits with. */
void fit_throughput_params_warm(struct fit_throughput_params *p, const struct fit_theta *from);
/* FIT_EINVAL names the parameter. */
int fit_throughput_params_check(const struct fit_throughput_params *p,
				struct fit_err *err) FIT_MUST_CHECK;

enum fit_throughput_status {
	FIT_THROUGHPUT_RUNNING,
	FIT_THROUGHPUT_CONVERGED, /* a fresh solver run from the end point gains less than tol */
	FIT_THROUGHPUT_ITERATION_LIMIT, /* max_iter came first */
	FIT_THROUGHPUT_RESTART_LIMIT	/* max_restarts runs, and the last one still gained */
};
/* "running", "converged", "iteration-limit", "restart-limit". */
const char *fit_throughput_status_name(enum fit_throughput_status s);

struct fit_throughput_result {
	/* The fit. Without an observation on several nodes, alpha_n and beta_n are then raised to
	 * link_ratio times alpha_r and beta_r: unseen links are taken to be no better than seen
	 * ones. */
	struct fit_theta theta;
	struct fit_theta raw;	/* before that rule; `objective` is the value here */
	double se[FIT_THETA_N]; /* standard errors; NAN: pinned, at a bound, not identifiable */
	unsigned pinned;	/* bit j: parameter j was not free (see below) */
	unsigned at_bound;	/* bit j: free, but ended at a bound */
	double objective;
	double rmsle_step, rmsle_compute; /* the latter NAN when no sync_s is known */
	double mape_pct; /* weighted mean of |predicted - measured| / measured step time */
	size_t n_obs;
	size_t n_iter, n_eval;		/* over all starts */
	enum fit_throughput_status status;
};

/*
 * Priors (section 4.1, "prior-driven exploration"; the reference implementation): a parameter that
 * the observations cannot tell is pinned, so that what was not tried yet looks good until it is
 * tried. one distinct local_bsz                -> alpha_c at half the mean compute time no
 * observation with several nodes     -> alpha_n, beta_n at their lower bound none on one node with
 * several GPUs    -> alpha_r, beta_r at their lower bound none with more than two GPUs          ->
 * beta_n, beta_r at their lower bound
 *
 * Workspace: new() once, then any number of set() ... result(). A model is independent of the order
 * of calls before set(): the same observations and parameters give the same bits.
 */
struct fit_throughput;

int fit_throughput_new(struct fit_throughput **w, struct fit_err *err) FIT_MUST_CHECK;
void fit_throughput_free(struct fit_throughput *w);	/* NULL is fine */

/* Take observations (copied) and parameters. FIT_EDATA: n is 0, or an observation is bad (the error
 * says which, from 1); FIT_EINVAL: params_check(); FIT_ENOMEM. */
int fit_throughput_set(struct fit_throughput *w, const struct fit_throughput_obs *obs, size_t n,
		       const struct fit_throughput_params *p, struct fit_err *err) FIT_MUST_CHECK;
/* One solver iteration. FIT_OK: go on; FIT_END: over, ask for the result. */
int fit_throughput_iterate(struct fit_throughput *w, struct fit_err *err) FIT_MUST_CHECK;
enum fit_throughput_status fit_throughput_converged(const struct fit_throughput *w);
/* The best point so far. FIT_OK, or FIT_ENOCONV when the status is not CONVERGED (r is filled all
 * the same); FIT_ENOMEM. */
int fit_throughput_result(struct fit_throughput *w, struct fit_throughput_result *r,
			  struct fit_err *err) FIT_MUST_CHECK;

/* set(), iterate() to the end, result(). */
int fit_throughput_fit(struct fit_throughput *w, const struct fit_throughput_obs *obs, size_t n,
		       const struct fit_throughput_params *p, struct fit_throughput_result *r,
		       struct fit_err *err) FIT_MUST_CHECK;

/* One run from the fixed starting point of the reference implementation, to a tolerance tol of objective and
 * gradient (it has 1e-5 in Sia): where that ends, converged or not. Same priors, same rule for links that
 * were not seen. Errors as fit_throughput_set(). */
int fit_throughput_fit_loose(struct fit_throughput *w, const struct fit_throughput_obs *obs, size_t n,
			     double tol, struct fit_theta *theta, struct fit_err *err) FIT_MUST_CHECK;

/* The objective of the current observations at theta (all of it > 0) and, unless grad is NULL, its
 * gradient by all seven parameters, pinned ones included. After set(). */
double fit_throughput_value(const struct fit_throughput *w, const struct fit_theta *t,
			    double grad[FIT_THETA_N]);

FIT_C_END

#endif
