/* SPDX-License-Identifier: MIT */
/* What gf-ga2m train reads: which column of the input is what, and the rows. */
#ifndef TOOLS_GA2M_DATA_H
#define TOOLS_GA2M_DATA_H

#include "libfit/model/ga2m_train.h"
#include "tools/ga2m_parts.h"

struct ga2m_columns {
	int target, weight, offset, time, group;	/* of the input, from 0; -1: there is none */
	int *feature;		/* likewise, by feature */
	const char **name;	/* borrowed from the input */
	bool *nominal;
	size_t n;
};

/* FIT_ENOTFOUND: a column that is not there; FIT_EDATA: no feature is left. Release c in any case. */
int ga2m_find_columns(const struct fit_input *in, const struct ga2m_train_options *o, struct ga2m_columns *c,
		      struct fit_err *err) FIT_MUST_CHECK;
void ga2m_columns_release(struct ga2m_columns *c);
/* All rows, classes in their order. FIT_EDATA: a bad cell, with its place, or no rows. Release d in any
 * case. */
int ga2m_read_rows(struct fit_input *in, const struct ga2m_train_options *o, const struct ga2m_columns *c,
		   struct fit_ga2m_data *d, struct fit_err *err) FIT_MUST_CHECK;

#endif
