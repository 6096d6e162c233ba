/* SPDX-License-Identifier: MIT */
/*
 * sia_jobs FILE TYPE=STORE…: the model of adaptive jobs alone, each on one placement from time 0 on, in
 * rounds of 60 s, under the conventions of Sia's simulator. A line for each job of FILE
 * (job_model_static.csv): application, type, placement, its completion and the expected one, samples
 * learned and expected, distinct batch splits (1: only one was possible).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/profile_set.h"
#include "libfit/replay/progress.h"
#include "libfit/table/source.h"
#include "traces/csv.h"

#define ROUND_NS (60 * FIT_NS_PER_S)

static const struct fit_fidelity *sia;
static struct fit_err err;

struct outcome {
	int64_t end_ns, samples, splits;
};

/* All of a job's life on the nodes a. */
static int live(struct fit_app *app, const struct fit_alloc *a, struct fit_throughput *fitter, struct outcome *o)
{
	const struct fit_app_info *info = fit_app_info(app);
	const struct fit_fidelity_app *f = fit_fidelity_app(sia, info->name);
	const struct fit_progress_model *m = &fit_progress_adaptive;
	struct fit_job job = { .id = info->name, .app_name = info->name, .app = app, .gpus = a->gpus,
			       .batch_size = info->init_batch };
	struct fit_agent agent;
	struct fit_run run = { .app = app, .calibration = f->calibration, .caps_batch = true, .agents = &agent,
			       .agent = &agent, .n_agents = 1 };
	struct fit_batch last = { 0, -1 };
	bool finished = false, late, changed;
	int64_t at, now = 0;
	int rc;

	fit_agent_init(&agent, info, fitter);
	agent.loose_tol = sia->fit_tol;
	*o = (struct outcome){ 0 };
	rc = m->place(&job, &run, a, f->restart_ns, &err);
	for (; !rc && !finished; now += ROUND_NS) {
		if (now)
			rc = m->retune(&job, &run, a, now, &changed, &err);
		rc = rc ? rc : m->next(&job, &run, sia, &at, &late, &err);
		while (!rc && !finished && (at < now + ROUND_NS || (at == now + ROUND_NS && !late))) {
			if (run.batch.atomic_bsz != last.atomic_bsz || run.batch.accum_steps != last.accum_steps)
				o->splits++;
			last = run.batch;
			o->end_ns = at;
			rc = m->pass(&job, &run, a, at, &finished, &err);
			if (!rc && !finished)
				rc = m->next(&job, &run, sia, &at, &late, &err);
		}
	}
	o->samples = (int64_t)agent.n_obs;
	fit_agent_release(&agent);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct fit_field f[] = {
		{ "application", FIT_TEXT, FIT_F_NOT_NA }, { "type", FIT_TEXT, FIT_F_NOT_NA },
		{ "placement", FIT_TEXT, FIT_F_NOT_NA }, { "completion_s", FIT_TEXT, 0 },
		{ "num_profiles", FIT_TEXT, 0 }, { "num_batch_configs", FIT_TEXT, 0 },
	};
	struct fit_profile_set profiles = { 0 };
	struct fit_throughput *fitter;
	struct fit_source *s;
	struct fit_csv *c;
	struct fit_cell in[6];
	int rc = argc < 3 || fit_throughput_new(&fitter, &err);

	for (size_t k = 0; fit_fidelities[k].name; k++)
		if (strcmp(fit_fidelities[k].name, "sia-sosp23") == 0)
			sia = &fit_fidelities[k];
	for (int i = 2; i < argc && !rc; i++)
		rc = fit_profile_set_add(&profiles, argv[i], &err);
	rc = rc || !sia || fit_source_open(&s, argv[1], &err) || fit_csv_open(&c, s, NULL, &err) ||
	     fit_csv_bind(c, f, 6, &err);
	while (!rc && !fit_csv_row(c, in, &err)) {
		struct fit_profile *p = fit_profile_set_find(&profiles, in[1].u.t);
		struct fit_app *app = p ? fit_profile_find(p, in[0].u.t) : NULL;
		struct fit_share shares[16];
		struct fit_alloc a = { .shares = shares };
		struct outcome o = { -FIT_NS_PER_S, -1, -1 };

		for (size_t i = 0; i < in[2].u.t.n && i < 16; i++) {	/* "8-8" */
			if (in[2].u.t.s[i] < '1' || in[2].u.t.s[i] > '9')
				continue;
			shares[a.n++] = (struct fit_share){ (int32_t)i, in[2].u.t.s[i] - '0' };
			a.gpus += in[2].u.t.s[i] - '0';
		}
		err.msg[0] = '\0';
		if (app && live(app, &a, fitter, &o))
			o.end_ns = -FIT_NS_PER_S;
		printf("%.*s %.*s %.*s %lld %.*s %lld %.*s %lld %.*s %s\n", FIT_TEXT_ARG(in[0].u.t),
		       FIT_TEXT_ARG(in[1].u.t), FIT_TEXT_ARG(in[2].u.t), (long long)(o.end_ns / FIT_NS_PER_S),
		       FIT_TEXT_ARG(in[3].u.t), (long long)o.samples, FIT_TEXT_ARG(in[4].u.t), (long long)o.splits,
		       FIT_TEXT_ARG(in[5].u.t), err.msg);
	}
	if (rc) {
		fprintf(stderr, "sia_jobs: %s\n", err.msg);
		return 2;
	}
	fit_csv_close(c);
	fit_source_close(s);
	fit_throughput_free(fitter);
	fit_profile_set_release(&profiles);
	return 0;
}
