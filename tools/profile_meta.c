/* SPDX-License-Identifier: MIT */
#include "tools/profile_meta.h"

#include <stdio.h>
#include <string.h>

#include "tools/common/cli.h"

int profile_meta_add(struct fit_meta *meta, const struct fit_profile_set *profiles)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < profiles->n && !rc; i++) {
		char key[160] = "profile";

		if (profiles->entries[i].type[0])
			(void)snprintf(key, sizeof key, "profile_%s", profiles->entries[i].type);
		for (char *c = key; *c; c++)	/* keys have no other characters */
			if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789", *c))
				*c = '_';
		rc = cli_meta_input(meta, key, profiles->entries[i].hash);
	}
	return rc;
}
