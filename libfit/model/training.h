/* SPDX-License-Identifier: MIT */
/*
 * How a model was trained, kept in its metadata as pairs train_KEY=VALUE, so that the like of it can be
 * trained on other rows (as the model gate does, libfit/verify/gate.h). What a model does not say keeps its
 * default.
 */
#ifndef FIT_MODEL_TRAINING_H
#define FIT_MODEL_TRAINING_H

#include <stddef.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

#define FIT_TRAINED "train_"

enum fit_trained_type { FIT_TRAINED_REAL, FIT_TRAINED_INT64, FIT_TRAINED_SIZE, FIT_TRAINED_FLAG };

/* A parameter: a double, int64_t, size_t or bool at that offset of a struct, in a closed range. */
struct fit_trained_field {
	const char *key;	/* with train_ ahead; NULL ends a list */
	enum fit_trained_type type;
	size_t offset;
	double least, most;
};

/* Set the pairs of all fields of params. FIT_ENOMEM. */
int fit_trained_note(struct fit_meta *meta, const struct fit_trained_field *fields,
		     const void *params) FIT_MUST_CHECK;
/* Set the fields of params that meta has. FIT_EDATA: a value that is none, or out of range; params may then
 * be set in part. */
int fit_trained_read(const struct fit_meta *meta, const struct fit_trained_field *fields, void *params,
		     struct fit_err *err) FIT_MUST_CHECK;
/* Texts KEY_1, KEY_2, …: append one; get number i (from 0), NULL when there is none. key is with train_. */
int fit_trained_add_text(struct fit_meta *meta, const char *key, const char *text) FIT_MUST_CHECK;
const char *fit_trained_text(const struct fit_meta *meta, const char *key, size_t i);
/* Set all pairs train_… of from in to. FIT_ENOMEM. */
int fit_trained_copy(struct fit_meta *to, const struct fit_meta *from) FIT_MUST_CHECK;

FIT_C_END

#endif
