/* SPDX-License-Identifier: MIT */
#include "libfit/model/profile_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/placement.h"
#include "libfit/model/interpolate.h"

/* No count in a profile needs more; products of two of them fit an int64. */
#define COUNT_MAX INT64_C(1000000000)

static const struct fit_field apps_fields[] = {
	{ "app", FIT_TEXT, FIT_F_NOT_NA },
	{ "init_batch", FIT_INT, FIT_F_NOT_NA },
	{ "max_batch", FIT_INT, FIT_F_NOT_NA },
	{ "min_local_bsz", FIT_INT, FIT_F_NOT_NA },
	{ "max_local_bsz", FIT_INT, FIT_F_NOT_NA },
	{ "epochs", FIT_INT, FIT_F_NOT_NA },
	{ "restart_s", FIT_TIME, FIT_F_NOT_NA },
	{ "max_replicas", FIT_INT, 0 },
	{ "fixed_batch", FIT_INT, 0 },
};

static const struct fit_field placements_fields[] = {
	{ "app", FIT_TEXT, FIT_F_NOT_NA },
	{ "placement", FIT_INT, FIT_F_NOT_NA },
	{ "local_bsz", FIT_INT, FIT_F_NOT_NA },
	{ "step_time_s", FIT_REAL, FIT_F_NOT_NA },
	{ "sync_time_s", FIT_REAL, FIT_F_NOT_NA },
};

static const struct fit_field shape_fields[] = {
	{ "app", FIT_TEXT, FIT_F_NOT_NA },
	{ "num_nodes", FIT_INT, FIT_F_NOT_NA },
	{ "num_replicas", FIT_INT, FIT_F_NOT_NA },
	{ "local_bsz", FIT_INT, FIT_F_NOT_NA },
	{ "step_time_s", FIT_REAL, FIT_F_NOT_NA },
	{ "sync_time_s", FIT_REAL, FIT_F_NOT_NA },
};

static const struct fit_field validation_fields[] = {
	{ "app", FIT_TEXT, FIT_F_NOT_NA },
	{ "batch_size", FIT_INT, FIT_F_NOT_NA },
	{ "epoch", FIT_INT, FIT_F_NOT_NA },
	{ "progress", FIT_REAL, FIT_F_NOT_NA },
	{ "iteration", FIT_INT, FIT_F_NOT_NA },
	{ "metric", FIT_REAL, FIT_F_NOT_NA },
	{ "grad_sqr", FIT_REAL, FIT_F_NOT_NA },
	{ "grad_var", FIT_REAL, FIT_F_NOT_NA },
};

static const struct fit_field simplices_fields[] = {
	{ "app", FIT_TEXT, FIT_F_NOT_NA },
	{ "v0", FIT_INT, FIT_F_NOT_NA },
	{ "v1", FIT_INT, FIT_F_NOT_NA },
	{ "v2", FIT_INT, FIT_F_NOT_NA },
	{ "v3", FIT_INT, FIT_F_NOT_NA },
	{ "n0", FIT_INT, FIT_F_NOT_NA },
	{ "n1", FIT_INT, FIT_F_NOT_NA },
	{ "n2", FIT_INT, FIT_F_NOT_NA },
	{ "n3", FIT_INT, FIT_F_NOT_NA },
	{ "degenerate", FIT_INT, FIT_F_NOT_NA },
	{ "eq_x", FIT_REAL, FIT_F_NOT_NA },
	{ "eq_y", FIT_REAL, FIT_F_NOT_NA },
	{ "eq_z", FIT_REAL, FIT_F_NOT_NA },
	{ "eq_w", FIT_REAL, FIT_F_NOT_NA },
	{ "eq_off", FIT_REAL, FIT_F_NOT_NA },
};

static const struct fit_field lift_fields[] = {
	{ "app", FIT_TEXT, FIT_F_NOT_NA },
	{ "paraboloid_scale", FIT_REAL, FIT_F_NOT_NA },
	{ "paraboloid_shift", FIT_REAL, FIT_F_NOT_NA },
};

#define KIND(name, fields) { "/" name, fields, sizeof fields / sizeof *fields }
static const struct kind {
	const char *path;
	const struct fit_field *fields;
	size_t n;
} kinds[FIT_PROFILE_KINDS] = {
	[FIT_PROFILE_APPS] = KIND("apps", apps_fields),
	[FIT_PROFILE_PLACEMENTS] = KIND("placements", placements_fields),
	[FIT_PROFILE_SCALABILITY] = KIND("scalability", shape_fields),
	[FIT_PROFILE_VALIDATION] = KIND("validation", validation_fields),
	[FIT_PROFILE_POINTS] = KIND("points", shape_fields),
	[FIT_PROFILE_SIMPLICES] = KIND("simplices", simplices_fields),
	[FIT_PROFILE_LIFT] = KIND("lift", lift_fields),
};

const char *fit_profile_table_name(enum fit_profile_kind kind)
{
	return kinds[kind].path + 1;
}

const struct fit_field *fit_profile_fields(enum fit_profile_kind kind, size_t *n)
{
	*n = kinds[kind].n;
	return kinds[kind].fields;
}

/* ---- memory ---- */

int fit_profile_tables_init(struct fit_profile_tables *t, struct fit_err *err)
{
	*t = (struct fit_profile_tables){ 0 };
	for (int k = 0; k < FIT_PROFILE_KINDS; k++) {
		int rc = fit_table_init(&t->t[k], kinds[k].path + 1, kinds[k].fields, kinds[k].n, err);

		if (rc) {
			fit_profile_tables_release(t);
			return rc;
		}
		snprintf(t->t[k].input, sizeof t->t[k].input, "%s", kinds[k].path);
	}
	return FIT_OK;
}

void fit_profile_tables_release(struct fit_profile_tables *t)
{
	for (int k = 0; k < FIT_PROFILE_KINDS; k++)
		fit_table_release(&t->t[k]);
	*t = (struct fit_profile_tables){ 0 };
}

/* ---- checking ---- */

static const int64_t *ints(const struct fit_table *t, int column)
{
	return t->columns[column].i;
}

static const double *reals(const struct fit_table *t, int column)
{
	return t->columns[column].d;
}

static int bad_int(const struct fit_table *t, size_t row, int column, const char *expected,
		   struct fit_err *err)
{
	return fit_table_fail(t, row, FIT_EDATA, t->columns[column].name, err,
			      "bad value '%lld' (expected %s)", (long long)ints(t, column)[row],
			      expected);
}

static int bad_real(const struct fit_table *t, size_t row, int column, const char *expected,
		    struct fit_err *err)
{
	return fit_table_fail(t, row, FIT_EDATA, t->columns[column].name, err,
			      "bad value '%.17g' (expected %s)", reals(t, column)[row], expected);
}

/* Has the table the columns of its kind, and nothing missing that must be there? */
static int check_columns(const struct fit_table *t, const struct kind *k, struct fit_err *err)
{
	if (t->n_columns != k->n)
		return fit_fail(err, FIT_EDATA, "%s: %zu columns (expected %zu)", k->path,
				t->n_columns, k->n);
	for (size_t c = 0; c < k->n; c++) {
		const struct fit_column *col = &t->columns[c];

		if (strcmp(col->name, k->fields[c].name) != 0 || col->type != k->fields[c].type)
			return fit_fail(err, FIT_EDATA, "%s: %s column '%s' (expected %s '%s')",
					k->path, fit_type_name(col->type), col->name,
					fit_type_name(k->fields[c].type), k->fields[c].name);
		if (!(k->fields[c].flags & FIT_F_NOT_NA) || col->type == FIT_REAL)
			continue;
		for (size_t r = 0; r < t->n_rows; r++)
			if (col->type == FIT_TEXT ? col->at[r] == FIT_TEXT_NA
						  : col->i[r] == FIT_INT_NA)
				return fit_table_fail(t, r, FIT_EDATA, col->name, err,
						      "missing value");
	}
	return FIT_OK;
}

/* Split the rows of a table by application: they must be contiguous. */
static int split_rows(const struct fit_profile_tables *t, int kind, struct fit_profile_rows *rows,
		      struct fit_err *err)
{
	const struct fit_column *names = &t->t[FIT_PROFILE_APPS].columns[0];
	const struct fit_table *table = &t->t[kind];
	const struct fit_column *app = &table->columns[0];
	size_t n_apps = t->t[FIT_PROFILE_APPS].n_rows, cur = n_apps;

	for (size_t r = 0; r < table->n_rows; r++) {
		struct fit_text name = fit_column_text(app, r);

		if (cur == n_apps || !fit_text_eq(name, fit_column_text(names, cur))) {
			for (cur = 0; cur < n_apps; cur++)
				if (fit_text_eq(name, fit_column_text(names, cur)))
					break;
			if (cur == n_apps)
				return fit_table_fail(table, r, FIT_EDATA, "app", err,
						      "unknown application '%.*s'",
						      FIT_TEXT_ARG(name));
			if (rows[cur].n[kind] > 0)
				return fit_table_fail(table, r, FIT_EDATA, "app", err,
						      "rows of application '%.*s' are not together",
						      FIT_TEXT_ARG(name));
			rows[cur].at[kind] = r;
		}
		rows[cur].n[kind]++;
	}
	return FIT_OK;
}

static int check_apps(const struct fit_table *t, struct fit_err *err)
{
	if (t->n_rows == 0)
		return fit_fail(err, FIT_EDATA, "%s: no applications", kinds[FIT_PROFILE_APPS].path);
	for (size_t r = 0; r < t->n_rows; r++) {
		struct fit_text name = fit_column_text(&t->columns[0], r);
		int64_t init = ints(t, FIT_APPS_INIT_BATCH)[r], most = ints(t, FIT_APPS_MAX_BATCH)[r];
		int64_t replicas = ints(t, FIT_APPS_MAX_REPLICAS)[r];
		int64_t fixed = ints(t, FIT_APPS_FIXED_BATCH)[r];

		if (name.n == 0)
			return fit_table_fail(t, r, FIT_EDATA, "app", err, "empty name");
		if (r > 0 && fit_text_cmp(fit_column_text(&t->columns[0], r - 1), name) >= 0)
			return fit_table_fail(t, r, FIT_EDATA, "app", err,
					      "application '%.*s' is out of order or repeated",
					      FIT_TEXT_ARG(name));
		for (int c = FIT_APPS_INIT_BATCH; c <= FIT_APPS_EPOCHS; c++)
			if (ints(t, c)[r] < 1 || ints(t, c)[r] > COUNT_MAX)
				return bad_int(t, r, c, "1 to 1000000000", err);
		if (most < init)
			return bad_int(t, r, FIT_APPS_MAX_BATCH, "at least init_batch", err);
		if (ints(t, FIT_APPS_MAX_LOCAL)[r] < ints(t, FIT_APPS_MIN_LOCAL)[r])
			return bad_int(t, r, FIT_APPS_MAX_LOCAL, "at least min_local_bsz", err);
		if (ints(t, FIT_APPS_RESTART)[r] < 0)
			return bad_int(t, r, FIT_APPS_RESTART, "0 or more", err);
		if (replicas != FIT_INT_NA && (replicas < 1 || replicas > COUNT_MAX))
			return bad_int(t, r, FIT_APPS_MAX_REPLICAS, "1 or more, or NA", err);
		if (fixed != FIT_INT_NA && (fixed < init || fixed > most))
			return bad_int(t, r, FIT_APPS_FIXED_BATCH, "init_batch to max_batch, or NA", err);
	}
	return FIT_OK;
}

static int check_times(const struct fit_table *t, size_t row, int step_column, struct fit_err *err)
{
	double step = reals(t, step_column)[row], sync = reals(t, step_column + 1)[row];

	if (!(step > 0) || !isfinite(step))
		return bad_real(t, row, step_column, "a positive time", err);
	if (!(sync > 0) || !isfinite(sync))
		return bad_real(t, row, step_column + 1, "a positive time", err);
	if (sync >= step)
		return bad_real(t, row, step_column + 1, "less than step_time_s", err);
	return FIT_OK;
}

static int check_placements(const struct fit_table *t, size_t at, size_t n, struct fit_err *err)
{
	const int64_t *placement = ints(t, FIT_PLACE_PLACEMENT), *local = ints(t, FIT_PLACE_LOCAL);

	for (size_t r = at; r < at + n; r++) {
		int rc;

		if (fit_placement_canonical(placement[r]) != placement[r])
			return bad_int(t, r, FIT_PLACE_PLACEMENT,
				       "one to four digits 1 to 9, in the smallest rotation", err);
		if (local[r] < 1 || local[r] > COUNT_MAX)
			return bad_int(t, r, FIT_PLACE_LOCAL, "1 to 1000000000", err);
		if (r > at && (placement[r] < placement[r - 1] ||
			       (placement[r] == placement[r - 1] && local[r] <= local[r - 1])))
			return bad_int(t, r, FIT_PLACE_LOCAL,
				       "rows that ascend in placement and local_bsz", err);
		rc = check_times(t, r, FIT_PLACE_STEP, err);
		if (rc)
			return rc;
	}
	return FIT_OK;
}

static int check_scalability(const struct fit_table *t, size_t at, size_t n, struct fit_err *err)
{
	for (size_t r = at; r < at + n; r++) {
		int64_t nodes = ints(t, FIT_SCALE_NODES)[r];
		int rc;

		if (nodes < 1 || nodes > COUNT_MAX)
			return bad_int(t, r, FIT_SCALE_NODES, "1 or more", err);
		if (ints(t, FIT_SCALE_REPLICAS)[r] < nodes ||
		    ints(t, FIT_SCALE_REPLICAS)[r] > COUNT_MAX)
			return bad_int(t, r, FIT_SCALE_REPLICAS, "at least num_nodes", err);
		if (ints(t, FIT_SCALE_LOCAL)[r] < 1 || ints(t, FIT_SCALE_LOCAL)[r] > COUNT_MAX)
			return bad_int(t, r, FIT_SCALE_LOCAL, "1 to 1000000000", err);
		rc = check_times(t, r, FIT_SCALE_STEP, err);
		if (rc)
			return rc;
	}
	return FIT_OK;
}

static int check_run_row(const struct fit_table *t, size_t r, bool first, struct fit_err *err)
{
	double progress = reals(t, FIT_VALID_PROGRESS)[r], sqr = reals(t, FIT_VALID_SQR)[r];
	double var = reals(t, FIT_VALID_VAR)[r];
	int64_t iteration = ints(t, FIT_VALID_ITERATION)[r];

	if (!isfinite(progress) || progress <= (first ? 0 : reals(t, FIT_VALID_PROGRESS)[r - 1]))
		return bad_real(t, r, FIT_VALID_PROGRESS, "more than in the epoch before", err);
	if (iteration <= (first ? 0 : ints(t, FIT_VALID_ITERATION)[r - 1]))
		return bad_int(t, r, FIT_VALID_ITERATION, "more than in the epoch before", err);
	if (!isfinite(reals(t, FIT_VALID_METRIC)[r]))
		return bad_real(t, r, FIT_VALID_METRIC, "a number", err);
	if (!(sqr >= 0) || !isfinite(sqr))
		return bad_real(t, r, FIT_VALID_SQR, "0 or more", err);
	if (!(var > 0) || !isfinite(var))
		return bad_real(t, r, FIT_VALID_VAR, "a positive number", err);
	return FIT_OK;
}

/* Runs of exactly `epochs` rows each, batch sizes ascending from init_batch to max_batch. */
static int check_validation(const struct fit_profile_tables *all, size_t app, size_t at, size_t n,
			    struct fit_err *err)
{
	const struct fit_table *t = &all->t[FIT_PROFILE_VALIDATION];
	const struct fit_table *apps = &all->t[FIT_PROFILE_APPS];
	const int64_t *batch = ints(t, FIT_VALID_BATCH);
	size_t epochs = (size_t)ints(apps, FIT_APPS_EPOCHS)[app];

	if (n == 0 || n % epochs)
		return fit_table_fail(apps, app, FIT_EDATA, "epochs", err,
				      "%zu validation rows (expected a multiple of %zu epochs)", n,
				      epochs);
	for (size_t i = 0; i < n; i++) {
		size_t r = at + i, e = i % epochs;
		int rc;

		if (ints(t, FIT_VALID_EPOCH)[r] != (int64_t)e)
			return bad_int(t, r, FIT_VALID_EPOCH, "epochs from 0, without gaps", err);
		if (e > 0 ? batch[r] != batch[r - 1] : i > 0 && batch[r] <= batch[r - 1])
			return bad_int(t, r, FIT_VALID_BATCH,
				       "runs of all epochs, by ascending batch size", err);
		rc = check_run_row(t, r, e == 0, err);
		if (rc)
			return rc;
	}
	if (batch[at] != ints(apps, FIT_APPS_INIT_BATCH)[app])
		return bad_int(t, at, FIT_VALID_BATCH, "init_batch in the first run", err);
	if (batch[at + n - 1] != ints(apps, FIT_APPS_MAX_BATCH)[app])
		return bad_int(t, at + n - 1, FIT_VALID_BATCH, "max_batch in the last run", err);
	return FIT_OK;
}

static int check_mesh(const struct fit_profile_tables *t, const struct fit_profile_rows *r,
		      struct fit_err *err)
{
	const struct fit_table *points = &t->t[FIT_PROFILE_POINTS];
	const struct fit_table *simplices = &t->t[FIT_PROFILE_SIMPLICES];
	const struct fit_table *lift = &t->t[FIT_PROFILE_LIFT];
	size_t n_lift = r->n[FIT_PROFILE_LIFT], at = r->at[FIT_PROFILE_LIFT];

	if (n_lift == 0 && r->n[FIT_PROFILE_POINTS] == 0 && r->n[FIT_PROFILE_SIMPLICES] == 0)
		return FIT_OK;
	if (n_lift != 1 || r->n[FIT_PROFILE_POINTS] == 0 || r->n[FIT_PROFILE_SIMPLICES] == 0)
		return fit_fail(err, FIT_EDATA, "/lift, /points and /simplices do not belong together "
				"(%zu, %zu and %zu rows of one application)", n_lift,
				r->n[FIT_PROFILE_POINTS], r->n[FIT_PROFILE_SIMPLICES]);
	for (int c = FIT_LIFT_SCALE; c <= FIT_LIFT_SHIFT; c++)
		if (!isfinite(reals(lift, c)[at]))
			return bad_real(lift, at, c, "a number", err);
	at = r->at[FIT_PROFILE_POINTS];
	for (size_t p = at; p < at + r->n[FIT_PROFILE_POINTS]; p++)
		if (check_times(points, p, FIT_SCALE_STEP, err))
			return FIT_EDATA;
	at = r->at[FIT_PROFILE_SIMPLICES];
	for (int c = FIT_SIMPLEX_EQ; c < FIT_PROFILE_COLUMNS_MAX; c++)
		for (size_t s = at; s < at + r->n[FIT_PROFILE_SIMPLICES]; s++)
			if (!isfinite(reals(simplices, c)[s]))
				return bad_real(simplices, s, c, "a number", err);
	return FIT_OK;
}

int fit_profile_tables_check(const struct fit_profile_tables *t, int n_kinds,
			     struct fit_profile_rows **out, struct fit_err *err)
{
	size_t n_apps = t->t[FIT_PROFILE_APPS].n_rows;
	struct fit_profile_rows *rows = calloc(n_apps ? n_apps : 1, sizeof *rows);
	int rc = FIT_OK;

	*out = NULL;
	if (!rows)
		return fit_fail_nomem(err);
	for (int k = 0; k < n_kinds && !rc; k++)
		rc = check_columns(&t->t[k], &kinds[k], err);
	if (!rc)
		rc = check_apps(&t->t[FIT_PROFILE_APPS], err);
	for (int k = 0; k < n_kinds && !rc; k++)
		rc = split_rows(t, k, rows, err);
	for (size_t i = 0; i < n_apps && !rc; i++) {
		const struct fit_profile_rows *r = &rows[i];

		if (r->n[FIT_PROFILE_PLACEMENTS] == 0) {
			rc = fit_table_fail(&t->t[FIT_PROFILE_APPS], i, FIT_EDATA, "app", err,
					    "application '%s' has no placements",
					    fit_column_text(&t->t[0].columns[0], i).s);
			break;
		}
		rc = check_placements(&t->t[FIT_PROFILE_PLACEMENTS], r->at[FIT_PROFILE_PLACEMENTS],
				      r->n[FIT_PROFILE_PLACEMENTS], err);
		if (!rc)
			rc = check_scalability(&t->t[FIT_PROFILE_SCALABILITY],
					       r->at[FIT_PROFILE_SCALABILITY],
					       r->n[FIT_PROFILE_SCALABILITY], err);
		if (!rc)
			rc = check_validation(t, i, r->at[FIT_PROFILE_VALIDATION],
					      r->n[FIT_PROFILE_VALIDATION], err);
		if (!rc && n_kinds == FIT_PROFILE_KINDS)
			rc = check_mesh(t, r, err);
	}
	if (rc) {
		free(rows);
		return rc;
	}
	*out = rows;
	return FIT_OK;
}

/* ---- sorting ---- */

struct sort_key {
	const char *app;
	int64_t a, b;
	size_t row;
};

static int compare_keys(const void *pa, const void *pb)
{
	const struct sort_key *x = pa, *y = pb;
	int c = strcmp(x->app, y->app);

	if (c)
		return c;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Sort by app, then by columns a and b (0: none), then by row. */
static int sort_table(struct fit_table *t, const struct kind *k, int a, int b, struct fit_err *err)
{
	struct sort_key *keys = calloc(t->n_rows ? t->n_rows : 1, sizeof *keys);
	struct fit_table sorted = { 0 };
	int rc = keys ? check_columns(t, k, err) : fit_fail_nomem(err);

	if (rc)
		goto out;
	for (size_t r = 0; r < t->n_rows; r++)
		keys[r] = (struct sort_key){ fit_column_text(&t->columns[0], r).s,
					     a ? ints(t, a)[r] : 0, b ? ints(t, b)[r] : 0, r };
	qsort(keys, t->n_rows, sizeof *keys, compare_keys);
	rc = fit_table_init(&sorted, t->name, k->fields, k->n, err);
	for (size_t r = 0; r < t->n_rows && !rc; r++) {
		struct fit_cell cells[FIT_PROFILE_COLUMNS_MAX];

		for (size_t c = 0; c < k->n; c++)
			cells[c] = fit_column_cell(&t->columns[c], keys[r].row);
		if (fit_table_add(&sorted, cells))
			rc = fit_fail_nomem(err);
	}
	if (!rc && fit_meta_copy(&sorted.meta, &t->meta))
		rc = fit_fail_nomem(err);
	if (!rc) {
		memcpy(sorted.input, t->input, sizeof sorted.input);
		fit_table_release(t);
		*t = sorted;
		sorted = (struct fit_table){ 0 };
	}
out:
	fit_table_release(&sorted);
	free(keys);
	return rc;
}

/* ---- the triangulation ---- */

/* A point: the mean over all placements of one shape, or a scalability row. */
struct point {
	int64_t x[3];
	double y[2];
	size_t row;
};

static int compare_points(const void *pa, const void *pb)
{
	const struct point *a = pa, *b = pb;

	for (int k = 0; k < 3; k++)
		if (a->x[k] != b->x[k])
			return a->x[k] < b->x[k] ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* The mean of equal points in p[0..n), summed with compensation so that it hardly depends on their
 * order. */
static void mean_point(struct point *out, const struct point *p, size_t n)
{
	*out = p[0];
	for (int k = 0; k < 2; k++) {
		double sum = 0, lost = 0;

		for (size_t i = 0; i < n; i++) {
			double y = p[i].y[k] - lost, t = sum + y;

			lost = t - sum - y;
			sum = t;
		}
		out->y[k] = sum / (double)n;
	}
}

/* Point order of B.3: the averaged placements sorted by nodes, replicas, local_bsz, then the
 * scalability rows as they come. */
static size_t collect_points(const struct fit_profile_tables *t, const struct fit_profile_rows *r,
			     struct point *p)
{
	const struct fit_table *place = &t->t[FIT_PROFILE_PLACEMENTS];
	const struct fit_table *scale = &t->t[FIT_PROFILE_SCALABILITY];
	size_t n = 0, at = r->at[FIT_PROFILE_PLACEMENTS], m = r->n[FIT_PROFILE_PLACEMENTS];

	for (size_t i = 0; i < m; i++) {
		p[i].x[2] = ints(place, FIT_PLACE_LOCAL)[at + i];
		p[i].y[0] = reals(place, FIT_PLACE_STEP)[at + i];
		p[i].y[1] = reals(place, FIT_PLACE_SYNC)[at + i];
		p[i].row = i;
		fit_placement_shape(ints(place, FIT_PLACE_PLACEMENT)[at + i], &p[i].x[0], &p[i].x[1]);
	}
	qsort(p, m, sizeof *p, compare_points);
	for (size_t i = 0, end; i < m; i = end) {
		for (end = i + 1; end < m && memcmp(p[end].x, p[i].x, sizeof p[i].x) == 0; end++)
			;
		mean_point(&p[n++], p + i, end - i);
	}
	at = r->at[FIT_PROFILE_SCALABILITY];
	for (size_t i = 0; i < r->n[FIT_PROFILE_SCALABILITY]; i++, n++) {
		for (int k = 0; k < 3; k++)
			p[n].x[k] = ints(scale, FIT_SCALE_NODES + k)[at + i];
		p[n].y[0] = reals(scale, FIT_SCALE_STEP)[at + i];
		p[n].y[1] = reals(scale, FIT_SCALE_SYNC)[at + i];
	}
	return n;
}

static int check_distinct(const struct fit_table *scale, size_t at, const struct point *p, size_t n,
			  struct fit_err *err)
{
	struct point *sorted = calloc(n, sizeof *sorted);
	int rc = FIT_OK;

	if (!sorted)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		sorted[i] = p[i];
		sorted[i].row = i;
	}
	qsort(sorted, n, sizeof *sorted, compare_points);
	for (size_t i = 1; i < n && !rc; i++)
		if (memcmp(sorted[i].x, sorted[i - 1].x, sizeof sorted[i].x) == 0)
			rc = fit_table_fail(scale, at + sorted[i].row, FIT_EDATA, NULL, err,
					    "repeated key '%lld, %lld, %lld' (num_nodes, num_replicas, "
					    "local_bsz)", (long long)sorted[i].x[0],
					    (long long)sorted[i].x[1], (long long)sorted[i].x[2]);
	free(sorted);
	return rc;
}

static int add_points(struct fit_table *t, struct fit_text app, const struct point *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct fit_cell c[6] = { { .u.t = app } };

		for (int k = 0; k < 3; k++)
			c[FIT_SCALE_NODES + k].u.i = p[i].x[k];
		c[FIT_SCALE_STEP].u.d = p[i].y[0];
		c[FIT_SCALE_SYNC].u.d = p[i].y[1];
		if (fit_table_add(t, c))
			return FIT_ENOMEM;
	}
	return FIT_OK;
}

static int add_simplices(struct fit_table *t, struct fit_text app, const struct fit_delaunay *d)
{
	for (size_t s = 0; s < d->n_simplices; s++) {
		struct fit_cell c[FIT_PROFILE_COLUMNS_MAX] = { { .u.t = app } };

		for (int k = 0; k < 4; k++) {
			c[FIT_SIMPLEX_V + k].u.i = d->v[k][s];
			c[FIT_SIMPLEX_N + k].u.i = d->nb[k][s];
		}
		c[FIT_SIMPLEX_DEGENERATE].u.i = d->degenerate[s];
		for (int k = 0; k < 5; k++)
			c[FIT_SIMPLEX_EQ + k].u.d = d->eq[k][s];
		if (fit_table_add(t, c))
			return FIT_ENOMEM;
	}
	return FIT_OK;
}

static int triangulate_app(struct fit_profile_tables *t, size_t app,
			   const struct fit_profile_rows *r, struct fit_err *err)
{
	struct fit_text name = fit_column_text(&t->t[FIT_PROFILE_APPS].columns[0], app);
	size_t most = r->n[FIT_PROFILE_PLACEMENTS] + r->n[FIT_PROFILE_SCALABILITY], n, n_mean;
	struct point *p = calloc(most, sizeof *p);
	int64_t *x[3] = { calloc(most, sizeof **x), calloc(most, sizeof **x), calloc(most, sizeof **x) };
	struct fit_delaunay d = { 0 };
	struct fit_cell lift[3] = { { .u.t = name } };
	int rc;

	if (!p || !x[0] || !x[1] || !x[2]) {
		rc = fit_fail_nomem(err);
		goto out;
	}
	n = collect_points(t, r, p);
	n_mean = n - r->n[FIT_PROFILE_SCALABILITY];
	rc = check_distinct(&t->t[FIT_PROFILE_SCALABILITY], r->at[FIT_PROFILE_SCALABILITY],
			    p + n_mean, n - n_mean, err);
	if (rc)
		goto out;
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 3; k++)
			x[k][i] = p[i].x[k];
	rc = fit_delaunay_build(&d, (const int64_t *const[3]){ x[0], x[1], x[2] }, n, err);
	if (rc) {
		rc = fit_fail_prefix(err, rc, "application '%.*s'", FIT_TEXT_ARG(name));
		goto out;
	}
	lift[FIT_LIFT_SCALE].u.d = d.scale;
	lift[FIT_LIFT_SHIFT].u.d = d.shift;
	if (add_points(&t->t[FIT_PROFILE_POINTS], name, p, n) ||
	    add_simplices(&t->t[FIT_PROFILE_SIMPLICES], name, &d) ||
	    fit_table_add(&t->t[FIT_PROFILE_LIFT], lift))
		rc = fit_fail_nomem(err);
out:
	fit_delaunay_release(&d);
	for (int k = 0; k < 3; k++)
		free(x[k]);
	free(p);
	return rc;
}

int fit_profile_tables_prepare(struct fit_profile_tables *t, struct fit_err *err)
{
	static const int order[FIT_PROFILE_POINTS][2] = {
		[FIT_PROFILE_PLACEMENTS] = { FIT_PLACE_PLACEMENT, FIT_PLACE_LOCAL },
		[FIT_PROFILE_VALIDATION] = { FIT_VALID_BATCH, FIT_VALID_EPOCH },
	};
	struct fit_profile_rows *rows = NULL;
	int rc = FIT_OK;

	for (int k = 0; k < FIT_PROFILE_POINTS && !rc; k++)
		rc = sort_table(&t->t[k], &kinds[k], order[k][0], order[k][1], err);
	if (!rc)
		rc = fit_profile_tables_check(t, FIT_PROFILE_POINTS, &rows, err);
	for (size_t i = 0; !rc && i < t->t[FIT_PROFILE_APPS].n_rows; i++)
		if (rows[i].n[FIT_PROFILE_SCALABILITY] > 0)
			rc = triangulate_app(t, i, &rows[i], err);
	free(rows);
	return rc;
}

/* ---- stores ---- */

int fit_profile_tables_read(struct fit_profile_tables *t, const char *store, char *hash,
			    struct fit_err *err)
{
	struct fit_store_request req[FIT_PROFILE_KINDS];
	char own_hash[FIT_HASH_HEX];
	int rc;

	*t = (struct fit_profile_tables){ 0 };
	for (int k = 0; k < FIT_PROFILE_KINDS; k++)
		req[k] = (struct fit_store_request){ kinds[k].path, kinds[k].fields, kinds[k].n, false,
						     &t->t[k] };
	rc = fit_store_read(store, req, FIT_PROFILE_KINDS, hash ? hash : own_hash, err);
	if (rc)
		fit_profile_tables_release(t);
	return rc;
}

int fit_profile_tables_write(const struct fit_profile_tables *t, const char *store,
			     struct fit_err *err)
{
	const char *paths[FIT_PROFILE_KINDS];
	const struct fit_table *tables[FIT_PROFILE_KINDS];

	for (int k = 0; k < FIT_PROFILE_KINDS; k++) {
		paths[k] = kinds[k].path;
		tables[k] = &t->t[k];
	}
	return fit_store_write(store, paths, tables, FIT_PROFILE_KINDS, err);
}
