/* SPDX-License-Identifier: MIT */
/* libfit/metrics, where jobs that are over are forgotten: figures and errors as where all are kept. */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/metrics/metrics.h"
#include "libfit/metrics/summary.h"

struct pair {
	struct fit_metrics all, sums;
	int64_t t_ns;
};

static void begin(struct pair *p)
{
	fit_metrics_init(&p->all, 5 * FIT_NS_PER_S);
	fit_metrics_init(&p->sums, 5 * FIT_NS_PER_S);
	p->sums.sums_only = true;
	p->t_ns = 0;
}

static void end(struct pair *p)
{
	fit_metrics_release(&p->all);
	fit_metrics_release(&p->sums);
}

/* Both take an event, or neither does, for the same reason. */
static int tell(struct pair *p, enum fit_event_kind kind, const char *id, int gpus)
{
	struct fit_event_row e = { .time_ns = p->t_ns, .kind = kind, .job_id = fit_text_of(id),
				   .ugpus = gpus * FIT_UGPU };
	struct fit_err err = { 0 }, also = { 0 };
	int rc = fit_metrics_add(&p->all, &e, NULL, &err);

	assert_int_equal(fit_metrics_add(&p->sums, &e, NULL, &also), rc);
	assert_string_equal(err.msg, also.msg);
	return rc;
}

static void same_figures(struct pair *p)
{
	struct fit_summary a, b;
	struct fit_err err = { 0 };
	double *x, *y;
	size_t n, k;

	fit_metrics_close(&p->all);
	fit_metrics_close(&p->sums);
	check_ok(fit_summarise(&p->all, NULL, 0, &a, &err), &err);
	check_ok(fit_summarise(&p->sums, NULL, 0, &b, &err), &err);
	for (size_t i = 0; i < fit_metric_count(); i++)
		check_same_bits(fit_metric_row(&p->all, &a, NULL, i).value, fit_metric_row(&p->sums, &b, NULL, i).value);
	assert_true(a.gpu == b.gpu);
	assert_int_equal(p->all.n_jobs, p->sums.n_submitted);
	assert_int_equal(p->all.n_submitted, p->sums.n_submitted);
	check_ok(fit_metrics_jcts(&p->all, &x, &n, &err), &err);
	check_ok(fit_metrics_jcts(&p->sums, &y, &k, &err), &err);
	assert_int_equal(n, a.finished);
	assert_int_equal(n, k);
	assert_memory_equal(x, y, n * sizeof *x);
	/* percentiles by rank are those of all in order */
	for (size_t i = 1; i < n; i++)
		assert_true(x[i - 1] <= x[i]);
	check_same_bits(fit_percentile(x, n, 50), b.jct.median);
	check_same_bits(fit_percentile(x, n, 95), b.jct.p95);
	check_same_bits(fit_percentile(x, n, 99), b.jct.p99);
	check_same_bits(fit_percentile(x, n, 100), b.jct.max);
	free(x);
	free(y);
}

/* What job i does next. Jobs wait, run, are preempted, move, finish with or without GPUs to release,
 * are rejected, and one in eight is on the profiler once it is over. */
static void step(struct pair *p, unsigned *did, const char *id, unsigned at, unsigned i)
{
	int gpus = 1 + (int)(i % 5);
	unsigned fate = i * 2654435761u >> 24;

	switch (at) {
	case 0:
		assert_int_equal(tell(p, FIT_EVENT_SUBMIT, id, gpus), FIT_OK);
		break;
	case 1:
		*did = fate < 10 ? 99 : *did;
		assert_int_equal(tell(p, fate < 10 ? FIT_EVENT_REJECT : FIT_EVENT_START, id, gpus), FIT_OK);
		break;
	case 2:
		if (fate & 1)
			assert_int_equal(tell(p, FIT_EVENT_MOVE, id, gpus + 1), FIT_OK);
		break;
	case 3:
		if (fate & 2) {
			assert_int_equal(tell(p, FIT_EVENT_PREEMPT, id, 0), FIT_OK);
			p->t_ns += 7;
			assert_int_equal(tell(p, FIT_EVENT_RESUME, id, gpus), FIT_OK);
		}
		break;
	case 4:
		assert_int_equal(tell(p, FIT_EVENT_FINISH, id, fate & 4 ? 1 : 0), FIT_OK);
		break;
	case 5:
		assert_int_equal(tell(p, FIT_EVENT_RELEASE, id, 0), FIT_OK);
		break;
	case 6:
		if (fate % 8 == 0)
			assert_int_equal(tell(p, FIT_EVENT_PROFILE, id, 1), FIT_OK);
		break;
	case 7:
		if (fate % 8 == 0)
			assert_int_equal(tell(p, FIT_EVENT_PROFILED, id, 0), FIT_OK);
		assert_int_equal(tell(p, FIT_EVENT_START, id, gpus), FIT_EDATA);
		assert_int_equal(tell(p, FIT_EVENT_SUBMIT, id, gpus), FIT_EDATA);
		break;
	default:
		break;
	}
}

static void run(bool upwards, unsigned n, unsigned stop)
{
	unsigned *did = calloc(n, sizeof *did), first = 0;
	struct pair p;

	assert_non_null(did);
	begin(&p);
	assert_int_equal(tell(&p, FIT_EVENT_CLUSTER, "", 1000000), FIT_OK);
	for (unsigned turn = 0; first < n && turn < stop; turn++) {
		for (unsigned i = first; i < n && i < turn; i += 1 + (i + turn) % 3) {
			char id[32];

			if (did[i] > 7)
				continue;
			snprintf(id, sizeof id, upwards ? "j%u" : "%x-j", upwards ? i : i * 2654435761u);
			p.t_ns += 1 + (int64_t)(i * 48271u % 977) * 1000003;
			did[i]++;
			step(&p, &did[i], id, did[i] - 1, i);
		}
		while (first < n && did[first] > 7)
			first++;
	}
	assert_int_equal(tell(&p, FIT_EVENT_START, "nobody", 1), FIT_EDATA);
	if (stop == UINT32_MAX)
		assert_int_equal(p.sums.n_jobs - p.sums.gone.n_empty, p.sums.n_rejected);
	same_figures(&p);
	end(&p);
	free(did);
}

static void forgotten_jobs_count(void **state)
{
	(void)state;
	for (int upwards = 0; upwards < 2; upwards++) {
		run(upwards, 1, UINT32_MAX);
		run(upwards, 700, UINT32_MAX);
		run(upwards, 700, 300);		/* most are still here */
	}
}

/* Ranks of equal, rising and falling values, and of few different ones. */
static void ranks_of_any_order(void **state)
{
	static const unsigned steps[] = { 0, 1, 999, 7, 500 };

	(void)state;
	for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
		struct pair p;

		begin(&p);
		assert_int_equal(tell(&p, FIT_EVENT_CLUSTER, "", 1000000), FIT_OK);
		for (unsigned i = 0; i < 1000; i++) {
			char id[16];

			snprintf(id, sizeof id, "%u", i);
			assert_int_equal(tell(&p, FIT_EVENT_SUBMIT, id, 1), FIT_OK);
			assert_int_equal(tell(&p, FIT_EVENT_START, id, 1), FIT_OK);
			p.t_ns += 1 + i * steps[k] % 1000;
			assert_int_equal(tell(&p, FIT_EVENT_FINISH, id, 0), FIT_OK);
		}
		same_figures(&p);
		end(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forgotten_jobs_count),
		cmocka_unit_test(ranks_of_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
