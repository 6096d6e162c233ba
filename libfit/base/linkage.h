/* SPDX-License-Identifier: MIT */
/*
 * What marks a header as public: its declarations stand between FIT_C_BEGIN and FIT_C_END, which give
 * them C linkage in a C++ program. Those headers, and no others, are installed, and libfit.so exports
 * what they declare (docs/library.md).
 */
#ifndef FIT_BASE_LINKAGE_H
#define FIT_BASE_LINKAGE_H

#ifdef __cplusplus
#define FIT_C_BEGIN extern "C" {
#define FIT_C_END }
#else
#define FIT_C_BEGIN
#define FIT_C_END
#endif

#endif
