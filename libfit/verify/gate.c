/* SPDX-License-Identifier: MIT */
#include "libfit/verify/gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/gate_kind.h"

const char *const fit_gate_verdict_names[] = { "pass", "fail", "cannot-say", "noted", NULL };

static const struct fit_gate_kind *const kinds[] = {
	&fit_gate_tree, &fit_gate_ga2m, &fit_gate_throughput, &fit_gate_speedup, &fit_gate_noise,
	&fit_gate_estimates,
	&fit_gate_rubick, NULL
};
/* In the same order. */
const char *const fit_gate_kind_names[] = { "tree", "ga2m", "throughput", "speedup", "noise", "estimates",
					   "rubick", NULL };

/* ---- findings ---- */

FIT_PRINTF(7, 0) static int add(struct fit_gate_run *r, const char *region, double value,
	       const struct fit_gate_interval *between,
	       enum fit_gate_verdict verdict, struct fit_err *err, const char *reason, va_list ap)
{
	struct fit_gate *g = r->g;
	struct fit_gate_finding *f;
	struct fit_err text;

	fit_fail_v(&text, FIT_OK, reason, ap);
	if (fit_grow(&g->list, &g->cap, g->n + 1, sizeof *g->list))
		return fit_fail_nomem(err);
	f = &g->list[g->n];
	*f = (struct fit_gate_finding){
		.check = r->rule->check,
		.region = region ? fit_strdup(fit_text_of(region)) : NULL,
		.value = value,
		.low = between ? between->low : (double)NAN,
		.high = between ? between->high : (double)NAN,
		.limit = r->rule->limit,
		.verdict = verdict != FIT_GATE_PASS && r->rule->action == FIT_GATE_NOTE ?
			   FIT_GATE_NOTED : verdict,
		.reason = *text.msg ? fit_strdup(fit_text_of(text.msg)) : NULL,
	};
	g->n++;
	return (region && !f->region) || (*text.msg && !f->reason) ? fit_fail_nomem(err) : FIT_OK;
}

int fit_gate_add(struct fit_gate_run *r, const char *region, double value,
		 const struct fit_gate_interval *between,
		 enum fit_gate_verdict verdict, struct fit_err *err, const char *reason, ...)
{
	va_list ap;
	int rc;

	va_start(ap, reason);
	rc = add(r, region, value, between, verdict, err, reason, ap);
	va_end(ap);
	return rc;
}

int fit_gate_at_most(struct fit_gate_run *r, const char *region, double value, struct fit_err *err,
		     const char *reason, ...)
{
	enum fit_gate_verdict v = isnan(value) ? FIT_GATE_CANNOT : value <= r->rule->limit ?
		FIT_GATE_PASS : FIT_GATE_FAIL;
	va_list ap;
	int rc;

	va_start(ap, reason);
	rc = add(r, region, value, NULL, v, err, reason, ap);
	va_end(ap);
	return rc;
}

int fit_gate_at_least(struct fit_gate_run *r, const char *region, double value, struct fit_err *err,
		      const char *reason, ...)
{
	enum fit_gate_verdict v = isnan(value) ? FIT_GATE_CANNOT : value >= r->rule->limit ?
		FIT_GATE_PASS : FIT_GATE_FAIL;
	va_list ap;
	int rc;

	va_start(ap, reason);
	rc = add(r, region, value, NULL, v, err, reason, ap);
	va_end(ap);
	return rc;
}

static const struct fit_gate_rule *find_rule(const struct fit_gate_policy *p, const char *check,
					     const char *kind)
{
	const struct fit_gate_rule *any = NULL;

	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->rules[i].check, check) != 0)
			continue;
		if (strcmp(p->rules[i].model, kind) == 0)
			return &p->rules[i];
		if (strcmp(p->rules[i].model, "any") == 0)
			any = &p->rules[i];
	}
	return any;
}

/* ---- kinds ---- */

static bool has_column(const void *arg, const char *column)
{
	const struct fit_reader *r = arg;

	for (size_t i = 0; i < fit_reader_n_columns(r); i++)
		if (strcmp(fit_reader_columns(r)[i].name, column) == 0)
			return true;
	return false;
}

static int copy_meta(struct fit_meta *to, const struct fit_reader *r, struct fit_err *err)
{
	fit_meta_release(to);
	return fit_meta_copy(to, fit_reader_meta(r)) ? fit_fail_nomem(err) : FIT_OK;
}

/* Of which kind is it? meta (may be NULL) gets the metadata of its first table. */
static int find_kind(const struct fit_gate_source *s, const struct fit_gate_kind **kind,
		     struct fit_meta *meta, struct fit_err *err)
{
	struct fit_text bytes = { s->bytes.s, s->bytes.n };
	struct fit_reader *r = NULL;
	int rc;

	*kind = NULL;
	for (size_t i = 0; s->json && kinds[i] && !*kind; i++)
		*kind = kinds[i]->is_json && kinds[i]->is_json(bytes) ? kinds[i] : NULL;
	if (s->json)
		return *kind ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: JSON, but no tree and no GA2M",
						 s->name);
	rc = fit_gate_source_reader(s, &r, err);
	rc = rc ? rc : fit_reader_begin(r, NULL, 0, err);
	if (rc == FIT_END)
		rc = fit_fail(err, FIT_EPARSE, "%s: no table", fit_reader_input(r));
	for (size_t i = 0; !rc && kinds[i] && !*kind; i++)
		*kind = kinds[i]->is(fit_reader_table_name(r), has_column, r) ? kinds[i] : NULL;
	if (!rc && !*kind)
		rc = fit_fail(err, FIT_EDATA,
			      "%s: a table, but not one of models that is known (expected what "
			      "gf-throughput, gf-speedup, gf-pgns, gf-tree or gf-ga2m writes)",
			      fit_reader_input(r));
	if (!rc && meta)
		rc = copy_meta(meta, r, err);
	fit_reader_close(r);
	return rc;
}

static int add_input(struct fit_gate_run *r, const char *name, const char *hash, struct fit_err *err)
{
	return fit_meta_add(&r->g->inputs, name, hash) ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- inputs ---- */

static int sound(struct fit_gate_run *r, int rc, struct fit_err *err)
{
	struct fit_err why = *err;

	r->rule = find_rule(r->g->policy, "sound", r->kind->name);
	if (!rc)
		return fit_gate_add(r, NULL, (double)NAN, NULL, FIT_GATE_PASS, err, "%s", r->kind->what);
	if (rc != FIT_EDATA)
		return rc;
	return fit_gate_add(r, NULL, (double)NAN, NULL, FIT_GATE_FAIL, err, "%s", why.msg);
}

static int load_model(struct fit_gate_run *r, struct fit_err *err)
{
	struct fit_gate_source s;
	int rc = fit_gate_source_open(&s, r->in->model, err);

	rc = rc ? rc : find_kind(&s, &r->kind, &r->meta, err);
	if (!rc) {
		r->g->kind = r->kind->name;
		rc = sound(r, r->kind->load(&r->model, &s, err), err);
		rc = rc ? rc : add_input(r, "input_model", s.hash, err);
	}
	fit_gate_source_release(&s);
	return rc;
}

static int load_incumbent(struct fit_gate_run *r, struct fit_err *err)
{
	const struct fit_gate_kind *kind = NULL;
	struct fit_gate_source s;
	int rc = fit_gate_source_open(&s, r->in->incumbent, err);

	rc = rc ? rc : find_kind(&s, &kind, NULL, err);
	if (!rc && kind != r->kind)
		rc = fit_fail(err, FIT_EDATA, "%s: %s, but the model is %s", r->in->incumbent, kind->what,
			      r->kind->what);
	rc = rc ? rc : kind->load(&r->incumbent, &s, err);
	rc = rc ? rc : add_input(r, "input_incumbent", s.hash, err);
	fit_gate_source_release(&s);
	r->has |= FIT_GATE_INCUMBENT;
	return rc;
}

static int load_rows(struct fit_gate_run *r, const char *operand, const char *name, bool measured,
		     struct fit_table *t, struct fit_gate_set *s, struct fit_err *err)
{
	int rc = fit_table_read(t, operand, NULL, 0, err);

	rc = rc ? rc : add_input(r, name, t->hash, err);
	return rc ? rc : r->kind->rows(r->model, t, r->in->target, measured, s, err);
}

const struct fit_field fit_gate_job_fields[FIT_GATE_JOB_FIELDS] = {
	{ "job_id", FIT_TEXT, FIT_F_NOT_NA }, { "jct_s", FIT_TIME, 0 },
	{ "queue_s", FIT_TIME, FIT_F_OPTIONAL },
	{ "gpu_s", FIT_REAL, FIT_F_OPTIONAL }, { "isolated_s", FIT_TIME, FIT_F_OPTIONAL },
};

static int load_results(struct fit_gate_run *r, struct fit_err *err)
{
	int rc;

	r->has |= FIT_GATE_RESULTS;
	r->results = r->in->results_table;
	r->incumbent_results = r->in->incumbent_results_table;
	if (r->results)
		return FIT_OK;
	r->results = &r->results_table;
	r->incumbent_results = &r->incumbent_results_table;
	rc = fit_table_read(&r->results_table, r->in->results, fit_gate_job_fields, FIT_GATE_JOB_FIELDS,
			    err);
	rc = rc ? rc : fit_table_read(&r->incumbent_results_table, r->in->incumbent_results,
				      fit_gate_job_fields, FIT_GATE_JOB_FIELDS, err);
	rc = rc ? rc : add_input(r, "input_results", r->results_table.hash, err);
	return rc ? rc : add_input(r, "input_incumbent_results", r->incumbent_results_table.hash, err);
}

static int load_rest(struct fit_gate_run *r, struct fit_err *err)
{
	int rc = r->in->incumbent ? load_incumbent(r, err) : FIT_OK;

	if (!rc && r->in->data) {
		r->has |= FIT_GATE_DATA;
		rc = load_rows(r, r->in->data, "input_data", true, &r->data_table, &r->data, err);
		if (!rc && !r->data.n)
			rc = fit_fail(err, FIT_EDATA, "%s: no measurements", r->data_table.input);
		r->data_p = rc ? NULL : calloc(r->data.n + 1, sizeof *r->data_p);
		if (!rc && !r->data_p)
			rc = fit_fail_nomem(err);
		for (size_t i = 0; !rc && i < r->data.n; i++)
			r->data_p[i] = r->kind->predict(r->model, r->data.groups[r->data.group[i]],
							&r->data.x[i * r->data.n_x]);
	}
	if (!rc && r->in->fresh) {
		r->has |= FIT_GATE_FRESH;
		rc = load_rows(r, r->in->fresh, "input_fresh", false, &r->fresh_table, &r->fresh, err);
		if (!rc && !r->fresh.n)
			rc = fit_fail(err, FIT_EDATA, "%s: no rows", r->fresh_table.input);
	}
	if (!rc && (r->in->results || r->in->results_table))
		rc = load_results(r, err);
	return rc;
}

/* ---- the run ---- */

static int run_check(struct fit_gate_run *r, const struct fit_gate_check *c, struct fit_err *err)
{
	static const char *const options[] = { "--data", "--fresh", "--incumbent",
					      "results of two replays" };
	unsigned lacks = c->needs & ~r->has;
	int bit = 0;

	if (!lacks)
		return c->run(r, err);
	while (!(lacks & 1u << bit))
		bit++;
	return fit_gate_add(r, NULL, (double)NAN, NULL,
			    r->rule->action == FIT_GATE_STOP ? FIT_GATE_CANNOT : FIT_GATE_NOTED, err,
			    "not looked at: needs %s", options[bit]);
}

static bool has_shapes(const struct fit_gate_kind *k)
{
	for (const struct fit_gate_check *c = k->checks; c->name; c++)
		if (strcmp(c->name, "shape") == 0)
			return true;
	return false;
}

static int run_checks(struct fit_gate_run *r, struct fit_err *err)
{
	int rc = FIT_OK;

	if (r->in->n_shapes && !has_shapes(r->kind))
		return fit_fail(err, FIT_EINVAL, "--shape is of a tree or a GA2M, and this is %s",
				r->kind->what);

	for (const struct fit_gate_check *c = r->kind->checks; c->name && !rc; c++) {
		r->rule = find_rule(r->g->policy, c->name, r->kind->name);
		if (r->rule->action != FIT_GATE_OFF)
			rc = run_check(r, c, err);
	}
	return rc;
}

static void judge(struct fit_gate *g)
{
	g->verdict = FIT_GATE_PASS;
	for (size_t i = 0; i < g->n; i++) {
		if (g->list[i].verdict == FIT_GATE_FAIL)
			g->verdict = FIT_GATE_FAIL;
		else if (g->list[i].verdict == FIT_GATE_CANNOT && g->verdict == FIT_GATE_PASS)
			g->verdict = FIT_GATE_CANNOT;
	}
}

static void end_run(struct fit_gate_run *r)
{
	if (r->kind) {
		r->kind->free(r->model);
		r->kind->free(r->incumbent);
	}
	fit_meta_release(&r->meta);
	fit_table_release(&r->data_table);
	fit_table_release(&r->fresh_table);
	fit_table_release(&r->results_table);
	fit_table_release(&r->incumbent_results_table);
	fit_gate_set_release(&r->data);
	fit_gate_set_release(&r->fresh);
	free(r->data_p);
	free(r->cv_p);
}

int fit_gate_run(struct fit_gate *g, const struct fit_gate_policy *policy, const struct fit_gate_inputs *in,
		 struct fit_err *err)
{
	struct fit_gate_run r = { .g = g, .in = in };
	struct fit_err here = { 0 };
	int rc;

	*g = (struct fit_gate){ .policy = policy, .kind = "" };
	rc = load_model(&r, &here);
	if (!rc && r.model) {	/* without, it was unsound */
		rc = load_rest(&r, &here);
		rc = rc ? rc : run_checks(&r, &here);
	}
	end_run(&r);
	if (rc) {
		fit_gate_release(g);
		return fit_fail(err, rc, "%s", here.msg);
	}
	judge(g);
	return FIT_OK;
}

void fit_gate_release(struct fit_gate *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->list[i].region);
		free(g->list[i].reason);
	}
	free(g->list);
	fit_meta_release(&g->inputs);
	*g = (struct fit_gate){ 0 };
}
