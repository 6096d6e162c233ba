/* SPDX-License-Identifier: MIT */
#include "tools/replay_share.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

const char *const replay_share_survivors[] = { "recovers", "keeps-speed", NULL };

struct replay_share_options replay_share_defaults(void)
{
	struct fit_policy_params p = fit_policy_params_default();
	struct fit_profiler_params q = fit_profiler_params_default();

	return (struct replay_share_options){
		.profiler_time_ns = q.limit_ns,
		.profiler_gpus = q.most_gpus,
		.pack_score = p.pack_score,
		.survivor = -1,
		.wide_wait_ns = -1,
		.gpu_mem_mib = p.gpu_mem_mib,
		.pack_util_pct = p.pack_util_pct,
	};
}

int replay_share_check(struct cli *cli, const struct replay_share_options *o, struct fit_replay_params *p)
{
	bool shares = (p->policy->needs & FIT_SHARES) != 0;

	if (shares && (!o->configs || !o->pairs))
		return cli_usage(cli, "--policy %s: --configs and --pairs are needed (what was measured of jobs alone "
				 "and in pairs)", p->policy->name);
	if (o->lender && (!o->profiler || !o->forecast))
		return cli_usage(cli, "--profiler-lender needs --profiler and --forecast");
	p->policy_params.pack = !o->no_packing;
	p->policy_params.estimate = !o->no_estimator;
	p->policy_params.pack_score = o->pack_score;
	p->policy_params.pack_util_pct = o->pack_util_pct;
	p->policy_params.gpu_mem_mib = o->gpu_mem_mib;
	p->profiler.limit_ns = o->profiler_time_ns;
	p->profiler.most_gpus = o->profiler_gpus;
	p->profiler.naive = o->profiler_naive;
	if (o->wide_wait_ns >= 0)
		p->policy_params.wide_wait_ns = o->wide_wait_ns;
	if (o->survivor >= 0)
		p->survivor_keeps_speed = o->survivor == 1;
	if (p->fidelity->profiler_places_alike)
		p->profiler.placement = (int)p->placement;
	return 0;
}

static int read_forecast(struct replay_share *s, const char *operand, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "time_s", FIT_TIME, FIT_F_NOT_NA }, { "jobs", FIT_REAL, FIT_F_NOT_NA },
		{ "gpus", FIT_REAL, FIT_F_NOT_NA }
	};
	struct fit_table *t = &s->forecast_table;
	int rc = fit_table_read(t, operand, fields, 3, err);

	for (size_t i = 1; i < t->n_rows && !rc; i++)
		if (t->columns[0].i[i] <= t->columns[0].i[i - 1])
			rc = fit_table_fail(t, i, FIT_EDATA, "time_s", err, "time goes back (expected more than before)");
	if (rc)
		return rc;
	s->forecast = (struct fit_forecast){ t->columns[0].i, t->columns[1].d, t->columns[2].d, t->n_rows };
	return FIT_OK;
}

/* Nodes of the profiler are alike, so that its queue can be consolidated on them. */
static int set_profiler(struct replay_share *s, const struct replay_share_options *o,
			struct fit_partitions *ps, struct fit_replay_params *p, struct fit_err *err)
{
	const char *wrong;
	size_t n;
	int rc = fit_partitions_set_apart(ps, o->profiler, &s->nodes, &n, err);

	if (rc)
		return fit_fail_prefix(err, rc, "--profiler %s", o->profiler);
	p->profiler.node_gpus = 0;
	for (size_t i = 0; i < n; i++) {
		const struct fit_partition *part = ps->p;
		int32_t gpus;

		while (s->nodes[i] >= part->first_node + part->cluster.n_nodes)
			part++;
		gpus = part->cluster.gpus[s->nodes[i] - part->first_node];
		if (i && gpus != p->profiler.node_gpus)
			return fit_fail(err, FIT_EINVAL, "--profiler %s: nodes of %d and %d GPUs (expected nodes that are "
					"alike)", o->profiler, (int)p->profiler.node_gpus, (int)gpus);
		p->profiler.node_gpus = gpus;
	}
	p->profiler.nodes = (int32_t)n;
	p->profiler_nodes = s->nodes;
	p->profiler_text = o->profiler;
	wrong = fit_profiler_params_check(&p->profiler);
	return wrong ? fit_fail(err, FIT_EINVAL, "--profiler %s: %s", o->profiler, wrong) : FIT_OK;
}

/* The forecast decides when the node goes back: five times the size of the largest job that is profiled. */
static int set_lender(struct replay_share *s, const struct replay_share_options *o,
		      const struct fit_partitions *ps, struct fit_replay_params *p, struct fit_err *err)
{
	const struct fit_partition *part = !ps->named && strcmp(o->lender, "cluster") ? NULL :
					   fit_partitions_find(ps, fit_text_of(o->lender));

	if (!part)
		return fit_fail(err, FIT_EINVAL, "--profiler-lender %s: no such %s", o->lender, ps->named ?
				"virtual cluster" : "part (expected cluster; others with --virtual-clusters)");
	if (fit_cluster_typed(&part->cluster))
		return fit_fail(err, FIT_EINVAL, "--profiler-lender %s: no nodes are lent between GPU types", o->lender);
	if (part->cluster.max_node_gpus < p->profiler.node_gpus)
		return fit_fail(err, FIT_EINVAL, "--profiler-lender %s: no node of %d GPUs, as the profiler has",
				o->lender, (int)p->profiler.node_gpus);
	p->profiler_lender = part;
	p->profiler.forecast = &s->forecast;
	p->profiler.shrink_gpus = 5 * (double)p->profiler.most_gpus;
	return FIT_OK;
}

int replay_share_open(struct replay_share *s, const struct replay_share_options *o,
		      struct fit_partitions *partitions, struct fit_replay_params *p, struct fit_err *err)
{
	int rc = FIT_OK;

	*s = (struct replay_share){ .nodes = NULL };
	if (o->configs)
		rc = fit_colocation_load(&s->colocation, o->configs, o->pairs, err);
	if (!rc && o->configs)
		p->colocation = &s->colocation;
	if (!rc && o->forecast)
		rc = read_forecast(s, o->forecast, err);
	if (!rc && o->forecast)
		p->policy_params.forecast = &s->forecast;
	if (!rc && o->profiler)
		rc = set_profiler(s, o, partitions, p, err);
	return rc || !o->lender ? rc : set_lender(s, o, partitions, p, err);
}

void replay_share_release(struct replay_share *s)
{
	fit_colocation_release(&s->colocation);
	fit_table_release(&s->forecast_table);
	free(s->nodes);
	*s = (struct replay_share){ .nodes = NULL };
}

void replay_share_note(const struct cli *cli, const struct fit_replay_params *p,
		       const struct fit_replay_counts *c)
{
	if (p->profiler.nodes)
		cli_note(cli, "%llu jobs profiled, %llu done by then", (unsigned long long)c->profiled,
			 (unsigned long long)c->profiled_done);
	if (p->colocation)
		cli_note(cli, "%llu jobs joined another one, %llu of them in pairs that were not measured",
			 (unsigned long long)c->shared, (unsigned long long)c->unmeasured);
}
