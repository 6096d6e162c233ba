/* SPDX-License-Identifier: MIT */
/*
 * Autoscaling by utility (utility.h): the goodput rule of Pollux, the throughput rule of Or et al.
 * (MLSys'20, as the Pollux paper describes it), the target utilisation of Pollux's artifact, and the target
 * efficiencies that BOA Constrictor is compared with (arXiv 2602.01404, appendix F).
 */
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/replay/autoscale.h"
#include "libfit/replay/utility.h"

#define HISTORY 15	/* values that the target utilisation is a mean of */

struct state {
	double held[HISTORY + 1];
	int n;
};

static int utility_init(void **state, const struct fit_scaling *s, struct fit_err *err)
{
	(void)s;
	*state = calloc(1, sizeof(struct state));
	return *state ? FIT_OK : fit_fail_nomem(err);
}

/* The size that was asked for last; at least 1 is asked for while there are jobs. */
static int64_t size_now(const struct fit_scaling *s)
{
	return s->provisioner->wanted > 1 ? s->provisioner->wanted : 1;
}

static int bisect(const struct fit_scaling *s, const struct fit_utility *u, double target, int64_t *nodes,
		  struct fit_err *err)
{
	int64_t least = s->provisioner->p.min_nodes > 1 ? s->provisioner->p.min_nodes : 1;

	return fit_utility_bisect(s->view, u, least, s->provisioner->n_nodes, target, nodes, err);
}

/* Within low and high nothing changes; else the size whose utility is nearest to low. */
static int to_low(const struct fit_scaling *s, bool throughput, int64_t *nodes, struct fit_err *err)
{
	const struct fit_utility u = { .base_gpus = s->view->cluster->gpus[0], .throughput = throughput,
				 .type = FIT_ANY_TYPE };
	double now;
	int rc = fit_utility_of_size(s->view, &u, size_now(s), &now, err);

	*nodes = size_now(s);
	if (rc || (now >= s->params->low && now <= s->params->high))
		return rc;
	return bisect(s, &u, s->params->low, nodes, err);
}

static int goodput_want(void *state, const struct fit_scaling *s, int64_t *nodes, struct fit_err *err)
{
	(void)state;
	return to_low(s, false, nodes, err);
}

static int throughput_want(void *state, const struct fit_scaling *s, int64_t *nodes, struct fit_err *err)
{
	(void)state;
	return to_low(s, true, nodes, err);
}

/* Of what is held now, the mean of the last 15 decisions; beyond low and high the size that would
 * bring it to the middle, and a new start. */
static int utilisation_want(void *state, const struct fit_scaling *s, int64_t *nodes, struct fit_err *err)
{
	const struct fit_utility u = { .base_gpus = 1, .type = s->provisioner->type };
	struct state *st = state;
	double mean = 0;
	int rc = fit_utility_held(s->view, &u, size_now(s), &st->held[st->n], err);

	*nodes = size_now(s);
	if (rc || ++st->n <= HISTORY)
		return rc;
	for (int i = 0; i < HISTORY; i++) {
		st->held[i] = st->held[i + 1];
		mean += st->held[i] / HISTORY;
	}
	st->n = HISTORY;
	if (mean >= s->params->low && mean <= s->params->high)
		return FIT_OK;
	st->n = 0;
	return bisect(s, &u, (s->params->low + s->params->high) / 2, nodes, err);
}

/* What the policy says of a size, or what agents do. */
static int efficiency_of(const struct fit_scaling *s, const struct fit_utility *u, int64_t nodes, double *x,
			 struct fit_err *err)
{
	return s->policy->efficiency ? s->policy->efficiency(s->policy_state, s->view, nodes, x, err) :
	       fit_utility_of_size(s->view, u, nodes, x, err);
}

/* All sizes, for efficiencies that do not fall with every node: the nearest, the smallest one on ties. */
static int enumerate(const struct fit_scaling *s, const struct fit_utility *u, double target, int64_t *nodes,
		     struct fit_err *err)
{
	int64_t least = s->provisioner->p.min_nodes > 1 ? s->provisioner->p.min_nodes : 1;
	double best = 0;

	for (int64_t n = least; n <= s->provisioner->n_nodes; n++) {
		double at, off;
		int rc = efficiency_of(s, u, n, &at, err);

		if (rc)
			return rc;
		off = at > target ? at - target : target - at;
		if (n == least || off < best) {
			best = off;
			*nodes = n;
		}
	}
	return FIT_OK;
}

/* Within delta of the target nothing changes; else the size whose efficiency is nearest to it. */
static int to_target(const struct fit_scaling *s, bool all, int64_t *nodes, struct fit_err *err)
{
	const struct fit_utility u = { .base_gpus = 1, .type = s->provisioner->type };
	double target = s->params->target, delta = 0.3 * (target < 0.5 ? target : 1 - target), now;
	int rc = efficiency_of(s, &u, size_now(s), &now, err);

	*nodes = size_now(s);
	if (rc || (now >= target - delta && now <= target + delta))
		return rc;
	return all ? enumerate(s, &u, target, nodes, err) : bisect(s, &u, target, nodes, err);
}

static int pollux_want(void *state, const struct fit_scaling *s, int64_t *nodes, struct fit_err *err)
{
	(void)state;
	return to_target(s, false, nodes, err);
}

/* A type that nobody could be on now needs no nodes. */
static int sia_want(void *state, const struct fit_scaling *s, int64_t *nodes, struct fit_err *err)
{
	(void)state;
	*nodes = 0;
	return fit_utility_jobs(s->view, s->provisioner->type) ? to_target(s, false, nodes, err) : FIT_OK;
}

static int rubick_want(void *state, const struct fit_scaling *s, int64_t *nodes, struct fit_err *err)
{
	(void)state;
	return to_target(s, true, nodes, err);
}

static int target_describe(const struct fit_autoscale_params *p, struct fit_meta *meta)
{
	char text[FIT_NUM_MAX];

	fit_format_double(text, p->target);
	return fit_meta_add(meta, "target_efficiency", text);
}

static int utility_describe(const struct fit_autoscale_params *p, struct fit_meta *meta)
{
	char text[FIT_NUM_MAX];
	int rc;

	fit_format_double(text, p->low);
	rc = fit_meta_add(meta, "scale_low", text);
	fit_format_double(text, p->high);
	return rc ? rc : fit_meta_add(meta, "scale_high", text);
}

const struct fit_autoscaler fit_autoscale_goodput = {
	.name = "goodput",
	.summary = "goodput against perfect scaling from one node, between --scale-low and --scale-high",
	.needs = FIT_SCALES_AGENTS,
	.want = goodput_want,
	.describe = utility_describe,
};

const struct fit_autoscaler fit_autoscale_throughput = {
	.name = "throughput",
	.summary = "the same of throughput, whatever the batch size is worth",
	.needs = FIT_SCALES_AGENTS,
	.want = throughput_want,
	.describe = utility_describe,
};

const struct fit_autoscaler fit_autoscale_utilisation = {
	.name = "utilisation",
	.summary = "goodput of what is held against perfect scaling from one GPU, mean of 15 decisions",
	.needs = FIT_SCALES_AGENTS,
	.init = utility_init,
	.free = free,
	.want = utilisation_want,
	.describe = utility_describe,
};

const struct fit_autoscaler fit_autoscale_pollux = {
	.name = "pollux",
	.summary = "efficiency near --target-efficiency, by bisection",
	.needs = FIT_SCALES_AGENTS,
	.want = pollux_want,
	.describe = target_describe,
};

const struct fit_autoscaler fit_autoscale_rubick = {
	.name = "rubick",
	.summary = "the same, of all sizes",
	.needs = FIT_SCALES_AGENTS | FIT_SCALES_EITHER,
	.want = rubick_want,
	.describe = target_describe,
};

const struct fit_autoscaler fit_autoscale_sia = {
	.name = "sia",
	.summary = "the same by bisection, for each GPU type apart",
	.needs = FIT_SCALES_AGENTS | FIT_SCALES_TYPES,
	.want = sia_want,
	.describe = target_describe,
};
