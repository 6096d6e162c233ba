/* SPDX-License-Identifier: MIT */
#include "tools/sweep_grid.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/text.h"
#include "libfit/table/table.h"

/* Columns that a plan has besides the axes. */
static const char *const reserved[] = { "row", "hash", "needs", "replay", "metrics", "result", NULL };

void sweep_grid_release(struct sweep_grid *g)
{
	for (size_t i = 0; i < g->n; i++) {
		for (size_t k = 0; k < g->axes[i].n; k++)
			free(g->axes[i].values[k]);
		free(g->axes[i].values);
		free(g->axes[i].name);
		free(g->axes[i].column);
	}
	free(g->axes);
	*g = (struct sweep_grid){ 0 };
}

/* ---- axes ---- */

/* A new axis; the name may have '_' for '-', as columns have. */
static int new_axis(struct sweep_grid *g, struct fit_text name, struct sweep_axis **axis, struct fit_err *err)
{
	struct sweep_axis *a;

	if (!name.n || name.s[0] < 'a' || name.s[0] > 'z')
		return fit_fail(err, FIT_EINVAL, "bad axis '%.*s' (expected a name that starts with a-z)",
				FIT_TEXT_ARG(name));
	if (fit_grow(&g->axes, &g->cap, g->n + 1, sizeof *g->axes))
		return fit_fail_nomem(err);
	a = &g->axes[g->n];
	*a = (struct sweep_axis){ .name = fit_strdup(name), .column = fit_strdup(name) };
	g->n++;
	if (!a->name || !a->column)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < name.n; i++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", name.s[i]))
			return fit_fail(err, FIT_EINVAL, "bad axis '%.*s' (expected a-z, 0-9 and -)",
					FIT_TEXT_ARG(name));
		a->name[i] = name.s[i] == '_' ? '-' : name.s[i];
		a->column[i] = name.s[i] == '-' ? '_' : name.s[i];
	}
	for (size_t i = 0; reserved[i]; i++)
		if (strcmp(a->column, reserved[i]) == 0)
			return fit_fail(err, FIT_EINVAL, "axis '%s': a plan has a column of that name", a->name);
	for (size_t i = 0; i + 1 < g->n; i++)
		if (strcmp(a->column, g->axes[i].column) == 0)
			return fit_fail(err, FIT_EINVAL, "axis '%s' is given twice", a->name);
	*axis = a;
	return FIT_OK;
}

/* value.s NULL: not given. */
static int add_value(struct sweep_axis *a, struct fit_text value, struct fit_err *err)
{
	char *copy;

	if (a->n == SWEEP_ROWS_MAX)
		return fit_fail(err, FIT_EINVAL, "axis '%s': more than %zu values", a->name, SWEEP_ROWS_MAX);
	copy = value.s ? fit_strdup(value) : NULL;
	if ((value.s && !copy) || fit_grow(&a->values, &a->cap, a->n + 1, sizeof *a->values)) {
		free(copy);
		return fit_fail_nomem(err);
	}
	a->values[a->n++] = copy;
	return FIT_OK;
}

static bool means_absent(struct fit_text t)
{
	return fit_text_is(t, "NA") || fit_text_is(t, "off");
}

/* Up to three numbers parted by colons; 0 where it is something else. */
static int read_range(struct fit_text t, int64_t part[3])
{
	int n = 0;

	for (size_t at = 0; at <= t.n; ) {
		const char *colon = at < t.n ? memchr(t.s + at, ':', t.n - at) : NULL;
		size_t end = colon ? (size_t)(colon - t.s) : t.n;

		if (n == 3 || fit_parse_time((struct fit_text){ t.s + at, end - at }, &part[n++]))
			return 0;
		at = end + 1;
	}
	return n;
}

static int add_range(struct sweep_axis *a, struct fit_text text, const int64_t part[3], struct fit_err *err)
{
	bool up = part[2] > 0;
	/* unsigned, as differences of int64 need not fit one */
	uint64_t from = (uint64_t)part[0], step = (uint64_t)part[2], size = up ? step : -step;
	uint64_t span = up ? (uint64_t)part[1] - from : from - (uint64_t)part[1];
	char number[FIT_NUM_MAX];
	int rc = FIT_OK;

	if (part[2] == 0 || (up ? part[1] < part[0] : part[1] > part[0]) || span / size >= SWEEP_ROWS_MAX)
		return fit_fail(err, FIT_EINVAL, "axis '%s': bad range '%.*s' (expected FROM:TO or FROM:TO:STEP with "
				"at most %zu values)", a->name, FIT_TEXT_ARG(text), SWEEP_ROWS_MAX);
	for (uint64_t k = 0; k <= span / size && !rc; k++) {
		size_t n = fit_format_time(number, (int64_t)(from + k * step));

		rc = add_value(a, (struct fit_text){ number, n }, err);
	}
	return rc;
}

/* Numbers and colons, that make no range: a slip, and no value of an option. */
static bool is_bad_range(struct fit_text t)
{
	bool colon = false;

	for (size_t i = 0; i < t.n; i++) {
		if (!memchr("0123456789.:+-", t.s[i], 14))
			return false;
		colon = colon || t.s[i] == ':';
	}
	return colon;
}

static int add_item(struct sweep_axis *a, struct fit_text t, struct fit_err *err)
{
	int64_t part[3] = { 0, 0, FIT_NS_PER_S };

	if (!t.n)
		return fit_fail(err, FIT_EINVAL, "axis '%s': an empty value (expected NA where the option is not given)",
				a->name);
	if (means_absent(t))
		return add_value(a, (struct fit_text){ 0 }, err);
	if (read_range(t, part) >= 2)
		return add_range(a, t, part, err);
	if (is_bad_range(t))
		return fit_fail(err, FIT_EINVAL, "axis '%s': bad range '%.*s' (expected FROM:TO or FROM:TO:STEP with "
				"at most %zu values)", a->name, FIT_TEXT_ARG(t), SWEEP_ROWS_MAX);
	return add_value(a, t, err);
}

static int check_twice(const struct sweep_axis *a, struct fit_err *err)
{
	struct fit_index seen = { 0 };
	int rc = FIT_OK;

	for (size_t k = 0; k < a->n && !rc; k++) {
		struct fit_text t = fit_text_of(a->values[k] ? a->values[k] : "NA");
		uint32_t found;

		if (fit_index_put(&seen, t, (uint32_t)k, &found))
			rc = fit_fail_nomem(err);
		else if (found != FIT_NO_INDEX)
			rc = fit_fail(err, FIT_EINVAL, "axis '%s': value '%.*s' is given twice", a->name,
				      FIT_TEXT_ARG(t));
	}
	fit_index_release(&seen);
	return rc;
}

int sweep_grid_axis(struct sweep_grid *g, const char *text, struct fit_err *err)
{
	const char *equals = strchr(text, '=');
	struct fit_str item = { 0 };
	struct sweep_axis *a;
	int rc;

	if (!equals)
		return fit_fail(err, FIT_EINVAL, "bad axis '%s' (expected NAME=VALUE,VALUE…)", text);
	rc = new_axis(g, (struct fit_text){ text, (size_t)(equals - text) }, &a, err);
	for (const char *s = equals + 1; !rc; s++) {
		if (*s && *s != ',') {
			s += s[0] == '\\' && s[1] == ',';
			rc = fit_str_add(&item, s, 1) ? fit_fail_nomem(err) : FIT_OK;
			continue;
		}
		rc = add_item(a, (struct fit_text){ item.s ? item.s : "", item.n }, err);
		fit_str_clear(&item);
		if (!*s)
			break;
	}
	fit_str_release(&item);
	return rc ? rc : check_twice(a, err);
}

/* ---- a table of combinations ---- */

struct fit_text sweep_cell_text(const struct fit_cell *c, enum fit_type type, char number[FIT_NUM_MAX])
{
	if (c->na)
		return (struct fit_text){ 0 };
	switch (type) {
	case FIT_TEXT:
		return c->u.t;
	case FIT_INT:
		return (struct fit_text){ number, fit_format_int64(number, c->u.i) };
	case FIT_TIME:
		return (struct fit_text){ number, fit_format_time(number, c->u.i) };
	case FIT_REAL:
		break;
	}
	return (struct fit_text){ number, fit_format_double(number, c->u.d) };
}

static int table_rows(struct sweep_grid *g, struct fit_reader *r, struct fit_err *err)
{
	const struct fit_field *f = fit_reader_columns(r);
	struct fit_cell *cells = calloc(g->n + 1, sizeof *cells);
	char number[FIT_NUM_MAX];
	int rc = cells ? FIT_OK : fit_fail_nomem(err);

	while (!rc && !(rc = fit_reader_row(r, cells, err))) {
		if (g->axes[0].n == SWEEP_ROWS_MAX)
			rc = fit_reader_fail(r, FIT_EDATA, NULL, err, "too many rows (expected at most %zu)",
					     SWEEP_ROWS_MAX);
		for (size_t i = 0; i < g->n && !rc; i++) {
			struct fit_text t = sweep_cell_text(&cells[i], f[i].type, number);

			if (!cells[i].na && !t.n)
				rc = fit_reader_fail(r, FIT_EDATA, f[i].name, err,
						     "an empty value (expected NA where the option is not given)");
			else
				rc = add_value(&g->axes[i], t.n && means_absent(t) ? (struct fit_text){ 0 } : t, err);
		}
	}
	free(cells);
	return rc == FIT_END ? FIT_OK : rc;
}

int sweep_grid_table(struct sweep_grid *g, const char *operand, struct fit_err *err)
{
	struct sweep_axis *a;
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	if (rc)
		return rc;
	rc = fit_reader_begin(r, NULL, 0, err);
	for (size_t i = 0; !rc && i < fit_reader_n_columns(r); i++)
		if (new_axis(g, fit_text_of(fit_reader_columns(r)[i].name), &a, err)) {
			rc = fit_fail_prefix(err, FIT_EDATA, "%s", fit_reader_input(r));
			rc = err->code = rc == FIT_EINVAL ? FIT_EDATA : rc;
		}
	rc = rc ? rc : table_rows(g, r, err);
	if (!rc && !g->axes[0].n)
		rc = fit_fail(err, FIT_EDATA, "%s: no rows", fit_reader_input(r));
	rc = rc ? rc : fit_reader_only(r, err);
	if (!rc)
		fit_reader_hash(r, g->hash);
	g->n_tied = g->n;
	fit_reader_close(r);
	return rc;
}

/* ---- combinations ---- */

int sweep_grid_size(const struct sweep_grid *g, size_t *rows, struct fit_err *err)
{
	size_t n = g->n_tied ? g->axes[0].n : 1;

	if (!g->n)
		return fit_fail(err, FIT_EINVAL, "no axes (expected --axis or --grid)");
	for (size_t i = g->n_tied; i < g->n; i++) {
		if (g->axes[i].n > SWEEP_ROWS_MAX / n)
			return fit_fail(err, FIT_EINVAL, "more than %zu combinations of the axes", SWEEP_ROWS_MAX);
		n *= g->axes[i].n;
	}
	*rows = n;
	return FIT_OK;
}

const char *sweep_grid_value(const struct sweep_grid *g, size_t axis, size_t row)
{
	size_t below = 1;

	for (size_t i = g->n; i-- > g->n_tied && i > axis; )
		below *= g->axes[i].n;
	/* one of the tied axes: what is left over all that are crossed */
	return g->axes[axis].values[row / below % g->axes[axis].n];
}
