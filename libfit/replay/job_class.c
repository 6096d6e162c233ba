/* SPDX-License-Identifier: MIT */
#include "libfit/replay/job_class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

/* One name on either side, or the same. */
static bool is_only(const struct fit_job_classes *c, const struct fit_cluster *cluster)
{
	return c->speedups.n_types == 1 && cluster->n_types == 1;
}

static int match_types(struct fit_job_classes *c, const char *input, const struct fit_cluster *cluster,
		       struct fit_err *err)
{
	const struct fit_speedups *s = &c->speedups;

	c->n_types = cluster->n_types;
	c->types = calloc((size_t)c->n_types, sizeof *c->types);
	if (!c->types)
		return fit_fail_nomem(err);
	for (int32_t t = 0; t < c->n_types; t++) {
		const char *name = cluster->types[t].name;
		size_t i = 0;

		while (i < s->n_types && strcmp(s->types[i], name) != 0 && !is_only(c, cluster))
			i++;
		if (i == s->n_types && !*name)
			return fit_fail(err, FIT_EDATA, "%s: %zu GPU types (expected one: the cluster names none)", input,
					s->n_types);
		if (i == s->n_types)
			return fit_fail(err, FIT_EDATA, "%s: no speeds on GPU type '%s' (expected some: the cluster has it)",
					input, name);
		c->types[t] = (int32_t)i;
	}
	return FIT_OK;
}

int32_t fit_job_classes_type(const struct fit_job_classes *c, const struct fit_cluster *cluster,
			     const char *name)
{
	return is_only(c, cluster) ? 0 : fit_cluster_find_type(cluster, fit_text_of(name));
}

/* The restart delays of a class by type. */
static int set_restarts(const struct fit_job_classes *c, const char *name, int64_t *restart_ns,
			struct fit_err *err)
{
	for (int32_t t = 0; t < c->n_types; t++) {
		struct fit_boa_class_row row = { .rescale_s = 0 };

		if (!fit_boa_classes_find(&c->table, fit_text_of(name), fit_text_of(c->speedups.types[c->types[t]]), &row))
			return fit_fail(err, FIT_EDATA, "class '%s' is in the speedups and not in the table of classes",
					name);
		if (isnan(row.rescale_s))
			row.rescale_s = 0;
		if (!(row.rescale_s < 3e9) || fit_time_from_double(row.rescale_s, &restart_ns[t]))
			return fit_fail(err, FIT_EDATA, "class '%s': rescale_s %g (expected under a century)", name,
					row.rescale_s);
	}
	return FIT_OK;
}

static int fill(struct fit_job_classes *c, bool delays, struct fit_err *err)
{
	const struct fit_speedups *s = &c->speedups;
	double *start;
	int rc = FIT_OK;

	c->list = calloc(s->n_classes ? s->n_classes : 1, sizeof *c->list);
	c->start = start = malloc((s->n_epochs + s->n_classes + 1) * sizeof *c->start);
	c->restart_ns = calloc(s->n_classes * (size_t)c->n_types + 1, sizeof *c->restart_ns);
	if (!c->list || !c->start || !c->restart_ns)
		return fit_fail_nomem(err);
	c->n = s->n_classes;
	for (size_t i = 0; i < c->n && !rc; i++) {
		const struct fit_speedup_class *k = &s->classes[i];
		int64_t *restart_ns = c->restart_ns + i * (size_t)c->n_types;
		double sum = 0;

		c->list[i] = (struct fit_job_class){ .name = k->name, .n_epochs = (int64_t)k->n, .start = start,
						     .epochs = s->epochs + k->at, .widths = s->widths,
						     .types = c->types, .restart_ns = restart_ns };
		for (size_t e = 0; e <= k->n; e++) {
			*start++ = sum;
			sum += e < k->n ? s->epochs[k->at + e].work : 0;
		}
		if (delays)
			rc = set_restarts(c, k->name, restart_ns, err);
	}
	return rc;
}

int fit_job_classes_read(struct fit_job_classes *c, const char *speedups, const char *classes,
			 const struct fit_cluster *cluster, struct fit_err *err)
{
	int rc;

	*c = (struct fit_job_classes){ .n = 0 };
	rc = fit_speedups_read(&c->speedups, speedups, false, err);
	rc = rc ? rc : match_types(c, speedups, cluster, err);
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
	free(c->restart_ns);
	free(c->types);
	*c = (struct fit_job_classes){ .n = 0 };
}

const struct fit_job_class *fit_job_classes_find(const struct fit_job_classes *c, struct fit_text name)
{
	const struct fit_speedup_class *k = fit_speedups_find(&c->speedups, name);

	return k ? &c->list[k - c->speedups.classes] : NULL;
}

/* Widths of an epoch stand by type, then by number. */
static bool is_before(const struct fit_width *w, int32_t type, int64_t gpus)
{
	return w->type != type ? w->type < type : w->gpus < gpus;
}

double fit_job_class_speed(const struct fit_job_class *c, int64_t epoch, int32_t type, int64_t gpus)
{
	const struct fit_speedup_epoch *e = &c->epochs[epoch];
	size_t lo = e->at, hi = e->at + e->n;
	const int32_t of = c->types[type];

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (is_before(&c->widths[mid], of, gpus))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == e->at + e->n || c->widths[lo].type != of || c->widths[lo].gpus != gpus ||
	    !fit_width_usable(&c->widths[lo]))
		return 0;
	return c->widths[lo].speed;
}

double fit_job_class_left_s(const struct fit_job_class *c, int64_t epoch, double work, int32_t type,
			    int64_t gpus)
{
	double left = 0;

	for (int64_t e = epoch; e < c->n_epochs; e++) {
		double todo = c->start[e + 1] - (e == epoch ? work : c->start[e]);

		if (todo > 0)
			left += todo / fit_job_class_speed(c, e, type == FIT_ANY_TYPE ? 0 : type, gpus);
	}
	return left;
}
