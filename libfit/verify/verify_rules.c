/* SPDX-License-Identifier: MIT */
/*
 * The rule table, and the rules about the log itself, the cluster and the life of a job. The work
 * of jobs is in verify_work.c, policies are in verify_policy.c.
 */
#include <math.h>

#include "libfit/verify/verify_state.h"

/* ---- which rules apply ---- */

static bool not_preemptive(const struct fit_verifier *v)
{
	return v->never_preempts;
}

static bool rigid(const struct fit_verifier *v)
{
	return v->rigid;
}

/* Policies that ask for no more than numbers of GPUs; where these are is the placement rule's. */
static bool grants_sizes(const struct fit_verifier *v)
{
	return v->policy != POLICY_OTHER && v->policy != POLICY_POLLUX && v->policy != POLICY_SIA &&
	       v->policy != POLICY_BOA && v->policy != POLICY_FOLLOW && v->policy != POLICY_RUBICK &&
	       v->policy != POLICY_GAVEL;
}

static bool elastic(const struct fit_verifier *v)
{
	return v->autoscale != SCALE_NONE;
}

static bool is_boa(const struct fit_verifier *v)
{
	return v->policy == POLICY_BOA && v->with_speedups;
}

static bool boa_condenses(const struct fit_verifier *v)
{
	return is_boa(v) && v->boa_condenses;
}

static bool is_follow(const struct fit_verifier *v)
{
	return v->policy == POLICY_FOLLOW;
}

static bool is_rubick(const struct fit_verifier *v)
{
	return v->policy == POLICY_RUBICK && v->with_plans;
}

/* Where speeds are predicted, or the published code decides, a guarantee is what these think it is. */
static bool keeps_guarantees(const struct fit_verifier *v)
{
	return is_rubick(v) && v->by_gain && v->speeds_measured;
}

static bool has_speedups(const struct fit_verifier *v)
{
	return v->with_speedups;
}

static bool profiled(const struct fit_verifier *v)
{
	return v->with_profile && !v->adaptive;
}

static bool limited(const struct fit_verifier *v)
{
	return v->max_active > 0;
}

static bool has_parts(const struct fit_verifier *v)
{
	return v->vc_text.n || v->apart_text.n;
}

static bool shares(const struct fit_verifier *v)
{
	return v->packs != PACKS_NOT;
}

static bool profiles_first(const struct fit_verifier *v)
{
	return v->apart_text.n > 0;
}

static bool lends(const struct fit_verifier *v)
{
	return v->lender_text.n > 0;
}

static bool has_queues(const struct fit_verifier *v)
{
	return v->queues != POLICY_OTHER;
}

static bool has_packing_queues(const struct fit_verifier *v)
{
	return has_queues(v) && shares(v) && !v->pack_off;
}

static bool places(const struct fit_verifier *v)
{
	return (grants_sizes(v) && !v->by_parts) ||
	       (rigid(v) && v->placement != PLACE_RANDOM && v->policy != POLICY_GAVEL);
}

static bool sizes_known(const struct fit_verifier *v)
{
	return rigid(v) || grants_sizes(v);
}

static bool clear_instants(const struct fit_verifier *v)
{
	return v->interval_ns > 0 || !v->vague_instants;
}

static bool is_gavel(const struct fit_verifier *v)
{
	return v->policy == POLICY_GAVEL;
}

static bool has_shares(const struct fit_verifier *v)
{
	return v->policy == POLICY_GAVEL && v->shares && v->objective;
}

/* Not where a placement may find no room while GPUs are free, nor in rounds of Sia's simulator. */
static bool has_rounds(const struct fit_verifier *v)
{
	return has_shares(v) && (v->interval_ns > 0 || v->steps_round_ns > 0) && !v->order_unknown;
}

static bool is_fifo(const struct fit_verifier *v)
{
	return v->policy == POLICY_FIFO;
}

static bool is_sjf(const struct fit_verifier *v)
{
	return v->policy == POLICY_SJF;
}

static bool is_qssf(const struct fit_verifier *v)
{
	return v->policy == POLICY_QSSF;
}

static bool is_srtf(const struct fit_verifier *v)
{
	return v->policy == POLICY_SRTF;
}

static bool is_tiresias(const struct fit_verifier *v)
{
	return v->policy == POLICY_TIRESIAS;
}

static bool is_gittins(const struct fit_verifier *v)
{
	return verify_by_index(v);
}

static bool is_fjf(const struct fit_verifier *v)
{
	return v->policy == POLICY_FJF;
}

/* In parts the policy's own rule says it. */
static bool conserves(const struct fit_verifier *v)
{
	return grants_sizes(v) && !v->by_parts;
}

static bool takes_a_list(const struct fit_verifier *v)
{
	return v->policy == POLICY_SHORTEST || v->policy == POLICY_SHORTEST_GPU || v->policy == POLICY_SMALLEST;
}

static bool is_optimus(const struct fit_verifier *v)
{
	return v->policy == POLICY_OPTIMUS;
}

static bool adapts(const struct fit_verifier *v)
{
	return v->adaptive;
}

static bool is_pollux(const struct fit_verifier *v)
{
	return v->adaptive && v->policy == POLICY_POLLUX;
}

static bool is_sia(const struct fit_verifier *v)
{
	return v->adaptive && v->policy == POLICY_SIA;
}

static bool avoids_interference(const struct fit_verifier *v)
{
	return is_pollux(v) && v->pollux_avoids;
}

/* The reference's search does not look at what is held now, so it may do worse. On several types some of what
 * was found is taken away again. */
static bool starts_from_current(const struct fit_verifier *v)
{
	return is_pollux(v) && !v->pollux_reference && !v->blind;
}

static bool has_fitness(const struct fit_verifier *v)
{
	return is_pollux(v) && !v->blind;
}

static enum verify_job_state state_of(const struct fit_verifier *v, const struct verify_row *r)
{
	return r->job == NONE ? JOB_UNSEEN : (enum verify_job_state)v->jobs[r->job].state;
}

/* ---- the log ---- */

static void row_meta(struct fit_verifier *v, const struct verify_row *r)
{
	verify_check(v, RULE_META);
	if (!v->seen_cluster && (!v->cluster_meta || !fit_text_is(r->nodes_text, v->cluster_meta)))
		verify_fault(
			v, RULE_META, NONE, "metadata cluster is '%s', the first row says '%.*s'",
			v->cluster_meta ? v->cluster_meta : "missing", FIT_TEXT_ARG(r->nodes_text));
	else if (r->cluster_bad)
		verify_fault(v, RULE_META, NONE,
			     "cluster '%.*s' (expected nodes x GPUs, such as 16x4)",
			     FIT_TEXT_ARG(r->nodes_text));
	else if (v->autoscale != SCALE_NONE && (v->seen_cluster || r->gpus_na || r->gpus > 0))
		verify_fault(v, RULE_META, NONE,
			     "an elastic cluster begins with no GPUs, once; the row says %g", r->gpus);
	else if (v->autoscale == SCALE_NONE &&
		 (r->gpus_na || r->gpus < (double)r->sum || r->gpus > (double)r->sum))
		verify_fault(v, RULE_META, NONE, "cluster '%.*s' has %lld GPUs, the row says %g",
			     FIT_TEXT_ARG(r->nodes_text), (long long)r->sum, r->gpus);
}

static void row_log_order(struct fit_verifier *v, const struct verify_row *r)
{
	bool active = (EV_BIT(r->ev) & EV_DECIDING) && !r->on_profiler;

	verify_check(v, RULE_LOG_ORDER);
	if (r->t_log < 0 || r->t_log < v->now)
		verify_fault(v, RULE_LOG_ORDER, r->job, "row of time %.9g after one of %.9g",
			     fit_time_to_double(r->t_log), fit_time_to_double(v->now));
	else if (!v->seen_cluster && r->ev != EV_CLUSTER)
		verify_fault(v, RULE_LOG_ORDER, r->job, "%.*s before the cluster is known",
			     FIT_TEXT_ARG(r->event));
	else if (v->interval_ns > 0 && v->decided_here &&
		 (active || (r->ev == EV_SUBMIT && v->room_ns < v->now)))
		verify_fault(v, RULE_LOG_ORDER, r->job,
			     "%.*s after the decision of this instant is over",
			     FIT_TEXT_ARG(r->event));
	else if (r->ev == EV_BATCH && v->acted)
		verify_fault(v, RULE_LOG_ORDER, r->job,
			     "batch after an allocation of this decision: jobs learn before it");
	else if (r->ev == EV_SUBMIT && r->job != NONE && v->submits_here &&
		 v->jobs[r->job].rank < v->submit_rank)
		verify_fault(v, RULE_LOG_ORDER, r->job,
			     "submitted after a job of the same instant that it comes before");
	if (r->ev == EV_SUBMIT && r->job != NONE) {
		v->submits_here = true;
		v->submit_rank = v->jobs[r->job].rank;
	}
}

/* Cells that an event must or must not have. */
static void row_vocabulary(struct fit_verifier *v, const struct verify_row *r)
{
	const unsigned holds = EV_PLACING | EV_BIT(EV_EPOCH) | EV_BIT(EV_BATCH) | EV_BIT(EV_SHARE) |
			       EV_BIT(EV_PROFILE);
	const unsigned bare = EV_BIT(EV_CLUSTER) | EV_BIT(EV_SUBMIT) | EV_BIT(EV_REJECT) | EV_OF_NODE |
			      EV_LENDING;
	const bool splits = v->with_profile && r->n_nodes > 0 && (EV_BIT(r->ev) & EV_OF_JOB);
	const char *bad = NULL;

	verify_check(v, RULE_VOCABULARY);
	if (r->ev == EV_UNKNOWN) {
		verify_fault(v, RULE_VOCABULARY, r->job,
			     "event '%.*s' (expected one of the log format)",
			     FIT_TEXT_ARG(r->event));
		return;
	}
	if (r->ev == EV_BATCH && !v->adaptive && !v->steps_round_ns)
		bad = "no place where jobs keep their batch size";
	else if (r->has_id != (bool)(EV_BIT(r->ev) & EV_OF_JOB))
		bad = r->has_id ? "a job_id" : "no job_id";
	else if (r->gpus_na || !isfinite(r->gpus) || r->gpus < 0)
		bad = "no number of gpus";
	else if (r->nodes_na || r->nodes_bad)
		bad = "no readable nodes";
	else if ((EV_BIT(r->ev) & holds) && r->n_nodes == 0)
		bad = "no allocation";
	else if ((EV_BIT(r->ev) & (EV_BIT(EV_SUBMIT) | EV_BIT(EV_REJECT) | EV_BIT(EV_PREEMPT) |
				   EV_BIT(EV_RELEASE) | EV_BIT(EV_PROFILED))) &&
		 r->n_nodes)
		bad = "an allocation";
	else if ((EV_BIT(r->ev) & EV_OF_JOB) && r->ev != EV_SUBMIT && r->ev != EV_REJECT && r->progress_na)
		bad = "no progress";
	else if (r->ev != EV_SUBMIT && (!r->app_na || r->batch != NO_INT))
		bad = "an application or a batch size";
	else if ((EV_BIT(r->ev) & bare) && (!r->progress_na || r->epoch != NO_INT))
		bad = "progress or an epoch";
	else if (!v->by_epoch && (r->ev == EV_EPOCH || r->epoch != NO_INT))
		bad = "a count of epochs, without a profile";
	else if ((r->local_bsz != NO_INT) != splits || (r->accum != NO_INT) != splits)
		bad = splits ? "no batch split"
			     : "a batch split, without a profile or an allocation";
	else if (r->delay_ns != NO_INT && (r->delay_ns < 0 || !(EV_BIT(r->ev) & EV_PLACING)))
		bad = "a restart delay, but is no new allocation (or it is negative)";
	else if (r->has_with && (!shares(v) || !(EV_BIT(r->ev) & (EV_BIT(EV_START) | EV_BIT(EV_SHARE)))))
		bad = "a job to share GPUs with";
	else if (shares(v) && isnan(r->speed) && (EV_BIT(r->ev) & (EV_PLACING | EV_BIT(EV_SHARE))))
		bad = "no speed";
	else if (r->exec_plan != FIT_NO_EXEC_PLAN && (!v->with_plans || !r->n_nodes))
		bad = "an execution plan";
	else if (v->sia_reference && r->live && (EV_BIT(r->ev) & (EV_BIT(EV_MOVE) | EV_BIT(EV_SHIFT))) &&
		 (r->ev == EV_SHIFT) != verify_sia_keeps_shape(v, r->live, r))
		bad = r->ev == EV_SHIFT ? "another shape than before (expected move)" :
		      "the shape of before (expected shift)";
	else if ((r->ev == EV_SHIFT && !v->free_shifts && !v->sia_reference) ||
		 (r->ev == EV_LOSE && (!v->ghosts || r->n_nodes)))
		bad = "no place in this log";
	else if ((r->ev == EV_SHARE && !shares(v)) || ((EV_BIT(r->ev) & EV_PROFILING) && !profiles_first(v)) ||
		 ((EV_BIT(r->ev) & EV_LENDING) && !lends(v)))
		bad = "no place in this log";
	if (bad)
		verify_fault(v, RULE_VOCABULARY, r->job, "%.*s has %s", FIT_TEXT_ARG(r->event),
			     bad);
}

static void row_states(struct fit_verifier *v, const struct verify_row *r)
{
	static const char *const names[] = {
		"not submitted", "waiting",  "running", "preempted", "finished and still booked",
		"finished",      "rejected",
	};
	enum verify_job_state s = state_of(v, r);
	bool right = false;

	verify_check(v, RULE_STATES);
	if (r->job == NONE)
		return; /* jobs-once says so */
	switch (r->ev) {
	case EV_SUBMIT:
		right = s == JOB_UNSEEN;
		break;
	case EV_REJECT:
		right = s == JOB_WAITING && v->open_submit == r->job;
		break;
	case EV_START:
		right = s == JOB_WAITING;
		break;
	case EV_RESUME:
		right = s == JOB_PREEMPTED;
		break;
	case EV_RELEASE:
		right = s == JOB_BOOKED;
		break;
	case EV_PROFILE:
	case EV_PROFILED:
		right = s != JOB_UNSEEN && s != JOB_REJECTED;
		break;
	default:
		right = s == JOB_RUNNING;
		break;
	}
	if (!right)
		verify_fault(v, RULE_STATES, r->job, "%.*s of a job that is %s",
			     FIT_TEXT_ARG(r->event), names[s]);
}

static void row_jobs_once(struct fit_verifier *v, const struct verify_row *r)
{
	if (!r->has_id)
		return;
	verify_check(v, RULE_JOBS_ONCE);
	if (r->job == NONE)
		verify_fault(v, RULE_JOBS_ONCE, NONE,
			     "%.*s of job '%.*s', which is not in the jobs table",
			     FIT_TEXT_ARG(r->event), FIT_TEXT_ARG(r->id));
	else if (r->ev == EV_SUBMIT && state_of(v, r) != JOB_UNSEEN)
		verify_fault(v, RULE_JOBS_ONCE, r->job, "submitted twice");
}

static void end_jobs_once(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_jobs; i++) {
		verify_check(v, RULE_JOBS_ONCE);
		if (v->jobs[i].state == JOB_UNSEEN)
			verify_fault(v, RULE_JOBS_ONCE, (uint32_t)i,
				     "in the jobs table, never submitted in the log");
	}
	verify_check(v, RULE_JOBS_ONCE);
	if (v->n_unusable != v->left_out)
		verify_fault(v, RULE_JOBS_ONCE, NONE,
			     "%lld rows of the jobs table cannot run%s%s, the log left out %lld",
			     (long long)v->n_unusable, v->n_unusable ? ", the first: " : "",
			     v->unusable_why, (long long)v->left_out);
}

static void row_submit_matches(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_job *j;
	struct fit_text app = { NULL, 0 };

	if (r->job == NONE)
		return;
	j = &v->jobs[r->job];
	verify_check(v, RULE_SUBMIT_MATCHES);
	if (j->app != UINT16_MAX)
		app = fit_text_of(v->apps[j->app].name);
	if (v->max_active ? r->t_log < j->submit_ns : r->t_log != j->submit_ns)
		verify_fault(v, RULE_SUBMIT_MATCHES, r->job,
			     "submitted at %.9g s, the jobs table says %.9g",
			     fit_time_to_double(r->t_log), fit_time_to_double(j->submit_ns));
	else if (r->gpus_na || r->gpus < j->gpus || r->gpus > j->gpus)
		verify_fault(v, RULE_SUBMIT_MATCHES, r->job,
			     "asks for %g GPUs, the jobs table says %g", r->gpus, j->gpus);
	else if (r->app_na != (app.n == 0) || (!r->app_na && !fit_text_eq(r->app, app)))
		verify_fault(v, RULE_SUBMIT_MATCHES, r->job,
			     "application '%.*s', the jobs table says '%.*s'", FIT_TEXT_ARG(r->app),
			     FIT_TEXT_ARG(app));
	else if (r->batch != verify_job_batch(v, r->job))
		verify_fault(v, RULE_SUBMIT_MATCHES, r->job,
			     "batch size %lld, the jobs table says %lld", (long long)r->batch,
			     (long long)verify_job_batch(v, r->job));
}

static void end_all_finish(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->n_jobs; i++) {
		int s = v->jobs[i].state;

		if (s == JOB_UNSEEN || s == JOB_LEFT_OUT)
			continue;
		verify_check(v, RULE_ALL_FINISH);
		if (s == JOB_BOOKED)
			verify_fault(v, RULE_ALL_FINISH, (uint32_t)i,
				     "its GPUs are never released");
		else if (s != JOB_DONE && s != JOB_REJECTED)
			verify_fault(v, RULE_ALL_FINISH, (uint32_t)i,
				     "submitted, and neither finished nor rejected");
	}
}

void verify_kept(struct fit_verifier *v)
{
	double asked;

	if (v->open_submit == NONE)
		return;
	verify_check(v, RULE_REJECT);
	asked = v->jobs[v->open_submit].gpus;
	if (!verify_yarn_holds(v, (int64_t)asked))
		verify_fault(v, RULE_REJECT, v->open_submit,
			     "asks for %g GPUs, which no switch has, and is not rejected", asked);
	else if (asked > (double)verify_share_most(v, v->open_submit))
		verify_fault(v, RULE_REJECT, v->open_submit,
			     "asks for %g GPUs of %lld and is not rejected", asked,
			     (long long)verify_share_most(v, v->open_submit));
	v->open_submit = NONE;
}

static void row_reject(struct fit_verifier *v, const struct verify_row *r)
{
	if (r->job == NONE)
		return;
	verify_check(v, RULE_REJECT);
	if (v->jobs[r->job].gpus <= (double)verify_share_most(v, r->job) &&
	    verify_yarn_holds(v, (int64_t)v->jobs[r->job].gpus))
		verify_fault(v, RULE_REJECT, r->job, "rejected, but its %g GPUs fit into %lld",
			     v->jobs[r->job].gpus, (long long)verify_share_most(v, r->job));
}

/* ---- when jobs hold GPUs ---- */

static void row_no_run_before(struct fit_verifier *v, const struct verify_row *r)
{
	if (r->job == NONE)
		return;
	verify_check(v, RULE_NO_RUN_BEFORE);
	if (r->t < v->jobs[r->job].submit_ns || state_of(v, r) == JOB_UNSEEN)
		verify_fault(v, RULE_NO_RUN_BEFORE, r->job, "%.*s before its submission at %.9g s",
			     FIT_TEXT_ARG(r->event), fit_time_to_double(v->jobs[r->job].submit_ns));
}

static void row_no_run_after(struct fit_verifier *v, const struct verify_row *r)
{
	enum verify_job_state s = state_of(v, r);

	if (r->job == NONE)
		return;
	verify_check(v, RULE_NO_RUN_AFTER);
	if (s == JOB_DONE || s == JOB_BOOKED || s == JOB_REJECTED)
		verify_fault(v, RULE_NO_RUN_AFTER, r->job, "%.*s after it was %s",
			     FIT_TEXT_ARG(r->event), s == JOB_REJECTED ? "rejected" : "finished");
}

/* ---- what they hold ---- */

static void row_node_exists(struct fit_verifier *v, const struct verify_row *r)
{
	for (size_t i = 0; i < r->n_nodes; i++) {
		verify_check(v, RULE_NODE_EXISTS);
		if ((size_t)r->nodes[i].node >= v->n_nodes) {
			verify_fault(v, RULE_NODE_EXISTS, r->job,
				     "node %lld (the cluster has 0 to %lld)",
				     (long long)r->nodes[i].node, (long long)v->n_nodes - 1);
			return;
		}
		for (size_t k = 0; k < i; k++) {
			if (r->nodes[k].node == r->nodes[i].node) {
				verify_fault(v, RULE_NODE_EXISTS, r->job,
					     "node %lld is named twice",
					     (long long)r->nodes[i].node);
				return;
			}
		}
	}
}

static bool same_nodes(const struct verify_row *r)
{
	if (!r->live || r->live->n_nodes != r->n_nodes)
		return false;
	for (size_t i = 0; i < r->n_nodes; i++)
		if (r->nodes[i].node != r->live->nodes[i].node ||
		    r->nodes[i].gpus != r->live->nodes[i].gpus)
			return false;
	return true;
}

static void row_nodes_match(struct fit_verifier *v, const struct verify_row *r)
{
	verify_check(v, RULE_NODES_MATCH);
	if (r->nodes_bad || r->gpus_na)
		return;
	if (r->gpus < (double)r->sum || r->gpus > (double)r->sum)
		verify_fault(v, RULE_NODES_MATCH, r->job, "%g GPUs, but '%.*s' are %lld", r->gpus,
			     FIT_TEXT_ARG(r->nodes_text), (long long)r->sum);
	else if ((r->ev == EV_EPOCH || r->ev == EV_BATCH) && state_of(v, r) == JOB_RUNNING &&
		 !same_nodes(r))
		verify_fault(v, RULE_NODES_MATCH, r->job,
			     "%.*s on '%.*s', which is not what the job holds",
			     FIT_TEXT_ARG(r->event), FIT_TEXT_ARG(r->nodes_text));
}

static void decision_gpu_exclusive(struct fit_verifier *v)
{
	for (size_t i = 0; i < v->touched.n; i++) {
		size_t n = v->touched.a[i];

		verify_check(v, RULE_GPU_EXCLUSIVE);
		if (n < v->n_nodes && v->booked[n] > v->size[n])
			verify_fault(v, RULE_GPU_EXCLUSIVE, NONE,
				     "%lld GPUs of node %zu are held, it has %lld",
				     (long long)v->booked[n], n, (long long)v->size[n]);
	}
}

static void decision_capacity(struct fit_verifier *v)
{
	verify_check(v, RULE_CAPACITY);
	if (v->total_booked > v->total)
		verify_fault(v, RULE_CAPACITY, NONE, "%lld GPUs are held, the cluster has %lld",
			     (long long)v->total_booked, (long long)v->total);
}

static void row_gpus_requested(struct fit_verifier *v, const struct verify_row *r)
{
	int64_t most;

	if (r->job == NONE)
		return;
	verify_check(v, RULE_GPUS_REQUESTED);
	if (rigid(v)) {
		if ((double)r->sum < v->jobs[r->job].gpus || (double)r->sum > v->jobs[r->job].gpus)
			verify_fault(v, RULE_GPUS_REQUESTED, r->job,
				     "holds %lld GPUs, asked for %g", (long long)r->sum,
				     v->jobs[r->job].gpus);
		return;
	}
	if (v->jobs[r->job].app == UINT16_MAX || !v->with_profile)
		return;
	most = verify_most_gpus(v, r->job);
	if (r->sum > most && r->sum > 1)
		verify_fault(v, RULE_GPUS_REQUESTED, r->job,
			     "holds %lld GPUs, can use at most %lld", (long long)r->sum,
			     (long long)most);
}

/* ---- when GPUs come back ---- */

static void row_release(struct fit_verifier *v, const struct verify_row *r)
{
	const struct verify_live *l = r->live;

	if (r->job == NONE || !l)
		return;
	verify_check(v, RULE_RELEASE);
	if (r->ev == EV_FINISH) {
		if (!v->interval_end && r->n_nodes)
			verify_fault(v, RULE_RELEASE, r->job,
				     "its GPUs are free at once, but the finish still books '%.*s'",
				     FIT_TEXT_ARG(r->nodes_text));
		else if (v->interval_end && !r->n_nodes && !(v->ghosts && !l->n_nodes))
			verify_fault(v, RULE_RELEASE, r->job,
				     "its GPUs stay booked to the end of the interval, but the "
				     "finish gives them back");
		else if (r->n_nodes && !same_nodes(r))
			verify_fault(v, RULE_RELEASE, r->job,
				     "finish books '%.*s', which is not what the job held",
				     FIT_TEXT_ARG(r->nodes_text));
		return;
	}
	if (!v->interval_end)
		verify_fault(v, RULE_RELEASE, r->job,
			     "released, but its GPUs are free at the finish");
	else if (v->jobs[r->job].state == JOB_BOOKED && r->t != l->release_due_ns &&
		 !(l->finish_unclear && r->t == l->finish_ns))
		verify_fault(v, RULE_RELEASE, r->job,
			     "released at %.9g s, the interval ends at %.9g",
			     fit_time_to_double(r->t), fit_time_to_double(l->release_due_ns));
}

/* ---- when the policy may act ---- */

static void row_instants(struct fit_verifier *v, const struct verify_row *r)
{
	if (r->on_profiler)
		return;
	verify_check(v, RULE_INSTANTS);
	if (v->legal)
		return;
	if (v->interval_ns > 0)
		verify_fault(v, RULE_INSTANTS, r->job,
			     "%.*s at an instant that is no multiple of %.9g s",
			     FIT_TEXT_ARG(r->event), fit_time_to_double(v->interval_ns));
	else
		verify_fault(v, RULE_INSTANTS, r->job,
			     "%.*s at an instant without an arrival, a finish or a timer",
			     FIT_TEXT_ARG(r->event));
}

static void row_preemption(struct fit_verifier *v, const struct verify_row *r)
{
	verify_check(v, RULE_PREEMPTION);
	if (EV_BIT(r->ev) & (EV_BIT(EV_PREEMPT) | EV_BIT(EV_MOVE) | EV_BIT(EV_RESUME)))
		verify_fault(v, RULE_PREEMPTION, r->job,
			     "%.*s under a policy that does not preempt", FIT_TEXT_ARG(r->event));
}

/* A running job whose size stays keeps its nodes; under pollux it may go to others. */
static void row_keep(struct fit_verifier *v, const struct verify_row *r)
{
	if (r->job == NONE || !r->live || state_of(v, r) != JOB_RUNNING)
		return;
	verify_check(v, RULE_KEEP);
	if ((v->policy == POLICY_POLLUX || v->policy == POLICY_SIA) && r->ev == EV_MOVE && same_nodes(r))
		verify_fault(v, RULE_KEEP, r->job, "moved to '%.*s', which it holds already",
			     FIT_TEXT_ARG(r->nodes_text));
	else if (v->policy != POLICY_POLLUX && v->policy != POLICY_SIA && v->policy != POLICY_FOLLOW &&
		 v->policy != POLICY_RUBICK && r->ev == EV_MOVE && r->sum == r->live->gpus && !verify_changes_type(v, r))
		verify_fault(v, RULE_KEEP, r->job,
			     "moved although it holds %lld GPUs before and after",
			     (long long)r->sum);
}

/* ---- the table ---- */

#define ENDS (EV_BIT(EV_EPOCH) | EV_BIT(EV_FINISH))
#define HELD (EV_DECIDING | ENDS)
#define SPLITS (EV_PLACING | EV_BIT(EV_EPOCH) | EV_BIT(EV_BATCH))

const struct verify_rule_def verify_rules[N_RULES] = {
	[RULE_META] = { "meta-consistent",
			"the log's metadata are complete, legal and agree with its first row",
			EV_BIT(EV_CLUSTER), NULL, row_meta, NULL, NULL },
	[RULE_INPUTS] = { "inputs-match",
			  "the log was made from this jobs table and this profile (content hashes)",
			  0, NULL, NULL, NULL, NULL },
	[RULE_LOG_ORDER] = { "log-order",
			     "rows are ordered by time, and by effect within an instant", EV_ALL,
			     NULL, row_log_order, NULL, NULL },
	[RULE_VOCABULARY] = { "log-vocabulary",
			      "every row is a known event with the cells that it needs", EV_ALL,
			      NULL, row_vocabulary, NULL, NULL },
	[RULE_STATES] = { "state-machine",
			  "submit, start, then move, preempt, resume, epoch, batch, then finish, "
			  "release",
			  EV_OF_JOB, NULL, row_states, NULL, NULL },
	[RULE_JOBS_ONCE] = { "jobs-once", "every job of the table is submitted once, and no other",
			     EV_OF_JOB, NULL, row_jobs_once, NULL, end_jobs_once },
	[RULE_SUBMIT_MATCHES] = { "submit-matches",
				  "submit time, GPUs, application and batch are those of the table",
				  EV_BIT(EV_SUBMIT), NULL, row_submit_matches, NULL, NULL },
	[RULE_ADMISSION] = { "max-active",
			     "no more jobs in the system than the limit; each comes as soon as there is "
			     "room, in order of arrival",
			     EV_BIT(EV_SUBMIT), limited, verify_row_admission, NULL, NULL },
	[RULE_ALL_FINISH] = { "all-finish",
			      "every job finishes and gives its GPUs back, or is rejected", 0, NULL,
			      NULL, NULL, end_all_finish },
	[RULE_REJECT] = { "reject-rule", "a job is rejected if and only if it can never fit",
			  EV_BIT(EV_REJECT), NULL, row_reject, NULL, NULL },
	[RULE_NO_RUN_BEFORE] = { "no-run-before-submit", "no job runs before it is submitted", HELD,
				 NULL, row_no_run_before, NULL, NULL },
	[RULE_NO_RUN_AFTER] = { "no-run-after-finish", "no job runs after its finish", HELD, NULL,
				row_no_run_after, NULL, NULL },
	[RULE_NODE_EXISTS] = { "node-exists", "allocations name nodes of the cluster, each once",
			       EV_OF_JOB, NULL, row_node_exists, NULL, NULL },
	[RULE_NODES_MATCH] = { "nodes-match-gpus",
			       "gpus is the sum over nodes, and epochs run on what is held",
			       SPLITS | ENDS | EV_BIT(EV_PREEMPT) | EV_BIT(EV_RELEASE), NULL,
			       row_nodes_match, NULL, NULL },
	[RULE_GPU_EXCLUSIVE] = { "gpu-exclusive", "no GPU of a node is held twice", 0, NULL, NULL,
				 decision_gpu_exclusive, NULL },
	[RULE_CAPACITY] = { "capacity",
			    "no more GPUs are held than the cluster has, at every instant", 0, NULL,
			    NULL, decision_capacity, NULL },
	[RULE_GPU_TYPE] = { "gpu-type", "a job holds GPUs of one type: the one that it asks for, if any",
			    EV_PLACING, verify_has_types, verify_row_gpu_type, NULL, NULL },
	[RULE_NODE_LIFE] = { "node-life",
			     "nodes are rented, ready after the start-up delay, returned when empty "
			     "long enough",
			     EV_OF_NODE, NULL, verify_row_node_life, NULL, NULL },
	[RULE_NODE_CHOICE] = { "node-choice",
			       "the lowest node is rented first, the highest empty one returned first",
			       EV_BIT(EV_RENT) | EV_BIT(EV_RETURN), NULL, verify_row_node_choice, NULL,
			       NULL },
	[RULE_NODE_NUMBER] = { "node-number",
			       "as many nodes are rented as the autoscaling rule asks for",
			       EV_BIT(EV_RENT) | EV_BIT(EV_RETURN), elastic, verify_row_node_number,
			       verify_decide_node_number, NULL },
	[RULE_GPUS_REQUESTED] = { "gpus-as-requested",
				  "rigid policies give what was asked for, others at most what is "
				  "of use",
				  EV_PLACING, sizes_known, row_gpus_requested, NULL, NULL },
	[RULE_BATCH_SPLIT] = { "batch-split",
			       "per-GPU batch and accumulation follow from batch size and GPUs",
			       EV_PLACING | ENDS, profiled, verify_row_batch_split, NULL, NULL },
	[RULE_PROGRESS] = { "progress",
			    "progress and epochs are what the model yields for the time passed",
			    HELD | EV_BIT(EV_RELEASE), NULL, verify_row_progress, NULL, NULL },
	[RULE_EPOCH_TIME] = { "epoch-time",
			      "epochs and jobs end when the model says, to the rounding of the log",
			      HELD, NULL, verify_row_epoch_time, NULL, NULL },
	[RULE_WORK_COMPLETE] = { "work-complete",
				 "a job finishes exactly when the sum of its progress is its work",
				 ENDS, NULL, verify_row_work_complete, NULL, NULL },
	[RULE_RESTART_COST] = { "restart-cost",
				"after a new allocation a job stands still for the restart delay",
				HELD, NULL, verify_row_restart_cost, NULL, NULL },
	[RULE_RELEASE] = { "release-rule",
			   "GPUs of a finished job come back when the log's convention says",
			   EV_BIT(EV_FINISH) | EV_BIT(EV_RELEASE), NULL, row_release, NULL, NULL },
	[RULE_INSTANTS] = { "decision-instants",
			    "allocations and batch sizes change only when the policy may act",
			    EV_DECIDING, clear_instants, row_instants, NULL, NULL },
	[RULE_PREEMPTION] = { "no-preemption", "fifo, fjf, sjf, qssf, lucid and horus never preempt, move or resume",
			      EV_ACTIVE, not_preemptive, row_preemption, NULL, NULL },
	[RULE_FIFO] = { "fifo-order", "jobs start in order of submission", 0, is_fifo, NULL,
			verify_decide_fifo, NULL },
	[RULE_FJF] = { "fjf-order", "in order of submission, those start that fit", 0, is_fjf, NULL,
		       verify_decide_fjf, NULL },
	[RULE_SJF] = { "sjf-order", "of the waiting jobs the shortest starts first", 0, is_sjf,
		       NULL, verify_decide_sjf, NULL },
	[RULE_QSSF] = { "qssf-order", "of the waiting jobs that of the smallest predicted GPU time starts first",
			0, is_qssf, NULL, verify_decide_qssf, NULL },
	[RULE_SRTF] = { "srtf-order", "those run that fit, taken by remaining time", 0, is_srtf,
			NULL, verify_decide_srtf, NULL },
	[RULE_TIRESIAS] = { "tiresias-queues",
			    "those run that fit, taken by queue, with demotion at the limits", 0,
			    is_tiresias, NULL, verify_decide_tiresias, NULL },
	[RULE_GITTINS] = { "gittins-order", "those run that fit, taken by queue and Gittins index", 0,
			   is_gittins, NULL, verify_decide_gittins, NULL },
	[RULE_LIST] = { "key-order", "those run that fit, taken by the policy's number", 0, takes_a_list, NULL,
			verify_decide_list, NULL },
	[RULE_OPTIMUS] = { "optimus-marginal-gain",
			   "each GPU goes where it shortens completion most", 0, is_optimus, NULL,
			   verify_decide_optimus, NULL },
	[RULE_POLLUX_INTERFERENCE] = { "pollux-interference",
				       "on each node at most one job that is on several nodes; of several GPU types: on each "
				       "virtual node", 0,
				       avoids_interference, NULL,
				       verify_decide_pollux_interference, NULL },
	[RULE_POLLUX_DOUBLING] = { "pollux-doubling",
				   "at most twice the GPUs that the job ran on before, and no more "
				   "than its batch limits and the smallest GPU type allow",
				   EV_PLACING, is_pollux, verify_row_pollux_doubling, NULL, NULL },
	[RULE_POLLUX_LIMITS] = { "pollux-batch-limits",
				 "batch sizes are within the limits of the application; a fixed "
				 "or a first one is split by the rule",
				 SPLITS | EV_BIT(EV_FINISH), adapts, verify_row_pollux_limits,
				 NULL, NULL },
	[RULE_POLLUX_BEST] = { "pollux-batch-best",
			       "batch sizes make the goodput largest that the job's model predicts",
			       SPLITS, adapts, verify_row_pollux_best,
			       verify_decide_pollux_best, NULL },
	[RULE_POLLUX_FITNESS] = { "pollux-fitness",
				  "a change of allocations is worth no less than keeping them", 0,
				  starts_from_current, NULL, verify_decide_pollux_fitness, NULL },
	[RULE_FITNESS_FOLLOWS] = { "fitness-follows",
				   "the given fitness of each decision follows from events, models and profile", 0,
				   has_fitness, NULL, verify_decide_fitness, NULL },
	[RULE_SIA_CONFIG] = { "sia-config",
			      "a configuration of the grid of one type: powers of two, then whole nodes; no more than "
			      "twice the GPUs that it ran on",
			      EV_PLACING, is_sia, verify_row_sia_config, NULL, NULL },
	[RULE_SIA_PIN] = { "sia-pin", "a job in the delay of its last restart keeps its configuration", EV_ACTIVE,
			   is_sia, verify_row_sia_pin, NULL, NULL },
	[RULE_SIA_BEST] = { "sia-best",
			    "no job alone, and no two jobs together, could be given better configurations by the utilities "
			    "that follow from what they learned",
			    0, is_sia, NULL, verify_decide_sia_best, NULL },
	[RULE_BOA_WIDTH] = { "boa-width",
			     "each job holds the width that its plan has for its class and epoch",
			     EV_ACTIVE, is_boa, verify_row_boa_width, NULL, NULL },
	[RULE_BOA_QUEUE] = { "boa-no-queue",
			     "a job waits for its width only while nodes start, in turn, and for no longer than that",
			     0, is_boa, NULL, verify_decide_boa_queue, NULL },
	[RULE_BOA_PLACEMENT] = { "boa-placement",
				 "what is placed anew is condensed on as few nodes as can be, the widest first", 0,
				 boa_condenses, NULL, verify_decide_boa_placement, NULL },
	[RULE_FOLLOW] = { "follow-table", "jobs hold what the table of allocations gives them, when it says so",
			  EV_ACTIVE, is_follow, verify_row_follow, verify_decide_follow, NULL },
	[RULE_RUBICK_PLAN] = { "rubick-plan",
			       "rubick: by the fastest plan that was measured there; on one node unless several are faster",
			       EV_PLACING, is_rubick, verify_row_rubick_plan, NULL, NULL },
	[RULE_RUBICK_SLA] = { "rubick-guarantee",
			      "a guaranteed job that runs has the speed of what it asks for, or as many GPUs", 0,
			      keeps_guarantees, NULL, verify_decide_rubick_sla, NULL },
	[RULE_ROUND] = { "gavel-round", "GPUs change hands at the end of a round, and are of a type on which "
			 "the job makes steps", EV_DECIDING, is_gavel, verify_row_round, verify_decide_round, NULL },
	[RULE_SHARES] = { "gavel-shares", "the given shares are those of the jobs in the system, fit, and are "
			  "as good as can be", 0, has_shares, NULL, verify_decide_shares, verify_end_shares },
	[RULE_GAVEL_ORDER] = { "gavel-order", "in each round jobs get GPUs by their priority, the share over the "
			       "time they had, and shares are computed when they are due", EV_OF_JOB, has_rounds,
			       verify_row_gavel_order, verify_decide_gavel_order, NULL },
	[RULE_CONSERVATION] = { "conservation",
				"speedups: productive time on the least width adds up to the work of each job",
				EV_BIT(EV_FINISH), has_speedups, verify_row_conservation, NULL, NULL },
	[RULE_VIRTUAL] = { "virtual-cluster",
			   "jobs run on nodes of their own virtual cluster, and on none that are set apart",
			   EV_PLACING, has_parts, verify_row_virtual, NULL, NULL },
	[RULE_SHARING] = { "gpu-sharing",
			   "two at most share GPUs: of equal demand, on one node, both rows say so",
			   EV_ALL, shares, verify_row_sharing, NULL, NULL },
	[RULE_SHARED_SPEED] = { "shared-speed", "jobs that share GPUs run at the speeds that were measured",
				EV_BIT(EV_START) | EV_BIT(EV_SHARE), shares, verify_row_shared_speed, NULL,
				NULL },
	[RULE_PACK_MEMORY] = { "pack-memory", "two that share need less memory than a GPU has",
			       EV_BIT(EV_START), shares, verify_row_pack_memory, NULL, NULL },
	[RULE_PACK_SCORE] = { "pack-score",
			      "two share only where the policy's score and time rules allow it",
			      EV_BIT(EV_START), shares, verify_row_pack_score, NULL, NULL },
	[RULE_PROFILER] = { "profiler-limits",
			    "profiled once, on the profiler's nodes, within its size and exactly to its time",
			    EV_BIT(EV_START) | EV_PROFILING, profiles_first, verify_row_profiler, NULL,
			    verify_end_profiler },
	[RULE_PROFILER_ORDER] = { "profiler-order", "the head of the profiler's queue goes first",
				  EV_BIT(EV_START) | EV_BIT(EV_PROFILE), profiles_first,
				  verify_row_profiler_order, NULL, NULL },
	[RULE_LENDING] = { "profiler-lending",
			   "an empty node is lent while enough jobs wait for the profiler, and comes back when few do",
			   EV_LENDING, lends, verify_row_lending, NULL, NULL },
	[RULE_NEXT] = { "next-to-start",
			"of each queue the first that can starts first, and nobody waits that can",
			EV_BIT(EV_START), has_queues, verify_row_next, verify_decide_next, NULL },
	[RULE_PACK_FIRST] = { "pack-first",
			      "a job that may share joins the first that will do before it takes free GPUs",
			      EV_BIT(EV_START), has_packing_queues, NULL, NULL, NULL },
	[RULE_CONSERVING] = { "work-conserving",
			      "no job waits that the policy could run on the free GPUs", 0,
			      conserves, NULL, verify_decide_conserving, NULL },
	[RULE_KEEP] = { "keep-placement", "a running job whose size stays keeps its nodes",
			EV_BIT(EV_MOVE), NULL, row_keep, NULL, NULL },
	[RULE_PLACEMENT] = { "placement-rule",
			     "new allocations are on the nodes that the placement gives, in the policy's order",
			     EV_PLACING, places, verify_row_placement, verify_decide_placement, NULL },
	[RULE_METRICS] = { "metrics-follow", "the given metrics follow from the events", 0, NULL,
			   NULL, NULL, NULL },
	[RULE_PER_JOB] = { "per-job-follows", "the given per-job metrics follow from the events", 0,
			   NULL, NULL, NULL, NULL },
};
