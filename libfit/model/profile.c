/* SPDX-License-Identifier: MIT */
#include "libfit/model/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/placement.h"
#include "libfit/model/interpolate.h"
#include "libfit/model/profile_store.h"

/* Under a ceiling, so that a quotient that should be whole stays so (spec of the reference). */
static const double CEIL_SLACK = 1e-8;
/* Measured configurations reach 16 nodes; more are taken as 16 (B.3). */
#define NODES_MAX 16

/* Step times of one placement: rows of /placements. */
struct curve {
	int64_t placement;
	size_t at, n;
};

struct memo_slot {
	uint64_t key;		/* 0: free */
	int64_t local_bsz;
	double step_s, sync_s;
};

struct fit_app {
	struct fit_app_info info;
	/* borrowed from the tables of the profile */
	const int64_t *local;
	const double *step, *sync;
	const int64_t *batches;		/* by row; one run has info.epochs rows */
	const int64_t *iteration;
	const double *metric, *sqr, *var;
	const double *point_step, *point_sync;
	struct fit_delaunay mesh;	/* n_simplices 0: none */
	bool mesh_below;		/* it has rows of its own on few nodes: it answers there, too */
	size_t n_runs;
	/* owned */
	struct curve *curves;
	size_t n_curves;
	double *epoch_start;		/* epochs + 1 values */
	bool metric_grows;
	struct memo_slot *memo;
	size_t memo_n, memo_slots;
};

struct fit_profile {
	struct fit_profile_tables tables;
	struct fit_app *apps;
	size_t n_apps;
};

/* ---- loading ---- */

static const int64_t *ints(const struct fit_table *t, int column, size_t row)
{
	return t->n_rows ? t->columns[column].i + row : NULL;
}

static const double *reals(const struct fit_table *t, int column, size_t row)
{
	return t->n_rows ? t->columns[column].d + row : NULL;
}

static int64_t or_zero(int64_t v)
{
	return v == FIT_INT_NA ? 0 : v;
}

static void bind_info(struct fit_app *a, const struct fit_table *t, size_t row)
{
	a->info = (struct fit_app_info){
		.name = fit_column_text(&t->columns[0], row).s,
		.init_batch = *ints(t, FIT_APPS_INIT_BATCH, row),
		.max_batch = *ints(t, FIT_APPS_MAX_BATCH, row),
		.min_local_bsz = *ints(t, FIT_APPS_MIN_LOCAL, row),
		.max_local_bsz = *ints(t, FIT_APPS_MAX_LOCAL, row),
		.epochs = *ints(t, FIT_APPS_EPOCHS, row),
		.restart_ns = *ints(t, FIT_APPS_RESTART, row),
		.max_replicas = or_zero(*ints(t, FIT_APPS_MAX_REPLICAS, row)),
		.fixed_batch = or_zero(*ints(t, FIT_APPS_FIXED_BATCH, row)),
	};
}

static int bind_curves(struct fit_app *a, const struct fit_table *t, size_t at, size_t n)
{
	const int64_t *placement = ints(t, FIT_PLACE_PLACEMENT, at);
	size_t cap = 0;

	a->local = ints(t, FIT_PLACE_LOCAL, at);
	a->step = reals(t, FIT_PLACE_STEP, at);
	a->sync = reals(t, FIT_PLACE_SYNC, at);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || placement[i] != placement[i - 1]) {
			if (fit_grow(&a->curves, &cap, a->n_curves + 1, sizeof *a->curves))
				return FIT_ENOMEM;
			a->curves[a->n_curves++] = (struct curve){ placement[i], i, 0 };
		}
		a->curves[a->n_curves - 1].n++;
	}
	return FIT_OK;
}

static int bind_runs(struct fit_app *a, const struct fit_table *t, size_t at, size_t n)
{
	const double *progress = reals(t, FIT_VALID_PROGRESS, at);
	size_t epochs = (size_t)a->info.epochs;

	a->n_runs = n / epochs;
	a->batches = ints(t, FIT_VALID_BATCH, at);
	a->iteration = ints(t, FIT_VALID_ITERATION, at);
	a->metric = reals(t, FIT_VALID_METRIC, at);
	a->sqr = reals(t, FIT_VALID_SQR, at);
	a->var = reals(t, FIT_VALID_VAR, at);
	a->metric_grows = a->metric[epochs - 1] > a->metric[0];
	a->epoch_start = calloc(epochs + 1, sizeof *a->epoch_start);
	if (!a->epoch_start)
		return FIT_ENOMEM;
	for (size_t e = 0; e < epochs; e++) {
		double least = progress[e];

		for (size_t r = 1; r < a->n_runs; r++)
			if (progress[r * epochs + e] < least)
				least = progress[r * epochs + e];
		a->epoch_start[e + 1] = least;
	}
	return FIT_OK;
}

static int bind_mesh(struct fit_app *a, const struct fit_profile_tables *t,
		     const struct fit_profile_rows *r, struct fit_err *err)
{
	const struct fit_table *points = &t->t[FIT_PROFILE_POINTS];
	const struct fit_table *simplices = &t->t[FIT_PROFILE_SIMPLICES];
	const struct fit_table *lift = &t->t[FIT_PROFILE_LIFT];
	size_t at = r->at[FIT_PROFILE_POINTS], s = r->at[FIT_PROFILE_SIMPLICES];
	struct fit_delaunay *d = &a->mesh;
	int rc;

	if (r->n[FIT_PROFILE_LIFT] == 0)
		return FIT_OK;
	for (size_t i = 0; i < r->n[FIT_PROFILE_SCALABILITY]; i++)
		if (*ints(&t->t[FIT_PROFILE_SCALABILITY], FIT_SCALE_NODES,
			  r->at[FIT_PROFILE_SCALABILITY] + i) <= FIT_DIGITS_NODES_MAX)
			a->mesh_below = true;
	d->n_points = r->n[FIT_PROFILE_POINTS];
	d->n_simplices = r->n[FIT_PROFILE_SIMPLICES];
	for (int k = 0; k < 3; k++)
		d->x[k] = ints(points, FIT_SCALE_NODES + k, at);
	for (int k = 0; k < 4; k++) {
		d->v[k] = ints(simplices, FIT_SIMPLEX_V + k, s);
		d->nb[k] = ints(simplices, FIT_SIMPLEX_N + k, s);
	}
	for (int k = 0; k < 5; k++)
		d->eq[k] = reals(simplices, FIT_SIMPLEX_EQ + k, s);
	d->degenerate = ints(simplices, FIT_SIMPLEX_DEGENERATE, s);
	d->scale = *reals(lift, FIT_LIFT_SCALE, r->at[FIT_PROFILE_LIFT]);
	d->shift = *reals(lift, FIT_LIFT_SHIFT, r->at[FIT_PROFILE_LIFT]);
	a->point_step = reals(points, FIT_SCALE_STEP, at);
	a->point_sync = reals(points, FIT_SCALE_SYNC, at);
	rc = fit_delaunay_bind(d, err);
	if (rc)
		return fit_fail_prefix(err, rc, "application '%s'", a->info.name);
	return FIT_OK;
}

int fit_profile_from_tables(struct fit_profile **out, struct fit_profile_tables *t,
			    struct fit_err *err)
{
	struct fit_profile *p = calloc(1, sizeof *p);
	struct fit_profile_rows *rows = NULL;
	int rc;

	*out = NULL;
	if (!p) {
		fit_profile_tables_release(t);
		return fit_fail_nomem(err);
	}
	p->tables = *t;
	*t = (struct fit_profile_tables){ 0 };
	rc = fit_profile_tables_check(&p->tables, FIT_PROFILE_KINDS, &rows, err);
	if (rc)
		goto out;
	p->n_apps = p->tables.t[FIT_PROFILE_APPS].n_rows;
	p->apps = calloc(p->n_apps, sizeof *p->apps);
	if (!p->apps) {
		p->n_apps = 0;
		rc = fit_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < p->n_apps; i++) {
		struct fit_app *a = &p->apps[i];
		const struct fit_profile_rows *r = &rows[i];

		bind_info(a, &p->tables.t[FIT_PROFILE_APPS], i);
		if (bind_curves(a, &p->tables.t[FIT_PROFILE_PLACEMENTS],
				r->at[FIT_PROFILE_PLACEMENTS], r->n[FIT_PROFILE_PLACEMENTS]) ||
		    bind_runs(a, &p->tables.t[FIT_PROFILE_VALIDATION],
			      r->at[FIT_PROFILE_VALIDATION], r->n[FIT_PROFILE_VALIDATION])) {
			rc = fit_fail_nomem(err);
			goto out;
		}
		rc = bind_mesh(a, &p->tables, r, err);
		if (rc)
			goto out;
	}
	*out = p;
	p = NULL;
out:
	free(rows);
	fit_profile_free(p);
	return rc;
}

int fit_profile_load(struct fit_profile **p, const char *store, char *hash, struct fit_err *err)
{
	struct fit_profile_tables t;
	int rc;

	*p = NULL;
	rc = fit_profile_tables_read(&t, store, hash, err);
	if (rc)
		return rc;
	return fit_profile_from_tables(p, &t, err);
}

void fit_profile_free(struct fit_profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_apps; i++) {
		free(p->apps[i].curves);
		free(p->apps[i].epoch_start);
		free(p->apps[i].memo);
		fit_delaunay_release(&p->apps[i].mesh);
	}
	free(p->apps);
	fit_profile_tables_release(&p->tables);
	free(p);
}

size_t fit_profile_n_apps(const struct fit_profile *p)
{
	return p->n_apps;
}

struct fit_app *fit_profile_app(const struct fit_profile *p, size_t i)
{
	return &p->apps[i];
}

struct fit_app *fit_profile_find(const struct fit_profile *p, struct fit_text name)
{
	for (size_t i = 0; i < p->n_apps; i++)
		if (fit_text_is(name, p->apps[i].info.name))
			return &p->apps[i];
	return NULL;
}

const struct fit_app_info *fit_app_info(const struct fit_app *a)
{
	return &a->info;
}

/* ---- step times (B.3) ---- */

/* What decides a step time: up to four nodes the canonical placement, above the shape alone. */
struct shape {
	int64_t nodes, replicas;
	int64_t placement;	/* canonical digits; -1: more than four nodes, or more than nine GPUs */
};

static int shape_of(const struct fit_placement *p, struct shape *s)
{
	int64_t digits = 0;
	bool fits = true;

	*s = (struct shape){ 0, 0, -1 };
	if (p->n_nodes < 0 || p->n_nodes > FIT_PLACEMENT_MAX)
		return FIT_EINVAL;
	for (int i = 0; i < p->n_nodes; i++) {
		int g = p->gpus[i];

		if (g < 0)
			return FIT_EINVAL;
		if (g == 0)
			continue;
		s->nodes++;
		s->replicas += g;
		fits = fits && g <= 9 && s->nodes <= FIT_DIGITS_NODES_MAX;
		if (fits)
			digits = digits * 10 + g;
	}
	if (fits && s->nodes > 0)
		s->placement = fit_placement_canonical(digits);
	return s->nodes > 0 ? FIT_OK : FIT_EINVAL;
}

static uint64_t memo_key(const struct shape *s)
{
	if (s->placement > 0)
		return (uint64_t)s->placement;
	return UINT64_C(1) << 63 | (uint64_t)s->nodes << 40 | (uint64_t)s->replicas;
}

static size_t memo_find(const struct fit_app *a, uint64_t key, int64_t local_bsz)
{
	uint64_t h = (key ^ (uint64_t)local_bsz << 20) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(h >> 20) & (a->memo_slots - 1);

	while (a->memo[i].key && !(a->memo[i].key == key && a->memo[i].local_bsz == local_bsz))
		i = (i + 1) & (a->memo_slots - 1);
	return i;
}

/* Make room for one more; without memory the query is just not remembered. */
static bool memo_reserve(struct fit_app *a)
{
	struct memo_slot *old = a->memo;
	size_t old_slots = a->memo_slots;

	if (2 * (a->memo_n + 1) <= old_slots)
		return true;
	a->memo_slots = old_slots ? 2 * old_slots : 256;
	a->memo = calloc(a->memo_slots, sizeof *a->memo);
	if (!a->memo) {
		a->memo = old;
		a->memo_slots = old_slots;
		return false;
	}
	for (size_t i = 0; i < old_slots; i++)
		if (old[i].key)
			a->memo[memo_find(a, old[i].key, old[i].local_bsz)] = old[i];
	free(old);
	return true;
}

/* What was measured at a placement, or NULL. */
static const struct curve *curve_of(const struct fit_app *a, const struct shape *s)
{
	size_t lo = 0, hi = a->n_curves;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (a->curves[mid].placement < s->placement)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (s->placement < 0 || lo == a->n_curves || a->curves[lo].placement != s->placement)
		return NULL;
	return &a->curves[lo];
}

static int from_curve(const struct fit_app *a, const struct shape *s, int64_t local_bsz,
		      double *step_s, double *sync_s, struct fit_err *err)
{
	const struct curve *c = curve_of(a, s);
	struct fit_interval iv;
	const int64_t *x;

	if (!c)
		return fit_fail(err, FIT_EDATA, "application '%s': no measured step times for "
				"%lld GPUs on %lld nodes in this placement", a->info.name,
				(long long)s->replicas, (long long)s->nodes);
	x = a->local + c->at;
	if (!fit_interval_find(x, c->n, local_bsz, &iv))
		return fit_fail(err, FIT_EDATA, "application '%s', placement %lld: local batch size "
				"'%lld' was not measured (expected %lld to %lld)", a->info.name,
				(long long)c->placement, (long long)local_bsz, (long long)x[0],
				(long long)x[c->n - 1]);
	*step_s = fit_interval_value(x, a->step + c->at, iv, local_bsz);
	*sync_s = fit_interval_value(x, a->sync + c->at, iv, local_bsz);
	return FIT_OK;
}

static int from_mesh(struct fit_app *a, const struct shape *s, int64_t local_bsz, ptrdiff_t *start,
		     double *step_s, double *sync_s, struct fit_err *err)
{
	double q[3] = { (double)(s->nodes < NODES_MAX ? s->nodes : NODES_MAX),
			(double)s->replicas, (double)local_bsz };
	double c[4];
	ptrdiff_t simplex;
	int rc;

	if (a->mesh.n_simplices == 0)
		return fit_fail(err, FIT_EDATA, "application '%s': no measured step times on more "
				"than %d nodes (asked for %lld)", a->info.name, FIT_DIGITS_NODES_MAX,
				(long long)s->nodes);
	rc = fit_delaunay_ready(&a->mesh, err);
	if (rc)
		return rc;
	simplex = fit_delaunay_find_from(&a->mesh, start, q, c);
	if (simplex < 0)
		return fit_fail(err, FIT_EDATA, "application '%s': %lld GPUs on %lld nodes with local "
				"batch size '%lld' lie outside of what was measured", a->info.name,
				(long long)s->replicas, (long long)s->nodes, (long long)local_bsz);
	*step_s = fit_delaunay_value(&a->mesh, simplex, c, a->point_step);
	*sync_s = fit_delaunay_value(&a->mesh, simplex, c, a->point_sync);
	return FIT_OK;
}

static int measured(struct fit_app *a, const struct shape *s, int64_t local_bsz, ptrdiff_t *start,
		    double *step_s, double *sync_s, struct fit_err *err)
{
	return s->nodes <= FIT_DIGITS_NODES_MAX && (!a->mesh_below || curve_of(a, s)) ?
		       from_curve(a, s, local_bsz, step_s, sync_s, err) :
		       from_mesh(a, s, local_bsz, start, step_s, sync_s, err);
}

int fit_app_throughput(struct fit_app *a, const struct fit_placement *p, int64_t local_bsz,
		       double *step_s, double *sync_s, struct fit_err *err)
{
	struct shape s;
	uint64_t key;
	double step = 0, sync = 0;
	ptrdiff_t start = 0;
	int rc;

	if (shape_of(p, &s))
		return fit_fail(err, FIT_EINVAL, "application '%s': a placement without GPUs",
				a->info.name);
	key = memo_key(&s);
	if (a->memo) {
		const struct memo_slot *m = &a->memo[memo_find(a, key, local_bsz)];

		if (m->key) {
			*step_s = m->step_s;
			*sync_s = m->sync_s;
			return FIT_OK;
		}
	}
	rc = measured(a, &s, local_bsz, &start, &step, &sync, err);
	if (rc)
		return rc;
	if (memo_reserve(a)) {
		a->memo[memo_find(a, key, local_bsz)] =
			(struct memo_slot){ key, local_bsz, step, sync };
		a->memo_n++;
	}
	*step_s = step;
	*sync_s = sync;
	return FIT_OK;
}

int64_t fit_app_most_local(const struct fit_app *a, int64_t replicas)
{
	int64_t most = 0, nodes, gpus;

	for (size_t i = 0; i < a->n_curves; i++) {
		const struct curve *c = &a->curves[i];

		fit_placement_shape(c->placement, &nodes, &gpus);
		if (gpus == replicas && a->local[c->at + c->n - 1] > most)
			most = a->local[c->at + c->n - 1];
	}
	for (size_t i = 0; i < a->mesh.n_points; i++)
		if (a->mesh.x[1][i] == replicas && a->mesh.x[2][i] > most)
			most = a->mesh.x[2][i];
	return most ? most : a->info.max_local_bsz;
}

double fit_app_one_gpu(const struct fit_app *a, bool slowest)
{
	for (size_t i = 0; i < a->n_curves; i++) {
		const struct curve *c = &a->curves[i];
		size_t last = c->at + c->n - 1;
		double longest = 0;

		if (c->placement != 1)
			continue;
		for (size_t k = c->at; k <= last; k++)
			longest = fmax(longest, a->step[k]);
		return (double)a->local[last] / (slowest ? longest : a->step[last]);
	}
	return 0;
}

int fit_app_throughputs(struct fit_app *a, const struct fit_placement *p, const int64_t *local_bsz,
			size_t n, double *step_s, double *sync_s, struct fit_err *err)
{
	ptrdiff_t start = 0;
	struct shape s;

	if (shape_of(p, &s))
		return fit_fail(err, FIT_EINVAL, "application '%s': a placement without GPUs",
				a->info.name);
	for (size_t i = 0; i < n; i++) {
		struct fit_err why;
		int rc;

		rc = measured(a, &s, local_bsz[i], &start, &step_s[i], &sync_s[i], &why);
		if (rc == FIT_EDATA)
			step_s[i] = sync_s[i] = (double)NAN;
		else if (rc)
			return fit_fail(err, rc, "%s", why.msg);
	}
	return FIT_OK;
}

/* ---- training runs (B.2) ---- */

/* Validated runs around a batch size: lo == hi on a validated one. */
struct bracket {
	size_t lo, hi;		/* first rows of the runs */
	double to_lo, to_hi, width;
};

static int bracket_of(const struct fit_app *a, int64_t batch, int64_t epoch, struct bracket *b,
		      struct fit_err *err)
{
	size_t epochs = (size_t)a->info.epochs, r = 0;

	if (batch < a->info.init_batch || batch > a->info.max_batch)
		return fit_fail(err, FIT_EDATA, "application '%s': no training run with batch size "
				"'%lld' (expected %lld to %lld)", a->info.name, (long long)batch,
				(long long)a->info.init_batch, (long long)a->info.max_batch);
	if (epoch < 0 || epoch >= a->info.epochs)
		return fit_fail(err, FIT_EINVAL, "application '%s': no epoch '%lld' (expected 0 to "
				"%lld)", a->info.name, (long long)epoch,
				(long long)(a->info.epochs - 1));
	while (r < a->n_runs && a->batches[r * epochs] < batch)
		r++;
	b->hi = r * epochs;
	b->lo = a->batches[b->hi] == batch ? b->hi : b->hi - epochs;
	b->to_lo = (double)(batch - a->batches[b->lo]);
	b->to_hi = (double)(a->batches[b->hi] - batch);
	b->width = (double)(a->batches[b->hi] - a->batches[b->lo]);
	return FIT_OK;
}

static double between(const struct bracket *b, double lo, double hi)
{
	return b->lo == b->hi ? lo : (b->to_lo * hi + b->to_hi * lo) / b->width;
}

int fit_app_grad_stats(const struct fit_app *a, int64_t batch, int64_t epoch, double *sqr,
		       double *var, struct fit_err *err)
{
	struct bracket b;
	int rc = bracket_of(a, batch, epoch, &b, err);
	size_t e = (size_t)epoch;

	if (rc)
		return rc;
	*sqr = between(&b, a->sqr[b.lo + e], a->sqr[b.hi + e]);
	*var = between(&b, a->var[b.lo + e], a->var[b.hi + e]);
	return FIT_OK;
}

int fit_app_iteration(const struct fit_app *a, int64_t batch, int64_t epoch, double *steps,
		      struct fit_err *err)
{
	struct bracket b;
	int rc = bracket_of(a, batch, epoch, &b, err);
	size_t e = (size_t)epoch;

	if (rc)
		return rc;
	*steps = between(&b, (double)a->iteration[b.lo + e], (double)a->iteration[b.hi + e]);
	return FIT_OK;
}

double fit_app_epoch_start(const struct fit_app *a, int64_t epoch)
{
	if (epoch <= 0)
		return 0;
	return a->epoch_start[epoch < a->info.epochs ? epoch : a->info.epochs];
}

static double best_of(const struct fit_app *a, const double *metric, int64_t n)
{
	double best = metric[0];

	for (int64_t e = 1; e < n; e++)
		if (a->metric_grows ? metric[e] > best : metric[e] < best)
			best = metric[e];
	return best;
}

int fit_app_best_metric(const struct fit_app *a, int64_t batch, int64_t epoch, bool *known,
			double *metric, struct fit_err *err)
{
	struct bracket b;
	int rc = bracket_of(a, batch, epoch > 0 ? epoch - 1 : epoch, &b, err);

	if (rc)
		return rc;
	*known = epoch > 0;
	*metric = 0;
	if (epoch > 0)
		*metric = between(&b, best_of(a, a->metric + b.lo, epoch),
				  best_of(a, a->metric + b.hi, epoch));
	return FIT_OK;
}

/* ---- batch size and goodput ---- */

/* At most most_local samples a GPU and pass. */
static struct fit_batch split(const struct fit_app *a, int64_t target_batch, int64_t replicas,
			      int64_t most_local, bool single_gpu_always_accumulates)
{
	double local, atomic, passes;
	int64_t accum, most;

	if (target_batch < 1 || replicas < 1)
		return (struct fit_batch){ 0, 0 };
	local = ceil((double)target_batch / (double)replicas - CEIL_SLACK);
	/* the slack swallows a quotient under 1e-8 */
	passes = fmax(ceil(local / (double)most_local - CEIL_SLACK), 1);
	accum = (int64_t)passes - 1;
	if (replicas == 1 && accum < 1 &&
	    (single_gpu_always_accumulates || target_batch > a->info.init_batch))
		accum = 1;
	atomic = ceil(local / (double)(accum + 1) - CEIL_SLACK);
	most = a->info.max_batch / (replicas * (accum + 1));
	return (struct fit_batch){ atomic < (double)most ? (int64_t)atomic : most, accum };
}

struct fit_batch fit_app_split_batch(const struct fit_app *a, int64_t target_batch,
				     int64_t replicas, bool single_gpu_always_accumulates)
{
	return split(a, target_batch, replicas, a->info.max_local_bsz, single_gpu_always_accumulates);
}

struct fit_batch fit_app_split_measured(const struct fit_app *a, int64_t target_batch, int64_t replicas)
{
	int64_t most = fit_app_most_local(a, replicas);

	return split(a, target_batch, replicas, most < a->info.max_local_bsz ? most : a->info.max_local_bsz,
		     false);
}

int fit_app_goodput(struct fit_app *a, const struct fit_placement *p, struct fit_batch b,
		    int64_t epoch, double *rate, struct fit_err *err)
{
	int64_t replicas = 0;
	double step, sync;
	int rc = fit_app_throughput(a, p, b.atomic_bsz, &step, &sync, err);

	if (rc)
		return rc;
	for (int i = 0; i < p->n_nodes; i++)
		replicas += p->gpus[i];
	return fit_app_rate(a, replicas, b, epoch, step, sync, rate, err);
}

int fit_app_rate(const struct fit_app *a, int64_t replicas, struct fit_batch b, int64_t epoch,
		 double step, double sync, double *rate, struct fit_err *err)
{
	int64_t batch;
	double sqr, var, scale, gain;
	int rc;

	batch = replicas * b.atomic_bsz * (b.accum_steps + 1);
	rc = fit_app_grad_stats(a, batch, epoch, &sqr, &var, err);
	if (rc)
		return rc;
	scale = (double)batch / (double)a->info.init_batch;
	gain = (var + sqr) / (var / scale + sqr);
	*rate = gain / (step + (double)b.accum_steps * (step - sync));
	return FIT_OK;
}

/* ---- tuned configurations (B.4) ---- */

/* Full nodes of four GPUs and one node with the rest. */
static void pack(struct fit_placement *p, int64_t replicas)
{
	p->n_nodes = 0;
	for (; replicas > 0; replicas -= 4)
		p->gpus[p->n_nodes++] = replicas < 4 ? (int)replicas : 4;
}

/* The best batch size on so many GPUs: *best stays at infinity when none is possible. */
static int tune(struct fit_app *a, int64_t replicas, struct fit_tuned *best, struct fit_err *err)
{
	size_t epochs = (size_t)a->info.epochs;
	struct fit_placement p;

	*best = (struct fit_tuned){ replicas, 0, (double)INFINITY };
	pack(&p, replicas);
	for (size_t r = 0; r < a->n_runs; r++) {
		int64_t batch = a->batches[r * epochs];
		double local = ceil((double)batch / (double)replicas - CEIL_SLACK);
		double step, sync, accum, jct;
		int rc;

		if (local < (double)a->info.min_local_bsz)
			continue;
		accum = fmax(ceil(local / (double)a->info.max_local_bsz - CEIL_SLACK), 1) - 1;
		rc = fit_app_throughput(a, &p, (int64_t)ceil(local / (accum + 1) - CEIL_SLACK),
					&step, &sync, err);
		if (rc)
			return rc;
		jct = (double)a->iteration[r * epochs + epochs - 1] * (step + accum * (step - sync));
		if (jct < best->jct_s)
			*best = (struct fit_tuned){ replicas, batch, jct };
	}
	return FIT_OK;
}

int fit_app_configurations(struct fit_app *a, double lo, double hi, struct fit_tuned *out,
			   size_t cap, size_t *n, struct fit_err *err)
{
	static const int64_t sizes[] = { 1, 2, 4, 6, 8, 12, 16, 24, 32, 48 };
	static const double too_long_s = 12 * 3600;
	struct fit_tuned base = { 1, 0, (double)INFINITY };

	*n = 0;
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		struct fit_tuned t;
		double efficiency;
		int rc;

		if (sizes[k] * a->info.min_local_bsz > a->info.max_batch)
			break;
		rc = tune(a, sizes[k], &t, err);
		if (rc)
			return rc;
		if (k == 0)
			base = t;
		efficiency = base.jct_s / t.jct_s / (double)t.replicas;
		if (t.jct_s < too_long_s && lo < efficiency && efficiency < hi) {
			if (*n < cap)
				out[*n] = t;
			++*n;
		}
	}
	if (*n == 0) {
		if (!isfinite(base.jct_s))
			return fit_fail(err, FIT_EDATA, "application '%s': no batch size for one GPU",
					a->info.name);
		if (cap > 0)
			out[0] = base;
		*n = 1;
	}
	return FIT_OK;
}
