/* SPDX-License-Identifier: MIT */
#include "libfit/replay/sia_rigid.h"

#include <math.h>

/* Samples a second of the job on GPUs of a type, on as few nodes as they need; 0: not measured. */
static double rate_on(const struct fit_view *v, const struct fit_job *j, int32_t type)
{
	const struct fit_gpu_type *t = &v->cluster->types[type];
	struct fit_app *a = j->apps ? j->apps[type] : j->app;
	struct fit_placement p = { .n_nodes = 0 };
	double step, sync, pass;
	struct fit_batch b;
	struct fit_err unmeasured;

	if ((j->gpu_type != FIT_ANY_TYPE && j->gpu_type != type) || !a || j->gpus > t->n_gpus)
		return 0;
	for (int64_t left = j->gpus; left > 0 && p.n_nodes < FIT_PLACEMENT_MAX; left -= t->max_node_gpus)
		p.gpus[p.n_nodes++] = (int)(left < t->max_node_gpus ? left : t->max_node_gpus);
	b = fit_app_split_batch(a, j->batch_size, j->gpus, false);
	if (b.atomic_bsz < 1 || fit_app_throughput(a, &p, b.atomic_bsz, &step, &sync, &unmeasured))
		return 0;
	pass = step + (double)b.accum_steps * (step - sync);
	return pass > 0 && isfinite(pass) ?
	       (double)(j->gpus * b.atomic_bsz * (b.accum_steps + 1)) / pass : 0;
}

void fit_sia_rigid_worth(const struct fit_view *v, uint32_t j, float worth[FIT_GPU_TYPES_MAX])
{
	double rate[FIT_GPU_TYPES_MAX], slowest = 0;

	for (int32_t t = 0; t < v->cluster->n_types; t++) {
		rate[t] = rate_on(v, &v->jobs[j], t);
		if (rate[t] > 0 && (!(slowest > 0) || rate[t] < slowest))
			slowest = rate[t];
	}
	for (int32_t t = 0; t < v->cluster->n_types; t++)
		worth[t] = rate[t] > 0 ? (float)((double)v->jobs[j].gpus * rate[t] / slowest) : 0;
}

int fit_sia_rigid_add(struct fit_sia_configs *k, const struct fit_view *v, struct fit_err *err)
{
	for (size_t i = 0; i < v->n_members; i++) {
		const struct fit_job *j = &v->jobs[v->members[i]];
		float worth[FIT_GPU_TYPES_MAX];
		bool any = false;

		if (j->kind != FIT_JOB_RIGID || j->too_large)
			continue;
		fit_sia_rigid_worth(v, v->members[i], worth);
		for (int32_t t = 0; t < v->cluster->n_types; t++) {
			const int32_t each = v->cluster->types[t].max_node_gpus, gpus = (int32_t)j->gpus;

			any = any || worth[t] > 0;
			if (worth[t] > 0 && fit_sia_configs_find(k, t, gpus) < 0 &&
			    fit_sia_configs_add(k, t, (gpus + each - 1) / each, gpus))
				return fit_fail_nomem(err);
		}
		if (!any)
			return fit_fail(err, FIT_EDATA, "job %s is rigid, and was measured at batch size %lld on %lld GPUs of no "
					"type that it may have", j->id, (long long)j->batch_size, (long long)j->gpus);
	}
	return FIT_OK;
}
