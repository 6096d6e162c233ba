/* SPDX-License-Identifier: MIT */
#include "tools/replay_queues.h"

#include <string.h>

#include "libfit/base/num.h"

const char *const replay_services[] = { "gpu-time", "time", NULL };

struct replay_queue_options replay_queue_defaults(void)
{
	return (struct replay_queue_options){ .threshold_gpu_s = -1 };
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
	q->by_time = o->service == 1;
	q->promote = o->promote;
	return o->queues ? parse_queues(cli, o->queues, q) : 0;
}
