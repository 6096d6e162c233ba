/* SPDX-License-Identifier: MIT */
#include "libfit/replay/predict.h"

#include <stdlib.h>

#include "libfit/replay/policy.h"

void fit_predictor_release(struct fit_predictor *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->courses[i].rate);
		free(p->courses[i].left_s);
	}
	free(p->courses);
	p->courses = NULL;
	p->n = p->cap = 0;
}

/* Full nodes and one with the rest. FIT_EDATA when that takes more nodes than a placement holds. */
static int pack(int64_t gpus, int64_t node_gpus, struct fit_placement *out)
{
	out->n_nodes = 0;
	if (gpus > node_gpus * FIT_PLACEMENT_MAX)
		return FIT_EDATA;
	for (; gpus > 0; gpus -= node_gpus)
		out->gpus[out->n_nodes++] = (int)(gpus < node_gpus ? gpus : node_gpus);
	return FIT_OK;
}

static int fill_course(struct fit_course *c, struct fit_app *app, int64_t node_gpus, struct fit_err *err)
{
	int64_t epochs = fit_app_info(app)->epochs;
	struct fit_batch b = fit_app_split_batch(app, c->batch, c->gpus, false);
	struct fit_placement p;
	int rc = FIT_OK;

	if (pack(c->gpus, node_gpus, &p))
		return fit_fail(err, FIT_EDATA, "%lld GPUs need more than %d nodes", (long long)c->gpus,
				FIT_PLACEMENT_MAX);
	c->rate = calloc((size_t)epochs + 1, sizeof *c->rate);
	c->left_s = calloc((size_t)epochs + 1, sizeof *c->left_s);
	if (!c->rate || !c->left_s)
		return fit_fail_nomem(err);
	for (int64_t e = epochs - 1; e >= 0 && !rc; e--) {
		double span = fit_app_epoch_start(app, e + 1) - fit_app_epoch_start(app, e);

		rc = fit_app_goodput(app, &p, b, e, &c->rate[e], err);
		c->left_s[e] = c->left_s[e + 1] + span / c->rate[e];
	}
	return rc;
}

static int find_course(struct fit_predictor *p, const struct fit_job *j, const struct fit_course **out,
		       struct fit_err *err)
{
	struct fit_course c = { .app = j->app, .gpus = j->gpus, .batch = j->batch_size };
	int rc;

	for (size_t i = 0; i < p->n; i++) {
		if (p->courses[i].app == c.app && p->courses[i].gpus == c.gpus &&
		    p->courses[i].batch == c.batch) {
			*out = &p->courses[i];
			return FIT_OK;
		}
	}
	if (fit_grow(&p->courses, &p->cap, p->n + 1, sizeof *p->courses))
		return fit_fail_nomem(err);
	rc = fill_course(&c, j->app, p->node_gpus, err);
	if (rc) {
		free(c.rate);
		free(c.left_s);
		return fit_fail_prefix(err, rc, "job %s, predicted on %lld GPUs", j->id, (long long)c.gpus);
	}
	p->courses[p->n] = c;
	*out = &p->courses[p->n++];
	return FIT_OK;
}

int fit_predictor_left(struct fit_predictor *p, const struct fit_job *j, int64_t epoch, double progress,
		       double *left_s, struct fit_err *err)
{
	const struct fit_course *c = NULL;
	int rc = find_course(p, j, &c, err);

	if (rc)
		return rc;
	*left_s = c->left_s[epoch] - (progress - fit_app_epoch_start(j->app, epoch)) / c->rate[epoch];
	return FIT_OK;
}

int fit_predict_step(const struct fit_view *v, uint32_t j, int64_t gpus, int64_t node_gpus,
		     bool single_gpu_accumulates, double *step_s, struct fit_err *err)
{
	const struct fit_job *job = &v->jobs[j];
	struct fit_batch b = fit_app_split_batch(job->app, job->batch_size, gpus, single_gpu_accumulates);
	struct fit_placement p;
	double step, sync;
	int rc = pack(gpus, node_gpus, &p);

	if (rc)
		return fit_fail(err, rc, "%lld GPUs need more than %d nodes", (long long)gpus,
				FIT_PLACEMENT_MAX);
	rc = fit_app_throughput(job->app, &p, b.atomic_bsz, &step, &sync, err);
	if (!rc)
		*step_s = step + (double)b.accum_steps * (step - sync);
	return rc;
}
