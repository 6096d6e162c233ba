/* SPDX-License-Identifier: MIT */
#include "libfit/model/ga2m_update.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/ga2m_edit.h"
#include "libfit/model/ga2m_purify.h"

/* ---- bins of both ---- */

static int by_value(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* The different numbers of lists of cuts, in order. */
static int unite(const double *const *lists, const size_t *n, size_t n_lists, double **out, size_t *n_out)
{
	size_t all = 0, k = 0;

	for (size_t i = 0; i < n_lists; i++)
		all += n[i];
	*out = malloc((all + 1) * sizeof **out);
	if (!*out)
		return FIT_ENOMEM;
	for (size_t i = 0; i < n_lists; i++) {
		if (n[i])
			memcpy(*out + k, lists[i], n[i] * sizeof **out);
		k += n[i];
	}
	if (all)
		qsort(*out, all, sizeof **out, by_value);
	k = 0;
	for (size_t i = 0; i < all; i++)
		if (k == 0 || (*out)[i] > (*out)[k - 1])
			(*out)[k++] = (*out)[i];
	*n_out = k;
	return FIT_OK;
}

static int unite_numbers(struct fit_ga2m_feature *f, const struct fit_ga2m_feature *a,
			 const struct fit_ga2m_feature *b)
{
	const double *lists[] = { a->cuts[1], b->cuts[1], a->cuts[0], b->cuts[0] };
	size_t n[] = { a->n_cuts[1], b->n_cuts[1], a->n_cuts[0], b->n_cuts[0] };
	int rc = unite(lists, n, 2, &f->cuts[1], &f->n_cuts[1]);

	if (!rc && f->n_cuts[1] + 1 > FIT_GA2M_UPDATE_PAIR_BINS) {
		free(f->cuts[1]);
		f->cuts[1] = NULL;
		rc = unite(lists, n, 1, &f->cuts[1], &f->n_cuts[1]);
		n[1] = 0;
	}
	/* cuts of pairs are some of those of main effects */
	rc = rc ? rc : unite(lists, n, 4, &f->cuts[0], &f->n_cuts[0]);
	if (!rc && f->n_cuts[0] + 1 > FIT_GA2M_UPDATE_BINS) {
		free(f->cuts[0]);
		f->cuts[0] = NULL;
		lists[0] = f->cuts[1];
		n[0] = f->n_cuts[1];
		lists[1] = a->cuts[0];
		n[1] = a->n_cuts[0];
		rc = unite(lists, n, 2, &f->cuts[0], &f->n_cuts[0]);
	}
	f->min = fmin(a->min, b->min);	/* fmin passes over NaN */
	f->max = fmax(a->max, b->max);
	return rc;
}

static int unite_categories(struct fit_ga2m_feature *f, const struct fit_ga2m_feature *a,
			    const struct fit_ga2m_feature *b)
{
	size_t i = 0, j = 0;

	f->min = f->max = (double)NAN;
	f->categories = calloc(a->n_categories + b->n_categories + 1, sizeof *f->categories);
	if (!f->categories)
		return FIT_ENOMEM;
	while (i < a->n_categories || j < b->n_categories) {
		int order = i == a->n_categories ? 1 : j == b->n_categories ? -1
						    : strcmp(a->categories[i], b->categories[j]);
		const char *name = order <= 0 ? a->categories[i] : b->categories[j];

		f->categories[f->n_categories] = fit_strdup(fit_text_of(name));
		if (!f->categories[f->n_categories])
			return FIT_ENOMEM;
		f->n_categories++;
		i += order <= 0;
		j += order >= 0;
	}
	return FIT_OK;
}

/* ---- which bins of one model lie in which bins of the other ---- */

struct overlap {
	size_t bin;		/* of the source */
	double part;		/* of it */
};

/* For each bin of the new feature, the bins of the source that it holds parts of. */
struct cover {
	struct overlap *list;
	size_t *from;		/* n_bins + 1 */
};

static void cover_release(struct cover *c)
{
	free(c->list);
	free(c->from);
}

static double edge(const struct fit_ga2m_feature *f, int level, size_t bin, bool upper, double low,
		double high)
{
	if (upper)
		return bin - 1 < f->n_cuts[level] ? f->cuts[level][bin - 1] : high;
	return bin >= 2 ? f->cuts[level][bin - 2] : low;
}

static int cover_numbers(struct cover *c, size_t *n, const struct fit_ga2m_feature *to,
		const struct fit_ga2m_feature *of,
			 int level)
{
	size_t bins = fit_ga2m_n_bins(to, level), theirs = fit_ga2m_n_bins(of, level);
	double low = fmin(fmin(to->min, of->min), to->n_cuts[level] ? to->cuts[level][0] : HUGE_VAL);
	double high = fmax(fmax(to->max, of->max),
			   to->n_cuts[level] ? to->cuts[level][to->n_cuts[level] - 1] : -HUGE_VAL);
	size_t k = 1;

	if (of->n_cuts[level]) {
		low = fmin(low, of->cuts[level][0]);
		high = fmax(high, of->cuts[level][of->n_cuts[level] - 1]);
	}
	if (!(low < high)) {
		low = 0;
		high = 1;
	}
	for (size_t i = 1; i + 1 < bins; i++) {
		double a = edge(to, level, i, false, low, high), b = edge(to, level, i, true, low, high);

		c->from[i] = *n;
		/* back to the first one that reaches beyond a */
		while (k > 1 && edge(of, level, k, false, low, high) > a)
			k--;
		while (k + 2 < theirs && edge(of, level, k, true, low, high) <= a)
			k++;
		for (size_t s = k; s + 1 < theirs; s++) {
			double p = edge(of, level, s, false, low, high), q = edge(of, level, s, true, low, high);
			double part = (fmin(b, q) - fmax(a, p)) / (q - p);

			if (s > k && p >= b)
				break;
			/* an outer bin may have no width: it is where its bin of the other model is */
			c->list[(*n)++] = (struct overlap){ s, part > 0 ? fmin(part, 1) : 0 };
		}
	}
	c->from[bins - 1] = *n;
	return FIT_OK;
}

static int cover_of(struct cover *c, const struct fit_ga2m_feature *to,
		const struct fit_ga2m_feature *of, int level)
{
	size_t bins = fit_ga2m_n_bins(to, level), theirs = fit_ga2m_n_bins(of, level), n = 0;

	*c = (struct cover){ calloc(bins + theirs + 4, 2 * sizeof *c->list), calloc(bins + 2, sizeof *c->from) };
	if (!c->list || !c->from)
		return FIT_ENOMEM;
	c->list[n++] = (struct overlap){ 0, 1 };	/* missing */
	if (to->nominal) {
		for (size_t i = 1; i + 1 < bins; i++) {
			double code = fit_ga2m_category(of, fit_text_of(to->categories[i - 1]));

			c->from[i] = n;
			if (code >= 0)
				c->list[n++] = (struct overlap){ 1 + (size_t)code, 1 };
		}
		c->from[bins - 1] = n;
	} else {
		int rc = cover_numbers(c, &n, to, of, level);

		if (rc)
			return rc;
	}
	c->from[bins] = n;	/* nothing for unseen ones: their score is 0 */
	return FIT_OK;
}

/* ---- a term in other bins ---- */

struct moved {
	double *score, *weight, *sq;	/* by cell and output, by cell, as score: squares of spreads */
};

/* Output o of cell (i, j), from the parts of cells of the source that it holds. */
static void move_cell(const struct fit_ga2m_term *of, size_t k, size_t o, const struct cover *c, int n_dims,
		      size_t i, size_t j, size_t cell, struct moved *out)
{
	size_t a = n_dims == 2 ? c[1].from[j] : 0, b = n_dims == 2 ? c[1].from[j + 1] : 1;
	double mass = 0, sum = 0, sq = 0, plain = 0, plain_sq = 0, n = 0;

	for (size_t s = c[0].from[i]; s < c[0].from[i + 1]; s++) {
		for (size_t r = a; r < b; r++) {
			size_t from = c[0].list[s].bin * of->n_bins[1] + (n_dims == 2 ? c[1].list[r].bin : 0);
			double part = c[0].list[s].part * (n_dims == 2 ? c[1].list[r].part : 1);
			double w = part * of->weight[from], sd = of->sd[from * k + o];
			double score = of->score[from * k + o];

			sd = isnan(sd) ? 0 : sd;
			mass += w;
			sum += w * score;
			sq += w * sd * sd;
			plain += score;
			plain_sq += sd * sd;
			n++;
		}
	}
	out->weight[cell] = mass;
	/* one source says its score to the bit */
	out->score[cell * k + o] = n <= 1 ? plain : mass > 0 ? sum / mass : plain / n;
	out->sq[cell * k + o] = n <= 1 ? plain_sq : mass > 0 ? sq / mass : plain_sq / n;
}

static int move_term(const struct fit_ga2m *m, const struct fit_ga2m_term *to,
		const struct fit_ga2m *of_model,
		     const struct fit_ga2m_term *of, struct moved *out)
{
	struct cover c[2] = { { NULL, NULL }, { NULL, NULL } };
	size_t cells = fit_ga2m_n_cells(to), k = m->n_outputs;
	int rc = FIT_OK;

	*out = (struct moved){ calloc(cells * k + 1, sizeof *out->score), calloc(cells + 1, sizeof *out->weight),
			       calloc(cells * k + 1, sizeof *out->sq) };
	if (!out->score || !out->weight || !out->sq)
		return FIT_ENOMEM;
	for (int d = 0; d < to->n_dims && !rc; d++)
		rc = cover_of(&c[d], &m->features[to->feature[d]], &of_model->features[of->feature[d]], to->level[d]);
	for (size_t i = 0; i < to->n_bins[0] && !rc; i++)
		for (size_t j = 0; j < to->n_bins[1]; j++)
			for (size_t o = 0; o < k; o++)
				move_cell(of, k, o, c, to->n_dims, i, j, i * to->n_bins[1] + j, out);
	cover_release(&c[0]);
	cover_release(&c[1]);
	return rc;
}

static void moved_release(struct moved *v)
{
	free(v->score);
	free(v->weight);
	free(v->sq);
}

/* ---- the sum ---- */

/* Take the mean of each output away, into the intercepts. */
static void centre(struct fit_ga2m *m, struct fit_ga2m_term *t)
{
	size_t k = m->n_outputs;

	for (size_t o = 0; o < k; o++) {
		double sum = 0, total = 0;

		for (size_t i = 0; i < fit_ga2m_n_cells(t); i++) {
			sum += t->weight[i] * t->score[i * k + o];
			total += t->weight[i];
		}
		sum = total > 0 ? sum / total : 0;
		/* all but cells of an unseen category, which stay 0 */
		for (size_t i = 0; i + 1 < t->n_bins[0]; i++)
			for (size_t j = 0; j < t->n_bins[1] && (t->n_dims == 1 || j + 1 < t->n_bins[1]); j++)
				t->score[(i * t->n_bins[1] + j) * k + o] -= sum;
		m->intercept[o] += sum;
	}
}

/* Main effects that new weights find in one output of a pair go where they belong. */
static int purify_output(struct fit_ga2m *m, const struct fit_ga2m_term *t, size_t o,
			 struct fit_ga2m_term *const main_of[2])
{
	size_t k = m->n_outputs, cells = fit_ga2m_n_cells(t);
	double *effect[2] = { calloc(t->n_bins[0] + 1, sizeof **effect), calloc(t->n_bins[1] + 1, sizeof **effect) };
	double *score = malloc((cells + 1) * sizeof *score), constant = 0;
	int rc = effect[0] && effect[1] && score ? FIT_OK : FIT_ENOMEM;

	for (size_t i = 0; i < cells && !rc; i++)
		score[i] = t->score[i * k + o];
	rc = rc ? rc : fit_ga2m_purify(score, t->weight, t->n_bins[0], t->n_bins[1], effect[0], effect[1],
				       &constant);
	for (size_t i = 0; i < cells && !rc; i++)
		t->score[i * k + o] = score[i];
	for (int d = 0; d < 2 && !rc; d++) {
		const struct fit_ga2m_feature *f = &m->features[t->feature[d]];

		main_of[d]->score[o] += effect[d][0];
		for (size_t i = 1; i + 1 < main_of[d]->n_bins[0]; i++) {
			double x = f->nominal ? (double)(i - 1) : i >= 2 ? f->cuts[0][i - 2] : -HUGE_VAL;

			main_of[d]->score[i * k + o] += effect[d][fit_ga2m_bin(f, t->level[d], x)];
		}
	}
	m->intercept[o] += rc ? 0 : constant;
	free(effect[0]);
	free(effect[1]);
	free(score);
	return rc;
}

/* A pair whose features both have a main effect that may move, else it stays as it is. */
static int purify(struct fit_ga2m *m, const struct fit_ga2m_term *t, const bool *pinned)
{
	struct fit_ga2m_term *main_of[2];
	int rc = FIT_OK;

	for (int d = 0; d < 2; d++) {
		size_t k = fit_ga2m_find_term(m, t->feature[d], SIZE_MAX);

		if (k == SIZE_MAX || pinned[k])
			return FIT_OK;
		main_of[d] = &m->terms[k];
	}
	for (size_t o = 0; o < m->n_outputs && !rc; o++)
		rc = purify_output(m, t, o, main_of);
	return rc;
}

static int make_features(struct fit_ga2m *n, const struct fit_ga2m *m, const struct fit_ga2m *delta,
			 struct fit_err *err)
{
	n->features = calloc(m->n_features + 1, sizeof *n->features);
	if (!n->features)
		return fit_fail_nomem(err);
	for (size_t f = 0; f < m->n_features; f++) {
		size_t g = fit_ga2m_find_feature(delta, m->features[f].name);
		struct fit_ga2m_feature *x = &n->features[f];

		n->n_features++;
		x->nominal = m->features[f].nominal;
		x->n_unique = m->features[f].n_unique;
		x->name = fit_strdup(fit_text_of(m->features[f].name));
		if (!x->name)
			return fit_fail_nomem(err);
		if (g == SIZE_MAX || delta->features[g].nominal != x->nominal)
			return fit_fail(err, FIT_EINVAL, "feature '%s' is not the same in both models", x->name);
		if (x->n_unique < delta->features[g].n_unique)
			x->n_unique = delta->features[g].n_unique;
		if (x->nominal ? unite_categories(x, &m->features[f], &delta->features[g])
			       : unite_numbers(x, &m->features[f], &delta->features[g]))
			return fit_fail_nomem(err);
	}
	return FIT_OK;
}

/* The term of delta over the same features as term t of m; NULL when there is none. */
static const struct fit_ga2m_term *twin(const struct fit_ga2m *m, const struct fit_ga2m_term *t,
					const struct fit_ga2m *delta)
{
	size_t a = fit_ga2m_find_feature(delta, m->features[t->feature[0]].name);
	size_t b = t->n_dims == 2 ? fit_ga2m_find_feature(delta, m->features[t->feature[1]].name) : SIZE_MAX;
	size_t k = fit_ga2m_find_term(delta, a, b);

	return k == SIZE_MAX ? NULL : &delta->terms[k];
}

static void measure(const struct fit_ga2m_term *t, size_t k, const struct moved *change,
		    struct fit_ga2m_drift *x)
{
	double sum = 0, total = 0, spread = 0;

	for (size_t i = 0; i < fit_ga2m_n_cells(t); i++) {
		for (size_t o = 0; o < k; o++) {
			sum += change->weight[i] * fabs(change->score[i * k + o]) / (double)k;
			spread += change->weight[i] * sqrt(change->sq[i * k + o]) / (double)k;
			if (change->weight[i] > 0)
				x->largest = fmax(x->largest, fabs(change->score[i * k + o]));
		}
		total += change->weight[i];
	}
	x->mean = total > 0 ? sum / total : 0;
	x->spread = total > 0 ? spread / total : (double)NAN;
}

/* A pinned term gets the fresh weights, and nothing else. */
static int add_term(struct fit_ga2m *n, const struct fit_ga2m *m, size_t k, const struct fit_ga2m *delta,
		    double keep, bool pinned, struct fit_ga2m_drift *x, struct fit_err *err)
{
	const struct fit_ga2m_term *old = &m->terms[k], *fresh = twin(m, old, delta);
	bool moves = fresh && !pinned;
	size_t outputs = m->n_outputs;
	struct moved a = { NULL, NULL, NULL }, b = { NULL, NULL, NULL };
	struct fit_ga2m_term *t;
	int rc;

	rc = fit_ga2m_add_term(n, old->feature[0], old->n_dims == 2 ? old->feature[1] : SIZE_MAX, old->level[0],
			       old->level[1], &t);
	if (rc)
		return rc == FIT_ENOMEM ? fit_fail_nomem(err)
					: fit_fail(err, FIT_EDATA, "a pair would have too many cells");
	rc = move_term(n, t, m, old, &a);
	if (!rc && fresh)
		rc = move_term(n, t, delta, fresh, &b);
	for (size_t i = 0; i < fit_ga2m_n_cells(t) && !rc; i++)
		t->weight[i] = keep * a.weight[i] + (fresh ? b.weight[i] : 0);
	for (size_t i = 0; i < fit_ga2m_n_cells(t) * outputs && !rc; i++) {
		t->score[i] = a.score[i] + (moves ? b.score[i] : 0);
		t->sd[i] = sqrt(a.sq[i] + (moves ? b.sq[i] : 0));
	}
	*x = (struct fit_ga2m_drift){ .term = k, .importance_before = old->importance, .spread = (double)NAN };
	if (!rc && moves)
		measure(t, outputs, &b, x);
	moved_release(&a);
	moved_release(&b);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int copy_head(struct fit_ga2m *n, const struct fit_ga2m *m)
{
	const struct { char **to; const char *from; } texts[] = {
		{ &n->target, m->target }, { &n->weight, m->weight }, { &n->offset, m->offset }, { &n->time, m->time }
	};

	n->loss = m->loss;
	n->quantile = m->quantile;
	n->n_outputs = m->n_outputs;
	n->n_bags = m->n_bags;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].from && !(*texts[i].to = fit_strdup(fit_text_of(texts[i].from))))
			return FIT_ENOMEM;
	n->classes = calloc(m->n_classes + 1, sizeof *n->classes);
	n->intercept = calloc(m->n_outputs + 1, sizeof *n->intercept);
	if (!n->classes || !n->intercept)
		return FIT_ENOMEM;
	for (; n->n_classes < m->n_classes; n->n_classes++)
		if (!(n->classes[n->n_classes] = fit_strdup(fit_text_of(m->classes[n->n_classes]))))
			return FIT_ENOMEM;
	return fit_meta_copy(&n->meta, &m->meta);
}

static bool same_classes(const struct fit_ga2m *a, const struct fit_ga2m *b)
{
	bool same = a->n_outputs == b->n_outputs && a->n_classes == b->n_classes;

	for (size_t c = 0; c < a->n_classes && same; c++)
		same = strcmp(a->classes[c], b->classes[c]) == 0;
	return same;
}

/* Of several outputs the mean size. */
static double mean_size(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += n == 1 ? v[i] : fabs(v[i]) / (double)n;
	return sum;
}

static void rate(struct fit_ga2m *n, const struct fit_ga2m *m, const struct fit_ga2m *delta,
		 struct fit_ga2m_drift *drift)
{
	size_t k = m->n_outputs;

	drift[0] = (struct fit_ga2m_drift){ .term = SIZE_MAX, .importance_before = mean_size(m->intercept, k),
					    .importance_after = mean_size(n->intercept, k),
					    .mean = fabs(mean_size(delta->intercept, k)), .spread = (double)NAN };
	for (size_t o = 0; o < k; o++)
		drift[0].largest = fmax(drift[0].largest, fabs(delta->intercept[o]));
	for (size_t t = 0; t < n->n_terms; t++) {
		fit_ga2m_rate_term(n, &n->terms[t]);
		n->terms[t].importance_sd = (double)NAN;
		drift[t + 1].importance_after = n->terms[t].importance;
	}
}

int fit_ga2m_add(struct fit_ga2m *m, const struct fit_ga2m *delta, double keep, struct fit_ga2m_drift *drift,
		 struct fit_err *err)
{
	struct fit_ga2m n = { 0 };
	bool *pinned = calloc(m->n_terms + 1, sizeof *pinned);
	const char *wrong;
	int rc;

	if (!pinned)
		return fit_fail_nomem(err);
	for (size_t k = 0; k < m->n_terms; k++)
		pinned[k] = fit_ga2m_is_pinned(m, k);
	rc = same_classes(m, delta) ? FIT_OK :
	     fit_fail(err, FIT_EINVAL, "the classes of the models are not the same");
	if (!rc)
		rc = copy_head(&n, m) ? fit_fail_nomem(err) : make_features(&n, m, delta, err);
	n.n_rows = m->n_rows + delta->n_rows;
	for (size_t o = 0; o < m->n_outputs && !rc; o++)
		n.intercept[o] = m->intercept[o] + delta->intercept[o];
	for (size_t k = 0; k < m->n_terms && !rc; k++)
		rc = add_term(&n, m, k, delta, keep, pinned[k], &drift[k + 1], err);
	for (size_t k = 0; k < n.n_terms && !rc; k++)
		if (n.terms[k].n_dims == 2 && !pinned[k] && purify(&n, &n.terms[k], pinned))
			rc = fit_fail_nomem(err);
	for (size_t k = 0; k < n.n_terms && !rc; k++)
		if (!pinned[k])
			centre(&n, &n.terms[k]);
	free(pinned);
	if (!rc && (wrong = fit_ga2m_check(&n)))
		rc = fit_fail(err, FIT_EDATA, "the sum of the models is none (%s)", wrong);
	if (rc) {
		fit_ga2m_release(&n);
		return rc;
	}
	rate(&n, m, delta, drift);
	fit_ga2m_release(m);
	*m = n;
	return FIT_OK;
}

/* ---- training what is left ---- */

static double value_of(const struct fit_ga2m *m, const struct fit_ga2m_data *d, size_t f, size_t row)
{
	const struct fit_ga2m_column *c = &d->columns[f];

	if (!c->nominal)
		return c->x[row];
	if (c->code[row] == FIT_GA2M_MISSING)
		return (double)NAN;
	return fit_ga2m_category(&m->features[f], fit_text_of(c->categories[c->code[row]]));
}

/* The scores of m, which the training starts from. */
static int add_scores(const struct fit_ga2m *m, struct fit_ga2m_data *d, struct fit_err *err)
{
	size_t k = m->n_outputs;
	double *x = calloc(m->n_features + 1, sizeof *x), *score = calloc(k + 1, sizeof *score);

	if (k > 1)
		d->known = calloc(d->n_rows * k + 1, sizeof *d->known);
	else if (!d->offset)
		d->offset = calloc(d->n_rows + 1, sizeof *d->offset);
	if (!x || !score || !(k > 1 ? d->known : d->offset)) {
		free(x);
		free(score);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < d->n_rows; i++) {
		for (size_t f = 0; f < m->n_features; f++)
			x[f] = value_of(m, d, f, i);
		fit_ga2m_score(m, x, score);
		for (size_t o = 0; o < k; o++)
			*(k > 1 ? &d->known[i * k + o] : &d->offset[i]) += score[o];
	}
	free(x);
	free(score);
	return FIT_OK;
}

/* What is pinned is not trained: neither main effects nor pairs. */
static void choose_terms(const struct fit_ga2m *m, struct fit_ga2m_params *p, size_t (*pairs)[2], bool *fixed)
{
	for (size_t k = 0; k < m->n_terms; k++) {
		const struct fit_ga2m_term *t = &m->terms[k];
		bool pinned = fit_ga2m_is_pinned(m, k);

		if (pinned && t->n_dims == 1) {
			fixed[t->feature[0]] = true;
			/* its part of a pair has nowhere to go */
			p->purify = false;
		} else if (!pinned && t->n_dims == 2) {
			pairs[p->n_pair_list][0] = t->feature[0];
			pairs[p->n_pair_list++][1] = t->feature[1];
		}
	}
}

int fit_ga2m_update(struct fit_ga2m *m, struct fit_ga2m_data *d, const struct fit_ga2m_params *p,
		double keep,
		    struct fit_ga2m_drift **drift, struct fit_ga2m_report *report, struct fit_err *err)
{
	struct fit_ga2m_params params = *p;
	struct fit_ga2m delta = { 0 };
	size_t(*pairs)[2] = calloc(m->n_terms + 1, sizeof *pairs);
	bool *fixed = calloc(m->n_features + 1, sizeof *fixed);
	int rc = FIT_OK;

	*drift = calloc(m->n_terms + 1, sizeof **drift);
	if (!pairs || !fixed || !*drift)
		rc = fit_fail_nomem(err);
	params.loss = m->loss;
	params.quantile = m->quantile;
	params.pairs = 0;
	params.n_pair_list = 0;
	if (!rc)
		choose_terms(m, &params, pairs, fixed);
	params.pair_list = (const size_t(*)[2])pairs;
	params.fixed = fixed;
	rc = rc ? rc : add_scores(m, d, err);
	rc = rc ? rc : fit_ga2m_train(&delta, d, &params, report, err);
	rc = rc ? rc : fit_ga2m_add(m, &delta, keep, *drift, err);
	fit_ga2m_release(&delta);
	free(pairs);
	free(fixed);
	if (rc) {
		free(*drift);
		*drift = NULL;
	}
	return rc;
}
