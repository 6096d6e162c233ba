/* SPDX-License-Identifier: MIT */
/*
 * Made-up regression data that golden test and benchmark of gf-ga2m share: ten uniform columns, five
 * shapes, three interactions, noise of variance 1. Seeded; the same numbers as the published files.
 */
#ifndef TESTS_BENCH_GA2M_SYNTH_H
#define TESTS_BENCH_GA2M_SYNTH_H

#include <math.h>
#include <stdint.h>

#define SYNTH_COLUMNS 10

static inline double synth_uniform(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	z ^= z >> 31;
	return (double)(z >> 11) * 0x1p-53;
}

/* The next row; returns y. *state starts as the seed. */
static inline double synth_row(uint64_t *state, double x[SYNTH_COLUMNS])
{
	const double pi = 3.14159265358979323846;
	double e = -6;

	for (int k = 0; k < SYNTH_COLUMNS; k++)
		x[k] = synth_uniform(state);
	for (int k = 0; k < 12; k++)
		e += synth_uniform(state);
	return 3 * sin(2 * pi * x[0]) + 8 * (x[1] - .5) * (x[1] - .5) + 4 * fabs(x[2] - .5) +
	       1.5 * (x[3] > .6) + 2 * x[4] + log(1 + 9 * x[5]) + 2 * sin(pi * x[6]) * x[7] +
	       3 * (x[8] - .5) * (x[9] - .5) + 1.5 * ((x[0] > .5) != (x[4] > .5)) + e;
}

#endif
