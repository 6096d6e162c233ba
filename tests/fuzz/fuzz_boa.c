/* SPDX-License-Identifier: MIT */
/*
 * The tables of fixed-width scheduling on any bytes: as speedups, as classes, as plans. What is
 * read as speedups becomes a problem (each class arrives, and pays for changes), and whatever the
 * numbers are its frontier must fall and be convex, and answers must be feasible and within their
 * bounds.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "libfit/model/boa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WIDTHS_MAX 500	/* of one input: enough for every path, and quick */

/* Relative room for rounding: the bound is a difference of sums of which mu x budget is one. */
static double room_of(const struct fit_boa *b, const struct fit_boa_solution *s)
{
	return 1e-10 * (1 + s->mu * s->budget / (b->total * s->mean_jct_s));
}

static void check_solution(const struct fit_boa *b, const struct fit_boa_solution *s, double budget)
{
	double room = room_of(b, s);

	if (!(s->cost <= budget * (1 + 1e-9)))
		abort();
	if (s->mean_jct_s > 0 && room < 1 && !(s->mean_jct_s >= s->bound_s * (1 - room)))
		abort();
}

static void try_budget(const struct fit_boa *b, const struct fit_boa_frontier *f, double budget)
{
	struct fit_boa_solution s;
	struct fit_err err;

	if (fit_boa_solve(&s, b, f, budget, &err))
		return;
	check_solution(b, &s, budget);
	if (s.mean_jct_s > 0 && room_of(b, &s) < 1 && !(s.gap <= 2 * room_of(b, &s)))
		abort();
	fit_boa_solution_release(&s);
	if (!fit_boa_pure(&s, b, f, budget, 20000, &err)) {
		check_solution(b, &s, budget);
		fit_boa_solution_release(&s);
	}
	if (!fit_boa_heuristic(&s, b, f, budget, &err)) {
		check_solution(b, &s, budget);
		fit_boa_solution_release(&s);
	}
}

static void try_problem(const struct fit_speedups *s, bool free_rescale)
{
	const struct fit_boa_params params = { .free_rescale = free_rescale, .charge_start = true,
					       .by_class = s->n_types > 1 };
	struct fit_boa_classes c = { 0 };
	struct fit_boa_frontier f;
	struct fit_boa b;
	struct fit_err err;

	c.rows = calloc(s->n_classes + 1, sizeof *c.rows);
	for (size_t i = 0; c.rows && i < s->n_classes; i++)
		c.rows[c.n++] = (struct fit_boa_class_row){ fit_strdup(fit_text_of(s->classes[i].name)),
							    NULL, 1, 1, 30, 1 };
	if (c.rows && !fit_boa_build(&b, s, &c, &params, &err)) {
		if (!fit_boa_frontier_build(&f, &b, &err)) {
			for (size_t e = 0; e < f.n_edges; e++)
				if (!(f.budget[e] <= f.budget[e + 1]) || !(f.jct[e] >= f.jct[e + 1]) ||
				    (e > 0 && !(f.edges[e].mu <= f.edges[e - 1].mu)))
					abort();
			try_budget(&b, &f, f.budget[0]);
			try_budget(&b, &f, 0.5 * (f.budget[0] + f.budget[f.n_edges]));
			try_budget(&b, &f, 2 * f.budget[f.n_edges]);
			fit_boa_frontier_release(&f);
		}
		fit_boa_release(&b);
	}
	fit_boa_classes_release(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fit_boa_plan_table plans;
	struct fit_boa_classes classes;
	struct fit_speedups s;
	struct fit_err err;
	char name[40];
	FILE *f = tmpfile();

	if (!f)
		return 0;
	if (fwrite(data, 1, size, f) == size && fflush(f) == 0) {
		snprintf(name, sizeof name, "/dev/fd/%d", fileno(f));
		if (!fit_speedups_read(&s, name, size % 2, &err)) {
			if (s.n_widths <= WIDTHS_MAX) {
				try_problem(&s, true);
				try_problem(&s, false);
			}
			fit_speedups_release(&s);
		}
		if (!fit_boa_classes_read(&classes, name, &err))
			fit_boa_classes_release(&classes);
		if (!fit_boa_plan_table_read(&plans, name, &err))
			fit_boa_plan_table_release(&plans);
	}
	fclose(f);
	return 0;
}
