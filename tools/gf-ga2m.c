/* SPDX-License-Identifier: MIT */
/*
 * gf-ga2m: generalised additive models with pairwise interactions, whose every part is a table that can be
 * read: training, prediction, explanation, editing, updating, checking. The jobs are in tools/ga2m_*.c, the
 * mathematics in libfit/model/ga2m*.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/ga2m_parts.h"

/* Options of one verb at a time are filled in. */
union options {
	struct ga2m_train_options train;
	struct ga2m_predict_options predict;
	struct ga2m_explain_options explain;
	struct ga2m_edit_options edit;
	struct ga2m_update_options update;
	struct ga2m_check_options check;
	struct ga2m_convert_options convert;
};

enum { TRAIN, PREDICT, EXPLAIN, EDIT, UPDATE, CHECK, CONVERT };

static const struct cli_verb verbs[] = {
	[TRAIN] = { "train", "[FILE]", "make a model of the column --target", ga2m_train_options, 0, 1 },
	[PREDICT] = { "predict", "[FILE]", "what a model says of the rows of FILE", ga2m_predict_options, 0, 1 },
	[EXPLAIN] = { "explain", "[FILE]", "predictions as sums of terms; or one term, or what all are worth",
		      ga2m_explain_options, 0, 1 },
	[EDIT] = { "edit", "[MODEL]", "pin, smooth, flatten terms, make them monotone", ga2m_edit_options, 0, 1 },
	[UPDATE] = { "update", "[FILE]", "go on with fresh rows, and say what moved", ga2m_update_options, 0, 1 },
	[CHECK] = { "check", "[MODEL]", "find silly shapes, and rows unlike those of training",
		ga2m_check_options, 0,
		    1 },
	[CONVERT] = { "convert", "[MODEL]", "a model from JSON to tables, to JSON, or to C",
		ga2m_convert_options, 0, 1 },
	{ NULL, NULL, NULL, NULL, 0, 0 }
};

static const struct cli_tool tool = {
	"gf-ga2m", "Generalised additive models with pairs: train, predict, explain, edit, update, check.",
	"FILE is a table or comma-separated text. MODEL is a set of tables, or a NAME.json.",
	verbs
};

static int run(struct cli *cli, union options *o)
{
	switch (cli->verb - verbs) {
	case TRAIN:
		return ga2m_train(cli, &o->train);
	case PREDICT:
		return ga2m_predict(cli, &o->predict);
	case EXPLAIN:
		return ga2m_explain(cli, &o->explain);
	case EDIT:
		return ga2m_edit(cli, &o->edit);
	case UPDATE:
		return ga2m_update(cli, &o->update);
	case CHECK:
		return ga2m_check(cli, &o->check);
	default:
		return ga2m_convert(cli, &o->convert);
	}
}

static void release(const struct cli *cli, union options *o)
{
	switch (cli->verb - verbs) {
	case TRAIN:
		free(o->train.nominal.items);
		free(o->train.feature.items);
		free(o->train.exclude.items);
		free(o->train.pair.items);
		free(o->train.shape.items);
		break;
	case EDIT:
		free(o->edit.edit.items);
		break;
	case CHECK:
		free(o->check.shape.items);
		break;
	default:
		break;
	}
}

int main(int argc, char **argv)
{
	union options o = { 0 };
	struct cli cli;
	int rc;

	if (argc > 1 && strcmp(argv[1], "train") == 0)
		ga2m_train_defaults(&o.train);
	else if (argc > 1 && strcmp(argv[1], "update") == 0)
		ga2m_update_defaults(&o.update);
	else if (argc > 1 && strcmp(argv[1], "check") == 0)
		ga2m_check_defaults(&o.check);
	else if (argc > 1 && strcmp(argv[1], "explain") == 0)
		o.explain.top = -1;
	rc = cli_start(&cli, &tool, argc, argv, &o);
	if (rc >= 0)
		return rc;
	rc = run(&cli, &o);
	release(&cli, &o);
	return cli_finish(&cli, rc);
}
