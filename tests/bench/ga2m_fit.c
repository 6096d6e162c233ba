/* SPDX-License-Identifier: MIT */
/*
 * ga2m_fit TRAIN TEST [KEY=VALUE…]: train a GA2M and print one line: processor seconds of training alone,
 * peak memory (MiB), root mean squared error (or log loss) on TEST, steps, and processor nanoseconds of a
 * prediction. TRAIN and TEST are comma-separated with the target in the last column, or synth:ROWS:SEED
 * for made-up data: ten uniform columns, five shapes, three interactions, noise of variance 1.
 *
 * Keys: loss, bags, pairs, bins, pair_bins, rate, pair_rate, smooth, pair_smooth, greedy, patience,
 * memory, seed, threads, share, validation (random, blocks, last), engine (bins, samples), nominal (a
 * column), target, purify (0, 1), rows (only the first), test_from (rows of TEST from here on), classes
 * (how many), columns (of synth: more than ten are noise), leaf, leaf_share, bin_rows, tolerance,
 * stop_share (behind loss), rounds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "libfit/base/num.h"
#include "libfit/model/ga2m_train.h"
#include "tests/bench/ga2m_synth.h"
#include "traces/input.h"

#define MAX_COLUMNS 64

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Columns beyond the ten are noise. Classes: is y above 6? Three: above 4.5, 7.5? With a log link y becomes exp(y / 3). */
static int synth(struct fit_ga2m_data *d, const char *what, size_t columns, enum fit_ga2m_loss loss)
{
	static char text[MAX_COLUMNS][8];
	const char *names[MAX_COLUMNS];
	const char *colon = strchr(what, ':');
	int64_t rows = 0, seed = 0;
	uint64_t state, other = 77;
	int rc = 1;

	for (size_t k = 0; k < columns; k++) {
		snprintf(text[k], sizeof text[k], "x%zu", k);
		names[k] = text[k];
	}
	if (colon && !fit_parse_int64((struct fit_text){ what, (size_t)(colon - what) }, &rows) &&
	    !fit_parse_int64(fit_text_of(colon + 1), &seed))
		rc = fit_ga2m_data_init(d, names, NULL, columns);
	state = (uint64_t)seed;
	for (int64_t i = 0; i < rows && !rc; i++) {
		double x[MAX_COLUMNS], y = synth_row(&state, x);

		for (size_t k = SYNTH_COLUMNS; k < columns; k++)
			x[k] = synth_uniform(&other);
		if (loss == FIT_GA2M_SOFTMAX)
			y = (y > 4.5) + (y > 7.5);
		else if (loss == FIT_GA2M_LOGISTIC)
			y = y > 6;
		else if (loss == FIT_GA2M_POISSON || loss == FIT_GA2M_GAMMA)
			y = exp(y / 3);
		rc = fit_ga2m_data_add(d, x, NULL, y);
	}
	return rc;
}

static int read_rows(struct fit_ga2m_data *d, const char *file, const char *nominal, int64_t from,
		int64_t to,
		     struct fit_err *err)
{
	const char *names[MAX_COLUMNS];
	bool is_nominal[MAX_COLUMNS] = { false };
	struct fit_input *in = NULL;
	size_t k = 0;
	int64_t row = 0;
	int rc = fit_input_open(&in, file, true, err);

	if (!rc) {
		while (k < MAX_COLUMNS && fit_input_column(in, (int)k + 1)) {
			names[k] = fit_input_column(in, (int)k);
			is_nominal[k] = nominal && strcmp(nominal, names[k]) == 0;
			k++;
		}
		rc = fit_ga2m_data_init(d, names, is_nominal, k) ? fit_fail_nomem(err) : FIT_OK;
	}
	while (!rc && (rc = fit_input_row(in, err)) == FIT_OK) {
		double x[MAX_COLUMNS], y = 0;
		struct fit_text t[MAX_COLUMNS];
		static char buf[MAX_COLUMNS][FIT_NUM_MAX];
		bool na;

		if (row < from || row++ >= to) {
			row += row < from;
			continue;
		}
		for (size_t c = 0; c < k && !rc; c++) {
			x[c] = (double)NAN;
			t[c] = fit_input_text(in, (int)c, buf[c]);
			if (!is_nominal[c])
				rc = fit_input_number(in, (int)c, false, &x[c], &na, err);
		}
		if (!rc)
			rc = fit_input_need(in, (int)k, false, &y, err);
		if (!rc)
			rc = fit_ga2m_data_add(d, x, t, y);
	}
	fit_input_close(in);
	return rc == FIT_END ? FIT_OK : rc;
}

/* Root mean squared error, or for classes the log loss. ns: of a prediction, many rows together and one by
 * one. */
static double test_error(const struct fit_ga2m *m, const struct fit_ga2m_data *d, double ns[2])
{
	double *x[MAX_COLUMNS], *score = malloc((d->n_rows * m->n_outputs + 1) * sizeof *score), sum = 0,
			start;

	for (size_t c = 0; c < d->n_columns; c++) {
		const struct fit_ga2m_column *from = &d->columns[c];

		x[c] = malloc(d->n_rows * sizeof *x[c] + 1);
		for (size_t i = 0; i < d->n_rows; i++)
			x[c][i] = !from->nominal ? from->x[i] : from->code[i] == FIT_GA2M_MISSING ? (double)NAN :
				fit_ga2m_category(&m->features[c], fit_text_of(from->categories[from->code[i]]));
	}
	start = cpu_s();
	if (fit_ga2m_score_columns(m, (const double *const *)x, d->n_rows, score))
		return (double)NAN;
	ns[0] = (cpu_s() - start) * 1e9 / (double)d->n_rows;
	start = cpu_s();
	for (size_t i = 0; i < d->n_rows; i++) {
		double row[MAX_COLUMNS];

		for (size_t c = 0; c < d->n_columns; c++)
			row[c] = x[c][i];
		fit_ga2m_score(m, row, score + i * m->n_outputs);
	}
	ns[1] = (cpu_s() - start) * 1e9 / (double)d->n_rows;
	for (size_t i = 0; i < d->n_rows; i++) {
		double out[32] = { 0 };

		fit_ga2m_link_inverse(m, score + i * m->n_outputs, out);
		sum += fit_ga2m_is_class(m->loss) ? -log(out[(size_t)d->y[i]]) :
				(out[0] - d->y[i]) * (out[0] - d->y[i]);
	}
	for (size_t c = 0; c < d->n_columns; c++)
		free(x[c]);
	free(score);
	sum /= (double)d->n_rows;
	return fit_ga2m_is_class(m->loss) ? sum : sqrt(sum);
}

static bool is_synth(const char *name)
{
	return strncmp(name, "synth:", 6) == 0;
}

int main(int argc, char **argv)
{
	static const char *const validations[] = { "auto", "random", "blocks", "last", NULL };
	static const char *const engines[] = { "auto", "bins", "samples", NULL };
	struct fit_ga2m_params p = fit_ga2m_params_default(FIT_GA2M_SQUARED);
	struct fit_ga2m_data train = { 0 }, test = { 0 };
	struct fit_ga2m_report report;
	struct fit_ga2m m = { 0 };
	struct fit_err err = { 0 };
	struct rusage before, after;
	const char *nominal = NULL;
	double cpu = 0, error = (double)NAN, ns[2] = { 0 }, rows = 1e15, test_from = 0, classes = 0;
	size_t columns = SYNTH_COLUMNS;
	struct {
		const char *name;
		double *real;
		size_t *size;
	} keys[] = {
		{ "bags", NULL, &p.bags }, { "pairs", NULL, &p.pairs }, { "bins", NULL, &p.max_bins },
		{ "pair_bins", NULL, &p.max_pair_bins }, { "rate", &p.learning_rate, NULL },
		{ "pair_rate", &p.pair_learning_rate, NULL }, { "smooth", NULL, &p.smoothing_rounds },
		{ "pair_smooth", NULL, &p.pair_smoothing_rounds }, { "greedy", NULL, &p.greedy_ratio },
		{ "patience", NULL, &p.patience }, { "memory", &p.memory_mib, NULL }, { "rounds", NULL,
				&p.max_rounds },
		{ "share", &p.validation_share, NULL }, { "rows", &rows, NULL }, { "test_from", &test_from, NULL },
		{ "classes", &classes, NULL }, { "leaf", &p.min_leaf, NULL }, { "columns", NULL, &columns },
		{ "leaf_share", &p.min_leaf_share, NULL }, { "bin_rows", &p.rows_per_bin, NULL },
		{ "tolerance", &p.tolerance, NULL }, { "stop_share", &p.stop_share, NULL }
	};
	int rc = argc < 3;

	for (int i = 3; i < argc && !rc; i++) {
		const char *eq = strchr(argv[i], '=');
		size_t n = eq ? (size_t)(eq - argv[i]) : 0;
		double v = 0;

		rc = !eq;
		if (!rc && strncmp(argv[i], "nominal=", 8) == 0) {
			nominal = eq + 1;
		} else if (!rc && strncmp(argv[i], "loss=", 5) == 0) {
			for (int k = 0; k < FIT_GA2M_N_LOSSES; k++)
				if (strcmp(fit_ga2m_loss_name((enum fit_ga2m_loss)k), eq + 1) == 0)
					p.loss = (enum fit_ga2m_loss)k;
			p.stop_share = fit_ga2m_params_default(p.loss).stop_share;
		} else if (!rc && strncmp(argv[i], "validation=", 11) == 0) {
			for (int k = 0; validations[k]; k++)
				if (strcmp(validations[k], eq + 1) == 0)
					p.validation = (enum fit_ga2m_validation)k;
		} else if (!rc && strncmp(argv[i], "engine=", 7) == 0) {
			for (int k = 0; engines[k]; k++)
				if (strcmp(engines[k], eq + 1) == 0)
					p.engine = (enum fit_ga2m_engine)k;
		} else if (!rc) {
			rc = fit_parse_double(fit_text_of(eq + 1), &v);
			if (strncmp(argv[i], "seed=", 5) == 0)
				p.seed = (uint64_t)v;
			else if (strncmp(argv[i], "threads=", 8) == 0)
				p.threads = (int)v;
			else if (strncmp(argv[i], "purify=", 7) == 0)
				p.purify = v > 0;
			for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
				if (strlen(keys[k].name) != n || strncmp(keys[k].name, argv[i], n) != 0)
					continue;
				if (keys[k].real)
					*keys[k].real = v;
				else
					*keys[k].size = (size_t)v;
				p.max_bins_given = p.max_bins_given || keys[k].size == &p.max_bins;
			}
		}
	}
	if (rc) {
		fprintf(stderr, "usage: ga2m_fit TRAIN TEST [KEY=VALUE...]\n");
		return 2;
	}
	columns = columns < SYNTH_COLUMNS ? SYNTH_COLUMNS : columns > MAX_COLUMNS ? MAX_COLUMNS : columns;
	rc = is_synth(argv[1]) ? synth(&train, argv[1] + 6, columns, p.loss) :
	     read_rows(&train, argv[1], nominal, 0, (int64_t)rows, &err);
	if (!rc) {
		train.n_classes = (size_t)classes;
		getrusage(RUSAGE_SELF, &before);
		cpu = cpu_s();
		rc = fit_ga2m_train(&m, &train, &p, &report, &err);
		cpu = cpu_s() - cpu;
		getrusage(RUSAGE_SELF, &after);
	}
	if (!rc)
		rc = is_synth(argv[2]) ? synth(&test, argv[2] + 6, columns, p.loss) :
		     read_rows(&test, argv[2], nominal, (int64_t)test_from, INT64_MAX, &err);
	if (!rc)
		error = test_error(&m, &test, ns);
	if (rc)
		fprintf(stderr, "ga2m_fit: %s\n", err.msg);
	else
		printf("cpu_s %.3f peak_mib %.1f before_mib %.1f error %.6f validation %.6f steps %.0f pair_steps %.0f "
		       "bins %zu engine %s capped %zu predict_ns %.0f row_ns %.0f\n", cpu, (double)after.ru_maxrss / 1024,
		       (double)before.ru_maxrss / 1024, error, report.validation_loss, report.mean_steps,
		       report.mean_pair_steps, report.max_bins, report.bins_engine ? "bins" : "samples",
		       report.capped_bags, ns[0], ns[1]);
	fit_ga2m_release(&m);
	fit_ga2m_data_release(&train);
	fit_ga2m_data_release(&test);
	return rc != 0;
}
