/* SPDX-License-Identifier: MIT */
#include "tools/lucid_pack.h"

#include <stdlib.h>

#include "libfit/model/packing.h"

#define AT(field) offsetof(struct lucid_pack_options, field)
#define R CLI_RESULT

const struct cli_option lucid_pack_options[] = {
	{ 0, "configs", CLI_TEXT, AT(configs), "FILE", NULL, "what was measured of jobs alone", NULL, 0, 0,
	  CLI_REQUIRED | CLI_INPUT },
	{ 0, "rule", CLI_CHOICE, AT(rule), "NAME", "label",
	  "what is summed over the two", fit_packing_rule_names, 0, 0, R },
	{ 0, "free", CLI_REAL, AT(free_speed), "SPEED", "0.85",
	  "a pair of at least this speed is free of interference", NULL, 0, 10, R },
	{ 0, "worst", CLI_FLAG, AT(worst), NULL, NULL,
	  "a pair's speed is that of its slower job, not the mean", NULL, 0, 0, R },
	{ 0, "pairs", CLI_FLAG, AT(pairs_out), NULL, NULL, "a row for each pair, not for each threshold",
	  NULL, 0, 0, R },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static int write_thresholds(const struct cli *cli, const struct fit_colocation *c,
			    const struct fit_packing_params *p, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "rule", FIT_TEXT, 0 }, { "threshold", FIT_REAL, 0 }, { "pairs", FIT_INT, 0 },
		{ "free", FIT_INT, 0 }, { "chosen", FIT_INT, 0 }, { "chosen_free", FIT_INT, 0 },
		{ "free_of_chosen", FIT_REAL, 0 }, { "chosen_of_free", FIT_REAL, 0 },
		{ "mean_speed", FIT_REAL, 0 }, { "worst_speed", FIT_REAL, 0 }, { "pairs_here", FIT_INT, 0 },
		{ "mean_speed_here", FIT_REAL, 0 }
	};
	struct fit_packing_row *rows;
	struct fit_writer *w = NULL;
	size_t n, left_out;
	int rc;

	if (fit_packing_sweep(c, p, &rows, &n, &left_out))
		return fit_fail_nomem(err);
	if (n == 0) {
		free(rows);
		return fit_fail(err, FIT_EDATA, "%s: no pair has a %s of both configurations",
				cli_operand_name(cli, 0), fit_packing_rule_names[p->rule]);
	}
	if (left_out)
		cli_warn(cli, "%zu %s left out: no %s of a configuration", left_out,
			 fit_plural(left_out, "pair", "pairs"), fit_packing_rule_names[p->rule]);
	rc = cli_table_about(cli, &w, "packing", "pairs", c->hash_pairs, fields, 12, err);
	for (size_t i = 0; i < n && !rc; i++) {
		fit_writer_str(w, fit_packing_rule_names[p->rule]);
		fit_writer_real(w, rows[i].threshold);
		fit_writer_int(w, rows[i].pairs);
		fit_writer_int(w, rows[i].free);
		fit_writer_int(w, rows[i].chosen);
		fit_writer_int(w, rows[i].chosen_free);
		fit_writer_real_or_na(w, rows[i].precision);
		fit_writer_real_or_na(w, rows[i].captured);
		fit_writer_real(w, rows[i].mean_speed);
		fit_writer_real(w, rows[i].worst_speed);
		fit_writer_int(w, rows[i].step);
		fit_writer_real(w, rows[i].step_speed);
		rc = fit_writer_end_row(w, err);
	}
	free(rows);
	return cli_writer_end(w, rc, err);
}

static int write_pairs(const struct cli *cli, const struct fit_colocation *c, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "app1", FIT_TEXT, 0 }, { "app2", FIT_TEXT, 0 }, { "label_sum", FIT_REAL, 0 },
		{ "util_sum_pct", FIT_REAL, 0 }, { "mem_util_sum_pct", FIT_REAL, 0 }, { "speed1", FIT_REAL, 0 },
		{ "speed2", FIT_REAL, 0 }, { "mean_speed", FIT_REAL, 0 }, { "worst_speed", FIT_REAL, 0 }
	};
	struct fit_writer *w = NULL;
	int rc = cli_table_about(cli, &w, "pairs", "pairs", c->hash_pairs, fields, 9, err);

	for (size_t i = 0; i < c->n_pairs && !rc; i++) {
		const struct fit_colo_pair *p = &c->pairs[i];

		fit_writer_str(w, c->configs[p->a].app);
		fit_writer_str(w, c->configs[p->b].app);
		for (int r = 0; r < 3; r++)
			fit_writer_real_or_na(w, fit_packing_sum(c, p, (enum fit_packing_rule)r));
		fit_writer_real(w, p->speed_a);
		fit_writer_real(w, p->speed_b);
		fit_writer_real(w, (p->speed_a + p->speed_b) / 2);
		fit_writer_real(w, p->speed_a < p->speed_b ? p->speed_a : p->speed_b);
		rc = fit_writer_end_row(w, err);
	}
	return cli_writer_end(w, rc, err);
}

/* The rows of pairs are what was measured, whatever a rule makes of it. */
static const struct cli_use uses[] = {
	{ "rule", 1, "thresholds, without --pairs" },
	{ "free", 1, "thresholds, without --pairs" },
	{ "worst", 1, "thresholds, without --pairs" },
	{ NULL, 0, NULL }
};

void lucid_pack_defaults(void *given)
{
	*(struct lucid_pack_options *)given = (struct lucid_pack_options){
		.free_speed = 0.85
	};
}

int lucid_pack(struct cli *cli, void *given)
{
	const struct lucid_pack_options *o = given;
	struct fit_packing_params p = { (enum fit_packing_rule)o->rule, o->free_speed, o->worst };
	struct fit_colocation c;
	struct fit_err err;
	int rc = cli_check_uses(cli, uses, !o->pairs_out);

	if (rc)
		return rc;
	if (fit_colocation_load(&c, o->configs, cli_operand(cli, 0), &err))
		return cli_error(cli, &err);
	rc = o->pairs_out ? write_pairs(cli, &c, &err) : write_thresholds(cli, &c, &p, &err);
	fit_colocation_release(&c);
	return rc ? cli_error(cli, &err) : 0;
}
