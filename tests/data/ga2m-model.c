/* An additive model with pairs (squared loss): 4 terms. x holds
 *   x[0] a,
 *   x[1] kind: 0 blue, 1 green, 2 red,
 *   x[2] b
 * and NaN where a value is missing, -1 for an unknown category. */

void hours_score(const double *x, double *score);
double hours(const double *x);

/* Bin 0 is for missing values; else one more than the cuts that are not above x. */
static int hours_bin(const double *cut, int n, double x)
{
	int from = 0;

	if (x != x)
		return 0;
	while (from < n) {
		int middle = from + (n - from) / 2;

		if (cut[middle] <= x)
			from = middle + 1;
		else
			n = middle;
	}
	return from + 1;
}

/* Bin 0 is for missing values, the one behind all categories for unknown ones. */
static int hours_category(int n, double x)
{
	return x != x ? 0 : x >= 0 && x < n ? 1 + (int)x : n + 1;
}

/* On the identity scale; score has room for 1. */
void hours_score(const double *x, double *score)
{
	static const double cut0[] = { 0x1.7p+0, 0x1.78p+1, 0x1.1cp+2, 0x1.7cp+2,
		0x1.dcp+2 };
	static const double cut0_1[] = { 0x1.78p+1, 0x1.7cp+2 };
	static const double cut2[] = { 0x1.8p+0, 0x1.4p+1, 0x1.cp+1, 0x1.6p+2,
		0x1.ap+2 };
	static const double cut2_1[] = { 0x1.4p+1, 0x1.6p+2 };
	/* a */
	static const double term0[] = { -0x1.e3ccd06a5ccb8p-3, -0x1.812d9dc9cae86p+0, -0x1.67297e65467c8p+0, -0x1.20f5d0886a458p-1,
		0x1.11902d15e3d91p+0, 0x1.2deec023e0a72p+0, 0x1.5a4f99cc65725p+0, 0x0p+0 };
	/* kind */
	static const double term1[] = { 0x0p+0, -0x1.0cad7327e13c8p-1, 0x1.ffcd8a3d60e5ep-1, -0x1.e6402e2aff529p-2,
		0x0p+0 };
	/* b */
	static const double term2[] = { 0x0p+0, -0x1.b55a917ece4ep-2, -0x1.308db4761ed94p-2, -0x1.10c250e468268p-2,
		-0x1.1ef07928cae6p-6, 0x1.c9be5c36076e2p-2, 0x1.018936d1cd62ap-1, 0x0p+0 };
	/* a x b */
	static const double term3[] = { 0x0p+0, 0x1.e2a6a2286ea96p-4, 0x1.63b16faf0de08p-7, -0x1.c2a6d68f88bb3p-4,
		0x0p+0, 0x0p+0, 0x1.5e41be21df683p-4, -0x1.1d72ebb3c0986p-8,
		-0x1.24b377fe470b7p-3, 0x0p+0, 0x0p+0, -0x1.0a78355302112p-5,
		-0x1.fc9468a49c8dap-5, 0x1.376945d81936bp-4, 0x0p+0, 0x0p+0,
		-0x1.620512cd70195p-4, 0x1.d28df633e6aacp-10, 0x1.664938837c473p-4, 0x0p+0,
		0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0,
		0x0p+0 };
	static const double intercept[] = { 0x1.05b05b05b05b1p+1 };
	const int bin0 = hours_bin(cut0, 5, x[0]);
	const int bin0_1 = hours_bin(cut0_1, 2, x[0]);
	const int bin1 = hours_category(3, x[1]);
	const int bin2 = hours_bin(cut2, 5, x[2]);
	const int bin2_1 = hours_bin(cut2_1, 2, x[2]);

	for (int k = 0; k < 1; k++) {
		score[k] = intercept[k];
		score[k] += term0[bin0 * 1 + k];
		score[k] += term1[bin1 * 1 + k];
		score[k] += term2[bin2 * 1 + k];
		score[k] += term3[(bin0_1 * 5 + bin2_1) * 1 + k];
	}
}

double hours(const double *x)
{
	double score[1];

	hours_score(x, score);
	return score[0];
}
