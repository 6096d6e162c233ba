/* SPDX-License-Identifier: MIT */
/* The part of gf-replay that is about policies of attained service: queues, promotion. */
#ifndef TOOLS_REPLAY_QUEUES_H
#define TOOLS_REPLAY_QUEUES_H

#include "libfit/replay/engine.h"
#include "tools/common/cli.h"

struct replay_queue_options {
	const char *queues;		/* NULL: not given */
	int64_t threshold_gpu_s;	/* -1: not given */
	int service;			/* index of replay_services */
	double promote;
	bool stale_ends;
	const char *gpu_times;		/* an operand, or NULL */
	int gittins;			/* index of replay_gittins; -1: not given */
};
extern const char *const replay_gittins[];	/* paper, artifact; ends with NULL */

/* GPU times of past jobs; zero-initialise. */
struct replay_gpu_times {
	struct fit_table table;
};
extern const char *const replay_services[];	/* gpu-time, time; ends with NULL */
struct replay_queue_options replay_queue_defaults(void);

/* Make the options hold; an exit status, 0 when all is well. After the fidelity was chosen. */
int replay_queue_check(struct cli *cli, const struct replay_queue_options *o, struct fit_replay_params *p);
/* Read the file; p then points into g. */
int replay_gpu_times_open(struct replay_gpu_times *g, const struct replay_queue_options *o,
			  struct fit_replay_params *p, struct fit_err *err) FIT_MUST_CHECK;
void replay_gpu_times_release(struct replay_gpu_times *g);

#endif
