/* SPDX-License-Identifier: MIT */
#include "libfit/model/training.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "libfit/base/num.h"

static double value_of(const struct fit_trained_field *f, const void *params)
{
	const void *at = (const char *)params + f->offset;

	switch (f->type) {
	case FIT_TRAINED_REAL:
		return *(const double *)at;
	case FIT_TRAINED_INT64:
		return (double)*(const int64_t *)at;
	case FIT_TRAINED_SIZE:
		return (double)*(const size_t *)at;
	default:
		return *(const bool *)at;
	}
}

static void put(const struct fit_trained_field *f, void *params, double v)
{
	void *at = (char *)params + f->offset;

	if (f->type == FIT_TRAINED_REAL)
		*(double *)at = v;
	else if (f->type == FIT_TRAINED_INT64)
		*(int64_t *)at = (int64_t)v;
	else if (f->type == FIT_TRAINED_SIZE)
		*(size_t *)at = (size_t)v;
	else
		*(bool *)at = v > 0;
}

int fit_trained_note(struct fit_meta *meta, const struct fit_trained_field *fields, const void *params)
{
	char buf[FIT_NUM_MAX];
	int rc = FIT_OK;

	for (const struct fit_trained_field *f = fields; f->key && !rc; f++) {
		fit_format_double(buf, value_of(f, params));
		rc = fit_meta_set(meta, f->key, buf);
	}
	return rc;
}

/* A number of the field's type in its range. */
static bool is_value(const struct fit_trained_field *f, struct fit_text text, double *v)
{
	int64_t whole;

	if (f->type == FIT_TRAINED_REAL)
		return !fit_parse_double(text, v) && *v >= f->least && *v <= f->most;
	if (fit_parse_int64(text, &whole))
		return false;
	*v = (double)whole;
	return *v >= f->least && *v <= f->most;
}

int fit_trained_read(const struct fit_meta *meta, const struct fit_trained_field *fields, void *params,
		     struct fit_err *err)
{
	for (const struct fit_trained_field *f = fields; f->key; f++) {
		const char *text = fit_meta_get(meta, f->key);
		double v;

		if (!text)
			continue;
		if (!is_value(f, fit_text_of(text), &v))
			return fit_fail(err, FIT_EDATA, "bad '%s' in the metadata: '%.60s' (expected %s from %g to %g)",
					f->key, text, f->type == FIT_TRAINED_REAL ? "a number" : "a whole number",
					f->least, f->most);
		put(f, params, v);
	}
	return FIT_OK;
}

static const char *numbered(const char *key, size_t i, char buf[64])
{
	snprintf(buf, 64, "%.40s_%zu", key, i + 1);
	return buf;
}

int fit_trained_add_text(struct fit_meta *meta, const char *key, const char *text)
{
	char buf[64];
	size_t i = 0;

	while (fit_meta_get(meta, numbered(key, i, buf)))
		i++;
	return fit_meta_add(meta, numbered(key, i, buf), text);
}

const char *fit_trained_text(const struct fit_meta *meta, const char *key, size_t i)
{
	char buf[64];

	return fit_meta_get(meta, numbered(key, i, buf));
}

int fit_trained_copy(struct fit_meta *to, const struct fit_meta *from)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < from->n && !rc; i++)
		if (strncmp(from->pairs[i].key, FIT_TRAINED, sizeof FIT_TRAINED - 1) == 0)
			rc = fit_meta_set(to, from->pairs[i].key, from->pairs[i].value);
	return rc;
}
