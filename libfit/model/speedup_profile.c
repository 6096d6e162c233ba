/* SPDX-License-Identifier: MIT */
#include "libfit/model/speedup_profile.h"

#include <math.h>
#include <stdbool.h>

#define SLACK 1e-8 /* of the reference's roundings up */

static bool pack(struct fit_placement *p, int64_t gpus, int64_t gpus_per_node)
{
	p->n_nodes = 0;
	for (; gpus > 0; gpus -= gpus_per_node) {
		if (p->n_nodes == FIT_PLACEMENT_MAX)
			return false;
		p->gpus[p->n_nodes++] = (int)(gpus < gpus_per_node ? gpus : gpus_per_node);
	}
	return true;
}

/* How a total batch size is split; atomic_bsz 0: it is not. */
static struct fit_batch split(const struct fit_app_info *info, double batch, int64_t gpus)
{
	double local = batch / (double)gpus;
	int64_t accum = (int64_t)ceil(local / (double)info->max_local_bsz - SLACK) - 1, most;
	struct fit_batch b = { 0, 0 };

	accum = accum < 0 ? 0 : accum;
	if (gpus == 1 && batch > (double)info->init_batch + SLACK && accum < 1)
		accum = 1;
	b.accum_steps = accum;
	b.atomic_bsz = (int64_t)ceil(local / (double)(accum + 1) - SLACK);
	most = info->max_batch / (gpus * (accum + 1));
	if (b.atomic_bsz > most)
		b.atomic_bsz = most;
	if (b.atomic_bsz < info->min_local_bsz || b.atomic_bsz > info->max_local_bsz)
		b.atomic_bsz = 0;
	return b;
}

static bool same(struct fit_batch a, struct fit_batch b)
{
	return a.atomic_bsz == b.atomic_bsz && a.accum_steps == b.accum_steps;
}

/* How total batch sizes are split over so many GPUs; not more than FIT_SPEEDUP_BATCHES. */
static size_t candidates(const struct fit_app_info *info, int64_t gpus, struct fit_batch *out)
{
	double lo = fmax((double)info->init_batch, (double)(info->min_local_bsz * gpus));
	double log_lo = log10(lo), log_hi = log10((double)info->max_batch);
	size_t n = 0;

	if (lo > (double)info->max_batch || (info->max_replicas && gpus > info->max_replicas))
		return 0;
	for (int k = 0; k < FIT_SPEEDUP_BATCHES; k++) {
		double batch = k == 0 ? lo :
			       k == FIT_SPEEDUP_BATCHES - 1 ?
				       (double)info->max_batch :
				       pow(10, log_lo + k * ((log_hi - log_lo) /
							     (FIT_SPEEDUP_BATCHES - 1)));
		struct fit_batch b = split(info, batch, gpus);

		if (b.atomic_bsz > 0 && !(n > 0 && same(b, out[n - 1])))
			out[n++] = b;
	}
	return n;
}

/* The different sizes of batches in ascending order; their number. */
static size_t sizes_of(const struct fit_batch *batches, size_t n, int64_t *sizes)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t x = batches[i].atomic_bsz;
		size_t at = m;

		while (at > 0 && sizes[at - 1] > x)
			at--;
		if (at > 0 && sizes[at - 1] == x)
			continue;
		for (size_t k = m++; k > at; k--)
			sizes[k] = sizes[k - 1];
		sizes[at] = x;
	}
	return m;
}

int fit_speedup_width(struct fit_app *a, int64_t gpus, int64_t gpus_per_node,
		      struct fit_speedup_width *w, struct fit_err *err)
{
	struct fit_batch batches[FIT_SPEEDUP_BATCHES];
	int64_t sizes[FIT_SPEEDUP_BATCHES];
	double step[FIT_SPEEDUP_BATCHES], sync[FIT_SPEEDUP_BATCHES];
	struct fit_placement place;
	size_t n, m;
	int rc;

	w->n = 0;
	w->gpus = gpus;
	if (!pack(&place, gpus, gpus_per_node))
		return fit_fail(err, FIT_EINVAL, "%lld GPUs are more than %d nodes", (long long)gpus,
				FIT_PLACEMENT_MAX);
	w->nodes = place.n_nodes;
	n = candidates(fit_app_info(a), gpus, batches);
	m = sizes_of(batches, n, sizes);
	rc = fit_app_throughputs(a, &place, sizes, m, step, sync, err);
	for (size_t i = 0; i < n && !rc; i++) {
		size_t k = 0;

		while (sizes[k] != batches[i].atomic_bsz)
			k++;
		if (!isnan(step[k]))
			w->batches[w->n++] = (struct fit_speedup_batch){ batches[i], step[k], sync[k] };
	}
	return rc;
}

int fit_speedup_at(const struct fit_app *a, const struct fit_speedup_width *w, int64_t epoch,
		   struct fit_speedup_point *p, struct fit_err *err)
{
	const struct fit_app_info *info = fit_app_info(a);

	*p = (struct fit_speedup_point){ 0 };
	if (epoch < 0 || epoch >= info->epochs)
		return fit_fail(err, FIT_EINVAL, "application '%s': no epoch '%lld'", info->name,
				(long long)epoch);
	for (size_t i = 0; i < w->n; i++) {
		const struct fit_speedup_batch *b = &w->batches[i];
		struct fit_err why;
		double rate;
		int rc = fit_app_rate(a, w->gpus, b->split, epoch, b->step_s, b->sync_s, &rate, &why);

		if (rc == FIT_EDATA) /* outside of the training runs */
			continue;
		if (rc)
			return fit_fail(err, rc, "%s", why.msg);
		if (rate > p->speed) {
			p->speed = rate;
			p->batch_size = w->gpus * b->split.atomic_bsz * (b->split.accum_steps + 1);
			p->accum_steps = b->split.accum_steps;
		}
	}
	return FIT_OK;
}

void fit_speedup_phase(int64_t epochs, int64_t n, int64_t p, int64_t *from, int64_t *to)
{
	int64_t each = epochs / n, more = epochs % n;

	*from = p * each + (p < more ? p : more);
	*to = *from + each + (p < more);
}

double fit_speedup_work(const struct fit_app *a, int64_t from, int64_t to)
{
	return fit_app_epoch_start(a, to) - fit_app_epoch_start(a, from);
}

int fit_speedup_over(const struct fit_app *a, const struct fit_speedup_width *w, int64_t from, int64_t to,
		     double *speed, struct fit_speedup_point *first, struct fit_speedup_point *last,
		     struct fit_err *err)
{
	double time = 0;

	*speed = 0;
	for (int64_t e = from; e < to; e++) {
		struct fit_speedup_point p;
		int rc = fit_speedup_at(a, w, e, &p, err);

		if (rc)
			return rc;
		if (e == from && first)
			*first = p;
		if (e == to - 1 && last)
			*last = p;
		time += p.speed > 0 ? fit_speedup_work(a, e, e + 1) / p.speed : (double)INFINITY;
	}
	if (time > 0 && isfinite(time))
		*speed = fit_speedup_work(a, from, to) / time;
	return FIT_OK;
}
