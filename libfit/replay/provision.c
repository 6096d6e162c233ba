/* SPDX-License-Identifier: MIT */
#include "libfit/replay/provision.h"

#include <stdlib.h>

/* The first node of a type; *n: how many stand together from there on. */
static int32_t first_of(const struct fit_cluster *c, int32_t type, int32_t *n)
{
	int32_t first = 0;

	*n = c->n_nodes;
	if (type == FIT_ANY_TYPE)
		return 0;
	while (first < c->n_nodes && c->type[first] != type)
		first++;
	for (*n = 0; first + *n < c->n_nodes && c->type[first + *n] == type; ++*n)
		;
	return first;
}

static const char *check_type(const struct fit_cluster *c, const struct fit_provision_params *params,
			      int32_t type)
{
	int32_t n, first = first_of(c, type, &n);

	for (int32_t i = 1; i < n; i++)
		if (c->gpus[first + i] != c->gpus[first])
			return type == FIT_ANY_TYPE || c->n_types == 1 ? "an elastic cluster needs nodes that are alike" :
			       "an elastic cluster needs nodes that are alike in each type";
	if (type != FIT_ANY_TYPE && n != c->types[type].n_nodes)
		return "an elastic cluster needs the nodes of each type together";
	return params->min_nodes > n ? "fewer nodes than are always to be rented" : NULL;
}

const char *fit_provision_check(const struct fit_cluster *c, const struct fit_provision_params *params,
				bool by_type)
{
	const char *wrong = NULL;

	if (!by_type)
		return check_type(c, params, FIT_ANY_TYPE);
	for (int32_t t = 0; t < c->n_types && !wrong; t++)
		wrong = check_type(c, params, t);
	return wrong;
}

int fit_provision_init(struct fit_provisioner *p, struct fit_cluster *c, int32_t type,
		       const struct fit_provision_params *params, struct fit_err *err)
{
	const char *wrong = check_type(c, params, type);

	*p = (struct fit_provisioner){ .p = *params, .cluster = c, .type = type, .next_ns = INT64_MAX };
	if (wrong)
		return fit_fail(err, FIT_EINVAL, "cluster %s: %s", c->spec, wrong);
	p->first = first_of(c, type, &p->n_nodes);
	p->nodes = calloc((size_t)p->n_nodes, sizeof *p->nodes);
	if (!p->nodes)
		return fit_fail_nomem(err);
	for (int32_t i = 0; i < p->n_nodes; i++)
		fit_cluster_close(c, p->first + i);
	return FIT_OK;
}

void fit_provision_release(struct fit_provisioner *p)
{
	free(p->nodes);
	p->nodes = NULL;
}

static bool is_empty(const struct fit_provisioner *p, int32_t node)
{
	return p->cluster->free[p->first + node] == p->cluster->gpus[p->first + node];
}

static int make_ready(struct fit_provisioner *p, int32_t node, int64_t now_ns, struct fit_err *err)
{
	p->nodes[node].state = FIT_NODE_UP;
	p->nodes[node].at_ns = now_ns;
	p->n_starting--;
	fit_cluster_open(p->cluster, p->first + node);
	return p->event(p->arg, "ready", p->first + node, err);
}

static int rent(struct fit_provisioner *p, int32_t node, int64_t now_ns, struct fit_err *err)
{
	int64_t start = p->p.start_ns;

	p->nodes[node] = (struct fit_node){
		.state = FIT_NODE_STARTING,
		.at_ns = now_ns > INT64_MAX - 1 - start ? INT64_MAX - 1 : now_ns + start,
	};
	if (!p->n_starting)
		p->ready_ns = p->nodes[node].at_ns;	/* later ones are ready later */
	p->n_rented++;
	p->n_starting++;
	if (node >= p->top)
		p->top = node + 1;
	return p->event(p->arg, "rent", p->first + node, err);
}

static void stay(struct fit_provisioner *p, int32_t node)
{
	p->nodes[node].state = FIT_NODE_UP;
	p->n_leaving--;
	fit_cluster_open(p->cluster, p->first + node);
}

/* The up node that is missed least: fewest GPUs held, then the highest number. -1: none. */
static int32_t least_used(const struct fit_provisioner *p)
{
	int32_t best = -1, most_free = -1;

	for (int32_t i = p->top - 1; i >= 0; i--) {
		if (p->nodes[i].state == FIT_NODE_UP && p->cluster->free[p->first + i] > most_free) {
			most_free = p->cluster->free[p->first + i];
			best = i;
		}
	}
	return best;
}

static void let_leave(struct fit_provisioner *p)
{
	while (p->n_rented - p->n_starting - p->n_leaving > p->wanted) {
		int32_t node = least_used(p);

		if (node < 0)
			return;
		p->nodes[node].state = FIT_NODE_LEAVING;
		p->n_leaving++;
		fit_cluster_close(p->cluster, p->first + node);
	}
}

int fit_provision_want(struct fit_provisioner *p, int64_t now_ns, int64_t nodes, bool *ready,
		       struct fit_err *err)
{
	int rc = FIT_OK;

	*ready = false;
	if (nodes < p->p.min_nodes)
		nodes = p->p.min_nodes;
	if (nodes > p->n_nodes)
		nodes = p->n_nodes;
	p->wanted = (int32_t)nodes;
	for (int32_t i = 0; i < p->top && p->n_leaving && p->n_rented - p->n_leaving < p->wanted; i++) {
		if (p->nodes[i].state == FIT_NODE_LEAVING) {
			stay(p, i);
			*ready = true;
		}
	}
	for (int32_t i = 0; i < p->n_nodes && p->n_rented - p->n_leaving < p->wanted && !rc; i++)
		if (p->nodes[i].state == FIT_NODE_OFF)
			rc = rent(p, i, now_ns, err);
	for (int32_t i = 0; p->p.start_ns == 0 && p->n_starting && i < p->top && !rc; i++) {
		if (p->nodes[i].state == FIT_NODE_STARTING) {
			rc = make_ready(p, i, now_ns, err);
			*ready = true;
		}
	}
	if (p->p.drains)
		let_leave(p);
	return rc;
}

int fit_provision_start(struct fit_provisioner *p, int64_t now_ns, bool *ready, struct fit_err *err)
{
	int rc = FIT_OK;

	*ready = false;
	p->ready_ns = INT64_MAX;
	for (int32_t i = 0; i < p->top && !rc; i++) {
		if (p->nodes[i].state == FIT_NODE_STARTING && p->nodes[i].at_ns <= now_ns) {
			rc = make_ready(p, i, now_ns, err);
			*ready = true;
		} else if (p->nodes[i].state == FIT_NODE_STARTING && p->nodes[i].at_ns < p->ready_ns) {
			p->ready_ns = p->nodes[i].at_ns;
		}
	}
	/* what was asked for may be fewer by now */
	if (*ready && p->p.drains)
		let_leave(p);
	return rc;
}

static int give_back(struct fit_provisioner *p, int32_t node, struct fit_err *err)
{
	fit_cluster_close(p->cluster, p->first + node);
	p->n_leaving -= p->nodes[node].state == FIT_NODE_LEAVING;
	p->n_rented--;
	p->nodes[node] = (struct fit_node){ .state = FIT_NODE_OFF };
	while (p->top && p->nodes[p->top - 1].state == FIT_NODE_OFF)
		p->top--;
	return p->event(p->arg, "return", p->first + node, err);
}

int fit_provision_settle(struct fit_provisioner *p, int64_t now_ns, struct fit_err *err)
{
	int rc = FIT_OK;

	p->next_ns = INT64_MAX;
	for (int32_t i = p->top - 1; i >= 0 && !rc; i--) {
		struct fit_node *n = &p->nodes[i];
		bool up = n->state == FIT_NODE_UP || n->state == FIT_NODE_LEAVING;
		int64_t due = n->at_ns;

		if (up && !is_empty(p, i)) {
			n->at_ns = FIT_NODE_BUSY;
			continue;
		}
		if (up && n->at_ns == FIT_NODE_BUSY)
			n->at_ns = now_ns;
		if (n->state == FIT_NODE_OFF)
			continue;
		if (up) {
			if (p->n_rented <= p->wanted || (p->p.drains && n->state == FIT_NODE_UP))
				continue;
			due = n->at_ns > INT64_MAX - 1 - p->p.idle_ns ? INT64_MAX - 1 : n->at_ns + p->p.idle_ns;
			if (due <= now_ns) {
				rc = give_back(p, i, err);
				continue;
			}
		}
		if (due < p->next_ns)
			p->next_ns = due;
	}
	return rc;
}

bool fit_provision_warm(struct fit_provisioner *p, const struct fit_alloc *a)
{
	bool cold = false;

	for (size_t i = 0; i < a->n; i++) {
		int32_t node = a->shares[i].node - p->first;
		struct fit_node *n = &p->nodes[node < 0 || node >= p->n_nodes ? 0 : node];

		if (node < 0 || node >= p->n_nodes)
			continue;
		cold = cold || !n->warm;
		n->warm = true;
	}
	return cold;
}

int64_t fit_provision_nodes_for(const struct fit_provisioner *p, int64_t gpus)
{
	int64_t each = p->cluster->gpus[p->first];

	return gpus / each + (gpus % each != 0);
}
