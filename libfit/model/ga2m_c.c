/* SPDX-License-Identifier: MIT */
/* A GA2M as C functions: bins, then the sum of the tables in the order of fit_ga2m_score(), to the bit. */
#include <limits.h>
#include <stdlib.h>

#include "libfit/base/c_out.h"
#include "libfit/model/ga2m.h"

struct c_model {
	const struct fit_ga2m *m;
	const char *name;		/* of the functions */
	bool *used;			/* [2 * feature + level]: does some term use these bins? */
};

static bool has_log_link(const struct fit_ga2m *m)
{
	return m->loss == FIT_GA2M_POISSON || m->loss == FIT_GA2M_GAMMA;
}

static void put_head(struct fit_c_out *o, const struct c_model *c)
{
	const struct fit_ga2m *m = c->m;

	fit_c_put(o, "/* An additive model with pairs (%s loss): %zu terms. x holds", fit_ga2m_loss_name(m->loss),
		  m->n_terms);
	for (size_t f = 0; f < m->n_features; f++) {
		fit_c_put(o, "%s\n *   x[%zu] ", f ? "," : "", f);
		fit_c_comment(o, m->features[f].name);
		fit_c_numbered(o, ": ", m->features[f].categories,
			       m->features[f].nominal ? m->features[f].n_categories : 0);
	}
	fit_c_put(o, "\n * and NaN where a value is missing, -1 for an unknown category");
	if (m->offset) {
		fit_c_put(o, "; and behind them\n *   x[%zu] ", m->n_features);
		fit_c_comment(o, m->offset);
		fit_c_put(o, ", the offset: what is known of the score; not NaN");
	}
	fit_c_put(o, ".");
	fit_c_numbered(o, "\n * Classes: ", m->classes, m->n_classes);
	fit_c_put(o, " */\n\n");
	if (has_log_link(m) || m->n_classes)
		fit_c_put(o, "#include <math.h>\n\n");
	fit_c_put(o, "void %s_score(const double *x, double *score);\ndouble %s(const double *x);\n", c->name,
		  c->name);
	if (m->n_classes)
		fit_c_put(o, "void %s_share(const double *x, double *p);\n", c->name);
}

/* The functions that find a bin: those that some term needs. */
static void put_bins(struct fit_c_out *o, const struct c_model *c)
{
	bool nominal = false, continuous = false;

	for (size_t k = 0; k < 2 * c->m->n_features; k++) {
		nominal = nominal || (c->used[k] && c->m->features[k / 2].nominal);
		continuous = continuous || (c->used[k] && !c->m->features[k / 2].nominal);
	}
	if (continuous)
		fit_c_put(o,
			  "\n/* Bin 0 is for missing values; else one more than the cuts that are not above x. */\n"
			  "static int %s_bin(const double *cut, int n, double x)\n{\n"
			  "\tint from = 0;\n\n\tif (x != x)\n\t\treturn 0;\n\twhile (from < n) {\n"
			  "\t\tint middle = from + (n - from) / 2;\n\n\t\tif (cut[middle] <= x)\n"
			  "\t\t\tfrom = middle + 1;\n\t\telse\n\t\t\tn = middle;\n\t}\n"
			  "\treturn from + 1;\n}\n", c->name);
	if (nominal)
		fit_c_put(o,
			  "\n/* Bin 0 is for missing values, the one behind all categories for unknown ones. */\n"
			  "static int %s_category(int n, double x)\n{\n"
			  "\treturn x != x ? 0 : x >= 0 && x < n ? 1 + (int)x : n + 1;\n}\n", c->name);
}

/* The tables: cut0 and cut0_1 of the two levels of a feature, term0, intercept. */
static void put_tables(struct fit_c_out *o, const struct c_model *c)
{
	static const char *const level_mark[] = { "", "_1" };
	const struct fit_ga2m *m = c->m;
	struct fit_str name = { 0 };

	for (size_t k = 0; k < 2 * m->n_features; k++) {
		const struct fit_ga2m_feature *f = &m->features[k / 2];

		if (!c->used[k] || f->nominal || !f->n_cuts[k % 2])
			continue;
		fit_c_put(o, "\tstatic const double cut%zu%s[] = ", k / 2, level_mark[k % 2]);
		fit_c_reals(o, f->cuts[k % 2], f->n_cuts[k % 2], 2);
		fit_c_put(o, ";\n");
	}
	for (size_t t = 0; t < m->n_terms && !o->rc; t++) {
		fit_c_put(o, "\t/* ");
		o->rc = o->rc ? o->rc : fit_ga2m_term_name(m, t, &name);
		fit_c_comment(o, o->rc ? "" : name.s);
		fit_c_put(o, " */\n\tstatic const double term%zu[] = ", t);
		fit_c_reals(o, m->terms[t].score, fit_ga2m_n_cells(&m->terms[t]) * m->n_outputs, 2);
		fit_c_put(o, ";\n");
	}
	fit_c_put(o, "\tstatic const double intercept[] = ");
	fit_c_reals(o, m->intercept, m->n_outputs, 2);
	fit_c_put(o, ";\n");
	for (size_t k = 0; k < 2 * m->n_features; k++) {
		const struct fit_ga2m_feature *f = &m->features[k / 2];
		const char *mark = level_mark[k % 2];
		size_t n = f->n_cuts[k % 2];

		if (!c->used[k])
			continue;
		fit_c_put(o, "\tconst int bin%zu%s = ", k / 2, mark);
		if (f->nominal)
			fit_c_put(o, "%s_category(%zu, x[%zu]);\n", c->name, f->n_categories, k / 2);
		else if (n)
			fit_c_put(o, "%s_bin(cut%zu%s, %zu, x[%zu]);\n", c->name, k / 2, mark, n, k / 2);
		else
			fit_c_put(o, "%s_bin(0, 0, x[%zu]);\n", c->name, k / 2);
	}
	fit_str_release(&name);
}

static void put_score(struct fit_c_out *o, const struct c_model *c)
{
	static const char *const level_mark[] = { "", "_1" };
	const struct fit_ga2m *m = c->m;

	fit_c_put(o, "\n/* On the %s scale; score has room for %zu. */\n", fit_ga2m_link_name(m->loss),
		  m->n_outputs);
	fit_c_put(o, "void %s_score(const double *x, double *score)\n{\n", c->name);
	put_tables(o, c);
	if (!m->n_terms && !m->offset)
		fit_c_put(o, "\n\t(void)x;");
	fit_c_put(o, "\n\tfor (int k = 0; k < %zu; k++) {\n\t\tscore[k] = intercept[k];\n", m->n_outputs);
	for (size_t t = 0; t < m->n_terms && !o->rc; t++) {
		const struct fit_ga2m_term *a = &m->terms[t];

		fit_c_put(o, "\t\tscore[k] += term%zu[", t);
		fit_c_put(o, a->n_dims == 2 ? "(bin%zu%s * %zu + " : "bin%zu%s", a->feature[0],
			  level_mark[a->level[0]], a->n_bins[1]);
		if (a->n_dims == 2)
			fit_c_put(o, "bin%zu%s)", a->feature[1], level_mark[a->level[1]]);
		fit_c_put(o, " * %zu + k];\n", m->n_outputs);
	}
	if (m->offset)
		fit_c_put(o, "\t\tscore[k] += x[%zu];\n", m->n_features);
	fit_c_put(o, "\t}\n}\n");
}

static void put_share(struct fit_c_out *o, const struct c_model *c)
{
	const size_t n = c->m->n_outputs;

	fit_c_put(o, "\nvoid %s_share(const double *x, double *p)\n{\n\tdouble score[%zu]", c->name, n);
	if (c->m->loss == FIT_GA2M_LOGISTIC) {
		fit_c_put(o,
			  ";\n\n\t%s_score(x, score);\n\tp[1] = 1 / (1 + exp(-score[0]));\n"
			  "\tp[0] = 1 / (1 + exp(score[0]));\n}\n", c->name);
		return;
	}
	fit_c_put(o, ", most, sum = 0;\n\n\t%s_score(x, score);\n\tmost = score[0];\n", c->name);
	fit_c_put(o, "\tfor (int k = 1; k < %zu; k++)\n\t\tmost = score[k] > most ? score[k] : most;\n", n);
	fit_c_put(o, "\tfor (int k = 0; k < %zu; k++)\n\t\tsum += p[k] = exp(score[k] - most);\n", n);
	fit_c_put(o, "\tfor (int k = 0; k < %zu; k++)\n\t\tp[k] /= sum;\n}\n", n);
}

/* The prediction, or the number of the most probable class, the first of equal ones. */
static void put_prediction(struct fit_c_out *o, const struct c_model *c)
{
	fit_c_put(o, "\ndouble %s(const double *x)\n{\n", c->name);
	if (c->m->n_classes) {
		fit_c_put(o, "\tdouble p[%zu];\n\tint best = 0;\n\n\t%s_share(x, p);\n", c->m->n_classes, c->name);
		fit_c_put(o, "\tfor (int k = 1; k < %zu; k++)\n\t\tbest = p[k] > p[best] ? k : best;\n",
			  c->m->n_classes);
		fit_c_put(o, "\treturn best;\n}\n");
		return;
	}
	fit_c_put(o, "\tdouble score[1];\n\n\t%s_score(x, score);\n", c->name);
	fit_c_put(o, "\treturn %s;\n}\n", has_log_link(c->m) ? "exp(score[0])" : "score[0]");
}

int fit_ga2m_print_c(const struct fit_ga2m *m, const char *name, struct fit_str *out, struct fit_err *err)
{
	struct fit_c_out o = { out, FIT_OK };
	struct c_model c = { m, name, calloc(2 * m->n_features + 1, sizeof *c.used) };
	int rc = c.used ? FIT_OK : fit_fail_nomem(err);

	for (size_t t = 0; t < m->n_terms && !rc; t++) {
		if (fit_ga2m_n_cells(&m->terms[t]) > INT_MAX / m->n_outputs)
			rc = fit_fail(err, FIT_EDATA, "term %zu has more numbers than an int counts", t);
		for (int d = 0; d < m->terms[t].n_dims; d++)
			c.used[2 * m->terms[t].feature[d] + (size_t)m->terms[t].level[d]] = true;
	}
	if (!rc) {
		put_head(&o, &c);
		put_bins(&o, &c);
		put_score(&o, &c);
		if (m->n_classes)
			put_share(&o, &c);
		put_prediction(&o, &c);
		rc = o.rc ? fit_fail_nomem(err) : FIT_OK;
	}
	free(c.used);
	return rc;
}
