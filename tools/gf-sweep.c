/* SPDX-License-Identifier: MIT */
/*
 * gf-sweep: many replays that differ in a few options. A grid becomes a plan, a row a replay; rows are run
 * here or anywhere, those that are finished never again; and their metrics become one table.
 */

#include "tools/common/cli.h"
#include "tools/sweep_parts.h"
#include "tools/sweep_plan.h"

#define AT(field) offsetof(struct sweep_options, field)
#define NO_MORE { 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
#define ROWS { 0, "rows", CLI_TEXT, AT(rows), "LIST", "all", \
	"these rows: numbers from 1, ranges A:B, commas", NULL, 0, 0, 0 }

static const struct cli_option plan_options[] = {
	{ 'a', "axis", CLI_LIST, AT(axes), "NAME=VALUES", NULL,
	  "an option of gf-replay, or a placeholder, and its values: A,B or FROM:TO:STEP", NULL, 0, 0, CLI_RESULT },
	{ 'g', "grid", CLI_TEXT, AT(grid), "TABLE", NULL,
	  "axes that change together: a column each, a row a combination", NULL, 0, 0, CLI_INPUT },
	{ 'p', "prepare", CLI_LIST, AT(prepare), "NAME=COMMAND", NULL,
	  "a file that a tool makes, which {NAME} stands for", NULL, 0, 0, 0 },
	{ 'm', "metrics", CLI_TEXT, AT(metrics), "WORDS", NULL, "options of gf-metrics", NULL, 0, 0, 0 },
	{ 'd', "folder", CLI_TEXT, AT(folder), "FOLDER", "sweep", "where results are kept", NULL, 0, 0, 0 },
	NO_MORE
};
static const struct cli_option run_options[] = {
	{ 'j', "jobs", CLI_INT, AT(jobs), "N", "one a processor", "rows at a time", NULL, 1, 4096, 0 },
	ROWS,
	{ 0, "retries", CLI_INT, AT(retries), "N", "1", "more tries of a row whose program was killed", NULL, 0,
	  1000, 0 },
	{ 0, "keep-logs", CLI_FLAG, AT(keep_logs), NULL, NULL, "keep the event logs, too", NULL, 0, 0, 0 },
	{ 0, "fresh", CLI_FLAG, AT(fresh), NULL, NULL, "do finished rows again", NULL, 0, 0, 0 },
	NO_MORE
};
static const struct cli_option status_options[] = {
	ROWS,
	{ 0, "each", CLI_FLAG, AT(each), NULL, NULL, "a row each, not counts of them", NULL, 0, 0, CLI_RESULT },
	{ 0, "strict", CLI_FLAG, AT(strict), NULL, NULL, "exit status 1 unless all are finished", NULL, 0, 0, 0 },
	NO_MORE
};
static const struct cli_option reduce_options[] = {
	{ 0, "metric", CLI_TEXT, AT(metric), "NAMES", "all", "these metrics only, in this order", NULL, 0, 0,
	  CLI_RESULT },
	{ 0, "partial", CLI_FLAG, AT(partial), NULL, NULL, "leave out rows that are not finished", NULL, 0, 0,
	  CLI_RESULT },
	NO_MORE
};

static const struct cli_verb verbs[] = {
	{ "plan", "[--] REPLAY-WORD...", "make a plan of a grid; behind -- stand the words of gf-replay",
	  plan_options, 1, -1, .run = sweep_verb_plan },
	{ "run", "PLAN", "run the rows that are not finished", run_options, 1, 1, .run = sweep_verb_run },
	{ "status", "PLAN", "how many rows are finished", status_options, 1, 1, .run = sweep_verb_status },
	{ "reduce", "PLAN", "the metrics of all rows as one table", reduce_options, 1, 1, .run = sweep_verb_reduce },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	.name = "gf-sweep",
	.summary = "Many replays that differ in a few options, run once each, here or on many hosts.",
	.details =
	"  gf-sweep plan -a policy=fifo,srtf -a seed=1:5 -o plan.tsv \\\n"
	"      -p 'jobs=gf-synth jobs --jobs 200 --seed {seed}' -- --cluster 4x4 {jobs}\n"
	"  gf-sweep run plan.tsv && gf-sweep reduce plan.tsv\n"
	"An axis is the option --NAME of gf-replay, unless {NAME} stands somewhere.\n"
	"scripts/sweep-parallel and scripts/sweep-slurm run the rows of a plan elsewhere.",
	.verbs = verbs,
};

static int read_grid(const struct sweep_options *o, struct sweep_grid *g, struct fit_err *err)
{
	int rc = o->grid ? sweep_grid_table(g, o->grid, err) : FIT_OK;

	for (size_t i = 0; i < o->axes.n && !rc; i++)
		rc = sweep_grid_axis(g, o->axes.items[i], err);
	return rc;
}

static int write_plan(const struct cli *cli, const struct sweep_plan *p, const struct sweep_grid *g,
		      struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	struct fit_writer *w;
	int rc = cli_writer_open(cli, &w, err);

	if (rc)
		return rc;
	if (cli_meta(cli, &meta, false) || (*g->hash && cli_meta_input(&meta, "grid", g->hash)))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : sweep_plan_write(p, &meta, w, err);
	fit_meta_release(&meta);
	return cli_writer_close(w, rc, err);
}

int sweep_verb_plan(struct cli *cli, void *given)
{
	const struct sweep_options *o = given;
	struct sweep_grid g = { .axes = NULL };
	struct sweep_plan p = { .axes = NULL };
	struct sweep_spec spec = {
		.grid = &g,
		.prepare = o->prepare.items, .n_prepare = o->prepare.n,
		.replay = cli->operands, .n_replay = (size_t)cli->n_operands,
		.metrics = o->metrics,
		.folder = o->folder,
	};
	struct fit_err err = { 0 };
	int rc, status = CLI_EXIT_OK;

	rc = read_grid(o, &g, &err);
	rc = rc ? rc : sweep_plan_make(&p, &spec, &err);
	rc = rc ? rc : write_plan(cli, &p, &g, &err);
	if (rc == FIT_EINVAL)
		status = cli_usage(cli, "%s", err.msg);
	else if (rc)
		status = cli_error(cli, &err);
	else
		cli_note(cli, "%zu rows, %zu inputs to be made, %zu programs and files", p.n_rows, p.n_inputs,
			 p.files.n);
	sweep_plan_release(&p);
	sweep_grid_release(&g);
	return status;
}

int main(int argc, char **argv)
{
	struct sweep_options o = { .folder = "sweep", .retries = 1 };

	return cli_main(&tool, argc, argv, &o);
}
