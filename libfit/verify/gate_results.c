/* SPDX-License-Identifier: MIT */
/* Checks of the model gate on two replays of the same jobs, one that believes the model and one that
 * believes the incumbent: completion times, fairness, cost; lower is better. */
#include <math.h>
#include <stdlib.h>

#include "libfit/base/num.h"
#include "libfit/verify/gate_kind.h"

enum { JOB_ID, JCT, QUEUE, GPU, ISOLATED };

struct order_of {
	const double *v;
	uint32_t row;
};

/* Jobs that finished in both. */
struct jobs {
	size_t n, lost;		/* lost: finished with the incumbent only */
	double *new, *old;	/* what is compared */
	uint32_t *new_order, *old_order;	/* rows, largest first; NULL: sums are compared */
	uint32_t *count;	/* scratch of a draw */
};

static void release(struct jobs *j)
{
	free(j->new);
	free(j->old);
	free(j->new_order);
	free(j->old_order);
	free(j->count);
}

static double jct(const struct fit_table *t, size_t row)
{
	return fit_gate_number(&t->columns[JCT], row);
}

static double gpu_time(const struct fit_table *t, size_t row)
{
	return t->columns[GPU].d[row];
}

/* How many times longer than alone: against its isolated run where that is known, else against the time in
 * which it held GPUs. */
static double slowdown(const struct fit_table *t, size_t row)
{
	double all = jct(t, row), alone = fit_gate_number(&t->columns[ISOLATED], row);

	alone = isnan(alone) ? all - fit_gate_number(&t->columns[QUEUE], row) : alone;
	return alone > 0 ? all / alone : (double)NAN;
}

typedef double quantity(const struct fit_table *t, size_t row);

static int match(struct fit_gate_run *r, struct jobs *j, quantity *of, struct fit_err *err)
{
	const struct fit_table *a = r->results, *b = r->incumbent_results;
	struct fit_index index = { 0 };
	uint32_t found;
	int rc = FIT_OK;

	j->new = malloc((b->n_rows + 1) * sizeof *j->new);
	j->old = malloc((b->n_rows + 1) * sizeof *j->old);
	j->count = malloc((b->n_rows + 1) * sizeof *j->count);
	if (!j->new || !j->old || !j->count)
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < a->n_rows && !rc; i++) {
		if (fit_index_put(&index, fit_column_text(&a->columns[JOB_ID], i), (uint32_t)i, &found))
			rc = fit_fail_nomem(err);
		else if (found != FIT_NO_INDEX)
			rc = fit_table_fail(a, i, FIT_EDATA, "job_id", err, "a second row of this job");
	}
	for (size_t i = 0; i < b->n_rows && !rc; i++) {
		uint32_t k = fit_index_get(&index, fit_column_text(&b->columns[JOB_ID], i));
		bool done = !isnan(jct(b, i)), mine = k != FIT_NO_INDEX && !isnan(jct(a, k));
		double x, y;

		j->lost += done && !mine;
		if (!done || !mine)
			continue;
		x = of(a, k);
		y = of(b, i);
		if (!isfinite(x) || !isfinite(y))
			continue;
		j->new[j->n] = x;
		j->old[j->n++] = y;
	}
	fit_index_release(&index);
	return rc;
}

/* ---- statistics, percent ---- */

static double change_of_sum(const void *arg, const uint32_t *at, size_t n)
{
	const struct jobs *j = arg;
	double a = 0, b = 0;

	for (size_t i = 0; i < n; i++) {
		a += j->new[at[i]];
		b += j->old[at[i]];
	}
	return b > 0 ? 100 * (a / b - 1) : (double)NAN;
}

/* The mean of the largest `most` of the drawn rows. */
static double tail_mean(const double *v, const uint32_t *order, const uint32_t *count, size_t n, size_t most)
{
	double sum = 0;
	size_t left = most;

	for (size_t i = 0; i < n && left; i++) {
		size_t k = count[order[i]] < left ? count[order[i]] : left;

		sum += (double)k * v[order[i]];
		left -= k;
	}
	return sum / (double)most;
}

static double change_of_tail(const void *arg, const uint32_t *at, size_t n)
{
	const struct jobs *j = arg;
	size_t most = (n + 9) / 10;
	double b;

	for (size_t i = 0; i < j->n; i++)
		j->count[i] = 0;
	for (size_t i = 0; i < n; i++)
		j->count[at[i]]++;
	b = tail_mean(j->old, j->old_order, j->count, j->n, most);
	return b > 0 ? 100 * (tail_mean(j->new, j->new_order, j->count, j->n, most) / b - 1) : (double)NAN;
}

static int largest_first(const void *pa, const void *pb)
{
	const struct order_of *a = pa, *b = pb;

	if (*a->v > *b->v || *a->v < *b->v)
		return *a->v > *b->v ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static uint32_t *order_rows(const double *v, size_t n)
{
	struct order_of *o = malloc((n + 1) * sizeof *o);
	uint32_t *rows = malloc((n + 1) * sizeof *rows);

	for (size_t i = 0; o && i < n; i++)
		o[i] = (struct order_of){ &v[i], (uint32_t)i };
	if (o && rows) {
		qsort(o, n, sizeof *o, largest_first);
		for (size_t i = 0; i < n; i++)
			rows[i] = o[i].row;
	} else {
		free(rows);
		rows = NULL;
	}
	free(o);
	return rows;
}

/* ---- checks ---- */

/* No worse than the limit with confidence, worse with confidence, or neither. */
static enum fit_gate_verdict one_sided(const struct fit_gate_interval *b, double limit)
{
	if (isnan(b->low) || isnan(b->high))
		return FIT_GATE_CANNOT;
	return b->high <= limit ? FIT_GATE_PASS : b->low > limit ? FIT_GATE_FAIL : FIT_GATE_CANNOT;
}

static int judge(struct fit_gate_run *r, quantity *of, fit_gate_statistic *f, bool tail, const char *what,
		 struct fit_err *err)
{
	struct fit_gate_interval b;
	struct jobs j = { .n = 0 };
	enum fit_gate_verdict v;
	int rc = match(r, &j, of, err);

	if (!rc && tail) {
		j.new_order = order_rows(j.new, j.n);
		j.old_order = order_rows(j.old, j.n);
		if (!j.new_order || !j.old_order)
			rc = fit_fail_nomem(err);
	}
	rc = rc ? rc : fit_gate_bootstrap(f, &j, j.n, r->in->draws, r->in->level, r->in->seed,
					  "gate/replay", &b, err);
	if (!rc) {
		v = one_sided(&b, r->rule->limit);
		/* means of those that finished say little when others did not */
		if (v == FIT_GATE_PASS && 20 * j.lost > j.n)
			v = FIT_GATE_CANNOT;
		rc = fit_gate_add(r, NULL, b.estimate, &b, v, err,
				  "%s against the incumbent, percent, of %zu jobs; "
				  "%zu finish with the incumbent only", what, j.n, j.lost);
	}
	release(&j);
	return rc;
}

int fit_gate_check_jct(struct fit_gate_run *r, struct fit_err *err)
{
	return judge(r, jct, change_of_sum, false, "mean completion time", err);
}

int fit_gate_check_fairness(struct fit_gate_run *r, struct fit_err *err)
{
	return judge(r, slowdown, change_of_tail, true, "mean of the worst tenth of slowdowns", err);
}

int fit_gate_check_cost(struct fit_gate_run *r, struct fit_err *err)
{
	return judge(r, gpu_time, change_of_sum, false, "GPU time", err);
}
