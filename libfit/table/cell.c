/* SPDX-License-Identifier: MIT */
#include "libfit/table/cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

static const char *const type_names[] = { "text", "int", "real", "time" };

const char *fit_type_name(enum fit_type type)
{
	return type_names[type];
}

int fit_type_from_name(struct fit_text name, enum fit_type *type)
{
	for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
		if (fit_text_is(name, type_names[i])) {
			*type = (enum fit_type)i;
			return FIT_OK;
		}
	}
	return FIT_EPARSE;
}

const char *fit_cell_expected(enum fit_type type)
{
	static const char *const text[] = {
		"text in UTF-8", "an integer", "a number", "seconds with at most nine decimals"
	};

	return text[type];
}

int fit_cell_parse(enum fit_type type, struct fit_text t, struct fit_cell *c)
{
	int rc = FIT_OK;

	c->na = false;
	c->n_plain = 0;
	switch (type) {
	case FIT_TEXT:
		c->u.t = t;
		rc = fit_text_is_utf8(t) ? FIT_OK : FIT_EPARSE;
		break;
	case FIT_INT:
		rc = fit_parse_int64(t, &c->u.i);
		if (!rc && c->u.i == FIT_INT_NA)
			rc = FIT_EINVAL;
		break;
	case FIT_REAL:
		rc = fit_parse_double_any(t, &c->u.d);
		break;
	case FIT_TIME:
		rc = fit_parse_time(t, &c->u.i);
		break;
	}
	return rc;
}

size_t fit_cell_format(enum fit_type type, const struct fit_cell *c, char buf[40])
{
	if (type == FIT_INT)
		return fit_format_int64(buf, c->u.i);
	if (type == FIT_TIME)
		return fit_format_time(buf, c->u.i);
	return fit_format_double(buf, c->u.d);
}

int fit_cell_convert(enum fit_type from, enum fit_type to, struct fit_cell *c, char scratch[40])
{
	double d;

	if (from == to || c->na)
		return FIT_OK;
	if (from == FIT_TEXT)
		return fit_cell_parse(to, c->u.t, c);
	c->n_plain = 0;
	if (to == FIT_TEXT) {
		c->u.t = (struct fit_text){ scratch, fit_cell_format(from, c, scratch) };
		return FIT_OK;
	}
	if (from == FIT_REAL) {
		d = c->u.d;
		if (to == FIT_TIME)
			return fit_time_from_double(d, &c->u.i);
		if (!(fabs(d) < 9.2e18) || d != rint(d))
			return FIT_EINVAL;
		c->u.i = (int64_t)d;
		return FIT_OK;
	}
	if (to == FIT_REAL) {
		c->u.d = from == FIT_TIME ? fit_time_to_double(c->u.i) : (double)c->u.i;
		return FIT_OK;
	}
	if (to == FIT_TIME) {
		if (c->u.i > INT64_MAX / FIT_NS_PER_S || c->u.i < -(INT64_MAX / FIT_NS_PER_S))
			return FIT_EINVAL;
		c->u.i *= FIT_NS_PER_S;
		return FIT_OK;
	}
	if (c->u.i % FIT_NS_PER_S)
		return FIT_EINVAL;
	c->u.i /= FIT_NS_PER_S;
	return FIT_OK;
}

int fit_unescape(char *s, size_t *n)
{
	char *esc = memchr(s, '\\', *n), *end = s + *n, *to;

	if (!esc)
		return FIT_OK;
	for (to = esc; esc < end; esc++) {
		if (*esc != '\\') {
			*to++ = *esc;
			continue;
		}
		if (++esc == end)
			return FIT_EPARSE;
		switch (*esc) {
		case 't': *to++ = '\t'; break;
		case 'n': *to++ = '\n'; break;
		case 'r': *to++ = '\r'; break;
		case '\\':
		case '#':
		case 'N': *to++ = *esc; break;
		default: return FIT_EPARSE;
		}
	}
	*n = (size_t)(to - s);
	return FIT_OK;
}

static bool needs_escape(struct fit_text t)
{
	bool found = false;

	for (size_t i = 0; i < t.n; i++) {
		unsigned char ch = (unsigned char)t.s[i];

		found |= ch == '\\' || (ch < 14 && (ch == '\t' || ch == '\n' || ch == '\r'));
	}
	return found;
}

int fit_escape(struct fit_str *out, struct fit_text t, bool first)
{
	size_t done = 0;
	int rc = FIT_OK;

	/* nearly all texts have nothing to escape */
	if (t.n && !needs_escape(t) && !(first && t.s[0] == '#') && !fit_text_is(t, "NA"))
		return fit_str_add(out, t.s, t.n);
	/* a text that reads NA is not a missing value */
	if (fit_text_is(t, "NA"))
		return fit_str_puts(out, "\\NA");
	for (size_t i = 0; i < t.n && !rc; i++) {
		const char *e = NULL;

		switch (t.s[i]) {
		case '\t': e = "\\t"; break;
		case '\n': e = "\\n"; break;
		case '\r': e = "\\r"; break;
		case '\\': e = "\\\\"; break;
		case '#': e = first && i == 0 ? "\\#" : NULL; break;
		default: break;
		}
		if (!e)
			continue;
		rc = fit_str_add(out, t.s + done, i - done);
		if (!rc)
			rc = fit_str_puts(out, e);
		done = i + 1;
	}
	return rc ? rc : fit_str_add(out, t.s ? t.s + done : "", t.n - done);
}

/* The end of the file part of a store operand, or NULL when it names no store. */
static const char *store_file_end(const char *operand)
{
	static const char *const suffix[] = { ".h5", ".hdf5" };
	size_t n = strlen(operand);

	for (size_t k = 0; k < 2; k++) {
		size_t m = strlen(suffix[k]);
		const char *p = operand;

		if (n >= m && strcmp(operand + n - m, suffix[k]) == 0)
			return operand + n;
		while ((p = strstr(p, suffix[k]))) {
			p += m;
			if (p[0] == ':' && p[1] == '/')
				return p;
		}
	}
	return NULL;
}

bool fit_is_store(const char *operand)
{
	return store_file_end(operand) != NULL;
}

int fit_store_split(const char *operand, char **file, char **path, struct fit_err *err)
{
	const char *end = store_file_end(operand);

	*file = *path = NULL;
	if (!end)
		return fit_fail(err, FIT_EINVAL, "%s: not a store (expected NAME.h5 or NAME.h5:/PATH)", operand);
	*file = fit_strdup((struct fit_text){ operand, (size_t)(end - operand) });
	if (*end)
		*path = fit_strdup(fit_text_of(end + 1));
	if (!*file || (*end && !*path)) {
		free(*file);
		free(*path);
		*file = *path = NULL;
		return fit_fail_nomem(err);
	}
	return FIT_OK;
}
