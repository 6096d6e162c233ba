/* SPDX-License-Identifier: MIT */
/*
 * Widths of BOA (plans, docs/formats/boa.md) for an operator: JSON by class and plan, or a table without
 * metadata that a spreadsheet opens.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/boa_table.h"
#include "libfit/model/handoff_formats.h"

#define SCHEMA "goodfit-widths/1"

enum { CLASS, PLAN, SHARE, EPOCH, TYPE, GPUS, WORK, SPEED, RESCALE, TIME, N_COLUMNS };
static const struct fit_field fields[N_COLUMNS] = {
	[CLASS] = { "class", FIT_TEXT, FIT_F_NOT_NA },	[PLAN] = { "plan", FIT_INT, FIT_F_NOT_NA },
	[SHARE] = { "share", FIT_REAL, FIT_F_NOT_NA },	[EPOCH] = { "epoch", FIT_INT, FIT_F_NOT_NA },
	[TYPE] = { "gpu_type", FIT_TEXT, FIT_F_OPTIONAL }, [GPUS] = { "gpus", FIT_INT, FIT_F_NOT_NA },
	[WORK] = { "work", FIT_REAL, FIT_F_OPTIONAL }, [SPEED] = { "speed_per_s", FIT_REAL, FIT_F_OPTIONAL },
	[RESCALE] = { "rescale_s", FIT_REAL, FIT_F_OPTIONAL },
	[TIME] = { "time_s", FIT_REAL, FIT_F_OPTIONAL },
};

/* What a plan is certified by, and so goes with it; inputs and options of the tool do not. */
static const char *const kept[] = { "budget", "mu", "charge_start", "routing", "rescale", "gpu_prices",
				   "method", "gap" };

static bool is_kept(const char *key)
{
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (strcmp(kept[i], key) == 0)
			return true;
	return false;
}

/* The table. That it is a sound plan is for the reader of plans to say, where it can be read twice. */
static int load(const char *operand, struct fit_table *t, struct fit_err *err)
{
	struct fit_boa_plan_table p = { .n = 0 };
	int rc = FIT_OK;

	if (strcmp(operand, "-") != 0) {
		rc = fit_boa_plan_table_read(&p, operand, err);
		fit_boa_plan_table_release(&p);
	}
	rc = rc ? rc : fit_table_read(t, operand, fields, N_COLUMNS, err);
	for (size_t i = 0; i < t->n_rows && !rc; i++)
		for (int c = WORK; c <= TIME && !rc; c++)
			if (t->columns[c].d[i] < 0)
				rc = fit_table_fail(t, i, FIT_EDATA, fields[c].name, err,
						    "bad value '%g' (expected 0 or more)", t->columns[c].d[i]);
	return rc;
}

/* ---- JSON ---- */

static void put_real(struct fit_json_out *o, const char *key, double v)
{
	fit_json_raw(o, ", \"");
	fit_json_raw(o, key);
	fit_json_raw(o, "\": ");
	if (fit_real_is_na(v))
		fit_json_raw(o, "null");
	else
		fit_json_real(o, v, "inf");
}

static int text_of(const struct fit_table *t, int column, size_t row, char **s, struct fit_err *err)
{
	struct fit_text text = fit_column_text(&t->columns[column], row);

	*s = text.s ? fit_strdup(text) : NULL;
	return text.s && !*s ? fit_fail_nomem(err) : FIT_OK;
}

static bool same_plan(const struct fit_table *t, size_t a, size_t b)
{
	return t->columns[PLAN].i[a] == t->columns[PLAN].i[b] &&
	       fit_text_eq(fit_column_text(&t->columns[CLASS], a), fit_column_text(&t->columns[CLASS], b));
}

static int put_width(struct fit_json_out *o, const struct fit_table *t, size_t row, struct fit_err *err)
{
	char *type;
	int rc = text_of(t, TYPE, row, &type, err);

	if (rc)
		return rc;
	fit_json_raw(o, "\n   {\"epoch\": ");
	fit_handoff_int(o, t->columns[EPOCH].i[row]);
	fit_json_raw(o, ", \"gpu_type\": ");
	fit_json_text(o, type);
	fit_json_raw(o, ", \"gpus\": ");
	fit_handoff_int(o, t->columns[GPUS].i[row]);
	for (int c = WORK; c <= TIME; c++)
		put_real(o, fields[c].name, t->columns[c].d[row]);
	fit_json_raw(o, "}");
	free(type);
	return FIT_OK;
}

static int put_plan(struct fit_json_out *o, const struct fit_table *t, size_t *row, struct fit_err *err)
{
	size_t first = *row;
	char *class;
	int rc = text_of(t, CLASS, first, &class, err);

	if (rc)
		return rc;
	fit_json_raw(o, first ? ",\n  {\"class\": " : "\n  {\"class\": ");
	fit_json_text(o, class);
	free(class);
	fit_json_raw(o, ", \"plan\": ");
	fit_handoff_int(o, t->columns[PLAN].i[first]);
	put_real(o, "share", t->columns[SHARE].d[first]);
	fit_json_raw(o, ", \"widths\": [");
	for (; *row < t->n_rows && same_plan(t, first, *row) && !rc; ++*row) {
		fit_json_raw(o, *row > first ? "," : "");
		rc = put_width(o, t, *row, err);
	}
	fit_json_raw(o, "]}");
	return rc;
}

static int write_json(const char *operand, const struct fit_handoff_options *options, struct fit_str *out,
		      struct fit_err *err)
{
	struct fit_json_out o = { out, FIT_OK };
	struct fit_table t = { 0 };
	const char *comma = "";
	int rc = load(operand, &t, err);

	(void)options;
	fit_json_raw(&o, "{\"schema\": \"" SCHEMA "\",\n \"meta\": {");
	for (size_t i = 0; i < t.meta.n && !rc; i++) {
		if (!is_kept(t.meta.pairs[i].key) || fit_meta_get(&t.meta, t.meta.pairs[i].key) !=
		    t.meta.pairs[i].value)
			continue;
		fit_json_raw(&o, comma);
		fit_json_text(&o, t.meta.pairs[i].key);
		fit_json_raw(&o, ": ");
		fit_json_text(&o, t.meta.pairs[i].value);
		comma = ", ";
	}
	fit_json_raw(&o, "},\n \"plans\": [");
	for (size_t row = 0; row < t.n_rows && !rc; )
		rc = put_plan(&o, &t, &row, err);
	fit_json_raw(&o, "]}\n");
	fit_table_release(&t);
	return rc ? rc : o.rc ? fit_fail_nomem(err) : FIT_OK;
}

static bool is_json(struct fit_text b)
{
	return fit_handoff_first(b) == '{' && fit_handoff_has(b, "\"" SCHEMA "\"");
}

struct place {
	const char *name;
	size_t plan;		/* from 1 */
	struct fit_err *err;
};

/* What plans have to be, as their readers ask: the column that is not, or N_COLUMNS. */
static int wrong_column(const struct fit_cell *c)
{
	if (!(c[SHARE].u.d >= 0 && c[SHARE].u.d <= 1))
		return SHARE;
	for (int k = WORK; k <= TIME; k++)
		if (!c[k].na && !(c[k].u.d >= 0))
			return k;
	return N_COLUMNS;
}

static const char *expected_of(int column)
{
	return column == SHARE ? "0 to 1" : "0 or more";
}

static int bad(const struct place *p, const char *key, const char *expected)
{
	return fit_fail(p->err, FIT_EDATA, "%s: plan %zu: bad %s (expected %s)", p->name, p->plan, key,
			expected);
}

static int get_int(const struct place *p, const json_t *in, const char *key, int64_t least,
		   struct fit_cell *c)
{
	const json_t *v = json_object_get(in, key);

	if (!json_is_integer(v) || json_integer_value(v) < least)
		return bad(p, key, least ? "a whole number of at least 1" : "a whole number of at least 0");
	*c = (struct fit_cell){ .u.i = json_integer_value(v) };
	return FIT_OK;
}

/* null is missing; infinities and NaN are the texts that fit_json_real() makes of them. */
static int get_real(const struct place *p, const json_t *in, const char *key, bool needed,
		    struct fit_cell *c)
{
	const json_t *v = json_object_get(in, key);

	*c = (struct fit_cell){ .na = true };
	if (!needed && (!v || json_is_null(v)))
		return FIT_OK;
	*c = (struct fit_cell){ .u.d = json_number_value(v) };
	if (json_is_number(v) ||
	    (json_is_string(v) && !fit_parse_double_any(fit_text_of(json_string_value(v)), &c->u.d)))
		return FIT_OK;
	return bad(p, key, "a number");
}

static int get_text(const struct place *p, const json_t *in, const char *key, bool needed,
		    struct fit_cell *c)
{
	const json_t *v = json_object_get(in, key);

	*c = (struct fit_cell){ .na = true };
	if (!needed && (!v || json_is_null(v)))
		return FIT_OK;
	if (!json_is_string(v))
		return bad(p, key, "a text");
	*c = (struct fit_cell){ .u.t = { json_string_value(v), json_string_length(v) } };
	return FIT_OK;
}

static int read_plan(const struct place *p, const json_t *plan, struct fit_writer *w)
{
	const json_t *widths = json_object_get(plan, "widths");
	struct fit_cell c[N_COLUMNS];
	int rc = get_text(p, plan, "class", true, &c[CLASS]);

	rc = rc ? rc : get_int(p, plan, "plan", 0, &c[PLAN]);
	rc = rc ? rc : get_real(p, plan, "share", true, &c[SHARE]);
	if (!rc && !json_is_array(widths))
		rc = bad(p, "widths", "a list");
	for (size_t i = 0; !rc && i < json_array_size(widths); i++) {
		const json_t *one = json_array_get(widths, i);

		rc = get_int(p, one, "epoch", 0, &c[EPOCH]);
		rc = rc ? rc : get_text(p, one, "gpu_type", false, &c[TYPE]);
		rc = rc ? rc : get_int(p, one, "gpus", 1, &c[GPUS]);
		for (int k = WORK; k <= TIME && !rc; k++)
			rc = get_real(p, one, fields[k].name, false, &c[k]);
		if (!rc && wrong_column(c) != N_COLUMNS)
			rc = bad(p, fields[wrong_column(c)].name, expected_of(wrong_column(c)));
		rc = rc ? rc : fit_writer_row(w, c, p->err);
	}
	return rc;
}

static int begin(struct fit_writer *w, const struct fit_meta *meta, struct fit_err *err)
{
	struct fit_field out[N_COLUMNS];

	memcpy(out, fields, sizeof out);
	for (int i = 0; i < N_COLUMNS; i++)
		out[i].flags = 0;
	return fit_writer_begin(w, "plans", meta, out, N_COLUMNS, err);
}

static int add_meta(const char *name, json_t *in, struct fit_meta *all, struct fit_err *err)
{
	const char *key;
	json_t *v;

	if (in && !json_is_object(in))
		return fit_fail(err, FIT_EDATA, "%s: bad meta (expected an object)", name);
	json_object_foreach(in, key, v) {
		if (!is_kept(key) || !json_is_string(v) || strchr(json_string_value(v), '\n'))
			return fit_fail(err, FIT_EDATA,
					"%s: bad meta '%s' (expected a text of one line, of a plan)", name,
						key);
		if (fit_meta_add(all, key, json_string_value(v)))
			return fit_fail_nomem(err);
	}
	return FIT_OK;
}

static int read_json(const char *name, struct fit_text bytes, struct fit_writer *w,
		     const struct fit_meta *meta,
		     struct fit_err *err)
{
	struct place p = { name, 0, err };
	struct fit_meta all = { 0 };
	json_t *top, *plans;
	int rc = fit_handoff_json(name, bytes, &top, err);

	if (rc)
		return rc;
	plans = json_object_get(top, "plans");
	if (!json_is_array(plans))
		rc = fit_fail(err, FIT_EDATA, "%s: no list of plans", name);
	if (!rc && fit_meta_copy(&all, meta))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : add_meta(name, json_object_get(top, "meta"), &all, err);
	rc = rc ? rc : begin(w, &all, err);
	for (size_t i = 0; !rc && i < json_array_size(plans); i++) {
		p.plan = i + 1;
		rc = read_plan(&p, json_array_get(plans, i), w);
	}
	fit_meta_release(&all);
	json_decref(top);
	return rc ? rc : fit_writer_end(w, err);
}

/* ---- TSV ---- */

static bool is_tsv(struct fit_text b)
{
	static const char start[] = "class\tplan\tshare\tepoch\tgpu_type\tgpus\t";

	return b.n >= sizeof start - 1 && memcmp(b.s, start, sizeof start - 1) == 0;
}

/* Can a table without escapes say it? */
static bool plain(struct fit_text t)
{
	for (size_t i = 0; i < t.n; i++)
		if ((unsigned char)t.s[i] < 0x20 || t.s[i] == '\\')
			return false;
	return t.n && t.s[0] != '#' && !fit_text_is(t, "NA");
}

static void put(struct fit_str *out, int *rc, const char *s, size_t n)
{
	*rc = *rc ? *rc : fit_str_add(out, s, n);
}

static int write_tsv(const char *operand, const struct fit_handoff_options *options, struct fit_str *out,
		     struct fit_err *err)
{
	struct fit_table t = { 0 };
	char buf[FIT_NUM_MAX];
	int rc = load(operand, &t, err), full = FIT_OK;

	(void)options;
	for (int c = 0; c < N_COLUMNS && !rc; c++) {
		put(out, &full, fields[c].name, strlen(fields[c].name));
		put(out, &full, c + 1 < N_COLUMNS ? "\t" : "\n", 1);
	}
	for (size_t row = 0; row < t.n_rows && !rc; row++)
		for (int c = 0; c < N_COLUMNS; c++) {
			struct fit_text text = { NULL, 0 };

			if (fields[c].type == FIT_TEXT)
				text = fit_column_text(&t.columns[c], row);
			if (fields[c].type == FIT_INT)
				put(out, &full, buf, fit_format_int64(buf, t.columns[c].i[row]));
			else if (fields[c].type == FIT_REAL && !fit_real_is_na(t.columns[c].d[row]))
				put(out, &full, buf, fit_format_double(buf, t.columns[c].d[row]));
			else if (fields[c].type == FIT_TEXT && text.s && !plain(text))
				rc = rc ? rc : fit_table_fail(&t, row, FIT_EDATA, fields[c].name, err,
							      "bad name '%.*s' (expected one that needs no escapes)",
							      FIT_TEXT_ARG(text));
			else
				put(out, &full, text.s ? text.s : "NA", text.s ? text.n : 2);
			put(out, &full, c + 1 < N_COLUMNS ? "\t" : "\n", 1);
		}
	fit_table_release(&t);
	return rc ? rc : full ? fit_fail_nomem(err) : FIT_OK;
}

static int read_tsv(const char *name, struct fit_text bytes, struct fit_writer *w,
		    const struct fit_meta *meta,
		    struct fit_err *err)
{
	struct fit_reader *r = NULL;
	struct fit_cell c[N_COLUMNS];
	int rc = fit_reader_open_memory(&r, name, bytes.s, bytes.n, err);

	rc = rc ? rc : fit_reader_begin(r, fields, N_COLUMNS, err);
	if (rc == FIT_END)
		rc = fit_fail(err, FIT_EPARSE, "%s: no table", name);
	rc = rc ? rc : begin(w, meta, err);
	while (!rc && (rc = fit_reader_row(r, c, err)) == FIT_OK) {
		int wrong = wrong_column(c);

		rc = wrong == N_COLUMNS ? fit_writer_row(w, c, err) :
		     fit_reader_fail(r, FIT_EDATA, fields[wrong].name, err, "bad %s '%.17g' (expected %s)",
				     fields[wrong].name, c[wrong].u.d, expected_of(wrong));
	}
	rc = rc == FIT_END ? fit_reader_only(r, err) : rc;
	fit_reader_close(r);
	return rc ? rc : fit_writer_end(w, err);
}

const struct fit_handoff_format fit_handoff_widths_json = {
	"widths-json", "widths of a BOA plan as JSON", 0, is_json, write_json, read_json
};
const struct fit_handoff_format fit_handoff_widths_tsv = {
	"widths-tsv", "widths of a BOA plan as a plain table", 0, is_tsv, write_tsv, read_tsv
};
