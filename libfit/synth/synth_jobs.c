/* SPDX-License-Identifier: MIT */
#include "libfit/synth/synth_jobs.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/rng.h"
#include "libfit/synth/synth_profile.h"

#define TWO_PI 6.283185307179586
#define SWING 0.5		/* of the rate around its mean */

/* ---- arrivals ---- */

/* Part of a period's arrivals that came before x (in periods): the integral of
 * 1 + SWING sin(2 pi (x - start)), whose peak is at start + 1/4. */
static double arrived(double x, double start)
{
	return x - SWING / TWO_PI * (cos(TWO_PI * (x - start)) - cos(TWO_PI * start));
}

/* The x at which y have arrived. The rate lies within 1 -+ SWING, so Newton's method, kept inside a
 * bracket, is there in a few steps. */
static double arrival_time(double y, double start)
{
	double lo = y - SWING / 3, hi = y + SWING / 3, x = y;

	for (int k = 0; k < 60; k++) {
		double f = arrived(x, start) - y, next;

		if (f > 0)
			hi = x;
		else
			lo = x;
		next = x - f / (1 + SWING * sin(TWO_PI * (x - start)));
		if (!(next > lo && next < hi))
			next = (lo + hi) / 2;
		if (fabs(next - x) <= 1e-15 * (1 + fabs(x)))
			return next;
		x = next;
	}
	return x;
}

static int compare_times(const void *pa, const void *pb)
{
	int64_t a, b;

	memcpy(&a, pa, sizeof a);
	memcpy(&b, pb, sizeof b);
	return (a > b) - (a < b);
}

/* ---- a workload ---- */

void fit_synth_workload_params_default(struct fit_synth_workload_params *p)
{
	*p = (struct fit_synth_workload_params){
		.n_jobs = 160, .hours = 8, .seed = 1, .arrivals = FIT_SYNTH_DIURNAL, .max_gpus = 64,
		.lo = 0.5, .hi = 0.8
	};
}

int fit_synth_workload_params_check(const struct fit_synth_workload_params *p, struct fit_err *err)
{
	if (p->n_jobs < 0 || p->n_jobs > 100000000)
		return fit_fail(err, FIT_EINVAL, "jobs %lld (expected 0 to 100000000)",
				(long long)p->n_jobs);
	if (!(p->hours > 0 && p->hours <= 1e6))
		return fit_fail(err, FIT_EINVAL, "hours %g (expected more than 0, at most 1000000)", p->hours);
	if (p->max_gpus < 1)
		return fit_fail(err, FIT_EINVAL, "max_gpus %lld (expected at least 1)",
				(long long)p->max_gpus);
	if (!(p->lo >= 0 && p->lo < p->hi && p->hi <= 1e6))
		return fit_fail(err, FIT_EINVAL, "efficiency bounds %g, %g (expected 0 <= lo < hi)", p->lo,
				p->hi);
	return FIT_OK;
}

struct choice {
	const char *name;
	double share;
	struct fit_tuned tuned[64];
	size_t n_tuned;
};

/* Keep the configurations that the cluster holds. */
static void drop_large(struct choice *ch, int64_t max_gpus)
{
	size_t n = 0;

	for (size_t i = 0; i < ch->n_tuned; i++)
		if (ch->tuned[i].replicas <= max_gpus)
			ch->tuned[n++] = ch->tuned[i];
	ch->n_tuned = n;
}

static int make_choices(const struct fit_synth_calibration *c, const struct fit_profile *profile,
			const struct fit_synth_workload_params *p, struct choice *out, size_t *n,
			struct fit_err *err)
{
	double total = 0;

	*n = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct fit_synth_app *a = &c->apps[i];
		struct choice *ch = &out[*n];

		*ch = (struct choice){ .name = a->name, .share = a->share };
		if (profile) {
			struct fit_app *known = fit_profile_find(profile, fit_text_of(a->name));
			int rc;

			if (!known)
				continue;
			rc = fit_app_configurations(known, p->lo, p->hi, ch->tuned,
						    sizeof ch->tuned / sizeof *ch->tuned, &ch->n_tuned,
						    err);
			if (rc)
				return rc;
		} else {
			ch->n_tuned = fit_synth_configurations(a, p->lo, p->hi, ch->tuned);
		}
		drop_large(ch, p->max_gpus);
		if (ch->n_tuned && ch->share > 0) {
			total += ch->share;
			(*n)++;
		}
	}
	if (*n == 0)
		return fit_fail(err, FIT_EDATA, "no application for a workload (expected one with a share, "
				"a profile, and at most %lld GPUs)", (long long)p->max_gpus);
	for (size_t i = 0; i < *n; i++)
		out[i].share /= total;
	return FIT_OK;
}

static int write_workload(const struct choice *choices, size_t n_choices, const int64_t *times,
			  gsl_rng *mix, gsl_rng *config, const struct fit_synth_workload_params *p,
			  struct fit_writer *w, struct fit_err *err)
{
	int rc = FIT_OK;

	for (int64_t i = 0; !rc && i < p->n_jobs; i++) {
		double u = gsl_rng_uniform(mix);
		const struct choice *ch;
		const struct fit_tuned *t;
		size_t k = 0;
		char id[FIT_SYNTH_NAME_MAX + FIT_NUM_MAX];

		while (k + 1 < n_choices && u >= choices[k].share)
			u -= choices[k++].share;
		ch = &choices[k];
		t = &ch->tuned[gsl_rng_uniform_int(config, ch->n_tuned)];
		snprintf(id, sizeof id, "%s-%lld", ch->name, (long long)i);
		fit_writer_str(w, id);
		fit_writer_str(w, ch->name);
		fit_writer_time(w, times[i] * FIT_NS_PER_S);
		fit_writer_real(w, (double)t->replicas);
		fit_writer_int(w, t->batch);
		rc = fit_writer_end_row(w, err);
	}
	return rc;
}

int fit_synth_workload(const struct fit_synth_calibration *c, const struct fit_profile *profile,
		       const struct fit_synth_workload_params *p, struct fit_writer *w,
		       const struct fit_meta *meta, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "job_id", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
		{ "gpus", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 }
	};
	gsl_rng *when, *mix, *config;
	struct choice *choices;
	int64_t *times;
	size_t n_choices;
	int rc = fit_synth_workload_params_check(p, err);

	if (rc)
		return rc;
	when = fit_rng_new(p->seed, "synth/arrivals");
	mix = fit_rng_new(p->seed, "synth/mix");
	config = fit_rng_new(p->seed, "synth/configuration");
	choices = calloc(c->n ? c->n : 1, sizeof *choices);
	times = calloc(p->n_jobs ? (size_t)p->n_jobs : 1, sizeof *times);
	if (!(when && mix && config && choices && times))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = make_choices(c, profile, p, choices, &n_choices, err);
	for (int64_t i = 0; !rc && i < p->n_jobs; i++) {
		double x = gsl_rng_uniform(when);

		if (p->arrivals == FIT_SYNTH_DIURNAL)
			x = arrival_time(x, 0.4);
		times[i] = (int64_t)(x * p->hours * 3600);
	}
	if (!rc) {
		qsort(times, (size_t)p->n_jobs, sizeof *times, compare_times);
		rc = fit_writer_begin(w, NULL, meta, fields, sizeof fields / sizeof *fields, err);
	}
	if (!rc)
		rc = write_workload(choices, n_choices, times, mix, config, p, w, err);
	if (!rc)
		rc = fit_writer_end(w, err);
	free(times);
	free(choices);
	gsl_rng_free(when);
	gsl_rng_free(mix);
	gsl_rng_free(config);
	return rc;
}

/* ---- jobs of fixed duration ---- */

void fit_synth_jobs_params_default(struct fit_synth_jobs_params *p)
{
	*p = (struct fit_synth_jobs_params){
		.n_jobs = 1000, .hours = 24, .seed = 1, .arrivals = FIT_SYNTH_POISSON, .median_s = 600,
		.sigma = 1.8, .max_duration_s = 2592000, .max_gpus = 8, .users = 20
	};
}

int fit_synth_jobs_params_check(const struct fit_synth_jobs_params *p, struct fit_err *err)
{
	if (p->n_jobs < 0)
		return fit_fail(err, FIT_EINVAL, "jobs %lld (expected at least 0)", (long long)p->n_jobs);
	if (!(p->hours > 0 && p->hours <= 1e5))
		return fit_fail(err, FIT_EINVAL, "hours %g (expected more than 0, at most 100000)", p->hours);
	if (!(p->median_s > 0 && p->median_s <= 1e9))
		return fit_fail(err, FIT_EINVAL, "median_s %g (expected more than 0, at most 1e9)",
				p->median_s);
	if (!(p->sigma >= 0 && p->sigma <= 20))
		return fit_fail(err, FIT_EINVAL, "sigma %g (expected 0 to 20)", p->sigma);
	if (!(p->max_duration_s >= 1 && p->max_duration_s <= 1e9))
		return fit_fail(err, FIT_EINVAL, "max_duration_s %g (expected 1 to 1e9)", p->max_duration_s);
	if (p->max_gpus < 1 || p->max_gpus > 1000000)
		return fit_fail(err, FIT_EINVAL, "max_gpus %lld (expected 1 to 1000000)",
				(long long)p->max_gpus);
	if (p->users < 1 || p->users > 100000)
		return fit_fail(err, FIT_EINVAL, "users %lld (expected 1 to 100000)", (long long)p->users);
	return FIT_OK;
}

/* Most jobs ask for one GPU; each doubling beyond two is rarer by a constant factor. */
static double size_weight(int k)
{
	return k == 0 ? 1 : 0.3 * pow(0.6, k - 1);
}

static int64_t draw_gpus(gsl_rng *r, int n_sizes, double total)
{
	double u = gsl_rng_uniform(r) * total;
	int k = 0;

	while (k + 1 < n_sizes && u >= size_weight(k))
		u -= size_weight(k++);
	return INT64_C(1) << k;
}

/* Whose cumulated weight is the first above u. */
static int64_t draw_user(gsl_rng *r, const double *cumulated, int64_t n)
{
	double u = gsl_rng_uniform(r) * cumulated[n - 1];
	int64_t lo = 0, hi = n - 1;

	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;

		if (cumulated[mid] > u)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo + 1;
}

struct streams {
	gsl_rng *arrival, *duration, *gpus, *user;
};

static int draw_jobs(const struct fit_synth_jobs_params *p, const struct streams *s,
		     const double *cumulated, fit_synth_put *put, void *arg, struct fit_err *err)
{
	double total = 0, y = 0, rate = (double)p->n_jobs / p->hours;	/* jobs an hour */
	int n_sizes = 0, rc = FIT_OK;

	for (; INT64_C(1) << n_sizes <= p->max_gpus; n_sizes++)
		total += size_weight(n_sizes);
	for (int64_t i = 0; !rc && i < p->n_jobs; i++) {
		struct fit_synth_job job = { .index = i };
		double hours, duration;

		y += gsl_ran_exponential(s->arrival, 1) / rate;
		/* the time at which a rate that swings has brought as much as a constant one by y */
		hours = p->arrivals == FIT_SYNTH_DIURNAL ? 24 * arrival_time(y / 24, 9.0 / 24) : y;
		duration = p->median_s * exp(p->sigma * gsl_ran_gaussian_ziggurat(s->duration, 1));
		duration = nearbyint(fmin(fmax(duration, 1), p->max_duration_s));
		job.user = draw_user(s->user, cumulated, p->users);
		job.submit_ns = (int64_t)nearbyint(hours * 3.6e6) * 1000000;
		job.duration_ns = (int64_t)duration * FIT_NS_PER_S;
		job.gpus = draw_gpus(s->gpus, n_sizes, total);
		rc = put(arg, &job, err);
	}
	return rc;
}

int fit_synth_jobs_each(const struct fit_synth_jobs_params *p, fit_synth_put *put, void *arg,
			struct fit_err *err)
{
	struct streams s = { 0 };
	double *cumulated = NULL;
	int rc = fit_synth_jobs_params_check(p, err);

	if (rc)
		return rc;
	s.arrival = fit_rng_new(p->seed, "synth/arrivals");
	s.duration = fit_rng_new(p->seed, "synth/durations");
	s.gpus = fit_rng_new(p->seed, "synth/gpus");
	s.user = fit_rng_new(p->seed, "synth/users");
	cumulated = calloc((size_t)p->users, sizeof *cumulated);
	if (!s.arrival || !s.duration || !s.gpus || !s.user || !cumulated)
		rc = fit_fail_nomem(err);
	for (int64_t k = 0; !rc && k < p->users; k++)
		cumulated[k] = (k ? cumulated[k - 1] : 0) + 1 / (double)(k + 1);
	if (!rc)
		rc = draw_jobs(p, &s, cumulated, put, arg, err);
	free(cumulated);
	gsl_rng_free(s.arrival);
	gsl_rng_free(s.duration);
	gsl_rng_free(s.gpus);
	gsl_rng_free(s.user);
	return rc;
}

static int put_row(void *arg, const struct fit_synth_job *job, struct fit_err *err)
{
	struct fit_writer *w = arg;
	char id[FIT_NUM_MAX + 1] = "j", user[FIT_NUM_MAX + 1] = "u";

	fit_format_int64(id + 1, job->index);
	fit_format_int64(user + 1, job->user);
	fit_writer_str(w, id);
	fit_writer_str(w, user);
	fit_writer_time(w, job->submit_ns);
	fit_writer_time(w, job->duration_ns);
	fit_writer_real(w, (double)job->gpus);
	return fit_writer_end_row(w, err);
}

int fit_synth_jobs(const struct fit_synth_jobs_params *p, struct fit_writer *w,
		   const struct fit_meta *meta, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "job_id", FIT_TEXT, 0 }, { "user", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
		{ "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 }
	};
	int rc = fit_synth_jobs_params_check(p, err);

	if (!rc)
		rc = fit_writer_begin(w, NULL, meta, fields, sizeof fields / sizeof *fields, err);
	if (!rc)
		rc = fit_synth_jobs_each(p, put_row, w, err);
	return rc ? rc : fit_writer_end(w, err);
}
