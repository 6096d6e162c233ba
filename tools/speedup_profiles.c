/* SPDX-License-Identifier: MIT */
/* Speedups from stores of application profiles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/row_tables.h"
#include "tools/speedup_parts.h"

static int profile_app(const struct speedup_options *o, struct speedup_data *d, const char *type,
		       struct fit_app *a, struct speedup_group *g, struct fit_err *err)
{
	const struct fit_app_info *info = fit_app_info(a);
	int64_t phases = (int64_t)speedup_setting_of(&d->set[SPEEDUP_PHASES], info->name);
	int64_t per_node = (int64_t)speedup_setting_of(&d->set[SPEEDUP_PER_NODE], type);
	int64_t most = (int64_t)speedup_setting_of(&d->set[SPEEDUP_MAX_GPUS], type);
	double slowdown = speedup_setting_of(&d->set[SPEEDUP_SLOWDOWN], info->name);
	struct fit_speedup_width *widths = NULL;
	int rc = FIT_OK;

	phases = phases == 0 ? info->epochs : phases;
	if (phases > info->epochs)
		return fit_fail(err, FIT_EINVAL, "application '%s' has %lld epochs, fewer than --phases %lld",
				info->name, (long long)info->epochs, (long long)phases);
	widths = calloc((size_t)most, sizeof *widths);
	if (!widths)
		rc = fit_fail_nomem(err);
	for (int64_t k = 1; k <= most && !rc; k++)
		rc = fit_speedup_width(a, k, per_node, &widths[k - 1], err);
	for (int64_t p = 0; p < phases && !rc; p++) {
		int64_t from, to;

		fit_speedup_phase(info->epochs, phases, p, &from, &to);
		g->class = info->name;
		g->type = type;
		g->epoch = p;
		g->epochs = to - from;
		/* what slows a job down makes its work more, in units of undisturbed progress */
		g->work = slowdown * fit_speedup_work(a, from, to);
		g->n = 0;
		for (int64_t k = 1; k <= most && !rc; k++) {
			const struct fit_speedup_width *w = &widths[k - 1];
			struct speedup_row r = { .width = { 0, 1, k, 0 }, .nodes = w->nodes };

			rc = fit_speedup_over(a, w, from, to, &r.width.speed, &r.first, &r.last, err);
			if (!rc)
				rc = speedup_add_row(g, &r, err);
		}
		if (!rc)
			rc = speedup_put_group(o, d, g, err);
	}
	free(widths);
	return rc;
}

/* [TYPE=]STORE: types have no '/' or '.' in them, as a path may have '='. */
static const char *store_of(const char *given, char *type, size_t size)
{
	const char *eq = strchr(given, '=');
	size_t n = eq ? (size_t)(eq - given) : 0;

	type[0] = '\0';
	if (!eq || n >= size || memchr(given, '/', n) || memchr(given, '.', n))
		return given;
	memcpy(type, given, n);
	type[n] = '\0';
	return eq + 1;
}

struct stores {
	struct fit_profile **p;
	char (*types)[128];
	size_t n;
};

static bool app_there(const void *what, struct fit_text name)
{
	const struct stores *all = what;

	for (size_t i = 0; i < all->n; i++)
		if (fit_profile_find(all->p[i], name))
			return true;
	return false;
}

static bool type_there(const void *what, struct fit_text name)
{
	const struct stores *all = what;

	for (size_t i = 0; i < all->n; i++)
		if (fit_text_is(name, all->types[i]))
			return true;
	return false;
}

int speedup_from_profiles(const struct cli *cli, const struct speedup_options *o, struct speedup_data *d,
			  struct fit_err *err)
{
	struct fit_profile **p = calloc(o->profiles.n, sizeof *p);
	char (*types)[128] = calloc(o->profiles.n, sizeof *types);
	struct speedup_group g = { 0 };
	int rc = p && types ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < o->profiles.n && !rc; i++) {
		const char *store = store_of(o->profiles.items[i], types[i], sizeof types[i]);
		char hash[FIT_HASH_HEX], key[160] = "profile";

		for (size_t k = 0; k < i && !rc; k++)
			if (strcmp(types[i], types[k]) == 0)
				rc = fit_fail(err, FIT_EINVAL, "two profiles of one GPU type '%s'",
					      types[i]);
		if (!rc)
			rc = fit_profile_load(&p[i], store, hash, err);
		if (types[i][0])
			snprintf(key, sizeof key, "profile_%s", types[i]);
		for (char *s = key; *s; s++) /* keys of metadata are narrower than types */
			if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *s))
				*s = '_';
		if (!rc && cli_meta_input(&d->inputs, key, hash))
			rc = fit_fail_nomem(err);
	}
	if (!rc) {
		const struct stores all = { p, types, o->profiles.n };

		rc = speedup_need_classes(o, d, "application", "the profile", app_there, &all, err);
		rc = rc ? rc : speedup_need_types(d, "--profile", type_there, &all, err);
	}
	if (!rc)
		rc = speedup_begin(cli, d, err);
	for (size_t i = 0; i < o->profiles.n && !rc; i++)
		for (size_t a = 0; a < fit_profile_n_apps(p[i]) && !rc; a++) {
			struct fit_app *app = fit_profile_app(p[i], a);

			if (rows_app_wanted(&o->app, fit_text_of(fit_app_info(app)->name)))
				rc = profile_app(o, d, types[i], app, &g, err);
		}
	for (size_t i = 0; p && i < o->profiles.n; i++)
		fit_profile_free(p[i]);
	free(p);
	free(types);
	free(g.rows);
	return rc;
}
