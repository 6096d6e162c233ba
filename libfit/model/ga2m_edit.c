/* SPDX-License-Identifier: MIT */
#include "libfit/model/ga2m_edit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/ga2m_shape.h"

size_t fit_ga2m_term_called(const struct fit_ga2m *m, struct fit_text name)
{
	struct fit_str s = { 0 };
	size_t found = SIZE_MAX;

	for (size_t k = 0; k < m->n_terms && found == SIZE_MAX; k++)
		if (fit_ga2m_term_name(m, k, &s) == FIT_OK && fit_text_is(name, s.s))
			found = k;
	fit_str_release(&s);
	return found;
}

/* ---- reading an edit ---- */

static const struct {
	const char *name;
	enum fit_ga2m_edit_kind kind;
	bool number;
} kinds[] = { { "flatten", FIT_GA2M_FLATTEN, false },
	      { "scale", FIT_GA2M_SCALE, true },
	      { "pin", FIT_GA2M_PIN, true },
	      { "smooth", FIT_GA2M_SMOOTH, true },
	      { "monotone", FIT_GA2M_MONOTONE, false },
	      { "increasing", FIT_GA2M_MAKE_INCREASING, false },
	      { "decreasing", FIT_GA2M_MAKE_DECREASING, false },
	      { "convex", FIT_GA2M_MAKE_CONVEX, false },
	      { "concave", FIT_GA2M_MAKE_CONCAVE, false },
	      { "free", FIT_GA2M_FREE_AGAIN, false },
	      { "remove", FIT_GA2M_REMOVE, false } };
#define N_KINDS (sizeof kinds / sizeof *kinds)

/* The bins of one range of a feature. */
static bool parse_range(const struct fit_ga2m_feature *f, int level, struct fit_text t,
		size_t *from, size_t *to)
{
	size_t last = fit_ga2m_n_bins(f, level) - 2, dots = 0;
	double low = -HUGE_VAL, high = HUGE_VAL, code;

	if (fit_text_is(t, "missing")) {
		*from = *to = 0;
		return true;
	}
	if (f->nominal) {
		code = fit_ga2m_category(f, t);
		*from = *to = 1 + (size_t)(code >= 0 ? code : 0);
		return code >= 0;
	}
	while (dots + 1 < t.n && !(t.s[dots] == '.' && t.s[dots + 1] == '.'))
		dots++;
	if (dots + 1 >= t.n) {	/* one number */
		if (fit_parse_double(t, &low))
			return false;
		high = low;
	} else {
		struct fit_text b = { t.s + dots + 2, t.n - dots - 2 };

		if ((dots && fit_parse_double((struct fit_text){ t.s, dots }, &low)) ||
		    (b.n && fit_parse_double(b, &high)) || low > high)
			return false;
	}
	*from = fit_ga2m_bin(f, level, low);
	*to = fit_ga2m_bin(f, level, high);
	/* LOW..HIGH ends before HIGH: a bin that only begins there is not meant */
	if (*to > *from && *to >= 2 && f->cuts[level][*to - 2] >= high)
		--*to;
	return *from <= last && *to <= last;
}

static int parse_pin(struct fit_ga2m_edit *e, const struct fit_ga2m *m, struct fit_text range,
		const char *text,
		     struct fit_err *err)
{
	const struct fit_ga2m_term *t = &m->terms[e->term];
	size_t comma = 0;
	struct fit_text part[2] = { range, { "", 0 } };

	if (t->n_dims == 2) {
		while (comma < range.n && range.s[comma] != ',')
			comma++;
		part[0].n = comma;
		if (comma < range.n)
			part[1] = (struct fit_text){ range.s + comma + 1, range.n - comma - 1 };
	}
	for (int d = 0; d < t->n_dims; d++)
		if (!parse_range(&m->features[t->feature[d]], t->level[d], part[d], &e->from[d], &e->to[d]))
			return fit_fail(err, FIT_EINVAL,
					"bad range '%.*s' in '%s' (expected LOW..HIGH, a category or missing%s)",
					FIT_TEXT_ARG(part[d]), text, t->n_dims == 2 ? ", and one more behind a comma" : "");
	return FIT_OK;
}

int fit_ga2m_edit_parse(struct fit_ga2m_edit *e, const struct fit_ga2m *m, const char *text,
		struct fit_err *err)
{
	const char *colon = strchr(text, ':'), *eq, *at;
	struct fit_text name;
	size_t k = 0;

	*e = (struct fit_ga2m_edit){ 0 };
	while (k < N_KINDS && colon &&
	       !fit_text_is((struct fit_text){ text, (size_t)(colon - text) }, kinds[k].name))
		k++;
	if (!colon || k == N_KINDS)
		return fit_fail(err, FIT_EINVAL, "unknown edit '%s' (expected flatten, scale, pin, smooth, monotone, "
				"increasing, decreasing, convex, concave, free or remove, a colon, and a term)", text);
	e->kind = kinds[k].kind;
	name = fit_text_of(colon + 1);
	if (kinds[k].number) {
		eq = strrchr(colon, '=');
		if (!eq || fit_parse_double(fit_text_of(eq + 1), &e->number))
			return fit_fail(err, FIT_EINVAL, "no number at the end of '%s' (expected =X)", text);
		name.n = (size_t)(eq - name.s);
	}
	if (e->kind == FIT_GA2M_PIN) {
		struct fit_text range;

		at = memchr(name.s, '@', name.n);
		if (!at)
			return fit_fail(err, FIT_EINVAL, "no range in '%s' (expected pin:TERM@RANGE=X)", text);
		range = (struct fit_text){ at + 1, name.n - (size_t)(at + 1 - name.s) };
		name.n = (size_t)(at - name.s);
		e->term = fit_ga2m_term_called(m, name);
		if (e->term != SIZE_MAX)
			return parse_pin(e, m, range, text, err);
	}
	e->term = fit_ga2m_term_called(m, name);
	if (e->term == SIZE_MAX)
		return fit_fail(err, FIT_EINVAL, "no term '%.*s' (in '%s')", FIT_TEXT_ARG(name), text);
	if (e->kind == FIT_GA2M_SMOOTH && !(e->number >= 1 && e->number <= 65535))
		return fit_fail(err, FIT_EINVAL, "bad number of bins in '%s' (expected 1 to 65535)", text);
	return FIT_OK;
}

/* ---- doing it ---- */

/* One line of bins 1 to n (of a main effect, or a row or column of a pair), one output. */
struct line {
	double *score;
	const double *weight;
	size_t n, score_step, weight_step;
};

static double mean_of(const struct line *l)
{
	double sum = 0, total = 0;

	for (size_t i = 0; i < l->n; i++) {
		sum += l->weight[i * l->weight_step] * l->score[i * l->score_step];
		total += l->weight[i * l->weight_step];
	}
	return total > 0 ? sum / total : 0;
}

static int smooth_line(const struct line *l, size_t reach)
{
	double before = mean_of(l), after, *out = calloc(l->n + 1, sizeof *out);

	if (!out)
		return FIT_ENOMEM;
	for (size_t i = 0; i < l->n; i++) {
		double sum = 0, total = 0, plain = 0;
		size_t from = i < reach ? 0 : i - reach, to = i + reach < l->n ? i + reach : l->n - 1;

		for (size_t k = from; k <= to; k++) {
			sum += l->weight[k * l->weight_step] * l->score[k * l->score_step];
			total += l->weight[k * l->weight_step];
			plain += l->score[k * l->score_step];
		}
		out[i] = total > 0 ? sum / total : plain / (double)(to - from + 1);
	}
	for (size_t i = 0; i < l->n; i++)
		l->score[i * l->score_step] = out[i];
	after = mean_of(l);
	for (size_t i = 0; i < l->n; i++)
		l->score[i * l->score_step] += before - after;
	free(out);
	return FIT_OK;
}

static double distance(const double *a, const double *b, const double *w, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += w[i] * (a[i] - b[i]) * (a[i] - b[i]);
	return sum;
}

/* The nearest sequence of a shape; values are copied out and back as outputs lie between them. */
static int shape_line(const struct fit_ga2m *m, const struct fit_ga2m_term *t, const struct line *l,
		      enum fit_ga2m_edit_kind kind)
{
	double *y = calloc(l->n + 1, sizeof *y), *up = calloc(l->n + 1, sizeof *up),
	       *x = calloc(l->n + 1, sizeof *x), before = mean_of(l), after;
	int rc = y && up && x ? FIT_OK : FIT_ENOMEM;

	for (size_t i = 0; i < l->n && !rc; i++)
		y[i] = l->score[i * l->score_step];
	if (!rc && (kind == FIT_GA2M_MAKE_CONVEX || kind == FIT_GA2M_MAKE_CONCAVE)) {
		fit_ga2m_middles(&m->features[t->feature[0]], t->level[0], x);
		rc = fit_ga2m_convex(x, y, l->weight, l->n, kind == FIT_GA2M_MAKE_CONVEX, y);
	} else if (!rc) {
		if (kind != FIT_GA2M_MAKE_DECREASING)
			rc = fit_ga2m_isotonic(y, l->weight, l->n, true, up);
		if (!rc && kind != FIT_GA2M_MAKE_INCREASING)
			rc = fit_ga2m_isotonic(y, l->weight, l->n, false, x);
		if (!rc && (kind == FIT_GA2M_MAKE_DECREASING ||
			    (kind == FIT_GA2M_MONOTONE &&
			     distance(x, y, l->weight, l->n) < distance(up, y, l->weight, l->n))))
			memcpy(y, x, l->n * sizeof *y);
		else if (!rc)
			memcpy(y, up, l->n * sizeof *y);
	}
	for (size_t i = 0; i < l->n && !rc; i++)
		l->score[i * l->score_step] = y[i];
	/* least squares keep the mean but for rounding */
	after = rc ? before : mean_of(l);
	for (size_t i = 0; i < l->n && !rc; i++)
		l->score[i * l->score_step] += before - after;
	free(y);
	free(up);
	free(x);
	return rc;
}

/* One table of scores, all outputs. kind is a direction by now, not FIT_GA2M_MONOTONE. */
static int edit_table(const struct fit_ga2m *m, const struct fit_ga2m_term *t,
		const struct fit_ga2m_edit *e,
		      enum fit_ga2m_edit_kind kind, double *score)
{
	size_t no = m->n_outputs, cells = fit_ga2m_n_cells(t);
	int rc = FIT_OK;

	if (kind == FIT_GA2M_FREE_AGAIN)
		return FIT_OK;
	if (kind == FIT_GA2M_FLATTEN || kind == FIT_GA2M_SCALE) {
		for (size_t i = 0; i < cells * no; i++)
			score[i] = kind == FIT_GA2M_FLATTEN ? 0 : score[i] * e->number;
		return FIT_OK;
	}
	if (kind == FIT_GA2M_PIN) {
		for (size_t i = e->from[0]; i <= e->to[0]; i++)
			for (size_t j = e->from[1]; j <= e->to[1]; j++)
				for (size_t o = 0; o < no; o++)
					score[(i * t->n_bins[1] + j) * no + o] = e->number;
		return FIT_OK;
	}
	for (size_t o = 0; o < no && !rc; o++) {
		struct line l = { score + t->n_bins[1] * no + o, t->weight + t->n_bins[1], t->n_bins[0] - 2,
				  t->n_bins[1] * no, t->n_bins[1] };

		if (t->n_dims == 1) {
			rc = kind == FIT_GA2M_SMOOTH ? smooth_line(&l, (size_t)e->number)
						     : shape_line(m, t, &l, kind);
			continue;
		}
		/* along one axis, then along the other; missing and unseen ones of the other stay */
		for (size_t j = 1; j + 1 < t->n_bins[1] && !rc; j++) {
			l.score = score + (t->n_bins[1] + j) * no + o;
			l.weight = t->weight + t->n_bins[1] + j;
			rc = smooth_line(&l, (size_t)e->number);
		}
		for (size_t i = 1; i + 1 < t->n_bins[0] && !rc; i++) {
			l = (struct line){ score + (i * t->n_bins[1] + 1) * no + o, t->weight + i * t->n_bins[1] + 1,
					   t->n_bins[1] - 2, no, 1 };
			rc = smooth_line(&l, (size_t)e->number);
		}
	}
	return rc;
}

/* Spreads after an edit: from the bags, or what is known without them. */
static void set_spreads(const struct fit_ga2m *m, struct fit_ga2m_term *t, const struct fit_ga2m_edit *e,
			const double *before)
{
	size_t n = fit_ga2m_n_cells(t) * m->n_outputs;

	for (size_t i = 0; i < n; i++) {
		double mean = 0, sq = 0;

		if (!t->bag_score) {
			if (e->kind == FIT_GA2M_FLATTEN)
				t->sd[i] = 0;
			else if (e->kind == FIT_GA2M_SCALE)
				t->sd[i] *= fabs(e->number);
			else if (t->score[i] < before[i] || t->score[i] > before[i])
				t->sd[i] = (double)NAN;
			continue;
		}
		for (size_t b = 0; b < m->n_bags; b++)
			mean += t->bag_score[b * n + i] / (double)m->n_bags;
		for (size_t b = 0; b < m->n_bags; b++)
			sq += (t->bag_score[b * n + i] - mean) * (t->bag_score[b * n + i] - mean);
		if (m->n_bags > 1)
			t->sd[i] = sqrt(sq / (double)m->n_bags);
	}
}

static void measure(const struct fit_ga2m *m, const struct fit_ga2m_term *t, const double *before,
		    struct fit_ga2m_change *c)
{
	double sum = 0, total = 0;

	for (size_t i = 0; i < fit_ga2m_n_cells(t); i++) {
		double far = 0;

		for (size_t o = 0; o < m->n_outputs; o++) {
			double d = fabs(t->score[i * m->n_outputs + o] - before[i * m->n_outputs + o]);

			far = fmax(far, d);
			sum += t->weight[i] * d / (double)m->n_outputs;
		}
		c->cells += far > 0;
		c->largest = fmax(c->largest, far);
		total += t->weight[i];
	}
	c->mean = total > 0 ? sum / total : 0;
}

/* What an edit of large scores may not become. */
static bool is_finite(const struct fit_ga2m *m, const struct fit_ga2m_term *t, size_t n)
{
	bool finite = true;

	for (size_t i = 0; i < n; i++)
		finite = finite && isfinite(t->score[i]);
	for (size_t i = 0; t->bag_score && i < m->n_bags * n; i++)
		finite = finite && isfinite(t->bag_score[i]);
	return finite;
}

static const char *unfit(const struct fit_ga2m *m, const struct fit_ga2m_term *t,
		enum fit_ga2m_edit_kind kind)
{
	bool shape = kind >= FIT_GA2M_MONOTONE && kind <= FIT_GA2M_MAKE_CONCAVE;

	if (shape && t->n_dims == 2)
		return "a pair has no such shape";
	for (int d = 0; d < t->n_dims && (shape || kind == FIT_GA2M_SMOOTH); d++)
		if (m->features[t->feature[d]].nominal)
			return "categories have no order";
	if (shape && m->n_outputs > 1)
		return "a shape of several classes";
	return NULL;
}

/* The scores of t, then those of its bags. */
static void copy_scores(const struct fit_ga2m *m, const struct fit_ga2m_term *t, size_t n, double *to)
{
	memcpy(to, t->score, n * sizeof *to);
	if (t->bag_score && m->n_bags)
		memcpy(to + n, t->bag_score, m->n_bags * n * sizeof *to);
}

static void restore_scores(const struct fit_ga2m *m, struct fit_ga2m_term *t, size_t n, const double *from)
{
	memcpy(t->score, from, n * sizeof *from);
	if (t->bag_score && m->n_bags)
		memcpy(t->bag_score, from + n, m->n_bags * n * sizeof *from);
}

static int edit_all(const struct fit_ga2m *m, struct fit_ga2m_term *t, const struct fit_ga2m_edit *e,
		    enum fit_ga2m_edit_kind kind, size_t n, struct fit_err *err)
{
	int rc = edit_table(m, t, e, kind, t->score);

	/* bags go the way that the mean of them went */
	if (!rc && kind == FIT_GA2M_MONOTONE)
		kind = t->n_bins[0] > 2 && t->score[(t->n_bins[0] - 2) * m->n_outputs] < t->score[m->n_outputs]
			       ? FIT_GA2M_MAKE_DECREASING
			       : FIT_GA2M_MAKE_INCREASING;
	for (size_t b = 0; b < m->n_bags && t->bag_score && !rc; b++)
		rc = edit_table(m, t, e, kind, t->bag_score + b * n);
	if (rc)
		return fit_fail_nomem(err);
	return is_finite(m, t, n) ? FIT_OK : fit_fail(err, FIT_EINVAL, "a score would be too large for a number");
}

int fit_ga2m_edit_apply(struct fit_ga2m *m, const struct fit_ga2m_edit *e, struct fit_ga2m_change *change,
			struct fit_err *err)
{
	struct fit_ga2m_term *t = &m->terms[e->term];
	size_t n = fit_ga2m_n_cells(t) * m->n_outputs;
	enum fit_ga2m_edit_kind kind = e->kind == FIT_GA2M_REMOVE ? FIT_GA2M_FLATTEN : e->kind;
	const char *wrong = unfit(m, t, kind);
	double *before;
	int rc;

	*change = (struct fit_ga2m_change){ .importance_before = t->importance };
	if (wrong)
		return fit_fail(err, FIT_EINVAL, "%s", wrong);
	before = malloc(((t->bag_score ? m->n_bags + 1 : 1) * n + 1) * sizeof *before);
	if (!before)
		return fit_fail_nomem(err);
	copy_scores(m, t, n, before);
	rc = edit_all(m, t, e, kind, n, err);
	if (rc) {
		restore_scores(m, t, n, before);
	} else {
		measure(m, t, before, change);
		set_spreads(m, t, e, before);
		fit_ga2m_rate_term(m, t);
		if (!t->bag_score)
			t->importance_sd = e->kind == FIT_GA2M_SCALE ? t->importance_sd * fabs(e->number)
					   : change->cells	      ? (double)NAN
								      : t->importance_sd;
		change->importance_after = t->importance;
	}
	if (!rc && e->kind == FIT_GA2M_REMOVE)
		fit_ga2m_remove_term(m, e->term);
	free(before);
	return rc;
}

static bool is_about(const char *note, const char *edit, const struct fit_str *term, char then)
{
	size_t n = strlen(edit);

	return strncmp(note, edit, n) == 0 && strncmp(note + n, term->s, term->n) == 0 && note[n + term->n] == then;
}

/* Notes begin with the edit, "pin:TERM@RANGE=X: …" or "free:TERM: …". */
bool fit_ga2m_is_pinned(const struct fit_ga2m *m, size_t term)
{
	struct fit_str name = { 0 };
	bool pinned = false;

	if (fit_ga2m_term_name(m, term, &name))
		return false;
	for (size_t i = 0; i < m->meta.n; i++) {
		const char *v = m->meta.pairs[i].value;

		if (strncmp(m->meta.pairs[i].key, "note_", 5) != 0)
			continue;
		if (is_about(v, "pin:", &name, '@'))
			pinned = true;
		else if (is_about(v, "free:", &name, ':'))
			pinned = false;
	}
	fit_str_release(&name);
	return pinned;
}

int fit_ga2m_add_note(struct fit_ga2m *m, const char *text)
{
	char key[40];
	size_t n = 1;

	for (size_t i = 0; i < m->meta.n; i++)
		n += strncmp(m->meta.pairs[i].key, "note_", 5) == 0;
	snprintf(key, sizeof key, "note_%zu", n);
	return fit_meta_add(&m->meta, key, text);
}
