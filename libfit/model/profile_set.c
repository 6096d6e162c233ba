/* SPDX-License-Identifier: MIT */
#include "libfit/model/profile_set.h"

#include <stdlib.h>
#include <string.h>

void fit_profile_set_release(struct fit_profile_set *s)
{
	for (size_t i = 0; i < s->n; i++) {
		fit_profile_free(s->entries[i].profile);
		free(s->entries[i].type);
	}
	free(s->entries);
	*s = (struct fit_profile_set){ 0 };
}

bool fit_profile_set_typed(const struct fit_profile_set *s)
{
	return s->n && s->entries[0].type[0];
}

int fit_profile_set_add(struct fit_profile_set *s, const char *text, struct fit_err *err)
{
	const char *eq = strchr(text, '=');
	struct fit_text type = { text, eq ? (size_t)(eq - text) : 0 };
	struct fit_typed_profile *e;
	int rc;

	for (size_t i = 0; i < s->n; i++) {
		if (fit_text_is(type, s->entries[i].type))
			return fit_fail(err, FIT_EINVAL, "two profiles of one GPU type '%.*s'", FIT_TEXT_ARG(type));
		if (!type.n || !s->entries[0].type[0])
			return fit_fail(err, FIT_EINVAL, "a profile without a GPU type beside others "
					"(expected TYPE=STORE for each)");
	}
	if (fit_grow(&s->entries, &s->cap, s->n + 1, sizeof *s->entries))
		return fit_fail_nomem(err);
	e = &s->entries[s->n];
	*e = (struct fit_typed_profile){ .type = fit_strdup(type) };
	if (!e->type)
		return fit_fail_nomem(err);
	rc = fit_profile_load(&e->profile, eq ? eq + 1 : text, e->hash, err);
	if (rc) {
		free(e->type);
		return rc;
	}
	s->n++;
	return FIT_OK;
}

struct fit_profile *fit_profile_set_find(const struct fit_profile_set *s, struct fit_text type)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->entries[i].type[0] || fit_text_is(type, s->entries[i].type))
			return s->entries[i].profile;
	return NULL;
}
