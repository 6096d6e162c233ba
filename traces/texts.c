/* SPDX-License-Identifier: MIT */
#include "traces/texts.h"

#include <stdlib.h>
#include <string.h>

void fit_texts_release(struct fit_texts *t)
{
	fit_index_release(&t->index);
	free(t->at);
	free(t->bytes);
	*t = (struct fit_texts){ 0 };
}

int fit_texts_put(struct fit_texts *t, struct fit_text text, uint32_t *number, bool *fresh)
{
	uint32_t found = FIT_NO_TEXT;

	if (fresh)
		*fresh = false;
	if (text.n == 0) {
		*number = FIT_NO_TEXT;
		return FIT_OK;
	}
	if (t->n >= FIT_NO_INDEX - 1)
		return FIT_ENOMEM;
	found = fit_index_get(&t->index, text);
	if (found != FIT_NO_INDEX) {
		*number = found;
		return FIT_OK;
	}
	if (fit_grow(&t->at, &t->cap, t->n + 2, sizeof *t->at) ||
	    fit_grow(&t->bytes, &t->bytes_cap, t->bytes_n + text.n, 1) ||
	    fit_index_put(&t->index, text, (uint32_t)t->n, NULL))
		return FIT_ENOMEM;
	memcpy(t->bytes + t->bytes_n, text.s, text.n);
	t->at[t->n] = t->bytes_n;
	t->bytes_n += text.n;
	*number = (uint32_t)t->n++;
	t->at[t->n] = t->bytes_n;
	if (fresh)
		*fresh = true;
	return FIT_OK;
}

struct fit_text fit_texts_get(const struct fit_texts *t, uint32_t number)
{
	if (number >= t->n)
		return (struct fit_text){ NULL, 0 };
	return (struct fit_text){ t->bytes + t->at[number], t->at[number + 1] - t->at[number] };
}
