/* SPDX-License-Identifier: MIT */
/*
 * ga2m_oracle FILE: numbers of another implementation (a JSON object of cases) against ours:
 * purification,
 * strengths of interactions, cuts and bins, isotonic regression. A line a case: its name, the largest
 * difference, ok or bad. Status 1 where one is bad or nothing was compared.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/ga2m_bins.h"
#include "libfit/model/ga2m_purify.h"
#include "libfit/model/ga2m_shape.h"

#define MAX 1024

static double number(const json_t *v)
{
	double d = (double)NAN;

	if (json_is_string(v))
		return fit_parse_double_any(fit_text_of(json_string_value(v)), &d) ? (double)NAN : d;
	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* Numbers of an array, of arrays one after another. */
static size_t numbers(const json_t *a, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *v = json_array_get(a, i);

		if (json_is_array(v))
			n += numbers(v, out + n);
		else if (n < MAX)
			out[n++] = number(v);
	}
	return n;
}

static double apart(const double *a, const double *b, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, isnan(a[i] - b[i]) ? (double)INFINITY : fabs(a[i] - b[i]));
	return most;
}

static double purify(const json_t *c)
{
	static double s[MAX], w[MAX], pure[MAX], rows[MAX], columns[MAX], r[MAX], k[MAX];
	const json_t *effects = json_object_get(c, "impurities");
	size_t n = json_array_size(json_object_get(c, "scores")), m = numbers(json_object_get(c,
			"scores"), s) / n;
	double mean, want, most;

	numbers(json_object_get(c, "weights"), w);
	numbers(json_object_get(c, "pure"), pure);
	numbers(json_array_get(json_array_get(effects, 0), 1), rows);
	numbers(json_array_get(json_array_get(effects, 1), 1), columns);
	numbers(json_object_get(c, "intercept"), &want);
	if (fit_ga2m_purify(s, w, n, m, r, k, &mean))
		return (double)INFINITY;
	/* a row without weight: its effect is nobody's, and what is left of it with it */
	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		for (size_t j = 0; j < m; j++)
			sum += w[i * m + j];
		for (size_t j = 0; j < m && !(sum > 0); j++)
			s[i * m + j] = pure[i * m + j];
		rows[i] = sum > 0 ? rows[i] : r[i];
	}
	most = fmax(apart(s, pure, n * m), fabs(mean - want));
	return fmax(most, fmax(apart(r, rows, n), apart(k, columns, m)));
}

/* Strengths there count squared loss without its half: twice ours. */
static double strength(const json_t *c)
{
	double y[4], w[4], sum[4], rows[4] = { 1, 1, 1, 1 }, ours = 0;

	if (numbers(json_object_get(c, "y"), y) != 4 || numbers(json_object_get(c, "w"), w) != 4)
		return (double)INFINITY;
	for (int i = 0; i < 4; i++)
		sum[i] = y[i] * w[i];
	if (fit_ga2m_strength(sum, w, rows, 2, 2, 0, false, &ours))
		return (double)INFINITY;
	return fabs(2 * ours - number(json_array_get(json_object_get(c, "strength"), 1)));
}

/* Four columns in at most 61 cuts each; every pair's strength, in the order that is listed. */
static double strengths(const json_t *c)
{
	const json_t *rows = json_object_get(c, "X"), *ranked = json_object_get(c, "ranked");
	size_t n = json_array_size(rows);
	static double x[4][MAX], y[MAX], sorted[MAX], g[65 * 65], w[65 * 65];
	struct fit_ga2m_feature f[4] = { { 0 } };
	double most = 0, mean = 0, last = (double)INFINITY;

	if (n > MAX || numbers(json_object_get(c, "y"), y) != n)
		return (double)INFINITY;
	for (size_t k = 0; k < 4; k++) {
		for (size_t i = 0; i < n; i++)
			sorted[i] = x[k][i] = number(json_array_get(json_array_get(rows, i), k));
		if (fit_ga2m_cuts(sorted, n, 62, &f[k].cuts[0], &f[k].n_cuts[0], &f[k].n_unique, &f[k].min,
				  &f[k].max))
			return (double)INFINITY;
	}
	for (size_t i = 0; i < n; i++)
		mean += y[i] / (double)n;
	for (size_t p = 0; p < json_array_size(ranked); p++) {
		const json_t *entry = json_array_get(ranked, p);
		double pair[2], ours = 0, theirs = number(json_array_get(entry, 1));

		numbers(json_array_get(entry, 0), pair);
		memset(g, 0, sizeof g);
		memset(w, 0, sizeof w);
		for (size_t i = 0; i < n; i++) {
			size_t a = fit_ga2m_bin(&f[(int)pair[0]], 0, x[(int)pair[0]][i]);
			size_t b = fit_ga2m_bin(&f[(int)pair[1]], 0, x[(int)pair[1]][i]);

			g[a * 65 + b] += y[i] - mean;
			w[a * 65 + b] += 1;
		}
		if (fit_ga2m_strength(g, w, w, 65, 65, 4, false, &ours))
			return (double)INFINITY;
		printf("# pair %g %g: ours %.6f, theirs %.6f\n", pair[0], pair[1], 2 * ours, theirs);
		/* cuts fall between other neighbours here and there: strengths are near, not equal */
		most = ours <= last ? fmax(most, fabs(2 * ours - theirs)) : (double)INFINITY;
		last = ours;
	}
	for (size_t k = 0; k < 4; k++)
		free(f[k].cuts[0]);
	return most;
}

static double cuts(const json_t *c)
{
	static double x[MAX], copy[MAX], want[MAX], bins[MAX];
	struct fit_ga2m_feature f = { 0 };
	size_t n = numbers(json_object_get(c, "values"), x), m = numbers(json_object_get(c, "cuts"), want);
	size_t max = (size_t)json_integer_value(json_object_get(c, "max_cuts"));
	double most = 0;

	memcpy(copy, x, sizeof copy);
	numbers(json_object_get(c, "bins"), bins);
	if (fit_ga2m_cuts(copy, n, max + 1, &f.cuts[0], &f.n_cuts[0], &f.n_unique, &f.min, &f.max))
		return (double)INFINITY;
	most = f.n_cuts[0] == m ? apart(f.cuts[0], want, m) : (double)INFINITY;
	for (size_t i = 0; i < n && f.n_cuts[0] == m; i++)
		most = fmax(most, fabs((double)fit_ga2m_bin(&f, 0, x[i]) - bins[i]));
	free(f.cuts[0]);
	return most;
}

static double isotonic(const json_t *c, bool increasing)
{
	static double y[MAX], w[MAX], want[MAX];
	size_t n = numbers(json_object_get(c, "y"), y);

	numbers(json_object_get(c, "w"), w);
	numbers(json_object_get(c, "fit"), want);
	return fit_ga2m_isotonic(y, w, n, increasing, y) ? (double)INFINITY : apart(y, want, n);
}

int main(int argc, char **argv)
{
	json_error_t why;
	json_t *all = argc == 2 ? json_load_file(argv[1], JSON_REJECT_DUPLICATES, &why) : NULL, *c;
	const char *name;
	int met = 0, bad = 0;

	if (!all) {
		fprintf(stderr, "usage: ga2m_oracle FILE (a JSON object of cases)\n");
		return 2;
	}
	json_object_foreach(all, name, c) {
		double room = 1e-9, d;

		if (strncmp(name, "purify", 6) == 0) {
			d = purify(c);
		} else if (strncmp(name, "cuts", 4) == 0) {
			d = cuts(c);
		} else if (strncmp(name, "isotonic", 8) == 0) {
			d = isotonic(c, strstr(name, "True") != NULL);
		} else if (json_object_get(c, "ranked")) {
			d = strengths(c);
			room = 0.005;
		} else {
			d = strength(c);
		}
		printf("%s %.3g %s\n", name, d, d <= room ? "ok" : "bad");
		met++;
		bad += !(d <= room);
	}
	json_decref(all);
	return met == 0 || bad > 0;
}
