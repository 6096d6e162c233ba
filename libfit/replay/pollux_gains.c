/* SPDX-License-Identifier: MIT */
#include "libfit/replay/pollux_gains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double gain_of(const struct fit_pollux_problem *p, double u)
{
	if (p->power == -1)
		return -1 / (u + 1e-3);
	if (p->power == 1)
		return u + 1e-3;
	return p->power > 0 ? pow(u + 1e-3, p->power) : -pow(u + 1e-3, p->power);
}

double fit_gains_fitness(double power, double sum, int n)
{
	double mean = sum / n;

	return power > 0 ? pow(mean, 1 / power) : pow(-mean, 1 / power);
}

/* What the job holds now, and what it is worth. */
static void set_current(struct fit_gains *g, const struct fit_pollux_problem *p, int j)
{
	const uint8_t *row = p->current + (size_t)j * (size_t)p->n_nodes;
	struct fit_pack_row *c = &g->current;

	c->n = c->replicas = 0;
	for (int m = 0; m < p->n_nodes; m++) {
		uint64_t eight;

		if (m + 8 <= p->n_nodes) {	/* rows are long and nearly empty */
			memcpy(&eight, row + m, sizeof eight);
			if (!eight) {
				m += 7;
				continue;
			}
		}
		if (!row[m])
			continue;
		if (c->replicas + row[m] > g->max) {
			c->n = c->replicas = 0;
			g->keep = -HUGE_VAL;
			return;
		}
		c->node[c->n] = m;
		c->gpus[c->n++] = row[m];
		c->replicas += row[m];
	}
	g->keep = gain_of(p, p->jobs[j].speedup[c->n > 1][c->replicas] * p->n_nodes / p->n_gpus);
}

void fit_gains_set(struct fit_gains *g, const struct fit_pollux_problem *p, int j, int top)
{
	const struct fit_pollux_job *in = &p->jobs[j];
	double scale = (double)p->n_nodes / p->n_gpus;

	g->max = in->max_replicas;
	set_current(g, p, j);
	for (int several = 0; several < 2; several++) {
		for (int r = 0; r <= g->max; r++) {
			int before = r ? g->up_to[several][r - 1] : 0;

			g->by_size[several][r] = gain_of(p, in->speedup[several][r] * scale * in->restart_factor);
			/* one GPU is never on several nodes */
			g->up_to[several][r] = (uint8_t)(r > several && g->by_size[several][r] >
							 g->by_size[several][before] ? r : before);
		}
	}
	for (int r = 0; r <= g->max; r++) {
		double most = fmax(g->by_size[0][g->up_to[0][r < top ? r : top]], g->by_size[1][g->up_to[1][r]]);

		g->hope[r] = r >= g->current.replicas ? fmax(most, g->keep) : most;
	}
}

/* ---- the price of a GPU ---- */

static int by_slope(const void *pa, const void *pb)
{
	const struct fit_gains_step *a = pa, *b = pb;

	if (a->slope > b->slope || a->slope < b->slope)
		return a->slope > b->slope ? -1 : 1;
	if (a->j != b->j)
		return a->j < b->j ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static size_t add_steps(const struct fit_gains *g, int j, struct fit_gains_step *steps)
{
	size_t n = 0;
	int at = 0;

	for (int r = 1; r <= g->max; r++) {
		if (!(g->hope[r] > g->hope[at]))
			continue;
		steps[n++] = (struct fit_gains_step){ (g->hope[r] - g->hope[at]) / (r - at), j, at, r };
		/* a step that is not as steep as the new one is taken up by it */
		while (n > 1 && steps[n - 1].slope >= steps[n - 2].slope) {
			int from = steps[n - 2].from;

			n--;
			steps[n - 1] = (struct fit_gains_step){
				(g->hope[r] - g->hope[from]) / (r - from), j, from, r };
		}
		at = r;
	}
	return n;
}

double fit_gains_price(const struct fit_gains *gains, size_t stride, int n, int n_gpus,
		       struct fit_gains_step *steps, int *sizes)
{
	double sum = 0, rest = 0;
	size_t n_steps = 0;
	int left = n_gpus;

	for (int j = 0; j < n; j++) {
		const void *at = (const char *)gains + (size_t)j * stride;

		sizes[j] = 0;
		n_steps += add_steps(at, j, steps + n_steps);
	}
	qsort(steps, n_steps, sizeof *steps, by_slope);
	for (size_t i = 0; i < n_steps; i++) {
		int gpus = steps[i].to - steps[i].from;

		if (gpus > left) {
			rest = steps[i].slope * left;
			break;
		}
		left -= gpus;
		sizes[steps[i].j] = steps[i].to;
	}
	/* from the sizes, not step by step: where the first steps are worth 1e30, the last ones would get lost */
	for (int j = 0; j < n; j++) {
		const void *at = (const char *)gains + (size_t)j * stride;

		sum += ((const struct fit_gains *)at)->hope[sizes[j]];
	}
	return sum + rest;
}
