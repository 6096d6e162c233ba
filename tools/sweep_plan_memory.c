/* SPDX-License-Identifier: MIT */
/* Plans of sweeps in memory. */
#include <stdlib.h>

#include "tools/sweep_plan.h"

static void release_texts(char **texts, size_t n)
{
	for (size_t i = 0; texts && i < n; i++)
		free(texts[i]);
	free(texts);
}

void sweep_plan_release(struct sweep_plan *p)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		release_texts(p->rows[i].values, p->n_axes);
		free(p->rows[i].replay);
		free(p->rows[i].metrics);
		free(p->rows[i].result);
		free(p->rows[i].needs);
	}
	free(p->rows);
	for (size_t i = 0; i < p->n_inputs; i++) {
		free(p->inputs[i].name);
		free(p->inputs[i].command);
		free(p->inputs[i].result);
		free(p->inputs[i].needs);
	}
	free(p->inputs);
	release_texts(p->axes, p->n_axes);
	fit_index_release(&p->by_hash);
	sweep_files_release(&p->files);
	*p = (struct sweep_plan){ 0 };
}

struct sweep_row *sweep_plan_new_row(struct sweep_plan *p)
{
	struct sweep_row *row;

	if (fit_grow(&p->rows, &p->cap_rows, p->n_rows + 1, sizeof *p->rows))
		return NULL;
	row = &p->rows[p->n_rows++];
	*row = (struct sweep_row){ .values = calloc(p->n_axes + 1, sizeof *row->values) };
	return row->values ? row : NULL;
}

struct sweep_input *sweep_plan_new_input(struct sweep_plan *p)
{
	if (fit_grow(&p->inputs, &p->cap_inputs, p->n_inputs + 1, sizeof *p->inputs))
		return NULL;
	p->inputs[p->n_inputs] = (struct sweep_input){ .name = NULL };
	return &p->inputs[p->n_inputs++];
}

int sweep_add_need(size_t **needs, size_t *n, size_t input)
{
	size_t *more;

	for (size_t i = 0; i < *n; i++)
		if ((*needs)[i] == input)
			return FIT_OK;
	more = realloc(*needs, (*n + 1) * sizeof *more);
	if (!more)
		return FIT_ENOMEM;
	*needs = more;
	more[(*n)++] = input;
	return FIT_OK;
}
