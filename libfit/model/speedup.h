/* SPDX-License-Identifier: MIT */
/*
 * Speedup functions: how fast a job of a class works in each of its epochs, by number and type of GPUs
 * (docs/formats/boa.md, table of speedups).
 */
#ifndef FIT_MODEL_SPEEDUP_H
#define FIT_MODEL_SPEEDUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/model/envelope.h"

FIT_C_BEGIN

struct fit_speedups {
	char **types;	/* in byte order; the type without a name is "", and first */
	size_t n_types;
	struct fit_speedup_class {
		char *name;
		size_t at, n;	/* its epochs */
	} *classes;		/* in byte order of their names */
	size_t n_classes;
	struct fit_speedup_epoch {
		double work;	/* of a job; >= 0 */
		size_t at, n;	/* its widths */
	} *epochs;
	size_t n_epochs;
	struct fit_width *widths;	/* of an epoch by type, then by number of GPUs; price is 1 */
	size_t n_widths;
	uint64_t dropped;		/* bad speeds that became 0 */
	char hash[FIT_HASH_HEX];	/* content hash of the input */
};

#define FIT_SPEEDUP_CLASSES_MAX 10000000	/* classes, and epochs of one class */
#define FIT_WORK_MAX 1e30

/* A missing speed becomes 0: such a width stays, and is not usable. So does one that is nan,
 * infinite or negative where drop_bad. FIT_EDATA: a value out of range, an epoch left out,
 * works that contradict each other; the error names file, line and column. Release with
 * fit_speedups_release(). */
int fit_speedups_read(struct fit_speedups *s, const char *operand, bool drop_bad,
		      struct fit_err *err) FIT_MUST_CHECK;
void fit_speedups_release(struct fit_speedups *s);
/* The class of that name, or NULL. */
const struct fit_speedup_class *fit_speedups_find(const struct fit_speedups *s, struct fit_text name);

/* To make speedups: rows in any order, then fit_speedups_finish(). Zero-initialise. */
struct fit_speedup_row {
	double work, speed;
	uint64_t line;		/* for messages */
	uint32_t class_no, epoch, type;
	uint32_t gpus;
};
struct fit_speedup_rows {
	struct fit_speedup_row *rows;
	size_t n, cap;
	struct fit_index class_index, type_index;
	char **classes, **types;
	size_t n_classes, cap_classes, n_types, cap_types;
};
void fit_speedup_rows_release(struct fit_speedup_rows *r);
/* The number of a class, of a type (type.s NULL: without a name). FIT_ENOMEM; FIT_EDATA: too many. */
int fit_speedup_rows_class(struct fit_speedup_rows *r, struct fit_text name, uint32_t *number,
			   struct fit_err *err) FIT_MUST_CHECK;
int fit_speedup_rows_type(struct fit_speedup_rows *r, struct fit_text name, uint32_t *number,
			  struct fit_err *err) FIT_MUST_CHECK;
int fit_speedup_rows_add(struct fit_speedup_rows *r, const struct fit_speedup_row *row,
			 struct fit_err *err) FIT_MUST_CHECK;
/* Put names into byte order; (*place)[old number] (free it, also on failure) is the new number. */
int fit_speedup_sort_names(char **names, size_t n, uint32_t **place, struct fit_err *err) FIT_MUST_CHECK;
/* Sort and check; r is empty afterwards. input stands in messages, NULL: no file. */
int fit_speedups_finish(struct fit_speedups *s, struct fit_speedup_rows *r, const char *input,
			struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
