/* SPDX-License-Identifier: MIT */
/* Rows of a table as a model wants them, one after another. */
#ifndef TOOLS_GA2M_ROWS_H
#define TOOLS_GA2M_ROWS_H

#include "libfit/model/ga2m_train.h"
#include "tools/ga2m_parts.h"

struct ga2m_rows {
	const struct fit_ga2m *m;
	struct fit_input *in;
	int *column;		/* by feature */
	int id, offset;		/* -1: none */
	double *x;		/* of the current row */
	double known;		/* its offset, 0 without one */
	int64_t row;		/* from 1 */
};

/* id may be NULL. FIT_ENOTFOUND: a column that the model uses, or id, is not there. */
int ga2m_rows_open(struct ga2m_rows *r, const struct fit_ga2m *m, const char *operand, bool csv,
		const char *id,
		   struct fit_err *err) FIT_MUST_CHECK;
void ga2m_rows_close(struct ga2m_rows *r);
/* The next row; FIT_END. */
int ga2m_rows_next(struct ga2m_rows *r, struct fit_err *err) FIT_MUST_CHECK;

/* "COLUMN=SHAPE" (increasing, decreasing, convex, concave) into shapes[feature]. FIT_EINVAL. */
int ga2m_parse_shapes(const struct fit_ga2m *m, const struct cli_list *list, enum fit_ga2m_shape *shapes,
		      struct fit_err *err) FIT_MUST_CHECK;

#endif
