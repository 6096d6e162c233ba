/* SPDX-License-Identifier: MIT */
#include "libfit/base/version.h"

const char *fit_version(void)
{
	return FIT_VERSION;
}
