/* SPDX-License-Identifier: MIT */
/* The version of libfit and the tools. Part of every output's metadata. */
#ifndef FIT_BASE_VERSION_H
#define FIT_BASE_VERSION_H

#define FIT_VERSION "0.1.0"

#endif
