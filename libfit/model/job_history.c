/* SPDX-License-Identifier: MIT */
#include "libfit/model/job_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

#define NEWEST 0.25	/* weight of a job that ends in recent_s */
#define HOUR_NS (3600 * FIT_NS_PER_S)

const char *const fit_history_scope_names[FIT_HISTORY_SCOPES] = {
	"all", "size", "group_size", "user", "user_name"
};

/* Running sums of what has ended. */
struct past {
	int64_t jobs;
	double log_sum, recent, sum;
};

struct entry {
	const struct fit_history_job *job;
	int64_t end_ns;
	uint32_t rank;				/* by submission */
	uint32_t key[FIT_HISTORY_SCOPES];	/* into history.past; FIT_NO_INDEX: not known */
};

struct history {
	struct entry *by_submit, **by_end;
	struct fit_index keys;
	struct past *past;
	size_t n_past, cap_past;
	uint32_t *hour_jobs;	/* by key of group and size: in the hour so far */
};

static int by_submission(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int d;

	if (a->job->submit_ns != b->job->submit_ns)
		return a->job->submit_ns < b->job->submit_ns ? -1 : 1;
	d = fit_text_cmp_natural(a->job->id, b->job->id);
	return d ? d : (a->job > b->job) - (a->job < b->job);
}

/* Jobs that end when they are submitted come behind those that were there before. */
static int by_ending(const void *pa, const void *pb)
{
	const struct entry *a = *(struct entry *const *)pa, *b = *(struct entry *const *)pb;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static int key_of(struct history *h, int scope, struct fit_text who, double gpus, uint32_t name,
		  struct fit_str *buf, uint32_t *key)
{
	uint32_t found;

	fit_str_clear(buf);
	if (fit_str_printf(buf, "%d %.17g %lu ", scope, gpus, (unsigned long)name) ||
	    fit_str_add(buf, who.s, who.n))
		return FIT_ENOMEM;
	if (fit_grow(&h->past, &h->cap_past, h->n_past + 1, sizeof *h->past) ||
	    fit_index_put(&h->keys, (struct fit_text){ buf->s, buf->n }, (uint32_t)h->n_past, &found))
		return FIT_ENOMEM;
	*key = found == FIT_NO_INDEX ? (uint32_t)h->n_past : found;
	if (found == FIT_NO_INDEX)
		h->past[h->n_past++] = (struct past){ 0 };
	return FIT_OK;
}

static int keys_of(struct history *h, struct entry *e, uint32_t name, struct fit_str *buf)
{
	const struct fit_history_job *j = e->job;
	const struct fit_text none = FIT_TEXT_LIT("");
	int rc;

	for (int s = 0; s < FIT_HISTORY_SCOPES; s++)
		e->key[s] = FIT_NO_INDEX;
	rc = key_of(h, FIT_HISTORY_ALL, none, 0, 0, buf, &e->key[FIT_HISTORY_ALL]);
	rc = rc ? rc : key_of(h, FIT_HISTORY_SIZE, none, j->gpus, 0, buf, &e->key[FIT_HISTORY_SIZE]);
	rc = rc ? rc : key_of(h, FIT_HISTORY_GROUP_SIZE, j->group.s ? j->group : none, j->gpus, j->group.s != NULL,
			      buf, &e->key[FIT_HISTORY_GROUP_SIZE]);
	if (!rc && j->user.s)
		rc = key_of(h, FIT_HISTORY_USER, j->user, 0, 0, buf, &e->key[FIT_HISTORY_USER]);
	if (!rc && j->user.s && j->name.s)
		rc = key_of(h, FIT_HISTORY_USER_NAME, j->user, 0, name, buf, &e->key[FIT_HISTORY_USER_NAME]);
	return rc;
}

static void count(struct history *h, const struct entry *e)
{
	double s = fit_time_to_double(e->job->duration_ns), l = log1p(s);

	for (int k = 0; k < FIT_HISTORY_SCOPES; k++) {
		struct past *p;

		if (e->key[k] == FIT_NO_INDEX)
			continue;
		p = &h->past[e->key[k]];
		p->recent = p->jobs ? p->recent + NEWEST * (l - p->recent) : l;
		p->log_sum += l;
		p->sum += s;
		p->jobs++;
	}
}

static void look(const struct history *h, const struct entry *e, struct fit_history_row *r)
{
	for (int k = 0; k < FIT_HISTORY_SCOPES; k++) {
		const struct past *p = e->key[k] == FIT_NO_INDEX ? NULL : &h->past[e->key[k]];

		r->past[k] = (struct fit_history_past){ 0, (double)NAN, (double)NAN, (double)NAN };
		if (!p || !p->jobs)
			continue;
		r->past[k].jobs = p->jobs;
		r->past[k].geometric_s = expm1(p->log_sum / (double)p->jobs);
		r->past[k].recent_s = expm1(p->recent);
		r->past[k].mean_s = p->sum / (double)p->jobs;
	}
	r->hour_jobs = h->hour_jobs[e->key[FIT_HISTORY_GROUP_SIZE]];
}

/* From submission to submission: first what has ended by then, then all jobs of that instant. */
static void walk(struct history *h, size_t n, size_t n_ends, const struct fit_history_job *jobs,
		 struct fit_history_row *rows)
{
	size_t ended = 0, left = 0;

	for (size_t i = 0, next; i < n; i = next) {
		int64_t now = h->by_submit[i].job->submit_ns;

		for (; ended < n_ends && h->by_end[ended]->end_ns <= now &&
		       h->by_end[ended]->job->submit_ns < now; ended++)
			count(h, h->by_end[ended]);
		for (; now - h->by_submit[left].job->submit_ns > HOUR_NS; left++)
			h->hour_jobs[h->by_submit[left].key[FIT_HISTORY_GROUP_SIZE]]--;
		for (next = i; next < n && h->by_submit[next].job->submit_ns == now; next++)
			look(h, &h->by_submit[next], &rows[h->by_submit[next].job - jobs]);
		for (size_t j = i; j < next; j++)
			h->hour_jobs[h->by_submit[j].key[FIT_HISTORY_GROUP_SIZE]]++;
	}
}

int fit_history(const struct fit_history_job *jobs, size_t n, struct fit_name_clusters *names,
		struct fit_history_row *rows, struct fit_err *err)
{
	struct history h = { 0 };
	struct fit_str buf = { 0 };
	size_t n_ends = 0;
	int rc = FIT_OK;

	if (n >= UINT32_MAX / FIT_HISTORY_SCOPES)
		return fit_fail(err, FIT_EINVAL, "too many jobs");
	h.by_submit = calloc(n + 1, sizeof *h.by_submit);
	h.by_end = calloc(n + 1, sizeof *h.by_end);
	if (!h.by_submit || !h.by_end)
		rc = FIT_ENOMEM;
	for (size_t i = 0; i < n && !rc; i++)
		h.by_submit[i].job = &jobs[i];
	if (!rc)
		qsort(h.by_submit, n, sizeof *h.by_submit, by_submission);
	for (size_t i = 0; i < n && !rc; i++) {
		struct entry *e = &h.by_submit[i];
		struct fit_history_row *r = &rows[e->job - jobs];

		r->name_group = FIT_NO_INDEX;
		if (e->job->name.s)
			rc = fit_name_clusters_put(names, e->job->name, &r->name_group);
		rc = rc ? rc : keys_of(&h, e, r->name_group, &buf);
		e->rank = (uint32_t)i;
		e->end_ns = e->job->end_ns > e->job->submit_ns ? e->job->end_ns : e->job->submit_ns;
		if (e->job->duration_ns >= 0)
			h.by_end[n_ends++] = e;
	}
	h.hour_jobs = rc ? NULL : calloc(h.n_past + 1, sizeof *h.hour_jobs);
	if (!rc && !h.hour_jobs)
		rc = FIT_ENOMEM;
	if (!rc) {
		qsort(h.by_end, n_ends, sizeof(struct entry *), by_ending);
		walk(&h, n, n_ends, jobs, rows);
	}
	free(h.by_submit);
	free(h.by_end);
	free(h.past);
	free(h.hour_jobs);
	fit_index_release(&h.keys);
	fit_str_release(&buf);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}
