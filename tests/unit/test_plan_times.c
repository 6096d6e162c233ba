/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <gsl/gsl_rng.h>

#include "libfit/base/rng.h"
#include "libfit/model/plan_times.h"

/* Nodes 1 to 9 of equally many GPUs, 1 to 9, and one more or less on the last: so many pairs of both. */
enum { NODES = 9, MOST = NODES * 9 };

struct mean {
	int nodes, gpus;
	double s;
};

static int64_t cross(const struct mean *a, const struct mean *b, const struct mean *c)
{
	return (int64_t)(b->nodes - a->nodes) * (c->gpus - a->gpus) -
	       (int64_t)(c->nodes - a->nodes) * (b->gpus - a->gpus);
}

/* Squared distance times den from the centre (x, y) / den of the circle through three points. */
static int64_t from_centre(const struct mean *p, int64_t x, int64_t y, int64_t den)
{
	int64_t u = p->nodes * den - x, v = p->gpus * den - y;

	return u * u + v * v;
}

/* Is the circle through a triangle free of other points? By its centre: the definition, not a determinant. */
static bool free_circle(const struct mean *m, size_t n, const struct mean *a, const struct mean *b,
			const struct mean *c)
{
	int64_t den = 2 * cross(a, b, c), s[3], x, y;

	s[0] = a->nodes * a->nodes + a->gpus * a->gpus;
	s[1] = b->nodes * b->nodes + b->gpus * b->gpus;
	s[2] = c->nodes * c->nodes + c->gpus * c->gpus;
	x = s[0] * (b->gpus - c->gpus) + s[1] * (c->gpus - a->gpus) + s[2] * (a->gpus - b->gpus);
	y = s[0] * (c->nodes - b->nodes) + s[1] * (a->nodes - c->nodes) + s[2] * (b->nodes - a->nodes);
	for (size_t i = 0; i < n; i++)
		if (from_centre(&m[i], x, y, den) < from_centre(a, x, y, den))
			return false;
	return true;
}

/* All triangles, one after another. */
static double want(const struct mean *m, size_t n, int nodes, int gpus)
{
	const struct mean q = { nodes, gpus, 0 };

	for (size_t i = 0; i < n; i++)
		if (m[i].nodes == nodes && m[i].gpus == gpus)
			return m[i].s;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			for (size_t k = j + 1; k < n; k++) {
				int64_t all = cross(&m[i], &m[j], &m[k]);
				double sign = all < 0 ? -1 : 1, w[3];

				w[0] = sign * (double)cross(&q, &m[j], &m[k]);
				w[1] = sign * (double)cross(&m[i], &q, &m[k]);
				w[2] = sign * (double)cross(&m[i], &m[j], &q);
				if (all && w[0] >= 0 && w[1] >= 0 && w[2] >= 0 && free_circle(m, n, &m[i], &m[j], &m[k]))
					return (w[0] * m[i].s + w[1] * m[j].s + w[2] * m[k].s) / fabs((double)all);
			}
	return (double)NAN;
}

static void spread(int32_t *per_node, int nodes, int gpus)
{
	for (int i = 0; i < nodes; i++)
		per_node[i] = gpus / nodes + (i < gpus % nodes);
}

/* Write a table of those means, read it, and ask for all places. */
static size_t compare_all(const struct mean *m, size_t n)
{
	char path[] = "/tmp/gf-plan-times.XXXXXX";
	struct fit_plan_times t;
	size_t inner = 0;
	struct fit_err err;
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	assert_non_null(f);
	(void)fprintf(f, "app\texec_plan\tplacement\titer_time_s\n");
	for (size_t i = 0; i < n; i++) {
		int32_t per_node[NODES];

		spread(per_node, m[i].nodes, m[i].gpus);
		(void)fprintf(f, "x\tdp\t");
		for (int k = 0; k < m[i].nodes; k++)
			(void)fprintf(f, "%d", (int)per_node[k]);
		(void)fprintf(f, "\t%.17g\n", m[i].s);
	}
	assert_int_equal(fclose(f), 0);
	assert_int_equal(fit_plan_times_read(&t, path, &err), FIT_OK);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(t.apps[0].n_pairs, n);
	for (int nodes = 1; nodes <= NODES; nodes++)
		for (int gpus = nodes; gpus <= 9 * nodes; gpus++) {
			int32_t per_node[NODES];
			double have, expect = want(m, n, nodes, gpus);

			spread(per_node, nodes, gpus);
			have = fit_plan_app_iter(&t.apps[0], FIT_NO_EXEC_PLAN, per_node, (size_t)nodes, true);
			assert_int_equal(isnan(have), isnan(expect));
			if (!isnan(have)) {
				assert_true(fabs(have - expect) <= 1e-13 * expect);
				inner++;
			}
		}
	fit_plan_times_release(&t);
	return inner;
}

static void agrees_with_the_definition(void **state)
{
	gsl_rng *r = fit_rng_new(7, "test/plan-times");
	size_t inner = 0;

	(void)state;
	assert_non_null(r);
	for (int k = 0; k < 40; k++) {
		static struct mean m[NODES * MOST];
		unsigned long share = 2 + gsl_rng_uniform_int(r, 12), step = 1 + gsl_rng_uniform_int(r, 3);
		size_t n = 0;

		/* regular steps in some, so that many points are on one circle */
		for (int nodes = 1; nodes <= NODES; nodes++)
			for (int gpus = nodes; gpus <= 9 * nodes; gpus += (int)step)
				if (k % 8 == 0 ? nodes % 4 == 1 && gpus % 8 == 1 : gsl_rng_uniform_int(r, 40) < share)
					m[n++] = (struct mean){ nodes, gpus, 0.25 + gsl_rng_uniform(r) };
		if (n && n < 70)
			inner += compare_all(m, n);
	}
	assert_true(inner > 4000);
	gsl_rng_free(r);
}

static void on_a_line(void **state)
{
	const struct mean m[] = { { 1, 2, 0.5 }, { 2, 4, 0.75 }, { 3, 6, 1 }, { 4, 8, 2 } };

	(void)state;
	/* what was measured, and nothing between */
	assert_int_equal(compare_all(m, 4), 4);
	assert_int_equal(compare_all(m, 2), 2);
	assert_int_equal(compare_all(m, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(agrees_with_the_definition),
					    cmocka_unit_test(on_a_line) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
