/* SPDX-License-Identifier: MIT */
/*
 * The files of Alibaba's cluster-trace-gpu-v2020: comma-separated tables without a header row. What
 * the columns are is known here, or said by a header file that is given beside the table
 * (pai_task_table.header for pai_task_table.csv), or by a header row that somebody has put in front.
 */
#ifndef TRACES_PAI_TABLES_H
#define TRACES_PAI_TABLES_H

#include "traces/jobs_rows.h"

enum fit_pai_table {
	FIT_PAI_JOB, FIT_PAI_TASK, FIT_PAI_INSTANCE, FIT_PAI_TAG, FIT_PAI_MACHINE, FIT_PAI_SENSOR,
	FIT_PAI_METRIC, FIT_PAI_N
};

struct fit_pai_reader {
	enum fit_pai_table table;
	const struct fit_field *fields;
	size_t n_fields;
	int (*take)(struct fit_trace_row *r, struct fit_cell *row, struct fit_err *err);
};

/*
 * Read s and the further operands of the trace: each through the reader of its table, in the order of
 * the readers, whatever the order of the operands. *tables gets the bits of those that are there, before
 * the first row is read. FIT_EDATA: a table for which there is no reader, a header file without its table.
 */
int fit_pai_read_tables(struct fit_source *s, struct fit_trace_out *out,
			const struct fit_pai_reader *readers, size_t n_readers, void *ctx,
			unsigned *tables, struct fit_err *err) FIT_MUST_CHECK;

#endif
