/* SPDX-License-Identifier: MIT */
/* Which profiles a tool read, as metadata of what it writes. */
#ifndef TOOLS_PROFILE_META_H
#define TOOLS_PROFILE_META_H

#include "libfit/model/profile_set.h"
#include "libfit/table/table.h"

/* input_profile=HASH, or input_profile_TYPE=HASH of each GPU type, with _ for what a key cannot hold. */
int profile_meta_add(struct fit_meta *meta, const struct fit_profile_set *profiles) FIT_MUST_CHECK;

#endif
