/* SPDX-License-Identifier: MIT */
/* The table that gf-speedup writes. */
#include <stdlib.h>

#include "tools/speedup_parts.h"

static const struct fit_field columns[] = {
	{ "class", FIT_TEXT, 0 }, { "epoch", FIT_INT, 0 }, { "gpu_type", FIT_TEXT, 0 },
	{ "gpus", FIT_INT, 0 }, { "work", FIT_REAL, 0 }, { "speed_per_s", FIT_REAL, 0 },
	{ "epochs", FIT_INT, 0 }, { "nodes", FIT_INT, 0 }, { "plan", FIT_TEXT, 0 },
	{ "batch_size", FIT_INT, 0 }, { "batch_size_last", FIT_INT, 0 }, { "accum_steps", FIT_INT, 0 },
	{ "verdict", FIT_TEXT, 0 }, { "by_lo", FIT_INT, 0 }, { "by_hi", FIT_INT, 0 }
};
#define COUNT(a) (sizeof(a) / sizeof *(a))

int speedup_begin(const struct cli *cli, struct speedup_data *d, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	for (size_t i = 0; i < d->inputs.n && !rc; i++)
		rc = fit_meta_add(&meta, d->inputs.pairs[i].key, d->inputs.pairs[i].value);
	return cli_table_begin(cli, &d->w, NULL, &meta, rc, columns, COUNT(columns), err);
}

static void put_count(struct fit_writer *w, int64_t v)
{
	if (v > 0)
		fit_writer_int(w, v);
	else
		fit_writer_na(w);
}

static int put_row(const struct speedup_data *d, const struct speedup_group *g, const struct speedup_row *r,
		   const struct fit_width_note *note, struct fit_err *err)
{
	struct fit_writer *w = d->w;

	fit_writer_str(w, g->class);
	fit_writer_int(w, g->epoch);
	fit_writer_str(w, g->type && g->type[0] ? g->type : NULL);
	fit_writer_int(w, r->width.gpus);
	fit_writer_real(w, g->work);
	if (r->width.speed > 0)
		fit_writer_real(w, r->width.speed);
	else
		fit_writer_na(w);
	put_count(w, g->epochs);
	put_count(w, r->nodes);
	fit_writer_str(w, r->plan);
	put_count(w, r->first.batch_size);
	put_count(w, r->last.batch_size);
	if (r->first.batch_size > 0)
		fit_writer_int(w, r->first.accum_steps);
	else
		fit_writer_na(w);
	fit_writer_str(w, fit_width_verdict_name(note->verdict));
	put_count(w, note->by_lo == FIT_NO_WIDTH ? 0 : g->rows[note->by_lo].width.gpus);
	put_count(w, note->by_hi == FIT_NO_WIDTH ? 0 : g->rows[note->by_hi].width.gpus);
	return fit_writer_end_row(w, err);
}

int speedup_put_group(const struct speedup_options *o, struct speedup_data *d, const struct speedup_group *g,
		      struct fit_err *err)
{
	struct fit_width *widths = calloc(g->n + 1, sizeof *widths);
	struct fit_width_note *notes = calloc(g->n + 1, sizeof *notes);
	size_t *vertex = calloc(g->n + 1, sizeof *vertex), n = 0;
	int64_t least = (int64_t)speedup_setting_of(&d->set[SPEEDUP_MIN_GPUS], g->class);
	int rc = widths && notes && vertex ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < g->n && !rc; i++)
		widths[i] = g->rows[i].width;
	if (!rc)
		rc = fit_envelope(widths, g->n, &least, &d->envelope, vertex, &n, notes, err);
	if (!rc && n == 0)
		rc = fit_fail(err, FIT_EDATA, "class '%s', epoch %lld%s%s: no usable width", g->class,
			      (long long)g->epoch, g->type && g->type[0] ? ", GPU type " : "",
			      g->type ? g->type : "");
	for (size_t i = 0; i < g->n && !rc; i++)
		if (!o->envelope || notes[i].verdict == FIT_WIDTH_VERTEX)
			rc = put_row(d, g, &g->rows[i], &notes[i], err);
	free(widths);
	free(notes);
	free(vertex);
	return rc;
}

int speedup_add_row(struct speedup_group *g, const struct speedup_row *r, struct fit_err *err)
{
	if (fit_grow(&g->rows, &g->cap, g->n + 1, sizeof *g->rows))
		return fit_fail_nomem(err);
	g->rows[g->n++] = *r;
	return FIT_OK;
}
