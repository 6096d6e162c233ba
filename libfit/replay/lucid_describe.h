/* SPDX-License-Identifier: MIT */
/* What the policies lucid and horus leave in the metadata of a log: fit_policy.describe. */
#ifndef FIT_REPLAY_LUCID_DESCRIBE_H
#define FIT_REPLAY_LUCID_DESCRIBE_H

#include "libfit/replay/policy.h"

int fit_lucid_describe(const struct fit_policy_params *p, const struct fit_view *v, struct fit_meta *m);
int fit_horus_describe(const struct fit_policy_params *p, const struct fit_view *v, struct fit_meta *m);

#endif
