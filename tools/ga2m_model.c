/* SPDX-License-Identifier: MIT */
/* Models of gf-ga2m in and out, and gf-ga2m convert. */
#include <string.h>

#include "libfit/base/c_out.h"
#include "libfit/base/outfile.h"
#include "libfit/model/ga2m_json.h"
#include "libfit/table/source.h"
#include "tools/ga2m_parts.h"

#define AT(field) offsetof(struct ga2m_convert_options, field)

const struct cli_option ga2m_convert_options[] = {
	{ 0, "json", CLI_FLAG, AT(json), NULL, NULL, "write JSON in the reference's layout, not tables", NULL, 0,
	  0, 0 },
	{ 0, "c", CLI_FLAG, AT(c), NULL, NULL, "write C functions, not tables", NULL, 0, 0, 0 },
	{ 0, "name", CLI_TEXT, AT(name), "NAME", "model", "with --c: what functions are called", NULL, 0, 0, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static int read_json(struct fit_ga2m *m, const char *operand, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	struct fit_str text = { 0 };
	int rc = fit_source_slurp(operand, &text, hash, err);

	rc = rc ? rc : fit_ga2m_read_json(m, fit_operand_name(operand), text.s ? text.s : "", text.n, err);
	fit_str_release(&text);
	return rc;
}

int ga2m_read_model(struct fit_ga2m *m, const char *operand, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	return fit_operand_is_json(operand) ? read_json(m, operand, hash, err) :
	       fit_ga2m_read(m, operand, hash, err);
}

/* Metadata of the output of this call: the notes of the model among them, which are edits and the like. */
static int meta_of(const struct cli *cli, const struct fit_ga2m *m, const char *hash, struct fit_meta *meta)
{
	int rc = cli_meta(cli, meta, false) || cli_meta_input(meta, "model", hash);

	for (size_t i = 0; i < m->meta.n && !rc; i++)
		if (strncmp(m->meta.pairs[i].key, "note_", 5) == 0)
			rc = fit_meta_add(meta, m->meta.pairs[i].key, m->meta.pairs[i].value);
	return rc ? FIT_ENOMEM : FIT_OK;
}

int ga2m_write_model(const struct cli *cli, const struct fit_ga2m *m, const char *hash, struct fit_err *err)
{
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	int rc;

	if (cli->out && fit_operand_is_json(cli->out))
		return ga2m_write_json(cli, m, err);
	rc = meta_of(cli, m, hash, &meta) ? fit_fail_nomem(err) : cli_writer_open(cli, &w, err);
	rc = rc ? rc : fit_ga2m_write(m, &meta, w, err);
	fit_meta_release(&meta);
	return cli_writer_close(w, rc, err);
}

/* Text that a printer appended, where that went well. */
static int write_text(const struct cli *cli, struct fit_str *text, int rc, struct fit_err *err)
{
	rc = rc ? rc : fit_outfile_write(cli->out, (struct fit_text){ text->s, text->n }, err);
	fit_str_release(text);
	return rc;
}

int ga2m_write_json(const struct cli *cli, const struct fit_ga2m *m, struct fit_err *err)
{
	struct fit_str text = { 0 };
	int rc = fit_ga2m_print_json(m, &text, err);

	return write_text(cli, &text, rc, err);
}

static int write_c(const struct cli *cli, const struct fit_ga2m *m, const char *name, struct fit_err *err)
{
	struct fit_str text = { 0 };
	int rc = fit_ga2m_print_c(m, name ? name : "model", &text, err);

	return write_text(cli, &text, rc, err);
}

int ga2m_convert(struct cli *cli, void *given)
{
	const struct ga2m_convert_options *o = given;
	struct fit_ga2m m = { 0 };
	char hash[FIT_HASH_HEX];
	struct fit_err err;
	int rc;

	if (cli->no_meta)
		return cli_usage(cli, "--no-meta does not go with convert (a model is several tables)");
	if (o->json && o->c)
		return cli_usage(cli, "--json and --c are two formats (expected one)");
	if (o->name && !o->c)
		return cli_usage(cli, "--name goes with --c");
	if (o->name && !fit_c_is_name(o->name))
		return cli_usage(cli, "bad name '%s' for --name (expected what C may call a function)", o->name);
	rc = ga2m_read_model(&m, cli_operand(cli, 0), hash, &err);
	if (!rc)
		rc = o->c ? write_c(cli, &m, o->name, &err) : o->json ? ga2m_write_json(cli, &m, &err) :
		     ga2m_write_model(cli, &m, hash, &err);
	fit_ga2m_release(&m);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}
