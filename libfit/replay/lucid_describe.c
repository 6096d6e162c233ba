/* SPDX-License-Identifier: MIT */
#include "libfit/replay/lucid_describe.h"

#include "libfit/base/num.h"

static int add_real(struct fit_meta *m, const char *key, double x)
{
	char text[FIT_NUM_MAX];

	fit_format_double(text, x);
	return fit_meta_add(m, key, text);
}

static int add_common(const struct fit_policy_params *p, struct fit_meta *m)
{
	char text[FIT_NUM_MAX];
	int rc = fit_meta_add(m, "packing", !p->pack ? "off" : p->forecast ? "forecast" : "on");

	fit_format_int64(text, p->pack_gpus);
	rc = rc ? rc : fit_meta_add(m, "pack_gpus", text);
	if (!rc && p->wide_wait_ns >= 0) {
		fit_format_time(text, p->wide_wait_ns);
		rc = fit_meta_add(m, "wide_wait_s", text);
	}
	return rc ? rc : add_real(m, "gpu_mem_mib", p->gpu_mem_mib);
}

int fit_lucid_describe(const struct fit_policy_params *p, const struct fit_view *v, struct fit_meta *m)
{
	char text[FIT_NUM_MAX];
	int rc = add_common(p, m);

	(void)v;
	fit_format_int64(text, p->pack_score);
	rc = rc ? rc : fit_meta_add(m, "pack_score", text);
	return rc ? rc : fit_meta_add(m, "estimator", p->estimate ? "on" : "off");
}

int fit_horus_describe(const struct fit_policy_params *p, const struct fit_view *v, struct fit_meta *m)
{
	int rc = add_common(p, m);

	(void)v;
	return rc ? rc : add_real(m, "pack_util_pct", p->pack_util_pct);
}
