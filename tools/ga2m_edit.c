/* SPDX-License-Identifier: MIT */
/* gf-ga2m edit: terms pinned, smoothed, flattened, made monotone; what changed is kept with the model. */
#include <math.h>

#include "libfit/model/ga2m_edit.h"
#include "tools/ga2m_parts.h"

#define AT(field) offsetof(struct ga2m_edit_options, field)

const struct cli_option ga2m_edit_options[] = {
	{ 'e', "edit", CLI_LIST, AT(edit), "EDIT", NULL,
	  "flatten:TERM, remove:TERM, scale:TERM=X, smooth:TERM=N, pin:TERM@RANGE=X, ...; in order", NULL, 0, 0,
	  CLI_RESULT | CLI_REQUIRED },
	{ 0, "log", CLI_TEXT, AT(log), "FILE", NULL, "what each edit changed, as a table", NULL, 0,
	  0, CLI_OUTPUT },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static int begin_log(const struct cli *cli, const char *file, const char *hash, struct fit_writer **w,
		     struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "edit", FIT_TEXT, 0 },	      { "cells", FIT_INT, 0 },
		{ "mean_change", FIT_REAL, 0 },       { "largest_change", FIT_REAL, 0 },
		{ "importance_before", FIT_REAL, 0 }, { "importance_after", FIT_REAL, 0 }
	};
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false) || cli_meta_input(&meta, "model", hash) ? fit_fail_nomem(err) : FIT_OK;

	rc = rc ? rc : fit_writer_open(w, file, 0, err);
	rc = rc ? rc : fit_writer_begin(*w, "edits", &meta, fields, sizeof fields / sizeof *fields, err);
	fit_meta_release(&meta);
	return rc;
}

static int one_edit(struct fit_ga2m *m, const char *text, struct fit_writer *log, struct fit_err *err)
{
	struct fit_ga2m_edit e;
	struct fit_ga2m_change c;
	struct fit_str note = { 0 };
	int rc = fit_ga2m_edit_parse(&e, m, text, err);

	if (!rc) {
		rc = fit_ga2m_edit_apply(m, &e, &c, err);
		if (rc)
			fit_fail_prefix(err, rc, "%s", text);
	}
	if (rc)
		return rc;
	rc = fit_str_printf(&note, "%s: %zu cells, by %.6g in the mean, %.6g at most; importance %.6g to %.6g", text,
			    c.cells, c.mean, c.largest, c.importance_before, c.importance_after);
	rc = rc || fit_ga2m_add_note(m, note.s) ? fit_fail_nomem(err) : FIT_OK;
	fit_str_release(&note);
	if (rc || !log)
		return rc;
	fit_writer_str(log, text);
	fit_writer_int(log, (int64_t)c.cells);
	fit_writer_real(log, c.mean);
	fit_writer_real(log, c.largest);
	fit_writer_real(log, c.importance_before);
	fit_writer_real(log, c.importance_after);
	return fit_writer_end_row(log, err);
}

int ga2m_edit(struct cli *cli, void *given)
{
	const struct ga2m_edit_options *o = given;
	struct fit_ga2m m = { 0 };
	struct fit_writer *log = NULL;
	char hash[FIT_HASH_HEX];
	struct fit_err err;
	int rc;

	if (cli->no_meta)
		return cli_usage(cli, "--no-meta does not go with edit (a model is several tables)");
	rc = ga2m_read_model(&m, cli_operand(cli, 0), hash, &err);
	if (!rc && o->log)
		rc = begin_log(cli, o->log, hash, &log, &err);
	for (size_t i = 0; i < o->edit.n && !rc; i++)
		rc = one_edit(&m, o->edit.items[i], log, &err);
	if (!rc && log)
		rc = fit_writer_end(log, &err);
	rc = rc ? rc : ga2m_write_model(cli, &m, hash, &err);
	/* the log last: there is none without the model that it is about */
	if (!rc && log) {
		rc = fit_writer_close(log, &err);
		log = NULL;
	}
	fit_writer_abort(log);
	fit_ga2m_release(&m);
	if (rc == FIT_EINVAL)
		return cli_usage(cli, "%s", err.msg);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}
