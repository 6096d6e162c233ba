/* SPDX-License-Identifier: MIT */
/*
 * Cuts one big JSON text into the elements of its array, in constant memory: [ … ] itself, or the
 * array that is a member of the top-level object ({ "traceEvents": [ … ], … }). It looks at strings
 * and brackets only; each element is for jansson to read. Elements one behind the other without an
 * array around them (JSON lines), and several arrays one behind the other (files put together), are
 * taken as well where no member is named.
 *
 * Faults (FIT_EPARSE) name line and byte, "FILE:LINE: what at byte N …", and cannot be read behind:
 *   empty file; Git LFS pointer file; brackets that do not match; a missing or extra comma;
 *   text that is no JSON value; an end inside of an element or of the array; an element with more bytes,
 *   values or levels than the limits below; no such member.
 * A UTF-8 byte order mark is passed over.
 */
#ifndef TRACES_JSON_SCAN_H
#define TRACES_JSON_SCAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/status.h"
#include "libfit/base/text.h"
#include "libfit/table/source.h"

#define FIT_JSON_BYTES ((size_t)4 << 20)	/* in one element, and in one other member */
#define FIT_JSON_VALUES ((size_t)1 << 19)	/* commas and brackets in it */
#define FIT_JSON_DEPTH 64			/* levels in it */

struct fit_json_options {
	const char *member;	/* the array is this member of the top-level object, or the top level
				 * itself is the array; NULL: only the latter */
	bool forgiving;		/* a comma behind the last element, and an end of the input between two
				 * elements or inside of the last one, are fine (see fit_json_cut) */
};

struct fit_json_scan;

/* s is borrowed until close(). options NULL: an array of elements, strictly. */
int fit_json_scan_open(struct fit_json_scan **j, struct fit_source *s,
		       const struct fit_json_options *options, struct fit_err *err) FIT_MUST_CHECK;
void fit_json_scan_close(struct fit_json_scan *j);	/* NULL is fine */

/* The bytes of the next element, or FIT_END. With options.member also the other members of the
 * top-level object, in the order of the file: *key is then the name as it stands between its quotes;
 * for an element key->s is NULL (key may be NULL: such members are passed over). Both live until the
 * next call. */
int fit_json_scan_next(struct fit_json_scan *j, struct fit_text *element, struct fit_text *key,
		       struct fit_err *err) FIT_MUST_CHECK;
/* The same, as a value that jansson made of it (json_decref() it). FIT_EPARSE where the element is no
 * JSON, with what jansson says; reading can go on behind it then (fit_json_bad_element). */
int fit_json_scan_value(struct fit_json_scan *j, json_t **value, struct fit_text *key,
			struct fit_err *err) FIT_MUST_CHECK;
/* Was the last failure one of the element alone? */
bool fit_json_bad_element(const struct fit_json_scan *j);
/* forgiving: did the input end before the array did? */
bool fit_json_cut(const struct fit_json_scan *j);

/* Where the last element starts: line from 1, byte from 0. */
uint64_t fit_json_line(const struct fit_json_scan *j);
uint64_t fit_json_byte(const struct fit_json_scan *j);
uint64_t fit_json_elements(const struct fit_json_scan *j);	/* met so far */

/* A fault that the caller found in the last element: "FILE:LINE:NAME: what" (NAME may be NULL). */
int fit_json_fail(const struct fit_json_scan *j, int code, const char *name, struct fit_err *err,
		  const char *fmt, ...) FIT_PRINTF(5, 6);

#endif
