/* SPDX-License-Identifier: MIT */
/* The tables that a report shows. */
#include <stdlib.h>
#include <string.h>

#include "libfit/plot/report_parts.h"

/* Give a table that was read to the list, which then owns it. */
static int take(struct fit_report_tables *list, struct fit_table *t, const char *name, bool further)
{
	struct fit_str text = { 0 };
	struct fit_report_table item = { NULL, malloc(sizeof *item.table) };
	int rc = fit_grow(&list->items, &list->cap, list->n + 1, sizeof *list->items);

	rc = rc ? rc : fit_str_printf(&text, "%s%s%s", name, further ? ": " : "", further ? t->name : "");
	item.name = rc ? NULL : fit_strdup((struct fit_text){ text.s, text.n });
	fit_str_release(&text);
	if (!item.name || !item.table) {
		free(item.name);
		free(item.table);
		return FIT_ENOMEM;
	}
	*item.table = *t;
	*t = (struct fit_table){ 0 };
	list->items[list->n++] = item;
	return FIT_OK;
}

int fit_report_tables_add(struct fit_report_tables *list, const char *operand, const char *name,
			  struct fit_err *err)
{
	struct fit_table *tables;
	size_t n;
	int rc = fit_tables_read(&tables, &n, operand, err);

	for (size_t i = 0; i < n && !rc; i++)
		if (take(list, &tables[i], name, i > 0))
			rc = fit_fail_nomem(err);
	fit_tables_free(tables, n);
	return rc;
}

void fit_report_tables_free(struct fit_report_tables *list)
{
	for (size_t i = 0; i < list->n; i++) {
		fit_table_release(list->items[i].table);
		free(list->items[i].table);
		free(list->items[i].name);
	}
	free(list->items);
	*list = (struct fit_report_tables){ 0 };
}
