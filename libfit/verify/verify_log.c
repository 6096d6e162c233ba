/* SPDX-License-Identifier: MIT */
/* Reading the log: its rows one by one, as the verifier sees them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/verify/verify_state.h"

enum {
	C_TIME,
	C_EVENT,
	C_JOB,
	C_GPUS,
	C_NODES,
	C_LOCAL,
	C_ACCUM,
	C_EPOCH,
	C_PROGRESS,
	C_APP,
	C_BATCH,
	C_DELAY,
	C_WITH,
	C_SPEED,
	C_PLAN,
	N_CELLS
};

static const struct fit_field fields[N_CELLS] = {
	[C_TIME] = { "time_s", FIT_TIME, FIT_F_NOT_NA },
	[C_EVENT] = { "event", FIT_TEXT, FIT_F_NOT_NA },
	[C_JOB] = { "job_id", FIT_TEXT, 0 },
	[C_GPUS] = { "gpus", FIT_REAL, 0 },
	[C_NODES] = { "nodes", FIT_TEXT, 0 },
	[C_LOCAL] = { "local_bsz", FIT_INT, FIT_F_OPTIONAL },
	[C_ACCUM] = { "accum_steps", FIT_INT, FIT_F_OPTIONAL },
	[C_EPOCH] = { "epoch", FIT_INT, FIT_F_OPTIONAL },
	[C_PROGRESS] = { "progress", FIT_REAL, FIT_F_OPTIONAL },
	[C_APP] = { "app", FIT_TEXT, FIT_F_OPTIONAL },
	[C_BATCH] = { "batch_size", FIT_INT, FIT_F_OPTIONAL },
	[C_DELAY] = { "delay_s", FIT_TIME, FIT_F_OPTIONAL },
	[C_WITH] = { "shared_with", FIT_TEXT, FIT_F_OPTIONAL },
	[C_SPEED] = { "speed", FIT_REAL, FIT_F_OPTIONAL },
	[C_PLAN] = { "exec_plan", FIT_TEXT, FIT_F_OPTIONAL },
};

static const char *const event_names[EV_UNKNOWN] = {
	"cluster", "submit", "reject", "start",  "move",
	"preempt", "resume", "epoch",  "finish", "release", "batch",
	"rent",    "ready",  "return",
	"share", "profile", "profiled", "lend", "regain", "shift", "lose",
};

/* ---- rows ---- */

static enum verify_event event_of(struct fit_text t)
{
	for (int i = 0; i < EV_UNKNOWN; i++)
		if (fit_text_is(t, event_names[i]))
			return (enum verify_event)i;
	return EV_UNKNOWN;
}

/* "0:4,1:2", or "-" for none. Leaves r->nodes_bad set when it is neither. */
static int parse_nodes(struct fit_verifier *v, struct verify_row *r)
{
	struct fit_text t = r->nodes_text;
	size_t at = 0, n = 0;

	if (r->nodes_na || fit_text_is(t, "-"))
		return FIT_OK;
	r->nodes_bad = true;
	for (size_t i = 0; i <= t.n; i++) {
		size_t colon = at;
		int64_t node, gpus;

		if (i < t.n && t.s[i] != ',')
			continue;
		while (colon < i && t.s[colon] != ':')
			colon++;
		if (colon == i ||
		    fit_parse_int64((struct fit_text){ t.s + at, colon - at }, &node) ||
		    fit_parse_int64((struct fit_text){ t.s + colon + 1, i - colon - 1 }, &gpus) ||
		    node < 0 || node > INT32_MAX || gpus < 1 || gpus > INT32_MAX)
			return FIT_OK;
		at = i + 1;
		if (fit_grow(&v->row_nodes, &v->cap_row_nodes, n + 1, sizeof *v->row_nodes))
			return FIT_ENOMEM;
		v->row_nodes[n++] = (struct verify_place){ (int32_t)node, (int32_t)gpus };
		r->sum += gpus;
	}
	r->nodes_bad = false;
	r->nodes = v->row_nodes;
	r->n_nodes = n;
	return FIT_OK;
}

static int64_t int_cell(const struct fit_cell *c)
{
	return c->na ? NO_INT : c->u.i;
}

static int take_cells(struct fit_verifier *v, const struct fit_cell *c, uint64_t line,
		      struct fit_err *err)
{
	struct verify_row r = {
		.t = c[C_TIME].u.i,
		.t_log = c[C_TIME].u.i,
		.event = c[C_EVENT].u.t,
		.ev = event_of(c[C_EVENT].u.t),
		.job = NONE,
		.has_id = !c[C_JOB].na,
		.id = c[C_JOB].u.t,
		.gpus_na = c[C_GPUS].na,
		.gpus = c[C_GPUS].u.d,
		.nodes_na = c[C_NODES].na,
		.nodes_text = c[C_NODES].u.t,
		.local_bsz = int_cell(&c[C_LOCAL]),
		.accum = int_cell(&c[C_ACCUM]),
		.epoch = int_cell(&c[C_EPOCH]),
		.batch = int_cell(&c[C_BATCH]),
		.delay_ns = int_cell(&c[C_DELAY]),
		.progress_na = c[C_PROGRESS].na,
		.progress = c[C_PROGRESS].u.d,
		.app_na = c[C_APP].na,
		.app = c[C_APP].u.t,
		.has_with = !c[C_WITH].na,
		.with = NONE,
		.exec_plan = c[C_PLAN].na ? FIT_NO_EXEC_PLAN : fit_plan_times_plan(&v->plan_times, c[C_PLAN].u.t),
		.speed = c[C_SPEED].na ? (double)NAN : c[C_SPEED].u.d,
	};

	if (r.has_id)
		r.job = verify_find_row_job(v, r.id);
	if (r.has_with)
		r.with = verify_find_job(v, c[C_WITH].u.t);
	if (r.ev == EV_CLUSTER)
		r.cluster_bad = r.nodes_na || !verify_measure_cluster(r.nodes_text, &r.n_nodes, &r.sum),
		r.n_nodes = 0;
	else if (parse_nodes(v, &r))
		return fit_fail_nomem(err);
	if (r.nodes_bad)
		r.n_nodes = 0, r.sum = 0;
	verify_take(v, &r, line);
	return v->code ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- ranks ---- */

static int by_submit_and_id(const struct fit_verifier *v, uint32_t a, uint32_t b)
{
	const struct verify_job *x = &v->jobs[a], *y = &v->jobs[b];
	int c;

	if (x->submit_ns != y->submit_ns)
		return x->submit_ns < y->submit_ns ? -1 : 1;
	c = fit_text_cmp_natural(verify_job_id(v, a), verify_job_id(v, b));
	return c ? c : (a > b) - (a < b);
}

static int rank_jobs(struct fit_verifier *v)
{
	uint32_t *by = calloc(v->n_jobs ? v->n_jobs : 1, sizeof *by);

	if (!by)
		return FIT_ENOMEM;
	for (size_t i = 0; i < v->n_jobs; i++)
		by[i] = (uint32_t)i;
	verify_sort(v, by, v->n_jobs, by_submit_and_id);
	for (size_t i = 0; i < v->n_jobs; i++)
		v->jobs[by[i]].rank = (uint32_t)i;
	free(by);
	return v->code;
}

/* ---- the whole log ---- */

/* Is the log made with profiles, of GPU types or not? */
static bool says_profile(const struct fit_meta *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (strncmp(m->pairs[i].key, "input_profile", strlen("input_profile")) == 0)
			return true;
	return false;
}

static int read_log(struct fit_verifier *v, struct fit_reader *r, struct fit_err *err)
{
	struct fit_cell cells[N_CELLS];
	bool file_order = false;
	int rc = fit_reader_begin(r, fields, N_CELLS, err);

	if (rc)
		return rc == FIT_END
			       ? fit_fail(err, FIT_EPARSE, "%s: no table (expected an event log)",
					  fit_reader_input(r))
			       : rc;
	v->with_profile = says_profile(fit_reader_meta(r));
	if (v->with_profile && !v->apps_by_type.n)
		return fit_fail(err, FIT_EINVAL,
				"%s: made with a profile store (give it with --profile)",
				fit_reader_input(r));
	v->seeded = fit_meta_get(fit_reader_meta(r), "input_models") != NULL &&
		    !fit_meta_get(fit_reader_meta(r), "input_plan_times");
	if (v->seeded && !*v->models.hash)
		return fit_fail(err, FIT_EINVAL, "%s: made with models (give them with --models)",
				fit_reader_input(r));
	v->with_speedups = fit_meta_get(fit_reader_meta(r), "input_speedups") != NULL;
	if (v->with_speedups && !*v->speedups.hash)
		return fit_fail(err, FIT_EINVAL, "%s: made with speedups (give them with --speedups)",
				fit_reader_input(r));
	if (fit_meta_get(fit_reader_meta(r), "input_plan") && !*v->plans.hash)
		return fit_fail(err, FIT_EINVAL, "%s: made with plans (give them with --plan)", fit_reader_input(r));
	if (fit_meta_get(fit_reader_meta(r), "input_allocations") && !*v->follow.hash)
		return fit_fail(err, FIT_EINVAL, "%s: made with allocations (give them with --allocations)",
				fit_reader_input(r));
	v->with_plans = fit_meta_get(fit_reader_meta(r), "input_plan_times") != NULL;
	if (v->with_plans && !*v->plan_times.hash)
		return fit_fail(err, FIT_EINVAL, "%s: made with times of plans (give them with --plan-times)",
				fit_reader_input(r));
	v->with_rates = fit_meta_get(fit_reader_meta(r), "input_rates") != NULL;
	if (v->with_rates && !v->rates.order)
		return fit_fail(err, FIT_EINVAL, "%s: made with rates (give them with --rates)", fit_reader_input(r));
	v->by_epoch = v->with_profile || v->with_speedups || v->with_plans || v->with_rates;
	if (fit_meta_get(fit_reader_meta(r), "input_pairs") && !v->measured)
		return fit_fail(err, FIT_EINVAL, "%s: jobs share GPUs (give what was measured with --configs and --pairs)",
				fit_reader_input(r));
	verify_leave_out_jobs(v);
	if (verify_read_meta(v, fit_reader_meta(r), &file_order))
		return fit_fail_nomem(err);
	rc = verify_boa_learn(v, fit_reader_meta(r), err);
	if (rc)
		return rc;
	if (!file_order && rank_jobs(v))
		return fit_fail_nomem(err);
	if (verify_admission_begin(v))
		return fit_fail_nomem(err);
	if (v->policy == POLICY_QSSF && verify_rank_qssf(v))
		return fit_fail_nomem(err);
	if (v->adaptive && (rc = fit_throughput_new(&v->fitter, err)) != FIT_OK)
		return rc;
	if (v->keep) {
		v->results = calloc(v->n_jobs ? v->n_jobs : 1, sizeof *v->results);
		if (!v->results)
			return fit_fail_nomem(err);
		for (size_t i = 0; i < v->n_jobs; i++)
			v->results[i] =
				(struct verify_result){ .start_ns = NEVER, .end_ns = NEVER };
	}
	while (!(rc = fit_reader_row(r, cells, err))) {
		rc = take_cells(v, cells, fit_reader_line(r), err);
		if (rc)
			return rc;
	}
	if (rc != FIT_END)
		return rc;
	verify_read_end_meta(v, fit_reader_meta(r));
	verify_end(v);
	return v->code ? fit_fail_nomem(err) : FIT_OK;
}

int fit_verifier_log(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	if (rc)
		return rc;
	rc = read_log(v, r, err);
	rc = rc ? rc : fit_reader_only(r, err);
	fit_reader_hash(r, v->hash_log);
	fit_reader_close(r);
	return rc;
}
