/* SPDX-License-Identifier: MIT */
#include "libfit/model/step_rates.h"

#include <math.h>
#include <stdlib.h>

enum { TYPE, CONSOLIDATED, APP, BATCH, GPUS, RATE, N_COLUMNS };

static const struct fit_field columns[N_COLUMNS] = {
	[TYPE] = { "gpu_type", FIT_TEXT, FIT_F_NOT_NA },
	[CONSOLIDATED] = { "consolidated", FIT_INT, FIT_F_OPTIONAL },
	[APP] = { "app", FIT_TEXT, FIT_F_NOT_NA },
	[BATCH] = { "batch_size", FIT_INT, FIT_F_OPTIONAL },
	[GPUS] = { "gpus", FIT_INT, FIT_F_NOT_NA },
	[RATE] = { "steps_per_s", FIT_REAL, FIT_F_NOT_NA },
};

/* A row, or what is looked for. */
struct key {
	struct fit_step_work work;
	struct fit_text type;
	bool spread;
};

static struct key key_of(const struct fit_table *t, size_t row)
{
	const struct fit_column *c = t->columns;

	return (struct key){
		.work = { fit_column_text(&c[APP], row), c[BATCH].i[row], c[GPUS].i[row] },
		.type = fit_column_text(&c[TYPE], row),
		.spread = c[CONSOLIDATED].i[row] == 0,
	};
}

static int compare(const struct key *a, const struct key *b)
{
	int d = fit_text_cmp(a->work.app, b->work.app);

	if (!d && a->work.batch_size != b->work.batch_size)
		d = a->work.batch_size < b->work.batch_size ? -1 : 1;
	if (!d && a->work.gpus != b->work.gpus)
		d = a->work.gpus < b->work.gpus ? -1 : 1;
	d = d ? d : fit_text_cmp(a->type, b->type);
	return d ? d : a->spread - b->spread;
}

/* Merge sort: rows keep their order where keys are equal. */
static void sort(const struct fit_table *t, size_t *a, size_t *tmp, size_t n)
{
	size_t mid = n / 2, i = 0, j = mid, k = 0;

	if (n < 2)
		return;
	sort(t, a, tmp, mid);
	sort(t, a + mid, tmp, n - mid);
	while (i < mid || j < n) {
		bool left = j == n;

		if (i < mid && j < n) {
			struct key x = key_of(t, a[i]), y = key_of(t, a[j]);

			left = compare(&x, &y) <= 0;
		}
		tmp[k++] = left ? a[i++] : a[j++];
	}
	for (i = 0; i < n; i++)
		a[i] = tmp[i];
}

static int check_rows(const struct fit_table *t, struct fit_err *err)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		int64_t gpus = t->columns[GPUS].i[i], one = t->columns[CONSOLIDATED].i[i];
		double rate = t->columns[RATE].d[i];

		if (gpus < 1)
			return fit_table_fail(t, i, FIT_EDATA, "gpus", err, "out of range '%lld' (expected at least 1)",
					      (long long)gpus);
		if (one != FIT_INT_NA && one != 0 && one != 1)
			return fit_table_fail(t, i, FIT_EDATA, "consolidated", err, "bad value '%lld' (expected 0 or 1)",
					      (long long)one);
		if (!(rate >= 0 && rate < 1e300))
			return fit_table_fail(t, i, FIT_EDATA, "steps_per_s", err,
					      "out of range '%.17g' (expected 0, does not fit, or more)", rate);
	}
	return FIT_OK;
}

int fit_step_rates_read(struct fit_step_rates *r, const char *operand, struct fit_err *err)
{
	size_t *tmp = NULL;
	int rc;

	*r = (struct fit_step_rates){ .order = NULL };
	rc = fit_table_read(&r->table, operand, columns, N_COLUMNS, err);
	rc = rc ? rc : check_rows(&r->table, err);
	if (!rc) {
		r->order = calloc(r->table.n_rows + 1, sizeof *r->order);
		tmp = calloc(r->table.n_rows + 1, sizeof *tmp);
		if (!r->order || !tmp)
			rc = fit_fail_nomem(err);
	}
	if (!rc) {
		for (size_t i = 0; i < r->table.n_rows; i++)
			r->order[i] = i;
		sort(&r->table, r->order, tmp, r->table.n_rows);
	}
	for (size_t i = 1; !rc && i < r->table.n_rows; i++) {
		struct key a = key_of(&r->table, r->order[i - 1]), b = key_of(&r->table, r->order[i]);

		if (compare(&a, &b) == 0)
			rc = fit_table_fail(&r->table, r->order[i], FIT_EDATA, "app", err,
					    "'%.*s' on %lld '%.*s' twice (expected one row of each)",
					    FIT_TEXT_ARG(b.work.app), (long long)b.work.gpus, FIT_TEXT_ARG(b.type));
	}
	free(tmp);
	r->hash = r->table.hash;
	if (rc)
		fit_step_rates_release(r);
	return rc;
}

void fit_step_rates_release(struct fit_step_rates *r)
{
	fit_table_release(&r->table);
	free(r->order);
	*r = (struct fit_step_rates){ .order = NULL };
}

static double find(const struct fit_step_rates *r, const struct key *k)
{
	size_t lo = 0, hi = r->table.n_rows;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		struct key here = key_of(&r->table, r->order[mid]);
		int d = compare(&here, k);

		if (!d)
			return r->table.columns[RATE].d[r->order[mid]];
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (double)NAN;
}

double fit_step_rates_find(const struct fit_step_rates *r, const struct fit_step_work *w,
			   struct fit_text type, bool spread)
{
	struct key k = { *w, type, spread };
	double rate = find(r, &k);

	if (!spread || !isnan(rate))
		return rate;
	k.spread = false;
	return find(r, &k);
}

bool fit_step_rates_has_type(const struct fit_step_rates *r, struct fit_text type)
{
	for (size_t i = 0; i < r->table.n_rows; i++)
		if (fit_text_eq(fit_column_text(&r->table.columns[TYPE], i), type))
			return true;
	return false;
}
