/* SPDX-License-Identifier: MIT */
/*
 * gf-boa: fixed-width scheduling under a budget. The whole frontier of cost and completion
 * time, the plans for a budget (mixed optimum, best pure plans, integer programme, heuristic),
 * and their certificate.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/boa.h"
#include "libfit/model/boa_certify.h"
#include "tools/boa_parts.h"

struct options {
	const char *classes, *speedups;
	struct cli_list prices, budgets;
	bool free_rescale, charge_start, drop_bad, vertices, summary, no_fixing;
	int routing, plans, method;
	int64_t max_labels, max_nodes;
	double mu, budget, tolerance;
};

#define R CLI_RESULT
#define AT(field) offsetof(struct options, field)
#define COUNT(a) (sizeof(a) / sizeof *(a))
#define END { 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }

static const char *const routings[] = { "epoch", "class", NULL };
static const char *const plan_kinds[] = { "mixed", "pure", NULL };
static const char *const methods[] = { "exact", "micp", "heuristic", NULL };

#define PROBLEM                                                                                     \
	{ 0, "classes", CLI_TEXT, AT(classes), "FILE", NULL, "arrival rates, rescale times, weights", \
	  NULL, 0, 0, CLI_REQUIRED | CLI_INPUT },                                                   \
	{ 0, "gpu-price", CLI_LIST, AT(prices), "TYPE=X", "1",                                      \
	  "price of a GPU; for each type, or for none", NULL, 0, 0, R },                            \
	{ 0, "free-rescale", CLI_FLAG, AT(free_rescale), NULL, NULL,                                \
	  "changes of width cost nothing", NULL, 0, 0, R },                                         \
	{ 0, "charge-start", CLI_FLAG, AT(charge_start), NULL, NULL,                                \
	  "the first start costs the rescale time, too", NULL, 0, 0, R },                           \
	{ 0, "routing", CLI_CHOICE, AT(routing), "WHAT", "class, or epoch where rescaling is free", \
	  "what keeps its GPU type: each epoch by itself, or a whole job", routings, 0, 0, R },     \
	{ 0, "drop-bad", CLI_FLAG, AT(drop_bad), NULL, NULL,                                        \
	  "negative, infinite and nan speeds: leave the width out, and count", NULL, 0, 0, R }

static const struct cli_option frontier_options[] = {
	PROBLEM,
	{ 0, "vertices", CLI_FLAG, AT(vertices), NULL, NULL,
	  "what the edges lead from and to, in place of the breakpoints", NULL, 0, 0, R },
	END
};

static const struct cli_option solve_options[] = {
	PROBLEM,
	{ 'b', "budget", CLI_LIST, AT(budgets), "B", NULL,
	  "mean number of GPUs, or money an hour; several with --summary", NULL, 0, 0,
	  R | CLI_REQUIRED },
	{ 0, "plans", CLI_CHOICE, AT(plans), "KIND", "mixed",
	  "whether one class may have two plans, or each has one", plan_kinds, 0, 0, R },
	{ 0, "method", CLI_CHOICE, AT(method), "NAME", "exact",
	  "how: by bounds, by GLPK (for pure plans), or by convex problems", methods,
	  0, 0, R },
	{ 0, "summary", CLI_FLAG, AT(summary), NULL, NULL, "one row a budget in place of the plans", NULL,
	  0, 0, R },
	{ 0, "max-labels", CLI_INT, AT(max_labels), "N", "20000000",
	  "pure: partial plans to hold before it stops", NULL, 1000, 1e10, R },
	{ 0, "max-nodes", CLI_INT, AT(max_nodes), "N", "100000", "micp: search nodes before it stops",
	  NULL, 1, 1e12, R },
	{ 0, "no-fixing", CLI_FLAG, AT(no_fixing), NULL, NULL,
	  "micp: every width is in the programme, also where a bound rules it out", NULL, 0, 0, R },
	END
};

static const struct cli_option certify_options[] = {
	{ 0, "speedups", CLI_TEXT, AT(speedups), "FILE", NULL, "table of speedups", NULL, 0, 0,
	  CLI_REQUIRED | CLI_INPUT },
	{ 0, "classes", CLI_TEXT, AT(classes), "FILE", NULL, "arrival rates, rescale times, weights",
	  NULL, 0, 0, CLI_REQUIRED | CLI_INPUT },
	{ 'b', "budget", CLI_REAL, AT(budget), "B", "as the plans say", "budget to certify for", NULL, 0,
	  1e300, R },
	{ 0, "mu", CLI_REAL, AT(mu), "X", "as the plans say", "dual price", NULL, 0, 1e300, R },
	{ 0, "tolerance", CLI_REAL, AT(tolerance), "X", "1e-12", "largest relative gap", NULL, 0, 10, R },
	{ 0, "gpu-price", CLI_LIST, AT(prices), "TYPE=X", "as the plans say", "price of a GPU", NULL, 0,
	  0, R },
	{ 0, "drop-bad", CLI_FLAG, AT(drop_bad), NULL, NULL,
	  "negative, infinite and nan speeds: leave the width out, and count", NULL, 0, 0, R },
	END
};

/* ---- options ---- */

/* 0, or an exit status. */
static int take_prices(struct cli *cli, const struct cli_list *given, struct boa_prices *p)
{
	struct fit_err err;
	int rc = boa_prices_take(p, given, &err);

	return rc == FIT_EINVAL ? cli_usage(cli, "%s", err.msg) : rc ? cli_error(cli, &err) : 0;
}

static int take_budgets(struct cli *cli, const struct options *o, double **budgets)
{
	struct fit_err err;

	if (o->budgets.n > 1 && !o->summary)
		return cli_usage(cli, "several budgets need --summary");
	if (o->plans == 0 && o->method == 1)
		return cli_usage(cli, "--method micp finds pure plans (expected --plans pure)");
	if (o->plans == 1 && o->method == 2)
		return cli_usage(cli, "--method heuristic finds mixed plans (expected --plans mixed)");
	*budgets = calloc(o->budgets.n + 1, sizeof **budgets);
	if (!*budgets) {
		fit_fail_nomem(&err);
		return cli_error(cli, &err);
	}
	for (size_t i = 0; i < o->budgets.n; i++)
		if (fit_parse_double(fit_text_of(o->budgets.items[i]), &(*budgets)[i]) ||
		    !((*budgets)[i] > 0))
			return cli_usage(cli, "bad value '%s' for --budget (expected a positive number)",
					 o->budgets.items[i]);
	return 0;
}

/* ---- the problem ---- */

static void data_release(struct boa_data *d)
{
	boa_prices_release(&d->prices);
	fit_boa_frontier_release(&d->frontier);
	fit_boa_release(&d->boa);
	fit_meta_release(&d->inputs);
	free(d->budgets);
}

static bool is_charged(const struct fit_boa *b)
{
	for (size_t i = 0; i < b->n_classes * b->n_types; i++)
		if (b->rescale_s[i] > 0)
			return true;
	return false;
}

static void say_dropped(const struct cli *cli, const struct fit_speedups *s)
{
	if (s->dropped)
		cli_warn(cli, "%llu speeds that are negative or not finite: widths left out",
			 (unsigned long long)s->dropped);
}

/* Where the cheapest width is not the least one: a larger one is faster by GPU. */
static void say_superlinear(const struct cli *cli, const struct boa_data *d)
{
	const struct fit_boa *b = &d->boa;

	if (!cli->verbose || b->by_path)
		return;
	for (size_t j = 0; j < b->n_epochs; j++) {
		const struct fit_boa_item *item = &d->frontier.items[j];
		const struct fit_width *w = &b->widths[d->frontier.vertices[item->at].ref];
		const struct fit_width *least = &b->widths[b->epochs[j].at];

		if (w->type == least->type && w->gpus != least->gpus)
			cli_note(cli, "class '%s', epoch %zu: %lld GPUs are cheaper than %lld",
				 b->classes[item->class_no].name, j - b->classes[item->class_no].at,
				 (long long)w->gpus, (long long)least->gpus);
	}
}

static int build(struct cli *cli, const struct options *o, struct boa_data *d, struct fit_err *err)
{
	struct fit_boa_params params = { d->prices.list, d->prices.n, o->free_rescale, o->charge_start,
					 o->routing == 1 };
	struct fit_speedups s = { 0 };
	struct fit_boa_classes classes = { 0 };
	int rc = fit_speedups_read(&s, cli_operand(cli, 0), o->drop_bad, err);

	if (!rc)
		rc = fit_boa_classes_read(&classes, o->classes, err);
	if (!rc)
		say_dropped(cli, &s);
	for (size_t i = 0; i < classes.n && o->routing < 0 && !o->free_rescale; i++)
		params.by_class = params.by_class || classes.rows[i].rescale_s > 0;
	if (!rc)
		rc = fit_boa_build(&d->boa, &s, &classes, &params, err);
	if (!rc && (cli_meta_input(&d->inputs, NULL, s.hash) ||
		    cli_meta_input(&d->inputs, "classes", classes.hash)))
		rc = fit_fail_nomem(err);
	fit_speedups_release(&s);
	fit_boa_classes_release(&classes);
	if (!rc)
		rc = fit_boa_frontier_build(&d->frontier, &d->boa, err);
	if (rc)
		return rc;
	d->charged = is_charged(&d->boa);
	cli_note(cli, "%zu classes, %zu epochs, %zu widths, %zu edges, %llu shortest paths",
		 d->boa.n_classes, d->boa.n_epochs, d->boa.n_widths, d->frontier.n_edges,
		 (unsigned long long)d->frontier.paths);
	say_superlinear(cli, d);
	return FIT_OK;
}

/* ---- solve ---- */

static int solve_one(const struct cli *cli, const struct options *o, const struct boa_data *d, double budget,
		     struct fit_boa_solution *s, struct fit_err *err)
{
	int rc;

	if (o->method == 1)
		rc = fit_boa_micp(s, &d->boa, &d->frontier, budget, !o->no_fixing, o->max_nodes, err);
	else if (o->method == 2)
		rc = fit_boa_heuristic(s, &d->boa, &d->frontier, budget, err);
	else if (o->plans == 1)
		rc = fit_boa_pure(s, &d->boa, &d->frontier, budget, (size_t)o->max_labels, err);
	else
		rc = fit_boa_solve(s, &d->boa, &d->frontier, budget, err);
	if (!rc && s->limited)
		cli_warn(cli, "budget %.17g: the search stopped at its limit; what it has is within %.3g %% of "
			      "the bound", budget, 100 * s->gap);
	return rc;
}

static int solve(const struct cli *cli, const struct options *o, const struct boa_data *d,
		 struct fit_err *err)
{
	struct fit_writer *w = NULL;
	int rc = FIT_OK;

	if (o->summary)
		rc = boa_open_table(cli, d, NULL, boa_summary_fields, boa_n_summary_fields, &w, err);
	for (size_t i = 0; i < o->budgets.n && !rc; i++) {
		struct fit_boa_solution s = { 0 };

		rc = solve_one(cli, o, d, d->budgets[i], &s, err);
		if (!rc && o->summary)
			rc = boa_write_summary_row(w, d, &s, err);
		if (!rc && !o->summary)
			rc = boa_open_table(cli, d, &s, fit_boa_plan_columns, fit_boa_plan_n_columns, &w, err);
		if (!rc && !o->summary)
			rc = fit_boa_plans_write(w, &d->boa, &s, err);
		if (!rc)
			cli_note(cli, "budget %.17g: cost %.17g, mean completion time %.17g s, gap %.3g",
				 s.budget, s.cost, s.mean_jct_s, s.gap);
		fit_boa_solution_release(&s);
	}
	return cli_writer_end(w, rc, err);
}

/* ---- certify ---- */

static int certify(struct cli *cli, const struct options *o, const struct boa_prices *prices,
		   struct fit_err *err, bool *holds)
{
	static const struct fit_field fields[] = {
		{ "check", FIT_TEXT, 0 }, { "value", FIT_REAL, 0 }, { "limit", FIT_REAL, 0 },
		{ "verdict", FIT_TEXT, 0 }, { "class", FIT_TEXT, 0 }, { "epoch", FIT_INT, 0 },
		{ "gpus", FIT_INT, 0 }
	};
	struct fit_boa_certify_params params = { o->budget, o->mu, o->tolerance, prices->list, prices->n };
	struct fit_boa_plan_table plans = { 0 };
	struct fit_boa_certificate c = { 0 };
	struct fit_boa_classes classes = { 0 };
	struct fit_speedups s = { 0 };
	struct fit_meta meta = { 0 };
	struct fit_writer *w = NULL;
	int rc = fit_boa_plan_table_read(&plans, cli_operand(cli, 0), err);

	if (!rc)
		rc = fit_speedups_read(&s, o->speedups, o->drop_bad, err);
	if (!rc)
		rc = fit_boa_classes_read(&classes, o->classes, err);
	if (!rc)
		say_dropped(cli, &s);
	if (!rc)
		rc = fit_boa_certify(&c, &plans, &s, &classes, &params, err);
	if (!rc && (cli_meta(cli, &meta, false) || cli_meta_input(&meta, NULL, plans.hash) ||
		    cli_meta_input(&meta, "speedups", s.hash) ||
		    cli_meta_input(&meta, "classes", classes.hash)))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : cli_table_begin(cli, &w, NULL, &meta, rc, fields, COUNT(fields), err);
	*holds = true;
	for (size_t i = 0; i < c.n && !rc; i++) {
		const struct fit_boa_check *k = &c.checks[i];

		*holds = *holds && (!k->judged || k->holds);
		fit_writer_str(w, k->name);
		fit_writer_real(w, k->value);
		if (k->judged)
			fit_writer_real(w, k->limit);
		else
			fit_writer_na(w);
		fit_writer_str(w, !k->judged ? NULL : k->holds ? "holds" : "fails");
		fit_writer_str(w, k->class_no == FIT_NO_WIDTH ? NULL : s.classes[k->class_no].name);
		boa_put_number(w, k->epoch);
		boa_put_number(w, k->gpus);
		rc = fit_writer_end_row(w, err);
	}
	rc = cli_writer_end(w, rc, err);
	fit_meta_release(&meta);
	fit_speedups_release(&s);
	fit_boa_classes_release(&classes);
	fit_boa_plan_table_release(&plans);
	return rc;
}

/* ---- the tool ---- */

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	const char *verb = cli->verb->name;
	struct boa_data d = { 0 };
	struct fit_err err = { 0 };
	bool holds = true;
	int status = take_prices(cli, &o->prices, &d.prices), rc = FIT_OK;

	if (!status && !strcmp(verb, "solve"))
		status = take_budgets(cli, o, &d.budgets);
	if (status) {
		data_release(&d);
		return status;
	}
	if (!strcmp(verb, "certify"))
		rc = certify(cli, o, &d.prices, &err, &holds);
	else
		rc = build(cli, o, &d, &err);
	if (!rc && !strcmp(verb, "frontier"))
		rc = o->vertices ? boa_write_vertices(cli, &d, &err) : boa_write_frontier(cli, &d, &err);
	if (!rc && !strcmp(verb, "solve"))
		rc = solve(cli, o, &d, &err);
	data_release(&d);
	if (rc)
		return cli_error(cli, &err);
	return holds ? CLI_EXIT_OK : CLI_EXIT_DATA;
}

static const struct cli_verb verbs[] = {
	{ "frontier", "[SPEEDUPS]", "every breakpoint of cost and completion time", frontier_options, 0, 1,
	  .run = run },
	{ "solve", "[SPEEDUPS]", "the widths for a budget", solve_options, 0, 1, .run = run },
	{ "certify", "[PLANS]", "are plans feasible and optimal? From the tables and a price alone",
	  certify_options, 0, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-boa", "Fixed widths for classes of jobs under a budget: frontier, plans, certificate.",
	"SPEEDUPS is a table of gf-speedup, PLANS one of gf-boa solve; see docs/formats/boa.md.", verbs
};

int main(int argc, char **argv)
{
	struct options o = { .routing = -1, .mu = -1, .budget = -1, .tolerance = 1e-12,
			     .max_labels = 20000000, .max_nodes = 100000 };

	return cli_main(&tool, argc, argv, &o);
}
