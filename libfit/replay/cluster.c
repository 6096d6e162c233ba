/* SPDX-License-Identifier: MIT */
#include "libfit/replay/cluster.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/gpu_types.h"
#include "libfit/base/num.h"
#include "libfit/base/text.h"

/* A set of node numbers: a bitmap, and a bitmap of its non-empty words, so that the lowest member is
 * found in (nodes / 4096) steps. */
struct fit_nodeset {
	uint64_t *word, *summary;
	size_t n_summary;
	int32_t count;
};

static int set_init(struct fit_nodeset *s, int32_t n_nodes)
{
	size_t words = ((size_t)n_nodes + 63) / 64;

	s->n_summary = (words + 63) / 64;
	s->word = calloc(words, sizeof *s->word);
	s->summary = calloc(s->n_summary, sizeof *s->summary);
	return s->word && s->summary ? FIT_OK : FIT_ENOMEM;
}

static void set_add(struct fit_nodeset *s, int32_t node)
{
	size_t w = (size_t)node / 64;

	s->word[w] |= UINT64_C(1) << (node % 64);
	s->summary[w / 64] |= UINT64_C(1) << (w % 64);
	s->count++;
}

static void set_remove(struct fit_nodeset *s, int32_t node)
{
	size_t w = (size_t)node / 64;

	s->word[w] &= ~(UINT64_C(1) << (node % 64));
	if (!s->word[w])
		s->summary[w / 64] &= ~(UINT64_C(1) << (w % 64));
	s->count--;
}

static int32_t set_lowest(const struct fit_nodeset *s)
{
	for (size_t i = 0; i < s->n_summary; i++) {
		if (s->summary[i]) {
			size_t w = 64 * i + (size_t)__builtin_ctzll(s->summary[i]);

			return (int32_t)(64 * w) + __builtin_ctzll(s->word[w]);
		}
	}
	return -1;
}

/* The lowest member above node, or -1. */
static int32_t set_next(const struct fit_nodeset *s, int32_t node)
{
	size_t from = (size_t)(node + 1), w = from / 64, i;
	uint64_t bits;

	if (w / 64 >= s->n_summary)
		return -1;
	if (s->summary[w / 64] >> (w % 64) & 1) {
		bits = s->word[w] & (UINT64_MAX << (from % 64));
		if (bits)
			return (int32_t)(64 * w) + __builtin_ctzll(bits);
	}
	i = w / 64;
	bits = w % 64 == 63 ? 0 : s->summary[i] & (UINT64_MAX << (w % 64 + 1));
	while (!bits) {
		if (++i == s->n_summary)
			return -1;
		bits = s->summary[i];
	}
	w = 64 * i + (size_t)__builtin_ctzll(bits);
	return (int32_t)(64 * w) + __builtin_ctzll(s->word[w]);
}

void fit_alloc_release(struct fit_alloc *a)
{
	free(a->shares);
	*a = (struct fit_alloc){ 0 };
}

bool fit_alloc_equal(const struct fit_alloc *a, const struct fit_alloc *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->shares[i].node != b->shares[i].node || a->shares[i].gpus != b->shares[i].gpus)
			return false;
	return true;
}

/* ---- the specification ---- */

struct part {
	struct fit_text name;	/* empty: none */
	int64_t nodes, gpus;
	int32_t type;
};

/* typed: a name may stand for the GPUs of a node. */
static int parse_part(struct fit_text t, bool typed, struct part *p)
{
	const char *colon = memchr(t.s, ':', t.n), *x;
	const struct fit_gpu_type_info *info;
	struct fit_text nodes, gpus;

	p->name = (struct fit_text){ t.s, 0 };
	if (colon) {
		p->name.n = (size_t)(colon - t.s);
		t.n -= p->name.n + 1;
		t.s = colon + 1;
		if (typed && !p->name.n)
			return FIT_EPARSE;
	}
	x = memchr(t.s, 'x', t.n);
	info = typed && p->name.n && !x ? fit_gpu_type_find(p->name) : NULL;
	if (!x && !info)
		return FIT_EPARSE;
	nodes = (struct fit_text){ t.s, x ? (size_t)(x - t.s) : t.n };
	if (fit_parse_int64(nodes, &p->nodes))
		return FIT_EPARSE;
	if (info)
		p->gpus = info->node_gpus;
	gpus = (struct fit_text){ x ? x + 1 : t.s, x ? t.n - nodes.n - 1 : 0 };
	if (x && fit_parse_int64(gpus, &p->gpus))
		return FIT_EPARSE;
	return p->nodes >= 1 && p->nodes <= FIT_NODES_MAX && p->gpus >= 1 && p->gpus <= FIT_NODE_GPUS_MAX ?
	       FIT_OK : FIT_EINVAL;
}

static int parse_spec(const char *spec, bool typed, struct part **parts, size_t *n, struct fit_err *err)
{
	size_t cap = 0;
	const char *s = spec;

	for (;;) {
		const char *comma = strchr(s, ',');
		struct fit_text t = { s, comma ? (size_t)(comma - s) : strlen(s) };
		struct part p = { .type = 0 }, *last;
		int rc = parse_part(t, typed, &p);

		if (rc)
			return fit_fail(err, FIT_EINVAL, "bad cluster '%s' (expected NODESxGPUS, such as 16x4, "
					"at most %d nodes of at most %d GPUs)", spec, FIT_NODES_MAX,
					FIT_NODE_GPUS_MAX);
		if (!typed)
			p.name.n = 0;
		last = *n ? &(*parts)[*n - 1] : NULL;
		if (last && !last->name.n != !p.name.n)
			return fit_fail(err, FIT_EINVAL, "bad cluster '%s' (expected a GPU type for each part, or "
					"for none)", spec);
		if (last && last->gpus == p.gpus && fit_text_eq(last->name, p.name)) {
			last->nodes += p.nodes;
		} else {
			if (fit_grow(parts, &cap, *n + 1, sizeof **parts))
				return fit_fail_nomem(err);
			(*parts)[(*n)++] = p;
		}
		if (!comma)
			return FIT_OK;
		s = comma + 1;
	}
}

/* Number the types in the order of their first parts. */
static int number_types(struct fit_cluster *c, const char *spec, struct part *parts, size_t n,
			struct fit_err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct fit_gpu_type *t;

		parts[i].type = fit_cluster_find_type(c, parts[i].name);
		if (parts[i].type == FIT_ANY_TYPE) {
			if (c->n_types == FIT_GPU_TYPES_MAX)
				return fit_fail(err, FIT_EINVAL, "bad cluster '%s' (expected at most %d GPU types)",
						spec, FIT_GPU_TYPES_MAX);
			parts[i].type = c->n_types;
			c->types[c->n_types].name = fit_strdup(parts[i].name);
			if (!c->types[c->n_types++].name)
				return fit_fail_nomem(err);
		}
		t = &c->types[parts[i].type];
		t->n_nodes += (int32_t)parts[i].nodes;
		t->n_gpus += parts[i].nodes * parts[i].gpus;
		if (parts[i].gpus > t->max_node_gpus)
			t->max_node_gpus = (int32_t)parts[i].gpus;
	}
	return FIT_OK;
}

static int init_types(struct fit_cluster *c)
{
	for (int32_t i = 0; i < c->n_types; i++) {
		struct fit_gpu_type *t = &c->types[i];

		t->n_open = t->n_free = t->n_gpus;
		t->by_free = calloc((size_t)t->max_node_gpus + 1, sizeof *t->by_free);
		if (!t->by_free)
			return FIT_ENOMEM;
		for (int32_t f = 0; f <= t->max_node_gpus; f++)
			if (set_init(&t->by_free[f], c->n_nodes))
				return FIT_ENOMEM;
	}
	return FIT_OK;
}

static int fill_nodes(struct fit_cluster *c, const struct part *parts, size_t n)
{
	struct fit_str text = { 0 };
	int32_t node = 0;
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++) {
		c->n_gpus += parts[i].nodes * parts[i].gpus;
		if (parts[i].gpus > c->max_node_gpus)
			c->max_node_gpus = (int32_t)parts[i].gpus;
		rc = fit_str_printf(&text, "%s%.*s%s%lldx%lld", i ? "," : "", FIT_TEXT_ARG(parts[i].name),
				    parts[i].name.n ? ":" : "", (long long)parts[i].nodes, (long long)parts[i].gpus);
	}
	c->spec = text.s;
	c->n_open = c->n_free = c->n_gpus;
	c->gpus = malloc((size_t)c->n_nodes);
	c->free = malloc((size_t)c->n_nodes);
	c->type = malloc((size_t)c->n_nodes);
	c->closed = calloc((size_t)c->n_nodes, sizeof *c->closed);
	if (rc || !c->gpus || !c->free || !c->type || !c->closed || init_types(c))
		return FIT_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		for (int64_t k = 0; k < parts[i].nodes; k++, node++) {
			c->gpus[node] = c->free[node] = (uint8_t)parts[i].gpus;
			c->type[node] = (uint8_t)parts[i].type;
			set_add(&c->types[parts[i].type].by_free[parts[i].gpus], node);
		}
	}
	return FIT_OK;
}

static int init(struct fit_cluster *c, const char *spec, bool typed, struct fit_err *err)
{
	struct part *parts = NULL;
	int64_t nodes = 0;
	size_t n = 0;
	int rc;

	*c = (struct fit_cluster){ .types = calloc(FIT_GPU_TYPES_MAX, sizeof *c->types) };
	rc = c->types ? parse_spec(spec, typed, &parts, &n, err) : fit_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		nodes += parts[i].nodes;
	if (!rc && nodes > FIT_NODES_MAX)
		rc = fit_fail(err, FIT_EINVAL, "bad cluster '%s' (expected at most %d nodes)", spec, FIT_NODES_MAX);
	rc = rc ? rc : number_types(c, spec, parts, n, err);
	c->n_nodes = rc ? 0 : (int32_t)nodes;
	if (!rc && fill_nodes(c, parts, n))
		rc = fit_fail_nomem(err);
	free(parts);
	if (rc)
		fit_cluster_release(c);
	return rc;
}

int fit_cluster_init(struct fit_cluster *c, const char *spec, struct fit_err *err)
{
	return init(c, spec, false, err);
}

int fit_cluster_init_typed(struct fit_cluster *c, const char *spec, struct fit_err *err)
{
	return init(c, spec, true, err);
}

void fit_cluster_release(struct fit_cluster *c)
{
	for (int32_t i = 0; i < c->n_types; i++) {
		struct fit_gpu_type *t = &c->types[i];

		for (int32_t f = 0; t->by_free && f <= t->max_node_gpus; f++) {
			free(t->by_free[f].word);
			free(t->by_free[f].summary);
		}
		free(t->by_free);
		free(t->name);
	}
	free(c->types);
	free(c->gpus);
	free(c->free);
	free(c->type);
	free(c->closed);
	if (c->switches)
		fit_switches_release(c->switches);
	free(c->switches);
	free(c->spec);
	*c = (struct fit_cluster){ 0 };
}

int fit_cluster_set_switches(struct fit_cluster *c, int64_t switches, int64_t cpus, double mem_gib,
			     struct fit_err *err)
{
	bool alike = c->n_types == 1 && c->n_gpus == (int64_t)c->n_nodes * c->max_node_gpus;

	if (!alike || switches < 1 || c->n_nodes % switches)
		return fit_fail(err, FIT_EINVAL, "%lld switches for %d %snodes (expected as many nodes behind each)",
				(long long)switches, (int)c->n_nodes, alike ? "" : "different ");
	c->switches = malloc(sizeof *c->switches);
	if (!c->switches)
		return fit_fail_nomem(err);
	*c->switches = (struct fit_switches){ .n = (int32_t)switches, .nodes = (int32_t)(c->n_nodes / switches),
					      .node_gpus = c->max_node_gpus, .cpus = cpus, .mem_gib = mem_gib };
	return fit_switches_init(c->switches, err);
}

bool fit_cluster_typed(const struct fit_cluster *c)
{
	return c->types[0].name[0] != '\0';
}

int32_t fit_cluster_find_type(const struct fit_cluster *c, struct fit_text name)
{
	for (int32_t i = 0; i < c->n_types; i++)
		if (fit_text_is(name, c->types[i].name))
			return i;
	return FIT_ANY_TYPE;
}

/* ---- taking and giving ---- */

static void change_free(struct fit_cluster *c, int32_t node, int32_t by)
{
	struct fit_gpu_type *t = &c->types[c->type[node]];

	if (c->closed[node]) {
		c->free[node] = (uint8_t)(c->free[node] + by);
		return;
	}
	set_remove(&t->by_free[c->free[node]], node);
	c->free[node] = (uint8_t)(c->free[node] + by);
	set_add(&t->by_free[c->free[node]], node);
	c->n_free += by;
	t->n_free += by;
}

static int take_emptiest(struct fit_cluster *c, const struct fit_gpu_type *t, int64_t gpus,
			 struct fit_alloc *a)
{
	int32_t most = t->max_node_gpus;

	while (a->gpus < gpus) {
		int64_t want = gpus - a->gpus;
		int32_t node, take;

		while (!t->by_free[most].count)
			most--;
		node = set_lowest(&t->by_free[most]);
		take = want < most ? (int32_t)want : most;
		if (fit_grow(&a->shares, &a->cap, a->n + 1, sizeof *a->shares)) {
			fit_cluster_give(c, a);
			a->n = 0;
			a->gpus = 0;
			return FIT_ENOMEM;
		}
		a->shares[a->n++] = (struct fit_share){ node, take };
		a->gpus += take;
		change_free(c, node, -take);
	}
	return FIT_OK;
}

int fit_cluster_take_type(struct fit_cluster *c, int32_t type, int64_t gpus, struct fit_alloc *a)
{
	a->n = 0;
	a->gpus = 0;
	for (int32_t i = 0; i < c->n_types; i++)
		if ((type == FIT_ANY_TYPE || type == i) && gpus <= c->types[i].n_free)
			return take_emptiest(c, &c->types[i], gpus, a);
	return FIT_EINVAL;
}

int fit_cluster_take(struct fit_cluster *c, int64_t gpus, struct fit_alloc *a)
{
	return fit_cluster_take_type(c, FIT_ANY_TYPE, gpus, a);
}

int fit_cluster_take_shares(struct fit_cluster *c, const struct fit_alloc *a)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct fit_share *s = &a->shares[i];

		if (s->node < 0 || s->node >= c->n_nodes || s->gpus < 1 ||
		    s->gpus > c->free[s->node] || c->closed[s->node]) {
			while (i--)
				change_free(c, a->shares[i].node, a->shares[i].gpus);
			return FIT_EINVAL;
		}
		change_free(c, s->node, -s->gpus);
	}
	if (c->switches)
		fit_switches_change(c->switches, a, -1);
	return FIT_OK;
}

void fit_cluster_give(struct fit_cluster *c, const struct fit_alloc *a)
{
	for (size_t i = 0; i < a->n; i++)
		change_free(c, a->shares[i].node, a->shares[i].gpus);
	if (c->switches)
		fit_switches_change(c->switches, a, 1);
}

int32_t fit_cluster_next(const struct fit_cluster *c, int32_t type, int32_t free, int32_t after)
{
	const struct fit_nodeset *s = &c->types[type].by_free[free];

	return after < 0 ? set_lowest(s) : set_next(s, after);
}

int32_t fit_cluster_open_gpus(const struct fit_cluster *c, int32_t node)
{
	return c->closed[node] ? 0 : c->free[node];
}

/* Count an open node's GPUs in, or out. */
static void count_open(struct fit_cluster *c, int32_t node, int32_t sign)
{
	struct fit_gpu_type *t = &c->types[c->type[node]];

	t->n_free += sign * c->free[node];
	t->n_open += sign * c->gpus[node];
	c->n_free += sign * c->free[node];
	c->n_open += sign * c->gpus[node];
}

void fit_cluster_close(struct fit_cluster *c, int32_t node)
{
	if (c->closed[node])
		return;
	set_remove(&c->types[c->type[node]].by_free[c->free[node]], node);
	count_open(c, node, -1);
	c->closed[node] = true;
}

void fit_cluster_open(struct fit_cluster *c, int32_t node)
{
	if (!c->closed[node])
		return;
	set_add(&c->types[c->type[node]].by_free[c->free[node]], node);
	count_open(c, node, 1);
	c->closed[node] = false;
}

/* ---- another order of nodes ---- */

/* Index the nodes of a type anew. On failure the old index stays. */
static int index_again(struct fit_cluster *c, int32_t type)
{
	struct fit_gpu_type *t = &c->types[type];
	struct fit_nodeset *sets = calloc((size_t)t->max_node_gpus + 1, sizeof *sets), *old = t->by_free;
	int rc = sets ? FIT_OK : FIT_ENOMEM;

	for (int32_t f = 0; !rc && f <= t->max_node_gpus; f++)
		rc = set_init(&sets[f], c->n_nodes);
	for (int32_t i = 0; !rc && i < c->n_nodes; i++)
		if (!c->closed[i] && c->type[i] == type)
			set_add(&sets[c->free[i]], i);
	if (rc)
		old = sets;
	else
		t->by_free = sets;
	for (int32_t f = 0; old && f <= t->max_node_gpus; f++) {
		free(old[f].word);
		free(old[f].summary);
	}
	free(old);
	return rc;
}

static int index_all_again(struct fit_cluster *c)
{
	int rc = FIT_OK;

	for (int32_t i = 0; !rc && i < c->n_types; i++)
		rc = index_again(c, i);
	return rc;
}

int fit_cluster_add_closed(struct fit_cluster *c, int32_t gpus)
{
	size_t n = (size_t)c->n_nodes, has = n, left = n, types = n, closed = n;

	if (gpus > c->types[0].max_node_gpus || fit_grow(&c->gpus, &has, n + 1, sizeof *c->gpus) ||
	    fit_grow(&c->free, &left, n + 1, sizeof *c->free) ||
	    fit_grow(&c->type, &types, n + 1, sizeof *c->type) ||
	    fit_grow(&c->closed, &closed, n + 1, sizeof *c->closed))
		return FIT_ENOMEM;
	c->gpus[c->n_nodes] = c->free[c->n_nodes] = (uint8_t)gpus;
	c->type[c->n_nodes] = 0;
	c->closed[c->n_nodes] = true;
	c->n_nodes++;
	if (index_all_again(c))
		return FIT_ENOMEM;
	c->n_gpus += gpus;
	c->types[0].n_gpus += gpus;
	c->types[0].n_nodes++;
	return FIT_OK;
}

static void byte_to_end(uint8_t *a, size_t from, size_t n)
{
	uint8_t x = a[from];

	memmove(a + from, a + from + 1, n - from - 1);
	a[n - 1] = x;
}

int fit_cluster_move_last(struct fit_cluster *c, int32_t node)
{
	size_t n = (size_t)c->n_nodes, from = (size_t)node;
	bool closed = c->closed[node];

	byte_to_end(c->gpus, from, n);
	byte_to_end(c->free, from, n);
	byte_to_end(c->type, from, n);
	memmove(c->closed + from, c->closed + from + 1, (n - from - 1) * sizeof *c->closed);
	c->closed[n - 1] = closed;
	return index_all_again(c);
}
