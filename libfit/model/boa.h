/* SPDX-License-Identifier: MIT */
/*
 * Fixed-width scheduling under a budget (BOA Constrictor, arXiv 2602.01404): on how many GPUs,
 * and of which type, each class of jobs runs in each of its epochs, so that the mean completion
 * time is least while the long-run mean cost is at most a budget. docs/methods/boa.md has the
 * mathematics.
 *
 * For class i with arrival rate lambda_i, weight w_i, rescale time r_i, and epoch j with work
 * X_ij, at width k (GPUs of a type with price c, speed s_ij(k)), with 1_ij = 1 where the width
 * changes (and at the first start when charge_start):
 *
 *   T_i = sum_j X_ij / s_ij(k_ij) + r_i 1_ij          seconds of a job
 *   C_i = sum_j c k_ij (X_ij / s_ij(k_ij) + r_i 1_ij) its cost
 *   minimise J = sum_i lambda_i w_i T_i / sum_i lambda_i w_i   subject to   sum_i lambda_i C_i <= budget
 *
 * The objects, in the order in which they are made:
 *
 *   struct fit_boa           the problem: classes, epochs, usable widths
 *   struct fit_boa_frontier  all that is optimal at some budget: vertices of each item (an epoch of
 *                            a class, or the class as a whole where rescaling or a type for life ties
 *                            its epochs together), and the edges between them, steepest first
 *   struct fit_boa_solution  the plans for one budget, with a proven bound
 *
 * Costs are GPUs (GPU-seconds a second) without prices, else price units times GPUs: with
 * dollars an hour, dollars an hour.
 */
#ifndef FIT_MODEL_BOA_H
#define FIT_MODEL_BOA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/exact.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/model/boa_table.h"
#include "libfit/model/speedup.h"

FIT_C_BEGIN

/* ---- the problem ---- */

struct fit_boa_params {
	const struct fit_boa_price {
		const char *type;	/* "" names the type without a name */
		double price;		/* FIT_PRICE_MIN to FIT_PRICE_MAX */
	} *prices;
	size_t n_prices;	/* 0: every price is 1; else every type needs one */
	bool free_rescale;	/* rescale_s of the classes is not charged */
	bool charge_start;	/* the first start costs rescale_s, too */
	bool by_class;		/* a job stays on one type of GPU; else the type may change with the epoch */
};

struct fit_boa {
	char **types;
	double *prices;		/* by type */
	size_t n_types;
	struct fit_boa_class {
		char *name;
		double rate, weight;
		size_t at, n;	/* epochs */
	} *classes;
	size_t n_classes;
	struct fit_boa_epoch {
		double work;
		size_t at, n;	/* usable widths of at least min_gpus, at least one */
	} *epochs;
	size_t n_epochs;
	struct fit_width *widths;	/* by type, then by number of GPUs; no two alike */
	size_t n_widths;
	double *rescale_s;	/* class * n_types + type; all 0 where rescaling is free */
	bool has_prices, charge_start, by_class;
	bool by_path;		/* the epochs of a class are tied together: items are classes */
	double total;		/* sum of rate x weight; > 0 */
};

/* Speedups and classes put together; nothing of them is kept. FIT_EDATA: a class is in one of
 * them only, no width of an epoch is usable, a type has no price, no class has a rate and a
 * weight above 0. Release with fit_boa_release(). */
int fit_boa_build(struct fit_boa *b, const struct fit_speedups *s, const struct fit_boa_classes *classes,
		  const struct fit_boa_params *params, struct fit_err *err) FIT_MUST_CHECK;
void fit_boa_release(struct fit_boa *b);

/* ---- the frontier ---- */

struct fit_boa_vertex {
	struct fit_dd cost, time;	/* of a job, in this epoch or as a whole */
	size_t ref;			/* number of a width; where items are classes, of the first of its
					 * widths in fit_boa_frontier.plans, one an epoch */
	int64_t rescales;		/* changes of width, the first start not counted */
};

struct fit_boa_item {
	size_t class_no;
	size_t epoch;		/* number in fit_boa.epochs; FIT_NO_WIDTH where items are classes */
	size_t at, n;		/* vertices, cheapest first */
};

struct fit_boa_edge {
	double mu;		/* price: seconds of summed completion time for a unit of cost */
	double cost, time;	/* what the edge adds to the cost, and takes from the summed weighted time, a second */
	uint32_t item, from;	/* from vertex `from` of the item to the next one */
};

struct fit_boa_frontier {
	struct fit_boa_item *items;
	size_t n_items, cap_items;
	struct fit_boa_vertex *vertices;
	size_t n_vertices, cap_vertices;
	struct fit_boa_edge *edges;	/* largest mu first; then by class, epoch, vertex */
	size_t n_edges;
	double *budget, *jct;		/* at the n_edges + 1 breakpoints: cost, mean completion time */
	size_t *plans;			/* numbers of widths */
	size_t n_plans, cap_plans;
	uint64_t paths;			/* shortest paths that were solved */
};

/* The whole frontier, without a grid. FIT_ENOMEM. */
int fit_boa_frontier_build(struct fit_boa_frontier *f, const struct fit_boa *b,
			   struct fit_err *err) FIT_MUST_CHECK;
void fit_boa_frontier_release(struct fit_boa_frontier *f);

/* ---- solutions ---- */

enum fit_boa_method { FIT_BOA_MIXED, FIT_BOA_PURE, FIT_BOA_MICP, FIT_BOA_HEURISTIC };
const char *fit_boa_method_name(enum fit_boa_method m);

struct fit_boa_plan {
	size_t class_no;
	double share;		/* of the jobs of the class */
	size_t *widths;		/* numbers of widths, one an epoch */
};

struct fit_boa_solution {
	enum fit_boa_method method;
	double budget, cost, mean_jct_s, rescales_per_job;
	double bound_s;			/* the dual value at mu: nothing of fixed width is below */
	double gap;			/* mean_jct_s / bound_s - 1, at least 0 */
	double mu, mu_before, mu_after;	/* see docs/formats/boa.md */
	bool limited;			/* the search stopped at its limit: perhaps not the best, the gap holds */
	int64_t nodes;
	struct fit_boa_plan *plans;	/* by class; of two of one class the cheaper one first */
	size_t n_plans;
	/* the mixed class, when n_plans > n_classes */
	size_t mixed_class, mixed_epoch;	/* FIT_NO_WIDTH: none, or they differ in several epochs */
	size_t width_lo, width_hi;		/* in mixed_epoch */
	size_t vertex_lo, vertex_hi;		/* where items are classes; else FIT_NO_WIDTH */
	double share_hi;
};

void fit_boa_solution_release(struct fit_boa_solution *s);

/* The smallest cost of any plan is frontier.budget[0]; a budget that falls short of it by less
 * than this share is taken for it, and one that a cost exceeds by less is met. */
#define FIT_BOA_SLACK 1e-12

/* Is budget feasible? FIT_EDATA: no; the message names the smallest budget that is, and the
 * classes that make it so, the dearest first. */
int fit_boa_feasible(const struct fit_boa *b, const struct fit_boa_frontier *f, double budget,
		     struct fit_err *err) FIT_MUST_CHECK;

/* The mixed optimum: at most one class has two plans. FIT_EDATA as fit_boa_feasible(). */
int fit_boa_solve(struct fit_boa_solution *s, const struct fit_boa *b, const struct fit_boa_frontier *f,
		  double budget, struct fit_err *err) FIT_MUST_CHECK;

/* The best one plan a class (the paper's problem), by bound and label enumeration.
 * max_labels: stop when so many partial plans are held; the best plan so far is then returned,
 * with limited set. */
int fit_boa_pure(struct fit_boa_solution *s, const struct fit_boa *b, const struct fit_boa_frontier *f,
		 double budget, size_t max_labels, struct fit_err *err) FIT_MUST_CHECK;

/* The same by the paper's mixed-integer programme and GLPK. Where fixing, widths whose reduced
 * cost is above the distance of a known plan from the bound are left out of it. max_nodes: of
 * the search tree. */
int fit_boa_micp(struct fit_boa_solution *s, const struct fit_boa *b, const struct fit_boa_frontier *f,
		 double budget, bool fixing, int64_t max_nodes, struct fit_err *err) FIT_MUST_CHECK;

/* A sequence of convex problems: runs of epochs that share a width are merged as long as that
 * pays. The answer is mixed; its gap to the exact optimum is what it is worth as a
 * check. */
int fit_boa_heuristic(struct fit_boa_solution *s, const struct fit_boa *b,
		      const struct fit_boa_frontier *f, double budget, struct fit_err *err) FIT_MUST_CHECK;

/* ---- for those that make solutions ---- */

/* Cost, time (seconds) and changes of width of a job of a class with these widths, one an epoch. */
struct fit_boa_path {
	struct fit_dd cost, time;
	int64_t rescales;
};
struct fit_boa_path fit_boa_path_of(const struct fit_boa *b, size_t class_no, const size_t *widths);

/* The dual value at price mu >= 0: (sum_i lambda_i min over plans of (w_i T + mu C) - mu budget) / total. */
int fit_boa_dual(const struct fit_boa *b, double mu, double budget, double *value,
		 struct fit_err *err) FIT_MUST_CHECK;

/* The numbers of the vertices that are in use at breakpoint e: one an item; *at (free it) gets them. */
int fit_boa_vertices_at(const struct fit_boa_frontier *f, size_t e, uint32_t **at,
			struct fit_err *err) FIT_MUST_CHECK;
/* The breakpoint at or below the budget, which is feasible. */
size_t fit_boa_breakpoint(const struct fit_boa_frontier *f, double budget);
/* The widths of a class where its items are at these vertices. */
void fit_boa_widths_at(const struct fit_boa *b, const struct fit_boa_frontier *f, const uint32_t *at,
		       size_t class_no, size_t *widths);
/* Memory for n plans with room for their widths, class by class: plan i of class classes[i]. */
int fit_boa_plans_new(struct fit_boa_solution *s, const struct fit_boa *b, const size_t *classes,
		      size_t n, struct fit_err *err) FIT_MUST_CHECK;
/* From plans and budget: cost, mean_jct_s, rescales_per_job; and with the prices at the budget
 * bound_s and gap. */
int fit_boa_appraise(struct fit_boa_solution *s, const struct fit_boa *b,
		     const struct fit_boa_frontier *f, struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
