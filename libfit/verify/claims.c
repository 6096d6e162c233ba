/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/table/formula.h"
#include "libfit/verify/claims.h"

const char *const fit_agreement_names[] = { "exact", "within", "ratio", "at-most", "at-least", "ordering",
					    "none", NULL };
const char *const fit_claim_verdict_names[] = { "holds", "differs", "cannot be checked here" };

/* ---- the table of claims ---- */

enum column { ID, PAPER, PLACE, QUANTITY, PUBLISHED, UNIT, AGREEMENT, TOLERANCE, WHY, DATA, RECIPES, HERE,
	      NOTE, N_COLUMNS };
static const struct fit_field fields[N_COLUMNS] = {
	[ID] = { "claim", FIT_TEXT, FIT_F_NOT_NA },
	[PAPER] = { "paper", FIT_TEXT, FIT_F_NOT_NA },
	[PLACE] = { "place", FIT_TEXT, FIT_F_NOT_NA },
	[QUANTITY] = { "quantity", FIT_TEXT, FIT_F_NOT_NA },
	[PUBLISHED] = { "published", FIT_TEXT, FIT_F_NOT_NA },
	[UNIT] = { "unit", FIT_TEXT, FIT_F_OPTIONAL },
	[AGREEMENT] = { "agreement", FIT_TEXT, FIT_F_NOT_NA },
	[TOLERANCE] = { "tolerance_pct", FIT_REAL, FIT_F_OPTIONAL },
	[WHY] = { "why", FIT_TEXT, FIT_F_OPTIONAL },
	[DATA] = { "data", FIT_TEXT, FIT_F_OPTIONAL },
	[RECIPES] = { "recipes", FIT_TEXT, FIT_F_OPTIONAL },
	[HERE] = { "here", FIT_TEXT, 0 },
	[NOTE] = { "note", FIT_TEXT, FIT_F_OPTIONAL },
};

/* "1.5", "37..50": the range, and how many digits stand behind the point */
static int parse_published(struct fit_text t, struct fit_claim *c)
{
	struct fit_text low = t, high = t;
	const char *point;

	for (size_t i = 0; i + 1 < t.n; i++) {
		if (t.s[i] == '.' && t.s[i + 1] == '.') {
			low.n = i;
			high = (struct fit_text){ t.s + i + 2, t.n - i - 2 };
			break;
		}
	}
	if (fit_parse_double(low, &c->low) || fit_parse_double(high, &c->high) || c->low > c->high)
		return FIT_EPARSE;
	point = memchr(low.s, '.', low.n);
	c->digits = point ? (int)(low.s + low.n - point - 1) : 0;
	return FIT_OK;
}

static int check_claim(const struct fit_table *t, size_t row, struct fit_claim *c, struct fit_err *err)
{
	struct fit_err why;
	struct fit_str formula = { 0 };
	double x;
	int rc;

	if (c->agreement == FIT_AGREE_NONE)
		return c->here.n ? fit_table_fail(t, row, FIT_EDATA, "here", err,
						  "a formula of what cannot be checked (expected NA)") :
		       !c->note.n ? fit_table_fail(t, row, FIT_EDATA, "note", err,
						   "nothing says what is missing") : FIT_OK;
	if (!c->here.n)
		return fit_table_fail(t, row, FIT_EDATA, "here", err,
				      "no formula (only claims of agreement 'none' have none)");
	if (c->agreement != FIT_AGREE_ORDERING && parse_published(c->published, c))
		return fit_table_fail(t, row, FIT_EPARSE, "published", err,
				      "bad number '%.*s' (expected a number or LOW..HIGH)",
				      FIT_TEXT_ARG(c->published));
	if (c->agreement == FIT_AGREE_RATIO && c->low <= 0)
		return fit_table_fail(t, row, FIT_EDATA, "published", err, "a ratio is above 0");
	if (!(c->tolerance_pct >= 0) || (c->tolerance_pct > 0 && !c->why.n))
		return fit_table_fail(t, row, FIT_EDATA, c->tolerance_pct >= 0 ? "why" : "tolerance_pct", err,
				      "a tolerance is not below 0 and has a reason");
	rc = fit_str_add(&formula, c->here.s, c->here.n);
	rc = rc ? fit_fail_nomem(err) : fit_formula_value(formula.s, NULL, NULL, &x, &why);
	if (rc == FIT_EPARSE)
		rc = fit_table_fail(t, row, FIT_EPARSE, "here", err, "%s", why.msg);
	fit_str_release(&formula);
	return rc;
}

/* A recipe is a file of one folder: names that lead elsewhere are none. */
static int check_recipes(const struct fit_table *t, size_t row, struct fit_text list, struct fit_err *err)
{
	for (size_t at = 0; at < list.n; ) {
		const char *comma = memchr(list.s + at, ',', list.n - at);
		size_t n = comma ? (size_t)(comma - list.s) - at : list.n - at;

		if (!n || list.s[at] == '.' || memchr(list.s + at, '/', n))
			return fit_table_fail(t, row, FIT_EDATA, "recipes", err, "bad recipe '%.*s' (expected names of files "
					      "in one folder, separated by commas)", (int)(n < 80 ? n : 80), list.s + at);
		at += n + 1;
	}
	return FIT_OK;
}

static int take_row(const struct fit_table *t, size_t row, struct fit_claim *c, struct fit_err *err)
{
	const struct fit_column *k = t->columns;
	struct fit_text agreement = fit_column_text(&k[AGREEMENT], row), data = fit_column_text(&k[DATA], row);
	size_t a = 0;

	*c = (struct fit_claim){
		.id = fit_column_text(&k[ID], row), .paper = fit_column_text(&k[PAPER], row),
		.place = fit_column_text(&k[PLACE], row), .quantity = fit_column_text(&k[QUANTITY], row),
		.published = fit_column_text(&k[PUBLISHED], row), .unit = fit_column_text(&k[UNIT], row),
		.why = fit_column_text(&k[WHY], row), .recipes = fit_column_text(&k[RECIPES], row),
		.here = fit_column_text(&k[HERE], row), .note = fit_column_text(&k[NOTE], row),
		.low = (double)NAN, .high = (double)NAN, .tolerance_pct = k[TOLERANCE].d[row],
		.any_data = fit_text_is(data, "any"),
	};
	if (fit_real_is_na(c->tolerance_pct))
		c->tolerance_pct = 0;
	while (fit_agreement_names[a] && !fit_text_is(agreement, fit_agreement_names[a]))
		a++;
	if (!fit_agreement_names[a])
		return fit_table_fail(t, row, FIT_EDATA, "agreement", err, "unknown agreement '%.*s' (expected "
				      "exact, within, ratio, at-most, at-least, ordering or none)",
				      FIT_TEXT_ARG(agreement));
	if (data.n && !c->any_data && !fit_text_is(data, "public"))
		return fit_table_fail(t, row, FIT_EDATA, "data", err, "unknown data '%.*s' (expected public or "
				      "any)", FIT_TEXT_ARG(data));
	c->agreement = (enum fit_agreement)a;
	return check_recipes(t, row, c->recipes, err) ? err->code : check_claim(t, row, c, err);
}

int fit_claims_read(struct fit_claims *c, const char *operand, struct fit_err *err)
{
	int rc;

	memset(c, 0, sizeof *c);
	rc = fit_table_read(&c->table, operand, fields, N_COLUMNS, err);
	if (rc)
		return rc;
	c->n = c->table.n_rows;
	c->claims = calloc(c->n ? c->n : 1, sizeof *c->claims);
	if (!c->claims)
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < c->n && !rc; i++) {
		rc = take_row(&c->table, i, &c->claims[i], err);
		for (size_t k = 0; k < i && !rc; k++)
			if (fit_text_eq(c->claims[k].id, c->claims[i].id))
				rc = fit_table_fail(&c->table, i, FIT_EDATA, "claim", err,
						    "'%.*s' is there already", FIT_TEXT_ARG(c->claims[i].id));
	}
	if (rc)
		fit_claims_release(c);
	return rc;
}

void fit_claims_release(struct fit_claims *c)
{
	free(c->claims);
	fit_table_release(&c->table);
	memset(c, 0, sizeof *c);
}

bool fit_claim_lists(struct fit_text list, struct fit_text name)
{
	for (size_t i = 0; i < list.n; ) {
		size_t n = 0;

		while (i + n < list.n && list.s[i + n] != ',')
			n++;
		if (fit_text_eq((struct fit_text){ list.s + i, n }, name))
			return true;
		i += n + 1;
	}
	return false;
}

/* ---- tables that recipes left ---- */

struct fit_claim_tables {
	char *folder;
	struct entry {
		char *name;
		bool there;
		struct fit_table table;
	} **entries;
	size_t n, cap;
	/* of the formula that is being worked out */
	struct fit_text data;
	bool several;		/* tables made of different data */
	bool broken;		/* one of them could not be read */
};

int fit_claim_tables_new(struct fit_claim_tables **t, const char *folder, struct fit_err *err)
{
	struct fit_claim_tables *x = calloc(1, sizeof *x);

	if (x)
		x->folder = fit_strdup(fit_text_of(folder));
	if (!x || !x->folder) {
		free(x);
		return fit_fail_nomem(err);
	}
	*t = x;
	return FIT_OK;
}

void fit_claim_tables_free(struct fit_claim_tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++) {
		free(t->entries[i]->name);
		fit_table_release(&t->entries[i]->table);
		free(t->entries[i]);
	}
	free(t->entries);
	free(t->folder);
	free(t);
}

static int read_entry(struct fit_claim_tables *t, struct fit_text name, struct entry **out,
		      struct fit_err *err)
{
	struct fit_str file = { 0 };
	struct entry *e = calloc(1, sizeof *e);
	int rc = FIT_ENOMEM;

	if (e && !fit_grow(&t->entries, &t->cap, t->n + 1, sizeof *t->entries))
		rc = fit_str_printf(&file, "%s/%.*s.tsv", t->folder, FIT_TEXT_ARG(name));
	if (!rc && !(e->name = fit_strdup(name)))
		rc = FIT_ENOMEM;
	if (rc) {
		rc = fit_fail_nomem(err);
	} else if (access(file.s, F_OK) == 0) {
		e->there = true;
		rc = fit_table_read(&e->table, file.s, NULL, 0, err);
	}
	fit_str_release(&file);
	if (rc) {
		if (e)
			free(e->name);
		free(e);
		return rc;
	}
	*out = t->entries[t->n++] = e;
	return FIT_OK;
}

static int find(void *arg, struct fit_text name, const struct fit_table **table, struct fit_err *err)
{
	struct fit_claim_tables *t = arg;
	struct entry *e = NULL;
	const char *data;

	if (memchr(name.s, '/', name.n))
		return fit_fail(err, FIT_ENOTFOUND, "no table '%.*s'", FIT_TEXT_ARG(name));
	for (size_t i = 0; i < t->n && !e; i++)
		if (fit_text_is(name, t->entries[i]->name))
			e = t->entries[i];
	if (!e) {
		int rc = read_entry(t, name, &e, err);

		if (rc) {
			t->broken = true;
			return rc;
		}
	}
	if (!e->there)
		return fit_fail(err, FIT_ENOTFOUND, "no table %s: its recipe has not run", e->name);
	data = fit_meta_get(&e->table.meta, "data");
	if (data && t->data.s && !fit_text_is(t->data, data))
		t->several = true;
	else if (data)
		t->data = fit_text_of(data);
	*table = &e->table;
	return FIT_OK;
}

/* ---- verdicts ---- */

/* How far x is outside of the range, as a share of its nearer end. */
static double off(const struct fit_claim *c, double x)
{
	double end = x > c->high ? c->high : c->low;

	if (isnan(c->low) || !isfinite(x) || end == 0)
		return fit_real_na();
	return x >= c->low && x <= c->high ? 0 : 100 * (x - end) / fabs(end);
}

static bool agrees(const struct fit_claim *c, double x)
{
	double share = c->tolerance_pct / 100;
	double low = c->low - share * fabs(c->low), high = c->high + share * fabs(c->high);

	switch (c->agreement) {
	case FIT_AGREE_EXACT:
		return fabs(x - c->low) <= 0.5 * pow(10, -c->digits) * (1 + 1e-9);
	case FIT_AGREE_WITHIN:
		return x >= low && x <= high;
	case FIT_AGREE_RATIO:
		return x >= c->low / (1 + share) && x <= c->high * (1 + share);
	case FIT_AGREE_AT_MOST:
		return x <= high;
	case FIT_AGREE_AT_LEAST:
		return x >= low;
	case FIT_AGREE_ORDERING:
		return x == 1;
	case FIT_AGREE_NONE:
		break;
	}
	return false;
}

static int cannot(struct fit_claim_result *r, struct fit_text reason, struct fit_err *err)
{
	r->verdict = FIT_CLAIM_CANNOT;
	r->reason = fit_strdup(reason);
	return r->reason ? FIT_OK : fit_fail_nomem(err);
}

int fit_claim_judge(const struct fit_claim *c, struct fit_claim_tables *t, struct fit_claim_result *r,
		    struct fit_err *err)
{
	struct fit_str formula = { 0 };
	struct fit_err why = { 0 };
	double x = (double)NAN;
	int rc;

	*r = (struct fit_claim_result){ .here = (double)NAN, .off_pct = (double)NAN };
	if (c->agreement == FIT_AGREE_NONE)
		return cannot(r, c->note, err);
	t->data = (struct fit_text){ 0 };
	t->several = t->broken = false;
	if (fit_str_add(&formula, c->here.s, c->here.n))
		return fit_fail_nomem(err);
	rc = fit_formula_value(formula.s, find, t, &x, &why);
	fit_str_release(&formula);
	if ((rc == FIT_ENOTFOUND || rc == FIT_EDATA) && !t->broken)
		return cannot(r, fit_text_of(why.msg), err);
	if (rc)
		return fit_fail(err, rc, "%s", why.msg);
	r->data = fit_strdup(t->several ? FIT_TEXT_LIT("several") : t->data.s ? t->data : FIT_TEXT_LIT(""));
	if (!r->data)
		return fit_fail_nomem(err);
	r->here = x;
	r->off_pct = off(c, x);
	if (!isfinite(x))
		return cannot(r, FIT_TEXT_LIT("what is found here is no finite number"), err);
	if (!c->any_data && fit_text_is(fit_text_of(r->data), "shipped"))
		return cannot(r, FIT_TEXT_LIT("found on generated data: needs the public data (scripts/fetch-public)"),
			      err);
	r->verdict = agrees(c, x) ? FIT_CLAIM_HOLDS : FIT_CLAIM_DIFFERS;
	return FIT_OK;
}

void fit_claim_result_release(struct fit_claim_result *r)
{
	free(r->data);
	free(r->reason);
	memset(r, 0, sizeof *r);
}
