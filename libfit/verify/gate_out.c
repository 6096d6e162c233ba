/* SPDX-License-Identifier: MIT */
/* Verdicts of the model gate as a table and as JSON. */
#include <math.h>

#include "libfit/base/json_out.h"
#include "libfit/verify/gate.h"

/* The last row: how many checks are why. */
static struct fit_gate_finding last_row(const struct fit_gate *g, struct fit_err *why)
{
	size_t failed = 0, open = 0;

	for (size_t i = 0; i < g->n; i++) {
		failed += g->list[i].verdict == FIT_GATE_FAIL;
		open += g->list[i].verdict == FIT_GATE_CANNOT;
	}
	fit_fail(why, FIT_OK, "%zu of %zu findings fail, %zu cannot be said", failed, g->n, open);
	return (struct fit_gate_finding){ "verdict", NULL, (double)NAN, (double)NAN, (double)NAN,
					 (double)NAN, g->verdict,
					  why->msg };
}

static int put_finding(struct fit_writer *w, const struct fit_gate_finding *f, struct fit_err *err)
{
	fit_writer_str(w, f->check);
	fit_writer_str(w, f->region);
	fit_writer_real_or_na(w, f->value);
	fit_writer_real_or_na(w, f->low);
	fit_writer_real_or_na(w, f->high);
	fit_writer_real_or_na(w, f->limit);
	fit_writer_str(w, fit_gate_verdict_names[f->verdict]);
	fit_writer_str(w, f->reason);
	return fit_writer_end_row(w, err);
}

int fit_gate_write(const struct fit_gate *g, struct fit_writer *w, const struct fit_meta *meta,
		   struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "check", FIT_TEXT, 0 }, { "region", FIT_TEXT, 0 }, { "value", FIT_REAL, 0 },
		{ "low", FIT_REAL, 0 },
		{ "high", FIT_REAL, 0 }, { "limit", FIT_REAL, 0 }, { "verdict", FIT_TEXT, 0 },
		{ "reason", FIT_TEXT, 0 },
	};
	struct fit_err why;
	const struct fit_gate_finding last = last_row(g, &why);
	int rc = fit_writer_begin(w, "gate", meta, fields, sizeof fields / sizeof *fields, err);

	for (size_t i = 0; i < g->n && !rc; i++)
		rc = put_finding(w, &g->list[i], err);
	rc = rc ? rc : put_finding(w, &last, err);
	return rc ? rc : fit_writer_end(w, err);
}

static void json_real(struct fit_json_out *o, const char *key, double v)
{
	fit_json_raw(o, key);
	if (isnan(v))
		fit_json_raw(o, "null");
	else
		fit_json_real(o, v, "inf");
}

static void json_finding(struct fit_json_out *o, const struct fit_gate_finding *f)
{
	fit_json_raw(o, "  {\"check\": ");
	fit_json_text(o, f->check);
	fit_json_raw(o, ", \"region\": ");
	fit_json_text(o, f->region);
	json_real(o, ", \"value\": ", f->value);
	json_real(o, ", \"low\": ", f->low);
	json_real(o, ", \"high\": ", f->high);
	json_real(o, ", \"limit\": ", f->limit);
	fit_json_raw(o, ", \"verdict\": ");
	fit_json_text(o, fit_gate_verdict_names[f->verdict]);
	fit_json_raw(o, ", \"reason\": ");
	fit_json_text(o, f->reason);
	fit_json_raw(o, "}");
}

int fit_gate_print_json(const struct fit_gate *g, const struct fit_meta *meta, struct fit_str *out,
			struct fit_err *err)
{
	struct fit_json_out o = { out, FIT_OK };
	struct fit_err why;
	const struct fit_gate_finding last = last_row(g, &why);

	fit_json_raw(&o, "{\"schema\": \"goodfit-gate/1\",\n \"model\": ");
	fit_json_text(&o, g->kind);
	fit_json_raw(&o, ",\n \"verdict\": ");
	fit_json_text(&o, fit_gate_verdict_names[g->verdict]);
	fit_json_raw(&o, ",\n \"reason\": ");
	fit_json_text(&o, last.reason);
	fit_json_raw(&o, ",\n \"meta\": [");	/* a list: keys may repeat */
	for (size_t i = 0; meta && i < meta->n; i++) {
		fit_json_raw(&o, i ? ", [" : "[");
		fit_json_text(&o, meta->pairs[i].key);
		fit_json_raw(&o, ", ");
		fit_json_text(&o, meta->pairs[i].value);
		fit_json_raw(&o, "]");
	}
	fit_json_raw(&o, "],\n \"checks\": [\n");
	for (size_t i = 0; i < g->n; i++) {
		json_finding(&o, &g->list[i]);
		fit_json_raw(&o, i + 1 < g->n ? ",\n" : "\n");
	}
	fit_json_raw(&o, " ]}\n");
	return o.rc ? fit_fail_nomem(err) : FIT_OK;
}
