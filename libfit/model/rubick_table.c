/* SPDX-License-Identifier: MIT */
#include "libfit/model/rubick_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

enum { APP, K, PCIE = K + FIT_RUBICK_N, NVLINK, PARAMS, FORWARD, BATCH, SEQ_HID, LAYERS, REFERENCE, FORWARDS,
       MOST, MOST_OFFLOAD, MOST_DP, N_COLUMNS };

static const struct fit_field columns[N_COLUMNS] = {
	[APP] = { "app", FIT_TEXT, FIT_F_NOT_NA },
	[K + FIT_K_BWD] = { "k_bwd", FIT_REAL, FIT_F_NOT_NA },
	[K + FIT_K_SYNC] = { "k_sync", FIT_REAL, FIT_F_NOT_NA },
	[K + FIT_K_OPT] = { "k_opt", FIT_REAL, FIT_F_NOT_NA },
	[K + FIT_K_OS] = { "k_os", FIT_REAL, FIT_F_NOT_NA },
	[K + FIT_K_CONST] = { "k_const", FIT_REAL, FIT_F_NOT_NA },
	[K + FIT_K_OFF] = { "k_off", FIT_REAL, FIT_F_NOT_NA },
	[K + FIT_K_SWAP] = { "k_swap", FIT_REAL, FIT_F_NOT_NA },
	[PCIE] = { "pcie_mi_per_ms", FIT_REAL, FIT_F_NOT_NA },
	[NVLINK] = { "nvlink_mi_per_ms", FIT_REAL, FIT_F_NOT_NA },
	[PARAMS] = { "params_mi", FIT_REAL, FIT_F_OPTIONAL },
	[FORWARD] = { "forward_ms", FIT_REAL, FIT_F_OPTIONAL },
	[BATCH] = { "batch_size", FIT_INT, FIT_F_OPTIONAL },
	[SEQ_HID] = { "seq_hid", FIT_REAL, FIT_F_OPTIONAL },
	[LAYERS] = { "layers", FIT_REAL, FIT_F_OPTIONAL },
	[REFERENCE] = { "reference_per_s", FIT_REAL, FIT_F_OPTIONAL },
	[FORWARDS] = { "forward_speedup", FIT_TEXT, FIT_F_OPTIONAL },
	[MOST] = { "max_local_bsz", FIT_INT, FIT_F_OPTIONAL },
	[MOST_OFFLOAD] = { "max_local_bsz_offload", FIT_INT, FIT_F_OPTIONAL },
	[MOST_DP] = { "max_local_bsz_zero_dp", FIT_INT, FIT_F_OPTIONAL },
};

void fit_rubick_models_release(struct fit_rubick_models *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->list[i].app);
	free(t->list);
	*t = (struct fit_rubick_models){ .n = 0 };
}

const struct fit_rubick_model *fit_rubick_models_find(const struct fit_rubick_models *t, struct fit_text app)
{
	for (size_t i = 0; i < t->n; i++)
		if (fit_text_is(app, t->list[i].app))
			return &t->list[i];
	return NULL;
}

/* "2:1.8,4:3.2": GPUs and how much faster the forward pass is there. */
static int take_forwards(struct fit_rubick_model *m, const struct fit_reader *r, struct fit_text t,
			 struct fit_err *err)
{
	size_t from = 0;

	for (size_t i = 0; i <= t.n; i++) {
		struct fit_text one = { t.s + from, i - from };
		const char *colon;
		struct fit_rubick_forward *f = &m->forwards[m->n_forwards];

		if (i < t.n && t.s[i] != ',')
			continue;
		from = i + 1;
		colon = one.n ? memchr(one.s, ':', one.n) : NULL;
		if (!colon || m->n_forwards == FIT_RUBICK_FORWARDS_MAX ||
		    fit_parse_int64((struct fit_text){ one.s, (size_t)(colon - one.s) }, &f->gpus) ||
		    fit_parse_double((struct fit_text){ colon + 1, one.n - (size_t)(colon + 1 - one.s) }, &f->speedup) ||
		    f->gpus < 1 || !(f->speedup > 0))
			return fit_reader_fail(r, FIT_EDATA, "forward_speedup", err, "bad list '%.*s' (expected GPUS:SPEEDUP, "
					       "such as 2:1.8,4:3.2, at most %d)", FIT_TEXT_ARG(t), FIT_RUBICK_FORWARDS_MAX);
		m->n_forwards++;
	}
	return FIT_OK;
}

static double real_of(const struct fit_cell *c)
{
	return c->na ? 0 : c->u.d;
}

static int take_row(void *to, struct fit_reader *r, const struct fit_cell *c, struct fit_err *err)
{
	struct fit_rubick_models *t = to;
	struct fit_rubick_model m = { .batch = c[BATCH].na ? 0 : c[BATCH].u.i };
	int rc = FIT_OK;

	for (int i = 0; i < FIT_RUBICK_N; i++)
		m.m.k[i] = c[K + i].u.d;
	m.m.pcie = c[PCIE].u.d;
	m.m.nvlink = c[NVLINK].u.d;
	for (int i = K; i <= REFERENCE; i++) {
		double x = i == BATCH ? (double)m.batch : real_of(&c[i]);
		bool above = i == K + FIT_K_SYNC || i == PCIE || i == NVLINK;

		if (!(above ? x > 0 : x >= 0) || !isfinite(x))
			return fit_reader_fail(r, FIT_EDATA, columns[i].name, err, "bad value %g (expected %s)", x,
					       above ? "above 0" : "0 or more");
	}
	for (int i = 0; i < 3; i++) {
		m.most[i] = c[MOST + i].na ? -1 : c[MOST + i].u.i;
		if (!c[MOST + i].na && m.most[i] < 0)
			return fit_reader_fail(r, FIT_EDATA, columns[MOST + i].name, err, "bad value %lld (expected 0 or more)",
					       (long long)m.most[i]);
	}
	m.params_mi = real_of(&c[PARAMS]);
	m.forward_ms = real_of(&c[FORWARD]);
	m.seq_hid = real_of(&c[SEQ_HID]);
	m.layers = real_of(&c[LAYERS]);
	m.reference_per_s = real_of(&c[REFERENCE]);
	if (!c[FORWARDS].na)
		rc = take_forwards(&m, r, c[FORWARDS].u.t, err);
	if (!rc && fit_rubick_models_find(t, c[APP].u.t))
		rc = fit_reader_fail(r, FIT_EDATA, "app", err, "application '%.*s' twice", FIT_TEXT_ARG(c[APP].u.t));
	if (rc)
		return rc;
	m.app = fit_strdup(c[APP].u.t);
	if (!m.app || fit_grow(&t->list, &t->cap, t->n + 1, sizeof *t->list)) {
		free(m.app);
		return fit_fail_nomem(err);
	}
	t->list[t->n++] = m;
	return FIT_OK;
}

int fit_rubick_models_read(struct fit_rubick_models *t, const char *operand, struct fit_err *err)
{
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	*t = (struct fit_rubick_models){ .n = 0 };
	if (rc)
		return rc;
	rc = fit_reader_each(r, columns, N_COLUMNS, take_row, t, err);
	fit_reader_hash(r, t->hash);
	fit_reader_close(r);
	if (rc)
		fit_rubick_models_release(t);
	return rc;
}

double fit_rubick_forward_ms(const struct fit_rubick_model *m, int64_t gpus)
{
	for (size_t i = 0; i < m->n_forwards; i++)
		if (m->forwards[i].gpus == gpus)
			return m->forward_ms / m->forwards[i].speedup;
	return m->forward_ms / (double)gpus;
}

double fit_rubick_samples_per_s(const struct fit_rubick_model *m, const struct fit_rubick_plan *p,
				int64_t gpus)
{
	struct fit_rubick_run r = { .params_mi = m->params_mi, .gpus = gpus, .cpu_threads = 1 };

	if (gpus < 1 || !m->batch || m->batch % gpus || !(m->params_mi > 0) || !(m->forward_ms > 0) ||
	    (m->most[p->zero] >= 0 && m->batch / gpus > m->most[p->zero]))
		return 0;
	r.forward_ms = fit_rubick_forward_ms(m, gpus);
	return (double)m->batch / (fit_rubick_parts(&m->m, p, &r).iter_ms / 1000);
}
