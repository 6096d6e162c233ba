/* SPDX-License-Identifier: MIT */
#include "libfit/replay/rubick_draft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fit_rubick_draft_release(struct fit_rubick_draft *d)
{
	free(d->rows);
	free(d->on);
	free(d->free);
	free(d->order);
	free(d->shares);
	free(d->nodes);
	*d = (struct fit_rubick_draft){ .n = 0 };
}

/* The speed that a guaranteed job has on what it asks for, by its own plan. Where that was not
 * measured: by its best one, and else unknown. */
static double target_of(const struct fit_view *v, const struct fit_job *j, const struct fit_rubick_curve *c)
{
	double iter_s = fit_plan_app_packed(j->plans, j->exec_plan, j->gpus, v->cluster->max_node_gpus, false);

	if (iter_s > 0)
		return c->samples / iter_s;
	if (fit_rubick_speed(c, j->gpus) > 0 && !v->fidelity->rubick_as_run)
		return fit_rubick_speed(c, j->gpus);
	return (double)NAN;
}

int fit_rubick_draft_load(struct fit_rubick_draft *d, const struct fit_view *v,
			  const struct fit_rubick_curves *curves, struct fit_err *err)
{
	size_t nodes = (size_t)v->cluster->n_nodes;
	const uint32_t *active = fit_view_active(v, &d->n);

	d->n_nodes = v->cluster->n_nodes;
	if (fit_grow(&d->rows, &d->cap_rows, d->n + 1, sizeof *d->rows) ||
	    fit_grow(&d->on, &d->cap_on, d->n * nodes + 1, 1) ||
	    fit_grow(&d->free, &d->cap_free, nodes + 1, sizeof *d->free) ||
	    fit_grow(&d->order, &d->cap_order, d->n + 1, sizeof *d->order) ||
	    fit_grow(&d->shares, &d->cap_shares, nodes + 1, sizeof *d->shares) ||
	    fit_grow(&d->nodes, &d->cap_nodes, nodes + FIT_PLAN_NODES_MAX, sizeof *d->nodes))
		return fit_fail_nomem(err);
	memset(d->on, 0, d->n * nodes);
	for (int32_t k = 0; k < d->n_nodes; k++)
		d->free[k] = fit_cluster_open_gpus(v->cluster, k);
	for (size_t i = 0; i < d->n; i++) {
		uint32_t j = active[i];
		const struct fit_job *job = &v->jobs[j];
		const struct fit_alloc *held = fit_view_alloc(v, j);
		const struct fit_rubick_curve *c = fit_rubick_curve_of(curves, job->plans);

		d->rows[i] = (struct fit_rubick_row){
			.job = j,
			.curve = c,
			.target = job->is_sla ? target_of(v, job, c) : 0,
			.asked = job->gpus,
			.restarts = fit_view_restarts(v, j),
			.age_ns = v->now_ns - fit_view_submit_ns(v, j),
			.was = (int32_t)held->gpus,
			.total = (int32_t)held->gpus,
			.plan_was = fit_view_exec_plan(v, j),
			.plan = fit_view_exec_plan(v, j),
			.sla = job->is_sla,
		};
		for (size_t k = 0; k < held->n; k++)
			*fit_rubick_on(d, i, held->shares[k].node) = (uint8_t)held->shares[k].gpus;
		d->order[i] = (uint32_t)i;
	}
	return FIT_OK;
}

void fit_rubick_set(struct fit_rubick_draft *d, size_t row, int32_t node, int32_t gpus)
{
	uint8_t *on = fit_rubick_on(d, row, node);

	d->free[node] += *on - gpus;
	d->rows[row].total += gpus - *on;
	*on = (uint8_t)gpus;
}

void fit_rubick_clear(struct fit_rubick_draft *d, size_t row)
{
	for (int32_t k = 0; k < d->n_nodes && d->rows[row].total; k++)
		if (*fit_rubick_on(d, row, k))
			fit_rubick_set(d, row, k, 0);
	d->rows[row].plan = FIT_NO_EXEC_PLAN;
}

int32_t fit_rubick_node_of(const struct fit_rubick_draft *d, size_t row)
{
	for (int32_t k = 0; k < d->n_nodes && d->rows[row].total; k++)
		if (*fit_rubick_on(d, row, k))
			return k;
	return -1;
}

double fit_rubick_row_speed(const struct fit_rubick_draft *d, size_t row)
{
	const struct fit_rubick_row *r = &d->rows[row];
	double best = 0;

	if (!r->total)
		return 0;
	if (!r->curve->wide)
		return fit_rubick_speed(r->curve, r->total);
	for (size_t s = 0; s < r->curve->n_spreads; s++) {
		const struct fit_rubick_spread *x = &r->curve->spreads[s];

		if (x->gpus == r->total && x->plan == r->plan && x->speed > best)
			best = x->speed;
	}
	return best;
}

int fit_rubick_draft_commit(struct fit_rubick_draft *d, struct fit_plan *plan, struct fit_err *err)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct fit_rubick_row *r = &d->rows[i];
		size_t n = 0;

		for (int32_t k = 0; k < d->n_nodes && r->total; k++)
			if (*fit_rubick_on(d, i, k))
				d->shares[n++] = (struct fit_share){ k, *fit_rubick_on(d, i, k) };
		if (fit_plan_place_as(plan, r->job, d->shares, n, n ? r->plan : r->plan_was))
			return fit_fail_nomem(err);
	}
	return FIT_OK;
}

/* By insertion: jobs are few. */
void fit_rubick_sort(struct fit_rubick_draft *d, bool ascending)
{
	for (size_t i = 1; i < d->n; i++) {
		uint32_t x = d->order[i];
		size_t k = i;

		for (; k; k--) {
			double a = d->rows[d->order[k - 1]].slope, b = d->rows[x].slope;

			if (ascending ? a <= b : a >= b)
				break;
			d->order[k] = d->order[k - 1];
		}
		d->order[k] = x;
	}
}
