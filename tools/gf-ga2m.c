/* SPDX-License-Identifier: MIT */
/*
 * gf-ga2m: generalised additive models with pairwise interactions, whose every part is a table that can be
 * read: training, prediction, explanation, editing, updating, checking. The jobs are in tools/ga2m_*.c, the
 * mathematics in libfit/model/ga2m*.
 */
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

static const struct cli_verb verbs[] = {
	{ "train", "[FILE]", "make a model of the column --target", ga2m_train_options, 0, 1,
	  .run = ga2m_train, .defaults = ga2m_train_defaults },
	{ "predict", "[FILE]", "what a model says of the rows of FILE", ga2m_predict_options, 0, 1,
	  .run = ga2m_predict },
	{ "explain", "[FILE]", "predictions as sums of terms; or one term, or what all are worth",
	  ga2m_explain_options, 0, 1, .run = ga2m_explain, .defaults = ga2m_explain_defaults },
	{ "edit", "[MODEL]", "pin, smooth, flatten terms, make them monotone", ga2m_edit_options, 0, 1,
	  .run = ga2m_edit },
	{ "update", "[FILE]", "go on with fresh rows, and say what moved", ga2m_update_options, 0, 1,
	  .run = ga2m_update, .defaults = ga2m_update_defaults },
	{ "check", "[MODEL]", "find silly shapes, and rows unlike those of training", ga2m_check_options, 0, 1,
	  .run = ga2m_check, .defaults = ga2m_check_defaults },
	{ "convert", "[MODEL]", "a model from JSON to tables, to JSON, or to C", ga2m_convert_options, 0, 1,
	  .run = ga2m_convert },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-ga2m", "Generalised additive models with pairs: train, predict, explain, edit, update, check.",
	"FILE is a table or comma-separated text. MODEL is a set of tables, or a NAME.json.",
	verbs
};

int main(int argc, char **argv)
{
	union options o = { 0 };

	return cli_main(&tool, argc, argv, &o);
}
