/* SPDX-License-Identifier: MIT */
/* gf-sweep status and reduce: how far the rows of a plan are, and their metrics as one table. */
#include <stdlib.h>
#include <string.h>

#include "tools/sweep_parts.h"
#include "tools/sweep_plan.h"
#include "tools/sweep_result.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Ours, and the plan's. */
static int begin(const struct cli *cli, const struct sweep_plan *p, const char *name,
		 const struct fit_field *fields,
		 size_t n, struct fit_writer *w, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false) || cli_meta_input(&meta, NULL, p->hash) ? fit_fail_nomem(err) : FIT_OK;

	rc = rc ? rc : fit_writer_begin(w, name, &meta, fields, n, err);
	fit_meta_release(&meta);
	return rc;
}

static bool *choose(struct cli *cli, const struct sweep_options *o, const struct sweep_plan *p, int *status)
{
	bool *chosen = calloc(p->n_rows, sizeof *chosen);
	struct fit_err err = { 0 };

	*status = CLI_EXIT_OK;
	if (!chosen) {
		fit_fail_nomem(&err);
		*status = cli_error(cli, &err);
	} else if (sweep_rows_choose(o->rows, p->n_rows, chosen, &err)) {
		*status = cli_usage(cli, "--rows: %s", err.msg);
	}
	return chosen;
}

/* ---- status ---- */

static int write_each(struct cli *cli, const struct sweep_plan *p, const bool *chosen,
		      size_t counts[SWEEP_N_STATES],
		      struct fit_writer *w, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "row", FIT_INT, 0 }, { "state", FIT_TEXT, 0 }, { "result", FIT_TEXT, 0 }, { "said", FIT_TEXT, 0 },
	};
	char said[FIT_ERR_MAX];
	int rc = w ? begin(cli, p, "rows", fields, COUNT(fields), w, err) : FIT_OK;

	for (size_t i = 0; i < p->n_rows && !rc; i++) {
		enum sweep_state state;

		if (!chosen[i])
			continue;
		state = sweep_row_state(&p->rows[i], said, sizeof said);
		counts[state]++;
		if (!w)
			continue;
		fit_writer_int(w, (int64_t)i + 1);
		fit_writer_str(w, sweep_state_names[state]);
		fit_writer_str(w, p->rows[i].result);
		fit_writer_str(w, *said ? said : NULL);
		rc = fit_writer_end_row(w, err);
	}
	return rc;
}

static int write_counts(struct cli *cli, const struct sweep_plan *p, const size_t counts[SWEEP_N_STATES],
			struct fit_writer *w, struct fit_err *err)
{
	static const struct fit_field fields[] = { { "state", FIT_TEXT, 0 }, { "rows", FIT_INT, 0 } };
	int rc = begin(cli, p, "states", fields, COUNT(fields), w, err);

	for (size_t s = 0; s < SWEEP_N_STATES && !rc; s++) {
		fit_writer_str(w, sweep_state_names[s]);
		fit_writer_int(w, (int64_t)counts[s]);
		rc = fit_writer_end_row(w, err);
	}
	return rc;
}

int sweep_verb_status(struct cli *cli, void *given)
{
	const struct sweep_options *o = given;
	size_t counts[SWEEP_N_STATES] = { 0 }, n = 0;
	struct fit_writer *w = NULL;
	struct sweep_plan p = { 0 };
	struct fit_err err = { 0 };
	int rc = sweep_plan_read(&p, cli->operands[0], &err), status;
	bool *chosen = NULL;

	if (rc)
		return cli_error(cli, &err);
	chosen = choose(cli, o, &p, &status);
	if (!status) {
		rc = cli_writer_open(cli, &w, &err);
		if (!rc) {
			rc = write_each(cli, &p, chosen, counts, o->each ? w : NULL, &err);
			rc = rc || o->each ? rc : write_counts(cli, &p, counts, w, &err);
			rc = cli_writer_end(w, rc, &err);
		}
		if (rc)
			status = cli_error(cli, &err);
		for (size_t s = 0; s < SWEEP_N_STATES; s++)
			n += s == SWEEP_FINISHED ? 0 : counts[s];
		if (!status && o->strict && n)
			status = CLI_EXIT_DATA;
	}
	free(chosen);
	sweep_plan_release(&p);
	return status;
}

/* ---- reduce ---- */

struct value {
	size_t metric;
	double value;
};

/* Metrics by name, in the order in which results first have them, and what each row has of them. */
struct reduced {
	char **names;
	size_t n, cap;
	struct fit_index index;
	struct value **values;	/* of each row; NULL: not finished */
	size_t *n_values;
	const char *wanted;	/* names, separated by commas; NULL: all */
};

static void release(struct reduced *d, size_t rows)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->names[i]);
	free(d->names);
	fit_index_release(&d->index);
	for (size_t i = 0; d->values && i < rows; i++)
		free(d->values[i]);
	free(d->values);
	free(d->n_values);
}

static int add_metric(struct reduced *d, struct fit_text name, uint32_t *at)
{
	uint32_t found;

	if (fit_index_put(&d->index, name, (uint32_t)d->n, &found))
		return FIT_ENOMEM;
	*at = found;
	if (found != FIT_NO_INDEX)
		return FIT_OK;
	if (fit_grow(&d->names, &d->cap, d->n + 1, sizeof *d->names))
		return FIT_ENOMEM;
	*at = (uint32_t)d->n;
	d->names[d->n] = fit_strdup(name);
	return d->names[d->n++] ? FIT_OK : FIT_ENOMEM;
}

/* With --metric the columns are those, in this order. */
static int add_wanted(struct reduced *d)
{
	for (const char *s = d->wanted; s; ) {
		size_t n = strcspn(s, ",");
		uint32_t at;

		if (add_metric(d, (struct fit_text){ s, n }, &at))
			return FIT_ENOMEM;
		s = s[n] ? s + n + 1 : NULL;
	}
	return FIT_OK;
}

static int take(struct reduced *d, size_t row, const struct fit_table *t, struct fit_err *err)
{
	const struct fit_column *names = fit_table_column(t, "metric"), *values = fit_table_column(t, "value");

	d->values[row] = calloc(t->n_rows + 1, sizeof **d->values);
	if (!d->values[row])
		return fit_fail_nomem(err);
	for (size_t i = 0; i < t->n_rows; i++) {
		struct fit_text name = fit_column_text(names, i);
		uint32_t at = fit_index_get(&d->index, name);

		if (at == FIT_NO_INDEX && d->wanted)
			continue;
		if (at == FIT_NO_INDEX && add_metric(d, name, &at))
			return fit_fail_nomem(err);
		d->values[row][d->n_values[row]++] = (struct value){ at, values->d[i] };
	}
	return FIT_OK;
}

static int collect(struct cli *cli, const struct sweep_options *o, const struct sweep_plan *p,
		   struct reduced *d,
		   struct fit_err *err)
{
	size_t missing = 0, first = 0;
	int rc = FIT_OK;

	d->wanted = o->metric;
	d->values = calloc(p->n_rows, sizeof *d->values);
	d->n_values = calloc(p->n_rows, sizeof *d->n_values);
	if (!d->values || !d->n_values || add_wanted(d))
		return fit_fail_nomem(err);
	for (size_t i = 0; i < p->n_rows && !rc; i++) {
		struct fit_table t;
		struct fit_err why;

		if (sweep_result_read(&p->rows[i], &t, &why)) {
			first = missing++ ? first : i;
			continue;
		}
		rc = take(d, i, &t, err);
		fit_table_release(&t);
	}
	if (rc || !missing)
		return rc;
	if (o->partial && missing < p->n_rows) {
		cli_warn(cli, "%s: %zu of %zu rows left out: they are not finished", p->input, missing, p->n_rows);
		return FIT_OK;
	}
	return fit_fail(err, FIT_EDATA, "%s: %zu of %zu rows are not finished, row %zu the first "
			"(see gf-sweep status)", p->input, missing, p->n_rows, first + 1);
}

/* With --metric each must be in some result. */
static int check_wanted(const struct reduced *d, size_t rows, struct fit_err *err)
{
	for (size_t m = 0; d->wanted && m < d->n; m++) {
		bool there = false;

		for (size_t i = 0; i < rows && !there; i++)
			for (size_t k = 0; k < d->n_values[i] && !there; k++)
				there = d->values[i][k].metric == m;
		if (!there)
			return fit_fail(err, FIT_EINVAL, "no metric '%s' in the results", d->names[m]);
	}
	return FIT_OK;
}

/* Columns: row, axes, metrics; a metric that is named as an axis is has metric_ in front. */
static int name_columns(const struct sweep_plan *p, const struct reduced *d, struct fit_field *fields,
			char **made)
{
	size_t n = 0;

	fields[n++] = (struct fit_field){ "row", FIT_INT, 0 };
	for (size_t i = 0; i < p->n_axes; i++)
		fields[n++] = (struct fit_field){ p->axes[i], FIT_TEXT, 0 };
	for (size_t m = 0; m < d->n; m++) {
		const char *name = d->names[m];
		struct fit_str s = { 0 };

		for (size_t i = 0; i < 1 + p->n_axes && !s.s; i++)
			if (strcmp(fields[i].name, name) == 0 && fit_str_printf(&s, "metric_%s", name))
				return FIT_ENOMEM;
		made[m] = s.s;
		fields[n++] = (struct fit_field){ s.s ? s.s : name, FIT_REAL, 0 };
	}
	return FIT_OK;
}

static int write_rows(const struct sweep_plan *p, const struct reduced *d, struct fit_writer *w,
		      struct fit_err *err)
{
	double *cells = calloc(d->n + 1, sizeof *cells);
	int rc = cells ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < p->n_rows && !rc; i++) {
		if (!d->values[i])
			continue;
		for (size_t m = 0; m < d->n; m++)
			cells[m] = fit_real_na();
		for (size_t k = 0; k < d->n_values[i]; k++)
			cells[d->values[i][k].metric] = d->values[i][k].value;
		fit_writer_int(w, (int64_t)i + 1);
		for (size_t a = 0; a < p->n_axes; a++)
			fit_writer_str(w, p->rows[i].values[a]);
		for (size_t m = 0; m < d->n; m++) {
			if (fit_real_is_na(cells[m]))
				fit_writer_na(w);
			else
				fit_writer_real(w, cells[m]);
		}
		rc = fit_writer_end_row(w, err);
	}
	free(cells);
	return rc;
}

static int write_reduced(struct cli *cli, const struct sweep_plan *p, const struct reduced *d,
			 struct fit_err *err)
{
	size_t n = 1 + p->n_axes + d->n;
	struct fit_field *fields = calloc(n, sizeof *fields);
	char **made = calloc(d->n + 1, sizeof *made);
	struct fit_writer *w = NULL;
	int rc = !fields || !made || name_columns(p, d, fields, made) ? fit_fail_nomem(err) : FIT_OK;

	rc = rc ? rc : cli_writer_open(cli, &w, err);
	if (!rc) {
		rc = begin(cli, p, NULL, fields, n, w, err);
		rc = rc ? rc : write_rows(p, d, w, err);
		rc = cli_writer_end(w, rc, err);
	}
	for (size_t m = 0; made && m < d->n; m++)
		free(made[m]);
	free(made);
	free(fields);
	return rc;
}

int sweep_verb_reduce(struct cli *cli, void *given)
{
	const struct sweep_options *o = given;
	struct reduced d = { .names = NULL };
	struct sweep_plan p = { 0 };
	struct fit_err err = { 0 };
	int rc = sweep_plan_read(&p, cli->operands[0], &err), status = CLI_EXIT_OK;

	if (rc)
		return cli_error(cli, &err);
	rc = collect(cli, o, &p, &d, &err);
	if (!rc && check_wanted(&d, p.n_rows, &err))
		status = cli_usage(cli, "--metric: %s", err.msg);
	else if (!rc)
		rc = write_reduced(cli, &p, &d, &err);
	if (rc)
		status = cli_error(cli, &err);
	release(&d, p.n_rows);
	sweep_plan_release(&p);
	return status;
}
