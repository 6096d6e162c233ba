/* SPDX-License-Identifier: MIT */
#include "traces/swf_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/digits.h"
#include "libfit/base/num.h"
#include "traces/swf.h"

#define META_MAX 65536		/* bytes of header comments that go into the metadata */

/* ---- labels: names of numbers ---- */

void fit_swf_header_release(struct fit_swf_header *h)
{
	fit_index_release(&h->labels);
	fit_str_release(&h->bytes);
	free(h->ends);
}

struct fit_text fit_swf_label(const struct fit_swf_header *h, const char *kind, struct fit_text number)
{
	char key[64];
	uint32_t i;
	size_t from;
	int n;

	if (h->n_labels == 0)
		return (struct fit_text){ NULL, 0 };
	n = snprintf(key, sizeof key, "%s %.*s", kind, FIT_TEXT_ARG(number));
	if (n < 0 || (size_t)n >= sizeof key)
		return (struct fit_text){ NULL, 0 };
	i = fit_index_get(&h->labels, (struct fit_text){ key, (size_t)n });
	if (i == FIT_NO_INDEX)
		return (struct fit_text){ NULL, 0 };
	from = i ? h->ends[i - 1] : 0;
	return (struct fit_text){ h->bytes.s + from, h->ends[i] - from };
}

/* "user 3 alice"; the first one of a number counts. */
static int take_label(struct fit_swf_header *h, struct fit_text t)
{
	const char *blank = t.n ? memchr(t.s, ' ', t.n) : NULL, *second;
	struct fit_text key;
	uint32_t found;
	int rc;

	second = blank ? memchr(blank + 1, ' ', t.n - (size_t)(blank + 1 - t.s)) : NULL;
	if (!second || second + 1 == t.s + t.n || h->n_labels >= FIT_NO_INDEX - 1)
		return FIT_OK;
	key = (struct fit_text){ t.s, (size_t)(second - t.s) };
	rc = fit_grow(&h->ends, &h->cap, h->n_labels + 1, sizeof *h->ends);
	rc = rc ? rc : fit_index_put(&h->labels, key, (uint32_t)h->n_labels, &found);
	if (rc || found != FIT_NO_INDEX)
		return rc;
	rc = fit_swf_unescape(&h->bytes, (struct fit_text){ second + 1, t.n - key.n - 1 });
	h->ends[h->n_labels++] = h->bytes.n;
	return rc;
}

/* ---- comments ---- */

/* "MaxProcs" as "swf_max_procs". */
static void meta_key(const char *name, char key[64])
{
	size_t n = (size_t)snprintf(key, 64, "swf");

	for (; *name && n < 61; name++) {
		if (*name >= 'A' && *name <= 'Z')
			key[n++] = '_';
		key[n++] = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
	}
	key[n] = '\0';
}

/* The number that a value begins with: "64 (16 x 4)". */
static bool leading_number(struct fit_text t, int64_t *v)
{
	uint64_t u;
	size_t n = 0;

	while (n < t.n && t.s[n] >= '0' && t.s[n] <= '9')
		n++;
	if (!fit_take_digits(t.s, n, &u))
		return false;
	*v = (int64_t)u;
	return true;
}

static int keep_header(struct fit_swf_header *h, struct fit_trace_out *out, const char *name,
		       struct fit_text value, struct fit_err *err)
{
	char key[64], *text;
	int rc;

	if (h->meta_n + value.n > META_MAX) {
		h->not_kept++;
		return FIT_OK;
	}
	h->meta_n += value.n;
	meta_key(name, key);
	text = fit_strdup(value);
	rc = text ? fit_trace_meta(out, key, text) : FIT_ENOMEM;
	free(text);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int take_start(struct fit_swf_header *h, struct fit_lines *lines, struct fit_trace_out *out,
		      bool records,
		      struct fit_text value, struct fit_err *err)
{
	char origin[FIT_DATETIME_MAX + 8];
	int64_t v;

	if (!leading_number(value, &v) || v > INT64_C(4000000000))
		return fit_lines_fail(lines, FIT_EPARSE, lines->number, "UnixStartTime", err,
				      "bad value '%.*s' (expected seconds since 1970)", FIT_TEXT_ARG(value));
	if (h->unix_start >= 0 && v != h->unix_start)
		return fit_lines_fail(lines, FIT_EDATA, lines->number, "UnixStartTime", err,
				      "another log begins here, '%.*s' (expected one log, whose times count "
				      "from one start, %lld)", FIT_TEXT_ARG(value), (long long)h->unix_start);
	if (h->unix_start >= 0 || records)
		return FIT_OK;
	h->unix_start = v;
	if (v == 0)		/* nobody knows */
		return FIT_OK;
	fit_format_datetime(origin, v * FIT_NS_PER_S);
	memcpy(origin + strlen(origin), "+00:00", sizeof "+00:00");
	return fit_trace_meta(out, "origin", origin) ? fit_fail_nomem(err) : FIT_OK;
}

int fit_swf_header_take(struct fit_swf_header *h, struct fit_lines *lines, struct fit_trace_out *out,
			bool records, struct fit_text t, struct fit_err *err)
{
	static const char *const names[] = {
		"Version", "Computer", "Installation", "Acknowledge", "Information", "Conversion", "MaxJobs",
		"MaxRecords", "Preemption", "UnixStartTime", "TimeZone", "TimeZoneString", "StartTime",
		"EndTime", "MaxNodes", "MaxProcs", "MaxRuntime", "MaxMemory", "AllowOveruse", "MaxQueues",
		"Queues", "Queue", "MaxPartitions", "Partitions", "Partition", "Note"
	};
	const char *colon = t.n ? memchr(t.s, ':', t.n) : NULL;
	struct fit_text key, value;
	int rc = FIT_OK;

	if (!colon)
		return FIT_OK;
	key = fit_trim((struct fit_text){ t.s + 1, (size_t)(colon - t.s) - 1 });
	value = fit_trim((struct fit_text){ colon + 1, t.n - (size_t)(colon - t.s) - 1 });
	if (value.n == 0)
		return FIT_OK;
	if (fit_text_is(key, "UnixStartTime"))
		rc = take_start(h, lines, out, records, value, err);
	if (rc || records)
		return rc;
	if (fit_text_is(key, "Label"))
		return take_label(h, value) ? fit_fail_nomem(err) : FIT_OK;
	if (fit_text_is(key, "MaxProcs") && !leading_number(value, &h->max_procs))
		h->max_procs = -1;
	if (fit_text_is(key, "Note") && fit_text_is(value, FIT_SWF_NOTE_GPUS))
		h->says_gpus = true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (fit_text_is(key, names[i]))
			return keep_header(h, out, names[i], value, err);
	return FIT_OK;
}
