/* SPDX-License-Identifier: MIT */
/* gf-ga2m check: shapes that are silly, and rows that training knew nothing of. */
#include <stdlib.h>

#include "libfit/model/ga2m_review.h"
#include "tools/ga2m_rows.h"

#define AT(field) offsetof(struct ga2m_check_options, field)

const struct cli_option ga2m_check_options[] = {
	{ 0, "shape", CLI_LIST, AT(shape), "COLUMN=SHAPE", NULL,
	  "its main effect has to be increasing, decreasing, convex or concave; may be repeated", NULL, 0, 0,
	  CLI_RESULT },
	{ 0, "support", CLI_REAL, AT(support), "X", "0.005",
		"share of the weight below which bins stand for few rows",
	  NULL, 0, 1, CLI_RESULT },
	{ 0, "spike", CLI_REAL, AT(spike), "X", "3",
		"how far off such bins may be, in root mean squares of the term",
	  NULL, 0, 1e9, CLI_RESULT },
	{ 0, "rows", CLI_TEXT, AT(rows), "FILE", NULL, "rows: how many fall where training had none", NULL, 0, 0,
	  CLI_INPUT },
	{ 0, "limit", CLI_REAL, AT(limit), "X", "0.01", "share of rows of which so many may", NULL, 0, 1,
		CLI_RESULT },
	{ 0, "csv", CLI_FLAG, AT(csv), NULL, NULL,
	  "--rows is comma-separated (assumed when its name ends in .csv)", NULL, 0, 0, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

void ga2m_check_defaults(void *given)
{
	struct ga2m_check_options *o = given;
	struct fit_ga2m_review_params p = fit_ga2m_review_params_default();

	*o = (struct ga2m_check_options){ .support = p.support, .spike = p.spike, .limit = 0.01 };
}

static int tally(const struct ga2m_check_options *o, const struct fit_ga2m *m, struct fit_ga2m_findings *f,
		 struct fit_err *err)
{
	struct fit_ga2m_tally t = { 0 };
	struct ga2m_rows r;
	int rc = ga2m_rows_open(&r, m, o->rows, o->csv, NULL, err);

	if (!rc && fit_ga2m_tally_init(&t, m))
		rc = fit_fail_nomem(err);
	while (!rc && (rc = ga2m_rows_next(&r, err)) == FIT_OK)
		fit_ga2m_tally_row(&t, m, r.x);
	if (rc == FIT_END)
		rc = fit_ga2m_tally_findings(&t, m, o->limit, f, err);
	fit_ga2m_tally_release(&t);
	ga2m_rows_close(&r);
	return rc;
}

static int put_finding(const struct fit_ga2m *m, const struct fit_ga2m_finding *x, struct fit_writer *w,
		       struct fit_err *err)
{
	struct fit_str name = { 0 };

	if (x->term != SIZE_MAX && fit_ga2m_term_name(m, x->term, &name)) {
		fit_str_release(&name);
		return fit_fail_nomem(err);
	}
	fit_writer_str(w, x->check);
	fit_writer_str(w, x->fails ? "fails" : "holds");
	fit_writer_str(w, x->term != SIZE_MAX ? name.s : m->features[x->feature].name);
	fit_writer_str(w, x->output >= 0 ? m->classes[x->output] : NULL);
	if (x->bin < 0)
		fit_writer_na(w);
	else
		fit_writer_int(w, x->bin);
	fit_writer_real_or_na(w, x->found);
	fit_writer_real_or_na(w, x->expected);
	fit_writer_real_or_na(w, x->weight);
	fit_writer_str(w, *x->what ? x->what : NULL);
	fit_str_release(&name);
	return fit_writer_end_row(w, err);
}

static int report(const struct cli *cli, const struct fit_ga2m *m, const char *hash,
		  const struct fit_ga2m_findings *f, struct fit_err *err)
{
	static const struct fit_field fields[] = { { "check", FIT_TEXT, 0 },	{ "verdict", FIT_TEXT, 0 },
						   { "term", FIT_TEXT, 0 },	{ "class", FIT_TEXT, 0 },
						   { "bin", FIT_INT, 0 },	{ "found", FIT_REAL, 0 },
						   { "expected", FIT_REAL, 0 }, { "weight", FIT_REAL, 0 },
						   { "what", FIT_TEXT, 0 } };
	struct fit_writer *w = NULL;
	int rc = cli_table_about(cli, &w, "findings", "model", hash, fields, sizeof fields / sizeof *fields, err);

	for (size_t i = 0; i < f->n && !rc; i++)
		rc = put_finding(m, &f->list[i], w, err);
	return cli_writer_end(w, rc, err);
}

int ga2m_check(struct cli *cli, void *given)
{
	const struct ga2m_check_options *o = given;
	struct fit_ga2m_review_params p = { NULL, o->support, o->spike };
	struct fit_ga2m_findings f = { 0 };
	enum fit_ga2m_shape *shapes = NULL;
	struct fit_ga2m m = { 0 };
	char hash[FIT_HASH_HEX];
	struct fit_err err;
	int rc, status = CLI_EXIT_OK;

	if (!o->rows && (o->csv || cli_given(cli, "limit")))
		return cli_usage(cli, "--limit and --csv go with --rows");
	rc = ga2m_read_model(&m, cli_operand(cli, 0), hash, &err);
	shapes = calloc(m.n_features + 1, sizeof *shapes);
	if (!rc && !shapes)
		rc = fit_fail_nomem(&err);
	rc = rc ? rc : ga2m_parse_shapes(&m, &o->shape, shapes, &err);
	p.shapes = shapes;
	rc = rc ? rc : fit_ga2m_review(&m, &p, &f, &err);
	if (!rc && o->rows)
		rc = tally(o, &m, &f, &err);
	rc = rc ? rc : report(cli, &m, hash, &f, &err);
	if (!rc && f.faults)
		rc = fit_fail(&err, FIT_EDATA, "%zu %s", f.faults, fit_plural(f.faults, "fault", "faults"));
	if (rc)
		status = rc == FIT_EINVAL ? cli_usage(cli, "%s", err.msg) : cli_error(cli, &err);
	free(shapes);
	free(f.list);
	fit_ga2m_release(&m);
	return status;
}
