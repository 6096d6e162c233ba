/* SPDX-License-Identifier: MIT */
/* The metadata of a log: what they must say, and what the rules take from them. */
#include <math.h>

#include "libfit/verify/verify_state.h"

static bool meta_time(struct fit_verifier *v, const struct fit_meta *m, const char *key,
		      int64_t *ns)
{
	const char *s = fit_meta_get(m, key);

	verify_check(v, RULE_META);
	if (s && !fit_parse_time(fit_text_of(s), ns) && *ns >= 0)
		return true;
	verify_fault(v, RULE_META, NONE, "metadata %s is '%s' (expected seconds)", key,
		     s ? s : "missing");
	return false;
}

static bool meta_choice(struct fit_verifier *v, const struct fit_meta *m, const char *key,
			const char *const *choices, int *which)
{
	const char *s = fit_meta_get(m, key);

	verify_check(v, RULE_META);
	for (int i = 0; s && choices[i]; i++) {
		if (fit_text_is(fit_text_of(choices[i]), s)) {
			*which = i;
			return true;
		}
	}
	verify_fault(v, RULE_META, NONE,
		     "metadata %s is '%s' (expected one of those in the log format)", key,
		     s ? s : "missing");
	return false;
}

static void check_hash(struct fit_verifier *v, const struct fit_meta *m, const char *key,
		       const char *found, const char *what)
{
	const char *s = fit_meta_get(m, key);

	if (!s)
		return; /* a log that does not say; a profile that it does not need is no matter */
	verify_check(v, RULE_INPUTS);
	if (!fit_text_is(fit_text_of(s), found))
		verify_fault(v, RULE_INPUTS, NONE,
			     "the log was made from another %s (hash %s, found %s)", what, s,
			     found);
}

static const char *const policies[] = {
	"other", "fifo", "sjf", "srtf", "tiresias", "optimus", "pollux", "qssf", "boa", "lucid", "horus",
	"follow", "fjf", "shortest", "shortest-gpu", "smallest", "sia", "rubick", "tiresias-g", "gittins",
	"gavel-fifo", "gavel-isolated", "gavel-fairness", "gavel-fairness-agnostic",
	"gavel-makespan", "gavel-finish-time", "gavel-throughput", NULL
};
static const char *const releases[] = { "at-once", "interval-end", NULL };
static const char *const orders[] = { "submit-id", "file", NULL };
static const char *const models[] = { "fixed", "profile", "adaptive", "speedup", "shared", "plans",
					"steps", NULL };
static const char *const avoidances[] = { "avoided", "allowed", NULL };
static const char *const remainings[] = { "exact", "whole-epochs", NULL };
static const char *const singles[] = { "as-run", "always-accumulates", NULL };

/* What the names of conventions stand for; other names are not known here. */
static void check_fidelity(struct fit_verifier *v, const struct fit_meta *m, bool interval_end,
			   bool file_order)
{
	static const struct {
		const char *name;
		int64_t quantum_ns;
		bool interval_end, file_order;
	} known[] = {
		{ "none", 0, false, false },
		{ "pollux-osdi21", FIT_NS_PER_S, true, true },
		{ "lucid-asplos23", 0, false, true },
		{ "tiresias-nsdi19", 0, false, true },
		{ "sia-sosp23", FIT_NS_PER_S, true, true },
		{ "rubick-mlsys25", 0, true, true },
		{ "gavel-osdi20", 0, false, true },
	};
	const char *s = fit_meta_get(m, "fidelity");

	for (size_t i = 0; s && i < sizeof known / sizeof *known; i++) {
		if (!fit_text_is(fit_text_of(s), known[i].name))
			continue;
		verify_check(v, RULE_META);
		if (v->quantum_ns != known[i].quantum_ns || interval_end != known[i].interval_end ||
		    file_order != known[i].file_order)
			verify_fault(
				v, RULE_META, NONE,
				"epoch_quantum_s, release and order are not those of fidelity %s",
				s);
	}
}

/* The share that interference takes; a log that says nothing has none. */
static void meta_share(struct fit_verifier *v, const struct fit_meta *m)
{
	const char *s = fit_meta_get(m, "interference");

	if (!s)
		return;
	verify_check(v, RULE_META);
	if (!fit_parse_double(fit_text_of(s), &v->interference) && v->interference > 0 &&
	    v->interference < 1 && v->with_profile)
		return;
	v->interference = 0;
	verify_fault(v, RULE_META, NONE,
		     "metadata interference is '%s' (expected above 0 and below 1, with a profile)",
		     s);
}

static void read_meta_pollux(struct fit_verifier *v, const struct fit_meta *m, int model)
{
	const char *s = fit_meta_get(m, "pollux_p"), *fidelity = fit_meta_get(m, "fidelity");
	bool known, osdi = fidelity && fit_text_is(fit_text_of(fidelity), "pollux-osdi21");
	const char *cluster = fit_meta_get(m, "cluster");
	int allowed = 0;

	v->adaptive = v->with_profile;
	verify_check(v, RULE_META);
	if (!s || fit_parse_double(fit_text_of(s), &v->pollux_power) || !isfinite(v->pollux_power) ||
	    !(v->pollux_power > 0 || v->pollux_power < 0)) {
		v->pollux_power = -1;
		verify_fault(v, RULE_META, NONE,
			     "metadata pollux_p is '%s' (expected a number other than 0)",
			     s ? s : "missing");
	}
	meta_choice(v, m, "pollux_interference", avoidances, &allowed);
	v->pollux_avoids = allowed == 0;
	s = fit_meta_get(m, "pollux_search");
	v->fair_on_one_node = osdi || (fidelity && fit_text_is(fit_text_of(fidelity), "sia-sosp23"));
	v->blind = cluster && verify_unlike_types(fit_text_of(cluster));
	v->pollux_reference = s && fit_text_is(fit_text_of(s), "ga-reference");
	known = v->pollux_reference || (s && fit_text_is(fit_text_of(s), "ga"));
	verify_check(v, RULE_META);
	if (!s || (known && v->pollux_reference != osdi))
		verify_fault(v, RULE_META, NONE,
			     "metadata pollux_search is '%s', which is not that of fidelity %s",
			     s ? s : "missing", fidelity ? fidelity : "none");
	verify_check(v, RULE_META);
	if (!v->with_profile || model != 2 || v->interval_ns == 0)
		verify_fault(v, RULE_META, NONE,
			     "policy pollux needs a profile, an interval and progress_model adaptive");
}

static void read_meta_sia(struct fit_verifier *v, const struct fit_meta *m, int model)
{
	const char *p = fit_meta_get(m, "sia_p"), *lambda = fit_meta_get(m, "sia_lambda");

	v->adaptive = v->with_profile;
	verify_check(v, RULE_META);
	if (!p || !lambda || fit_parse_double(fit_text_of(p), &v->sia_power) ||
	    fit_parse_double(fit_text_of(lambda), &v->sia_lambda) || v->sia_power == 0 || !v->with_profile ||
	    model != 2 || v->interval_ns == 0)
		verify_fault(v, RULE_META, NONE, "policy sia needs a profile, an interval, progress_model adaptive and "
			     "metadata sia_p and sia_lambda");
}

static void read_meta_utility(struct fit_verifier *v, const struct fit_meta *m)
{
	const char *low = fit_meta_get(m, "scale_low"), *high = fit_meta_get(m, "scale_high");
	const char *target = fit_meta_get(m, "target_efficiency");

	verify_check(v, RULE_META);
	if (v->autoscale >= SCALE_POLLUX) {
		if (target && !fit_parse_double(fit_text_of(target), &v->scale_target) && v->scale_target > 0 &&
		    v->scale_target < 1 && v->adaptive)
			return;
		if (target && v->policy == POLICY_RUBICK) {
			v->autoscale = SCALE_PLAN; /* by what the policy makes of each size */
			return;
		}
		verify_fault(v, RULE_META, NONE, "autoscaling to an efficiency needs policy pollux and metadata "
			     "target_efficiency (expected above 0 and below 1, found '%s')", target ? target : "none");
		v->autoscale = SCALE_PLAN; /* cannot be told */
		return;
	}
	if (!low || !high || fit_parse_double(fit_text_of(low), &v->scale_low) ||
	    fit_parse_double(fit_text_of(high), &v->scale_high) ||
	    !(v->scale_low > 0 && v->scale_low <= v->scale_high && v->scale_high <= 1) || !v->adaptive) {
		verify_fault(v, RULE_META, NONE, "autoscaling by utility needs policy pollux and metadata scale_low and "
			     "scale_high (expected 0 < low <= high <= 1, found '%s' and '%s')",
			     low ? low : "none", high ? high : "none");
		v->autoscale = SCALE_PLAN; /* cannot be told */
	}
}

/* Elastic clusters: the rule, delays and bounds; a log that names no rule has a fixed cluster. */
static void read_meta_scaling(struct fit_verifier *v, const struct fit_meta *m)
{
	static const char *const rules[] = { "plan", "demand", "goodput", "throughput", "utilisation",
					     "pollux", "rubick", "sia", NULL };
	const char *s = fit_meta_get(m, "nodes_min");
	int rule = 0;

	if (!fit_meta_get(m, "autoscale"))
		return;
	v->autoscale = meta_choice(v, m, "autoscale", rules, &rule) ?
		       (enum verify_autoscale)(SCALE_PLAN + rule) : SCALE_PLAN;
	(void)meta_time(v, m, "node_start_s", &v->node_start_ns);
	(void)meta_time(v, m, "node_idle_s", &v->node_idle_ns);
	if (fit_meta_get(m, "cold_restart_s") && !meta_time(v, m, "cold_restart_s", &v->cold_restart_ns))
		v->cold_restart_ns = NO_INT;
	verify_check(v, RULE_META);
	if (!s || fit_parse_int64(fit_text_of(s), &v->nodes_min) || v->nodes_min < 0) {
		v->nodes_min = 0;
		verify_fault(v, RULE_META, NONE, "metadata nodes_min is '%s' (expected a number)",
			     s ? s : "missing");
	}
	v->drains = v->policy == POLICY_POLLUX || v->policy == POLICY_SIA;
	if (v->autoscale >= SCALE_GOODPUT)
		read_meta_utility(v, m);
}

static void read_meta_boa(struct fit_verifier *v, const struct fit_meta *m)
{
	const char *s = fit_meta_get(m, "first_start");

	verify_check(v, RULE_META);
	v->free_start = s && fit_text_is(fit_text_of(s), "free");
	if (s && !v->free_start)
		verify_fault(v, RULE_META, NONE, "metadata first_start is '%s' (expected free, or nothing)", s);
	if (v->policy != POLICY_BOA)
		return;
	s = fit_meta_get(m, "placement");
	v->boa_condenses = s && fit_text_is(fit_text_of(s), "consolidate-first");
	verify_check(v, RULE_META);
	if (!v->with_speedups || (!*v->plans.hash && !fit_meta_get(m, "boa_budget")))
		verify_fault(v, RULE_META, NONE, "policy boa needs speedups, and plans or a budget");
	if (!*v->plans.hash)
		return;
	s = fit_meta_get(&v->plans.meta, "charge_start");
	verify_check(v, RULE_META);
	if (v->free_start != (!s || !fit_text_is(fit_text_of(s), "1")))
		verify_fault(v, RULE_META, NONE, "the plans say charge_start %s, but the first start is %s",
			     s ? s : "0", v->free_start ? "free" : "charged");
}

/* Limits by commas, which do not fall. */
static bool read_limits(struct fit_verifier *v, struct fit_text s)
{
	size_t at = 0;

	for (v->n_limits = 0; v->n_limits < VERIFY_QUEUES - 1; at++) {
		struct fit_text one = { s.s + at, 0 };
		int64_t *limit = &v->limit_s[v->n_limits];

		while (at < s.n && s.s[at] != ',') {
			at++;
			one.n++;
		}
		if (fit_parse_int64(one, limit) || *limit < (v->n_limits ? limit[-1] : 0))
			return false;
		v->n_limits++;
		if (at == s.n)
			return true;
	}
	return false;
}

void verify_queue_meta(struct fit_verifier *v, const struct fit_meta *m)
{
	static const char *const services[] = { "gpu-time", "time", NULL };
	static const char *const in_queue[] = { "running-first", "entered", "submitted", NULL };
	const char *s = fit_meta_get(m, "tiresias_queues"), *old = fit_meta_get(m, "tiresias_threshold_gpu_s");
	int service = 0, order = 0;

	verify_check(v, RULE_META);
	if (v->policy == POLICY_GITTINS) {
		v->running_first = true;
		return;
	}
	s = s ? s : old;
	if (!s || !read_limits(v, fit_text_of(s)))
		verify_fault(v, RULE_META, NONE,
			     "metadata tiresias_queues is '%s' (expected limits that do not fall)",
			     s ? s : "missing");
	if (s == old)
		return; /* a log that says a threshold only: two queues, as they were entered */
	meta_choice(v, m, "tiresias_service", services, &service);
	if (v->policy == POLICY_TIRESIAS)
		meta_choice(v, m, "tiresias_order", in_queue, &order);
	v->queue_by_time = service == 1;
	v->running_first = order == 0;
	v->queue_by_submission = order == 2;
	v->queue_over = verify_meta_says(m, "fidelity", "lucid-asplos23");
	s = fit_meta_get(m, "tiresias_wake");
	v->late_wake = s && fit_text_is(fit_text_of(s), "late");
	s = fit_meta_get(m, "tiresias_promote");
	if (s && (fit_parse_double(fit_text_of(s), &v->promote) || !(v->promote > 0 && v->promote < 1e15))) {
		v->promote = 0;
		verify_fault(v, RULE_META, NONE, "metadata tiresias_promote is '%s' (expected a factor)", s);
	}
}

/* Can indices be followed? */
static bool takes_indices(struct fit_verifier *v, const struct fit_meta *m)
{
	v->gittins_artifact = verify_meta_says(m, "gittins", "artifact");
	v->gittins_given = fit_meta_get(m, "input_gpu_times") != NULL;
	return verify_by_index(v) && verify_gittins_knows(v, m) && !fit_meta_get(m, "virtual_clusters") &&
	       (verify_meta_says(m, "fidelity", "none") || verify_meta_says(m, "fidelity", "tiresias-nsdi19"));
}

/* Can turns be followed where virtual clusters, types of GPUs, another placement or the conventions of
 * Lucid's simulator are at work? (verify_turns.c) */
static bool takes_turns(struct fit_verifier *v, const struct fit_meta *m)
{
	const bool indices = takes_indices(v, m);
	const bool lucid = verify_meta_says(m, "fidelity", "lucid-asplos23");
	/* in parts its wake-ups would be each part's own */
	const bool tiresias = verify_meta_says(m, "fidelity", "tiresias-nsdi19") &&
			      !(v->policy == POLICY_TIRESIAS && fit_meta_get(m, "virtual_clusters"));
	const bool sizes = v->policy == POLICY_SHORTEST_GPU || v->policy == POLICY_SMALLEST;

	const bool pollux = verify_meta_says(m, "fidelity", "pollux-osdi21");

	return (v->policy == POLICY_SRTF || v->policy == POLICY_SHORTEST || v->policy == POLICY_TIRESIAS || sizes ||
		indices) &&
	       !fit_meta_get(m, "profiler_nodes") &&
	       (indices || verify_meta_says(m, "fidelity", "none") || pollux || tiresias ||
		(lucid && !sizes && !v->by_epoch));
}

int verify_read_meta(struct fit_verifier *v, const struct fit_meta *m, bool *file_order)
{
	int policy = 0, release = 0, order = 0, remaining = 0, single = 0, model = 0;
	const char *s;

	meta_choice(v, m, "policy", policies + 1, &policy);
	v->policy = fit_meta_get(m, "policy") && v->tally[RULE_META].violations == 0
			    ? (enum verify_policy)(policy + 1)
			    : POLICY_OTHER;
	if (v->policy >= POLICY_GAVEL)
		v->policy = POLICY_GAVEL;
	v->never_preempts = v->policy == POLICY_FIFO || v->policy == POLICY_SJF || v->policy == POLICY_QSSF ||
			    v->policy == POLICY_FJF || v->policy == POLICY_LUCID || v->policy == POLICY_HORUS;
	v->rigid = v->never_preempts || v->policy == POLICY_SRTF || v->policy == POLICY_TIRESIAS ||
		   v->policy == POLICY_SHORTEST || v->policy == POLICY_SHORTEST_GPU || v->policy == POLICY_SMALLEST ||
		   v->policy == POLICY_GAVEL || v->policy == POLICY_TIRESIAS_G || v->policy == POLICY_GITTINS;
	/* the rules of these policies are written for one cluster whose emptiest nodes are filled first */
	s = fit_meta_get(m, "fidelity");
	if (v->policy == POLICY_GAVEL) {
		;	/* they are written for any cluster */
	} else if (fit_meta_get(m, "virtual_clusters") || (fit_meta_get(m, "cluster") && v->policy != POLICY_SIA &&
	     v->policy != POLICY_POLLUX && v->policy != POLICY_BOA &&
	     verify_unlike_types(fit_text_of(fit_meta_get(m, "cluster")))) ||
	    (fit_meta_get(m, "placement") && v->policy != POLICY_BOA && v->policy != POLICY_FOLLOW &&
	     v->policy != POLICY_RUBICK) ||
	    v->policy == POLICY_LUCID || v->policy == POLICY_HORUS || fit_meta_get(m, "profiler_nodes") ||
	    v->policy == POLICY_TIRESIAS_G || v->policy == POLICY_GITTINS ||
	    (s && fit_text_is(fit_text_of(s), "lucid-asplos23") && v->policy != POLICY_FOLLOW)) {
		v->by_parts = takes_turns(v, m);
		v->by_lists = s && fit_text_is(fit_text_of(s), "lucid-asplos23");
		v->vague_instants = v->policy == POLICY_TIRESIAS || v->policy == POLICY_QSSF ||
				    v->policy == POLICY_TIRESIAS_G || v->policy == POLICY_GITTINS;
		v->vague_instants = v->vague_instants && !v->by_parts;
		v->policy = v->by_parts ? v->policy : POLICY_OTHER;
	}
	(void)meta_time(v, m, "interval_s", &v->interval_ns);
	v->restart_ns = NO_INT;
	s = fit_meta_get(m, "restart_s");
	if (!s || !fit_text_is(fit_text_of(s), "profile"))
		(void)meta_time(v, m, "restart_s", &v->restart_ns);
	(void)meta_time(v, m, "epoch_quantum_s", &v->quantum_ns);
	if (fit_meta_get(m, "notice_s"))
		(void)meta_time(v, m, "notice_s", &v->notice_ns);
	if (fit_meta_get(m, "preempt_work_s")) {
		(void)meta_time(v, m, "preempt_work_s", &v->preempt_work_ns);
		(void)meta_time(v, m, "preempt_wide_work_s", &v->preempt_wide_work_ns);
		s = fit_meta_get(m, "preempt_wide_gpus");
		verify_check(v, RULE_META);
		if (!s || fit_parse_int64(fit_text_of(s), &v->preempt_wide_gpus) || v->preempt_wide_gpus < 0)
			verify_fault(v, RULE_META, NONE, "metadata preempt_wide_gpus is '%s' (expected GPUs)",
				     s ? s : "missing");
	}
	s = fit_meta_get(m, "first_decision_s");
	v->decides_at_zero = s && fit_text_is(fit_text_of(s), "0");
	meta_choice(v, m, "release", releases, &release);
	meta_choice(v, m, "order", orders, &order);
	v->interval_end = release == 1;
	*file_order = order == 1;
	if (v->policy == POLICY_TIRESIAS || verify_by_index(v))
		verify_queue_meta(v, m);
	s = fit_meta_get(m, "ties");
	v->one_list = s && fit_text_is(fit_text_of(s), "one-list");
	if (v->policy == POLICY_SRTF && v->one_list)
		v->policy = POLICY_SHORTEST;
	else if (v->policy == POLICY_SHORTEST && !v->one_list)
		v->policy = POLICY_SRTF;
	if (v->policy == POLICY_OPTIMUS) {
		meta_choice(v, m, "optimus_remaining", remainings, &remaining);
		meta_choice(v, m, "optimus_single_gpu", singles, &single);
		v->optimus_whole_epochs = remaining == 1;
		v->optimus_accumulates = single == 1;
		s = fit_meta_get(m, "optimus_node_gpus");
		if (s && fit_parse_int64(fit_text_of(s), &v->optimus_node_gpus))
			verify_fault(v, RULE_META, NONE,
				     "metadata optimus_node_gpus is '%s' (expected a number)", s);
	}
	if (verify_share_meta(v, m))
		return FIT_ENOMEM;
	if (v->policy != POLICY_OTHER || v->by_epoch)	/* the rules of the policy itself hold */
		v->queues = POLICY_OTHER;
	s = fit_meta_get(m, "max_active");
	if (s && (fit_parse_int64(fit_text_of(s), &v->max_active) || v->max_active < 1)) {
		v->max_active = 0;
		verify_fault(v, RULE_META, NONE, "metadata max_active is '%s' (expected a number above 0)", s);
	}
	if (fit_meta_get(m, "progress_model") &&
	    meta_choice(v, m, "progress_model", models, &model) &&
	    ((model == 1 || model == 2) != v->with_profile || (model == 3) != v->with_speedups ||
	     (model == 5) != v->with_plans || (model == 6) != v->with_rates))
		verify_fault(v, RULE_META, NONE, "progress_model %s, but the log names %s", models[model],
			     v->with_profile ? "a profile" : v->with_speedups ? "speedups" :
			     v->with_plans ? "times of plans" : v->with_rates ? "rates" : "no profile");
	if (v->policy == POLICY_SIA)
		read_meta_sia(v, m, model);
	else if (v->policy == POLICY_POLLUX)
		read_meta_pollux(v, m, model);
	else if (model == 2)
		verify_fault(v, RULE_META, NONE,
			     "progress_model adaptive, but the policy sets no batch sizes");
	read_meta_boa(v, m);
	verify_read_meta_plans(v, m);
	if (v->policy == POLICY_GAVEL)
		verify_gavel_meta(v, m);
	meta_share(v, m);
	read_meta_scaling(v, m);
	s = fit_meta_get(m, "fidelity");
	v->sia_reference = s && fit_text_is(fit_text_of(s), "sia-sosp23");
	v->says_delays = v->free_start || v->free_shifts || v->sia_reference || v->restart_ns == NO_INT ||
			 v->cold_restart_ns != NO_INT ||
			 (fit_meta_get(m, "profiler_nodes") && v->restart_ns > 0);
	check_fidelity(v, m, release == 1, order == 1);
	if (!v->by_epoch || v->with_rates)
		v->quantum_ns = 0; /* durations are exact, and so are steps */
	s = fit_meta_get(m, "cluster");
	v->mixed_types = s && verify_unlike_types(fit_text_of(s));
	v->cluster_meta = s ? fit_strdup(fit_text_of(s)) : NULL;
	if (s && !v->cluster_meta)
		return FIT_ENOMEM;
	check_hash(v, m, "input_speedups", v->speedups.hash, "table of speedups");
	check_hash(v, m, "input_classes", v->class_table.hash, "table of classes");
	check_hash(v, m, "input_plan_times", v->plan_times.hash, "table of plan times");
	check_hash(v, m, "input_allocations", v->follow.hash, "table of allocations");
	if (v->gittins)
		check_hash(v, m, "input_gpu_times", fit_verifier_hash_gpu_times(v), "table of GPU times");
	check_hash(v, m, "input_rates", v->rates.table.hash, "table of rates");
	check_hash(v, m, "input_plan", v->plans.hash, "table of plans");
	if (v->measured) {
		check_hash(v, m, "input_configs", v->colocation.hash_configs, "table of configurations");
		check_hash(v, m, "input_pairs", v->colocation.hash_pairs, "table of pairs");
	}
	for (size_t i = 0; i < v->apps_by_type.n; i++) {
		char key[VERIFY_KEY_MAX];

		verify_profile_key(v->apps_by_type.entries[i].type, key);
		check_hash(v, m, key, v->apps_by_type.entries[i].hash, "profile store");
	}
	if (!v->with_plans)
		check_hash(v, m, "input_models", v->models.hash, "set of models");
	return FIT_OK;
}

void verify_read_end_meta(struct fit_verifier *v, const struct fit_meta *m)
{
	const char *s = fit_meta_get(m, "left_out");

	if (s && (fit_parse_int64(fit_text_of(s), &v->left_out) || v->left_out < 1))
		verify_fault(v, RULE_META, NONE, "metadata left_out is '%s' (expected a number above 0)", s);
	check_hash(v, m, "input_jobs", v->hash_jobs, "jobs table");
}
