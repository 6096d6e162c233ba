/* SPDX-License-Identifier: MIT */
#include "libfit/synth/synth_arrivals.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/base/rng.h"

/* Whole milliseconds, as traces have them. */
static int64_t instant_ns(double s)
{
	return (int64_t)floor(s * 1000) * (FIT_NS_PER_S / 1000);
}

/* ---- the jobs of a table ---- */

enum { L_APP, L_GPUS, L_SUBMIT, L_BATCH, L_DURATION, N_LIKE };
static const struct fit_field like_fields[N_LIKE] = {
	{ "app", FIT_TEXT, FIT_F_NOT_NA }, { "gpus", FIT_REAL, 0 }, { "submit_s", FIT_TIME, FIT_F_NOT_NA },
	{ "batch_size", FIT_INT, FIT_F_OPTIONAL }, { "duration_s", FIT_TIME, FIT_F_OPTIONAL },
};

static int mean_gap(const struct fit_table *t, double *gap_s, struct fit_err *err)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < t->n_rows; i++) {
		int64_t at = t->columns[L_SUBMIT].i[i];

		first = at < first ? at : first;
		last = at > last ? at : last;
	}
	if (t->n_rows < 2 || last <= first)
		return fit_fail(err, FIT_EDATA, "%s: no mean gap between submissions (expected two jobs at different "
				"times, or --mean-gap)", t->input);
	*gap_s = fit_time_to_double(last - first) / (double)(t->n_rows - 1);
	return FIT_OK;
}

static int shuffle(size_t n, uint64_t seed, size_t **order)
{
	gsl_rng *rng = fit_rng_new(seed, "synth/order");

	*order = malloc((n + 1) * sizeof **order);
	if (!rng || !*order) {
		if (rng)
			gsl_rng_free(rng);
		return FIT_ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		(*order)[i] = i;
	for (size_t i = n; i > 1; i--) {
		size_t k = gsl_rng_uniform_int(rng, i), x = (*order)[i - 1];

		(*order)[i - 1] = (*order)[k];
		(*order)[k] = x;
	}
	gsl_rng_free(rng);
	return FIT_OK;
}

static void put_id(struct fit_writer *w, struct fit_text app, size_t i)
{
	struct fit_str s = { 0 };

	if (!fit_str_printf(&s, "%.*s-%zu", FIT_TEXT_ARG(app), i))
		fit_writer_text(w, (struct fit_text){ s.s, s.n });
	fit_str_release(&s);	/* without memory a cell is missing, and end_row() says so */
}

static void put_cell(struct fit_writer *w, const struct fit_column *c, size_t row)
{
	struct fit_cell x = fit_column_cell(c, row);

	if (x.na)
		fit_writer_na(w);
	else if (c->type == FIT_REAL)
		fit_writer_real(w, x.u.d);
	else if (c->type == FIT_TIME)
		fit_writer_time(w, x.u.i);
	else
		fit_writer_int(w, x.u.i);
}

static int write_like(const struct fit_table *t, const size_t *order, struct fit_arrivals *a,
		      struct fit_writer *w,
		      const struct fit_meta *meta, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "job_id", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
		{ "gpus", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 }, { "duration_s", FIT_TIME, 0 },
	};
	int rc = fit_writer_begin(w, NULL, meta, fields, 6, err);

	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		size_t row = order[i];
		struct fit_text app = fit_column_text(&t->columns[L_APP], row);

		put_id(w, app, i);
		fit_writer_text(w, app);
		fit_writer_time(w, instant_ns(fit_arrivals_next_s(a)));
		put_cell(w, &t->columns[L_GPUS], row);
		put_cell(w, &t->columns[L_BATCH], row);
		put_cell(w, &t->columns[L_DURATION], row);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

int fit_synth_arrivals_like(const char *jobs, const struct fit_arrivals_params *p, uint64_t seed,
			    struct fit_writer *w, const struct fit_meta *meta, char hash[FIT_HASH_HEX],
			    struct fit_err *err)
{
	struct fit_arrivals_params q = *p;
	struct fit_arrivals *a = NULL;
	struct fit_meta all = { 0 };
	size_t *order = NULL;
	struct fit_mmpp m;
	struct fit_table t;
	int rc = fit_table_read(&t, jobs, like_fields, N_LIKE, err);

	if (rc)
		return rc;
	if (!(q.mean_gap_s > 0))
		rc = mean_gap(&t, &q.mean_gap_s, err);
	rc = rc ? rc : fit_mmpp_fit(&q, &m, err);
	rc = rc ? rc : fit_arrivals_new(&a, &m, seed, err);
	if (!rc && shuffle(t.n_rows, seed, &order))
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < FIT_HASH_HEX; i++)
		hash[i] = t.hash[i];
	if (!rc && (fit_meta_copy(&all, meta) || fit_meta_add(&all, "input_like", t.hash)))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : write_like(&t, order, a, w, &all, err);
	fit_meta_release(&all);
	fit_arrivals_free(a);
	free(order);
	fit_table_release(&t);
	return rc;
}

/* ---- classes ---- */

static double total_rate(const struct fit_boa_classes *c)
{
	double sum = 0;

	for (size_t i = 0; i < c->n; i++)
		sum += c->rows[i].rate > 0 ? c->rows[i].rate : 0;
	return sum;
}

static const struct fit_boa_class_row *draw(const struct fit_boa_classes *c, gsl_rng *rng, double total)
{
	const struct fit_boa_class_row *last = NULL;
	double x = gsl_rng_uniform(rng) * total;

	for (size_t i = 0; i < c->n; i++) {
		if (!(c->rows[i].rate > 0))
			continue;
		last = &c->rows[i];
		if (x < last->rate)
			break;
		x -= last->rate;
	}
	return last;
}

static int write_drawn(const struct fit_boa_classes *c, int64_t n, struct fit_arrivals *a, gsl_rng *rng,
		       struct fit_writer *w, const struct fit_meta *meta, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "job_id", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
		{ "gpus", FIT_INT, 0 },
	};
	double total = total_rate(c);
	int rc = fit_writer_begin(w, NULL, meta, fields, 4, err);

	for (int64_t i = 0; i < n && !rc; i++) {
		const struct fit_boa_class_row *k = draw(c, rng, total);

		put_id(w, fit_text_of(k->name), (size_t)i);
		fit_writer_str(w, k->name);
		fit_writer_time(w, instant_ns(fit_arrivals_next_s(a)));
		fit_writer_int(w, k->min_gpus > 0 ? k->min_gpus : 1);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

int fit_synth_arrivals_of(const struct fit_boa_classes *classes, int64_t n,
			  const struct fit_arrivals_params *p,
			  uint64_t seed, struct fit_writer *w, const struct fit_meta *meta, struct fit_err *err)
{
	struct fit_arrivals_params q = *p;
	struct fit_arrivals *a = NULL;
	struct fit_mmpp m;
	gsl_rng *rng;
	int rc;

	if (!(total_rate(classes) > 0))
		return fit_fail(err, FIT_EDATA, "no class has an arrival rate above 0");
	if (!(q.mean_gap_s > 0))
		q.mean_gap_s = 1 / total_rate(classes);
	rc = fit_mmpp_fit(&q, &m, err);
	rc = rc ? rc : fit_arrivals_new(&a, &m, seed, err);
	if (rc)
		return rc;
	rng = fit_rng_new(seed, "synth/class");
	rc = rng ? write_drawn(classes, n, a, rng, w, meta, err) : fit_fail_nomem(err);
	if (rng)
		gsl_rng_free(rng);
	fit_arrivals_free(a);
	return rc;
}

/* ---- speedups, misjudged ---- */

static int write_epoch(const struct fit_speedups *s, const struct fit_speedup_class *c,
		       size_t epoch, double size,
		       gsl_rng *rng, struct fit_writer *w, struct fit_err *err)
{
	const struct fit_speedup_epoch *e = &s->epochs[c->at + epoch];
	double scale = gsl_ran_gaussian(rng, 1), least = 0;
	int rc = FIT_OK;

	for (size_t i = 0; i < e->n && !rc; i++) {
		const struct fit_width *k = &s->widths[e->at + i];
		double f = size * (scale * log2((double)k->gpus) / 6 + 0.25 * gsl_ran_gaussian(rng, 1));

		/* the least width of a type is the reference of the type */
		if (i == 0 || k->type != k[-1].type)
			least = (double)NAN;
		if (isnan(least) && fit_width_usable(k))
			least = f;
		fit_writer_str(w, c->name);
		fit_writer_int(w, (int64_t)epoch);
		if (s->types[k->type][0])
			fit_writer_str(w, s->types[k->type]);
		else
			fit_writer_na(w);
		fit_writer_int(w, k->gpus);
		fit_writer_real(w, e->work);
		if (fit_width_usable(k))
			fit_writer_real(w, k->speed * exp(f - least));
		else
			fit_writer_na(w);
		rc = fit_writer_end_row(w, err);
	}
	return rc;
}

int fit_synth_misjudge(const struct fit_speedups *s, double size, uint64_t seed, struct fit_writer *w,
		       const struct fit_meta *meta, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "class", FIT_TEXT, 0 }, { "epoch", FIT_INT, 0 }, { "gpu_type", FIT_TEXT, 0 },
		{ "gpus", FIT_INT, 0 }, { "work", FIT_REAL, 0 }, { "speed_per_s", FIT_REAL, 0 },
	};
	gsl_rng *rng = fit_rng_new(seed, "synth/misjudge");
	int rc = rng ? fit_writer_begin(w, NULL, meta, fields, 6, err) : fit_fail_nomem(err);

	for (size_t i = 0; i < s->n_classes && !rc; i++)
		for (size_t e = 0; e < s->classes[i].n && !rc; e++)
			rc = write_epoch(s, &s->classes[i], e, size, rng, w, err);
	if (rng)
		gsl_rng_free(rng);
	return rc ? rc : fit_writer_end(w, err);
}
