/* SPDX-License-Identifier: MIT */
/* gf-import: what gf-export wrote, or a scheduler said, as our tables again. */

#include "libfit/model/handoff.h"
#include "libfit/table/source.h"
#include "tools/common/cli.h"

struct options {
	const char *from;
};

static const struct cli_option options[] = {
	{ 0, "from", CLI_TEXT, offsetof(struct options, from), "FORMAT", "what is recognised",
	  "the format, as of gf-export --to", NULL, 0, 0, CLI_RESULT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static int import(struct cli *cli, const struct fit_handoff_format *f, const char *name,
		  struct fit_text bytes,
		  const char *hash, struct fit_err *err)
{
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false) || fit_meta_add(&meta, "format", f->name) ||
		cli_meta_input(&meta, NULL, hash);

	rc = rc ? fit_fail_nomem(err) : cli_writer_open(cli, &w, err);
	rc = rc ? rc : f->read(name, bytes, w, &meta, err);
	fit_meta_release(&meta);
	return cli_writer_close(w, rc, err);
}

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	const struct fit_handoff_format *f = o->from ? fit_handoff_find(o->from) : NULL;
	const char *operand = cli_operand(cli, 0), *name = fit_operand_name(operand);
	char hash[FIT_HASH_HEX];
	struct fit_str text = { 0 };
	struct fit_err err;
	int rc;

	if (o->from && !f)
		return cli_usage(cli, "unknown format '%s' (gf-import --help lists them)", o->from);
	rc = fit_source_slurp(operand, &text, hash, &err);
	if (!rc && !text.n)
		rc = fit_fail(&err, FIT_EPARSE, "%s: empty input", name);
	if (!rc && !f && !(f = fit_handoff_recognise((struct fit_text){ text.s, text.n })))
		rc = fit_fail(&err, FIT_EDATA, "%s: no format that is known (expected what gf-export writes)", name);
	rc = rc ? rc : import(cli, f, name, (struct fit_text){ text.s, text.n }, hash, &err);
	fit_str_release(&text);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}

static const struct cli_verb verbs[] = {
	{ "", "[FILE]", "", options, 0, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-import", "Read what gf-export writes, as tables.",
	"Formats: adaptdl, tree-json, tree-c, ga2m-json, ga2m-c, widths-json, widths-tsv, prometheus.", verbs
};

int main(int argc, char **argv)
{
	struct options o = { .from = NULL };

	return cli_main(&tool, argc, argv, &o);
}
