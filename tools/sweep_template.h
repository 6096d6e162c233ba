/* SPDX-License-Identifier: MIT */
/* The command lines of a sweep as they are given, with placeholders: cut into words, and checked. */
#ifndef TOOLS_SWEEP_TEMPLATE_H
#define TOOLS_SWEEP_TEMPLATE_H

#include "tools/sweep_plan.h"

/* One --prepare. */
struct sweep_template {
	char *name;
	struct sweep_words words;	/* the tool first */
};

struct sweep_templates {
	struct sweep_template *prepare;
	size_t n_prepare;
	struct sweep_words replay, metrics;	/* the tool first */
	bool *placed;		/* of each axis: a placeholder names it, so it is no option of gf-replay */
};

/* FIT_EINVAL: a name that is bad or there twice, a command that is no tool of ours, needs what comes later or
 * names its output; an axis that is an option of the replay as well. */
int sweep_templates_read(struct sweep_templates *all, const struct sweep_spec *spec,
			 struct fit_err *err) FIT_MUST_CHECK;
void sweep_templates_release(struct sweep_templates *all);

#endif
