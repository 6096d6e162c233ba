/* SPDX-License-Identifier: MIT */
#include "traces/csv_table.h"

#include <stdlib.h>
#include <string.h>

#include "traces/csv.h"

bool fit_is_csv(const char *operand)
{
	size_t n = strlen(operand);

	return n > 4 && strcmp(operand + n - 4, ".csv") == 0;
}

/* The rows; every column is text at first. */
static int read_rows(struct fit_table *t, struct fit_csv *c, struct fit_err *err)
{
	size_t n = fit_csv_n_columns(c);
	struct fit_field *fields = calloc(n + 1, sizeof *fields);
	struct fit_cell *cells = calloc(n + 1, sizeof *cells);
	struct fit_str names = { 0 };
	uint64_t first = 0;
	bool in_step = true; /* row r stands on line first + r */
	int rc = fields && cells ? FIT_OK : fit_fail_nomem(err);

	/* names as C strings, one after another; pointers once all of them are there */
	for (size_t i = 0; i < n && !rc; i++)
		if (fit_str_add(&names, fit_csv_column(c, i).s, fit_csv_column(c, i).n) ||
		    fit_str_add(&names, "", 1))
			rc = fit_fail_nomem(err);
	for (size_t i = 0, at = 0; i < n && !rc; at += fit_csv_column(c, i).n + 1, i++)
		fields[i] = (struct fit_field){ names.s + at, FIT_TEXT, 0 };
	rc = rc ? rc : fit_csv_bind(c, fields, n, err);
	rc = rc ? rc : fit_table_init(t, NULL, fields, n, err);
	while (!rc && !(rc = fit_csv_row(c, cells, err))) {
		if (t->n_rows == 0)
			first = fit_csv_line(c);
		else if (fit_csv_line(c) != first + t->n_rows)
			in_step = false;
		rc = fit_table_add(t, cells) ? fit_fail_nomem(err) : FIT_OK;
	}
	if (rc == FIT_END) {
		t->first_line = in_step ? first : 0;
		rc = fit_table_infer(t) ? fit_fail_nomem(err) : FIT_OK;
	}
	fit_str_release(&names);
	free(fields);
	free(cells);
	return rc;
}

int fit_csv_table(struct fit_table *t, const char *operand, struct fit_err *err)
{
	struct fit_source *s = NULL;
	struct fit_csv *c = NULL;
	int rc = fit_source_open(&s, operand, err);

	*t = (struct fit_table){ 0 };
	rc = rc ? rc : fit_csv_open(&c, s, NULL, err);
	rc = rc ? rc : read_rows(t, c, err);
	if (!rc) {
		snprintf(t->input, sizeof t->input, "%s", fit_source_name(s));
		fit_csv_hash(c, t->hash);
	} else {
		fit_table_release(t);
	}
	fit_csv_close(c);
	fit_source_close(s);
	return rc;
}

int fit_any_table(struct fit_table *t, const char *operand, bool csv, struct fit_err *err)
{
	return csv || fit_is_csv(operand) ? fit_csv_table(t, operand, err)
					  : fit_table_read(t, operand, NULL, 0, err);
}
