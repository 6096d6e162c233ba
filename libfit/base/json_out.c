/* SPDX-License-Identifier: MIT */
#include "libfit/base/json_out.h"

#include <math.h>

#include "libfit/base/num.h"

void fit_json_raw(struct fit_json_out *o, const char *s)
{
	if (!o->rc)
		o->rc = fit_str_puts(o->s, s);
}

void fit_json_text(struct fit_json_out *o, const char *s)
{
	if (!s) {
		fit_json_raw(o, "null");
		return;
	}
	fit_json_raw(o, "\"");
	for (; *s && !o->rc; s++) {
		if ((unsigned char)*s < 0x20)
			o->rc = fit_str_printf(o->s, "\\u%04x", (unsigned)(unsigned char)*s);
		else if (*s == '"' || *s == '\\')
			o->rc = fit_str_printf(o->s, "\\%c", *s);
		else
			o->rc = fit_str_add(o->s, s, 1);
	}
	fit_json_raw(o, "\"");
}

void fit_json_real(struct fit_json_out *o, double v, const char *plus_inf)
{
	char buf[FIT_NUM_MAX];

	if (isfinite(v)) {
		fit_format_double(buf, v);
		fit_json_raw(o, buf);
	} else {
		fit_json_text(o, isnan(v) ? "nan" : v > 0 ? plus_inf : "-inf");
	}
}
