/* SPDX-License-Identifier: MIT */
/* The state of gf-sweep run, and what is prepared ahead of rows. */
#ifndef TOOLS_SWEEP_RUNNING_H
#define TOOLS_SWEEP_RUNNING_H

#include <pthread.h>

#include "tools/common/progress.h"
#include "tools/sweep_parts.h"
#include "tools/sweep_plan.h"
#include "tools/sweep_pool.h"

enum input_state { INPUT_UNKNOWN, INPUT_WANTED, INPUT_THERE, INPUT_FAILED };

struct sweep_running {
	const struct cli *cli;
	const struct sweep_options *o;
	struct sweep_plan plan;
	bool *chosen;		/* rows */
	size_t *todo, n_todo;	/* rows that are chosen and not finished */
	struct fit_err **failed;	/* of each row; NULL: not */
	enum input_state *inputs;
	struct fit_err *input_failed;
	size_t *make, n_make;	/* inputs to be made */
	size_t n_done, n_before;
	struct fit_str scratch;	/* folder of this process: half-done work */
	bool lost;		/* a reason, for want of memory */
	pthread_mutex_t lock;	/* of inputs, n_done and lost; each row and slot is in one thread at a time */
	struct cli_progress progress;
	int signal;
};

/* Make the inputs that the rows of todo need and that are not there. */
int sweep_make_inputs(struct sweep_running *r, size_t slots, struct fit_err *err) FIT_MUST_CHECK;
/* Of inputs that a job needs, and that are made or not, one that could not be made. */
int sweep_check_needs(struct sweep_running *r, const size_t *needs, size_t n,
		      struct fit_err *err) FIT_MUST_CHECK;
int sweep_name_log(const char *result, struct sweep_job *what, struct fit_err *err) FIT_MUST_CHECK;
/* One more step: the words of a line, and -o FILE. */
int sweep_set_step(struct sweep_job *what, const char *line, const char *out,
		   struct fit_err *err) FIT_MUST_CHECK;

#endif
