/* SPDX-License-Identifier: MIT */
#include "tools/replay_side.h"

static int begin(struct replay_side *s, const struct cli *cli, const char *file, const char *name,
		 bool with_seed, const struct fit_field *fields, size_t n, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = fit_writer_open(&s->w, file, 0, err);

	if (!rc && cli_meta(cli, &meta, with_seed))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : fit_writer_begin(s->w, name, &meta, fields, n, err);
	fit_meta_release(&meta);
	return rc;
}

static void end_row(struct replay_side *s)
{
	if (fit_writer_end_row(s->w, &s->err) && !s->err.code)
		s->err.code = FIT_EIO;
}

int replay_side_close(struct replay_side *s, int rc, struct fit_err *err)
{
	struct fit_writer *w = s->w;

	s->w = NULL;
	if (!rc && w && s->err.code) {
		*err = s->err;
		rc = s->err.code;
	}
	return cli_writer_end(w, rc, err);
}

/* ---- Pollux ---- */

static void write_fitness(void *listener, int64_t time_ns, int n_jobs, double fitness, double bound,
			  double other)
{
	struct replay_side *s = listener;

	if (s->err.code)
		return;
	fit_writer_time(s->w, time_ns);
	fit_writer_int(s->w, n_jobs);
	fit_writer_real(s->w, fitness);
	fit_writer_real_or_na(s->w, bound);
	fit_writer_real_or_na(s->w, other);
	end_row(s);
}

int replay_fitness_open(struct replay_side *s, const struct cli *cli, const char *file,
			struct fit_policy_params *p, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "time_s", FIT_TIME, 0 }, { "jobs", FIT_INT, 0 }, { "fitness", FIT_REAL, 0 },
		{ "bound", FIT_REAL, 0 }, { "fitness_local", FIT_REAL, 0 }
	};

	if (!file)
		return FIT_OK;
	p->pollux_found = write_fitness;
	p->pollux_listener = s;
	return begin(s, cli, file, "fitness", true, fields, sizeof fields / sizeof *fields, err);
}

/* ---- Gavel ---- */

static void write_share(void *listener, int64_t time_ns, const char *job, const char *type, double share,
			double value, double bound)
{
	struct replay_side *s = listener;

	if (s->err.code)
		return;
	fit_writer_time(s->w, time_ns);
	fit_writer_str(s->w, job);
	fit_writer_str(s->w, type);
	fit_writer_real(s->w, share);
	fit_writer_real(s->w, value);
	fit_writer_real(s->w, bound);
	end_row(s);
}

int replay_shares_open(struct replay_side *s, const struct cli *cli, const char *file,
		       struct fit_policy_params *p, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "time_s", FIT_TIME, 0 }, { "job_id", FIT_TEXT, 0 }, { "gpu_type", FIT_TEXT, 0 },
		{ "share", FIT_REAL, 0 }, { "value", FIT_REAL, 0 }, { "bound", FIT_REAL, 0 }
	};

	if (!file)
		return FIT_OK;
	p->gavel_found = write_share;
	p->gavel_listener = s;
	return begin(s, cli, file, "shares", false, fields, sizeof fields / sizeof *fields, err);
}
