/* SPDX-License-Identifier: MIT */
/* gf-export: a model or metrics in the format that a scheduler or an operator reads. */

#include "libfit/base/outfile.h"
#include "libfit/model/handoff.h"
#include "tools/common/cli.h"

struct options {
	const char *to;
	struct cli_list label;
	struct fit_handoff_options format;
};

#define AT(field) offsetof(struct options, field)

static const struct cli_option options[] = {
	{ 0, "to", CLI_TEXT, AT(to), "FORMAT", NULL, "the format; see below", NULL, 0, 0, CLI_REQUIRED },
	{ 0, "app", CLI_TEXT, AT(format.app), "NAME", NULL, "adaptdl: this application alone", NULL, 0, 0,
	 0 },
	{ 0, "stats", CLI_TEXT, AT(format.stats), "FILE", NULL,
	 "adaptdl: batch sizes and gradient statistics",
	  NULL, 0, 0, CLI_INPUT },
	{ 0, "data", CLI_TEXT, AT(format.data), "FILE", NULL,
	 "adaptdl: measurements, for the most replicas tried",
	  NULL, 0, 0, CLI_INPUT },
	{ 0, "name", CLI_TEXT, AT(format.name), "NAME", "tree, model", "tree-c, ga2m-c: of the function",
	 NULL, 0, 0, 0 },
	{ 0, "prefix", CLI_TEXT, AT(format.prefix), "TEXT", "goodfit", "prometheus: of metric names",
	  NULL, 0, 0, 0 },
	{ 0, "label", CLI_LIST, AT(label), "COLUMN", NULL, "prometheus: a column of numbers that is a label",
	  NULL, 0, 0, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static const struct {
	const char *name;
	unsigned bit;
} uses[] = { { "app", FIT_HANDOFF_APP }, { "stats", FIT_HANDOFF_STATS }, { "data", FIT_HANDOFF_DATA },
	     { "name", FIT_HANDOFF_NAME }, { "prefix", FIT_HANDOFF_PREFIX },
	     { "label", FIT_HANDOFF_LABEL } };

static int run(struct cli *cli, void *given)
{
	struct options *o = given;
	const struct fit_handoff_format *f = fit_handoff_find(o->to);
	struct fit_str text = { 0 };
	struct fit_err err;
	int rc;

	if (!f)
		return cli_usage(cli, "unknown format '%s' (gf-export --help lists them)", o->to);
	if (cli->no_meta)
		return cli_usage(cli, "--no-meta is of no use here (no format has our metadata)");
	if (cli->out && fit_is_store(cli->out))
		return cli_usage(cli, "--to %s cannot go into a store '%s'", f->name, cli->out);
	for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
		if (cli_given(cli, uses[i].name) && !(f->uses & uses[i].bit))
			return cli_usage(cli, "--%s is of no use with --to %s", uses[i].name, f->name);
	o->format.labels = o->label.items;
	o->format.n_labels = o->label.n;
	rc = f->write(cli_operand(cli, 0), &o->format, &text, &err);
	rc = rc ? rc : fit_outfile_write(cli->out, (struct fit_text){ text.s, text.n }, &err);
	fit_str_release(&text);
	return !rc ? CLI_EXIT_OK : rc == FIT_EINVAL ? cli_usage(cli, "%s", err.msg) : cli_error(cli, &err);
}

static const struct cli_verb verbs[] = {
	{ "", "[FILE]", "", options, 0, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-export", "Write a model or metrics in the format that a scheduler or an operator reads.",
	"Formats:\n"
	"  adaptdl      scheduling hints of AdaptDL, from throughput models\n"
	"  tree-json    a decision tree as JSON\n"
	"  tree-c       a decision tree as C functions\n"
	"  ga2m-json    a GA2M as JSON\n"
	"  ga2m-c       a GA2M as C functions\n"
	"  widths-json  widths of a BOA plan as JSON\n"
	"  widths-tsv   widths of a BOA plan as a plain table\n"
	"  prometheus   gauges of Prometheus, from any table", verbs
};

int main(int argc, char **argv)
{
	struct options o = { .to = NULL };

	return cli_main(&tool, argc, argv, &o);
}
