/* SPDX-License-Identifier: MIT */
#include "traces/nodes.h"

#include <stdlib.h>
#include <string.h>

int fit_node_kinds_name(struct fit_node_kinds *k, const struct fit_csv *c, const char *field,
			struct fit_text name, struct fit_err *err)
{
	uint64_t line = fit_csv_line(c);
	uint32_t first;

	if (fit_index_put(&k->names, name, line < FIT_NO_INDEX ? (uint32_t)line : FIT_NO_INDEX - 1,
			  &first))
		return fit_fail_nomem(err);
	if (first == FIT_NO_INDEX)
		return FIT_OK;
	return fit_csv_fail(c, FIT_EDATA, field, err, "duplicate node '%.*s' (first on line %lu)",
			    FIT_TEXT_ARG(name), (unsigned long)first);
}

int fit_node_kinds_add(struct fit_node_kinds *k, struct fit_text type, int64_t gpus, double cpus,
		       double mem_gib, uint64_t line)
{
	struct fit_str key = { 0 };
	uint32_t at = FIT_NO_INDEX;
	int rc = fit_str_printf(&key, "%lld %.17g %.17g ", (long long)gpus, cpus, mem_gib);

	if (!rc && type.s)
		rc = fit_str_add(&key, "=", 1);		/* a name, even an empty one, is not no name */
	if (!rc && type.n)
		rc = fit_str_add(&key, type.s, type.n);
	if (!rc)
		rc = fit_index_put(&k->index, (struct fit_text){ key.s, key.n }, (uint32_t)k->n, &at);
	if (!rc && at == FIT_NO_INDEX) {
		at = (uint32_t)k->n;
		rc = fit_grow(&k->kinds, &k->cap, k->n + 1, sizeof *k->kinds);
		if (!rc) {
			struct fit_node_kind *new = &k->kinds[k->n++];

			*new = (struct fit_node_kind){
				.gpus = gpus, .cpus = cpus, .mem_gib = mem_gib, .line = line,
				.type = type.s ? fit_strdup(type) : NULL
			};
			rc = type.s && !new->type ? FIT_ENOMEM : FIT_OK;
		}
	}
	fit_str_release(&key);
	if (rc)
		return FIT_ENOMEM;
	k->kinds[at].nodes++;
	k->nodes++;
	k->gpus += gpus;
	return FIT_OK;
}

int fit_node_kinds_emit(const struct fit_node_kinds *k, struct fit_trace_out *out, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < k->n; i++) {
		const struct fit_node_kind *kind = &k->kinds[i];
		struct fit_cell row[5] = { { 0 } };

		row[0].na = !kind->type;
		row[0].u.t = kind->type ? fit_text_of(kind->type) : (struct fit_text){ NULL, 0 };
		row[1].u.i = kind->nodes;
		row[2].u.i = kind->gpus;
		row[3].na = kind->cpus < 0;
		row[3].u.d = row[3].na ? 0 : kind->cpus;
		row[4].na = kind->mem_gib < 0;
		row[4].u.d = row[4].na ? 0 : kind->mem_gib;
		rc = fit_trace_emit(out, row, kind->line, err);
	}
	return rc;
}

void fit_node_kinds_release(struct fit_node_kinds *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->kinds[i].type);
	free(k->kinds);
	fit_index_release(&k->index);
	fit_index_release(&k->names);
	*k = (struct fit_node_kinds){ 0 };
}

int fit_node_kinds_read(struct fit_source *s, struct fit_trace_out *out, const struct fit_field *fields,
			size_t n,
			int (*convert)(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err),
			struct fit_err *err)
{
	struct fit_node_kinds kinds = { 0 };
	const struct fit_trace_rows how = { .fields = fields, .n_fields = n, .convert = convert, .ctx = &kinds };
	int rc = fit_trace_visit_rows(s, out, &how, err);

	if (!rc)
		rc = fit_node_kinds_emit(&kinds, out, err);
	fit_node_kinds_release(&kinds);
	return rc;
}
