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
#include "tools/sweep_parts.h"
#include "tools/sweep_plan.h"
#include "tools/processors.h"
#include "tools/sweep_pool.h"
#include "tools/sweep_result.h"
#include "tools/sweep_scratch.h"
#include "tools/sweep_sides.h"

#define SAID_MAX 10	/* failed rows that are told one by one */
#define EVENTS "events.tsv"	/* of a slot, and beside a result with --keep-logs */

enum input_state { INPUT_UNKNOWN, INPUT_WANTED, INPUT_THERE, INPUT_FAILED };

struct running {
	const struct cli *cli;
	const struct sweep_options *o;
	struct sweep_plan plan;
	bool *chosen;		/* rows */
	size_t *todo, n_todo;	/* rows that are chosen and not finished */
	struct fit_err **failed;	/* of each row; NULL: not */
	enum input_state *inputs;
	struct fit_err *input_failed;
	size_t *make, n_make;	/* inputs to be made */
	size_t n_done, n_before;
	struct fit_str scratch;	/* folder of this process: half-done work */
	bool lost;		/* a reason, for want of memory */
	pthread_mutex_t lock;	/* of inputs, n_done and lost; each row and slot is in one thread at a time */
	struct cli_progress progress;
	int signal;
};

/* ---- what is prepared ---- */

/* The temporary file of an input: its extension says how it is written. */
static int input_scratch(const struct running *r, struct fit_str *s, size_t slot,
			 const struct sweep_input *in)
{
	const char *dot = strrchr(in->result, '.');
	struct fit_str name = { 0 };
	int rc = fit_str_printf(&name, "input%s", dot && !strchr(dot, '/') ? dot : "");

	rc = rc ? rc : sweep_scratch_file(&r->scratch, s, slot, name.s);
	fit_str_release(&name);
	return rc;
}

static bool input_ready(void *arg, size_t job)
{
	struct running *r = arg;
	const struct sweep_input *in = &r->plan.inputs[r->make[job]];
	bool ready = true;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < in->n_needs; i++)
		ready = ready && r->inputs[in->needs[i]] != INPUT_WANTED;
	pthread_mutex_unlock(&r->lock);
	return ready;
}

/* Of inputs that a job needs, and that are made or not, one that could not be made. */
static int check_needs(struct running *r, const size_t *needs, size_t n, struct fit_err *err)
{
	int rc = FIT_OK;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < n && !rc; i++)
		if (r->inputs[needs[i]] == INPUT_FAILED)
			rc = fit_fail(err, r->input_failed[needs[i]].code, "preparing '%s': %s",
				      r->plan.inputs[needs[i]].name, r->input_failed[needs[i]].msg);
	pthread_mutex_unlock(&r->lock);
	return rc;
}

static int name_log(const char *result, struct sweep_job *what, struct fit_err *err)
{
	what->log = sweep_log_of(result);
	return what->log ? FIT_OK : fit_fail_nomem(err);
}

/* The words of a line, and -o FILE. */
static int set_step(struct sweep_job *what, const char *line, const char *out, struct fit_err *err)
{
	struct sweep_words *words = &what->steps[what->n_steps++];
	int rc = sweep_words_split(words, fit_text_of(line), err);

	if (!rc && (sweep_words_add(words, FIT_TEXT_LIT("-o")) || sweep_words_add(words, fit_text_of(out))))
		rc = fit_fail_nomem(err);
	return rc;
}

static int input_begin(void *arg, size_t job, size_t slot, struct sweep_job *what, struct fit_err *err)
{
	struct running *r = arg;
	const struct sweep_input *in = &r->plan.inputs[r->make[job]];
	struct fit_str file = { 0 };
	int rc = name_log(in->result, what, err);

	rc = rc ? rc : check_needs(r, in->needs, in->n_needs, err);
	if (!rc && input_scratch(r, &file, slot, in))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : set_step(what, in->command, file.s, err);
	fit_str_release(&file);
	return rc;
}

static int input_end(void *arg, size_t job, size_t slot, const struct fit_err *failed, struct fit_err *err)
{
	struct running *r = arg;
	size_t i = r->make[job];
	struct fit_str file = { 0 };
	int rc = failed ? failed->code : FIT_OK;

	if (input_scratch(r, &file, slot, &r->plan.inputs[i]))
		rc = rc ? rc : fit_fail_nomem(err);
	rc = rc ? rc : sweep_input_check(file.s, err);
	rc = rc ? rc : sweep_place(file.s, r->plan.inputs[i].result, true, err);
	if (file.s)
		unlink(file.s);
	fit_str_release(&file);
	pthread_mutex_lock(&r->lock);
	r->inputs[i] = rc ? INPUT_FAILED : INPUT_THERE;
	if (rc)
		r->input_failed[i] = *err;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

/* Want input i, and what it needs, unless it is there and whole. */
static void want(struct running *r, size_t i)
{
	struct fit_err why;

	if (r->inputs[i] != INPUT_UNKNOWN)
		return;
	if (access(r->plan.inputs[i].result, R_OK) == 0 && !sweep_input_check(r->plan.inputs[i].result, &why)) {
		r->inputs[i] = INPUT_THERE;
		return;
	}
	r->inputs[i] = INPUT_WANTED;
	for (size_t k = 0; k < r->plan.inputs[i].n_needs; k++)
		want(r, r->plan.inputs[i].needs[k]);
}

static int make_inputs(struct running *r, size_t slots, struct fit_err *err)
{
	struct sweep_pool pool = {
		.slots = slots, .retries = (size_t)r->o->retries, .arg = r, .ready = input_ready,
		.begin = input_begin, .end = input_end,
	};
	int rc = FIT_OK;

	for (size_t k = 0; k < r->n_todo; k++)
		for (size_t i = 0; i < r->plan.rows[r->todo[k]].n_needs; i++)
			want(r, r->plan.rows[r->todo[k]].needs[i]);
	for (size_t i = 0; i < r->plan.n_inputs && !rc; i++) {
		if (r->inputs[i] != INPUT_WANTED)
			continue;
		r->make[r->n_make++] = i;
		rc = sweep_make_folders(r->plan.inputs[i].result, err);
	}
	pool.n = r->n_make;
	rc = rc ? rc : sweep_pool_run(&pool, err);
	r->signal = pool.signal;
	return rc;
}

/* ---- rows ---- */

static int row_begin(void *arg, size_t job, size_t slot, struct sweep_job *what, struct fit_err *err)
{
	struct running *r = arg;
	const struct sweep_row *row = &r->plan.rows[r->todo[job]];
	struct fit_str events = { 0 }, metrics = { 0 };
	int rc = sweep_make_folders(row->result, err);

	rc = rc ? rc : name_log(row->result, what, err);
	rc = rc ? rc : check_needs(r, row->needs, row->n_needs, err);
	if (!rc && (sweep_scratch_file(&r->scratch, &events, slot, EVENTS) ||
		    sweep_scratch_file(&r->scratch, &metrics, slot, "metrics.tsv")))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : set_step(what, row->replay, events.s, err);
	rc = rc ? rc : sweep_sides_redirect(&what->steps[0], &r->scratch, slot, err);
	rc = rc ? rc : set_step(what, row->metrics, metrics.s, err);
	if (!rc && sweep_words_add(&what->steps[1], fit_text_of(events.s)))
		rc = fit_fail_nomem(err);
	fit_str_release(&events);
	fit_str_release(&metrics);
	return rc;
}

/* What became of a row, for tell(). */
static void note_end(struct running *r, size_t row, const struct fit_err *failed)
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
	struct running *r = arg;
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
	struct running *r = arg;
	size_t done;

	pthread_mutex_lock(&r->lock);
	done = r->n_done;
	pthread_mutex_unlock(&r->lock);
	cli_progress_show(&r->progress, done);
}

static int run_rows(struct running *r, size_t slots, struct fit_err *err)
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
static bool is_finished(const struct running *r, const struct sweep_row *row)
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

static int find_todo(struct running *r, struct fit_err *err)
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
static int tell(const struct running *r)
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

static void release(struct running *r)
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
	struct running r = { .cli = cli, .o = o, .lock = PTHREAD_MUTEX_INITIALIZER };
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
		rc = rc ? rc : make_inputs(&r, slots, &err);
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
