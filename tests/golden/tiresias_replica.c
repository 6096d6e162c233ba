/* SPDX-License-Identifier: MIT */
/*
 * tiresias_replica KEY=VALUE… JOBS
 *
 * The policies of the Tiresias simulator (NSDI'19) once more, from their description alone, for comparison: every
 * second is stepped through (with rules=exact every eighth of one), each list is walked and sorted anew at each event,
 * and nothing is shared with libfit/replay. Slow, and meant for some hundreds of jobs.
 *
 *   policy     fifo, fjf, smallest, shortest, shortest-gpu, tiresias, tiresias-g, gittins
 *   rules      simulator: wake-ups, ties and promotions as there (whole seconds); exact: at the very instant
 *   gpus       of the cluster
 *   limits     of the queues but the last, GPU-seconds or seconds (3250,7200)
 *   service    gpu-time or time
 *   promote    factor (0: none)
 *   delay      seconds without progress after each start (rules=exact)
 *   interval   seconds; decisions at its multiples only, not at 0 (rules=exact)
 *   samples    file of GPU times, one a line; without it those of the jobs
 *   index      paper or artifact
 *   nodes      SWITCHES,NODES,GPUS,CPUS,MEMORY of the cluster file: placement yarn (fifo, fjf)
 *
 * JOBS has, tab-separated behind one line of names: id, submission, GPUs, duration; whole seconds, by submission.
 * A line a job, in order of id: id, GPUs, submission, start, end, end - start, completion time, waited, preemptions,
 * starts, promotions.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/text.h"

enum { MAX_JOBS = 4096, MAX_SAMPLES = 1 << 16, MAX_QUEUES = 9, MAX_NODES = 4096, QUANTUM = 3250 };

enum state { ABSENT, WAITS, RUNS, DONE };

struct job {
	char id[64];
	int64_t submit, gpus, work;	/* times in ticks */
	enum state state;
	int64_t done, stall, held;	/* progress; before it goes on; with GPUs */
	int64_t executed, waited;	/* since it came to the first queue; the latter once it executed something */
	int64_t start, end;
	long preempted, starts, promoted;
	int queue;
	double key;
	/* yarn */
	int switch_of, n_nodes, node[MAX_NODES];
	int64_t node_gpus[MAX_NODES];
};

static struct job jobs[MAX_JOBS];
static int n_jobs;
static int list[MAX_QUEUES][MAX_JOBS], n_list[MAX_QUEUES], n_queues = 1;
static double samples[MAX_SAMPLES];
static int n_samples;

static struct {
	const char *policy, *rules, *service, *samples, *index, *jobs;
	int64_t gpus, limit[MAX_QUEUES], delay, interval;
	int n_limits;
	double promote;
	int64_t nodes[5];
} o = { .policy = "tiresias", .rules = "simulator", .service = "gpu-time", .index = "artifact",
	.limit = { 3250, 7200 }, .n_limits = 2 };
static bool exact, by_time, paper;
static int64_t tick = 1;	/* in a second */
static int64_t now, unit;

static void die(const char *what, const char *of)
{
	fprintf(stderr, "tiresias_replica: %s '%s'\n", what, of);
	exit(2);
}

static bool is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static double number(const char *s)
{
	double x;

	if (fit_parse_double(fit_text_of(s), &x))
		die("bad number", s);
	return x;
}

static int numbers(char *s, int64_t *to, int most)
{
	int n = 0;

	for (char *at = s, *comma; at; at = comma) {
		comma = strchr(at, ',');
		if (comma)
			*comma++ = '\0';
		if (n == most)
			die("too many numbers", s);
		to[n++] = (int64_t)number(at);
	}
	return n;
}

/* ---- inputs ---- */

static int ascending(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static void read_samples(void)
{
	char line[256];
	FILE *f = o.samples ? fopen(o.samples, "r") : NULL;

	if (o.samples && !f)
		die("cannot read", o.samples);
	while (f && fgets(line, sizeof line, f) && n_samples < MAX_SAMPLES) {
		line[strcspn(line, "\r\n")] = '\0';
		if (*line)
			samples[n_samples++] = number(line);
	}
	if (f)
		fclose(f);
	for (int i = 0; !o.samples && i < n_jobs; i++)
		samples[n_samples++] = (double)jobs[i].work / (double)tick * (double)jobs[i].gpus;
	qsort(samples, (size_t)n_samples, sizeof *samples, ascending);
}

static void read_jobs(void)
{
	char line[512], *field[4];
	FILE *f = fopen(o.jobs, "r");

	if (!f || !fgets(line, sizeof line, f))
		die("cannot read", o.jobs);
	while (fgets(line, sizeof line, f) && n_jobs < MAX_JOBS) {
		struct job *j = &jobs[n_jobs++];
		char *at = line;

		line[strcspn(line, "\r\n")] = '\0';
		for (int i = 0; i < 4; i++) {
			if (!at)
				die("a row with too few fields", line);
			field[i] = at;
			at = strchr(at, '\t');
			if (at)
				*at++ = '\0';
		}
		snprintf(j->id, sizeof j->id, "%s", field[0]);
		j->submit = (int64_t)number(field[1]) * tick;
		j->gpus = (int64_t)number(field[2]);
		j->work = (int64_t)number(field[3]) * tick;
	}
	fclose(f);
}

/* ---- indices ---- */

/* A number in text with so many decimals. */
static double decimals(double x, int digits)
{
	char s[64];

	snprintf(s, sizeof s, "%.*f", digits, x);
	return number(s);
}

static int first_above(double x)
{
	int i = 0;

	while (i < n_samples && samples[i] <= x)
		i++;
	return i;
}

static double index_artifact(double attained)
{
	int j = first_above(attained), i, k, n = n_samples;
	double a, p, e = 0;

	if (j == n)
		return 0;
	a = samples[j] - 1;
	i = first_above(a);
	k = a + QUANTUM > samples[n - 1] - 1 ? n - 1 : first_above(a + QUANTUM);
	for (int m = i; m < k; m++)
		e += samples[m];
	e = floor((e + (double)QUANTUM * (n - k)) / (n - i));
	p = decimals((double)(k - i) / (n - i), 5);
	return e > 0 ? decimals(p * 1e6 / e, 4) : 0;
}

/* The best of all D at which a size ends: jobs that end, over time spent on them. */
static double index_paper(double attained)
{
	double best = 0;

	for (int m = first_above(attained); m < n_samples; m++) {
		double ends = 0, spent = 0, d = samples[m] - attained;

		for (int i = first_above(attained); i < n_samples; i++) {
			double left = samples[i] - attained;

			ends += left <= d;
			spent += left < d ? left : d;
		}
		if (ends / spent > best)
			best = ends / spent;
	}
	return best;
}

/* ---- lists ---- */

static void leave(int q, int j)
{
	int to = 0;

	for (int i = 0; i < n_list[q]; i++)
		if (list[q][i] != j)
			list[q][to++] = list[q][i];
	n_list[q] = to;
}

static void join(int q, int j)
{
	list[q][n_list[q]++] = j;
	jobs[j].queue = q;
}

/* Insertion: stable, and plain to see. */
static void sort(int q, bool (*before)(int, int))
{
	for (int i = 1; i < n_list[q]; i++)
		for (int k = i; k > 0 && before(list[q][k], list[q][k - 1]); k--) {
			int x = list[q][k];

			list[q][k] = list[q][k - 1];
			list[q][k - 1] = x;
		}
}

static bool lower_key(int a, int b)
{
	return jobs[a].key < jobs[b].key;
}

static bool lower_key_or_job(int a, int b)
{
	return jobs[a].key < jobs[b].key || (jobs[a].key <= jobs[b].key && a < b);
}

static bool higher_key_then_earlier(int a, int b)
{
	return jobs[a].key > jobs[b].key || (jobs[a].key >= jobs[b].key && jobs[a].submit < jobs[b].submit);
}

static void running_first(int q)
{
	int was[MAX_JOBS], n = 0;

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < n_list[q]; i++)
			if ((jobs[list[q][i]].state == RUNS) == (pass == 0))
				was[n++] = list[q][i];
	memcpy(list[q], was, (size_t)n * sizeof *was);
}

/* ---- who runs ---- */

static void put(int j, bool runs)
{
	struct job *x = &jobs[j];

	if (runs && x->state != RUNS) {
		if (!x->starts++)
			x->start = now;
		x->stall = o.delay;
	} else if (!runs && x->state == RUNS) {
		x->preempted++;
	}
	x->state = runs ? RUNS : WAITS;
}

static void scan(int q, int64_t *free)
{
	for (int i = 0; i < n_list[q]; i++) {
		struct job *x = &jobs[list[q][i]];
		bool fits = x->gpus <= *free;

		*free -= fits ? x->gpus : 0;
		put(list[q][i], fits);
	}
}

static int64_t service(const struct job *x)
{
	return x->executed * (by_time ? 1 : x->gpus);
}

static bool over(const struct job *x)
{
	return x->queue < o.n_limits && service(x) >= o.limit[x->queue] * tick;
}

/* How long a job has to wait to be promoted; -1: it need not wait for that. */
static double patience(const struct job *x)
{
	if (!(o.promote > 0) || x->state != WAITS || x->queue == 0 || x->executed == 0)
		return -1;
	return exact ? o.promote * (double)x->executed : floor(o.promote * (double)x->executed);
}

static void change_queues(void)
{
	for (int j = 0; j < n_jobs; j++) {
		struct job *x = &jobs[j];

		if (x->state == RUNS && over(x)) {
			leave(x->queue, j);
			do
				x->queue++;
			while (exact && over(x));
			join(x->queue, j);
		} else if (x->state == WAITS && patience(x) >= 0 && (double)x->waited >= patience(x)) {
			leave(x->queue, j);
			x->executed = x->waited = 0;
			x->promoted++;
			join(0, j);
		}
	}
}

static void set_indices(bool gittins)
{
	for (int j = 0; j < n_jobs; j++) {
		struct job *x = &jobs[j];
		double s = (double)x->executed / (double)tick;

		if (x->state != RUNS && x->state != WAITS)
			continue;
		if (paper || !gittins || x->state == RUNS)
			s *= (double)x->gpus;
		x->key = paper ? index_paper(s) : index_artifact(s);
	}
}

static void decide_queues(bool gittins)
{
	int64_t free = o.gpus;

	change_queues();
	if (gittins)
		set_indices(false);
	for (int q = 0; q < n_queues; q++) {
		if (gittins)
			sort(q, higher_key_then_earlier);
		scan(q, &free);
	}
	for (int q = 0; q < n_queues; q++)
		running_first(q);
}

static void decide_gittins(void)
{
	int64_t free = o.gpus;

	set_indices(true);
	sort(0, paper ? higher_key_then_earlier : lower_key);
	scan(0, &free);
	if (paper)
		running_first(0);
}

static void decide_list(void)
{
	int64_t free = o.gpus;

	for (int i = 0; i < n_list[0]; i++) {
		struct job *x = &jobs[list[0][i]];
		int64_t left = x->work - x->done;

		x->key = (double)(is(o.policy, "smallest") ? x->gpus : is(o.policy, "shortest") ? left : left * x->gpus);
	}
	sort(0, exact ? lower_key_or_job : lower_key);
	scan(0, &free);
}

/* ---- placement ---- */

struct node {
	int64_t gpus, cpus, memory;	/* free; memory in tenths */
};
static struct node nodes[MAX_NODES];	/* switch after switch */

static int64_t cpus_for(const struct job *x, int64_t on_node)
{
	return x->gpus == 1 ? 2 : 6 * on_node;
}

/* 5 for a job on one node; on several, for each GPU 5 and the server's 6 and a tenth a worker. */
static int64_t memory_for(const struct job *x, int64_t on_node)
{
	return x->gpus <= o.nodes[2] ? 50 : (110 + x->gpus) * on_node;
}

static bool has_room(const struct job *x, const struct node *n, int64_t on_node)
{
	return n->gpus >= on_node && n->cpus >= cpus_for(x, on_node) && n->memory >= memory_for(x, on_node);
}

static void move(struct job *x, int64_t sign)
{
	for (int i = 0; i < x->n_nodes; i++) {
		struct node *n = &nodes[x->node[i]];

		n->gpus += sign * x->node_gpus[i];
		n->cpus += sign * cpus_for(x, x->node_gpus[i]);
		n->memory += sign * memory_for(x, x->node_gpus[i]);
	}
}

static bool is_taken(const struct job *x, int node)
{
	for (int i = 0; i < x->n_nodes; i++)
		if (x->node[i] == node)
			return true;
	return false;
}

static bool yarn(struct job *x)
{
	int64_t each = o.nodes[2], whole = x->gpus / each, rest = x->gpus % each;

	if (x->gpus <= each) {
		whole = 0;
		rest = x->gpus;
	}
	for (int s = 0; s < (int)o.nodes[0]; s++) {
		int first = s * (int)o.nodes[1], end = first + (int)o.nodes[1], n = first;

		x->n_nodes = 0;
		for (; n < end && x->n_nodes < whole; n++)
			if (nodes[n].gpus == each && has_room(x, &nodes[n], each)) {
				x->node_gpus[x->n_nodes] = each;
				x->node[x->n_nodes++] = n;
			}
		if (x->n_nodes < whole)
			continue;
		for (n = first; rest && n < end; n++)
			if (!is_taken(x, n) && has_room(x, &nodes[n], rest))
				break;
		if (rest && n == end)
			continue;
		if (rest) {
			x->node_gpus[x->n_nodes] = rest;
			x->node[x->n_nodes++] = n;
		}
		move(x, -1);
		return true;
	}
	x->n_nodes = 0;
	return false;
}

static void decide_in_order(void)
{
	int64_t free = o.gpus;

	for (int i = 0; i < n_list[0]; i++)
		free -= jobs[list[0][i]].state == RUNS ? jobs[list[0][i]].gpus : 0;
	for (int i = 0; i < n_list[0]; i++) {
		struct job *x = &jobs[list[0][i]];

		if (x->state == RUNS)
			continue;
		if (o.nodes[0] ? yarn(x) : x->gpus <= free) {
			free -= x->gpus;
			put(list[0][i], true);
		} else if (is(o.policy, "fifo")) {
			break;
		}
	}
}

static void decide(void)
{
	if (is(o.policy, "fifo") || is(o.policy, "fjf"))
		decide_in_order();
	else if (is(o.policy, "tiresias") || is(o.policy, "tiresias-g"))
		decide_queues(is(o.policy, "tiresias-g"));
	else if (is(o.policy, "gittins"))
		decide_gittins();
	else
		decide_list();
}

/* ---- time ---- */

/* The simulator's next wake-up, from what there is after an event; -1: none. */
static int64_t wake_up(void)
{
	int64_t first = -1;

	for (int j = 0; j < n_jobs && n_queues > 1; j++) {
		const struct job *x = &jobs[j];
		int64_t in = -1;

		if (x->state == RUNS && x->queue < o.n_limits && x->executed < o.limit[x->queue])
			in = (o.limit[x->queue] - x->executed) / (by_time ? 1 : x->gpus);
		else if (patience(x) >= 0)
			in = (int64_t)(o.promote * (double)x->executed - (double)x->waited);
		if (in > 0 && (first < 0 || now + in < first))
			first = now + in;
	}
	return first;
}

static bool something_is_due(void)
{
	for (int j = 0; j < n_jobs && n_queues > 1; j++) {
		const struct job *x = &jobs[j];

		if (x->state == RUNS && over(x))
			return true;
		/* who was due when it lost its GPUs has to wait for something else */
		if (patience(x) >= 0 && (double)x->waited >= patience(x) && (double)(x->waited - 1) < patience(x) && x->waited)
			return true;
	}
	return false;
}

static bool pass_a_tick(void)
{
	bool ended = false;

	for (int j = 0; j < n_jobs; j++) {
		struct job *x = &jobs[j];

		if (x->state == RUNS) {
			x->held++;
			x->executed++;
			if (x->stall)
				x->stall--;
			else
				x->done++;
			if (x->done == x->work) {
				x->state = DONE;
				x->end = now;
				leave(x->queue, j);
				move(x, 1);
				ended = true;
			}
		} else if (x->state == WAITS && x->executed) {
			x->waited++;
		}
	}
	return ended;
}

static bool take_in_arrivals(void)
{
	bool some = false;

	for (int j = 0; j < n_jobs; j++)
		if (jobs[j].state == ABSENT && jobs[j].submit == now) {
			jobs[j].state = WAITS;
			join(0, j);
			some = true;
		}
	return some;
}

static bool all_done(void)
{
	for (int j = 0; j < n_jobs; j++)
		if (jobs[j].state != DONE)
			return false;
	return true;
}

static void run(void)
{
	bool gittins = is(o.policy, "gittins");
	int64_t wake = -1;

	unit = QUANTUM;
	for (now = 0; !all_done(); now++) {
		bool event = now > 0 && pass_a_tick();

		event = take_in_arrivals() || event;
		event = event || (exact ? something_is_due() : now == wake);
		if (gittins && exact)
			event = event || (now && now % (QUANTUM * tick) == 0);
		if (gittins && !exact)
			event = event || now == unit;
		if (o.interval)
			event = now > 0 && now % o.interval == 0;
		if (!event)
			continue;
		decide();
		wake = wake_up();
		if (unit < INT64_MAX / 4)
			unit += now;
	}
}

static void write_time(int64_t t)
{
	printf(",%.10g", (double)t / (double)tick);
}

static void write_jobs(void)
{
	for (int j = 0; j < n_jobs; j++) {
		const struct job *x = &jobs[j];

		printf("%s,%lld", x->id, (long long)x->gpus);
		write_time(x->submit);
		write_time(x->start);
		write_time(x->end);
		write_time(x->end - x->start);
		write_time(x->end - x->submit);
		write_time(x->end - x->submit - x->held);
		printf(",%ld,%ld,%ld\n", x->preempted, x->starts, x->promoted);
	}
}

static void set(char *s)
{
	char *value = strchr(s, '=');

	if (!value) {
		o.jobs = s;
		return;
	}
	*value++ = '\0';
	if (is(s, "policy"))
		o.policy = value;
	else if (is(s, "rules"))
		o.rules = value;
	else if (is(s, "service"))
		o.service = value;
	else if (is(s, "samples"))
		o.samples = value;
	else if (is(s, "index"))
		o.index = value;
	else if (is(s, "gpus"))
		o.gpus = (int64_t)number(value);
	else if (is(s, "promote"))
		o.promote = number(value);
	else if (is(s, "delay"))
		o.delay = (int64_t)number(value);
	else if (is(s, "interval"))
		o.interval = (int64_t)number(value);
	else if (is(s, "limits"))
		o.n_limits = numbers(value, o.limit, MAX_QUEUES - 1);
	else if (!is(s, "nodes") || numbers(value, o.nodes, 5) != 5)
		die("unknown word", s);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		set(argv[i]);
	exact = is(o.rules, "exact");
	by_time = is(o.service, "time");
	paper = is(o.index, "paper");
	tick = exact ? 8 : 1;
	o.delay *= tick;
	o.interval *= tick;
	if (is(o.policy, "tiresias") || is(o.policy, "tiresias-g"))
		n_queues = o.n_limits + 1;
	if (!o.jobs || o.nodes[0] * o.nodes[1] > MAX_NODES)
		die("no jobs, or too many nodes", o.jobs ? o.jobs : "");
	for (int i = 0; i < (int)(o.nodes[0] * o.nodes[1]); i++)
		nodes[i] = (struct node){ o.nodes[2], o.nodes[3], 10 * o.nodes[4] };
	if (o.nodes[0])
		o.gpus = o.nodes[0] * o.nodes[1] * o.nodes[2];
	read_jobs();
	read_samples();
	run();
	write_jobs();
	return 0;
}
