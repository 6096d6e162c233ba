/* SPDX-License-Identifier: MIT */
#include "traces/prof_intervals.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"

/* ---- bins ---- */

/* The GPU's place, made when it is new; list is kept by number. NULL: too many, or no memory. */
static struct fit_bins_gpu *find_gpu(struct fit_bins *b, int64_t gpu, struct fit_err *err)
{
	size_t i = 0;

	while (i < b->n && b->gpus[i].gpu < gpu)
		i++;
	if (i < b->n && b->gpus[i].gpu == gpu)
		return &b->gpus[i];
	if (b->n == FIT_BINS_GPUS_MAX) {
		(void)fit_fail(err, FIT_EDATA, "more than %d GPUs", FIT_BINS_GPUS_MAX);
		return NULL;
	}
	if (fit_grow(&b->gpus, &b->cap, b->n + 1, sizeof *b->gpus)) {
		(void)fit_fail_nomem(err);
		return NULL;
	}
	memmove(&b->gpus[i + 1], &b->gpus[i], (b->n - i) * sizeof *b->gpus);
	b->n++;
	b->gpus[i] = (struct fit_bins_gpu){ .gpu = gpu, .until = INT64_MIN };
	return &b->gpus[i];
}

int fit_bins_gpu(struct fit_bins *b, int64_t gpu, struct fit_err *err)
{
	struct fit_err why = { 0 };

	if (find_gpu(b, gpu, &why))
		return FIT_OK;
	return fit_fail(err, why.code, "%s", why.msg);
}

static int emit_bin(struct fit_bins *b, struct fit_bins_gpu *g, struct fit_err *err)
{
	struct fit_cell cells[FIT_SERIES_COLUMNS];
	int64_t t;

	for (int i = 0; i < FIT_SERIES_COLUMNS; i++)
		cells[i] = (struct fit_cell){ .na = true };
	if (__builtin_add_overflow(b->at, b->origin_ns, &t))
		return fit_fail(err, FIT_EDATA, "time out of range");
	cells[FIT_SERIES_TIME] = (struct fit_cell){ .u.i = t };
	cells[FIT_SERIES_GPU] = (struct fit_cell){ .u.i = g->gpu };
	cells[FIT_SERIES_UTIL] = (struct fit_cell){
		.u.d = 100.0 * ((double)g->busy_ns / (double)b->bin_ns) };
	if (g->has_fb) {
		cells[FIT_SERIES_FB] = (struct fit_cell){ .u.d = g->fb_max_mib };
		cells[FIT_SERIES_DERIVED] = (struct fit_cell){ .u.t = FIT_TEXT_LIT("fb_used_mib") };
	}
	return fit_series_sample(b->out, cells, 0, err);
}

/* Emit the current bin and go to the next one, into which unions may reach. */
static int next_bin(struct fit_bins *b, struct fit_err *err)
{
	int64_t end;

	if (__builtin_add_overflow(b->at, b->bin_ns, &end))
		return fit_fail(err, FIT_EDATA, "time out of range");
	for (size_t i = 0; i < b->n; i++) {
		struct fit_bins_gpu *g = &b->gpus[i];
		int rc = emit_bin(b, g, err);

		if (rc)
			return rc;
		g->busy_ns = 0;
		if (g->until > end)
			g->busy_ns = g->until - end < b->bin_ns ? g->until - end : b->bin_ns;
		g->fb_max_mib = g->fb_mib;
	}
	b->at = end;
	return FIT_OK;
}

/* Make t lie in the current bin. */
static int go_to(struct fit_bins *b, int64_t t, struct fit_err *err)
{
	int64_t end, gap;

	if (!b->begun) {
		b->begun = true;
		b->at = t - t % b->bin_ns;
		if (t % b->bin_ns < 0 && __builtin_sub_overflow(b->at, b->bin_ns, &b->at))
			return fit_fail(err, FIT_EDATA, "time out of range");
	}
	if (__builtin_sub_overflow(t, b->at, &gap) || gap / b->bin_ns > FIT_BINS_GAP_MAX)
		return fit_fail(err, FIT_EDATA, "a gap of more than %d bins (expected a larger --bin)",
				FIT_BINS_GAP_MAX);
	while (!__builtin_add_overflow(b->at, b->bin_ns, &end) && t >= end) {
		int rc = next_bin(b, err);

		if (rc)
			return rc;
	}
	return FIT_OK;
}

int fit_bins_add(struct fit_bins *b, int64_t gpu, int64_t start, int64_t end, struct fit_err *err)
{
	struct fit_bins_gpu *g;
	int64_t from, to, bin_end;
	int rc = go_to(b, start, err);

	if (rc)
		return rc;
	g = find_gpu(b, gpu, err);
	if (!g)
		return FIT_EDATA;
	from = start > g->until ? start : g->until;
	if (__builtin_add_overflow(b->at, b->bin_ns, &bin_end))
		bin_end = INT64_MAX;
	to = end < bin_end ? end : bin_end;
	if (to > from)
		g->busy_ns += to - from;
	if (end > g->until)
		g->until = end;
	return FIT_OK;
}

int fit_bins_memory(struct fit_bins *b, int64_t gpu, int64_t at, double mib, struct fit_err *err)
{
	struct fit_bins_gpu *g;
	int rc = go_to(b, at, err);

	if (rc)
		return rc;
	g = find_gpu(b, gpu, err);
	if (!g)
		return FIT_EDATA;
	g->fb_max_mib = !g->has_fb || mib > g->fb_max_mib ? mib : g->fb_max_mib;
	g->has_fb = true;
	g->fb_mib = mib;
	return FIT_OK;
}

int fit_bins_finish(struct fit_bins *b, struct fit_err *err)
{
	int64_t last = b->at;
	int rc;

	if (!b->begun)
		return FIT_OK;
	for (size_t i = 0; i < b->n; i++)
		if (b->gpus[i].until != INT64_MIN && b->gpus[i].until - 1 > last)
			last = b->gpus[i].until - 1;
	rc = go_to(b, last, err);
	return rc ? rc : next_bin(b, err);
}

/* ---- sorting ---- */

int fit_intervals_add(struct fit_intervals *v, struct fit_interval i, struct fit_err *err)
{
	if (fit_grow(&v->list, &v->cap, v->n + 1, sizeof *v->list))
		return fit_fail_nomem(err);
	v->list[v->n++] = i;
	return FIT_OK;
}

static int compare_intervals(const void *pa, const void *pb)
{
	const struct fit_interval *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->gpu != b->gpu)
		return a->gpu < b->gpu ? -1 : 1;
	return (a->mib > b->mib) - (a->mib < b->mib);
}

int fit_intervals_flow(struct fit_intervals *v, struct fit_bins *b, struct fit_err *err)
{
	int rc = FIT_OK;

	if (v->n)
		qsort(v->list, v->n, sizeof *v->list, compare_intervals);
	for (size_t i = 0; !rc && i < v->n; i++)
		rc = fit_bins_gpu(b, v->list[i].gpu, err);
	for (size_t i = 0; !rc && i < v->n; i++) {
		const struct fit_interval *at = &v->list[i];

		rc = at->end == INT64_MIN ? fit_bins_memory(b, at->gpu, at->start, at->mib, err) :
		     fit_bins_add(b, at->gpu, at->start, at->end, err);
	}
	return rc ? rc : fit_bins_finish(b, err);
}

void fit_intervals_release(struct fit_intervals *v)
{
	free(v->list);
	*v = (struct fit_intervals){ 0 };
}
