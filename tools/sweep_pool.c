/* SPDX-License-Identifier: MIT */
#include "tools/sweep_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/processors.h"

extern char **environ;

#define NOBODY SIZE_MAX
#define TAIL ((size_t)4096)

/*
 * A thread for each slot, which starts programs and waits for them: starting one takes until it is loaded,
 * some milliseconds, and in one thread only these times would add up for all slots.
 */
struct worker {
	struct run *run;
	size_t slot;
	pthread_t thread;
	pid_t pid;		/* of the child, or 0; under the lock */
	/* of the job at hand */
	struct sweep_job what;
	size_t step;
	int log;		/* descriptor, or -1 */
};

struct run {
	struct sweep_pool *pool;
	struct worker *workers;
	sigset_t before;	/* the signals that were blocked, as children have it */
	pthread_t main;
	pthread_mutex_t lock;	/* of what follows, and of the pids */
	pthread_cond_t changed;
	bool *begun;
	size_t first, alive;	/* jobs before first are begun; threads that have not ended */
	bool stopped;
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

static int spawn(struct worker *s, pid_t *pid, struct fit_err *err)
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
	e = e ? e : posix_spawnattr_setsigmask(&attr, &s->run->before);
	e = e ? e : posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	e = e ? e : posix_spawnp(pid, words->w[0], &actions, &attr, words->w, environ);
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
static bool step_failed(const struct worker *s, int status, struct fit_err *err)
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

/* Run a step to its end. FIT_END: stopped. Other failures are in err, and *again says whether another try may
 * help. */
static int run_step(struct worker *s, bool *again, struct fit_err *err)
{
	struct run *r = s->run;
	int status = 0, rc;
	bool stopped;
	siginfo_t info;
	pid_t pid;

	*again = false;
	rc = spawn(s, &pid, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&r->lock);
	s->pid = pid;
	if (r->stopped)
		kill(pid, SIGTERM);
	pthread_mutex_unlock(&r->lock);
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
		;
	/* nobody may signal this number once the child is gone, for then it may be another's */
	pthread_mutex_lock(&r->lock);
	s->pid = 0;
	stopped = r->stopped;
	pthread_mutex_unlock(&r->lock);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (stopped)
		return FIT_END;
	if (status == 0)
		return FIT_OK;
	*again = step_failed(s, status, err);
	return err->code;
}

/* ---- jobs ---- */

static int run_steps(struct worker *s, struct fit_err *err)
{
	size_t tries = 0;

	for (s->step = 0; s->step < s->what.n_steps; ) {
		bool again;
		int rc = run_step(s, &again, err);

		if (rc && (!again || tries == s->run->pool->retries))
			return rc;
		tries += rc ? 1 : 0;
		s->step = rc ? 0 : s->step + 1;
	}
	return FIT_OK;
}

/* The last line tells later readers of the log how it ended. */
static void close_log(struct worker *s, const struct fit_err *failed)
{
	struct fit_err line;

	if (s->log < 0)
		return;
	fit_fail(&line, FIT_OK, failed ? "failed: %s" : "ended%s", failed ? failed->msg : "");
	(void)!(say(s->log, fit_text_of(line.msg)) || say(s->log, FIT_TEXT_LIT("\n")));
	close(s->log);
}

static void run_job(struct worker *s, size_t job)
{
	struct sweep_pool *pool = s->run->pool;
	struct fit_err err = { 0 };
	int rc;

	s->what = (struct sweep_job){ .n_steps = 0 };
	s->log = -1;
	rc = pool->begin(pool->arg, job, s->slot, &s->what, &err);
	if (s->what.log) {
		s->log = open(s->what.log, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
		if (s->log < 0 && !rc)
			rc = fit_fail_errno(&err, "%s: cannot open for writing", s->what.log);
	}
	rc = rc ? rc : run_steps(s, &err);
	if (rc != FIT_END) {
		rc = pool->end(pool->arg, job, s->slot, rc ? &err : NULL, &err);
		close_log(s, rc ? &err : NULL);
	} else if (s->log >= 0) {
		close(s->log);
	}
	for (size_t i = 0; i < SWEEP_STEPS; i++)
		sweep_words_release(&s->what.steps[i]);
	free(s->what.log);
}

/* The next job that is not begun and is ready, or NOBODY. Under the lock. */
static size_t next_job(struct run *r)
{
	struct sweep_pool *pool = r->pool;
	size_t job = r->first;

	while (job < pool->n && (r->begun[job] || (pool->ready && !pool->ready(pool->arg, job))))
		job++;
	if (job == pool->n)
		return NOBODY;
	r->begun[job] = true;
	while (r->first < pool->n && r->begun[r->first])
		r->first++;
	return job;
}

static void *work(void *arg)
{
	struct worker *s = arg;
	struct run *r = s->run;

	/* A thread that starts many short programs, and these, are not spread well by schedulers: two on one
	 * processor while another is idle. With a slot for each processor every one has its own. */
	if (r->pool->slots == processors_allowed())
		processors_keep_to(s->slot);
	pthread_mutex_lock(&r->lock);
	while (!r->stopped && r->first < r->pool->n) {
		size_t job = next_job(r);

		if (job == NOBODY) {	/* those that others run must end first */
			pthread_cond_wait(&r->changed, &r->lock);
			continue;
		}
		pthread_mutex_unlock(&r->lock);
		run_job(s, job);
		pthread_mutex_lock(&r->lock);
		pthread_cond_broadcast(&r->changed);
	}
	if (--r->alive == 0)
		pthread_kill(r->main, SIGCHLD);	/* it need not wait for the next tick */
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* ---- all of them ---- */

static void stop(struct run *r)
{
	pthread_mutex_lock(&r->lock);
	r->stopped = true;
	for (size_t i = 0; i < r->pool->slots; i++)
		if (r->workers[i].pid)
			kill(r->workers[i].pid, SIGTERM);
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

static bool any_alive(struct run *r)
{
	bool any;

	pthread_mutex_lock(&r->lock);
	any = r->alive > 0;
	pthread_mutex_unlock(&r->lock);
	return any;
}

/* Signals are waited for, not handled: none can come between a test and a wait. */
static int watch(struct run *r, const sigset_t *awaited)
{
	const struct timespec half_second = { 0, 500000000 };

	while (any_alive(r)) {
		int number = sigtimedwait(awaited, NULL, &half_second);

		if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
			r->pool->signal = number;
			stop(r);
			return FIT_END;
		}
		if (r->pool->tick)
			r->pool->tick(r->pool->arg);
	}
	return FIT_OK;
}

static int run_all(struct run *r, const sigset_t *awaited, struct fit_err *err)
{
	size_t n = 0;
	int e = 0, rc = FIT_OK;

	pthread_mutex_lock(&r->lock);
	for (; n < r->pool->slots && !e; n += !e) {
		r->workers[n] = (struct worker){ .run = r, .slot = n, .log = -1 };
		e = pthread_create(&r->workers[n].thread, NULL, work, &r->workers[n]);
	}
	r->alive = n;
	pthread_mutex_unlock(&r->lock);
	if (n)		/* fewer than wanted do it, too */
		rc = watch(r, awaited);
	for (size_t i = 0; i < n; i++)
		pthread_join(r->workers[i].thread, NULL);
	errno = e;
	return n ? rc : fit_fail_errno(err, "cannot start a thread");
}

int sweep_pool_run(struct sweep_pool *pool, struct fit_err *err)
{
	struct run r = { .pool = pool, .main = pthread_self() };
	struct sigaction usual = { .sa_handler = SIG_DFL }, before;
	sigset_t awaited;
	int rc;

	pool->signal = 0;
	if (!pool->n)
		return FIT_OK;
	r.workers = calloc(pool->slots, sizeof *r.workers);
	r.begun = calloc(pool->n, sizeof *r.begun);
	if (!r.workers || !r.begun) {
		free(r.workers);
		free(r.begun);
		return fit_fail_nomem(err);
	}
	pthread_mutex_init(&r.lock, NULL);
	pthread_cond_init(&r.changed, NULL);
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGINT);
	sigaddset(&awaited, SIGTERM);
	sigaddset(&awaited, SIGHUP);
	sigaddset(&awaited, SIGCHLD);
	sigemptyset(&usual.sa_mask);
	/* whoever started us may ignore SIGCHLD, and then there is nothing to wait for */
	sigaction(SIGCHLD, &usual, &before);
	pthread_sigmask(SIG_BLOCK, &awaited, &r.before);	/* the threads inherit it */
	rc = run_all(&r, &awaited, err);
	pthread_sigmask(SIG_SETMASK, &r.before, NULL);
	sigaction(SIGCHLD, &before, NULL);
	pthread_mutex_destroy(&r.lock);
	pthread_cond_destroy(&r.changed);
	free(r.workers);
	free(r.begun);
	return rc;
}
