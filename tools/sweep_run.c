/* SPDX-License-Identifier: MIT */
/*
 * gf-sweep run: the rows of a plan that are not finished, several at a time. A row is two programs, one
 * after another, gf-replay into a log and gf-metrics from it, so that N rows keep N processors busy and not
 * 2 N. They are started anew for each row: that costs some 5 ms, and a row that crashes takes nobody along.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/progress.h"
#include "tools/processors.h"
#include "tools/sweep_parts.h"
#include "tools/sweep_pool.h"
#include "tools/sweep_result.h"
#include "tools/sweep_running.h"
#include "tools/sweep_scratch.h"
#include "tools/sweep_sides.h"

#define SAID_MAX 10	/* failed rows that are told one by one */
#define EVENTS "events.tsv"	/* of a slot, and beside a result with --keep-logs */

/* ---- rows ---- */

static int row_begin(void *arg, size_t job, size_t slot, struct sweep_job *what, struct fit_err *err)
{
	struct sweep_running *r = arg;
	const struct sweep_row *row = &r->plan.rows[r->todo[job]];
	struct fit_str events = { 0 }, metrics = { 0 };
	int rc = sweep_make_folders(row->result, err);

	rc = rc ? rc : sweep_name_log(row->result, what, err);
	rc = rc ? rc : sweep_check_needs(r, row->needs, row->n_needs, err);
	if (!rc && (sweep_scratch_file(&r->scratch, &events, slot, EVENTS) ||
		    sweep_scratch_file(&r->scratch, &metrics, slot, "metrics.tsv")))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : sweep_set_step(what, row->replay, events.s, err);
	rc = rc ? rc : sweep_sides_redirect(&what->steps[0], &r->scratch, slot, err);
	rc = rc ? rc : sweep_set_step(what, row->metrics, metrics.s, err);
	if (!rc && sweep_words_add(&what->steps[1], fit_text_of(events.s)))
		rc = fit_fail_nomem(err);
	fit_str_release(&events);
	fit_str_release(&metrics);
	return rc;
}

/* What became of a row, for tell(). */
static void note_end(struct sweep_running *r, size_t row, const struct fit_err *failed)
{
	struct fit_err *copy = failed ? malloc(sizeof *copy) : NULL;

	if (copy)
		*copy = *failed;
	r->failed[row] = copy;
	pthread_mutex_lock(&r->lock);
	r->lost = r->lost || (failed && !copy);
	r->n_done++;
	pthread_mutex_unlock(&r->lock);
}

static int row_end(void *arg, size_t job, size_t slot, const struct fit_err *failed, struct fit_err *err)
{
	struct sweep_running *r = arg;
	const struct sweep_row *row = &r->plan.rows[r->todo[job]];
	struct fit_str events = { 0 }, metrics = { 0 }, between = { 0 }, kept = { 0 };
	struct fit_str *const files[] = { &events, &metrics, &between };
	int rc = failed ? failed->code : FIT_OK, sides;

	if (sweep_scratch_file(&r->scratch, &events, slot, EVENTS) ||
	    sweep_scratch_file(&r->scratch, &metrics, slot, "metrics.tsv") ||
	    sweep_scratch_file(&r->scratch, &between, slot, "result.tsv") ||
	    sweep_side_file(&kept, row->result, EVENTS))
		rc = rc ? rc : fit_fail_nomem(err);
	if (!rc && r->o->keep_logs)
		rc = sweep_place(events.s, kept.s, false, err);
	sides = sweep_sides_place(row, &r->scratch, slot, rc != FIT_OK, rc ? NULL : err);
	rc = rc ? rc : sides;
	rc = rc ? rc : sweep_result_place(row, metrics.s, between.s, err);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		if (files[i]->s)
			unlink(files[i]->s);
		fit_str_release(files[i]);
	}
	fit_str_release(&kept);
	note_end(r, r->todo[job], rc ? err : NULL);
	return rc;
}

static void tick(void *arg)
{
	struct sweep_running *r = arg;
	size_t done;

	pthread_mutex_lock(&r->lock);
	done = r->n_done;
	pthread_mutex_unlock(&r->lock);
	cli_progress_show(&r->progress, done);
}

static int run_rows(struct sweep_running *r, size_t slots, struct fit_err *err)
{
	struct sweep_pool pool = {
		.n = r->n_todo, .slots = slots, .retries = (size_t)r->o->retries, .arg = r,
		.begin = row_begin, .end = row_end, .tick = tick,
	};
	int rc;

	cli_progress_start(&r->progress, r->cli->tool->name, "rows", r->n_todo, r->cli->quiet);
	rc = sweep_pool_run(&pool, err);
	cli_progress_end(&r->progress);
	r->signal = pool.signal;
	return rc;
}

/* ---- before and after ---- */

/* A file that changed would be taken for the one that the hashes are of. Of another build of a program it
 * is said only: elsewhere that is as it should be. */
static int check_files(const struct cli *cli, const struct sweep_plan *p, struct fit_err *err)
{
	char hash[FIT_HASH_HEX];
	int rc = FIT_OK;

	for (size_t i = 0; i < p->files.n && !rc; i++) {
		const struct sweep_file *f = &p->files.files[i];

		rc = f->program ? sweep_program_hash(f->name, hash, err) : sweep_file_hash(f->name, hash, err);
		if (rc || strcmp(hash, f->hash) == 0)
			continue;
		if (f->program)
			cli_warn(cli, "%s: another build of %s than the plan was made with", p->input, f->name);
		else
			rc = fit_fail(err, FIT_EDATA, "%s: not the file that %s was made with (make a new plan)", f->name,
				      p->input);
	}
	return rc == FIT_ENOTFOUND ? err->code = FIT_EIO : rc;
}

/* Is there nothing to do for a row? */
static bool is_finished(const struct sweep_running *r, const struct sweep_row *row)
{
	struct fit_str events = { 0 };
	char said[FIT_ERR_MAX];
	bool finished = !r->o->fresh && sweep_row_state(row, said, sizeof said) == SWEEP_FINISHED &&
		sweep_sides_there(row);

	if (finished && r->o->keep_logs)
		finished = sweep_side_file(&events, row->result, EVENTS) == FIT_OK && access(events.s, R_OK) == 0;
	fit_str_release(&events);
	return finished;
}

static int find_todo(struct sweep_running *r, struct fit_err *err)
{
	const struct sweep_plan *p = &r->plan;
	int rc;

	r->chosen = calloc(p->n_rows, sizeof *r->chosen);
	r->todo = calloc(p->n_rows, sizeof *r->todo);
	r->failed = calloc(p->n_rows, sizeof *r->failed);
	r->inputs = calloc(p->n_inputs + 1, sizeof *r->inputs);
	r->input_failed = calloc(p->n_inputs + 1, sizeof *r->input_failed);
	r->make = calloc(p->n_inputs + 1, sizeof *r->make);
	if (!r->chosen || !r->todo || !r->failed || !r->inputs || !r->input_failed || !r->make)
		return fit_fail_nomem(err);
	rc = sweep_rows_choose(r->o->rows, p->n_rows, r->chosen, err);
	for (size_t i = 0; i < p->n_rows && !rc; i++) {
		if (!r->chosen[i])
			continue;
		if (is_finished(r, &p->rows[i]))
			r->n_before++;
		else
			r->todo[r->n_todo++] = i;
	}
	return rc;
}

/* The rows that failed, in order, and the exit status that they ask for. */
static int tell(const struct sweep_running *r)
{
	int status = r->lost ? CLI_EXIT_MACHINE : CLI_EXIT_OK;
	size_t n = 0;

	for (size_t i = 0; i < r->plan.n_rows; i++) {
		char name[300];

		if (!r->failed[i])
			continue;
		if (r->failed[i]->code != FIT_EDATA)
			status = CLI_EXIT_MACHINE;
		else if (!status)
			status = CLI_EXIT_DATA;
		if (n++ >= SAID_MAX)
			continue;
		sweep_row_name(&r->plan, i, name, sizeof name);
		fprintf(stderr, "%s: %s: %s\n", r->cli->tool->name, name, r->failed[i]->msg);
	}
	if (n > SAID_MAX)
		fprintf(stderr, "%s: and %zu further rows of %zu\n", r->cli->tool->name, n - SAID_MAX, r->n_todo);
	cli_note(r->cli, "%zu rows done, %zu failed, %zu were finished, %zu inputs made", r->n_done - n, n,
		 r->n_before, r->n_make);
	return status;
}

static void release(struct sweep_running *r)
{
	for (size_t i = 0; r->failed && i < r->plan.n_rows; i++)
		free(r->failed[i]);
	free(r->failed);
	free(r->chosen);
	free(r->todo);
	free(r->inputs);
	free(r->input_failed);
	free(r->make);
	sweep_plan_release(&r->plan);
}

int sweep_verb_run(struct cli *cli, void *given)
{
	const struct sweep_options *o = given;
	struct sweep_running r = { .cli = cli, .o = o, .lock = PTHREAD_MUTEX_INITIALIZER };
	size_t slots = o->jobs ? (size_t)o->jobs : processors_allowed();
	struct fit_err err = { 0 };
	int rc, status = CLI_EXIT_OK;

	if (cli->out)
		return cli_usage(cli, "run writes no table (expected gf-sweep reduce --output)");
	rc = sweep_plan_read(&r.plan, cli->operands[0], &err);
	if (rc)
		return cli_error(cli, &err);
	rc = find_todo(&r, &err);
	if (rc == FIT_EINVAL) {
		status = cli_usage(cli, "--rows: %s", err.msg);
		goto out;
	}
	if (!rc && r.n_todo) {
		slots = slots < r.n_todo ? slots : r.n_todo;
		rc = check_files(cli, &r.plan, &err);
		rc = rc ? rc : sweep_scratch_open(&r.scratch, &err);
		rc = rc ? rc : sweep_make_inputs(&r, slots, &err);
		rc = rc ? rc : run_rows(&r, slots, &err);
		sweep_scratch_close(&r.scratch);
	}
	if (rc && rc != FIT_END)
		status = cli_error(cli, &err);
	else
		status = tell(&r);
out:
	release(&r);
	if (r.signal) {		/* end as the signal says, so that whoever waits for us sees it */
		signal(r.signal, SIG_DFL);
		raise(r.signal);
	}
	return status;
}
