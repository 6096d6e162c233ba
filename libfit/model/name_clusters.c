/* SPDX-License-Identifier: MIT */
#include "libfit/model/name_clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fit_name_group {
	char *text;
	size_t n;
	uint32_t next;		/* 1 + the next group of the same first byte, 0: none */
};

void fit_name_clusters_init(struct fit_name_clusters *c, double share)
{
	*c = (struct fit_name_clusters){ .share = share };
}

void fit_name_clusters_release(struct fit_name_clusters *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->groups[i].text);
	free(c->groups);
	fit_index_release(&c->known);
	*c = (struct fit_name_clusters){ 0 };
}

struct fit_text fit_name_clusters_text(const struct fit_name_clusters *c, uint32_t group)
{
	return (struct fit_text){ c->groups[group].text, c->groups[group].n };
}

size_t fit_edit_distance(struct fit_text a, struct fit_text b, size_t limit)
{
	size_t row[FIT_NAME_BYTES + 1];

	a.n = a.n < FIT_NAME_BYTES ? a.n : FIT_NAME_BYTES;
	b.n = b.n < FIT_NAME_BYTES ? b.n : FIT_NAME_BYTES;
	if ((a.n > b.n ? a.n - b.n : b.n - a.n) > limit)
		return limit + 1;
	for (size_t j = 0; j <= b.n; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t corner = row[0], least = i;

		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			size_t d = corner + (a.s[i - 1] != b.s[j - 1]);

			corner = row[j];
			d = row[j] + 1 < d ? row[j] + 1 : d;
			d = row[j - 1] + 1 < d ? row[j - 1] + 1 : d;
			row[j] = d;
			least = d < least ? d : least;
		}
		if (least > limit)	/* rows do not get smaller */
			return limit + 1;
	}
	return row[b.n] > limit ? limit + 1 : row[b.n];
}

static int found_group(struct fit_name_clusters *c, struct fit_text name, unsigned char byte)
{
	if (fit_grow(&c->groups, &c->cap, c->n + 1, sizeof *c->groups))
		return FIT_ENOMEM;
	c->groups[c->n] = (struct fit_name_group){ .text = fit_strdup(name), .n = name.n };
	if (!c->groups[c->n].text)
		return FIT_ENOMEM;
	c->n++;
	if (c->last[byte])
		c->groups[c->last[byte] - 1].next = (uint32_t)c->n;
	else
		c->first[byte] = (uint32_t)c->n;
	c->last[byte] = (uint32_t)c->n;
	return FIT_OK;
}

int fit_name_clusters_put(struct fit_name_clusters *c, struct fit_text name, uint32_t *group)
{
	unsigned char byte = name.n ? (unsigned char)name.s[0] : 0;
	uint32_t best = fit_index_get(&c->known, name);
	size_t nearest = SIZE_MAX, len = name.n < FIT_NAME_BYTES ? name.n : FIT_NAME_BYTES;

	if (best != FIT_NO_INDEX) {
		*group = best;
		return FIT_OK;
	}
	for (uint32_t i = c->share > 0 ? c->first[byte] : 0; i && nearest > 0; i = c->groups[i - 1].next) {
		struct fit_text t = fit_name_clusters_text(c, i - 1);
		size_t longer = t.n < FIT_NAME_BYTES ? t.n : FIT_NAME_BYTES, limit, d;

		longer = longer > len ? longer : len;
		limit = (size_t)floor(c->share * (double)longer);
		limit = limit < nearest ? limit : nearest - 1;	/* only what is nearer */
		d = fit_edit_distance(name, t, limit);
		if (d <= limit) {
			nearest = d;
			best = i - 1;
		}
	}
	if (best == FIT_NO_INDEX) {
		best = (uint32_t)c->n;
		if (found_group(c, name, byte))
			return FIT_ENOMEM;
	}
	*group = best;
	return fit_index_put(&c->known, name, best, NULL);
}
