/* SPDX-License-Identifier: MIT */
/* Settings of gf-speedup by name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "tools/speedup_parts.h"

#define AT(field) offsetof(struct speedup_options, field)

const struct speedup_setting_kind speedup_setting_kinds[SPEEDUP_SETTINGS] = {
	[SPEEDUP_PHASES] = { "phases", AT(phases), true, true, 1, 1e6, 0 },
	[SPEEDUP_SLOWDOWN] = { "slowdown", AT(slowdown), false, true, 1e-6, 1e6, 1 },
	[SPEEDUP_PER_NODE] = { "gpus-per-node", AT(per_node), true, false, 1, 1e6, 4 },
	[SPEEDUP_MAX_GPUS] = { "max-gpus", AT(max_gpus), true, false, 1, 65536, 64 },
	[SPEEDUP_MIN_GPUS] = { "min-gpus", AT(min_gpus), true, true, 1, 1e9, 1 },
	[SPEEDUP_WORK] = { "work", AT(work), false, true, 0, 1e15, 1 },
};

int speedup_take_settings(struct cli *cli, const struct speedup_options *o,
			  const struct speedup_setting_kind *kind, struct speedup_settings *s)
{
	const struct cli_list *given = (const void *)((const char *)o + kind->offset);
	struct fit_err err;

	s->otherwise = kind->otherwise;
	s->list = calloc(given->n + 1, sizeof *s->list);
	if (!s->list) {
		fit_fail_nomem(&err);
		return cli_error(cli, &err);
	}
	for (size_t i = 0; i < given->n; i++) {
		const char *text = given->items[i], *eq = strrchr(text, '=');
		struct speedup_setting *e = &s->list[s->n++];

		if (eq)
			e->name = (struct fit_text){ text, (size_t)(eq - text) };
		if (fit_parse_double(fit_text_of(eq ? eq + 1 : text), &e->v) || !(e->v >= kind->least) ||
		    e->v > kind->most || (kind->whole && e->v != floor(e->v)))
			return cli_usage(cli,
					 "bad value '%s' for --%s (expected %s from %g to %g, or NAME=… for "
					 "one)",
					 text, kind->option, kind->whole ? "a whole number" : "a number", kind->least,
					 kind->most);
		for (size_t k = 0; k + 1 < s->n; k++)
			if (s->list[k].name.s ? e->name.s && fit_text_eq(s->list[k].name, e->name) :
						!e->name.s)
				return cli_usage(cli, "--%s is given twice for the same name ('%s')", kind->option,
						 text);
	}
	return 0;
}

double speedup_setting_of(const struct speedup_settings *s, const char *name)
{
	double v = s->otherwise;

	for (size_t i = 0; i < s->n; i++)
		if (!s->list[i].name.s)
			v = s->list[i].v;
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].name.s && fit_text_is(s->list[i].name, name))
			v = s->list[i].v;
	return v;
}

static int need_named(const struct speedup_data *d, bool by_class, const char *kind, const char *in,
		      speedup_there_fn *there, const void *what, struct fit_err *err)
{
	for (int k = 0; k < SPEEDUP_SETTINGS; k++)
		for (size_t i = 0; i < d->set[k].n && speedup_setting_kinds[k].by_class == by_class; i++) {
			struct fit_text name = d->set[k].list[i].name;

			if (name.s && !there(what, name))
				return fit_fail(err, FIT_EDATA, "no %s '%.*s' in %s (--%s)", kind, FIT_TEXT_ARG(name),
						in, speedup_setting_kinds[k].option);
		}
	return FIT_OK;
}

int speedup_need_classes(const struct speedup_options *o, const struct speedup_data *d, const char *kind,
			 const char *in, speedup_there_fn *there, const void *what, struct fit_err *err)
{
	int rc = need_named(d, true, kind, in, there, what, err);

	for (size_t i = 0; i < o->app.n && !rc; i++)
		if (!there(what, fit_text_of(o->app.items[i])))
			rc = fit_fail(err, FIT_EDATA, "no %s '%s' in %s (--app)", kind, o->app.items[i], in);
	return rc;
}

int speedup_need_types(const struct speedup_data *d, const char *in, speedup_there_fn *there,
		       const void *what, struct fit_err *err)
{
	return need_named(d, false, "GPU type", in, there, what, err);
}
