/* SPDX-License-Identifier: MIT */
/* GPU types: what the names in a cluster's specification say of its nodes, and who may run on which. */
#include <stdio.h>
#include <stdlib.h>

#include "libfit/verify/verify_state.h"

/* Types by number, from 1, in the order in which jobs and cluster name them; 0: no name. */
int verify_type_number(struct fit_verifier *v, struct fit_text name, uint16_t *type)
{
	uint32_t found;

	*type = 0;
	if (!name.n)
		return FIT_OK;
	found = fit_index_get(&v->by_type, name);
	if (found == FIT_NO_INDEX) {
		found = v->n_type_names < UINT16_MAX ? ++v->n_type_names : UINT16_MAX;
		if (fit_index_put(&v->by_type, name, found, NULL))
			return FIT_ENOMEM;
	}
	*type = (uint16_t)found;
	return FIT_OK;
}

uint16_t verify_type_of(const struct fit_verifier *v, int32_t node)
{
	return node >= 0 && (size_t)node < v->n_nodes ? v->node_type[node] : 0;
}

struct fit_app *verify_model_of(const struct fit_verifier *v, uint32_t job, uint16_t type)
{
	const struct verify_app *a = v->jobs[job].app == UINT16_MAX ? NULL : &v->apps[v->jobs[job].app];

	if (!a || !fit_profile_set_typed(&v->apps_by_type))
		return a ? a->model : NULL;
	if (type > UINT8_MAX || !v->type_profile[type])
		return NULL;
	return fit_profile_find(v->type_profile[type], fit_text_of(a->name));
}

struct fit_app *verify_model_on(const struct fit_verifier *v, uint32_t job, int32_t node)
{
	return verify_model_of(v, job, verify_type_of(v, node));
}

struct fit_app *verify_model_predicted(struct fit_verifier *v, uint32_t job)
{
	uint16_t asked = v->jobs[job].gpu_type;

	for (size_t i = 0; fit_profile_set_typed(&v->apps_by_type) && i < v->n_nodes; i++) {
		uint16_t t = v->node_type[i];
		bool may = (!asked || asked == t) && verify_runs_on(v, job, t);
		struct fit_app *app = may ? verify_model_of(v, job, t) : NULL;

		if (app)
			return app;
	}
	return v->apps[v->jobs[job].app].model;
}

void verify_profile_key(const char *type, char key[VERIFY_KEY_MAX])
{
	snprintf(key, VERIFY_KEY_MAX, type[0] ? "input_profile_%s" : "input_profile", type);
	for (char *c = key; *c; c++)
		if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9')))
			*c = '_';
}

bool verify_unlike_types(struct fit_text spec)
{
	struct fit_text first = { NULL, 0 };

	for (size_t at = 0, colon; at < spec.n; at++) {
		struct fit_text name = { spec.s + at, 0 };

		for (colon = at; colon < spec.n && spec.s[colon] != ':' && spec.s[colon] != ','; colon++)
			;
		name.n = colon < spec.n && spec.s[colon] == ':' ? colon - at : 0;
		if (first.s && !fit_text_eq(first, name))
			return true;
		first = name;
		while (at < spec.n && spec.s[at] != ',')
			at++;
	}
	return false;
}

bool verify_has_types(const struct fit_verifier *v)
{
	return v->n_nodes > 0 && v->node_type && v->node_type[0] != 0;
}

/* A job that keeps its size and batch: was it measured with them on full nodes of the type and one with the
 * rest? */
struct measured_size {
	const struct fit_app *app;
	int64_t batch, gpus, node_gpus;
	bool was;
};

void verify_sizes_release(struct fit_verifier *v)
{
	free(v->sizes);
	v->sizes = NULL;
	v->n_sizes = v->cap_sizes = 0;
}

static int64_t node_gpus_of(const struct fit_verifier *v, uint16_t type)
{
	int64_t most = 1;

	for (size_t i = 0; i < v->n_nodes; i++) {
		int64_t gpus = v->nodes ? v->nodes[i].gpus : v->size[i];

		if (v->node_type[i] == type && gpus > most)
			most = gpus;
	}
	return most;
}

static bool was_measured(struct fit_verifier *v, struct fit_app *app, int64_t batch, int64_t gpus,
			 int64_t node_gpus)
{
	struct measured_size x = { app, batch, gpus, node_gpus, false };
	struct fit_batch b = verify_split(fit_app_info(app), batch, gpus, false);
	struct fit_placement p = { .n_nodes = 0 };
	double step, sync;

	for (size_t i = 0; i < v->n_sizes; i++)
		if (v->sizes[i].app == app && v->sizes[i].batch == batch && v->sizes[i].gpus == gpus &&
		    v->sizes[i].node_gpus == node_gpus)
			return v->sizes[i].was;
	for (int64_t left = gpus; left > 0 && p.n_nodes < FIT_PLACEMENT_MAX; left -= node_gpus)
		p.gpus[p.n_nodes++] = (int)(left < node_gpus ? left : node_gpus);
	x.was = b.atomic_bsz > 0 && !fit_app_throughput(app, &p, b.atomic_bsz, &step, &sync, &v->model_err);
	if (fit_grow(&v->sizes, &v->cap_sizes, v->n_sizes + 1, sizeof *v->sizes))
		v->code = FIT_ENOMEM;
	else
		v->sizes[v->n_sizes++] = x;
	return x.was;
}

bool verify_runs_on(struct fit_verifier *v, uint32_t job, uint16_t type)
{
	const struct verify_job *j = &v->jobs[job];
	struct fit_app *app;
	int64_t node_gpus;

	if (!v->with_profile || v->adaptive || !v->mixed_types || j->app == UINT16_MAX)
		return true;
	app = verify_model_of(v, job, type);
	if (!app || v->policy == POLICY_FOLLOW)
		return app != NULL;
	node_gpus = node_gpus_of(v, type);
	return j->gpus > (double)(node_gpus * FIT_PLACEMENT_MAX) ||
	       was_measured(v, app, verify_target(v, job), (int64_t)j->gpus, node_gpus);
}

int64_t verify_type_most(struct fit_verifier *v, uint32_t job)
{
	uint16_t asked = v->jobs[job].gpu_type;
	int64_t sum[UINT8_MAX + 1] = { 0 }, most = 0;
	bool may[UINT8_MAX + 1] = { false };

	for (size_t i = 0; i < v->n_nodes; i++) {
		uint16_t t = v->node_type[i];

		if ((i == 0 || v->node_type[i - 1] != t) && t <= UINT8_MAX)
			may[t] = verify_runs_on(v, job, t);
	}
	for (size_t i = 0; i < v->n_nodes; i++) {
		uint16_t t = v->node_type[i];
		int64_t gpus = v->nodes ? v->nodes[i].gpus : v->size[i];

		if (t <= UINT8_MAX && may[t] && (!asked || asked == t) && (sum[t] += gpus) > most)
			most = sum[t];
	}
	return most;
}

bool verify_changes_type(const struct fit_verifier *v, const struct verify_row *r)
{
	size_t from = r->live && r->live->n_nodes ? (size_t)r->live->nodes[0].node : v->n_nodes;
	size_t to = r->n_nodes ? (size_t)r->nodes[0].node : v->n_nodes;

	return from < v->n_nodes && to < v->n_nodes && v->node_type[from] != v->node_type[to];
}

void verify_row_gpu_type(struct fit_verifier *v, const struct verify_row *r)
{
	uint16_t asked, held;

	if (r->job == NONE || !r->n_nodes)
		return;
	for (size_t i = 0; i < r->n_nodes; i++)
		if (r->nodes[i].node < 0 || (size_t)r->nodes[i].node >= v->n_nodes)
			return;		/* another rule says so */
	verify_check(v, RULE_GPU_TYPE);
	asked = v->jobs[r->job].gpu_type;
	held = v->node_type[r->nodes[0].node];
	for (size_t i = 1; i < r->n_nodes; i++)
		if (v->node_type[r->nodes[i].node] != held)
			verify_fault(v, RULE_GPU_TYPE, r->job, "'%.*s' are of more than one type",
				     FIT_TEXT_ARG(r->nodes_text));
	if (!verify_runs_on(v, r->job, held))
		verify_fault(v, RULE_GPU_TYPE, r->job, "'%.*s' are of a type on which so many GPUs were not measured",
			     FIT_TEXT_ARG(r->nodes_text));
	if (asked && asked != held)
		verify_fault(v, RULE_GPU_TYPE, r->job, "'%.*s' are of another type than the job asks for",
			     FIT_TEXT_ARG(r->nodes_text));
}
