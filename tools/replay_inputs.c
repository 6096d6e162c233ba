/* SPDX-License-Identifier: MIT */
#include "tools/replay_inputs.h"

#include <string.h>

#include "tools/boa_prices.h"
#include "tools/profile_meta.h"

/* ---- the cluster ---- */

static int check_node_type(const struct fit_table *t, size_t row, struct fit_err *err)
{
	static const int64_t most[] = { FIT_NODES_MAX, FIT_NODE_GPUS_MAX };

	for (size_t k = 0; k < 2; k++) {
		int64_t n = t->columns[k].i[row];

		if (n < 0 || n > most[k])
			return fit_table_fail(t, row, FIT_EDATA, t->columns[k].name, err,
					      "out of range '%lld' (expected 0 to %lld)", (long long)n,
					      (long long)most[k]);
	}
	return FIT_OK;
}

/* The name of a virtual cluster or of a GPU type, which goes into a specification. */
static int check_name(const struct fit_table *t, size_t row, int column, struct fit_err *err)
{
	struct fit_text name = fit_column_text(&t->columns[column], row);

	if (!name.n && column == 2)
		return fit_table_fail(t, row, FIT_EDATA, "group", err, "missing (expected a virtual cluster)");
	if (name.n && (memchr(name.s, ':', name.n) || memchr(name.s, ',', name.n) || name.n > 200))
		return fit_table_fail(t, row, FIT_EDATA, t->columns[column].name, err,
				      "bad name '%.*s' (expected no ':' or ',')", FIT_TEXT_ARG(name));
	return FIT_OK;
}

/* What a node has besides GPUs, from the one row of a table that says how many switches there are. */
struct node_room {
	int64_t switches;	/* 0: not said */
	int64_t cpus;
	double mem_gib;
};

static int read_room(const struct fit_table *t, size_t row, struct node_room *room, struct fit_err *err)
{
	int64_t switches = t->columns[4].i[row];
	double cpus = t->columns[5].d[row], mem = t->columns[6].d[row];

	if (switches == FIT_INT_NA)
		return FIT_OK;
	if (t->n_rows > 1 || switches < 1)
		return fit_table_fail(t, row, FIT_EDATA, "switches", err, "%lld switches (expected 1 and more, of nodes "
				      "that are alike)", (long long)switches);
	if (!(cpus >= 0 && cpus <= 1000000))
		return fit_table_fail(t, row, FIT_EDATA, "cpus_per_node", err, "missing, or out of range (expected 0 to "
				      "1000000)");
	if (!(mem >= 0 && mem <= 1e9))
		return fit_table_fail(t, row, FIT_EDATA, "mem_gib_per_node", err, "missing, or out of range (expected 0 "
				      "to 1e9)");
	*room = (struct node_room){ switches, (int64_t)cpus, mem };
	return FIT_OK;
}

/* A cluster table (nodes, gpus_per_node; group with virtual clusters, gpu_type without) as text for
 * fit_cluster_init(). */
static int read_cluster(const char *operand, bool named, struct fit_str *spec, struct node_room *room,
			struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "nodes", FIT_INT, FIT_F_NOT_NA }, { "gpus_per_node", FIT_INT, FIT_F_NOT_NA },
		{ "group", FIT_TEXT, FIT_F_OPTIONAL }, { "gpu_type", FIT_TEXT, FIT_F_OPTIONAL },
		{ "switches", FIT_INT, FIT_F_OPTIONAL }, { "cpus_per_node", FIT_REAL, FIT_F_OPTIONAL },
		{ "mem_gib_per_node", FIT_REAL, FIT_F_OPTIONAL },
	};
	const int column = named ? 2 : 3;
	struct fit_table t;
	int rc = fit_table_read(&t, operand, fields, room ? 7 : 4, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < t.n_rows && !rc; i++) {
		rc = check_node_type(&t, i, err);
		if (!rc && room)
			rc = read_room(&t, i, room, err);
		if (rc)
			break;
		/* nodes without GPUs, and types without nodes, take part in no replay */
		if (t.columns[0].i[i] == 0 || t.columns[1].i[i] == 0)
			continue;
		rc = check_name(&t, i, column, err);
		if (!rc && fit_str_printf(spec, "%s%.*s%s%lldx%lld", spec->n ? "," : "",
					  FIT_TEXT_ARG(fit_column_text(&t.columns[column], i)),
					  fit_column_text(&t.columns[column], i).n ? ":" : "", (long long)t.columns[0].i[i],
					  (long long)t.columns[1].i[i]))
			rc = fit_fail_nomem(err);
	}
	if (!rc && !spec->n)
		rc = fit_fail(err, FIT_EDATA, "%s: no node with a GPU (expected node types)", t.input);
	fit_table_release(&t);
	return rc;
}

int replay_inputs_cluster(struct replay_inputs *in, const struct replay_input_options *o,
			  struct fit_err *err)
{
	const char *text = o->cluster;
	bool is_table = strchr(text, '/') || strchr(text, '.') || strcmp(text, "-") == 0;
	struct node_room room = { 0, 0, 0 };
	struct fit_str spec = { 0 };
	int rc = is_table ? read_cluster(text, o->virtual_clusters, &spec, o->with_switches ? &room : NULL, err) :
		 FIT_OK;

	if (!rc)
		rc = fit_partitions_init(&in->partitions, spec.s ? spec.s : text, o->virtual_clusters, err);
	if (!rc && room.switches) {
		rc = fit_cluster_set_switches(&in->partitions.p[0].cluster, room.switches, room.cpus, room.mem_gib, err);
		if (rc)
			fit_partitions_release(&in->partitions);
	}
	if (is_table && rc == FIT_EINVAL)	/* in all too many nodes */
		rc = fit_fail_prefix(err, FIT_EDATA, "%s", text);
	fit_str_release(&spec);
	return rc;
}

/* ---- models ---- */

/* Each GPU type of the cluster needs a profile, and the other way round. */
static int check_types(const struct replay_inputs *in, struct fit_err *err)
{
	const struct fit_profile_set *s = &in->profiles;
	const struct fit_cluster *c = &in->partitions.p[0].cluster;

	if (!s->n)
		return FIT_OK;
	if (fit_profile_set_typed(s) && (in->partitions.named || !fit_cluster_typed(c)))
		return fit_fail(err, FIT_EINVAL, "profiles of GPU types need a cluster that names them, such as %s:4x4",
				s->entries[0].type);
	for (int32_t t = 0; t < c->n_types; t++)
		if (!fit_profile_set_find(s, fit_text_of(c->types[t].name)))
			return fit_fail(err, FIT_EINVAL, "no profile of GPU type '%s' (expected --profile %s=STORE)",
					c->types[t].name, c->types[t].name);
	return FIT_OK;
}

const char *const replay_routings[] = { "epoch", "class", NULL };

/* Whoever computes widths plans with what the cluster has. */
static int check_beliefs(const struct replay_inputs *in, const char *believed, struct fit_err *err)
{
	const struct fit_cluster *c = &in->partitions.p[0].cluster;
	size_t n = fit_boa_learner_n_types(in->learner);

	if (n > 1 && c->n_types == 1)
		return fit_fail(err, FIT_EDATA, "%s: %zu GPU types (expected one: the cluster has one)", believed, n);
	for (size_t i = 0; i < n; i++)
		if (fit_job_classes_type(&in->classes, c, fit_boa_learner_type(in->learner, i)) == FIT_ANY_TYPE)
			return fit_fail(err, FIT_EDATA, "%s: GPU type '%s' (expected types of the cluster)", believed,
					fit_boa_learner_type(in->learner, i));
	return FIT_OK;
}

static int open_learner(struct replay_inputs *in, const struct replay_input_options *o, struct fit_err *err)
{
	const char *believed = o->believed ? o->believed : o->speedups;
	struct fit_boa_params params = { .charge_start = true, .by_class = o->routing == 1 };
	struct boa_prices prices = { .n = 0 };
	int rc = boa_prices_take(&prices, &o->prices, err);

	params.prices = prices.list;
	params.n_prices = prices.n;
	for (size_t i = 0; i < in->classes.table.n && o->routing < 0; i++)
		params.by_class = params.by_class || in->classes.table.rows[i].rescale_s > 0;
	rc = rc ? rc : fit_boa_learner_new(&in->learner, believed, o->classes, o->budget, &params, err);
	boa_prices_release(&prices);
	return rc ? rc : check_beliefs(in, believed, err);
}

int replay_inputs_models(struct replay_inputs *in, const struct replay_input_options *o,
			 struct fit_err *err)
{
	const struct fit_cluster *cluster = &in->partitions.p[0].cluster;
	int rc = FIT_OK;

	for (size_t i = 0; i < o->profiles.n && !rc; i++)
		rc = fit_profile_set_add(&in->profiles, o->profiles.items[i], err);
	rc = rc ? rc : check_types(in, err);
	if (!rc && o->plan_times)
		rc = fit_plan_times_read(&in->plan_times, o->plan_times, err);
	if (!rc && o->models && o->models_of_plans)
		rc = fit_rubick_models_read(&in->plan_models, o->models, err);
	else if (!rc && o->models)
		rc = fit_theta_list_read(&in->models, o->models, err);
	if (!rc && o->speedups)
		rc = fit_job_classes_read(&in->classes, o->speedups, o->classes, cluster, err);
	if (!rc && o->rates)
		rc = fit_step_rates_read(&in->rates, o->rates, err);
	if (!rc && o->plan)
		rc = fit_boa_widths_read(&in->widths, &in->classes, cluster, o->plan, err);
	if (!rc && o->allocations)
		rc = fit_allocations_read(&in->allocations, o->allocations, err);
	if (!rc && o->budget > 0)
		rc = open_learner(in, o, err);
	return rc;
}

/* ---- the whole ---- */

struct fit_jobs_params replay_inputs_jobs(const struct replay_inputs *in, const struct fit_replay_params *p)
{
	return (struct fit_jobs_params){
		.profiles = &in->profiles,
		.classes = in->classes.n ? &in->classes : NULL,
		.plan_times = in->plan_times.n_apps ? &in->plan_times : NULL,
		.rates = in->rates.order ? &in->rates : NULL,
		.node_gpus = in->partitions.p[0].cluster.max_node_gpus,
		.any_plan_time = p->fidelity->any_plan_time,
		.any_size = (p->policy->needs & (FIT_NEEDS_PLAN | FIT_NEEDS_ALLOCATIONS | FIT_CHOOSES_PLANS)) != 0,
		.adaptive = (p->policy->needs & FIT_ADAPTIVE) != 0,
		.file_order = p->fidelity->file_order,
		.molds = p->policy->needs & FIT_MOLDS ? p->policy->name : NULL,
		.blind = p->policy->needs & FIT_BLIND ? p->policy->name : NULL,
		.partitions = &in->partitions,
	};
}

void replay_inputs_tell_left_out(const struct cli *cli, const struct fit_jobs *jobs)
{
	if (jobs->n_cpu_jobs)
		cli_warn(cli, "%s: %zu %s without GPUs left out", jobs->input, jobs->n_cpu_jobs,
			 fit_plural(jobs->n_cpu_jobs, "job", "jobs"));
	if (jobs->n_bad)
		cli_warn(cli, "%zu bad %s left out, the first: %s", jobs->n_bad, fit_plural(jobs->n_bad, "row", "rows"),
			 jobs->bad_why);
	if (jobs->n_too_large)
		cli_warn(cli, "%s: %zu %s larger than the cluster rejected", jobs->input, jobs->n_too_large,
			 fit_plural(jobs->n_too_large, "job", "jobs"));
	if (!jobs->n && !jobs->n_streamed)
		cli_warn(cli, "%s: no jobs", jobs->input);
}

int replay_inputs_describe(const struct replay_inputs *in, const struct cli *cli, const struct fit_jobs *jobs,
			   struct fit_meta *meta, struct fit_err *err)
{
	int rc = cli_meta(cli, meta, false);

	if (!rc && !jobs->stream)	/* its hash comes behind the rows */
		rc = cli_meta_input(meta, "jobs", jobs->hash);
	rc = rc ? rc : profile_meta_add(meta, &in->profiles);
	if (!rc && in->rates.order)
		rc = cli_meta_input(meta, "rates", in->rates.table.hash);
	if (!rc && *in->models.hash)
		rc = cli_meta_input(meta, "models", in->models.hash);
	if (!rc && *in->classes.speedups.hash)
		rc = cli_meta_input(meta, "speedups", in->classes.speedups.hash);
	if (!rc && *in->classes.table.hash)
		rc = cli_meta_input(meta, "classes", in->classes.table.hash);
	if (!rc && *in->widths.hash)
		rc = cli_meta_input(meta, "plan", in->widths.hash);
	if (!rc && *in->plan_times.hash)
		rc = cli_meta_input(meta, "plan_times", in->plan_times.hash);
	if (!rc && *in->plan_models.hash)
		rc = cli_meta_input(meta, "models", in->plan_models.hash);
	if (!rc && *in->allocations.hash)
		rc = cli_meta_input(meta, "allocations", in->allocations.hash);
	if (!rc && in->learner)
		rc = cli_meta_input(meta, "believed", fit_boa_learner_hash(in->learner));
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

void replay_inputs_release(struct replay_inputs *in)
{
	fit_profile_set_release(&in->profiles);
	fit_theta_list_release(&in->models);
	fit_step_rates_release(&in->rates);
	fit_boa_widths_release(&in->widths);
	fit_plan_times_release(&in->plan_times);
	fit_rubick_models_release(&in->plan_models);
	fit_allocations_release(&in->allocations);
	fit_boa_learner_free(in->learner);
	fit_job_classes_release(&in->classes);
	replay_share_release(&in->share);
	fit_partitions_release(&in->partitions);
}
