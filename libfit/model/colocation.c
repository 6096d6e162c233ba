/* SPDX-License-Identifier: MIT */
#include "libfit/model/colocation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/table.h"

void fit_colocation_release(struct fit_colocation *c)
{
	free(c->configs);
	free(c->pairs);
	fit_index_release(&c->by_key);
	fit_index_release(&c->by_pair);
	fit_str_release(&c->texts);
	*c = (struct fit_colocation){ 0 };
}

/* ---- keys ---- */

/* Application and data set cannot hold a NUL, so it divides them. */
static int config_key(struct fit_str *key, struct fit_text app, struct fit_text dataset, int64_t batch,
		      int64_t amp)
{
	fit_str_clear(key);
	if (fit_str_add(key, app.s ? app.s : "", app.n) || fit_str_add(key, "", 1) ||
	    fit_str_add(key, dataset.s ? dataset.s : "", dataset.n) || fit_str_add(key, "", 1))
		return FIT_ENOMEM;
	return fit_str_printf(key, "%lld %lld", (long long)batch, (long long)amp);
}

uint32_t fit_colocation_find(const struct fit_colocation *c, struct fit_text app, struct fit_text dataset,
			     int64_t batch_size, int64_t amp)
{
	struct fit_str key = { 0 };
	uint32_t at = FIT_NO_INDEX;

	if (config_key(&key, app, dataset, batch_size, amp) == FIT_OK)
		at = fit_index_get(&c->by_key, (struct fit_text){ key.s, key.n });
	fit_str_release(&key);
	return at;
}

static struct fit_text pair_key(uint32_t pair[2])
{
	return (struct fit_text){ (const char *)pair, 2 * sizeof *pair };
}

bool fit_colocation_speeds(const struct fit_colocation *c, uint32_t a, uint32_t b, double *speed_a,
			   double *speed_b)
{
	uint32_t at = fit_index_get(&c->by_pair, pair_key((uint32_t[2]){ a, b }));

	*speed_a = *speed_b = 1;
	if (at != FIT_NO_INDEX) {
		*speed_a = c->pairs[at].speed_a;
		*speed_b = c->pairs[at].speed_b;
		return true;
	}
	at = fit_index_get(&c->by_pair, pair_key((uint32_t[2]){ b, a }));
	if (at == FIT_NO_INDEX)
		return false;
	*speed_a = c->pairs[at].speed_b;
	*speed_b = c->pairs[at].speed_a;
	return true;
}

/* ---- reading ---- */

static double real_or_nan(const struct fit_cell *c)
{
	return c->na ? (double)NAN : c->u.d;
}

static int keep(struct fit_colocation *c, struct fit_text t, const char **out)
{
	*out = (const char *)(uintptr_t)c->texts.n;	/* an offset while the texts can still move */
	return fit_str_add(&c->texts, t.s ? t.s : "", t.n) || fit_str_add(&c->texts, "", 1) ? FIT_ENOMEM : FIT_OK;
}

enum { C_APP, C_DATASET, C_BATCH, C_AMP, C_UTIL, C_MEM_UTIL, C_FB, C_LABEL, N_CONFIG };

static int take_config(struct fit_colocation *c, const struct fit_reader *r, const struct fit_cell *x,
		       struct fit_err *err)
{
	struct fit_colo_config k = {
		.batch_size = x[C_BATCH].u.i,
		.amp = x[C_AMP].u.i,
		.label = x[C_LABEL].na ? -1 : x[C_LABEL].u.i,
		.gpu_util_pct = real_or_nan(&x[C_UTIL]),
		.mem_util_pct = real_or_nan(&x[C_MEM_UTIL]),
		.fb_used_mib = real_or_nan(&x[C_FB]),
	};
	struct fit_str key = { 0 };
	uint32_t before = FIT_NO_INDEX;
	int rc = FIT_OK;

	if (!x[C_LABEL].na && (k.label < 0 || k.label > 2))
		return fit_reader_fail(r, FIT_EDATA, "label", err, "bad label %lld (expected 0, 1 or 2)",
				       (long long)k.label);
	if (k.fb_used_mib < 0 || k.gpu_util_pct < 0 || k.mem_util_pct < 0)
		return fit_reader_fail(r, FIT_EDATA, k.fb_used_mib < 0 ? "fb_used_mib" :
				       k.gpu_util_pct < 0 ? "gpu_util_pct" : "mem_util_pct", err,
				       "below 0 (expected what a run used)");
	if (config_key(&key, x[C_APP].u.t, x[C_DATASET].u.t, k.batch_size, k.amp) ||
	    fit_index_put(&c->by_key, (struct fit_text){ key.s, key.n }, (uint32_t)c->n_configs, &before) ||
	    keep(c, x[C_APP].u.t, &k.app) || keep(c, x[C_DATASET].u.t, &k.dataset) ||
	    fit_grow(&c->configs, &c->cap_configs, c->n_configs + 1, sizeof *c->configs))
		rc = fit_fail_nomem(err);
	else if (before != FIT_NO_INDEX)
		rc = fit_reader_fail(r, FIT_EDATA, "app", err, "configuration '%.*s' is there twice",
				     FIT_TEXT_ARG(x[C_APP].u.t));
	else
		c->configs[c->n_configs++] = k;
	fit_str_release(&key);
	return rc;
}

enum { P_APP1, P_DATASET1, P_BATCH1, P_AMP1, P_SPEED1, P_APP2, P_DATASET2, P_BATCH2, P_AMP2, P_SPEED2,
       P_UTIL, P_MEM_UTIL, P_FB, N_PAIR };

static int take_side(const struct fit_colocation *c, const struct fit_reader *r, const struct fit_cell *x,
		     int side, uint32_t *config, struct fit_err *err)
{
	static const char *const fields[] = { "app1", "app2" }, *const speeds[] = { "speed1", "speed2" };
	const struct fit_cell *s = x + (side ? P_APP2 : P_APP1);
	double speed = s[P_SPEED1].u.d;

	*config = fit_colocation_find(c, s[P_APP1].u.t, s[P_DATASET1].u.t, s[P_BATCH1].u.i, s[P_AMP1].u.i);
	if (*config == FIT_NO_INDEX)
		return fit_reader_fail(r, FIT_EDATA, fields[side], err, "unknown configuration '%.*s' (expected one "
				       "that was measured alone)", FIT_TEXT_ARG(s[P_APP1].u.t));
	if (!(speed > 0) || !isfinite(speed))
		return fit_reader_fail(r, FIT_EDATA, speeds[side], err, "bad speed %g (expected above 0)", speed);
	return FIT_OK;
}

static int take_pair(struct fit_colocation *c, const struct fit_reader *r, const struct fit_cell *x,
		     struct fit_err *err)
{
	struct fit_colo_pair p = {
		.speed_a = x[P_SPEED1].u.d,
		.speed_b = x[P_SPEED2].u.d,
		.gpu_util_pct = real_or_nan(&x[P_UTIL]),
		.mem_util_pct = real_or_nan(&x[P_MEM_UTIL]),
		.fb_used_mib = real_or_nan(&x[P_FB]),
	};
	double sa, sb;
	int rc = take_side(c, r, x, 0, &p.a, err);

	rc = rc ? rc : take_side(c, r, x, 1, &p.b, err);
	if (rc)
		return rc;
	if (fit_colocation_speeds(c, p.a, p.b, &sa, &sb))
		return fit_reader_fail(r, FIT_EDATA, "app1", err, "pair '%s' and '%s' is there twice",
				       c->configs[p.a].app, c->configs[p.b].app);
	if (fit_grow(&c->pairs, &c->cap_pairs, c->n_pairs + 1, sizeof *c->pairs) ||
	    fit_index_put(&c->by_pair, pair_key((uint32_t[2]){ p.a, p.b }), (uint32_t)c->n_pairs, NULL))
		return fit_fail_nomem(err);
	c->pairs[c->n_pairs++] = p;
	return FIT_OK;
}

typedef int take(struct fit_colocation *c, const struct fit_reader *r, const struct fit_cell *x,
		 struct fit_err *err);

static int read_all(struct fit_colocation *c, const char *operand, const struct fit_field *fields, size_t n,
		    take *each, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	struct fit_cell cells[N_PAIR];
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	if (rc)
		return rc;
	rc = fit_reader_begin(r, fields, n, err);
	while (!rc) {
		rc = fit_reader_row(r, cells, err);
		rc = rc ? rc : each(c, r, cells, err);
	}
	if (rc == FIT_END)
		rc = fit_reader_only(r, err);
	rc = rc == FIT_END ? FIT_OK : rc;
	fit_reader_hash(r, hash);
	fit_reader_close(r);
	return rc;
}

int fit_colocation_load(struct fit_colocation *c, const char *configs, const char *pairs, struct fit_err *err)
{
	static const struct fit_field config_fields[N_CONFIG] = {
		[C_APP] = { "app", FIT_TEXT, FIT_F_NOT_NA },
		[C_DATASET] = { "dataset", FIT_TEXT, FIT_F_OPTIONAL },
		[C_BATCH] = { "batch_size", FIT_INT, FIT_F_OPTIONAL },
		[C_AMP] = { "amp", FIT_INT, FIT_F_OPTIONAL },
		[C_UTIL] = { "gpu_util_pct", FIT_REAL, FIT_F_OPTIONAL },
		[C_MEM_UTIL] = { "mem_util_pct", FIT_REAL, FIT_F_OPTIONAL },
		[C_FB] = { "fb_used_mib", FIT_REAL, FIT_F_OPTIONAL },
		[C_LABEL] = { "label", FIT_INT, FIT_F_OPTIONAL },
	};
	static const struct fit_field pair_fields[N_PAIR] = {
		[P_APP1] = { "app1", FIT_TEXT, FIT_F_NOT_NA },
		[P_DATASET1] = { "dataset1", FIT_TEXT, FIT_F_OPTIONAL },
		[P_BATCH1] = { "batch_size1", FIT_INT, FIT_F_OPTIONAL },
		[P_AMP1] = { "amp1", FIT_INT, FIT_F_OPTIONAL },
		[P_SPEED1] = { "speed1", FIT_REAL, FIT_F_NOT_NA },
		[P_APP2] = { "app2", FIT_TEXT, FIT_F_NOT_NA },
		[P_DATASET2] = { "dataset2", FIT_TEXT, FIT_F_OPTIONAL },
		[P_BATCH2] = { "batch_size2", FIT_INT, FIT_F_OPTIONAL },
		[P_AMP2] = { "amp2", FIT_INT, FIT_F_OPTIONAL },
		[P_SPEED2] = { "speed2", FIT_REAL, FIT_F_NOT_NA },
		[P_UTIL] = { "gpu_util_pct", FIT_REAL, FIT_F_OPTIONAL },
		[P_MEM_UTIL] = { "mem_util_pct", FIT_REAL, FIT_F_OPTIONAL },
		[P_FB] = { "fb_used_mib", FIT_REAL, FIT_F_OPTIONAL },
	};
	int rc;

	*c = (struct fit_colocation){ 0 };
	rc = read_all(c, configs, config_fields, N_CONFIG, take_config, c->hash_configs, err);
	for (size_t i = 0; i < c->n_configs; i++) {
		c->configs[i].app = c->texts.s + (uintptr_t)c->configs[i].app;
		c->configs[i].dataset = c->texts.s + (uintptr_t)c->configs[i].dataset;
	}
	if (!rc && pairs)
		rc = read_all(c, pairs, pair_fields, N_PAIR, take_pair, c->hash_pairs, err);
	if (rc)
		fit_colocation_release(c);
	return rc;
}
