/* SPDX-License-Identifier: MIT */
/*
 * Jobs that share GPUs: who may share with whom, and how fast they are. Speeds come from the measurements,
 * progress is counted here step by step.
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

bool verify_meta_says(const struct fit_meta *m, const char *key, const char *value)
{
	const char *s = fit_meta_get(m, key);

	return s && fit_text_is(fit_text_of(s), value);
}

/* What a number of the metadata is, and the sentence where it is none. */
enum kind { COUNT, REAL, TIME };
union number {
	int64_t n;	/* COUNT, and TIME in ns */
	double x;
};

static union number number_of(struct fit_verifier *v, const struct fit_meta *m, const char *key,
			      enum kind kind)
{
	const char *s = fit_meta_get(m, key);
	struct fit_text t = s ? fit_text_of(s) : (struct fit_text){ NULL, 0 };
	union number u = { 0 };
	bool good = kind == COUNT ? !fit_parse_int64(t, &u.n) && u.n >= 0 :
		    kind == TIME ? !fit_parse_time(t, &u.n) && u.n >= 0 :
		    !fit_parse_double(t, &u.x) && u.x >= 0;

	verify_check(v, RULE_META);
	if (!good)
		verify_fault(v, RULE_META, NONE, "metadata %s is '%s' (expected %s)", key, s ? s : "missing",
			     kind == TIME ? "seconds" : "a number");
	return good ? u : (union number){ 0 };
}

int64_t verify_meta_count(struct fit_verifier *v, const struct fit_meta *m, const char *key)
{
	return number_of(v, m, key, COUNT).n;
}

double verify_meta_real(struct fit_verifier *v, const struct fit_meta *m, const char *key)
{
	return number_of(v, m, key, REAL).x;
}

int64_t verify_meta_time(struct fit_verifier *v, const struct fit_meta *m, const char *key)
{
	return number_of(v, m, key, TIME).n;
}

/* The policy whose queues can be followed. In one cluster whose emptiest nodes are filled the rules of the
 * policies do that already. */
static enum verify_policy queues_of(const struct fit_meta *m)
{
	static const struct {
		const char *name;
		enum verify_policy policy;
	} known[] = { { "fifo", POLICY_FIFO }, { "fjf", POLICY_FJF }, { "sjf", POLICY_SJF }, { "qssf", POLICY_QSSF },
		      { "lucid", POLICY_LUCID }, { "horus", POLICY_HORUS } };

	if (!verify_meta_says(m, "interval_s", "0") || verify_meta_says(m, "packing", "forecast") ||
	    fit_meta_get(m, "autoscale"))
		return POLICY_OTHER;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (verify_meta_says(m, "policy", known[i].name))
			return known[i].policy;
	return POLICY_OTHER;
}

static enum verify_placement placement_of(const char *name)
{
	static const char *const names[] = { "emptiest", "consolidate", "consolidate-first", "first-fit", "yarn",
					     NULL };

	for (int i = 0; name && names[i]; i++)
		if (fit_text_is(fit_text_of(name), names[i]))
			return (enum verify_placement)i;
	return name ? PLACE_RANDOM : PLACE_EMPTIEST;
}

int verify_share_meta(struct fit_verifier *v, const struct fit_meta *m)
{
	const char *vcs = fit_meta_get(m, "virtual_clusters"), *apart = fit_meta_get(m, "profiler_nodes");
	const char *placement = fit_meta_get(m, "placement");
	bool lucid = verify_meta_says(m, "fidelity", "lucid-asplos23");

	v->packs = verify_meta_says(m, "policy", "lucid") ? PACKS_LUCID :
		   verify_meta_says(m, "policy", "horus") ? PACKS_HORUS : PACKS_NOT;
	v->expect_host = v->expect_guest = NONE;
	v->again_ns = NEVER;
	v->lent_node = -1;
	v->queues = queues_of(m);
	v->bursts_by_size = lucid && v->queues == POLICY_QSSF;
	v->placement = placement_of(placement);
	if ((v->placement == PLACE_YARN || fit_meta_get(m, "switches")) && verify_yarn_meta(v, m))
		return FIT_ENOMEM;
	if (vcs && fit_str_puts(&v->vc_text, vcs))
		return FIT_ENOMEM;
	if (apart && fit_str_puts(&v->apart_text, apart))
		return FIT_ENOMEM;
	if (apart && verify_profiler_meta(v, m))
		return FIT_ENOMEM;
	if (v->packs == PACKS_NOT)
		return FIT_OK;
	v->pack_off = verify_meta_says(m, "packing", "off");
	v->vague_instants = v->vague_instants || verify_meta_says(m, "packing", "forecast");
	v->estimates = verify_meta_says(m, "estimator", "on");
	v->survivor_keeps = verify_meta_says(m, "survivor", "keeps-speed");
	v->holds_for_wide = fit_meta_get(m, "wide_wait_s") != NULL;
	v->lucid_unmeasured = lucid;
	v->distributed = lucid && placement && !verify_meta_says(m, "placement", "consolidate");
	v->again_step_ns = lucid ? FIT_NS_PER_S : 0;
	v->pack_gpus = verify_meta_count(v, m, "pack_gpus");
	v->gpu_mem_mib = verify_meta_real(v, m, "gpu_mem_mib");
	v->count_ns = verify_meta_time(v, m, "count_s");
	if (v->packs == PACKS_LUCID)
		v->pack_score = verify_meta_count(v, m, "pack_score");
	else
		v->pack_util_pct = verify_meta_real(v, m, "pack_util_pct");
	return FIT_OK;
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
	    verify_job_config(v, a) != FIT_NO_INDEX && verify_job_config(v, b) != FIT_NO_INDEX)
		(void)fit_colocation_speeds(&v->colocation, verify_job_config(v, a), verify_job_config(v, b), &speed,
					    speed_b);
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
	return job == NONE || verify_job_config(v, job) == FIT_NO_INDEX ? NULL :
	       &v->colocation.configs[verify_job_config(v, job)];
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
	return fit_time_to_double(verify_job_predicted_ns(v, job)) * v->jobs[job].gpus;
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
	else if (v->estimates && verify_job_predicted_ns(v, r->job) != NO_INT &&
		 verify_job_predicted_ns(v, r->with) != NO_INT &&
		 gpu_time(v, r->job) > 2 * gpu_time(v, r->with) * (1 + 1e-12) + 1e-5)
		verify_fault(v, RULE_PACK_SCORE, r->job, "predicted GPU time %g s, more than twice the %g s of the other",
			     gpu_time(v, r->job), gpu_time(v, r->with));
}

/* ---- effects ---- */

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

	verify_profiler_apply(v, r);
	if (r->job == NONE)
		return;
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
	verify_parts_release(v);
	verify_profiler_release(v);
	verify_next_release(v);
	fit_colocation_release(&v->colocation);
}
