/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "libfit/table/table.h"

int fit_reader_each(struct fit_reader *r, const struct fit_field *fields, size_t n, fit_take_row *take,
		    void *to, struct fit_err *err)
{
	struct fit_cell *cells = malloc((n + 1) * sizeof *cells);
	int rc = cells ? fit_reader_begin(r, fields, n, err) : fit_fail_nomem(err);

	while (!rc) {
		rc = fit_reader_row(r, cells, err);
		rc = rc ? rc : take(to, r, cells, err);
	}
	free(cells);
	return rc == FIT_END ? fit_reader_only(r, err) : rc;
}
