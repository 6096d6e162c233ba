/* SPDX-License-Identifier: MIT */
/*
 * The application model against what the reference simulator of "Pollux" (OSDI'21) answers.
 *
 *   test_pollux_model                       profiles from the public measurements, expected results
 *                                           from golden/pollux under $GOODFIT_SHARED; skips without
 *   test_pollux_model STORE.h5 FOLDER       a store that gf-prof made, expected results in FOLDER
 *
 * FOLDER: appmodel.csv, throughput-1d.csv, throughput-nd-APP.csv, configurations.csv.
 */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "libfit/model/interpolate.h"
#include "libfit/model/profile.h"
#include "libfit/model/profile_store.h"
#include "traces/csv.h"
#include "tests/unit/profiles.h"
#include "traces/prof_pollux.h"

#define REL 1e-12	/* the reference read its CSV with a parser that is off by a unit at times */

static const char *store, *folder;
static struct fit_profile *profile;
static struct fit_profile_tables tables;	/* a second copy, for the triangulations */
static char path_text[4096];

static const char *path(const char *dir, const char *name)
{
	int n = snprintf(path_text, sizeof path_text, "%s/%s", dir, name);

	assert_true(n > 0 && (size_t)n < sizeof path_text);
	return path_text;
}

static void read_shared(const char *shared, struct fit_profile_tables *t)
{
	read_profiles(path(shared, "public/pollux-osdi21/traces"), t);
}

/* 1: there is nothing to compare with. */
static int setup(void **state)
{
	static char golden[4096];
	const char *shared = getenv("GOODFIT_SHARED");
	struct fit_err err;

	(void)state;
	if (store) {
		check_ok(fit_profile_load(&profile, store, NULL, &err), &err);
		check_ok(fit_profile_tables_read(&tables, store, NULL, &err), &err);
		return 0;
	}
	if (!shared || !shared[0])
		shared = "../shared";
	memcpy(golden, path(shared, "golden/pollux"), sizeof golden);
	if (access(path(golden, "appmodel.csv"), R_OK) != 0 ||
	    access(path(shared, "public/pollux-osdi21/traces"), R_OK) != 0)
		return 0;
	folder = golden;
	read_shared(shared, &tables);
	check_ok(fit_profile_from_tables(&profile, &tables, &err), &err);
	read_shared(shared, &tables);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fit_profile_free(profile);
	fit_profile_tables_release(&tables);
	return 0;
}

/* ---- reading expected results ---- */

struct expected {
	struct fit_source *source;
	struct fit_csv *csv;
	size_t rows;
};

static void open_expected(struct expected *x, const char *name, const struct fit_field *fields,
			  size_t n)
{
	struct fit_err err;

	if (!folder)
		skip();
	*x = (struct expected){ 0 };
	check_ok(fit_source_open(&x->source, path(folder, name), &err), &err);
	check_ok(fit_csv_open(&x->csv, x->source, NULL, &err), &err);
	check_ok(fit_csv_bind(x->csv, fields, n, &err), &err);
}

static bool next_expected(struct expected *x, struct fit_cell *cells)
{
	struct fit_err err;
	int rc = fit_csv_row(x->csv, cells, &err);

	if (rc == FIT_END)
		return false;
	check_ok(rc, &err);
	x->rows++;
	return true;
}

static void close_expected(struct expected *x)
{
	assert_true(x->rows > 0);
	fit_csv_close(x->csv);
	fit_source_close(x->source);
}

static struct fit_app *app_named(struct fit_text name)
{
	struct fit_app *a = fit_profile_find(profile, name);

	if (!a)
		fail_msg("no application '%.*s' in the profile", FIT_TEXT_ARG(name));
	return a;
}

static struct fit_placement placement_of(int64_t digits)
{
	struct fit_placement p = { 0 };
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)digits);
	for (const char *s = text; *s; s++)
		p.gpus[p.n_nodes++] = *s - '0';
	return p;
}

/* ---- tests ---- */

static void test_runs(void **state)
{
	static const struct fit_field fields[] = {
		{ "app", FIT_TEXT, 0 }, { "batch_size", FIT_INT, 0 }, { "epoch", FIT_INT, 0 },
		{ "grad_sqr", FIT_REAL, 0 }, { "grad_var", FIT_REAL, 0 }, { "iteration", FIT_REAL, 0 },
		{ "best_metric", FIT_REAL, 0 }, { "progress_at_epoch", FIT_REAL, 0 },
	};
	struct fit_cell c[8];
	struct expected x;

	(void)state;
	open_expected(&x, "appmodel.csv", fields, 8);
	while (next_expected(&x, c)) {
		struct fit_app *a = app_named(c[0].u.t);
		double sqr, var, steps, metric;
		struct fit_err err;
		bool known;

		check_ok(fit_app_grad_stats(a, c[1].u.i, c[2].u.i, &sqr, &var, &err), &err);
		check_real(sqr, c[3].u.d, REL, 0);
		check_real(var, c[4].u.d, REL, 0);
		check_ok(fit_app_iteration(a, c[1].u.i, c[2].u.i, &steps, &err), &err);
		check_real(steps, c[5].u.d, REL, 0);
		check_ok(fit_app_best_metric(a, c[1].u.i, c[2].u.i, &known, &metric, &err), &err);
		assert_int_equal(known, !c[6].na);
		if (known)
			check_real(metric, c[6].u.d, REL, 0);
		check_real(fit_app_epoch_start(a, c[2].u.i), c[7].u.d, REL, 0);
	}
	print_message("# appmodel: %zu rows\n", x.rows);
	close_expected(&x);
}

static void test_step_times_1d(void **state)
{
	static const struct fit_field fields[] = {
		{ "app", FIT_TEXT, 0 }, { "placement", FIT_INT, 0 }, { "local_bsz", FIT_INT, 0 },
		{ "step_time", FIT_REAL, 0 }, { "sync_time", FIT_REAL, 0 },
	};
	struct fit_cell c[5];
	struct expected x;

	(void)state;
	open_expected(&x, "throughput-1d.csv", fields, 5);
	while (next_expected(&x, c)) {
		struct fit_placement p = placement_of(c[1].u.i);
		double step, sync;
		struct fit_err err;

		/* the second time from the memo */
		for (int k = 0; k < 2; k++) {
			check_ok(fit_app_throughput(app_named(c[0].u.t), &p, c[2].u.i, &step, &sync,
						    &err), &err);
			check_real(step, c[3].u.d, REL, 0);
			check_real(sync, c[4].u.d, REL, 0);
		}
	}
	print_message("# throughput-1d: %zu rows\n", x.rows);
	close_expected(&x);
}

/* The triangulation of application i, borrowed from the tables. */
static void mesh_of(size_t i, const struct fit_profile_rows *r, struct fit_delaunay *d)
{
	const struct fit_table *points = &tables.t[FIT_PROFILE_POINTS];
	const struct fit_table *simplices = &tables.t[FIT_PROFILE_SIMPLICES];
	size_t at = r->at[FIT_PROFILE_POINTS], s = r->at[FIT_PROFILE_SIMPLICES];
	struct fit_err err;

	*d = (struct fit_delaunay){ .n_points = r->n[FIT_PROFILE_POINTS],
				    .n_simplices = r->n[FIT_PROFILE_SIMPLICES] };
	for (int k = 0; k < 3; k++)
		d->x[k] = points->columns[FIT_SCALE_NODES + k].i + at;
	for (int k = 0; k < 4; k++) {
		d->v[k] = simplices->columns[FIT_SIMPLEX_V + k].i + s;
		d->nb[k] = simplices->columns[FIT_SIMPLEX_N + k].i + s;
	}
	for (int k = 0; k < 5; k++)
		d->eq[k] = simplices->columns[FIT_SIMPLEX_EQ + k].d + s;
	d->degenerate = simplices->columns[FIT_SIMPLEX_DEGENERATE].i + s;
	d->scale = tables.t[FIT_PROFILE_LIFT].columns[FIT_LIFT_SCALE].d[i];
	d->shift = tables.t[FIT_PROFILE_LIFT].columns[FIT_LIFT_SHIFT].d[i];
	check_ok(fit_delaunay_bind(d, &err), &err);
	check_ok(fit_delaunay_ready(d, &err), &err);
}

static struct fit_placement spread(int64_t nodes, int64_t replicas)
{
	struct fit_placement p = { .n_nodes = (int)nodes };

	for (int64_t i = 0; i < nodes; i++)
		p.gpus[i] = (int)(replicas / nodes + (i < replicas % nodes));
	return p;
}

static void test_step_times_3d(void **state)
{
	static const struct fit_field fields[] = {
		{ "num_nodes", FIT_INT, 0 }, { "num_replicas", FIT_INT, 0 }, { "local_bsz", FIT_INT, 0 },
		{ "step_time", FIT_REAL, 0 }, { "sync_time", FIT_REAL, 0 }, { "simplex", FIT_INT, 0 },
	};
	struct fit_profile_rows *rows;
	struct fit_cell c[6];
	struct fit_err err;
	size_t total = 0, files = 0;

	(void)state;
	if (!folder)
		skip();
	check_ok(fit_profile_tables_check(&tables, FIT_PROFILE_KINDS, &rows, &err), &err);
	for (size_t i = 0; i < fit_profile_n_apps(profile); i++) {
		struct fit_app *a = fit_profile_app(profile, i);
		struct fit_delaunay d;
		struct expected x;
		char name[256];
		int n = snprintf(name, sizeof name, "throughput-nd-%s.csv", fit_app_info(a)->name);

		assert_true(n > 0 && (size_t)n < sizeof name);
		if (access(path(folder, name), R_OK) != 0)
			continue;
		mesh_of(i, &rows[i], &d);
		open_expected(&x, name, fields, 6);
		while (next_expected(&x, c)) {
			struct fit_placement p = spread(c[0].u.i, c[1].u.i);
			double q[3] = { (double)c[0].u.i, (double)c[1].u.i, (double)c[2].u.i };
			double step, sync, at[4];

			check_ok(fit_app_throughput(a, &p, c[2].u.i, &step, &sync, &err), &err);
			check_real(step, c[3].u.d, REL, 0);
			check_real(sync, c[4].u.d, REL, 0);
			assert_int_equal(fit_delaunay_find(&d, q, at), c[5].u.i);
		}
		total += x.rows;
		files++;
		close_expected(&x);
		fit_delaunay_release(&d);
	}
	free(rows);
	print_message("# throughput-nd: %zu queries of %zu applications, simplex and values\n", total,
		      files);
	assert_true(files > 0);
}

static void test_configurations(void **state)
{
	static const struct fit_field fields[] = {
		{ "app", FIT_TEXT, 0 }, { "num_replicas", FIT_INT, 0 }, { "batch_size", FIT_INT, 0 },
		{ "predicted_jct_seconds", FIT_REAL, 0 },
	};
	struct fit_tuned t[16];
	struct fit_app *app = NULL;
	struct fit_cell c[4];
	struct expected x;
	struct fit_err err;
	size_t n = 0, k = 0;

	(void)state;
	open_expected(&x, "configurations.csv", fields, 4);
	while (next_expected(&x, c)) {
		if (app_named(c[0].u.t) != app) {
			assert_int_equal(k, n);		/* no more than expected */
			app = app_named(c[0].u.t);
			check_ok(fit_app_configurations(app, 0.5, 0.8, t, 16, &n, &err), &err);
			k = 0;
		}
		assert_true(k < n);
		assert_int_equal(t[k].replicas, c[1].u.i);
		assert_int_equal(t[k].batch, c[2].u.i);
		check_real(t[k].jct_s, c[3].u.d, REL, 0);
		k++;
	}
	assert_int_equal(k, n);
	print_message("# configurations: %zu rows\n", x.rows);
	close_expected(&x);
}

/* The constants of section B.1, written out once more here. */
static void test_constants(void **state)
{
	static const struct { const char *app; int64_t c[5]; } expected[] = {
		{ "bert", { 12, 384, 4, 12, 2 } }, { "cifar10", { 128, 4096, 32, 1024, 100 } },
		{ "deepspeech2", { 20, 640, 10, 80, 80 } }, { "imagenet", { 200, 12800, 20, 200, 90 } },
		{ "ncf", { 256, 32768, 32, 32768, 10 } }, { "yolov3", { 8, 512, 4, 8, 50 } },
	};

	(void)state;
	if (!folder)
		skip();
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		const struct fit_app_info *a = fit_app_info(app_named(fit_text_of(expected[i].app)));

		assert_int_equal(a->init_batch, expected[i].c[0]);
		assert_int_equal(a->max_batch, expected[i].c[1]);
		assert_int_equal(a->min_local_bsz, expected[i].c[2]);
		assert_int_equal(a->max_local_bsz, expected[i].c[3]);
		assert_int_equal(a->epochs, expected[i].c[4]);
		assert_int_equal(a->restart_ns, INT64_C(30000000000));
		assert_int_equal(a->max_replicas, strcmp(expected[i].app, "ncf") == 0 ? 1 : 0);
		assert_int_equal(a->fixed_batch, strcmp(expected[i].app, "ncf") == 0 ? 32768 : 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_step_times_1d),
		cmocka_unit_test(test_step_times_3d),
		cmocka_unit_test(test_configurations),
	};

	if (argc != 1 && argc != 3) {
		fprintf(stderr, "usage: test_pollux_model [STORE.h5 FOLDER]\n");
		return 2;
	}
	if (argc == 3) {
		store = argv[1];
		folder = argv[2];
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
