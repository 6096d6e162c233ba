/* SPDX-License-Identifier: MIT */
/* libfit/metrics: events, accumulation, percentiles, groups. */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/metrics/log_event.h"
#include "libfit/metrics/metrics.h"
#include "libfit/metrics/summary.h"

#define S FIT_NS_PER_S

/* The next event of a log written here: time in seconds, GPUs whole. */
static int say(struct fit_metrics *m, double t, enum fit_event_kind kind, const char *job, double gpus,
	       struct fit_err *err)
{
	struct fit_event_row e = { .kind = kind, .job_id = fit_text_of(job),
				   .ugpus = (int64_t)(gpus * (double)FIT_UGPU) };

	assert_int_equal(fit_time_from_double(t, &e.time_ns), FIT_OK);
	return fit_metrics_add(m, &e, NULL, err);
}

#define tell(m, t, kind, job, gpus) check_ok(say((m), (t), FIT_EVENT_##kind, (job), (gpus), &err), &err)

/* An operand that holds text: a file in the scratch folder. */
static struct fit_reader *reader_of(char name[CHECK_NAME_MAX], const char *text)
{
	struct fit_reader *r = NULL;
	struct fit_err err = { 0 };

	check_file(name, text);
	check_ok(fit_reader_open(&r, name, &err), &err);
	return r;
}

#define HEAD "time_s\tevent\tjob_id\tgpus\tnodes\tapp\tbatch_size\n"

/* ---- percentiles ---- */

/* Expected values: the rule written out by hand, and numpy 1.24's percentile(). */
static void percentiles(void **state)
{
	const double v[] = { 3, 5.5, 7, 19, 40 };
	const double one[] = { 11 };
	const double equal[] = { 0.1, 0.1, 0.1 };

	(void)state;
	check_same_bits(fit_percentile(v, 5, 0), 3);
	check_same_bits(fit_percentile(v, 5, 50), 7);
	check_same_bits(fit_percentile(v, 5, 100), 40);
	check_real(fit_percentile(v, 5, 95), 35.8, 1e-15, 0);	/* position 3.8 */
	check_real(fit_percentile(v, 5, 30), 5.8, 1e-15, 0);	/* position 1.2 */
	check_real(fit_percentile(v, 4, 50), 6.25, 1e-15, 0);
	check_same_bits(fit_percentile(one, 1, 99), 11);
	check_same_bits(fit_percentile(equal, 3, 95), 0.1);
	assert_true(fit_real_is_na(fit_percentile(v, 0, 50)));
}

/* ---- accumulation ---- */

static void a_job_that_moves_and_is_preempted(void **state)
{
	struct fit_metrics m;
	struct fit_err err = { 0 };
	const struct fit_job_result *j;

	(void)state;
	fit_metrics_init(&m, 30 * S);
	tell(&m, 0, CLUSTER, "", 8);
	tell(&m, 3, SUBMIT, "a", 2);
	tell(&m, 10, START, "a", 2);
	tell(&m, 25, MOVE, "a", 6);	/* within the delay: none of the first 15 s is progress */
	tell(&m, 100, EPOCH, "a", 6);
	tell(&m, 120, PREEMPT, "a", 0);
	tell(&m, 150.5, RESUME, "a", 3);
	tell(&m, 200, FINISH, "a", 3);	/* booked until */
	tell(&m, 240, RELEASE, "a", 0);
	tell(&m, 300, CLUSTER, "", 4);
	tell(&m, 310, SUBMIT, "b", 1);
	fit_metrics_close(&m);
	j = &m.jobs[0];
	assert_int_equal(j->submit_ns, 3 * S);
	assert_int_equal(j->start_ns, 10 * S);
	assert_int_equal(j->end_ns, 200 * S);
	assert_int_equal(j->queue_ns, 37 * S + S / 2);		/* 7 + 30.5 */
	assert_int_equal(j->restarts, 2);
	assert_int_equal(j->preemptions, 1);
	check_same_bits(fit_gpu_seconds(j->gpu), 15 * 2 + 95 * 6 + 49.5 * 3 + 40 * 3);
	check_same_bits(fit_gpu_seconds(j->busy), 65 * 6 + 19.5 * 3);
	check_text(fit_job_status(j), "OK");
	check_text(fit_job_status(&m.jobs[1]), "PENDING");
	check_same_bits(fit_gpu_seconds(m.held), fit_gpu_seconds(j->gpu));
	check_same_bits(fit_gpu_seconds(m.busy), fit_gpu_seconds(j->busy));
	check_same_bits(fit_gpu_seconds(m.capacity), 300 * 8 + 10 * 4);
	check_same_bits(fit_gpu_seconds(m.capacity_last_finish), 200 * 8);
	check_same_bits(fit_gpu_seconds(m.capacity_first_submit), 3 * 8);
	check_same_bits(fit_gpu_seconds(m.held_last_finish), 15 * 2 + 95 * 6 + 49.5 * 3);
	assert_int_equal(m.held_ugpus, 0);
	assert_int_equal(m.n_finished, 1);
	assert_int_equal(m.n_waiting, 1);
	assert_int_equal(m.n_running, 0);
	fit_metrics_release(&m);
}

/* An elastic cluster: node 0 is rented at 0, up from 10 to 90; node 1 is rented at 20, up from 50, and
 * stays. Delays are said by each allocation. */
static void nodes_come_and_go(void **state)
{
	static const char *const rows =
		"#fit-table/1\n#restart_s=profile\ntime_s\tevent\tjob_id\tgpus\tnodes\tdelay_s\n"
		"0\tcluster\tNA\t0\t4x4\tNA\n0\trent\tNA\t4\t0:4\tNA\n5\tsubmit\ta\t2\t-\tNA\n"
		"10\tready\tNA\t4\t0:4\tNA\n10\tstart\ta\t2\t0:2\t20\n20\trent\tNA\t4\t1:4\tNA\n"
		"45\tsubmit\tb\t3\t-\tNA\n50\tready\tNA\t4\t1:4\tNA\n50\tstart\tb\t3\t1:3\t7\n"
		"80\tfinish\ta\t0\t-\tNA\n90\treturn\tNA\t4\t0:4\tNA\n110\tfinish\tb\t0\t-\tNA\n"
		"#end rows=12\n";
	static const struct { const char *name; double value; } want[] = {
		{ "gpu_seconds_held", 140 + 180 }, { "gpu_seconds_busy", 100 + 159 },
		{ "gpu_seconds_rescaling", 40 + 21 }, { "gpu_seconds_capacity", 320 + 240 },
		{ "gpu_seconds_rented", 360 + 360 }, { "gpu_seconds_starting", 40 + 120 },
		{ "gpu_seconds_idle", 240 }, { "budget_gpus", 320 / 40.0 },
		{ "budget_in_window_gpus", 70 / 40.0 }, { "budget_makespan_gpus", 320 / 105.0 },
		{ "rented_gpus", 720 / 40.0 }, { "rented_in_window_gpus", 260 / 40.0 },
		{ "rented_makespan_gpus", 700 / 105.0 },
	};
	struct fit_metrics_window w = { .end_ns = 60 * S }, late = { .end_ns = 200 * S };
	struct fit_metrics m;
	struct fit_summary s;
	struct fit_reader *r;
	struct fit_err err = { 0 };
	char name[CHECK_NAME_MAX];
	size_t found = 0;

	(void)state;
	r = reader_of(name, rows);
	check_ok(fit_metrics_read(&m, r, fit_metrics_window_watch, &w, &err), &err);
	fit_metrics_window_close(&w);
	check_ok(fit_summarise(&m, NULL, 0, &s, &err), &err);
	for (size_t i = 0; i < fit_metric_count(); i++) {
		struct fit_metric_row row = fit_metric_row(&m, &s, NULL, i);

		for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
			if (strcmp(row.name, want[k].name) != 0)
				continue;
			check_real(row.value, want[k].value, 1e-15, 0);
			found++;
		}
	}
	assert_int_equal(found, sizeof want / sizeof *want);
	/* the window of 60 s from time 0: a holds 2 for 50 s, b holds 3 for 10 s */
	check_same_bits(fit_gpu_seconds(w.held), 100 + 30);
	check_same_bits(fit_gpu_seconds(w.rented), 240 + 160);
	fit_metrics_release(&m);
	fit_reader_close(r);
	/* a window beyond the log: what is held at its end stays held */
	check_ok(fit_reader_open(&r, name, &err), &err);
	check_ok(fit_metrics_read(&m, r, fit_metrics_window_watch, &late, &err), &err);
	fit_metrics_window_close(&late);
	check_same_bits(fit_gpu_seconds(late.held), 320);
	check_same_bits(fit_gpu_seconds(late.rented), 720 + 90 * 4);
	fit_metrics_release(&m);
	fit_reader_close(r);
	unlink(name);
}

/* Ten jobs of 0.1 GPU, one after the other and together: what is held comes back to exactly 0. */
static void fractions_do_not_drift(void **state)
{
	struct fit_metrics m;
	struct fit_err err = { 0 };
	char id[2] = "a";

	(void)state;
	fit_metrics_init(&m, 0);
	for (int i = 0; i < 10; i++) {
		id[0] = (char)('a' + i);
		tell(&m, i, SUBMIT, id, 0.1);
		tell(&m, i, START, id, 0.1);
	}
	assert_int_equal(m.held_ugpus, FIT_UGPU);
	for (int i = 0; i < 10; i++) {
		id[0] = (char)('a' + i);
		tell(&m, 20 + i, FINISH, id, 0);
	}
	assert_int_equal(m.held_ugpus, 0);
	check_same_bits(fit_gpu_seconds(m.held), 20);	/* each holds 0.1 for 20 s */
	fit_metrics_release(&m);
}

/* 64 000 GPUs for 30 years do not overflow, and come out exact. */
static void long_and_large(void **state)
{
	struct fit_metrics m;
	struct fit_err err = { 0 };

	(void)state;
	fit_metrics_init(&m, 0);
	tell(&m, 0, CLUSTER, "", 64000);
	tell(&m, 0, SUBMIT, "a", 64000);
	tell(&m, 0, START, "a", 64000);
	tell(&m, 946684800, FINISH, "a", 0);
	check_same_bits(fit_gpu_seconds(m.held), 64000.0 * 946684800.0);
	check_same_bits(fit_gpu_seconds(m.capacity), fit_gpu_seconds(m.held));
	fit_metrics_release(&m);
}

/* ---- what does not fit together ---- */

static void refuse(const char *message, const char *field, double t, enum fit_event_kind kind,
		   const char *job, double gpus)
{
	struct fit_event_row e = { .kind = kind, .job_id = fit_text_of(job),
				   .ugpus = (int64_t)(gpus * (double)FIT_UGPU) };
	struct fit_metrics m;
	struct fit_err err = { 0 };
	const char *found = NULL;

	fit_metrics_init(&m, 0);
	tell(&m, 0, CLUSTER, "", 8);
	tell(&m, 1, SUBMIT, "run", 2);
	tell(&m, 1, SUBMIT, "wait", 2);
	tell(&m, 1, SUBMIT, "gone", 2);
	tell(&m, 1, SUBMIT, "done", 2);
	tell(&m, 1, SUBMIT, "out", 2);
	tell(&m, 2, REJECT, "gone", 0);
	tell(&m, 2, START, "run", 2);
	tell(&m, 2, START, "done", 2);
	tell(&m, 2, START, "out", 2);
	tell(&m, 3, PREEMPT, "out", 0);
	tell(&m, 3, FINISH, "done", 0);
	assert_int_equal(fit_time_from_double(t, &e.time_ns), FIT_OK);
	check_err(fit_metrics_add(&m, &e, &found, &err), &err, FIT_EDATA, message);
	check_text(found, field);
	fit_metrics_release(&m);
}

static void contradictions(void **state)
{
	(void)state;
	refuse("time '2.5' goes back (expected at least 3)", "time_s", 2.5, FIT_EVENT_START, "wait", 2);
	refuse("job 'run' is submitted twice", "job_id", 4, FIT_EVENT_SUBMIT, "run", 2);
	refuse("unknown job 'x' (expected its 'submit' first)", "job_id", 4, FIT_EVENT_FINISH, "x", 0);
	refuse("unexpected 'start' of job 'run', which is running", "event", 4, FIT_EVENT_START, "run", 2);
	refuse("unexpected 'move' of job 'wait', which is waiting", "event", 4, FIT_EVENT_MOVE, "wait", 2);
	refuse("unexpected 'resume' of job 'wait', which is waiting", "event", 4, FIT_EVENT_RESUME,
	       "wait", 2);
	refuse("unexpected 'start' of job 'out', which is preempted", "event", 4, FIT_EVENT_START, "out", 2);
	refuse("unexpected 'preempt' of job 'out', which is preempted", "event", 4, FIT_EVENT_PREEMPT,
	       "out", 0);
	refuse("unexpected 'finish' of job 'gone', which is rejected", "event", 4, FIT_EVENT_FINISH,
	       "gone", 0);
	refuse("unexpected 'finish' of job 'done', which is finished", "event", 4, FIT_EVENT_FINISH,
	       "done", 0);
	refuse("unexpected 'release' of job 'run', which is running", "event", 4, FIT_EVENT_RELEASE,
	       "run", 0);
	refuse("unexpected 'reject' of job 'run', which is running", "event", 4, FIT_EVENT_REJECT,
	       "run", 0);
	refuse("bad number of GPUs '0' after 'start' (expected more than 0)", "gpus", 4,
	       FIT_EVENT_START, "wait", 0);
	refuse("bad number of GPUs '1' after 'preempt' (expected 0)", "gpus", 4, FIT_EVENT_PREEMPT,
	       "run", 1);
	refuse("bad number of GPUs '3' after 'epoch' (the job holds 2)", "gpus", 4, FIT_EVENT_EPOCH,
	       "run", 3);
	refuse("bad number of GPUs '2.5' after 'finish' (the job holds 2)", "gpus", 4,
	       FIT_EVENT_FINISH, "run", 2.5);
}

/* ---- shared GPUs and the profiler, by hand ---- */

/* h holds 2 GPUs alone from 0 and beside g from 10 to 30; g holds them alone until 50, and was on a GPU of
 * the profiler from 2 to 6. */
static void shared_gpus_are_held_once(void **state)
{
	static const char text[] = "time_s\tevent\tjob_id\tgpus\tnodes\tshared_with\n"
		"0\tcluster\tNA\t4\t1x4\tNA\n0\tsubmit\th\t2\t-\tNA\n0\tstart\th\t2\t0:2\tNA\n"
		"1\tsubmit\tg\t2\t-\tNA\n2\tprofile\tg\t1\t0:1\tNA\n6\tprofiled\tg\t0\t-\tNA\n"
		"10\tstart\tg\t2\t0:2\th\n10\tshare\th\t2\t0:2\tg\n30\tfinish\th\t0\t-\tNA\n"
		"30\tshare\tg\t2\t0:2\tNA\n50\tfinish\tg\t0\t-\tNA\n";
	char name[CHECK_NAME_MAX];
	struct fit_reader *r = reader_of(name, text);
	struct fit_metrics m;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_metrics_read(&m, r, NULL, NULL, &err), &err);
	check_same_bits(fit_gpu_seconds(m.held), 2 * 50 + 4);	/* not 2 * 30 + 2 * 40 + 4 */
	check_same_bits(fit_gpu_seconds(m.busy), 2 * 50);
	check_same_bits(fit_gpu_seconds(m.jobs[0].gpu), 2 * 30);
	check_same_bits(fit_gpu_seconds(m.jobs[1].gpu), 2 * 40 + 4);
	check_same_bits(fit_gpu_seconds(m.jobs[1].busy), 2 * 40);
	assert_int_equal(m.jobs[1].queue_ns, 5 * FIT_NS_PER_S);	/* 1 to 2, and 6 to 10 */
	assert_int_equal(m.jobs[1].restarts, 0);
	fit_metrics_release(&m);
	fit_reader_close(r);
	unlink(name);
}

/* ---- reading ---- */

static void refuse_row(const char *row, const char *message)
{
	struct fit_str text = { 0 }, want = { 0 };
	struct fit_metrics m;
	struct fit_reader *r;
	struct fit_err err = { 0 };
	char name[CHECK_NAME_MAX];

	assert_int_equal(fit_str_printf(&text, HEAD "0\tcluster\tNA\t8\t2x4\tNA\tNA\n%s\n", row), FIT_OK);
	r = reader_of(name, text.s);
	assert_int_equal(fit_str_printf(&want, "%s:3:%s", name, message), FIT_OK);
	check_err(fit_metrics_read(&m, r, NULL, NULL, &err), &err, FIT_EDATA, want.s);
	assert_null(m.jobs);
	fit_reader_close(r);
	unlink(name);
	fit_str_release(&text);
	fit_str_release(&want);
}

static void bad_rows(void **state)
{
	(void)state;
	refuse_row("1\tstop\tj\t1\t-\tNA\tNA", "event: unknown event 'stop' (expected cluster, submit, reject, "
		   "start, move, preempt, resume, epoch, batch, finish, release, share, profile, "
		   "profiled, shift, lose, rent, ready, return, lend or regain)");
	refuse_row("-1\tsubmit\tj\t1\t-\tNA\tNA",
		   "time_s: negative time '-1' (expected seconds since the trace origin)");
	refuse_row("1\tsubmit\tNA\t1\t-\tNA\tNA",
		   "job_id: missing (expected a job for every event but those of the cluster)");
	refuse_row("1\tcluster\tj\t1\t-\tNA\tNA",
		   "job_id: unexpected job 'j' (expected NA for events of the cluster)");
	refuse_row("1\tsubmit\tj\tnan\t-\tNA\tNA",
		   "gpus: bad number of GPUs 'nan' (expected 0 to 1e+09)");
	refuse_row("1\tsubmit\tj\t-2\t-\tNA\tNA", "gpus: bad number of GPUs '-2' (expected 0 to 1e+09)");
	refuse_row("1\tstart\tj\tNA\t-\tNA\tNA",
		   "gpus: missing for event 'start' (expected the GPUs held from now on)");
	refuse_row("1\tcluster\tNA\tNA\tmany\tNA\tNA",
		   "nodes: unknown cluster 'many' (expected nodes x GPUs, as 16x4)");
	refuse_row("1\tstart\tj\t1\t-\tNA\tNA", "job_id: unknown job 'j' (expected its 'submit' first)");
}

static void cluster_texts(void **state)
{
	int64_t u = -1;

	(void)state;
	assert_int_equal(fit_event_parse_cluster(fit_text_of("16x4"), &u), FIT_OK);
	assert_int_equal(u, 64 * FIT_UGPU);
	assert_int_equal(fit_event_parse_cluster(fit_text_of("6x4,2x8"), &u), FIT_OK);
	assert_int_equal(u, 40 * FIT_UGPU);
	u = -1;
	assert_int_equal(fit_event_parse_cluster(fit_text_of("16"), &u), FIT_EPARSE);
	assert_int_equal(fit_event_parse_cluster(fit_text_of("16x4,"), &u), FIT_EPARSE);
	assert_int_equal(fit_event_parse_cluster(fit_text_of("-1x4"), &u), FIT_EPARSE);
	assert_int_equal(fit_event_parse_cluster(fit_text_of("100000x100000"), &u), FIT_EPARSE);
	assert_int_equal(fit_event_parse_cluster(fit_text_of(""), &u), FIT_EPARSE);
	assert_int_equal(u, -1);
}

static void metadata_restart(void **state)
{
	struct fit_metrics m;
	struct fit_reader *r;
	struct fit_err err = { 0 };
	char name[CHECK_NAME_MAX], want[CHECK_NAME_MAX + 100];

	(void)state;
	r = reader_of(name, "#fit-table/1\n#restart_s=12.5\n" HEAD "#end rows=0\n");
	check_ok(fit_metrics_read(&m, r, NULL, NULL, &err), &err);
	assert_int_equal(m.restart_ns, 12 * S + S / 2);
	assert_true(m.closed);
	fit_metrics_release(&m);
	fit_reader_close(r);
	unlink(name);
	r = reader_of(name, "#fit-table/1\n#restart_s=soon\n" HEAD "#end rows=0\n");
	snprintf(want, sizeof want, "%s: bad metadata restart_s 'soon' (expected seconds, or profile)", name);
	check_err(fit_metrics_read(&m, r, NULL, NULL, &err), &err, FIT_EDATA, want);
	fit_reader_close(r);
	unlink(name);
}

/* ---- summaries ---- */

static void nothing_is_missing_not_nan(void **state)
{
	struct fit_metrics m;
	struct fit_summary s;
	struct fit_groups g;
	struct fit_err err = { 0 };
	double *jct = NULL;
	size_t n = 7, missing = 0;

	(void)state;
	fit_metrics_init(&m, 0);
	fit_metrics_close(&m);
	check_ok(fit_summarise(&m, NULL, 0, &s, &err), &err);
	for (size_t i = 0; i < fit_metric_count(); i++) {
		double v = fit_metric_row(&m, &s, NULL, i).value;

		assert_true(fit_real_is_na(v) || (v >= 0 && v <= 0));
		missing += fit_real_is_na(v);
	}
	/* ten statistics, two makespans, capacity, two utilisations, six budgets */
	assert_int_equal(missing, 21);
	check_ok(fit_metrics_jcts(&m, &jct, &n, &err), &err);
	assert_int_equal(n, 0);
	free(jct);
	check_ok(fit_metrics_group(&m, FIT_BY_APP, &g, &err), &err);
	assert_int_equal(g.n, 0);
	fit_groups_release(&g);
	fit_metrics_release(&m);
}

/* Jobs that finish at their submission, on no cluster: no division by zero. */
static void no_time_passes(void **state)
{
	struct fit_metrics m;
	struct fit_summary s;
	struct fit_err err = { 0 };

	(void)state;
	fit_metrics_init(&m, 0);
	tell(&m, 0, SUBMIT, "a", 1);
	tell(&m, 0, START, "a", 1);
	tell(&m, 0, FINISH, "a", 0);
	fit_metrics_close(&m);
	check_ok(fit_summarise(&m, NULL, 0, &s, &err), &err);
	check_same_bits(s.jct.mean, 0);
	check_same_bits(s.jct.p99, 0);
	for (size_t i = 0; i < fit_metric_count(); i++) {
		struct fit_metric_row row = fit_metric_row(&m, &s, NULL, i);

		if (strncmp(row.name, "utilisation", 11) == 0 || strncmp(row.name, "budget", 6) == 0 ||
		    strncmp(row.name, "rented", 6) == 0)
			assert_true(fit_real_is_na(row.value));
		else
			assert_true(isfinite(row.value));
	}
	fit_metrics_release(&m);
}

static void groups_in_order(void **state)
{
	static const char *const rows =
		HEAD "0\tsubmit\tj1\t4\t-\tnet10\t1\n0\tsubmit\tj2\t2\t-\tNA\t1\n0\tsubmit\tj3\t4\t-\tnet9\t1\n"
		"0\tsubmit\tj4\t2\t-\tnet10\t1\n0\tsubmit\tj5\t0.5\t-\tbert\tNA\n";
	static const size_t by_app[] = { 4, 2, 0, 3, 1 }, by_size[] = { 4, 1, 3, 0, 2 };
	struct fit_metrics m;
	struct fit_groups g;
	struct fit_reader *r;
	struct fit_err err = { 0 };
	char name[CHECK_NAME_MAX];

	(void)state;
	r = reader_of(name, rows);
	check_ok(fit_metrics_read(&m, r, NULL, NULL, &err), &err);
	check_ok(fit_metrics_group(&m, FIT_BY_APP, &g, &err), &err);
	assert_int_equal(g.n, 4);	/* bert, net9, net10, none */
	assert_memory_equal(g.which, by_app, sizeof by_app);
	assert_int_equal(g.first[2], 2);
	assert_int_equal(g.first[3], 4);
	assert_int_equal(g.first[4], 5);
	check_span(fit_metrics_app(&m, m.jobs[2].app), "net9");
	assert_null(fit_metrics_app(&m, m.jobs[1].app).s);
	fit_groups_release(&g);
	check_ok(fit_metrics_group(&m, FIT_BY_SIZE, &g, &err), &err);
	assert_int_equal(g.n, 3);
	assert_memory_equal(g.which, by_size, sizeof by_size);
	fit_groups_release(&g);
	fit_metrics_release(&m);
	fit_reader_close(r);
	unlink(name);
}

/* Many jobs against a second, plain computation in doubles. */
static void many_jobs(void **state)
{
	enum { N = 3000 };
	struct fit_metrics m;
	struct fit_summary s;
	struct fit_err err = { 0 };
	double sum = 0, queue = 0, gpu = 0, most = 0;
	uint32_t x = 12345;
	char id[16];

	(void)state;
	fit_metrics_init(&m, 0);
	tell(&m, 0, CLUSTER, "", 100000);
	for (int i = 0; i < N; i++) {
		double submit = 10.0 * i, wait, run;

		x = x * 1664525u + 1013904223u;
		wait = (double)(x >> 22) / 128;		/* below 8 s */
		run = (double)(x >> 12 & 127) / 64;	/* below 2 s */
		snprintf(id, sizeof id, "j%d", i);
		tell(&m, submit, SUBMIT, id, 3);
		tell(&m, submit + wait, START, id, 3);
		tell(&m, submit + wait + run, FINISH, id, 0);
		sum += wait + run;
		queue += wait;
		gpu += 3 * run;
		most = fmax(most, wait + run);
	}
	fit_metrics_close(&m);
	check_ok(fit_summarise(&m, NULL, 0, &s, &err), &err);
	assert_int_equal(s.finished, N);
	check_real(s.jct.mean, sum / N, 1e-12, 0);
	check_real(s.queue.mean, queue / N, 1e-12, 0);
	check_real(fit_gpu_seconds(s.gpu), gpu, 1e-12, 0);
	check_same_bits(s.jct.max, most);
	assert_true(s.jct.median <= s.jct.p95 && s.jct.p95 <= s.jct.p99 && s.jct.p99 <= s.jct.max);
	fit_metrics_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles),
		cmocka_unit_test(a_job_that_moves_and_is_preempted),
		cmocka_unit_test(nodes_come_and_go),
		cmocka_unit_test(fractions_do_not_drift),
		cmocka_unit_test(long_and_large),
		cmocka_unit_test(contradictions),
		cmocka_unit_test(shared_gpus_are_held_once),
		cmocka_unit_test(bad_rows),
		cmocka_unit_test(cluster_texts),
		cmocka_unit_test(metadata_restart),
		cmocka_unit_test(nothing_is_missing_not_nan),
		cmocka_unit_test(no_time_passes),
		cmocka_unit_test(groups_in_order),
		cmocka_unit_test(many_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
