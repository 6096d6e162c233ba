/* SPDX-License-Identifier: MIT */
/* Parts of gf-tree that are files of their own. */
#ifndef TOOLS_TREE_PARTS_H
#define TOOLS_TREE_PARTS_H

#include "libfit/model/tree.h"
#include "tools/common/cli.h"

/* What FILE being comma-separated says in every table of options; o is the options struct. */
#define TREE_CSV_OPTION(o)                                                                        \
	{ 0, "csv", CLI_FLAG, offsetof(o, csv), NULL, NULL,                                       \
	  "FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0, 0, 0 }
#define TREE_NO_OPTION { 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }

/* A model from tables, or from JSON where the name of the operand ends in .json; and back, with the path
 * and the cross-validation, either of which may be NULL. hash is that of what it was made of. */
int tree_read_model(struct fit_tree *t, const char *operand, char hash[FIT_HASH_HEX],
		    struct fit_err *err) FIT_MUST_CHECK;
int tree_write_model(const struct cli *cli, const struct fit_tree *t, const struct fit_tree_path *path,
		     const struct fit_tree_cv *cv, const char *hash, struct fit_err *err) FIT_MUST_CHECK;

/* Each returns an exit status, as run() of a tool. */
struct tree_predict_options {
	const char *model, *id;
	bool leaf, shares, csv;
};
extern const struct cli_option tree_predict_options[];
int tree_predict(struct cli *cli, void *given);

struct tree_print_options {
	int format;
	int64_t digits, explain;	/* -1: not given */
	bool weights, csv;
	const char *name, *rows;
};
extern const struct cli_option tree_print_options[];
void tree_print_defaults(void *given);
int tree_print(struct cli *cli, void *given);

#endif
