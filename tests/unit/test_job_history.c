/* SPDX-License-Identifier: MIT */
/* Names that look alike, and what was known of earlier jobs. Expected values by hand. */
#include <math.h>

#include "libfit/base/num.h"
#include "libfit/model/job_history.h"
#include "tests/unit/check.h"

static size_t distance(const char *a, const char *b, size_t limit)
{
	size_t d = fit_edit_distance(fit_text_of(a), fit_text_of(b), limit);

	assert_int_equal(fit_edit_distance(fit_text_of(b), fit_text_of(a), limit), d);
	return d;
}

static void edit_distances(void **state)
{
	(void)state;
	assert_int_equal(distance("kitten", "sitting", 9), 3);
	assert_int_equal(distance("", "abc", 9), 3);
	assert_int_equal(distance("flaw", "lawn", 9), 2);
	assert_int_equal(distance("same", "same", 0), 0);
	assert_int_equal(distance("kitten", "sitting", 3), 3);
	assert_int_equal(distance("kitten", "sitting", 2), 3);	/* more than the limit */
	assert_int_equal(distance("abcdefgh", "x", 4), 5);
}

static uint32_t put(struct fit_name_clusters *c, const char *name)
{
	uint32_t g = 77;

	assert_int_equal(fit_name_clusters_put(c, fit_text_of(name), &g), FIT_OK);
	return g;
}

static void names_go_together(void **state)
{
	struct fit_name_clusters c;

	(void)state;
	fit_name_clusters_init(&c, 0.3);
	assert_int_equal(put(&c, "train-resnet-01"), 0);
	assert_int_equal(put(&c, "eval"), 1);
	assert_int_equal(put(&c, "train-resnet-17"), 0);
	assert_int_equal(put(&c, "xrain-resnet-01"), 2);	/* another first letter */
	assert_int_equal(put(&c, "train-bert-large"), 3);
	assert_int_equal(put(&c, "train-bert-later"), 3);	/* 3 letters of 16 */
	assert_int_equal(put(&c, "train-resnet-17"), 0);
	assert_int_equal(put(&c, "evil"), 1);			/* 1 of 4 */
	assert_int_equal(put(&c, "exit"), 4);			/* 2 of 4 */
	assert_int_equal(put(&c, ""), 5);
	assert_int_equal(c.n, 6);
	check_span(fit_name_clusters_text(&c, 3), "train-bert-large");
	fit_name_clusters_release(&c);
	fit_name_clusters_init(&c, 0.3);	/* as near to both: the older */
	assert_int_equal(put(&c, "aaxxbbbbbb"), 0);
	assert_int_equal(put(&c, "aabbbbxxxx"), 1);
	assert_int_equal(put(&c, "aabbbbbbxx"), 1);
	fit_name_clusters_release(&c);
	fit_name_clusters_init(&c, 0);
	assert_int_equal(put(&c, "train-1"), 0);
	assert_int_equal(put(&c, "train-2"), 1);
	assert_int_equal(put(&c, "train-1"), 0);
	fit_name_clusters_release(&c);
}

#define S(x) ((x) * FIT_NS_PER_S)
#define JOB(id, user, group, name, gpus, submit, duration) \
	{ FIT_TEXT_LIT(id), FIT_TEXT_LIT(user), FIT_TEXT_LIT(group), FIT_TEXT_LIT(name), gpus, S(submit), \
	  S(duration), S((submit) + (duration)) }

static void history_is_what_has_ended(void **state)
{
	struct fit_history_job jobs[] = {
		JOB("j10", "ann", "p", "run-1", 1, 200, 5),	/* out of order on purpose */
		JOB("j1", "ann", "p", "run-1", 1, 0, 99),
		JOB("j2", "bob", "p", "run-2", 1, 10, 0),	/* has ended at once, but j3 does not know */
		JOB("j3", "ann", "q", "run-2", 4, 10, 89),	/* ends at 99 as j1 does */
		JOB("j4", "ann", "p", "other", 1, 99, 7000),	/* j1 and j3 have just ended */
		JOB("j11", "ann", "p", "run-9", 1, 200, 5),
		JOB("j12", "ann", "p", "run-9", 1, 3650, 5),
	};
	enum { N = sizeof jobs / sizeof *jobs };
	struct fit_history_row r[N], again[N];
	struct fit_name_clusters names;
	struct fit_err err;
	const struct fit_history_past *p;

	(void)state;
	jobs[1].end_ns = S(99);
	fit_name_clusters_init(&names, 0.3);
	check_ok(fit_history(jobs, N, &names, r, &err), &err);
	fit_name_clusters_release(&names);
	assert_int_equal(r[2].past[FIT_HISTORY_ALL].jobs, 0);
	assert_int_equal(r[3].past[FIT_HISTORY_ALL].jobs, 0);
	assert_true(isnan(r[3].past[FIT_HISTORY_ALL].mean_s));
	p = r[4].past;
	assert_int_equal(p[FIT_HISTORY_ALL].jobs, 3);
	check_real(p[FIT_HISTORY_ALL].mean_s, (99 + 0 + 89) / 3.0, 1e-12, 0);
	check_real(p[FIT_HISTORY_ALL].geometric_s, cbrt(100.0 * 1 * 90) - 1, 1e-12, 0);
	/* in order of ending, then of submission: j2, j1, j3 */
	check_real(p[FIT_HISTORY_ALL].recent_s, exp(0.75 * 0.25 * log(100) + 0.25 * log(90)) - 1, 1e-12, 0);
	assert_int_equal(p[FIT_HISTORY_SIZE].jobs, 2);
	assert_int_equal(p[FIT_HISTORY_GROUP_SIZE].jobs, 2);
	assert_int_equal(p[FIT_HISTORY_USER].jobs, 2);
	check_real(p[FIT_HISTORY_USER].mean_s, 94, 1e-12, 0);
	assert_int_equal(p[FIT_HISTORY_USER_NAME].jobs, 0);
	assert_int_equal(r[4].hour_jobs, 2);
	/* j10 and j11 come at once: neither knows the other; j4 still runs */
	assert_int_equal(r[0].past[FIT_HISTORY_ALL].jobs, 3);
	assert_int_equal(r[5].past[FIT_HISTORY_ALL].jobs, 3);
	assert_int_equal(r[0].past[FIT_HISTORY_USER_NAME].jobs, 2);	/* run-1, run-2 */
	assert_int_equal(r[5].hour_jobs, 3);
	assert_int_equal(r[6].past[FIT_HISTORY_ALL].jobs, 5);
	assert_int_equal(r[6].hour_jobs, 3);	/* j4, j10, j11; j1 and j2 are more than an hour ago */

	/* what is known after 99 s may be anything: j4 and before do not change */
	jobs[0].duration_ns = S(100000);
	jobs[4].duration_ns = -1;
	jobs[5].duration_ns = 0;
	jobs[6].gpus = 9;
	fit_name_clusters_init(&names, 0.3);
	check_ok(fit_history(jobs, N, &names, again, &err), &err);
	fit_name_clusters_release(&names);
	for (size_t i = 1; i <= 4; i++)
		for (int k = 0; k < FIT_HISTORY_SCOPES; k++) {
			assert_int_equal(again[i].past[k].jobs, r[i].past[k].jobs);
			check_real(again[i].past[k].recent_s, r[i].past[k].recent_s, 0, 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edit_distances),
		cmocka_unit_test(names_go_together),
		cmocka_unit_test(history_is_what_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
