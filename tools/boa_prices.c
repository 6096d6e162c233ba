/* SPDX-License-Identifier: MIT */
#include "tools/boa_prices.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

static int take(struct boa_prices *p, const char *text)
{
	const char *eq = strrchr(text, '=');
	struct fit_text name = { text, eq ? (size_t)(eq - text) : 0 };
	double v;

	if (fit_parse_double(fit_text_of(eq ? eq + 1 : text), &v) || !(v >= FIT_PRICE_MIN) || v > FIT_PRICE_MAX)
		return FIT_EINVAL;
	for (size_t i = 0; i < p->n; i++)
		if (fit_text_is(name, p->names[i]))
			return FIT_EINVAL;
	p->names[p->n] = fit_strdup(name);
	if (!p->names[p->n])
		return FIT_ENOMEM;
	p->list[p->n] = (struct fit_boa_price){ p->names[p->n], v };
	p->n++;
	return FIT_OK;
}

int boa_prices_take(struct boa_prices *p, const struct cli_list *given, struct fit_err *err)
{
	p->list = calloc(given->n + 1, sizeof *p->list);
	p->names = calloc(given->n + 1, sizeof *p->names);
	if (!p->list || !p->names)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < given->n; i++) {
		int rc = take(p, given->items[i]);

		if (rc == FIT_EINVAL)
			return fit_fail(err, FIT_EINVAL, "bad value '%s' for --gpu-price (expected TYPE=X with a positive "
					"number, each type once)", given->items[i]);
		if (rc)
			return fit_fail_nomem(err);
	}
	return FIT_OK;
}

void boa_prices_release(struct boa_prices *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->names[i]);
	free(p->list);
	free(p->names);
}
