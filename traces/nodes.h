/* SPDX-License-Identifier: MIT */
/*
 * Lists of nodes, one a row, as a cluster table: nodes that are alike become one row with their number,
 * in the order in which they are met first.
 */
#ifndef TRACES_NODES_H
#define TRACES_NODES_H

#include "traces/jobs_rows.h"

struct fit_node_kind {
	char *type;		/* NULL: not given */
	int64_t nodes, gpus;
	double cpus, mem_gib;	/* negative: not given */
	uint64_t line;		/* of the first */
};

struct fit_node_kinds {
	struct fit_index index, names;
	struct fit_node_kind *kinds;
	size_t n, cap;
	int64_t nodes, gpus;
};

/* One more node of that kind. FIT_ENOMEM. */
int fit_node_kinds_add(struct fit_node_kinds *k, struct fit_text type, int64_t gpus, double cpus,
		       double mem_gib, uint64_t line) FIT_MUST_CHECK;
/* Is the name new? FIT_EDATA, with a message: a node of that name was there before. */
int fit_node_kinds_name(struct fit_node_kinds *k, const struct fit_csv *c, const char *field,
			struct fit_text name, struct fit_err *err) FIT_MUST_CHECK;
/* Emit node_type, nodes, gpus_per_node, cpus_per_node (real), mem_gib_per_node (real). */
int fit_node_kinds_emit(const struct fit_node_kinds *k, struct fit_trace_out *out,
			struct fit_err *err) FIT_MUST_CHECK;
/* A list of nodes in rows of these fields: visit them with convert(), whose r->ctx is a struct
 * fit_node_kinds, and emit the kinds. */
int fit_node_kinds_read(struct fit_source *s, struct fit_trace_out *out, const struct fit_field *fields,
			size_t n,
			int (*convert)(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err),
			struct fit_err *err) FIT_MUST_CHECK;
void fit_node_kinds_release(struct fit_node_kinds *k);

#endif
