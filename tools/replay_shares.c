/* SPDX-License-Identifier: MIT */
#include "tools/replay_shares.h"

static void write_share(void *listener, int64_t time_ns, const char *job, const char *type, double share,
			double value, double bound)
{
	struct replay_shares *s = listener;

	if (s->err.code)
		return;
	fit_writer_time(s->w, time_ns);
	fit_writer_str(s->w, job);
	fit_writer_str(s->w, type);
	fit_writer_real(s->w, share);
	fit_writer_real(s->w, value);
	fit_writer_real(s->w, bound);
	if (fit_writer_end_row(s->w, &s->err) && !s->err.code)
		s->err.code = FIT_EIO;
}

int replay_shares_open(struct replay_shares *s, const struct cli *cli, const char *file,
		       struct fit_policy_params *p, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "time_s", FIT_TIME, 0 }, { "job_id", FIT_TEXT, 0 }, { "gpu_type", FIT_TEXT, 0 },
		{ "share", FIT_REAL, 0 }, { "value", FIT_REAL, 0 }, { "bound", FIT_REAL, 0 }
	};
	struct fit_meta meta = { 0 };
	int rc;

	if (!file)
		return FIT_OK;
	rc = fit_writer_open(&s->w, file, 0, err);
	if (!rc && cli_meta(cli, &meta, false))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : fit_writer_begin(s->w, "shares", &meta, fields, sizeof fields / sizeof *fields, err);
	fit_meta_release(&meta);
	p->gavel_found = write_share;
	p->gavel_listener = s;
	return rc;
}

int replay_shares_close(struct replay_shares *s, int rc, struct fit_err *err)
{
	struct fit_writer *w = s->w;

	s->w = NULL;
	if (!rc && w && s->err.code) {
		*err = s->err;
		rc = s->err.code;
	}
	if (!rc && w)
		rc = fit_writer_end(w, err);
	if (!rc && w)
		return fit_writer_close(w, err);
	fit_writer_abort(w);
	return rc;
}
