/* SPDX-License-Identifier: MIT */
/* The model gate on curves of the noise scale (model/pgns_curve.h), read as they stand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/pgns_curve.h"
#include "libfit/verify/gate_kind.h"

enum { PROGRESS = FIT_GATE_PROGRESS, BATCH = FIT_GATE_BATCH, N_X = FIT_GATE_NOISE_X };

struct models {
	struct fit_pgns_curves curves;	/* of apps that are "" without a name */
};

static bool is_curves(const char *table, bool (*has)(const void *, const char *), const void *arg)
{
	(void)table;
	return has(arg, "piece") && has(arg, "phi_from") && has(arg, "phi_to") && has(arg, "progress_from");
}

static void free_curves(void *model)
{
	struct models *m = model;

	if (m) {
		fit_pgns_curves_release(&m->curves);

	}
	free(m);
}

static struct fit_pgns_curve *curve_of(struct models *m, struct fit_text app, int64_t batch, int64_t init)
{
	struct fit_pgns_curves *l = &m->curves;

	for (size_t i = l->n; i-- > 0; )
		if (l->list[i].batch == batch && fit_text_is(app, l->list[i].app))
			return &l->list[i];
	if (fit_grow(&l->list, &l->cap, l->n + 1, sizeof *l->list))
		return NULL;
	l->list[l->n] = (struct fit_pgns_curve){ .app = fit_strdup(app), .batch = batch, .init_batch = init,
						 .rms_log = (double)NAN };
	if (!l->list[l->n].app)
		return NULL;
	return &l->list[l->n++];
}

static int take_piece(struct models *m, const struct fit_table *t, size_t row, struct fit_err *err)
{
	struct fit_text app = fit_column_text(&t->columns[0], row);
	double batch = fit_gate_number(&t->columns[1], row), init = fit_gate_number(&t->columns[2], row);
	struct fit_pgns_curve *c;

	if (!(batch >= 1) || !(init >= 1))
		return fit_table_fail(t, row, FIT_EDATA, "batch_size", err,
				      "bad batch sizes (expected at least 1)");
	c = curve_of(m, app.s ? app : FIT_TEXT_LIT(""), (int64_t)batch, (int64_t)init);
	if (!c || fit_grow(&c->pieces, &c->cap, c->n + 1, sizeof *c->pieces))
		return fit_fail_nomem(err);
	c->rms_log = t->columns[7].d[row];
	c->pieces[c->n++] = (struct fit_pgns_piece){
		.from = t->columns[3].d[row], .to = t->columns[4].d[row],
		.log_from = log(t->columns[5].d[row]), .log_to = log(t->columns[6].d[row]),
	};
	return FIT_OK;
}

/* Applications together, each by batch size, as predictions want them. */
static void sort_curves(struct fit_pgns_curves *l)
{
	for (size_t i = 1; i < l->n; i++) {
		struct fit_pgns_curve c = l->list[i];
		size_t at = i;

		while (at > 0 && (strcmp(l->list[at - 1].app, c.app) > 0 ||
				  (strcmp(l->list[at - 1].app, c.app) == 0 &&
				   l->list[at - 1].batch > c.batch))) {
			l->list[at] = l->list[at - 1];
			at--;
		}
		l->list[at] = c;
	}
}

static int load_curves(void **model, struct fit_gate_source *s, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "app", FIT_TEXT, FIT_F_OPTIONAL }, { "batch_size", FIT_INT, FIT_F_NOT_NA },
		{ "init_batch", FIT_INT, FIT_F_NOT_NA }, { "progress_from", FIT_REAL, FIT_F_NOT_NA },
		{ "progress_to", FIT_REAL, FIT_F_NOT_NA }, { "phi_from", FIT_REAL, 0 },
		{ "phi_to", FIT_REAL, 0 },
		{ "rms_log", FIT_REAL, FIT_F_OPTIONAL },
	};
	struct models *m = calloc(1, sizeof *m);
	struct fit_table t = { 0 };
	int rc = m ? fit_gate_source_table(s, &t, fields, 8, err) : fit_fail_nomem(err);

	if (!rc && !t.n_rows)
		rc = fit_fail(err, FIT_EDATA, "%s: no curve", t.input);
	for (size_t i = 0; i < t.n_rows && !rc; i++)
		rc = take_piece(m, &t, i, err);
	fit_table_release(&t);
	if (rc) {
		free_curves(m);
		return rc;
	}
	sort_curves(&m->curves);
	*model = m;
	return FIT_OK;
}

/* Where a curve's phi is a number in every piece. */
static bool usable(const struct fit_pgns_curve *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!isfinite(c->pieces[i].log_from) || !isfinite(c->pieces[i].log_to))
			return false;
	return c->n > 0;
}

/* The first curve of an application and how many follow. */
static size_t first_of(const struct fit_pgns_curves *l, const char *app, size_t *n)
{
	size_t i = 0;

	while (i < l->n && strcmp(l->list[i].app, app) != 0)
		i++;
	for (*n = 0; i + *n < l->n && strcmp(l->list[i + *n].app, app) == 0; ++*n)
		;
	return i;
}

#define CURVES_MAX 256	/* batch sizes of one application */

static double predict(const void *model, const char *group, const double *x)
{
	const struct models *m = model;
	const struct fit_pgns_curve *list[CURVES_MAX];
	size_t n, at = first_of(&m->curves, group, &n);

	if (!n)
		at = first_of(&m->curves, "", &n);
	for (size_t i = 0; i < n && i < CURVES_MAX; i++) {
		if (!usable(&m->curves.list[at + i]))
			return (double)NAN;
		list[i] = &m->curves.list[at + i];
	}
	return n && n <= CURVES_MAX ? fit_pgns_curves_phi(list, n, x[PROGRESS], x[BATCH]) : (double)NAN;
}

int fit_gate_noise_rows(const void *model, const struct fit_table *t, const char *target, bool measured,
		struct fit_gate_set *s, struct fit_err *err)
{
	const struct fit_column *app = fit_table_column(t, "app");
	const struct fit_column *batch = fit_table_column(t, "batch_size");
	const struct fit_column *progress, *phi = fit_table_column(t, target ? target : "phi");
	char buf[40];
	int rc = fit_gate_column(t, "progress", &progress, err);

	(void)model;
	batch = batch ? batch : fit_table_column(t, "init_batch");
	if (!rc && !batch)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column 'batch_size', and no 'init_batch'",
			      t->input);
	if (!rc && measured && !phi)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s'", t->input, target ? target : "phi");
	rc = rc ? rc : fit_gate_set_init(s, t->n_rows, N_X, false, err);
	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		s->x[i * N_X + PROGRESS] = fit_gate_number(progress, i);
		s->x[i * N_X + BATCH] = fit_gate_number(batch, i);
		s->y[i] = phi ? fit_gate_number(phi, i) : (double)NAN;
		if (!(s->y[i] > 0))	/* a window in which it was not estimable */
			s->y[i] = (double)NAN;
		if (!isfinite(s->x[i * N_X + PROGRESS]) || !(s->x[i * N_X + BATCH] >= 1))
			rc = fit_table_fail(t, i, FIT_EDATA, "progress", err,
					    "bad progress or batch size (expected numbers, "
					    "the latter of at least 1)");
		if (!rc && isinf(s->y[i]))
			rc = fit_table_fail(t, i, FIT_EDATA, phi->name, err,
					    "bad noise scale 'inf' (expected a finite number)");
		rc = rc ? rc : fit_gate_set_group(s, i, app ? fit_gate_text(app, i, buf) :
						  FIT_TEXT_LIT(""), err);
	}
	return rc;
}

/* Both ends and the middle of each piece. */
static int grid(const void *model, struct fit_gate_set *s, struct fit_err *err)
{
	const struct fit_pgns_curves *l = &((const struct models *)model)->curves;
	size_t n = 0, row = 0;
	int rc;

	for (size_t i = 0; i < l->n; i++)
		n += 3 * l->list[i].n;
	rc = fit_gate_set_init(s, n, N_X, false, err);
	for (size_t i = 0; i < l->n && !rc; i++)
		for (size_t k = 0; k < 3 * l->list[i].n && !rc; k++, row++) {
			const struct fit_pgns_piece *p = &l->list[i].pieces[k / 3];

			s->x[row * N_X + PROGRESS] = p->from + (double)(k % 3) / 2 * (p->to - p->from);
			s->x[row * N_X + BATCH] = (double)l->list[i].batch;
			s->y[row] = (double)NAN;
			rc = fit_gate_set_group(s, row, fit_text_of(l->list[i].app), err);
		}
	return rc;
}

bool fit_gate_noise_feature(const void *model, size_t i, struct fit_gate_feature *f)
{
	static const char *const names[] = { "progress", "batch_size" };

	(void)model;
	if (i >= N_X)
		return false;
	*f = (struct fit_gate_feature){ names[i], false };
	return true;
}

/* A curve of the rows of one application and batch size, the same penalty as gf-pgns fit by default. */
static int refit_curve(struct models *m, const struct fit_gate_set *s, const bool *use, size_t row,
		       bool *done, struct fit_pgns_point *points, struct fit_err *err)
{
	const char *app = s->groups[s->group[row]];
	double batch = s->x[row * N_X + BATCH];
	struct fit_pgns_curve *c;
	size_t n = 0;

	for (size_t i = row; i < s->n; i++) {
		if (s->group[i] != s->group[row] || s->x[i * N_X + BATCH] < batch ||
		    s->x[i * N_X + BATCH] > batch)
			continue;
		done[i] = true;
		if (use[i] && s->y[i] > 0)
			points[n++] = (struct fit_pgns_point){ s->x[i * N_X + PROGRESS], s->y[i], 1 };
	}
	if (!n)
		return FIT_OK;
	c = curve_of(m, fit_text_of(app), (int64_t)batch, (int64_t)batch);
	return c ? fit_pgns_curve_fit(c, points, n, FIT_PGNS_PENALTY, err) : fit_fail_nomem(err);
}

static int refit(void **model, const void *like, const struct fit_gate_set *s, const bool *use,
		 const struct fit_gate_inputs *in, struct fit_err *err)
{
	struct models *m = calloc(1, sizeof *m);
	struct fit_pgns_point *points = malloc((s->n + 1) * sizeof *points);
	bool *done = calloc(s->n + 1, sizeof *done);
	int rc = m && points && done ? FIT_OK : fit_fail_nomem(err);

	(void)like;
	(void)in;
	for (size_t i = 0; i < s->n && !rc; i++)
		if (!done[i])
			rc = refit_curve(m, s, use, i, done, points, err);
	if (!rc)	/* rows of an application may come in turns */
		sort_curves(&m->curves);
	free(points);
	free(done);
	if (rc) {
		free_curves(m);
		return rc;
	}
	*model = m;
	return FIT_OK;
}

/* ---- checks of curves ---- */

static const char *name_of(const struct fit_pgns_curve *c, char buf[256])
{
	snprintf(buf, 256, "%.200s%sbatch %lld", c->app, *c->app ? ", " : "", (long long)c->batch);
	return buf;
}

static int check_parameters(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_pgns_curves *l = &((struct models *)r->model)->curves;
	char name[256];
	int rc = FIT_OK;

	for (size_t i = 0; i < l->n && !rc; i++) {
		const struct fit_pgns_curve *c = &l->list[i];
		const char *fault = usable(c) ? NULL : "phi is not above 0, or not finite";
		double least = (double)INFINITY;

		for (size_t k = 0; k < c->n && !fault; k++) {
			least = fmin(least, fmin(exp(c->pieces[k].log_from), exp(c->pieces[k].log_to)));
			if (c->pieces[k].from > c->pieces[k].to ||
			    (k && c->pieces[k - 1].to > c->pieces[k].from))
				fault = "its pieces are not in order of progress";
		}
		rc = fit_gate_add(r, name_of(c, name), fault ? (double)NAN : least, NULL,
				  fault ? FIT_GATE_FAIL : FIT_GATE_PASS, err, "%s", fault ? fault :
					  "the least phi");
	}
	return rc;
}

static int check_stated(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_pgns_curves *l = &((struct models *)r->model)->curves;
	char name[256];
	int rc = FIT_OK;

	for (size_t i = 0; i < l->n && !rc; i++)
		if (!isnan(l->list[i].rms_log))
			rc = fit_gate_at_most(r, name_of(&l->list[i], name), l->list[i].rms_log, err,
					      "root mean squared log residual that the table of curves states");
	return rc;
}

static int check_jumps(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_pgns_curves *l = &((struct models *)r->model)->curves;
	char name[256];
	int rc = FIT_OK;

	for (size_t i = 0; i < l->n && !rc; i++) {
		const struct fit_pgns_curve *c = &l->list[i];
		double most = 0;

		for (size_t k = 1; k < c->n; k++)
			most = fmax(most, fabs(c->pieces[k].log_from - c->pieces[k - 1].log_to));
		if (usable(c))
			rc = fit_gate_at_most(r, name_of(c, name), exp(most), err,
					      "the largest jump of phi, times");
	}
	return rc;
}

static const struct fit_gate_check curve_checks[] = {
	{ "parameters", 0, check_parameters },
	{ "jumps", 0, check_jumps },
	{ "stated", 0, check_stated },
	FIT_GATE_MEASURED,
	FIT_GATE_REFITTED,
	FIT_GATE_COMPARED,
	{ NULL, 0, NULL }
};

const struct fit_gate_kind fit_gate_noise = {
	.name = "noise", .what = "curves of the noise scale", .checks = curve_checks,
	.is = is_curves, .load = load_curves, .free = free_curves, .metric = FIT_GATE_LOG,
	.feature = fit_gate_noise_feature, .rows = fit_gate_noise_rows, .grid = grid,
	.predict = predict, .refit = refit,
};
