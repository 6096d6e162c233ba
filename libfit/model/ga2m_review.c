/* SPDX-License-Identifier: MIT */
#include "libfit/model/ga2m_review.h"

#include <math.h>
#include <stdlib.h>

#include "libfit/model/ga2m_shape.h"

#define CENTRED 1e-6

struct fit_ga2m_review_params fit_ga2m_review_params_default(void)
{
	return (struct fit_ga2m_review_params){ .support = 0.005, .spike = 3 };
}

static int add(struct fit_ga2m_findings *f, const struct fit_ga2m_finding *x, struct fit_err *err)
{
	if (fit_grow(&f->list, &f->cap, f->n + 1, sizeof *f->list))
		return fit_fail_nomem(err);
	f->list[f->n++] = *x;
	f->faults += x->fails;
	return FIT_OK;
}

/* One term, one output, as the checks see it. */
struct view {
	const struct fit_ga2m *m;
	const struct fit_ga2m_term *t;
	size_t term, output;
	double total, rms;	/* weight; root of the weighted mean square of the score */
};

static double score_at(const struct view *v, size_t cell)
{
	return v->t->score[cell * v->m->n_outputs + v->output];
}

static struct view view_of(const struct fit_ga2m *m, size_t term, size_t output)
{
	struct view v = { m, &m->terms[term], term, output, 0, 0 };

	for (size_t i = 0; i < fit_ga2m_n_cells(v.t); i++) {
		v.total += v.t->weight[i];
		v.rms += v.t->weight[i] * score_at(&v, i) * score_at(&v, i);
	}
	v.rms = v.total > 0 ? sqrt(v.rms / v.total) : 0;
	return v;
}

static struct fit_ga2m_finding finding(const struct view *v, const char *check, int64_t bin)
{
	return (struct fit_ga2m_finding){ .check = check, .term = v->term, .feature = v->t->feature[0], .bin = bin,
					  .output = v->m->n_outputs > 1 ? (int64_t)v->output : -1,
					  .found = (double)NAN, .expected = (double)NAN,
					  .weight = (double)NAN };
}

static int holds(const struct view *v, const char *check, struct fit_ga2m_findings *f, struct fit_err *err)
{
	struct fit_ga2m_finding x = finding(v, check, -1);

	return add(f, &x, err);
}

/* ---- shapes ---- */

static int check_shape(const struct view *v, enum fit_ga2m_shape shape, struct fit_ga2m_findings *f,
		       struct fit_err *err)
{
	static const char *const says[] = { "", "falls", "rises", "is not convex", "is not concave" };
	size_t n = v->t->n_bins[0] - 2, faults = f->faults;
	double sign = shape == FIT_GA2M_DECREASING || shape == FIT_GA2M_CONCAVE ? -1 : 1;
	double *x = calloc(n + 1, sizeof *x), slope = -HUGE_VAL;
	int rc = x ? FIT_OK : fit_fail_nomem(err);

	if (!rc)
		fit_ga2m_middles(&v->m->features[v->t->feature[0]], v->t->level[0], x);
	for (size_t i = 1; i < n && !rc; i++) {
		double rise = sign * (score_at(v, i + 1) - score_at(v, i)), room = 1e-9 * fmax(v->rms, 1e-300);
		struct fit_ga2m_finding y = finding(v, "shape", (int64_t)i + 1);
		bool wrong = rise < -room;

		if (shape == FIT_GA2M_CONVEX || shape == FIT_GA2M_CONCAVE) {
			double here = rise / (x[i] - x[i - 1]);

			wrong = here < slope - room / (x[i] - x[i - 1]);
			slope = here;
		}
		if (!wrong)
			continue;
		y.fails = true;
		y.found = score_at(v, i + 1);
		y.expected = score_at(v, i);
		y.weight = v->t->weight[i + 1];
		snprintf(y.what, sizeof y.what, "%s, from %.6g to %.6g", says[shape], y.expected, y.found);
		rc = add(f, &y, err);
	}
	free(x);
	return rc || f->faults > faults ? rc : holds(v, "shape", f, err);
}

/* ---- spikes and edges of main effects of numbers ---- */

/* Weighted mean of what lies within two bins of i, i left out; NaN where none has weight. */
static double beside(const struct view *v, size_t i)
{
	size_t last = v->t->n_bins[0] - 2;
	double sum = 0, total = 0;

	for (size_t k = i > 2 ? i - 2 : 1; k <= i + 2 && k <= last; k++) {
		if (k == i)
			continue;
		sum += v->t->weight[k] * score_at(v, k);
		total += v->t->weight[k];
	}
	return total > 0 ? sum / total : (double)NAN;
}

static int off_by(const struct view *v, const char *check, size_t bin, double expected, double weight,
		  const char *where, struct fit_ga2m_findings *f, struct fit_err *err)
{
	struct fit_ga2m_finding x = finding(v, check, (int64_t)bin);

	x.fails = true;
	x.found = score_at(v, bin);
	x.expected = expected;
	x.weight = weight;
	snprintf(x.what, sizeof x.what, "%.6g %s, %.6g beside, with %.3g %% of the weight", x.found,
		where, expected,
		 v->total > 0 ? 100 * weight / v->total : 0);
	return add(f, &x, err);
}

static int check_spikes(const struct view *v, const struct fit_ga2m_review_params *p,
		struct fit_ga2m_findings *f,
			struct fit_err *err)
{
	size_t last = v->t->n_bins[0] - 2, faults = f->faults;
	int rc = FIT_OK;

	for (size_t i = 2; i < last && !rc; i++) {
		double expected = beside(v, i);

		if (v->t->weight[i] < p->support * v->total &&
		    fabs(score_at(v, i) - expected) > p->spike * v->rms)
			rc = off_by(v, "spike", i, expected, v->t->weight[i], "here", f, err);
	}
	if (!rc && f->faults == faults)
		rc = holds(v, "spike", f, err);
	faults = f->faults;
	for (int side = 0; side < 2 && !rc; side++) {
		double weight = 0, sum = 0, inner = 0;
		size_t n = 0;

		/* the outermost bins that together have little weight, and as many rows again inside of them */
		for (size_t k = 1; k <= last; k++) {
			size_t i = side ? last + 1 - k : k;

			if (weight + v->t->weight[i] < p->support * v->total) {
				weight += v->t->weight[i];
				n++;
				continue;
			}
			sum += v->t->weight[i] * score_at(v, i);
			inner += v->t->weight[i];
			if (inner >= 2 * p->support * v->total)
				break;
		}
		if (n > 0 && inner > 0 && fabs(score_at(v, side ? last : 1) - sum / inner) > p->spike * v->rms)
			rc = off_by(v, "edge", side ? last : 1, sum / inner, weight,
				    side ? "from there up" : "from there down", f, err);
	}
	return rc || f->faults > faults ? rc : holds(v, "edge", f, err);
}

/* ---- centring and purity ---- */

static int check_means(const struct view *v, struct fit_ga2m_findings *f, struct fit_err *err)
{
	const struct fit_ga2m_term *t = v->t;
	size_t faults = f->faults;
	double sum = 0;
	int rc = FIT_OK;

	for (size_t i = 0; i < fit_ga2m_n_cells(t); i++)
		sum += t->weight[i] * score_at(v, i);
	if (fabs(sum) > CENTRED * v->rms * v->total) {
		struct fit_ga2m_finding x = finding(v, "centred", -1);

		x.fails = true;
		x.found = sum / v->total;
		x.expected = 0;
		snprintf(x.what, sizeof x.what, "the mean is %.6g, not 0", x.found);
		rc = add(f, &x, err);
	} else {
		rc = holds(v, "centred", f, err);
	}
	faults = f->faults;
	for (int d = 0; d < 2 && t->n_dims == 2 && !rc; d++) {
		for (size_t i = 0; i < t->n_bins[d] && !rc; i++) {
			struct fit_ga2m_finding x = finding(v, "pure", (int64_t)i);
			double weight = 0;

			sum = 0;
			for (size_t k = 0; k < t->n_bins[1 - d]; k++) {
				size_t cell = d ? k * t->n_bins[1] + i : i * t->n_bins[1] + k;

				sum += t->weight[cell] * score_at(v, cell);
				weight += t->weight[cell];
			}
			if (fabs(sum) <= CENTRED * v->rms * v->total)
				continue;
			x.fails = true;
			x.feature = t->feature[d];
			x.found = sum / weight;
			x.expected = 0;
			x.weight = weight;
			snprintf(x.what, sizeof x.what, "the mean over the other feature is %.6g, not 0", x.found);
			rc = add(f, &x, err);
		}
	}
	return rc || t->n_dims < 2 || f->faults > faults ? rc : holds(v, "pure", f, err);
}

int fit_ga2m_review(const struct fit_ga2m *m, const struct fit_ga2m_review_params *p,
		struct fit_ga2m_findings *f,
		    struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t k = 0; k < m->n_terms && !rc; k++) {
		for (size_t o = 0; o < m->n_outputs && !rc; o++) {
			struct view v = view_of(m, k, o);
			bool line = v.t->n_dims == 1 && !m->features[v.t->feature[0]].nominal;

			if (line && p->shapes && p->shapes[v.t->feature[0]] != FIT_GA2M_FREE)
				rc = check_shape(&v, p->shapes[v.t->feature[0]], f, err);
			if (!rc && line)
				rc = check_spikes(&v, p, f, err);
			rc = rc ? rc : check_means(&v, f, err);
		}
	}
	return rc;
}

/* ---- rows ---- */

int fit_ga2m_tally_init(struct fit_ga2m_tally *t, const struct fit_ga2m *m)
{
	*t = (struct fit_ga2m_tally){ 0 };
	t->outside = calloc(m->n_features + 1, sizeof *t->outside);
	t->missing = calloc(m->n_features + 1, sizeof *t->missing);
	t->unseen = calloc(m->n_features + 1, sizeof *t->unseen);
	t->empty = calloc(m->n_terms + 1, sizeof *t->empty);
	return t->outside && t->missing && t->unseen && t->empty ? FIT_OK : FIT_ENOMEM;
}

void fit_ga2m_tally_release(struct fit_ga2m_tally *t)
{
	free(t->outside);
	free(t->missing);
	free(t->unseen);
	free(t->empty);
}

/* Did training have missing values of a feature? By the weight of bin 0 of a term that it is in. */
static bool had_missing(const struct fit_ga2m *m, size_t f)
{
	for (size_t k = 0; k < m->n_terms; k++) {
		const struct fit_ga2m_term *t = &m->terms[k];

		if (t->n_dims == 1 && t->feature[0] == f)
			return t->weight[0] > 0;
	}
	return true;
}

void fit_ga2m_tally_row(struct fit_ga2m_tally *t, const struct fit_ga2m *m, const double *x)
{
	bool odd = false;

	t->rows++;
	for (size_t f = 0; f < m->n_features; f++) {
		const struct fit_ga2m_feature *g = &m->features[f];
		bool missing = isnan(x[f]) && !had_missing(m, f);
		bool unseen = g->nominal && !isnan(x[f]) && !(x[f] >= 0 && x[f] < (double)g->n_categories);
		bool outside = !g->nominal && (x[f] < g->min || x[f] > g->max);

		t->missing[f] += missing;
		t->unseen[f] += unseen;
		t->outside[f] += outside;
		odd |= missing || unseen || outside;
	}
	for (size_t k = 0; k < m->n_terms && !odd; k++)
		t->empty[k] += m->terms[k].n_dims == 2 &&
			       !(m->terms[k].weight[fit_ga2m_cell(m, &m->terms[k], x)] > 0);
}

int fit_ga2m_tally_findings(const struct fit_ga2m_tally *t, const struct fit_ga2m *m, double limit,
			    struct fit_ga2m_findings *f, struct fit_err *err)
{
	const struct {
		const char *check, *what;
		const uint64_t *count;
	} kinds[] = { { "outside", "below the least or above the largest value of training", t->outside },
		      { "missing", "missing, which training did not have", t->missing },
		      { "unseen", "in categories that training did not have", t->unseen } };
	int rc = FIT_OK;

	for (size_t k = 0; k < 4 && !rc; k++) {
		for (size_t i = 0; i < (k < 3 ? m->n_features : m->n_terms) && !rc; i++) {
			uint64_t n = k < 3 ? kinds[k].count[i] : t->empty[i];
			struct fit_ga2m_finding x = { .check = k < 3 ? kinds[k].check : "empty",
						      .term = k < 3 ? SIZE_MAX : i,
						      .feature = k < 3 ? i : m->terms[i].feature[0], .bin = -1,
						      .output = -1, .expected = (double)NAN };

			if (n == 0)
				continue;
			x.found = (double)n;
			x.weight = (double)n / (double)t->rows;
			x.fails = x.weight > limit;
			snprintf(x.what, sizeof x.what, "%llu of %llu rows %s", (unsigned long long)n,
				 (unsigned long long)t->rows,
				 k < 3 ? kinds[k].what : "in cells of a pair where training had none");
			rc = add(f, &x, err);
		}
	}
	return rc;
}
