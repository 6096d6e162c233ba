/* SPDX-License-Identifier: MIT */
/*
 * The plan of a sweep: one replay a row, what is prepared for them, and the files that they depend on.
 * Made of a grid and command lines with placeholders; written and read as tables (docs/formats/sweep.md).
 *
 * A hash names each row and each thing prepared: over the version, the bytes of the programs, the words of
 * the command lines, and, in place of files in them, their bytes. Folders and names do not matter.
 */
#ifndef TOOLS_SWEEP_PLAN_H
#define TOOLS_SWEEP_PLAN_H

#include "libfit/table/table.h"
#include "tools/sweep_files.h"
#include "tools/sweep_grid.h"
#include "tools/sweep_words.h"

/* A file that a tool makes once for all rows that need it. */
struct sweep_input {
	char *name;		/* as given: NAME or NAME.EXTENSION */
	char hash[FIT_HASH_HEX];
	char *command;		/* words of the tool, without -o */
	char *result;		/* the file */
	size_t *needs, n_needs;	/* inputs that are made before: smaller numbers */
};

struct sweep_row {
	char **values;		/* one an axis; NULL: not given */
	char hash[FIT_HASH_HEX];
	char *replay, *metrics;	/* words of gf-replay and gf-metrics, without -o and the log */
	char *result;		/* the table of metrics */
	size_t *needs, n_needs;	/* numbers of inputs */
};

/* Zero-initialise. */
struct sweep_plan {
	char **axes;		/* names of columns */
	size_t n_axes;
	struct sweep_row *rows;
	size_t n_rows, cap_rows;
	struct sweep_input *inputs;
	size_t n_inputs, cap_inputs;
	struct fit_index by_hash;	/* inputs */
	struct sweep_files files;
	char input[256];	/* what a plan that was read is called in messages */
	char hash[FIT_HASH_HEX];
};

void sweep_plan_release(struct sweep_plan *p);

struct sweep_spec {
	const struct sweep_grid *grid;
	const char *const *prepare;	/* NAME=TOOL WORD… */
	size_t n_prepare;
	const char *const *replay;	/* words of gf-replay */
	size_t n_replay;
	const char *metrics;		/* words of gf-metrics in one line, or NULL */
	const char *folder;		/* of the results */
};

/* Every combination of the grid as a row. FIT_EINVAL: what is wrong with the spec; FIT_EDATA: two rows are
 * the same; FIT_EIO, FIT_ENOTFOUND: a file or a program cannot be read. */
int sweep_plan_make(struct sweep_plan *p, const struct sweep_spec *spec, struct fit_err *err) FIT_MUST_CHECK;
int sweep_plan_write(const struct sweep_plan *p, const struct fit_meta *meta, struct fit_writer *w,
		     struct fit_err *err) FIT_MUST_CHECK;
/* FIT_EDATA with line and column, and errors of the reader. */
int sweep_plan_read(struct sweep_plan *p, const char *operand, struct fit_err *err) FIT_MUST_CHECK;

/* A row that was read, the one of t with that number: FIT_EDATA unless its hash is that of its command lines.
 * Plans of another version are not looked at, whose hashes are others. */
int sweep_plan_check(const struct sweep_plan *p, const struct sweep_row *row, const struct fit_table *t,
		     size_t number, struct fit_err *err) FIT_MUST_CHECK;

/* The same of all inputs; rows is the first table of the plan, t that of the inputs. */
int sweep_plan_check_inputs(const struct sweep_plan *p, const struct fit_table *rows,
			    const struct fit_table *t, struct fit_err *err) FIT_MUST_CHECK;
/* A result of any folder, but of no other name than HASH.EXTENSION: a plan that was edited does not overwrite
 * what is none of a sweep. */
int sweep_plan_check_name(const char *result, const char *hash, const struct fit_table *t, size_t number,
			  struct fit_err *err) FIT_MUST_CHECK;

/* A hasher for what a row or an input is ("gf-sweep row"): it has taken in that name and the version. NULL:
 * no memory. */
struct fit_hasher *sweep_hasher_new(const char *what);

/* For making and reading: a new row or input with nothing in it, and its need of an input. FIT_ENOMEM. */
struct sweep_row *sweep_plan_new_row(struct sweep_plan *p);	/* NULL: out of memory */
struct sweep_input *sweep_plan_new_input(struct sweep_plan *p);
int sweep_add_need(size_t **needs, size_t *n, size_t input) FIT_MUST_CHECK;

#endif
