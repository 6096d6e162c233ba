/* SPDX-License-Identifier: MIT */
/* A tree from its tables or from JSON, and back. */

#include "libfit/table/source.h"
#include "tools/tree_parts.h"

static int read_json(struct fit_tree *t, const char *operand, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	struct fit_str text = { 0 };
	int rc = fit_source_slurp(operand, &text, hash, err);

	rc = rc ? rc : fit_tree_read_json(t, fit_operand_name(operand), text.s ? text.s : "", text.n, err);
	fit_str_release(&text);
	return rc;
}

int tree_read_model(struct fit_tree *t, const char *operand, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	return fit_operand_is_json(operand) ? read_json(t, operand, hash, err) :
	       fit_tree_read(t, operand, hash, err);
}

static int write_cv(const struct fit_tree_cv *cv, struct fit_writer *w, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "alpha", FIT_REAL, 0 }, { "beta", FIT_REAL, 0 }, { "leaves", FIT_INT, 0 },
		{ "loss", FIT_REAL, 0 },  { "se", FIT_REAL, 0 },	 { "chosen", FIT_INT, 0 }
	};
	int rc = fit_writer_begin(w, "cv", NULL, fields, sizeof fields / sizeof *fields, err);

	for (size_t i = 0; i < cv->n && !rc; i++) {
		fit_writer_real(w, cv->rows[i].alpha);
		fit_writer_real(w, cv->rows[i].beta);
		fit_writer_int(w, (int64_t)cv->rows[i].leaves);
		fit_writer_real(w, cv->rows[i].loss);
		fit_writer_real(w, cv->rows[i].se);
		fit_writer_int(w, i == cv->chosen);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

int tree_write_model(const struct cli *cli, const struct fit_tree *t, const struct fit_tree_path *path,
		     const struct fit_tree_cv *cv, const char *hash, struct fit_err *err)
{
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	rc = rc ? rc : cli_meta_input(&meta, NULL, hash);
	rc = rc ? fit_fail_nomem(err) : cli_writer_open(cli, &w, err);
	rc = rc ? rc : fit_tree_write(t, path, w, &meta, err);
	if (!rc && cv && cv->n)
		rc = write_cv(cv, w, err);
	fit_meta_release(&meta);
	return cli_writer_close(w, rc, err);
}
