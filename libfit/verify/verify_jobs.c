/* SPDX-License-Identifier: MIT */
/* Inputs of the verifier other than the log: the jobs table and the profile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

enum { C_ID, C_SUBMIT, C_GPUS, C_DURATION, C_APP, C_BATCH, N_CELLS };

static const struct fit_field fields[N_CELLS] = {
	[C_ID] = { "job_id", FIT_TEXT, FIT_F_NOT_NA },
	[C_SUBMIT] = { "submit_s", FIT_TIME, FIT_F_NOT_NA },
	[C_GPUS] = { "gpus", FIT_REAL, FIT_F_NOT_NA },
	[C_DURATION] = { "duration_s", FIT_TIME, FIT_F_OPTIONAL },
	[C_APP] = { "app", FIT_TEXT, FIT_F_OPTIONAL },
	[C_BATCH] = { "batch_size", FIT_INT, FIT_F_OPTIONAL },
};

static int take_app(struct fit_verifier *v, struct fit_text name, uint16_t *app,
		    struct fit_err *err)
{
	uint32_t found = fit_index_get(&v->by_app, name);

	if (found == FIT_NO_INDEX) {
		if (v->n_apps >= UINT16_MAX - 1)
			return fit_fail(err, FIT_EDATA, "more than %d applications",
					UINT16_MAX - 1);
		if (fit_grow(&v->apps, &v->cap_apps, v->n_apps + 1, sizeof *v->apps))
			return fit_fail_nomem(err);
		found = (uint32_t)v->n_apps;
		if (fit_index_put(&v->by_app, name, found, NULL))
			return fit_fail_nomem(err);
		v->apps[found] = (struct verify_app){ .name = fit_strdup(name) };
		if (!v->apps[found].name)
			return fit_fail_nomem(err);
		v->n_apps++;
	}
	*app = (uint16_t)found;
	return FIT_OK;
}

static int take_row(struct fit_verifier *v, struct fit_reader *r, const struct fit_cell *c,
		    struct fit_err *err)
{
	struct fit_text id = c[C_ID].u.t;
	struct verify_job j = {
		.submit_ns = c[C_SUBMIT].u.i,
		.duration_ns = c[C_DURATION].na ? NO_INT : c[C_DURATION].u.i,
		.batch = c[C_BATCH].na ? NO_INT : c[C_BATCH].u.i,
		.gpus = c[C_GPUS].u.d,
		.id_at = v->ids.n,
		.id_n = (uint32_t)id.n,
		.rank = (uint32_t)v->n_jobs,
		.live = NONE,
		.app = UINT16_MAX,
	};
	uint32_t before = FIT_NO_INDEX;
	int rc;

	if (!isfinite(j.gpus) || j.gpus < 0)
		return fit_reader_fail(r, FIT_EDATA, "gpus", err,
				       "bad number of GPUs %g (expected 0 or more)", j.gpus);
	if (j.submit_ns < 0)
		return fit_reader_fail(r, FIT_EDATA, "submit_s", err,
				       "negative time (expected 0 or more)");
	if (j.gpus <= 0)
		return FIT_OK; /* a CPU job; no replay takes it */
	if (v->n_jobs >= UINT32_MAX - 1)
		return fit_reader_fail(r, FIT_EDATA, NULL, err, "too many jobs");
	if (fit_index_put(&v->by_id, id, (uint32_t)v->n_jobs, &before))
		return fit_fail_nomem(err);
	if (before != FIT_NO_INDEX)
		return fit_reader_fail(r, FIT_EDATA, "job_id", err,
				       "duplicate id '%.*s' (expected unique ids)",
				       FIT_TEXT_ARG(id));
	if (!c[C_APP].na) {
		rc = take_app(v, c[C_APP].u.t, &j.app, err);
		if (rc)
			return rc;
	}
	if (fit_str_add(&v->ids, id.s, id.n) ||
	    fit_grow(&v->jobs, &v->cap_jobs, v->n_jobs + 1, sizeof *v->jobs))
		return fit_fail_nomem(err);
	v->jobs[v->n_jobs++] = j;
	return FIT_OK;
}

int fit_verifier_jobs(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	struct fit_cell cells[N_CELLS];
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	if (rc)
		return rc;
	rc = fit_reader_begin(r, fields, N_CELLS, err);
	while (!rc) {
		rc = fit_reader_row(r, cells, err);
		if (!rc)
			rc = take_row(v, r, cells, err);
	}
	fit_reader_hash(r, v->hash_jobs);
	fit_reader_close(r);
	return rc == FIT_END ? FIT_OK : rc;
}

int fit_verifier_profile(struct fit_verifier *v, const char *store, struct fit_err *err)
{
	int rc = fit_profile_load(&v->profile, store, v->hash_profile, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < v->n_apps; i++) {
		struct verify_app *a = &v->apps[i];

		a->model = fit_profile_find(v->profile, fit_text_of(a->name));
		if (!a->model)
			return fit_fail(err, FIT_ENOTFOUND,
					"%s: no application '%s', which a job runs", store,
					a->name);
		a->info = fit_app_info(a->model);
	}
	return FIT_OK;
}

void fit_verifier_keep_results(struct fit_verifier *v)
{
	v->keep = true;
}

struct fit_text verify_job_id(const struct fit_verifier *v, uint32_t job)
{
	if (job == NONE)
		return FIT_TEXT_LIT("");
	return (struct fit_text){ v->ids.s + v->jobs[job].id_at, v->jobs[job].id_n };
}
