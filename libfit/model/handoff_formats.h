/* SPDX-License-Identifier: MIT */
/* The formats of handoff.h, and what they share. Not a public header. */
#ifndef FIT_MODEL_HANDOFF_FORMATS_H
#define FIT_MODEL_HANDOFF_FORMATS_H

#include <jansson.h>

#include "libfit/base/json_out.h"
#include "libfit/model/handoff.h"

extern const struct fit_handoff_format fit_handoff_adaptdl, fit_handoff_tree_json, fit_handoff_tree_c,
	fit_handoff_ga2m_json, fit_handoff_ga2m_c, fit_handoff_widths_json, fit_handoff_widths_tsv,
	fit_handoff_prometheus;

/* The first byte that is no blank; 0: there is none. */
char fit_handoff_first(struct fit_text bytes);
/* Does the text s occur in bytes? */
bool fit_handoff_has(struct fit_text bytes, const char *s);
/* A whole text as JSON; an object. json_decref() it. FIT_EPARSE "NAME:LINE: …". */
int fit_handoff_json(const char *name, struct fit_text bytes, json_t **value,
		     struct fit_err *err) FIT_MUST_CHECK;
/* A whole number. */
void fit_handoff_int(struct fit_json_out *o, int64_t v);

#endif
