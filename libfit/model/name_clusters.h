/* SPDX-License-Identifier: MIT */
/*
 * Job names that look alike, put together as they come.
 *
 * A name joins the group whose first name is nearest in edit distance, among those that begin with the same
 * byte, when that distance is at most a share of the longer of the two; else it is the first of a group of
 * its own. Of equally near ones the oldest is taken. So the group of a name depends on the names before it,
 * not on what comes later (the published script clusters all names at once, those of the future among them).
 */
#ifndef FIT_MODEL_NAME_CLUSTERS_H
#define FIT_MODEL_NAME_CLUSTERS_H

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

#define FIT_NAME_BYTES ((size_t)200)	/* of longer names only the start is compared */

struct fit_name_clusters {
	double share;			/* in [0, 1]; 0: only equal names go together */
	struct fit_index known;		/* name -> group */
	struct fit_name_group *groups;
	size_t n, cap;
	uint32_t first[256];		/* by first byte: 1 + the oldest group, 0: none */
	uint32_t last[256];
};

void fit_name_clusters_init(struct fit_name_clusters *c, double share);
void fit_name_clusters_release(struct fit_name_clusters *c);
/* The number of name's group, from 0 in order of appearance. FIT_ENOMEM. */
int fit_name_clusters_put(struct fit_name_clusters *c, struct fit_text name, uint32_t *group) FIT_MUST_CHECK;
/* The name that a group began with; borrowed. */
struct fit_text fit_name_clusters_text(const struct fit_name_clusters *c, uint32_t group);

/* Levenshtein's distance of two texts of at most FIT_NAME_BYTES bytes (what is behind is not looked at), in
 * bytes; limit + 1 when it is more than limit. */
size_t fit_edit_distance(struct fit_text a, struct fit_text b, size_t limit);

FIT_C_END

#endif
