/* SPDX-License-Identifier: MIT */
#include "traces/sacct_values.h"

#include <string.h>

#include "libfit/base/num.h"

#define MAX_S INT64_C(9000000000)	/* spans up to 285 years fit in ns */
#define MAX_TYPE 128			/* bytes in the name of a GPU type, in a list of them, in a field */
#define MAX_TYPES 4096
#define MAX_LIST 16384
#define MAX_COUNT INT64_C(1000000000)	/* no job has more of anything that is counted */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Equal but for upper and lower case? word is in upper case. */
static bool is_word(struct fit_text t, const char *word)
{
	if (t.n != strlen(word))
		return false;
	for (size_t i = 0; i < t.n; i++)
		if (upper(t.s[i]) != word[i])
			return false;
	return true;
}

/* ---- spans of time ---- */

bool fit_slurm_is_missing(struct fit_text t)
{
	static const char *const words[] = {
		"UNKNOWN", "NONE", "N/A", "NA", "INVALID", "PARTITION_LIMIT", "NULL", "(NULL)"
	};

	if (t.n == 0)
		return true;
	if (is_digit(t.s[0]))
		return false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (is_word(t, words[i]))
			return true;
	return false;
}

static bool is_unlimited(struct fit_text t)
{
	return is_word(t, "UNLIMITED") || is_word(t, "INFINITE");
}

/* Digits from *at on; at least one, at most ten. */
static int take_digits(struct fit_text t, size_t *at, int64_t *v)
{
	size_t from = *at;

	*v = 0;
	while (*at < t.n && is_digit(t.s[*at])) {
		if (*at - from == 10)
			return FIT_EINVAL;
		*v = *v * 10 + (t.s[(*at)++] - '0');
	}
	return *at > from ? FIT_OK : FIT_EPARSE;
}

/* ".828" from *at on to the end, as ns. */
static int take_fraction(struct fit_text t, size_t *at, int64_t *ns)
{
	int64_t unit = FIT_NS_PER_S / 10;

	if (++*at == t.n)
		return FIT_EPARSE;
	for (*ns = 0; *at < t.n; ++*at, unit /= 10) {
		if (!is_digit(t.s[*at]) || unit == 0)
			return FIT_EPARSE;
		*ns += (t.s[*at] - '0') * unit;
	}
	return FIT_OK;
}

int fit_slurm_span(struct fit_text t, bool bare, enum fit_slurm_span *kind, int64_t *ns)
{
	int64_t days = 0, part[3] = { 0 }, s, fraction = 0;
	bool has_days = false;
	size_t n = 0, at = 0;

	if (fit_slurm_is_missing(t) || is_unlimited(t)) {
		*kind = is_unlimited(t) ? FIT_SPAN_UNLIMITED : FIT_SPAN_MISSING;
		return FIT_OK;
	}
	for (;;) {
		int rc = n == 3 ? FIT_EPARSE : take_digits(t, &at, &part[n]);

		if (rc)
			return rc;
		if (n == 0 && !has_days && at < t.n && t.s[at] == '-') {
			days = part[0];
			has_days = true;
			at++;
			continue;
		}
		n++;
		if (at == t.n || t.s[at] != ':')
			break;
		at++;
	}
	/* where the last part is seconds: MIN:SEC, HH:MM:SS, D-HH:MM:SS */
	if (at < t.n && t.s[at] == '.' && (n == 3 || (n == 2 && !has_days))) {
		int rc = take_fraction(t, &at, &fraction);

		if (rc)
			return rc;
	}
	if (at < t.n || (n == 1 && !has_days && !bare))
		return FIT_EPARSE;
	if ((has_days && part[0] > 23) || (n > 1 && part[1] > 59) || (n > 2 && part[2] > 59))
		return FIT_EPARSE;
	if (has_days || n == 3)
		s = days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
	else
		s = part[0] * 60 + part[1];
	if (s > MAX_S)
		return FIT_EINVAL;
	*kind = FIT_SPAN_VALUE;
	*ns = s * FIT_NS_PER_S + fraction;
	return FIT_OK;
}

int fit_slurm_raw(struct fit_text t, int64_t unit_s, enum fit_slurm_span *kind, int64_t *ns)
{
	size_t at = 0;
	int64_t v;
	int rc;

	if (fit_text_is(t, "4294967294") || fit_text_is(t, "18446744073709551614") ||
	    fit_slurm_is_missing(t)) {
		*kind = FIT_SPAN_MISSING;
		return FIT_OK;
	}
	if (fit_text_is(t, "4294967295") || fit_text_is(t, "18446744073709551615") ||
	    is_unlimited(t)) {
		*kind = FIT_SPAN_UNLIMITED;
		return FIT_OK;
	}
	rc = take_digits(t, &at, &v);
	if (rc)
		return rc;
	if (at < t.n)
		return FIT_EPARSE;
	if (v > MAX_S / unit_s)
		return FIT_EINVAL;
	*kind = FIT_SPAN_VALUE;
	*ns = v * unit_s * FIT_NS_PER_S;
	return FIT_OK;
}

/* ---- states ---- */

static const struct fit_slurm_state states[] = {
	{ "COMPLETED", "OK", false },
	{ "CANCELLED", "CANCELLED", false },
	{ "FAILED", "FAILED", false },
	{ "TIMEOUT", "TIMEOUT", false },
	{ "NODE_FAIL", "NODE_FAIL", false },
	{ "RUNNING", "RUNNING", false },
	{ "PENDING", "PENDING", false },
	{ "OUT_OF_MEMORY", "FAILED", true },
	{ "PREEMPTED", "FAILED", true },
	{ "BOOT_FAIL", "FAILED", true },
	{ "DEADLINE", "FAILED", true },
	{ "LAUNCH_FAILED", "FAILED", true },
	{ "RECONFIG_FAIL", "FAILED", true },
	{ "REVOKED", "CANCELLED", true },	/* a sibling in another cluster of the federation runs */
	{ "SUSPENDED", "RUNNING", true },
	{ "COMPLETING", "RUNNING", true },
	{ "RESIZING", "RUNNING", true },
	{ "SIGNALING", "RUNNING", true },
	{ "STAGE_OUT", "RUNNING", true },
	{ "STOPPED", "RUNNING", true },
	{ "CONFIGURING", "PENDING", true },
	{ "REQUEUED", "PENDING", true },
	{ "REQUEUE_FED", "PENDING", true },
	{ "REQUEUE_HOLD", "PENDING", true },
	{ "RESV_DEL_HOLD", "PENDING", true },
	{ "SPECIAL_EXIT", "PENDING", true },
	{ "UNKNOWN", "UNKNOWN", false },
	{ "?", "UNKNOWN", false }
};

const struct fit_slurm_state *fit_slurm_state_find(struct fit_text t)
{
	const struct fit_slurm_state *found = NULL;
	const char *blank = t.n ? memchr(t.s, ' ', t.n) : NULL;

	if (blank)
		t.n = (size_t)(blank - t.s);
	if (t.n > 1 && t.s[t.n - 1] == '+') {
		t.n--;
		for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
			size_t n = strlen(states[i].name), k = 0;

			while (k < t.n && k < n && upper(t.s[k]) == states[i].name[k])
				k++;
			if (k < t.n)
				continue;
			if (k == n)
				return &states[i];
			if (found && strcmp(found->status, states[i].status) != 0)
				return NULL;
			found = found ? found : &states[i];
		}
		return found;
	}
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (is_word(t, states[i].name))
			return &states[i];
	return NULL;
}

/* ---- job ids ---- */

/* What stands in the brackets: "5-9%2", "1,3,7-11:2", "0-3,...", and how many tasks it lists. */
static int count_tasks(struct fit_text t, uint64_t *tasks)
{
	size_t at = 0;

	*tasks = 0;
	for (;;) {
		int64_t from, to, step = 1;
		int rc;

		if (t.n - at >= 3 && memcmp(t.s + at, "...", 3) == 0) {
			at += 3;
			return at == t.n || t.s[at] == '%' ? FIT_OK : FIT_EPARSE;
		}
		rc = take_digits(t, &at, &from);
		to = from;
		if (!rc && at < t.n && t.s[at] == '-') {
			at++;
			rc = take_digits(t, &at, &to);
		}
		if (!rc && at < t.n && t.s[at] == ':') {
			at++;
			rc = take_digits(t, &at, &step);
		}
		if (rc || to < from || step < 1)
			return FIT_EPARSE;
		*tasks += (uint64_t)((to - from) / step + 1);
		if (at == t.n)
			return FIT_OK;
		if (t.s[at] == '%') {	/* at most so many at a time */
			at++;
			rc = take_digits(t, &at, &from);
			return !rc && at == t.n ? FIT_OK : FIT_EPARSE;
		}
		if (t.s[at++] != ',')
			return FIT_EPARSE;
	}
}

int fit_slurm_id(struct fit_text t, enum fit_slurm_id *kind, uint64_t *tasks)
{
	enum fit_slurm_id k = FIT_ID_JOB;
	uint64_t n_tasks = 0;
	size_t at = 0, from;

	while (at < t.n && is_digit(t.s[at]))
		at++;
	if (at == 0 || at > 20)
		return FIT_EPARSE;
	if (at < t.n && t.s[at] == '_') {
		from = ++at;
		if (at < t.n && t.s[at] == '[') {
			const char *end = memchr(t.s + at, ']', t.n - at);
			struct fit_text list = { t.s + at + 1, 0 };

			if (!end)
				return FIT_EPARSE;
			list.n = (size_t)(end - list.s);
			if (count_tasks(list, &n_tasks))
				return FIT_EPARSE;
			k = FIT_ID_ARRAY;
			at += list.n + 2;
		} else {
			while (at < t.n && is_digit(t.s[at]))
				at++;
			if (at == from)
				return FIT_EPARSE;
		}
	}
	if (at < t.n && t.s[at] == '+') {
		from = ++at;
		while (at < t.n && is_digit(t.s[at]))
			at++;
		if (at == from)
			return FIT_EPARSE;
		k = FIT_ID_COMPONENT;
	}
	if (at < t.n) {
		if (t.s[at] != '.' || at + 1 == t.n)
			return FIT_EPARSE;
		for (at++; at < t.n; at++) {
			char c = upper(t.s[at]);

			if (!is_digit(c) && (c < 'A' || c > 'Z') && c != '+' && c != '_' &&
			    c != '.')
				return FIT_EPARSE;
		}
		k = FIT_ID_STEP;
	}
	*kind = k;
	if (tasks)
		*tasks = n_tasks;
	return FIT_OK;
}

/* ---- trackable resources ---- */

static int parse_count(struct fit_text t, int64_t *v)
{
	int rc;

	if (t.n == 0 || !is_digit(t.s[0]))
		return FIT_EPARSE;
	rc = fit_parse_int64(t, v);
	if (!rc && *v > MAX_COUNT)
		rc = FIT_EINVAL;
	return rc;
}

/* "512G", "1.50T", "64000" (MiB) */
static int parse_memory(struct fit_text t, double *mib)
{
	static const char units[] = "KMGTPE";
	const char *unit = t.n ? memchr(units, upper(t.s[t.n - 1]), sizeof units - 1) : NULL;
	double v;
	int rc;

	if (unit)
		t.n--;
	if (t.n == 0 || !is_digit(t.s[0]))
		return FIT_EPARSE;
	rc = fit_parse_double(t, &v);
	if (rc)
		return rc;
	if (unit && unit == units)
		v /= 1024;
	for (const char *u = units + 1; unit && u < unit; u++)
		v *= 1024;
	if (v > 1e18)
		return FIT_EINVAL;
	*mib = v > 0 ? v : -1;
	return FIT_OK;
}

/* n GPUs of that type; of all types when it is empty. */
static int add_gpus(struct fit_slurm_tres *r, struct fit_str *types, struct fit_text type,
		    int64_t n)
{
	if (type.n == 0) {
		if (r->has_total)
			return FIT_EPARSE;
		r->has_total = true;
		r->gpus = (double)n;
		return FIT_OK;
	}
	for (size_t at = 0; at < types->n;) {	/* is the type there already? */
		struct fit_text had = { types->s + at, 0 };

		while (at + had.n < types->n && had.s[had.n] != ' ')
			had.n++;
		at += had.n + 1;
		while (had.n && had.s[had.n - 1] != ':')
			had.n--;
		had.n -= had.n > 0;
		if (fit_text_eq(had, type))
			return FIT_EPARSE;
	}
	if (type.n > MAX_TYPE || types->n > MAX_TYPES)
		return FIT_EINVAL;
	if (n == 0)
		return FIT_OK;
	r->typed += (double)n;
	return fit_str_printf(types, "%s%.*s:%lld", types->n ? " " : "", FIT_TEXT_ARG(type),
			      (long long)n);
}

static int tres_item(struct fit_text t, struct fit_slurm_tres *r, struct fit_str *types)
{
	const char *eq = memchr(t.s, '=', t.n);
	struct fit_text key, value, gpu = FIT_TEXT_LIT("gres/gpu");
	int64_t v;
	int rc;

	if (!eq || eq == t.s)
		return FIT_EPARSE;
	key = (struct fit_text){ t.s, (size_t)(eq - t.s) };
	value = (struct fit_text){ eq + 1, t.n - key.n - 1 };
	if (value.n == 0)
		return FIT_EPARSE;
	if (fit_text_is(key, "mem"))
		return parse_memory(value, &r->mem_mib);
	if (fit_text_is(key, "cpu"))
		return parse_count(value, &r->cpus);
	if (fit_text_is(key, "node"))
		return parse_count(value, &r->nodes);
	if (key.n < gpu.n || memcmp(key.s, gpu.s, gpu.n) != 0)
		return FIT_OK;		/* billing, energy, gres/shard, license/…, fs/… */
	key.s += gpu.n;
	key.n -= gpu.n;
	if (key.n && key.s[0] != ':')
		return FIT_OK;		/* gres/gpumem, gres/gpuutil */
	if (key.n == 1 || memchr(key.n ? key.s : "", ' ', key.n))
		return FIT_EPARSE;
	rc = parse_count(value, &v);
	if (rc)
		return rc;
	if (key.n)
		key = (struct fit_text){ key.s + 1, key.n - 1 };
	return add_gpus(r, types, key, v);
}

/* "gpu:a100:2(S:0-1)" */
static int gres_item(struct fit_text t, struct fit_slurm_tres *r, struct fit_str *types)
{
	static const char *const prefixes[] = { "gres:", "gres/" };
	const char *paren = memchr(t.s, '(', t.n), *colon;
	struct fit_text type = { "", 0 }, count;
	int64_t v = 1;
	int rc;

	if (paren) {
		if (t.s[t.n - 1] != ')')
			return FIT_EPARSE;
		t.n = (size_t)(paren - t.s);
	}
	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(prefixes[i]);

		if (t.n > n && memcmp(t.s, prefixes[i], n) == 0) {
			t.s += n;
			t.n -= n;
		}
	}
	if (t.n < 3 || memcmp(t.s, "gpu", 3) != 0 || (t.n > 3 && t.s[3] != ':'))
		return FIT_OK;
	t.s += 3;
	t.n -= 3;
	if (t.n) {
		count = (struct fit_text){ t.s + 1, t.n - 1 };
		colon = memchr(count.s, ':', count.n);
		if (colon) {
			type = (struct fit_text){ count.s, (size_t)(colon - count.s) };
			count = (struct fit_text){ colon + 1, count.n - type.n - 1 };
			if (type.n == 0 || memchr(type.s, ' ', type.n))
				return FIT_EPARSE;
		} else if (count.n && !is_digit(count.s[0])) {	/* "gpu:a100": one of them */
			type = count;
			count = FIT_TEXT_LIT("1");
		}
		rc = parse_count(count, &v);
		if (rc)
			return rc;
	}
	return add_gpus(r, types, type, v);
}

static int each_item(struct fit_text t, struct fit_slurm_tres *r, struct fit_str *types,
		     struct fit_text *bad,
		     int (*item)(struct fit_text, struct fit_slurm_tres *, struct fit_str *))
{
	struct fit_slurm_tres found = { .cpus = -1, .nodes = -1, .mem_mib = -1 };
	size_t at = 0;

	fit_str_clear(types);
	*bad = t;
	if (t.n > MAX_LIST)
		return FIT_EINVAL;
	while (at <= t.n) {
		const char *comma = at < t.n ? memchr(t.s + at, ',', t.n - at) : NULL;
		struct fit_text one = { t.s + at, comma ? (size_t)(comma - t.s) - at : t.n - at };
		int rc;

		/* commas inside of "(IDX:0,2)" do not part items */
		while (comma && memchr(one.s, '(', one.n) && !memchr(one.s, ')', one.n)) {
			size_t next = at + one.n + 1;

			comma = next < t.n ? memchr(t.s + next, ',', t.n - next) : NULL;
			one.n = comma ? (size_t)(comma - t.s) - at : t.n - at;
		}
		rc = one.n ? item(one, &found, types) : FIT_EPARSE;
		if (rc) {
			*bad = one;
			return rc;
		}
		at += one.n + 1;
	}
	if (!found.has_total)
		found.gpus = found.typed;
	*r = found;
	return FIT_OK;
}

int fit_slurm_tres(struct fit_text t, struct fit_slurm_tres *r, struct fit_str *types,
		   struct fit_text *bad)
{
	return each_item(t, r, types, bad, tres_item);
}

int fit_slurm_gres(struct fit_text t, struct fit_slurm_tres *r, struct fit_str *types,
		   struct fit_text *bad)
{
	return each_item(t, r, types, bad, gres_item);
}

int fit_slurm_type_set(struct fit_text types, struct fit_str *out)
{
	int rc = FIT_OK;

	fit_str_clear(out);
	for (size_t at = 0; !rc && at < types.n;) {
		struct fit_text one = { types.s + at, 0 };

		while (at + one.n < types.n && one.s[one.n] != ' ')
			one.n++;
		at += one.n + 1;
		while (one.n && one.s[one.n - 1] != ':')
			one.n--;
		one.n -= one.n > 0;
		rc = fit_str_printf(out, "%s%.*s", out->n ? "|" : "", FIT_TEXT_ARG(one));
	}
	return rc;
}
