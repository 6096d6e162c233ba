/* SPDX-License-Identifier: MIT */
#include "tools/row_tables.h"

bool rows_app_wanted(const struct cli_list *wanted, struct fit_text app)
{
	for (size_t i = 0; i < wanted->n; i++)
		if (app.s && fit_text_is(app, wanted->items[i]))
			return true;
	return wanted->n == 0;
}

void rows_put_int(struct fit_writer *w, bool known, int64_t v)
{
	if (known)
		fit_writer_int(w, v);
	else
		fit_writer_na(w);
}

void rows_put_real(struct fit_writer *w, bool known, double v)
{
	if (known)
		fit_writer_real(w, v);
	else
		fit_writer_na(w);
}

int rows_begin(const struct cli *cli, struct fit_writer *w, const struct fit_meta *inputs,
	       const struct fit_field *fields, size_t n, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	for (size_t i = 0; i < inputs->n && !rc; i++)
		rc = fit_meta_add(&meta, inputs->pairs[i].key, inputs->pairs[i].value);
	if (rc)
		fit_fail_nomem(err);
	else
		rc = fit_writer_begin(w, NULL, &meta, fields, n, err);
	fit_meta_release(&meta);
	return rc;
}

int rows_end_input(const struct fit_input *in, struct fit_writer *w, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	char hash[FIT_HASH_HEX];
	int rc;

	fit_input_hash(in, hash);
	rc = cli_meta_input(&meta, NULL, hash) ? fit_fail_nomem(err) : fit_writer_end_meta(w, &meta, err);
	fit_meta_release(&meta);
	return rc;
}
