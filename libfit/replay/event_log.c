/* SPDX-License-Identifier: MIT */
#include "libfit/replay/event_log.h"

#include "libfit/base/num.h"

enum { TIME, EVENT, JOB, GPUS, NODES, LOCAL_BSZ, ACCUM, EPOCH, PROGRESS, APP, BATCH, DELAY, WITH, SPEED, PLAN,
       N_COLUMNS };

static const struct fit_field columns[N_COLUMNS] = {
	[TIME] = { "time_s", FIT_TIME, 0 },
	[EVENT] = { "event", FIT_TEXT, 0 },
	[JOB] = { "job_id", FIT_TEXT, 0 },
	[GPUS] = { "gpus", FIT_REAL, 0 },
	[NODES] = { "nodes", FIT_TEXT, 0 },
	[LOCAL_BSZ] = { "local_bsz", FIT_INT, 0 },
	[ACCUM] = { "accum_steps", FIT_INT, 0 },
	[EPOCH] = { "epoch", FIT_INT, 0 },
	[PROGRESS] = { "progress", FIT_REAL, 0 },
	[APP] = { "app", FIT_TEXT, 0 },
	[BATCH] = { "batch_size", FIT_INT, 0 },
	[DELAY] = { "delay_s", FIT_TIME, 0 },
	[WITH] = { "shared_with", FIT_TEXT, 0 },
	[SPEED] = { "speed", FIT_REAL, 0 },
	[PLAN] = { "exec_plan", FIT_TEXT, 0 },
};

/* Columns behind `batch_size` that this log has. */
static int n_extra(const struct fit_log *l)
{
	return l->delays + 2 * l->shares + l->plans;
}

int fit_log_begin(const struct fit_log *l, const struct fit_meta *meta, struct fit_err *err)
{
	struct fit_field fields[N_COLUMNS];
	size_t n = DELAY;

	for (size_t i = 0; i < DELAY; i++)
		fields[i] = columns[i];
	if (l->delays)
		fields[n++] = columns[DELAY];
	if (l->shares) {
		fields[n++] = columns[WITH];
		fields[n++] = columns[SPEED];
	}
	if (l->plans)
		fields[n++] = columns[PLAN];
	return fit_writer_begin(l->w, "log", meta, fields, n, err);
}

static void write_na(struct fit_writer *w, int n)
{
	while (n-- > 0)
		fit_writer_na(w);
}

int fit_log_cluster(const struct fit_log *l, int64_t time_ns, int64_t gpus, const char *spec,
		    struct fit_err *err)
{
	struct fit_writer *w = l->w;

	fit_writer_time(w, time_ns);
	fit_writer_str(w, "cluster");
	fit_writer_na(w);
	fit_writer_real(w, (double)gpus);
	fit_writer_str(w, spec);
	write_na(w, DELAY - LOCAL_BSZ + n_extra(l));
	return fit_writer_end_row(w, err);
}

int fit_log_node(const struct fit_log *l, int64_t time_ns, const char *name, int32_t node, int32_t gpus,
		 struct fit_err *err)
{
	struct fit_writer *w = l->w;
	char text[2 * FIT_NUM_MAX];
	size_t n = fit_format_int64(text, node);

	text[n++] = ':';
	n += fit_format_int64(text + n, gpus);
	fit_writer_time(w, time_ns);
	fit_writer_str(w, name);
	fit_writer_na(w);
	fit_writer_real(w, gpus);
	fit_writer_text(w, (struct fit_text){ text, n });
	write_na(w, DELAY - LOCAL_BSZ + n_extra(l));
	return fit_writer_end_row(w, err);
}

int fit_log_submit(const struct fit_log *l, int64_t time_ns, const struct fit_job *j, bool reject,
		   struct fit_err *err)
{
	struct fit_writer *w = l->w;

	fit_writer_time(w, time_ns);
	fit_writer_str(w, reject ? "reject" : "submit");
	fit_writer_str(w, j->id);
	fit_writer_real(w, reject ? 0 : (double)j->gpus);
	fit_writer_str(w, "-");
	write_na(w, APP - LOCAL_BSZ);
	if (reject || !j->app_name[0])
		fit_writer_na(w);
	else
		fit_writer_str(w, j->app_name);
	if (reject || !j->batch_size)
		fit_writer_na(w);
	else
		fit_writer_int(w, j->batch_size);
	write_na(w, n_extra(l));
	return fit_writer_end_row(w, err);
}

/* "0:4,1:2": node and GPUs in the order in which they were taken. */
static void write_nodes(struct fit_writer *w, const struct fit_event *e)
{
	const struct fit_alloc *a = e->alloc;
	struct fit_str s = { 0 };
	char num[FIT_NUM_MAX];
	int rc = FIT_OK;

	if (!a || !a->n) {
		fit_writer_str(w, "-");
		return;
	}
	for (size_t i = 0; i < a->n && !rc; i++) {
		rc = i ? fit_str_puts(&s, ",") : FIT_OK;
		rc = rc ? rc : fit_str_add(&s, num, fit_format_int64(num, e->numbers ? e->numbers[a->shares[i].node] :
								     e->first_node + a->shares[i].node));
		rc = rc ? rc : fit_str_puts(&s, ":");
		rc = rc ? rc : fit_str_add(&s, num, fit_format_int64(num, a->shares[i].gpus));
	}
	if (!rc)
		fit_writer_text(w, (struct fit_text){ s.s, s.n });
	fit_str_release(&s);	/* without memory a cell is missing, and end_row() says so */
}

int fit_log_event(const struct fit_log *l, const struct fit_event *e, struct fit_err *err)
{
	struct fit_writer *w = l->w;
	bool held = e->alloc && e->alloc->n;

	fit_writer_time(w, e->time_ns);
	fit_writer_str(w, e->name);
	fit_writer_str(w, e->job->id);
	fit_writer_real(w, held ? (double)e->alloc->gpus : 0);
	write_nodes(w, e);
	if (e->batches && held) {
		fit_writer_int(w, e->run->batch.atomic_bsz);
		fit_writer_int(w, e->run->batch.accum_steps);
	} else {
		write_na(w, 2);
	}
	if (e->epochs)
		fit_writer_int(w, e->run->epoch);
	else
		fit_writer_na(w);
	fit_writer_real(w, e->work);
	write_na(w, 2);
	if (l->delays && e->delay_ns >= 0)
		fit_writer_time(w, e->delay_ns);
	else
		write_na(w, l->delays);
	if (l->shares && e->with)
		fit_writer_str(w, e->with->id);
	else
		write_na(w, l->shares);
	if (l->shares && held)
		fit_writer_real(w, e->run->rate_shared);
	else
		write_na(w, l->shares);
	if (l->plans && held && e->run->exec_plan != FIT_NO_EXEC_PLAN)
		fit_writer_str(w, e->job->plans->of->plans[e->run->exec_plan]);
	else
		write_na(w, l->plans);
	return fit_writer_end_row(w, err);
}
