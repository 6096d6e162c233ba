/* SPDX-License-Identifier: MIT */
/* gf-import: what gf-export wrote, or a scheduler said, as our tables again. */
#include <string.h>

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

static const struct cli_verb verbs[] = {
	{ "", "[FILE]", "", options, 0, 1 },
	{ NULL, NULL, NULL, NULL, 0, 0 }
};

static const struct cli_tool tool = {
	"gf-import", "Read what gf-export writes, as tables.",
	"Formats: adaptdl, tree-json, tree-c, ga2m-json, ga2m-c, widths-json, widths-tsv, prometheus.", verbs
};

static int read_all(const char *operand, struct fit_str *text, char name[256], char hash[FIT_HASH_HEX],
		    struct fit_err *err)
{
	struct fit_source *s = NULL;
	int rc = fit_source_open(&s, operand, err);

	rc = rc ? rc : fit_source_read_all(s, text, err);
	if (!rc) {
		size_t n = strlen(fit_source_name(s));

		n = n < 255 ? n : 255;
		memcpy(name, fit_source_name(s), n);
		name[n] = '\0';
		fit_source_hash(s, hash);
		if (!text->n)
			rc = fit_fail(err, FIT_EPARSE, "%s: empty input", name);
	}
	fit_source_close(s);
	return rc;
}

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
	if (rc) {
		fit_writer_abort(w);
		return rc;
	}
	return fit_writer_close(w, err);
}

static int run(struct cli *cli, const struct options *o)
{
	const struct fit_handoff_format *f = o->from ? fit_handoff_find(o->from) : NULL;
	char name[256], hash[FIT_HASH_HEX];
	struct fit_str text = { 0 };
	struct fit_err err;
	int rc;

	if (o->from && !f)
		return cli_usage(cli, "unknown format '%s' (gf-import --help lists them)", o->from);
	rc = read_all(cli_operand(cli, 0), &text, name, hash, &err);
	if (!rc && !f && !(f = fit_handoff_recognise((struct fit_text){ text.s, text.n })))
		rc =
			fit_fail(&err, FIT_EDATA,
				 "%s: no format that is known (expected what gf-export writes)", name);
	rc = rc ? rc : import(cli, f, name, (struct fit_text){ text.s, text.n }, hash, &err);
	fit_str_release(&text);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}

int main(int argc, char **argv)
{
	struct options o = { .from = NULL };
	struct cli cli;
	int rc = cli_start(&cli, &tool, argc, argv, &o);

	return rc < 0 ? cli_finish(&cli, run(&cli, &o)) : rc;
}
