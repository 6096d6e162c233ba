/* SPDX-License-Identifier: MIT */
/* Observations of gf-throughput: step times by configuration, in the groups that --by makes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/placement.h"
#include "tools/throughput_parts.h"

int throughput_find_columns(const struct fit_input *in, const struct throughput_data *d, bool measured,
			bool need_sync, struct throughput_columns *c, struct fit_err *err)
{
	const char *missing = NULL;

	*c = (struct throughput_columns){
		.nodes = fit_input_find(in, "num_nodes", NULL),
		.replicas = fit_input_find(in, "num_replicas", NULL),
		.placement = fit_input_find(in, "placement", NULL),
		.bsz = fit_input_find(in, "local_bsz", NULL),
		.step = fit_input_find(in, "step_time_s", "step_time"),
		.sync = fit_input_find(in, "sync_time_s", "sync_time"),
		.weight = fit_input_find(in, "weight", NULL),
		.accum = fit_input_find(in, "accum_steps", NULL)
	};
	for (size_t i = 0; i < d->n_by; i++) {
		c->by[i] = fit_input_find(in, d->by[i], NULL);
		if (c->by[i] < 0 && strcmp(d->by[i], "app") != 0)
			missing = d->by[i];
	}
	if (need_sync && c->sync < 0)
		missing = "sync_time_s";
	if (measured && c->step < 0)
		missing = "step_time_s";
	if (c->bsz < 0)
		missing = "local_bsz";
	if (c->placement < 0 && c->replicas < 0)
		missing = "num_replicas";
	if (c->placement < 0 && c->nodes < 0)
		missing = "num_nodes";
	if (missing)
		return fit_input_lacks(in, missing, err);
	return FIT_OK;
}

/* Nodes and replicas, from their columns or from Pollux's placement numbers. */
static int get_shape(const struct fit_input *in, const struct throughput_columns *c,
		     struct fit_throughput_obs *o, struct fit_err *err)
{
	double nodes = 0, replicas = 0;
	int rc;

	if (c->nodes < 0 || c->replicas < 0) {
		rc = fit_input_need(in, c->placement, true, &nodes, err);
		if (rc)
			return rc;
		if (fit_placement_canonical((int64_t)nodes) < 0)
			return fit_input_fail(in, c->placement, err,
					      "bad placement '%.0f' (expected a "
					      "digit from 1 to 9 for each of at most %d nodes)",
					      nodes, FIT_DIGITS_NODES_MAX);
		fit_placement_shape((int64_t)nodes, &o->num_nodes, &o->num_replicas);
		return FIT_OK;
	}
	rc = fit_input_need(in, c->nodes, true, &nodes, err);
	if (!rc)
		rc = fit_input_need(in, c->replicas, true, &replicas, err);
	o->num_nodes = (int64_t)nodes;
	o->num_replicas = (int64_t)replicas;
	return rc;
}

int throughput_observation(const struct fit_input *in, const struct throughput_columns *c, bool measured,
			   bool need_sync, struct fit_throughput_obs *o, struct fit_err *err)
{
	double bsz = 0;
	struct fit_err why;
	const char *field;
	bool na = true;
	int rc, at;

	*o = (struct fit_throughput_obs){ .step_s = 1, .sync_s = (double)NAN, .weight = 1 };
	rc = get_shape(in, c, o, err);
	if (!rc)
		rc = fit_input_need(in, c->bsz, true, &bsz, err);
	if (!rc && measured)
		rc = fit_input_need(in, c->step, false, &o->step_s, err);
	if (!rc && need_sync)
		rc = fit_input_need(in, c->sync, false, &o->sync_s, err);
	else if (!rc && measured)
		rc = fit_input_number(in, c->sync, false, &o->sync_s, &na, err);
	if (!rc)
		rc = fit_input_number(in, c->weight, false, &o->weight, &na, err);
	if (rc)
		return rc;
	o->local_bsz = (int64_t)bsz;
	if (!fit_throughput_obs_check(o, need_sync, &field, &why))
		return FIT_OK;
	at = strcmp(field, "step_s") == 0 ? c->step : strcmp(field, "sync_s") == 0 ? c->sync :
	     fit_input_find(in, field, NULL);
	return fit_input_fail(in, at, err, "%s", why.msg);
}

void throughput_release(struct throughput_data *d)
{
	for (size_t g = 0; g < d->n; g++) {
		for (size_t i = 0; i < d->n_by; i++)
			free(d->groups[g].key[i]);
		free(d->groups[g].key);
		free(d->groups[g].obs);
	}
	free(d->groups);
	free(d->by_text);
	free(d->name);
	fit_index_release(&d->index);
	fit_meta_release(&d->inputs);
}

/* The group of the current row, made when it is new. */
static int find_group(struct throughput_data *d, const struct fit_input *in,
		      const struct throughput_columns *c, uint32_t *g)
{
	struct fit_str key = { 0 };
	struct throughput_group new = { 0 };
	char buf[FIT_NUM_MAX];
	int rc = FIT_OK;

	for (size_t i = 0; i < d->n_by && !rc; i++) {
		struct fit_text t = fit_input_text(in, c->by[i], buf);

		rc = fit_str_printf(&key, "%d:%zu:", t.s != NULL, t.n);
		if (!rc)
			rc = fit_str_add(&key, t.n ? t.s : "", t.n);
	}
	if (!rc)
		rc = fit_index_put(&d->index, (struct fit_text){ key.s, key.n }, (uint32_t)d->n, g);
	fit_str_release(&key);
	if (rc || *g != FIT_NO_INDEX)
		return rc;
	*g = (uint32_t)d->n;
	new.key = calloc(d->n_by, sizeof *new.key);
	if (!new.key || fit_grow(&d->groups, &d->cap, d->n + 1, sizeof *d->groups)) {
		free(new.key);
		return FIT_ENOMEM;
	}
	d->groups[d->n++] = new;
	for (size_t i = 0; i < d->n_by; i++) {
		struct fit_text t = fit_input_text(in, c->by[i], buf);

		if (t.s && !(new.key[i] = fit_strdup(t)))
			return FIT_ENOMEM;
	}
	return FIT_OK;
}

int throughput_bad_record(struct cli *cli, const struct throughput_options *o, struct throughput_data *d,
		      const struct fit_input *in, struct fit_err *err)
{
	d->bad++;
	if (o->skip_bad == 0)
		cli_error(cli, err);
	else
		cli_note(cli, "left out: %s", err->msg);
	if (o->skip_bad > 0 && d->bad > (uint64_t)o->skip_bad)
		return fit_fail(err, FIT_EDATA, "%s: more than %lld bad records (--skip-bad)",
				fit_input_name(in), (long long)o->skip_bad);
	return FIT_OK;
}

int throughput_read(struct cli *cli, const struct throughput_options *o, const char *operand,
			     const char *role, struct throughput_data *d, struct fit_err *err)
{
	struct fit_input *in = NULL;
	struct throughput_columns c;
	struct fit_throughput_obs obs;
	bool need_sync = o->objective == FIT_RMSLE_ADAPTDL;
	uint64_t bad_before = d->bad;
	char hash[FIT_HASH_HEX], name[FIT_NUM_MAX];
	uint32_t g = 0;
	int app = -1, rc = fit_input_open(&in, operand, o->csv && !o->profile, err);

	if (!rc && !d->name && !(d->name = fit_strdup(fit_text_of(fit_input_name(in)))))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = throughput_find_columns(in, d, true, need_sync, &c, err);
	if (!rc && o->app.n > 0 && (app = fit_input_find(in, "app", NULL)) < 0)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column 'app' (for --app)",
			      fit_input_name(in));
	while (!rc) {
		rc = fit_input_row(in, err);
		if (rc == FIT_OK && !rows_app_wanted(&o->app, fit_input_text(in, app, name)))
			continue;
		if (rc == FIT_OK)
			rc = throughput_observation(in, &c, true, need_sync, &obs, err);
		if (rc == FIT_EDATA) {
			rc = throughput_bad_record(cli, o, d, in, err);
			continue;
		}
		if (rc)
			break;
		if (find_group(d, in, &c, &g) ||
		    fit_grow(&d->groups[g].obs, &d->groups[g].cap, d->groups[g].n + 1, sizeof obs))
			rc = fit_fail_nomem(err);
		else
			d->groups[g].obs[d->groups[g].n++] = obs;
	}
	if (rc == FIT_END) {
		rc = FIT_OK;
		fit_input_hash(in, hash);
		if (role && cli_meta_input(&d->inputs, role[0] ? role : NULL, hash))
			rc = fit_fail_nomem(err);
		if (o->skip_bad > 0 && d->bad > bad_before)
			cli_warn(cli, "%s: %llu bad %s left out", fit_input_name(in),
				 (unsigned long long)(d->bad - bad_before),
				 fit_plural(d->bad - bad_before, "record", "records"));
	}
	fit_input_close(in);
	return rc;
}

int throughput_read_profile(struct cli *cli, const struct throughput_options *o, struct throughput_data *d,
			struct fit_err *err)
{
	struct fit_str operand = { 0 };
	int rc = fit_str_printf(&operand, "%s:/placements", o->profile);

	if (!rc)
		rc = throughput_read(cli, o, operand.s, "profile", d, err);
	else
		fit_fail_nomem(err);
	if (!rc) {
		fit_str_clear(&operand);
		rc = fit_str_printf(&operand, "%s:/scalability", o->profile);
		if (rc)
			fit_fail_nomem(err);
		else
			rc = throughput_read(cli, o, operand.s, NULL, d, err);
		if (rc == FIT_ENOTFOUND)
			rc = FIT_OK;
	}
	fit_str_release(&operand);
	return rc;
}

int throughput_begin(const struct cli *cli, struct fit_writer *w, const struct throughput_data *d,
			const struct fit_field *tail, size_t n_tail, struct fit_err *err)
{
	struct fit_field fields[64];

	for (size_t i = 0; i < d->n_by; i++)
		fields[i] = (struct fit_field){ d->by[i], FIT_TEXT, 0 };
	memcpy(fields + d->n_by, tail, n_tail * sizeof *tail);
	return rows_begin(cli, w, &d->inputs, fields, d->n_by + n_tail, err);
}
