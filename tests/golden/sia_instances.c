/* SPDX-License-Identifier: MIT */
/*
 * sia_instances CONFIGS INSTANCES JOBS: assignment problems that Sia's simulator met in runs. Is the least
 * cost the one that is expected, does our choice cost that much when it is added up again, and is it legal?
 * With a fourth argument each is solved so many times, for a measurement. Prints counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/sia_ilp.h"
#include "libfit/table/source.h"
#include "traces/csv.h"

enum { CONFIGS_MAX = 64, JOBS_MAX = 4096 };

static struct fit_sia_option configs[CONFIGS_MAX];
static int64_t capacity[FIT_SIA_TYPES_MAX];
static char type_names[FIT_SIA_TYPES_MAX][64];
static int n_configs, n_types;

struct row {
	int64_t instance;
	struct fit_sia_job job;
	struct fit_sia_option options[CONFIGS_MAX];
};
static struct row *rows;
static size_t n_rows, cap_rows;
static struct fit_err err;

static struct {
	int instances, jobs, optimal, same_cost, legal, rounds;
	size_t states;
	int64_t gap;	/* between the bound and the optimum, in hundredths */
} count;

static int open_csv(const char *path, const struct fit_field *f, size_t n, struct fit_source **s,
		    struct fit_csv **c)
{
	return fit_source_open(s, path, &err) || fit_csv_open(c, *s, NULL, &err) || fit_csv_bind(*c, f, n, &err);
}

static int32_t type_of(struct fit_text name)
{
	for (int t = 0; t < n_types; t++)
		if (fit_text_is(name, type_names[t]))
			return t;
	if (n_types == FIT_SIA_TYPES_MAX || name.n >= sizeof *type_names)
		return -1;
	memcpy(type_names[n_types], name.s, name.n);
	return n_types++;
}

static int read_configs(const char *path)
{
	static const struct fit_field f[] = { { "config", FIT_INT, FIT_F_NOT_NA }, { "type", FIT_TEXT, FIT_F_NOT_NA },
					      { "gpus", FIT_INT, FIT_F_NOT_NA },
					      { "capacity_of_type", FIT_INT, FIT_F_NOT_NA } };
	struct fit_source *s;
	struct fit_csv *c;
	struct fit_cell in[4];

	if (open_csv(path, f, 4, &s, &c))
		return 1;
	while (!fit_csv_row(c, in, &err) && n_configs < CONFIGS_MAX) {
		struct fit_sia_option *o = &configs[n_configs++];

		*o = (struct fit_sia_option){ .config = (int32_t)in[0].u.i, .type = type_of(in[1].u.t),
					      .gpus = (int32_t)in[2].u.i };
		if (o->type < 0)
			return 1;
		capacity[o->type] = in[3].u.i;
	}
	fit_csv_close(c);
	fit_source_close(s);
	return 0;
}

static int read_jobs(const char *path)
{
	static char names[CONFIGS_MAX][16];
	struct fit_field f[CONFIGS_MAX + 3] = { { "instance", FIT_INT, FIT_F_NOT_NA },
						{ "prev_config", FIT_INT, FIT_F_NOT_NA },
						{ "pinned", FIT_INT, FIT_F_NOT_NA } };
	struct fit_cell in[CONFIGS_MAX + 3];
	struct fit_source *s;
	struct fit_csv *c;

	for (int k = 0; k < n_configs; k++) {
		snprintf(names[k], sizeof names[k], "u100_%d", k);
		f[3 + k] = (struct fit_field){ names[k], FIT_INT, FIT_F_NOT_NA };
	}
	if (open_csv(path, f, 3 + (size_t)n_configs, &s, &c))
		return 1;
	while (!fit_csv_row(c, in, &err)) {
		struct row *r;

		if (fit_grow(&rows, &cap_rows, n_rows + 1, sizeof *rows))
			return 1;
		r = &rows[n_rows++];
		*r = (struct row){ .instance = in[0].u.i };
		r->job = (struct fit_sia_job){ .n = (size_t)n_configs, .cost = 110,
					       .current = in[1].u.i < 0 ? FIT_SIA_NOTHING : (int32_t)in[1].u.i,
					       .pinned = in[2].u.i != 0 };
		for (int k = 0; k < n_configs; k++) {
			r->options[k] = configs[k];
			r->options[k].cost = in[3 + k].u.i;
		}
	}
	fit_csv_close(c);
	fit_source_close(s);
	return 0;
}

static int check(int64_t instance, int64_t optimum, int64_t times)
{
	static struct fit_sia_job jobs[JOBS_MAX];
	static int32_t choice[JOBS_MAX];
	int64_t used[FIT_SIA_TYPES_MAX] = { 0 }, cost = 0;
	struct fit_sia_answer a;
	bool legal = true;
	size_t n = 0;

	for (size_t i = 0; i < n_rows && n < JOBS_MAX; i++) {
		if (rows[i].instance != instance)
			continue;
		jobs[n] = rows[i].job;
		jobs[n++].options = rows[i].options;
	}
	for (int64_t k = 0; k < times; k++)
		if (fit_sia_solve(jobs, n, capacity, n_types, choice, &a, &err))
			return 1;
	for (size_t j = 0; j < n; j++) {
		if (jobs[j].pinned && choice[j] != jobs[j].current)
			legal = false;
		if (choice[j] < 0) {
			cost += 110;
			continue;
		}
		used[configs[choice[j]].type] += configs[choice[j]].gpus;
		cost += jobs[j].options[choice[j]].cost;
	}
	for (int t = 0; t < n_types; t++)
		legal = legal && used[t] <= capacity[t];
	count.instances++;
	count.jobs += (int)n;
	count.optimal += a.cost == optimum;
	count.same_cost += a.cost == cost;
	count.legal += legal;
	count.rounds += a.rounds;
	count.states += a.states;
	count.gap += optimum - a.bound;
	if (a.cost != optimum)
		printf("# instance %lld: %lld (expected %lld)\n", (long long)instance, (long long)a.cost,
		       (long long)optimum);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct fit_field f[] = { { "instance", FIT_INT, FIT_F_NOT_NA },
					      { "optimum_x100", FIT_INT, FIT_F_NOT_NA } };
	struct fit_source *s;
	struct fit_csv *c;
	struct fit_cell in[2];
	int64_t times = 1;

	if (argc < 4 || (argc > 4 && fit_parse_int64(fit_text_of(argv[4]), &times)) || read_configs(argv[1]) ||
	    read_jobs(argv[3]) || open_csv(argv[2], f, 2, &s, &c)) {
		fprintf(stderr, "sia_instances: %s\n", err.msg);
		return 2;
	}
	while (!fit_csv_row(c, in, &err))
		if (check(in[0].u.i, in[1].u.i, times)) {
			fprintf(stderr, "sia_instances: %s\n", err.msg);
			return 2;
		}
	fit_csv_close(c);
	fit_source_close(s);
	free(rows);
	printf("instances %d jobs %d optimal %d same_cost %d legal %d rounds %d states %zu gap %lld\n", count.instances,
	       count.jobs, count.optimal, count.same_cost, count.legal, count.rounds, count.states,
	       (long long)count.gap);
	return 0;
}
