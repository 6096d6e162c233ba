/* SPDX-License-Identifier: MIT */
/*
 * Application profiles by GPU type: one store for each type, or a single one for whatever there is.
 */
#ifndef FIT_MODEL_PROFILE_SET_H
#define FIT_MODEL_PROFILE_SET_H

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/text.h"
#include "libfit/model/profile.h"

FIT_C_BEGIN

struct fit_profile_set {
	struct fit_typed_profile {
		char *type;		/* "": of any type */
		struct fit_profile *profile;
		char hash[FIT_HASH_HEX];
	} *entries;
	size_t n, cap;
};

/* Load "STORE" or "TYPE=STORE" and add it. FIT_EINVAL: a second one of that type, or one without a type
 * beside others; else as fit_profile_load(). */
int fit_profile_set_add(struct fit_profile_set *s, const char *text, struct fit_err *err) FIT_MUST_CHECK;
void fit_profile_set_release(struct fit_profile_set *s);
/* Are there types? */
bool fit_profile_set_typed(const struct fit_profile_set *s);
/* The profile of that type, or of any; NULL: none. */
struct fit_profile *fit_profile_set_find(const struct fit_profile_set *s, struct fit_text type);

FIT_C_END

#endif
