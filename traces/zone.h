/* SPDX-License-Identifier: MIT */
/*
 * Time zones: how a clock stands to UTC. A fixed offset, a POSIX TZ rule, or a zone of the tz database,
 * read from its own files (RFC 8536) without the environment: neither TZ nor the zone of the machine ever
 * changes a result.
 */
#ifndef TRACES_ZONE_H
#define TRACES_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

struct fit_zone_table;

/* A standard and a summer offset with the days of change (month.week.weekday/time), or a table of all
 * changes there were. Copies share the table, which goes with the one that was parsed. */
struct fit_zone {
	bool given;
	int64_t std_s, dst_s;		/* seconds east of UTC; dst_s == std_s: no summer time */
	struct fit_zone_change { int month, week, day; int64_t s; } to_dst, to_std;
	struct fit_zone_table *table;	/* NULL: none */
};

/*
 * "UTC", "Z", "+08:00", "-0700"; a POSIX rule such as "PST8PDT,M3.2.0,M11.1.0"; "PST8PDT", "US/Pacific"
 * and "America/Los_Angeles" (the rule just given, in force since 2007); any other name is looked for in
 * the tz database of the system, and what begins with '/' is a file of that kind. FIT_EINVAL: no such
 * zone, or no tz database; FIT_EPARSE, FIT_EIO: a damaged file, or one that cannot be read.
 */
int fit_zone_parse(struct fit_zone *z, const char *text, struct fit_err *err) FIT_MUST_CHECK;
/* The same where the tz database is looked for in these folders (ends with NULL). */
int fit_zone_parse_in(struct fit_zone *z, const char *text, const char *const *folders,
		      struct fit_err *err) FIT_MUST_CHECK;
/* A POSIX rule alone; false: it is none. */
bool fit_zone_rule(struct fit_zone *z, const char *text) FIT_MUST_CHECK;
void fit_zone_release(struct fit_zone *z);
/* Hash of the file that the zone was read from; NULL: it is none of the tz database. */
const char *fit_zone_hash(const struct fit_zone *z);

/* Seconds east of UTC at an instant. */
int64_t fit_zone_offset(const struct fit_zone *z, int64_t utc_ns);
/* An instant that the clock shows as local_ns: the first one that is not before after (FIT_INT_NA: no
 * such bound), else the first one. The return value is how many there are: 1; 2 in the hour that is
 * repeated in autumn; 0 in the hour that spring leaves out (read as if it were still winter). */
int fit_zone_to_utc(const struct fit_zone *z, int64_t local_ns, int64_t after, int64_t *utc_ns);

/* ---- the tables ---- */

/* Take the bytes of a file (TZif, version 1 to 4). name stands in messages. FIT_EPARSE. */
int fit_zone_table_parse(struct fit_zone_table **t, const void *bytes, size_t n, const char *name,
			 struct fit_err *err) FIT_MUST_CHECK;
/* Read the file of a zone: name below one of the folders, or a path that begins with '/'. FIT_ENOTFOUND:
 * there is none; *any: there is a folder. */
int fit_zone_table_read(struct fit_zone_table **t, const char *name, const char *const *folders, bool *any,
			struct fit_err *err) FIT_MUST_CHECK;
void fit_zone_table_free(struct fit_zone_table *t);
int64_t fit_zone_table_offset(const struct fit_zone_table *t, int64_t utc_s);
int fit_zone_table_to_utc(const struct fit_zone_table *t, int64_t local_ns, int64_t after, int64_t *utc_ns);
const char *fit_zone_table_hash(const struct fit_zone_table *t);

FIT_C_END

#endif
