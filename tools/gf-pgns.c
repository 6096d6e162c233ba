/* SPDX-License-Identifier: MIT */
/*
 * gf-pgns: the gradient noise scale. Logs of squared gradient norms become estimates, window by
 * window; `fit` makes curves over training, of estimates or of the runs of a profile store;
 * `predict` gives phi and statistical efficiency at batch sizes that were not run, or, with a
 * profile store, says how far such predictions are from the runs that there are.
 */
#include <string.h>

#include "libfit/model/pgns_curve.h"
#include "tools/pgns_parts.h"

#define R CLI_RESULT
#define AT(field) offsetof(struct pgns_options, field)
#define OPTION_APP                                                                                 \
	{                                                                                          \
		0, "app", CLI_LIST, AT(app), "NAME", NULL,                                         \
			"this application only; may be repeated", NULL, 0, 0, R                    \
	}
#define OPTION_CSV                                                                                 \
	{                                                                                          \
		0, "csv", CLI_FLAG, AT(csv), NULL, NULL,                                           \
			"FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0,   \
			0, 0                                                                       \
	}
#define OPTION_PENALTY                                                                             \
	{                                                                                          \
		0, "penalty", CLI_REAL, AT(penalty), "X", "3",                                     \
			"cost of a piece of a curve, in units of log n; 0: through every point",   \
			NULL, 0, 1e6, R                                                            \
	}
#define OPTION_END                                                                                 \
	{                                                                                          \
		0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0                              \
	}

static const struct cli_option estimate_options[] = {
	{ 0, "window", CLI_INT, AT(window), "N", "100", "steps of a window; 0: all of them", NULL,
	  0, 1e15, R },
	{ 0, "by-epoch", CLI_FLAG, AT(by_epoch), NULL, NULL, "windows are the epochs of the log",
	  NULL, 0, 0, R },
	{ 0, "smooth", CLI_REAL, AT(smooth), "X", NULL,
	  "exponential averages; what a step at the initial batch size leaves of those before",
	  NULL, 1e-6, 0.99999999, R },
	{ 0, "init-batch", CLI_INT, AT(init_batch), "B", "of the first step",
	  "initial total batch size", NULL, 1, 1e12, R },
	{ 0, "skip-bad", CLI_INT, AT(skip_bad), "N", "0",
	  "leave out up to N bad records, and count them", NULL, 0, 1e15, R },
	OPTION_APP,
	OPTION_CSV,
	OPTION_END
};

static const struct cli_option fit_options[] = {
	{ 0, "profile", CLI_TEXT, AT(profile), "STORE", NULL,
	  "the training runs of a profile store in place of FILE", NULL, 0, 0, CLI_INPUT | CLI_INSTEAD },
	OPTION_PENALTY,
	{ 0, "pool", CLI_FLAG, AT(pool), NULL, NULL, "one curve for all batch sizes together", NULL,
	  0, 0, R },
	{ 0, "init-batch", CLI_INT, AT(init_batch), "B", "the column init_batch",
	  "initial total batch size", NULL, 1, 1e12, R },
	OPTION_APP,
	OPTION_CSV,
	OPTION_END
};

static const char *const by_names[] = { "app", "batch", "epoch", NULL };

static const struct cli_option predict_options[] = {
	{ 0, "curves", CLI_TEXT, AT(curves), "CURVES", NULL,
	  "predict the rows of FILE with the curves of gf-pgns fit", NULL, 0, 0, CLI_INPUT },
	{ 0, "profile", CLI_TEXT, AT(profile), "STORE", NULL,
	  "predict each run of a profile store from the others, and compare", NULL, 0, 0,
	  CLI_INPUT | CLI_INSTEAD },
	{ 0, "by", CLI_CHOICE, AT(by), "WHAT", "app", "a row for each of these", by_names, 0, 0,
	  R },
	{ 0, "from", CLI_INT, AT(from), "B", "all others",
	  "predict from the run at batch size B alone", NULL, 1, 1e12, R },
	OPTION_PENALTY,
	OPTION_APP,
	OPTION_CSV,
	OPTION_END
};

static int check_usage(struct cli *cli, const struct pgns_options *o)
{
	const char *verb = cli->verb->name;

	if (o->profile && cli->n_operands > 0)
		return cli_usage(cli, "both --profile and '%s' given (expected one input)",
				 cli->operands[0]);
	if (strcmp(verb, "predict") == 0) {
		if (!o->profile == !o->curves)
			return cli_usage(cli, "one of --curves and --profile is needed");
		if (o->curves && (o->from > 0 || o->by != PGNS_BY_APP))
			return cli_usage(cli, "--from and --by go with --profile only");
	}
	if (strcmp(verb, "fit") == 0 && o->profile && o->init_batch > 0)
		return cli_usage(cli, "--init-batch goes with FILE only");
	return 0;
}

static int run(struct cli *cli, void *given)
{
	const struct pgns_options *o = given;
	const char *verb = cli->verb->name;
	struct fit_writer *w = NULL;
	struct fit_err err;
	int status = check_usage(cli, o), rc;

	if (status)
		return status;
	rc = cli_writer_open(cli, &w, &err);
	if (!rc && strcmp(verb, "fit") == 0)
		rc = pgns_fit(cli, o, w, &err);
	else if (!rc && strcmp(verb, "predict") == 0)
		rc = o->profile ? pgns_compare(cli, o, w, &err) : pgns_predict(cli, o, w, &err);
	else if (!rc)
		rc = pgns_estimate(cli, o, w, &err);
	rc = cli_writer_end(w, rc, &err);
	return rc ? cli_error(cli, &err) : cli->status;
}

static const struct cli_verb verbs[] = {
	{ "", "[FILE]", "estimate the noise scale from a log of squared gradient norms",
	  estimate_options, 0, 1, .run = run },
	{ "fit", "[FILE]", "curves of the noise scale over training progress", fit_options, 0, 1, .run = run },
	{ "predict", "[FILE]", "noise scale and efficiency at batch sizes that were not run",
	  predict_options, 0, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-pgns", "The gradient noise scale: estimates, curves over training, efficiency.",
	"A log has the columns step, replicas, local_bsz, local_sqr, global_sqr, and optionally\n"
	"app, accum_steps, epoch, progress, prev_dot, prev_diff_sqr.",
	verbs
};

int main(int argc, char **argv)
{
	struct pgns_options o = { .window = 100, .penalty = FIT_PGNS_PENALTY };

	return cli_main(&tool, argc, argv, &o);
}
