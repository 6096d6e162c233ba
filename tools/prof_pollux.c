/* SPDX-License-Identifier: MIT */
/* gf-prof: folders of the Pollux simulator become a profile store (docs/formats/profile.md). */
#include "tools/prof_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/profile_store.h"
#include "traces/prof_pollux.h"

/* ---- --max-local ---- */

struct overrides {
	struct fit_pollux_override *list;
	char **names;		/* what list[].app points to, in the order given */
	size_t n;
};

static void overrides_free(struct overrides *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->names[i]);
	free(o->names);
	free(o->list);
}

static int compare_overrides(const void *a, const void *b)
{
	const struct fit_pollux_override *x = a, *y = b;

	return strcmp(x->app, y->app);
}

/* APP=N, sorted by APP; a wrong one is a wrong command line. */
static int parse_overrides(struct cli *cli, const struct cli_list *given, struct overrides *o,
			   struct fit_err *err)
{
	o->list = calloc(given->n + 1, sizeof *o->list);
	o->names = calloc(given->n + 1, sizeof *o->names);
	if (!o->list || !o->names) {
		(void)fit_fail_nomem(err);
		return cli_error(cli, err);
	}
	for (size_t i = 0; i < given->n; i++) {
		const char *eq = strrchr(given->items[i], '=');
		struct fit_pollux_override *e = &o->list[o->n];

		if (!eq || eq == given->items[i] ||
		    fit_parse_int64(fit_text_of(eq + 1), &e->max_local_bsz) || e->max_local_bsz < 1)
			return cli_usage(cli, "bad value '%s' for --max-local (expected APP=N)",
					 given->items[i]);
		o->names[o->n] = fit_strdup((struct fit_text){ given->items[i],
							       (size_t)(eq - given->items[i]) });
		e->app = o->names[o->n];
		if (!e->app) {
			(void)fit_fail_nomem(err);
			return cli_error(cli, err);
		}
		o->n++;
	}
	qsort(o->list, o->n, sizeof *o->list, compare_overrides);
	for (size_t i = 1; i < o->n; i++)
		if (strcmp(o->list[i].app, o->list[i - 1].app) == 0)
			return cli_usage(cli, "--max-local names application '%s' twice",
					 o->list[i].app);
	return CLI_EXIT_OK;
}

/* ---- the summary of -v, and output ---- */

static void describe_profiles(const struct cli *cli, const struct fit_profile_tables *t,
			      const struct fit_profile_rows *rows)
{
	const struct fit_table *apps = &t->t[FIT_PROFILE_APPS];
	const int64_t *flat = t->t[FIT_PROFILE_SIMPLICES].columns[FIT_SIMPLEX_DEGENERATE].i;
	const int64_t *placement = t->t[FIT_PROFILE_PLACEMENTS].columns[FIT_PLACE_PLACEMENT].i;

	for (size_t i = 0; i < apps->n_rows; i++) {
		const struct fit_profile_rows *r = &rows[i];
		size_t n_flat = 0, n_placements = 0;

		for (size_t s = 0; s < r->n[FIT_PROFILE_SIMPLICES]; s++)
			n_flat += flat[r->at[FIT_PROFILE_SIMPLICES] + s] != 0;
		for (size_t p = 0; p < r->n[FIT_PROFILE_PLACEMENTS]; p++) {
			const int64_t *at = placement + r->at[FIT_PROFILE_PLACEMENTS] + p;

			n_placements += p == 0 || at[0] != at[-1];
		}
		cli_note(cli, "%s: %zu runs of %lld epochs (batch sizes %lld to %lld), %zu placements "
			 "(%zu rows, %lld to %lld samples a GPU), %zu rows on five nodes and more; "
			 "%zu points, %zu simplices (%zu flat)",
			 fit_column_text(&apps->columns[0], i).s,
			 r->n[FIT_PROFILE_VALIDATION] / (size_t)apps->columns[FIT_APPS_EPOCHS].i[i],
			 (long long)apps->columns[FIT_APPS_EPOCHS].i[i],
			 (long long)apps->columns[FIT_APPS_INIT_BATCH].i[i],
			 (long long)apps->columns[FIT_APPS_MAX_BATCH].i[i], n_placements,
			 r->n[FIT_PROFILE_PLACEMENTS],
			 (long long)apps->columns[FIT_APPS_MIN_LOCAL].i[i],
			 (long long)apps->columns[FIT_APPS_MAX_LOCAL].i[i],
			 r->n[FIT_PROFILE_SCALABILITY], r->n[FIT_PROFILE_POINTS],
			 r->n[FIT_PROFILE_SIMPLICES], n_flat);
	}
}

static int set_meta(const struct cli *cli, const struct overrides *o, const char *hash,
		    struct fit_profile_tables *t)
{
	struct fit_str list = { 0 };
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	if (!rc)	/* also when it was recognised */
		rc = fit_meta_set(&meta, "from", "pollux");
	for (size_t i = 0; i < o->n && !rc; i++)
		rc = fit_str_printf(&list, "%s%s=%lld", i ? "," : "", o->list[i].app,
				    (long long)o->list[i].max_local_bsz);
	if (!rc && o->n)
		rc = fit_meta_add(&meta, "max_local", list.s);
	if (!rc)
		rc = cli_meta_input(&meta, NULL, hash);
	for (int k = 0; k < FIT_PROFILE_KINDS && !rc; k++)
		rc = fit_meta_copy(&t->t[k].meta, &meta);
	fit_meta_release(&meta);
	fit_str_release(&list);
	return rc;
}

struct passing {
	const struct cli *cli;
	const char *gpu_type;
};

static void warn_passed_over(void *arg, const char *folder)
{
	const struct passing *p = arg;

	cli_warn(p->cli, "%s: passed over (no placements%s%s.csv)", folder, p->gpu_type ? "-" : "",
		 p->gpu_type ? p->gpu_type : "");
}

int prof_pollux(struct cli *cli, const struct cli_list *max_local, const char *gpu_type)
{
	struct passing passing = { cli, gpu_type };
	bool store = cli->out && fit_is_store(cli->out);
	struct fit_err err = { 0 };
	struct overrides given = { 0 };
	struct fit_profile_tables t = { 0 };
	struct fit_profile_rows *rows = NULL;
	char hash[FIT_HASH_HEX];
	int rc, status;

	if (cli->n_operands < 1)
		return cli_usage(cli, "too few operands (expected DIR)");
	if (store && strstr(cli->out, ":/"))
		return cli_usage(cli, "bad value '%s' for --output (a profile fills a whole store; "
				 "expected FILE.h5)", cli->out);
	status = parse_overrides(cli, max_local, &given, &err);
	if (status)
		goto out;
	rc = fit_profile_tables_init(&t, &err);
	if (!rc) {
		const struct fit_pollux_options how = { given.list, given.n, gpu_type,
							 warn_passed_over, &passing };
		const struct fit_pollux_tables into = {
			&t.t[FIT_PROFILE_APPS], &t.t[FIT_PROFILE_PLACEMENTS],
			&t.t[FIT_PROFILE_SCALABILITY], &t.t[FIT_PROFILE_VALIDATION],
		};

		rc = fit_pollux_read_profiles(cli_operand(cli, 0), &how, &into, hash, &err);
	}
	if (!rc)
		rc = fit_profile_tables_prepare(&t, &err);
	if (!rc)
		rc = fit_profile_tables_check(&t, FIT_PROFILE_KINDS, &rows, &err);
	if (!rc) {
		describe_profiles(cli, &t, rows);
		if (set_meta(cli, &given, hash, &t))
			rc = fit_fail_nomem(&err);
	}
	if (!rc)
		rc = store ? fit_profile_tables_write(&t, cli->out, &err) :
		     prof_write_tables(cli, t.t, FIT_PROFILE_KINDS, &err);
	if (rc == FIT_EINVAL)
		status = cli_usage(cli, "%s", err.msg);
	else if (rc)
		status = cli_error(cli, &err);
out:
	free(rows);
	fit_profile_tables_release(&t);
	overrides_free(&given);
	return status;
}
