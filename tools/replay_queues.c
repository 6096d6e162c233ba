/* SPDX-License-Identifier: MIT */
#include "tools/replay_queues.h"

#include <string.h>

#include "libfit/base/num.h"

const char *const replay_services[] = { "gpu-time", "time", NULL };
const char *const replay_gittins[] = { "paper", "artifact", NULL };

struct replay_queue_options replay_queue_defaults(void)
{
	return (struct replay_queue_options){ .threshold_gpu_s = -1, .gittins = -1 };
}

/* Limits by commas, which do not fall. */
static int parse_queues(struct cli *cli, const char *text, struct fit_queues *q)
{
	const char *at = text;

	for (q->n_limits = 0;; at++) {
		size_t n = strcspn(at, ",");
		int64_t limit;

		if (q->n_limits == FIT_QUEUES_MAX - 1)
			return cli_usage(cli, "--queues %s: too many queues (expected at most %d limits)", text,
					 FIT_QUEUES_MAX - 1);
		if (fit_parse_int64((struct fit_text){ at, n }, &limit) || limit < 0 || limit > 9000000000000000 ||
		    (q->n_limits && limit < q->limit_s[q->n_limits - 1]))
			return cli_usage(cli, "bad limit '%.*s' of --queues (expected seconds of service that do not fall, "
					 "such as 3250,7200)", (int)n, at);
		q->limit_s[q->n_limits++] = limit;
		at += n;
		if (!*at)
			return 0;
	}
}

int replay_queue_check(struct cli *cli, const struct replay_queue_options *o, struct fit_replay_params *p)
{
	struct fit_queues *q = &p->policy_params.queues;

	if (o->queues && o->threshold_gpu_s >= 0)
		return cli_usage(cli, "both --queues and --tiresias-threshold (expected one of them)");
	if (o->threshold_gpu_s >= 0) {
		q->limit_s[0] = o->threshold_gpu_s;
		q->n_limits = 1;
	}
	if (o->stale_ends && strcmp(p->fidelity->name, "tiresias-nsdi19") != 0)
		return cli_usage(cli, "--stale-ends needs --fidelity tiresias-nsdi19");
	p->stale_ends = o->stale_ends;
	if (o->gittins >= 0)
		p->policy_params.gittins_artifact = o->gittins == 1;
	if (o->gpu_times && p->policy != &fit_policy_gittins && p->policy != &fit_policy_tiresias_g)
		return cli_usage(cli, "--policy %s: no use for --gpu-times", p->policy->name);
	q->by_time = o->service == 1;
	q->promote = o->promote;
	return o->queues ? parse_queues(cli, o->queues, q) : 0;
}

int replay_gpu_times_open(struct replay_gpu_times *g, const struct replay_queue_options *o,
			  struct fit_replay_params *p, struct fit_err *err)
{
	/* the simulator's file has one column, duration */
	static const struct fit_field fields[] = {
		{ "gpu_s", FIT_REAL, FIT_F_OPTIONAL }, { "duration", FIT_REAL, FIT_F_OPTIONAL },
	};
	struct fit_table *t = &g->table;
	const double *values;
	int rc = o->gpu_times ? fit_table_read(t, o->gpu_times, fields, 2, err) : FIT_OK;

	if (rc || !o->gpu_times)
		return rc;
	if (!t->n_rows)
		return fit_fail(err, FIT_EDATA, "%s: no GPU times (expected those of past jobs)", t->input);
	values = fit_real_is_na(t->columns[0].d[0]) ? t->columns[1].d : t->columns[0].d;
	for (size_t i = 0; i < t->n_rows; i++)
		if (!(values[i] >= 0 && values[i] <= 1e15))
			return fit_table_fail(t, i, FIT_EDATA, values == t->columns[1].d ? "duration" : "gpu_s", err,
					      "missing or out of range (expected GPU-seconds)");
	p->policy_params.gpu_times = values;
	p->policy_params.n_gpu_times = t->n_rows;
	p->policy_params.gpu_times_hash = t->hash;
	return FIT_OK;
}

void replay_gpu_times_release(struct replay_gpu_times *g)
{
	fit_table_release(&g->table);
}
