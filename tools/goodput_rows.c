/* SPDX-License-Identifier: MIT */
/* Rows of gf-goodput: allocations from a table or from lists, each under every job. */
#include <math.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/placement.h"
#include "tools/goodput_parts.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct fit_field fixed_fields[] = {
	{ "app", FIT_TEXT, 0 },	       { "epoch", FIT_INT, 0 },
	{ "progress", FIT_REAL, 0 },   { "phi", FIT_REAL, 0 },
	{ "num_nodes", FIT_INT, 0 },   { "num_replicas", FIT_INT, 0 },
	{ "atomic_bsz", FIT_INT, 0 },  { "accum_steps", FIT_INT, 0 },
	{ "batch_size", FIT_INT, 0 },  { "throughput_per_s", FIT_REAL, 0 },
	{ "efficiency", FIT_REAL, 0 }, { "goodput_per_s", FIT_REAL, 0 },
	{ "speedup", FIT_REAL, 0 }
};

static bool rule_wanted(const struct goodput_options *o, const struct goodput_data *d, size_t i)
{
	return o->lr_rule && (!d->rule || d->rule == &fit_lr_rules[i]);
}

static int begin_output(const struct cli *cli, const struct goodput_options *o, const struct goodput_data *d,
			struct fit_writer *w, struct fit_err *err)
{
	struct fit_field fields[64];
	char names[48][48];
	size_t n = COUNT(fixed_fields), n_names = 0;

	memcpy(fields, fixed_fields, sizeof fixed_fields);
	for (size_t i = 0; i < fit_lr_n_rules; i++) {
		for (int k = 0; k < 2 && rule_wanted(o, d, i); k++) {
			if (k == 1 && !fit_lr_rules[i].warmup)
				continue;
			snprintf(names[n_names], sizeof names[0], "%s_%s", k ? "warmup" : "lr",
				 fit_lr_rules[i].name);
			fields[n++] = (struct fit_field){ names[n_names++], FIT_REAL, 0 };
		}
	}
	return rows_begin(cli, w, &d->inputs, fields, n, err);
}

static int put_row(struct fit_writer *w, const struct goodput_options *o, const struct goodput_data *d,
		   const struct goodput_job *j, int64_t nodes, int64_t replicas,
		   const struct fit_goodput_point *p, struct fit_err *err)
{
	const struct fit_goodput *g = &j->model;
	const struct fit_lr_stats stats = { g->grad_sqr, g->grad_var };
	bool fits = p->atomic_bsz > 0;
	int64_t batch = replicas * p->atomic_bsz * (p->accum_steps + 1);

	fit_writer_str(w, j->app);
	rows_put_int(w, j->has_epoch, j->epoch);
	rows_put_real(w, j->has_progress, j->progress);
	rows_put_real(w, !g->fixed_efficiency && (g->grad_var > 0 || g->grad_sqr > 0),
		 (double)g->init_batch * g->grad_var / g->grad_sqr);
	fit_writer_int(w, nodes);
	fit_writer_int(w, replicas);
	rows_put_int(w, fits, p->atomic_bsz);
	rows_put_int(w, fits, p->accum_steps);
	rows_put_int(w, fits, batch);
	rows_put_real(w, fits, p->throughput);
	rows_put_real(w, fits, p->efficiency);
	fit_writer_real(w, p->goodput);
	rows_put_real(w, j->base > 0, p->goodput / j->base);
	for (size_t i = 0; i < fit_lr_n_rules; i++) {
		const struct fit_lr_rule *r = &fit_lr_rules[i];
		/* without statistics AdaScale has no answer */
		bool known = fits && !(g->fixed_efficiency && r == fit_lr_rule_find("adascale"));

		if (!rule_wanted(o, d, i))
			continue;
		rows_put_real(w, known,
			 fits ? r->gain((double)batch, (double)g->init_batch, &stats) : 0);
		if (r->warmup)
			rows_put_real(w, fits, r->warmup((double)batch, (double)g->init_batch));
	}
	return fit_writer_end_row(w, err);
}

/* ---- allocations ---- */

struct columns {
	int app, nodes, replicas, placement, bsz, accum;
};

static int find_columns(const struct fit_input *in, const struct goodput_options *o, struct columns *c,
			struct fit_err *err)
{
	const char *missing = NULL;

	*c = (struct columns){ fit_input_find(in, "app", NULL),
			       fit_input_find(in, "num_nodes", NULL),
			       fit_input_find(in, "num_replicas", NULL),
			       fit_input_find(in, "placement", NULL),
			       fit_input_find(in, "atomic_bsz", "local_bsz"),
			       fit_input_find(in, "accum_steps", NULL) };
	if (o->at && c->bsz < 0)
		missing = "atomic_bsz";
	if (c->placement < 0 && c->replicas < 0)
		missing = "num_replicas";
	if (c->placement < 0 && c->nodes < 0)
		missing = "num_nodes";
	return missing ? fit_input_lacks(in, missing, err) : FIT_OK;
}

static int get_shape(const struct fit_input *in, const struct columns *c, int64_t *nodes,
		     int64_t *replicas, struct fit_err *err)
{
	double n = 0, r = 0;
	int rc;

	if (c->nodes < 0 || c->replicas < 0) {
		rc = fit_input_need(in, c->placement, true, &n, err);
		if (!rc && fit_placement_canonical((int64_t)n) < 0)
			rc = fit_input_fail(in, c->placement, err,
					    "bad placement '%.0f' (expected a digit from 1 "
					    "to 9 for each of at most %d nodes)",
					    n, FIT_DIGITS_NODES_MAX);
		if (!rc)
			fit_placement_shape((int64_t)n, nodes, replicas);
		return rc;
	}
	rc = fit_input_need(in, c->nodes, true, &n, err);
	if (!rc)
		rc = fit_input_need(in, c->replicas, true, &r, err);
	if (rc)
		return rc;
	if (!(n >= 1))
		return fit_input_fail(in, c->nodes, err,
				      "bad number of nodes '%.0f' (expected 1 or more)", n);
	if (!(r >= n) || r > 1e6)
		return fit_input_fail(in, c->replicas, err,
				      "bad number of GPUs '%.0f' (expected %.0f to 1000000)", r, n);
	*nodes = (int64_t)n;
	*replicas = (int64_t)r;
	return FIT_OK;
}

/* A split that was asked for must be within the limits, but for what rounding up adds. */
static int given_split(const struct fit_input *in, const struct columns *c, const struct goodput_job *j,
		       int64_t nodes, int64_t replicas, struct fit_goodput_point *p,
		       struct fit_err *err)
{
	const struct fit_goodput *g = &j->model;
	double bsz = 0, accum = 0, batch, over;
	bool na;
	int rc = fit_input_need(in, c->bsz, true, &bsz, err);

	if (!rc)
		rc = fit_input_number(in, c->accum, true, &accum, &na, err);
	if (rc)
		return rc;
	if (bsz < (double)g->min_local_bsz || bsz > (double)g->max_local_bsz)
		return fit_input_fail(in, c->bsz, err, "bad size '%.0f' (expected %lld to %lld)",
				      bsz, (long long)g->min_local_bsz,
				      (long long)g->max_local_bsz);
	if (accum < 0 || accum > (g->max_accum >= 0 ? (double)g->max_accum : 1e9))
		return fit_input_fail(in, c->accum, err,
				      "bad number of passes '%.0f' (expected 0 to %.0f)", accum,
				      g->max_accum >= 0 ? (double)g->max_accum : 1e9);
	batch = (double)replicas * bsz * (accum + 1);
	over = g->strict_batch ? 1 : (double)replicas * (accum + 1);
	if ((batch < (double)g->init_batch && !g->fixed_efficiency) ||
	    batch > (double)g->max_batch + over - 1)
		return fit_input_fail(in, c->bsz, err,
				      "bad total batch size '%.0f' (expected %lld to %lld)", batch,
				      (long long)g->init_batch, (long long)g->max_batch);
	*p = fit_goodput_at(g, nodes, replicas, (int64_t)bsz, (int64_t)accum);
	return FIT_OK;
}

/* One row of allocations, for every job that it is about. */
static int allocation(const struct fit_input *in, const struct columns *c, const struct goodput_options *o,
		      const struct goodput_data *d, struct fit_writer *w, struct fit_err *err)
{
	char buf[FIT_NUM_MAX];
	struct fit_text app = fit_input_text(in, c->app, buf);
	int64_t nodes = 0, replicas = 0;
	size_t met = 0;
	int rc = get_shape(in, c, &nodes, &replicas, err);

	for (size_t i = 0; i < d->n && !rc; i++) {
		const struct goodput_job *j = &d->jobs[i];
		struct fit_goodput_point p;

		if (app.s && j->app && !fit_text_is(app, j->app))
			continue;
		met++;
		if (o->at)
			rc = given_split(in, c, j, nodes, replicas, &p, err);
		else
			p = fit_goodput_best(&j->model, nodes, replicas);
		if (!rc)
			rc = put_row(w, o, d, j, nodes, replicas, &p, err);
	}
	if (!rc && met == 0 && o->app.n == 0)
		rc = fit_input_fail(in, c->app, err, "no gradient statistics of application '%.*s'",
				    FIT_TEXT_ARG(app));
	return rc;
}

int goodput_from_file(struct cli *cli, const struct goodput_options *o, struct goodput_data *d,
		      struct fit_writer *w, struct fit_err *err)
{
	struct fit_input *in = NULL;
	struct columns c;
	int rc = fit_input_open(&in, cli_operand(cli, 0), o->csv, err);

	if (!rc)
		rc = find_columns(in, o, &c, err);
	if (!rc)
		rc = begin_output(cli, o, d, w, err);
	while (!rc && (rc = fit_input_row(in, err)) == FIT_OK)
		rc = allocation(in, &c, o, d, w, err);
	if (rc == FIT_END)
		rc = rows_end_input(in, w, err);
	fit_input_close(in);
	return rc;
}

/* --gpus and --nodes: every pair that can be, for one job after the other. */
int goodput_from_lists(struct cli *cli, const struct goodput_options *o, struct goodput_data *d,
		      struct fit_writer *w, struct fit_err *err)
{
	int rc = begin_output(cli, o, d, w, err);
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		for (size_t k = 0; k < d->n_gpus; k++) {
			for (size_t m = 0; m < (d->n_nodes ? d->n_nodes : 1) && !rc; m++) {
				int64_t gpus = d->gpus[k], fewest = (gpus - 1) / o->per_node + 1;
				int64_t nodes = d->n_nodes ? d->nodes[m] : fewest;
				struct fit_goodput_point p;

				if (nodes < fewest || nodes > gpus)
					continue;
				p = fit_goodput_best(&d->jobs[i].model, nodes, gpus);
				rc = put_row(w, o, d, &d->jobs[i], nodes, gpus, &p, err);
				n++;
			}
		}
	}
	if (!rc && n == 0)
		rc = fit_fail(err, FIT_EDATA,
			      "no number of GPUs fits any number of nodes (--gpus, --nodes, "
			      "--gpus-per-node)");
	return rc;
}
