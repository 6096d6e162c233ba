/* SPDX-License-Identifier: MIT */
/*
 * Measurements of the Rubick artifact (docs/formats/rubick-profiles.md): placements.csv, and the
 * pairs config.csv and data.csv of its performance model. A folder may hold one application or, in
 * folders of their own, several.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libfit/base/num.h"
#include "traces/csv.h"
#include "traces/prof_text.h"

#define FOLDERS_MAX 4096

/* ---- folders ---- */

/* What to do with the folder (or, where it has no slash, the operand) of an application. */
typedef int app_reader(const char *folder, const char *app, struct fit_series_out *out,
		       struct fit_err *err);

static int join(struct fit_str *path, const char *folder, const char *name)
{
	size_t n = strlen(folder);

	fit_str_clear(path);
	return fit_str_printf(path, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

static int has_file(const char *folder, const char *file, bool *yes)
{
	struct fit_str path = { 0 };
	struct stat st;
	int rc = join(&path, folder, file);

	*yes = !rc && stat(path.s, &st) == 0;
	fit_str_release(&path);
	return rc;
}

static int compare_names(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static int list_folder(const char *folder, char ***names, size_t *n, struct fit_err *err)
{
	DIR *d = opendir(folder);
	size_t cap = 0;
	struct dirent *e;
	int rc = FIT_OK;

	if (!d)
		return fit_fail_errno(err, "%s: cannot open", folder);
	while (!rc && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (*n == FOLDERS_MAX)
			rc = fit_fail(err, FIT_EDATA, "%s: more than %d entries", folder, FOLDERS_MAX);
		else if (fit_grow(names, &cap, *n + 1, sizeof **names) ||
			 !((*names)[*n] = fit_strdup(fit_text_of(e->d_name))))
			rc = fit_fail_nomem(err);
		else
			(*n)++;
	}
	closedir(d);
	if (*n)
		qsort(*names, *n, sizeof **names, compare_names);
	return rc;
}

/* The last part of the path. */
static int base_name(const char *path, struct fit_str *name)
{
	size_t end = strlen(path), from;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (from = end; from && path[from - 1] != '/'; from--)
		;
	return fit_str_add(name, path + from, end - from);
}

/* Each application of a folder, in the order of their names: those with the file. */
static int each_app(const char *folder, const char *file, app_reader *reader,
		    struct fit_series_out *out, struct fit_err *err)
{
	const char *app = fit_series_params_of(out)->app;
	struct fit_str path = { 0 };
	char **names = NULL;
	size_t n = 0, found = 0;
	bool here = false;
	int rc = has_file(folder, file, &here) ? fit_fail_nomem(err) : FIT_OK;

	if (!rc && here) {
		rc = base_name(folder, &path) ? fit_fail_nomem(err) :
		     reader(folder, app ? app : path.s, out, err);
		fit_str_release(&path);
		return rc;
	}
	if (!rc)
		rc = list_folder(folder, &names, &n, err);
	for (size_t i = 0; !rc && i < n; i++) {
		if (join(&path, folder, names[i]) || has_file(path.s, file, &here)) {
			rc = fit_fail_nomem(err);
		} else if (here) {
			found++;
			rc = reader(path.s, names[i], out, err);
		}
	}
	if (!rc && !found)
		rc = fit_fail(err, FIT_EDATA, "%s: no %s in it or in a folder of it", folder, file);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	fit_str_release(&path);
	return rc;
}

/* ---- placements.csv ---- */

enum { PLAN, PLACEMENT, THREADS, ITER, FORWARD, SYNC, OPTIMIZE, N_PLACEMENT };

struct placement {
	char *plan, *digits;	/* heap */
	struct fit_cell cells[N_PLACEMENT];
	uint64_t line;
};
struct placements {
	struct placement *list;
	size_t n, cap;
};

static void release_placements(struct placements *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->list[i].plan);
		free(p->list[i].digits);
	}
	free(p->list);
	*p = (struct placements){ 0 };
}

static int check_placement(const struct fit_csv *c, const struct fit_field *fields,
			   const struct fit_cell *cells, struct fit_err *err)
{
	struct fit_text t = cells[PLACEMENT].u.t;

	for (size_t i = 0; i < t.n; i++)
		if (t.s[i] < '1' || t.s[i] > '9')
			return fit_csv_fail(c, FIT_EDATA, "placement", err, "bad value '%.*s' (expected digits "
					    "1 to 9, one a node)", FIT_TEXT_ARG(t));
	for (int k = ITER; k <= OPTIMIZE; k++)
		if (!cells[k].na && !(cells[k].u.d >= 0 && cells[k].u.d < 1e12))
			return fit_csv_fail(c, FIT_EDATA, fields[k].name, err, "out of range (expected 0 or "
					    "more)");
	if (!cells[THREADS].na && cells[THREADS].u.i < 0)
		return fit_csv_fail(c, FIT_EDATA, "cpu_threads", err, "out of range (expected 0 or more)");
	return FIT_OK;
}

static int collect_placements(struct fit_source *s, struct placements *p, struct fit_series_out *out,
			      struct fit_err *err)
{
	static const struct fit_field fields[N_PLACEMENT] = {
		[PLAN] = { "exec_plan", FIT_TEXT, FIT_F_NOT_NA },
		[PLACEMENT] = { "placement", FIT_TEXT, FIT_F_NOT_NA },
		[THREADS] = { "cpu_threads", FIT_INT, FIT_F_OPTIONAL | FIT_CSV_F_WHOLE },
		[ITER] = { "iter_time", FIT_REAL, FIT_F_NOT_NA },
		[FORWARD] = { "forward", FIT_REAL, FIT_F_OPTIONAL },
		[SYNC] = { "overlap_sync", FIT_REAL, FIT_F_OPTIONAL },
		[OPTIMIZE] = { "optimize", FIT_REAL, FIT_F_OPTIONAL }
	};
	struct fit_cell cells[N_PLACEMENT];
	struct fit_csv *c = NULL;
	int rc = fit_csv_open(&c, s, NULL, err);

	if (!rc)
		rc = fit_csv_bind(c, fields, N_PLACEMENT, err);
	while (!rc && !(rc = fit_series_csv_row(c, out, cells, err))) {
		struct placement *row;

		rc = check_placement(c, fields, cells, err);
		if (rc) {
			rc = fit_series_bad(out, rc, fit_csv_line(c), "out of range");
			continue;
		}
		if (fit_grow(&p->list, &p->cap, p->n + 1, sizeof *p->list)) {
			rc = fit_fail_nomem(err);
			break;
		}
		row = &p->list[p->n++];
		memcpy(row->cells, cells, sizeof cells);
		row->line = fit_csv_line(c);
		row->plan = fit_strdup(cells[PLAN].u.t);
		row->digits = fit_strdup(cells[PLACEMENT].u.t);
		if (!row->plan || !row->digits)
			rc = fit_fail_nomem(err);
	}
	fit_csv_close(c);
	return rc == FIT_END ? FIT_OK : rc;
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The parts of an iteration are milliseconds in some files and seconds in others: by the median of
 * (their sum) / iter_time, which is near 1 or near 1000. */
static int parts_unit(const struct placements *p, double *seconds, struct fit_err *err)
{
	double *ratio = calloc(p->n ? p->n : 1, sizeof *ratio);
	size_t n = 0;

	if (!ratio)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < p->n; i++) {
		const struct fit_cell *c = p->list[i].cells;
		double sum = 0;

		for (int k = FORWARD; k <= OPTIMIZE; k++)
			sum += c[k].na ? 0 : c[k].u.d;
		if (sum > 0 && c[ITER].u.d > 0)
			ratio[n++] = sum / c[ITER].u.d;
	}
	if (n)
		qsort(ratio, n, sizeof *ratio, compare_doubles);
	*seconds = n && ratio[n / 2] > 30 ? 1e-3 : 1;
	free(ratio);
	return FIT_OK;
}

static int emit_placement(const struct placement *row, const char *app, double unit,
			  struct fit_series_out *out, struct fit_err *err)
{
	struct fit_cell cells[10];
	int64_t gpus = 0;
	size_t nodes = strlen(row->digits);

	for (size_t i = 0; i < nodes; i++)
		gpus += row->digits[i] - '0';
	cells[0] = (struct fit_cell){ .na = app == NULL, .u.t = fit_text_of(app ? app : "") };
	cells[1] = (struct fit_cell){ .u.t = fit_text_of(row->plan) };
	cells[2] = (struct fit_cell){ .u.t = fit_text_of(row->digits) };
	cells[3] = (struct fit_cell){ .u.i = (int64_t)nodes };
	cells[4] = (struct fit_cell){ .u.i = gpus };
	cells[5] = row->cells[THREADS];
	for (int k = ITER; k <= OPTIMIZE; k++) {
		struct fit_cell *to = &cells[6 + k - ITER];

		*to = row->cells[k];
		/* zero: could not run, or was not measured */
		if (!to->na && to->u.d <= 0)
			*to = (struct fit_cell){ .na = true };
		if (!to->na && k != ITER)
			to->u.d *= unit;
	}
	return fit_series_row(out, cells, err);
}

static int note_placements(const struct placements *p, const char *name, double unit,
			   struct fit_series_out *out)
{
	struct fit_index keys = { 0 };
	struct fit_str key = { 0 };
	uint64_t zero = 0, again = 0;
	uint32_t found;
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < p->n; i++) {
		const struct placement *row = &p->list[i];

		zero += row->cells[ITER].u.d <= 0;
		fit_str_clear(&key);
		rc = fit_str_printf(&key, "%s\t%s\t%lld", row->plan, row->digits,
				    row->cells[THREADS].na ? -1LL : (long long)row->cells[THREADS].u.i);
		if (!rc)
			rc = fit_index_put(&keys, (struct fit_text){ key.s, key.n }, (uint32_t)i, &found);
		again += !rc && found != FIT_NO_INDEX;
	}
	fit_index_release(&keys);
	fit_str_release(&key);
	if (!rc && zero)
		rc = fit_series_note(out, "%s: %llu placements with an iteration time of 0, which could not "
				     "run: missing", name, (unsigned long long)zero);
	if (!rc && again)
		rc = fit_series_note(out, "%s: %llu rows with a plan and placement that were there before",
				     name, (unsigned long long)again);
	if (!rc && unit < 1)
		rc = fit_series_note(out, "%s: parts of an iteration read as milliseconds", name);
	return rc;
}

static int read_placements(struct fit_source *s, const char *name, const char *app,
			   struct fit_series_out *out, struct fit_err *err)
{
	struct placements p = { 0 };
	double unit = 1;
	int rc = collect_placements(s, &p, out, err);

	if (!rc)
		rc = parts_unit(&p, &unit, err);
	if (!rc && note_placements(&p, name, unit, out))
		rc = fit_fail_nomem(err);
	for (size_t i = 0; !rc && i < p.n; i++)
		rc = emit_placement(&p.list[i], app, unit, out, err);
	release_placements(&p);
	return rc;
}

static int placements_of_app(const char *folder, const char *app, struct fit_series_out *out,
			     struct fit_err *err)
{
	struct fit_str path = { 0 };
	struct fit_source *s = NULL;
	int rc = join(&path, folder, "placements.csv") ? fit_fail_nomem(err) : FIT_OK;

	if (!rc)
		rc = fit_source_open(&s, path.s, err);
	if (!rc)
		rc = read_placements(s, app, app, out, err);
	fit_source_close(s);
	fit_str_release(&path);
	return rc;
}

int fit_series_read_rubick_placements(const struct fit_series_in *in, struct fit_series_out *out,
				      struct fit_err *err)
{
	const char *app = fit_series_params_of(out)->app;

	if (in->source)
		return read_placements(in->source, app ? app : "the file", app, out, err);
	return each_app(in->operand, "placements.csv", placements_of_app, out, err);
}

/* ---- config.csv and data.csv ---- */

enum { N_CONFIG = 9, N_DATA = 5 };

static const struct fit_field config_fields[N_CONFIG] = {
	{ "nodes", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	{ "gpus", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	{ "parameter_size", FIT_REAL, FIT_F_NOT_NA },
	{ "batch_size", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	{ "seq_hid", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	{ "num_cpu_threads", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	{ "zero_type", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	{ "is_tp", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE },
	{ "is_pp", FIT_INT, FIT_F_NOT_NA | FIT_CSV_F_WHOLE }
};
static const struct fit_field data_fields[N_DATA] = {
	{ "forward_time", FIT_REAL, FIT_F_NOT_NA }, { "Tcc", FIT_REAL, FIT_F_NOT_NA },
	{ "Topt", FIT_REAL, FIT_F_NOT_NA }, { "iter_time", FIT_REAL, FIT_F_NOT_NA },
	{ "strategy", FIT_TEXT, FIT_F_NOT_NA }
};

/* One of the two files. */
struct half {
	struct fit_source *source;
	struct fit_csv *csv;
};

static int open_half(struct half *h, const char *folder, const char *file,
		     const struct fit_field *fields, size_t n, struct fit_err *err)
{
	struct fit_str path = { 0 };
	int rc = join(&path, folder, file) ? fit_fail_nomem(err) : FIT_OK;

	if (!rc)
		rc = fit_source_open(&h->source, path.s, err);
	if (!rc)
		rc = fit_csv_open(&h->csv, h->source, NULL, err);
	if (!rc)
		rc = fit_csv_bind(h->csv, fields, n, err);
	fit_str_release(&path);
	return rc;
}

static int check_half(const struct fit_csv *c, const struct fit_field *fields, size_t n,
		      const struct fit_cell *cells, struct fit_err *err)
{
	for (size_t i = 0; i < n; i++)
		if ((fields[i].type == FIT_INT && cells[i].u.i < 0) ||
		    (fields[i].type == FIT_REAL && !(cells[i].u.d >= 0 && cells[i].u.d < 1e15)))
			return fit_csv_fail(c, FIT_EDATA, fields[i].name, err, "out of range (expected 0 or "
					    "more)");
	return FIT_OK;
}

/* The rows of the two files belong together by position, so a bad row of either ends it all. */
static int model_of_app(const char *folder, const char *app, struct fit_series_out *out,
			struct fit_err *err)
{
	struct half config = { 0 }, data = { 0 };
	struct fit_cell cells[1 + N_CONFIG + N_DATA];
	int rc = open_half(&config, folder, "config.csv", config_fields, N_CONFIG, err);

	if (!rc)
		rc = open_half(&data, folder, "data.csv", data_fields, N_DATA, err);
	cells[0] = (struct fit_cell){ .u.t = fit_text_of(app) };
	while (!rc) {
		int more = fit_csv_row(config.csv, cells + 1, err);
		int other = more == FIT_OK || more == FIT_END ?
			    fit_csv_row(data.csv, cells + 1 + N_CONFIG, err) : FIT_OK;

		if (more != FIT_OK && more != FIT_END)
			rc = more;
		else if (other != FIT_OK && other != FIT_END)
			rc = other;
		else if (more != other)
			rc = fit_fail(err, FIT_EDATA, "%s: config.csv and data.csv have different numbers of "
				      "rows (expected a pair a row)", folder);
		else if (more == FIT_END)
			break;
		if (rc)
			break;
		fit_series_met(out);
		rc = check_half(config.csv, config_fields, N_CONFIG, cells + 1, err);
		if (!rc)
			rc = check_half(data.csv, data_fields, N_DATA, cells + 1 + N_CONFIG, err);
		if (!rc)
			rc = fit_series_row(out, cells, err);
	}
	fit_csv_close(config.csv);
	fit_csv_close(data.csv);
	fit_source_close(config.source);
	fit_source_close(data.source);
	return rc;
}

int fit_series_read_rubick_model(const struct fit_series_in *in, struct fit_series_out *out,
				 struct fit_err *err)
{
	if (in->source)
		return fit_fail(err, FIT_EDATA, "%s: not a folder (expected one with config.csv and data.csv)",
				fit_source_name(in->source));
	return each_app(in->operand, "config.csv", model_of_app, out, err);
}
