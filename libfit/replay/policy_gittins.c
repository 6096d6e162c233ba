/* SPDX-License-Identifier: MIT */
/*
 * Gittins indices of attained GPU time (Gu et al., Tiresias, NSDI'19): who is likely to be done soon for what
 * it still takes, by the GPU times of past jobs, goes first.
 *
 *   gittins      all jobs by the index alone
 *   tiresias-g   queues of attained service as in tiresias, and the index in each queue
 *
 * Equal indices go by submission, and then those that run come first. The index changes while a job runs,
 * so gittins decides again at multiples of FIT_GITTINS_QUANTUM_S too. A fidelity profile may say that all is
 * as in the Tiresias simulator (docs/methods/tiresias.md): its table of indices; under gittins the lowest
 * one first, of run time in place of GPU time for jobs that wait, and a wake-up that soon is never again.
 *
 * Lists are kept as they are walked, and sorted stably at each decision: its cost grows with the jobs in the
 * system.
 */
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/replay/attained.h"
#include "libfit/replay/gittins_index.h"

struct member {
	struct fit_attained_job service;
	double index;
	uint32_t order;		/* of arrival */
};

struct gittins {
	struct fit_attained attained;
	struct fit_gittins table;
	bool artifact, queued;
	struct member *member;	/* by place in the partition */
	uint32_t *list;		/* active jobs in order of arrival */
	size_t n_list, cap_list;
	uint32_t *queue[FIT_QUEUES_MAX];
	size_t n[FIT_QUEUES_MAX], cap[FIT_QUEUES_MAX];
	uint32_t *room;		/* scratch of sorting */
	size_t cap_room;
	uint32_t n_arrived;
	int64_t unit_ns, decided_ns;
	int64_t idle_ns;	/* artifact: the last job left then, and no decision was made; -1: not so */
};

static struct member *member_of(const struct gittins *t, const struct fit_view *v, uint32_t j)
{
	return &t->member[v->jobs[j].local];
}

static void gittins_free(void *state)
{
	struct gittins *t = state;

	for (size_t q = 0; q < FIT_QUEUES_MAX; q++)
		free(t->queue[q]);
	fit_gittins_release(&t->table);
	free(t->member);
	free(t->list);
	free(t->room);
	free(t);
}

/* Without samples: the GPU times of the jobs themselves. */
static int own_samples(struct gittins *t, const struct fit_view *v, bool artifact, struct fit_err *err)
{
	double *s = malloc((v->n_members ? v->n_members : 1) * sizeof *s);
	int rc = s ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < v->n_members && !rc; i++) {
		const struct fit_job *j = &v->jobs[v->members[i]];

		if (j->duration_ns < 0)
			rc = fit_fail(err, FIT_EDATA, "job %s: no duration to take Gittins indices from (expected "
				      "GPU times in a table)", j->id);
		else
			s[i] = fit_time_to_double(j->duration_ns) * (double)j->gpus;
	}
	rc = rc ? rc : fit_gittins_init(&t->table, s, v->n_members, artifact, err);
	free(s);
	return rc;
}

static int init(void **state, const struct fit_view *v, const struct fit_policy_params *p, bool queued,
		struct fit_err *err)
{
	struct gittins *t = calloc(1, sizeof *t);

	if (!t)
		return fit_fail_nomem(err);
	*state = t;
	fit_attained_init(&t->attained, v, p);
	t->queued = queued;
	if (!queued)
		t->attained.queues = (struct fit_queues){ .n_limits = 0 };
	t->artifact = p->gittins_artifact;
	t->idle_ns = -1;
	t->unit_ns = FIT_GITTINS_QUANTUM_S * FIT_NS_PER_S;
	t->member = calloc(v->n_members ? v->n_members : 1, sizeof *t->member);
	if (!t->member)
		return fit_fail_nomem(err);
	return p->gpu_times ? fit_gittins_init(&t->table, p->gpu_times, p->n_gpu_times, t->artifact, err) :
	       own_samples(t, v, t->artifact, err);
}

static int gittins_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
			struct fit_err *err)
{
	return init(state, v, p, false, err);
}

static int tiresias_g_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
			   struct fit_err *err)
{
	return init(state, v, p, true, err);
}

/* ---- lists ---- */

static int push(uint32_t **a, size_t *n, size_t *cap, uint32_t j, struct fit_err *err)
{
	if (fit_grow(a, cap, *n + 1, sizeof **a))
		return fit_fail_nomem(err);
	(*a)[(*n)++] = j;
	return FIT_OK;
}

static void take_out(uint32_t *a, size_t *n, uint32_t j)
{
	size_t to = 0;

	for (size_t i = 0; i < *n; i++)
		if (a[i] != j)
			a[to++] = a[i];
	*n = to;
}

static int gittins_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct gittins *t = state;
	struct member *m = member_of(t, v, j);
	int rc = push(&t->list, &t->n_list, &t->cap_list, j, err);

	m->order = t->n_arrived++;
	m->service.since_ns = v->now_ns;
	return rc ? rc : push(&t->queue[0], &t->n[0], &t->cap[0], j, err);
}

static void gittins_leave(void *state, const struct fit_view *v, uint32_t j)
{
	struct gittins *t = state;
	uint8_t q = member_of(t, v, j)->service.queue;

	take_out(t->list, &t->n_list, j);
	take_out(t->queue[q], &t->n[q], j);
	t->idle_ns = t->n_list ? -1 : v->now_ns;
}

static int gittins_changed(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	(void)err;
	fit_attained_change(&member_of(state, v, j)->service, fit_view_gpus(v, j) > 0, v->now_ns);
	return FIT_OK;
}

/* ---- decisions ---- */

/* Does a come before b, and not by where they are in the list? */
static bool before(const struct gittins *t, const struct fit_view *v, uint32_t a, uint32_t b)
{
	const struct member *x = member_of(t, v, a), *y = member_of(t, v, b);
	int64_t sx = fit_view_submit_ns(v, a), sy = fit_view_submit_ns(v, b);

	if (t->artifact && !t->queued)
		return x->index < y->index;
	if (x->index < y->index || x->index > y->index)
		return x->index > y->index;
	return sx < sy;
}

/* Stably; room for n. */
static void sort(const struct gittins *t, const struct fit_view *v, uint32_t *a, size_t n, uint32_t *room)
{
	size_t half = n / 2, i = 0, k = half, to = 0;

	if (n < 2)
		return;
	sort(t, v, a, half, room);
	sort(t, v, a + half, n - half, room);
	if (!before(t, v, a[half], a[half - 1]))
		return;
	for (size_t c = 0; c < half; c++)
		room[c] = a[c];
	while (i < half)
		a[to++] = k < n && before(t, v, a[k], room[i]) ? a[k++] : room[i++];
}

static int change_queues(struct gittins *t, const struct fit_view *v, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < t->n_list && !rc; i++) {
		uint32_t j = t->list[i];
		struct fit_attained_job *s = &member_of(t, v, j)->service;
		uint8_t from = s->queue;
		bool moved = false;

		if (s->runs)
			moved = fit_attained_demote(&t->attained, s, v->jobs[j].gpus, v->now_ns);
		else if (fit_attained_promote_at(&t->attained, s) <= v->now_ns) {
			fit_attained_promote(s, v->now_ns);
			moved = true;
		}
		if (!moved)
			continue;
		take_out(t->queue[from], &t->n[from], j);
		rc = push(&t->queue[s->queue], &t->n[s->queue], &t->cap[s->queue], j, err);
	}
	return rc;
}

static void set_indices(struct gittins *t, const struct fit_view *v)
{
	for (size_t i = 0; i < t->n_list; i++) {
		uint32_t j = t->list[i];
		struct member *m = member_of(t, v, j);
		double s = fit_time_to_double(fit_attained_executed_ns(&m->service, v->now_ns));

		if (!t->artifact || t->queued || m->service.runs)
			s *= (double)v->jobs[j].gpus;
		m->index = fit_gittins_index(&t->table, s);
	}
}

/* The simulator's next unit: at each of its events, which go on while no job is there, it grows by the
 * time. */
static void grow_unit(struct gittins *t, int64_t now_ns)
{
	if (t->idle_ns >= 0 && t->idle_ns < now_ns)
		t->unit_ns += t->idle_ns;
	t->idle_ns = -1;
	while (t->unit_ns < now_ns)
		t->unit_ns *= 2;
	if (t->unit_ns < INT64_MAX - now_ns)
		t->unit_ns += now_ns;
}

static int gittins_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct gittins *t = state;
	int64_t left = v->cluster->n_open;
	int rc = change_queues(t, v, err);

	if (rc || fit_grow(&t->room, &t->cap_room, t->n_list, sizeof *t->room))
		return rc ? rc : fit_fail_nomem(err);
	set_indices(t, v);
	for (size_t q = 0; q <= t->attained.queues.n_limits; q++) {
		size_t n_wait = 0, to = 0;

		sort(t, v, t->queue[q], t->n[q], t->room);
		for (size_t i = 0; i < t->n[q] && !rc; i++) {
			uint32_t j = t->queue[q][i];
			bool fits = v->jobs[j].gpus <= left;

			left -= fits ? v->jobs[j].gpus : 0;
			if (fit_plan_grant(plan, j, fits ? v->jobs[j].gpus : 0))
				return fit_fail_nomem(err);
			/* those that run from now on come first in the queue, as they are */
			if (fits || (t->artifact && !t->queued))
				t->queue[q][to++] = j;
			else
				t->room[n_wait++] = j;
		}
		for (size_t i = 0; i < n_wait; i++)
			t->queue[q][to++] = t->room[i];
	}
	t->decided_ns = v->now_ns;
	if (t->artifact)
		grow_unit(t, v->now_ns);
	return FIT_OK;
}

static int64_t gittins_next_wake(void *state, const struct fit_view *v)
{
	struct gittins *t = state;
	int64_t quantum = FIT_GITTINS_QUANTUM_S * FIT_NS_PER_S, wake = INT64_MAX;

	if (!t->queued)
		return !t->artifact ? (t->decided_ns / quantum + 1) * quantum :
		       t->unit_ns > t->decided_ns ? t->unit_ns : INT64_MAX;
	for (size_t i = 0; i < t->n_list; i++) {
		uint32_t j = t->list[i];
		const struct fit_attained_job *s = &member_of(t, v, j)->service;
		int64_t gpus = v->jobs[j].gpus;
		int64_t at = s->runs ? fit_attained_demote_at(&t->attained, s, gpus, t->decided_ns) :
			     fit_attained_promote_at(&t->attained, s);

		if (at < wake && (at > t->decided_ns || v->interval_ns))
			wake = at;
	}
	return wake;
}

static int64_t gittins_end_order(void *state, const struct fit_view *v, uint32_t j)
{
	const struct gittins *t = state;
	size_t i = 0;

	if (t->queued)
		return member_of(t, v, j)->order;
	while (i < t->n[0] && t->queue[0][i] != j)
		i++;
	return (int64_t)i;
}

static int gittins_describe(const struct fit_policy_params *p, const struct fit_view *v,
			    struct fit_meta *meta)
{
	int rc = fit_meta_add(meta, "gittins", p->gittins_artifact ? "artifact" : "paper");

	(void)v;
	return rc || !p->gpu_times_hash ? rc : fit_meta_add(meta, "input_gpu_times", p->gpu_times_hash);
}

static int tiresias_g_describe(const struct fit_policy_params *p, const struct fit_view *v,
			       struct fit_meta *meta)
{
	int rc = fit_attained_describe(p, meta);

	rc = rc || !v->fidelity->tiresias_late_wake ? rc : fit_meta_add(meta, "tiresias_wake", "late");
	return rc ? rc : gittins_describe(p, v, meta);
}

const struct fit_policy fit_policy_gittins = {
	.name = "gittins",
	.summary = "highest Gittins index of attained GPU time first, preemptive",
	.needs = FIT_ONE_TYPE,
	.init = gittins_init,
	.free = gittins_free,
	.arrive = gittins_arrive,
	.leave = gittins_leave,
	.changed = gittins_changed,
	.decide = gittins_decide,
	.next_wake = gittins_next_wake,
	.end_order = gittins_end_order,
	.describe = gittins_describe,
};

const struct fit_policy fit_policy_tiresias_g = {
	.name = "tiresias-g",
	.summary = "tiresias with Gittins indices in each queue",
	.needs = FIT_ONE_TYPE,
	.init = tiresias_g_init,
	.free = gittins_free,
	.arrive = gittins_arrive,
	.leave = gittins_leave,
	.changed = gittins_changed,
	.decide = gittins_decide,
	.next_wake = gittins_next_wake,
	.end_order = gittins_end_order,
	.describe = tiresias_g_describe,
};
