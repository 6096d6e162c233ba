/* SPDX-License-Identifier: MIT */
#include "libfit/replay/sia_configs.h"

#include <math.h>
#include <stdlib.h>

#include "libfit/base/gpu_types.h"
#include "libfit/base/text.h"

int fit_sia_configs_add(struct fit_sia_configs *k, int32_t type, int32_t nodes, int32_t gpus)
{
	if (fit_grow(&k->c, &k->cap, k->n + 1, sizeof *k->c))
		return FIT_ENOMEM;
	k->c[k->n++] = (struct fit_sia_config){ type, nodes, gpus };
	return FIT_OK;
}

int fit_sia_configs_init(struct fit_sia_configs *k, const struct fit_cluster *c)
{
	int rc = FIT_OK;

	*k = (struct fit_sia_configs){ 0 };
	for (int32_t t = 0; t < c->n_types; t++) {
		const struct fit_gpu_type *type = &c->types[t];
		const struct fit_gpu_type_info *info = fit_gpu_type_find(fit_text_of(type->name));
		int32_t nodes = type->n_nodes, each = type->max_node_gpus;

		if (info && info->profiled_nodes < nodes)
			nodes = (int32_t)info->profiled_nodes;
		for (int32_t g = 1; g < each && !rc; g *= 2)
			rc = fit_sia_configs_add(k, t, 1, g);
		for (int32_t n = 1; n <= nodes && !rc; n++)
			rc = fit_sia_configs_add(k, t, n, n * each);
	}
	k->n_grid = k->n;
	if (rc)
		fit_sia_configs_release(k);
	return rc;
}

void fit_sia_configs_release(struct fit_sia_configs *k)
{
	free(k->c);
	*k = (struct fit_sia_configs){ 0 };
}

int32_t fit_sia_configs_find(const struct fit_sia_configs *k, int32_t type, int64_t gpus)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->c[i].type == type && k->c[i].gpus == gpus)
			return (int32_t)i;
	return -1;
}

void fit_sia_normalise(const double *goodput, size_t n, float *out)
{
	float least = HUGE_VALF;

	for (size_t i = 0; i < n; i++)
		if (goodput[i] > 0 && (float)goodput[i] < least)
			least = (float)goodput[i];
	for (size_t i = 0; i < n; i++) {
		out[i] = goodput[i] > 0 ? (float)goodput[i] / least : (float)FIT_SIA_GOODPUT_MIN;
		if (!(out[i] > (float)FIT_SIA_GOODPUT_MIN))
			out[i] = (float)FIT_SIA_GOODPUT_MIN;
	}
}

double fit_sia_restart_factor(double age_s, double restarts, double restart_s)
{
	return age_s < restart_s ? 1 : fmax(age_s - restarts * restart_s, 0) / (age_s + restart_s);
}

int64_t fit_sia_utility(float goodput, double factor, double power)
{
	float u = powf(goodput * (float)factor, (float)power);

	return isfinite(u) && u < 3000 ? (int64_t)rintf(u * 100) : 300000;
}
