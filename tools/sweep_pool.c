/* SPDX-License-Identifier: MIT */
#include "tools/sweep_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define NOBODY SIZE_MAX
#define TAIL ((size_t)4096)

struct slot {
	size_t job;		/* NOBODY: free */
	struct sweep_job what;
	size_t step, tries;
	pid_t pid;
	int log;		/* descriptor, or -1 */
};

struct run {
	struct sweep_pool *pool;
	struct slot *slots;
	bool *begun;
	size_t first, running;	/* jobs before first are begun */
	sigset_t before;	/* the signals that were blocked */
};

/* ---- a step ---- */

static int say(int fd, struct fit_text t)
{
	while (t.n) {
		ssize_t k = write(fd, t.s, t.n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return FIT_EIO;
		t.s += k;
		t.n -= (size_t)k;
	}
	return FIT_OK;
}

static int spawn(struct run *r, struct slot *s, struct fit_err *err)
{
	const struct sweep_words *words = &s->what.steps[s->step];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	struct fit_str line = { 0 };
	int e;

	if (fit_str_puts(&line, "$ ") || sweep_words_join(&line, words) || fit_str_puts(&line, "\n")) {
		fit_str_release(&line);
		return fit_fail_nomem(err);
	}
	e = say(s->log, (struct fit_text){ line.s, line.n });
	fit_str_release(&line);
	if (e)
		return fit_fail_errno(err, "%s: cannot write", s->what.log);
	if (posix_spawn_file_actions_init(&actions))
		return fit_fail_nomem(err);
	if (posix_spawnattr_init(&attr)) {
		posix_spawn_file_actions_destroy(&actions);
		return fit_fail_nomem(err);
	}
	e = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	e = e ? e : posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	e = e ? e : posix_spawn_file_actions_adddup2(&actions, s->log, STDERR_FILENO);
	e = e ? e : posix_spawnattr_setsigmask(&attr, &r->before);
	e = e ? e : posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	e = e ? e : posix_spawnp(&s->pid, words->w[0], &actions, &attr, words->w, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	if (!e)
		return FIT_OK;
	errno = e;
	return fit_fail(err, FIT_ECHILD, "cannot run %s: %s", words->w[0], strerror(e));
}

/* The last line of a log that a program said, without what cli_usage() adds; "" where there is none. */
static void last_said(int fd, char *line, size_t cap)
{
	char bytes[TAIL + 1];
	off_t size = lseek(fd, 0, SEEK_END);
	off_t from = size > (off_t)TAIL ? size - (off_t)TAIL : 0;
	ssize_t n = pread(fd, bytes, TAIL, from);

	*line = '\0';
	while (n > 0) {
		size_t end = (size_t)n, at;

		while (end && bytes[end - 1] == '\n')
			end--;
		for (at = end; at && bytes[at - 1] != '\n'; at--)
			;
		bytes[end] = '\0';
		if (strncmp(bytes + at, "$ ", 2) == 0)
			return;
		if (strncmp(bytes + at, "Try '", 5) != 0 && end > at && end - at < cap) {
			memcpy(line, bytes + at, end - at + 1);
			return;
		}
		n = (ssize_t)at;
	}
}

/* What a wait status says of a step; true where another try may help. */
static bool step_failed(const struct slot *s, int status, struct fit_err *err)
{
	const char *program = s->what.steps[s->step].w[0];
	char said[700];
	size_t n = strlen(program);

	if (WIFSIGNALED(status)) {
		fit_fail(err, FIT_ECHILD, "%s was killed by signal %d", program, WTERMSIG(status));
		return true;
	}
	last_said(s->log, said, sizeof said);
	if (strncmp(said, program, n) == 0 && said[n] == ':')
		fit_fail(err, WEXITSTATUS(status) == 3 ? FIT_ECHILD : FIT_EDATA, "%s", said);
	else
		fit_fail(err, WEXITSTATUS(status) == 3 ? FIT_ECHILD : FIT_EDATA, "%s ended with status %d%s%s", program,
			 WEXITSTATUS(status), *said ? ": " : "", said);
	return WEXITSTATUS(status) == 3;
}

/* ---- jobs ---- */

static void release_job(struct sweep_job *what)
{
	for (size_t i = 0; i < SWEEP_STEPS; i++)
		sweep_words_release(&what->steps[i]);
	free(what->log);
}

static void end_job(struct run *r, struct slot *s, const struct fit_err *failed)
{
	size_t job = s->job;

	/* the last line tells later readers of the log how it ended */
	if (s->log >= 0) {
		struct fit_err line;

		fit_fail(&line, FIT_OK, failed ? "failed: %s" : "ended%s", failed ? failed->msg : "");
		(void)!(say(s->log, fit_text_of(line.msg)) || say(s->log, FIT_TEXT_LIT("\n")));
		close(s->log);
	}
	release_job(&s->what);
	*s = (struct slot){ .job = NOBODY, .log = -1 };
	r->running--;
	r->pool->end(r->pool->arg, job, (size_t)(s - r->slots), failed);
}

static void begin_job(struct run *r, struct slot *s, size_t job)
{
	struct fit_err err = { 0 };
	int rc;

	*s = (struct slot){ .job = job, .log = -1 };
	r->running++;
	rc = r->pool->begin(r->pool->arg, job, (size_t)(s - r->slots), &s->what, &err);
	if (s->what.log) {
		s->log = open(s->what.log, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
		if (s->log < 0 && !rc)
			rc = fit_fail_errno(&err, "%s: cannot open for writing", s->what.log);
	}
	rc = rc ? rc : spawn(r, s, &err);
	if (rc)
		end_job(r, s, &err);
}

/* Give free slots the next jobs that are ready. */
static void fill_slots(struct run *r)
{
	struct sweep_pool *pool = r->pool;
	size_t job = r->first;

	for (size_t i = 0; i < pool->slots && job < pool->n; i++) {
		while (r->slots[i].job == NOBODY && job < pool->n) {
			if (!r->begun[job] && (!pool->ready || pool->ready(pool->arg, job))) {
				r->begun[job] = true;
				begin_job(r, &r->slots[i], job);
			}
			job++;
		}
	}
	while (r->first < pool->n && r->begun[r->first])
		r->first++;
}

static void child_ended(struct run *r, pid_t pid, int status)
{
	struct fit_err err = { 0 };
	struct slot *s = NULL;
	int rc = FIT_OK;

	for (size_t i = 0; i < r->pool->slots && !s; i++)
		if (r->slots[i].job != NOBODY && r->slots[i].pid == pid)
			s = &r->slots[i];
	if (!s)
		return;
	if (status == 0) {
		if (++s->step == s->what.n_steps) {
			end_job(r, s, NULL);
			return;
		}
		rc = spawn(r, s, &err);
	} else if (step_failed(s, status, &err) && s->tries < r->pool->retries) {
		s->tries++;
		s->step = 0;
		rc = spawn(r, s, &err);
	} else {
		rc = err.code;
	}
	if (rc)
		end_job(r, s, &err);
}

/* ---- all of them ---- */

static void stop(struct run *r)
{
	int status;

	for (size_t i = 0; i < r->pool->slots; i++)
		if (r->slots[i].job != NOBODY)
			kill(r->slots[i].pid, SIGTERM);
	for (size_t i = 0; i < r->pool->slots; i++) {
		struct slot *s = &r->slots[i];

		if (s->job == NOBODY)
			continue;
		while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
			;
		close(s->log);
		release_job(&s->what);
	}
}

/* Signals are waited for, not handled: none can come between a test and a wait. */
static int loop(struct run *r, const sigset_t *awaited)
{
	const struct timespec half_second = { 0, 500000000 };
	int status;
	pid_t pid;

	for (;;) {
		int signal_number;

		fill_slots(r);
		if (!r->running && r->first == r->pool->n)
			return FIT_OK;
		signal_number = r->running ? sigtimedwait(awaited, NULL, &half_second) : 0;
		if (signal_number == SIGINT || signal_number == SIGTERM || signal_number == SIGHUP) {
			r->pool->signal = signal_number;
			stop(r);
			return FIT_END;
		}
		while (r->running && (pid = waitpid(-1, &status, WNOHANG)) > 0)
			child_ended(r, pid, status);
		if (r->pool->tick)
			r->pool->tick(r->pool->arg);
	}
}

int sweep_pool_run(struct sweep_pool *pool, struct fit_err *err)
{
	struct run r = { .pool = pool };
	struct sigaction usual = { .sa_handler = SIG_DFL }, before;
	sigset_t awaited;
	int rc;

	pool->signal = 0;
	if (!pool->n)
		return FIT_OK;
	r.slots = calloc(pool->slots, sizeof *r.slots);
	r.begun = calloc(pool->n, sizeof *r.begun);
	if (!r.slots || !r.begun) {
		free(r.slots);
		free(r.begun);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < pool->slots; i++)
		r.slots[i] = (struct slot){ .job = NOBODY, .log = -1 };
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGINT);
	sigaddset(&awaited, SIGTERM);
	sigaddset(&awaited, SIGHUP);
	sigaddset(&awaited, SIGCHLD);
	sigemptyset(&usual.sa_mask);
	/* whoever started us may ignore SIGCHLD, and then there is nothing to wait for */
	sigaction(SIGCHLD, &usual, &before);
	sigprocmask(SIG_BLOCK, &awaited, &r.before);
	rc = loop(&r, &awaited);
	sigprocmask(SIG_SETMASK, &r.before, NULL);
	sigaction(SIGCHLD, &before, NULL);
	free(r.slots);
	free(r.begun);
	return rc;
}
