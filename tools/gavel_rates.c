/* SPDX-License-Identifier: MIT */
/*
 * gf-gavel rates, gf-gavel steps: what Gavel wants to know of jobs, out of application profiles. A job that
 * keeps its batch size and its GPUs has a number of steps, and takes so long alone on GPUs of a type; its
 * rate there is the one over the other, so that a replay of it alone takes just as long.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/text.h"
#include "libfit/model/profile_set.h"
#include "libfit/model/profile_steps.h"
#include "libfit/replay/cluster.h"
#include "libfit/replay/fidelity.h"
#include "tools/gavel_parts.h"
#include "tools/profile_meta.h"

enum { APP, BATCH, GPUS, N_COLUMNS };

static const struct fit_field columns[N_COLUMNS] = {
	[APP] = { "app", FIT_TEXT, FIT_F_NOT_NA },
	[BATCH] = { "batch_size", FIT_INT, FIT_F_NOT_NA },
	[GPUS] = { "gpus", FIT_REAL, FIT_F_NOT_NA },
};

/* All that is read. */
struct data {
	struct fit_profile_set profiles;
	struct fit_cluster cluster;
	struct fit_table jobs;
	const struct fit_fidelity *fidelity;
	size_t *order;		/* of rows, by application, batch size, GPUs */
};

static void release(struct data *d)
{
	fit_profile_set_release(&d->profiles);
	fit_cluster_release(&d->cluster);
	fit_table_release(&d->jobs);
	free(d->order);
}

static int open_profiles(struct data *d, const struct gavel_profiles *o, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < o->profiles.n && !rc; i++)
		rc = fit_profile_set_add(&d->profiles, o->profiles.items[i], err);
	return rc;
}

/* Each type of the cluster needs a profile. */
static int open_cluster(struct data *d, const char *spec, struct fit_err *err)
{
	int rc = fit_cluster_init_typed(&d->cluster, spec, err);

	for (int32_t t = 0; t < d->cluster.n_types && !rc; t++)
		if (!fit_profile_set_find(&d->profiles, fit_text_of(d->cluster.types[t].name)))
			rc = fit_fail(err, FIT_EINVAL, "no profile of GPU type '%s' (expected --profile %s=STORE)",
				      d->cluster.types[t].name, d->cluster.types[t].name);
	return rc;
}

/* ---- rates ---- */

static const struct data *sorted;	/* whose rows are compared: qsort() has no argument for it */

static int by_work(const void *pa, const void *pb)
{
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
	const struct fit_column *c = sorted->jobs.columns;
	int order = fit_text_cmp(fit_column_text(&c[APP], a), fit_column_text(&c[APP], b));

	if (order)
		return order;
	if (c[BATCH].i[a] != c[BATCH].i[b])
		return c[BATCH].i[a] < c[BATCH].i[b] ? -1 : 1;
	if (c[GPUS].d[a] < c[GPUS].d[b] || c[GPUS].d[a] > c[GPUS].d[b])
		return c[GPUS].d[a] < c[GPUS].d[b] ? -1 : 1;
	return (a > b) - (a < b);	/* the first row of them stands for all */
}

static bool same_work(const struct data *d, size_t a, size_t b)
{
	const struct fit_column *c = d->jobs.columns;

	return fit_text_eq(fit_column_text(&c[APP], a), fit_column_text(&c[APP], b)) &&
	       c[BATCH].i[a] == c[BATCH].i[b] && !(c[GPUS].d[a] < c[GPUS].d[b]) && !(c[GPUS].d[a] > c[GPUS].d[b]);
}

static int check_row(const struct data *d, size_t row, struct fit_err *err)
{
	double gpus = d->jobs.columns[GPUS].d[row];

	if (!(gpus >= 1 && gpus <= 1e6) || gpus > (double)(int64_t)gpus)
		return fit_table_fail(&d->jobs, row, FIT_EDATA, "gpus", err,
				      "bad number of GPUs %g (expected a whole number, at least 1)", gpus);
	if (d->jobs.columns[BATCH].i[row] < 1)
		return fit_table_fail(&d->jobs, row, FIT_EDATA, "batch_size", err,
				      "bad batch size %lld (expected at least 1)",
				      (long long)d->jobs.columns[BATCH].i[row]);
	return FIT_OK;
}

/* On as few nodes as hold the GPUs; spread: evenly over two. false: there is no such placement. */
static bool placement(const struct fit_gpu_type *t, int64_t gpus, bool spread, struct fit_placement *p)
{
	const bool wide = gpus > t->max_node_gpus;
	const int64_t each = spread && !wide ? (gpus + 1) / 2 : t->max_node_gpus;

	p->n_nodes = 0;
	if (gpus > t->n_gpus || (wide && !spread) || (spread && !wide && (gpus < 2 || t->n_nodes < 2)) ||
	    gpus > each * FIT_PLACEMENT_MAX)
		return false;
	for (; gpus > 0; gpus -= each)
		p->gpus[p->n_nodes++] = (int)(gpus < each ? gpus : each);
	return true;
}

static int write_rate(struct fit_writer *w, const struct data *d, size_t row, int32_t type, bool spread,
		      double rate, struct fit_err *err)
{
	fit_writer_str(w, d->cluster.types[type].name);
	fit_writer_int(w, !spread);
	fit_writer_text(w, fit_column_text(&d->jobs.columns[APP], row));
	fit_writer_int(w, d->jobs.columns[BATCH].i[row]);
	fit_writer_int(w, (int64_t)d->jobs.columns[GPUS].d[row]);
	fit_writer_real(w, rate);
	return fit_writer_end_row(w, err);
}

/* The rows of what one job asks for; placements that were not measured have none. */
static int write_work(struct fit_writer *w, const struct data *d, size_t row, struct fit_err *err)
{
	const struct fit_text name = fit_column_text(&d->jobs.columns[APP], row);
	const int64_t batch = d->jobs.columns[BATCH].i[row], gpus = (int64_t)d->jobs.columns[GPUS].d[row];
	struct fit_err unmeasured = { 0 };
	double steps, seconds;
	size_t n = 0;
	int rc = check_row(d, row, err);

	for (int32_t t = 0; t < d->cluster.n_types && !rc; t++) {
		struct fit_app *a = fit_profile_find(fit_profile_set_find(&d->profiles,
					fit_text_of(d->cluster.types[t].name)), name);
		const struct fit_fidelity_app *f = a ? fit_fidelity_app(d->fidelity, fit_app_info(a)->name) : NULL;

		for (int spread = 0; spread < 2 && a && !rc; spread++) {
			struct fit_placement p;

			if (!placement(&d->cluster.types[t], gpus, spread, &p) ||
			    fit_app_job_steps(a, batch, &steps, &unmeasured) ||
			    fit_app_job_seconds(a, &p, batch, &seconds, &unmeasured))
				continue;
			rc = write_rate(w, d, row, t, spread, steps / seconds / (f ? f->calibration : 1), err);
			n++;
		}
	}
	if (!rc && !n)
		return fit_table_fail(&d->jobs, row, FIT_EDATA, "app", err,
				      "'%.*s' at batch size %lld on %lld GPUs was measured on no type of the cluster",
				      FIT_TEXT_ARG(name), (long long)batch, (long long)gpus);
	return rc;
}

static int load(struct data *d, struct cli *cli, const struct gavel_profiles *o, struct fit_err *err)
{
	int rc = open_profiles(d, o, err);

	rc = rc ? rc : open_cluster(d, o->cluster, err);
	rc = rc ? rc : fit_table_read(&d->jobs, cli_operand(cli, 0), columns, N_COLUMNS, err);
	if (rc)
		return rc;
	d->order = calloc(d->jobs.n_rows + 1, sizeof *d->order);
	if (!d->order)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < d->jobs.n_rows; i++)
		d->order[i] = i;
	sorted = d;
	qsort(d->order, d->jobs.n_rows, sizeof *d->order, by_work);
	return FIT_OK;
}

static int begin(const struct cli *cli, const struct data *d, const struct fit_field *fields, size_t n,
		 struct fit_writer **w, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	rc = rc ? rc : cli_meta_input(&meta, "jobs", d->jobs.hash);
	rc = rc ? rc : profile_meta_add(&meta, &d->profiles);
	return cli_table_begin(cli, w, NULL, &meta, rc, fields, n, err);
}

static int finish(struct cli *cli, struct data *d, int rc, struct fit_err *err)
{
	release(d);
	return rc == FIT_EINVAL ? cli_usage(cli, "%s", err->msg) : rc ? cli_error(cli, err) : CLI_EXIT_OK;
}

int gavel_rates(struct cli *cli, const struct gavel_profiles *o)
{
	static const struct fit_field fields[] = {
		{ "gpu_type", FIT_TEXT, 0 }, { "consolidated", FIT_INT, 0 }, { "app", FIT_TEXT, 0 },
		{ "batch_size", FIT_INT, 0 }, { "gpus", FIT_INT, 0 }, { "steps_per_s", FIT_REAL, 0 }
	};
	struct data d = { .fidelity = fit_fidelity_named(o->fidelity) };
	struct fit_writer *w = NULL;
	struct fit_err err;
	int rc;

	if (!d.fidelity)
		return cli_usage(cli, "unknown fidelity '%s' (expected one that gf-replay --help lists)", o->fidelity);
	rc = load(&d, cli, o, &err);
	if (!rc) {
		rc = begin(cli, &d, fields, sizeof fields / sizeof *fields, &w, &err);
		for (size_t i = 0; i < d.jobs.n_rows && !rc; i++)
			if (!i || !same_work(&d, d.order[i - 1], d.order[i]))
				rc = write_work(w, &d, d.order[i], &err);
		rc = cli_writer_end(w, rc, &err);
	}
	return finish(cli, &d, rc, &err);
}

/* ---- steps ---- */

/* The application in the first profile that has it: training runs are the same on all types. */
static struct fit_app *find_app(const struct data *d, struct fit_text name)
{
	struct fit_app *a = NULL;

	for (size_t i = 0; i < d->profiles.n && !a; i++)
		a = fit_profile_find(d->profiles.entries[i].profile, name);
	return a;
}

static int steps_of(const struct data *d, size_t row, double *steps, struct fit_err *err)
{
	const struct fit_column *app = fit_table_column(&d->jobs, "app");
	const struct fit_column *batch = fit_table_column(&d->jobs, "batch_size");
	const struct fit_app *a = find_app(d, fit_column_text(app, row));
	struct fit_err why = { 0 };

	if (!a)
		return fit_table_fail(&d->jobs, row, FIT_EDATA, "app", err, "unknown application '%.*s' (expected one of "
				      "the profiles)", FIT_TEXT_ARG(fit_column_text(app, row)));
	if (batch->i[row] < 1 || fit_app_job_steps(a, batch->i[row], steps, &why))
		return fit_table_fail(&d->jobs, row, FIT_EDATA, "batch_size", err, "%lld is outside of what '%s' was "
				      "trained at", (long long)batch->i[row], fit_app_info(a)->name);
	return FIT_OK;
}

static int write_steps(struct cli *cli, const struct data *d, struct fit_err *err)
{
	const size_t n = d->jobs.n_columns;
	struct fit_field *fields = calloc(n + 1, sizeof *fields);
	size_t *from = calloc(n + 1, sizeof *from), kept = 0;
	struct fit_writer *w = NULL;
	double steps = 0;
	int rc = fields && from ? FIT_OK : fit_fail_nomem(err);

	for (size_t k = 0; k < n && !rc; k++) {
		if (strcmp(d->jobs.columns[k].name, "work") == 0)
			continue;
		from[kept] = k;
		fields[kept++] = (struct fit_field){ d->jobs.columns[k].name, d->jobs.columns[k].type, 0 };
	}
	if (!rc) {
		fields[kept] = (struct fit_field){ "work", FIT_INT, 0 };
		rc = begin(cli, d, fields, kept + 1, &w, err);
	}
	for (size_t i = 0; i < d->jobs.n_rows && !rc; i++) {
		rc = steps_of(d, i, &steps, err);
		for (size_t k = 0; k < kept && !rc; k++) {
			struct fit_cell c = fit_column_cell(&d->jobs.columns[from[k]], i);

			fit_writer_cell(w, fields[k].type, &c);
		}
		if (!rc)
			fit_writer_int(w, (int64_t)steps);
		rc = rc ? rc : fit_writer_end_row(w, err);
	}
	rc = cli_writer_end(w, rc, err);
	free(fields);
	free(from);
	return rc;
}

int gavel_steps(struct cli *cli, const struct gavel_profiles *o)
{
	static const struct fit_field needed[] = { { "app", FIT_TEXT, 0 }, { "batch_size", FIT_INT, 0 } };
	struct data d = { 0 };
	struct fit_err err;
	int rc = open_profiles(&d, o, &err);

	rc = rc ? rc : fit_table_read(&d.jobs, cli_operand(cli, 0), NULL, 0, &err);
	for (size_t k = 0; k < 2 && !rc; k++) {
		const struct fit_column *c = fit_table_column(&d.jobs, needed[k].name);

		if (!c || c->type != needed[k].type)
			rc = fit_fail(&err, FIT_EDATA, "%s: %s column '%s'", d.jobs.input,
				      c ? "wrong type of" : "no", needed[k].name);
	}
	rc = rc ? rc : write_steps(cli, &d, &err);
	return finish(cli, &d, rc, &err);
}
