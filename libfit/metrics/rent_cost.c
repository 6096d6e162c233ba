/* SPDX-License-Identifier: MIT */
#include "libfit/metrics/rent_cost.h"

#include <stdlib.h>

#include "libfit/base/num.h"

struct price {
	struct fit_text type;	/* borrowed from the caller's text */
	double value;
};

/* Nodes of one part of the cluster's text. */
struct part {
	double price;
	int64_t first, n;	/* nodes */
	int64_t ugpus;		/* of all its nodes */
	int64_t rented_ugpus;	/* now */
	fit_i128 paid;		/* GPU-seconds, as elsewhere in millionths and nanoseconds */
};

struct fit_rent_cost {
	struct price *prices;
	size_t n_prices;
	struct part *parts;
	size_t n;
	int64_t clock_ns;
};

void fit_rent_cost_free(struct fit_rent_cost *c)
{
	if (!c)
		return;
	free(c->prices);
	free(c->parts);
	free(c);
}

static int take_price(struct fit_rent_cost *c, const char *text, struct fit_err *err)
{
	struct fit_text t = fit_text_of(text);
	struct price p = { { t.s, 0 }, 0 };

	while (p.type.n < t.n && t.s[p.type.n] != '=')
		p.type.n++;
	if (!p.type.n || p.type.n == t.n ||
	    fit_parse_double((struct fit_text){ t.s + p.type.n + 1, t.n - p.type.n - 1 }, &p.value) ||
	    !(p.value > 0))
		return fit_fail(err, FIT_EINVAL, "bad value '%s' (expected TYPE=X with a positive number)", text);
	for (size_t i = 0; i < c->n_prices; i++)
		if (fit_text_eq(c->prices[i].type, p.type))
			return fit_fail(err, FIT_EINVAL, "two prices of type '%.*s'", FIT_TEXT_ARG(p.type));
	c->prices[c->n_prices++] = p;
	return FIT_OK;
}

int fit_rent_cost_new(struct fit_rent_cost **out, const char *const *prices, size_t n, struct fit_err *err)
{
	struct fit_rent_cost *c = calloc(1, sizeof *c);
	int rc = FIT_OK;

	*out = NULL;
	if (c)
		c->prices = calloc(n + 1, sizeof *c->prices);
	if (!c || !c->prices) {
		fit_rent_cost_free(c);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < n && !rc; i++)
		rc = take_price(c, prices[i], err);
	if (rc)
		fit_rent_cost_free(c);
	else
		*out = c;
	return rc;
}

static void add_part(struct fit_rent_cost *c, const struct fit_event_part *x, bool *used)
{
	struct part p = { .price = 1, .first = x->first, .n = x->n, .ugpus = x->ugpus };

	for (size_t i = 0; x->name.n && i < c->n_prices; i++) {
		if (!fit_text_eq(c->prices[i].type, x->name))
			continue;
		p.price = c->prices[i].value;
		used[i] = true;
	}
	c->parts[c->n++] = p;
}

int fit_rent_cost_begin(struct fit_rent_cost *c, const struct fit_reader *r, struct fit_err *err)
{
	const char *spec = fit_meta_get(fit_reader_meta(r), "cluster");
	struct fit_text t = fit_text_of(spec ? spec : "");
	struct fit_event_part part = { .n = 0 };
	size_t parts = 1, at = 0;
	bool *used;
	int rc = FIT_OK;

	for (size_t i = 0; i < t.n; i++)
		parts += t.s[i] == ',';
	c->parts = calloc(parts, sizeof *c->parts);
	used = calloc(c->n_prices + 1, sizeof *used);
	if (!c->parts || !used)
		rc = fit_fail_nomem(err);
	while (!rc && !(rc = fit_event_part_next(t, &at, &part)))
		add_part(c, &part, used);
	if (rc == FIT_EPARSE)
		rc = fit_fail(err, FIT_EDATA, "%s: metadata cluster is '%s' (expected nodes x GPUs, as aws:6x4,rtx:3x8)",
			      fit_reader_input(r), spec ? spec : "missing");
	rc = rc == FIT_END ? FIT_OK : rc;
	for (size_t i = 0; i < c->n_prices && !rc; i++)
		if (!used[i])
			rc = fit_fail(err, FIT_EDATA, "%s: the cluster '%s' has no GPUs of type '%.*s'", fit_reader_input(r), spec,
				      FIT_TEXT_ARG(c->prices[i].type));
	free(used);
	return rc;
}

static struct part *part_of(struct fit_rent_cost *c, int64_t node)
{
	for (size_t i = 0; i < c->n; i++)
		if (node >= c->parts[i].first && node < c->parts[i].first + c->parts[i].n)
			return &c->parts[i];
	return NULL;
}

int fit_rent_cost_watch(struct fit_rent_cost *c, const struct fit_metrics *m, struct fit_err *err)
{
	const struct fit_event_row *e = m->event;
	struct part *p;

	if (!c || !c->n)
		return FIT_OK;
	for (size_t i = 0; i < c->n && e->time_ns > c->clock_ns; i++)
		c->parts[i].paid += (fit_i128)(e->time_ns - c->clock_ns) * c->parts[i].rented_ugpus;
	c->clock_ns = e->time_ns > c->clock_ns ? e->time_ns : c->clock_ns;
	/* of an elastic cluster nothing is there at first */
	for (size_t i = 0; i < c->n && e->kind == FIT_EVENT_CLUSTER; i++)
		c->parts[i].rented_ugpus = e->ugpus ? c->parts[i].ugpus : 0;
	if (e->kind != FIT_EVENT_RENT && e->kind != FIT_EVENT_RETURN)
		return FIT_OK;
	p = part_of(c, e->node);
	if (!p)
		return fit_fail(err, FIT_EDATA, "%s of a node that the cluster does not have",
				fit_event_kind_name(e->kind));
	p->rented_ugpus += e->kind == FIT_EVENT_RENT ? e->ugpus : -e->ugpus;
	return FIT_OK;
}

double fit_rent_cost_per_h(const struct fit_rent_cost *c, const struct fit_metrics *m, int64_t window_ns)
{
	int64_t window = window_ns > 0 ? window_ns :
			 m->first_submit_ns == FIT_INT_NA ? 0 : m->last_submit_ns - m->first_submit_ns;
	double sum = 0;

	for (size_t i = 0; i < c->n; i++)
		sum += c->parts[i].price * ((double)c->parts[i].paid / (double)FIT_UGPU / (double)window);
	return window > 0 ? sum : fit_real_na();
}
