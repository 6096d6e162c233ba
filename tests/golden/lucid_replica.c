/* SPDX-License-Identifier: MIT */
/*
 * lucid_replica POLICY PLACER CLUSTER JOBS [CONFIGS PAIRS [PROFILER SECONDS GPUS [FORECAST LENDER]]]
 *
 * The simulator of Lucid (ASPLOS'23) once more, from its description alone, for comparison: every second is
 * stepped through, lists are sorted anew each time, and nothing is shared with libfit/replay. Slow, and
 * meant for some hundreds of jobs.
 *
 * CLUSTER is NAME:NODESxGPUS,…; PROFILER is NAME:N,…, its nodes are the last ones of these. JOBS has,
 * tab-separated behind one line of names: id, group, submission, duration, GPUs, prediction, configuration.
 * CONFIGS likewise memory, utilisation, label, 0 or 1 for not measured; PAIRS configuration, configuration,
 * speed, speed; FORECAST time, jobs, GPUs. All times are whole seconds.
 *
 * A line a job: id, start, end, queueing, preemptions, profiled, done there, wait for the profiler, shares
 * nothing, speed, joined, alone again.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/text.h"

enum { MAX_JOBS = 4096, MAX_NODES = 256, MAX_GPUS = 8, MAX_PARTS = 16, MAX_CONFIGS = 128, MAX_ROWS = 16384,
       MAX_CELLS = 8, LENT = 9999 };

struct job {
	char *id, *group;
	long submit, duration, gpus, predicted, config;
	long start, end, queue, preempted, since, served, priority, joined, alone, profile_wait;
	double left, speed;
	bool shares, profiled, done_there, started;
	int n_nodes, node[MAX_NODES];	/* names */
	unsigned gpu[MAX_NODES];	/* which of its GPUs, a bit each */
};

struct node {
	int name, size;
	int held[MAX_GPUS];		/* by so many jobs */
	struct job *jobs[2 * MAX_GPUS];	/* in order of arrival */
	int n_jobs;
};

struct part {
	char *name;
	struct node nodes[MAX_NODES];
	int n_nodes;
	bool has_lent;			/* a node was given away once */
};

struct list {
	struct job *a[MAX_JOBS];
	int n;
};

static struct job jobs[MAX_JOBS];
static int n_jobs;
static struct part parts[MAX_PARTS], profiler;
static int n_parts;
static double memory[MAX_CONFIGS], util[MAX_CONFIGS];
static double speed_new[MAX_CONFIGS][MAX_CONFIGS], speed_there[MAX_CONFIGS][MAX_CONFIGS];
static long label[MAX_CONFIGS], unmeasured[MAX_CONFIGS];
static double at[MAX_ROWS], few[MAX_ROWS], wide[MAX_ROWS];
static int n_rows;
static bool forecasts, is_random, packs, horus;
static const char *lender;
static struct { long t; int by; } changes[MAX_ROWS];
static int n_changes;

static void die(const char *why)
{
	fprintf(stderr, "lucid_replica: %s\n", why);
	exit(1);
}

static long whole(const char *s)
{
	int64_t n = 0;

	if (fit_parse_int64(fit_text_of(s), &n))
		die(s);
	return (long)n;
}

static double real(const char *s)
{
	double x = 0;

	if (fit_parse_double(fit_text_of(s), &x))
		die(s);
	return x;
}

/* ---- input ---- */

/* Each line but the first to take(), cut into cells. */
static void each_line(const char *file, void (*take)(char **cell, int n))
{
	FILE *f = fopen(file, "r");
	char line[1024], *cell[MAX_CELLS];
	bool first = true;

	if (!f)
		die(file);
	while (fgets(line, sizeof line, f)) {
		int n = 0;

		line[strcspn(line, "\n")] = '\0';
		for (char *s = line; s && n < MAX_CELLS;) {
			char *tab = strchr(s, '\t');

			cell[n++] = s;
			if (tab)
				*tab++ = '\0';
			s = tab;
		}
		if (!first)
			take(cell, n);
		first = false;
	}
	fclose(f);
}

static void take_job(char **c, int n)
{
	struct job *j = &jobs[n_jobs++];

	if (n < 7 || n_jobs == MAX_JOBS)
		die("jobs");
	j->id = strdup(c[0]);
	j->group = strdup(c[1]);
	j->submit = whole(c[2]);
	j->duration = whole(c[3]);
	j->gpus = whole(c[4]);
	j->predicted = whole(c[5]);
	j->config = whole(c[6]);
	j->speed = 1;
}

static int n_configs;

static void take_config(char **c, int n)
{
	int k = n_configs++;

	if (n < 4 || k == MAX_CONFIGS)
		die("configurations");
	memory[k] = real(c[0]);
	util[k] = real(c[1]);
	label[k] = whole(c[2]);
	unmeasured[k] = whole(c[3]);
}

static void take_pair(char **c, int n)
{
	long a = n < 4 ? 0 : whole(c[0]), b = n < 4 ? 0 : whole(c[1]);

	if (n < 4)
		die("pairs");
	/* of the newcomer [its configuration][the other's], and of the one that is there; of two alike the first
	 * speed is the newcomer's */
	if (a != b) {
		speed_new[b][a] = real(c[3]);
		speed_there[b][a] = real(c[2]);
	}
	speed_new[a][b] = real(c[2]);
	speed_there[a][b] = real(c[3]);
}

static void take_row(char **c, int n)
{
	if (n < 3 || n_rows == MAX_ROWS)
		die("forecast");
	at[n_rows] = real(c[0]);
	few[n_rows] = real(c[1]);
	wide[n_rows++] = real(c[2]);
}

static void read_cluster(char *s)
{
	for (char *next; s; s = next) {
		struct part *p = &parts[n_parts++];
		char *colon = strchr(s, ':'), *x = colon ? strchr(colon, 'x') : NULL;

		next = strchr(s, ',');
		if (next)
			*next++ = '\0';
		if (!x || n_parts == MAX_PARTS)
			die("cluster");
		*colon = *x = '\0';
		p->name = s;
		p->n_nodes = (int)whole(colon + 1);
		for (int i = 0; i < p->n_nodes; i++)
			p->nodes[i] = (struct node){ .name = i, .size = (int)whole(x + 1) };
	}
}

static void read_profiler(char *s)
{
	for (char *next; s; s = next) {
		char *colon = strchr(s, ':');

		next = strchr(s, ',');
		if (next)
			*next++ = '\0';
		if (!colon)
			die("profiler");
		*colon = '\0';
		for (int i = 0; i < n_parts; i++) {
			for (long k = whole(colon + 1); k && strcmp(parts[i].name, s) == 0; k--) {
				profiler.nodes[profiler.n_nodes] = parts[i].nodes[--parts[i].n_nodes];
				profiler.nodes[profiler.n_nodes].name = profiler.n_nodes;
				profiler.n_nodes++;
			}
		}
	}
}

/* ---- lists ---- */

static void add(struct list *l, struct job *j)
{
	l->a[l->n++] = j;
}

static void drop(struct list *l, const struct job *j)
{
	int k = 0;

	for (int i = 0; i < l->n; i++)
		if (l->a[i] != j)
			l->a[k++] = l->a[i];
	l->n = k;
}

static bool has(const struct list *l, const struct job *j)
{
	int i = 0;

	while (i < l->n && l->a[i] != j)
		i++;
	return i < l->n;
}

static double by_submit(const struct job *j) { return (double)j->submit; }
static double by_duration(const struct job *j) { return (double)j->duration; }
static double by_gpus(const struct job *j) { return (double)j->gpus; }
static double by_priority(const struct job *j) { return (double)j->priority; }
static double by_left(const struct job *j) { return j->left; }

static void sort(struct list *l, double (*key)(const struct job *))	/* stable */
{
	for (int i = 1; i < l->n; i++) {
		struct job *j = l->a[i];
		int k = i;

		for (; k && key(l->a[k - 1]) > key(j); k--)
			l->a[k] = l->a[k - 1];
		l->a[k] = j;
	}
}

/* ---- nodes ---- */

static int free_of(const struct node *n)
{
	int k = 0;

	for (int i = 0; i < n->size; i++)
		k += n->held[i] == 0;
	return k;
}

static struct node *named(struct part *p, int name)
{
	for (int i = 0; i < p->n_nodes; i++)
		if (p->nodes[i].name == name)
			return &p->nodes[i];
	return NULL;
}

static void take(struct node *n, struct job *j, int want)
{
	unsigned mask = 0;

	for (int i = 0; i < n->size && want; i++) {
		if (n->held[i])
			continue;
		n->held[i]++;
		mask |= 1u << i;
		want--;
	}
	j->node[j->n_nodes] = n->name;
	j->gpu[j->n_nodes++] = mask;
	n->jobs[n->n_jobs++] = j;
}

static bool place(struct part *p, struct job *j)
{
	struct node *order[MAX_NODES];
	int sum = 0, need = (int)j->gpus, n = 0, size = p->n_nodes ? p->nodes[0].size : 1;

	j->n_nodes = 0;
	for (int i = 0; i < p->n_nodes; i++)
		sum += free_of(&p->nodes[i]);
	if (sum < need)
		return false;
	if (is_random) {
		for (int i = 0; i < p->n_nodes && need; i++) {
			int k = free_of(&p->nodes[i]);

			k = k < need ? k : need;
			if (k)
				take(&p->nodes[i], j, k);
			need -= k;
		}
		return true;
	}
	for (int f = need <= size ? 1 : size; f >= 0 && f <= size; f += need <= size ? 1 : -1)
		for (int i = 0; i < p->n_nodes; i++)
			if (free_of(&p->nodes[i]) == f)
				order[n++] = &p->nodes[i];
	if (need <= size) {
		for (int i = 0; i < n; i++) {
			if (free_of(order[i]) >= need) {
				take(order[i], j, need);
				return true;
			}
		}
		return false;
	}
	for (int i = 0; i < need / size; i++)
		if (i >= n || free_of(order[i]) < size)
			return false;
	if (need % size && (need / size >= n || free_of(order[need / size]) < need % size))
		return false;
	for (int i = 0; need; i++) {
		int k = need < size ? need : size;

		take(order[i], j, k);
		need -= k;
	}
	return true;
}

static void release(struct part *p, struct job *j)
{
	for (int i = 0; i < j->n_nodes; i++) {
		struct node *n = named(p, j->node[i]);
		int k = 0;

		for (int b = 0; b < n->size; b++)
			n->held[b] -= (int)(j->gpu[i] >> b & 1);
		for (int q = 0; q < n->n_jobs; q++)
			if (n->jobs[q] != j)
				n->jobs[k++] = n->jobs[q];
		n->n_jobs = k;
	}
}

/* ---- the profiler: before all else, on its own nodes ---- */

/* The mean of the next five of six or more, or of all; 0: the table was used up before, *none. */
static double expected(const double *x, long t, bool *none)
{
	double sum = 0;
	int from = 0, n;

	while (from < n_rows && at[from] <= (double)t)
		from++;
	n = n_rows - from;
	*none = n == 0;
	n = n >= 6 ? 5 : n;
	for (int i = 0; i < n; i++)
		sum += x[from + i];
	return n ? sum / n : 0;
}

static void scale_profiler(long t, int waiting, long most)
{
	struct node *n = named(&profiler, LENT);
	bool none;

	if (t % 10 == 0 && !n && waiting > 10) {
		profiler.nodes[profiler.n_nodes] = (struct node){ .name = LENT, .size = profiler.nodes[0].size };
		profiler.n_nodes++;
		changes[n_changes].t = t;
		changes[n_changes++].by = 1;
	} else if (t % 100 == 0 && n && waiting < 5 && free_of(n) == n->size) {
		double e = expected(wide, t, &none);

		if (none || !(e <= 5 * (double)most))
			return;
		profiler.n_nodes--;	/* it is the last one */
		changes[n_changes].t = t;
		changes[n_changes++].by = -1;
	}
}

static void profile(long limit, long most)
{
	static struct list waiting, running;
	int left = 0;

	for (int i = 0; i < n_jobs; i++)
		left += jobs[i].gpus <= most;
	for (long t = 0; left; t++) {
		for (int i = 0; i < running.n;) {
			struct job *j = running.a[i];

			if (j->end > t) {
				i++;
				continue;
			}
			release(&profiler, j);
			drop(&running, j);
			left--;
		}
		for (int i = 0; i < n_jobs; i++)
			if (jobs[i].submit == t && jobs[i].gpus <= most)
				add(&waiting, &jobs[i]);
		sort(&waiting, by_gpus);
		if (forecasts)
			scale_profiler(t, waiting.n, most);
		while (waiting.n && place(&profiler, waiting.a[0])) {
			struct job *j = waiting.a[0];

			j->profiled = true;
			j->done_there = j->duration <= limit;
			j->profile_wait = t - j->submit;
			j->start = t;
			j->end = t + (j->done_there ? j->duration : limit);
			j->queue = j->profile_wait;
			drop(&waiting, j);
			add(&running, j);
		}
	}
}

/* ---- a virtual cluster ---- */

static void lend(struct part *p)
{
	struct node *n = NULL, *back = named(p, LENT);
	int i;

	for (i = 0; i < p->n_nodes; i++)
		if (free_of(&p->nodes[i]) == p->nodes[i].size && (!n || p->nodes[i].name > n->name))
			n = &p->nodes[i];
	if (!n)
		return;
	if (p->has_lent && back && n != back) {	/* they change names, so that it is that one that goes */
		int name = n->name;

		for (int k = 0; k < back->n_jobs; k++)
			for (int q = 0; q < back->jobs[k]->n_nodes; q++)
				if (back->jobs[k]->node[q] == LENT)
					back->jobs[k]->node[q] = name;
		back->name = name;
		n->name = LENT;
	}
	p->has_lent = true;
	for (i = (int)(n - p->nodes); i + 1 < p->n_nodes; i++)
		p->nodes[i] = p->nodes[i + 1];
	p->n_nodes--;
}

static void follow_profiler(struct part *p, long t)
{
	for (int i = 0; i < n_changes; i++) {
		if (changes[i].t != t)
			continue;
		if (changes[i].by > 0)
			lend(p);
		else if (!named(p, LENT))
			p->nodes[p->n_nodes++] = (struct node){ .name = LENT, .size = MAX_GPUS };
	}
}

static void start(struct job *j, long t, struct list *running)
{
	j->start = t;
	j->end = t + j->duration;
	j->left = (double)j->duration;
	j->since = t;
	j->started = true;
	add(running, j);
}

static bool may_join(const struct job *j, const struct job *r)
{
	if (r->shares || r->gpus != j->gpus || !(memory[r->config] < 24576 - memory[j->config]))
		return false;
	if (horus)
		return util[r->config] + util[j->config] <= 100;
	return label[r->config] + label[j->config] <= 2 && j->priority <= 2 * r->priority;
}

static bool join(struct part *p, struct job *j, struct list *running, long t)
{
	for (int i = 0; i < running->n; i++) {
		struct job *r = running->a[i];
		bool known = !unmeasured[r->config] && !unmeasured[j->config] &&
			     speed_new[j->config][r->config] > 0;

		if (!may_join(j, r))
			continue;
		j->n_nodes = r->n_nodes;
		for (int k = 0; k < r->n_nodes; k++) {
			struct node *n = named(p, r->node[k]);

			j->node[k] = r->node[k];
			j->gpu[k] = r->gpu[k];
			n->jobs[n->n_jobs++] = j;
			for (int b = 0; b < n->size; b++)
				n->held[b] += (int)(r->gpu[k] >> b & 1);
		}
		j->speed = known ? speed_new[j->config][r->config] : 1;
		r->speed = known ? speed_there[j->config][r->config] : 1;
		j->shares = r->shares = true;
		j->joined = t;
		start(j, t, running);
		return true;
	}
	return false;
}

static void leave(struct part *p, struct job *j, long t)
{
	const struct node *n = named(p, j->node[0]);

	for (int i = 0; j->shares && i < n->n_jobs; i++) {
		struct job *o = n->jobs[i];	/* the first with these GPUs: perhaps j itself */

		for (int k = 0; k < o->n_nodes; k++) {
			if (o->node[k] == j->node[0] && o->gpu[k] == j->gpu[0]) {
				o->shares = false;
				o->speed = 1;
				o->alone = t;
				release(p, j);
				return;
			}
		}
	}
	release(p, j);
}

/* Whoever fits into what is left runs; the others lose what they have. */
static void greedy(struct part *p, struct list *order, struct list *waiting, struct list *running, long t)
{
	static struct list lost, won;
	long left = 0;

	lost.n = won.n = 0;
	for (int i = 0; i < p->n_nodes; i++)
		left += p->nodes[i].size;
	for (int i = 0; i < order->n; i++) {
		struct job *j = order->a[i];
		bool covered = j->gpus <= left, runs = has(running, j);

		left -= covered ? j->gpus : 0;
		if (covered && !runs)
			add(&won, j);
		else if (!covered && runs)
			add(&lost, j);
	}
	for (int i = 0; i < running->n;) {	/* in the order of the running ones */
		struct job *j = running->a[i];

		if (!has(&lost, j)) {
			i++;
			continue;
		}
		release(p, j);
		drop(running, j);
		j->left += j->gpus <= 8 ? 40 : 60;
		j->preempted++;
		j->since = t;
		add(waiting, j);
	}
	for (int i = 0; i < won.n; i++) {
		struct job *j = won.a[i];

		if (!place(p, j))
			continue;
		j->queue += t - j->since;
		if (!j->started)
			j->start = t;
		j->started = true;
		drop(waiting, j);
		add(running, j);
	}
}

static void decide(struct part *p, const char *policy, struct list *waiting, struct list *running, int came,
		   long t)
{
	static struct list order;
	bool head_blocks = true;

	if (strcmp(policy, "srtf") == 0) {
		order = *waiting;
		for (int i = 0; i < running->n; i++)
			add(&order, running->a[i]);
		sort(&order, by_left);
		greedy(p, &order, waiting, running, t);
		return;
	}
	if (strcmp(policy, "tiresias") == 0) {
		static struct list low;

		if (t % 60)
			return;
		order.n = low.n = 0;
		for (int i = 0; i < running->n; i++)
			add(running->a[i]->served > 18000 ? &low : &order, running->a[i]);
		for (int i = 0; i < waiting->n; i++)
			add(waiting->a[i]->served > 18000 ? &low : &order, waiting->a[i]);
		sort(&order, by_submit);
		sort(&low, by_submit);
		for (int i = 0; i < low.n; i++)
			add(&order, low.a[i]);
		greedy(p, &order, waiting, running, t);
		return;
	}
	if (strcmp(policy, "fifo") == 0) {
		sort(waiting, by_submit);
	} else if (strcmp(policy, "sjf") == 0) {
		sort(waiting, by_duration);
	} else if (strcmp(policy, "qssf") == 0) {
		sort(waiting, by_gpus);
		if (waiting->n > came) {
			for (int i = 0; i < waiting->n; i++)
				if (waiting->a[i]->priority == -1)
					waiting->a[i]->priority = waiting->a[i]->predicted * waiting->a[i]->gpus;
			sort(waiting, by_priority);
		}
	} else {
		sort(waiting, by_priority);
		head_blocks = !packs;
	}
	for (int i = 0; i < waiting->n;) {
		struct job *j = waiting->a[i];
		bool joins = !head_blocks && j->gpus <= 8 && join(p, j, running, t);

		if (joins) {
			drop(waiting, j);
		} else if (place(p, j)) {
			start(j, t, running);
			j->queue += t - j->submit;
			drop(waiting, j);
			continue;
		} else if (head_blocks) {
			return;
		} else {
			i++;
			continue;
		}
		j->queue += t - j->submit;
	}
}

static void simulate(struct part *p, const char *policy)
{
	static struct list waiting, running, now;
	bool counts = strcmp(policy, "fifo") && strcmp(policy, "sjf") && strcmp(policy, "qssf");
	int left = 0;

	waiting.n = running.n = 0;
	for (int i = 0; i < n_jobs; i++)
		left += strcmp(jobs[i].group, p->name) == 0 && !jobs[i].done_there;
	for (long t = 0; left; t++) {
		int came = 0;

		now = running;
		for (int i = 0; i < now.n; i++) {
			struct job *j = now.a[i];

			if (counts ? j->left > 0 : j->end != t) {
				j->left -= j->speed;
				j->served += j->gpus;
				continue;
			}
			leave(p, j, t);
			j->end = t;
			drop(&running, j);
			left--;
		}
		for (int i = 0; i < n_jobs; i++) {
			struct job *j = &jobs[i];

			if (j->submit != t || strcmp(j->group, p->name) || j->done_there)
				continue;
			j->priority = horus ? 0 : strcmp(policy, "qssf") == 0 ? -1 : j->predicted * j->gpus;
			j->left = (double)j->duration;
			j->since = t;
			add(&waiting, j);
			came++;
		}
		if (lender && strcmp(lender, p->name) == 0)
			follow_profiler(p, t);
		if (forecasts && t % 100 == 0) {
			bool none;
			double e = expected(few, t, &none);

			packs = none || !(e <= 2);
		}
		decide(p, policy, &waiting, &running, came, t);
	}
}

int main(int argc, char **argv)
{
	if (argc < 5)
		die("arguments");
	is_random = strcmp(argv[2], "random") == 0;
	horus = strcmp(argv[1], "horus") == 0;
	read_cluster(argv[3]);
	each_line(argv[4], take_job);
	packs = true;
	if (argc > 6) {
		each_line(argv[5], take_config);
		each_line(argv[6], take_pair);
	}
	if (argc > 11) {
		each_line(argv[10], take_row);
		forecasts = true;
		lender = argv[11];
	}
	if (argc > 9) {
		read_profiler(argv[7]);
		profile(whole(argv[8]), whole(argv[9]));
	}
	for (int i = 0; i < n_parts; i++)
		simulate(&parts[i], argv[1]);
	for (int i = 0; i < n_jobs; i++) {
		const struct job *j = &jobs[i];

		printf("%s,%ld,%ld,%ld,%ld,%d,%d,%ld,%d,%.3f,%ld,%ld\n", j->id, j->start, j->end, j->queue, j->preempted,
		       j->profiled, j->done_there, j->profile_wait, !j->shares, j->speed, j->joined, j->alone);
	}
	return 0;
}
