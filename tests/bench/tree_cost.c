/* SPDX-License-Identifier: MIT */
/*
 * tree_cost ROWS FEATURES DEPTH reg|clf [DUMP]: grow a tree of generated rows and predict them; one line of
 * name value pairs, processor time in milliseconds. DUMP gets the rows as doubles, features then target, for
 * another program to grow the same tree.
 *
 * Half of the features are continuous, a quarter have sixteen values, a quarter are skewed; the target hangs
 * on five of them, with noise.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "libfit/base/num.h"
#include "libfit/model/tree.h"

static uint64_t state = UINT64_C(88172645463325252);

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) * 0x1p-53;
}

static double processor_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void dump(const char *file, double **x, const double *y, size_t n, size_t k)
{
	FILE *f = fopen(file, "wb");
	size_t done = 0;

	for (size_t j = 0; f && j < k; j++)
		done += fwrite(x[j], sizeof **x, n, f);
	if (!f || done + fwrite(y, sizeof *y, n, f) != n * (k + 1) || fclose(f) != 0)
		exit(3);
}

int main(int argc, char **argv)
{
	char name[] = "x", *classes[] = { (char[]){ "0" }, (char[]){ "1" } };
	int64_t n, k, depth;
	struct fit_tree_feature *features;
	struct fit_tree_params p;
	struct fit_tree_data d;
	struct fit_tree t;
	struct fit_err err;
	struct rusage use;
	double **x, *y, *row, start, grown, all, single, sum = 0;
	uint32_t *leaf;
	bool classify;

	if (argc < 5 || fit_parse_int64(fit_text_of(argv[1]), &n) || fit_parse_int64(fit_text_of(argv[2]), &k) ||
	    fit_parse_int64(fit_text_of(argv[3]), &depth) || n < 1 || k < 5) {
		fprintf(stderr, "usage: tree_cost ROWS FEATURES DEPTH reg|clf [DUMP]\n");
		return 2;
	}
	classify = strcmp(argv[4], "clf") == 0;
	x = calloc((size_t)k, sizeof *x);
	features = calloc((size_t)k, sizeof *features);
	y = calloc((size_t)n, sizeof *y);
	row = calloc((size_t)k, sizeof *row);
	leaf = calloc((size_t)n, sizeof *leaf);
	for (int64_t j = 0; j < k; j++) {
		x[j] = calloc((size_t)n, sizeof **x);
		features[j].name = name;
	}
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < k; j++) {
			double u = uniform();

			/* exact in single precision, so that both programs see the same numbers */
			x[j][i] = (double)(float)(j % 4 == 1 ? floor(16 * u) : j % 4 == 3 ? 1 / (u + 0.01) : u);
		}
		y[i] = 3 * x[0][i] + (x[1][i] > 9 ? 2 : 0) + sin(6 * x[2][i]) + 0.02 * x[3][i] * x[0][i] +
		       (x[4][i] > 0.7 ? x[2][i] : 0) + 0.5 * (uniform() + uniform() - 1);
		if (classify)
			y[i] = y[i] > 3.2;
	}
	if (argc > 5)
		dump(argv[5], x, y, (size_t)n, (size_t)k);
	p = fit_tree_params_default(classify ? FIT_TREE_GINI : FIT_TREE_SQUARED);
	p.max_depth = depth;
	d = (struct fit_tree_data){ (size_t)n, (size_t)k, classify ? 2 : 0, features, classes,
				    (const double *const *)x, y, NULL };
	start = processor_ms();
	if (fit_tree_train(&t, &d, &p, &err)) {
		fprintf(stderr, "tree_cost: %s\n", err.msg);
		return 1;
	}
	grown = processor_ms() - start;
	getrusage(RUSAGE_SELF, &use);
	start = processor_ms();
	fit_tree_leaves(&t, d.x, 0, (size_t)n, leaf);
	all = processor_ms() - start;
	start = processor_ms();
	for (int64_t i = 0; i < 100000; i++) {
		int64_t from = i * 7919 % n;

		for (int64_t j = 0; j < k; j++)
			row[j] = x[j][from];
		sum += t.nodes[fit_tree_leaf(&t, row)].value;
	}
	single = processor_ms() - start;
	printf("train_ms %.1f leaves %zu predict_Mrows_per_s %.2f one_row_us %.3f peak_MiB %.0f check %.6g\n", grown,
	       fit_tree_n_leaves(&t), (double)n / all / 1e3, single / 100, (double)use.ru_maxrss / 1024, sum);
	fit_tree_release(&t);
	for (int64_t j = 0; j < k; j++)
		free(x[j]);
	free(x);
	free(features);
	free(y);
	free(row);
	free(leaf);
	return 0;
}
