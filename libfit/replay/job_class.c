/* SPDX-License-Identifier: MIT */
#include "libfit/replay/job_class.h"

#include <math.h>
#include <stdlib.h>

#include "libfit/base/num.h"

static int fill(struct fit_job_classes *c, bool delays, struct fit_err *err)
{
	const struct fit_speedups *s = &c->speedups;
	double *start;

	c->list = calloc(s->n_classes ? s->n_classes : 1, sizeof *c->list);
	c->start = start = malloc((s->n_epochs + s->n_classes + 1) * sizeof *c->start);
	if (!c->list || !c->start)
		return fit_fail_nomem(err);
	c->n = s->n_classes;
	for (size_t i = 0; i < c->n; i++) {
		const struct fit_speedup_class *k = &s->classes[i];
		struct fit_boa_class_row row = { .rescale_s = 0 };
		double sum = 0;

		c->list[i] = (struct fit_job_class){ .name = k->name, .n_epochs = (int64_t)k->n, .start = start,
						     .epochs = s->epochs + k->at, .widths = s->widths };
		for (size_t e = 0; e <= k->n; e++) {
			*start++ = sum;
			sum += e < k->n ? s->epochs[k->at + e].work : 0;
		}
		if (delays && !fit_boa_classes_find(&c->table, fit_text_of(k->name), fit_text_of(""), &row))
			return fit_fail(err, FIT_EDATA, "class '%s' is in the speedups and not in the table of classes",
					k->name);
		if (isnan(row.rescale_s))
			row.rescale_s = 0;
		if (!(row.rescale_s < 3e9) || fit_time_from_double(row.rescale_s, &c->list[i].restart_ns))
			return fit_fail(err, FIT_EDATA, "class '%s': rescale_s %g (expected under a century)", k->name,
					row.rescale_s);
	}
	return FIT_OK;
}

int fit_job_classes_read(struct fit_job_classes *c, const char *speedups, const char *classes,
			 struct fit_err *err)
{
	int rc;

	*c = (struct fit_job_classes){ .n = 0 };
	rc = fit_speedups_read(&c->speedups, speedups, false, err);
	if (!rc && c->speedups.n_types > 1)
		rc = fit_fail(err, FIT_EDATA, "%s: %zu GPU types (expected one: a replay has one kind of node)",
			      speedups, c->speedups.n_types);
	if (!rc && classes)
		rc = fit_boa_classes_read(&c->table, classes, err);
	rc = rc ? rc : fill(c, classes != NULL, err);
	if (rc)
		fit_job_classes_release(c);
	return rc;
}

void fit_job_classes_release(struct fit_job_classes *c)
{
	fit_speedups_release(&c->speedups);
	fit_boa_classes_release(&c->table);
	free(c->list);
	free(c->start);
	*c = (struct fit_job_classes){ .n = 0 };
}

const struct fit_job_class *fit_job_classes_find(const struct fit_job_classes *c, struct fit_text name)
{
	const struct fit_speedup_class *k = fit_speedups_find(&c->speedups, name);

	return k ? &c->list[k - c->speedups.classes] : NULL;
}

double fit_job_class_speed(const struct fit_job_class *c, int64_t epoch, int64_t gpus)
{
	const struct fit_speedup_epoch *e = &c->epochs[epoch];
	size_t lo = e->at, hi = e->at + e->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->widths[mid].gpus < gpus)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == e->at + e->n || c->widths[lo].gpus != gpus || !fit_width_usable(&c->widths[lo]))
		return 0;
	return c->widths[lo].speed;
}

double fit_job_class_left_s(const struct fit_job_class *c, int64_t epoch, double work, int64_t gpus)
{
	double left = 0;

	for (int64_t e = epoch; e < c->n_epochs; e++) {
		double todo = c->start[e + 1] - (e == epoch ? work : c->start[e]);

		if (todo > 0)
			left += todo / fit_job_class_speed(c, e, gpus);
	}
	return left;
}
