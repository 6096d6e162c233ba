/* SPDX-License-Identifier: MIT */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/model/interpolate.h"

/* ---- one variable ---- */

static void test_intervals(void **state)
{
	static const int64_t x[] = { 4, 6, 9, 15 };
	static const struct { int64_t b; size_t lo, hi; } cases[] = {
		{ 4, 0, 1 }, { 5, 0, 1 }, { 6, 0, 1 }, { 7, 1, 2 }, { 9, 1, 2 }, { 10, 2, 3 }, { 15, 2, 3 },
	};
	struct fit_interval iv;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(fit_interval_find(x, 4, cases[i].b, &iv));
		assert_int_equal(iv.lo, cases[i].lo);
		assert_int_equal(iv.hi, cases[i].hi);
	}
	assert_false(fit_interval_find(x, 4, 3, &iv));
	assert_false(fit_interval_find(x, 4, 16, &iv));
	assert_false(fit_interval_find(x, 0, 4, &iv));
}

static void test_values(void **state)
{
	static const int64_t x[] = { 4, 6, 9 };
	static const double y[] = { 0.3, 0.7, 0.1 };
	struct fit_interval iv;

	(void)state;
	assert_true(fit_interval_find(x, 3, 5, &iv));
	check_real(fit_interval_value(x, y, iv, 5), 0.5, 1e-15, 0);
	assert_true(fit_interval_find(x, 3, 8, &iv));
	check_real(fit_interval_value(x, y, iv, 8), 0.3, 1e-15, 0);
	/* on a grid point: the interval to its left, in the stated order of evaluation */
	assert_true(fit_interval_find(x, 3, 6, &iv));
	check_same_bits(fit_interval_value(x, y, iv, 6), (0.7 - 0.3) / 2 * 2 + 0.3);
}

static void test_single_point(void **state)
{
	static const int64_t x[] = { 7 };
	static const double y[] = { 0.25 };
	struct fit_interval iv;

	(void)state;
	assert_true(fit_interval_find(x, 1, 7, &iv));
	check_same_bits(fit_interval_value(x, y, iv, 7), 0.25);
	assert_false(fit_interval_find(x, 1, 8, &iv));
}

/* ---- three variables ---- */

#define SIDE 4
#define N (SIDE * SIDE * SIDE)

/* A lattice with uneven spacing: nearly every cell is co-spherical, as in real profiles. */
struct lattice {
	int64_t x[3][N];
	const int64_t *columns[3];
};

static void make_lattice(struct lattice *l)
{
	static const int64_t at[3][SIDE] = { { 1, 2, 3, 6 }, { 4, 8, 12, 24 }, { 5, 7, 20, 32 } };
	size_t n = 0;

	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++)
			for (int k = 0; k < SIDE; k++, n++) {
				l->x[0][n] = at[0][i];
				l->x[1][n] = at[1][j];
				l->x[2][n] = at[2][k];
			}
	for (int c = 0; c < 3; c++)
		l->columns[c] = l->x[c];
}

static void build(struct fit_delaunay *d, struct lattice *l)
{
	struct fit_err err;

	make_lattice(l);
	check_ok(fit_delaunay_build(d, l->columns, N, &err), &err);
	check_ok(fit_delaunay_ready(d, &err), &err);
}

static double volume(const struct fit_delaunay *d, size_t s)
{
	double m[3][3];

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			m[i][j] = (double)(d->x[i][d->v[j][s]] - d->x[i][d->v[3][s]]);
	return fabs(m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
		    m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
		    m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) / 6;
}

/* The simplices fill the box once, and flat ones are those that are marked. */
static void test_mesh_fills_the_box(void **state)
{
	struct fit_delaunay d;
	struct lattice l;
	double sum = 0;

	(void)state;
	build(&d, &l);
	for (size_t s = 0; s < d.n_simplices; s++) {
		double v = volume(&d, s);

		assert_int_equal(d.degenerate[s], v < 1e-9);
		sum += v;
	}
	check_real(sum, 5.0 * 20 * 27, 1e-12, 0);
	fit_delaunay_release(&d);
}

/* Neighbour k shares every vertex but k, and knows it. */
static void test_neighbours(void **state)
{
	struct fit_delaunay d;
	struct lattice l;

	(void)state;
	build(&d, &l);
	for (size_t s = 0; s < d.n_simplices; s++)
		for (int k = 0; k < 4; k++) {
			int64_t nb = d.nb[k][s];
			int shared = 0, back = 0;

			if (nb < 0)
				continue;
			for (int i = 0; i < 4; i++) {
				back += d.nb[i][nb] == (int64_t)s;
				for (int j = 0; j < 4; j++)
					shared += j != k && d.v[i][nb] == d.v[j][s];
			}
			assert_int_equal(shared, 3);
			assert_true(back >= 1);
		}
	fit_delaunay_release(&d);
}

/* A function that is linear in all three variables comes out whatever the simplex. */
static void test_linear_function(void **state)
{
	struct fit_delaunay d;
	struct lattice l;
	double y[N];
	size_t found = 0;

	(void)state;
	build(&d, &l);
	for (size_t i = 0; i < N; i++)
		y[i] = 0.7 + 1.3 * (double)l.x[0][i] - 0.21 * (double)l.x[1][i] + 0.09 * (double)l.x[2][i];
	for (int i = 1; i <= 6; i++)
		for (int j = 4; j <= 24; j++)
			for (int k = 5; k <= 32; k++) {
				double q[3] = { i, j, k }, c[4];
				ptrdiff_t s = fit_delaunay_find(&d, q, c);

				assert_true(s >= 0);
				assert_false(d.degenerate[s]);
				for (int m = 0; m < 4; m++)
					assert_true(c[m] > -1e-7 && c[m] < 1 + 1e-7);
				check_real(fit_delaunay_value(&d, s, c, y),
					   0.7 + 1.3 * i - 0.21 * j + 0.09 * k, 1e-12, 1e-12);
				found++;
			}
	assert_int_equal(found, 6 * 21 * 28);
	fit_delaunay_release(&d);
}

/* From wherever the search starts, it finds a simplex that holds the query; on faces of the mesh
 * which one depends on the start. */
static void test_starts(void **state)
{
	struct fit_delaunay d;
	struct lattice l;
	double y[N];
	size_t other = 0;

	(void)state;
	build(&d, &l);
	for (size_t i = 0; i < N; i++)
		y[i] = 0.7 + 1.3 * (double)l.x[0][i] - 0.21 * (double)l.x[1][i] + 0.09 * (double)l.x[2][i];
	for (int i = 1; i <= 6; i++)
		for (int k = 5; k <= 32; k++) {
			double q[3] = { i, 4 + (i * k) % 21, k }, c[4];
			ptrdiff_t first = fit_delaunay_find(&d, q, c);

			for (ptrdiff_t from = -1; from <= (ptrdiff_t)d.n_simplices; from++) {
				ptrdiff_t start = from;
				ptrdiff_t s = fit_delaunay_find_from(&d, &start, q, c);

				assert_true(s >= 0);
				assert_int_equal(start, s);
				for (int m = 0; m < 4; m++)
					assert_true(c[m] > -1e-7 && c[m] < 1 + 1e-7);
				check_real(fit_delaunay_value(&d, s, c, y), 0.7 + 1.3 * q[0] -
					   0.21 * q[1] + 0.09 * q[2], 1e-12, 1e-12);
				if (from < 1 || from == (ptrdiff_t)d.n_simplices)
					assert_int_equal(s, first);
				other += s != first;
			}
		}
	assert_true(other > 0);
	fit_delaunay_release(&d);
}

static void test_outside(void **state)
{
	static const double outside[][3] = {
		{ 0.9, 8, 7 }, { 6.1, 8, 7 }, { 2, 3.5, 7 }, { 2, 25, 7 }, { 2, 8, 4 }, { 2, 8, 33 },
	};
	double c[4], nothing[3] = { 2, 8, (double)NAN };
	struct fit_delaunay d;
	struct lattice l;

	(void)state;
	build(&d, &l);
	for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
		assert_int_equal(fit_delaunay_find(&d, outside[i], c), -1);
	assert_int_equal(fit_delaunay_find(&d, nothing, c), -1);
	fit_delaunay_release(&d);
}

/* Outside of the hull, but inside the bounding box. */
static void test_outside_hull(void **state)
{
	static const int64_t x[3][5] = { { 0, 10, 0, 0, 1 }, { 0, 0, 10, 0, 1 }, { 0, 0, 0, 10, 1 } };
	const int64_t *columns[3] = { x[0], x[1], x[2] };
	double in[3] = { 2, 2, 2 }, out[3] = { 9, 9, 9 }, c[4];
	struct fit_delaunay d;
	struct fit_err err;

	(void)state;
	check_ok(fit_delaunay_build(&d, columns, 5, &err), &err);
	check_ok(fit_delaunay_ready(&d, &err), &err);
	assert_int_equal(d.n_simplices, 4);
	assert_true(fit_delaunay_find(&d, in, c) >= 0);
	assert_int_equal(fit_delaunay_find(&d, out, c), -1);
	fit_delaunay_release(&d);
}

static void test_same_twice(void **state)
{
	struct fit_delaunay a, b;
	struct lattice l;

	(void)state;
	build(&a, &l);
	build(&b, &l);
	assert_int_equal(a.n_simplices, b.n_simplices);
	for (int k = 0; k < 4; k++) {
		assert_memory_equal(a.v[k], b.v[k], a.n_simplices * sizeof *a.v[k]);
		assert_memory_equal(a.nb[k], b.nb[k], a.n_simplices * sizeof *a.nb[k]);
		assert_memory_equal(a.eq[k], b.eq[k], a.n_simplices * sizeof *a.eq[k]);
	}
	check_same_bits(a.scale, b.scale);
	check_same_bits(a.shift, b.shift);
	fit_delaunay_release(&a);
	fit_delaunay_release(&b);
}

static void test_too_little(void **state)
{
	struct fit_delaunay d;
	struct lattice l;
	struct fit_err err;

	(void)state;
	make_lattice(&l);
	check_err(fit_delaunay_build(&d, l.columns, 4, &err), &err, FIT_EDATA,
		  "cannot triangulate 4 points (expected five or more)");
	/* the first sixteen points have one x */
	assert_int_equal(fit_delaunay_build(&d, l.columns, 16, &err), FIT_EDATA);
	assert_non_null(strstr(err.msg, "cannot triangulate 16 points: "));
	assert_null(strchr(err.msg, '\n'));
	assert_null(d.owned);
}

static void test_bad_indices(void **state)
{
	struct fit_delaunay d, bad;
	struct lattice l;
	struct fit_err err;
	int64_t *copy;

	(void)state;
	build(&d, &l);
	copy = malloc(d.n_simplices * sizeof *copy);
	assert_non_null(copy);
	memcpy(copy, d.v[2], d.n_simplices * sizeof *copy);
	copy[d.n_simplices - 1] = N;
	bad = d;
	bad.v[2] = copy;
	assert_int_equal(fit_delaunay_bind(&bad, &err), FIT_EDATA);
	memcpy(copy, d.nb[0], d.n_simplices * sizeof *copy);
	copy[3] = -2;
	bad = d;
	bad.nb[0] = copy;
	assert_int_equal(fit_delaunay_bind(&bad, &err), FIT_EDATA);
	check_ok(fit_delaunay_bind(&d, &err), &err);
	free(copy);
	fit_delaunay_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_single_point),
		cmocka_unit_test(test_mesh_fills_the_box),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_linear_function),
		cmocka_unit_test(test_starts),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_outside_hull),
		cmocka_unit_test(test_same_twice),
		cmocka_unit_test(test_too_little),
		cmocka_unit_test(test_bad_indices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
