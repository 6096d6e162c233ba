/* SPDX-License-Identifier: MIT */
/*
 * boa_cost SPEEDUPS CLASSES: processor time of the frontier of these tables, free and with rescale
 * times, from tables in memory to the sorted and summed edges; best of a number of rounds.
 * boa_cost N: the same of N generated classes with 10 epochs and 64 widths.
 * A line each: what, widths, edges, shortest paths, milliseconds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "libfit/base/num.h"
#include "libfit/base/rng.h"
#include "libfit/model/boa.h"

static double processor_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Amdahl's law with noise, a little faster from epoch to epoch. */
static int generate(struct fit_speedups *s, struct fit_boa_classes *c, int64_t n, struct fit_err *err)
{
	struct fit_speedup_rows rows = { 0 };
	gsl_rng *rng = fit_rng_new(1, "bench/boa");
	int rc = rng ? FIT_OK : fit_fail_nomem(err);

	for (int64_t i = 0; i < n && !rc; i++) {
		double serial = 0.01 + 0.2 * gsl_rng_uniform(rng), speed = exp(3 * gsl_rng_uniform(rng));
		struct fit_speedup_row row = { .work = 1 };
		char name[40];

		snprintf(name, sizeof name, "class%07lld", (long long)i);
		rc = fit_speedup_rows_class(&rows, fit_text_of(name), &row.class_no, err);
		if (!rc)
			rc = fit_speedup_rows_type(&rows, (struct fit_text){ 0 }, &row.type, err);
		for (uint32_t j = 0; j < 10; j++)
			for (uint32_t k = 1; k <= 64 && !rc; k++) {
				row.epoch = j;
				row.gpus = k;
				row.work = 500 + 10 * j;
				row.speed = speed * (1 + 0.1 * gsl_rng_uniform(rng)) /
					    (serial / (1 + 0.1 * j) + (1 - serial) / k);
				rc = fit_speedup_rows_add(&rows, &row, err);
			}
		if (!rc && fit_grow(&c->rows, &c->cap, c->n + 1, sizeof *c->rows))
			rc = fit_fail_nomem(err);
		if (!rc)
			c->rows[c->n++] = (struct fit_boa_class_row){
				fit_strdup(fit_text_of(name)), NULL, 0.001 * (1 + gsl_rng_uniform(rng)),
				(double)NAN, 20 + 100 * gsl_rng_uniform(rng), 1
			};
	}
	gsl_rng_free(rng);
	if (!rc)
		rc = fit_speedups_finish(s, &rows, NULL, err);
	fit_speedup_rows_release(&rows);
	return rc;
}

static int measure(const struct fit_speedups *s, const struct fit_boa_classes *c, bool free_rescale,
		   struct fit_err *err)
{
	const struct fit_boa_params params = { .free_rescale = free_rescale };
	double best = (double)INFINITY, spent = 0;
	size_t widths = 0, edges = 0;
	uint64_t paths = 0;

	for (int round = 0; round < 20 && (round < 2 || spent < 1000); round++) {
		double start = processor_ms(), ms;
		struct fit_boa_frontier f;
		struct fit_boa b;
		int rc = fit_boa_build(&b, s, c, &params, err);

		if (rc)
			return rc;
		rc = fit_boa_frontier_build(&f, &b, err);
		if (rc)
			return rc;
		ms = processor_ms() - start;
		widths = b.n_widths;
		edges = f.n_edges;
		paths = f.paths;
		if (f.n_edges == 0 || !(f.jct[f.n_edges] > 0))
			return fit_fail(err, FIT_EDATA, "no frontier");
		fit_boa_frontier_release(&f);
		fit_boa_release(&b);
		best = fmin(best, ms);
		spent += ms;
	}
	printf("%s\t%zu\t%zu\t%llu\t%.3f\n", free_rescale ? "free" : "rescale", widths, edges,
	       (unsigned long long)paths, best);
	return FIT_OK;
}

int main(int argc, char **argv)
{
	struct fit_boa_classes c = { 0 };
	struct fit_speedups s = { 0 };
	struct fit_err err = { 0 };
	int64_t n = 0;
	int rc;

	if (argc == 3) {
		rc = fit_speedups_read(&s, argv[1], false, &err);
		if (!rc)
			rc = fit_boa_classes_read(&c, argv[2], &err);
	} else if (argc == 2 && !fit_parse_int64(fit_text_of(argv[1]), &n) && n > 0) {
		rc = generate(&s, &c, n, &err);
	} else {
		return 2;
	}
	if (!rc)
		rc = measure(&s, &c, true, &err);
	if (!rc)
		rc = measure(&s, &c, false, &err);
	if (rc)
		fprintf(stderr, "boa_cost: %s\n", err.msg);
	fit_speedups_release(&s);
	fit_boa_classes_release(&c);
	return rc != FIT_OK;
}
