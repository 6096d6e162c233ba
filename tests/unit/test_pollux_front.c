/* SPDX-License-Identifier: MIT */
/* Survival in two objectives against its definition, and the lanes that states are worked on in. */
#include "tests/unit/check.h"

#define FIT_LANES_PORTABLE	/* the other forms are what the searches of test_pollux_search run on */
#include "libfit/replay/pollux_front.h"
#include "libfit/replay/pollux_lanes.h"

enum { MOST = 200, KEEP = 60 };

/* Fronts by peeling: those whom nobody of the rest dominates. */
static void naive_fronts(const struct fit_front_point *p, size_t n, int *front)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++)
		front[i] = -1;
	for (int f = 0; done < n; f++) {
		for (size_t i = 0; i < n; i++) {
			bool free = front[i] < 0;

			for (size_t k = 0; k < n && free; k++)
				free = !((front[k] < 0 || front[k] == f) && fit_front_dominates(&p[k], &p[i]));
			if (free) {
				front[i] = f;
				done++;
			}
		}
	}
}

/* Objectives on so many levels; in every fifth round the first ones are the same but for their last bits. */
static size_t make(struct fit_front_point *p, struct fit_draws *d, size_t from, size_t n, uint32_t levels)
{
	double step = levels % 5 ? 1 : 0x1p-50, start = levels % 5 ? 0 : -1;

	for (size_t i = from; i < n; i++)
		p[i] = (struct fit_front_point){
			.f = { start - step * fit_draws_below(d, levels), -(double)fit_draws_below(d, levels) },
			.slot = (uint32_t)i,
		};
	return n;
}

static void the_right_ones_survive(void **state)
{
	struct fit_draws d;

	(void)state;
	fit_draws_init(&d, 1, "test/front");
	for (int round = 0; round < 300; round++) {
		struct fit_front_point p[MOST], before[MOST];
		size_t sorted = 0, n = make(p, &d, 0, 1 + fit_draws_below(&d, MOST / 2), 3 + (uint32_t)round), kept;
		int front[MOST];

		for (int again = 0; again < 2; again++) {
			bool seen[MOST] = { false };
			int last = 0;
			size_t in_last = 0, of_last = 0;

			memcpy(before, p, n * sizeof *p);
			naive_fronts(before, n, front);
			kept = fit_front_survive(p, sorted, n, KEEP, &d);
			assert_int_equal(kept, n < KEEP ? n : KEEP);
			/* every point is still there once; survivors have their fronts and are sorted */
			for (size_t i = 0; i < n; i++) {
				size_t was = 0;

				while (before[was].slot != p[i].slot)
					was++;
				assert_false(seen[was]);
				seen[was] = true;
				if (i < kept) {
					assert_int_equal(p[i].front, front[was]);
					last = front[was] > last ? front[was] : last;
				}
				if (i && i < kept)
					assert_true(p[i - 1].f[0] < p[i].f[0] ||
						    (p[i - 1].f[0] <= p[i].f[0] && p[i - 1].f[1] <= p[i].f[1]));
			}
			/* whole fronts before the last one, and there nobody less crowded was left behind */
			for (size_t i = 0; i < kept; i++)
				in_last += p[i].front == last;
			for (size_t i = 0; i < n; i++)
				of_last += front[i] == last;
			for (size_t i = 0, earlier = 0; i < n; i++) {
				earlier += front[i] < last;
				if (i == n - 1)
					assert_int_equal(earlier, kept - in_last);
			}
			if (in_last < of_last)
				for (size_t i = 0; i < kept; i++)
					for (size_t k = kept; k < n && p[i].front == last; k++)
						for (size_t was = 0; was < n; was++)
							if (before[was].slot == p[k].slot && front[was] == last)
								assert_true(p[k].crowding <= p[i].crowding);
			/* a second time with the survivors and fresh ones */
			sorted = kept;
			n = make(p, &d, kept, kept + fit_draws_below(&d, MOST - KEEP), 3 + (uint32_t)round);
			for (size_t i = 0; i < n; i++)
				p[i].slot = (uint32_t)i;
		}
	}
}

static void crowding_is_the_distance_of_neighbours(void **state)
{
	/* one front; the third is a copy */
	struct fit_front_point p[5] = {
		{ .f = { -1, -10 }, .slot = 3 }, { .f = { -4, -9 }, .slot = 1 }, { .f = { -4, -9 }, .slot = 2 },
		{ .f = { -9, -2 }, .slot = 0 }, { .f = { -6, -5 }, .slot = 4 },
	};
	struct fit_draws d;

	(void)state;
	fit_draws_init(&d, 1, "test/front");
	assert_int_equal(fit_front_survive(p, 0, 5, 5, &d), 5);
	for (size_t i = 0; i < 5; i++) {
		static const double crowding[] = { HUGE_VAL, 5.0 / 8 + 5.0 / 8, 0, HUGE_VAL, 5.0 / 8 + 7.0 / 8 };

		assert_int_equal(p[i].front, 0);
		check_real(p[i].crowding, crowding[p[i].slot], 1e-15, 0);
	}
}

static void lanes_are_what_they_say(void **state)
{
	struct fit_draws d, same;

	(void)state;
	fit_draws_init(&d, 2, "test/lanes");
	fit_draws_init(&same, 2, "test/lanes");
	for (int round = 0; round < 1000; round++) {
		fit_lanes v = fit_lanes_draw(&d), u = v[0] % 2 ? v << 1 : v >> 1, least, both;
		const uint32_t *words = fit_draws_take(&same, 4);
		uint32_t bits = 0;
		int sum = 0;

		for (uint32_t m = 0; m < FIT_LANES; m++) {
			assert_int_equal(v[m], words[m / 4] >> 8 * (m % 4) & 0xff);
			bits |= (uint32_t)(v[m] < 100) << m;
			sum += v[m];
		}
		assert_int_equal(fit_lanes_bits((fit_lanes)(v < 100)), bits);
		assert_int_equal(fit_lanes_sum(v), sum);
		least = fit_lanes_min(u, v);
		both = fit_lanes_add(u, v);
		for (uint32_t m = 0; m < FIT_LANES; m++) {
			assert_int_equal(least[m], u[m] < v[m] ? u[m] : v[m]);
			assert_int_equal(both[m], u[m] + v[m] < 255 ? u[m] + v[m] : 255);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_right_ones_survive),
		cmocka_unit_test(crowding_is_the_distance_of_neighbours),
		cmocka_unit_test(lanes_are_what_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
