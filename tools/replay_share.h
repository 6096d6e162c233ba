/* SPDX-License-Identifier: MIT */
/*
 * The part of gf-replay that shared GPUs and the profiler need: measurements, a forecast, nodes set apart.
 */
#ifndef TOOLS_REPLAY_SHARE_H
#define TOOLS_REPLAY_SHARE_H

#include "libfit/replay/engine.h"
#include "tools/common/cli.h"

struct replay_share_options {
	const char *configs, *pairs, *forecast, *profiler, *lender;
	int64_t profiler_time_ns, profiler_gpus, pack_score;
	double gpu_mem_mib, pack_util_pct;
	int64_t wide_wait_ns;		/* -1: never */
	int survivor;			/* index of replay_share_survivors; -1: what the fidelity says */
	bool profiler_naive, no_packing, no_estimator;
};
extern const char *const replay_share_survivors[];	/* recovers, keeps-speed; ends with NULL */
struct replay_share_options replay_share_defaults(void);

struct replay_share {
	struct fit_colocation colocation;
	struct fit_table forecast_table;
	struct fit_forecast forecast;
	int32_t *nodes;			/* of the profiler */
};

/* Set what needs no file; an exit status, 0 when all is well. */
int replay_share_check(struct cli *cli, const struct replay_share_options *o, struct fit_replay_params *p);
/* Read the files and set nodes apart; p then points into s. */
int replay_share_open(struct replay_share *s, const struct replay_share_options *o,
		      struct fit_partitions *partitions, struct fit_replay_params *p,
		      struct fit_err *err) FIT_MUST_CHECK;
void replay_share_release(struct replay_share *s);
/* What happened, for -v. */
void replay_share_note(const struct cli *cli, const struct fit_replay_params *p,
		       const struct fit_replay_counts *c);

#endif
