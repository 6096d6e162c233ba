/* SPDX-License-Identifier: MIT */
/*
 * pollux_search [JOBS GPUS]: processor time of one decision of the local search on a made problem with
 * nodes of four GPUs: from scratch, and again with a tenth of the jobs new and the others as the first
 * search placed them; of that second problem, up to 64 jobs, by the genetic search too. Without
 * arguments, sizes from 16 to 2048.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libfit/base/num.h"
#include "libfit/base/rng.h"
#include "libfit/replay/pollux_search.h"

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int bench(int n_jobs, int n_gpus)
{
	int nodes = n_gpus / 4;
	struct fit_pollux_job *jobs = calloc((size_t)n_jobs, sizeof *jobs);
	uint8_t *current = calloc((size_t)n_jobs * (size_t)nodes, 1), *capacity = malloc((size_t)nodes);
	struct fit_pollux_problem p = {
		.n_jobs = n_jobs, .n_nodes = nodes, .n_gpus = 4 * nodes, .jobs = jobs, .capacity = capacity,
		.current = current, .power = -1, .avoid_interference = true,
	};
	gsl_rng *r = fit_rng_new(1, "bench/pollux");
	struct fit_pollux_local *local;
	struct fit_pollux_ga *ga;
	const uint8_t *best;
	double f[2], g[2] = { 0, 0 }, bound, start, scratch_ms, local_ms, ga_ms = 0;
	struct fit_err err;

	if (!jobs || !current || !capacity || !r || fit_pollux_local_new(&local, &err) ||
	    fit_pollux_ga_new(&ga, 1, &err))
		return 1;
	memset(capacity, 4, (size_t)nodes);
	for (int j = 0; j < n_jobs; j++) {
		double bend = 0.4 + 0.6 * gsl_rng_uniform(r), cost = 0.6 + 0.4 * gsl_rng_uniform(r);

		jobs[j].id = (uint32_t)j;
		jobs[j].max_replicas = 1 << gsl_rng_uniform_int(r, 6);
		jobs[j].restart_factor = 0.5 + 0.5 * gsl_rng_uniform(r);
		for (int k = 1; k <= FIT_POLLUX_REPLICAS_MAX; k++) {
			jobs[j].speedup[0][k] = pow(k, bend);
			jobs[j].speedup[1][k] = k > 1 ? cost * pow(k, bend) : 0;
		}
	}
	start = cpu_ms();
	if (fit_pollux_local_search(local, &p, &best, f, &bound, &err))
		return 1;
	scratch_ms = cpu_ms() - start;
	memcpy(current, best, (size_t)n_jobs * (size_t)nodes);
	for (int j = 0; j < n_jobs; j += 10)
		memset(current + (size_t)j * (size_t)nodes, 0, (size_t)nodes);
	start = cpu_ms();
	if (fit_pollux_local_search(local, &p, &best, f, &bound, &err))
		return 1;
	local_ms = cpu_ms() - start;
	if (n_jobs <= 64) {
		start = cpu_ms();
		if (fit_pollux_ga_search(ga, &p, &best, g, &err))
			return 1;
		ga_ms = cpu_ms() - start;
	}
	printf("%d\t%d\t%.2f\t%.2f\t%.2f\t%.5f\t%.5f\t%.5f\n", n_jobs, n_gpus, scratch_ms, local_ms, ga_ms, -f[0], -g[0], bound);
	fit_pollux_local_free(local);
	fit_pollux_ga_free(ga);
	gsl_rng_free(r);
	free(jobs);
	free(current);
	free(capacity);
	return 0;
}

int main(int argc, char **argv)
{
	int64_t n, g;

	printf("jobs\tgpus\tscratch_ms\tlocal_ms\tga_ms\tfitness_local\tfitness_ga\tbound\n");
	if (argc == 3)
		return fit_parse_int64(fit_text_of(argv[1]), &n) || fit_parse_int64(fit_text_of(argv[2]), &g) ||
		       n < 1 || g < 4 || n > 100000 || g > 100000 ? 2 : bench((int)n, (int)g);
	for (int k = 16; k <= 2048; k *= 2)
		if (bench(k, 2 * k > 2048 ? 2048 : 2 * k))
			return 1;
	return 0;
}
