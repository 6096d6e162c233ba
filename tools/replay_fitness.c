/* SPDX-License-Identifier: MIT */
#include "tools/replay_fitness.h"

#include <math.h>

static void write_fitness(void *listener, int64_t time_ns, int n_jobs, double fitness, double bound,
			  double other)
{
	struct replay_fitness *f = listener;

	if (f->err.code)
		return;
	fit_writer_time(f->w, time_ns);
	fit_writer_int(f->w, n_jobs);
	fit_writer_real(f->w, fitness);
	fit_writer_real(f->w, isnan(bound) ? fit_real_na() : bound);
	fit_writer_real(f->w, isnan(other) ? fit_real_na() : other);
	if (fit_writer_end_row(f->w, &f->err) && !f->err.code)
		f->err.code = FIT_EIO;
}

int replay_fitness_open(struct replay_fitness *f, const struct cli *cli, const char *file,
			struct fit_policy_params *p, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "time_s", FIT_TIME, 0 }, { "jobs", FIT_INT, 0 }, { "fitness", FIT_REAL, 0 },
		{ "bound", FIT_REAL, 0 }, { "fitness_local", FIT_REAL, 0 }
	};
	struct fit_meta meta = { 0 };
	int rc;

	if (!file)
		return FIT_OK;
	rc = fit_writer_open(&f->w, file, 0, err);
	if (!rc && cli_meta(cli, &meta, true))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : fit_writer_begin(f->w, "fitness", &meta, fields, 5, err);
	fit_meta_release(&meta);
	p->pollux_found = write_fitness;
	p->pollux_listener = f;
	return rc;
}

int replay_fitness_close(struct replay_fitness *f, int rc, struct fit_err *err)
{
	struct fit_writer *w = f->w;

	f->w = NULL;
	if (!rc && w && f->err.code) {
		*err = f->err;
		rc = f->err.code;
	}
	if (!rc && w)
		rc = fit_writer_end(w, err);
	if (!rc && w)
		return fit_writer_close(w, err);
	fit_writer_abort(w);
	return rc;
}
