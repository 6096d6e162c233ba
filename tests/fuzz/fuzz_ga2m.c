/* SPDX-License-Identifier: MIT */
/*
 * GA2M models from any bytes. What is read must pass its check, give finite scores to any row, whose parts
 * add up, and come back the same after it was written.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libfit/model/ga2m.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void score_rows(const struct fit_ga2m *m)
{
	static const double values[] = { -1, 0, 0.5, 1, 3, 1e300, -1e300 };
	double *x = malloc((m->n_features + 1) * sizeof *x), *s = malloc((m->n_outputs + 2) * sizeof *s);
	double *parts = malloc((m->n_terms * m->n_outputs + 1) * sizeof *parts);

	for (size_t k = 0; x && s && parts && k <= 7; k++) {
		for (size_t f = 0; f < m->n_features; f++)
			x[f] = k < 7 ? values[(k + f) % 7] : (double)NAN;
		fit_ga2m_score(m, x, s);
		fit_ga2m_explain(m, x, parts);
		for (size_t o = 0; o < m->n_outputs; o++) {
			double sum = m->intercept[o];

			for (size_t t = 0; t < m->n_terms; t++)
				sum += parts[t * m->n_outputs + o];
			if (memcmp(&sum, &s[o], sizeof sum) != 0 && !isnan(sum))
				abort();
		}
		(void)fit_ga2m_score_sd(m, x, 0);
	}
	free(x);
	free(s);
	free(parts);
}

static void write_back(const struct fit_ga2m *m)
{
	char path[] = "/tmp/fuzz-ga2m-XXXXXX", hash[FIT_HASH_HEX];
	struct fit_writer *w = NULL;
	struct fit_ga2m back;
	struct fit_err err;
	int fd = mkstemp(path), rc;

	if (fd < 0)
		return;
	rc = fit_writer_open(&w, path, 0, &err);
	if (!rc)
		rc = fit_ga2m_write(m, NULL, w, &err);
	if (rc)
		fit_writer_abort(w);
	else
		rc = fit_writer_close(w, &err);
	if (!rc) {
		if (fit_ga2m_read(&back, path, hash, &err) || back.n_terms != m->n_terms ||
		    back.n_outputs != m->n_outputs)
			abort();
		for (size_t t = 0; t < m->n_terms; t++)
			if (memcmp(back.terms[t].score, m->terms[t].score, fit_ga2m_n_cells(&m->terms[t]) *
				   m->n_outputs * sizeof(double)) != 0)
				abort();
		fit_ga2m_release(&back);
	}
	remove(path);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fit_reader *r;
	struct fit_ga2m m;
	struct fit_err err;

	if (fit_reader_open_memory(&r, "input", data, size, &err))
		return 0;
	if (fit_ga2m_read_next(&m, r, &err) == FIT_OK) {
		if (fit_ga2m_check(&m))
			abort();
		score_rows(&m);
		write_back(&m);
		fit_ga2m_release(&m);
	}
	fit_reader_close(r);
	return 0;
}
