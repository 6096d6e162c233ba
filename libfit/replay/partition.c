/* SPDX-License-Identifier: MIT */
#include "libfit/replay/partition.h"

#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

void fit_partitions_release(struct fit_partitions *ps)
{
	for (size_t i = 0; i < ps->n; i++) {
		fit_cluster_release(&ps->p[i].cluster);
		free(ps->p[i].name);
	}
	free(ps->p);
	free(ps->spec);
	free(ps->named_spec);
	fit_index_release(&ps->by_name);
	*ps = (struct fit_partitions){ 0 };
}

struct fit_partition *fit_partitions_find(const struct fit_partitions *ps, struct fit_text group)
{
	uint32_t at;

	if (!ps->named)
		return &ps->p[0];
	at = fit_index_get(&ps->by_name, group);
	return at == FIT_NO_INDEX ? NULL : &ps->p[at];
}

static int add_partition(struct fit_partitions *ps, struct fit_text name, const char *spec,
			 struct fit_err *err)
{
	struct fit_partition *p;
	size_t cap = ps->n;
	int rc;

	if (ps->n == UINT16_MAX)
		return fit_fail(err, FIT_EINVAL, "too many virtual clusters (expected at most %d)", UINT16_MAX);
	if (fit_grow(&ps->p, &cap, ps->n + 1, sizeof *ps->p))
		return fit_fail_nomem(err);
	p = &ps->p[ps->n];
	*p = (struct fit_partition){ .name = malloc(name.n + 1) };
	if (!p->name)
		return fit_fail_nomem(err);
	if (name.n)
		memcpy(p->name, name.s, name.n);
	p->name[name.n] = '\0';
	rc = ps->named ? fit_cluster_init(&p->cluster, spec, err) : fit_cluster_init_typed(&p->cluster, spec, err);
	if (rc) {
		free(p->name);
		return rc;
	}
	if (ps->n)
		p->first_node = ps->p[ps->n - 1].first_node + ps->p[ps->n - 1].cluster.n_nodes;
	ps->n_gpus += p->cluster.n_gpus;
	ps->n_nodes += p->cluster.n_nodes;
	ps->n++;
	return FIT_OK;
}

/* "name:NxG" of one part; the name is empty when there is none. */
static struct fit_text name_of(const char *part, size_t n)
{
	const char *colon = memchr(part, ':', n);

	return (struct fit_text){ part, colon ? (size_t)(colon - part) : 0 };
}

/* The text of the parts of one name from *s on; *s goes behind it. */
static int cut_run(const char **s, struct fit_str *run, struct fit_text *name)
{
	*name = name_of(*s, strcspn(*s, ","));
	for (;;) {
		size_t n = strcspn(*s, ",");

		if (!fit_text_eq(name_of(*s, n), *name))
			return FIT_OK;
		if ((run->n && fit_str_puts(run, ",")) || fit_str_add(run, *s, n))
			return FIT_ENOMEM;
		*s += n;
		if (!**s)
			return FIT_OK;
		++*s;
	}
}

/* Append its specification, each part with its name. */
static int name_spec(struct fit_str *text, const struct fit_partition *p)
{
	for (const char *s = p->cluster.spec; ; ) {
		size_t n = strcspn(s, ",");

		if (fit_str_printf(text, "%s%s:%.*s", text->n ? "," : "", p->name, (int)n, s))
			return FIT_ENOMEM;
		if (!s[n])
			return FIT_OK;
		s += n + 1;
	}
}

static int add_named(struct fit_partitions *ps, const char *spec, struct fit_str *text, struct fit_err *err)
{
	struct fit_str run = { 0 };
	int rc = FIT_OK;

	for (const char *s = spec; *s && !rc; ) {
		struct fit_text name;
		uint32_t before = FIT_NO_INDEX;

		fit_str_release(&run);
		if (cut_run(&s, &run, &name))
			rc = fit_fail_nomem(err);
		else if (!name.n)
			rc = fit_fail(err, FIT_EINVAL, "bad cluster '%s' (expected NAME:NODESxGPUS for each "
				      "virtual cluster)", spec);
		else if (fit_index_put(&ps->by_name, name, (uint32_t)ps->n, &before))
			rc = fit_fail_nomem(err);
		else if (before != FIT_NO_INDEX)
			rc = fit_fail(err, FIT_EINVAL, "bad cluster '%s' (expected the parts of '%.*s' next to "
				      "each other)", spec, FIT_TEXT_ARG(name));
		rc = rc ? rc : add_partition(ps, name, run.s, err);
		if (!rc && name_spec(text, &ps->p[ps->n - 1]))
			rc = fit_fail_nomem(err);
	}
	fit_str_release(&run);
	return rc;
}

/* One "NAME:N" or "N". */
static int set_apart(struct fit_partitions *ps, struct fit_text part, int32_t **nodes, size_t *n,
		     size_t *cap, struct fit_err *err)
{
	struct fit_text name = name_of(part.s, part.n), number = part;
	struct fit_partition *p;
	int64_t count;

	if (name.n || (part.n && part.s[0] == ':')) {
		number.s += name.n + 1;
		number.n -= name.n + 1;
	}
	p = name.n || !ps->named ? fit_partitions_find(ps, name) : NULL;
	if (!p || (!ps->named && name.n) || fit_parse_int64(number, &count) || count < 1 ||
	    count >= p->cluster.n_nodes)
		return fit_fail(err, FIT_EINVAL, "bad nodes '%.*s' (expected %s of them, fewer than there are)",
				FIT_TEXT_ARG(part), ps->named ? "NAME:N of a virtual cluster, N" : "N");
	if (fit_grow(nodes, cap, *n + (size_t)count, sizeof **nodes))
		return fit_fail_nomem(err);
	for (int32_t k = p->cluster.n_nodes - (int32_t)count; k < p->cluster.n_nodes; k++) {
		fit_cluster_close(&p->cluster, k);
		(*nodes)[(*n)++] = p->first_node + k;
	}
	return FIT_OK;
}

int fit_partitions_set_apart(struct fit_partitions *ps, const char *text, int32_t **nodes, size_t *n,
			     struct fit_err *err)
{
	size_t cap = 0;
	int rc = FIT_OK;

	*nodes = NULL;
	*n = 0;
	for (const char *s = text; !rc; ) {
		struct fit_text part = { s, strcspn(s, ",") };

		rc = set_apart(ps, part, nodes, n, &cap, err);
		s += part.n;
		if (!*s++)
			break;
	}
	if (rc) {
		free(*nodes);
		*nodes = NULL;
		*n = 0;
	}
	return rc;
}

int fit_partitions_init(struct fit_partitions *ps, const char *spec, bool named, struct fit_err *err)
{
	struct fit_cluster whole;
	struct fit_str text = { 0 };
	int rc;

	*ps = (struct fit_partitions){ .named = named };
	rc = named ? fit_cluster_init(&whole, spec, err) : fit_cluster_init_typed(&whole, spec, err);
	if (rc)
		return rc;
	ps->spec = whole.spec;
	whole.spec = NULL;
	fit_cluster_release(&whole);
	rc = named ? add_named(ps, spec, &text, err) :
	     add_partition(ps, (struct fit_text){ "", 0 }, spec, err);
	ps->named_spec = text.s;
	if (rc)
		fit_partitions_release(ps);
	return rc;
}
