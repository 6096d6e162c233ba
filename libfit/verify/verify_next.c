/* SPDX-License-Identifier: MIT */
/*
 * Who had to be next, where the queues of several parts, other placements than the emptiest nodes, or
 * shared GPUs are at work: fifo, sjf, qssf, lucid and horus.
 *
 * Each part has a queue, kept by size. Rows of a decision come in the order in which it was made, so
 * each start is held against what was there right before its row: a job that is before it in the queue
 * could not have started, and where jobs share, the first host in order of start is taken that will
 * do, before free GPUs. Once the decision is over, nobody waits that could start: of each size what is
 * free is looked at once, and every waiting job meets every host once, when the later of the two
 * comes.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

struct waiting {
	__int128 key;
	int64_t second, third;		/* break ties */
	uint32_t job;
};

/* A job that runs alone and may be joined. All that one who looks for a host wants is here, one host behind
 * the other: there may be thousands. */
struct host {
	__int128 key;			/* of its entry in the queue */
	uint32_t job, config, started;
};

/* Jobs of one size. */
struct line {
	int64_t gpus;
	struct waiting *a;		/* in order */
	size_t n, cap;
	struct host *hosts;		/* in order of start */
	size_t n_hosts, cap_hosts;
};

/* What is known of a job in the system. */
struct seat {
	struct waiting w;		/* its entry in a line, in case */
	uint32_t started;		/* order of start */
	bool waits, hosts;
};

/* A host that jobs before it in the queue are offered later. */
struct deferred {
	uint32_t job;
	int64_t due_ns;
};

struct part {
	struct line *lines;
	size_t n_lines, cap_lines;
	size_t n_waiting, n_came;	/* in all lines; of these, arrivals at came_ns */
	int64_t came_ns;
	bool dirty;
	struct verify_list fresh, new_hosts;
	struct deferred *deferred;
	size_t n_deferred, cap_deferred;
};

struct verify_next {
	struct part *parts;		/* as v->vcs */
	size_t n_parts;
	uint32_t arrived;
	uint32_t *seat_of;		/* by job, from 1; 0: none */
	struct seat *seats;
	size_t n_seats, cap_seats;
	struct verify_list empty;	/* seats of jobs that left */
};

/* The seat of a job; one that sits nowhere has an empty one. */
static const struct seat *seat(const struct verify_next *x, uint32_t job)
{
	static const struct seat none;

	return x->seat_of[job] ? &x->seats[x->seat_of[job] - 1] : &none;
}

/* The same for one that comes; NULL and v->code without memory. It may move all others. */
static struct seat *take_seat(struct fit_verifier *v, uint32_t job)
{
	struct verify_next *x = v->next;

	if (x->seat_of[job])
		return &x->seats[x->seat_of[job] - 1];
	if (x->empty.n) {
		x->seat_of[job] = x->empty.a[--x->empty.n];
	} else if (fit_grow(&x->seats, &x->cap_seats, x->n_seats + 1, sizeof *x->seats)) {
		v->code = FIT_ENOMEM;
		return NULL;
	} else {
		x->seat_of[job] = (uint32_t)++x->n_seats;
	}
	x->seats[x->seat_of[job] - 1] = (struct seat){ .waits = false };
	return &x->seats[x->seat_of[job] - 1];
}

/* The job has left the system. */
static void leave_seat(struct fit_verifier *v, uint32_t job)
{
	struct verify_next *x = v->next;
	const struct seat *s = seat(x, job);

	if (!x->seat_of[job] || s->waits || s->hosts)
		return;
	if (verify_list_push(&x->empty, x->seat_of[job]))
		v->code = FIT_ENOMEM;
	x->seat_of[job] = 0;
}

void verify_next_release(struct fit_verifier *v)
{
	struct verify_next *x = v->next;

	if (!x)
		return;
	for (size_t i = 0; i < x->n_parts; i++) {
		struct part *p = &x->parts[i];

		for (size_t k = 0; k < p->n_lines; k++) {
			free(p->lines[k].a);
			free(p->lines[k].hosts);
		}
		free(p->lines);
		free(p->fresh.a);
		free(p->new_hosts.a);
		free(p->deferred);
	}
	free(x->parts);
	free(x->seat_of);
	free(x->seats);
	free(x->empty.a);
	free(x);
	v->next = NULL;
}

int verify_next_begin(struct fit_verifier *v)
{
	struct verify_next *x;

	/* under --wide-wait a job that is due holds up others, which is not derived */
	if (verify_has_types(v) || v->holds_for_wide)
		v->queues = POLICY_OTHER;
	if (v->next || v->queues == POLICY_OTHER)
		return FIT_OK;
	v->next = x = calloc(1, sizeof *x);
	if (!x)
		return FIT_ENOMEM;
	x->n_parts = v->n_vcs;
	x->parts = calloc(v->n_vcs + 1, sizeof *x->parts);
	x->seat_of = calloc(v->n_jobs + 1, sizeof *x->seat_of);
	return x->parts && x->seat_of ? FIT_OK : FIT_ENOMEM;
}

static struct part *part_of(const struct fit_verifier *v, uint32_t job)
{
	const struct verify_vc *vc = verify_vc_of(v, job);

	return vc ? &v->next->parts[vc - v->vcs] : NULL;
}

/* ---- the order of a queue ---- */

static int compare(const struct waiting *a, const struct waiting *b)
{
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	return (a->third > b->third) - (a->third < b->third);
}

/* qssf under the fidelity: all that wait came at this second, and go by size. */
static bool by_size_now(const struct fit_verifier *v, const struct part *p)
{
	return v->bursts_by_size && p->came_ns == v->now && p->n_came == p->n_waiting;
}

static struct waiting entry_of(struct fit_verifier *v, uint32_t job)
{
	const struct verify_job *j = &v->jobs[job];
	struct waiting w = { .third = j->rank, .job = job };

	if (v->queues == POLICY_FIFO || v->queues == POLICY_FJF)
		w.key = j->submit_ns;
	else if (v->queues == POLICY_SJF)
		w.key = j->duration_ns;
	else if (v->queues == POLICY_QSSF || (v->queues == POLICY_LUCID && v->estimates))
		w.key = (__int128)(verify_job_predicted_ns(v, job) / 1000) * (int64_t)j->gpus;
	if (v->queues == POLICY_QSSF)
		w.second = (int64_t)j->gpus;
	if (v->queues == POLICY_LUCID || v->queues == POLICY_HORUS)
		w.third = v->next->arrived++;
	return w;
}

static struct line *line_of(struct part *p, int64_t gpus)
{
	for (size_t i = 0; i < p->n_lines; i++)
		if (p->lines[i].gpus == gpus)
			return &p->lines[i];
	if (fit_grow(&p->lines, &p->cap_lines, p->n_lines + 1, sizeof *p->lines))
		return NULL;
	p->lines[p->n_lines] = (struct line){ .gpus = gpus };
	return &p->lines[p->n_lines++];
}

/* Where w is or would be. */
static size_t find(const struct line *l, const struct waiting *w)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (compare(&l->a[mid], w) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int64_t size_of(const struct fit_verifier *v, uint32_t job)
{
	return (int64_t)v->jobs[job].gpus;
}

/* Where a host that started so is or would be. */
static size_t host_at(const struct line *l, uint32_t started)
{
	size_t lo = 0, hi = l->n_hosts;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (l->hosts[mid].started < started)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void enter(struct fit_verifier *v, uint32_t job)
{
	struct part *p = part_of(v, job);
	struct line *l = p ? line_of(p, size_of(v, job)) : NULL;
	struct waiting w;
	struct seat *mine;
	size_t at;

	if (!p || seat(v->next, job)->waits || !(mine = take_seat(v, job)))
		return;
	if (!l || fit_grow(&l->a, &l->cap, l->n + 1, sizeof *l->a) || verify_list_push(&p->fresh, job)) {
		v->code = FIT_ENOMEM;
		return;
	}
	w = entry_of(v, job);
	at = find(l, &w);
	memmove(l->a + at + 1, l->a + at, (l->n - at) * sizeof *l->a);
	l->a[at] = w;
	l->n++;
	if (mine->hosts)	/* it was started before it was submitted */
		l->hosts[host_at(l, mine->started)].key = w.key;
	mine->w = w;
	mine->waits = true;
	p->n_came = p->came_ns == v->now ? p->n_came + 1 : 1;
	p->came_ns = v->now;
	p->n_waiting++;
	p->dirty = true;
}

static void leave(struct fit_verifier *v, uint32_t job)
{
	struct part *p = part_of(v, job);
	struct line *l = p ? line_of(p, size_of(v, job)) : NULL;
	size_t at;

	if (!l || !seat(v->next, job)->waits)
		return;
	at = find(l, &seat(v->next, job)->w);
	if (at < l->n && l->a[at].job == job) {
		memmove(l->a + at, l->a + at + 1, (l->n - at - 1) * sizeof *l->a);
		l->n--;
		p->n_waiting--;
		p->n_came -= p->came_ns == v->now && v->jobs[job].submit_ns == v->now && p->n_came;
	}
	v->next->seats[v->next->seat_of[job] - 1].waits = false;
	p->dirty = true;
}

/* The first of the queue, or NULL. */
static const struct waiting *head(const struct fit_verifier *v, const struct part *p)
{
	bool small = by_size_now(v, p);
	const struct waiting *best = NULL;

	for (size_t i = 0; i < p->n_lines; i++) {
		const struct line *l = &p->lines[i];
		const struct waiting *w = l->n ? &l->a[0] : NULL;

		for (size_t k = 1; small && k < l->n; k++)
			if (l->a[k].third < w->third)
				w = &l->a[k];
		if (w && (!best || (small ? w->second < best->second : compare(w, best) < 0)))
			best = w;
	}
	return best;
}

/* ---- who may share ---- */

static bool agree(const struct fit_verifier *v, const struct waiting *w, uint32_t config,
		  const struct host *h)
{
	const struct fit_colo_config *a, *b;

	if (config == FIT_NO_INDEX || h->config == FIT_NO_INDEX)
		return false;
	a = &v->colocation.configs[config];
	b = &v->colocation.configs[h->config];
	if (!(b->fb_used_mib < v->gpu_mem_mib - a->fb_used_mib))
		return false;
	if (v->packs == PACKS_HORUS)
		return a->gpu_util_pct + b->gpu_util_pct <= v->pack_util_pct;
	if (a->label < 0 || b->label < 0 || a->label + b->label > v->pack_score)
		return false;
	return !v->estimates || w->key <= 2 * h->key;
}

static bool packs(const struct fit_verifier *v)
{
	return v->packs != PACKS_NOT && !v->pack_off;
}

/* Who has no room is passed over, and does not hold up others. */
static bool passes_over(const struct fit_verifier *v)
{
	return packs(v) || v->queues == POLICY_FJF;
}

/* A host of its line; NULL: it is none. */
static const struct host *host_of(const struct fit_verifier *v, const struct line *l, uint32_t job)
{
	const struct seat *s = seat(v->next, job);

	return s->hosts ? &l->hosts[host_at(l, s->started)] : NULL;
}

/* Is the job a host of that line? */
static bool hosts_in(const struct fit_verifier *v, const struct part *p, const struct line *l, uint32_t job)
{
	return seat(v->next, job)->hosts && part_of(v, job) == p && size_of(v, job) == l->gpus;
}

static void drop_host(struct fit_verifier *v, uint32_t job)
{
	struct part *p = part_of(v, job);
	struct line *l = p && seat(v->next, job)->hosts ? line_of(p, size_of(v, job)) : NULL;
	size_t at;

	if (!l)
		return;
	at = host_at(l, seat(v->next, job)->started);
	memmove(l->hosts + at, l->hosts + at + 1, (--l->n_hosts - at) * sizeof *l->hosts);
	v->next->seats[v->next->seat_of[job] - 1].hosts = false;
}

/* A job runs alone from now on; started: it was placed by this decision. */
static void add_host(struct fit_verifier *v, uint32_t job, bool started)
{
	struct part *p = part_of(v, job);
	struct line *l = p ? line_of(p, size_of(v, job)) : NULL;
	const struct verify_live *live = v->jobs[job].live == NONE ? NULL : &v->live[v->jobs[job].live];
	struct seat *s;
	size_t at;

	if (!l || !live || !packs(v) || l->gpus > v->pack_gpus || live->marked || live->on_profiler ||
	    (live->n_nodes > 1 && !v->distributed) || seat(v->next, job)->hosts || !(s = take_seat(v, job)))
		return;
	if (verify_list_push(&p->new_hosts, job) ||
	    fit_grow(&l->hosts, &l->cap_hosts, l->n_hosts + 1, sizeof *l->hosts) ||
	    fit_grow(&p->deferred, &p->cap_deferred, p->n_deferred + 1, sizeof *p->deferred)) {
		v->code = FIT_ENOMEM;
		return;
	}
	at = host_at(l, s->started);
	memmove(l->hosts + at + 1, l->hosts + at, (l->n_hosts++ - at) * sizeof *l->hosts);
	l->hosts[at] = (struct host){ s->w.key, job, verify_job_config(v, job), s->started };
	s->hosts = true;
	if (started)
		p->deferred[p->n_deferred++] = (struct deferred){ job, v->now + v->again_step_ns };
	p->dirty = true;
}

/* Not offered yet to those that are before it in the queue. */
static bool hides(const struct fit_verifier *v, const struct part *p, const struct waiting *w, uint32_t host)
{
	for (size_t i = 0; i < p->n_deferred; i++)
		if (p->deferred[i].job == host && p->deferred[i].due_ns > v->now)
			return compare(w, &seat(v->next, host)->w) < 0;
	return false;
}

/* ---- each start ---- */

static void check_guest(struct fit_verifier *v, const struct verify_row *r, const struct line *l)
{
	const struct waiting *me = &seat(v->next, r->job)->w;
	const struct host *with = host_of(v, l, r->with);
	uint32_t config = verify_job_config(v, r->job);
	struct fit_text id;

	for (const struct host *h = l->hosts; h < with; h++) {
		if (!agree(v, me, config, h))
			continue;
		id = verify_job_id(v, h->job);
		verify_fault(v, RULE_PACK_FIRST, r->job, "joins a job although it may join '%.*s', which started earlier",
			     FIT_TEXT_ARG(id));
		break;
	}
	for (size_t i = 0; i < l->n && compare(&l->a[i], me) < 0; i++) {
		uint32_t k = l->a[i].job;
		bool new = v->live[v->jobs[r->with].live].first_start_ns == v->now;

		/* a host of this very instant is offered to those before it in the next walk only */
		if (!agree(v, &l->a[i], verify_job_config(v, k), with) ||
		    (new && compare(&l->a[i], &seat(v->next, r->with)->w) < 0))
			continue;
		id = verify_job_id(v, k);
		verify_fault(v, RULE_NEXT, r->job, "joins a job that '%.*s', before it in the queue, may join",
			     FIT_TEXT_ARG(id));
		return;
	}
}

static void check_alone(struct fit_verifier *v, const struct verify_row *r, const struct part *p,
			const struct line *mine)
{
	const struct waiting *me = &seat(v->next, r->job)->w;
	uint32_t config = verify_job_config(v, r->job);
	struct fit_text id;

	for (size_t i = 0; packs(v) && mine->gpus <= v->pack_gpus && i < mine->n_hosts; i++) {
		if (!agree(v, me, config, &mine->hosts[i]))
			continue;
		id = verify_job_id(v, mine->hosts[i].job);
		verify_fault(v, RULE_PACK_FIRST, r->job, "starts alone although it may join '%.*s'", FIT_TEXT_ARG(id));
		break;
	}
	for (size_t i = 0; i < p->n_lines; i++) {
		const struct line *l = &p->lines[i];

		if (!l->n || compare(&l->a[0], me) >= 0 || !verify_part_fits(v, r->job, 0, l->gpus))
			continue;
		id = verify_job_id(v, l->a[0].job);
		verify_fault(v, RULE_NEXT, r->job, "starts while '%.*s' is before it in the queue, and fits",
			     FIT_TEXT_ARG(id));
		return;
	}
}

void verify_row_next(struct fit_verifier *v, const struct verify_row *r)
{
	struct part *p = r->job == NONE || r->on_profiler || !v->next ? NULL : part_of(v, r->job);
	const struct line *l = p && seat(v->next, r->job)->waits ? line_of(p, size_of(v, r->job)) : NULL;
	const struct waiting *first;

	if (!l)
		return;
	verify_check(v, RULE_NEXT);
	if (passes_over(v)) {
		if (packs(v))
			verify_check(v, RULE_PACK_FIRST);
		if (!r->has_with)
			check_alone(v, r, p, l);
		else if (r->with != NONE && hosts_in(v, p, l, r->with))
			check_guest(v, r, l);
		return;
	}
	first = head(v, p);
	if (first && first->job != r->job) {
		struct fit_text id = verify_job_id(v, first->job);

		verify_fault(v, RULE_NEXT, r->job, "started while job '%.*s' is before it in the queue",
			     FIT_TEXT_ARG(id));
	}
}

/* ---- the end of a decision ---- */

static void check_pair(struct fit_verifier *v, const struct part *p, const struct waiting *w,
		       const struct host *h)
{
	struct fit_text id;

	if (!agree(v, w, verify_job_config(v, w->job), h) || hides(v, p, w, h->job))
		return;
	id = verify_job_id(v, h->job);
	verify_fault(v, RULE_NEXT, w->job, "waits although it may join '%.*s'", FIT_TEXT_ARG(id));
}

static void check_hosts(struct fit_verifier *v, struct part *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->fresh.n; i++) {
		uint32_t job = p->fresh.a[i];
		const struct line *l = line_of(p, size_of(v, job));

		for (size_t k = 0; l && seat(v->next, job)->waits && k < l->n_hosts; k++)
			check_pair(v, p, &seat(v->next, job)->w, &l->hosts[k]);
	}
	for (size_t i = 0; i < p->new_hosts.n; i++) {
		const struct line *l = line_of(p, size_of(v, p->new_hosts.a[i]));

		const struct host *h = l ? host_of(v, l, p->new_hosts.a[i]) : NULL;

		for (size_t k = 0; h && k < l->n; k++)
			check_pair(v, p, &l->a[k], h);
	}
	p->fresh.n = p->new_hosts.n = 0;
	for (size_t i = 0; i < p->n_deferred; i++) {
		const struct line *l = line_of(p, size_of(v, p->deferred[i].job));
		const struct host *h = l ? host_of(v, l, p->deferred[i].job) : NULL;

		if (h && p->deferred[i].due_ns > v->now) {
			p->deferred[kept++] = p->deferred[i];
			continue;
		}
		for (size_t k = 0; h && k < l->n; k++)
			check_pair(v, p, &l->a[k], h);
	}
	p->n_deferred = kept;
}

static void check_part(struct fit_verifier *v, struct part *p)
{
	const struct waiting *first = passes_over(v) ? NULL : head(v, p);

	verify_check(v, RULE_NEXT);
	if (first && verify_part_fits(v, first->job, 0, size_of(v, first->job)))
		verify_fault(v, RULE_NEXT, first->job, "waits at the head of the queue, and fits");
	for (size_t i = 0; passes_over(v) && i < p->n_lines; i++)
		if (p->lines[i].n && verify_part_fits(v, p->lines[i].a[0].job, 0, p->lines[i].gpus))
			verify_fault(v, RULE_NEXT, p->lines[i].a[0].job, "waits, and fits");
	if (packs(v))
		check_hosts(v, p);
	/* a burst that went by size is ranked later */
	p->dirty = by_size_now(v, p) && p->n_waiting;
}

int64_t verify_next_timer(const struct fit_verifier *v)
{
	int64_t due = NEVER;

	for (size_t i = 0; v->next && i < v->next->n_parts; i++) {
		const struct part *p = &v->next->parts[i];

		for (size_t k = 0; k < p->n_deferred; k++)
			due = p->deferred[k].due_ns < due ? p->deferred[k].due_ns : due;
		if (p->dirty && v->bursts_by_size && p->n_waiting && p->came_ns + FIT_NS_PER_S < due)
			due = p->came_ns + FIT_NS_PER_S;
	}
	return due;
}

void verify_decide_next(struct fit_verifier *v)
{
	for (size_t i = 0; v->next && !v->mute && i < v->next->n_parts; i++) {
		struct part *p = &v->next->parts[i];

		if (p->dirty || (p->n_deferred && verify_next_timer(v) <= v->now))
			check_part(v, p);
	}
}

/* ---- effects, after those of verify_apply.c ---- */

/* Does the job enter its queue when it is submitted? */
static bool enters_at_once(const struct fit_verifier *v, uint32_t job)
{
	const struct verify_job *j = &v->jobs[job];

	return !v->apart_text.n || j->gpus > (double)v->profile_gpus ||
	       (v->profiled_beside && j->duration_ns > v->profile_limit_ns);
}

void verify_next_apply(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_next *x = v->next;
	struct part *p;
	struct line *l;
	struct seat *s;

	for (size_t i = 0; x && r->ev == EV_REGAIN && i < x->n_parts; i++)
		x->parts[i].dirty = true;
	p = !x || r->job == NONE ? NULL : part_of(v, r->job);
	l = p ? line_of(p, size_of(v, r->job)) : NULL;
	if (!l)
		return;
	switch (r->ev) {
	case EV_SUBMIT:
		if (enters_at_once(v, r->job))
			enter(v, r->job);
		break;
	case EV_PROFILED:
		if (!v->profiled_beside)
			enter(v, r->job);
		break;
	case EV_REJECT:
		leave(v, r->job);
		leave_seat(v, r->job);
		break;
	case EV_START:
		if (r->on_profiler)
			break;
		leave(v, r->job);
		drop_host(v, r->job);
		s = take_seat(v, r->job);
		if (s)
			s->started = v->n_placed;
		if (r->has_with && r->with != NONE && hosts_in(v, p, l, r->with))
			drop_host(v, r->with);
		else if (!r->has_with || r->with == NONE)
			add_host(v, r->job, true);
		break;
	case EV_SHARE:
		if (!r->has_with)
			add_host(v, r->job, false);
		break;
	case EV_FINISH:
		drop_host(v, r->job);
		leave_seat(v, r->job);
		p->dirty = true;
		break;
	default:
		break;
	}
}
