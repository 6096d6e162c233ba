/* SPDX-License-Identifier: MIT */
/*
 * The theta table (docs/formats/theta.md): throughput models by application, read and written.
 */
#ifndef FIT_MODEL_THETA_H
#define FIT_MODEL_THETA_H

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/text.h"
#include "libfit/model/throughput.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* Models by application, from a theta table (any operand of table.h). */
struct fit_theta_list {
	struct fit_theta_entry {
		char *app;		/* NULL: the table says NA, or has no column app */
		struct fit_theta theta;
	} *entries;
	size_t n, cap;
	char hash[FIT_HASH_HEX];	/* content hash of the input */
};

/* FIT_EDATA: a parameter is missing or outside of its domain, an application is there twice; the
 * error names file, line and column. Release with fit_theta_list_release(). */
int fit_theta_list_read(struct fit_theta_list *l, const char *operand,
			struct fit_err *err) FIT_MUST_CHECK;
void fit_theta_list_release(struct fit_theta_list *l);
/* The entry of that application (app.s NULL: the one without a name), or NULL. A list with a single
 * entry without a name answers for every application. Borrowed. */
const struct fit_theta *fit_theta_list_find(const struct fit_theta_list *l, struct fit_text app);

/* The columns of a fitted model behind the key columns: the parameters, their standard errors, how
 * good the fit is, how it ended. */
extern const struct fit_field fit_theta_columns[];
extern const size_t fit_theta_n_columns;
/* The cells of those columns; the caller writes the key before and ends the row. */
void fit_theta_put(struct fit_writer *w, const struct fit_throughput_result *r);
/* A set of parameters (bit j: parameter j) as "alpha_c_s,gamma", or "-" for none. */
#define FIT_THETA_SET_MAX 96
void fit_theta_set_text(unsigned set, char out[FIT_THETA_SET_MAX]);

FIT_C_END

#endif
