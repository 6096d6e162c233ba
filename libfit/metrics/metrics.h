/* SPDX-License-Identifier: MIT */
/*
 * What happened to each job and to the cluster, accumulated from the events of a log in one pass;
 * about 220 bytes a job, nothing an event. Where only sums and distributions over all jobs are wanted
 * (sums_only), a job that is over is forgotten but for its two times: 16 bytes, and what it takes to
 * know its id again (id_set.h). Sums are exact: time in int64 nanoseconds, GPUs in millionths,
 * integrals in 128 bits.
 *
 * The events must fit together (a job starts once, moves only while it holds GPUs, and so on):
 * anything else is an error, since no metric would mean anything. Capacity is not checked here; that
 * is the verifier's work. Rules and edge cases: docs/methods/metrics.md.
 */
#ifndef FIT_METRICS_METRICS_H
#define FIT_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/id_map.h"
#include "libfit/base/linkage.h"
#include "libfit/metrics/log_event.h"

FIT_C_BEGIN

__extension__ typedef __int128 fit_i128;	/* millionths of a GPU x nanoseconds */

enum fit_job_state {
	FIT_JOB_WAITING,	/* submitted, never started */
	FIT_JOB_HOLDING,	/* holds GPUs, not finished */
	FIT_JOB_PREEMPTED,
	FIT_JOB_FINISHED,	/* may still hold GPUs until release */
	FIT_JOB_REJECTED,
	FIT_JOB_GONE		/* no job: a record that will be used again */
};

#define FIT_NO_APP UINT32_MAX

struct fit_job_result {
	uint32_t app;			/* fit_metrics_app(), or FIT_NO_APP */
	uint8_t state;			/* enum fit_job_state */
	bool has_batch;
	bool counted;			/* among those that are gone, and had something to add later */
	int64_t submit_ns, start_ns, end_ns;	/* FIT_INT_NA: did not happen */
	int64_t queue_ns;		/* without an allocation, nor on the profiler, between submit and finish */
	int64_t asked_ugpus, batch_size;
	int64_t restarts, preemptions;
	fit_i128 gpu, busy;		/* held, on the profiler, too; held and making progress */
	fit_i128 rescaling;		/* held and standing still after a new allocation */
	/* the running segment */
	int64_t since_ns, progress_from_ns, held_ugpus;
	int64_t own_ugpus;		/* of held, those that no other job is counted for */
	int64_t profile_ugpus;		/* held on the profiler */
};

/* Jobs that finished and hold nothing any more, where they are forgotten. */
struct fit_metrics_gone {
	double *jct_s, *queue_s;
	size_t n, cap_jct, cap_queue;
	fit_i128 jct_ns, queue_ns;	/* sums */
	fit_i128 gpu;
	int64_t restarts, preemptions;
	struct fit_id_set ids;		/* of all jobs ever submitted */
	struct fit_index here;		/* records of those that are not gone */
	uint32_t *empty;		/* records that may be used again */
	size_t n_empty, cap_empty;
};

struct fit_metrics {
	bool sums_only;			/* set by fit_metrics_read_sums() */
	int64_t restart_ns;		/* no progress for so long after start, move, resume, unless the
					 * event says otherwise; FIT_INT_NA: it has to */
	struct fit_job_result *jobs;	/* in order of submission; with sums_only those that are here, in none */
	size_t n_jobs, cap_jobs;
	size_t n_submitted;		/* all there ever were: without sums_only, n_jobs */
	struct fit_metrics_gone gone;	/* with sums_only */
	/* the cluster now */
	int64_t clock_ns;		/* time of the last event */
	int64_t capacity_ugpus, held_ugpus;
	int64_t rented_ugpus;		/* capacity, and nodes that start */
	size_t n_waiting, n_running;	/* never started or preempted; holding and not finished */
	size_t n_finished, n_rejected;
	/* integrals from time 0 to the last event, and at two instants */
	fit_i128 held, busy, capacity, rescaling, rented;
	fit_i128 held_first_submit, capacity_first_submit;
	fit_i128 held_last_finish, capacity_last_finish;
	fit_i128 held_last_submit, rented_last_submit;
	fit_i128 rented_first_submit, rented_last_finish;
	int64_t first_submit_ns, last_submit_ns, last_finish_ns;	/* FIT_INT_NA: none */
	int64_t restarts, preemptions;
	size_t n_events;
	bool closed;
	/* for watches: the event, and what its job held before it */
	const struct fit_event_row *event;
	struct fit_metrics_before { bool running; int64_t held_ugpus, progress_from_ns; } before;
	/* names */
	struct fit_id_map ids;		/* of jobs, without sums_only */
	struct fit_index app_index;
	uint32_t last_job;		/* of the last event: an index of jobs, if it is one */
	struct fit_str names;		/* of apps, one after another */
	struct fit_text_at { size_t at, n; } *apps;
	size_t n_apps, cap_apps;
};

void fit_metrics_init(struct fit_metrics *m, int64_t restart_ns);
void fit_metrics_release(struct fit_metrics *m);

/* Take the next event. FIT_EDATA when it does not fit what came before; *field (may be NULL) then
 * names the column at fault, and the message has no position. */
int fit_metrics_add(struct fit_metrics *m, const struct fit_event_row *e, const char **field,
		    struct fit_err *err) FIT_MUST_CHECK;
/* The log ended: bring the unfinished jobs up to the last event. Call once, after the last add. */
void fit_metrics_close(struct fit_metrics *m);

/* Read a whole log: the next table of r, through add() and close(). m is initialised here, and
 * released on failure. watch (may be NULL) is called after each event. */
typedef int fit_metrics_watch(void *arg, const struct fit_metrics *m, struct fit_err *err);
int fit_metrics_read(struct fit_metrics *m, struct fit_reader *r, fit_metrics_watch *watch,
		     void *arg, struct fit_err *err) FIT_MUST_CHECK;
/* The same with sums_only, for what fit_summarise() says of all jobs, fit_metrics_jcts() and
 * fit_metric_row(); watch does not look at jobs. Two of ten million ids that do not count upwards are taken
 * for one another with a probability of three in a million (id_set.h). */
int fit_metrics_read_sums(struct fit_metrics *m, struct fit_reader *r, fit_metrics_watch *watch,
			  void *arg, struct fit_err *err) FIT_MUST_CHECK;

/* What was held and rented from time 0 to end_ns: a watch (arg: one of these, with end_ns set and the
 * rest 0), and a call after the log was read. */
struct fit_metrics_window {
	int64_t end_ns;
	fit_i128 held, rented;		/* up to end_ns, or the clock */
	int64_t clock_ns, held_ugpus, rented_ugpus;
};
int fit_metrics_window_watch(void *arg, const struct fit_metrics *m, struct fit_err *err) FIT_MUST_CHECK;
void fit_metrics_window_close(struct fit_metrics_window *w);

/* Borrowed from m until the next add or release. */
/* (not with sums_only) */
struct fit_text fit_metrics_job_id(const struct fit_metrics *m, const struct fit_job_result *j);
struct fit_text fit_metrics_app(const struct fit_metrics *m, uint32_t app);	/* NULL for none */

/* "OK", "RUNNING", "PENDING" or "REJECTED". */
const char *fit_job_status(const struct fit_job_result *j);
/* v / by, by > 0: whole part and rest apart, so that a whole result comes out exact. */
double fit_divide(fit_i128 v, int64_t by);
/* An integral in GPU-seconds. */
double fit_gpu_seconds(fit_i128 v);

FIT_C_END

#endif
