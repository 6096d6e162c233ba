/* SPDX-License-Identifier: MIT */
#include "libfit/base/placement.h"

int64_t fit_placement_canonical(int64_t digits)
{
	int64_t best = digits, turned = digits, power = 1;
	int n = 0;

	if (digits < 1 || digits > 9999)
		return -1;
	for (int64_t d = digits; d > 0; d /= 10, n++)
		if (d % 10 == 0)
			return -1;
	for (int i = 1; i < n; i++)
		power *= 10;
	for (int i = 1; i < n; i++) {
		turned = turned % power * 10 + turned / power;
		if (turned < best)
			best = turned;
	}
	return best;
}

void fit_placement_shape(int64_t digits, int64_t *nodes, int64_t *gpus)
{
	*nodes = *gpus = 0;
	for (; digits > 0; digits /= 10) {
		++*nodes;
		*gpus += digits % 10;
	}
}
