/* SPDX-License-Identifier: MIT */
/*
 * Jobs that share GPUs, parts of the cluster, and the profiler of Lucid: who may be where, how fast, and for
 * how long. Speeds come from the measurements, progress is counted here step by step.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

static struct verify_live *live_of(struct fit_verifier *v, uint32_t job)
{
	return job == NONE || v->jobs[job].live == NONE ? NULL : &v->live[v->jobs[job].live];
}

/* ---- the metadata ---- */

static bool says(const struct fit_meta *m, const char *key, const char *value)
{
	const char *s = fit_meta_get(m, key);

	return s && fit_text_is(fit_text_of(s), value);
}

static int64_t count_of(struct fit_verifier *v, const struct fit_meta *m, const char *key)
{
	const char *s = fit_meta_get(m, key);
	int64_t n = 0;

	verify_check(v, RULE_META);
	if (!s || fit_parse_int64(fit_text_of(s), &n) || n < 0)
		verify_fault(v, RULE_META, NONE, "metadata %s is '%s' (expected a number)", key,
			     s ? s : "missing");
	return n;
}

static double real_of(struct fit_verifier *v, const struct fit_meta *m, const char *key)
{
	const char *s = fit_meta_get(m, key);
	double x = 0;

	verify_check(v, RULE_META);
	if (!s || fit_parse_double(fit_text_of(s), &x) || !(x >= 0))
		verify_fault(v, RULE_META, NONE, "metadata %s is '%s' (expected a number)", key,
			     s ? s : "missing");
	return x;
}

static int64_t time_of(struct fit_verifier *v, const struct fit_meta *m, const char *key)
{
	const char *s = fit_meta_get(m, key);
	int64_t ns = 0;

	verify_check(v, RULE_META);
	if (!s || fit_parse_time(fit_text_of(s), &ns) || ns < 0)
		verify_fault(v, RULE_META, NONE, "metadata %s is '%s' (expected seconds)", key,
			     s ? s : "missing");
	return ns;
}

int verify_share_meta(struct fit_verifier *v, const struct fit_meta *m)
{
	const char *vcs = fit_meta_get(m, "virtual_clusters"), *apart = fit_meta_get(m, "profiler_nodes");
	const char *placement = fit_meta_get(m, "placement");
	bool lucid = says(m, "fidelity", "lucid-asplos23");

	v->packs = says(m, "policy", "lucid") ? PACKS_LUCID : says(m, "policy", "horus") ? PACKS_HORUS : PACKS_NOT;
	v->expect_host = v->expect_guest = NONE;
	v->again_ns = NEVER;
	if (vcs && fit_str_puts(&v->vc_text, vcs))
		return FIT_ENOMEM;
	if (apart && fit_str_puts(&v->apart_text, apart))
		return FIT_ENOMEM;
	if (apart) {
		v->profile_limit_ns = time_of(v, m, "profile_limit_s");
		v->profile_gpus = count_of(v, m, "profile_gpus");
		v->profile_naive = says(m, "profile_order", "arrival");
		v->profiled_beside = says(m, "profiled", "beside");
	}
	if (v->packs == PACKS_NOT)
		return FIT_OK;
	v->pack_off = says(m, "packing", "off");
	v->vague_instants = v->vague_instants || says(m, "packing", "forecast");
	v->estimates = says(m, "estimator", "on");
	v->survivor_keeps = says(m, "survivor", "keeps-speed");
	v->lucid_unmeasured = lucid;
	v->distributed = lucid && placement && !says(m, "placement", "consolidate");
	v->again_step_ns = lucid ? FIT_NS_PER_S : 0;
	v->pack_gpus = count_of(v, m, "pack_gpus");
	v->gpu_mem_mib = real_of(v, m, "gpu_mem_mib");
	v->count_ns = time_of(v, m, "count_s");
	if (v->packs == PACKS_LUCID)
		v->pack_score = count_of(v, m, "pack_score");
	else
		v->pack_util_pct = real_of(v, m, "pack_util_pct");
	return FIT_OK;
}

/* ---- parts of the cluster ---- */

int verify_share_group(struct fit_verifier *v, struct fit_text group, uint16_t *vc)
{
	uint32_t at = fit_index_get(&v->by_group, group);

	if (at == FIT_NO_INDEX) {
		if (v->n_groups == UINT16_MAX) /* more than any replay has */
			return FIT_OK;
		at = v->n_groups++;
		if (fit_index_put(&v->by_group, group, at, NULL))
			return FIT_ENOMEM;
	}
	*vc = (uint16_t)at;
	return FIT_OK;
}

/* "name:NxG" or "name:N": name and the number behind the colon. */
static bool cut_part(struct fit_text t, struct fit_text *name, int64_t *n)
{
	size_t colon = 0, end;

	while (colon < t.n && t.s[colon] != ':')
		colon++;
	*name = (struct fit_text){ t.s, colon == t.n ? 0 : colon };
	t = colon == t.n ? t : (struct fit_text){ t.s + colon + 1, t.n - colon - 1 };
	for (end = 0; end < t.n && t.s[end] != 'x'; end++)
		;
	return fit_parse_int64((struct fit_text){ t.s, end }, n) == FIT_OK && *n > 0;
}

static struct verify_vc *find_vc(struct fit_verifier *v, struct fit_text name)
{
	for (size_t i = 0; i < v->n_vcs; i++)
		if (fit_text_eq(v->vcs[i].name, name))
			return &v->vcs[i];
	return NULL;
}

static int add_vc(struct fit_verifier *v, struct fit_text name, int64_t n)
{
	struct verify_vc *last = v->n_vcs ? &v->vcs[v->n_vcs - 1] : NULL;
	int64_t first = last ? last->first + last->n_nodes : 0;

	if (last && fit_text_eq(last->name, name)) {
		last->n_nodes += n;
		return FIT_OK;
	}
	if (fit_grow(&v->vcs, &v->cap_vcs, v->n_vcs + 1, sizeof *v->vcs))
		return FIT_ENOMEM;
	v->vcs[v->n_vcs++] = (struct verify_vc){ .name = name, .first = first, .n_nodes = n };
	return FIT_OK;
}

static struct fit_text part_at(const struct fit_str *s, size_t *at)
{
	size_t from = *at, to = from;

	while (to < s->n && s->s[to] != ',')
		to++;
	*at = to + 1;
	return (struct fit_text){ s->s + from, to - from };
}

static int set_apart(struct fit_verifier *v)
{
	free(v->apart);
	v->apart = calloc(v->n_nodes + 1, sizeof *v->apart);
	if (!v->apart)
		return FIT_ENOMEM;
	for (size_t at = 0; at < v->apart_text.n;) {
		struct fit_text name;
		struct verify_vc *vc;
		int64_t n = 0;
		bool good = cut_part(part_at(&v->apart_text, &at), &name, &n);

		vc = good ? find_vc(v, name) : NULL;
		verify_check(v, RULE_META);
		if (!vc || n >= vc->n_nodes) {
			verify_fault(v, RULE_META, NONE, "metadata profiler_nodes is '%s' (expected nodes of "
				     "virtual clusters)", v->apart_text.s);
			return FIT_OK;
		}
		vc->n_apart = n;
		for (int64_t i = vc->first + vc->n_nodes - n; i < vc->first + vc->n_nodes; i++)
			if ((size_t)i < v->n_nodes)
				v->apart[i] = true;
	}
	return FIT_OK;
}

int verify_share_cluster(struct fit_verifier *v)
{
	int rc = FIT_OK;

	v->n_vcs = 0;
	for (size_t at = 0; at < v->vc_text.n && !rc;) {
		struct fit_text name;
		int64_t n = 0;

		if (!cut_part(part_at(&v->vc_text, &at), &name, &n)) {
			verify_fault(v, RULE_META, NONE, "metadata virtual_clusters is '%s' (expected NAME:NODESxGPUS)",
				     v->vc_text.s);
			break;
		}
		rc = add_vc(v, name, n);
	}
	if (!rc && !v->n_vcs)
		rc = add_vc(v, (struct fit_text){ "", 0 }, (int64_t)v->n_nodes);
	if (rc)
		return rc;
	free(v->vc_of_group);
	v->vc_of_group = calloc((size_t)v->n_groups + 1, sizeof *v->vc_of_group);
	if (!v->vc_of_group)
		return FIT_ENOMEM;
	for (size_t i = 0; i < v->n_vcs && v->vc_text.n; i++) {
		uint32_t g = fit_index_get(&v->by_group, v->vcs[i].name);

		if (g != FIT_NO_INDEX)
			v->vc_of_group[g] = &v->vcs[i];
	}
	return set_apart(v);
}

static const struct verify_vc *vc_of(const struct fit_verifier *v, uint32_t job)
{
	if (!v->vc_text.n)
		return v->n_vcs ? &v->vcs[0] : NULL;
	return v->vc_of_group ? v->vc_of_group[v->jobs[job].vc] : NULL;
}

int64_t verify_share_most(const struct fit_verifier *v, uint32_t job)
{
	const struct verify_vc *vc = vc_of(v, job);
	int64_t sum = 0;

	if (!vc || (!v->vc_text.n && !v->apart_text.n))
		return verify_has_types(v) ? verify_type_most(v, job) : v->most;
	for (int64_t i = vc->first; i < vc->first + vc->n_nodes - vc->n_apart && (size_t)i < v->n_nodes; i++)
		sum += v->size[i];
	return sum;
}

bool verify_share_on_profiler(const struct fit_verifier *v, const struct verify_row *r)
{
	if (!v->apart || !r->n_nodes)
		return false;
	for (size_t i = 0; i < r->n_nodes; i++)
		if ((size_t)r->nodes[i].node >= v->n_nodes || !v->apart[r->nodes[i].node])
			return false;
	return true;
}

void verify_row_virtual(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_vc *vc;

	if (r->job == NONE || r->on_profiler)
		return;
	verify_check(v, RULE_VIRTUAL);
	vc = vc_of(v, r->job);
	for (size_t i = 0; vc && i < r->n_nodes; i++) {
		int64_t n = r->nodes[i].node;

		if (n < vc->first || n >= vc->first + vc->n_nodes - vc->n_apart) {
			verify_fault(v, RULE_VIRTUAL, r->job, "node %lld, the nodes of '%.*s' for jobs are %lld to %lld",
				     (long long)n, FIT_TEXT_ARG(vc->name), (long long)vc->first,
				     (long long)(vc->first + vc->n_nodes - vc->n_apart - 1));
			return;
		}
	}
	if (!vc)
		verify_fault(v, RULE_VIRTUAL, r->job, "its group is no virtual cluster");
}

/* ---- speeds and progress ---- */

static bool not_measured(const struct fit_verifier *v, uint32_t job)
{
	static const char *const names[] = { "NeuMF", "ResNet50", "BERT", "Transformer" };
	const struct verify_job *j = &v->jobs[job];

	for (size_t i = 0; v->lucid_unmeasured && j->app != UINT16_MAX && i < sizeof names / sizeof *names; i++)
		if (strcmp(v->apps[j->app].name, names[i]) == 0)
			return true;
	return false;
}

/* The speed of a beside b; of two alike a is the one that came later. */
double verify_share_measured(const struct fit_verifier *v, uint32_t a, uint32_t b, double *speed_b)
{
	double speed = 1;

	*speed_b = 1;
	if (v->measured && !not_measured(v, a) && !not_measured(v, b) &&
	    v->jobs[a].config != FIT_NO_INDEX && v->jobs[b].config != FIT_NO_INDEX)
		(void)fit_colocation_speeds(&v->colocation, v->jobs[a].config, v->jobs[b].config, &speed, speed_b);
	return speed;
}

void verify_share_forecast(struct fit_verifier *v, struct verify_row *r)
{
	struct verify_live *l = r->live;
	int64_t duration = v->jobs[r->job].duration_ns;
	int64_t from = l->last_ns > l->ready_ns ? l->last_ns : l->ready_ns, gone = r->t > from ? r->t - from : 0;
	int64_t notice = l->on_profiler ? 0 : v->notice_ns, left = duration - l->done_ns, n = 0;

	if (duration == NO_INT)
		return;
	r->known = true;
	if (!v->count_ns || l->on_profiler) {
		bool full = l->speed >= 1 && l->speed <= 1;
		int64_t ends = full ? left : (int64_t)ceil((double)left / l->speed);

		r->ran_ns = full ? gone : (int64_t)floor((double)gone * l->speed);
		r->ran_ns = r->ran_ns < left && gone < ends ? r->ran_ns : left;
		r->late_s = fit_time_to_double(r->t - from - ends - notice);
		r->progress_now = fit_time_to_double(l->done_ns + r->ran_ns);
		return;
	}
	/* as often as it takes, one after another: no closed form has these last digits */
	r->left_s = l->left_s;
	for (; n < gone / v->count_ns && r->left_s > 0; n++)
		r->left_s -= l->speed;
	r->ran_ns = n * v->count_ns;
	r->done_before = !(r->left_s > 0);
	r->late_s = r->done_before ? fit_time_to_double(r->t - from - r->ran_ns - notice) : -r->left_s / l->speed;
	r->progress_now = fit_time_to_double(duration) - (r->done_before ? 0 : r->left_s);
}

void verify_row_shared_speed(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_live *l = r->live;
	double want = 1, other = 1;

	if (r->job == NONE || isnan(r->speed))
		return;
	verify_check(v, RULE_SHARED_SPEED);
	if (r->ev == EV_START && r->has_with && r->with != NONE)
		want = verify_share_measured(v, r->job, r->with, &other);
	else if (r->ev == EV_SHARE && r->has_with && r->with != NONE)
		(void)verify_share_measured(v, r->with, r->job, &want);
	else if (r->ev == EV_SHARE && l)
		want = l->marked ? l->speed : 1;
	if (r->speed < want || r->speed > want)
		verify_fault(v, RULE_SHARED_SPEED, r->job, "runs at speed %.9g, %.9g was measured", r->speed, want);
}

/* ---- who shares ---- */

static bool same_nodes(const struct verify_row *r, const struct verify_live *l)
{
	bool same = r->n_nodes == l->n_nodes;

	for (size_t i = 0; same && i < r->n_nodes; i++)
		same = r->nodes[i].node == l->nodes[i].node && r->nodes[i].gpus == l->nodes[i].gpus;
	return same;
}

static void check_guest(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_live *host = live_of(v, r->with);
	struct fit_text id = verify_job_id(v, r->with);

	if (!host || v->jobs[r->with].state != JOB_RUNNING || host->on_profiler)
		verify_fault(v, RULE_SHARING, r->job, "shares GPUs with '%.*s', which does not run",
			     FIT_TEXT_ARG(id));
	else if (host->partner != NONE || host->marked)
		verify_fault(v, RULE_SHARING, r->job, "shares GPUs with '%.*s', which does not run alone",
			     FIT_TEXT_ARG(id));
	else if (!same_nodes(r, host))
		verify_fault(v, RULE_SHARING, r->job, "shares GPUs with '%.*s' and is on others",
			     FIT_TEXT_ARG(id));
	else if (r->n_nodes > 1 && !v->distributed)
		verify_fault(v, RULE_SHARING, r->job, "shares GPUs on %zu nodes", r->n_nodes);
	else if (v->jobs[r->job].gpus < v->jobs[r->with].gpus || v->jobs[r->job].gpus > v->jobs[r->with].gpus)
		verify_fault(v, RULE_SHARING, r->job, "asks for %g GPUs, '%.*s' for %g", v->jobs[r->job].gpus,
			     FIT_TEXT_ARG(id), v->jobs[r->with].gpus);
	else if (v->jobs[r->job].gpus > (double)v->pack_gpus)
		verify_fault(v, RULE_SHARING, r->job, "shares %g GPUs (at most %lld may be)", v->jobs[r->job].gpus,
			     (long long)v->pack_gpus);
	else if (v->pack_off)
		verify_fault(v, RULE_SHARING, r->job, "shares GPUs although packing is off");
}

/* Who shares says so on both sides: the row of the one is followed by that of the other. */
void verify_row_sharing(struct fit_verifier *v, const struct verify_row *r)
{
	struct fit_text id = verify_job_id(v, v->expect_host);
	bool expected = r->ev == EV_SHARE && r->job == v->expect_host && r->job != NONE;

	verify_check(v, RULE_SHARING);
	if (v->expect_host != NONE && !expected)
		verify_fault(v, RULE_SHARING, r->job, "no share row of '%.*s' before this one", FIT_TEXT_ARG(id));
	else if (r->ev == EV_SHARE && !expected)
		verify_fault(v, RULE_SHARING, r->job, "share, and nobody came or went beside it");
	else if (r->ev == EV_SHARE && (r->has_with ? r->with : NONE) != v->expect_guest)
		verify_fault(v, RULE_SHARING, r->job, "names another job than the one that came or went beside it");
	else if (r->ev == EV_SHARE && r->live && !same_nodes(r, r->live))
		verify_fault(v, RULE_SHARING, r->job, "share on GPUs that it does not hold");
	if (r->ev == EV_START && r->has_with && r->job != NONE)
		check_guest(v, r);
}

static const struct fit_colo_config *config_of(const struct fit_verifier *v, uint32_t job)
{
	return job == NONE || v->jobs[job].config == FIT_NO_INDEX ? NULL :
	       &v->colocation.configs[v->jobs[job].config];
}

void verify_row_pack_memory(struct fit_verifier *v, const struct verify_row *r)
{
	const struct fit_colo_config *a, *b;

	if (r->ev != EV_START || !r->has_with || r->job == NONE)
		return;
	a = config_of(v, r->job);
	b = config_of(v, r->with);
	verify_check(v, RULE_PACK_MEMORY);
	if (a && b && !(a->fb_used_mib + b->fb_used_mib < v->gpu_mem_mib))
		verify_fault(v, RULE_PACK_MEMORY, r->job, "the two use %g and %g MiB, a GPU has %g", a->fb_used_mib,
			     b->fb_used_mib, v->gpu_mem_mib);
}

static double gpu_time(const struct fit_verifier *v, uint32_t job)
{
	return fit_time_to_double(v->jobs[job].predicted_ns) * v->jobs[job].gpus;
}

void verify_row_pack_score(struct fit_verifier *v, const struct verify_row *r)
{
	const struct fit_colo_config *a, *b;

	if (r->ev != EV_START || !r->has_with || r->job == NONE)
		return;
	a = config_of(v, r->job);
	b = config_of(v, r->with);
	verify_check(v, RULE_PACK_SCORE);
	if (!a || !b)
		return;
	if (v->packs == PACKS_HORUS) {
		if (!(a->gpu_util_pct + b->gpu_util_pct <= v->pack_util_pct))
			verify_fault(v, RULE_PACK_SCORE, r->job, "utilisations %g and %g sum to more than %g",
				     a->gpu_util_pct, b->gpu_util_pct, v->pack_util_pct);
		return;
	}
	if (a->label < 0 || b->label < 0 || a->label + b->label > v->pack_score)
		verify_fault(v, RULE_PACK_SCORE, r->job, "labels %lld and %lld sum to more than %lld",
			     (long long)a->label, (long long)b->label, (long long)v->pack_score);
	else if (v->estimates && v->jobs[r->job].predicted_ns != NO_INT && v->jobs[r->with].predicted_ns != NO_INT &&
		 gpu_time(v, r->job) > 2 * gpu_time(v, r->with) * (1 + 1e-12) + 1e-5)
		verify_fault(v, RULE_PACK_SCORE, r->job, "predicted GPU time %g s, more than twice the %g s of the other",
			     gpu_time(v, r->job), gpu_time(v, r->with));
}

/* ---- the profiler ---- */

static struct verify_profile *profile_of(struct fit_verifier *v, uint32_t job)
{
	for (size_t i = 0; i < v->n_profiles; i++)
		if (v->profiles[i].job == job)
			return &v->profiles[i];
	return NULL;
}

static bool starts_profile(const struct verify_row *r)
{
	return r->ev == EV_PROFILE || (r->ev == EV_START && r->on_profiler);
}

void verify_row_profiler(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_job *j;
	int64_t ran;

	if (r->job == NONE)
		return;
	j = &v->jobs[r->job];
	if (starts_profile(r)) {
		verify_check(v, RULE_PROFILER);
		if (!verify_share_on_profiler(v, r))
			verify_fault(v, RULE_PROFILER, r->job, "profiled on nodes that are not set apart for that");
		else if (j->gpus > (double)v->profile_gpus)
			verify_fault(v, RULE_PROFILER, r->job, "profiled on %g GPUs (at most %lld may be)", j->gpus,
				     (long long)v->profile_gpus);
		else if (j->gpus < (double)r->sum || j->gpus > (double)r->sum)
			verify_fault(v, RULE_PROFILER, r->job, "profiled on %lld GPUs, asked for %g", (long long)r->sum,
				     j->gpus);
		else if (j->was_profiled)
			verify_fault(v, RULE_PROFILER, r->job, "profiled a second time");
		else if ((j->duration_ns <= v->profile_limit_ns) != (r->ev == EV_START))
			verify_fault(v, RULE_PROFILER, r->job, r->ev == EV_START ?
				     "runs on the profiler, and lasts longer than its limit" :
				     "is only profiled, although it ends within the limit");
	} else if (r->ev == EV_PROFILED) {
		verify_check(v, RULE_PROFILER);
		ran = j->profile_ns == NO_INT ? -1 : r->t - j->profile_ns;
		if (ran != v->profile_limit_ns)
			verify_fault(v, RULE_PROFILER, r->job, "was profiled for %.9g s, the limit is %.9g",
				     fit_time_to_double(ran), fit_time_to_double(v->profile_limit_ns));
	}
}

void verify_end_profiler(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_jobs; i++) {
		const struct verify_job *j = &v->jobs[i];

		if (j->state == JOB_UNSEEN || j->state == JOB_LEFT_OUT || j->state == JOB_REJECTED)
			continue;
		verify_check(v, RULE_PROFILER);
		if (!j->was_profiled && j->gpus <= (double)v->profile_gpus)
			verify_fault(v, RULE_PROFILER, (uint32_t)i, "never profiled");
		else if (j->profile_ns != NO_INT)
			verify_fault(v, RULE_PROFILER, (uint32_t)i, "its profile never ends");
	}
}

/* The head of the queue is profiled first: fewest GPUs, or who came first. */
void verify_row_profiler_order(struct fit_verifier *v, const struct verify_row *r)
{
	double gpus;

	if (r->job == NONE || !starts_profile(r))
		return;
	verify_check(v, RULE_PROFILER_ORDER);
	gpus = v->jobs[r->job].gpus;
	for (size_t i = 0; i < v->to_profile.n; i++) {
		uint32_t other = v->to_profile.a[i];
		bool smaller = !v->profile_naive && v->jobs[other].gpus < gpus;
		bool alike = v->profile_naive || !(v->jobs[other].gpus > gpus);

		if (other == r->job) {
			gpus = -1; /* those behind it came later */
			continue;
		}
		if (smaller || (alike && gpus >= 0)) {
			struct fit_text id = verify_job_id(v, other);

			verify_fault(v, RULE_PROFILER_ORDER, r->job, "profiled while job '%.*s' is before it in the queue",
				     FIT_TEXT_ARG(id));
			return;
		}
		if (gpus < 0 && v->profile_naive)
			return;
	}
}

/* ---- effects ---- */

static void drop_waiting(struct fit_verifier *v, uint32_t job)
{
	for (size_t i = 0; i < v->to_profile.n; i++) {
		if (v->to_profile.a[i] == job) {
			memmove(v->to_profile.a + i, v->to_profile.a + i + 1,
				(v->to_profile.n - i - 1) * sizeof *v->to_profile.a);
			v->to_profile.n--;
			return;
		}
	}
}

static void begin_profile(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_profile *p;

	if (fit_grow(&v->apps_by_type, &v->cap_profiles, v->n_profiles + 1, sizeof *v->profiles)) {
		v->code = FIT_ENOMEM;
		return;
	}
	p = &v->profiles[v->n_profiles];
	*p = (struct verify_profile){ .job = r->job, .n_nodes = r->n_nodes,
				      .nodes = malloc((r->n_nodes + 1) * sizeof *p->nodes) };
	if (!p->nodes) {
		v->code = FIT_ENOMEM;
		return;
	}
	v->n_profiles++;
	for (size_t i = 0; i < r->n_nodes; i++) {
		p->nodes[i] = r->nodes[i];
		verify_book(v, r->nodes[i].node, r->nodes[i].gpus);
		if ((size_t)r->nodes[i].node < v->n_nodes && verify_list_push(&v->touched, (uint32_t)r->nodes[i].node))
			v->code = FIT_ENOMEM;
	}
	v->jobs[r->job].profile_ns = r->t;
	v->jobs[r->job].was_profiled = true;
	drop_waiting(v, r->job);
}

static void end_profile(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_profile *p = profile_of(v, r->job);
	struct verify_job *j = &v->jobs[r->job];
	double gpu_s = p ? j->gpus * fit_time_to_double(r->t - j->profile_ns) : 0;

	if (!p)
		return;
	for (size_t i = 0; i < p->n_nodes; i++)
		verify_book(v, p->nodes[i].node, -p->nodes[i].gpus);
	free(p->nodes);
	*p = v->profiles[--v->n_profiles];
	/* until it was started in the cluster it did not wait */
	if (r->live) {
		int64_t to = r->live->first_start_ns < r->t ? r->live->first_start_ns : r->t;

		r->live->gpu_s += gpu_s;
		if (to > j->profile_ns)
			r->live->held_ns += to - j->profile_ns;
	} else if (v->keep) {
		v->results[r->job].gpu_s += gpu_s;
		if (v->results[r->job].start_ns > j->profile_ns)
			v->results[r->job].held_ns += (v->results[r->job].start_ns < r->t ?
						       v->results[r->job].start_ns : r->t) - j->profile_ns;
	}
	j->profile_ns = NO_INT;
	if (!v->profiled_beside)
		v->woken = v->dirty = true;
}

/* The other one keeps the GPUs. */
void verify_share_left(struct fit_verifier *v, struct verify_live *l)
{
	struct verify_live *other = live_of(v, l->partner);
	int64_t ready;

	if (!other)
		return;
	v->expect_host = l->partner;
	v->expect_guest = NONE;
	other->marked = v->survivor_keeps && other->order > l->order;
	other->partner = NONE;
	if (l->guest)
		return;
	other->guest = false;
	ready = v->now < other->ready_ns ? v->now : other->ready_ns;
	other->not_own_s += (double)other->gpus * fit_time_to_double(v->now - ready);
	other->not_own_still_s += (double)other->gpus * fit_time_to_double(ready - other->since_ns);
	for (size_t i = 0; i < other->n_nodes; i++)
		verify_book(v, other->nodes[i].node, other->nodes[i].gpus);
}

void verify_share_apply(struct fit_verifier *v, const struct verify_row *r)
{
	struct verify_live *l = r->live, *host;

	if (r->ev == EV_SUBMIT && v->apart_text.n && r->job != NONE &&
	    v->jobs[r->job].gpus <= (double)v->profile_gpus && verify_list_push(&v->to_profile, r->job))
		v->code = FIT_ENOMEM;
	if (r->ev == EV_REJECT && r->job != NONE)
		drop_waiting(v, r->job);
	if (r->job == NONE)
		return;
	if (r->ev == EV_PROFILE)
		begin_profile(v, r);
	else if (r->ev == EV_PROFILED)
		end_profile(v, r);
	if (r->ev == EV_START && r->on_profiler) {
		v->jobs[r->job].was_profiled = true;
		drop_waiting(v, r->job);
	}
	if (r->ev != EV_SHARE && r->ev != EV_FINISH)
		v->expect_host = NONE;
	l = live_of(v, r->job);
	if (!l)
		return;
	if (r->ev == EV_START) {
		l->on_profiler = r->on_profiler;
		l->order = v->n_placed++;
		l->speed = isnan(r->speed) ? 1 : r->speed;
		l->left_s = v->jobs[r->job].duration_ns == NO_INT ? 0 : fit_time_to_double(v->jobs[r->job].duration_ns);
		if (!r->on_profiler && v->packs != PACKS_NOT)
			v->again_ns = v->now + v->again_step_ns;
		host = r->has_with ? live_of(v, r->with) : NULL;
		if (host && host->partner == NONE) {
			l->partner = r->with;
			host->partner = r->job;
			v->expect_host = r->with;
			v->expect_guest = r->job;
		}
	} else if (r->ev == EV_SHARE) {
		v->expect_host = NONE;
		l->speed = isnan(r->speed) ? l->speed : r->speed;
	}
}

void verify_share_release(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_profiles; i++)
		free(v->profiles[i].nodes);
	free(v->profiles);
	free(v->to_profile.a);
	free(v->vcs);
	free(v->vc_of_group);
	free(v->apart);
	fit_str_release(&v->vc_text);
	fit_str_release(&v->apart_text);
	fit_str_release(&v->groups);
	fit_index_release(&v->by_group);
	fit_colocation_release(&v->colocation);
}
