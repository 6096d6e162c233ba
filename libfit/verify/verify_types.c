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

struct fit_app *verify_model_predicted(const struct fit_verifier *v, uint32_t job)
{
	uint16_t asked = v->jobs[job].gpu_type;

	for (size_t i = 0; fit_profile_set_typed(&v->apps_by_type) && i < v->n_nodes; i++) {
		struct fit_app *app = asked && asked != v->node_type[i] ? NULL : verify_model_of(v, job, v->node_type[i]);

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

int64_t verify_type_most(const struct fit_verifier *v, uint32_t job)
{
	uint16_t asked = v->jobs[job].gpu_type;
	int64_t sum[UINT8_MAX + 1] = { 0 }, most = 0;

	for (size_t i = 0; i < v->n_nodes; i++) {
		uint16_t t = v->node_type[i];
		int64_t gpus = v->nodes ? v->nodes[i].gpus : v->size[i];

		if (t <= UINT8_MAX && (!asked || asked == t) && (sum[t] += gpus) > most)
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
	if (asked && asked != held)
		verify_fault(v, RULE_GPU_TYPE, r->job, "'%.*s' are of another type than the job asks for",
			     FIT_TEXT_ARG(r->nodes_text));
}
