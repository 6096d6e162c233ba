/* SPDX-License-Identifier: MIT */
/*
 * Lucid (Hu et al., ASPLOS'23): jobs in order of predicted GPU time, packed in pairs where measurements say
 * that they hardly disturb each other; not preemptive. And a policy like Horus (Yeung et al., TPDS'22), which
 * packs by predicted utilisation, in order of arrival.
 *
 * At a decision the queue is walked in order. A job that may share looks for a partner first: a job
 * of the same size that runs alone, the first one in order of start for which
 *
 *   memory   the two need less than a GPU has
 *   lucid    their labels (0 tiny, 1 medium, 2 jumbo) sum to at most 2, and its predicted GPU time is at most
 *            twice the other's
 *   horus    their utilisations sum to at most 100 %
 *
 * Without a partner it is placed alone where the placement finds room. While packing is on a job
 * that is not placed does not hold up those behind it; while it is off it does. So a job that may not
 * share, being wide, finds whole nodes free only by chance: when it has waited for wide_wait_ns,
 * nobody takes free GPUs before it (two may share on).
 *
 * A job that found no partner and no room finds none later, either, unless a job becomes a partner (it starts
 * alone, or is left alone) or GPUs become free. So a decision looks at what is new: jobs that arrived against
 * all that run alone, jobs that waited against those that are new among them, and sizes only for which there
 * may be room. Its cost hardly depends on how many wait.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/replay/backlog.h"
#include "libfit/replay/lucid_describe.h"
#include "libfit/replay/overdue.h"
#include "libfit/replay/policy.h"
#include "libfit/replay/ranked.h"

/* Packing goes on and off at multiples of this (Lucid's simulator, and its paper's ten-minute bins). */
#define FORECAST_STEP_NS (100 * FIT_NS_PER_S)

/* Jobs of one size that run alone and may share. */
struct hosts {
	int64_t gpus;
	struct fit_ranked **by_config;	/* by configuration, in order of start; value is the key; NULL: none yet */
	uint32_t *configs;	/* those that have a set */
	size_t n_configs, cap_configs;
	uint32_t *fresh;	/* hosts that are new, in order of start */
	size_t n_new, cap_new;
	int64_t new_key;	/* the largest key of a new one */
	bool room;		/* there may be room for this size */
};

/* How new a host is: jobs that waited have seen it, have not, or those before its own place have not. */
enum { SEEN, UNSEEN, JUST_STARTED };

struct member {
	int64_t key, arrival;
	uint32_t start;		/* order of start */
	bool fresh;		/* has not looked at all hosts yet */
	bool host;
	bool taken;		/* started as a wide job that was due, at this decision */
	uint8_t news;		/* of a host */
};

/* A job that arrived since the last decision. */
struct fresh {
	int64_t key, arrival;
	uint32_t job;
};

struct lucid {
	struct fit_policy_params p;
	bool horus;
	struct fit_backlog *waiting;	/* by key: predicted GPU time, or arrival */
	struct member *member;		/* by slot */
	size_t cap_member;
	struct hosts *sizes;
	size_t n_sizes, cap_sizes;
	struct fresh *fresh;
	size_t n_fresh, cap_fresh;
	struct fit_overdue wide;	/* waiting jobs that share with nobody */
	bool held;		/* one of them is due: nobody starts alone */
	uint32_t started;
	int64_t arrived;
	bool packing, packed_before;	/* at this decision, at the last one */
	int64_t again_ns;		/* when to look again */
	int64_t switch_ns;		/* when packing goes on or off next */
	int64_t n_open;			/* GPUs of the cluster at the last decision */
};

static void lucid_free(void *state)
{
	struct lucid *l = state;

	for (size_t i = 0; i < l->n_sizes; i++) {
		struct hosts *h = &l->sizes[i];

		for (size_t k = 0; k < h->n_configs; k++)
			fit_ranked_free(h->by_config[h->configs[k]]);
		free(h->by_config);
		free(h->configs);
		free(h->fresh);
	}
	fit_backlog_free(l->waiting);
	fit_overdue_release(&l->wide);
	free(l->member);
	free(l->sizes);
	free(l->fresh);
	free(l);
}

static int init(void **state, const struct fit_view *v, const struct fit_policy_params *p, bool horus,
		struct fit_err *err)
{
	struct lucid *l = calloc(1, sizeof *l);

	(void)v;
	if (!l)
		return fit_fail_nomem(err);
	*state = l;
	l->p = *p;
	l->horus = horus;
	l->again_ns = INT64_MAX;
	l->switch_ns = INT64_MIN;
	l->waiting = fit_backlog_new();
	return l->waiting ? FIT_OK : fit_fail_nomem(err);
}

static int lucid_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		      struct fit_err *err)
{
	return init(state, v, p, false, err);
}

static int horus_init(void **state, const struct fit_view *v, const struct fit_policy_params *p,
		      struct fit_err *err)
{
	return init(state, v, p, true, err);
}

static struct member *member_of(const struct lucid *l, const struct fit_view *v, uint32_t j)
{
	return &l->member[fit_view_slot(v, j)];
}

/* The hosts of a size; NULL: out of memory. */
static struct hosts *hosts_of(struct lucid *l, const struct fit_view *v, int64_t gpus)
{
	struct fit_ranked **by_config;

	for (size_t i = 0; i < l->n_sizes; i++)
		if (l->sizes[i].gpus == gpus)
			return &l->sizes[i];
	if (fit_grow(&l->sizes, &l->cap_sizes, l->n_sizes + 1, sizeof *l->sizes))
		return NULL;
	by_config = calloc(v->colocation->n_configs + 1, sizeof *by_config);
	if (!by_config)
		return NULL;
	l->sizes[l->n_sizes] = (struct hosts){ .gpus = gpus, .by_config = by_config, .room = true };
	return &l->sizes[l->n_sizes++];
}

/* ---- who may share ---- */

/* Do measurements let jobs of two configurations share? */
static bool configs_agree(const struct lucid *l, const struct fit_view *v, uint32_t config, uint32_t with)
{
	const struct fit_colo_config *a = &v->colocation->configs[config];
	const struct fit_colo_config *b = &v->colocation->configs[with];

	if (!(b->fb_used_mib < l->p.gpu_mem_mib - a->fb_used_mib))
		return false;
	if (l->horus)
		return a->gpu_util_pct + b->gpu_util_pct <= l->p.pack_util_pct;
	return a->label >= 0 && b->label >= 0 && a->label + b->label <= l->p.pack_score;
}

/* The least key that a host of j has: half of its own, rounded up. */
static int64_t least_key(const struct lucid *l, const struct fit_view *v, uint32_t j)
{
	int64_t key = member_of(l, v, j)->key;

	return l->horus || !l->p.estimate ? INT64_MIN : key / 2 + (key > 0 && key % 2);
}

static bool may_share(const struct lucid *l, const struct fit_view *v, uint32_t j)
{
	return l->packing && fit_view_job(v, j)->gpus <= l->p.pack_gpus;
}

#define NOBODY UINT32_MAX

/* The first in order of start among all hosts that j may join. */
static uint32_t first_host(const struct lucid *l, const struct fit_view *v, const struct hosts *h, uint32_t j)
{
	const struct fit_ranked_entry *first = NULL, *e;
	int64_t least = least_key(l, v, j);

	for (size_t i = 0; i < h->n_configs; i++) {
		if (!configs_agree(l, v, fit_view_job(v, j)->config, h->configs[i]))
			continue;
		e = fit_ranked_least(h->by_config[h->configs[i]], least);
		if (e && (!first || e->key < first->key))
			first = e;
	}
	return first ? first->job : NOBODY;
}

/* The first host that j may join, among those that it has not seen; NOBODY. */
static uint32_t find_host(const struct lucid *l, const struct fit_view *v, const struct hosts *h, uint32_t j)
{
	int64_t least = least_key(l, v, j);

	if (member_of(l, v, j)->fresh)
		return first_host(l, v, h, j);
	for (size_t i = 0; i < h->n_new; i++)
		if (member_of(l, v, h->fresh[i])->key >= least &&
		    configs_agree(l, v, fit_view_job(v, j)->config, fit_view_job(v, h->fresh[i])->config))
			return h->fresh[i];
	return NOBODY;
}

static struct fit_ranked_entry host_entry(const struct lucid *l, const struct fit_view *v, uint32_t j)
{
	const struct member *m = member_of(l, v, j);

	return (struct fit_ranked_entry){ .key = m->start, .job = j, .value = m->key };
}

static int add_to_set(struct lucid *l, const struct fit_view *v, struct hosts *h, uint32_t j)
{
	uint32_t config = fit_view_job(v, j)->config;
	const struct fit_ranked_entry e = host_entry(l, v, j);

	if (!h->by_config[config]) {
		if (fit_grow(&h->configs, &h->cap_configs, h->n_configs + 1, sizeof *h->configs))
			return FIT_ENOMEM;
		h->by_config[config] = fit_ranked_new(false);
		if (!h->by_config[config])
			return FIT_ENOMEM;
		h->configs[h->n_configs++] = config;
	}
	return fit_ranked_add(h->by_config[config], &e);
}

/* A host is new, as that. */
static int add_new(struct lucid *l, const struct fit_view *v, struct hosts *h, uint32_t j, int news)
{
	struct member *m = member_of(l, v, j);
	size_t i;

	if (fit_grow(&h->fresh, &h->cap_new, h->n_new + 1, sizeof *h->fresh))
		return FIT_ENOMEM;
	for (i = h->n_new; i && member_of(l, v, h->fresh[i - 1])->start > m->start; i--)
		h->fresh[i] = h->fresh[i - 1];
	h->fresh[i] = j;
	m->news = (uint8_t)news;
	if (!h->n_new++ || m->key > h->new_key)
		h->new_key = m->key;
	return FIT_OK;
}

static int add_host(struct lucid *l, const struct fit_view *v, uint32_t j, int news, struct fit_err *err)
{
	struct member *m = member_of(l, v, j);
	struct hosts *h = hosts_of(l, v, fit_view_job(v, j)->gpus);

	if (m->host || fit_view_job(v, j)->gpus > l->p.pack_gpus ||
	    (fit_view_alloc(v, j)->n > 1 && !v->fidelity->packs_distributed))
		return FIT_OK;
	if (!h || add_to_set(l, v, h, j) || add_new(l, v, h, j, news))
		return fit_fail_nomem(err);
	m->host = true;
	return FIT_OK;
}

static void drop_host(struct lucid *l, const struct fit_view *v, struct hosts *h, uint32_t j)
{
	struct member *m = member_of(l, v, j);
	const struct fit_ranked_entry e = host_entry(l, v, j);
	size_t i = 0;

	fit_ranked_take_out(h->by_config[fit_view_job(v, j)->config], &e);
	m->host = false;
	if (m->news == SEEN)
		return;
	while (h->fresh[i] != j)
		i++;
	memmove(h->fresh + i, h->fresh + i + 1, (h->n_new - i - 1) * sizeof *h->fresh);
	h->n_new--;
}

/* A walk is over: what it has seen is no news; what it has started is news to the jobs that came before. */
static void age_news(struct lucid *l, const struct fit_view *v)
{
	for (size_t k = 0; k < l->n_sizes; k++) {
		struct hosts *h = &l->sizes[k];
		size_t n = 0;

		for (size_t i = 0; i < h->n_new; i++) {
			struct member *m = member_of(l, v, h->fresh[i]);

			m->news = m->news == JUST_STARTED ? UNSEEN : SEEN;
			if (m->news == SEEN)
				continue;
			h->new_key = n && h->new_key > m->key ? h->new_key : m->key;
			h->fresh[n++] = h->fresh[i];
		}
		h->n_new = n;
	}
}

static int by_start(const void *pa, const void *pb)
{
	const struct fit_ranked_entry *a = pa, *b = pb;

	return (a->key > b->key) - (a->key < b->key);
}

/* Every host of a size is new again. */
static int renew_size(struct lucid *l, const struct fit_view *v, struct hosts *h)
{
	struct fit_ranked_entry *list;
	size_t n = 0, at = 0;
	int rc = FIT_OK;

	for (size_t i = 0; i < h->n_configs; i++)
		n += fit_ranked_count(h->by_config[h->configs[i]]);
	list = malloc((n ? n : 1) * sizeof *list);
	if (!list)
		return FIT_ENOMEM;
	for (size_t i = 0; i < h->n_configs; at += fit_ranked_count(h->by_config[h->configs[i++]]))
		fit_ranked_list(h->by_config[h->configs[i]], list + at);
	qsort(list, n, sizeof *list, by_start);
	h->n_new = 0;
	for (size_t i = 0; i < n && !rc; i++)
		rc = add_new(l, v, h, list[i].job, UNSEEN);
	free(list);
	return rc;
}

static int renew(struct lucid *l, const struct fit_view *v, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < l->n_sizes && !rc; i++)
		rc = renew_size(l, v, &l->sizes[i]);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- news ---- */

static int lucid_arrive(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct lucid *l = state;
	const struct fit_job *job = fit_view_job(v, j);
	uint32_t slot = fit_view_slot(v, j);
	struct member *m;
	int64_t us;

	if (fit_grow(&l->member, &l->cap_member, (size_t)slot + 1, sizeof *l->member))
		return fit_fail_nomem(err);
	m = &l->member[slot];
	*m = (struct member){ .fresh = true, .arrival = l->arrived++ };
	if (l->horus || !l->p.estimate)
		m->key = 0;
	else if (!__builtin_mul_overflow(job->predicted_ns / 1000, job->gpus, &us) &&
		 us < INT64_MAX / 2 && us > INT64_MIN / 2)
		m->key = us;
	else
		m->key = job->predicted_ns < 0 ? INT64_MIN / 2 : INT64_MAX / 2;
	if ((job->gpus > l->p.pack_gpus && l->p.wide_wait_ns >= 0 &&
	     fit_overdue_add(&l->wide, j, fit_view_submit_ns(v, j))) ||
	    fit_grow(&l->fresh, &l->cap_fresh, l->n_fresh + 1, sizeof *l->fresh) ||
	    !hosts_of(l, v, job->gpus) ||
	    fit_backlog_add(l->waiting, slot, j, job->gpus, m->key, m->arrival))
		return fit_fail_nomem(err);
	l->fresh[l->n_fresh++] = (struct fresh){ m->key, m->arrival, j };
	return FIT_OK;
}

static void set_room(struct lucid *l)
{
	for (size_t i = 0; i < l->n_sizes; i++)
		l->sizes[i].room = true;
}

static void lucid_leave(void *state, const struct fit_view *v, uint32_t j)
{
	struct lucid *l = state;

	if (member_of(l, v, j)->host)
		drop_host(l, v, hosts_of(l, v, fit_view_job(v, j)->gpus), j);
	set_room(l);
}

/* A job was placed, or left alone. */
static int lucid_changed(void *state, const struct fit_view *v, uint32_t j, struct fit_err *err)
{
	struct lucid *l = state;

	if (fit_backlog_remove(l->waiting, fit_view_slot(v, j))) {
		fit_overdue_remove(&l->wide, j);
		return FIT_OK;	/* placed: the decision has told hosts from others already */
	}
	return fit_view_alone(v, j) ? add_host(l, v, j, UNSEEN, err) : FIT_OK;
}

/* ---- decisions ---- */

static bool before(const struct lucid *l, const struct fit_view *v, uint32_t a, uint32_t b)
{
	const struct member *x = member_of(l, v, a), *y = member_of(l, v, b);

	return x->key != y->key ? x->key < y->key : x->arrival < y->arrival;
}

static int by_place(const void *pa, const void *pb)
{
	const struct fresh *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->arrival > b->arrival) - (a->arrival < b->arrival);
}

enum outcome { WAITS, SHARES, ALONE, TAKEN };	/* TAKEN: started ahead of its turn */

/* Start j beside a host, or alone. */
static int try_job(struct lucid *l, const struct fit_view *v, struct fit_plan *plan, uint32_t j,
		   enum outcome *outcome, struct fit_err *err)
{
	struct hosts *h = hosts_of(l, v, fit_view_job(v, j)->gpus);
	uint32_t with;
	bool fits = false;

	*outcome = member_of(l, v, j)->taken ? TAKEN : WAITS;
	if (*outcome == TAKEN)
		return FIT_OK;
	if (may_share(l, v, j) && (with = find_host(l, v, h, j)) != NOBODY) {
		if (fit_plan_share(plan, j, with))
			return fit_fail_nomem(err);
		drop_host(l, v, h, with);
		member_of(l, v, j)->start = l->started++;
		*outcome = SHARES;
		return FIT_OK;
	}
	if (!h->room || l->held)
		return FIT_OK;
	if (fit_plan_try(plan, j, &fits))
		return fit_fail_nomem(err);
	h->room = fits;
	if (!fits)
		return FIT_OK;
	member_of(l, v, j)->start = l->started++;
	*outcome = ALONE;
	return add_host(l, v, j, JUST_STARTED, err);
}

/* May a job of this size that has waited before start, if its key is that or a larger one? */
static bool worth(const struct lucid *l, const struct hosts *h, int64_t key)
{
	return (h->room && !l->held) || (h->n_new && (l->horus || !l->p.estimate || key <= 2 * h->new_key));
}

/* Walk the queue; who cannot start is passed over. *alone: so many have started alone. */
static int walk(struct lucid *l, const struct fit_view *v, struct fit_plan *plan, size_t *alone,
		struct fit_err *err)
{
	size_t f = 0;

	if (l->n_fresh > 1)
		qsort(l->fresh, l->n_fresh, sizeof *l->fresh, by_place);
	for (;;) {
		uint32_t j;
		int64_t key, tie;
		bool waits = fit_backlog_look(l->waiting, INT64_MAX, &j, &key, &tie);
		enum outcome outcome;
		int rc;

		while (f < l->n_fresh && !fit_backlog_has(l->waiting, fit_view_slot(v, l->fresh[f].job)))
			f++;	/* started while packing was off */
		if (waits && !worth(l, hosts_of(l, v, fit_view_job(v, j)->gpus), key)) {
			fit_backlog_drop_size(l->waiting, fit_view_job(v, j)->gpus);
			continue;
		}
		/* of sizes that were dropped new arrivals remain */
		if (f < l->n_fresh && (!waits || before(l, v, l->fresh[f].job, j)))
			j = l->fresh[f++].job;
		else if (waits)
			fit_backlog_pass(l->waiting, fit_view_slot(v, j));
		else
			return FIT_OK;
		f += f < l->n_fresh && l->fresh[f].job == j;
		rc = try_job(l, v, plan, j, &outcome, err);
		if (rc)
			return rc;
		*alone += outcome == ALONE;
	}
}

/* Without packing the head of the queue blocks. */
static int walk_head(struct lucid *l, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	enum outcome outcome = ALONE;
	uint32_t j;
	int64_t key, tie;
	int rc = FIT_OK;

	while (!rc && !l->held && outcome != WAITS && fit_backlog_look(l->waiting, INT64_MAX, &j, &key, &tie)) {
		fit_backlog_pass(l->waiting, fit_view_slot(v, j));
		rc = try_job(l, v, plan, j, &outcome, err);
	}
	return rc;
}

/* Wide jobs that are due come first; where one finds no room, the others may only share. */
static int start_due(struct lucid *l, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	size_t due = fit_overdue_count(&l->wide, v->now_ns, l->p.wide_wait_ns);
	int rc = FIT_OK;

	l->held = false;
	for (size_t i = 0; i < due && !l->held && !rc; i++) {
		uint32_t j = l->wide.jobs[i].job;
		enum outcome outcome;

		rc = try_job(l, v, plan, j, &outcome, err);
		l->held = outcome == WAITS;
		member_of(l, v, j)->taken = outcome == ALONE;
	}
	return rc;
}

/* Is packing on by the forecast of that instant? */
static bool expects_load(const struct lucid *l, int64_t at_ns)
{
	return !(fit_forecast_mean(l->p.forecast, l->p.forecast->jobs, at_ns) <= l->p.forecast_jobs);
}

/* Packing goes on and off at whole steps. The forecast changes where a row begins. */
static void look_ahead(struct lucid *l, int64_t now_ns)
{
	const struct fit_forecast *f = l->p.forecast;
	const int64_t step = FORECAST_STEP_NS;

	l->packing = l->p.pack;
	l->switch_ns = INT64_MAX;
	if (!f || !l->p.pack)
		return;
	l->packing = expects_load(l, now_ns - now_ns % step);
	for (size_t i = 0; i < f->n && l->switch_ns == INT64_MAX; i++) {
		int64_t at = (f->time_ns[i] + step - 1) / step * step;

		if (at > now_ns && expects_load(l, at) != l->packing)
			l->switch_ns = at;
	}
}

static int lucid_decide(void *state, const struct fit_view *v, struct fit_plan *plan, struct fit_err *err)
{
	struct lucid *l = state;
	size_t alone = 0;
	int rc;

	l->again_ns = INT64_MAX;
	if (v->cluster->n_open > l->n_open)
		set_room(l);
	l->n_open = v->cluster->n_open;
	if (v->now_ns >= l->switch_ns)
		look_ahead(l, v->now_ns);
	fit_backlog_rewind(l->waiting);
	rc = start_due(l, v, plan, err);
	if (rc)
		return rc;
	if (!l->packing) {
		l->packed_before = false;
		return walk_head(l, v, plan, err);
	}
	rc = l->packed_before ? FIT_OK : renew(l, v, err);
	l->packed_before = true;
	rc = rc ? rc : walk(l, v, plan, &alone, err);
	for (size_t i = 0; i < l->n_fresh; i++)
		if (fit_view_slot(v, l->fresh[i].job) != FIT_NO_SLOT)
			member_of(l, v, l->fresh[i].job)->fresh = false;
	l->n_fresh = 0;
	age_news(l, v);
	if (alone && fit_backlog_count(l->waiting) > alone)
		l->again_ns = v->now_ns + (v->fidelity->packs_again_later ? FIT_NS_PER_S : 0);
	return rc;
}

static int64_t lucid_next_wake(void *state, const struct fit_view *v)
{
	const struct lucid *l = state;

	(void)v;
	return l->again_ns < l->switch_ns ? l->again_ns : l->switch_ns;
}

const struct fit_policy fit_policy_lucid = {
	.name = "lucid",
	.summary = "smallest predicted GPU time first, packed by sharing score, not preemptive",
	.needs = FIT_SLOTS | FIT_SHARES | FIT_PREDICTED | FIT_COUNTS_DOWN | FIT_ONLY_NEWS | FIT_ONE_TYPE,
	.init = lucid_init,
	.free = lucid_free,
	.arrive = lucid_arrive,
	.leave = lucid_leave,
	.changed = lucid_changed,
	.decide = lucid_decide,
	.next_wake = lucid_next_wake,
	.describe = fit_lucid_describe,
};

const struct fit_policy fit_policy_horus = {
	.name = "horus",
	.summary = "first in, first out, packed by utilisation, not preemptive",
	.needs = FIT_SLOTS | FIT_SHARES | FIT_COUNTS_DOWN | FIT_ONLY_NEWS | FIT_ONE_TYPE,
	.init = horus_init,
	.free = lucid_free,
	.arrive = lucid_arrive,
	.leave = lucid_leave,
	.changed = lucid_changed,
	.decide = lucid_decide,
	.next_wake = lucid_next_wake,
	.describe = fit_horus_describe,
};
