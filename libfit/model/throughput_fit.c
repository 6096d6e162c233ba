/* SPDX-License-Identifier: MIT */
/* The fit of throughput.h: objective, starting points, solver runs, standard errors. */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"
#include "libfit/model/lbfgsb.h"
#include "libfit/model/throughput.h"
#include "libfit/model/throughput_math.h"

/* ---- the workspace ---- */

enum link { LINK_NONE, LINK_LOCAL, LINK_NODE };

/* One observation as the objective needs it. */
struct point {
	double bsz, above_two, log_step, log_compute, weight;	/* the weights sum to 1 */
	enum link link;
};

/* A found minimum. */
struct candidate {
	struct fit_theta theta;
	double value;
};

/* The solver runs of a fit: from each start on a rounded-off objective, then from the best
 * end points on ever less rounded ones, at last on the exact one until a run gains nothing. */
enum phase { PHASE_SEARCH, PHASE_POLISH, PHASE_OVER };

#define MAX_STARTS 64
#define N_POLISH 2
static const double search_eps = 3e-2;
static const double polish_eps[] = { 1e-3, 3e-5, 1e-6 };
#define N_EPS (int)(sizeof polish_eps / sizeof *polish_eps)

struct fit_throughput {
	struct fit_throughput_params p;
	struct point *points;
	size_t n, cap;
	bool have_compute;
	unsigned pinned;
	struct fit_theta base;		/* pinned values; the free ones are overwritten */
	int free_of[FIT_THETA_N], n_free;

	struct fit_lbfgsb *solver;
	double scale[FIT_THETA_N];	/* solver variable = parameter / scale */
	double eps;			/* rounding of the current run */

	enum phase phase;
	enum fit_throughput_status status;
	int start;			/* PHASE_SEARCH: which */
	struct candidate found[MAX_STARTS];
	int n_found;
	int polish, level, restarts;	/* PHASE_POLISH: which candidate, how far */
	struct candidate low;		/* the lowest point of this candidate */
	double before;			/* exact objective at the start of the run */
	struct candidate best;
	enum fit_throughput_status best_status;
	size_t n_iter, n_eval;
	bool in_run;
};

int fit_throughput_new(struct fit_throughput **out, struct fit_err *err)
{
	struct fit_throughput *w = calloc(1, sizeof *w);
	int rc;

	if (!w)
		return fit_fail_nomem(err);
	rc = fit_lbfgsb_new(&w->solver, FIT_THETA_N, 10, err);
	if (rc) {
		free(w);
		return rc;
	}
	*out = w;
	return FIT_OK;
}

void fit_throughput_free(struct fit_throughput *w)
{
	if (!w)
		return;
	fit_lbfgsb_free(w->solver);
	free(w->points);
	free(w);
}

/* ---- objective ---- */

/* Per-observation prediction with its derivatives; the link tells which alpha and beta apply. */
struct prediction {
	double accum, log_accum, log_step;
	double by_accum, by_network, by_gamma;	/* derivatives of log_step */
};

static struct prediction predict(const struct point *o, const struct fit_theta *t)
{
	struct prediction r;
	double network = FIT_THETA_TINY + FIT_THETA_TINY * FIT_THETA_TINY, g = t->v[FIT_GAMMA];
	double log_network, wa, wk;

	r.accum = t->v[FIT_ALPHA_C] + t->v[FIT_BETA_C] * o->bsz;
	if (o->link == LINK_NODE)
		network = t->v[FIT_ALPHA_N] + t->v[FIT_BETA_N] * o->above_two;
	else if (o->link == LINK_LOCAL)
		network = t->v[FIT_ALPHA_R] + t->v[FIT_BETA_R] * o->above_two;
	r.log_accum = log(r.accum);
	log_network = log(network);
	r.log_step = fit_log_norm(r.log_accum, log_network, g, &wa, &wk);
	r.by_accum = wa / r.accum;
	r.by_network = wk / network;
	r.by_gamma = (wa * r.log_accum + wk * log_network - r.log_step) / g;
	return r;
}

/* The indices of (alpha, beta) of a link; -1 for a single GPU. */
static int alpha_of(enum link link)
{
	return link == LINK_NODE ? FIT_ALPHA_N : link == LINK_LOCAL ? FIT_ALPHA_R : -1;
}

static void add_row(double row[FIT_THETA_N], const struct point *o, double by_accum,
		    double by_network, double by_gamma)
{
	int a = alpha_of(o->link);

	row[FIT_ALPHA_C] += by_accum;
	row[FIT_BETA_C] += by_accum * o->bsz;
	if (a >= 0) {
		row[a] += by_network;
		row[a + 1] += by_network * o->above_two;
	}
	row[FIT_GAMMA] += by_gamma;
}

static double penalty(const struct fit_throughput *w, const struct fit_theta *t, double *grad)
{
	double g = t->v[FIT_GAMMA] - 1, sum = w->p.gamma_penalty * g * g;

	if (grad)
		grad[FIT_GAMMA] += 2 * w->p.gamma_penalty * g;
	for (int a = FIT_ALPHA_N; a <= FIT_ALPHA_R; a += 2) {
		double alpha = t->v[a], beta = t->v[a + 1], q = beta / alpha;

		sum += w->p.slope_penalty * q * q;
		if (grad) {
			grad[a] -= 2 * w->p.slope_penalty * q * q / alpha;
			grad[a + 1] += 2 * w->p.slope_penalty * q / alpha;
		}
	}
	return sum;
}

/*
 * The objective with each root mean square sqrt(m) rounded off to sqrt(m + eps^2). The sum of two
 * roots has kinks where one of them vanishes, which is where fits of few or perfect observations
 * end; a line search gets stuck there, so the solver comes down from the rounded side.
 */
static double objective_roots(const struct fit_throughput *w, const struct fit_theta *t, double eps,
			      double *grad, double *smaller_root)
{
	double by_step[FIT_THETA_N] = { 0 }, by_compute[FIT_THETA_N] = { 0 };
	double m_step = 0, m_compute = 0, root_step, root_compute, value;
	bool both = w->p.objective == FIT_RMSLE_ADAPTDL;

	for (size_t i = 0; i < w->n; i++) {
		const struct point *o = &w->points[i];
		struct prediction r = predict(o, t);
		double e = r.log_step - o->log_step, we = o->weight * e;

		m_step += we * e;
		add_row(by_step, o, we * r.by_accum, we * r.by_network, we * r.by_gamma);
		if (both) {
			e = r.log_accum - o->log_compute;
			we = o->weight * e;
			m_compute += we * e;
			add_row(by_compute, o, we / r.accum, 0, 0);
		}
	}
	root_step = sqrt(m_step + eps * eps);
	root_compute = sqrt(m_compute + eps * eps);
	value = both ? root_step + root_compute : root_step;
	*smaller_root = both ? fmin(root_step, root_compute) : root_step;
	if (grad) {
		for (int j = 0; j < FIT_THETA_N; j++) {
			grad[j] = root_step > 0 ? by_step[j] / root_step : 0;
			if (both && root_compute > 0)
				grad[j] += by_compute[j] / root_compute;
		}
	}
	return both ? value + penalty(w, t, grad) : value;
}

static double objective(const struct fit_throughput *w, const struct fit_theta *t, double eps,
			double *grad)
{
	double ignored;

	return objective_roots(w, t, eps, grad, &ignored);
}

double fit_throughput_value(const struct fit_throughput *w, const struct fit_theta *t,
			    double grad[FIT_THETA_N])
{
	return objective(w, t, 0, grad);
}

/* ---- set ---- */

static void pin(struct fit_throughput *w, int j, double value)
{
	w->pinned |= 1u << j;
	w->base.v[j] = fmin(fmax(value, w->p.lower[j]), w->p.upper[j]);
}

static void find_pins(struct fit_throughput *w)
{
	bool several_sizes = false, nodes = false, local = false, above_two = false;
	double sum = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct point *o = &w->points[i];

		several_sizes |= o->bsz < w->points[0].bsz || o->bsz > w->points[0].bsz;
		nodes |= o->link == LINK_NODE;
		local |= o->link == LINK_LOCAL;
		above_two |= o->above_two >= 1;
		sum += o->weight * exp(o->log_compute);
	}
	w->pinned = 0;
	if (!several_sizes)
		pin(w, FIT_ALPHA_C, sum / 2);
	for (int k = 0; k < 2; k++) {
		int a = k ? FIT_ALPHA_R : FIT_ALPHA_N;

		if (!(k ? local : nodes))
			pin(w, a, w->p.lower[a]);
		if (!(k ? local : nodes) || !above_two)
			pin(w, a + 1, w->p.lower[a + 1]);
	}
	w->n_free = 0;
	for (int j = 0; j < FIT_THETA_N; j++)
		if (!(w->pinned >> j & 1))
			w->free_of[w->n_free++] = j;
}

int fit_throughput_set(struct fit_throughput *w, const struct fit_throughput_obs *obs, size_t n,
		       const struct fit_throughput_params *p, struct fit_err *err)
{
	double total = 0;
	int rc = fit_throughput_params_check(p, err);

	if (rc)
		return rc;
	if (n == 0)
		return fit_fail(err, FIT_EDATA, "no observations");
	for (size_t i = 0; i < n; i++) {
		const char *field;

		rc = fit_throughput_obs_check(&obs[i], p->objective == FIT_RMSLE_ADAPTDL, &field,
					      err);
		if (rc)
			return fit_fail_prefix(err, rc, "observation %zu", i + 1);
		total += obs[i].weight;
	}
	if (!isfinite(total))
		return fit_fail(err, FIT_EDATA,
				"the weights add up to more than a number can hold");
	if (fit_grow(&w->points, &w->cap, n, sizeof *w->points))
		return fit_fail_nomem(err);
	w->p = *p;
	w->n = n;
	w->have_compute = false;
	for (size_t i = 0; i < n; i++) {
		const struct fit_throughput_obs *o = &obs[i];
		bool known = !isnan(o->sync_s), alone = o->num_replicas == 1;

		w->have_compute |= known;
		w->points[i] = (struct point){
			.bsz = (double)o->local_bsz, .above_two = fit_above_two(o->num_replicas),
			.log_step = log(o->step_s), .weight = o->weight / total,
			.log_compute = log(o->step_s - (known ? o->sync_s : 0)),
			.link = o->num_nodes > 1 ? LINK_NODE : alone ? LINK_NONE : LINK_LOCAL
		};
	}
	find_pins(w);
	w->phase = PHASE_SEARCH;
	w->status = FIT_THROUGHPUT_RUNNING;
	w->start = w->n_found = w->polish = w->level = w->restarts = 0;
	w->best.value = (double)INFINITY;
	w->best.theta = w->base;
	w->best_status = FIT_THROUGHPUT_RUNNING;
	w->n_iter = w->n_eval = 0;
	w->in_run = false;
	return FIT_OK;
}

/* ---- starting points ---- */

/* Weighted least squares of y on (1, x) with both coefficients positive. */
struct line {
	double w, x, y, xx, xy;
};

static void line_add(struct line *l, double weight, double x, double y)
{
	l->w += weight;
	l->x += weight * x;
	l->y += weight * y;
	l->xx += weight * x * x;
	l->xy += weight * x * y;
}

static void line_solve(const struct line *l, double *alpha, double *beta)
{
	double det = l->w * l->xx - l->x * l->x, a = -1, b = -1;

	if (det > 1e-12 * l->w * l->xx) {
		a = (l->xx * l->y - l->x * l->xy) / det;
		b = (l->w * l->xy - l->x * l->y) / det;
	}
	if (!(a > 0)) {		/* a small share each, so that neither starts on its bound */
		a = l->w > 0 ? 0.05 * l->y / l->w : 0;
		b = l->xx > 0 ? 0.95 * l->xy / l->xx : 0;
	} else if (!(b > 0)) {
		a = 0.95 * l->y / l->w;
		b = l->x > 0 ? 0.05 * l->y / l->x : 0;
	}
	*alpha = a;
	*beta = b;
}

/*
 * An estimate from the data for a given gamma: the compute times give alpha_c and beta_c, and what
 * the step times leave over, (step^gamma - compute^gamma)^(1/gamma), gives the links.
 */
static struct fit_theta estimate(const struct fit_throughput *w, double gamma)
{
	struct fit_theta t = w->base;
	struct line compute = { 0 }, links[2] = { { 0 } };

	for (size_t i = 0; i < w->n; i++) {
		const struct point *o = &w->points[i];
		double c = exp(o->log_compute);

		line_add(&compute, o->weight / (c * c), o->bsz, c);
	}
	line_solve(&compute, &t.v[FIT_ALPHA_C], &t.v[FIT_BETA_C]);
	for (size_t i = 0; i < w->n; i++) {
		const struct point *o = &w->points[i];
		double la = o->log_compute, rest, k, share;

		if (o->link == LINK_NONE)
			continue;
		if (!w->have_compute)
			la = log(fit_theta_accum_time(&t, o->bsz));
		rest = -expm1(gamma * (la - o->log_step));
		/* d log step = share d log k, with share = (k / step)^gamma. */
		share = fmax(rest, 1e-6);
		k = exp(o->log_step + log(share) / gamma);
		line_add(&links[o->link == LINK_NODE], o->weight * share * share / (k * k),
			 o->above_two, k);
	}
	line_solve(&links[0], &t.v[FIT_ALPHA_R], &t.v[FIT_BETA_R]);
	line_solve(&links[1], &t.v[FIT_ALPHA_N], &t.v[FIT_BETA_N]);
	t.v[FIT_GAMMA] = gamma;
	return t;
}

/* Van der Corput's sequence: element i (from 1) in the given base, in (0, 1). */
static double corput(int i, int base)
{
	double f = 1, r = 0;

	for (; i > 0; i /= base) {
		f /= base;
		r += f * (i % base);
	}
	return r;
}

static void start_point(const struct fit_throughput *w, int k, struct fit_theta *t)
{
	static const double gammas[] = { 1.3, 3, 1.05, 6, 1.8 };
	static const int primes[FIT_THETA_N] = { 3, 5, 7, 11, 13, 17, 2 };
	const int n_gammas = (int)(sizeof gammas / sizeof *gammas);
	bool given = false;

	for (int j = 0; j < FIT_THETA_N; j++)
		given |= !isnan(w->p.start[j]);
	if (given)
		k--;
	if (k < 0) {
		double g = w->p.start[FIT_GAMMA];

		*t = estimate(w, isnan(g) ? 1.3 : g);
		for (int j = 0; j < FIT_THETA_N; j++) {
			double s = w->p.start[j];

			if (!isnan(s) && (j == FIT_GAMMA || s > 2 * w->p.lower[j]))
				t->v[j] = s;
		}
	} else if (k < n_gammas) {
		*t = estimate(w, gammas[k]);
	} else if (k == n_gammas) {	/* the reference implementation's start */
		*t = (struct fit_theta){ { 0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.001 } };
	} else {	/* spread around the estimate: a factor of 0.1 to 10 each */
		int i = k - n_gammas;

		*t = estimate(w, 1 + 5 * corput(i, primes[FIT_GAMMA]));
		for (int j = 0; j < FIT_GAMMA; j++)
			t->v[j] *= exp(4.6 * (corput(i, primes[j]) - 0.5));
	}
	for (int j = 0; j < FIT_THETA_N; j++) {
		if (w->pinned >> j & 1)
			t->v[j] = w->base.v[j];
		t->v[j] = fmin(fmax(t->v[j], w->p.lower[j]), w->p.upper[j]);
	}
}

/* ---- solver runs ---- */

static void unscale(const struct fit_throughput *w, const double *x, struct fit_theta *t)
{
	*t = w->base;
	for (int i = 0; i < w->n_free; i++) {
		int j = w->free_of[i];

		/* The product may fall outside by a rounding. */
		t->v[j] = fmin(fmax(x[i] * w->scale[j], w->p.lower[j]), w->p.upper[j]);
	}
}

static double solver_value(const double *x, double *grad, void *ctx)
{
	const struct fit_throughput *w = ctx;
	struct fit_theta t;
	double full[FIT_THETA_N], f;

	unscale(w, x, &t);
	f = objective(w, &t, w->eps, full);
	for (int i = 0; i < w->n_free; i++)
		grad[i] = full[w->free_of[i]] * w->scale[w->free_of[i]];
	return f;
}

/* The diagonal of the Gauss-Newton matrix at t: weighted mean squares of the derivatives. */
static void sensitivities(const struct fit_throughput *w, const struct fit_theta *t,
			  double diag[FIT_THETA_N])
{
	bool both = w->p.objective == FIT_RMSLE_ADAPTDL;

	memset(diag, 0, FIT_THETA_N * sizeof *diag);
	for (size_t i = 0; i < w->n; i++) {
		const struct point *o = &w->points[i];
		struct prediction r = predict(o, t);
		double row[FIT_THETA_N] = { 0 };

		add_row(row, o, r.by_accum, r.by_network, r.by_gamma);
		for (int j = 0; j < FIT_THETA_N; j++)
			diag[j] += o->weight * row[j] * row[j];
		if (both) {
			diag[FIT_ALPHA_C] += o->weight / (r.accum * r.accum);
			diag[FIT_BETA_C] += o->weight * o->bsz * o->bsz / (r.accum * r.accum);
		}
	}
}

/* Scales by which the free parameters have like effect; they differ by six orders of magnitude. */
static void find_scales(struct fit_throughput *w, const struct fit_theta *t)
{
	double diag[FIT_THETA_N];

	sensitivities(w, t, diag);
	for (int j = 0; j < FIT_THETA_N; j++) {
		double s = diag[j] > 0 ? 1 / sqrt(diag[j]) : 1;

		/* No more than a few times the value itself: beyond, the model is not linear. */
		w->scale[j] = fmin(fmax(s, 1e-3 * t->v[j]), 10 * fmax(t->v[j], 1e-4));
	}
}

static int begin_run(struct fit_throughput *w, const struct fit_theta *t, double eps, double ftol,
		     struct fit_err *err)
{
	double x[FIT_THETA_N], lower[FIT_THETA_N], upper[FIT_THETA_N];

	find_scales(w, t);
	for (int i = 0; i < w->n_free; i++) {
		int j = w->free_of[i];

		lower[i] = w->p.lower[j] / w->scale[j];
		upper[i] = w->p.upper[j] / w->scale[j];
		x[i] = fmin(fmax(t->v[j] / w->scale[j], lower[i]), upper[i]);
	}
	w->eps = eps;
	w->in_run = true;
	return fit_lbfgsb_set(w->solver, (size_t)w->n_free, x, lower, upper, ftol, 1e-10, err);
}

static void keep_best(struct fit_throughput *w, const struct candidate *c)
{
	if (c->value < w->best.value)
		w->best = *c;
}

/* The end of a solver run: where it got to, valued exactly. */
static struct candidate end_run(struct fit_throughput *w)
{
	struct candidate c;

	unscale(w, fit_lbfgsb_x(w->solver), &c.theta);
	c.value = objective(w, &c.theta, 0, NULL);
	w->n_eval += fit_lbfgsb_n_eval(w->solver);
	w->in_run = false;
	keep_best(w, &c);
	return c;
}

static int candidate_cmp(const struct candidate *a, const struct candidate *b)
{
	return a->value < b->value ? -1 : a->value > b->value ? 1 : 0;
}

/* Insert in ascending order; of equals the earlier stays first. */
static void keep_found(struct fit_throughput *w, const struct candidate *c)
{
	int i = w->n_found++;

	for (; i > 0 && candidate_cmp(c, &w->found[i - 1]) < 0; i--)
		w->found[i] = w->found[i - 1];
	w->found[i] = *c;
}

static void over(struct fit_throughput *w, enum fit_throughput_status status)
{
	w->phase = PHASE_OVER;
	w->status = status;
}

/* What the run that ended means, and what comes next. */
static void after_run(struct fit_throughput *w)
{
	struct candidate c = end_run(w), *p;
	enum fit_throughput_status status;

	if (w->phase == PHASE_SEARCH) {
		keep_found(w, &c);
		if (++w->start == w->p.starts)
			w->phase = PHASE_POLISH;
		return;
	}
	p = &w->found[w->polish];
	if (c.value < w->low.value)
		w->low = c;
	if (w->level < N_EPS) {
		w->level++;
		/* A rounded objective may lead away from a good exact one: then stay. */
		if (c.value < p->value + w->eps)
			*p = c;
		return;
	}
	w->restarts++;
	*p = w->low;
	if (w->before - p->value <= w->p.tol)
		status = FIT_THROUGHPUT_CONVERGED;
	else if (w->restarts >= w->p.max_restarts)
		status = FIT_THROUGHPUT_RESTART_LIMIT;
	else
		return;
	if (p->value <= w->best.value)
		w->best_status = status;
	w->level = w->restarts = 0;
	if (++w->polish == N_POLISH || w->polish == w->n_found)
		over(w, w->best_status == FIT_THROUGHPUT_RUNNING ? status : w->best_status);
}

static int before_run(struct fit_throughput *w, struct fit_err *err)
{
	const struct fit_theta *t;
	struct candidate c;
	double root;

	if (w->phase == PHASE_SEARCH) {
		start_point(w, w->start, &c.theta);
		return begin_run(w, &c.theta, search_eps, 1e-6, err);
	}
	t = &w->found[w->polish].theta;
	w->before = objective_roots(w, t, 0, NULL, &root);
	if (w->level == 0 || w->before < w->low.value)
		w->low = w->found[w->polish];
	/* Far from a kink, rounding changes nothing. */
	while (w->level < N_EPS && polish_eps[w->level] < 2e-3 * root)
		w->level++;
	return begin_run(w, t, w->level < N_EPS ? polish_eps[w->level] : 0, 1e-12, err);
}

int fit_throughput_iterate(struct fit_throughput *w, struct fit_err *err)
{
	int rc;

	if (w->phase == PHASE_OVER)
		return FIT_END;
	if (!w->in_run) {
		rc = before_run(w, err);
		if (rc)
			return rc;
	}
	rc = fit_lbfgsb_iterate(w->solver, solver_value, w, err);
	if (rc == FIT_OK) {
		w->n_iter++;
		if (w->n_iter >= (size_t)w->p.max_iter) {
			end_run(w);
			over(w, FIT_THROUGHPUT_ITERATION_LIMIT);
		}
	} else if (rc == FIT_END || rc == FIT_ENOCONV) {
		after_run(w);
	} else {
		return rc;
	}
	return w->phase == PHASE_OVER ? FIT_END : FIT_OK;
}

enum fit_throughput_status fit_throughput_converged(const struct fit_throughput *w)
{
	return w->status;
}

/* ---- result ---- */

#define SQUARE(m) ((m) * FIT_THETA_N)

/* Gauss-Newton rows at the end point, columns cols[0..p): the step block, then, for the adaptdl
 * objective, the compute block. Also the residuals' mean products. */
struct linear {
	double *rows;		/* n_rows x p, row-major */
	size_t n_rows;
	int p, cols[FIT_THETA_N];
	double norm[FIT_THETA_N];	/* of the columns, taken out */
};

static void linearise(const struct fit_throughput *w, const struct fit_theta *t, struct linear *l,
		      const double root[2])
{
	bool both = w->p.objective == FIT_RMSLE_ADAPTDL;

	for (size_t i = 0; i < w->n; i++) {
		const struct point *o = &w->points[i];
		struct prediction r = predict(o, t);
		double row[2][FIT_THETA_N] = { { 0 } };

		add_row(row[0], o, r.by_accum, r.by_network, r.by_gamma);
		add_row(row[1], o, 1 / r.accum, 0, 0);
		for (int k = 0; k < (both ? 2 : 1); k++)
			for (int c = 0; c < l->p; c++)
				l->rows[((size_t)k * w->n + i) * (size_t)l->p + (size_t)c] =
					sqrt(o->weight / root[k]) * row[k][l->cols[c]];
	}
	for (int c = 0; c < l->p; c++) {
		double sum = 0;

		for (size_t i = 0; i < l->n_rows; i++) {
			double v = l->rows[i * (size_t)l->p + (size_t)c];

			sum += v * v;
		}
		l->norm[c] = sqrt(sum);
		for (size_t i = 0; i < l->n_rows && sum > 0; i++)
			l->rows[i * (size_t)l->p + (size_t)c] /= l->norm[c];
	}
}

/*
 * Covariance of the minimiser of root_1 + root_2 (or root_1 alone), linearised: the estimator is
 * -H^-1 sum_k sum_i w_i J_ki r_ki / e_k with H = sum_k J_k' W J_k / e_k, and the residuals of one
 * observation have the covariance C = (c_kl), c_kk = e_k^2. So
 *   Cov = H^-1 [ (1/n) sum_i w_i sum_kl J_ki J_li' c_kl / (e_k e_l) ] H^-1 N / (N - p)
 * with N the number of residuals. H^-1 comes from the singular values of the rows (LAPACK); where
 * one vanishes, the parameters that take part in its direction are not identifiable.
 */
static int covariance(const struct fit_throughput *w, struct linear *l, const double root[2],
		      double cross, double se[FIT_THETA_N])
{
	size_t p = (size_t)l->p, n = w->n;
	bool both = w->p.objective == FIT_RMSLE_ADAPTDL;
	double s[FIT_THETA_N], vt[SQUARE(FIT_THETA_N)], h[SQUARE(FIT_THETA_N)] = { 0 };
	double m[SQUARE(FIT_THETA_N)] = { 0 }, rho = both ? cross / (root[0] * root[1]) : 0, factor;
	bool lost[FIT_THETA_N] = { false };
	double *copy = malloc(l->n_rows * p * sizeof *copy), *super = malloc(p * sizeof *super);
	int rc = FIT_OK;

	if (!copy || !super) {
		rc = FIT_ENOMEM;
		goto out;
	}
	memcpy(copy, l->rows, l->n_rows * p * sizeof *copy);
	if (LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'S', (lapack_int)l->n_rows, l->p, copy, l->p, s,
			   NULL, l->p, vt, l->p, super)) {
		rc = FIT_ENOCONV;
		goto out;
	}
	for (size_t d = 0; d < p; d++) {
		for (size_t a = 0; a < p; a++) {
			double va = vt[d * p + a];

			if (!(s[d] > 1e-7 * s[0])) {
				lost[a] |= fabs(va) > 1e-3;
				continue;
			}
			for (size_t b = 0; b < p; b++)
				h[a * p + b] += va * vt[d * p + b] / (s[d] * s[d]);
		}
	}
	for (size_t i = 0; i < n; i++) {
		const double *j0 = l->rows + i * p, *j1 = both ? l->rows + (n + i) * p : j0;

		/* The rows hold sqrt(w / e_k) J; the sum wants sqrt(w) J. */
		for (size_t a = 0; a < p; a++) {
			for (size_t b = 0; b < p; b++) {
				double v = j0[a] * j0[b] * root[0];

				if (both)
					v += j1[a] * j1[b] * root[1] +
					     rho * sqrt(root[0] * root[1]) *
						     (j0[a] * j1[b] + j1[a] * j0[b]);
				m[a * p + b] += v / (double)n;
			}
		}
	}
	factor = (double)l->n_rows / (double)(l->n_rows - p);
	for (size_t a = 0; a < p; a++) {
		double var = 0;

		for (size_t b = 0; b < p; b++)
			for (size_t c = 0; c < p; c++)
				var += h[a * p + b] * m[b * p + c] * h[c * p + a];
		if (!lost[a] && l->norm[a] > 0 && var >= 0)
			se[l->cols[a]] = sqrt(var * factor) / l->norm[a];
	}
out:
	free(copy);
	free(super);
	return rc;
}

struct moments {
	double step, compute, cross, ape;
};

static struct moments residual_moments(const struct fit_throughput *w, const struct fit_theta *t)
{
	struct moments m = { 0 };

	for (size_t i = 0; i < w->n; i++) {
		const struct point *o = &w->points[i];
		struct prediction r = predict(o, t);
		double a = r.log_step - o->log_step, b = r.log_accum - o->log_compute;

		m.step += o->weight * a * a;
		m.compute += o->weight * b * b;
		m.cross += o->weight * a * b;
		m.ape += o->weight * fabs(expm1(a));
	}
	return m;
}

static int standard_errors(const struct fit_throughput *w, const struct moments *m,
			   struct fit_throughput_result *r)
{
	bool both = w->p.objective == FIT_RMSLE_ADAPTDL;
	/* A block that fits perfectly would weigh infinitely. */
	double root[2] = { fmax(sqrt(m->step), 1e-9), fmax(sqrt(m->compute), 1e-9) };
	struct linear l = { .n_rows = both ? 2 * w->n : w->n };
	double squares[FIT_THETA_N];
	int rc;

	sensitivities(w, &r->raw, squares);
	for (int j = 0; j < FIT_THETA_N; j++) {
		bool seen = sqrt(squares[j]) * r->raw.v[j] > 1e-5;

		if (seen && !((r->pinned | r->at_bound) >> j & 1))
			l.cols[l.p++] = j;
	}
	if (l.p == 0 || l.n_rows <= (size_t)l.p)
		return FIT_OK;
	l.rows = malloc(l.n_rows * (size_t)l.p * sizeof *l.rows);
	if (!l.rows)
		return FIT_ENOMEM;
	linearise(w, &r->raw, &l, root);
	rc = covariance(w, &l, root, m->cross, r->se);
	free(l.rows);
	return rc == FIT_ENOMEM ? rc : FIT_OK;
}

int fit_throughput_result(struct fit_throughput *w, struct fit_throughput_result *r,
			  struct fit_err *err)
{
	struct moments m;

	if (w->in_run && w->n_eval + fit_lbfgsb_n_eval(w->solver) > 0) {
		struct candidate c;

		unscale(w, fit_lbfgsb_x(w->solver), &c.theta);
		c.value = objective(w, &c.theta, 0, NULL);
		keep_best(w, &c);
	}
	*r = (struct fit_throughput_result){
		.theta = w->best.theta, .raw = w->best.theta, .pinned = w->pinned,
		.objective = w->best.value, .n_obs = w->n, .n_iter = w->n_iter, .n_eval = w->n_eval,
		.status = w->status
	};
	m = residual_moments(w, &r->raw);
	r->rmsle_step = sqrt(m.step);
	r->rmsle_compute = w->have_compute ? sqrt(m.compute) : (double)NAN;
	r->mape_pct = 100 * m.ape;
	for (int j = 0; j < FIT_THETA_N; j++) {
		double v = r->raw.v[j];

		r->se[j] = (double)NAN;
		if (!(w->pinned >> j & 1) &&
		    (v <= w->p.lower[j] * (1 + 1e-9) || v >= w->p.upper[j] * (1 - 1e-9)))
			r->at_bound |= 1u << j;
	}
	for (int k = 0; k < 2; k++) {
		double least = w->p.link_ratio * r->raw.v[FIT_ALPHA_R + k];

		if ((w->pinned >> FIT_ALPHA_N & 1) && r->theta.v[FIT_ALPHA_N + k] < least)
			r->theta.v[FIT_ALPHA_N + k] = least;
	}
	if (w->p.std_errors && standard_errors(w, &m, r))
		return fit_fail_nomem(err);
	if (r->status != FIT_THROUGHPUT_CONVERGED)
		return fit_fail(err, FIT_ENOCONV,
				"the fit did not converge (%s after %zu iterations)",
				fit_throughput_status_name(r->status), r->n_iter);
	return FIT_OK;
}

int fit_throughput_fit(struct fit_throughput *w, const struct fit_throughput_obs *obs, size_t n,
		       const struct fit_throughput_params *p, struct fit_throughput_result *r,
		       struct fit_err *err)
{
	int rc = fit_throughput_set(w, obs, n, p, err);

	if (rc)
		return rc;
	while ((rc = fit_throughput_iterate(w, err)) == FIT_OK)
		;
	return rc == FIT_END ? fit_throughput_result(w, r, err) : rc;
}
