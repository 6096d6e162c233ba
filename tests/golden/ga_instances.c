/* SPDX-License-Identifier: MIT */
/*
 * ga_instances FILE: problems that the Pollux artifact met in a run (one JSON object a line, see
 * spec D.3): for each state given there, are both objectives what the artifact computed; and is the
 * local search as good as the state that the artifact chose? Prints counts for the shell test.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/goodput.h"
#include "libfit/replay/pollux_search.h"
#include "libfit/table/source.h"

static struct {
	int instances, states, wrong, better, illegal;
	double worst_error, worst_ratio, sum_ratio;
} count = { .worst_ratio = HUGE_VAL };

static double number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void fill_job(const json_t *o, int n_jobs, struct fit_pollux_job *job)
{
	const json_t *perf = json_object_get(o, "perf"), *grad = json_object_get(o, "grad");
	const json_t *range = json_object_get(o, "local_range");
	double age = number(o, "age"), restarts = number(o, "num_restarts");
	struct fit_goodput g = {
		.init_batch = (int64_t)number(o, "init_bsz"),
		.max_batch = (int64_t)number(o, "max_bsz"),
		.max_accum = -1,
	};
	int fair = (64 + n_jobs - 1) / n_jobs;
	double base;

	job->max_replicas = (int)number(o, "max_replicas");
	job->restart_factor = fmax(age - 30 * restarts, 0) / (age + 30);
	if (!json_is_array(perf)) {	/* nothing was profiled yet */
		for (int r = 0; r <= FIT_POLLUX_REPLICAS_MAX; r++)
			job->speedup[0][r] = job->speedup[1][r] = (double)r / fair;
		return;
	}
	for (size_t i = 0; i < FIT_THETA_N; i++)
		g.theta.v[i] = json_number_value(json_array_get(perf, i));
	g.grad_sqr = json_number_value(json_array_get(grad, 0));
	g.grad_var = json_number_value(json_array_get(grad, 1));
	g.min_local_bsz = (int64_t)json_number_value(json_array_get(range, 0));
	g.max_local_bsz = (int64_t)json_number_value(json_array_get(range, 1));
	base = fit_goodput_best(&g, 1, fair).goodput;
	job->speedup[0][0] = job->speedup[1][0] = 0;
	for (int r = 1; r <= FIT_POLLUX_REPLICAS_MAX; r++)
		for (int several = 0; several < 2; several++)
			job->speedup[several][r] = several && r < 2 ? 0 :
				fit_goodput_best(&g, 1 + several, r).goodput / base;
}

static void read_state(const json_t *rows, const struct fit_pollux_problem *p, uint8_t *out)
{
	for (int j = 0; j < p->n_jobs; j++)
		for (int m = 0; m < p->n_nodes; m++)
			out[j * p->n_nodes + m] = (uint8_t)json_integer_value(
				json_array_get(json_array_get(rows, (size_t)j), (size_t)m));
}

static void check_state(const json_t *rows, const json_t *want, const struct fit_pollux_problem *p, uint8_t *state)
{
	double f[2];
	bool right = true;

	read_state(rows, p, state);
	fit_pollux_objectives(p, state, f);
	for (size_t k = 0; k < 2; k++) {
		double w = json_number_value(json_array_get(want, k)), e = fabs(f[k] - w) / fmax(fabs(w), 1e-300);

		right = right && e < 1e-12;
		count.worst_error = fmax(count.worst_error, fabs(w) > 0 ? e : fabs(f[k]));
	}
	count.states++;
	count.wrong += !right;
}

static int check_instance(const json_t *o, struct fit_pollux_local *search)
{
	const json_t *jobs = json_object_get(o, "jobs"), *samples = json_object_get(o, "samples");
	int n = (int)json_array_size(jobs), nodes = (int)number(o, "num_nodes");
	size_t cells = (size_t)n * (size_t)nodes;
	struct fit_pollux_job *list = calloc((size_t)n, sizeof *list);
	uint8_t *current = calloc(cells, 1), *state = calloc(cells, 1), *capacity = malloc((size_t)nodes);
	struct fit_pollux_problem p = {
		.n_jobs = n, .n_nodes = nodes, .n_gpus = 4 * nodes, .jobs = list, .capacity = capacity,
		.current = current, .power = -1, .avoid_interference = true,
	};
	double f[2], bound, chosen = json_number_value(json_array_get(json_object_get(o, "chosen_F"), 0));
	const uint8_t *best;
	struct fit_err err;
	int rc = list && current && state && capacity ? 0 : 1;

	for (int j = 0; j < n && !rc; j++) {
		const json_t *job = json_array_get(jobs, (size_t)j), *base = json_object_get(job, "base");

		fill_job(job, n, &list[j]);
		for (size_t i = 0; i < json_array_size(base); i++)
			current[j * nodes + (int)json_integer_value(json_array_get(base, i))]++;
	}
	if (!rc) {
		memset(capacity, 4, (size_t)nodes);
		check_state(json_object_get(o, "chosen_state"), json_object_get(o, "chosen_F"), &p, state);
		for (size_t i = 0; i < json_array_size(samples); i++)
			check_state(json_object_get(json_array_get(samples, i), "state"),
				    json_object_get(json_array_get(samples, i), "F"), &p, state);
		rc = fit_pollux_local_search(search, &p, &best, f, &bound, &err);
	}
	if (!rc) {
		double ratio = f[0] / chosen;

		count.instances++;
		count.better += ratio >= 1 - 1e-12;
		count.illegal += fit_pollux_check(&p, best) != NULL || -f[0] > bound * (1 + 1e-9);
		count.worst_ratio = fmin(count.worst_ratio, ratio);
		count.sum_ratio += ratio;
	}
	free(list);
	free(current);
	free(state);
	free(capacity);
	return rc;
}

int main(int argc, char **argv)
{
	struct fit_pollux_local *search;
	struct fit_source *s;
	struct fit_err err;
	char *line;
	size_t n;

	if (argc != 2 || fit_source_open(&s, argv[1], &err) || fit_pollux_local_new(&search, &err))
		return 2;
	while (!fit_source_line(s, &line, &n, &err)) {
		json_t *o = json_loadb(line, n, 0, NULL);

		if (!o || check_instance(o, search))
			return 2;
		json_decref(o);
	}
	printf("instances %d states %d wrong %d worst_error %.3g better %d illegal %d worst_ratio %.6f mean_ratio %.6f\n",
	       count.instances, count.states, count.wrong, count.worst_error, count.better, count.illegal,
	       count.worst_ratio, count.sum_ratio / count.instances);
	fit_pollux_local_free(search);
	fit_source_close(s);
	return 0;
}
