/* SPDX-License-Identifier: MIT */
/*
 * Outputs of a replay besides its log. In a plan such an option has a name, not a file: each row has a file
 * of its own beside its result, FOLDER/HASH.NAME.
 */
#ifndef TOOLS_SWEEP_SIDES_H
#define TOOLS_SWEEP_SIDES_H

#include <stdbool.h>
#include <stddef.h>

#include "libfit/base/status.h"
#include "tools/sweep_plan.h"
#include "tools/sweep_words.h"

/* Does word i of a command line of gf-replay hold the name of such an output? It starts at *at. */
bool sweep_side(const struct sweep_words *words, size_t i, size_t *at);
/* FIT_EINVAL: a name that is none, or that two outputs have, or an option that is not spelled out. */
int sweep_sides_check(const struct sweep_words *words, struct fit_err *err) FIT_MUST_CHECK;
/* RESULT without .tsv, and .NAME. FIT_ENOMEM. */
int sweep_side_file(struct fit_str *s, const char *result, const char *name) FIT_MUST_CHECK;

/* Let the outputs of a command line be files of that slot. FIT_ENOMEM. */
int sweep_sides_redirect(struct sweep_words *words, const struct fit_str *scratch, size_t slot,
			 struct fit_err *err) FIT_MUST_CHECK;
/* Put the outputs of a row where they belong, unless they are to be dropped, and empty the slot. FIT_EIO. */
int sweep_sides_place(const struct sweep_row *row, const struct fit_str *scratch, size_t slot, bool drop,
		      struct fit_err *err) FIT_MUST_CHECK;
/* Are all outputs of a row there? */
bool sweep_sides_there(const struct sweep_row *row);

#endif
