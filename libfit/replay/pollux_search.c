/* SPDX-License-Identifier: MIT */
#include "libfit/replay/pollux_search.h"

#include <math.h>
#include <string.h>

/* (mean of (u + 1e-3)^p)^(1/p) from the sum; p = 1 and -1 without pow(). */
static double term(double u, double p)
{
	double v = u + 1e-3;

	if (p == -1)
		return 1 / v;
	return p == 1 ? v : pow(v, p);
}

static double power_mean(double sum, int n, double p)
{
	double mean = sum / n;

	if (p == -1)
		return 1 / mean;
	return p == 1 ? mean : pow(mean, 1 / p);
}

void fit_pollux_objectives(const struct fit_pollux_problem *p, const uint8_t *state, double f[2])
{
	double scale = (double)p->n_nodes / p->n_gpus, sum = 0, speedups = 0;
	int gpus_in_use = 0;

	for (int j = 0; j < p->n_jobs; j++) {
		const uint8_t *row = state + (size_t)j * (size_t)p->n_nodes;
		int replicas = 0, nodes = 0;
		double s;

		for (int m = 0; m < p->n_nodes; m++) {
			replicas += row[m];
			nodes += row[m] != 0;
		}
		s = p->jobs[j].speedup[nodes > 1][replicas];
		speedups += s;
		if (memcmp(row, p->current + (size_t)j * (size_t)p->n_nodes, (size_t)p->n_nodes) != 0)
			sum += term(s * scale * p->jobs[j].restart_factor, p->power);
		else
			sum += term(s * scale, p->power);
	}
	for (int m = 0; m < p->n_nodes; m++) {
		bool any = false;

		for (int j = 0; j < p->n_jobs && !any; j++)
			any = state[(size_t)j * (size_t)p->n_nodes + (size_t)m] != 0;
		gpus_in_use += any ? p->capacity[m] : 0;
	}
	f[0] = p->n_jobs ? -power_mean(sum, p->n_jobs, p->power) : 0;
	f[1] = gpus_in_use ? -speedups / gpus_in_use : 0;
}

const char *fit_pollux_check(const struct fit_pollux_problem *p, const uint8_t *state)
{
	for (int j = 0; j < p->n_jobs; j++) {
		int replicas = 0;

		for (int m = 0; m < p->n_nodes; m++)
			replicas += state[(size_t)j * (size_t)p->n_nodes + (size_t)m];
		if (replicas > p->jobs[j].max_replicas)
			return "a job has more replicas than it may";
	}
	for (int m = 0; m < p->n_nodes; m++) {
		int used = 0, spanning = 0;

		for (int j = 0; j < p->n_jobs; j++) {
			const uint8_t *row = state + (size_t)j * (size_t)p->n_nodes;
			int nodes = 0;

			used += row[m];
			for (int k = 0; row[m] && k < p->n_nodes; k++)
				nodes += row[k] != 0;
			spanning += nodes > 1;
		}
		if (used > p->capacity[m])
			return "a node is over-committed";
		if (p->avoid_interference && spanning > 1)
			return "two jobs that span nodes share one";
	}
	return NULL;
}
