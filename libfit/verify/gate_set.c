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
	if (c->type == FIT_REAL)
		return c->d[row];	/* a missing one is a NaN */
	if (c->type == FIT_TEXT || c->i[row] == FIT_INT_NA)
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

int fit_gate_set_numbers(struct fit_gate_set *s, size_t f, const struct fit_table *t,
			 const struct fit_column *c,
			 struct fit_err *err)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		double v = fit_gate_number(c, i);

		if (c->type == FIT_TEXT && fit_column_text(c, i).s)
			return fit_table_fail(t, i, FIT_EDATA, c->name, err, "bad number '%.*s'",
					      FIT_TEXT_ARG(fit_column_text(c, i)));
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

/* ---- errors ---- */

static bool both(const struct fit_gate_set *s, const double *p, size_t row)
{
	return isfinite(s->y[row]) && isfinite(p[row]);
}

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/* The check loss of quantile q, which is least at it (Koenker and Bassett 1978). */
static double check_loss(double off, double q)
{
	return off >= 0 ? q * off : (q - 1) * off;
}

/* The constant with the least loss: the mean, or a quantile. */
static double best_constant(const struct fit_gate_set *s, const double *p, const uint32_t *at, size_t n)
{
	double sum = 0, *y;
	size_t k = 0;

	if (isnan(s->quantile)) {
		for (size_t i = 0; i < n; i++) {
			sum += both(s, p, at[i]) ? s->y[at[i]] : 0;
			k += both(s, p, at[i]);
		}
		return sum / (double)k;
	}
	y = malloc((n + 1) * sizeof *y);
	for (size_t i = 0; y && i < n; i++)
		if (both(s, p, at[i]))
			y[k++] = s->y[at[i]];
	if (!y || !k) {
		free(y);
		return (double)NAN;
	}
	qsort(y, k, sizeof *y, by_value);
	sum = y[(size_t)(s->quantile * (double)(k - 1))];
	free(y);
	return sum;
}

static double unexplained(const struct fit_gate_set *s, const double *p, const uint32_t *at, size_t n)
{
	double constant = best_constant(s, p, at, n), loss = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		double y = s->y[at[i]], off = y - p[at[i]], most = y - constant;

		if (!both(s, p, at[i]))
			continue;
		loss += isnan(s->quantile) ? off * off : check_loss(off, s->quantile);
		all += isnan(s->quantile) ? most * most : check_loss(most, s->quantile);
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
	double sum = 0;
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		k += both(s, p, at[i]);
	if (!k)
		return (double)NAN;
	if (metric == FIT_GATE_UNEXPLAINED)
		return unexplained(s, p, at, n);
	for (size_t i = 0; i < n; i++)
		sum += both(s, p, at[i]) ? terms[metric](p[at[i]], s->y[at[i]]) : 0;
	return metric == FIT_GATE_LOG ? sqrt(sum / (double)k) : sum / (double)k;
}
