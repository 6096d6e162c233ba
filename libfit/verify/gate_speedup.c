/* SPDX-License-Identifier: MIT */
/* The model gate on speedup functions (model/speedup.h), read as they stand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/envelope.h"
#include "libfit/model/speedup.h"
#include "libfit/verify/gate_kind.h"

/* One speedup function: widths of a class, epoch and GPU type. */
struct function {
	char *group;		/* "CLASS", or "CLASS, TYPE" */
	double epoch;
	struct fit_width *w;	/* by number of GPUs */
	double *nodes;		/* NAN: not said */
	size_t n, cap, cap_nodes;
};

struct models {
	struct function *list;
	size_t n, cap;
	struct fit_index index;		/* key_of() a function -> its number */
	double work_least;
	bool between;			/* widths that are not there are put between their neighbours */
};

enum { EPOCH, GPUS, N_X };

static bool is(const char *table, bool (*has)(const void *, const char *), const void *arg)
{
	(void)table;
	return has(arg, "class") && has(arg, "epoch") && has(arg, "gpus") && has(arg, "work") &&
	       has(arg, "speed_per_s") && !has(arg, "share");	/* which plans have */
}

static void free_models(void *model)
{
	struct models *m = model;

	for (size_t i = 0; m && i < m->n; i++) {
		free(m->list[i].group);
		free(m->list[i].w);
		free(m->list[i].nodes);
	}
	if (m) {
		free(m->list);
		fit_index_release(&m->index);
	}
	free(m);
}

/* Groups are at most 402 bytes: two texts that FIT_TEXT_ARG cuts. */
static struct fit_text key_of(const char *group, double epoch, char buf[512])
{
	return (struct fit_text){ buf, (size_t)snprintf(buf, 512, "%.17g %.420s", epoch, group) };
}

static struct function *find(const struct models *m, const char *group, double epoch)
{
	char buf[512];
	uint32_t at = fit_index_get(&m->index, key_of(group, epoch, buf));

	return at == FIT_NO_INDEX ? NULL : &m->list[at];
}

static int group_of(struct fit_str *out, struct fit_text class, struct fit_text type, struct fit_err *err)
{
	fit_str_clear(out);
	if (fit_str_printf(out, "%.*s%s%.*s", FIT_TEXT_ARG(class), type.n ? ", " : "", FIT_TEXT_ARG(type)))
		return fit_fail_nomem(err);
	return FIT_OK;
}

static int add_width(struct function *f, double gpus, double speed, double nodes)
{
	size_t at = f->n;

	if (fit_grow(&f->w, &f->cap, f->n + 1, sizeof *f->w) ||
	    fit_grow(&f->nodes, &f->cap_nodes, f->n + 1, sizeof *f->nodes))
		return FIT_ENOMEM;
	while (at > 0 && (double)f->w[at - 1].gpus > gpus) {
		f->w[at] = f->w[at - 1];
		f->nodes[at] = f->nodes[at - 1];
		at--;
	}
	f->w[at] = (struct fit_width){ .speed = speed, .price = 1, .gpus = (int64_t)gpus };
	f->nodes[at] = nodes;
	f->n++;
	return FIT_OK;
}

/* The function of that group and epoch, made where it is not there; NULL: no memory. */
static struct function *function_of(struct models *m, const char *group, double epoch)
{
	struct function *f = find(m, group, epoch);
	char key[512];

	if (f)
		return f;
	if (fit_grow(&m->list, &m->cap, m->n + 1, sizeof *m->list))
		return NULL;
	f = &m->list[m->n];
	*f = (struct function){ .group = fit_strdup(fit_text_of(group)), .epoch = epoch };
	m->n++;
	return f->group && !fit_index_put(&m->index, key_of(group, epoch, key), (uint32_t)(m->n - 1), NULL) ?
	       f : NULL;
}

enum { C_CLASS, C_EPOCH, C_TYPE, C_GPUS, C_WORK, C_SPEED, C_NODES, N_COLUMNS };
static const struct fit_field fields[N_COLUMNS] = {
	{ "class", FIT_TEXT, FIT_F_NOT_NA }, { "epoch", FIT_INT, FIT_F_NOT_NA },
		{ "gpu_type", FIT_TEXT, FIT_F_OPTIONAL },
	{ "gpus", FIT_INT, FIT_F_NOT_NA }, { "work", FIT_REAL, FIT_F_NOT_NA },
		{ "speed_per_s", FIT_REAL, 0 },
	{ "nodes", FIT_INT, FIT_F_OPTIONAL },
};

static int take_row(struct models *m, const struct fit_table *t, size_t row, struct fit_str *name,
		    struct fit_err *err)
{
	double epoch = fit_gate_number(&t->columns[C_EPOCH], row);
	double gpus = fit_gate_number(&t->columns[C_GPUS], row);
	int rc = group_of(name, fit_column_text(&t->columns[C_CLASS], row),
			  fit_column_text(&t->columns[C_TYPE], row), err);
	struct function *f;

	if (!rc && (!(gpus >= 1) || !(gpus <= (double)FIT_GPUS_MAX)))
		rc = fit_table_fail(t, row, FIT_EDATA, "gpus", err, "out of range (expected 1 to 2^31)");
	if (rc)
		return rc;
	f = function_of(m, name->s, epoch);
	if (!f)
		return fit_fail_nomem(err);
	m->work_least = fmin(m->work_least, t->columns[C_WORK].d[row]);
	if (add_width(f, gpus, t->columns[C_SPEED].d[row], fit_gate_number(&t->columns[C_NODES], row)))
		return fit_fail_nomem(err);
	return FIT_OK;
}

static int load(void **model, struct fit_gate_source *s, struct fit_err *err)
{
	struct models *m = calloc(1, sizeof *m);
	struct fit_table t = { 0 };
	struct fit_str name = { 0 };
	int rc = m ? fit_gate_source_table(s, &t, fields, N_COLUMNS, err) : fit_fail_nomem(err);

	if (!rc && !t.n_rows)
		rc = fit_fail(err, FIT_EDATA, "%s: no speedup", t.input);
	if (m)
		m->work_least = (double)INFINITY;
	for (size_t i = 0; i < t.n_rows && !rc; i++)
		rc = take_row(m, &t, i, &name, err);
	fit_table_release(&t);
	fit_str_release(&name);
	if (rc) {
		free_models(m);
		return rc;
	}
	*model = m;
	return FIT_OK;
}

/* ---- rows ---- */

static int rows(const void *model, const struct fit_table *t, const char *target, bool measured,
		struct fit_gate_set *s, struct fit_err *err)
{
	const struct fit_column *class, *gpus, *speed = fit_table_column(t, target ? target : "speed_per_s");
	const struct fit_column *epoch = fit_table_column(t, "epoch");
	const struct fit_column *type = fit_table_column(t, "gpu_type");
	struct fit_str name = { 0 };
	char a[40], b[40];
	int rc = fit_gate_column(t, "class", &class, err);

	(void)model;
	rc = rc ? rc : fit_gate_column(t, "gpus", &gpus, err);
	if (!rc && measured && !speed)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no column '%s'", t->input, target ? target :
			      "speed_per_s");
	rc = rc ? rc : fit_gate_set_init(s, t->n_rows, N_X, false, err);
	for (size_t i = 0; i < t->n_rows && !rc; i++) {
		s->x[i * N_X + EPOCH] = epoch ? fit_gate_number(epoch, i) : 0;
		s->x[i * N_X + GPUS] = fit_gate_number(gpus, i);
		s->y[i] = speed ? fit_gate_number(speed, i) : (double)NAN;
		if (!rc && (s->y[i] < 0 || isinf(s->y[i])))
			rc = fit_table_fail(t, i, FIT_EDATA, speed->name, err,
					    "bad speed '%g' (expected 0 or more)", s->y[i]);
		if (!(s->y[i] > 0))	/* a width that cannot be used was not measured */
			s->y[i] = (double)NAN;
		rc = rc ? rc : group_of(&name, fit_gate_text(class, i, a),
					type ? fit_gate_text(type, i, b) : (struct fit_text){ NULL, 0 }, err);
		rc = rc ? rc : fit_gate_set_group(s, i, fit_text_of(name.s), err);
	}
	fit_str_release(&name);
	return rc;
}

static int grid(const void *model, struct fit_gate_set *s, struct fit_err *err)
{
	const struct models *m = model;
	size_t n = 0, row = 0;
	int rc;

	for (size_t i = 0; i < m->n; i++)
		n += m->list[i].n;
	rc = fit_gate_set_init(s, n, N_X, false, err);
	for (size_t i = 0; i < m->n && !rc; i++)
		for (size_t k = 0; k < m->list[i].n && !rc; k++, row++) {
			s->x[row * N_X + EPOCH] = m->list[i].epoch;
			s->x[row * N_X + GPUS] = (double)m->list[i].w[k].gpus;
			s->y[row] = (double)NAN;
			rc = fit_gate_set_group(s, row, fit_text_of(m->list[i].group), err);
		}
	return rc;
}

static bool feature(const void *model, size_t i, struct fit_gate_feature *f)
{
	static const char *const names[] = { "epoch", "gpus" };

	(void)model;
	if (i >= N_X)
		return false;
	*f = (struct fit_gate_feature){ names[i], false };
	return true;
}

/* On the line between two widths, in logarithms of both: speed is a power of the width, nearly. */
static double on_line(const struct fit_width *a, const struct fit_width *b, double gpus)
{
	double share = log(gpus / (double)a->gpus) / log((double)b->gpus / (double)a->gpus);

	return exp(log(a->speed) + share * log(b->speed / a->speed));
}

/* What the table says of that width. Nothing is put between its widths, but by a model of measurements. */
static double predict(const void *model, const char *group, const double *x)
{
	const struct models *m = model;
	const struct function *f = find(m, group, x[EPOCH]);
	size_t k = 0;

	while (f && k < f->n && (double)f->w[k].gpus < x[GPUS])
		k++;
	if (!f || k == f->n)
		return (double)NAN;
	if ((double)f->w[k].gpus <= x[GPUS])
		return f->w[k].speed > 0 ? f->w[k].speed : (double)NAN;
	return m->between && k > 0 ? on_line(&f->w[k - 1], &f->w[k], x[GPUS]) : (double)NAN;
}

/* ---- refit: the geometric mean of what was measured of each width, and lines between widths ---- */

static int add_measurement(struct models *m, const struct fit_gate_set *s, size_t i)
{
	const double *x = &s->x[i * s->n_x];
	struct function *f = function_of(m, s->groups[s->group[i]], x[EPOCH]);
	size_t k = 0;

	if (!f)
		return FIT_ENOMEM;
	while (k < f->n && (double)f->w[k].gpus < x[GPUS])
		k++;
	if (k == f->n || (double)f->w[k].gpus > x[GPUS])
		return add_width(f, x[GPUS], log(s->y[i]), (double)NAN);
	f->w[k].speed += log(s->y[i]);
	f->w[k].price++;	/* how many they are, until all are there */
	return FIT_OK;
}

static int refit(void **model, const void *like, const struct fit_gate_set *s, const bool *use,
		 const struct fit_gate_inputs *in, struct fit_err *err)
{
	struct models *m = calloc(1, sizeof *m);
	int rc = m ? FIT_OK : FIT_ENOMEM;

	(void)like;
	(void)in;
	for (size_t i = 0; i < s->n && !rc; i++) {
		double gpus = s->x[i * s->n_x + GPUS];

		if (use[i] && s->y[i] > 0 && isfinite(s->x[i * s->n_x + EPOCH]) && gpus >= 1 &&
		    gpus <= (double)FIT_GPUS_MAX && gpus <= floor(gpus))
			rc = add_measurement(m, s, i);
	}
	if (rc) {
		free_models(m);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->list[i].n; k++) {
			struct fit_width *w = &m->list[i].w[k];

			w->speed = exp(w->speed / w->price);
			w->price = 1;
		}
	m->between = true;
	*model = m;
	return FIT_OK;
}

/* ---- checks of its own ---- */

static const char *name_of(const struct function *f, char buf[256])
{
	snprintf(buf, 256, "%.200s, epoch %.0f", f->group, f->epoch);
	return buf;
}

static bool bad_speed(double s)
{
	return !fit_real_is_na(s) && (!isfinite(s) || s < 0);
}

static int check_parameters(struct fit_gate_run *r, struct fit_err *err)
{
	const struct models *m = r->model;
	char name[256];
	int rc = FIT_OK;

	for (size_t i = 0; i < m->n && !rc; i++) {
		const struct function *f = &m->list[i];
		size_t k = 0, usable = 0;

		for (size_t j = 0; j < f->n; j++)
			usable += f->w[j].speed > 0;
		while (k < f->n && !bad_speed(f->w[k].speed))
			k++;
		if (k < f->n)
			rc = fit_gate_add(r, name_of(f, name), f->w[k].speed, NULL, FIT_GATE_FAIL, err,
					  "the speed on %lld GPUs is negative or not finite",
						  (long long)f->w[k].gpus);
		else if (!usable)
			rc = fit_gate_add(r, name_of(f, name), 0, NULL, FIT_GATE_FAIL, err,
					  "no width can be used");
	}
	if (!rc)
		rc = fit_gate_add(r, NULL, m->work_least, NULL, m->work_least >= 0 ? FIT_GATE_PASS :
				  FIT_GATE_FAIL, err,
				  "the least work of an epoch, of %zu functions", m->n);
	return rc;
}

/* The largest share lost from a narrower width to a wider one, of widths on as many nodes or of all. */
static double fall(const struct function *f, bool same_nodes, int64_t *at)
{
	double most = 0, best = 0, nodes = 0;

	for (size_t k = 0; k < f->n; k++) {
		double s = f->w[k].speed;

		if (same_nodes && f->nodes[k] > nodes) {
			nodes = f->nodes[k];
			best = 0;
		}
		if (!(s > 0))
			continue;
		best = fmax(best, s);
		if (1 - s / best > most) {
			most = 1 - s / best;
			*at = f->w[k].gpus;
		}
	}
	return most;
}

static int say_fall(struct fit_gate_run *r, bool same_nodes, struct fit_err *err)
{
	const struct models *m = r->model;
	char name[256];
	int rc = FIT_OK;

	for (size_t i = 0; i < m->n && !rc; i++) {
		int64_t at = 0;
		double v = fall(&m->list[i], same_nodes, &at);

		if (same_nodes && m->list[i].n && isnan(m->list[i].nodes[0]))
			continue;	/* it is not said where a node ends */
		rc = at ? fit_gate_at_most(r, name_of(&m->list[i], name), v, err,
					   "speed lost at %lld GPUs against fewer%s, share", (long long)at,
					   same_nodes ? " on as many nodes" : "") :
		     fit_gate_at_most(r, name_of(&m->list[i], name), 0, err,
				      "no width is slower than a narrower one%s",
				      same_nodes ? " on as many nodes" : "");
	}
	return rc;
}

static int check_monotone(struct fit_gate_run *r, struct fit_err *err)
{
	return say_fall(r, true, err);
}

static int check_shrinking(struct fit_gate_run *r, struct fit_err *err)
{
	return say_fall(r, false, err);
}

/* How far widths lie below the envelope, as a share of it. */
static int below_envelope(const struct function *f, double *most, int64_t *at, struct fit_err *err)
{
	struct fit_envelope_work work = { 0 };
	size_t *v = malloc((f->n + 1) * sizeof *v), n = 0, e = 0;
	int rc = v ? fit_envelope(f->w, f->n, NULL, &work, v, &n, NULL, err) : fit_fail_nomem(err);

	*most = 0;
	*at = 0;
	for (size_t k = 0; k < f->n && !rc && n; k++) {
		double x = (double)f->w[k].gpus, top;
		const struct fit_width *a, *b;

		while (e + 1 < n && (double)f->w[v[e + 1]].gpus <= x)
			e++;
		a = &f->w[v[e]];
		b = e + 1 < n ? &f->w[v[e + 1]] : a;
		if (!(f->w[k].speed > 0) || x < (double)a->gpus)
			continue;
		top = b == a ? a->speed : a->speed + (b->speed - a->speed) * (x - (double)a->gpus) /
						     (double)(b->gpus - a->gpus);
		if (1 - f->w[k].speed / top > *most) {
			*most = 1 - f->w[k].speed / top;
			*at = f->w[k].gpus;
		}
	}
	fit_envelope_release(&work);
	free(v);
	return rc;
}

static int check_concave(struct fit_gate_run *r, struct fit_err *err)
{
	const struct models *m = r->model;
	char name[256];
	int rc = FIT_OK;

	for (size_t i = 0; i < m->n && !rc; i++) {
		double most;
		int64_t at;

		rc = below_envelope(&m->list[i], &most, &at, err);
		if (!rc)
			rc = at ? fit_gate_at_most(r, name_of(&m->list[i], name), most, err,
						   "below the concave envelope at %lld GPUs, share",
							   (long long)at) :
			     fit_gate_at_most(r, name_of(&m->list[i], name), 0, err, "concave as it stands");
	}
	return rc;
}

static int check_superlinear(struct fit_gate_run *r, struct fit_err *err)
{
	const struct models *m = r->model;
	char name[256];
	int rc = FIT_OK;

	for (size_t i = 0; i < m->n && !rc; i++) {
		const struct function *f = &m->list[i];
		double first = (double)NAN, most = (double)NAN;

		for (size_t k = 0; k < f->n; k++) {
			double each = f->w[k].speed / (double)f->w[k].gpus;

			if (!(each > 0) || !isfinite(each))
				continue;
			first = isnan(first) ? each : first;
			most = isnan(most) || each / first > most ? each / first : most;
		}
		rc = fit_gate_at_most(r, name_of(f, name), most, err,
				      "speed of a GPU against that on the narrowest width, times");
	}
	return rc;
}

static const struct fit_gate_check checks[] = {
	{ "parameters", 0, check_parameters },
	{ "monotone", 0, check_monotone },
	{ "shrinking", 0, check_shrinking },
	{ "concave", 0, check_concave },
	{ "superlinear", 0, check_superlinear },
	FIT_GATE_MEASURED,
	FIT_GATE_REFITTED,
	FIT_GATE_COMPARED,
	{ NULL, 0, NULL }
};

const struct fit_gate_kind fit_gate_speedup = {
	.name = "speedup", .what = "speedup functions", .checks = checks, .is = is, .load = load,
	.free = free_models, .metric = FIT_GATE_RELATIVE, .feature = feature, .rows = rows, .grid = grid,
	.predict = predict, .refit = refit,
};
