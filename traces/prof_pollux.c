/* SPDX-License-Identifier: MIT */
#include "traces/prof_pollux.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/base/placement.h"
#include "traces/csv.h"

/* Checkpoint and restart of any application (adaptdl simulator, simulator.py). */
#define RESTART_NS (30 * FIT_NS_PER_S)
#define COUNT_MAX INT64_C(1000000000)

/* yolov3 was measured up to 16 samples a GPU, but the simulator lets it use 8. ncf runs on one GPU
 * and, where a policy may choose the batch size, at its largest one. */
static const struct fit_pollux_override overrides[] = {
	{ "ncf", 0, 1, 32768 },
	{ "yolov3", 8, 0, 0 },
};

const struct fit_pollux_override *fit_pollux_overrides(size_t *n)
{
	*n = sizeof overrides / sizeof *overrides;
	return overrides;
}

/* ---- names of files and folders ---- */

struct names {
	char **s;
	size_t n, cap;
};

static void names_release(struct names *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->s[i]);
	free(l->s);
	*l = (struct names){ 0 };
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All entries of a folder but hidden ones, in byte order. */
static int list_folder(const char *folder, struct names *l, struct fit_err *err)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	int rc = FIT_OK;

	*l = (struct names){ 0 };
	if (!d)
		return fit_fail_errno(err, "%s: cannot open folder", folder);
	while (!rc && (errno = 0, e = readdir(d))) {
		char *copy;

		if (e->d_name[0] == '.')
			continue;
		copy = fit_strdup(fit_text_of(e->d_name));
		if (!copy || fit_grow(&l->s, &l->cap, l->n + 1, sizeof *l->s)) {
			free(copy);
			rc = fit_fail_nomem(err);
			break;
		}
		l->s[l->n++] = copy;
	}
	if (!rc && errno)
		rc = fit_fail_errno(err, "%s: cannot read folder", folder);
	closedir(d);
	if (rc)
		names_release(l);
	else if (l->n)
		qsort(l->s, l->n, sizeof *l->s, compare_names);
	return rc;
}

static int join(struct fit_str *path, const char *folder, const char *name)
{
	size_t n = strlen(folder);
	bool slash = n > 0 && folder[n - 1] == '/';

	fit_str_clear(path);
	return fit_str_printf(path, "%s%s%s", folder, slash ? "" : "/", name);
}

/* folder/NAME.csv, or folder/NAME-TYPE.csv. */
static int join_typed(struct fit_str *path, const char *folder, const char *name,
		      const struct fit_pollux_options *options)
{
	const char *type = options->gpu_type;
	int rc = join(path, folder, name);

	return rc ? rc : fit_str_printf(path, "%s%s.csv", type ? "-" : "", type ? type : "");
}

static bool is_kind(const char *path, bool folder)
{
	struct stat st;

	return stat(path, &st) == 0 && (folder ? S_ISDIR(st.st_mode) : !S_ISDIR(st.st_mode));
}

/* The application's name: the last part of the path; for "." that of the current folder. */
static int name_of(const char *folder, char **name, struct fit_err *err)
{
	char here[4096] = "";
	struct fit_text t = fit_text_of(folder), last;

	while (t.n > 1 && (t.s[t.n - 1] == '/' ||
			   (t.s[t.n - 1] == '.' && t.s[t.n - 2] == '/')))
		t.n--;
	if (fit_text_is(t, ".")) {
		if (!getcwd(here, sizeof here))
			return fit_fail_errno(err, "%s: cannot open folder", folder);
		t = fit_text_of(here);
	}
	last = t;
	for (size_t i = 0; i < t.n; i++)
		if (t.s[i] == '/')
			last = (struct fit_text){ t.s + i + 1, t.n - i - 1 };
	if (last.n == 0 || fit_text_is(last, "..") || !fit_text_is_utf8(last))
		return fit_fail(err, FIT_EDATA, "%s: no application name in this path", folder);
	*name = fit_strdup(last);
	return *name ? FIT_OK : fit_fail_nomem(err);
}

/* ---- one file ---- */

/* What is known while one application is read. */
struct reading {
	const struct fit_pollux_tables *out;
	const char *app;
	int64_t init_batch, max_batch, min_local, max_local, epochs;
	struct fit_str path, first_run;	/* first_run: the file that gave epochs */
	struct fit_index seen;		/* key -> line, within a file */
	bool typed;			/* of one type of GPU: see shapes */
	struct fit_index shapes;	/* nodes, replicas, local_bsz of placements */
	struct fit_hasher *hasher;
};

struct file {
	struct fit_source *source;
	struct fit_csv *csv;
};

static int file_open(struct file *f, const char *path, const struct fit_field *fields, size_t n,
		     struct fit_err *err)
{
	int rc = fit_source_open(&f->source, path, err);

	f->csv = NULL;
	if (!rc)
		rc = fit_csv_open(&f->csv, f->source, NULL, err);
	if (!rc)
		rc = fit_csv_bind(f->csv, fields, n, err);
	return rc;
}

/* Name and records go into the hash when all went well. */
static void file_close(struct file *f, const struct reading *r, const char *name, int rc)
{
	char hex[FIT_HASH_HEX];

	if (!rc) {
		fit_csv_hash(f->csv, hex);
		fit_hasher_add(r->hasher, r->app, strlen(r->app) + 1);
		fit_hasher_add(r->hasher, name, strlen(name) + 1);
		fit_hasher_add(r->hasher, hex, sizeof hex);
	}
	fit_csv_close(f->csv);
	fit_source_close(f->source);
}

/* A whole number in [lo, COUNT_MAX]; expected says so in words. */
static int check_count(const struct file *f, const char *name, int64_t v, int64_t lo,
		       const char *expected, struct fit_err *err)
{
	if (v >= lo && v <= COUNT_MAX)
		return FIT_OK;
	return fit_csv_fail(f->csv, FIT_EDATA, name, err, "bad value '%lld' (expected %s)",
			    (long long)v, expected);
}

static int check_times(const struct file *f, double step, double sync, struct fit_err *err)
{
	char text[FIT_NUM_MAX];

	if (!(step > 0)) {
		fit_format_double(text, step);
		return fit_csv_fail(f->csv, FIT_EDATA, "step_time", err,
				    "bad value '%s' (expected a positive time)", text);
	}
	fit_format_double(text, sync);
	if (!(sync > 0))
		return fit_csv_fail(f->csv, FIT_EDATA, "sync_time", err,
				    "bad value '%s' (expected a positive time)", text);
	if (sync >= step)
		return fit_csv_fail(f->csv, FIT_EDATA, "sync_time", err,
				    "bad value '%s' (expected less than step_time)", text);
	return FIT_OK;
}

/* Has this key been in the file before? */
static int check_new(struct reading *r, const struct file *f, const char *name, const char *key,
		     struct fit_err *err)
{
	uint32_t before = FIT_NO_INDEX;

	if (fit_csv_line(f->csv) >= FIT_NO_INDEX)
		return fit_csv_fail(f->csv, FIT_EDATA, NULL, err, "too many lines");
	if (fit_index_put(&r->seen, fit_text_of(key), (uint32_t)fit_csv_line(f->csv), &before))
		return fit_fail_nomem(err);
	if (before == FIT_NO_INDEX)
		return FIT_OK;
	return fit_csv_fail(f->csv, FIT_EDATA, name, err, "repeated key '%s' (first on line %lu)", key,
			    (unsigned long)before);
}

static int add_row(struct fit_table *t, const struct fit_cell *cells, struct fit_err *err)
{
	return fit_table_add(t, cells) ? fit_fail_nomem(err) : FIT_OK;
}

static int no_rows(const struct file *f, const struct fit_table *t, size_t before,
		   struct fit_err *err)
{
	if (t->n_rows > before)
		return FIT_OK;
	return fit_fail(err, FIT_EDATA, "%s: no rows", fit_source_name(f->source));
}

/* ---- placements.csv ---- */

#define SHAPE_KEY_MAX (3 * FIT_NUM_MAX)
static void shape_key(char key[SHAPE_KEY_MAX], int64_t placement, int64_t local)
{
	int64_t nodes, replicas;

	fit_placement_shape(placement, &nodes, &replicas);
	snprintf(key, SHAPE_KEY_MAX, "%lld, %lld, %lld", (long long)nodes, (long long)replicas,
		 (long long)local);
}

static int add_placement(struct reading *r, const struct file *f, const struct fit_cell *in,
			 struct fit_err *err)
{
	int64_t canonical = fit_placement_canonical(in[0].u.i), local = in[1].u.i;
	struct fit_cell cells[5] = { { .u.t = fit_text_of(r->app) }, { .u.i = canonical },
				     in[1], in[2], in[3] };
	char key[SHAPE_KEY_MAX];
	int rc;

	if (canonical < 0)
		return fit_csv_fail(f->csv, FIT_EDATA, "placement", err, "bad value '%lld' (expected "
				    "one to four digits 1 to 9)", (long long)in[0].u.i);
	rc = check_count(f, "local_bsz", local, 1, "1 or more", err);
	if (!rc)
		rc = check_times(f, in[2].u.d, in[3].u.d, err);
	snprintf(key, sizeof key, "%lld, %lld", (long long)canonical, (long long)local);
	if (!rc)
		rc = check_new(r, f, "placement", key, err);
	if (!rc && r->typed) {
		shape_key(key, canonical, local);
		rc = fit_index_put(&r->shapes, fit_text_of(key), 1, NULL) ? fit_fail_nomem(err) : FIT_OK;
	}
	if (rc)
		return rc;
	if (r->min_local == 0 || local < r->min_local)
		r->min_local = local;
	if (local > r->max_local)
		r->max_local = local;
	return add_row(r->out->placements, cells, err);
}

static int read_placements(struct reading *r, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "placement", FIT_INT, FIT_F_NOT_NA }, { "local_bsz", FIT_INT, FIT_F_NOT_NA },
		{ "step_time", FIT_REAL, FIT_F_NOT_NA }, { "sync_time", FIT_REAL, FIT_F_NOT_NA },
	};
	size_t before = r->out->placements->n_rows;
	struct fit_cell in[4];
	struct file f;
	int rc = file_open(&f, r->path.s, fields, 4, err);

	while (!rc) {
		rc = fit_csv_row(f.csv, in, err);
		if (!rc)
			rc = add_placement(r, &f, in, err);
	}
	if (rc == FIT_END)
		rc = no_rows(&f, r->out->placements, before, err);
	file_close(&f, r, "placements.csv", rc);
	return rc;
}

/* ---- scalability.csv ---- */

static int add_scalability(struct reading *r, const struct file *f, const struct fit_cell *in,
			   struct fit_err *err)
{
	struct fit_cell cells[6] = { { .u.t = fit_text_of(r->app) }, in[0], in[1], in[2], in[3], in[4] };
	char key[SHAPE_KEY_MAX];
	int rc = r->typed ? check_count(f, "num_nodes", in[0].u.i, 1, "1 or more", err) :
			    check_count(f, "num_nodes", in[0].u.i, FIT_DIGITS_NODES_MAX + 1,
					"five or more; up to four belong into placements.csv", err);

	if (!rc)
		rc = check_count(f, "num_replicas", in[1].u.i, in[0].u.i, "at least num_nodes", err);
	if (!rc)
		rc = check_count(f, "local_bsz", in[2].u.i, 1, "1 or more", err);
	if (!rc)
		rc = check_times(f, in[3].u.d, in[4].u.d, err);
	snprintf(key, sizeof key, "%lld, %lld, %lld", (long long)in[0].u.i, (long long)in[1].u.i,
		 (long long)in[2].u.i);
	if (!rc && r->typed && fit_index_get(&r->shapes, fit_text_of(key)) != FIT_NO_INDEX)
		return FIT_OK;
	if (!rc)
		rc = check_new(r, f, "num_nodes", key, err);
	return rc ? rc : add_row(r->out->scalability, cells, err);
}

static int read_scalability(struct reading *r, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "num_nodes", FIT_INT, FIT_F_NOT_NA }, { "num_replicas", FIT_INT, FIT_F_NOT_NA },
		{ "local_bsz", FIT_INT, FIT_F_NOT_NA }, { "step_time", FIT_REAL, FIT_F_NOT_NA },
		{ "sync_time", FIT_REAL, FIT_F_NOT_NA },
	};
	size_t before = r->out->scalability->n_rows;
	struct fit_cell in[5];
	struct file f;
	int rc = file_open(&f, r->path.s, fields, 5, err);

	while (!rc) {
		rc = fit_csv_row(f.csv, in, err);
		if (!rc)
			rc = add_scalability(r, &f, in, err);
	}
	if (rc == FIT_END) /* all of a type may be in its placements */
		rc = r->typed ? FIT_OK : no_rows(&f, r->out->scalability, before, err);
	file_close(&f, r, "scalability.csv", rc);
	return rc;
}

/* ---- validation-<B>.csv ---- */

enum { PROGRESS, ITERATION, METRIC, SQR, VAR, N_RUN };

static int check_epoch(const struct file *f, const struct fit_cell *in, double progress,
		       int64_t iteration, struct fit_err *err)
{
	char text[FIT_NUM_MAX];

	if (!(in[PROGRESS].u.d > progress)) {
		fit_format_double(text, in[PROGRESS].u.d);
		return fit_csv_fail(f->csv, FIT_EDATA, "progress", err,
				    "bad value '%s' (expected more than in the epoch before)", text);
	}
	if (in[ITERATION].u.i <= iteration)
		return fit_csv_fail(f->csv, FIT_EDATA, "iteration", err,
				    "bad value '%lld' (expected more than in the epoch before)",
				    (long long)in[ITERATION].u.i);
	if (!(in[SQR].u.d >= 0)) {
		fit_format_double(text, in[SQR].u.d);
		return fit_csv_fail(f->csv, FIT_EDATA, "grad_sqr", err,
				    "bad value '%s' (expected 0 or more)", text);
	}
	if (!(in[VAR].u.d > 0)) {
		fit_format_double(text, in[VAR].u.d);
		return fit_csv_fail(f->csv, FIT_EDATA, "grad_var", err,
				    "bad value '%s' (expected a positive number)", text);
	}
	return FIT_OK;
}

/* The first run says how many epochs there are; the others must have as many. */
static int check_epochs(struct reading *r, const struct file *f, int64_t epochs,
			struct fit_err *err)
{
	const char *path = fit_source_name(f->source);

	if (epochs == 0)
		return fit_fail(err, FIT_EDATA, "%s: no rows", path);
	if (r->epochs == 0) {
		r->epochs = epochs;
		fit_str_clear(&r->first_run);
		return fit_str_puts(&r->first_run, path) ? fit_fail_nomem(err) : FIT_OK;
	}
	if (epochs != r->epochs)
		return fit_fail(err, FIT_EDATA, "%s: %lld epochs (expected %lld, as in %s)", path,
				(long long)epochs, (long long)r->epochs, r->first_run.s);
	return FIT_OK;
}

static int read_run(struct reading *r, const char *name, int64_t batch, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "progress", FIT_REAL, FIT_F_NOT_NA },
		{ "iteration", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
		{ "metric", FIT_REAL, FIT_F_NOT_NA }, { "grad_sqr", FIT_REAL, FIT_F_NOT_NA },
		{ "grad_var", FIT_REAL, FIT_F_NOT_NA },
	};
	struct fit_cell in[N_RUN];
	double progress = 0;
	int64_t iteration = 0, epoch = 0;
	struct file f;
	int rc = file_open(&f, r->path.s, fields, N_RUN, err);

	while (!rc) {
		struct fit_cell cells[8] = { { .u.t = fit_text_of(r->app) }, { .u.i = batch },
					     { .u.i = epoch } };

		rc = fit_csv_row(f.csv, in, err);
		if (!rc)
			rc = check_epoch(&f, in, progress, iteration, err);
		if (rc)
			break;
		memcpy(cells + 3, in, sizeof in);
		rc = add_row(r->out->validation, cells, err);
		progress = in[PROGRESS].u.d;
		iteration = in[ITERATION].u.i;
		epoch++;
	}
	if (rc == FIT_END)
		rc = check_epochs(r, &f, epoch, err);
	file_close(&f, r, name, rc);
	return rc;
}

/* "validation-<B>.csv"; the text of B in *batch. */
static bool is_run(const char *name, struct fit_text *batch)
{
	static const char head[] = "validation-", tail[] = ".csv";
	size_t n = strlen(name), h = sizeof head - 1, t = sizeof tail - 1;

	if (n < h + t || strncmp(name, head, h) != 0 || strcmp(name + n - t, tail) != 0)
		return false;
	*batch = (struct fit_text){ name + h, n - h - t };
	return true;
}

struct run {
	int64_t batch;
	const char *name;
};

static int compare_runs(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;

	if (a->batch != b->batch)
		return a->batch < b->batch ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int read_runs(struct reading *r, const char *folder, struct fit_err *err)
{
	struct names names;
	struct run *runs = NULL;
	size_t n = 0;
	int rc = list_folder(folder, &names, err);

	if (rc)
		return rc;
	runs = calloc(names.n ? names.n : 1, sizeof *runs);
	if (!runs)
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < names.n && !rc; i++) {
		struct fit_text batch;

		if (!is_run(names.s[i], &batch))
			continue;
		runs[n].name = names.s[i];
		if (fit_parse_int64(batch, &runs[n].batch) || runs[n].batch < 1 ||
		    runs[n].batch > COUNT_MAX)
			rc = fit_fail(err, FIT_EDATA, "%s/%s: bad batch size '%.*s' in the file name "
				      "(expected validation-<batch size>.csv)", folder, names.s[i],
				      FIT_TEXT_ARG(batch));
		n++;
	}
	if (!rc && n == 0)
		rc = fit_fail(err, FIT_EIO, "%s: no validation-<batch size>.csv", folder);
	if (!rc)
		qsort(runs, n, sizeof *runs, compare_runs);
	for (size_t i = 0; i < n && !rc; i++) {
		if (i > 0 && runs[i].batch == runs[i - 1].batch)
			rc = fit_fail(err, FIT_EDATA, "%s/%s: the same batch size as %s", folder,
				      runs[i].name, runs[i - 1].name);
		else if (join(&r->path, folder, runs[i].name))
			rc = fit_fail_nomem(err);
		else
			rc = read_run(r, runs[i].name, runs[i].batch, err);
	}
	if (!rc) {
		r->init_batch = runs[0].batch;
		r->max_batch = runs[n - 1].batch;
	}
	free(runs);
	names_release(&names);
	return rc;
}

/* ---- one application ---- */

static const struct fit_pollux_override *override_of(const struct fit_pollux_override *list,
						     size_t n, const char *app)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].app, app) == 0)
			return &list[i];
	return NULL;
}

static int add_app(const struct reading *r, const struct fit_pollux_options *options,
		   struct fit_err *err)
{
	const struct fit_pollux_override *known =
		override_of(overrides, sizeof overrides / sizeof *overrides, r->app);
	const struct fit_pollux_override *asked =
		override_of(options->max_local, options->n_max_local, r->app);
	int64_t max_local = r->max_local, max_replicas = 0, fixed_batch = 0;
	struct fit_cell cells[9] = { { .u.t = fit_text_of(r->app) } };

	if (known) {
		if (!r->typed && known->max_local_bsz >= r->min_local &&
		    known->max_local_bsz < max_local)
			max_local = known->max_local_bsz;
		max_replicas = known->max_replicas;
		if (known->fixed_batch >= r->init_batch && known->fixed_batch <= r->max_batch)
			fixed_batch = known->fixed_batch;
	}
	if (asked) {
		if (asked->max_local_bsz < r->min_local || asked->max_local_bsz > r->max_local)
			return fit_fail(err, FIT_EINVAL, "application '%s': bad largest local batch "
					"size '%lld' (expected %lld to %lld, as measured)", r->app,
					(long long)asked->max_local_bsz, (long long)r->min_local,
					(long long)r->max_local);
		max_local = asked->max_local_bsz;
	}
	cells[1].u.i = r->init_batch;
	cells[2].u.i = r->max_batch;
	cells[3].u.i = r->min_local;
	cells[4].u.i = max_local;
	cells[5].u.i = r->epochs;
	cells[6].u.i = RESTART_NS;
	cells[7] = (struct fit_cell){ .na = max_replicas == 0, .u.i = max_replicas };
	cells[8] = (struct fit_cell){ .na = fixed_batch == 0, .u.i = fixed_batch };
	return add_row(r->out->apps, cells, err);
}

static int read_app(const char *folder, const struct fit_pollux_options *options,
		    const struct fit_pollux_tables *out, struct fit_hasher *hasher,
		    struct fit_err *err)
{
	struct reading r = { .out = out, .hasher = hasher, .typed = options->gpu_type != NULL };
	char *name = NULL;
	int rc = name_of(folder, &name, err);

	r.app = name;
	if (!rc && join_typed(&r.path, folder, "placements", options))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = read_placements(&r, err);
	fit_index_release(&r.seen);
	if (!rc && join_typed(&r.path, folder, "scalability", options))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = read_scalability(&r, err);
	fit_index_release(&r.seen);
	if (!rc)
		rc = read_runs(&r, folder, err);
	if (!rc)
		rc = add_app(&r, options, err);
	fit_str_release(&r.path);
	fit_str_release(&r.first_run);
	fit_index_release(&r.shapes);
	free(name);
	return rc;
}

/* ---- all of them ---- */

static int read_folder_of_apps(const char *folder, const struct fit_pollux_options *options,
			       const struct fit_pollux_tables *out, struct fit_hasher *hasher,
			       struct fit_err *err)
{
	struct fit_str path = { 0 }, file = { 0 };
	struct names names;
	size_t n_apps = 0;
	int rc = list_folder(folder, &names, err);

	for (size_t i = 0; !rc && i < names.n; i++) {
		if (join(&path, folder, names.s[i]) || join_typed(&file, path.s, "placements", options)) {
			rc = fit_fail_nomem(err);
			break;
		}
		if (!is_kind(path.s, true))
			continue;
		if (is_kind(file.s, false)) {
			rc = read_app(path.s, options, out, hasher, err);
			n_apps++;
		} else if (options->passed_over) {
			options->passed_over(options->arg, path.s);
		}
	}
	if (!rc && n_apps == 0)
		rc = fit_fail(err, FIT_EDATA, "%s: no placements%s%s.csv in it or in a folder below "
			      "(expected an application folder, or a folder of them)", folder,
			      options->gpu_type ? "-" : "", options->gpu_type ? options->gpu_type : "");
	names_release(&names);
	fit_str_release(&path);
	fit_str_release(&file);
	return rc;
}

static int check_options(const struct fit_pollux_options *options, const struct fit_table *apps,
			 struct fit_err *err)
{
	for (size_t i = 0; i < options->n_max_local; i++) {
		const char *app = options->max_local[i].app;
		bool found = false;

		for (size_t r = 0; r < apps->n_rows && !found; r++)
			found = fit_text_is(fit_column_text(&apps->columns[0], r), app);
		if (!found)
			return fit_fail(err, FIT_EINVAL, "no application '%s' in the input", app);
	}
	return FIT_OK;
}

int fit_pollux_read_profiles(const char *folder, const struct fit_pollux_options *options,
			     const struct fit_pollux_tables *out, char hash[FIT_HASH_HEX],
			     struct fit_err *err)
{
	struct fit_hasher *hasher = fit_hasher_new();
	struct fit_str file = { 0 };
	int rc;

	if (!hasher || join_typed(&file, folder, "placements", options))
		rc = fit_fail_nomem(err);
	else if (is_kind(file.s, false))
		rc = read_app(folder, options, out, hasher, err);
	else
		rc = read_folder_of_apps(folder, options, out, hasher, err);
	if (!rc)
		rc = check_options(options, out->apps, err);
	if (!rc)
		fit_hasher_hex(hasher, hash);
	fit_hasher_free(hasher);
	fit_str_release(&file);
	return rc;
}
