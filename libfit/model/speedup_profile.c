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

int fit_speedup_at(struct fit_app *a, int64_t gpus, int64_t gpus_per_node, int64_t epoch,
		   struct fit_speedup_point *p, struct fit_err *err)
{
	const struct fit_app_info *info = fit_app_info(a);
	double lo = fmax((double)info->init_batch, (double)(info->min_local_bsz * gpus));
	double log_lo = log10(lo), log_hi = log10((double)info->max_batch);
	struct fit_batch last = { 0, 0 };
	struct fit_placement place;

	*p = (struct fit_speedup_point){ 0 };
	if (epoch < 0 || epoch >= info->epochs)
		return fit_fail(err, FIT_EINVAL, "application '%s': no epoch '%lld'", info->name,
				(long long)epoch);
	if (!pack(&place, gpus, gpus_per_node))
		return fit_fail(err, FIT_EINVAL, "%lld GPUs are more than %d nodes", (long long)gpus,
				FIT_PLACEMENT_MAX);
	p->nodes = place.n_nodes;
	if (lo > (double)info->max_batch || (info->max_replicas && gpus > info->max_replicas))
		return FIT_OK;
	for (int k = 0; k < FIT_SPEEDUP_BATCHES; k++) {
		double batch = k == 0 ? lo :
			       k == FIT_SPEEDUP_BATCHES - 1 ?
				       (double)info->max_batch :
				       pow(10, log_lo + k * ((log_hi - log_lo) /
							     (FIT_SPEEDUP_BATCHES - 1)));
		struct fit_batch b = split(info, batch, gpus);
		struct fit_err why;
		double rate;
		int rc;

		if (b.atomic_bsz == 0 ||
		    (b.atomic_bsz == last.atomic_bsz && b.accum_steps == last.accum_steps))
			continue;
		last = b;
		rc = fit_app_goodput(a, &place, b, epoch, &rate, &why);
		if (rc == FIT_EDATA) /* outside of what was measured */
			continue;
		if (rc)
			return fit_fail(err, rc, "%s", why.msg);
		if (rate > p->speed) {
			p->speed = rate;
			p->batch_size = gpus * b.atomic_bsz * (b.accum_steps + 1);
			p->accum_steps = b.accum_steps;
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

int fit_speedup_over(struct fit_app *a, int64_t gpus, int64_t gpus_per_node, int64_t from, int64_t to,
		     double *speed, struct fit_speedup_point *first, struct fit_speedup_point *last,
		     struct fit_err *err)
{
	double time = 0;

	*speed = 0;
	for (int64_t e = from; e < to; e++) {
		struct fit_speedup_point p;
		int rc = fit_speedup_at(a, gpus, gpus_per_node, e, &p, err);

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
