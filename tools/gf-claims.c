/* SPDX-License-Identifier: MIT */
/*
 * gf-claims: what papers publish, held against what is found here. `run` has the recipes of the figures
 * make the tables that the claims are about, and judges; `show` judges what is there already.
 */
#include <dirent.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/verify/claims.h"
#include "tools/common/cli.h"

struct options {
	const char *folder, *recipes, *only, *paper;
	int64_t jobs;
	bool strict;
};

#define SHARED_OPTIONS \
	{ 'f', "folder", CLI_TEXT, offsetof(struct options, folder), "FOLDER", "out/figures", \
	  "where the recipes leave their tables", NULL, 0, 0, 0 }, \
	{ 0, "only", CLI_TEXT, offsetof(struct options, only), "CLAIMS", "all", \
	  "these claims only, separated by commas", NULL, 0, 0, 0 }, \
	{ 0, "paper", CLI_TEXT, offsetof(struct options, paper), "PAPERS", "all", \
	  "claims of these papers only, separated by commas", NULL, 0, 0, 0 }, \
	{ 0, "strict", CLI_FLAG, offsetof(struct options, strict), NULL, NULL, \
	  "exit with 1 when a claim differs", NULL, 0, 0, 0 }
#define END_OF_OPTIONS { 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }

static const struct cli_option show_options[] = { SHARED_OPTIONS, END_OF_OPTIONS };

static const struct cli_option run_options[] = {
	SHARED_OPTIONS,
	{ 'r', "recipes", CLI_TEXT, offsetof(struct options, recipes), "FOLDER", "figures",
	  "where the recipes are", NULL, 0, 0, 0 },
	{ 'j', "jobs", CLI_INT, offsetof(struct options, jobs), "N", "$JOBS or 2",
	  "replays at a time within a recipe", NULL, 1, 10000, 0 },
	END_OF_OPTIONS
};

/* ---- which claims ---- */

static bool wanted(const struct options *o, const struct fit_claim *c)
{
	return (!o->only || fit_claim_lists(fit_text_of(o->only), c->id)) &&
	       (!o->paper || fit_claim_lists(fit_text_of(o->paper), c->paper));
}

/* Each name of a list that the user gave must mean something. */
static int check_names(struct cli *cli, const char *list, const char *what, const struct fit_claims *claims,
		       bool paper)
{
	for (const char *s = list; s && *s; ) {
		struct fit_text name = { s, strcspn(s, ",") };
		bool found = false;

		for (size_t i = 0; i < claims->n && !found; i++)
			found = fit_text_eq(name, paper ? claims->claims[i].paper : claims->claims[i].id);
		if (!found)
			return cli_usage(cli, "%s: no %s '%.*s' among the claims", paper ? "--paper" : "--only",
					 what, FIT_TEXT_ARG(name));
		s += name.n + (s[name.n] == ',');
	}
	return 0;
}

/* ---- recipes ---- */

extern char **environ;

/* Run RECIPES/NAME FOLDER, with what it prints on standard error. */
static int run_recipe(const struct options *o, const char *name, struct fit_err *err)
{
	struct fit_str path = { 0 };
	posix_spawn_file_actions_t actions;
	char *argv[3] = { NULL, NULL, NULL };
	int rc = fit_str_printf(&path, "%s/%s", o->recipes, name), status = 0, e;
	pid_t pid;

	if (rc)
		return fit_fail_nomem(err);
	argv[0] = path.s;
	argv[1] = fit_strdup(fit_text_of(o->folder));
	if (!argv[1] || posix_spawn_file_actions_init(&actions)) {
		rc = fit_fail_nomem(err);
		goto out;
	}
	e = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
	e = e ? e : posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	e = e ? e : posix_spawn(&pid, path.s, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (e) {
		errno = e;
		rc = fit_fail_errno(err, "cannot run %s", path.s);
		goto out;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		rc = fit_fail(err, FIT_ECHILD, "%s: failed (%s %d)", path.s,
			      WIFEXITED(status) ? "status" : "signal",
			      WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
out:
	free(argv[1]);
	fit_str_release(&path);
	return rc;
}

/* Was the recipe named by a claim before this one? */
static bool seen(const struct options *o, const struct fit_claims *claims, size_t before,
		 struct fit_text name)
{
	for (size_t i = 0; i < before; i++)
		if (wanted(o, &claims->claims[i]) && fit_claim_lists(claims->claims[i].recipes, name))
			return true;
	return false;
}

/* All that are needed, each once. One that fails does not keep the others from running. */
static int run_recipes(struct cli *cli, const struct options *o, const struct fit_claims *claims)
{
	int status = CLI_EXIT_OK;

	for (size_t i = 0; i < claims->n; i++) {
		struct fit_text list = claims->claims[i].recipes;

		for (size_t at = 0; wanted(o, &claims->claims[i]) && at < list.n; ) {
			struct fit_text name = { list.s + at, strcspn(list.s + at, ",") };
			struct fit_err err = { 0 };
			char *recipe;

			at += name.n + 1;
			if (seen(o, claims, i, name))
				continue;
			recipe = fit_strdup(name);
			if (recipe)
				cli_note(cli, "recipe %s", recipe);
			if (recipe ? run_recipe(o, recipe, &err) : fit_fail_nomem(&err))
				status = cli_error(cli, &err);
			free(recipe);
		}
	}
	return status;
}

/* ---- verdicts ---- */

static const struct fit_field out_fields[] = {
	{ "claim", FIT_TEXT, 0 }, { "paper", FIT_TEXT, 0 }, { "place", FIT_TEXT, 0 },
	{ "quantity", FIT_TEXT, 0 }, { "published", FIT_TEXT, 0 }, { "unit", FIT_TEXT, 0 },
	{ "agreement", FIT_TEXT, 0 }, { "tolerance_pct", FIT_REAL, 0 }, { "here", FIT_REAL, 0 },
	{ "off_pct", FIT_REAL, 0 }, { "verdict", FIT_TEXT, 0 }, { "data", FIT_TEXT, 0 },
	{ "remark", FIT_TEXT, 0 }, { "recipes", FIT_TEXT, 0 },
};

static void put_text(struct fit_writer *w, struct fit_text t)
{
	if (t.n)
		fit_writer_text(w, t);
	else
		fit_writer_na(w);
}

static int put_verdict(struct fit_writer *w, const struct fit_claim *c, const struct fit_claim_result *r,
		       struct fit_err *err)
{
	put_text(w, c->id);
	put_text(w, c->paper);
	put_text(w, c->place);
	put_text(w, c->quantity);
	put_text(w, c->published);
	put_text(w, c->unit);
	fit_writer_str(w, fit_agreement_names[c->agreement]);
	fit_writer_real_or_na(w, c->agreement < FIT_AGREE_ORDERING ? c->tolerance_pct : fit_real_na());
	fit_writer_real_or_na(w, r->here);
	fit_writer_real_or_na(w, r->off_pct);
	fit_writer_str(w, fit_claim_verdict_names[r->verdict]);
	put_text(w, r->data ? fit_text_of(r->data) : (struct fit_text){ 0 });
	/* what is missing, else what the table of claims says of a difference, or of the claim itself */
	put_text(w, r->reason && r->reason[0] ? fit_text_of(r->reason) : c->note);
	put_text(w, c->recipes);
	return fit_writer_end_row(w, err);
}

static int judge_all(struct cli *cli, const struct options *o, const struct fit_claims *claims,
		     struct fit_writer *w, size_t counts[3], struct fit_err *err)
{
	struct fit_claim_tables *tables = NULL;
	struct fit_meta meta = { 0 };
	int rc = fit_claim_tables_new(&tables, o->folder, err);

	if (!rc && (cli_meta(cli, &meta, false) || cli_meta_input(&meta, "claims", claims->table.hash)))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : fit_writer_begin(w, "claim_verdicts", &meta, out_fields,
					sizeof out_fields / sizeof *out_fields, err);
	for (size_t i = 0; i < claims->n && !rc; i++) {
		struct fit_claim_result r = { 0 };

		if (!wanted(o, &claims->claims[i]))
			continue;
		rc = fit_claim_judge(&claims->claims[i], tables, &r, err);
		rc = rc ? rc : put_verdict(w, &claims->claims[i], &r, err);
		counts[r.verdict]++;
		fit_claim_result_release(&r);
	}
	rc = rc ? rc : fit_writer_end(w, err);
	fit_meta_release(&meta);
	fit_claim_tables_free(tables);
	return rc;
}

static bool is_no_folder(const char *path, struct fit_err *err)
{
	DIR *d = opendir(path);

	if (!d)
		fit_fail_errno(err, "cannot open folder %s", path);
	else
		closedir(d);
	return !d;
}

static int run(struct cli *cli, void *given)
{
	struct options *o = given;
	struct fit_claims claims = { 0 };
	struct fit_writer *w = NULL;
	struct fit_err err = { 0 };
	size_t counts[3] = { 0 };
	char jobs[FIT_NUM_MAX];
	int rc = fit_claims_read(&claims, cli->operands[0], &err), status;

	if (rc)
		return cli_error(cli, &err);
	status = check_names(cli, o->only, "claim", &claims, false);
	status = status ? status : check_names(cli, o->paper, "paper", &claims, true);
	if (status)
		goto out;
	/* tables that are not there are what claims say, one by one; a folder that is not may be a wrong name */
	if (strcmp(cli->verb->name, "show") == 0 && cli_given(cli, "folder") && is_no_folder(o->folder, &err))
		cli_warn(cli, "%s", err.msg);
	if (strcmp(cli->verb->name, "run") == 0) {
		if (is_no_folder(o->recipes, &err)) {
			status = cli_error(cli, &err);
			goto out;
		}
		fit_format_int64(jobs, o->jobs);
		if (o->jobs && setenv("JOBS", jobs, 1)) {
			fit_fail_errno(&err, "cannot set JOBS");
			status = cli_error(cli, &err);
			goto out;
		}
		status = run_recipes(cli, o, &claims);
	}
	if (!claims.n)
		cli_warn(cli, "%s: no claims", cli_operand_name(cli, 0));
	rc = cli_writer_open(cli, &w, &err);
	rc = rc ? rc : judge_all(cli, o, &claims, w, counts, &err);
	rc = cli_writer_close(w, rc, &err);
	if (rc)
		status = cli_error(cli, &err);
	else
		cli_note(cli, "%zu hold, %zu differ, %zu cannot be checked here", counts[FIT_CLAIM_HOLDS],
			 counts[FIT_CLAIM_DIFFERS], counts[FIT_CLAIM_CANNOT]);
	if (!status && o->strict && counts[FIT_CLAIM_DIFFERS])
		status = CLI_EXIT_DATA;
out:
	fit_claims_release(&claims);
	return status;
}

static const struct cli_verb verbs[] = {
	{ "run", "CLAIMS", "run the recipes that the claims need, then judge", run_options, 1, 1, .run = run },
	{ "show", "CLAIMS", "judge from the tables that are there", show_options, 1, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-claims", "Hold published claims against what is found here.",
	"CLAIMS is a table such as data/claims.tsv. Recipes run in the current folder, the top of a checkout.", verbs
};

int main(int argc, char **argv)
{
	struct options o = { .folder = "out/figures", .recipes = "figures" };

	return cli_main(&tool, argc, argv, &o);
}
