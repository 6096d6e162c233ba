/* SPDX-License-Identifier: MIT */
/* gf-lucid score: the packing analyse model. */
#ifndef TOOLS_LUCID_SCORE_H
#define TOOLS_LUCID_SCORE_H

#include "tools/common/cli.h"

enum lucid_score_output { SCORE_ACCURACY, SCORE_LABELS, SCORE_TREE, SCORE_TEXT };
extern const char *const lucid_score_outputs[];		/* ends with NULL */

struct lucid_score_options {
	const char *pairs;	/* NULL: no labels follow from them, and there are no features of theirs */
	int output;
};

extern const struct cli_option lucid_score_options[];
int lucid_score(struct cli *cli, void *given);	/* given: struct lucid_score_options; the exit status */

#endif
