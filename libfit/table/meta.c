/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "libfit/table/table.h"

void fit_meta_release(struct fit_meta *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->pairs[i].key);
		free(m->pairs[i].value);
	}
	free(m->pairs);
	*m = (struct fit_meta){ 0 };
}

bool fit_meta_key_ok(const char *key)
{
	size_t n = strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n && key[n] == '\0' && strcmp(key, "table") != 0 && strcmp(key, "types") != 0;
}

int fit_meta_add(struct fit_meta *m, const char *key, const char *value)
{
	char *k, *v;

	if (fit_grow(&m->pairs, &m->cap, m->n + 1, sizeof *m->pairs))
		return FIT_ENOMEM;
	k = fit_strdup(fit_text_of(key));
	v = fit_strdup(fit_text_of(value));
	if (!k || !v) {
		free(k);
		free(v);
		return FIT_ENOMEM;
	}
	m->pairs[m->n].key = k;
	m->pairs[m->n++].value = v;
	return FIT_OK;
}

int fit_meta_set(struct fit_meta *m, const char *key, const char *value)
{
	for (size_t i = 0; i < m->n; i++) {
		char *v;

		if (strcmp(m->pairs[i].key, key) != 0)
			continue;
		v = fit_strdup(fit_text_of(value));
		if (!v)
			return FIT_ENOMEM;
		free(m->pairs[i].value);
		m->pairs[i].value = v;
		return FIT_OK;
	}
	return fit_meta_add(m, key, value);
}

const char *fit_meta_get(const struct fit_meta *m, const char *key)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->pairs[i].key, key) == 0)
			return m->pairs[i].value;
	return NULL;
}

int fit_meta_copy(struct fit_meta *to, const struct fit_meta *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (fit_meta_add(to, from->pairs[i].key, from->pairs[i].value))
			return FIT_ENOMEM;
	return FIT_OK;
}
