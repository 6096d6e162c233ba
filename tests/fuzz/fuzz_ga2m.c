/* SPDX-License-Identifier: MIT */
/*
 * GA2Ms from any bytes, as JSON in the reference's layout or as tables. What is read must pass the check,
 * score any row, come back the same from its own JSON, print as C, take every edit that parses, be reviewed,
 * and be added to itself.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/ga2m_edit.h"
#include "libfit/model/ga2m_json.h"
#include "libfit/model/ga2m_review.h"
#include "libfit/model/ga2m_train.h"
#include "libfit/model/ga2m_update.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void score(const struct fit_ga2m *m)
{
	static const double values[] = { -1, 0, 0.5, 1, 2, 1e300, -1e300 };
	double *x = calloc(m->n_features + 1, sizeof *x), *s = calloc(m->n_outputs + 1, sizeof *s);

	for (size_t k = 0; x && s && k < 8; k++) {
		for (size_t f = 0; f < m->n_features; f++)
			x[f] = k < 7 ? values[(k + f) % 7] : (double)NAN;
		fit_ga2m_score(m, x, s);
	}
	free(x);
	free(s);
}

/* What it says of its training, where that can be read, is something to train with. */
static void training(const struct fit_ga2m *m)
{
	struct fit_ga2m_params p = fit_ga2m_params_default(m->loss);
	size_t (*pairs)[2] = malloc((m->n_terms + 1) * sizeof *pairs);
	enum fit_ga2m_shape *shapes = calloc(m->n_features + 1, sizeof *shapes);

	if (pairs && shapes && !fit_ga2m_trained(m, &p, pairs, shapes, NULL) && fit_ga2m_params_check(&p))
		abort();
	free(pairs);
	free(shapes);
}

static char *json_of(const struct fit_ga2m *m)
{
	struct fit_str s = { 0 };

	if (fit_ga2m_print_json(m, &s, NULL))
		fit_str_release(&s);
	return s.s;
}

static void round_trip(const struct fit_ga2m *m)
{
	struct fit_ga2m back;
	char *a = json_of(m), *b;

	/* levels that pairs mix cannot be said */
	if (!a)
		return;
	if (fit_ga2m_read_json(&back, "fuzz", a, strlen(a), NULL))
		abort();
	b = json_of(&back);
	if (!b || strcmp(a, b) != 0)
		abort();
	free(a);
	free(b);
	fit_ga2m_release(&back);
}

static void print_c(const struct fit_ga2m *m)
{
	struct fit_str s = { 0 };

	if (fit_ga2m_print_c(m, "fuzz", &s, NULL) == FIT_OK && strlen(s.s) != s.n)
		abort();
	fit_str_release(&s);
}

static void edit(struct fit_ga2m *m)
{
	static const char *const kinds[] = { "smooth:%s=1", "monotone:%s", "convex:%s", "pin:%s@0..1=2",
					     "pin:%s@missing=1", "scale:%s=0.5", "flatten:%s", "remove:%s" };
	struct fit_str name = { 0 };

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds && m->n_terms > 0; k++) {
		struct fit_ga2m_edit e;
		struct fit_ga2m_change c;
		char text[256];

		if (fit_ga2m_term_name(m, k % m->n_terms, &name) || name.n > 200)
			continue;
		/* the kinds are formats of one name */
		snprintf(text, sizeof text, "%.*s%s%s", (int)(strchr(kinds[k], '%') - kinds[k]), kinds[k], name.s,
			 strchr(kinds[k], '%') + 2);
		if (!fit_ga2m_edit_parse(&e, m, text, NULL) && fit_ga2m_edit_apply(m, &e, &c, NULL) == FIT_ENOMEM)
			abort();
	}
	fit_str_release(&name);
}

/* other: the same model once more */
static void use(struct fit_ga2m *m, const struct fit_ga2m *other)
{
	struct fit_ga2m_review_params p = fit_ga2m_review_params_default();
	struct fit_ga2m_findings found = { 0 };
	struct fit_ga2m_drift *drift = calloc(m->n_terms + 1, sizeof *drift);

	if (fit_ga2m_check(m))
		abort();
	score(m);
	training(m);
	round_trip(m);
	print_c(m);
	if (fit_ga2m_review(m, &p, &found, NULL))
		abort();
	free(found.list);
	if (drift && !fit_ga2m_add(m, other, 0.5, drift, NULL)) {
		if (fit_ga2m_check(m))
			abort();
		score(m);
	}
	free(drift);
	edit(m);
	score(m);
}

static int read_table(struct fit_ga2m *m, const uint8_t *data, size_t size)
{
	struct fit_reader *r = NULL;
	int rc = fit_reader_open_memory(&r, "fuzz", data, size, NULL);

	rc = rc ? rc : fit_ga2m_read_next(m, r, NULL);
	fit_reader_close(r);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fit_ga2m m, other;

	if (!fit_ga2m_read_json(&m, "fuzz", (const char *)data, size, NULL)) {
		if (fit_ga2m_read_json(&other, "fuzz", (const char *)data, size, NULL))
			abort();
	} else if (!read_table(&m, data, size)) {
		if (read_table(&other, data, size))
			abort();
	} else {
		return 0;
	}
	use(&m, &other);
	fit_ga2m_release(&m);
	fit_ga2m_release(&other);
	return 0;
}
