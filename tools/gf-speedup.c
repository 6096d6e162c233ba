/* SPDX-License-Identifier: MIT */
/*
 * gf-speedup: speedup functions by class and epoch, from application profiles, from measured
 * placements and plans, or from a table of them; with the envelope of each, and the reason for
 * each width that is not on it.
 */
#include <stdlib.h>

#include "tools/row_tables.h"
#include "tools/speedup_parts.h"

#define R CLI_RESULT
#define AT(field) offsetof(struct speedup_options, field)

static const struct cli_option options[] = {
	{ 0, "profile", CLI_LIST, AT(profiles), "[TYPE=]STORE", NULL,
	  "profile store in place of FILE; one for each type of GPU", NULL, 0, 0, CLI_INSTEAD },
	{ 0, "placements", CLI_TEXT, AT(placements), "FILE", NULL,
	  "measured plans and placements in place of FILE, from gf-prof --from rubick-placements", NULL, 0,
	  0, CLI_INPUT | CLI_INSTEAD },
	{ 0, "app", CLI_LIST, AT(app), "NAME", NULL, "this class only; may be repeated", NULL, 0, 0, R },
	{ 0, "phases", CLI_LIST, AT(phases), "[CLASS=]N", NULL,
	  "profiles: N groups of epochs in place of each epoch", NULL, 0, 0, R },
	{ 0, "slowdown", CLI_LIST, AT(slowdown), "[CLASS=]X", "1", "profiles: all work is X times as much",
	  NULL, 0, 0, R },
	{ 0, "gpus-per-node", CLI_LIST, AT(per_node), "[TYPE=]N", "4", "profiles: GPUs that a node has",
	  NULL, 0, 0, R },
	{ 0, "max-gpus", CLI_LIST, AT(max_gpus), "[TYPE=]N", "64", "profiles: widths 1 to N", NULL, 0, 0,
	  R },
	{ 0, "work", CLI_LIST, AT(work), "[CLASS=]X", "1", "placements: iterations of a job", NULL, 0, 0, R },
	{ 0, "min-gpus", CLI_LIST, AT(min_gpus), "[CLASS=]N", "1", "least width", NULL, 0, 0, R },
	{ 0, "envelope", CLI_FLAG, AT(envelope), NULL, NULL, "only the vertices of the envelopes", NULL, 0,
	  0, R },
	{ 0, "drop-bad", CLI_FLAG, AT(drop_bad), NULL, NULL,
	  "negative, infinite and nan speeds of FILE: not usable, and counted", NULL, 0, 0, R },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static int take_options(struct cli *cli, const struct speedup_options *o, struct speedup_data *d)
{
	int rc = 0;

	if ((o->profiles.n > 0) + (o->placements != NULL) + (cli->n_operands > 0) > 1)
		return cli_usage(cli, "more than one of --profile, --placements, FILE given");
	if (o->profiles.n == 0 && (o->phases.n || o->slowdown.n || o->per_node.n || o->max_gpus.n))
		return cli_usage(cli, "--phases, --slowdown, --gpus-per-node and --max-gpus go with --profile");
	if (o->work.n && !o->placements)
		return cli_usage(cli, "--work goes with --placements");
	for (int k = 0; k < SPEEDUP_SETTINGS && !rc; k++)
		rc = speedup_take_settings(cli, o, &speedup_setting_kinds[k], &d->set[k]);
	return rc;
}

/* ---- a table of speedups ---- */

static bool class_there(const void *what, struct fit_text name)
{
	const struct fit_speedups *s = what;

	for (size_t i = 0; i < s->n_classes; i++)
		if (fit_text_is(name, s->classes[i].name))
			return true;
	return false;
}

static int from_table(const struct cli *cli, const struct speedup_options *o, struct speedup_data *d,
		      struct fit_err *err)
{
	struct fit_speedups s = { 0 };
	struct speedup_group g = { 0 };
	int rc = fit_speedups_read(&s, cli_operand(cli, 0), o->drop_bad, err);

	if (!rc)
		rc = speedup_need_classes(o, d, "class", "the table", class_there, &s, err);
	if (!rc && cli_meta_input(&d->inputs, NULL, s.hash))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = speedup_begin(cli, d, err);
	d->dropped = s.dropped;
	for (size_t i = 0; i < s.n_classes && !rc; i++)
		for (size_t j = 0; j < s.classes[i].n && !rc; j++) {
			const struct fit_speedup_epoch *e = &s.epochs[s.classes[i].at + j];

			for (size_t k = 0; k < e->n && !rc; k++) {
				const struct fit_width *w = &s.widths[e->at + k];
				struct speedup_row r = { .width = *w };

				r.width.type = 0; /* each type has an envelope of its own */
				rc = speedup_add_row(&g, &r, err);
				if (rc || (k + 1 < e->n && w[1].type == w->type))
					continue;
				g.class = s.classes[i].name;
				g.type = s.types[w->type];
				g.epoch = (int64_t)j;
				g.work = e->work;
				if (rows_app_wanted(&o->app, fit_text_of(g.class)))
					rc = speedup_put_group(o, d, &g, err);
				g.n = 0;
			}
		}
	free(g.rows);
	fit_speedups_release(&s);
	return rc;
}

/* ---- the tool ---- */

static int run(struct cli *cli, void *given)
{
	const struct speedup_options *o = given;
	struct speedup_data d = { 0 };
	struct fit_err err = { 0 };
	int status = take_options(cli, o, &d), rc = FIT_OK;

	if (!status) {
		if (o->profiles.n)
			rc = speedup_from_profiles(cli, o, &d, &err);
		else if (o->placements)
			rc = speedup_from_placements(cli, o, &d, &err);
		else
			rc = from_table(cli, o, &d, &err);
		rc = cli_writer_end(d.w, rc, &err);
		if (!rc && d.dropped)
			cli_warn(cli, "%llu speeds that are negative or not finite: not usable",
				 (unsigned long long)d.dropped);
		status = !rc ? CLI_EXIT_OK :
			 rc == FIT_EINVAL ? cli_usage(cli, "%s", err.msg) : cli_error(cli, &err);
	}
	for (int k = 0; k < SPEEDUP_SETTINGS; k++)
		free(d.set[k].list);
	fit_envelope_release(&d.envelope);
	fit_meta_release(&d.inputs);
	return status;
}

static const struct cli_verb verbs[] = { { "", "[FILE]", "", options, 0, 1, .run = run },
					 { .name = NULL } };

static const struct cli_tool tool = {
	"gf-speedup", "Speedup functions by class and epoch, and their envelopes.",
	"FILE is a table of speedups (docs/formats/boa.md); profile stores are made by gf-prof.", verbs
};

int main(int argc, char **argv)
{
	struct speedup_options o = { 0 };

	return cli_main(&tool, argc, argv, &o);
}
