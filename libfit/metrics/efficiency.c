/* SPDX-License-Identifier: MIT */
#include "libfit/metrics/efficiency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"

/* ---- speedups, read for themselves: this room knows tables only ---- */

enum { S_CLASS, S_EPOCH, S_GPUS, S_WORK, S_SPEED, S_TYPE, N_FIELDS };
static const struct fit_field fields[N_FIELDS] = {
	{ "class", FIT_TEXT, FIT_F_NOT_NA }, { "epoch", FIT_INT, FIT_F_NOT_NA }, { "gpus", FIT_INT, FIT_F_NOT_NA },
	{ "work", FIT_REAL, FIT_F_NOT_NA }, { "speed_per_s", FIT_REAL, 0 },
	{ "gpu_type", FIT_TEXT, FIT_F_OPTIONAL },
};

struct width {
	uint32_t class;
	int64_t epoch;
	uint32_t type;
	int64_t gpus;
	double speed, work;
};

#define NO_TYPE UINT32_MAX

/* Nodes of the cluster with GPUs of one type. */
struct nodes {
	int64_t first, n;
	uint32_t type;		/* of the speedups; NO_TYPE: they do not have it */
};

/* One job while it is in the system. */
struct course {
	uint32_t class;
	int64_t epoch;
	int64_t since_ns;	/* counted up to here */
	uint32_t type;		/* of what it holds */
	double work;		/* normalised */
};

struct fit_efficiency {
	struct width *widths;	/* by class, epoch, type, GPUs */
	size_t n_widths;
	struct fit_index classes;
	char **types;		/* in byte order; the type without a name is "" */
	size_t n_types, cap_types;
	struct nodes *parts;	/* with several types */
	size_t n_parts, cap_parts;
	char hash[FIT_HASH_HEX];
	struct course *courses;	/* by job number of the metrics */
	size_t cap_courses;
	double work, finished;
	/* the cluster up to now */
	int64_t clock_ns;
	double rented, held;	/* GPUs */
	int64_t step_ns;
	struct sums { double rented, held, busy, work; } *steps;	/* GPU-seconds */
	size_t n_steps, cap_steps;
};

static int by_place(const void *pa, const void *pb)
{
	const struct width *a = pa, *b = pb;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return (a->gpus > b->gpus) - (a->gpus < b->gpus);
}

static uint32_t type_of(const struct fit_efficiency *f, struct fit_text name)
{
	for (size_t i = 0; i < f->n_types; i++)
		if (fit_text_is(name, f->types[i]))
			return (uint32_t)i;
	return NO_TYPE;
}

static int by_name(const void *pa, const void *pb)
{
	const char *const *a = pa, *const *b = pb;

	return strcmp(*a, *b);
}

/* All names of types, before rows are numbered by them. */
static int take_types(struct fit_efficiency *f, const struct fit_table *t, struct fit_err *err)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		struct fit_text name = fit_column_text(&t->columns[S_TYPE], i);

		if (type_of(f, name) != NO_TYPE)
			continue;
		if (fit_grow(&f->types, &f->cap_types, f->n_types + 1, sizeof *f->types) ||
		    !(f->types[f->n_types] = fit_strdup(name)))
			return fit_fail_nomem(err);
		f->n_types++;
	}
	if (f->n_types)
		qsort(f->types, f->n_types, sizeof *f->types, by_name);
	return FIT_OK;
}

static int take_speedups(struct fit_efficiency *f, const struct fit_table *t, struct fit_err *err)
{
	int rc = take_types(f, t, err);

	f->widths = malloc((t->n_rows + 1) * sizeof *f->widths);
	if (rc || !f->widths)
		return rc ? rc : fit_fail_nomem(err);
	for (size_t i = 0; i < t->n_rows; i++) {
		struct fit_text name = fit_column_text(&t->columns[S_CLASS], i);
		struct fit_cell speed = fit_column_cell(&t->columns[S_SPEED], i);
		uint32_t class = fit_index_get(&f->classes, name);

		if (class == FIT_NO_INDEX) {
			class = (uint32_t)f->classes.n;
			if (fit_index_put(&f->classes, name, class, NULL))
				return fit_fail_nomem(err);
		}
		/* widths that cannot be used do not count */
		if (speed.na || !(speed.u.d > 0) || !isfinite(speed.u.d))
			continue;
		f->widths[f->n_widths++] = (struct width){
			class, t->columns[S_EPOCH].i[i], type_of(f, fit_column_text(&t->columns[S_TYPE], i)),
			t->columns[S_GPUS].i[i], speed.u.d, t->columns[S_WORK].d[i],
		};
	}
	qsort(f->widths, f->n_widths, sizeof *f->widths, by_place);
	memcpy(f->hash, t->hash, sizeof f->hash);
	return FIT_OK;
}

int fit_efficiency_new(struct fit_efficiency **out, const char *speedups, int64_t step_ns,
		       struct fit_err *err)
{
	struct fit_efficiency *f = calloc(1, sizeof *f);
	struct fit_table t;
	int rc = FIT_OK;

	*out = NULL;
	if (!f)
		return fit_fail_nomem(err);
	f->step_ns = step_ns;
	if (speedups) {
		rc = fit_table_read(&t, speedups, fields, N_FIELDS, err);
		if (!rc) {
			rc = take_speedups(f, &t, err);
			fit_table_release(&t);
		}
	}
	if (rc)
		fit_efficiency_free(f);
	else
		*out = f;
	return rc;
}

void fit_efficiency_free(struct fit_efficiency *f)
{
	if (!f)
		return;
	fit_index_release(&f->classes);
	for (size_t i = 0; i < f->n_types; i++)
		free(f->types[i]);
	free(f->types);
	free(f->parts);
	free(f->widths);
	free(f->courses);
	free(f->steps);
	free(f);
}

/* The first width of an epoch (the least one of the first type), or NULL. */
static const struct width *least_of(const struct fit_efficiency *f, uint32_t class, int64_t epoch)
{
	size_t lo = 0, hi = f->n_widths;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		struct width key = { class, epoch, 0, 0, 0, 0 };

		if (by_place(&f->widths[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == f->n_widths || f->widths[lo].class != class || f->widths[lo].epoch != epoch)
		return NULL;
	return &f->widths[lo];
}

/* K s(k) / s(K); 0 where k is not usable. */
static double rate_of(const struct fit_efficiency *f, uint32_t class, int64_t epoch, uint32_t type,
		      double gpus)
{
	const struct width *least = least_of(f, class, epoch), *end = f->widths + f->n_widths;

	for (const struct width *w = least; w && w < end && w->class == class && w->epoch == epoch; w++)
		if (w->type == type && (double)w->gpus >= gpus && (double)w->gpus <= gpus)
			return (double)least->gpus * w->speed / least->speed;
	return 0;
}

/* ---- counting ---- */

enum part { RENTED, HELD, BUSY, WORK };

static int spread(struct fit_efficiency *f, enum part part, int64_t from, int64_t to, double gpus,
		  struct fit_err *err)
{
	size_t i, last;

	if (!f->step_ns || to <= from)
		return FIT_OK;
	last = (size_t)((to - 1) / f->step_ns);
	if (last >= FIT_EFFICIENCY_STEPS_MAX)
		return fit_fail(err, FIT_EDATA, "more than %d steps (expected a longer step)", FIT_EFFICIENCY_STEPS_MAX);
	if (last >= f->n_steps) {
		if (fit_grow(&f->steps, &f->cap_steps, last + 1, sizeof *f->steps))
			return fit_fail_nomem(err);
		for (; f->n_steps <= last; f->n_steps++)
			f->steps[f->n_steps] = (struct sums){ 0, 0, 0, 0 };
	}
	for (i = (size_t)(from / f->step_ns); i <= last; i++) {
		int64_t a = (int64_t)i * f->step_ns, b = a + f->step_ns;
		double s = gpus * fit_time_to_double((to < b ? to : b) - (from > a ? from : a));
		struct sums *x = &f->steps[i];

		*(part == RENTED ? &x->rented : part == HELD ? &x->held : part == BUSY ? &x->busy : &x->work) += s;
	}
	return FIT_OK;
}

/* What job k did up to t, before the event of that instant changed it. */
static int count(struct fit_efficiency *f, struct course *c, int64_t from, int64_t t, double gpus,
		 struct fit_err *err)
{
	double rate;
	int rc;

	from = from > c->since_ns ? from : c->since_ns;
	c->since_ns = t;
	if (t <= from || !(gpus > 0))
		return FIT_OK;
	rc = spread(f, BUSY, from, t, gpus, err);
	if (!f->n_widths || rc)
		return rc;
	rate = rate_of(f, c->class, c->epoch, c->type, gpus);
	c->work += rate * fit_time_to_double(t - from);
	f->work += rate * fit_time_to_double(t - from);
	return spread(f, WORK, from, t, rate, err);
}

static double work_of_class(const struct fit_efficiency *f, uint32_t class)
{
	const struct width *w;
	double sum = 0;

	for (int64_t e = 0; (w = least_of(f, class, e)) != NULL; e++)
		sum += (double)w->gpus * w->work / w->speed;
	return sum;
}

static int new_course(struct fit_efficiency *f, const struct fit_metrics *m, size_t k, struct fit_err *err)
{
	const struct fit_job_result *j = &m->jobs[k];
	struct fit_text app = fit_metrics_app(m, j->app);
	struct course c = { .since_ns = m->clock_ns };

	if (fit_grow(&f->courses, &f->cap_courses, k + 1, sizeof *f->courses))
		return fit_fail_nomem(err);
	if (f->n_widths) {
		c.class = app.s ? fit_index_get(&f->classes, app) : FIT_NO_INDEX;
		if (c.class == FIT_NO_INDEX)
			return fit_fail(err, FIT_EDATA, "job '%.*s': class '%.*s' is not in the speedups",
					FIT_TEXT_ARG(fit_metrics_job_id(m, j)), app.s ? (int)app.n : 2, app.s ? app.s : "NA");
	}
	f->courses[k] = c;
	return FIT_OK;
}

int fit_efficiency_begin(struct fit_efficiency *f, const struct fit_reader *r, struct fit_err *err)
{
	const char *spec = fit_meta_get(fit_reader_meta(r), "cluster");
	struct fit_event_part p = { .n = 0 };
	size_t at = 0;
	int rc = f->n_types > 1 ? FIT_OK : FIT_END;

	while (!rc && !(rc = fit_event_part_next(fit_text_of(spec ? spec : ""), &at, &p))) {
		if (!p.name.n)
			return fit_fail(err, FIT_EDATA, "%s: the cluster '%s' names no GPU types (expected those of the speedups)",
					fit_reader_input(r), spec);
		if (fit_grow(&f->parts, &f->cap_parts, f->n_parts + 1, sizeof *f->parts))
			return fit_fail_nomem(err);
		f->parts[f->n_parts++] = (struct nodes){ p.first, p.n, type_of(f, p.name) };
	}
	return rc == FIT_END ? FIT_OK :
	       fit_fail(err, FIT_EDATA, "%s: metadata cluster is '%s' (expected nodes x GPUs, as aws:6x4,rtx:3x8)",
			fit_reader_input(r), spec ? spec : "missing");
}

/* The type of a node; 0 where there is only one. */
static uint32_t type_at(const struct fit_efficiency *f, int64_t node)
{
	for (size_t i = 0; i < f->n_parts; i++)
		if (node >= f->parts[i].first && node < f->parts[i].first + f->parts[i].n)
			return f->parts[i].type;
	return f->n_parts ? NO_TYPE : 0;
}

int fit_efficiency_watch(void *arg, const struct fit_metrics *m, struct fit_err *err)
{
	struct fit_efficiency *f = arg;
	const struct fit_event_row *e = m->event;
	uint32_t k;
	int rc = spread(f, RENTED, f->clock_ns, m->clock_ns, f->rented, err);

	rc = rc ? rc : spread(f, HELD, f->clock_ns, m->clock_ns, f->held, err);
	f->clock_ns = m->clock_ns;
	f->rented = (double)m->rented_ugpus / (double)FIT_UGPU;
	f->held = (double)m->held_ugpus / (double)FIT_UGPU;
	if (rc || e->job_id.n == 0)
		return rc;
	k = m->last_job;
	if (e->kind == FIT_EVENT_SUBMIT)
		return new_course(f, m, k, err);
	/* the event has changed the job already; what it held before is kept in before_* */
	if (m->before.running)
		rc = count(f, &f->courses[k], m->before.progress_from_ns, m->clock_ns,
			   (double)m->before.held_ugpus / (double)FIT_UGPU, err);
	f->courses[k].since_ns = m->clock_ns;
	if (e->node >= 0)
		f->courses[k].type = type_at(f, e->node);
	if (!rc && f->n_widths && e->kind == FIT_EVENT_EPOCH) {
		if (!e->has_epoch)
			return fit_fail(err, FIT_EDATA, "job '%.*s': an epoch without its number", FIT_TEXT_ARG(e->job_id));
		f->courses[k].epoch = e->epoch;
	}
	if (!rc && e->kind == FIT_EVENT_FINISH && f->n_widths)
		f->finished += work_of_class(f, f->courses[k].class);
	return rc;
}

int fit_efficiency_close(struct fit_efficiency *f, const struct fit_metrics *m, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t k = 0; k < m->n_jobs && !rc; k++) {
		const struct fit_job_result *j = &m->jobs[k];

		if (j->state == FIT_JOB_HOLDING)
			rc = count(f, &f->courses[k], j->progress_from_ns, m->clock_ns,
				   (double)j->held_ugpus / (double)FIT_UGPU, err);
	}
	return rc;
}

double fit_efficiency_work(const struct fit_efficiency *f)
{
	return f->n_widths ? f->work : fit_real_na();
}

double fit_efficiency_work_of_finished(const struct fit_efficiency *f)
{
	return f->n_widths ? f->finished : fit_real_na();
}

const char *fit_efficiency_hash(const struct fit_efficiency *f)
{
	return f->hash;
}

size_t fit_efficiency_n_steps(const struct fit_efficiency *f)
{
	return f->n_steps;
}

struct fit_usage fit_efficiency_step(const struct fit_efficiency *f, size_t i)
{
	int64_t from = (int64_t)i * f->step_ns, end = from + f->step_ns;
	int64_t to = end < f->clock_ns ? end : f->clock_ns;
	double s = fit_time_to_double(to - from);
	const struct sums *x = &f->steps[i];

	return (struct fit_usage){
		from, to, x->rented / s, x->held / s, x->busy / s, f->n_widths ? x->work / s : fit_real_na(),
	};
}
