/* SPDX-License-Identifier: MIT */
#include "libfit/model/packing.h"

#include <math.h>
#include <stdlib.h>

const char *const fit_packing_rule_names[] = { "label", "util", "mem-util", NULL };

static double value(const struct fit_colo_config *k, enum fit_packing_rule rule)
{
	switch (rule) {
	case FIT_PACKING_UTIL:
		return k->gpu_util_pct;
	case FIT_PACKING_MEM_UTIL:
		return k->mem_util_pct;
	case FIT_PACKING_LABEL:
	default:
		return k->label < 0 ? (double)NAN : (double)k->label;
	}
}

double fit_packing_sum(const struct fit_colocation *c, const struct fit_colo_pair *pair,
		       enum fit_packing_rule rule)
{
	return value(&c->configs[pair->a], rule) + value(&c->configs[pair->b], rule);
}

struct item {
	double sum;
	size_t pair;
};

static int by_sum(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	if (a->sum < b->sum || a->sum > b->sum)
		return a->sum < b->sum ? -1 : 1;
	return (a->pair > b->pair) - (a->pair < b->pair);
}

static double share(int64_t part, int64_t all)
{
	return all ? (double)part / (double)all : (double)NAN;
}

int fit_packing_sweep(const struct fit_colocation *c, const struct fit_packing_params *p,
		      struct fit_packing_row **rows, size_t *n, size_t *n_left_out)
{
	struct item *items = malloc((c->n_pairs + 1) * sizeof *items);
	struct fit_packing_row *out = malloc((c->n_pairs + 1) * sizeof *out);
	struct fit_packing_row now = { .worst_speed = (double)INFINITY };
	size_t m = 0, k = 0;
	double sum_speed = 0;

	*rows = NULL;
	*n = *n_left_out = 0;
	if (!items || !out) {
		free(items);
		free(out);
		return FIT_ENOMEM;
	}
	for (size_t i = 0; i < c->n_pairs; i++) {
		double sum = fit_packing_sum(c, &c->pairs[i], p->rule);

		if (!isnan(sum))
			items[m++] = (struct item){ sum, i };
	}
	*n_left_out = c->n_pairs - m;
	qsort(items, m, sizeof *items, by_sum);
	for (size_t i = 0; i < m;) {
		double step = 0;

		now.threshold = items[i].sum;
		now.step = 0;
		for (; i < m && items[i].sum <= now.threshold; i++) {
			const struct fit_colo_pair *x = &c->pairs[items[i].pair];
			double mean = (x->speed_a + x->speed_b) / 2;
			double worst = x->speed_a < x->speed_b ? x->speed_a : x->speed_b;

			now.chosen++;
			now.step++;
			now.chosen_free += (p->worst ? worst : mean) >= p->free_speed;
			now.worst_speed = worst < now.worst_speed ? worst : now.worst_speed;
			sum_speed += mean;
			step += mean;
		}
		now.mean_speed = sum_speed / (double)now.chosen;
		now.step_speed = step / (double)now.step;
		now.precision = share(now.chosen_free, now.chosen);
		out[k++] = now;
	}
	for (size_t i = 0; i < k; i++) {
		out[i].pairs = (int64_t)m;
		out[i].free = out[k - 1].chosen_free;
		out[i].captured = share(out[i].chosen_free, out[i].free);
	}
	free(items);
	*rows = out;
	*n = k;
	return FIT_OK;
}
