/* SPDX-License-Identifier: MIT */
/* ga2m_rows ROWS SEED: the rows of ga2m_synth.h, comma-separated, with a header. */
#include <stdio.h>

#include "libfit/base/num.h"
#include "tests/bench/ga2m_synth.h"

int main(int argc, char **argv)
{
	int64_t rows = 0, seed = 0;
	uint64_t state;

	if (argc != 3 || fit_parse_int64(fit_text_of(argv[1]), &rows) ||
	    fit_parse_int64(fit_text_of(argv[2]), &seed)) {
		fprintf(stderr, "usage: ga2m_rows ROWS SEED\n");
		return 2;
	}
	state = (uint64_t)seed;
	for (int k = 0; k < SYNTH_COLUMNS; k++)
		printf("x%d,", k);
	printf("y\n");
	for (int64_t i = 0; i < rows; i++) {
		double x[SYNTH_COLUMNS], y = synth_row(&state, x);

		for (int k = 0; k < SYNTH_COLUMNS; k++)
			printf("%.17g,", x[k]);
		printf("%.17g\n", y);
	}
	return ferror(stdout) || fflush(stdout) ? 3 : 0;
}
