/* SPDX-License-Identifier: MIT */
#include "libfit/replay/provision.h"

#include <stdlib.h>

const char *fit_provision_check(const struct fit_cluster *c, const struct fit_provision_params *params)
{
	for (int32_t i = 1; i < c->n_nodes; i++)
		if (c->gpus[i] != c->gpus[0])
			return "an elastic cluster needs nodes that are alike";
	return params->min_nodes > c->n_nodes ? "fewer nodes than are always to be rented" : NULL;
}

int fit_provision_init(struct fit_provisioner *p, struct fit_cluster *c,
		       const struct fit_provision_params *params, struct fit_err *err)
{
	const char *wrong = fit_provision_check(c, params);

	*p = (struct fit_provisioner){ .p = *params, .cluster = c, .next_ns = INT64_MAX };
	if (wrong)
		return fit_fail(err, FIT_EINVAL, "cluster %s: %s", c->spec, wrong);
	p->nodes = calloc((size_t)c->n_nodes, sizeof *p->nodes);
	if (!p->nodes)
		return fit_fail_nomem(err);
	for (int32_t i = 0; i < c->n_nodes; i++)
		fit_cluster_close(c, i);
	return FIT_OK;
}

void fit_provision_release(struct fit_provisioner *p)
{
	free(p->nodes);
	p->nodes = NULL;
}

static bool is_empty(const struct fit_provisioner *p, int32_t node)
{
	return p->cluster->free[node] == p->cluster->gpus[node];
}

static int make_ready(struct fit_provisioner *p, int32_t node, int64_t now_ns, struct fit_err *err)
{
	p->nodes[node].state = FIT_NODE_UP;
	p->nodes[node].at_ns = now_ns;
	p->n_starting--;
	fit_cluster_open(p->cluster, node);
	return p->event(p->arg, "ready", node, err);
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
	return p->event(p->arg, "rent", node, err);
}

static void stay(struct fit_provisioner *p, int32_t node)
{
	p->nodes[node].state = FIT_NODE_UP;
	p->n_leaving--;
	fit_cluster_open(p->cluster, node);
}

/* The up node that is missed least: fewest GPUs held, then the highest number. -1: none. */
static int32_t least_used(const struct fit_provisioner *p)
{
	int32_t best = -1, most_free = -1;

	for (int32_t i = p->top - 1; i >= 0; i--) {
		if (p->nodes[i].state == FIT_NODE_UP && p->cluster->free[i] > most_free) {
			most_free = p->cluster->free[i];
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
		fit_cluster_close(p->cluster, node);
	}
}

int fit_provision_want(struct fit_provisioner *p, int64_t now_ns, int64_t nodes, bool *ready,
		       struct fit_err *err)
{
	int rc = FIT_OK;

	*ready = false;
	if (nodes < p->p.min_nodes)
		nodes = p->p.min_nodes;
	if (nodes > p->cluster->n_nodes)
		nodes = p->cluster->n_nodes;
	p->wanted = (int32_t)nodes;
	for (int32_t i = 0; i < p->top && p->n_leaving && p->n_rented - p->n_leaving < p->wanted; i++) {
		if (p->nodes[i].state == FIT_NODE_LEAVING) {
			stay(p, i);
			*ready = true;
		}
	}
	for (int32_t i = 0; i < p->cluster->n_nodes && p->n_rented - p->n_leaving < p->wanted && !rc; i++)
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
	fit_cluster_close(p->cluster, node);
	p->n_leaving -= p->nodes[node].state == FIT_NODE_LEAVING;
	p->n_rented--;
	p->nodes[node] = (struct fit_node){ .state = FIT_NODE_OFF };
	while (p->top && p->nodes[p->top - 1].state == FIT_NODE_OFF)
		p->top--;
	return p->event(p->arg, "return", node, err);
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
		struct fit_node *n = &p->nodes[a->shares[i].node];

		cold = cold || !n->warm;
		n->warm = true;
	}
	return cold;
}

int64_t fit_provision_nodes_for(const struct fit_provisioner *p, int64_t gpus)
{
	int64_t each = p->cluster->gpus[0];

	return gpus / each + (gpus % each != 0);
}
