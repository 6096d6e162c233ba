/* SPDX-License-Identifier: MIT */
/*
 * JSON, piece by piece, into a string: numbers with all their digits, texts escaped. Structure is the
 * caller's, who writes it with fit_json_raw().
 */
#ifndef FIT_BASE_JSON_OUT_H
#define FIT_BASE_JSON_OUT_H

#include "libfit/base/text.h"

/* The first lack of memory sticks: rc is looked at when all is written. */
struct fit_json_out {
	struct fit_str *s;
	int rc;			/* FIT_OK or FIT_ENOMEM */
};

void fit_json_raw(struct fit_json_out *o, const char *s);
void fit_json_text(struct fit_json_out *o, const char *s);	/* NULL: null */
/* JSON has neither infinities nor NaN: they are texts, "inf" (or what plus_inf says), "-inf" and "nan". */
void fit_json_real(struct fit_json_out *o, double v, const char *plus_inf);

#endif
