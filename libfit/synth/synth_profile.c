/* SPDX-License-Identifier: MIT */
#include "libfit/synth/synth_profile.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/rng.h"

#define GPUS_PER_NODE 4
#define MAX_SIZES 64

/* ---- gradient statistics ---- */

int64_t fit_synth_batch(const struct fit_synth_app *a, int k)
{
	int64_t b = a->init_batch;

	for (; k > 0 && b < a->max_batch; k--)
		b *= 2;
	return k > 0 ? 0 : b;
}

/* Noise grows by a power law in the square root of the part of training that is done: fast at first,
 * as in the published runs. */
double fit_synth_noise_scale(const struct fit_synth_app *a, int64_t epoch)
{
	double u = a->epochs > 1 ? (double)epoch / (double)(a->epochs - 1) : 0;

	return a->noise_first * pow(a->noise_last / a->noise_first, sqrt(u));
}

/* Progress of a step at `scale` times the initial batch, in initial-batch steps (AdaScale; Qiao et
 * al., equation 5). */
static double gain(double noise, double scale)
{
	return (noise + 1) / (noise / scale + 1);
}

/* Steps from progress p until epoch e (from 0) is over, and the progress then. */
static int64_t epoch_steps(const struct fit_synth_app *a, double scale, int64_t e, double *p)
{
	double g = gain(fit_synth_noise_scale(a, e), scale);
	int64_t n = (int64_t)ceil(((double)a->epoch_steps * (double)(e + 1) - *p) / g - 1e-9);

	n = n < 1 ? 1 : n;
	*p += (double)n * g;
	return n;
}

int64_t fit_synth_iterations(const struct fit_synth_app *a, int64_t batch)
{
	double p = 0;
	int64_t n = 0;

	for (int64_t e = 0; e < a->epochs; e++)
		n += epoch_steps(a, (double)batch / (double)a->init_batch, e, &p);
	return n;
}

/* ---- scatter ---- */

static double factor(gsl_rng *r, double sigma)
{
	return exp(sigma * gsl_ran_gaussian_ziggurat(r, 1));
}

static gsl_rng *stream(const struct fit_synth_app *a, uint64_t seed, const char *file, int64_t batch)
{
	char purpose[FIT_SYNTH_NAME_MAX + 64];

	snprintf(purpose, sizeof purpose, "synth/profile/%s/%s/%lld", a->name, file, (long long)batch);
	return fit_rng_new(seed, purpose);
}

/* ---- step times ---- */

/* Local batch sizes: a geometric grid, two to a doubling, ends included. */
static size_t local_sizes(const struct fit_synth_app *a, int64_t out[MAX_SIZES])
{
	double lo = (double)a->min_local_bsz, hi = (double)a->max_local_bsz;
	int steps = (int)nearbyint(2 * log2(hi / lo));
	int64_t last = 0;
	size_t n = 0;

	steps = steps < 1 ? 1 : steps;
	for (int k = 0; k <= steps && n < MAX_SIZES; k++) {
		int64_t b = (int64_t)nearbyint(lo * pow(hi / lo, (double)k / steps));

		if (b > last)
			out[n++] = last = b;
	}
	return n;
}

/* A measured pair: the compute part and the synchronisation part scatter on their own, and a single
 * GPU spends a little on what counts as synchronisation. */
static void measure(const struct fit_synth_app *a, int64_t nodes, int64_t replicas, int64_t local_bsz,
		    double sigma, gsl_rng *r, double *step, double *sync)
{
	double compute = fit_theta_accum_time(&a->theta, (double)local_bsz);
	double whole = fit_theta_step_time(&a->theta, nodes, replicas, (double)local_bsz);

	*sync = (whole - compute + 0.002 * compute) * factor(r, sigma);
	*step = compute * factor(r, sigma) + *sync;
}

/* Is digits[0..n) the smallest of its rotations? */
static bool is_smallest_rotation(const int *digits, int n)
{
	for (int shift = 1; shift < n; shift++) {
		for (int i = 0; i < n; i++) {
			int other = digits[(i + shift) % n];

			if (digits[i] < other)
				break;
			if (digits[i] > other)
				return false;
		}
	}
	return true;
}

int fit_synth_placements(const struct fit_synth_app *a, uint64_t seed, const struct fit_synth_noise *z,
			 struct fit_str *csv, struct fit_err *err)
{
	gsl_rng *r = stream(a, seed, "placements", 0);
	int64_t sizes[MAX_SIZES];
	size_t n_sizes = local_sizes(a, sizes);
	int rc = r ? fit_str_puts(csv, "placement,local_bsz,step_time,sync_time\n") : FIT_ENOMEM;

	for (int nodes = 1; !rc && nodes <= 4; nodes++) {
		int digits[4] = { 1, 1, 1, 1 }, last = 0;

		while (!rc && last >= 0) {
			int64_t name = 0, replicas = 0;

			for (int i = 0; i < nodes; i++) {
				name = name * 10 + digits[i];
				replicas += digits[i];
			}
			for (size_t k = 0; !rc && k < n_sizes && is_smallest_rotation(digits, nodes); k++) {
				double step, sync;

				measure(a, nodes, replicas, sizes[k], z->time, r, &step, &sync);
				rc = fit_str_printf(csv, "%lld,%lld,%.6g,%.6g\n", (long long)name,
						    (long long)sizes[k], step, sync);
			}
			for (last = nodes - 1; last >= 0 && digits[last] == GPUS_PER_NODE; last--)
				digits[last] = 1;
			if (last >= 0)
				digits[last]++;
		}
	}
	gsl_rng_free(r);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

int fit_synth_scalability(const struct fit_synth_app *a, uint64_t seed, const struct fit_synth_noise *z,
			  struct fit_str *csv, struct fit_err *err)
{
	static const int all_nodes[] = { 6, 8, 12, 16 };
	static const int all_replicas[] = { 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64 };
	gsl_rng *r = stream(a, seed, "scalability", 0);
	int64_t sizes[MAX_SIZES];
	size_t n_sizes = local_sizes(a, sizes);
	int rc = r ? fit_str_puts(csv, "num_nodes,num_replicas,local_bsz,step_time,sync_time\n") :
		 FIT_ENOMEM;

	for (size_t i = 0; i < sizeof all_nodes / sizeof *all_nodes; i++) {
		for (size_t j = 0; j < sizeof all_replicas / sizeof *all_replicas; j++) {
			int nodes = all_nodes[i], replicas = all_replicas[j];

			if (replicas < nodes || replicas > GPUS_PER_NODE * nodes)
				continue;
			for (size_t k = 0; !rc && k < n_sizes; k++) {
				double step, sync;

				measure(a, nodes, replicas, sizes[k], z->time, r, &step, &sync);
				rc = fit_str_printf(csv, "%d,%d,%lld,%.6g,%.6g\n", nodes, replicas,
						    (long long)sizes[k], step, sync);
			}
		}
	}
	gsl_rng_free(r);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

int fit_synth_validation(const struct fit_synth_app *a, int64_t batch, uint64_t seed,
			 const struct fit_synth_noise *z, struct fit_str *csv, struct fit_err *err)
{
	gsl_rng *r = stream(a, seed, "validation", batch);
	double p = 0, scale = (double)batch / (double)a->init_batch;
	int64_t steps = 0;
	int rc = r ? fit_str_puts(csv, "progress,iteration,metric,grad_sqr,grad_var\n") : FIT_ENOMEM;

	for (int64_t e = 0; !rc && e < a->epochs; e++) {
		double u = a->epochs > 1 ? (double)e / (double)(a->epochs - 1) : 1;
		double noise = fit_synth_noise_scale(a, e) * factor(r, z->gradient);
		double sqr = a->sqr_first * exp(-4 * u) * factor(r, z->gradient);
		double metric = a->metric_last + (a->metric_first - a->metric_last) *
				(exp(-6 * u) - exp(-6.0)) / (1 - exp(-6.0));

		steps += epoch_steps(a, scale, e, &p);
		rc = fit_str_printf(csv, "%.12g,%lld,%.6g,%.9g,%.9g\n", p, (long long)steps, metric, sqr,
				    sqr * noise);
	}
	gsl_rng_free(r);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- what a user would ask for ---- */

/* Seconds of a whole run on full nodes and a remainder, at the best validated batch size. */
static double best_run(const struct fit_synth_app *a, int64_t replicas, int64_t *batch)
{
	int64_t nodes = (replicas + GPUS_PER_NODE - 1) / GPUS_PER_NODE, b;
	double best = HUGE_VAL;

	for (int k = 0; (b = fit_synth_batch(a, k)) > 0; k++) {
		int64_t local = (b + replicas - 1) / replicas;
		int64_t accum = (local + a->max_local_bsz - 1) / a->max_local_bsz - 1;
		int64_t atomic = (local + accum) / (accum + 1);
		double t;

		if (local < a->min_local_bsz)
			continue;
		t = (double)fit_synth_iterations(a, b) *
		    fit_theta_iteration_time(&a->theta, nodes, replicas, (double)atomic, accum);
		if (t < best) {
			best = t;
			*batch = b;
		}
	}
	return best;
}

size_t fit_synth_configurations(const struct fit_synth_app *a, double lo, double hi,
				struct fit_tuned out[FIT_SYNTH_TUNED_MAX])
{
	static const int64_t counts[FIT_SYNTH_TUNED_MAX] = { 1, 2, 4, 6, 8, 12, 16, 24, 32, 48 };
	int64_t base_batch = a->init_batch;
	double base = best_run(a, 1, &base_batch);
	size_t n = 0;

	for (int i = 0; i < FIT_SYNTH_TUNED_MAX; i++) {
		int64_t batch = 0;
		double t, per_gpu;

		if (counts[i] * a->min_local_bsz > a->max_batch)
			break;
		t = best_run(a, counts[i], &batch);
		per_gpu = base / t / (double)counts[i];
		if (t < 43200 && per_gpu > lo && per_gpu < hi)
			out[n++] = (struct fit_tuned){ counts[i], batch, t };
	}
	if (n == 0)
		out[n++] = (struct fit_tuned){ 1, base_batch, base };
	return n;
}
