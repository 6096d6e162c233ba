/* SPDX-License-Identifier: MIT */
/*
 * A GA2M in the JSON layout that the reference implementation (interpretml/interpret, to_json of its
 * boosting machine) writes: version, ebm: outputs, intercept, features with their cuts or categories by
 * level, terms with scores, spreads and weights. docs/formats/ga2m.md says what goes where.
 *
 * What the layout has no place for (loss, names of columns, number of rows, notes) goes under a key of its
 * own, "goodfit", that other readers pass over.
 */
#ifndef FIT_MODEL_GA2M_JSON_H
#define FIT_MODEL_GA2M_JSON_H

#include "libfit/base/linkage.h"
#include "libfit/model/ga2m.h"

FIT_C_BEGIN

/* Append the model to out. FIT_EDATA: it cannot be said in this layout (pairs that use the cuts of a
 * feature at different levels). */
int fit_ga2m_print_json(const struct fit_ga2m *m, struct fit_str *out, struct fit_err *err) FIT_MUST_CHECK;

/*
 * Read it: all levels of detail, with or without "goodfit". name stands in messages. Without "goodfit" the
 * loss follows from the link (log: poisson), the target is called "target". Categories come into byte
 * order;
 * several that share a bin each get its score. FIT_EPARSE: no JSON; FIT_EDATA: no model, or one that has
 * terms of three features and more, or another link.
 */
int fit_ga2m_read_json(struct fit_ga2m *m, const char *name, const char *bytes, size_t n,
		       struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
