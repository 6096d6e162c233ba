/* SPDX-License-Identifier: MIT */
/*
 * Reads the log, cuts it into rounds of passive rows and decisions, keeps the state and calls the
 * rules (verify_state.h says how these fit together).
 */
#include <math.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

enum {
	C_TIME,
	C_EVENT,
	C_JOB,
	C_GPUS,
	C_NODES,
	C_LOCAL,
	C_ACCUM,
	C_EPOCH,
	C_PROGRESS,
	C_APP,
	C_BATCH,
	C_DELAY,
	C_WITH,
	C_SPEED,
	N_CELLS
};

static const struct fit_field fields[N_CELLS] = {
	[C_TIME] = { "time_s", FIT_TIME, FIT_F_NOT_NA },
	[C_EVENT] = { "event", FIT_TEXT, FIT_F_NOT_NA },
	[C_JOB] = { "job_id", FIT_TEXT, 0 },
	[C_GPUS] = { "gpus", FIT_REAL, 0 },
	[C_NODES] = { "nodes", FIT_TEXT, 0 },
	[C_LOCAL] = { "local_bsz", FIT_INT, FIT_F_OPTIONAL },
	[C_ACCUM] = { "accum_steps", FIT_INT, FIT_F_OPTIONAL },
	[C_EPOCH] = { "epoch", FIT_INT, FIT_F_OPTIONAL },
	[C_PROGRESS] = { "progress", FIT_REAL, FIT_F_OPTIONAL },
	[C_APP] = { "app", FIT_TEXT, FIT_F_OPTIONAL },
	[C_BATCH] = { "batch_size", FIT_INT, FIT_F_OPTIONAL },
	[C_DELAY] = { "delay_s", FIT_TIME, FIT_F_OPTIONAL },
	[C_WITH] = { "shared_with", FIT_TEXT, FIT_F_OPTIONAL },
	[C_SPEED] = { "speed", FIT_REAL, FIT_F_OPTIONAL },
};

static const char *const event_names[EV_UNKNOWN] = {
	"cluster", "submit", "reject", "start",  "move",
	"preempt", "resume", "epoch",  "finish", "release", "batch",
	"rent",    "ready",  "return",
	"share", "profile", "profiled",
};

#define NODES_MAX 10000000
#define NOISE_S 1e-6 /* instants closer than this cannot be told apart by a profile */

/* ---- reporting ---- */

void verify_fault(struct fit_verifier *v, enum verify_rule rule, uint32_t job, const char *fmt, ...)
{
	struct verify_tally *t = &v->tally[rule];
	struct fit_str s = { 0 };
	struct fit_text id = verify_job_id(v, job);
	char buf[FIT_NUM_MAX], msg[512];
	va_list ap;
	int rc = FIT_OK;

	if (v->mute) {
		v->muted_fault = true;
		return;
	}
	if (t->violations++)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	if (v->line)
		rc = fit_str_printf(&s, "line %llu, ", (unsigned long long)v->line);
	if (!rc && v->last_t >= 0) {
		fit_format_time(buf, v->now);
		rc = fit_str_printf(&s, "%s s, ", buf);
	}
	if (!rc && job != NONE)
		rc = fit_str_printf(&s, "job '%.*s': ", FIT_TEXT_ARG(id));
	if (!rc)
		rc = fit_str_puts(&s, msg);
	if (rc) {
		v->code = FIT_ENOMEM;
		fit_str_release(&s);
		return;
	}
	t->detail = s.s;
}

int verify_list_push(struct verify_list *l, uint32_t x)
{
	if (fit_grow(&l->a, &l->cap, l->n + 1, sizeof *l->a))
		return FIT_ENOMEM;
	l->a[l->n++] = x;
	return FIT_OK;
}

/* ---- the cluster ---- */

static void tree_set(struct fit_verifier *v, size_t node, int64_t free_gpus)
{
	size_t i = v->tree_n + node;

	v->tree[i] = free_gpus;
	for (i /= 2; i >= 1; i /= 2)
		v->tree[i] =
			v->tree[2 * i] > v->tree[2 * i + 1] ? v->tree[2 * i] : v->tree[2 * i + 1];
}

void verify_tree_add(struct fit_verifier *v, size_t node, int64_t gpus)
{
	tree_set(v, node, v->tree[v->tree_n + node] + gpus);
}

void verify_book(struct fit_verifier *v, int32_t node, int64_t gpus)
{
	if (node < 0 || (size_t)node >= v->n_nodes)
		return;
	v->booked[node] += gpus;
	v->total_booked += gpus;
	tree_set(v, (size_t)node, v->size[node] - v->booked[node]);
}

void verify_resize_node(struct fit_verifier *v, size_t node, int64_t gpus)
{
	v->total += gpus - v->size[node];
	v->size[node] = gpus;
	tree_set(v, node, gpus - v->booked[node]);
}

/* "16x4" or "6x4,2x8"; a part may carry a name ("aws:6x4"). Returns false when it is neither. */
static bool parse_part(struct fit_text t, int64_t *n, int64_t *gpus)
{
	size_t colon = 0, x = 0;

	for (size_t i = 0; i < t.n; i++)
		if (t.s[i] == ':')
			colon = i + 1;
	t = (struct fit_text){ t.s + colon, t.n - colon };
	while (x < t.n && t.s[x] != 'x')
		x++;
	return x < t.n && !fit_parse_int64((struct fit_text){ t.s, x }, n) &&
	       !fit_parse_int64((struct fit_text){ t.s + x + 1, t.n - x - 1 }, gpus) && *n > 0 &&
	       *gpus > 0 && *n <= NODES_MAX && *gpus <= 1000000;
}

/* The part of spec that starts at *at, and where the next one does. */
static struct fit_text next_part(struct fit_text spec, size_t *at)
{
	size_t from = *at, to = from;

	while (to < spec.n && spec.s[to] != ',')
		to++;
	*at = to + 1;
	return (struct fit_text){ spec.s + from, to - from };
}

/* Nodes and GPUs of a cluster specification; false when it is none. */
static bool measure_cluster(struct fit_text spec, size_t *n_nodes, int64_t *total)
{
	int64_t n, gpus;

	*n_nodes = 0;
	*total = 0;
	for (size_t at = 0; at <= spec.n;) {
		if (!parse_part(next_part(spec, &at), &n, &gpus) ||
		    *n_nodes + (size_t)n > NODES_MAX)
			return false;
		*n_nodes += (size_t)n;
		*total += n * gpus;
	}
	return true;
}

static int rebuild_tree(struct fit_verifier *v)
{
	for (v->tree_n = 1; v->tree_n < v->n_nodes; v->tree_n *= 2)
		;
	free(v->tree);
	v->tree = calloc(2 * v->tree_n, sizeof *v->tree);
	if (!v->tree)
		return FIT_ENOMEM;
	for (size_t i = 0; i < v->tree_n; i++)
		v->tree[v->tree_n + i] = i < v->n_nodes ? v->size[i] - v->booked[i] : INT64_MIN / 2;
	for (size_t i = v->tree_n - 1; i >= 1; i--)
		v->tree[i] =
			v->tree[2 * i] > v->tree[2 * i + 1] ? v->tree[2 * i] : v->tree[2 * i + 1];
	return FIT_OK;
}

/* Take a cluster specification; nodes that stay keep what is booked on them. */
static int set_cluster(struct fit_verifier *v, struct fit_text spec)
{
	size_t n_new, at = 0, cap_size = v->cap_nodes, cap_booked = v->cap_nodes, node = 0;
	int64_t total, n, gpus;

	if (!measure_cluster(spec, &n_new, &total))
		return FIT_OK;
	if (fit_grow(&v->size, &cap_size, n_new, sizeof *v->size) ||
	    fit_grow(&v->booked, &cap_booked, n_new, sizeof *v->booked))
		return FIT_ENOMEM;
	v->cap_nodes = cap_size;
	for (size_t i = v->n_nodes; i < n_new; i++)
		v->booked[i] = 0;
	for (size_t i = n_new; i < v->n_nodes; i++)
		v->total_booked -= v->booked[i];
	v->n_nodes = n_new;
	v->total = v->most = v->rented = total;
	v->gpus_per_node = 0;
	while (at <= spec.n && parse_part(next_part(spec, &at), &n, &gpus)) {
		for (int64_t k = 0; k < n; k++)
			v->size[node++] = gpus;
		if (gpus > v->gpus_per_node)
			v->gpus_per_node = gpus;
	}
	return rebuild_tree(v);
}

/* ---- live records ---- */

static struct verify_live *live_new(struct fit_verifier *v, uint32_t job)
{
	struct verify_live *l;
	struct verify_place *nodes;
	size_t cap;
	uint32_t i = v->free_live;

	if (i != NONE) {
		v->free_live = v->live[i].next;
	} else {
		if (fit_grow(&v->live, &v->cap_live, v->n_live + 1, sizeof *v->live)) {
			v->code = FIT_ENOMEM;
			return NULL;
		}
		i = (uint32_t)v->n_live++;
		v->live[i].nodes = NULL;
		v->live[i].cap_nodes = 0;
		v->live[i].agent = NULL;
	}
	l = &v->live[i];
	nodes = l->nodes;
	cap = l->cap_nodes;
	*l = (struct verify_live){ .job = job,
				   .next = NONE,
				   .prev = NONE,
				   .nodes = nodes,
				   .cap_nodes = cap,
				   .first_start_ns = NEVER,
				   .finish_ns = NEVER,
				   .release_due_ns = NEVER,
				   .timer_ns = NEVER,
				   .queue = 2,
				   .partner = NONE,
				   .speed = 1,
				   .local_bsz = NO_INT,
				   .accum = NO_INT };
	v->jobs[job].live = i;
	v->n_active++;
	return l;
}

static void keep_result(struct fit_verifier *v, const struct verify_live *l)
{
	struct verify_result *res;

	v->gpu_busy_s += l->gpu_busy_s - l->not_own_s;
	v->gpu_still_s += l->gpu_still_s - l->not_own_still_s;
	if (!v->keep)
		return;
	res = &v->results[l->job];
	*res = (struct verify_result){ .start_ns = l->first_start_ns,
				       .end_ns = l->finish_ns,
				       .held_ns = l->held_ns,
				       .gpu_s = l->gpu_s,
				       .gpu_busy_s = l->gpu_busy_s,
				       .restarts = l->n_restarts,
				       .preempts = l->n_preempts,
				       .state = v->jobs[l->job].state };
}

static void live_free(struct fit_verifier *v, struct verify_live *l)
{
	keep_result(v, l);
	verify_agent_free(l->agent);
	l->agent = NULL;
	v->jobs[l->job].live = NONE;
	l->next = v->free_live;
	v->free_live = (uint32_t)(l - v->live);
	v->n_active--;
}

/* ---- effects of rows ---- */

/* Close the account of what l held until t. */
static void unbook(struct fit_verifier *v, struct verify_live *l, int64_t t)
{
	int64_t held = t - l->since_ns;
	int64_t busy = t > l->ready_ns ? t - l->ready_ns : 0;

	for (size_t i = 0; i < l->n_nodes && !l->guest; i++)
		verify_book(v, l->nodes[i].node, -l->nodes[i].gpus);
	if (l->n_nodes && l->guest) {
		l->not_own_s += (double)l->gpus * fit_time_to_double(busy);
		l->not_own_still_s += (double)l->gpus * fit_time_to_double(held - busy);
	}
	if (l->n_nodes) {
		if (l->finish_ns == NEVER)
			l->held_ns += held;
		else if (busy > l->finish_ns - l->ready_ns)
			busy = l->finish_ns > l->ready_ns ? l->finish_ns - l->ready_ns : 0;
		l->gpu_s += (double)l->gpus * fit_time_to_double(held);
		l->gpu_busy_s += (double)l->gpus * fit_time_to_double(busy);
		if (l->finish_ns != NEVER)
			held = l->finish_ns - l->since_ns;
		l->gpu_still_s += (double)l->gpus * fit_time_to_double(held - busy);
	}
	l->n_nodes = 0;
	l->gpus = 0;
}

static void allocate(struct fit_verifier *v, struct verify_live *l, const struct verify_row *r)
{
	l->grew = r->sum > l->gpus;
	unbook(v, l, r->t);
	l->guest = r->ev == EV_START && r->has_with && r->with != NONE;
	if (fit_grow(&l->nodes, &l->cap_nodes, r->n_nodes, sizeof *l->nodes)) {
		v->code = FIT_ENOMEM;
		return;
	}
	for (size_t i = 0; i < r->n_nodes; i++) {
		l->nodes[i] = r->nodes[i];
		if (!l->guest)
			verify_book(v, r->nodes[i].node, r->nodes[i].gpus);
		if (r->nodes[i].node >= 0 && (size_t)r->nodes[i].node < v->n_nodes &&
		    verify_list_push(&v->touched, (uint32_t)r->nodes[i].node))
			v->code = FIT_ENOMEM;
	}
	l->n_nodes = r->n_nodes;
	l->gpus = r->sum;
	l->since_ns = l->last_ns = r->t;
	l->delay_ns = r->on_profiler ? 0 : verify_delay_ns(v, l, r->nodes, r->n_nodes);
	if (r->delay_ns == NO_INT ? v->says_delays : r->delay_ns != l->delay_ns)
		verify_fault(v, RULE_RESTART_COST, l->job, "restart delay %.9g s, the row says %.9g",
			     fit_time_to_double(l->delay_ns),
			     r->delay_ns == NO_INT ? (double)NAN : fit_time_to_double(r->delay_ns));
	l->ready_ns = r->t + l->delay_ns;
	l->local_bsz = r->local_bsz;
	l->accum = r->accum;
	l->rate = l->slow = 0;
	l->fresh_alloc = true;
	l->placed = true;
	if (l->first_start_ns == NEVER)
		l->first_start_ns = r->t;
	else
		l->n_restarts++;
}

int verify_count_spanning(struct fit_verifier *v, bool booked)
{
	if (fit_grow(&v->spanning, &v->cap_spanning, v->n_nodes + 1, sizeof *v->spanning))
		return FIT_ENOMEM;
	memset(v->spanning, 0, v->n_nodes * sizeof *v->spanning);
	for (size_t i = 0; i < v->n_live; i++) {
		const struct verify_live *l = &v->live[i];

		if (l->n_nodes < 2 || (!booked && v->jobs[l->job].state != JOB_RUNNING))
			continue;
		for (size_t k = 0; k < l->n_nodes; k++)
			if (l->nodes[k].node >= 0 && (size_t)l->nodes[k].node < v->n_nodes)
				v->spanning[l->nodes[k].node]++;
	}
	return FIT_OK;
}

/* The allocations in force have changed: a job on several nodes loses a share of its rate while
 * another such job uses one of its nodes. */
static void interfere(struct fit_verifier *v)
{
	if (!(v->interference > 0))
		return;
	if (verify_count_spanning(v, true)) {
		v->code = FIT_ENOMEM;
		return;
	}
	for (size_t i = 0; i < v->n_live; i++) {
		struct verify_live *l = &v->live[i];
		double slow = 0;

		if (!l->n_nodes || v->jobs[l->job].state != JOB_RUNNING)
			continue;
		for (size_t k = 0; l->n_nodes > 1 && k < l->n_nodes; k++)
			if (l->nodes[k].node >= 0 && (size_t)l->nodes[k].node < v->n_nodes &&
			    v->spanning[l->nodes[k].node] > 1)
				slow = v->interference;
		if (slow <= l->slow && slow >= l->slow)
			continue;
		l->progress = verify_progress_at_now(v, l);
		l->fresh_alloc = l->fresh_alloc && v->now <= l->ready_ns;
		l->last_ns = v->now;
		l->slow = slow;
		l->rate = 0;
	}
}

/* Progress made since the last row of this job. The log's own figure is not taken over. */
static void settle_progress(struct fit_verifier *v, struct verify_live *l,
			    const struct verify_row *r)
{
	l->row_ns = r->t;
	l->tuned = false;
	if (!r->known)
		return;
	if (v->with_speedups && v->jobs[l->job].app != UINT16_MAX)
		verify_boa_count(v, l, r->ran_ns);
	if (v->by_epoch)
		l->progress = r->progress_now;
	else
		l->done_ns += r->ran_ns;
	l->last_ns = v->count_ns && !l->on_profiler ? l->last_ns + r->ran_ns : r->t;
	l->left_s = r->left_s;
	l->fresh_alloc = false;
}

static void finish(struct fit_verifier *v, struct verify_live *l, const struct verify_row *r)
{
	struct verify_job *j = &v->jobs[r->job];
	bool tick = v->interval_ns > 0 && r->t % v->interval_ns == 0;

	l->finish_ns = r->t;
	if (l->n_nodes)
		l->held_ns += r->t - l->since_ns;
	v->n_finished++;
	verify_admission_left(v);
	v->last_finish_ns = r->t;
	v->held_finish = v->held;
	v->capacity_finish = v->capacity;
	v->paid_finish = v->paid;
	v->demand -= (int64_t)j->gpus;
	verify_policy_left(v, l);
	verify_share_left(v, l);
	if (r->n_nodes && l->n_nodes) {
		j->state = JOB_BOOKED;
		l->finish_unclear = tick && v->unclear;
		l->release_due_ns = r->t;
		if (v->interval_ns > 0 && (!tick || v->phase == PHASE_AFTER || v->unclear))
			l->release_due_ns = (r->t / v->interval_ns + 1) * v->interval_ns;
		return;
	}
	unbook(v, l, r->t);
	j->state = JOB_DONE;
	live_free(v, l);
	interfere(v);
}

/* What the row changes. Lenient: a row that makes no sense here was reported by the rules. */
static void apply(struct fit_verifier *v, struct verify_row *r)
{
	struct verify_job *j = r->job == NONE ? NULL : &v->jobs[r->job];
	struct verify_live *l = r->live;
	bool running;

	if (r->ev == EV_CLUSTER) {
		if (!r->cluster_bad && (set_cluster(v, r->nodes_text) ||
					verify_share_cluster(v) ||
					(v->autoscale != SCALE_NONE && verify_nodes_begin(v))))
			v->code = FIT_ENOMEM;
		if (v->autoscale != SCALE_NONE)
			v->rented = 0;
		v->seen_cluster = v->dirty = true;
		return;
	}
	if (EV_BIT(r->ev) & EV_OF_NODE) {
		if (v->autoscale != SCALE_NONE)
			verify_nodes_apply(v, r);
		return;
	}
	if (!j)
		return;
	running = j->state == JOB_RUNNING;
	if (l && (EV_BIT(r->ev) & EV_ACTIVE))
		l->changed = true;
	if (r->ev == EV_SUBMIT) {
		if (j->state != JOB_UNSEEN)
			return;
		if (v->max_active)
			j->submit_ns = r->t; /* what completion times and ages count from */
		j->state = JOB_WAITING;
		v->n_submitted++;
		if (v->first_submit_ns == NEVER) {
			v->first_submit_ns = r->t;
			v->held_submit = v->held;
			v->capacity_submit = v->capacity;
			v->paid_submit = v->paid;
		}
		v->last_submit_ns = r->t;
		v->held_last = v->held;
		v->paid_last = v->paid;
		v->demand += (int64_t)j->gpus;
		l = live_new(v, r->job);
		if (l && v->seeded)
			verify_agent_seed(v, l);
		if (l && v->policy == POLICY_BOA && j->app != UINT16_MAX)
			verify_boa_arrival(v, l);
		if (!l || verify_list_push(&v->fresh, (uint32_t)(l - v->live)))
			v->code = FIT_ENOMEM;
		v->woken_before = v->woken;
		v->woken = v->dirty = true;
		v->open_submit = r->job;
		return;
	}
	if (!l && (EV_BIT(r->ev) & EV_ACTIVE) && j->state == JOB_UNSEEN) {
		l = live_new(v, r->job);
		if (!l)
			return;
	}
	if (!l)
		return;
	settle_progress(v, l, r);
	switch (r->ev) {
	case EV_REJECT:
		if (v->fresh.n && v->fresh.a[v->fresh.n - 1] == (uint32_t)(l - v->live))
			v->fresh.n--;
		else
			verify_policy_left(v, l);
		v->woken = v->woken_before;
		j->state = JOB_REJECTED;
		v->n_rejected++;
		v->demand -= (int64_t)j->gpus;
		unbook(v, l, r->t);
		live_free(v, l);
		break;
	case EV_START:
	case EV_MOVE:
	case EV_RESUME:
		if (r->ev == EV_START && verify_list_push(&v->started, (uint32_t)(l - v->live)))
			v->code = FIT_ENOMEM;
		if (verify_list_push(&v->placed, (uint32_t)(l - v->live)))
			v->code = FIT_ENOMEM;
		allocate(v, l, r);
		v->n_restarts += r->ev != EV_START;
		j->state = JOB_RUNNING;
		verify_policy_allocated(v, l);
		v->dirty = true;
		break;
	case EV_PREEMPT:
		unbook(v, l, r->t);
		l->done_ns -= verify_preempt_work_ns(v, r->job);
		l->timer_ns = NEVER;
		l->n_preempts++;
		v->n_preempts++;
		j->state = JOB_PREEMPTED;
		v->dirty = true;
		break;
	case EV_EPOCH:
		if (v->by_epoch && running)
			l->progress = verify_epoch_end(v, r->job, l->epoch);
		if (v->policy == POLICY_BOA)
			v->woken = true;
		if (running)
			verify_boa_observe(v, l);
		l->epoch++;
		l->rate = 0;
		if (v->adaptive) {
			l->local_bsz = r->local_bsz;
			l->accum = r->accum;
		}
		v->dirty = true;
		break;
	case EV_BATCH:
		l->local_bsz = r->local_bsz;
		l->accum = r->accum;
		l->rate = 0;
		break;
	case EV_FINISH:
		if (running)
			verify_boa_observe(v, l);
		if (v->by_epoch && running)
			l->progress = verify_epoch_end(v, r->job, l->epoch++);
		v->woken = v->dirty = true;
		finish(v, l, r);
		break;
	case EV_RELEASE:
		unbook(v, l, r->t);
		if (j->state == JOB_BOOKED) {
			j->state = JOB_DONE;
			live_free(v, l);
		}
		v->dirty = true;
		break;
	default:
		break;
	}
}

/* ---- rounds ---- */

static bool legal_instant(const struct fit_verifier *v)
{
	return v->interval_ns > 0 ? (v->now > 0 || v->decides_at_zero) && v->now % v->interval_ns == 0
				  : v->woken || v->again_ns == v->now;
}

/* Has the policy a reason to decide otherwise than it did last? */
static bool has_news(struct fit_verifier *v)
{
	return v->dirty || verify_policy_timer(v) <= v->now || verify_policy_continuous(v);
}

static void begin_decision(struct fit_verifier *v)
{
	if (v->begun)
		return;
	v->begun = true;
	if (v->interval_ns == 0 && verify_policy_timer(v) <= v->now)
		v->woken = true;
	v->legal = legal_instant(v);
	if (v->legal) {
		verify_nodes_want(v);
		verify_policy_begin(v);
	}
}

static void call_decision_rules(struct fit_verifier *v)
{
	for (size_t i = 0; i < N_RULES; i++)
		if (verify_rules[i].decision &&
		    (!verify_rules[i].applies || verify_rules[i].applies(v)))
			verify_rules[i].decision(v);
}

static void end_decision(struct fit_verifier *v)
{
	begin_decision(v);
	call_decision_rules(v);
	for (size_t i = 0; i < v->placed.n; i++)
		v->live[v->placed.a[i]].placed = false;
	v->placed.n = v->started.n = v->touched.n = 0;
	interfere(v);
	v->acted = false;
	if (v->legal)
		v->dirty = false;
	v->begun = v->woken = v->unclear = false;
	v->phase = PHASE_AFTER;
	v->decided_here = true;
}

/* Would it be right to decide on no change now? */
static bool stands_as_is(struct fit_verifier *v)
{
	if (!has_news(v))
		return true;
	v->mute = true;
	v->muted_fault = false;
	begin_decision(v);
	call_decision_rules(v);
	v->mute = v->begun = false;
	return !v->muted_fault;
}

/* The end of an instant: its decision, when that left no row. */
static void close_instant(struct fit_verifier *v)
{
	uint64_t line = v->line;

	verify_kept(v);
	if (v->phase == PHASE_DECIDING) {
		end_decision(v);
	} else if (v->phase == PHASE_BEFORE || v->interval_ns == 0) {
		if (v->interval_ns == 0 && verify_policy_timer(v) <= v->now)
			v->woken = true;
		if (!(v->unclear && v->standing) && has_news(v) && legal_instant(v)) {
			v->line = 0;
			end_decision(v);
			v->line = line;
		}
	}
	verify_nodes_settle(v);
}

static void move_to(struct fit_verifier *v, int64_t t)
{
	double s = fit_time_to_double(t - (v->now > 0 ? v->now : 0));

	v->held += (double)v->total_booked * s;
	v->capacity += (double)v->total * s;
	v->paid += (double)v->rented * s;
	v->now = t;
	v->phase = PHASE_BEFORE;
	v->begun = v->woken = v->unclear = v->decided_here = v->submits_here = false;
}

/* Decisions strictly between now and t that left no row. */
static void advance(struct fit_verifier *v, int64_t t)
{
	for (;;) {
		int64_t due = verify_policy_timer(v), d = v->interval_ns;

		if (d > 0 && v->n_active && (v->dirty || verify_policy_continuous(v))) {
			int64_t next = (v->now < 0 ? 0 : v->now / d) * d + d;

			due = next < due ? next : due;
		}
		if (due >= t)
			break;
		move_to(v, due > v->now ? due : v->now);
		v->line = 0;
		v->woken = true;
		end_decision(v);
		verify_nodes_settle(v);
	}
	move_to(v, t);
}

static void call_rules(struct fit_verifier *v, const struct verify_row *r)
{
	for (size_t i = 0; i < N_RULES; i++)
		if (verify_rules[i].row && (verify_rules[i].events & EV_BIT(r->ev)) &&
		    (!verify_rules[i].applies || verify_rules[i].applies(v)))
			verify_rules[i].row(v, r);
}

/*
 * A passive row at an instant of decision, before any active row: did it take effect before or
 * after that decision? An end of work that was rounded down to this instant came after it. Where
 * the exact instant cannot be told from this one, the rows that follow tell, or both are allowed.
 */
static void place_row(struct fit_verifier *v, const struct verify_row *r)
{
	bool ends = r->known && v->by_epoch && (r->ev == EV_EPOCH || r->ev == EV_FINISH);

	if (!ends || r->late_s > NOISE_S) {
		v->unclear = false;
	} else if (r->late_s < -NOISE_S) {
		if (!(v->unclear && v->standing))
			end_decision(v);
		v->phase = PHASE_AFTER;
	} else if (!v->unclear) {
		v->standing = stands_as_is(v);
		v->unclear = true;
	}
}

static void take(struct fit_verifier *v, struct verify_row *r, uint64_t line)
{
	bool active;

	r->on_profiler = r->ev == EV_START && verify_share_on_profiler(v, r);
	active = (EV_BIT(r->ev) & EV_DECIDING) && !r->on_profiler;
	if (r->t > v->now) {
		close_instant(v);
		advance(v, r->t);
	}
	v->line = line;
	v->last_t = r->t;
	r->t = v->now; /* a row that goes back in time is taken as if it did not */
	r->live = r->job == NONE || v->jobs[r->job].live == NONE ? NULL
								 : &v->live[v->jobs[r->job].live];
	verify_forecast(v, r);
	if (active && v->phase != PHASE_DECIDING) {
		begin_decision(v);
		v->phase = PHASE_DECIDING;
	} else if (!active && v->phase == PHASE_DECIDING && r->ev != EV_SHARE) {
		end_decision(v);
	} else if (r->ev == EV_RETURN && v->phase == PHASE_BEFORE && has_news(v) && legal_instant(v)) {
		v->line = 0; /* nodes go after the decision, which left no row */
		end_decision(v);
		v->line = line;
	} else if (v->phase == PHASE_BEFORE && v->interval_ns > 0 && legal_instant(v)) {
		place_row(v, r);
	}
	if (r->ev != EV_REJECT || r->job != v->open_submit)
		verify_kept(v);
	v->line = line;
	if (v->adaptive && r->live && v->jobs[r->job].state == JOB_RUNNING &&
	    (r->ev == EV_EPOCH || r->ev == EV_FINISH))
		verify_agent_learn(v, r->live);
	if (v->adaptive && !v->acted && (EV_BIT(r->ev) & EV_ACTIVE))
		verify_pollux_before(v);
	call_rules(v, r);
	v->open_submit = NONE;
	apply(v, r);
	verify_share_apply(v, r);
	v->acted = v->acted || (EV_BIT(r->ev) & EV_ACTIVE);
}

/* ---- reading ---- */

static enum verify_event event_of(struct fit_text t)
{
	for (int i = 0; i < EV_UNKNOWN; i++)
		if (fit_text_is(t, event_names[i]))
			return (enum verify_event)i;
	return EV_UNKNOWN;
}

/* "0:4,1:2", or "-" for none. Leaves r->nodes_bad set when it is neither. */
static int parse_nodes(struct fit_verifier *v, struct verify_row *r)
{
	struct fit_text t = r->nodes_text;
	size_t at = 0, n = 0;

	if (r->nodes_na || fit_text_is(t, "-"))
		return FIT_OK;
	r->nodes_bad = true;
	for (size_t i = 0; i <= t.n; i++) {
		size_t colon = at;
		int64_t node, gpus;

		if (i < t.n && t.s[i] != ',')
			continue;
		while (colon < i && t.s[colon] != ':')
			colon++;
		if (colon == i ||
		    fit_parse_int64((struct fit_text){ t.s + at, colon - at }, &node) ||
		    fit_parse_int64((struct fit_text){ t.s + colon + 1, i - colon - 1 }, &gpus) ||
		    node < 0 || node > INT32_MAX || gpus < 1 || gpus > INT32_MAX)
			return FIT_OK;
		at = i + 1;
		if (fit_grow(&v->row_nodes, &v->cap_row_nodes, n + 1, sizeof *v->row_nodes))
			return FIT_ENOMEM;
		v->row_nodes[n++] = (struct verify_place){ (int32_t)node, (int32_t)gpus };
		r->sum += gpus;
	}
	r->nodes_bad = false;
	r->nodes = v->row_nodes;
	r->n_nodes = n;
	return FIT_OK;
}

static int64_t int_cell(const struct fit_cell *c)
{
	return c->na ? NO_INT : c->u.i;
}

static int take_cells(struct fit_verifier *v, const struct fit_cell *c, uint64_t line,
		      struct fit_err *err)
{
	struct verify_row r = {
		.t = c[C_TIME].u.i,
		.t_log = c[C_TIME].u.i,
		.event = c[C_EVENT].u.t,
		.ev = event_of(c[C_EVENT].u.t),
		.job = NONE,
		.has_id = !c[C_JOB].na,
		.id = c[C_JOB].u.t,
		.gpus_na = c[C_GPUS].na,
		.gpus = c[C_GPUS].u.d,
		.nodes_na = c[C_NODES].na,
		.nodes_text = c[C_NODES].u.t,
		.local_bsz = int_cell(&c[C_LOCAL]),
		.accum = int_cell(&c[C_ACCUM]),
		.epoch = int_cell(&c[C_EPOCH]),
		.batch = int_cell(&c[C_BATCH]),
		.delay_ns = int_cell(&c[C_DELAY]),
		.progress_na = c[C_PROGRESS].na,
		.progress = c[C_PROGRESS].u.d,
		.app_na = c[C_APP].na,
		.app = c[C_APP].u.t,
		.has_with = !c[C_WITH].na,
		.with = NONE,
		.speed = c[C_SPEED].na ? (double)NAN : c[C_SPEED].u.d,
	};

	if (r.has_id)
		r.job = verify_find_job(v, r.id);
	if (r.has_with)
		r.with = verify_find_job(v, c[C_WITH].u.t);
	if (r.ev == EV_CLUSTER)
		r.cluster_bad = r.nodes_na || !measure_cluster(r.nodes_text, &r.n_nodes, &r.sum),
		r.n_nodes = 0;
	else if (parse_nodes(v, &r))
		return fit_fail_nomem(err);
	if (r.nodes_bad)
		r.n_nodes = 0, r.sum = 0;
	take(v, &r, line);
	return v->code ? fit_fail_nomem(err) : FIT_OK;
}

static void at_end(struct fit_verifier *v)
{
	close_instant(v);
	v->log_end_ns = v->now < 0 ? 0 : v->now;
	v->line = 0;
	for (size_t i = 0; i < N_RULES; i++)
		if (verify_rules[i].end && (!verify_rules[i].applies || verify_rules[i].applies(v)))
			verify_rules[i].end(v);
	for (size_t i = 0; i < v->n_jobs; i++) {
		struct verify_live *l = v->jobs[i].live == NONE ? NULL : &v->live[v->jobs[i].live];

		if (l) {
			unbook(v, l, v->log_end_ns);
			live_free(v, l);
		}
	}
}

/* ---- ranks ---- */

static int by_submit_and_id(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	const struct verify_job *x = &v->jobs[a], *y = &v->jobs[b];
	int c;

	if (x->submit_ns != y->submit_ns)
		return x->submit_ns < y->submit_ns ? -1 : 1;
	c = fit_text_cmp_natural(verify_job_id(v, a), verify_job_id(v, b));
	return c ? c : (a > b) - (a < b);
}

static int rank_jobs(struct fit_verifier *v)
{
	uint32_t *by = calloc(v->n_jobs ? v->n_jobs : 1, sizeof *by);

	if (!by)
		return FIT_ENOMEM;
	for (size_t i = 0; i < v->n_jobs; i++)
		by[i] = (uint32_t)i;
	verify_sort(v, by, v->n_jobs, by_submit_and_id);
	for (size_t i = 0; i < v->n_jobs; i++)
		v->jobs[by[i]].rank = (uint32_t)i;
	free(by);
	return v->code;
}

static int read_log(struct fit_verifier *v, struct fit_reader *r, struct fit_err *err)
{
	struct fit_cell cells[N_CELLS];
	bool file_order = false;
	int rc = fit_reader_begin(r, fields, N_CELLS, err);

	if (rc)
		return rc == FIT_END
			       ? fit_fail(err, FIT_EPARSE, "%s: no table (expected an event log)",
					  fit_reader_input(r))
			       : rc;
	v->with_profile = fit_meta_get(fit_reader_meta(r), "input_profile") != NULL;
	if (v->with_profile && !v->profile)
		return fit_fail(err, FIT_EINVAL,
				"%s: made with a profile store (give it with --profile)",
				fit_reader_input(r));
	v->seeded = fit_meta_get(fit_reader_meta(r), "input_models") != NULL;
	if (v->seeded && !*v->models.hash)
		return fit_fail(err, FIT_EINVAL, "%s: made with models (give them with --models)",
				fit_reader_input(r));
	v->with_speedups = fit_meta_get(fit_reader_meta(r), "input_speedups") != NULL;
	if (v->with_speedups && !*v->speedups.hash)
		return fit_fail(err, FIT_EINVAL, "%s: made with speedups (give them with --speedups)",
				fit_reader_input(r));
	if (fit_meta_get(fit_reader_meta(r), "input_plan") && !*v->plans.hash)
		return fit_fail(err, FIT_EINVAL, "%s: made with plans (give them with --plan)", fit_reader_input(r));
	v->by_epoch = v->with_profile || v->with_speedups;
	if (fit_meta_get(fit_reader_meta(r), "input_pairs") && !v->measured)
		return fit_fail(err, FIT_EINVAL, "%s: jobs share GPUs (give what was measured with --configs and --pairs)",
				fit_reader_input(r));
	verify_leave_out_jobs(v);
	if (verify_read_meta(v, fit_reader_meta(r), &file_order))
		return fit_fail_nomem(err);
	rc = verify_boa_learn(v, fit_reader_meta(r), err);
	if (rc)
		return rc;
	if (!file_order && rank_jobs(v))
		return fit_fail_nomem(err);
	if (verify_admission_begin(v))
		return fit_fail_nomem(err);
	if (v->policy == POLICY_QSSF && verify_rank_qssf(v))
		return fit_fail_nomem(err);
	if (v->adaptive && (rc = fit_throughput_new(&v->fitter, err)) != FIT_OK)
		return rc;
	if (v->keep) {
		v->results = calloc(v->n_jobs ? v->n_jobs : 1, sizeof *v->results);
		if (!v->results)
			return fit_fail_nomem(err);
		for (size_t i = 0; i < v->n_jobs; i++)
			v->results[i] =
				(struct verify_result){ .start_ns = NEVER, .end_ns = NEVER };
	}
	while (!(rc = fit_reader_row(r, cells, err))) {
		rc = take_cells(v, cells, fit_reader_line(r), err);
		if (rc)
			return rc;
	}
	if (rc != FIT_END)
		return rc;
	at_end(v);
	return v->code ? fit_fail_nomem(err) : FIT_OK;
}

int fit_verifier_log(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	if (rc)
		return rc;
	rc = read_log(v, r, err);
	rc = rc ? rc : fit_reader_only(r, err);
	fit_reader_hash(r, v->hash_log);
	fit_reader_close(r);
	return rc;
}

/* ---- the object ---- */

int fit_verifier_new(struct fit_verifier **v, struct fit_err *err)
{
	struct fit_verifier *n = calloc(1, sizeof *n);

	*v = n;
	if (!n)
		return fit_fail_nomem(err);
	n->now = n->last_t = -1;
	n->free_live = n->open_submit = NONE;
	n->room_ns = -1;
	n->scaled_ns = -1;
	n->first_submit_ns = NEVER;
	n->cold_restart_ns = NO_INT;
	n->surplus_ns = NEVER;
	n->head[0] = n->head[1] = n->tail[0] = n->tail[1] = NONE;
	return FIT_OK;
}

void fit_verifier_free(struct fit_verifier *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n_live; i++) {
		free(v->live[i].nodes);
		verify_agent_free(v->live[i].agent);
	}
	fit_throughput_free(v->fitter);
	verify_boa_release(v);
	free(v->spanning);
	for (size_t i = 0; i < v->n_apps; i++)
		free(v->apps[i].name);
	for (size_t i = 0; i < N_RULES; i++)
		free(v->tally[i].detail);
	verify_policy_release(v);
	verify_share_release(v);
	fit_index_release(&v->by_id);
	fit_index_release(&v->by_app);
	fit_str_release(&v->ids);
	fit_profile_free(v->profile);
	fit_theta_list_release(&v->models);
	free(v->cluster_meta);
	free(v->jobs);
	free(v->apps);
	free(v->size);
	free(v->booked);
	free(v->tree);
	free(v->live);
	free(v->row_nodes);
	free(v->arrivals.a);
	free(v->nodes);
	free(v->touched.a);
	free(v->placed.a);
	free(v->started.a);
	free(v->results);
	free(v);
}

size_t fit_verifier_n_rules(const struct fit_verifier *v)
{
	(void)v;
	return N_RULES;
}

struct fit_verdict fit_verifier_verdict(const struct fit_verifier *v, size_t i)
{
	const struct verify_tally *t = &v->tally[i];

	return (struct fit_verdict){
		.rule = verify_rules[i].name,
		.meaning = verify_rules[i].meaning,
		.kind = t->violations ? FIT_VERDICT_VIOLATED
			: t->checked  ? FIT_VERDICT_OK
				      : FIT_VERDICT_NOT_APPLICABLE,
		.checked = t->checked,
		.violations = t->violations,
		.detail = t->detail,
	};
}

const char *fit_verdict_name(enum fit_verdict_kind kind)
{
	static const char *const names[] = { "ok", "violated", "not-applicable" };

	return names[kind];
}

const char *fit_verifier_hash_jobs(const struct fit_verifier *v)
{
	return v->hash_jobs;
}

const char *fit_verifier_hash_speedups(const struct fit_verifier *v)
{
	return v->speedups.hash;
}

const char *fit_verifier_hash_classes(const struct fit_verifier *v)
{
	return v->class_table.hash;
}

const char *fit_verifier_hash_plan(const struct fit_verifier *v)
{
	return v->plans.hash;
}

const char *fit_verifier_hash_profile(const struct fit_verifier *v)
{
	return v->hash_profile;
}

const char *fit_verifier_hash_models(const struct fit_verifier *v)
{
	return v->models.hash;
}

const char *fit_verifier_hash_log(const struct fit_verifier *v)
{
	return v->hash_log;
}
