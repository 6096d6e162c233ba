/* SPDX-License-Identifier: MIT */
/*
 * Models and metrics in the formats that schedulers and operators read, and back (docs/formats/export.md).
 *
 * A format writes text from one of our tables, and reads such text into tables. What it writes and reads
 * again comes out the same, byte by byte; what is read and written again does where the format has one way
 * to say a thing.
 */
#ifndef FIT_MODEL_HANDOFF_H
#define FIT_MODEL_HANDOFF_H

#include <stdbool.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* What a format may be told; NULL: not given. */
struct fit_handoff_options {
	const char *app;	/* adaptdl: this application alone */
	const char *stats;	/* adaptdl: batch sizes and gradient statistics, by application */
	const char *data;	/* adaptdl: measurements, for the most replicas that were tried */
	const char *name;	/* tree-c, ga2m-c: of the function */
	const char *prefix;	/* prometheus: of metric names */
	const char *const *labels;	/* prometheus: columns of numbers that are labels; n_labels */
	size_t n_labels;
};
#define FIT_HANDOFF_APP 1u
#define FIT_HANDOFF_STATS 2u
#define FIT_HANDOFF_DATA 4u
#define FIT_HANDOFF_NAME 8u
#define FIT_HANDOFF_PREFIX 16u
#define FIT_HANDOFF_LABEL 32u

struct fit_handoff_format {
	const char *name, *what;
	unsigned uses;		/* of the options, a bit each */
	/* Could these bytes (a whole text, and a NUL behind it) be of this format? Looks at little. */
	bool (*is)(struct fit_text bytes);
	/* operand: a table, or where that makes sense JSON, whose name ends in .json. Appends to out.
	 * FIT_EINVAL: a bad option. */
	int (*write)(const char *operand, const struct fit_handoff_options *o, struct fit_str *out,
		     struct fit_err *err);
	/* bytes as above; name stands in messages. Writes whole tables to w, meta with the first.
	 * FIT_EPARSE,
	 * FIT_EDATA with the place. */
	int (*read)(const char *name, struct fit_text bytes, struct fit_writer *w,
		    const struct fit_meta *meta,
		    struct fit_err *err);
};

extern const struct fit_handoff_format *const fit_handoff_formats[];	/* ends with NULL */
/* The format of that name, or NULL. */
const struct fit_handoff_format *fit_handoff_find(const char *name);
/* The format that bytes are of, or NULL. */
const struct fit_handoff_format *fit_handoff_recognise(struct fit_text bytes);

FIT_C_END

#endif
