/* SPDX-License-Identifier: MIT */
/* Models of gf-throughput: one fit a group, as a row each, or the observations with their residuals. */
#include <math.h>
#include <string.h>

#include "libfit/base/meter.h"
#include "libfit/model/theta.h"
#include "tools/throughput_parts.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void put_key(struct fit_writer *w, const struct throughput_data *d, const struct throughput_group *g)
{
	for (size_t i = 0; i < d->n_by; i++)
		fit_writer_str(w, g->key[i]);
}

static int put_residuals(struct fit_writer *w, const struct throughput_data *d,
			 const struct throughput_group *g, const struct fit_throughput_result *r, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < g->n && !rc; i++) {
		const struct fit_throughput_obs *o = &g->obs[i];
		double step = fit_theta_step_time(&r->theta, o->num_nodes, o->num_replicas,
						  (double)o->local_bsz);

		put_key(w, d, g);
		fit_writer_int(w, o->num_nodes);
		fit_writer_int(w, o->num_replicas);
		fit_writer_int(w, o->local_bsz);
		fit_writer_real(w, o->weight);
		fit_writer_real(w, o->step_s);
		fit_writer_real(w, step);
		rows_put_real(w, !isnan(o->sync_s), o->step_s - o->sync_s);
		fit_writer_real(w, fit_theta_accum_time(&r->theta, (double)o->local_bsz));
		fit_writer_real(w, log(step / o->step_s));
		fit_writer_real(w, 100 * (step - o->step_s) / o->step_s);
		rc = fit_writer_end_row(w, err);
	}
	return rc;
}

static const struct fit_field residual_fields[] = {
	{ "num_nodes", FIT_INT, 0 }, { "num_replicas", FIT_INT, 0 }, { "local_bsz", FIT_INT, 0 },
	{ "weight", FIT_REAL, 0 }, { "step_time_s", FIT_REAL, 0 },
	{ "predicted_step_s", FIT_REAL, 0 }, { "compute_time_s", FIT_REAL, 0 },
	{ "predicted_compute_s", FIT_REAL, 0 }, { "log_residual", FIT_REAL, 0 },
	{ "error_pct", FIT_REAL, 0 }
};

static void say_unobserved(const struct cli *cli, const char *who, unsigned pinned)
{
	static const struct {
		unsigned set;
		const char *what;
	} reasons[] = { { 1u << FIT_ALPHA_C, "a second batch size" },
			{ 1u << FIT_ALPHA_N, "several nodes" },
			{ 1u << FIT_ALPHA_R, "several GPUs on one node" },
			{ 1u << FIT_BETA_N | 1u << FIT_BETA_R, "more than two GPUs" } };
	char names[FIT_THETA_SET_MAX], list[160] = "";
	size_t n = 0;

	for (size_t i = 0; i < COUNT(reasons); i++)
		if ((pinned & reasons[i].set) == reasons[i].set)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "",
					      reasons[i].what);
	fit_theta_set_text(pinned, names);
	if (pinned)
		cli_warn(cli, "%s: %s held fixed, not observed: %s", who, names, list);
}

static const char *group_name(const struct throughput_data *d, const struct throughput_group *g,
			      char *buf, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_by && n < cap; i++)
		n += (size_t)snprintf(buf + n, cap - n, "%s%s", i ? ", " : "",
				      g->key[i] ? g->key[i] : "the model");
	return buf;
}

#define POOR_PCT 20.0	/* a mean error that no model of one application should have */

/* A model that does not fit: the usual reason is several applications in one group. */
static void say_poor(const struct cli *cli, const struct throughput_options *o,
		     const struct throughput_data *d, size_t group, const char *who,
		     const struct fit_throughput_result *r)
{
	bool nameless = o->by.n == 0 && !d->groups[group].key[0];

	if (r->mape_pct > POOR_PCT)
		cli_warn(cli, "%s: mean error %.3g %% (expected at most %g %%%s)", who, r->mape_pct, POOR_PCT,
			 nameless ? "; several applications need a column app" : "");
}

int throughput_fit_all(struct cli *cli, const struct throughput_options *o,
		       const struct fit_throughput_params *p, const struct throughput_data *d,
		       struct fit_writer *w, struct fit_err *err)
{
	struct fit_throughput *fit = NULL;
	struct fit_throughput_result r;
	char who[256];
	int rc = fit_throughput_new(&fit, err);

	if (!rc)
		rc = o->residuals ?
		     throughput_begin(cli, w, d, residual_fields, COUNT(residual_fields), err) :
		     throughput_begin(cli, w, d, fit_theta_columns, fit_theta_n_columns, err);
	for (size_t i = 0; i < d->n && !rc; i++) {
		const struct throughput_group *g = &d->groups[i];

		group_name(d, g, who, sizeof who);
		fit_meter_tell("fit", i, d->n, "fits");
		rc = fit_throughput_fit(fit, g->obs, g->n, p, &r, err);
		if (rc == FIT_ENOCONV) {
			fit_fail_prefix(err, rc, "%s", who);
			cli_error(cli, err);
			rc = FIT_OK;
		}
		if (rc)
			break;
		say_unobserved(cli, who, r.pinned);
		say_poor(cli, o, d, i, who, &r);
		cli_note(cli, "%s: %s, objective %.6g, mean error %.3g %%, %zu observations, %zu "
			 "iterations", who, fit_throughput_status_name(r.status), r.objective,
			 r.mape_pct, r.n_obs, r.n_iter);
		if (o->residuals) {
			rc = put_residuals(w, d, g, &r, err);
		} else {
			put_key(w, d, g);
			fit_theta_put(w, &r);
			rc = fit_writer_end_row(w, err);
		}
	}
	fit_throughput_free(fit);
	return rc ? rc : fit_writer_end(w, err);
}
