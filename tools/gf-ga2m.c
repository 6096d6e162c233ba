/* SPDX-License-Identifier: MIT */
/*
 * gf-ga2m: generalised additive models with pairwise interactions, whose every part is a table
 * that can be
 * read: training, and prediction. The jobs are in tools/ga2m_*.c, the mathematics in
 * libfit/model/ga2m*.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/ga2m_parts.h"

/* Options of one verb at a time are filled in. */
union options {
	struct ga2m_train_options train;
	struct ga2m_predict_options predict;
	struct ga2m_convert_options convert;
};

static const struct cli_verb verbs[] = {
	{ "train", "[FILE]", "make a model of the column --target", ga2m_train_options, 0, 1 },
	{ "predict", "[FILE]", "what a model says of the rows of FILE", ga2m_predict_options, 0, 1 },
	{ "convert", "[MODEL]", "a model from JSON to tables, or to JSON", ga2m_convert_options, 0, 1 },
	{ NULL, NULL, NULL, NULL, 0, 0 }
};

static const struct cli_tool tool = {
	"gf-ga2m", "Generalised additive models with pairs: train, predict, convert.",
	"FILE is a table or comma-separated text. A model is a set of tables.", verbs
};

static int run(struct cli *cli, union options *o)
{
	const char *verb = cli->verb->name;

	if (strcmp(verb, "train") == 0)
		return ga2m_train(cli, &o->train);
	if (strcmp(verb, "predict") == 0)
		return ga2m_predict(cli, &o->predict);
	return ga2m_convert(cli, &o->convert);
}

static void release(const struct cli *cli, union options *o)
{
	if (strcmp(cli->verb->name, "train") != 0)
		return;
	free(o->train.nominal.items);
	free(o->train.feature.items);
	free(o->train.exclude.items);
	free(o->train.pair.items);
	free(o->train.shape.items);
}

int main(int argc, char **argv)
{
	union options o = { 0 };
	struct cli cli;
	int rc;

	if (argc > 1 && strcmp(argv[1], "train") == 0)
		ga2m_train_defaults(&o.train);
	rc = cli_start(&cli, &tool, argc, argv, &o);
	if (rc >= 0)
		return rc;
	rc = run(&cli, &o);
	release(&cli, &o);
	return cli_finish(&cli, rc);
}
