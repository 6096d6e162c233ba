/* SPDX-License-Identifier: MIT */
/* The verifier: its own batch split, its heap, verdicts on logs written by hand, error paths. */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "libfit/verify/verify.h"
#include "libfit/verify/verify_state.h"

#define FIFO_JOBS "tests/data/verify-fifo-jobs.tsv"
#define FIFO_LOG "tests/data/verify-fifo-log.tsv"
#define TIRESIAS_JOBS "tests/data/verify-tiresias-jobs.tsv"
#define TIRESIAS_LOG "tests/data/verify-tiresias-log.tsv"

/* ---- helpers ---- */

static struct fit_verdict verdict_of(const struct fit_verifier *v, const char *rule)
{
	for (size_t i = 0; i < fit_verifier_n_rules(v); i++)
		if (strcmp(fit_verifier_verdict(v, i).rule, rule) == 0)
			return fit_verifier_verdict(v, i);
	fail_msg("no rule '%s'", rule);
	return (struct fit_verdict){ 0 };
}

static size_t n_violated(const struct fit_verifier *v)
{
	size_t n = 0;

	for (size_t i = 0; i < fit_verifier_n_rules(v); i++)
		n += fit_verifier_verdict(v, i).kind == FIT_VERDICT_VIOLATED;
	return n;
}

static struct fit_verifier *judge(const char *jobs, const char *log)
{
	struct fit_verifier *v;
	struct fit_err err = { 0 };

	check_ok(fit_verifier_new(&v, &err), &err);
	check_ok(fit_verifier_jobs(v, jobs, &err), &err);
	fit_verifier_keep_results(v);
	check_ok(fit_verifier_log(v, log, &err), &err);
	return v;
}

/* Write a text to a new file; free() the name after unlink(). */
static char *write_file(const char *text)
{
	char *name = malloc(CHECK_NAME_MAX);

	assert_non_null(name);
	check_file(name, text);
	return name;
}

static void drop_file(char *name)
{
	unlink(name);
	free(name);
}

/* ---- the parts ---- */

static void test_split(void **state)
{
	/* init, max batch; min, max local; epochs: as the Pollux artifact has them */
	const struct fit_app_info cifar = { "cifar10", 128, 4096, 32, 1024, 100, 0, 0, 0 };
	const struct fit_app_info ncf = { "ncf", 256, 32768, 32, 32768, 10, 0, 0, 0 };
	const struct fit_app_info yolo = { "yolov3", 8, 512, 4, 8, 50, 0, 0, 0 };
	const struct fit_app_info *const apps[] = { &cifar, &ncf, &yolo };
	static const struct {
		int app;
		int64_t target, replicas;
		bool like_optimus;
		int64_t atomic, accum;
	} cases[] = {
		{ 0, 2048, 6, false, 342, 0 },		/* 341.33… up */
		{ 0, 4096, 12, false, 341, 0 },		/* 342 x 12 is over the largest batch */
		{ 0, 2048, 1, false, 1024, 1 },		/* fits in two passes */
		{ 0, 4096, 1, false, 1024, 3 },
		{ 0, 1000, 1, false, 500, 1 },		/* one GPU, over the initial batch */
		{ 0, 128, 1, false, 128, 0 },		/* one GPU, the initial batch */
		{ 0, 128, 1, true, 64, 1 },		/* as Optimus predicts it */
		{ 0, 128, 2, true, 64, 0 },
		{ 1, 32768, 1, false, 16384, 1 },
		{ 2, 64, 4, false, 8, 1 },
		{ 2, 64, 3, false, 8, 2 },		/* 22: three passes of 8 */
		{ 0, 0, 4, false, 0, 0 },
		{ 0, 64, 0, false, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct fit_app_info *a = apps[cases[i].app];
		struct fit_batch b = verify_split(a, cases[i].target, cases[i].replicas,
						  cases[i].like_optimus);

		if (b.atomic_bsz != cases[i].atomic || b.accum_steps != cases[i].accum)
			fail_msg("case %zu: %lld in %lld + 1 passes, expected %lld in %lld + 1", i,
				 (long long)b.atomic_bsz, (long long)b.accum_steps,
				 (long long)cases[i].atomic, (long long)cases[i].accum);
	}
}

static void test_heap(void **state)
{
	struct verify_heap h = { 0 };
	struct verify_heap_item last = { -1, 0, 0 }, item;
	uint32_t x = 12345;

	(void)state;
	for (uint32_t i = 0; i < 500; i++) {
		x = x * 1103515245u + 12345u;
		item = (struct verify_heap_item){ (x >> 16) % 37, 1000 - i, i };
		assert_int_equal(verify_heap_push(&h, item), FIT_OK);
		if (i % 5 == 4)
			verify_heap_pop(&h);
	}
	assert_int_equal(h.n, 400);
	while (h.n) {
		struct verify_heap_item top = h.a[0];

		assert_true(top.key > last.key || (top.key == last.key && top.rank > last.rank));
		last = top;
		verify_heap_pop(&h);
	}
	free(h.a);
}

/* ---- whole logs ---- */

static void test_good_fifo(void **state)
{
	struct fit_verifier *v = judge(FIFO_JOBS, FIFO_LOG);

	(void)state;
	assert_int_equal(n_violated(v), 0);
	assert_int_equal(verdict_of(v, "work-complete").checked, 4);
	assert_int_equal(verdict_of(v, "placement-rule").checked, 4);
	assert_int_equal(verdict_of(v, "fifo-order").kind, FIT_VERDICT_OK);
	assert_int_equal(verdict_of(v, "sjf-order").kind, FIT_VERDICT_NOT_APPLICABLE);
	assert_null(verdict_of(v, "fifo-order").detail);
	assert_int_equal(v->n_finished, 4);
	/* b: 8 GPUs from 105 to 160, less 5 s of restart */
	check_real(v->results[1].gpu_s, 8 * 55.0, 1e-15, 0);
	check_real(v->results[1].gpu_busy_s, 8 * 50.0, 1e-15, 0);
	check_real(v->held, 4 * 105.0 + 8 * 55 + 2 * 35 + 25, 1e-15, 0);
	check_real(v->capacity_finish, 8 * 195.0, 1e-15, 0);
	fit_verifier_free(v);
}

static void test_good_tiresias(void **state)
{
	struct fit_verifier *v = judge(TIRESIAS_JOBS, TIRESIAS_LOG);

	(void)state;
	assert_int_equal(n_violated(v), 0);
	assert_int_equal(verdict_of(v, "tiresias-queues").kind, FIT_VERDICT_OK);
	assert_int_equal(verdict_of(v, "release-rule").checked, 6);
	assert_int_equal(v->results[0].preempts, 1);
	assert_int_equal(v->results[0].restarts, 1);
	assert_int_equal(v->results[0].held_ns, 100 * FIT_NS_PER_S);
	fit_verifier_free(v);
}

static void test_wrong_jobs(void **state)
{
	struct fit_verifier *v = judge(TIRESIAS_JOBS, FIFO_LOG);

	(void)state;
	assert_int_equal(verdict_of(v, "jobs-once").kind, FIT_VERDICT_VIOLATED);
	assert_true(verdict_of(v, "jobs-once").violations >= 7);	/* 4 unknown, 3 missing */
	check_text(verdict_of(v, "jobs-once").detail,
		   "line 15, 0 s, submit of job 'a', which is not in the jobs table");
	fit_verifier_free(v);
}

/* A job larger than the cluster must be rejected, and one that is not must not be. */
static void test_reject(void **state)
{
	static const char head[] =
		"#fit-table/1\n#table=log\n#policy=fifo\n#cluster=1x4\n#interval_s=0\n"
		"#restart_s=0\n#epoch_quantum_s=0\n#release=at-once\n#order=submit-id\n"
		"time_s\tevent\tjob_id\tgpus\tnodes\tprogress\n0\tcluster\tNA\t4\t1x4\tNA\n"
		"1\tsubmit\ta\t8\t-\tNA\n";
	char text[1024];
	char *jobs = write_file("job_id\tsubmit_s\tgpus\tduration_s\na\t1\t8\t5\n"), *log;
	struct fit_verifier *v;

	(void)state;
	snprintf(text, sizeof text, "%s1\treject\ta\t0\t-\tNA\n#end rows=3\n", head);
	log = write_file(text);
	v = judge(jobs, log);
	assert_int_equal(n_violated(v), 0);
	assert_int_equal(v->n_rejected, 1);
	fit_verifier_free(v);
	drop_file(log);

	snprintf(text, sizeof text, "%s#end rows=2\n", head);
	log = write_file(text);
	v = judge(jobs, log);
	assert_int_equal(verdict_of(v, "reject-rule").kind, FIT_VERDICT_VIOLATED);
	assert_int_equal(verdict_of(v, "all-finish").kind, FIT_VERDICT_VIOLATED);
	fit_verifier_free(v);
	drop_file(log);
	drop_file(jobs);
}

/* A decision that left no row is noticed: the second job could have started at 10. */
static void test_missed_decision(void **state)
{
	static const char log_text[] =
		"#fit-table/1\n#table=log\n#policy=srtf\n#cluster=1x4\n#interval_s=10\n"
		"#restart_s=0\n#epoch_quantum_s=0\n#release=at-once\n#order=file\n"
		"time_s\tevent\tjob_id\tgpus\tnodes\tprogress\n0\tcluster\tNA\t4\t1x4\tNA\n"
		"1\tsubmit\ta\t2\t-\tNA\n2\tsubmit\tb\t2\t-\tNA\n10\tstart\ta\t2\t0:2\t0\n"
		"30\tfinish\ta\t0\t-\t20\n40\tstart\tb\t2\t0:2\t0\n"
		"65\tfinish\tb\t0\t-\t25\n#end rows=7\n";
	char *jobs = write_file("job_id\tsubmit_s\tgpus\tduration_s\na\t1\t2\t20\nb\t2\t2\t25\n");
	char *log = write_file(log_text);
	struct fit_verifier *v = judge(jobs, log);

	(void)state;
	/* at 10 and at 30 */
	assert_int_equal(verdict_of(v, "work-conserving").violations, 2);
	assert_int_equal(verdict_of(v, "srtf-order").violations, 2);
	assert_int_equal(verdict_of(v, "progress").violations, 0);
	assert_int_equal(verdict_of(v, "decision-instants").violations, 0);
	fit_verifier_free(v);
	drop_file(log);
	drop_file(jobs);
}

/* ---- rows that no replay can run ---- */

static void test_left_out(void **state)
{
	static const char head[] =
		"#fit-table/1\n#policy=fifo\n#cluster=1x4\n#interval_s=0\n#fidelity=none\n"
		"#restart_s=0\n#epoch_quantum_s=0\n#release=at-once\n#order=submit-id\n";
	static const char rows[] =
		"time_s\tevent\tjob_id\tgpus\tnodes\tprogress\n0\tcluster\tNA\t4\t1x4\tNA\n"
		"1\tsubmit\ta\t2\t-\tNA\n1\tstart\ta\t2\t0:2\t0\n21\tfinish\ta\t0\t-\t20\n#end rows=4\n";
	/* again, too early, half a GPU, no time, no duration: five; b asks for no GPU */
	char *jobs = write_file("job_id\tsubmit_s\tgpus\tduration_s\na\t1\t2\t20\na\t1\t2\t20\n"
				"c\t-1\t2\t20\nd\t1\t0.5\t20\ne\tNA\t2\t20\nf\t1\t2\tNA\nb\t1\t0\t9\n");

	(void)state;
	for (int said = 3; said < 7; said++) {
		char text[1000];
		struct fit_verifier *v;
		char *log;

		snprintf(text, sizeof text, "%s#left_out=%d\n%s", head, said, rows);
		log = write_file(text);
		v = judge(jobs, log);
		assert_int_equal(verdict_of(v, "jobs-once").violations, said != 5);
		assert_int_equal(verdict_of(v, "meta-consistent").violations, 0);
		fit_verifier_free(v);
		drop_file(log);
	}
	drop_file(jobs);
}

/* ---- errors ---- */

static void test_errors(void **state)
{
	struct fit_verifier *v;
	struct fit_err err = { 0 };
	char *text = write_file("job_id\tsubmit_s\tgpus\na\tsoon\t1\n");
	char *profiled = write_file("#fit-table/1\n#input_profile=0\n"
				    "time_s\tevent\tjob_id\tgpus\tnodes\n#end rows=0\n");

	(void)state;
	check_ok(fit_verifier_new(&v, &err), &err);
	assert_int_equal(fit_verifier_jobs(v, "tests/data/no-such-file.tsv", &err), FIT_EIO);
	assert_int_equal(fit_verifier_jobs(v, text, &err), FIT_EPARSE);
	assert_non_null(strstr(err.msg, ":2:submit_s: bad value 'soon'"));
	assert_int_equal(fit_verifier_log(v, FIFO_JOBS, &err), FIT_ENOTFOUND);	/* not a log */
	assert_int_equal(fit_verifier_log(v, profiled, &err), FIT_EINVAL);
	assert_int_equal(fit_verifier_profile(v, "tests/data/no-such-store.h5", &err), FIT_EIO);
	fit_verifier_free(v);

	check_ok(fit_verifier_new(&v, &err), &err);
	check_ok(fit_verifier_jobs(v, FIFO_JOBS, &err), &err);
	check_ok(fit_verifier_log(v, FIFO_LOG, &err), &err);
	/* results were not kept */
	assert_int_equal(fit_verifier_metrics(v, FIFO_LOG, &err), FIT_EINVAL);
	assert_int_equal(fit_verifier_per_job(v, FIFO_LOG, &err), FIT_EINVAL);
	fit_verifier_free(v);
	fit_verifier_free(NULL);
	drop_file(text);
	drop_file(profiled);
}

static void test_names(void **state)
{
	struct fit_verifier *v;
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_verifier_new(&v, &err), &err);
	for (size_t i = 0; i < fit_verifier_n_rules(v); i++) {
		struct fit_verdict d = fit_verifier_verdict(v, i);

		assert_int_equal(d.kind, FIT_VERDICT_NOT_APPLICABLE);
		assert_true(strlen(d.rule) > 3 && strlen(d.meaning) > 10);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(d.rule, fit_verifier_verdict(v, k).rule);
	}
	check_text(fit_verdict_name(FIT_VERDICT_OK), "ok");
	check_text(fit_verdict_name(FIT_VERDICT_VIOLATED), "violated");
	check_text(fit_verdict_name(FIT_VERDICT_NOT_APPLICABLE), "not-applicable");
	fit_verifier_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_good_fifo),
		cmocka_unit_test(test_good_tiresias),
		cmocka_unit_test(test_wrong_jobs),
		cmocka_unit_test(test_reject),
		cmocka_unit_test(test_missed_decision),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
