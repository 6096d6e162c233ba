/* SPDX-License-Identifier: MIT */
/* Speedups from measured placements and plans. */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "tools/row_tables.h"
#include "tools/speedup_parts.h"

enum { P_APP, P_PLAN, P_NODES, P_GPUS, P_TIME, P_COLUMNS };

static int compare_rows(const void *pa, const void *pb)
{
	const struct speedup_row *a = pa, *b = pb;

	if (a->width.gpus != b->width.gpus)
		return a->width.gpus < b->width.gpus ? -1 : 1;
	if (a->width.speed != b->width.speed)
		return a->width.speed > b->width.speed ? -1 : 1;
	if (a->nodes != b->nodes)
		return a->nodes < b->nodes ? -1 : 1;
	return strcmp(a->plan ? a->plan : "", b->plan ? b->plan : "");
}

/* Of each number of GPUs the fastest plan and placement. */
static int put_placements(const struct speedup_options *o, struct speedup_data *d, struct speedup_group *g,
			  struct fit_err *err)
{
	size_t kept = 0;

	qsort(g->rows, g->n, sizeof *g->rows, compare_rows);
	for (size_t i = 0; i < g->n; i++)
		if (kept == 0 || g->rows[kept - 1].width.gpus != g->rows[i].width.gpus)
			g->rows[kept++] = g->rows[i];
	g->n = kept;
	g->work = speedup_setting_of(&d->set[SPEEDUP_WORK], g->class);
	return speedup_put_group(o, d, g, err);
}

static int take_placement(const struct fit_table *t, size_t r, struct speedup_group *g, struct fit_err *err)
{
	struct fit_cell gpus = fit_column_cell(&t->columns[P_GPUS], r);
	struct fit_cell nodes = fit_column_cell(&t->columns[P_NODES], r);
	struct fit_cell time = fit_column_cell(&t->columns[P_TIME], r);
	struct speedup_row row = { .width = { 0, 1, gpus.u.i, 0 }, .nodes = nodes.na ? 0 : nodes.u.i };
	char text[FIT_NUM_MAX];

	if (gpus.u.i < 1 || gpus.u.i >= FIT_GPUS_MAX)
		return fit_table_fail(t, r, FIT_EDATA, "gpus", err,
				      "bad number of GPUs '%lld' (expected 1 or more)", (long long)gpus.u.i);
	if (!time.na && !(time.u.d >= 1 / FIT_SPEED_MAX && time.u.d <= 1 / FIT_SPEED_MIN)) {
		fit_format_double(text, time.u.d);
		return fit_table_fail(t, r, FIT_EDATA, "iter_time_s", err,
				      "bad value '%s' (expected a positive time)", text);
	}
	row.width.speed = time.na ? 0 : 1 / time.u.d;
	row.plan = fit_column_text(&t->columns[P_PLAN], r).s;
	return speedup_add_row(g, &row, err);
}

static bool placed(const void *what, struct fit_text name)
{
	const struct fit_table *t = what;

	for (size_t i = 0; i < t->n_rows; i++)
		if (fit_text_eq(fit_column_text(&t->columns[P_APP], i), name))
			return true;
	return false;
}

int speedup_from_placements(const struct cli *cli, const struct speedup_options *o, struct speedup_data *d,
			    struct fit_err *err)
{
	static const struct fit_field fields[P_COLUMNS] = {
		[P_APP] = { "app", FIT_TEXT, FIT_F_NOT_NA }, [P_PLAN] = { "exec_plan", FIT_TEXT, 0 },
		[P_NODES] = { "nodes", FIT_INT, FIT_F_OPTIONAL },
		[P_GPUS] = { "gpus", FIT_INT, FIT_F_NOT_NA }, [P_TIME] = { "iter_time_s", FIT_REAL, 0 }
	};
	struct fit_table t = { 0 };
	struct speedup_group g = { 0 };
	bool *done = NULL;
	int rc = fit_table_read(&t, o->placements, fields, P_COLUMNS, err);

	if (!rc && cli_meta_input(&d->inputs, "placements", t.hash))
		rc = fit_fail_nomem(err);
	if (!rc && t.n_rows == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no rows", o->placements);
	if (!rc)
		rc = speedup_need_classes(o, d, "application", o->placements, placed, &t, err);
	if (!rc && !(done = calloc(t.n_rows + 1, sizeof *done)))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = speedup_begin(cli, d, err);
	for (size_t i = 0; i < t.n_rows && !rc; i++) {
		struct fit_text app = fit_column_text(&t.columns[P_APP], i);

		if (done[i])
			continue;
		g.n = 0;
		g.class = app.s;
		for (size_t k = i; k < t.n_rows && !rc; k++)
			if (fit_text_eq(fit_column_text(&t.columns[P_APP], k), app)) {
				done[k] = true;
				rc = take_placement(&t, k, &g, err);
			}
		if (!rc && rows_app_wanted(&o->app, fit_text_of(app.s)))
			rc = put_placements(o, d, &g, err);
	}
	free(done);
	free(g.rows);
	fit_table_release(&t);
	return rc;
}
