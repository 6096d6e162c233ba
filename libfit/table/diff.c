/* SPDX-License-Identifier: MIT */
#include "libfit/table/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/cell.h"

#define NOWHERE SIZE_MAX

void fit_diff_release(struct fit_diff *d)
{
	free(d->columns);
	free(d->columns_a);
	free(d->columns_b);
	free(d->rows_a);
	free(d->rows_b);
	free(d->cells);
	free(d->keys_a);
	free(d->keys_b);
	*d = (struct fit_diff){ 0 };
}

bool fit_diff_equal(const struct fit_diff *d)
{
	return !d->n_cells && !d->n_rows_a && !d->n_rows_b && !d->n_columns_a && !d->n_columns_b;
}

/* ---- cells as texts ---- */

static double as_real(enum fit_type type, const struct fit_cell *c)
{
	return type == FIT_REAL ? c->u.d : type == FIT_TIME ? fit_time_to_double(c->u.i) : (double)c->u.i;
}

int fit_diff_cell_text(struct fit_str *out, const struct fit_table *t, size_t column, size_t row)
{
	struct fit_cell c = fit_column_cell(&t->columns[column], row);
	char num[FIT_NUM_MAX];

	if (c.na)
		return fit_str_puts(out, "NA");
	if (t->columns[column].type == FIT_TEXT)
		return fit_escape(out, c.u.t, false);
	return fit_str_add(out, num, fit_cell_format(t->columns[column].type, &c, num));
}

int fit_diff_row_name(struct fit_str *out, const struct fit_table *t, const size_t *keys, size_t n_keys,
		      size_t row)
{
	int rc = FIT_OK;

	for (size_t k = 0; k < n_keys && !rc; k++) {
		rc = fit_str_printf(out, "%s%s=", k ? " " : "", t->columns[keys[k]].name);
		rc = rc ? rc : fit_diff_cell_text(out, t, keys[k], row);
	}
	return rc;
}

/* The key of a row: its cells as in TSV, where a tab cannot stand inside of one. A number is written as a
 * real where the column of the other table has another type, so that equal numbers have the same text. */
static int row_key(struct fit_str *out, const struct fit_table *t, const size_t *keys,
		   const struct fit_table *other, const size_t *other_keys, size_t n_keys, size_t row)
{
	int rc = FIT_OK;

	fit_str_clear(out);
	for (size_t k = 0; k < n_keys && !rc; k++) {
		enum fit_type type = t->columns[keys[k]].type, beside = other->columns[other_keys[k]].type;
		struct fit_cell c = fit_column_cell(&t->columns[keys[k]], row);
		char num[FIT_NUM_MAX];

		rc = k ? fit_str_puts(out, "\t") : FIT_OK;
		if (!rc && !c.na && type != beside && type != FIT_TEXT && beside != FIT_TEXT)
			rc = fit_str_add(out, num, fit_format_double(num, as_real(type, &c) + 0.0));
		else
			rc = rc ? rc : fit_diff_cell_text(out, t, keys[k], row);
	}
	return rc;
}

/* ---- columns ---- */

static size_t find(const struct fit_table *t, const char *name)
{
	const struct fit_column *c = fit_table_column(t, name);

	return c ? (size_t)(c - t->columns) : NOWHERE;
}

static bool listed(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static int find_keys(struct fit_diff *d, const struct fit_table *a, const struct fit_table *b,
		     const struct fit_diff_params *p, struct fit_err *err)
{
	const char *first = a->n_columns ? a->columns[0].name : "";
	const char *const *keys = p->n_keys ? p->keys : &first;

	d->n_keys = p->n_keys ? p->n_keys : 1;
	d->keys_a = calloc(d->n_keys, sizeof *d->keys_a);
	d->keys_b = calloc(d->n_keys, sizeof *d->keys_b);
	if (!d->keys_a || !d->keys_b)
		return fit_fail_nomem(err);
	for (size_t k = 0; k < d->n_keys; k++) {
		d->keys_a[k] = find(a, keys[k]);
		d->keys_b[k] = find(b, keys[k]);
		if (d->keys_a[k] == NOWHERE)
			return fit_table_no_column(a, keys[k], err);
		if (d->keys_b[k] == NOWHERE)
			return fit_table_no_column(b, keys[k], err);
	}
	return FIT_OK;
}

static bool wanted(const struct fit_diff *d, const struct fit_table *t, const size_t *keys, size_t c,
		   const struct fit_diff_params *p)
{
	const char *name = t->columns[c].name;

	for (size_t k = 0; k < d->n_keys; k++)
		if (keys[k] == c)
			return false;
	return !listed(name, p->ignore, p->n_ignore) &&
	       (!p->n_columns || listed(name, p->columns, p->n_columns));
}

static int check_names(const struct fit_table *a, const struct fit_table *b, const char *const *names,
		       size_t n, struct fit_err *err)
{
	for (size_t i = 0; i < n; i++)
		if (find(a, names[i]) == NOWHERE && find(b, names[i]) == NOWHERE)
			return fit_table_no_column(a, names[i], err);
	return FIT_OK;
}

static int match_columns(struct fit_diff *d, const struct fit_table *a, const struct fit_table *b,
			 const struct fit_diff_params *p, struct fit_err *err)
{
	int rc = check_names(a, b, p->columns, p->n_columns, err);

	rc = rc ? rc : check_names(a, b, p->ignore, p->n_ignore, err);
	if (rc)
		return rc;
	d->columns = calloc(a->n_columns + 1, sizeof *d->columns);
	d->columns_a = calloc(a->n_columns + 1, sizeof *d->columns_a);
	d->columns_b = calloc(b->n_columns + 1, sizeof *d->columns_b);
	if (!d->columns || !d->columns_a || !d->columns_b)
		return fit_fail_nomem(err);
	for (size_t c = 0; c < a->n_columns; c++) {
		size_t other = find(b, a->columns[c].name);

		if (!wanted(d, a, d->keys_a, c, p))
			continue;
		if (other == NOWHERE)
			d->columns_a[d->n_columns_a++] = c;
		else
			d->columns[d->n_columns++] = (struct fit_diff_column){
				.name = a->columns[c].name, .in_a = c, .in_b = other
			};
	}
	for (size_t c = 0; c < b->n_columns; c++)
		if (wanted(d, b, d->keys_b, c, p) && find(a, b->columns[c].name) == NOWHERE)
			d->columns_b[d->n_columns_b++] = c;
	return FIT_OK;
}

/* ---- cells ---- */

/* A text beside a number: "0.10" is 0.1. */
static bool same_text(enum fit_type ta, const struct fit_cell *a, enum fit_type tb, const struct fit_cell *b)
{
	char sa[FIT_NUM_MAX], sb[FIT_NUM_MAX];
	struct fit_text x = a->u.t, y = b->u.t;
	double d;

	if (ta == FIT_REAL)
		return !fit_parse_double_any(y, &d) && (d == a->u.d || (isnan(d) && isnan(a->u.d)));
	if (tb == FIT_REAL)
		return same_text(tb, b, ta, a);

	if (ta != FIT_TEXT)
		x = (struct fit_text){ sa, fit_cell_format(ta, a, sa) };
	if (tb != FIT_TEXT)
		y = (struct fit_text){ sb, fit_cell_format(tb, b, sb) };
	return fit_text_eq(x, y);
}

/* Do two cells differ by more than is allowed? *gap and *share say by how much. */
static bool differs(enum fit_type ta, struct fit_cell a, enum fit_type tb, struct fit_cell b,
		    const struct fit_diff_params *p, double *gap, double *share)
{
	double x, y, larger;

	*gap = *share = (double)INFINITY;
	if (a.na || b.na)
		return a.na != b.na;
	if (ta == FIT_TEXT || tb == FIT_TEXT)
		return !same_text(ta, &a, tb, &b);
	/* a double does not hold every int64 */
	if (ta == tb && ta != FIT_REAL && a.u.i == b.u.i)
		return false;
	x = as_real(ta, &a);
	y = as_real(tb, &b);
	if (isnan(x) || isnan(y))
		return !(isnan(x) && isnan(y));
	if (isinf(x) || isinf(y))
		return !(x <= y && x >= y);
	larger = fmax(fabs(x), fabs(y));
	*gap = fabs(x - y);
	*share = larger > 0 ? *gap / larger : 0;
	if (ta == tb && ta != FIT_REAL && !(p->rel > 0) && !(p->abs > 0))
		return true;
	return *gap > p->abs + p->rel * larger;
}

static int compare_rows(struct fit_diff *d, const struct fit_table *a, size_t ra, const struct fit_table *b,
			size_t rb, const struct fit_diff_params *p, size_t *cap)
{
	for (size_t k = 0; k < d->n_columns; k++) {
		struct fit_diff_column *c = &d->columns[k];
		struct fit_diff_cell cell = { k, ra, rb, 0, 0 };
		const struct fit_column *ca = &a->columns[c->in_a], *cb = &b->columns[c->in_b];

		d->n_compared++;
		if (!differs(ca->type, fit_column_cell(ca, ra), cb->type, fit_column_cell(cb, rb), p, &cell.gap,
			     &cell.share))
			continue;
		if (!c->different)
			c->first = c->worst = cell;
		else if (d->by_share ? cell.share > c->worst.share : cell.gap > c->worst.gap)
			c->worst = cell;
		c->different++;
		if (d->n_cells < p->max) {
			if (fit_grow(&d->cells, cap, d->n_cells + 1, sizeof *d->cells))
				return FIT_ENOMEM;
			d->cells[d->n_cells] = cell;
		}
		d->n_cells++;
	}
	return FIT_OK;
}

/* Do the numbers of a table have more than one unit in a column? */
static bool mixes_units(const struct fit_table *t)
{
	const struct fit_column *unit = fit_table_column(t, "unit");

	for (size_t r = 1; unit && unit->type == FIT_TEXT && r < t->n_rows; r++)
		if (!fit_text_eq(fit_column_text(unit, r), fit_column_text(unit, 0)))
			return true;
	return false;
}

/* ---- rows ---- */

static int index_rows(struct fit_index *ix, const struct fit_table *t, const size_t *keys,
		      const struct fit_table *other, const size_t *other_keys, size_t n_keys,
		      struct fit_err *err)
{
	struct fit_str key = { 0 };
	int rc = FIT_OK;

	if (t->n_rows >= FIT_NO_INDEX)
		return fit_fail(err, FIT_EDATA, "%s: too many rows (expected less than 2^32 - 1)", t->input);
	for (size_t r = 0; r < t->n_rows && !rc; r++) {
		uint32_t before = FIT_NO_INDEX;

		if (row_key(&key, t, keys, other, other_keys, n_keys, r) ||
		    fit_index_put(ix, (struct fit_text){ key.s, key.n }, (uint32_t)r, &before)) {
			rc = fit_fail_nomem(err);
		} else if (before != FIT_NO_INDEX) {
			unsigned long long line = t->first_line ? t->first_line + before : before + 1u;

			fit_str_clear(&key);
			if (fit_diff_row_name(&key, t, keys, n_keys, r))
				rc = fit_fail_nomem(err);
			else
				rc = fit_table_fail(t, r, FIT_EDATA, t->columns[keys[0]].name, err,
						    "duplicate key '%.300s' (already in %llu; expected one row a key, "
						    "see --key)",
						    key.s, line);
		}
	}
	fit_str_release(&key);
	return rc;
}

static int keep_row(size_t **rows, size_t *cap, size_t *n, size_t row, size_t max)
{
	if (*n < max) {
		if (fit_grow(rows, cap, *n + 1, sizeof **rows))
			return FIT_ENOMEM;
		(*rows)[*n] = row;
	}
	(*n)++;
	return FIT_OK;
}

static int match_rows(struct fit_diff *d, const struct fit_table *a, const struct fit_table *b,
		      const struct fit_diff_params *p, struct fit_err *err)
{
	struct fit_index in_a = { 0 }, in_b = { 0 };
	struct fit_str key = { 0 };
	size_t cap_a = 0, cap_b = 0, cap_cells = 0;
	int rc = index_rows(&in_a, a, d->keys_a, b, d->keys_b, d->n_keys, err);

	rc = rc ? rc : index_rows(&in_b, b, d->keys_b, a, d->keys_a, d->n_keys, err);
	if (rc)
		goto out;
	for (size_t r = 0; r < a->n_rows && !rc; r++) {
		uint32_t other;

		rc = row_key(&key, a, d->keys_a, b, d->keys_b, d->n_keys, r);
		if (rc)
			break;
		other = fit_index_get(&in_b, (struct fit_text){ key.s, key.n });
		rc = other == FIT_NO_INDEX ? keep_row(&d->rows_a, &cap_a, &d->n_rows_a, r, p->max)
					   : compare_rows(d, a, r, b, other, p, &cap_cells);
	}
	for (size_t r = 0; r < b->n_rows && !rc; r++) {
		rc = row_key(&key, b, d->keys_b, a, d->keys_a, d->n_keys, r);
		if (!rc && fit_index_get(&in_a, (struct fit_text){ key.s, key.n }) == FIT_NO_INDEX)
			rc = keep_row(&d->rows_b, &cap_b, &d->n_rows_b, r, p->max);
	}
	if (rc)
		fit_fail_nomem(err);
out:
	fit_index_release(&in_a);
	fit_index_release(&in_b);
	fit_str_release(&key);
	return rc;
}

int fit_diff_tables(struct fit_diff *d, const struct fit_table *a, const struct fit_table *b,
		    const struct fit_diff_params *p, struct fit_err *err)
{
	int rc;

	*d = (struct fit_diff){ .by_share = mixes_units(a) };
	if (!(p->rel >= 0) || !(p->abs >= 0) || isinf(p->rel) || isinf(p->abs))
		return fit_fail(err, FIT_EINVAL, "bad tolerance (expected finite numbers from 0)");
	rc = find_keys(d, a, b, p, err);
	rc = rc ? rc : match_columns(d, a, b, p, err);
	rc = rc ? rc : match_rows(d, a, b, p, err);
	if (rc)
		fit_diff_release(d);
	return rc;
}
