/* SPDX-License-Identifier: MIT */
/*
 * The tables of classes and of plans (docs/formats/boa.md), read and written.
 */
#ifndef FIT_MODEL_BOA_TABLE_H
#define FIT_MODEL_BOA_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

struct fit_boa;
struct fit_boa_solution;

/* ---- classes ---- */

struct fit_boa_classes {
	struct fit_boa_class_row {
		char *name;
		char *type;	/* NULL: all types */
		double rate;	/* jobs/s; NAN: missing */
		double weight;	/* likewise */
		double rescale_s;	/* likewise */
		int64_t min_gpus;	/* 0: missing */
	} *rows;
	size_t n, cap;
	char hash[FIT_HASH_HEX];
};
#define FIT_RATE_MAX 1e30

/* FIT_EDATA: a value out of range, a class (with the same type) twice, two rates or weights of
 * one class, no rate at all; the error names file, line and column. */
int fit_boa_classes_read(struct fit_boa_classes *c, const char *operand,
			 struct fit_err *err) FIT_MUST_CHECK;
void fit_boa_classes_release(struct fit_boa_classes *c);

/* What a class has on a type; false when there is no row of the class. */
bool fit_boa_classes_find(const struct fit_boa_classes *c, struct fit_text name, struct fit_text type,
			  struct fit_boa_class_row *row);

/* ---- plans ---- */

/* A table of plans as it stands: who carries it out or certifies it looks widths up by name. */
struct fit_boa_plan_table {
	struct fit_boa_plan_row {
		size_t class_no;		/* number in classes */
		int64_t plan, epoch;	/* plan 0 or 1 */
		double share;
		size_t type;		/* number in types */
		int64_t gpus;
		uint64_t line;
	} *rows;			/* by class, plan, epoch: every class has whole plans */
	size_t n, cap;
	char **classes, **types;	/* in byte order; "" is the type without a name */
	size_t n_classes, n_types;
	struct fit_meta meta;
	char input[256], hash[FIT_HASH_HEX];
};

/* FIT_EDATA: an epoch is missing or there twice, shares out of [0, 1] or that do not sum up to 1 (within
 * FIT_BOA_SHARE_SLACK), plans of different length. */
int fit_boa_plan_table_read(struct fit_boa_plan_table *p, const char *operand,
			    struct fit_err *err) FIT_MUST_CHECK;
void fit_boa_plan_table_release(struct fit_boa_plan_table *p);
#define FIT_BOA_SHARE_SLACK 1e-12

/* The columns of a table of plans, and its rows from a solution. */
extern const struct fit_field fit_boa_plan_columns[];
extern const size_t fit_boa_plan_n_columns;
int fit_boa_plans_write(struct fit_writer *w, const struct fit_boa *b, const struct fit_boa_solution *s,
			struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
