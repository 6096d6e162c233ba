/* SPDX-License-Identifier: MIT */
/*
 * goodput_cost [ROUNDS]: processor time of one fit_goodput_best(), by number of GPUs, of a job with
 * limits like those of an ImageNet profile. One line each: GPUs, microseconds, mean of ROUNDS (20000).
 * The sum of all goodputs is checked, so that no call can be left out.
 */
#include <stdio.h>
#include <time.h>

#include "libfit/base/num.h"
#include "libfit/model/goodput.h"

static double processor_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	static const int64_t gpus[] = { 1, 2, 4, 8, 16, 64, 512 };
	struct fit_goodput g = { .theta = { { 0.043, 0.0029, 0.061, 0.0011, 0.021, 0.0043, 2.9 } },
				 .grad_sqr = 0.21,
				 .init_batch = 200,
				 .max_batch = 12800,
				 .min_local_bsz = 20,
				 .max_local_bsz = 200,
				 .max_accum = -1 };
	int64_t rounds = 20000;

	if (argc > 1 && (fit_parse_int64(fit_text_of(argv[1]), &rounds) || rounds < 1))
		return 2;
	for (size_t k = 0; k < sizeof gpus / sizeof *gpus; k++) {
		double start = processor_us(), sum = 0, us;

		for (int64_t i = 0; i < rounds; i++) {
			g.grad_var = 3 + (double)(i % 97);
			sum += fit_goodput_best(&g, (gpus[k] + 3) / 4, gpus[k]).goodput;
		}
		us = (processor_us() - start) / (double)rounds;
		if (!(sum > 0))
			return 1;
		printf("%lld\t%.3f\n", (long long)gpus[k], us);
	}
	return 0;
}
