/* SPDX-License-Identifier: MIT */
/* Writing the event log (docs/formats/event-log.md). */
#ifndef FIT_REPLAY_EVENT_LOG_H
#define FIT_REPLAY_EVENT_LOG_H

#include "libfit/replay/cluster.h"
#include "libfit/replay/progress.h"
#include "libfit/table/table.h"

struct fit_log {
	struct fit_writer *w;
	bool shares;		/* jobs may share GPUs (columns shared_with, speed) */
	bool plans;		/* jobs run by execution plans (column exec_plan) */
	bool delays;		/* restart delays differ: each allocation says its own (column delay_s) */
};

struct fit_event {
	int64_t time_ns;
	const char *name;
	const struct fit_job *job;		/* NULL for cluster events */
	const struct fit_alloc *alloc;		/* held from now on; NULL: none */
	int32_t first_node;			/* of the partition that the nodes are of */
	const int32_t *numbers;			/* of its nodes in the whole; NULL: from first_node on */
	const struct fit_run *run;		/* NULL before the first start */
	double work;
	bool epochs, batches;			/* the progress model has epochs; batch sizes */
	const struct fit_job *with;		/* with whom it shares its GPUs; NULL: nobody */
	int64_t delay_ns;			/* of a new allocation; -1: it is none */
};

int fit_log_begin(const struct fit_log *l, const struct fit_meta *meta, struct fit_err *err) FIT_MUST_CHECK;
/* gpus: those that are there now. */
int fit_log_cluster(const struct fit_log *l, int64_t time_ns, int64_t gpus, const char *spec,
		    struct fit_err *err) FIT_MUST_CHECK;
/* rent, ready, return, lend or regain of one node. */
int fit_log_node(const struct fit_log *l, int64_t time_ns, const char *name, int32_t node, int32_t gpus,
		 struct fit_err *err) FIT_MUST_CHECK;
int fit_log_submit(const struct fit_log *l, int64_t time_ns, const struct fit_job *j, bool reject,
		   struct fit_err *err) FIT_MUST_CHECK;
int fit_log_event(const struct fit_log *l, const struct fit_event *e, struct fit_err *err) FIT_MUST_CHECK;

#endif
