/* SPDX-License-Identifier: MIT */
/*
 * gf-select: some of the rows of a table, by conditions on columns, a window of time or chance; and
 * their submissions, moved or brought closer together. Columns, types and metadata are kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/select.h"
#include "tools/common/cli.h"
#include "traces/jobs.h"

struct options {
	struct cli_list where;
	const char *window, *sample;
	double rate;
	bool rebase;
	int64_t head;
};

#define O(field) offsetof(struct options, field)

static const struct cli_option option_table[] = {
	{ 'w', "where", CLI_LIST, O(where), "CONDITION", NULL,
	  "COLUMN OP VALUE; all that are given must hold", NULL, 0, 0, CLI_RESULT },
	{ 0, "window", CLI_TEXT, O(window), "FROM:TO", NULL,
	  "submitted at FROM or later, and before TO (seconds, or with min, h, d)", NULL, 0, 0, CLI_RESULT },
	{ 0, "sample", CLI_TEXT, O(sample), "N", NULL,
	  "N rows by chance, or a share of them: 0.1, 10%", NULL, 0, 0, CLI_RESULT },
	{ 'n', "head", CLI_INT, O(head), "N", NULL, "no more than the first N of what is selected", NULL, 0,
	  1e15, CLI_RESULT },
	{ 0, "rate", CLI_REAL, O(rate), "FACTOR", NULL,
	  "FACTOR times as many submissions an hour: their gaps are divided by it", NULL, 1e-9, 1e9,
	  CLI_RESULT },
	{ 0, "rebase", CLI_FLAG, O(rebase), NULL, NULL, "the first submission becomes time 0", NULL, 0, 0,
	  CLI_RESULT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

/* ---- options ---- */

static int parse_window(const char *text, struct fit_select_params *p)
{
	const char *colon = strchr(text, ':');
	struct fit_text from, to;

	if (!colon)
		return FIT_EINVAL;
	from = (struct fit_text){ text, (size_t)(colon - text) };
	to = fit_text_of(colon + 1);
	p->has_from = from.n > 0;
	p->has_to = to.n > 0;
	if ((from.n && fit_parse_time_unit(from, &p->from_ns)) ||
	    (to.n && fit_parse_time_unit(to, &p->to_ns)) || !(from.n || to.n))
		return FIT_EINVAL;
	return from.n && to.n && p->from_ns >= p->to_ns ? FIT_EINVAL : FIT_OK;
}

/* A whole number is a number of rows; with a point or a % it is a share. */
static int parse_sample(const char *text, struct fit_select_params *p)
{
	struct fit_text t = fit_text_of(text);
	bool percent = t.n && t.s[t.n - 1] == '%';

	if (!percent && fit_parse_int64(t, &p->sample_rows) == FIT_OK)
		return p->sample_rows >= 1 && p->sample_rows <= 1000000000 ? FIT_OK : FIT_EINVAL;
	t.n -= percent;
	if (fit_parse_double(t, &p->sample_share))
		return FIT_EINVAL;
	p->sample_share /= percent ? 100 : 1;
	return p->sample_share > 0 && p->sample_share <= 1 ? FIT_OK : FIT_EINVAL;
}

/* What the option table cannot check; 0, or the exit status. */
static int check_options(struct cli *cli, const struct options *o, struct fit_select_params *p)
{
	struct fit_err err = { 0 };

	if (o->window && parse_window(o->window, p))
		return cli_usage(cli, "bad value '%s' for --window (expected FROM:TO, FROM before TO, or one "
				 "of them left out)", o->window);
	if (o->sample && parse_sample(o->sample, p))
		return cli_usage(cli, "bad value '%s' for --sample (expected a number of rows, or a share such "
				 "as 0.1 or 10%%)", o->sample);
	for (size_t i = 0; i < o->where.n; i++)
		if (fit_condition_parse(&p->conditions[i], o->where.items[i], &err))
			return cli_usage(cli, "%s", err.msg);
	p->n_conditions = o->where.n;
	return 0;
}

/* ---- metadata ---- */

/* Does the key belong to our own invocation? The input's pair of that name becomes source_KEY. */
static bool is_ours(const struct fit_meta *ours, const char *key)
{
	return fit_meta_get(ours, key) || strcmp(key, "input") == 0 || strncmp(key, "source_", 7) == 0 ||
	       strcmp(key, "seed") == 0 || strcmp(key, "verb") == 0 || strcmp(key, "version") == 0;
}

/* The origin of a rebased table is the moment of its first submission. */
static int move_origin(struct fit_meta *meta, int64_t base_ns)
{
	const char *origin = fit_meta_get(meta, "origin");
	char text[FIT_DATETIME_MAX + 16];
	int64_t ns;

	if (!origin || !base_ns || fit_parse_datetime(fit_text_of(origin), &ns) ||
	    __builtin_add_overflow(ns, base_ns, &ns))
		return FIT_OK;
	fit_format_datetime(text, ns);
	ns = (ns % FIT_NS_PER_S + FIT_NS_PER_S) % FIT_NS_PER_S;
	if (ns)
		snprintf(text + strlen(text), 16, ".%09lld", (long long)ns);
	return fit_meta_set(meta, "origin", text);
}

struct output {
	struct cli *cli;
	struct fit_reader *r;
	struct fit_writer *w;
	bool seeded;
	size_t n_head;		/* pairs of metadata ahead of the rows of the input */
};

/* The pairs of the input from number first on. */
static int keep_meta(struct fit_meta *meta, const struct fit_meta *ours, const struct fit_meta *from,
		     size_t first)
{
	struct fit_str key = { 0 };
	int rc = FIT_OK;

	for (size_t i = first; !rc && i < from->n; i++) {
		fit_str_clear(&key);
		rc = fit_str_printf(&key, "%s%s", is_ours(ours, from->pairs[i].key) ? "source_" : "",
				    from->pairs[i].key);
		rc = rc ? rc : fit_meta_add(meta, key.s, from->pairs[i].value);
	}
	fit_str_release(&key);
	return rc;
}

static int start(void *arg, const struct fit_field *fields, size_t n, int64_t base_ns,
		 struct fit_err *err)
{
	struct output *o = arg;
	struct fit_meta ours = { 0 }, meta = { 0 };
	int rc = cli_meta(o->cli, &ours, o->seeded);

	if (!rc)
		rc = fit_meta_copy(&meta, &ours);
	if (!rc)
		rc = keep_meta(&meta, &ours, fit_reader_meta(o->r), 0);
	o->n_head = fit_reader_meta(o->r)->n;
	if (!rc)
		rc = move_origin(&meta, base_ns);
	rc = rc ? fit_fail_nomem(err) :
	     fit_writer_begin(o->w, fit_reader_table_name(o->r), &meta, fields, n, err);
	fit_meta_release(&ours);
	fit_meta_release(&meta);
	return rc;
}

/* What the input says behind its rows, and its hash, which is known now. */
static int end(void *arg, struct fit_err *err)
{
	const struct output *o = arg;
	struct fit_meta ours = { 0 }, meta = { 0 };
	char hash[FIT_HASH_HEX];
	int rc = cli_meta(o->cli, &ours, o->seeded);

	fit_reader_hash(o->r, hash);
	if (!rc)
		rc = keep_meta(&meta, &ours, fit_reader_meta(o->r), o->n_head);
	if (!rc)
		rc = cli_meta_input(&meta, NULL, hash);
	rc = rc ? fit_fail_nomem(err) : fit_writer_end_meta(o->w, &meta, err);
	fit_meta_release(&ours);
	fit_meta_release(&meta);
	return rc;
}

/* Nothing may follow the table. */
static int check_rest(struct fit_reader *r, struct fit_err *err)
{
	int rc = fit_reader_begin(r, NULL, 0, err);

	if (rc == FIT_END)
		return FIT_OK;
	return rc ? rc : fit_fail(err, FIT_EDATA, "%s: more than one table (expected one)",
				  fit_reader_input(r));
}

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	struct fit_select_params p = { .rate = o->rate, .rebase = o->rebase, .head = o->head,
				       .seed = cli->seed };
	struct fit_select_report report = { 0 };
	struct output out = { .cli = cli };
	struct fit_err err = { 0 };
	int rc, status;

	p.conditions = calloc(o->where.n ? o->where.n : 1, sizeof *p.conditions);
	if (!p.conditions) {
		fit_fail_nomem(&err);
		return cli_error(cli, &err);
	}
	status = check_options(cli, o, &p);
	if (status) {
		free(p.conditions);
		return status;
	}
	out.seeded = o->sample != NULL;
	rc = fit_reader_open(&out.r, cli_operand(cli, 0), &err);
	if (!rc)
		rc = cli_writer_open(cli, &out.w, &err);
	rc = rc ? rc : fit_select(out.r, out.w, &p, start, end, &out, &report, &err);
	rc = rc ? rc : check_rest(out.r, &err);
	rc = cli_writer_close(out.w, rc, &err);
	if (rc) {
		status = cli_error(cli, &err);
	} else {
		if (report.missing)
			cli_warn(cli, "%s: %llu of %llu rows left out as a value to compare is missing",
				 fit_reader_input(out.r), (unsigned long long)report.missing,
				 (unsigned long long)report.rows);
		cli_note(cli, "%s: %llu rows, %llu selected", fit_reader_input(out.r),
			 (unsigned long long)report.rows, (unsigned long long)report.kept);
	}
	fit_reader_close(out.r);
	free(p.conditions);
	return status;
}

static const struct cli_verb verbs[] = {
	{ "", "[TABLE]", "", option_table, 0, 1, .run = run }, { .name = NULL }
};

static const struct cli_tool tool = {
	.name = "gf-select", .verbs = verbs,
	.summary = "Some of the rows of a table; its submissions moved or brought closer together.",
	.details = "OP is one of = != < <= > >= ~ !~ (contains, does not). VALUE NA: missing.",
};

int main(int argc, char **argv)
{
	struct options o = { .head = -1 };

	return cli_main(&tool, argc, argv, &o);
}
