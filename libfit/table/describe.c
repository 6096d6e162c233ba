/* SPDX-License-Identifier: MIT */
#include "libfit/table/describe.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/cell.h"

#define SHOW_MAX 48	/* characters of a text in a view */

/* ---- summary ---- */

/* The bytes that tell one value from another. */
static struct fit_text identity(enum fit_type type, const struct fit_cell *c, char buf[8])
{
	double d = c->u.d;

	if (type == FIT_TEXT)
		return c->u.t;
	if (type == FIT_REAL) {
		if (isnan(d))
			d = (double)NAN;
		else if (fpclassify(d) == FP_ZERO)
			d = 0;	/* 0 and -0 are one value */
		memcpy(buf, &d, 8);
	} else {
		memcpy(buf, &c->u.i, 8);
	}
	return (struct fit_text){ buf, 8 };
}

static bool less(enum fit_type type, const struct fit_cell *a, const struct fit_cell *b)
{
	if (type == FIT_TEXT)
		return fit_text_cmp(a->u.t, b->u.t) < 0;
	return type == FIT_REAL ? a->u.d < b->u.d : a->u.i < b->u.i;
}

int fit_column_summarise(struct fit_summary *s, const struct fit_column *c, size_t n_rows,
			 struct fit_err *err)
{
	struct fit_index seen = { 0 };
	int rc = FIT_OK;

	*s = (struct fit_summary){ 0 };
	for (size_t r = 0; r < n_rows && !rc; r++) {
		struct fit_cell cell = fit_column_cell(c, r);
		uint32_t before = FIT_NO_INDEX;
		char buf[8];

		if (cell.na) {
			s->missing++;
			continue;
		}
		rc = fit_index_put(&seen, identity(c->type, &cell, buf), 1, &before);
		if (before == FIT_NO_INDEX)
			s->distinct++;
		if (c->type == FIT_REAL && isnan(cell.u.d))
			continue;
		if (!s->has_range || less(c->type, &cell, &s->min))
			s->min = cell;
		if (!s->has_range || less(c->type, &s->max, &cell))
			s->max = cell;
		s->has_range = true;
	}
	fit_index_release(&seen);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- view ---- */

static int show_real(struct fit_str *out, double v, int digits)
{
	char num[FIT_NUM_MAX];
	locale_t c_locale, old;

	if (!isfinite(v))
		return fit_str_add(out, num, fit_format_double(num, v));
	/* as in fit_format_double(): glibc hands out its static C locale */
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	old = uselocale(c_locale);
	snprintf(num, sizeof num, "%.*g", digits, v);
	uselocale(old);
	freelocale(c_locale);
	return fit_str_puts(out, num);
}

/* A text with its control characters escaped, cut at a character. */
static int show_text(struct fit_str *out, struct fit_text t)
{
	size_t at = 0, chars = 0;
	int rc = FIT_OK;

	for (; at < t.n && chars < SHOW_MAX && !rc; chars++) {
		size_t k = 1;

		while (at + k < t.n && ((unsigned char)t.s[at + k] & 0xc0) == 0x80)
			k++;
		if ((unsigned char)t.s[at] < 0x20 || t.s[at] == 0x7f)
			rc = fit_str_printf(out, t.s[at] == '\t' ? "\\t" : t.s[at] == '\n' ? "\\n" : "?");
		else
			rc = fit_str_add(out, t.s + at, k);
		at += k;
	}
	return rc || at == t.n ? rc : fit_str_puts(out, "...");
}

static int show_cell(struct fit_str *out, const struct fit_column *c, size_t row, int digits)
{
	struct fit_cell cell = fit_column_cell(c, row);
	char num[FIT_NUM_MAX];

	if (cell.na)
		return fit_str_puts(out, "NA");
	if (c->type == FIT_TEXT)
		return show_text(out, cell.u.t);
	if (c->type == FIT_REAL)
		return show_real(out, cell.u.d, digits);
	return fit_str_add(out, num, fit_cell_format(c->type, &cell, num));
}

static size_t n_chars(const char *s, size_t n)
{
	size_t chars = 0;

	for (size_t i = 0; i < n; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			chars++;
	return chars;
}

static int pad(struct fit_str *out, size_t n)
{
	int rc = FIT_OK;

	while (n-- && !rc)
		rc = fit_str_puts(out, " ");
	return rc;
}

/* Cells of the view, row 0 being the names: n + 1 texts of each column in one string. */
struct view {
	struct fit_str text;
	size_t *at;
	size_t width;
};

static int view_column(struct view *v, const struct fit_column *c, size_t n, int digits)
{
	int rc;

	v->at = calloc(n + 2, sizeof *v->at);
	if (!v->at)
		return FIT_ENOMEM;
	rc = show_text(&v->text, fit_text_of(c->name));
	for (size_t r = 0; r <= n && !rc; r++) {
		size_t chars;

		v->at[r + 1] = v->text.n;
		chars = n_chars(v->text.s + v->at[r], v->at[r + 1] - v->at[r]);
		v->width = chars > v->width ? chars : v->width;
		if (r < n)
			rc = show_cell(&v->text, c, r, digits);
	}
	return rc;
}

int fit_table_show(struct fit_str *out, const struct fit_table *t, size_t n, int digits)
{
	struct view *v = calloc(t->n_columns ? t->n_columns : 1, sizeof *v);
	int rc = v ? FIT_OK : FIT_ENOMEM;

	n = n < t->n_rows ? n : t->n_rows;
	for (size_t c = 0; c < t->n_columns && !rc; c++)
		rc = view_column(&v[c], &t->columns[c], n, digits);
	for (size_t r = 0; r <= n && !rc; r++) {
		for (size_t c = 0; c < t->n_columns && !rc; c++) {
			const char *s = v[c].text.s ? v[c].text.s + v[c].at[r] : "";
			size_t len = v[c].at[r + 1] - v[c].at[r], room = v[c].width - n_chars(s, len);
			bool right = t->columns[c].type != FIT_TEXT;

			rc = c ? fit_str_puts(out, "  ") : FIT_OK;
			rc = rc || !right ? rc : pad(out, room);
			rc = rc ? rc : fit_str_add(out, s, len);
			if (!rc && !right && c + 1 < t->n_columns)
				rc = pad(out, room);
		}
		rc = rc ? rc : fit_str_puts(out, "\n");
	}
	for (size_t c = 0; v && c < t->n_columns; c++) {
		fit_str_release(&v[c].text);
		free(v[c].at);
	}
	free(v);
	return rc;
}

/* ---- schemas ---- */

struct rule {
	const char *name;
	enum fit_type type;
	unsigned flags;
	const char *const *words;	/* the values that are allowed, or NULL */
};
#define MUST 1u		/* the column is there */
#define FULL 2u		/* no cell is missing */
#define UNIQUE 4u
#define ORDERED 8u	/* rows do not go back */
#define COUNT 16u	/* not negative */

struct fit_schema {
	const char *name;
	const struct rule *rules;	/* ends with name NULL */
};

static const char *const statuses[] = {
	"OK", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "RUNNING", "PENDING", "UNKNOWN", NULL
};
static const char *const events[] = {
	"cluster", "submit", "reject", "start", "move", "preempt", "resume", "epoch", "batch", "finish",
	"release", NULL
};

/* docs/formats/jobs.md */
static const struct rule jobs_rules[] = {
	{ "job_id", FIT_TEXT, MUST | FULL | UNIQUE, NULL },
	{ "user", FIT_TEXT, 0, NULL }, { "group", FIT_TEXT, 0, NULL }, { "name", FIT_TEXT, 0, NULL },
	{ "app", FIT_TEXT, 0, NULL },
	{ "submit_s", FIT_TIME, MUST | FULL, NULL },
	{ "start_s", FIT_TIME, 0, NULL }, { "end_s", FIT_TIME, 0, NULL },
	{ "duration_s", FIT_TIME, COUNT, NULL },
	{ "gpus", FIT_REAL, MUST | COUNT, NULL },
	{ "gpu_type", FIT_TEXT, 0, NULL },
	{ "batch_size", FIT_INT, COUNT, NULL },
	{ "status", FIT_TEXT, 0, statuses },
	{ NULL, FIT_TEXT, 0, NULL }
};

/* docs/formats/event-log.md */
static const struct rule log_rules[] = {
	{ "time_s", FIT_TIME, MUST | FULL | ORDERED, NULL },
	{ "event", FIT_TEXT, MUST | FULL, events },
	{ "job_id", FIT_TEXT, MUST, NULL },
	{ "gpus", FIT_REAL, MUST | COUNT, NULL },
	{ "nodes", FIT_TEXT, MUST, NULL },
	{ "local_bsz", FIT_INT, MUST | COUNT, NULL },
	{ "accum_steps", FIT_INT, MUST | COUNT, NULL },
	{ "epoch", FIT_INT, MUST | COUNT, NULL },
	{ "progress", FIT_REAL, MUST | COUNT, NULL },
	{ "app", FIT_TEXT, MUST, NULL },
	{ "batch_size", FIT_INT, MUST | COUNT, NULL },
	{ NULL, FIT_TEXT, 0, NULL }
};

static const struct fit_schema schemas[] = { { "jobs", jobs_rules }, { "log", log_rules } };

const struct fit_schema *fit_schema_find(const char *name)
{
	for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
		if (strcmp(schemas[i].name, name) == 0)
			return &schemas[i];
	return NULL;
}

static bool is_word(struct fit_text t, const char *const *words)
{
	for (; *words; words++)
		if (fit_text_is(t, *words))
			return true;
	return false;
}

static int word_list(struct fit_str *out, const char *const *words)
{
	int rc = FIT_OK;

	for (size_t i = 0; words[i] && !rc; i++)
		rc = fit_str_printf(out, "%s%s", i ? ", " : "", words[i]);
	return rc;
}

struct check {
	const struct fit_table *t;
	const struct rule *rule;
	struct fit_index seen;
	bool any;
	int64_t last;
	struct fit_err *err;
};

static int check_cell(struct check *k, const struct fit_column *c, size_t row)
{
	struct fit_cell cell = fit_column_cell(c, row), was = cell;
	const struct rule *rule = k->rule;
	char scratch[40], shown[40];
	uint32_t before = FIT_NO_INDEX;
	struct fit_text text;
	int rc;

	if (cell.na)
		return rule->flags & FULL ? fit_table_fail(k->t, row, FIT_EDATA, rule->name, k->err,
			"missing value 'NA' (expected %s)", fit_cell_expected(rule->type)) : FIT_OK;
	text = c->type == FIT_TEXT ? was.u.t :
	       (struct fit_text){ shown, fit_cell_format(c->type, &was, shown) };
	rc = fit_cell_convert(c->type, rule->type, &cell, scratch);
	if (rc)
		return fit_table_fail(k->t, row, FIT_EDATA, rule->name, k->err, "%s '%.*s' (expected %s)",
				      rc == FIT_EINVAL ? "out of range" : "bad value", FIT_TEXT_ARG(text),
				      fit_cell_expected(rule->type));
	if ((rule->flags & COUNT) && !(rule->type == FIT_REAL ? cell.u.d >= 0 && isfinite(cell.u.d)
							      : cell.u.i >= 0))
		return fit_table_fail(k->t, row, FIT_EDATA, rule->name, k->err,
				      "bad value '%.*s' (expected a number from 0)", FIT_TEXT_ARG(text));
	if (rule->flags & ORDERED) {
		if (k->any && cell.u.i < k->last)
			return fit_table_fail(k->t, row, FIT_EDATA, rule->name, k->err,
					      "'%.*s' is before the row above (expected rows in order)",
					      FIT_TEXT_ARG(text));
		k->any = true;
		k->last = cell.u.i;
	}
	if (rule->flags & UNIQUE) {
		if (fit_index_put(&k->seen, text, (uint32_t)row, &before))
			return fit_fail_nomem(k->err);
		if (before != FIT_NO_INDEX)
			return fit_table_fail(k->t, row, FIT_EDATA, rule->name, k->err,
					      "duplicate '%.*s' (already in %llu)", FIT_TEXT_ARG(text),
					      (unsigned long long)((k->t->first_line ? k->t->first_line : 1) +
								   before));
	}
	if (rule->words && !is_word(text, rule->words)) {
		struct fit_str list = { 0 };

		rc = word_list(&list, rule->words) ? fit_fail_nomem(k->err) :
		     fit_table_fail(k->t, row, FIT_EDATA, rule->name, k->err, "unknown word '%.*s' (expected %s)",
				    FIT_TEXT_ARG(text), list.s);
		fit_str_release(&list);
		return rc;
	}
	return FIT_OK;
}

int fit_schema_check(const struct fit_schema *s, const struct fit_table *t, struct fit_err *err)
{
	int rc = FIT_OK;

	for (const struct rule *r = s->rules; r->name && !rc; r++) {
		const struct fit_column *c = fit_table_column(t, r->name);
		struct check k = { .t = t, .rule = r, .err = err };

		if (!c) {
			rc = r->flags & MUST ? fit_table_no_column(t, r->name, err) : FIT_OK;
			continue;
		}
		for (size_t row = 0; row < t->n_rows && !rc; row++)
			rc = check_cell(&k, c, row);
		fit_index_release(&k.seen);
	}
	return rc;
}
