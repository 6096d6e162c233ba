/* SPDX-License-Identifier: MIT */
/* Rows of the model gate: tables as numbers, and how wrong predictions of them are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/cell.h"
#include "libfit/table/source.h"
#include "libfit/verify/gate_kind.h"

/* ---- operands ---- */

int fit_gate_source_open(struct fit_gate_source *s, const char *operand, struct fit_err *err)
{
	struct fit_source *in = NULL;
	int rc;
	size_t i = 0;

	*s = (struct fit_gate_source){ .operand = operand };
	if (fit_is_store(operand))
		return FIT_OK;
	rc = fit_source_open(&in, operand, err);
	rc = rc ? rc : fit_source_read_all(in, &s->bytes, err);
	if (!rc) {
		size_t n = strlen(fit_source_name(in));

		n = n < sizeof s->name ? n : sizeof s->name - 1;
		memcpy(s->name, fit_source_name(in), n);
		fit_source_hash(in, s->hash);
		while (i < s->bytes.n && strchr(" \t\r\n", s->bytes.s[i]))
			i++;
		s->json = i < s->bytes.n && s->bytes.s[i] == '{';
	}
	fit_source_close(in);
	if (rc)
		fit_str_release(&s->bytes);
	return rc;
}

void fit_gate_source_release(struct fit_gate_source *s)
{
	fit_str_release(&s->bytes);
}

int fit_gate_source_reader(const struct fit_gate_source *s, struct fit_reader **r, struct fit_err *err)
{
	if (fit_is_store(s->operand))
		return fit_reader_open(r, s->operand, err);
	return fit_reader_open_memory(r, s->name, s->bytes.s ? s->bytes.s : "", s->bytes.n, err);
}

int fit_gate_source_table(struct fit_gate_source *s, struct fit_table *t, const struct fit_field *fields,
			  size_t n, struct fit_err *err)
{
	struct fit_reader *r = NULL;
	int rc = fit_gate_source_reader(s, &r, err);

	rc = rc ? rc : fit_table_read_next(t, r, fields, n, err);
	if (rc == FIT_END)
		rc = fit_fail(err, FIT_EPARSE, "%s: no table", fit_reader_input(r));
	if (!rc && (rc = fit_reader_only(r, err)) != FIT_OK)
		fit_table_release(t);
	if (!rc && !*s->hash)
		fit_reader_hash(r, s->hash);
	fit_reader_close(r);
	return rc;
}

/* ---- rows ---- */

int fit_gate_set_init(struct fit_gate_set *s, size_t n, size_t n_x, bool regions, struct fit_err *err)
{
	*s = (struct fit_gate_set){ .n = n, .n_x = n_x, .quantile = (double)NAN };
	if (n > UINT32_MAX / 2)
		return fit_fail(err, FIT_EDATA, "too many rows");
	s->x = calloc(n * n_x + 1, sizeof *s->x);
	s->y = calloc(n + 1, sizeof *s->y);
	s->group = calloc(n + 1, sizeof *s->group);
	s->region = regions ? calloc(n + 1, sizeof *s->region) : NULL;
	if (!s->x || !s->y || !s->group || (regions && !s->region)) {
		fit_gate_set_release(s);
		return fit_fail_nomem(err);
	}
	return FIT_OK;
}

void fit_gate_set_release(struct fit_gate_set *s)
{
	for (size_t i = 0; i < s->n_groups; i++)
		free(s->groups[i]);
	free(s->groups);
	free(s->x);
	free(s->y);
	free(s->w);
	free(s->group);
	free(s->region);
	fit_index_release(&s->index);
	*s = (struct fit_gate_set){ 0 };
}

int fit_gate_set_group(struct fit_gate_set *s, size_t row, struct fit_text name, struct fit_err *err)
{
	uint32_t found;

	name = name.s ? name : FIT_TEXT_LIT("");
	if (fit_index_put(&s->index, name, (uint32_t)s->n_groups, &found))
		return fit_fail_nomem(err);
	if (found == FIT_NO_INDEX) {
		found = (uint32_t)s->n_groups;
		if (fit_grow(&s->groups, &s->cap_groups, s->n_groups + 1, sizeof *s->groups) ||
		    !(s->groups[s->n_groups] = fit_strdup(name)))
			return fit_fail_nomem(err);
		s->n_groups++;
	}
	s->group[row] = found;
	return FIT_OK;
}

double fit_gate_number(const struct fit_column *c, size_t row)
{
	double v;

	if (c->type == FIT_REAL)
		return c->d[row];	/* a missing one is a NaN */
	if (c->type == FIT_TEXT)
		return fit_column_text(c, row).s && !fit_parse_double_any(fit_column_text(c, row), &v) ? v :
		       (double)NAN;
	if (c->i[row] == FIT_INT_NA)
		return (double)NAN;
	return c->type == FIT_TIME ? fit_time_to_double(c->i[row]) : (double)c->i[row];
}

int fit_gate_column(const struct fit_table *t, const char *name, const struct fit_column **c,
		    struct fit_err *err)
{
	*c = fit_table_column(t, name);
	return *c ? FIT_OK : fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s'", t->input, name);
}

struct fit_text fit_gate_text(const struct fit_column *c, size_t row, char buf[40])
{
	struct fit_cell cell;
	size_t n;

	if (c->type == FIT_TEXT)
		return fit_column_text(c, row);
	cell = fit_column_cell(c, row);
	if (cell.na)
		return (struct fit_text){ NULL, 0 };
	n = fit_cell_format(c->type, &cell, buf);
	return (struct fit_text){ buf, n };
}

/* Above it squares are not finite, and no tree is grown. */
#define NUMBER_MAX 1e150

/* The first text of a column that is no number; its row is n where there is none. */
static struct fit_text no_number(const struct fit_column *c, size_t n, size_t *row)
{
	struct fit_text t = { NULL, 0 };
	double v;

	for (*row = 0; c->type == FIT_TEXT && *row < n; ++*row) {
		t = fit_column_text(c, *row);
		if (t.s && fit_parse_double_any(t, &v))
			return t;
	}
	*row = n;
	return t;
}

int fit_gate_set_numbers(struct fit_gate_set *s, size_t f, const struct fit_table *t,
			 const struct fit_column *c,
			 struct fit_err *err)
{
	size_t row;
	struct fit_text text = no_number(c, t->n_rows, &row);

	if (row < t->n_rows)
		return fit_table_fail(t, row, FIT_EDATA, c->name, err, "bad number '%.*s'", FIT_TEXT_ARG(text));
	for (size_t i = 0; i < t->n_rows; i++) {
		double v = fit_gate_number(c, i);

		if (f == SIZE_MAX && fabs(v) > NUMBER_MAX)	/* not nan, which is missing */
			return fit_table_fail(t, i, FIT_EDATA, c->name, err,
					      "bad value '%g' (expected a number of at most 1e150 in size)", v);
		if (f == SIZE_MAX)
			s->y[i] = v;
		else
			s->x[i * s->n_x + f] = v;
	}
	return FIT_OK;
}

int fit_gate_set_weights(struct fit_gate_set *s, const struct fit_table *t, const struct fit_column *c,
			 struct fit_err *err)
{
	size_t row;
	struct fit_text text = no_number(c, s->n, &row);

	if (!s->w && !(s->w = malloc((s->n + 1) * sizeof *s->w)))
		return fit_fail_nomem(err);
	if (row < s->n)
		return fit_table_fail(t, row, FIT_EDATA, c->name, err, "bad weight '%.*s' (expected 0 or more)",
				      FIT_TEXT_ARG(text));
	for (size_t i = 0; i < s->n; i++) {
		char buf[40];

		text = fit_gate_text(c, i, buf);
		s->w[i] = fit_gate_number(c, i);
		if (!text.s)
			return fit_table_fail(t, i, FIT_EDATA, c->name, err, "no weight (expected 0 or more)");
		if (!(s->w[i] >= 0) || s->w[i] > NUMBER_MAX)
			return fit_table_fail(t, i, FIT_EDATA, c->name, err, "bad weight '%.*s' (expected 0 or more)",
					      FIT_TEXT_ARG(text));
	}
	return FIT_OK;
}

double fit_gate_weight(const struct fit_gate_set *s, size_t i)
{
	return s->w ? s->w[i] : 1;
}

/* ---- errors ---- */

static bool both(const struct fit_gate_set *s, const double *p, size_t row)
{
	return isfinite(s->y[row]) && isfinite(p[row]) && fit_gate_weight(s, row) > 0;
}

struct weighed {
	double y, w;
};

static int by_value(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;

	if (a->y < b->y || a->y > b->y)
		return a->y < b->y ? -1 : 1;
	return (a->w > b->w) - (a->w < b->w);
}

/* The check loss of quantile q, which is least at it (Koenker and Bassett 1978). */
static double check_loss(double off, double q)
{
	return off >= 0 ? q * off : (q - 1) * off;
}

/* The least value up to which there is a share q of the weight. */
static double quantile_of(struct weighed *v, size_t n, double q)
{
	double all = 0, sum = 0;
	size_t i = 0;

	qsort(v, n, sizeof *v, by_value);
	for (size_t k = 0; k < n; k++)
		all += v[k].w;
	while (i + 1 < n && (sum += v[i].w) < q * all)
		i++;
	return v[i].y;
}

/* The constant with the least loss: the mean, or a quantile. */
static double best_constant(const struct fit_gate_set *s, const double *p, const uint32_t *at, size_t n)
{
	double sum = 0, weight = 0;
	struct weighed *v;
	size_t k = 0;

	if (isnan(s->quantile)) {
		for (size_t i = 0; i < n; i++) {
			double w = both(s, p, at[i]) ? fit_gate_weight(s, at[i]) : 0;

			sum += w > 0 ? w * s->y[at[i]] : 0;
			weight += w;
		}
		return sum / weight;
	}
	v = malloc((n + 1) * sizeof *v);
	for (size_t i = 0; v && i < n; i++)
		if (both(s, p, at[i]))
			v[k++] = (struct weighed){ s->y[at[i]], fit_gate_weight(s, at[i]) };
	sum = v && k ? quantile_of(v, k, s->quantile) : (double)NAN;
	free(v);
	return sum;
}

static double unexplained(const struct fit_gate_set *s, const double *p, const uint32_t *at, size_t n)
{
	double constant = best_constant(s, p, at, n), loss = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		double y = s->y[at[i]], off = y - p[at[i]], most = y - constant, w = fit_gate_weight(s, at[i]);

		if (!both(s, p, at[i]))
			continue;
		loss += w * (isnan(s->quantile) ? off * off : check_loss(off, s->quantile));
		all += w * (isnan(s->quantile) ? most * most : check_loss(most, s->quantile));
	}
	/* of rows that are all the same nothing can be explained, but they can be missed */
	return all > 0 ? loss / all : loss > 0 ? 1 : 0;
}

static double term_relative(double p, double y)
{
	return 100 * fabs(p - y) / fabs(y);
}

static double term_wrong(double p, double y)
{
	return fabs(p - y) > 0.5;
}

static double term_log(double p, double y)
{
	double l = log(p / y);

	return l * l;
}

double fit_gate_error(enum fit_gate_metric metric, const struct fit_gate_set *s, const double *p,
		      const uint32_t *at, size_t n)
{
	static double (*const terms[])(double, double) = {
		[FIT_GATE_RELATIVE] = term_relative, [FIT_GATE_UNEXPLAINED] = NULL,
		[FIT_GATE_WRONG] = term_wrong, [FIT_GATE_LOG] = term_log
	};
	double sum = 0, weight = 0;

	for (size_t i = 0; i < n; i++)
		weight += both(s, p, at[i]) ? fit_gate_weight(s, at[i]) : 0;
	if (!(weight > 0))
		return (double)NAN;
	if (metric == FIT_GATE_UNEXPLAINED)
		return unexplained(s, p, at, n);
	for (size_t i = 0; i < n; i++)
		if (both(s, p, at[i]))
			sum += fit_gate_weight(s, at[i]) * terms[metric](p[at[i]], s->y[at[i]]);
	return metric == FIT_GATE_LOG ? sqrt(sum / weight) : sum / weight;
}
