/* SPDX-License-Identifier: MIT */
/* Prices of GPU types, as the option --gpu-price of tools that compute widths has them. */
#ifndef TOOLS_BOA_PRICES_H
#define TOOLS_BOA_PRICES_H

#include "libfit/model/boa.h"
#include "tools/common/cli.h"

struct boa_prices {
	struct fit_boa_price *list;
	char **names;
	size_t n;
};

/* Each TYPE=X, or X alone for the type without a name. FIT_EINVAL: one is wrong, or there twice, in a
 * sentence for the command line. Release also on failure. */
int boa_prices_take(struct boa_prices *p, const struct cli_list *given, struct fit_err *err) FIT_MUST_CHECK;
void boa_prices_release(struct boa_prices *p);

#endif
