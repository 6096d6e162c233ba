/* SPDX-License-Identifier: MIT */
/* Writing the event log (docs/formats/event-log.md). */
#ifndef FIT_REPLAY_EVENT_LOG_H
#define FIT_REPLAY_EVENT_LOG_H

#include "libfit/replay/cluster.h"
#include "libfit/replay/progress.h"
#include "libfit/table/table.h"

struct fit_event {
	int64_t time_ns;
	const char *name;
	const struct fit_job *job;		/* NULL for cluster events */
	const struct fit_alloc *alloc;		/* held from now on; NULL: none */
	int32_t first_node;			/* of the partition that the nodes are of */
	const struct fit_run *run;		/* NULL before the first start */
	double work;
	bool epochs;				/* the progress model has epochs */
};

int fit_log_begin(struct fit_writer *w, const struct fit_meta *meta, struct fit_err *err) FIT_MUST_CHECK;
int fit_log_cluster(struct fit_writer *w, int64_t time_ns, int64_t gpus, const char *spec,
		    struct fit_err *err) FIT_MUST_CHECK;
int fit_log_submit(struct fit_writer *w, int64_t time_ns, const struct fit_job *j, bool reject,
		   struct fit_err *err) FIT_MUST_CHECK;
int fit_log_event(struct fit_writer *w, const struct fit_event *e, struct fit_err *err) FIT_MUST_CHECK;

#endif
