/* SPDX-License-Identifier: MIT */
#include "libfit/model/pgns_curve.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- fitting ---- */

/* Weighted sums over the first k points, for k = 0 … n: of 1, x, x^2, y, x y, y^2. */
struct sums {
	double w, x, xx, y, xy, yy;
};

struct problem {
	struct fit_pgns_point *p; /* sorted, y = log phi in phi */
	size_t n;
	double x0, x_scale, y0; /* what x and y are centred and scaled by, for the sums */
	struct sums *s;
};

static int by_progress(const void *pa, const void *pb)
{
	const struct fit_pgns_point *a = pa, *b = pb;

	if (a->progress < b->progress || a->progress > b->progress)
		return a->progress < b->progress ? -1 : 1;
	if (a->phi < b->phi || a->phi > b->phi)
		return a->phi < b->phi ? -1 : 1;
	return (a->weight > b->weight) - (a->weight < b->weight);
}

static void sum_up(struct problem *q)
{
	q->s[0] = (struct sums){ 0 };
	for (size_t k = 0; k < q->n; k++) {
		double x = (q->p[k].progress - q->x0) / q->x_scale, y = q->p[k].phi - q->y0;
		double w = q->p[k].weight;
		struct sums *s = &q->s[k + 1], *b = &q->s[k];

		*s = (struct sums){ b->w + w,	  b->x + w * x,	     b->xx + w * x * x,
				    b->y + w * y, b->xy + w * x * y, b->yy + w * y * y };
	}
}

/* The line through points [i, j): its weighted squared residuals; *level at x = *mid, *slope. */
static double line(const struct problem *q, size_t i, size_t j, double *level, double *mid,
		   double *slope)
{
	const struct sums *a = &q->s[i], *b = &q->s[j];
	double w = b->w - a->w, x = b->x - a->x, y = b->y - a->y;
	double xx = b->xx - a->xx - x * x / w, xy = b->xy - a->xy - x * y / w;
	double yy = b->yy - a->yy - y * y / w;
	bool flat = !(q->p[j - 1].progress > q->p[i].progress) || !(xx > 0);

	*level = y / w;
	*mid = x / w;
	*slope = flat ? 0 : xy / xx;
	return fmax(yy - *slope * xy, 0);
}

static int by_value(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Squared standard deviation of a point of weight 1: from how far each point lies off the chord of
 * its neighbours; the median makes it blind to jumps. */
static double noise_of(const struct problem *q, double *room)
{
	size_t n = 0;
	double s;

	for (size_t k = 1; k + 1 < q->n; k++) {
		const struct fit_pgns_point *l = &q->p[k - 1], *m = &q->p[k], *r = &q->p[k + 1];
		double span = r->progress - l->progress, a, c;

		if (!(span > 0))
			continue;
		a = (r->progress - m->progress) / span;
		c = 1 - a;
		room[n++] = fabs(m->phi - a * l->phi - c * r->phi) /
			    sqrt(1 / m->weight + a * a / l->weight + c * c / r->weight);
	}
	if (n == 0)
		return 1e-8;
	qsort(room, n, sizeof *room, by_value);
	s = (n % 2 ? room[n / 2] : 0.5 * (room[n / 2 - 1] + room[n / 2])) / 0.6745;
	return fmax(s * s, 1e-8);
}

static int add_piece(struct fit_pgns_curve *c, struct fit_pgns_piece piece)
{
	if (fit_grow(&c->pieces, &c->cap, c->n + 1, sizeof *c->pieces))
		return FIT_ENOMEM;
	c->pieces[c->n++] = piece;
	return FIT_OK;
}

/* Through every point; points of equal progress count as their mean. */
static int chords(const struct problem *q, struct fit_pgns_curve *c)
{
	struct fit_pgns_piece last = { 0 };
	size_t before = 0, k = 0;

	while (k < q->n) {
		double x = q->p[k].progress, w = 0, y = 0;
		size_t n = 0;

		for (; k < q->n && q->p[k].progress <= x; k++, n++) {
			w += q->p[k].weight;
			y += q->p[k].weight * q->p[k].phi;
		}
		y /= w;
		if (last.n > 0 &&
		    add_piece(c, (struct fit_pgns_piece){ last.to, x, last.log_to, y, before + n }))
			return FIT_ENOMEM;
		before = last.n > 0 ? 0 : n;
		last = (struct fit_pgns_piece){ x, x, y, y, n };
	}
	return c->n == 0 ? add_piece(c, last) : FIT_OK;
}

/* The best pieces. cost[j]: of the first j points; from[j]: where the last piece starts; open:
 * starts that can still win. */
static int best_pieces(const struct problem *q, double noise, double penalty,
		       struct fit_pgns_curve *c, double *cost, size_t *from, size_t *open)
{
	double per_piece = penalty * log((double)q->n), level, mid, slope;
	size_t n_open = 0, j, n_pieces = 0;

	cost[0] = 0;
	open[n_open++] = 0;
	for (j = 1; j <= q->n; j++) {
		size_t kept = 0;

		if (j < q->n && !(q->p[j].progress > q->p[j - 1].progress))
			continue;
		cost[j] = (double)INFINITY;
		for (size_t k = 0; k < n_open; k++) {
			double v = cost[open[k]] +
				   line(q, open[k], j, &level, &mid, &slope) / noise + per_piece;

			if (v < cost[j]) {
				cost[j] = v;
				from[j] = open[k];
			}
		}
		/* A start that loses by more than a piece costs has lost for good, since more
		 * pieces never fit worse. */
		for (size_t k = 0; k < n_open; k++)
			if (cost[open[k]] + line(q, open[k], j, &level, &mid, &slope) / noise <=
			    cost[j] + 1e-9 * fabs(cost[j]))
				open[kept++] = open[k];
		n_open = kept;
		open[n_open++] = j;
	}
	/* Starts of the pieces, last first, into open. */
	for (j = q->n; j > 0; j = from[j])
		open[n_pieces++] = j;
	while (n_pieces > 0) {
		size_t end = open[--n_pieces], start = from[end];
		double x1 = q->p[start].progress, x2 = q->p[end - 1].progress;

		line(q, start, end, &level, &mid, &slope);
		level += q->y0;
		if (add_piece(c, (struct fit_pgns_piece){
					 x1, x2, level + slope * ((x1 - q->x0) / q->x_scale - mid),
					 level + slope * ((x2 - q->x0) / q->x_scale - mid),
					 end - start }))
			return FIT_ENOMEM;
	}
	return FIT_OK;
}

int fit_pgns_curve_fit(struct fit_pgns_curve *c, struct fit_pgns_point *points, size_t n,
		       double penalty, struct fit_err *err)
{
	struct problem q = { .p = points, .n = n, .x_scale = 1 };
	struct fit_pgns_curve made = *c;
	double *cost = NULL, w = 0, rss = 0;
	size_t *from = NULL, *open = NULL;
	int rc = FIT_OK;

	if (n == 0)
		return fit_fail(err, FIT_EDATA, "no noise scale to fit a curve to");
	if (!(penalty >= 0) || !isfinite(penalty))
		return fit_fail(err, FIT_EINVAL, "bad penalty '%g' (expected 0 or more)", penalty);
	for (size_t k = 0; k < n; k++) {
		if (!isfinite(points[k].progress) || !(points[k].phi > 0) ||
		    !isfinite(points[k].phi) || !(points[k].weight > 0) ||
		    !isfinite(points[k].weight))
			return fit_fail(err, FIT_EDATA,
					"bad point %zu: progress '%g', phi '%g', weight "
					"'%g' (expected finite numbers, the last two positive)",
					k + 1, points[k].progress, points[k].phi, points[k].weight);
		w += points[k].weight;
	}
	made.pieces = NULL;
	made.n = made.cap = 0;
	qsort(points, n, sizeof *points, by_progress);
	q.s = malloc((n + 1) * sizeof *q.s);
	cost = malloc((n + 1) * sizeof *cost);
	from = calloc(n + 1, sizeof *from);
	open = malloc((n + 1) * sizeof *open);
	if (!q.s || !cost || !from || !open) {
		rc = fit_fail_nomem(err);
		goto out;
	}
	for (size_t k = 0; k < n; k++) {
		points[k].phi = log(points[k].phi);
		points[k].weight *= (double)n / w;
		q.y0 += points[k].phi / (double)n;
	}
	q.x0 = points[0].progress;
	if (points[n - 1].progress > q.x0)
		q.x_scale = points[n - 1].progress - q.x0;
	sum_up(&q);
	rc = penalty > 0 && n > 3
		     ? best_pieces(&q, noise_of(&q, cost), penalty, &made, cost, from, open)
		     : chords(&q, &made);
	for (size_t k = 0; k < n && !rc; k++) {
		double r = points[k].phi - fit_pgns_curve_log_phi(&made, points[k].progress);

		rss += points[k].weight * r * r;
	}
	for (size_t k = 0; k < n; k++) {
		points[k].phi = exp(points[k].phi);
		points[k].weight *= w / (double)n;
	}
	if (rc) {
		free(made.pieces);
		rc = fit_fail_nomem(err);
		goto out;
	}
	made.rms_log = sqrt(rss / (double)n);
	free(c->pieces);
	*c = made;
out:
	free(q.s);
	free(cost);
	free(from);
	free(open);
	return rc;
}

void fit_pgns_curve_release(struct fit_pgns_curve *c)
{
	free(c->app);
	free(c->pieces);
	*c = (struct fit_pgns_curve){ 0 };
}

/* ---- prediction ---- */

double fit_pgns_curve_log_phi(const struct fit_pgns_curve *c, double progress)
{
	size_t lo = 0, hi = c->n - 1;
	const struct fit_pgns_piece *p;

	/* The first piece whose end, and half of the way to the next one, is not passed. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (progress <= 0.5 * (c->pieces[mid].to + c->pieces[mid + 1].from))
			hi = mid;
		else
			lo = mid + 1;
	}
	p = &c->pieces[lo];
	if (progress <= p->from)
		return p->log_from;
	if (progress >= p->to)
		return p->log_to;
	return p->log_from + (p->log_to - p->log_from) * ((progress - p->from) / (p->to - p->from));
}

double fit_pgns_curves_phi(const struct fit_pgns_curve *const *curves, size_t n, double progress,
			   double batch)
{
	size_t hi = 0;
	double a, b, t;

	while (hi < n && (double)curves[hi]->batch < batch)
		hi++;
	if (hi == n || hi == 0 || (double)curves[hi]->batch <= batch)
		return exp(fit_pgns_curve_log_phi(curves[hi == n ? n - 1 : hi], progress));
	a = fit_pgns_curve_log_phi(curves[hi - 1], progress);
	b = fit_pgns_curve_log_phi(curves[hi], progress);
	t = log(batch / (double)curves[hi - 1]->batch) /
	    log((double)curves[hi]->batch / (double)curves[hi - 1]->batch);
	return exp(a + t * (b - a));
}

/* ---- the table ---- */

enum { APP, BATCH, INIT, PIECE, FROM, TO, PHI_FROM, PHI_TO, N_OBS, RMS, N_COLUMNS };

const struct fit_field fit_pgns_curve_columns[] = {
	{ "app", FIT_TEXT, 0 },		  { "batch_size", FIT_INT, 0 },
	{ "init_batch", FIT_INT, 0 },	  { "piece", FIT_INT, 0 },
	{ "progress_from", FIT_REAL, 0 }, { "progress_to", FIT_REAL, 0 },
	{ "phi_from", FIT_REAL, 0 },	  { "phi_to", FIT_REAL, 0 },
	{ "n_obs", FIT_INT, 0 },	  { "rms_log", FIT_REAL, 0 }
};
const size_t fit_pgns_curve_n_columns = N_COLUMNS;

int fit_pgns_curve_put(struct fit_writer *w, const struct fit_pgns_curve *c, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t k = 0; k < c->n && !rc; k++) {
		const struct fit_pgns_piece *p = &c->pieces[k];

		fit_writer_str(w, c->app);
		fit_writer_int(w, c->batch);
		fit_writer_int(w, c->init_batch);
		fit_writer_int(w, (int64_t)k);
		fit_writer_real(w, p->from);
		fit_writer_real(w, p->to);
		fit_writer_real(w, exp(p->log_from));
		fit_writer_real(w, exp(p->log_to));
		fit_writer_int(w, (int64_t)p->n);
		if (isnan(c->rms_log))
			fit_writer_na(w);
		else
			fit_writer_real(w, c->rms_log);
		rc = fit_writer_end_row(w, err);
	}
	return rc;
}

void fit_pgns_curves_release(struct fit_pgns_curves *l)
{
	for (size_t i = 0; i < l->n; i++)
		fit_pgns_curve_release(&l->list[i]);
	free(l->list);
	*l = (struct fit_pgns_curves){ 0 };
}

static bool same_app(const char *a, struct fit_text b)
{
	return a ? b.s && fit_text_is(b, a) : !b.s;
}

/* A row that starts a curve: the batch size must grow inside of an application, whose rows are
 * together. */
static int start_curve(struct fit_pgns_curves *l, const struct fit_reader *r, struct fit_text app,
		       const struct fit_cell *c, struct fit_err *err)
{
	struct fit_pgns_curve new = { .batch = c[BATCH].u.i,
				      .init_batch = c[INIT].u.i,
				      .rms_log = c[RMS].na ? (double)NAN : c[RMS].u.d };
	const struct fit_pgns_curve *last = l->n > 0 ? &l->list[l->n - 1] : NULL;

	for (size_t i = 0; i < l->n; i++) {
		if (!same_app(l->list[i].app, app))
			continue;
		if (!same_app(last->app, app))
			return fit_reader_fail(r, FIT_EDATA, "app", err,
					       "rows of '%.*s' in two places "
					       "(expected together)",
					       FIT_TEXT_ARG(app));
		if (l->list[i].init_batch != new.init_batch)
			return fit_reader_fail(r, FIT_EDATA, "init_batch", err,
					       "another initial batch size "
					       "'%lld' (expected %lld)",
					       (long long)new.init_batch,
					       (long long)l->list[i].init_batch);
		if (l->list[i].batch >= new.batch)
			return fit_reader_fail(r, FIT_EDATA, "batch_size", err,
					       "batch size '%lld' out of "
					       "order (expected above %lld)",
					       (long long)new.batch, (long long)l->list[i].batch);
	}
	if (app.s && !(new.app = fit_strdup(app)))
		return fit_fail_nomem(err);
	if (fit_grow(&l->list, &l->cap, l->n + 1, sizeof *l->list)) {
		free(new.app);
		return fit_fail_nomem(err);
	}
	l->list[l->n++] = new;
	return FIT_OK;
}

static int add_row(struct fit_pgns_curves *l, const struct fit_reader *r, const struct fit_cell *c,
		   struct fit_err *err)
{
	static const int positive[] = { BATCH, INIT };
	struct fit_text app = { 0 };
	struct fit_pgns_curve *curve;
	struct fit_pgns_piece p = { .from = c[FROM].u.d, .to = c[TO].u.d };

	if (!c[APP].na)
		app = c[APP].u.t;
	for (size_t k = 0; k < 2; k++)
		if (c[positive[k]].u.i < 1)
			return fit_reader_fail(r, FIT_EDATA,
					       fit_pgns_curve_columns[positive[k]].name, err,
					       "bad batch size '%lld' (expected 1 or more)",
					       (long long)c[positive[k]].u.i);
	for (int k = FROM; k <= PHI_TO; k++)
		if (!isfinite(c[k].u.d) || (k >= PHI_FROM && !(c[k].u.d > 0)))
			return fit_reader_fail(r, FIT_EDATA, fit_pgns_curve_columns[k].name, err,
					       "bad value '%g' (expected a finite%s number)",
					       c[k].u.d, k >= PHI_FROM ? ", positive" : "");
	p.log_from = log(c[PHI_FROM].u.d);
	p.log_to = log(c[PHI_TO].u.d);
	p.n = c[N_OBS].na || c[N_OBS].u.i < 0 ? 0 : (size_t)c[N_OBS].u.i;
	curve = l->n > 0 ? &l->list[l->n - 1] : NULL;
	if (!curve || !same_app(curve->app, app) || curve->batch != c[BATCH].u.i ||
	    curve->init_batch != c[INIT].u.i) {
		int rc = start_curve(l, r, app, c, err);

		if (rc)
			return rc;
		curve = &l->list[l->n - 1];
	}
	if (p.to < p.from || (curve->n > 0 && p.from < curve->pieces[curve->n - 1].to))
		return fit_reader_fail(r, FIT_EDATA, "progress_from", err,
				       "progress '%g' to '%g' out of order (expected increasing)",
				       p.from, p.to);
	return add_piece(curve, p) ? fit_fail_nomem(err) : FIT_OK;
}

int fit_pgns_curves_read(struct fit_pgns_curves *l, const char *operand, struct fit_err *err)
{
	struct fit_field fields[N_COLUMNS];
	struct fit_cell cells[N_COLUMNS];
	struct fit_pgns_curves list = { 0 };
	struct fit_reader *r = NULL;
	int rc;

	for (int k = 0; k < N_COLUMNS; k++) {
		fields[k] = fit_pgns_curve_columns[k];
		fields[k].flags =
			k == APP || k == PIECE || k >= N_OBS ? FIT_F_OPTIONAL : FIT_F_NOT_NA;
	}
	rc = fit_reader_open(&r, operand, err);
	if (!rc)
		rc = fit_reader_begin(r, fields, N_COLUMNS, err);
	if (rc == FIT_END)
		rc = fit_fail(err, FIT_EPARSE, "%s: no table", fit_reader_input(r));
	while (!rc && (rc = fit_reader_row(r, cells, err)) == FIT_OK)
		rc = add_row(&list, r, cells, err);
	if (rc == FIT_END) {
		fit_reader_hash(r, list.hash);
		*l = list;
		list = (struct fit_pgns_curves){ 0 };
		rc = FIT_OK;
	}
	fit_pgns_curves_release(&list);
	fit_reader_close(r);
	return rc;
}

const struct fit_pgns_curve *fit_pgns_curves_find(const struct fit_pgns_curves *l,
						  struct fit_text app, size_t *n)
{
	size_t i = 0;

	while (i < l->n && !same_app(l->list[i].app, app))
		i++;
	if (i == l->n && l->n > 0 && !l->list[0].app && !l->list[l->n - 1].app)
		i = 0;
	*n = 0;
	if (i == l->n)
		return NULL;
	while (i + *n < l->n &&
	       same_app(l->list[i + *n].app,
			l->list[i].app ? fit_text_of(l->list[i].app) : (struct fit_text){ 0 }))
		++*n;
	return &l->list[i];
}
