/* SPDX-License-Identifier: MIT */
#include "libfit/model/theta.h"

#include <stdlib.h>

/* ---- reading ---- */

void fit_theta_list_release(struct fit_theta_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->entries[i].app);
	free(l->entries);
	*l = (struct fit_theta_list){ 0 };
}

static bool same_app(const char *a, struct fit_text b)
{
	return a ? b.s && fit_text_is(b, a) : !b.s;
}

const struct fit_theta *fit_theta_list_find(const struct fit_theta_list *l, struct fit_text app)
{
	for (size_t i = 0; i < l->n; i++)
		if (same_app(l->entries[i].app, app))
			return &l->entries[i].theta;
	return l->n == 1 && !l->entries[0].app ? &l->entries[0].theta : NULL;
}

static int add_theta(struct fit_theta_list *l, const struct fit_reader *r, const struct fit_cell *c,
		     struct fit_err *err)
{
	struct fit_theta_entry e = { 0 };
	struct fit_err why;
	int bad = 0, rc;
	struct fit_text app = { 0 };

	if (!c[0].na)
		app = c[0].u.t;
	for (size_t i = 0; i < l->n; i++)
		if (same_app(l->entries[i].app, app))
			return fit_reader_fail(r, FIT_EDATA, "app", err,
					       "a second model of '%.*s' "
					       "(expected one row an application)",
					       FIT_TEXT_ARG(app));
	for (int j = 0; j < FIT_THETA_N; j++)
		e.theta.v[j] = c[1 + j].u.d;
	rc = fit_theta_check(&e.theta, &bad, &why);
	if (rc)
		return fit_reader_fail(r, rc, fit_theta_names[bad], err, "%s", why.msg);
	if (app.s && !(e.app = fit_strdup(app)))
		return fit_fail_nomem(err);
	if (fit_grow(&l->entries, &l->cap, l->n + 1, sizeof *l->entries)) {
		free(e.app);
		return fit_fail_nomem(err);
	}
	l->entries[l->n++] = e;
	return FIT_OK;
}

int fit_theta_list_read(struct fit_theta_list *l, const char *operand, struct fit_err *err)
{
	struct fit_field fields[1 + FIT_THETA_N] = { { "app", FIT_TEXT, FIT_F_OPTIONAL } };
	struct fit_cell cells[1 + FIT_THETA_N];
	struct fit_theta_list list = { 0 };
	struct fit_reader *r = NULL;
	int rc;

	for (int j = 0; j < FIT_THETA_N; j++)
		fields[1 + j] = (struct fit_field){ fit_theta_names[j], FIT_REAL, FIT_F_NOT_NA };
	rc = fit_reader_open(&r, operand, err);
	if (!rc)
		rc = fit_reader_begin(r, fields, 1 + FIT_THETA_N, err);
	if (rc == FIT_END)
		rc = fit_fail(err, FIT_EPARSE, "%s: no table", fit_reader_input(r));
	while (!rc && (rc = fit_reader_row(r, cells, err)) == FIT_OK)
		rc = add_theta(&list, r, cells, err);
	if (rc == FIT_END) {
		fit_reader_hash(r, list.hash);
		*l = list;
		rc = FIT_OK;
	} else {
		fit_theta_list_release(&list);
	}
	fit_reader_close(r);
	return rc;
}

/* ---- writing ---- */

const struct fit_field fit_theta_columns[] = {
	{ "alpha_c_s", FIT_REAL, 0 },	  { "beta_c_s", FIT_REAL, 0 },
	{ "alpha_n_s", FIT_REAL, 0 },	  { "beta_n_s", FIT_REAL, 0 },
	{ "alpha_r_s", FIT_REAL, 0 },	  { "beta_r_s", FIT_REAL, 0 },
	{ "gamma", FIT_REAL, 0 },	  { "se_alpha_c_s", FIT_REAL, 0 },
	{ "se_beta_c_s", FIT_REAL, 0 },	  { "se_alpha_n_s", FIT_REAL, 0 },
	{ "se_beta_n_s", FIT_REAL, 0 },	  { "se_alpha_r_s", FIT_REAL, 0 },
	{ "se_beta_r_s", FIT_REAL, 0 },	  { "se_gamma", FIT_REAL, 0 },
	{ "objective", FIT_REAL, 0 },	  { "rmsle", FIT_REAL, 0 },
	{ "rmsle_compute", FIT_REAL, 0 }, { "mape_pct", FIT_REAL, 0 },
	{ "n_obs", FIT_INT, 0 },	  { "n_iter", FIT_INT, 0 },
	{ "status", FIT_TEXT, 0 },	  { "pinned", FIT_TEXT, 0 },
	{ "at_bound", FIT_TEXT, 0 }
};
const size_t fit_theta_n_columns = sizeof fit_theta_columns / sizeof *fit_theta_columns;

void fit_theta_set_text(unsigned set, char out[FIT_THETA_SET_MAX])
{
	size_t n = 0;

	snprintf(out, FIT_THETA_SET_MAX, "-");
	for (int j = 0; j < FIT_THETA_N; j++)
		if (set >> j & 1)
			n += (size_t)snprintf(out + n, FIT_THETA_SET_MAX - n, "%s%s", n ? "," : "",
					      fit_theta_names[j]);
}

void fit_theta_put(struct fit_writer *w, const struct fit_throughput_result *r)
{
	char names[FIT_THETA_SET_MAX];

	for (int j = 0; j < FIT_THETA_N; j++)
		fit_writer_real(w, r->theta.v[j]);
	for (int j = 0; j < FIT_THETA_N; j++)
		fit_writer_real_or_na(w, r->se[j]);
	fit_writer_real(w, r->objective);
	fit_writer_real(w, r->rmsle_step);
	fit_writer_real_or_na(w, r->rmsle_compute);
	fit_writer_real(w, r->mape_pct);
	fit_writer_int(w, (int64_t)r->n_obs);
	fit_writer_int(w, (int64_t)r->n_iter);
	fit_writer_str(w, fit_throughput_status_name(r->status));
	fit_theta_set_text(r->pinned, names);
	fit_writer_str(w, names);
	fit_theta_set_text(r->at_bound, names);
	fit_writer_str(w, names);
}
