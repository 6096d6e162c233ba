/* SPDX-License-Identifier: MIT */
/*
 * Rows of the event log (docs/formats/event-log.md) as structs: the one place of this room that
 * knows the columns.
 *
 * GPU counts are kept in millionths of a GPU ("ugpus"), so that integrals over time are exact
 * integers: a fraction that is finer is rounded to the nearest millionth.
 */
#ifndef FIT_METRICS_LOG_EVENT_H
#define FIT_METRICS_LOG_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

#define FIT_UGPU INT64_C(1000000)	/* millionths in one GPU */

enum fit_event_kind {
	FIT_EVENT_CLUSTER,
	FIT_EVENT_SUBMIT,
	FIT_EVENT_REJECT,
	FIT_EVENT_START,
	FIT_EVENT_MOVE,
	FIT_EVENT_PREEMPT,
	FIT_EVENT_RESUME,
	FIT_EVENT_EPOCH,
	FIT_EVENT_BATCH,
	FIT_EVENT_FINISH,
	FIT_EVENT_RELEASE,
	FIT_EVENT_SHARE,	/* the job beside it on its GPUs came or went */
	FIT_EVENT_PROFILE,	/* it runs on the profiler, whatever else it does */
	FIT_EVENT_PROFILED,
	FIT_EVENT_SHIFT,	/* other nodes, no restart */
	FIT_EVENT_LOSE,		/* it runs on without GPUs */
	/* one node of an elastic cluster */
	FIT_EVENT_RENT,
	FIT_EVENT_READY,
	FIT_EVENT_RETURN,
	/* one node that a virtual cluster lends the profiler, and gets back */
	FIT_EVENT_LEND,
	FIT_EVENT_REGAIN
};

struct fit_event_row {
	int64_t time_ns;		/* since the trace origin, never negative */
	enum fit_event_kind kind;
	struct fit_text job_id;		/* empty for cluster and nodes; borrowed until the next row */
	int64_t ugpus;			/* held from now on (submit: asked for; cluster: all that are
					 * there; rent, ready, return: of the node), >= 0 */
	int64_t node;			/* rent, ready, return: its number; -1: not said */
	bool has_epoch;			/* epochs completed */
	int64_t epoch;
	bool has_delay;			/* its restart delay is not the log's, but */
	int64_t delay_ns;
	bool guest;			/* start: on GPUs that another job holds already */
	bool alone;			/* share: from now on it has its GPUs for itself */
	bool has_app, has_batch;	/* submit only */
	struct fit_text app;		/* borrowed until the next row */
	int64_t batch_size;
};

const char *fit_event_kind_name(enum fit_event_kind kind);

/* Go to the log, the next table of r, and bind its columns. Errors as fit_reader_begin(). */
int fit_event_begin(struct fit_reader *r, struct fit_err *err) FIT_MUST_CHECK;

/* The next row. FIT_END after the last; FIT_EDATA with FILE:LINE:FIELD when a cell makes no sense
 * for its event. Whether the events fit together is not looked at. */
int fit_event_next(struct fit_reader *r, struct fit_event_row *e, struct fit_err *err) FIT_MUST_CHECK;

/* The metadata key restart_s of the log in nanoseconds; 0 when it is not there, FIT_INT_NA when it is
 * `profile`: then every allocation needs a delay_s of its own. */
int fit_event_restart(const struct fit_reader *r, int64_t *restart_ns,
		    struct fit_err *err) FIT_MUST_CHECK;

/* A part of such a text, which may have a name: "rtx:3x8". */
struct fit_event_part {
	struct fit_text name;		/* of its GPU type; empty: none. Borrowed from the text */
	int64_t first, n;		/* its nodes */
	int64_t ugpus;			/* of all of them */
};
/* The part at *at, which goes to the next one; p is the part before, or zero. FIT_END: there is none;
 * FIT_EPARSE. */
int fit_event_part_next(struct fit_text text, size_t *at, struct fit_event_part *p) FIT_MUST_CHECK;

/* GPUs of a cluster text "NxG" or "NxG,NxG..." (nodes x GPUs a node) in millionths; FIT_EPARSE. */
int fit_event_parse_cluster(struct fit_text t, int64_t *ugpus) FIT_MUST_CHECK;

FIT_C_END

#endif
