/* SPDX-License-Identifier: MIT */
/* What the rows of a sweep need is prepared: each input once, after those that it needs itself. */
#include <string.h>
#include <unistd.h>

#include "tools/sweep_result.h"
#include "tools/sweep_running.h"
#include "tools/sweep_scratch.h"

/* The temporary file of an input: its extension says how it is written. */
static int input_scratch(const struct sweep_running *r, struct fit_str *s, size_t slot,
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
	struct sweep_running *r = arg;
	const struct sweep_input *in = &r->plan.inputs[r->make[job]];
	bool ready = true;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < in->n_needs; i++)
		ready = ready && r->inputs[in->needs[i]] != INPUT_WANTED;
	pthread_mutex_unlock(&r->lock);
	return ready;
}

int sweep_check_needs(struct sweep_running *r, const size_t *needs, size_t n, struct fit_err *err)
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

int sweep_name_log(const char *result, struct sweep_job *what, struct fit_err *err)
{
	what->log = sweep_log_of(result);
	return what->log ? FIT_OK : fit_fail_nomem(err);
}

int sweep_set_step(struct sweep_job *what, const char *line, const char *out, struct fit_err *err)
{
	struct sweep_words *words = &what->steps[what->n_steps++];
	int rc = sweep_words_split(words, fit_text_of(line), err);

	if (!rc && (sweep_words_add(words, FIT_TEXT_LIT("-o")) || sweep_words_add(words, fit_text_of(out))))
		rc = fit_fail_nomem(err);
	return rc;
}

static int input_begin(void *arg, size_t job, size_t slot, struct sweep_job *what, struct fit_err *err)
{
	struct sweep_running *r = arg;
	const struct sweep_input *in = &r->plan.inputs[r->make[job]];
	struct fit_str file = { 0 };
	int rc = sweep_name_log(in->result, what, err);

	rc = rc ? rc : sweep_check_needs(r, in->needs, in->n_needs, err);
	if (!rc && input_scratch(r, &file, slot, in))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : sweep_set_step(what, in->command, file.s, err);
	fit_str_release(&file);
	return rc;
}

static int input_end(void *arg, size_t job, size_t slot, const struct fit_err *failed, struct fit_err *err)
{
	struct sweep_running *r = arg;
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
static void want(struct sweep_running *r, size_t i)
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

int sweep_make_inputs(struct sweep_running *r, size_t slots, struct fit_err *err)
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
