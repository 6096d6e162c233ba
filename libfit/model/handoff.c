/* SPDX-License-Identifier: MIT */
#include "libfit/model/handoff.h"

#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/handoff_formats.h"

const struct fit_handoff_format *const fit_handoff_formats[] = {
	&fit_handoff_adaptdl, &fit_handoff_tree_json, &fit_handoff_tree_c, &fit_handoff_ga2m_json,
		&fit_handoff_ga2m_c,
	&fit_handoff_widths_json, &fit_handoff_widths_tsv, &fit_handoff_prometheus, NULL
};

const struct fit_handoff_format *fit_handoff_find(const char *name)
{
	for (size_t i = 0; fit_handoff_formats[i]; i++)
		if (strcmp(fit_handoff_formats[i]->name, name) == 0)
			return fit_handoff_formats[i];
	return NULL;
}

const struct fit_handoff_format *fit_handoff_recognise(struct fit_text bytes)
{
	for (size_t i = 0; fit_handoff_formats[i]; i++)
		if (fit_handoff_formats[i]->is(bytes))
			return fit_handoff_formats[i];
	return NULL;
}

char fit_handoff_first(struct fit_text bytes)
{
	size_t i = 0;

	while (i < bytes.n && (bytes.s[i] == ' ' || bytes.s[i] == '\t' || bytes.s[i] == '\r' ||
			       bytes.s[i] == '\n'))
		i++;
	return i < bytes.n ? bytes.s[i] : '\0';
}

bool fit_handoff_has(struct fit_text bytes, const char *s)
{
	size_t n = strlen(s);

	for (const char *p = bytes.s, *end = bytes.s + bytes.n; bytes.n >= n && p + n <= end; p++) {
		p = memchr(p, s[0], (size_t)(end - p));
		if (!p || p + n > end)
			return false;
		if (memcmp(p, s, n) == 0)
			return true;
	}
	return false;
}

int fit_handoff_json(const char *name, struct fit_text bytes, json_t **value, struct fit_err *err)
{
	json_error_t e;

	*value = json_loadb(bytes.s, bytes.n, JSON_REJECT_DUPLICATES, &e);
	if (!*value)
		return fit_fail(err, FIT_EPARSE, "%s:%d: %s", name, e.line > 0 ? e.line : 1, e.text);
	if (!json_is_object(*value)) {
		json_decref(*value);
		*value = NULL;
		return fit_fail(err, FIT_EPARSE, "%s:1: no JSON object", name);
	}
	return FIT_OK;
}

void fit_handoff_int(struct fit_json_out *o, int64_t v)
{
	char buf[FIT_NUM_MAX];

	fit_format_int64(buf, v);
	fit_json_raw(o, buf);
}
