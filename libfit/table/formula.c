/* SPDX-License-Identifier: MIT */
/* A parser by recursive descent that works out what it reads. */
#include <math.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/formula.h"

#define DEPTH_MAX 100

struct parser {
	const char *at;
	fit_formula_find *find;		/* NULL: nothing is looked up */
	void *arg;
	int depth;
	struct fit_err *err;
};

static int fault(const struct parser *p, const char *expected)
{
	return fit_fail(p->err, FIT_EPARSE, "bad formula at '%.30s' (expected %s)",
			*p->at ? p->at : "its end", expected);
}

static void blanks(struct parser *p)
{
	while (*p->at == ' ')
		p->at++;
}

/* Pass over the sign c, and blanks around it. */
static bool take(struct parser *p, char c)
{
	blanks(p);
	if (*p->at != c)
		return false;
	p->at++;
	blanks(p);
	return true;
}

/* ---- cells ---- */

enum gather { ONE, MIN, MAX, MEAN, SUM, COUNT };
static const char *const gather_names[] = { "", "min", "max", "mean", "sum", "count" };
#define N_GATHER (sizeof gather_names / sizeof *gather_names)

#define CONDITIONS_MAX 8
struct cells {
	struct fit_text table, column, where[CONDITIONS_MAX], value[CONDITIONS_MAX];
	const struct fit_column *in[CONDITIONS_MAX];
	size_t n;
};

/* Up to the next of the stops, without blanks at its end. */
static struct fit_text word(struct parser *p, const char *stops)
{
	struct fit_text t = { p->at, strcspn(p->at, stops) };

	p->at += t.n;
	while (t.n && t.s[t.n - 1] == ' ')
		t.n--;
	return t;
}

/* Behind the opening brace, up to and with the closing one. */
static int parse_cells(struct parser *p, struct cells *c, enum gather how)
{
	blanks(p);
	c->table = word(p, " }");
	blanks(p);
	if (how != COUNT) {
		c->column = word(p, " }");
		blanks(p);
		if (!c->column.n)
			return fault(p, "a column");
	}
	while (*p->at && *p->at != '}') {
		if (c->n == CONDITIONS_MAX)
			return fault(p, "no more conditions");
		blanks(p);
		c->where[c->n] = word(p, "=,}");
		if (!c->where[c->n].n || *p->at != '=')
			return fault(p, "a condition COLUMN=VALUE");
		p->at++;
		c->value[c->n++] = word(p, ",}");
		if (*p->at == ',' && p->at[1] != '}')
			p->at++;
	}
	if (!c->table.n || !take(p, '}'))
		return fault(p, "{TABLE COLUMN CONDITIONS}");
	return FIT_OK;
}

static int column_of(const struct parser *p, const struct fit_table *t, const struct cells *c,
		     struct fit_text name, const struct fit_column **column)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (fit_text_is(name, t->columns[i].name)) {
			*column = &t->columns[i];
			return FIT_OK;
		}
	}
	return fit_fail(p->err, FIT_ENOTFOUND, "table %.*s: no column '%.*s'", FIT_TEXT_ARG(c->table),
			FIT_TEXT_ARG(name));
}

/* The number in a cell; false: it is missing, or is none. */
static bool number_of(const struct fit_column *column, size_t row, double *value)
{
	struct fit_cell cell = fit_column_cell(column, row);

	if (cell.na)
		return false;
	switch (column->type) {
	case FIT_INT: *value = (double)cell.u.i; return true;
	case FIT_TIME: *value = fit_time_to_double(cell.u.i); return true;
	case FIT_REAL: *value = cell.u.d; return true;
	case FIT_TEXT: break;
	}
	/* "48.5 %" */
	for (size_t n = 0; n < cell.u.t.n; n++)
		if (cell.u.t.s[n] == ' ')
			cell.u.t.n = n;
	return fit_parse_double_any(cell.u.t, value) == FIT_OK;
}

static bool meets(const struct cells *c, size_t row)
{
	for (size_t k = 0; k < c->n; k++) {
		double is, wanted;

		if (number_of(c->in[k], row, &is) && fit_parse_double_any(c->value[k], &wanted) == FIT_OK) {
			if (!(is == wanted))
				return false;
		} else if (c->in[k]->type != FIT_TEXT || fit_column_cell(c->in[k], row).na ||
			   !fit_text_eq(fit_column_text(c->in[k], row), c->value[k])) {
			return false;
		}
	}
	return true;
}

static int gather(const struct parser *p, struct cells *c, enum gather how, double *value)
{
	const struct fit_column *column = NULL;
	const struct fit_table *t;
	double all = 0;
	size_t n = 0;
	int rc = p->find(p->arg, c->table, &t, p->err);

	if (!rc && how != COUNT)
		rc = column_of(p, t, c, c->column, &column);
	for (size_t k = 0; k < c->n && !rc; k++)
		rc = column_of(p, t, c, c->where[k], &c->in[k]);
	for (size_t i = 0; !rc && i < t->n_rows; i++) {
		double x = 0;

		if (!meets(c, i))
			continue;
		if (how == ONE && n++)
			continue;	/* too many: what they hold does not matter */
		if (column && !number_of(column, i, &x))
			return fit_fail(p->err, FIT_EDATA, "table %.*s: no number in column %.*s of row %zu",
					FIT_TEXT_ARG(c->table), FIT_TEXT_ARG(c->column), i + 1);
		if (how == MIN)
			all = n && all < x ? all : x;
		else if (how == MAX)
			all = n && all > x ? all : x;
		else
			all += x;
		n += how != ONE;
	}
	if (rc)
		return rc;
	if (!n && how != COUNT)
		return fit_fail(p->err, FIT_ENOTFOUND, "table %.*s: no such row", FIT_TEXT_ARG(c->table));
	if (n > 1 && how == ONE)
		return fit_fail(p->err, FIT_EDATA, "table %.*s: %zu such rows (expected one)",
				FIT_TEXT_ARG(c->table), n);
	*value = how == COUNT ? (double)n : how == MEAN ? all / (double)n : all;
	return FIT_OK;
}

static int cells(struct parser *p, enum gather how, double *value)
{
	struct cells c = { 0 };
	int rc = parse_cells(p, &c, how);

	*value = 0;
	return rc || !p->find ? rc : gather(p, &c, how, value);
}

/* ---- sums and products ---- */

static int sum(struct parser *p, double *value);

/* min(A, B, ...), max(...), abs(A): behind the opening parenthesis */
static int call(struct parser *p, bool abs, enum gather how, double *value)
{
	int rc = sum(p, value);

	while (!rc && !abs && take(p, ',')) {
		double x;

		rc = sum(p, &x);
		if (!rc && (how == MIN ? x < *value : x > *value))
			*value = x;
	}
	if (!rc && !take(p, ')'))
		rc = fault(p, "')'");
	if (!rc && abs)
		*value = fabs(*value);
	return rc;
}

static int named(struct parser *p, double *value)
{
	struct fit_text name = { p->at, strspn(p->at, "abcdefghijklmnopqrstuvwxyz") };

	for (enum gather how = MIN; how < N_GATHER; how++) {
		if (!fit_text_is(name, gather_names[how]))
			continue;
		p->at += name.n;
		if (take(p, '{'))
			return cells(p, how, value);
		if (how <= MAX && take(p, '('))
			return call(p, false, how, value);
		return fault(p, "'{'");
	}
	if (!fit_text_is(name, "abs"))
		return fault(p, "a number, {, ( or a function");
	p->at += name.n;
	return take(p, '(') ? call(p, true, ONE, value) : fault(p, "'('");
}

static int factor(struct parser *p, double *value)
{
	struct fit_text digits;
	int rc;

	if (++p->depth > DEPTH_MAX)
		return fit_fail(p->err, FIT_EPARSE, "bad formula (nested too deeply)");
	if (take(p, '-')) {
		rc = factor(p, value);
		*value = -*value;
	} else if (take(p, '(')) {
		rc = sum(p, value);
		if (!rc && !take(p, ')'))
			rc = fault(p, "')'");
	} else if (take(p, '{')) {
		rc = cells(p, ONE, value);
	} else if (strchr("0123456789.", *p->at) && *p->at) {
		digits = (struct fit_text){ p->at, strspn(p->at, "0123456789.") };
		if ((p->at[digits.n] | 32) == 'e') {
			digits.n++;
			digits.n += p->at[digits.n] == '-' || p->at[digits.n] == '+';
			digits.n += strspn(p->at + digits.n, "0123456789");
		}
		rc = fit_parse_double(digits, value) ? fault(p, "a number") : FIT_OK;
		if (!rc)
			p->at += digits.n;
	} else {
		rc = named(p, value);
	}
	p->depth--;
	return rc;
}

static int product(struct parser *p, double *value)
{
	int rc = factor(p, value);

	while (!rc) {
		bool times = take(p, '*');
		double x;

		if (!times && !take(p, '/'))
			break;
		rc = factor(p, &x);
		if (!rc)
			*value = times ? *value * x : *value / x;
	}
	return rc;
}

static int sum(struct parser *p, double *value)
{
	int rc = product(p, value);

	while (!rc) {
		bool plus = take(p, '+');
		double x;

		if (!plus && !take(p, '-'))
			break;
		rc = product(p, &x);
		if (!rc)
			*value = plus ? *value + x : *value - x;
	}
	return rc;
}

/* ---- comparisons ---- */

static int comparison(struct parser *p, double *value)
{
	static const char *const signs[] = { "<=", ">=", "==", "<", ">" };
	bool all = true, any = false;
	double a, b;
	int rc = sum(p, &a);

	while (!rc) {
		size_t k = 0;

		blanks(p);
		while (k < 5 && strncmp(p->at, signs[k], strlen(signs[k])) != 0)
			k++;
		if (k == 5)
			break;
		p->at += strlen(signs[k]);
		rc = sum(p, &b);
		if (rc)
			break;
		all &= k == 0 ? a <= b : k == 1 ? a >= b : k == 2 ? a == b : k == 3 ? a < b : a > b;
		any = true;
		a = b;
	}
	*value = any ? all : a;
	return rc;
}

int fit_formula_value(const char *formula, fit_formula_find *find, void *arg, double *value,
		      struct fit_err *err)
{
	struct parser p = { .at = formula, .find = find, .arg = arg, .err = err };
	double x = 0;
	int rc = comparison(&p, &x);

	blanks(&p);
	if (!rc && *p.at)
		rc = fault(&p, "an operator or the end");
	if (!rc)
		*value = find ? x : 0;
	return rc;
}
