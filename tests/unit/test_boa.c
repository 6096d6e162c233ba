/* SPDX-License-Identifier: MIT */
/* Fixed-width scheduling against brute force: every plan of every class, on small random instances. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/base/rng.h"
#include "libfit/model/boa.h"
#include "libfit/model/boa_certify.h"

/* ---- random instances ---- */

struct instance {
	struct fit_speedups s;
	struct fit_boa_classes c;
	struct fit_boa_params params;
	struct fit_boa_price prices[2];
	struct fit_boa b;
	struct fit_boa_frontier f;
};

static double draw(gsl_rng *rng, double lo, double hi)
{
	return lo + (hi - lo) * gsl_rng_uniform(rng);
}

static void add_class_row(struct fit_boa_classes *c, size_t i, double rate, double weight, double rescale_s,
			  int64_t min_gpus)
{
	char name[40];
	struct fit_err err;

	snprintf(name, sizeof name, "class%zu", i);
	if (fit_grow(&c->rows, &c->cap, c->n + 1, sizeof *c->rows))
		check_ok(fit_fail_nomem(&err), &err);
	c->rows[c->n++] = (struct fit_boa_class_row){ fit_strdup(fit_text_of(name)), NULL, rate, weight,
						      rescale_s, min_gpus };
}

enum { FREE, RESCALE, PER_CLASS };

/* kind: changes free, charged with types per epoch, or charged with a type for life. */
static void make_instance(struct instance *t, gsl_rng *rng, int kind)
{
	static const char *const types[] = { "a", "b" };
	struct fit_speedup_rows rows = { 0 };
	struct fit_err err = { 0 };
	size_t n_classes = 1 + gsl_rng_uniform_int(rng, 3), n_types = 1 + gsl_rng_uniform_int(rng, 2);
	bool whole = gsl_rng_uniform_int(rng, 2); /* small whole numbers have ties */

	*t = (struct instance){ .params = { .free_rescale = kind == FREE,
					    .charge_start = gsl_rng_uniform_int(rng, 2),
					    .by_class = kind == PER_CLASS } };
	for (size_t i = 0; i < n_classes; i++) {
		size_t epochs = 1 + gsl_rng_uniform_int(rng, kind == FREE ? 2 : 3);
		char name[40];
		uint32_t class, type;

		snprintf(name, sizeof name, "class%zu", i);
		check_ok(fit_speedup_rows_class(&rows, fit_text_of(name), &class, &err), &err);
		for (size_t j = 0; j < epochs; j++) {
			double work = whole ? (double)(1 + gsl_rng_uniform_int(rng, 4)) : draw(rng, 1, 50);

			for (size_t h = 0; h < n_types; h++) {
				double speed = draw(rng, 0.5, 2);

				check_ok(fit_speedup_rows_type(&rows,
							       n_types == 1 ? (struct fit_text){ 0 } :
									      fit_text_of(types[h]),
							       &type, &err),
					 &err);
				for (uint32_t k = 1; k <= 5; k++) {
					struct fit_speedup_row row = { work, speed, 0, class, (uint32_t)j,
								       type, k };

					if (whole)
						row.speed = (double)(1 + gsl_rng_uniform_int(rng, 5));
					/* holes, but not of the widest */
					if (k < 5 && gsl_rng_uniform_int(rng, 8) == 0)
						row.speed = 0;
					check_ok(fit_speedup_rows_add(&rows, &row, &err), &err);
					speed += draw(rng, -0.2, 1.2);
				}
			}
		}
		add_class_row(&t->c, i, whole ? 1 : draw(rng, 0.1, 3),
			      gsl_rng_uniform_int(rng, 4) ? (double)NAN : draw(rng, 0.2, 4),
			      draw(rng, 0, 4), 1 + (int64_t)gsl_rng_uniform_int(rng, 2));
	}
	check_ok(fit_speedups_finish(&t->s, &rows, NULL, &err), &err);
	if (n_types == 2 && gsl_rng_uniform_int(rng, 2)) {
		t->prices[0] = (struct fit_boa_price){ "a", draw(rng, 0.1, 1) };
		t->prices[1] = (struct fit_boa_price){ "b", draw(rng, 0.5, 4) };
		t->params.prices = t->prices;
		t->params.n_prices = 2;
	}
	check_ok(fit_boa_build(&t->b, &t->s, &t->c, &t->params, &err), &err);
	check_ok(fit_boa_frontier_build(&t->f, &t->b, &err), &err);
}

static void release_instance(struct instance *t)
{
	fit_boa_frontier_release(&t->f);
	fit_boa_release(&t->b);
	fit_speedups_release(&t->s);
	fit_boa_classes_release(&t->c);
}

/* ---- brute force ---- */

struct point {
	double cost, time;
};

struct points {
	struct point *p;
	size_t n, cap;
};

static void add_point(struct points *l, double cost, double time)
{
	assert_int_equal(fit_grow(&l->p, &l->cap, l->n + 1, sizeof *l->p), 0);
	l->p[l->n++] = (struct point){ cost, time };
}

/* Every choice of widths of a class, in the plain words of the problem. */
static void all_plans(const struct instance *t, size_t class, size_t epoch, const struct fit_width *before,
		      double cost, double time, struct points *out)
{
	const struct fit_boa *b = &t->b;
	const struct fit_boa_class *c = &b->classes[class];
	const struct fit_boa_epoch *e = &b->epochs[c->at + epoch];

	if (epoch == c->n) {
		add_point(out, c->rate * cost, c->rate * c->weight * time);
		return;
	}
	for (size_t k = e->at; k < e->at + e->n; k++) {
		const struct fit_width *w = &b->widths[k];
		bool change = before ? before->gpus != w->gpus || before->type != w->type :
				       t->params.charge_start;
		double dt = e->work / w->speed;

		if (before && t->params.by_class && before->type != w->type)
			continue;
		if (change)
			dt += b->rescale_s[class * b->n_types + (size_t)w->type];
		all_plans(t, class, epoch + 1, w, cost + dt * w->price * (double)w->gpus, time + dt, out);
	}
}

/* All combinations of two lists. */
static void combine(struct points *a, const struct points *b)
{
	struct points sum = { 0 };

	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < b->n; k++)
			add_point(&sum, a->p[i].cost + b->p[k].cost, a->p[i].time + b->p[k].time);
	free(a->p);
	*a = sum;
}

static int compare_points(const void *pa, const void *pb)
{
	const struct point *a = pa, *b = pb;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return (a->time > b->time) - (a->time < b->time);
}

/* Keep what nothing beats in both. */
static void thin(struct points *l)
{
	size_t kept = 0;

	qsort(l->p, l->n, sizeof *l->p, compare_points);
	for (size_t i = 0; i < l->n; i++)
		if (kept == 0 || l->p[i].time < l->p[kept - 1].time)
			l->p[kept++] = l->p[i];
	l->n = kept;
}

static struct points brute(const struct instance *t)
{
	struct points all = { 0 };

	add_point(&all, 0, 0);
	for (size_t i = 0; i < t->b.n_classes; i++) {
		struct points one = { 0 };

		all_plans(t, i, 0, NULL, 0, 0, &one);
		thin(&one); /* what is beaten in its class is beaten in every combination */
		combine(&all, &one);
		thin(&all);
		free(one.p);
	}
	return all;
}

/* Best mixture: between any two points. */
static double best_mixed(const struct points *all, double budget)
{
	double best = (double)INFINITY;

	for (size_t i = 0; i < all->n; i++) {
		const struct point *p = &all->p[i];

		if (p->cost <= budget * (1 + 1e-14))
			best = fmin(best, p->time);
		for (size_t k = i + 1; k < all->n; k++) {
			const struct point *q = &all->p[k];

			if (p->cost <= budget * (1 + 1e-14) && q->cost > budget)
				best = fmin(best, p->time + (q->time - p->time) * (budget - p->cost) /
								    (q->cost - p->cost));
		}
	}
	return best;
}

static double best_pure(const struct points *all, double budget)
{
	double best = (double)INFINITY;

	for (size_t i = 0; i < all->n; i++)
		if (all->p[i].cost <= budget * (1 + 1e-14))
			best = fmin(best, all->p[i].time);
	return best;
}

/* ---- the certificate of a solution ---- */

static void certify(const struct instance *t, const struct fit_boa_solution *s, double tolerance, bool want)
{
	struct fit_boa_plan_table p = { 0 };
	struct fit_boa_certify_params params = { s->budget, s->mu, tolerance, t->params.prices,
						 t->params.n_prices };
	struct fit_boa_certificate c;
	struct fit_err err = { 0 };
	bool holds = true, charged = false;

	for (size_t i = 0; i < t->b.n_classes * t->b.n_types; i++)
		charged = charged || t->b.rescale_s[i] > 0;
	assert_int_equal(fit_meta_add(&p.meta, "charge_start", t->params.charge_start ? "1" : "0"), 0);
	assert_int_equal(fit_meta_add(&p.meta, "rescale", charged ? "1" : "0"), 0);
	assert_int_equal(fit_meta_add(&p.meta, "routing", t->b.by_class ? "class" : "epoch"), 0);
	p.classes = calloc(t->b.n_classes, sizeof *p.classes);
	for (size_t i = 0; i < t->b.n_classes; i++)
		p.classes[i] = t->b.classes[i].name;
	p.n_classes = t->b.n_classes;
	p.types = t->b.types;
	p.n_types = t->b.n_types;
	for (size_t i = 0; i < s->n_plans; i++)
		for (size_t j = 0; j < t->b.classes[s->plans[i].class_no].n; j++) {
			const struct fit_width *w = &t->b.widths[s->plans[i].widths[j]];

			assert_int_equal(fit_grow(&p.rows, &p.cap, p.n + 1, sizeof *p.rows), 0);
			p.rows[p.n++] = (struct fit_boa_plan_row){ .class_no = s->plans[i].class_no,
								   .epoch = (int64_t)j,
								   .share = s->plans[i].share,
								   .type = (size_t)w->type,
								   .gpus = w->gpus };
		}
	check_ok(fit_boa_certify(&c, &p, &t->s, &t->c, &params, &err), &err);
	for (size_t i = 0; i < c.n; i++) {
		holds = holds && (!c.checks[i].judged || c.checks[i].holds);
		if (want && c.checks[i].judged && !c.checks[i].holds)
			print_error("%s: %.17g, limit %g\n", c.checks[i].name, c.checks[i].value,
				    c.checks[i].limit);
	}
	assert_int_equal(holds, want);
	free(p.classes);
	free(p.rows);
	fit_meta_release(&p.meta);
}

/* ---- the tests ---- */

static void check_budget(const struct instance *t, const struct points *all, double budget, bool glpk)
{
	struct fit_boa_solution mixed, pure, other;
	struct fit_err err = { 0 };

	check_ok(fit_boa_solve(&mixed, &t->b, &t->f, budget, &err), &err);
	check_real(mixed.mean_jct_s * t->b.total, best_mixed(all, budget), 1e-12, 0);
	assert_true(mixed.cost <= budget * (1 + 1e-12));
	assert_true(mixed.gap <= 1e-12);
	assert_true(mixed.mu_before >= mixed.mu && mixed.mu >= mixed.mu_after);
	assert_true(mixed.n_plans <= t->b.n_classes + 1);
	certify(t, &mixed, 1e-12, true);

	check_ok(fit_boa_pure(&pure, &t->b, &t->f, budget, 1000000, &err), &err);
	check_real(pure.mean_jct_s * t->b.total, best_pure(all, budget), 1e-12, 0);
	assert_true(pure.cost <= budget * (1 + 1e-12));
	assert_true(pure.mean_jct_s >= mixed.mean_jct_s * (1 - 1e-12));
	assert_int_equal(pure.n_plans, t->b.n_classes);
	assert_false(pure.limited);
	check_real(pure.bound_s, mixed.mean_jct_s, 1e-12, 0);
	certify(t, &pure, pure.gap * (1 + 1e-9) + 1e-12, true);
	if (pure.gap > 1e-9) /* not optimal as a mixture, and the certificate says so */
		certify(t, &pure, 0.5 * pure.gap, false);
	if (glpk) {
		for (int fixing = 0; fixing < 2; fixing++) {
			check_ok(fit_boa_micp(&other, &t->b, &t->f, budget, fixing, 1000000, &err), &err);
			check_real(other.mean_jct_s, pure.mean_jct_s, 1e-9, 0);
			fit_boa_solution_release(&other);
		}
	}
	if (!t->b.by_class && fit_boa_heuristic(&other, &t->b, &t->f, budget, &err) == FIT_OK) {
		assert_true(other.cost <= budget * (1 + 1e-12));
		assert_true(other.mean_jct_s >= mixed.mean_jct_s * (1 - 1e-12));
		if (!t->b.by_path) /* without charges it is exact */
			check_real(other.mean_jct_s, mixed.mean_jct_s, 1e-12, 0);
		fit_boa_solution_release(&other);
	}
	fit_boa_solution_release(&mixed);
	fit_boa_solution_release(&pure);
}

static void test_random(void **state)
{
	gsl_rng *rng = fit_rng_new(11, "test/boa");
	size_t budgets = 0, edges = 0;

	(void)state;
	for (int round = 0; round < 1000; round++) {
		struct fit_boa_solution s;
		struct fit_err err = { 0 };
		struct instance t;
		struct points all;
		double least;
		size_t first, last;

		make_instance(&t, rng, round % 3);
		all = brute(&t);
		least = t.f.budget[0];
		check_real(least, all.p[0].cost, 1e-12, 0);
		/* of points that are equal but for rounding, the better one */
		for (first = 0; first + 1 < all.n && all.p[first + 1].cost <= least * (1 + 1e-12);)
			first++;
		for (last = all.n - 1; last > 0 && all.p[last - 1].time <= all.p[all.n - 1].time * (1 + 1e-12);)
			last--;
		check_real(t.f.jct[0] * t.b.total, all.p[first].time, 1e-12, 0);
		check_real(t.f.jct[t.f.n_edges] * t.b.total, all.p[last].time, 1e-12, 0);
		check_real(t.f.budget[t.f.n_edges], all.p[last].cost, 1e-12, 0);
		for (size_t e = 0; e < t.f.n_edges; e++) {
			assert_true(t.f.budget[e] < t.f.budget[e + 1]);
			assert_true(t.f.jct[e] > t.f.jct[e + 1]);
			if (e > 0)
				assert_true(t.f.edges[e].mu <= t.f.edges[e - 1].mu);
			check_real(t.f.edges[e].mu, t.f.edges[e].time / t.f.edges[e].cost, 1e-9, 0);
			check_real(t.f.jct[e] * t.b.total, best_mixed(&all, t.f.budget[e]), 1e-12, 0);
			edges++;
		}
		/* below the least, at it, in between, at a breakpoint, above the largest */
		assert_int_equal(fit_boa_solve(&s, &t.b, &t.f, least * (1 - 1e-9), &err), FIT_EDATA);
		check_budget(&t, &all, least, round % 20 == 0);
		for (int k = 0; k < 3; k++, budgets++)
			check_budget(&t, &all, draw(rng, least, t.f.budget[t.f.n_edges] * 1.02),
				     round % 20 == 1 && k == 0);
		check_budget(&t, &all, t.f.budget[t.f.n_edges / 2], false);
		check_budget(&t, &all, 2 * t.f.budget[t.f.n_edges], false);
		free(all.p);
		release_instance(&t);
	}
	print_message("%zu edges, %zu budgets\n", edges, budgets);
	assert_true(edges > 2500 && budgets == 3000);
	gsl_rng_free(rng);
}

/* A class whose jobs never arrive, an epoch without work, a weight of 0. */
static void test_idle(void **state)
{
	gsl_rng *rng = fit_rng_new(3, "test/boa-idle");
	struct fit_boa_solution s;
	struct fit_err err = { 0 };
	struct instance t;

	(void)state;
	for (int kind = FREE; kind <= PER_CLASS; kind++)
		for (int round = 0; round < 30; round++) {
			double least;

			do {
				make_instance(&t, rng, kind);
				if (t.b.n_classes < 3)
					release_instance(&t);
			} while (t.b.n_classes < 3);
			fit_boa_frontier_release(&t.f);
			fit_boa_release(&t.b);
			t.c.rows[1].rate = 0;
			t.c.rows[2].weight = 0;
			for (size_t k = 0; k < t.s.n_epochs; k++)
				if (k == t.s.classes[0].at + t.s.classes[0].n - 1)
					t.s.epochs[k].work = 0;
			check_ok(fit_boa_build(&t.b, &t.s, &t.c, &t.params, &err), &err);
			check_ok(fit_boa_frontier_build(&t.f, &t.b, &err), &err);
			least = t.f.budget[0];
			for (int k = 0; k < 4; k++) {
				double budget = least + k * (t.f.budget[t.f.n_edges] - least) / 2.5;
				struct points all = brute(&t);

				check_ok(fit_boa_solve(&s, &t.b, &t.f, budget, &err), &err);
				check_real(s.mean_jct_s * t.b.total, best_mixed(&all, budget), 1e-12, 1e-14);
				/* nothing arrives: the cheapest plan */
				for (size_t p = 0; p < s.n_plans; p++)
					if (s.plans[p].class_no == 1) {
						struct fit_boa_path path = fit_boa_path_of(
							&t.b, 1, s.plans[p].widths);
						struct points one = { 0 };
						double rate = t.b.classes[1].rate;

						t.b.classes[1].rate = 1;
						all_plans(&t, 1, 0, NULL, 0, 0, &one);
						thin(&one);
						check_real(fit_dd_value(path.cost), one.p[0].cost, 1e-12, 0);
						t.b.classes[1].rate = rate;
						free(one.p);
					}
				if (s.mean_jct_s > 0)
					certify(&t, &s, 1e-12, true);
				fit_boa_solution_release(&s);
				check_ok(fit_boa_pure(&s, &t.b, &t.f, budget, 1000000, &err), &err);
				check_real(s.mean_jct_s * t.b.total, best_pure(&all, budget), 1e-12, 1e-14);
				fit_boa_solution_release(&s);
				check_ok(fit_boa_micp(&s, &t.b, &t.f, budget, true, 100000, &err), &err);
				check_real(s.mean_jct_s * t.b.total, best_pure(&all, budget), 1e-9, 1e-12);
				fit_boa_solution_release(&s);
				free(all.p);
			}
			release_instance(&t);
		}
	gsl_rng_free(rng);
}

/* One GPU at speed 5 and three at 15 cost the same, but for rounding: the faster width is the corner. */
static void test_tie(void **state)
{
	static const double speeds[2][3] = { { 5, 5.45, 15 }, { 7, 16.4, 17.5 } };
	static const double works[] = { 579, 115.8, 1.1, 7.7, 0.3 };
	struct fit_err err = { 0 };

	(void)state;
	for (size_t v = 0; v < sizeof works / sizeof *works; v++)
		for (int by_class = 0; by_class < 2; by_class++) {
			struct fit_boa_params params = { .by_class = by_class };
			struct fit_speedup_rows rows = { 0 };
			struct fit_boa_classes c = { 0 };
			struct fit_boa_solution sol;
			struct fit_boa_frontier f;
			struct fit_speedups s;
			struct fit_boa b;
			uint32_t class, type;

			check_ok(fit_speedup_rows_class(&rows, fit_text_of("class0"), &class, &err), &err);
			for (int h = 0; h < 2; h++) {
				check_ok(fit_speedup_rows_type(&rows, fit_text_of(h ? "b" : "a"), &type, &err),
					 &err);
				for (uint32_t k = 1; k <= 3; k++) {
					struct fit_speedup_row row = { works[v], speeds[h][k - 1], 0, class, 0,
								       type, h ? 700 * k : k };

					check_ok(fit_speedup_rows_add(&rows, &row, &err), &err);
				}
			}
			add_class_row(&c, 0, 1, 1, by_class ? 0 : 9, 1);
			check_ok(fit_speedups_finish(&s, &rows, NULL, &err), &err);
			check_ok(fit_boa_build(&b, &s, &c, &params, &err), &err);
			assert_true(b.by_path);
			check_ok(fit_boa_frontier_build(&f, &b, &err), &err);
			check_real(f.jct[0], works[v] / 15, 1e-12, 0);
			check_ok(fit_boa_solve(&sol, &b, &f, f.budget[0], &err), &err);
			assert_true(sol.gap <= 1e-12);
			fit_boa_solution_release(&sol);
			fit_boa_frontier_release(&f);
			fit_boa_release(&b);
			fit_speedups_release(&s);
			fit_boa_classes_release(&c);
		}
}

/* Amdahl's law on a fine grid: widths k = max(1, sqrt((1 - f)/(mu f))). */
static void test_amdahl(void **state)
{
	static const double serial[] = { 0.03, 0.15 }, load[] = { 4, 1.5 };
	static const struct fit_boa_price price = { "", 1e-4 };
	struct fit_boa_params params = { .prices = &price, .n_prices = 1 };
	struct fit_speedup_rows rows = { 0 };
	struct fit_boa_classes c = { 0 };
	struct fit_boa_frontier f;
	struct fit_speedups s;
	struct fit_boa b;
	struct fit_err err = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		char name[40];
		uint32_t class, type;

		snprintf(name, sizeof name, "class%u", i);
		check_ok(fit_speedup_rows_class(&rows, fit_text_of(name), &class, &err), &err);
		check_ok(fit_speedup_rows_type(&rows, (struct fit_text){ 0 }, &type, &err), &err);
		for (uint32_t k = 10000; k < 300000; k += 7) {
			double gpus = k / 1e4;
			struct fit_speedup_row row = { 1, 1 / (serial[i] + (1 - serial[i]) / gpus), 0,
						       class, 0, type, k };

			check_ok(fit_speedup_rows_add(&rows, &row, &err), &err);
		}
		add_class_row(&c, i, load[i], (double)NAN, (double)NAN, 1);
	}
	check_ok(fit_speedups_finish(&s, &rows, NULL, &err), &err);
	check_ok(fit_boa_build(&b, &s, &c, &params, &err), &err);
	check_ok(fit_boa_frontier_build(&f, &b, &err), &err);
	for (double mu = 0.05; mu < 4; mu *= 1.7) {
		struct fit_boa_solution sol;
		double budget = 0, time = 0;

		for (int i = 0; i < 2; i++) {
			double k = fmax(1, sqrt((1 - serial[i]) / (mu * serial[i])));

			budget += load[i] * (serial[i] * k + 1 - serial[i]);
			time += load[i] * (serial[i] + (1 - serial[i]) / k);
		}
		check_ok(fit_boa_solve(&sol, &b, &f, budget, &err), &err);
		check_real(sol.mean_jct_s * b.total, time, 5e-8, 0); /* the grid: 0.0007 of a GPU */
		check_real(sol.mu, mu, 2e-3, 0);
		fit_boa_solution_release(&sol);
	}
	fit_boa_frontier_release(&f);
	fit_boa_release(&b);
	fit_speedups_release(&s);
	fit_boa_classes_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_idle), cmocka_unit_test(test_tie),
					    cmocka_unit_test(test_amdahl) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
