/* SPDX-License-Identifier: MIT */
/* The version of libfit and the tools. Part of every output's metadata. */
#ifndef FIT_BASE_VERSION_H
#define FIT_BASE_VERSION_H

#include "libfit/base/linkage.h"

FIT_C_BEGIN

#define FIT_VERSION "0.1.0"

/* Of the library that runs; FIT_VERSION is that of the headers a program was compiled with. */
const char *fit_version(void);

FIT_C_END

#endif
