/* SPDX-License-Identifier: MIT */
/*
 * What is read beside the jobs, on any bytes: tables of rates, of times of execution plans, of performance
 * models, of allocations, of clusters, of times alone, of shares, and policies of the gate. Which one is the
 * end of the program's name; `fuzz_inputs --formats` lists them; tests/fuzz/lib.sh makes a link of each name.
 *
 * Parts of the input, between lines "%%", become files in a folder of $TMPDIR, which the next input
 * overwrites: fuzz_inputs_isolated reads times alone and a log, fuzz_inputs_shares jobs, rates, shares and
 * a log; the others one file. What was read is asked, and has to answer what the table says.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libfit/metrics/fairness.h"
#include "libfit/model/plan_times.h"
#include "libfit/model/rubick_table.h"
#include "libfit/model/shares.h"
#include "libfit/model/step_rates.h"
#include "libfit/replay/allocations.h"
#include "libfit/verify/gate.h"
#include "libfit/verify/verify.h"
#include "tests/fuzz/fuzz.h"
#include "tools/metrics_fairness.h"
#include "tools/replay_inputs.h"

#define PARTS_MAX 4

static char folder[200], paths[PARTS_MAX + 1][240];	/* the last one: what is written back */

static void check_err(int rc, const struct fit_err *err)
{
	if (rc && (!err->msg[0] || strchr(err->msg, '\n') || err->code != rc))
		abort();
}

/* ---- one table ---- */

#define SHARE_JOBS 4
#define SHARE_TYPES 3
#define SHARE_GPUS 8	/* of a type */

/* Shares of some jobs of the table on some of its types: found, or refused in a sentence. */
static void share_out(const struct fit_step_rates *r)
{
	const struct fit_column *c = r->table.columns;
	struct fit_text types[SHARE_TYPES];
	struct fit_share_job jobs[SHARE_JOBS];
	double rates[SHARE_JOBS * SHARE_TYPES], gpus[SHARE_TYPES], x[SHARE_JOBS * SHARE_TYPES];
	struct fit_share_problem p = { .jobs = jobs, .rates = rates, .gpus = gpus };

	for (size_t i = 0; i < r->table.n_rows && p.n_types < SHARE_TYPES; i++) {
		struct fit_text type = fit_column_text(&c[0], i);
		size_t t = 0;

		while (t < p.n_types && !fit_text_eq(types[t], type))
			t++;
		if (t < p.n_types)
			continue;
		gpus[t] = SHARE_GPUS;
		types[p.n_types++] = type;
	}
	for (size_t i = 0; i < r->table.n_rows && p.n_jobs < SHARE_JOBS; i++) {
		struct fit_step_work w = { fit_column_text(&c[2], i), c[3].i[i], c[4].i[i] };
		double *row = rates + p.n_jobs * p.n_types, most = 0;

		for (size_t t = 0; t < p.n_types; t++) {
			row[t] = fit_step_rates_find(r, &w, types[t], false);
			row[t] = row[t] > 0 && w.gpus <= SHARE_GPUS ? row[t] : 0;
			most = fmax(most, row[t]);
		}
		if (most > 0)
			jobs[p.n_jobs++] = (struct fit_share_job){ .gpus = (double)w.gpus, .weight = 1,
								   .steps = 1000, .elapsed_s = 10, .isolated_s = 5 };
	}
	for (const struct fit_share_objective *o = fit_share_objectives; o->name && p.n_jobs; o++) {
		struct fit_share_solution s = { 0 };
		struct fit_err err = { 0 };

		check_err(o->solve(&p, x, &s, &err), &err);
	}
}

static void read_rates(void)
{
	struct fit_step_rates r;
	struct fit_err err = { 0 };
	int rc = fit_step_rates_read(&r, paths[0], &err);
	const struct fit_column *c = r.table.columns;

	check_err(rc, &err);
	if (rc)
		return;
	for (size_t i = 0; i < r.table.n_rows; i++) {	/* the columns of the reader, in its order */
		struct fit_text type = fit_column_text(&c[0], i);
		struct fit_step_work w = { fit_column_text(&c[2], i), c[3].i[i], c[4].i[i] };
		double spread = fit_step_rates_find(&r, &w, type, true);
		double found = c[1].i[i] == 0 ? spread : fit_step_rates_find(&r, &w, type, false);

		if (!(found >= c[5].d[i] && found <= c[5].d[i]) || isnan(spread) || !fit_step_rates_has_type(&r, type))
			abort();
	}
	share_out(&r);
	fit_step_rates_release(&r);
}

/* So many pairs are enough for every way to a time: triangles are tried one by one. */
#define PAIRS_MAX 12
#define TIMES_MAX 200

static void ask_app(const struct fit_plan_app *a)
{
	int32_t per_node[FIT_PLAN_NODES_MAX + 1] = { 0 };

	if (fit_plan_times_find(a->of, fit_text_of(a->name)) != a)
		abort();
	if (a->n > TIMES_MAX || a->n_pairs > PAIRS_MAX)
		return;
	for (size_t i = 0; i < a->n; i++) {
		const struct fit_plan_time *x = &a->times[i];
		double s;

		for (int32_t k = 0; k < x->nodes; k++)	/* another rotation of it */
			per_node[k] = x->per_node[(k + 1) % x->nodes];
		s = fit_plan_app_iter(a, x->plan, per_node, (size_t)x->nodes, false);
		if (!(s >= x->iter_s && s <= x->iter_s))
			abort();
		per_node[x->nodes] = 1;
		for (int any = 0; any < 2; any++)
			if (fit_plan_app_iter(a, x->plan, per_node, (size_t)x->nodes + 1, any) < 0 ||
			    fit_plan_app_iter(a, FIT_NO_EXEC_PLAN, per_node, (size_t)x->nodes, any) < 0)
				abort();
	}
	for (int64_t gpus = 1; gpus < 40; gpus++)
		if (fit_plan_app_packed(a, fit_plan_times_plan(a->of, FIT_TEXT_LIT("ga")), gpus, 4, gpus % 2) < 0)
			abort();
}

static void read_plan_times(void)
{
	struct fit_plan_times t;
	struct fit_err err = { 0 };
	int rc = fit_plan_times_read(&t, paths[0], &err);

	check_err(rc, &err);
	if (rc)
		return;
	for (size_t i = 0; i < t.n_apps; i++)
		ask_app(&t.apps[i]);
	fit_plan_times_release(&t);
}

static void read_plan_models(void)
{
	struct fit_rubick_models t;
	struct fit_err err = { 0 };
	int rc = fit_rubick_models_read(&t, paths[0], &err);

	check_err(rc, &err);
	if (rc)
		return;
	for (size_t i = 0; i < t.n; i++) {
		const struct fit_rubick_model *m = &t.list[i];

		if (fit_rubick_models_find(&t, fit_text_of(m->app)) != m)
			abort();
		for (int64_t gpus = 1; gpus <= 8; gpus *= 2)
			if (fit_rubick_forward_ms(m, gpus) < 0)
				abort();
	}
	fit_rubick_models_release(&t);
}

static void read_allocations(void)
{
	struct fit_allocations a;
	struct fit_err err = { 0 };
	int rc = fit_allocations_read(&a, paths[0], &err);

	check_err(rc, &err);
	if (rc)
		return;
	for (size_t i = 0; i < a.n; i++) {
		const struct fit_allocation *x = &a.rows[i];
		int64_t sum = 0;

		if (x->job >= a.n_ids || x->plan > a.n_plans || x->gpus < 0 ||
		    (i && x->time_ns < a.rows[i - 1].time_ns))
			abort();
		if (x->kind == FIT_ALLOCATE_GPUS)
			continue;
		if (x->shares_at > a.shares_n || x->n_shares > a.shares_n - x->shares_at)
			abort();
		for (size_t k = 0; k < x->n_shares; k++)
			sum += a.shares[x->shares_at + k].gpus;
		if (sum != x->gpus)
			abort();
	}
	fit_allocations_release(&a);
}

/* Same rules, whatever the limits look like. */
static bool same_rule(const struct fit_gate_rule *a, const struct fit_gate_rule *b)
{
	return strcmp(a->check, b->check) == 0 && strcmp(a->model, b->model) == 0 && a->action == b->action &&
	       ((isnan(a->limit) && isnan(b->limit)) || (a->limit >= b->limit && a->limit <= b->limit));
}

/* A policy that was read is written, and read again. */
static void read_gate(void)
{
	struct fit_gate_policy p, again;
	struct fit_writer *w = NULL;
	struct fit_err err = { 0 };
	int rc = fit_gate_policy_read(&p, paths[0], &err);

	check_err(rc, &err);
	if (rc)
		return;
	if (fit_writer_open(&w, paths[PARTS_MAX], 0, &err) || fit_gate_policy_write(&p, w, NULL, &err) ||
	    fit_writer_close(w, &err) || fit_gate_policy_read(&again, paths[PARTS_MAX], &err))
		abort();
	if (again.n != p.n)
		abort();
	for (size_t i = 0; i < p.n; i++)
		if (!same_rule(&p.rules[i], &again.rules[i]))
			abort();
	fit_gate_policy_release(&again);
	fit_gate_policy_release(&p);
}

/* ---- clusters ---- */

/* Take and give: the free GPUs are those that nobody holds. */
static void use_cluster(struct fit_cluster *c)
{
	static const int64_t sizes[] = { 1, 3, 8, 20 };
	struct fit_alloc a = { NULL, 0, 0, 0 };
	int64_t all = c->n_free;

	if (all != c->n_gpus || c->n_types < 1)
		abort();
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int rc = c->switches ? fit_switches_find(c->switches, sizes[i], &a) : FIT_OK;

		if (c->switches && !rc != fit_switches_hold(c->switches, sizes[i]))
			abort();
		if (!rc)
			rc = c->switches ? fit_cluster_take_shares(c, &a) : fit_cluster_take(c, sizes[i], &a);
		if (!rc) {
			if (a.gpus != sizes[i] || c->n_free != all - sizes[i])
				abort();
			fit_cluster_give(c, &a);
		}
		if (c->n_free != all)
			abort();
		fit_alloc_release(&a);
		a = (struct fit_alloc){ NULL, 0, 0, 0 };
	}
}

static void read_cluster(void)
{
	for (int way = 0; way < 3; way++) {	/* types, virtual clusters, switches */
		const struct replay_input_options o = { .cluster = paths[0], .virtual_clusters = way == 1,
							.with_switches = way == 2 };
		struct replay_inputs in = { .share = { 0 } };
		struct fit_err err = { 0 };
		int rc = replay_inputs_cluster(&in, &o, &err);

		check_err(rc, &err);
		if (rc == FIT_EINVAL)	/* of a specification, not of a table */
			abort();
		for (size_t i = 0; i < in.partitions.n && !rc; i++)
			use_cluster(&in.partitions.p[i].cluster);
		replay_inputs_release(&in);
	}
}

/* ---- with a log ---- */

static void compare_times(struct metrics_fairness *f, const struct fit_metrics *m, const struct fit_reader *r)
{
	for (int mean = FIT_MEAN_TIMES; mean <= FIT_MEAN_RATIOS; mean++) {
		struct fit_fair_summary s;
		struct fit_err err = { 0 };
		int rc = metrics_fairness_compute(f, m, r, (enum fit_type_mean)mean, &err);

		check_err(rc, &err);
		for (size_t i = 0; i < f->n; i++)
			if (f->jobs[i].jobs_mean < 0 || f->jobs[i].rho < 0 || f->jobs[i].isolated_s < 0 ||
			    isinf(f->jobs[i].jobs_mean))
				abort();
		if (!rc && !fit_fairness_summarise(f->jobs, f->n, &s, &err) && s.n > m->n_finished)
			abort();
		free(f->jobs);
		f->jobs = NULL;
		f->n = 0;
	}
}

static void read_isolated(void)
{
	struct metrics_fairness f;
	struct fit_metrics m;
	struct fit_reader *r = NULL;
	struct fit_err err = { 0 };
	int rc = metrics_fairness_init(&f, true, paths[0], &err);

	check_err(rc, &err);
	if (!rc && !fit_reader_open(&r, paths[1], &err) && !fit_metrics_read(&m, r, NULL, NULL, &err)) {
		compare_times(&f, &m, r);
		fit_metrics_release(&m);
	}
	fit_reader_close(r);
	metrics_fairness_release(&f);
}

static void read_shares(void)
{
	struct fit_verifier *v;
	struct fit_err err = { 0 };
	int rc = fit_verifier_new(&v, &err);

	rc = rc ? rc : fit_verifier_jobs(v, paths[0], &err);
	rc = rc ? rc : fit_verifier_rates(v, paths[1], &err);
	rc = rc ? rc : fit_verifier_shares(v, paths[2], &err);
	rc = rc ? rc : fit_verifier_log(v, paths[3], &err);
	check_err(rc, &err);
	for (size_t i = 0; i < fit_verifier_n_rules(v) && !rc; i++) {
		struct fit_verdict d = fit_verifier_verdict(v, i);

		if (d.violations > d.checked || (d.kind == FIT_VERDICT_VIOLATED) != (d.violations > 0) ||
		    (d.violations && (!d.detail || strchr(d.detail, '\n'))))
			abort();
	}
	fit_verifier_free(v);
}

/* ---- which ---- */

static const struct input {
	const char *name;
	int parts;
	void (*read)(void);
} inputs[] = {
	{ "rates", 1, read_rates }, { "plan-times", 1, read_plan_times },
	{ "plan-models", 1, read_plan_models }, { "allocations", 1, read_allocations },
	{ "gate", 1, read_gate }, { "cluster", 1, read_cluster },
	{ "isolated", 2, read_isolated }, { "shares", 4, read_shares },
};
#define N_INPUTS (sizeof inputs / sizeof *inputs)

static const struct input *chosen = &inputs[0];

static void remove_files(void)
{
	for (int i = 0; i <= PARTS_MAX; i++)
		unlink(paths[i]);
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = fuzz_format(*argv, "fuzz_inputs_"), *tmp = getenv("TMPDIR");

	if (fuzz_lists(*argc, *argv)) {
		for (size_t i = 0; i < N_INPUTS; i++)
			printf("%s\n", inputs[i].name);
		exit(0);
	}
	if (name) {
		size_t i = 0;

		while (i < N_INPUTS && strcmp(inputs[i].name, name) != 0)
			i++;
		if (i == N_INPUTS)
			fuzz_no_format(*argv);
		chosen = &inputs[i];
	}
	snprintf(folder, sizeof folder, "%s/fuzz-inputs-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder)) {
		perror(folder);
		exit(1);
	}
	for (int i = 0; i <= PARTS_MAX; i++)
		snprintf(paths[i], sizeof paths[i], "%s/%d", folder, i);
	atexit(remove_files);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *part = data;

	for (int i = 0; i < chosen->parts; i++) {
		size_t n = chosen->parts > 1 ? fuzz_next_part(&data, &size, &part) : size;

		if (!fuzz_write_part(paths[i], part, n))
			return 0;
	}
	chosen->read();
	return 0;
}
