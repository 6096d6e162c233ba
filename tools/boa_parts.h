/* SPDX-License-Identifier: MIT */
/* The parts of gf-boa: the problem that its verbs share, and the tables that it writes. */
#ifndef TOOLS_BOA_PARTS_H
#define TOOLS_BOA_PARTS_H

#include "libfit/model/boa.h"
#include "tools/boa_prices.h"
#include "tools/common/cli.h"

struct boa_data {
	struct boa_prices prices;
	struct fit_boa boa;
	struct fit_boa_frontier frontier;
	struct fit_meta inputs;
	double *budgets;
	bool charged;	/* some change of width costs something */
};

/* Start a table: with the metadata of the problem, and of a solution (NULL: none). */
int boa_open_table(const struct cli *cli, const struct boa_data *d, const struct fit_boa_solution *s,
		   const struct fit_field *fields, size_t n, struct fit_writer **w,
		   struct fit_err *err) FIT_MUST_CHECK;

int boa_write_frontier(const struct cli *cli, const struct boa_data *d, struct fit_err *err) FIT_MUST_CHECK;
int boa_write_vertices(const struct cli *cli, const struct boa_data *d, struct fit_err *err) FIT_MUST_CHECK;

/* Rows of --summary. */
extern const struct fit_field boa_summary_fields[];
extern const size_t boa_n_summary_fields;
int boa_write_summary_row(struct fit_writer *w, const struct boa_data *d, const struct fit_boa_solution *s,
			  struct fit_err *err) FIT_MUST_CHECK;
/* A number, NA where it is FIT_NO_WIDTH. */
void boa_put_number(struct fit_writer *w, size_t v);

#endif
