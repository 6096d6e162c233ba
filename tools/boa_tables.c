/* SPDX-License-Identifier: MIT */
/* gf-boa: the tables that it writes (docs/formats/boa.md). */
#include "tools/boa_parts.h"

#include "libfit/base/num.h"

/* ---- metadata ---- */

static int meta_real(struct fit_meta *meta, const char *key, double v)
{
	char text[FIT_NUM_MAX];

	fit_format_double(text, v);
	return fit_meta_set(meta, key, text);
}

/* What the tool and its options are, and the problem in the words of docs/formats/boa.md. */
static int make_meta(const struct cli *cli, const struct boa_data *d, struct fit_meta *meta)
{
	const struct fit_boa *b = &d->boa;
	struct fit_str prices = { 0 };
	char text[FIT_NUM_MAX];
	int rc = cli_meta(cli, meta, false);

	for (size_t i = 0; i < d->inputs.n && !rc; i++)
		rc = fit_meta_add(meta, d->inputs.pairs[i].key, d->inputs.pairs[i].value);
	if (!rc)
		rc = fit_meta_set(meta, "charge_start", b->charge_start ? "1" : "0");
	if (!rc)
		rc = fit_meta_set(meta, "rescale", d->charged ? "1" : "0");
	if (!rc)
		rc = fit_meta_set(meta, "routing", b->by_class ? "class" : "epoch");
	for (size_t t = 0; t < b->n_types && b->has_prices && !rc; t++) {
		fit_format_double(text, b->prices[t]);
		rc = fit_str_printf(&prices, "%s%s=%s", t ? "," : "", b->types[t], text);
	}
	if (!rc && b->has_prices)
		rc = fit_meta_set(meta, "gpu_prices", prices.s);
	fit_str_release(&prices);
	return rc;
}

int boa_open_table(const struct cli *cli, const struct boa_data *d, const struct fit_boa_solution *s,
		      const struct fit_field *fields, size_t n, struct fit_writer **w,
		      struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = make_meta(cli, d, &meta);

	if (!rc && s)
		rc = meta_real(&meta, "budget", s->budget);
	if (!rc && s)
		rc = meta_real(&meta, "mu", s->mu);
	if (!rc && s)
		rc = fit_meta_set(&meta, "method", fit_boa_method_name(s->method));
	if (!rc && s && s->method != FIT_BOA_MIXED) /* that of the mixed optimum is rounding */
		rc = meta_real(&meta, "gap", s->gap);
	return cli_table_begin(cli, w, NULL, &meta, rc, fields, n, err);
}

/* ---- frontier ---- */

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void put_type(struct fit_writer *w, const struct fit_boa *b, const struct fit_width *k)
{
	fit_writer_str(w, k && b->types[k->type][0] ? b->types[k->type] : NULL);
}

static void put_gpus(struct fit_writer *w, const struct fit_width *k)
{
	if (k)
		fit_writer_int(w, k->gpus);
	else
		fit_writer_na(w);
}

/* The width of a vertex; NULL where it is a plan of several epochs. */
static const struct fit_width *width_of(const struct boa_data *d, const struct fit_boa_item *item, size_t v)
{
	if (item->epoch == FIT_NO_WIDTH)
		return NULL;
	return &d->boa.widths[d->frontier.vertices[item->at + v].ref];
}

static void put_epoch(struct fit_writer *w, const struct fit_boa *b, const struct fit_boa_item *item)
{
	if (item->epoch == FIT_NO_WIDTH)
		fit_writer_na(w);
	else
		fit_writer_int(w, (int64_t)(item->epoch - b->classes[item->class_no].at));
}

int boa_write_frontier(const struct cli *cli, const struct boa_data *d, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "step", FIT_INT, 0 }, { "budget", FIT_REAL, 0 }, { "mean_jct_s", FIT_REAL, 0 },
		{ "mu", FIT_REAL, 0 }, { "class", FIT_TEXT, 0 }, { "epoch", FIT_INT, 0 },
		{ "gpu_type_from", FIT_TEXT, 0 }, { "gpus_from", FIT_INT, 0 },
		{ "gpu_type_to", FIT_TEXT, 0 }, { "gpus_to", FIT_INT, 0 },
		{ "plan_from", FIT_INT, 0 }, { "plan_to", FIT_INT, 0 }
	};
	const struct fit_boa_frontier *f = &d->frontier;
	struct fit_writer *w = NULL;
	int rc = boa_open_table(cli, d, NULL, fields, COUNT(fields), &w, err);

	for (size_t e = 0; e <= f->n_edges && !rc; e++) {
		const struct fit_boa_edge *edge = e ? &f->edges[e - 1] : NULL;
		const struct fit_boa_item *item = edge ? &f->items[edge->item] : NULL;

		fit_writer_int(w, (int64_t)e);
		fit_writer_real(w, f->budget[e]);
		fit_writer_real(w, f->jct[e]);
		if (!edge) {
			for (size_t k = 3; k < COUNT(fields); k++)
				fit_writer_na(w);
		} else {
			const struct fit_width *from = width_of(d, item, edge->from);
			const struct fit_width *to = width_of(d, item, edge->from + 1);

			fit_writer_real(w, edge->mu);
			fit_writer_str(w, d->boa.classes[item->class_no].name);
			put_epoch(w, &d->boa, item);
			put_type(w, &d->boa, from);
			put_gpus(w, from);
			put_type(w, &d->boa, to);
			put_gpus(w, to);
			fit_writer_int(w, edge->from);
			fit_writer_int(w, edge->from + 1);
		}
		rc = fit_writer_end_row(w, err);
	}
	return cli_writer_end(w, rc, err);
}

/* "1 1 4", with types "t4:1 t4:1 v100:4"; *type is the one that all have, or -1. */
static int widths_text(const struct boa_data *d, const size_t *widths, size_t n, struct fit_str *text,
		       int *type)
{
	int rc = FIT_OK;

	fit_str_clear(text);
	*type = d->boa.widths[widths[0]].type;
	for (size_t j = 0; j < n && !rc; j++) {
		const struct fit_width *w = &d->boa.widths[widths[j]];
		const char *name = d->boa.types[w->type];

		*type = w->type == *type ? *type : -1;
		rc = fit_str_printf(text, "%s%s%s%lld", j ? " " : "", d->boa.n_types > 1 ? name : "",
				    d->boa.n_types > 1 ? ":" : "", (long long)w->gpus);
	}
	return rc;
}

int boa_write_vertices(const struct cli *cli, const struct boa_data *d, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "class", FIT_TEXT, 0 }, { "epoch", FIT_INT, 0 }, { "vertex", FIT_INT, 0 },
		{ "gpu_type", FIT_TEXT, 0 }, { "gpus", FIT_INT, 0 }, { "cost", FIT_REAL, 0 },
		{ "time_s", FIT_REAL, 0 }, { "rescales", FIT_INT, 0 }, { "widths", FIT_TEXT, 0 }
	};
	const struct fit_boa_frontier *f = &d->frontier;
	struct fit_str text = { 0 };
	struct fit_writer *w = NULL;
	int rc = boa_open_table(cli, d, NULL, fields, COUNT(fields), &w, err);

	for (size_t i = 0; i < f->n_items; i++) {
		const struct fit_boa_item *item = &f->items[i];

		for (size_t k = 0; k < item->n && !rc; k++) {
			const struct fit_boa_vertex *v = &f->vertices[item->at + k];
			bool one = item->epoch != FIT_NO_WIDTH;
			int type;

			if (widths_text(d, one ? &v->ref : f->plans + v->ref,
					one ? 1 : d->boa.classes[item->class_no].n, &text, &type)) {
				rc = fit_fail_nomem(err);
				break;
			}
			fit_writer_str(w, d->boa.classes[item->class_no].name);
			put_epoch(w, &d->boa, item);
			fit_writer_int(w, (int64_t)k);
			fit_writer_str(w, type >= 0 && d->boa.types[type][0] ? d->boa.types[type] : NULL);
			put_gpus(w, width_of(d, item, k));
			fit_writer_real(w, fit_dd_value(v->cost));
			fit_writer_real(w, fit_dd_value(v->time));
			fit_writer_int(w, v->rescales);
			fit_writer_str(w, text.s);
			rc = fit_writer_end_row(w, err);
		}
	}
	fit_str_release(&text);
	return cli_writer_end(w, rc, err);
}

/* ---- summaries ---- */

const struct fit_field boa_summary_fields[] = {
	{ "budget", FIT_REAL, 0 }, { "method", FIT_TEXT, 0 }, { "cost", FIT_REAL, 0 },
	{ "mean_jct_s", FIT_REAL, 0 }, { "bound_s", FIT_REAL, 0 }, { "gap", FIT_REAL, 0 },
	{ "mu", FIT_REAL, 0 }, { "mu_before", FIT_REAL, 0 }, { "mu_after", FIT_REAL, 0 },
	{ "mixed_class", FIT_TEXT, 0 }, { "mixed_epoch", FIT_INT, 0 },
	{ "gpu_type_lo", FIT_TEXT, 0 }, { "gpus_lo", FIT_INT, 0 }, { "gpu_type_hi", FIT_TEXT, 0 },
	{ "gpus_hi", FIT_INT, 0 }, { "plan_lo", FIT_INT, 0 }, { "plan_hi", FIT_INT, 0 },
	{ "share_hi", FIT_REAL, 0 }, { "rescales_per_job", FIT_REAL, 0 }, { "nodes", FIT_INT, 0 }
};
const size_t boa_n_summary_fields = COUNT(boa_summary_fields);

void boa_put_number(struct fit_writer *w, size_t v)
{
	if (v == FIT_NO_WIDTH)
		fit_writer_na(w);
	else
		fit_writer_int(w, (int64_t)v);
}

int boa_write_summary_row(struct fit_writer *w, const struct boa_data *d,
			     const struct fit_boa_solution *s, struct fit_err *err)
{
	const struct fit_boa *b = &d->boa;
	const struct fit_width *lo = s->width_lo == FIT_NO_WIDTH ? NULL : &b->widths[s->width_lo];
	const struct fit_width *hi = s->width_hi == FIT_NO_WIDTH ? NULL : &b->widths[s->width_hi];

	fit_writer_real(w, s->budget);
	fit_writer_str(w, fit_boa_method_name(s->method));
	fit_writer_real(w, s->cost);
	fit_writer_real(w, s->mean_jct_s);
	fit_writer_real(w, s->bound_s);
	fit_writer_real(w, s->gap);
	fit_writer_real(w, s->mu);
	fit_writer_real(w, s->mu_before);
	fit_writer_real(w, s->mu_after);
	fit_writer_str(w, s->mixed_class == FIT_NO_WIDTH ? NULL : b->classes[s->mixed_class].name);
	boa_put_number(w, s->mixed_epoch);
	put_type(w, b, lo);
	put_gpus(w, lo);
	put_type(w, b, hi);
	put_gpus(w, hi);
	boa_put_number(w, s->vertex_lo);
	boa_put_number(w, s->vertex_hi);
	fit_writer_real(w, s->share_hi);
	fit_writer_real(w, s->rescales_per_job);
	fit_writer_int(w, s->nodes);
	return fit_writer_end_row(w, err);
}
