/* SPDX-License-Identifier: MIT */
/*
 * gf-speedup: speedup functions by class and epoch, from application profiles, from measured
 * placements and plans, or from a table of them; with the envelope of each, and the reason for
 * each width that is not on it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/envelope.h"
#include "libfit/model/speedup_profile.h"
#include "libfit/model/speedup.h"
#include "tools/common/cli.h"

struct options {
	struct cli_list profiles, app, phases, slowdown, per_node, max_gpus, min_gpus, work;
	const char *placements;
	bool envelope, drop_bad;
};

#define R CLI_RESULT
#define AT(field) offsetof(struct options, field)

static const struct cli_option options[] = {
	{ 0, "profile", CLI_LIST, AT(profiles), "[TYPE=]STORE", NULL,
	  "profile store in place of FILE; one for each type of GPU", NULL, 0, 0, CLI_INSTEAD },
	{ 0, "placements", CLI_TEXT, AT(placements), "FILE", NULL,
	  "measured plans and placements in place of FILE, from gf-prof --from rubick-placements", NULL, 0,
	  0, CLI_INPUT | CLI_INSTEAD },
	{ 0, "app", CLI_LIST, AT(app), "NAME", NULL, "this class only; may be repeated", NULL, 0, 0, R },
	{ 0, "phases", CLI_LIST, AT(phases), "[CLASS=]N", NULL,
	  "profiles: N groups of epochs in place of each epoch", NULL, 0, 0, R },
	{ 0, "slowdown", CLI_LIST, AT(slowdown), "[CLASS=]X", "1", "profiles: all work is X times as much",
	  NULL, 0, 0, R },
	{ 0, "gpus-per-node", CLI_LIST, AT(per_node), "[TYPE=]N", "4", "profiles: GPUs that a node has",
	  NULL, 0, 0, R },
	{ 0, "max-gpus", CLI_LIST, AT(max_gpus), "[TYPE=]N", "64", "profiles: widths 1 to N", NULL, 0, 0,
	  R },
	{ 0, "work", CLI_LIST, AT(work), "[CLASS=]X", "1", "placements: iterations of a job", NULL, 0, 0, R },
	{ 0, "min-gpus", CLI_LIST, AT(min_gpus), "[CLASS=]N", "1", "least width", NULL, 0, 0, R },
	{ 0, "envelope", CLI_FLAG, AT(envelope), NULL, NULL, "only the vertices of the envelopes", NULL, 0,
	  0, R },
	{ 0, "drop-bad", CLI_FLAG, AT(drop_bad), NULL, NULL,
	  "negative, infinite and nan speeds of FILE: not usable, and counted", NULL, 0, 0, R },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

/* ---- options: NAME=VALUE, or VALUE for all ---- */

struct setting {
	struct fit_text name;	/* s NULL: all */
	double v;
};

struct settings {
	struct setting *list;
	size_t n;
	double otherwise;
};

/* 0, or an exit status. whole: a number of things. */
static int take_settings(struct cli *cli, const struct cli_list *given, const char *option, bool whole,
			 double least, double most, double otherwise, struct settings *s)
{
	struct fit_err err;

	s->otherwise = otherwise;
	s->list = calloc(given->n + 1, sizeof *s->list);
	if (!s->list) {
		fit_fail_nomem(&err);
		return cli_error(cli, &err);
	}
	for (size_t i = 0; i < given->n; i++) {
		const char *text = given->items[i], *eq = strrchr(text, '=');
		struct setting *e = &s->list[s->n++];

		if (eq)
			e->name = (struct fit_text){ text, (size_t)(eq - text) };
		if (fit_parse_double(fit_text_of(eq ? eq + 1 : text), &e->v) || !(e->v >= least) ||
		    e->v > most || (whole && e->v != floor(e->v)))
			return cli_usage(cli,
					 "bad value '%s' for --%s (expected %s from %g to %g, or NAME=… for "
					 "one)",
					 text, option, whole ? "a whole number" : "a number", least, most);
		for (size_t k = 0; k + 1 < s->n; k++)
			if (s->list[k].name.s ? e->name.s && fit_text_eq(s->list[k].name, e->name) :
						!e->name.s)
				return cli_usage(cli, "--%s is given twice for the same name ('%s')", option,
						 text);
	}
	return 0;
}

/* What was given for the name, for all, or neither. */
static double setting_of(const struct settings *s, const char *name)
{
	double v = s->otherwise;

	for (size_t i = 0; i < s->n; i++)
		if (!s->list[i].name.s)
			v = s->list[i].v;
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].name.s && fit_text_is(s->list[i].name, name))
			v = s->list[i].v;
	return v;
}

struct data {
	struct settings phases, slowdown, per_node, max_gpus, min_gpus, work;
	struct fit_meta inputs;
	struct fit_writer *w;
	struct fit_envelope_work envelope;
	uint64_t dropped;
};

static int take_options(struct cli *cli, const struct options *o, struct data *d)
{
	int rc = 0;

	if ((o->profiles.n > 0) + (o->placements != NULL) + (cli->n_operands > 0) > 1)
		return cli_usage(cli, "more than one of --profile, --placements, FILE given");
	if (o->profiles.n == 0 && (o->phases.n || o->slowdown.n || o->per_node.n || o->max_gpus.n))
		return cli_usage(cli, "--phases, --slowdown, --gpus-per-node and --max-gpus go with --profile");
	if (o->work.n && !o->placements)
		return cli_usage(cli, "--work goes with --placements");
	rc = take_settings(cli, &o->phases, "phases", true, 1, 1e6, 0, &d->phases);
	if (!rc)
		rc = take_settings(cli, &o->slowdown, "slowdown", false, 1e-6, 1e6, 1, &d->slowdown);
	if (!rc)
		rc = take_settings(cli, &o->per_node, "gpus-per-node", true, 1, 1e6, 4, &d->per_node);
	if (!rc)
		rc = take_settings(cli, &o->max_gpus, "max-gpus", true, 1, 65536, 64, &d->max_gpus);
	if (!rc)
		rc = take_settings(cli, &o->min_gpus, "min-gpus", true, 1, 1e9, 1, &d->min_gpus);
	if (!rc)
		rc = take_settings(cli, &o->work, "work", false, 0, 1e15, 1, &d->work);
	return rc;
}

static bool app_wanted(const struct options *o, const char *app)
{
	for (size_t i = 0; i < o->app.n; i++)
		if (strcmp(o->app.items[i], app) == 0)
			return true;
	return o->app.n == 0;
}

/* ---- names that options give, and nothing has ---- */

/* Is there a class, an application or a type of this name? */
typedef bool there_fn(const void *what, struct fit_text name);

static int need_named(const struct settings *s, const char *option, const char *kind, const char *in,
		      there_fn *there, const void *what, struct fit_err *err)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].name.s && !there(what, s->list[i].name))
			return fit_fail(err, FIT_EDATA, "no %s '%.*s' in %s (--%s)", kind,
					FIT_TEXT_ARG(s->list[i].name), in, option);
	return FIT_OK;
}

/* A name that is not there would silently change nothing, or leave nothing. */
static int need_classes(const struct options *o, const struct data *d, const char *kind, const char *in,
			there_fn *there, const void *what, struct fit_err *err)
{
	int rc = need_named(&d->min_gpus, "min-gpus", kind, in, there, what, err);

	rc = rc ? rc : need_named(&d->phases, "phases", kind, in, there, what, err);
	rc = rc ? rc : need_named(&d->slowdown, "slowdown", kind, in, there, what, err);
	rc = rc ? rc : need_named(&d->work, "work", kind, in, there, what, err);
	for (size_t i = 0; i < o->app.n && !rc; i++)
		if (!there(what, fit_text_of(o->app.items[i])))
			rc = fit_fail(err, FIT_EDATA, "no %s '%s' in %s (--app)", kind,
				      o->app.items[i], in);
	return rc;
}

/* ---- output ---- */

/* One width, and how it comes about. */
struct row {
	struct fit_width width;
	int64_t nodes;			/* 0: not known */
	const char *plan;		/* or NULL */
	struct fit_speedup_point first, last;
};

/* Rows of one class, epoch and type. */
struct group {
	const char *class, *type;
	int64_t epoch, epochs;		/* epochs 0: not known */
	double work;
	struct row *rows;
	size_t n, cap;
};

static const struct fit_field columns[] = {
	{ "class", FIT_TEXT, 0 }, { "epoch", FIT_INT, 0 }, { "gpu_type", FIT_TEXT, 0 },
	{ "gpus", FIT_INT, 0 }, { "work", FIT_REAL, 0 }, { "speed_per_s", FIT_REAL, 0 },
	{ "epochs", FIT_INT, 0 }, { "nodes", FIT_INT, 0 }, { "plan", FIT_TEXT, 0 },
	{ "batch_size", FIT_INT, 0 }, { "batch_size_last", FIT_INT, 0 }, { "accum_steps", FIT_INT, 0 },
	{ "verdict", FIT_TEXT, 0 }, { "by_lo", FIT_INT, 0 }, { "by_hi", FIT_INT, 0 }
};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static int begin_output(const struct cli *cli, struct data *d, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	for (size_t i = 0; i < d->inputs.n && !rc; i++)
		rc = fit_meta_add(&meta, d->inputs.pairs[i].key, d->inputs.pairs[i].value);
	return cli_table_begin(cli, &d->w, NULL, &meta, rc, columns, COUNT(columns), err);
}

static void put_count(struct fit_writer *w, int64_t v)
{
	if (v > 0)
		fit_writer_int(w, v);
	else
		fit_writer_na(w);
}

static int put_row(const struct data *d, const struct group *g, const struct row *r,
		   const struct fit_width_note *note, struct fit_err *err)
{
	struct fit_writer *w = d->w;

	fit_writer_str(w, g->class);
	fit_writer_int(w, g->epoch);
	fit_writer_str(w, g->type && g->type[0] ? g->type : NULL);
	fit_writer_int(w, r->width.gpus);
	fit_writer_real(w, g->work);
	if (r->width.speed > 0)
		fit_writer_real(w, r->width.speed);
	else
		fit_writer_na(w);
	put_count(w, g->epochs);
	put_count(w, r->nodes);
	fit_writer_str(w, r->plan);
	put_count(w, r->first.batch_size);
	put_count(w, r->last.batch_size);
	if (r->first.batch_size > 0)
		fit_writer_int(w, r->first.accum_steps);
	else
		fit_writer_na(w);
	fit_writer_str(w, fit_width_verdict_name(note->verdict));
	put_count(w, note->by_lo == FIT_NO_WIDTH ? 0 : g->rows[note->by_lo].width.gpus);
	put_count(w, note->by_hi == FIT_NO_WIDTH ? 0 : g->rows[note->by_hi].width.gpus);
	return fit_writer_end_row(w, err);
}

/* The envelope of a group, and its rows. */
static int put_group(const struct options *o, struct data *d, const struct group *g, struct fit_err *err)
{
	struct fit_width *widths = calloc(g->n + 1, sizeof *widths);
	struct fit_width_note *notes = calloc(g->n + 1, sizeof *notes);
	size_t *vertex = calloc(g->n + 1, sizeof *vertex), n = 0;
	int64_t least = (int64_t)setting_of(&d->min_gpus, g->class);
	int rc = widths && notes && vertex ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < g->n && !rc; i++)
		widths[i] = g->rows[i].width;
	if (!rc)
		rc = fit_envelope(widths, g->n, &least, &d->envelope, vertex, &n, notes, err);
	if (!rc && n == 0)
		rc = fit_fail(err, FIT_EDATA, "class '%s', epoch %lld%s%s: no usable width", g->class,
			      (long long)g->epoch, g->type && g->type[0] ? ", GPU type " : "",
			      g->type ? g->type : "");
	for (size_t i = 0; i < g->n && !rc; i++)
		if (!o->envelope || notes[i].verdict == FIT_WIDTH_VERTEX)
			rc = put_row(d, g, &g->rows[i], &notes[i], err);
	free(widths);
	free(notes);
	free(vertex);
	return rc;
}

static int add_row(struct group *g, const struct row *r, struct fit_err *err)
{
	if (fit_grow(&g->rows, &g->cap, g->n + 1, sizeof *g->rows))
		return fit_fail_nomem(err);
	g->rows[g->n++] = *r;
	return FIT_OK;
}

/* ---- profile stores ---- */

static int profile_app(const struct options *o, struct data *d, const char *type, struct fit_app *a,
		       struct group *g, struct fit_err *err)
{
	const struct fit_app_info *info = fit_app_info(a);
	int64_t phases = (int64_t)setting_of(&d->phases, info->name);
	int64_t per_node = (int64_t)setting_of(&d->per_node, type);
	int64_t most = (int64_t)setting_of(&d->max_gpus, type);
	double slowdown = setting_of(&d->slowdown, info->name);
	struct fit_speedup_width *widths = NULL;
	int rc = FIT_OK;

	phases = phases == 0 ? info->epochs : phases;
	if (phases > info->epochs)
		return fit_fail(err, FIT_EINVAL, "application '%s' has %lld epochs, fewer than --phases %lld",
				info->name, (long long)info->epochs, (long long)phases);
	widths = calloc((size_t)most, sizeof *widths);
	if (!widths)
		rc = fit_fail_nomem(err);
	for (int64_t k = 1; k <= most && !rc; k++)
		rc = fit_speedup_width(a, k, per_node, &widths[k - 1], err);
	for (int64_t p = 0; p < phases && !rc; p++) {
		int64_t from, to;

		fit_speedup_phase(info->epochs, phases, p, &from, &to);
		g->class = info->name;
		g->type = type;
		g->epoch = p;
		g->epochs = to - from;
		/* what slows a job down makes its work more, in units of undisturbed progress */
		g->work = slowdown * fit_speedup_work(a, from, to);
		g->n = 0;
		for (int64_t k = 1; k <= most && !rc; k++) {
			const struct fit_speedup_width *w = &widths[k - 1];
			struct row r = { .width = { 0, 1, k, 0 }, .nodes = w->nodes };

			rc = fit_speedup_over(a, w, from, to, &r.width.speed, &r.first, &r.last, err);
			if (!rc)
				rc = add_row(g, &r, err);
		}
		if (!rc)
			rc = put_group(o, d, g, err);
	}
	free(widths);
	return rc;
}

/* [TYPE=]STORE: types have no '/' or '.' in them, as a path may have '='. */
static const char *store_of(const char *given, char *type, size_t size)
{
	const char *eq = strchr(given, '=');
	size_t n = eq ? (size_t)(eq - given) : 0;

	type[0] = '\0';
	if (!eq || n >= size || memchr(given, '/', n) || memchr(given, '.', n))
		return given;
	memcpy(type, given, n);
	type[n] = '\0';
	return eq + 1;
}

struct stores {
	struct fit_profile **p;
	char (*types)[128];
	size_t n;
};

static bool app_there(const void *what, struct fit_text name)
{
	const struct stores *all = what;

	for (size_t i = 0; i < all->n; i++)
		if (fit_profile_find(all->p[i], name))
			return true;
	return false;
}

static bool type_there(const void *what, struct fit_text name)
{
	const struct stores *all = what;

	for (size_t i = 0; i < all->n; i++)
		if (fit_text_is(name, all->types[i]))
			return true;
	return false;
}

static int from_profiles(const struct cli *cli, const struct options *o, struct data *d, struct fit_err *err)
{
	struct fit_profile **p = calloc(o->profiles.n, sizeof *p);
	char (*types)[128] = calloc(o->profiles.n, sizeof *types);
	struct group g = { 0 };
	int rc = p && types ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < o->profiles.n && !rc; i++) {
		const char *store = store_of(o->profiles.items[i], types[i], sizeof types[i]);
		char hash[FIT_HASH_HEX], key[160] = "profile";

		for (size_t k = 0; k < i && !rc; k++)
			if (strcmp(types[i], types[k]) == 0)
				rc = fit_fail(err, FIT_EINVAL, "two profiles of one GPU type '%s'",
					      types[i]);
		if (!rc)
			rc = fit_profile_load(&p[i], store, hash, err);
		if (types[i][0])
			snprintf(key, sizeof key, "profile_%s", types[i]);
		for (char *s = key; *s; s++) /* keys of metadata are narrower than types */
			if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *s))
				*s = '_';
		if (!rc && cli_meta_input(&d->inputs, key, hash))
			rc = fit_fail_nomem(err);
	}
	if (!rc) {
		const struct stores all = { p, types, o->profiles.n };

		rc = need_classes(o, d, "application", "the profile", app_there, &all, err);
		if (!rc)
			rc = need_named(&d->per_node, "gpus-per-node", "GPU type", "--profile", type_there, &all,
					err);
		if (!rc)
			rc = need_named(&d->max_gpus, "max-gpus", "GPU type", "--profile", type_there, &all,
					err);
	}
	if (!rc)
		rc = begin_output(cli, d, err);
	for (size_t i = 0; i < o->profiles.n && !rc; i++)
		for (size_t a = 0; a < fit_profile_n_apps(p[i]) && !rc; a++) {
			struct fit_app *app = fit_profile_app(p[i], a);

			if (app_wanted(o, fit_app_info(app)->name))
				rc = profile_app(o, d, types[i], app, &g, err);
		}
	for (size_t i = 0; p && i < o->profiles.n; i++)
		fit_profile_free(p[i]);
	free(p);
	free(types);
	free(g.rows);
	return rc;
}

/* ---- measured placements and plans ---- */

enum { P_APP, P_PLAN, P_NODES, P_GPUS, P_TIME, P_COLUMNS };

static int compare_rows(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->width.gpus != b->width.gpus)
		return a->width.gpus < b->width.gpus ? -1 : 1;
	if (a->width.speed != b->width.speed)
		return a->width.speed > b->width.speed ? -1 : 1;
	if (a->nodes != b->nodes)
		return a->nodes < b->nodes ? -1 : 1;
	return strcmp(a->plan ? a->plan : "", b->plan ? b->plan : "");
}

/* Of each number of GPUs the fastest plan and placement. */
static int put_placements(const struct options *o, struct data *d, struct group *g, struct fit_err *err)
{
	size_t kept = 0;

	qsort(g->rows, g->n, sizeof *g->rows, compare_rows);
	for (size_t i = 0; i < g->n; i++)
		if (kept == 0 || g->rows[kept - 1].width.gpus != g->rows[i].width.gpus)
			g->rows[kept++] = g->rows[i];
	g->n = kept;
	g->work = setting_of(&d->work, g->class);
	return put_group(o, d, g, err);
}

static int take_placement(const struct fit_table *t, size_t r, struct group *g, struct fit_err *err)
{
	struct fit_cell gpus = fit_column_cell(&t->columns[P_GPUS], r);
	struct fit_cell nodes = fit_column_cell(&t->columns[P_NODES], r);
	struct fit_cell time = fit_column_cell(&t->columns[P_TIME], r);
	struct row row = { .width = { 0, 1, gpus.u.i, 0 }, .nodes = nodes.na ? 0 : nodes.u.i };
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
	return add_row(g, &row, err);
}

static bool placed(const void *what, struct fit_text name)
{
	const struct fit_table *t = what;

	for (size_t i = 0; i < t->n_rows; i++)
		if (fit_text_eq(fit_column_text(&t->columns[P_APP], i), name))
			return true;
	return false;
}

static int from_placements(const struct cli *cli, const struct options *o, struct data *d,
			   struct fit_err *err)
{
	static const struct fit_field fields[P_COLUMNS] = {
		[P_APP] = { "app", FIT_TEXT, FIT_F_NOT_NA }, [P_PLAN] = { "exec_plan", FIT_TEXT, 0 },
		[P_NODES] = { "nodes", FIT_INT, FIT_F_OPTIONAL },
		[P_GPUS] = { "gpus", FIT_INT, FIT_F_NOT_NA }, [P_TIME] = { "iter_time_s", FIT_REAL, 0 }
	};
	struct fit_table t = { 0 };
	struct group g = { 0 };
	bool *done = NULL;
	int rc = fit_table_read(&t, o->placements, fields, P_COLUMNS, err);

	if (!rc && cli_meta_input(&d->inputs, "placements", t.hash))
		rc = fit_fail_nomem(err);
	if (!rc && t.n_rows == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no rows", o->placements);
	if (!rc)
		rc = need_classes(o, d, "application", o->placements, placed, &t, err);
	if (!rc && !(done = calloc(t.n_rows + 1, sizeof *done)))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = begin_output(cli, d, err);
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
		if (!rc && app_wanted(o, app.s))
			rc = put_placements(o, d, &g, err);
	}
	free(done);
	free(g.rows);
	fit_table_release(&t);
	return rc;
}

/* ---- a table of speedups ---- */

static bool class_there(const void *what, struct fit_text name)
{
	const struct fit_speedups *s = what;

	for (size_t i = 0; i < s->n_classes; i++)
		if (fit_text_is(name, s->classes[i].name))
			return true;
	return false;
}

static int from_table(const struct cli *cli, const struct options *o, struct data *d, struct fit_err *err)
{
	struct fit_speedups s = { 0 };
	struct group g = { 0 };
	int rc = fit_speedups_read(&s, cli_operand(cli, 0), o->drop_bad, err);

	if (!rc)
		rc = need_classes(o, d, "class", "the table", class_there, &s, err);
	if (!rc && cli_meta_input(&d->inputs, NULL, s.hash))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = begin_output(cli, d, err);
	d->dropped = s.dropped;
	for (size_t i = 0; i < s.n_classes && !rc; i++)
		for (size_t j = 0; j < s.classes[i].n && !rc; j++) {
			const struct fit_speedup_epoch *e = &s.epochs[s.classes[i].at + j];

			for (size_t k = 0; k < e->n && !rc; k++) {
				const struct fit_width *w = &s.widths[e->at + k];
				struct row r = { .width = *w };

				r.width.type = 0; /* each type has an envelope of its own */
				rc = add_row(&g, &r, err);
				if (rc || (k + 1 < e->n && w[1].type == w->type))
					continue;
				g.class = s.classes[i].name;
				g.type = s.types[w->type];
				g.epoch = (int64_t)j;
				g.work = e->work;
				if (app_wanted(o, g.class))
					rc = put_group(o, d, &g, err);
				g.n = 0;
			}
		}
	free(g.rows);
	fit_speedups_release(&s);
	return rc;
}

/* ---- the tool ---- */

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	struct data d = { 0 };
	struct fit_err err = { 0 };
	int status = take_options(cli, o, &d), rc = FIT_OK;

	if (!status) {
		if (o->profiles.n)
			rc = from_profiles(cli, o, &d, &err);
		else if (o->placements)
			rc = from_placements(cli, o, &d, &err);
		else
			rc = from_table(cli, o, &d, &err);
		rc = cli_writer_end(d.w, rc, &err);
		if (!rc && d.dropped)
			cli_warn(cli, "%llu speeds that are negative or not finite: not usable",
				 (unsigned long long)d.dropped);
		status = !rc ? CLI_EXIT_OK :
			 rc == FIT_EINVAL ? cli_usage(cli, "%s", err.msg) : cli_error(cli, &err);
	}
	free(d.phases.list);
	free(d.slowdown.list);
	free(d.per_node.list);
	free(d.max_gpus.list);
	free(d.min_gpus.list);
	free(d.work.list);
	fit_envelope_release(&d.envelope);
	fit_meta_release(&d.inputs);
	return status;
}

static const struct cli_verb verbs[] = { { "", "[FILE]", "", options, 0, 1, .run = run },
					 { .name = NULL } };

static const struct cli_tool tool = {
	"gf-speedup", "Speedup functions by class and epoch, and their envelopes.",
	"FILE is a table of speedups (docs/formats/boa.md); profile stores are made by gf-prof.", verbs
};

int main(int argc, char **argv)
{
	struct options o = { 0 };

	return cli_main(&tool, argc, argv, &o);
}
