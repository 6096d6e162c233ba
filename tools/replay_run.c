/* SPDX-License-Identifier: MIT */
#include "tools/replay_run.h"

#include <sys/resource.h>

#include "libfit/replay/job_stream.h"
#include "tools/replay_side.h"

/* Of the whole process so far. */
static void note_cost(const struct cli *cli)
{
	struct rusage u;

	if (!getrusage(RUSAGE_SELF, &u))
		cli_note(cli, "%.2f s of CPU, %.1f MiB of memory at most",
			 (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			 (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6, (double)u.ru_maxrss / 1024);
}

int replay_run(struct cli *cli, const struct replay_run_options *o, struct fit_replay_params *p,
		  struct replay_inputs *in)
{
	struct fit_jobs_params jp = replay_inputs_jobs(in, p);
	struct replay_side fitness = { .w = NULL }, shares = { .w = NULL };
	struct fit_replay_counts counts;
	struct fit_meta meta = { 0 };
	struct fit_writer *w = NULL;
	struct fit_jobs jobs;
	struct fit_err err;
	int rc;

	jp.predicted = (p->policy->needs & FIT_PREDICTED) && p->policy_params.estimate;
	jp.colocation = p->colocation;
	jp.keep_too_large = o->skip_too_large;
	jp.skip_bad = o->skip_bad;
	rc = o->sorted ? fit_job_stream_open(&jobs, cli_operand(cli, 0), &jp, &err) :
	     fit_jobs_read(&jobs, cli_operand(cli, 0), &jp, &err);
	if (rc)
		return cli_error(cli, &err);
	if (!jobs.stream)
		replay_inputs_tell_left_out(cli, &jobs);
	rc = replay_inputs_describe(in, cli, &jobs, &meta, &err);
	rc = rc ? rc : cli_writer_open(cli, &w, &err);
	rc = rc ? rc : replay_fitness_open(&fitness, cli, o->fitness, &p->policy_params, &err);
	rc = rc ? rc : replay_shares_open(&shares, cli, o->shares, &p->policy_params, &err);
	rc = rc ? rc : fit_replay(&jobs, &in->partitions, p, &meta, w, &counts, &err);
	rc = replay_side_close(&fitness, rc, &err);
	rc = replay_side_close(&shares, rc, &err);
	rc = cli_writer_close(w, rc, &err);
	fit_meta_release(&meta);
	if (jobs.stream && !rc)
		replay_inputs_tell_left_out(cli, &jobs);
	fit_jobs_release(&jobs);
	if (rc)
		return cli_error(cli, &err);
	cli_note(cli, "%llu decisions, %llu events, %llu restarts, last completion at %g s",
		 (unsigned long long)counts.decisions, (unsigned long long)counts.events,
		 (unsigned long long)counts.restarts, fit_time_to_double(counts.end_ns));
	replay_share_note(cli, p, &counts);
	cli_note(cli, "longest decision %.3f ms of CPU, with %lld jobs in the system",
			 (double)counts.longest_ns / 1e6,
		 (long long)counts.longest_jobs);
	note_cost(cli);
	if (p->autoscaler)
		cli_note(cli, "%llu nodes rented, %llu returned", (unsigned long long)counts.rented,
			 (unsigned long long)counts.returned);
	return 0;
}
