/* SPDX-License-Identifier: MIT */
/* Zones of the tz database: its files (RFC 8536, "The Time Zone Information Format"), read and applied. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libfit/base/num.h"
#include "libfit/table/source.h"
#include "libfit/table/table.h"
#include "traces/zone.h"

#define FILE_MAX ((size_t)1 << 20)	/* the largest zone has less than 4 KiB */
#define HEADER ((size_t)44)
#define NEAR_S (INT64_C(36) * 3600)	/* no clock is so far from UTC */

struct fit_zone_table {
	size_t n;
	int64_t *at;		/* instants of change, seconds since 1970, ascending */
	int32_t *offset_s;	/* n + 1: before the first change, and from each one on */
	bool has_rule;		/* for what comes behind the last change */
	struct fit_zone rule;
	char hash[FIT_HASH_HEX];
};

void fit_zone_table_free(struct fit_zone_table *t)
{
	if (!t)
		return;
	free(t->at);
	free(t->offset_s);
	free(t);
}

const char *fit_zone_table_hash(const struct fit_zone_table *t)
{
	return t->hash;
}

/* ---- reading ---- */

struct counts {
	size_t utc_marks, std_marks, leaps, changes, types, names;
};

static int64_t big_endian(const unsigned char *p, size_t n)
{
	uint64_t v = p[0] & 0x80 ? ~UINT64_C(0) : 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return (int64_t)v;
}

static bool take_header(const unsigned char *p, size_t n, struct counts *c)
{
	size_t *const fields[] = { &c->utc_marks, &c->std_marks, &c->leaps, &c->changes, &c->types, &c->names };

	if (n < HEADER || memcmp(p, "TZif", 4) != 0)
		return false;
	for (size_t i = 0; i < 6; i++) {
		int64_t v = big_endian(p + 20 + 4 * i, 4);

		if (v < 0 || (size_t)v > FILE_MAX)
			return false;
		*fields[i] = (size_t)v;
	}
	return c->types > 0 && c->types <= 256;
}

/* Bytes behind a header, where an instant takes so many. No sum of such counts can overflow. */
static size_t body(const struct counts *c, size_t instant)
{
	return c->changes * (instant + 1) + c->types * 6 + c->names + c->leaps * (instant + 4) + c->std_marks +
	       c->utc_marks;
}

static int take_changes(struct fit_zone_table *t, const unsigned char *p, const struct counts *c,
			size_t instant)
{
	const unsigned char *kinds = p + c->changes * instant, *types = kinds + c->changes;

	t->n = c->changes;
	t->at = malloc((t->n + 1) * sizeof *t->at);
	t->offset_s = malloc((t->n + 1) * sizeof *t->offset_s);
	if (!t->at || !t->offset_s)
		return FIT_ENOMEM;
	t->offset_s[0] = (int32_t)big_endian(types, 4);		/* type 0, says RFC 8536, 3.2 */
	for (size_t i = 0; i < t->n; i++) {
		t->at[i] = big_endian(p + i * instant, instant);
		if (kinds[i] >= c->types || (i && t->at[i] <= t->at[i - 1]))
			return FIT_EPARSE;
		t->offset_s[i + 1] = (int32_t)big_endian(types + (size_t)kinds[i] * 6, 4);
	}
	for (size_t i = 0; i <= t->n; i++)
		if (t->offset_s[i] < -26 * 3600 || t->offset_s[i] > 26 * 3600)
			return FIT_EPARSE;
	return FIT_OK;
}

/* "\nCET-1CEST,M3.5.0,M10.5.0/3\n"; nothing between: what comes is not known, and stays as it is. */
static int take_footer(struct fit_zone_table *t, const unsigned char *p, size_t n)
{
	const unsigned char *end;
	char text[64];

	if (n < 2 || p[0] != '\n' || !(end = memchr(p + 1, '\n', n - 1)))
		return FIT_EPARSE;
	n = (size_t)(end - p) - 1;
	if (!n)
		return FIT_OK;
	if (n >= sizeof text)
		return FIT_EPARSE;
	memcpy(text, p + 1, n);
	text[n] = '\0';
	t->has_rule = true;
	return fit_zone_rule(&t->rule, text) ? FIT_OK : FIT_EPARSE;
}

static int take_all(struct fit_zone_table *t, const unsigned char *p, size_t n, bool *leaps)
{
	size_t instant = 4;
	struct counts c;
	int rc;

	if (!take_header(p, n, &c) || body(&c, 4) > n - HEADER)
		return FIT_EPARSE;
	if (p[4] >= '2') {	/* the same again, with room for all times */
		p += HEADER + body(&c, 4);
		n -= HEADER + body(&c, 4);
		instant = 8;
		if (!take_header(p, n, &c) || body(&c, 8) > n - HEADER)
			return FIT_EPARSE;
	}
	*leaps = c.leaps > 0;
	rc = *leaps ? FIT_EPARSE : take_changes(t, p + HEADER, &c, instant);
	if (!rc && instant == 8)
		rc = take_footer(t, p + HEADER + body(&c, 8), n - HEADER - body(&c, 8));
	return rc;
}

int fit_zone_table_parse(struct fit_zone_table **out, const void *bytes, size_t n, const char *name,
			 struct fit_err *err)
{
	struct fit_zone_table *t = calloc(1, sizeof *t);
	struct fit_hasher *hasher = fit_hasher_new();
	bool leaps = false;
	int rc = t && hasher ? take_all(t, bytes, n, &leaps) : FIT_ENOMEM;

	*out = NULL;
	if (!rc) {
		fit_hasher_add(hasher, bytes, n);
		fit_hasher_hex(hasher, t->hash);
		*out = t;
		t = NULL;
	}
	fit_hasher_free(hasher);
	fit_zone_table_free(t);
	if (rc == FIT_ENOMEM)
		return fit_fail_nomem(err);
	return rc ? fit_fail(err, FIT_EPARSE, "%s: %s", name, leaps ?
			     "a zone with leap seconds (expected one without, not below right/)" :
			     "no file of a time zone, or a damaged one (expected TZif)") : FIT_OK;
}

static int read_bytes(const char *path, unsigned char *bytes, size_t *n, struct fit_err *err)
{
	struct fit_source *s = NULL;
	size_t got = 1;
	int rc = fit_source_open(&s, path, err);

	for (*n = 0; !rc && got && *n < FILE_MAX; *n += got)
		rc = fit_source_read(s, bytes + *n, FILE_MAX - *n, &got, err);
	fit_source_close(s);
	return rc;
}

static int read_file(struct fit_zone_table **t, const char *path, struct fit_err *err)
{
	unsigned char *bytes = malloc(FILE_MAX);
	size_t n = 0;
	int rc = bytes ? read_bytes(path, bytes, &n, err) : fit_fail_nomem(err);

	rc = rc ? rc : fit_zone_table_parse(t, bytes, n, path, err);
	free(bytes);
	return rc;
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* "America/Argentina/La_Rioja", "Etc/GMT+5". Names of the machine's own zone mean another one elsewhere. */
static bool is_name(const char *s)
{
	static const char *const own[] = { "localtime", "posixrules", NULL };

	for (size_t i = 0; own[i]; i++)
		if (strcmp(s, own[i]) == 0)
			return false;
	if (strlen(s) > 64 || !((*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z')))
		return false;
	for (; *s; s++)
		if (!((*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') ||
		      strchr("_+-", *s) || (*s == '/' && s[1] && s[1] != '/')))
			return false;
	return true;
}

int fit_zone_table_read(struct fit_zone_table **t, const char *name, const char *const *folders, bool *any,
			struct fit_err *err)
{
	char path[512];

	*t = NULL;
	*any = false;
	if (*name == '/')
		return is_file(name) ? read_file(t, name, err) : FIT_ENOTFOUND;
	for (size_t i = 0; folders[i]; i++) {
		struct stat st;

		if (stat(folders[i], &st) || !S_ISDIR(st.st_mode))
			continue;
		*any = true;
		snprintf(path, sizeof path, "%s/%s", folders[i], name);
		if (is_name(name) && is_file(path))
			return read_file(t, path, err);
	}
	return FIT_ENOTFOUND;
}

/* ---- applying it ---- */

/* How many changes there were until then. */
static size_t changes_until(const struct fit_zone_table *t, int64_t utc_s)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->at[mid] <= utc_s)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int64_t fit_zone_table_offset(const struct fit_zone_table *t, int64_t utc_s)
{
	size_t k = changes_until(t, utc_s);

	return k == t->n && t->has_rule ? fit_zone_offset(&t->rule, utc_s * FIT_NS_PER_S) : t->offset_s[k];
}

/* Instants that show the local time, and how many there are. */
struct instants {
	int64_t s[2];
	int n;
	int64_t most_s;		/* largest offset that was tried */
};

static void try_offset(const struct fit_zone_table *t, int64_t local_s, int64_t offset_s, struct instants *x)
{
	int64_t s = local_s - offset_s;

	x->most_s = offset_s > x->most_s ? offset_s : x->most_s;
	if (fit_zone_table_offset(t, s) != offset_s)
		return;
	for (int i = 0; i < x->n; i++)
		if (x->s[i] == s)
			return;
	if (x->n == 2)		/* two changes within three days: nobody tells three instants apart */
		return;
	x->s[x->n++] = s;
}

int fit_zone_table_to_utc(const struct fit_zone_table *t, int64_t local_ns, int64_t after, int64_t *utc_ns)
{
	int64_t local_s = local_ns / FIT_NS_PER_S - (local_ns % FIT_NS_PER_S < 0);
	int64_t rest = local_ns - local_s * FIT_NS_PER_S, s;
	size_t first = changes_until(t, local_s - NEAR_S), last = changes_until(t, local_s + NEAR_S);
	struct instants x = { .n = 0, .most_s = INT64_MIN };

	if (first == last && !(last == t->n && t->has_rule)) {	/* far from any change */
		*utc_ns = local_ns - t->offset_s[first] * FIT_NS_PER_S;
		return 1;
	}
	if (first == t->n)
		return fit_zone_to_utc(&t->rule, local_ns, after, utc_ns);
	for (size_t k = first; k <= last; k++)
		try_offset(t, local_s, t->offset_s[k], &x);
	if (last == t->n && t->has_rule) {
		try_offset(t, local_s, t->rule.dst_s, &x);
		try_offset(t, local_s, t->rule.std_s, &x);
	}
	if (!x.n) {	/* left out: as the clock stood ahead of that */
		*utc_ns = local_ns - fit_zone_table_offset(t, local_s - x.most_s) * FIT_NS_PER_S;
		return 0;
	}
	if (x.n == 2 && x.s[1] < x.s[0]) {
		s = x.s[0];
		x.s[0] = x.s[1];
		x.s[1] = s;
	}
	s = x.s[0];
	if (x.n == 2 && after != FIT_INT_NA && s * FIT_NS_PER_S + rest < after &&
	    x.s[1] * FIT_NS_PER_S + rest >= after)
		s = x.s[1];
	*utc_ns = s * FIT_NS_PER_S + rest;
	return x.n;
}
