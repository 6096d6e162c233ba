/* SPDX-License-Identifier: MIT */
/* A GA2M as tables: docs/formats/ga2m.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/ga2m.h"
#include "libfit/model/training.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct fit_field output_fields[] = { { "class", FIT_TEXT, 0 }, { "intercept",
		FIT_REAL, 0 } };
static const struct fit_field feature_fields[] = {
	{ "feature", FIT_TEXT, FIT_F_NOT_NA }, { "type", FIT_TEXT, FIT_F_NOT_NA },
	{ "min", FIT_REAL, 0 }, { "max", FIT_REAL, 0 }, { "n_unique", FIT_INT, 0 }
};
static const struct fit_field bin_fields[] = {
	{ "feature", FIT_TEXT, FIT_F_NOT_NA }, { "level", FIT_INT, FIT_F_NOT_NA },
	{ "bin", FIT_INT, FIT_F_NOT_NA }, { "from", FIT_REAL, 0 }, { "category", FIT_TEXT, 0 }
};
static const struct fit_field term_fields[] = {
	{ "term", FIT_INT, FIT_F_NOT_NA }, { "feature", FIT_TEXT, FIT_F_NOT_NA }, { "feature_2", FIT_TEXT, 0 },
	{ "level", FIT_INT, FIT_F_NOT_NA }, { "level_2", FIT_INT, 0 },
	{ "importance", FIT_REAL, 0 }, { "importance_sd", FIT_REAL, 0 }
};
static const struct fit_field score_fields[] = {
	{ "term", FIT_INT, FIT_F_NOT_NA }, { "bin", FIT_INT, FIT_F_NOT_NA }, { "bin_2", FIT_INT, 0 },
	{ "output", FIT_INT, FIT_F_NOT_NA }, { "score", FIT_REAL, FIT_F_NOT_NA }, { "sd", FIT_REAL, 0 },
	{ "weight", FIT_REAL, FIT_F_NOT_NA }
};
static const struct fit_field bag_fields[] = {
	{ "term", FIT_INT, 0 }, { "bag", FIT_INT, FIT_F_NOT_NA }, { "bin", FIT_INT, 0 }, { "bin_2",
			FIT_INT, 0 },
	{ "output", FIT_INT, FIT_F_NOT_NA }, { "score", FIT_REAL, FIT_F_NOT_NA }
};

/* ---- writing ---- */

static int begin(struct fit_writer *w, const char *name, const struct fit_meta *meta,
		 const struct fit_field *fields, size_t n, struct fit_err *err)
{
	return fit_writer_begin(w, name, meta, fields, n, err);
}

static int set_number(struct fit_meta *meta, const char *key, double v)
{
	char buf[FIT_NUM_MAX];

	fit_format_double(buf, v);
	return fit_meta_set(meta, key, buf);
}

static int model_meta(const struct fit_ga2m *m, struct fit_meta *meta)
{
	int rc = fit_meta_set(meta, "loss", fit_ga2m_loss_name(m->loss));

	if (!rc)
		rc = fit_meta_set(meta, "link", fit_ga2m_link_name(m->loss));
	if (!rc && m->loss == FIT_GA2M_QUANTILE)
		rc = set_number(meta, "quantile", m->quantile);
	if (!rc)
		rc = fit_meta_set(meta, "target", m->target);
	if (!rc && m->weight)
		rc = fit_meta_set(meta, "weight", m->weight);
	if (!rc && m->offset)
		rc = fit_meta_set(meta, "offset", m->offset);
	if (!rc && m->time)
		rc = fit_meta_set(meta, "time", m->time);
	if (!rc)
		rc = set_number(meta, "n_bags", (double)m->n_bags);
	return rc ? rc : set_number(meta, "n_rows", (double)m->n_rows);
}

static int write_outputs(const struct fit_ga2m *m, const struct fit_meta *given, struct fit_writer *w,
			 struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	size_t first = m->loss == FIT_GA2M_LOGISTIC;	/* the first class is what the second is put against */
	int rc = given ? fit_meta_copy(&meta, given) : FIT_OK;

	if (!rc)
		rc = fit_trained_copy(&meta, &m->meta);
	if (!rc)
		rc = model_meta(m, &meta);
	if (rc)
		fit_fail_nomem(err);
	else
		rc = begin(w, "ga2m", &meta, output_fields, COUNT(output_fields), err);
	for (size_t i = 0; i < m->n_outputs + first && !rc; i++) {
		fit_writer_str(w, m->classes ? m->classes[i] : NULL);
		fit_writer_real(w, i < first ? 0 : m->intercept[i - first]);
		rc = fit_writer_end_row(w, err);
	}
	fit_meta_release(&meta);
	return rc ? rc : fit_writer_end(w, err);
}

static int write_features(const struct fit_ga2m *m, struct fit_writer *w, struct fit_err *err)
{
	int rc = begin(w, "features", NULL, feature_fields, COUNT(feature_fields), err);

	for (size_t f = 0; f < m->n_features && !rc; f++) {
		const struct fit_ga2m_feature *x = &m->features[f];

		fit_writer_str(w, x->name);
		fit_writer_str(w, x->nominal ? "nominal" : "continuous");
		fit_writer_real_or_na(w, x->nominal ? (double)NAN : x->min);
		fit_writer_real_or_na(w, x->nominal ? (double)NAN : x->max);
		fit_writer_int(w, x->n_unique);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

static int write_bins(const struct fit_ga2m *m, struct fit_writer *w, struct fit_err *err)
{
	int rc = begin(w, "bins", NULL, bin_fields, COUNT(bin_fields), err);

	for (size_t f = 0; f < m->n_features; f++) {
		const struct fit_ga2m_feature *x = &m->features[f];

		for (int level = 0; level < (x->nominal ? 1 : 2); level++) {
			for (size_t b = 1; b + 1 < fit_ga2m_n_bins(x, level) && !rc; b++) {
				fit_writer_str(w, x->name);
				fit_writer_int(w, level);
				fit_writer_int(w, (int64_t)b);
				if (x->nominal)
					fit_writer_na(w);
				else
					fit_writer_real(w, b == 1 ? -(double)INFINITY : x->cuts[level][b - 2]);
				fit_writer_str(w, x->nominal ? x->categories[b - 1] : NULL);
				rc = fit_writer_end_row(w, err);
			}
		}
	}
	return rc ? rc : fit_writer_end(w, err);
}

static int write_terms(const struct fit_ga2m *m, struct fit_writer *w, struct fit_err *err)
{
	int rc = begin(w, "terms", NULL, term_fields, COUNT(term_fields), err);

	for (size_t i = 0; i < m->n_terms && !rc; i++) {
		const struct fit_ga2m_term *t = &m->terms[i];

		fit_writer_int(w, (int64_t)i);
		fit_writer_str(w, m->features[t->feature[0]].name);
		fit_writer_str(w, t->n_dims == 2 ? m->features[t->feature[1]].name : NULL);
		fit_writer_int(w, t->level[0]);
		if (t->n_dims == 2)
			fit_writer_int(w, t->level[1]);
		else
			fit_writer_na(w);
		fit_writer_real_or_na(w, t->importance);
		fit_writer_real_or_na(w, t->importance_sd);
		rc = fit_writer_end_row(w, err);
	}
	return rc ? rc : fit_writer_end(w, err);
}

static void put_cell(struct fit_writer *w, const struct fit_ga2m_term *t, size_t cell)
{
	fit_writer_int(w, (int64_t)(cell / t->n_bins[1]));
	if (t->n_dims == 2)
		fit_writer_int(w, (int64_t)(cell % t->n_bins[1]));
	else
		fit_writer_na(w);
}

static int write_scores(const struct fit_ga2m *m, struct fit_writer *w, struct fit_err *err)
{
	int rc = begin(w, "scores", NULL, score_fields, COUNT(score_fields), err);

	for (size_t i = 0; i < m->n_terms; i++) {
		const struct fit_ga2m_term *t = &m->terms[i];

		for (size_t k = 0; k < fit_ga2m_n_cells(t) * m->n_outputs && !rc; k++) {
			fit_writer_int(w, (int64_t)i);
			put_cell(w, t, k / m->n_outputs);
			fit_writer_int(w, (int64_t)(k % m->n_outputs));
			fit_writer_real(w, t->score[k]);
			fit_writer_real_or_na(w, t->sd[k]);
			fit_writer_real(w, t->weight[k / m->n_outputs]);
			rc = fit_writer_end_row(w, err);
		}
	}
	return rc ? rc : fit_writer_end(w, err);
}

static int write_bag_term(const struct fit_ga2m *m, size_t i, struct fit_writer *w, struct fit_err *err)
{
	const struct fit_ga2m_term *t = &m->terms[i];
	size_t n = fit_ga2m_n_cells(t) * m->n_outputs;
	int rc = FIT_OK;

	for (size_t k = 0; t->bag_score && k < m->n_bags * n && !rc; k++) {
		fit_writer_int(w, (int64_t)i);
		fit_writer_int(w, (int64_t)(k / n));
		put_cell(w, t, k % n / m->n_outputs);
		fit_writer_int(w, (int64_t)(k % m->n_outputs));
		fit_writer_real(w, t->bag_score[k]);
		rc = fit_writer_end_row(w, err);
	}
	return rc;
}

static int write_bags(const struct fit_ga2m *m, struct fit_writer *w, struct fit_err *err)
{
	int rc = begin(w, "bag_scores", NULL, bag_fields, COUNT(bag_fields), err);

	for (size_t k = 0; k < m->n_bags * m->n_outputs && !rc; k++) {
		fit_writer_na(w);
		fit_writer_int(w, (int64_t)(k / m->n_outputs));
		fit_writer_na(w);
		fit_writer_na(w);
		fit_writer_int(w, (int64_t)(k % m->n_outputs));
		fit_writer_real(w, m->bag_intercept[k]);
		rc = fit_writer_end_row(w, err);
	}
	for (size_t i = 0; i < m->n_terms && !rc; i++)
		rc = write_bag_term(m, i, w, err);
	return rc ? rc : fit_writer_end(w, err);
}

int fit_ga2m_write(const struct fit_ga2m *m, const struct fit_meta *meta, struct fit_writer *w,
		   struct fit_err *err)
{
	int rc = write_outputs(m, meta, w, err);

	if (!rc)
		rc = write_features(m, w, err);
	if (!rc)
		rc = write_bins(m, w, err);
	if (!rc)
		rc = write_terms(m, w, err);
	if (!rc)
		rc = write_scores(m, w, err);
	if (!rc && m->bag_intercept)
		rc = write_bags(m, w, err);
	return rc;
}

/* ---- reading ---- */

static int next(struct fit_reader *r, const char *name, const struct fit_field *fields, size_t n,
		struct fit_err *err)
{
	int rc = fit_reader_begin(r, fields, n, err);

	if (rc == FIT_END || (!rc && strcmp(fit_reader_table_name(r), name) != 0))
		return fit_fail(err, FIT_EDATA, "%s: no table '%s' where it belongs (expected the tables of a "
				"model of gf-ga2m, in their order)", fit_reader_input(r), name);
	return rc;
}

static int keep_text(char **to, const char *s, struct fit_err *err)
{
	if (s && !(*to = fit_strdup(fit_text_of(s))))
		return fit_fail_nomem(err);
	return FIT_OK;
}

/* More bags than anybody trains; a table that says more is broken. */
#define MOST_BAGS 100000

static int meta_number(const struct fit_reader *r, const char *key, double least, double *v,
		       struct fit_err *err)
{
	const char *s = fit_meta_get(fit_reader_meta(r), key);

	if (!s || fit_parse_double(fit_text_of(s), v) || *v < least || *v > 9e15)
		return fit_fail(err, FIT_EDATA, "%s: bad '%s' (expected the metadata of a model of gf-ga2m)",
				fit_reader_input(r), key);
	return FIT_OK;
}

static int meta_count(const struct fit_reader *r, const char *key, int64_t most, int64_t *v,
		      struct fit_err *err)
{
	const char *s = fit_meta_get(fit_reader_meta(r), key);

	if (!s || fit_parse_int64(fit_text_of(s), v) || *v < 0 || *v > most)
		return fit_fail(err, FIT_EDATA, "%s: bad '%s' (expected the metadata of a model of gf-ga2m)",
				fit_reader_input(r), key);
	return FIT_OK;
}

static int read_meta(struct fit_ga2m *m, const struct fit_reader *r, struct fit_err *err)
{
	const struct fit_meta *meta = fit_reader_meta(r);
	const char *loss = fit_meta_get(meta, "loss");
	int64_t bags = 0, rows = 0;
	int rc = FIT_OK, k = 0;

	while (k < FIT_GA2M_N_LOSSES && (!loss || strcmp(loss,
			fit_ga2m_loss_name((enum fit_ga2m_loss)k)) != 0))
		k++;
	if (k == FIT_GA2M_N_LOSSES)
		return fit_fail(err, FIT_EDATA, "%s: bad loss '%s' (expected the metadata of a model of gf-ga2m)",
				fit_reader_input(r), loss ? loss : "");
	m->loss = (enum fit_ga2m_loss)k;
	if (m->loss == FIT_GA2M_QUANTILE)
		rc = meta_number(r, "quantile", 0, &m->quantile, err);
	if (!rc)
		rc = meta_count(r, "n_bags", MOST_BAGS, &bags, err);
	if (!rc)
		rc = meta_count(r, "n_rows", INT64_MAX, &rows, err);
	if (!rc)
		rc = keep_text(&m->target, fit_meta_get(meta, "target"), err);
	if (!rc)
		rc = keep_text(&m->weight, fit_meta_get(meta, "weight"), err);
	if (!rc)
		rc = keep_text(&m->offset, fit_meta_get(meta, "offset"), err);
	if (!rc)
		rc = keep_text(&m->time, fit_meta_get(meta, "time"), err);
	if (rc)
		return rc;
	m->n_bags = (size_t)bags;
	m->n_rows = rows;
	if (fit_meta_copy(&m->meta, meta))
		rc = fit_fail_nomem(err);
	return rc;
}

static int read_outputs(struct fit_ga2m *m, struct fit_reader *r, struct fit_err *err)
{
	struct fit_cell c[COUNT(output_fields)];
	size_t cap = 0, cap_classes = 0, n = 0;
	int rc = next(r, "ga2m", output_fields, COUNT(output_fields), err);

	if (!rc)
		rc = read_meta(m, r, err);
	while (!rc && (rc = fit_reader_row(r, c, err)) == FIT_OK) {
		if (c[1].na)
			return fit_reader_fail(r, FIT_EDATA, "intercept", err, "missing value (expected a number)");
		if (c[0].na == fit_ga2m_is_class(m->loss))
			return fit_reader_fail(r, FIT_EDATA, "class", err, "%s", c[0].na ?
					       "missing class (expected a name)" :
					       "a class in a regression (expected NA)");
		if (fit_grow(&m->intercept, &cap, n + 1, sizeof *m->intercept) ||
		    (!c[0].na && fit_grow(&m->classes, &cap_classes, n + 1, sizeof *m->classes)))
			return fit_fail_nomem(err);
		if (!c[0].na) {
			if (!(m->classes[n] = fit_strdup(c[0].u.t)))
				return fit_fail_nomem(err);
			m->n_classes = n + 1;
		}
		m->intercept[n++] = c[1].u.d;
	}
	if (rc != FIT_END)
		return rc;
	if (m->loss == FIT_GA2M_LOGISTIC && n == 2) {
		m->intercept[0] = m->intercept[1];
		n = 1;
	}
	m->n_outputs = n;
	if (n == 0 || (n > 1 && m->loss != FIT_GA2M_SOFTMAX))
		return fit_fail(err, FIT_EDATA, "%s: %zu %s of table 'ga2m' (expected %s)", fit_reader_input(r), n,
				fit_plural(n, "row", "rows"), m->loss == FIT_GA2M_SOFTMAX ?
				"one for each class" : m->loss == FIT_GA2M_LOGISTIC ? "two" : "one");
	return FIT_OK;
}

static int read_features(struct fit_ga2m *m, struct fit_reader *r, struct fit_err *err)
{
	struct fit_cell c[COUNT(feature_fields)];
	size_t cap = 0;
	int rc = next(r, "features", feature_fields, COUNT(feature_fields), err);

	while (!rc && (rc = fit_reader_row(r, c, err)) == FIT_OK) {
		struct fit_ga2m_feature f = { .nominal = fit_text_is(c[1].u.t, "nominal") };

		if (!f.nominal && !fit_text_is(c[1].u.t, "continuous"))
			return fit_reader_fail(r, FIT_EDATA, "type", err,
					       "bad type '%.*s' (expected continuous or nominal)",
					       FIT_TEXT_ARG(c[1].u.t));
		f.min = c[2].na ? (double)NAN : c[2].u.d;
		f.max = c[3].na ? (double)NAN : c[3].u.d;
		f.n_unique = c[4].na ? 0 : c[4].u.i;
		if (fit_grow(&m->features, &cap, m->n_features + 1, sizeof f) ||
		    !(f.name = fit_strdup(c[0].u.t)))
			return fit_fail_nomem(err);
		m->features[m->n_features++] = f;
	}
	return rc == FIT_END ? FIT_OK : rc;
}

/* The feature that a cell names. */
static int get_feature(const struct fit_ga2m *m, const struct fit_reader *r, const struct fit_cell *c,
		       const char *field, size_t *f, struct fit_err *err)
{
	for (*f = 0; *f < m->n_features; ++*f)
		if (fit_text_is(c->u.t, m->features[*f].name))
			return FIT_OK;
	return fit_reader_fail(r, FIT_EDATA, field, err,
			"unknown feature '%.*s' (expected one of table 'features')",
			       FIT_TEXT_ARG(c->u.t));
}

static int add_bin(struct fit_ga2m_feature *f, const struct fit_reader *r, const struct fit_cell *c,
		   size_t cap[3], struct fit_err *err)
{
	int level = (int)c[1].u.i;
	size_t have = f->nominal ? f->n_categories : f->n_cuts[level] + (cap[level] > 0);

	if (c[2].u.i != (int64_t)have + 1)
		return fit_reader_fail(r, FIT_EDATA, "bin", err, "bad bin '%lld' (expected %zu: bins in order)",
				       (long long)c[2].u.i, have + 1);
	if (f->nominal ? c[4].na : c[3].na)
		return fit_reader_fail(r, FIT_EDATA, f->nominal ? "category" : "from", err, "missing value");
	if (f->nominal) {
		if (fit_grow(&f->categories, &cap[2], have + 1, sizeof *f->categories) ||
		    !(f->categories[have] = fit_strdup(c[4].u.t)))
			return fit_fail_nomem(err);
		f->n_categories++;
		return FIT_OK;
	}
	if (fit_grow(&f->cuts[level], &cap[level], have + 1, sizeof **f->cuts))
		return fit_fail_nomem(err);
	if (have > 0)
		f->cuts[level][f->n_cuts[level]++] = c[3].u.d;
	else if (!(isinf(c[3].u.d) && c[3].u.d < 0))
		return fit_reader_fail(r, FIT_EDATA, "from", err, "bad start '%g' of bin 1 (expected -inf)",
				       c[3].u.d);
	return FIT_OK;
}

static int read_bins(struct fit_ga2m *m, struct fit_reader *r, struct fit_err *err)
{
	struct fit_cell c[COUNT(bin_fields)];
	size_t (*cap)[3] = calloc(m->n_features + 1, sizeof *cap), f = 0;
	int rc = cap ? next(r, "bins", bin_fields, COUNT(bin_fields), err) : fit_fail_nomem(err);

	while (!rc && (rc = fit_reader_row(r, c, err)) == FIT_OK) {
		rc = get_feature(m, r, &c[0], "feature", &f, err);
		if (!rc && (c[1].u.i < 0 || c[1].u.i > 1 || (m->features[f].nominal && c[1].u.i)))
			rc = fit_reader_fail(r, FIT_EDATA, "level", err, "bad level '%lld' (expected 0 or 1)",
					     (long long)c[1].u.i);
		if (!rc)
			rc = add_bin(&m->features[f], r, c, cap[f], err);
	}
	free(cap);
	return rc == FIT_END ? FIT_OK : rc;
}

static int read_terms(struct fit_ga2m *m, struct fit_reader *r, struct fit_err *err)
{
	struct fit_cell c[COUNT(term_fields)];
	struct fit_ga2m_term *t;
	int rc = next(r, "terms", term_fields, COUNT(term_fields), err);

	while (!rc && (rc = fit_reader_row(r, c, err)) == FIT_OK) {
		size_t a = 0, b = SIZE_MAX;

		if (c[0].u.i != (int64_t)m->n_terms)
			return fit_reader_fail(r, FIT_EDATA, "term", err, "bad term '%lld' (expected %zu: in order)",
					       (long long)c[0].u.i, m->n_terms);
		if (c[3].u.i < 0 || c[3].u.i > 1 || (!c[4].na && (c[4].u.i < 0 || c[4].u.i > 1)) ||
		    c[4].na != c[2].na)
			return fit_reader_fail(r, FIT_EDATA, "level", err,
					       "bad levels (expected 0 or 1 for each feature)");
		rc = get_feature(m, r, &c[1], "feature", &a, err);
		if (!rc && !c[2].na)
			rc = get_feature(m, r, &c[2], "feature_2", &b, err);
		if (rc)
			return rc;
		if (b <= a || fit_ga2m_find_term(m, a, b) != SIZE_MAX)
			return fit_reader_fail(r, FIT_EDATA, "feature", err,
					       "a term twice, or its features not in their order");
		rc = fit_ga2m_add_term(m, a, b, (int)c[3].u.i, c[4].na ? 0 : (int)c[4].u.i, &t);
		if (rc)
			return rc == FIT_ENOMEM ? fit_fail_nomem(err) :
			       fit_reader_fail(r, FIT_EDATA, "term", err, "too many cells (expected at most %zu)",
					       FIT_GA2M_MAX_CELLS);
		t->importance = c[5].na ? (double)NAN : c[5].u.d;
		t->importance_sd = c[6].na ? (double)NAN : c[6].u.d;
	}
	return rc == FIT_END ? FIT_OK : rc;
}

/* Where the next score belongs: scores come term by term, cell by cell, output by output. */
struct place {
	size_t term, k;	/* k: cell * n_outputs + output, and for bags plus bag * the number of those */
};

static int expect(const struct fit_ga2m *m, const struct fit_reader *r, struct place *p,
		const char *field,
		  const struct fit_cell *term, const struct fit_cell *bag, const struct fit_cell *bin,
		  const struct fit_cell *output, struct fit_err *err)
{
	const struct fit_ga2m_term *t;
	size_t n = 0, k, cell;

	while (p->term < m->n_terms &&
	       p->k == (n = fit_ga2m_n_cells(&m->terms[p->term]) * m->n_outputs) * (bag ? m->n_bags : 1)) {
		p->term++;
		p->k = 0;
	}
	if (p->term == m->n_terms)
		return fit_reader_fail(r, FIT_EDATA, field, err, "a row too many");
	t = &m->terms[p->term];
	k = p->k % n;
	cell = k / m->n_outputs;
	if (term->na || term->u.i != (int64_t)p->term || bin[0].na ||
	    bin[0].u.i != (int64_t)(cell / t->n_bins[1]) || bin[1].na != (t->n_dims == 1) ||
	    (!bin[1].na && bin[1].u.i != (int64_t)(cell % t->n_bins[1])) ||
	    output->u.i != (int64_t)(k % m->n_outputs) || (bag && bag->u.i != (int64_t)(p->k / n)))
		return fit_reader_fail(r, FIT_EDATA, field, err,
				       "a score out of order (expected term %zu, bin %zu, then bin_2, output)",
				       p->term, cell / t->n_bins[1]);
	return FIT_OK;
}

static int read_scores(struct fit_ga2m *m, struct fit_reader *r, struct fit_err *err)
{
	struct fit_cell c[COUNT(score_fields)];
	struct place p = { 0 };
	int rc = next(r, "scores", score_fields, COUNT(score_fields), err);

	while (!rc && (rc = fit_reader_row(r, c, err)) == FIT_OK) {
		struct fit_ga2m_term *t;

		rc = expect(m, r, &p, "term", &c[0], NULL, &c[1], &c[3], err);
		if (rc)
			break;
		t = &m->terms[p.term];
		t->score[p.k] = c[4].u.d;
		t->sd[p.k] = c[5].na ? (double)NAN : c[5].u.d;
		t->weight[p.k / m->n_outputs] = c[6].u.d;
		p.k++;
	}
	while (rc == FIT_END && p.term < m->n_terms &&
	       p.k == fit_ga2m_n_cells(&m->terms[p.term]) * m->n_outputs) {
		p.term++;
		p.k = 0;
	}
	if (rc == FIT_END && p.term < m->n_terms)
		return fit_fail(err, FIT_EDATA, "%s: table 'scores' has too few rows", fit_reader_input(r));
	return rc == FIT_END ? FIT_OK : rc;
}

static int read_bags(struct fit_ga2m *m, struct fit_reader *r, struct fit_err *err)
{
	struct fit_cell c[COUNT(bag_fields)];
	struct place p = { 0 };
	size_t n = 0, intercepts = m->n_bags * m->n_outputs;
	int rc = fit_reader_begin(r, bag_fields, COUNT(bag_fields), err);

	if (rc == FIT_END)
		return FIT_OK;
	if (!rc && strcmp(fit_reader_table_name(r), "bag_scores") != 0)
		return fit_fail(err, FIT_EDATA, "%s: unknown table '%s' behind a model", fit_reader_input(r),
				fit_reader_table_name(r));
	/* room comes with the rows that are there, not with what the metadata say */
	for (; !rc && n < intercepts && (rc = fit_reader_row(r, c, err)) == FIT_OK; n++) {
		double *more = realloc(m->bag_intercept, (n + 1) * sizeof *more);

		if (!more)
			return fit_fail_nomem(err);
		m->bag_intercept = more;
		if (!c[0].na || c[1].u.i != (int64_t)(n / m->n_outputs) || c[4].u.i != (int64_t)(n % m->n_outputs))
			return fit_reader_fail(r, FIT_EDATA, "term", err,
					       "a score out of order (expected the intercepts, bag by bag)");
		m->bag_intercept[n] = c[5].u.d;
	}
	for (size_t t = 0; t < m->n_terms && !rc; t++) {
		m->terms[t].bag_score = calloc(m->n_bags * fit_ga2m_n_cells(&m->terms[t]) * m->n_outputs + 1,
					       sizeof *m->terms[t].bag_score);
		if (!m->terms[t].bag_score)
			return fit_fail_nomem(err);
	}
	while (!rc && (rc = fit_reader_row(r, c, err)) == FIT_OK) {
		rc = expect(m, r, &p, "term", &c[0], &c[1], &c[2], &c[4], err);
		if (!rc)
			m->terms[p.term].bag_score[p.k++] = c[5].u.d;
	}
	while (rc == FIT_END && p.term < m->n_terms &&
	       p.k == m->n_bags * fit_ga2m_n_cells(&m->terms[p.term]) * m->n_outputs) {
		p.term++;
		p.k = 0;
	}
	if (rc == FIT_END && (n < intercepts || p.term < m->n_terms))
		return fit_fail(err, FIT_EDATA, "%s: table 'bag_scores' has too few rows", fit_reader_input(r));
	return rc == FIT_END ? FIT_OK : rc;
}

int fit_ga2m_read_next(struct fit_ga2m *m, struct fit_reader *r, struct fit_err *err)
{
	struct fit_ga2m new = { 0 };
	const char *wrong;
	int rc = read_outputs(&new, r, err);

	if (!rc)
		rc = read_features(&new, r, err);
	if (!rc)
		rc = read_bins(&new, r, err);
	if (!rc)
		rc = read_terms(&new, r, err);
	if (!rc)
		rc = read_scores(&new, r, err);
	if (!rc)
		rc = read_bags(&new, r, err);
	if (!rc && (wrong = fit_ga2m_check(&new)))
		rc = fit_fail(err, FIT_EDATA, "%s: not a model: %s", fit_reader_input(r), wrong);
	if (!rc)
		*m = new;
	else
		fit_ga2m_release(&new);
	return rc;
}

int fit_ga2m_read(struct fit_ga2m *m, const char *operand, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	struct fit_reader *r = NULL;
	int rc = fit_reader_open(&r, operand, err);

	if (!rc)
		rc = fit_ga2m_read_next(m, r, err);
	if (!rc)
		fit_reader_hash(r, hash);
	fit_reader_close(r);
	return rc;
}
