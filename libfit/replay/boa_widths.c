/* SPDX-License-Identifier: MIT */
#include "libfit/replay/boa_widths.h"

#include <math.h>
#include <stdlib.h>

#include "libfit/base/num.h"

static int take_row(struct fit_boa_widths *w, const struct fit_boa_plan_table *t, size_t i,
		    const struct fit_cluster *cluster, struct fit_err *err)
{
	const struct fit_boa_plan_row *r = &t->rows[i];
	const char *name = t->classes[r->class_no];
	const struct fit_job_class *k = fit_job_classes_find(w->classes, fit_text_of(name));
	const char *type_name = t->types[r->type];
	int32_t type = fit_job_classes_type(w->classes, cluster, type_name);
	struct fit_boa_choice *c;

	if (!k)
		return fit_fail(err, FIT_EDATA, "%s:%llu:class: unknown class '%s' (expected one of the speedups)",
				t->input, (unsigned long long)r->line, name);
	if (type == FIT_ANY_TYPE)
		return fit_fail(err, FIT_EDATA, "%s:%llu:gpu_type: '%s' (expected a GPU type of the cluster)", t->input,
				(unsigned long long)r->line, *type_name ? type_name : "NA");
	if (r->epoch >= k->n_epochs)
		return fit_fail(err, FIT_EDATA, "%s:%llu:epoch: class '%s' has %lld epochs in the speedups", t->input,
				(unsigned long long)r->line, name, (long long)k->n_epochs);
	if (!(fit_job_class_speed(k, r->epoch, type, r->gpus) > 0) && k->epochs[r->epoch].work > 0)
		return fit_fail(err, FIT_EDATA, "%s:%llu:gpus: class '%s' has no speed on %lld GPUs in epoch %lld",
				t->input, (unsigned long long)r->line, name, (long long)r->gpus, (long long)r->epoch);
	c = &w->choices[k - w->classes->list];
	w->widths[c->at + (size_t)(r->plan * k->n_epochs + r->epoch)] = (struct fit_boa_gpus){ r->gpus, type };
	c->planned = true;
	if (r->plan == 1)
		c->theta = r->share;
	return FIT_OK;
}

/* Every plan that is there covers all epochs. */
static int check_whole(const struct fit_boa_widths *w, const char *input, struct fit_err *err)
{
	for (size_t i = 0; i < w->classes->n; i++) {
		const struct fit_boa_choice *c = &w->choices[i];

		for (int p = 0; c->planned && p < 1 + (c->theta > 0); p++)
			for (int64_t e = 0; e < w->classes->list[i].n_epochs; e++)
				if (fit_boa_width(w, i, p, e).gpus == 0 && (p == 1 || c->theta < 1))
					return fit_fail(err, FIT_EDATA, "%s: class '%s' has no width in epoch %lld, which the "
							"speedups have", input, w->classes->list[i].name, (long long)e);
	}
	return FIT_OK;
}

int fit_boa_widths_read(struct fit_boa_widths *w, const struct fit_job_classes *classes,
			const struct fit_cluster *cluster, const char *operand, struct fit_err *err)
{
	struct fit_boa_plan_table t;
	const char *s;
	size_t at = 0;
	int rc = fit_boa_plan_table_read(&t, operand, err);

	*w = (struct fit_boa_widths){ .classes = classes, .budget = (double)NAN };
	if (rc)
		return rc;
	w->widths = calloc(2 * classes->speedups.n_epochs + 1, sizeof *w->widths);
	w->choices = calloc(classes->n + 1, sizeof *w->choices);
	if (!w->widths || !w->choices)
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < classes->n && !rc; i++) {
		w->choices[i].at = at;
		at += 2 * (size_t)classes->list[i].n_epochs;
	}
	if (!rc && t.n_types > 1 && cluster->n_types == 1)
		rc = fit_fail(err, FIT_EDATA, "%s: %zu GPU types (expected one: the cluster has one)", t.input, t.n_types);
	for (size_t i = 0; i < t.n && !rc; i++)
		rc = take_row(w, &t, i, cluster, err);
	rc = rc ? rc : check_whole(w, t.input, err);
	s = fit_meta_get(&t.meta, "charge_start");
	w->free_start = !s || !fit_text_is(fit_text_of(s), "1");
	s = fit_meta_get(&t.meta, "budget");
	if (s && fit_parse_double(fit_text_of(s), &w->budget))
		w->budget = (double)NAN;
	for (size_t i = 0; i < sizeof w->hash; i++)
		w->hash[i] = t.hash[i];
	fit_boa_plan_table_release(&t);
	if (rc)
		fit_boa_widths_release(w);
	return rc;
}

void fit_boa_widths_release(struct fit_boa_widths *w)
{
	free(w->widths);
	free(w->choices);
	*w = (struct fit_boa_widths){ .classes = NULL };
}

int fit_boa_widths_plan(double theta, int64_t n)
{
	return floor((double)(n + 1) * theta) > floor((double)n * theta);
}

int64_t fit_boa_widths_most(const struct fit_boa_widths *w, size_t class, int32_t type)
{
	int64_t most = 0;

	for (int p = 0; p < 2; p++) {
		for (int64_t e = 0; e < w->classes->list[class].n_epochs; e++) {
			struct fit_boa_gpus x = fit_boa_width(w, class, p, e);

			if (x.type == type && x.gpus > most)
				most = x.gpus;
		}
	}
	return most;
}
