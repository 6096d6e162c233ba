/* SPDX-License-Identifier: MIT */
/* The choice of alpha by cross-validation. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/meter.h"
#include "libfit/model/tree.h"

#define MAX_THREADS 64

struct fold_sums {
	double *loss, *square;	/* by beta: weighted sums over the rows of the fold */
	double weight;
};

/* What a thread does: one fold. */
struct fold {
	const struct fit_tree_data *d;
	const struct fit_tree_params *p;
	const struct fit_tree_cv_params *c;
	const struct fit_tree_cv *cv;
	int64_t number;
	struct fold_sums sums;
	struct fit_err err;
	int rc;
};

static double loss_of(const struct fit_tree *t, const struct fit_tree_node *node, double y)
{
	double d = node->value - y;

	if (t->n_classes)
		return d < 0 || d > 0 ? 1 : 0;
	return t->criterion == FIT_TREE_SQUARED ? d * d : fabs(d);
}

/* One row that the tree has not seen, at every beta: the larger beta, the higher on its way it stops. */
static void judge_row(const struct fit_tree *t, const struct fit_tree_data *d, size_t row,
		      const struct fit_tree_cv *cv, struct fold_sums *sums)
{
	double w = d->w ? d->w[row] : 1;
	size_t at = 0, k = cv->n;

	sums->weight += w;
	/* from the root down, betas from the largest one down */
	while (k > 0) {
		const struct fit_tree_node *node = &t->nodes[at];

		for (; k > 0 && (node->left < 0 || node->alpha <= cv->rows[k - 1].beta); k--) {
			double loss = loss_of(t, node, d->y[row]);

			sums->loss[k - 1] += w * loss;
			sums->square[k - 1] += w * loss * loss;
		}
		if (node->left < 0)
			break;
		at = (size_t)(fit_tree_goes_left(t, node, d->x[node->feature][row]) ? node->left : node->right);
	}
}

static int64_t fold_of(const struct fit_tree_cv_params *c, size_t row, size_t n)
{
	if (c->blocks)
		return (int64_t)((double)row / (double)n * (double)c->folds);
	return (int64_t)row % c->folds;
}

static int grow_and_judge(struct fold *f)
{
	const struct fit_tree_data *d = f->d;
	struct fit_tree_data part = *d;
	struct fit_tree t = { 0 };
	double *w = malloc((d->n_rows + 1) * sizeof *w);
	int rc;

	if (!w)
		return fit_fail_nomem(&f->err);
	for (size_t i = 0; i < d->n_rows; i++)
		w[i] = fold_of(f->c, i, d->n_rows) == f->number ? 0 : d->w ? d->w[i] : 1;
	part.w = w;
	rc = fit_tree_train(&t, &part, f->p, &f->err);
	memset(f->sums.loss, 0, f->cv->n * sizeof *f->sums.loss);
	memset(f->sums.square, 0, f->cv->n * sizeof *f->sums.square);
	f->sums.weight = 0;
	for (size_t i = 0; i < d->n_rows && !rc; i++)
		if (fold_of(f->c, i, d->n_rows) == f->number)
			judge_row(&t, d, i, f->cv, &f->sums);
	fit_tree_release(&t);
	free(w);
	return rc;
}

static void *run_fold(void *arg)
{
	struct fold *f = arg;

	f->rc = grow_and_judge(f);
	return NULL;
}

/* So many folds side by side, f[0] by this thread. */
static void run_folds(struct fold *f, size_t n)
{
	pthread_t thread[MAX_THREADS];
	bool started[MAX_THREADS] = { false };

	for (size_t k = 1; k < n; k++)
		started[k] = pthread_create(&thread[k], NULL, run_fold, &f[k]) == 0;
	run_fold(&f[0]);
	for (size_t k = 1; k < n; k++) {
		if (started[k])
			pthread_join(thread[k], NULL);
		else
			run_fold(&f[k]);
	}
}

/* Each different alpha once; between it and the next one, their geometric mean. */
static int choose_betas(struct fit_tree_cv *cv, const struct fit_tree_path *path, struct fit_err *err)
{
	cv->rows = calloc(path->n + 1, sizeof *cv->rows);
	if (!cv->rows)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < path->n; i++) {
		const struct fit_tree_step *s = &path->steps[i];

		if (cv->n > 0 && !(s->alpha > cv->rows[cv->n - 1].alpha))
			cv->n--;
		cv->rows[cv->n++] = (struct fit_tree_cv_row){ .alpha = s->alpha, .leaves = s->leaves };
	}
	for (size_t i = 0; i < cv->n; i++)
		cv->rows[i].beta = i + 1 < cv->n ? sqrt(cv->rows[i].alpha * cv->rows[i + 1].alpha)
					       : HUGE_VAL;
	return FIT_OK;
}

/* All folds, so many at a time. Their sums are added in the order of folds: threads do not matter. */
static int all_folds(const struct fold *like, size_t threads, struct fold_sums *sums, struct fit_err *err)
{
	size_t folds = (size_t)like->c->folds, n = like->cv->n;
	struct fold f[MAX_THREADS];
	int rc = FIT_OK;

	for (size_t k = 0; k < threads; k++) {
		f[k] = *like;
		f[k].sums.loss = calloc(n + 1, sizeof *f[k].sums.loss);
		f[k].sums.square = calloc(n + 1, sizeof *f[k].sums.square);
		if (!f[k].sums.loss || !f[k].sums.square)
			rc = fit_fail_nomem(err);
	}
	for (size_t first = 0; first < folds && !rc; first += threads) {
		size_t now = folds - first < threads ? folds - first : threads;

		for (size_t k = 0; k < now; k++)
			f[k].number = (int64_t)(first + k);
		run_folds(f, now);
		fit_meter_tell("cross-validation", first + now, folds, "folds");
		for (size_t k = 0; k < now && !rc; k++) {
			rc = f[k].rc;
			if (rc && err)
				*err = f[k].err;
			for (size_t i = 0; i < n && !rc; i++) {
				sums->loss[i] += f[k].sums.loss[i];
				sums->square[i] += f[k].sums.square[i];
			}
			sums->weight += f[k].sums.weight;
		}
	}
	for (size_t k = 0; k < threads; k++) {
		free(f[k].sums.loss);
		free(f[k].sums.square);
	}
	return rc;
}

int fit_tree_cv(struct fit_tree_cv *cv, const struct fit_tree_data *d, const struct fit_tree_params *p,
		const struct fit_tree_path *path, const struct fit_tree_cv_params *c, struct fit_err *err)
{
	struct fold_sums sums = { 0 };
	double n = 0;
	int rc;

	*cv = (struct fit_tree_cv){ 0 };
	for (size_t i = 0; i < d->n_rows; i++)
		n += !d->w || d->w[i] > 0;
	if (c->folds < 2 || (double)c->folds > n)
		return fit_fail(err, FIT_EINVAL, "%lld folds of %.0f rows (expected 2 or more, and at most the rows)",
				(long long)c->folds, n);
	rc = choose_betas(cv, path, err);
	sums.loss = calloc(cv->n + 1, sizeof *sums.loss);
	sums.square = calloc(cv->n + 1, sizeof *sums.square);
	if (!rc && (!sums.loss || !sums.square))
		rc = fit_fail_nomem(err);
	if (!rc) {
		size_t threads = c->threads < 1 ? 1 : c->threads > MAX_THREADS ? MAX_THREADS : (size_t)c->threads;

		if (threads > (size_t)c->folds)
			threads = (size_t)c->folds;
		rc = all_folds(&(struct fold){ .d = d, .p = p, .c = c, .cv = cv }, threads, &sums, err);
	}
	for (size_t i = 0; i < cv->n && !rc; i++) {
		struct fit_tree_cv_row *row = &cv->rows[i];

		row->loss = sums.loss[i] / sums.weight;
		row->se = sqrt(fmax(sums.square[i] / sums.weight - row->loss * row->loss, 0) / n);
		/* of equals the smaller tree */
		if (row->loss <= cv->rows[cv->best].loss)
			cv->best = i;
	}
	for (size_t i = cv->best; i < cv->n && !rc; i++)
		if (i == cv->best ||
		    (c->one_se && cv->rows[i].loss <= cv->rows[cv->best].loss + cv->rows[cv->best].se))
			cv->chosen = i;
	free(sums.loss);
	free(sums.square);
	if (rc) {
		free(cv->rows);
		*cv = (struct fit_tree_cv){ 0 };
	}
	return rc;
}
