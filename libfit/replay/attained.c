/* SPDX-License-Identifier: MIT */
#include "libfit/replay/attained.h"

#include <math.h>

#include "libfit/base/num.h"

void fit_attained_init(struct fit_attained *a, const struct fit_view *v, const struct fit_policy_params *p)
{
	*a = (struct fit_attained){
		.queues = p->queues,
		.over = v->fidelity->tiresias_over,
		.one_level = v->fidelity->tiresias_one_level,
		.late_wake = v->fidelity->tiresias_late_wake,
		.whole_seconds = v->fidelity->tiresias_whole_seconds,
	};
}

int fit_attained_describe(const struct fit_policy_params *p, struct fit_meta *meta)
{
	char text[FIT_QUEUES_MAX * FIT_NUM_MAX] = "none", number[FIT_NUM_MAX];
	const struct fit_queues *q = &p->queues;
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < q->n_limits; i++) {
		if (n)
			text[n++] = ',';
		fit_format_int64(number, q->limit_s[i]);
		for (const char *c = number; *c; c++)
			text[n++] = *c;
		text[n] = '\0';
	}
	rc = fit_meta_add(meta, "tiresias_queues", text);
	rc = rc ? rc : fit_meta_add(meta, "tiresias_service", q->by_time ? "time" : "gpu-time");
	if (rc || !(q->promote > 0))
		return rc;
	fit_format_double(number, q->promote);
	return fit_meta_add(meta, "tiresias_promote", number);
}

void fit_attained_change(struct fit_attained_job *j, bool runs, int64_t now_ns)
{
	if (j->runs)
		j->executed_ns += now_ns - j->since_ns;
	else if (j->executed_ns)
		j->waited_ns += now_ns - j->since_ns;
	j->since_ns = now_ns;
	j->runs = runs;
}

/* Wall time after which a job of that demand leaves its queue, rounded up to a nanosecond. */
static int64_t leaves_after_ns(const struct fit_attained *a, const struct fit_attained_job *j, int64_t gpus)
{
	int64_t weight = a->queues.by_time ? 1 : gpus, s, rest;

	if (j->queue >= a->queues.n_limits)
		return INT64_MAX;
	s = a->queues.limit_s[j->queue] / weight;
	rest = a->queues.limit_s[j->queue] % weight;
	if (s > INT64_MAX / FIT_NS_PER_S - 1)
		return INT64_MAX;
	return s * FIT_NS_PER_S + (a->over ? rest * FIT_NS_PER_S / weight + 1 :
				   (rest * FIT_NS_PER_S + weight - 1) / weight);
}

bool fit_attained_demote(const struct fit_attained *a, struct fit_attained_job *j, int64_t gpus,
			 int64_t now_ns)
{
	int64_t executed = fit_attained_executed_ns(j, now_ns);
	uint8_t from = j->queue;

	while (j->queue < a->queues.n_limits && executed >= leaves_after_ns(a, j, gpus) &&
	       !(a->one_level && j->queue > from))
		j->queue++;
	return j->queue > from;
}

int64_t fit_attained_spent_at(const struct fit_attained *a, const struct fit_attained_job *j, int64_t gpus)
{
	int64_t limit = leaves_after_ns(a, j, gpus), at;

	return limit == INT64_MAX || __builtin_add_overflow(j->since_ns - j->executed_ns, limit, &at) ?
	       INT64_MAX : at;
}

int64_t fit_attained_demote_at(const struct fit_attained *a, const struct fit_attained_job *j, int64_t gpus,
			       int64_t now_ns)
{
	int64_t executed = fit_attained_executed_ns(j, now_ns), left, limit;

	if (j->queue >= a->queues.n_limits)
		return INT64_MAX;
	if (!a->late_wake) {
		limit = leaves_after_ns(a, j, gpus);
		left = limit > executed ? limit - executed : 0;
	} else {
		/* the limit of GPU time is taken for one of wall time, and the rest for GPU time */
		limit = a->queues.limit_s[j->queue];
		if (limit > INT64_MAX / FIT_NS_PER_S)
			return INT64_MAX;
		left = (limit * FIT_NS_PER_S - executed) / (a->queues.by_time ? 1 : gpus) /
		       FIT_NS_PER_S * FIT_NS_PER_S;
		if (left <= 0)
			return INT64_MAX;
	}
	return left > INT64_MAX - now_ns ? INT64_MAX : now_ns + left;
}

int64_t fit_attained_promote_at(const struct fit_attained *a, const struct fit_attained_job *j)
{
	double wait;
	int64_t left;

	if (!(a->queues.promote > 0) || j->runs || !j->queue || !j->executed_ns)
		return INT64_MAX;
	wait = a->whole_seconds ?
	       floor(a->queues.promote * (double)(j->executed_ns / FIT_NS_PER_S)) * (double)FIT_NS_PER_S :
	       ceil(a->queues.promote * (double)j->executed_ns);
	if (!(wait < 9e18))
		return INT64_MAX;
	left = (int64_t)wait - j->waited_ns;
	left = left > 0 ? left : 0;
	return left > INT64_MAX - j->since_ns ? INT64_MAX : j->since_ns + left;
}

void fit_attained_promote(struct fit_attained_job *j, int64_t now_ns)
{
	j->executed_ns = j->waited_ns = 0;
	j->since_ns = now_ns;
	j->queue = 0;
}
