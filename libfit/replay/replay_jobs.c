/* SPDX-License-Identifier: MIT */
#include "libfit/replay/replay_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/replay/job_rows.h"
#include "libfit/replay/job_stream.h"

void fit_jobs_release(struct fit_jobs *js)
{
	fit_job_stream_free(js->stream);
	free(js->jobs);
	free(js->apps);
	free(js->bytes);
	free(js->rates);
	*js = (struct fit_jobs){ 0 };
}

/* Texts are kept as offsets + 1 while the arena can still move. */
static int keep_text(struct fit_jobs *js, struct fit_text t, const char **out)
{
	if (fit_grow(&js->bytes, &js->bytes_cap, js->bytes_n + t.n + 1, 1))
		return FIT_ENOMEM;
	if (t.n)
		memcpy(js->bytes + js->bytes_n, t.s, t.n);
	js->bytes[js->bytes_n + t.n] = '\0';
	*out = (const char *)(uintptr_t)(js->bytes_n + 1);
	js->bytes_n += t.n + 1;
	return FIT_OK;
}

/* Was it measured on so many GPUs of a type, on full nodes and one with the rest? FIT_EDATA: no. */
static int try_packed(const struct fit_job *j, struct fit_app *app, int64_t node_gpus, struct fit_err *err)
{
	struct fit_batch b = fit_app_split_batch(app, j->batch_size, j->gpus, false);
	struct fit_placement p = { .n_nodes = 0 };
	double rate;

	if (j->gpus > node_gpus * FIT_PLACEMENT_MAX)
		return FIT_OK;	/* too large */
	for (int64_t left = j->gpus; left > 0; left -= node_gpus)
		p.gpus[p.n_nodes++] = (int)(left < node_gpus ? left : node_gpus);
	return fit_app_goodput(app, &p, b, 0, &rate, err);
}

/* The types that a job can run on, and the first of those that it may have. */
static int leave_out_types(struct fit_job *j, struct fit_app **apps, const struct fit_jobs_params *p,
			   const struct fit_cluster *k, struct fit_err *err)
{
	struct fit_err why = { .msg = "" };
	int32_t lacks = 0;

	j->app = NULL;
	for (int32_t t = 0; t < k->n_types; t++) {
		bool may = j->gpu_type == FIT_ANY_TYPE || j->gpu_type == t;
		int rc = FIT_OK;

		if (apps[t] && !p->any_size && !p->adaptive && k->n_types > 1)
			rc = try_packed(j, apps[t], k->types[t].max_node_gpus, &why);
		if (rc && rc != FIT_EDATA)
			return fit_fail(err, rc, "%s", why.msg);
		if (rc) {
			apps[t] = NULL;
			lacks = may ? t : lacks;
		}
		if (may && !j->app)
			j->app = apps[t];
	}
	return j->app ? FIT_OK :
	       fit_fail(err, FIT_EDATA, "job %s: not measured on %lld GPUs of a type that it may have; of '%s': %s",
			j->id, (long long)j->gpus, k->types[lacks].name, why.msg);
}

/* Where the cluster has types: the application of each job on each of them. */
static int find_apps(struct fit_jobs *js, const struct fit_jobs_params *p, struct fit_err *err)
{
	const struct fit_cluster *k = &p->partitions->p[0].cluster;
	const size_t n_types = (size_t)k->n_types;
	int rc = FIT_OK;

	if (!p->profiles || !p->profiles->n || p->partitions->named || !fit_cluster_typed(k))
		return FIT_OK;
	js->apps = calloc(js->n * n_types + 1, sizeof *js->apps);
	if (!js->apps)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < js->n && !rc; i++) {
		js->jobs[i].apps = js->apps + i * n_types;
		for (size_t t = 0; t < n_types; t++)
			js->apps[i * n_types + t] = fit_job_find_app(p, k, (int32_t)t, fit_text_of(js->jobs[i].app_name));
		rc = leave_out_types(&js->jobs[i], js->apps + i * n_types, p, k, err);
		if (rc)
			rc = fit_fail_prefix(err, rc, "%s:%llu", js->input, (unsigned long long)js->jobs[i].line);
	}
	return rc;
}

static int add_job(struct fit_jobs *js, struct fit_job *j, struct fit_text id, struct fit_text app,
		   struct fit_err *err)
{
	if (js->n >= UINT32_MAX - 1)
		return fit_fail(err, FIT_EDATA, "%s: too many jobs", js->input);
	if (keep_text(js, id, &j->id) || keep_text(js, app, &j->app_name) ||
	    fit_grow(&js->jobs, &js->cap, js->n + 1, sizeof *js->jobs))
		return fit_fail_nomem(err);
	js->jobs[js->n++] = *j;
	return FIT_OK;
}

static int read_rows(struct fit_jobs *js, struct fit_reader *r, const struct fit_jobs_params *p,
		     struct fit_err *err)
{
	struct fit_job_rows rows;
	int rc = fit_job_rows_begin(&rows, r, js, p, err);

	while (!rc) {
		struct fit_text id, app;
		struct fit_job j;

		rc = fit_job_rows_next(&rows, &j, &id, &app, err);
		rc = rc ? rc : add_job(js, &j, id, app, err);
	}
	fit_job_rows_release(&rows);
	return rc == FIT_END ? FIT_OK : rc;
}

static int by_submit_and_id(const void *pa, const void *pb)
{
	const struct fit_job *a = pa, *b = pb;
	int c;

	if (a->submit_ns != b->submit_ns)
		return a->submit_ns < b->submit_ns ? -1 : 1;
	c = fit_text_cmp_natural(fit_text_of(a->id), fit_text_of(b->id));
	return c ? c : (a->line > b->line) - (a->line < b->line);
}

static int check_sizes(struct fit_jobs *js, const struct fit_jobs_params *p, struct fit_err *err)
{
	struct fit_str list = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < js->n && !rc; i++) {
		struct fit_job *j = &js->jobs[i];
		const struct fit_partition *part = &p->partitions->p[j->partition];

		j->too_large = !p->any_size && !fit_job_fits(j, &part->cluster);
		if (!j->too_large)
			continue;
		if (js->n_too_large++ < 20)
			rc = fit_str_printf(&list, "%sjob %s asks for %lld GPUs", list.n ? ", " : "", j->id,
					    (long long)j->gpus);
		if (!rc && p->partitions->named && js->n_too_large <= 20)
			rc = fit_str_printf(&list, " of the %lld of '%s'", (long long)part->cluster.n_open, part->name);
		if (!rc && part->cluster.switches && js->n_too_large <= 20)
			rc = fit_str_puts(&list, " behind one switch, with their CPUs and memory");
		if (!rc && part->cluster.n_types > 1 && js->n_too_large <= 20)
			rc = fit_str_printf(&list, " of the %lld of one type", (long long)fit_job_room(j, &part->cluster));
	}
	if (!rc && js->n_too_large > 20)
		rc = fit_str_printf(&list, ", and %zu more", js->n_too_large - 20);
	if (rc)
		rc = fit_fail_nomem(err);
	else if (js->n_too_large && !p->keep_too_large)
		rc = p->partitions->named ?
		     fit_fail(err, FIT_EDATA, "%s: %s (--skip-too-large rejects such jobs)", js->input, list.s) :
		     fit_fail(err, FIT_EDATA, "%s: %s, the cluster has %lld (--skip-too-large rejects such jobs)",
			      js->input, list.s, (long long)p->partitions->n_gpus);
	fit_str_release(&list);
	return rc;
}

static int count_by_partition(struct fit_jobs *js, size_t n_partitions, struct fit_err *err)
{
	uint32_t *n = calloc(n_partitions, sizeof *n);

	if (!n)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < js->n; i++)
		js->jobs[i].local = n[js->jobs[i].partition]++;
	free(n);
	return FIT_OK;
}

int fit_jobs_read(struct fit_jobs *js, const char *operand, const struct fit_jobs_params *p,
		  struct fit_err *err)
{
	struct fit_reader *r;
	int rc = fit_reader_open(&r, operand, err);

	*js = (struct fit_jobs){ 0 };
	if (rc)
		return rc;
	snprintf(js->input, sizeof js->input, "%s", fit_reader_input(r));
	rc = read_rows(js, r, p, err);
	rc = rc ? rc : fit_reader_only(r, err);
	for (size_t i = 0; i < js->n; i++) {
		js->jobs[i].id = js->bytes + (uintptr_t)js->jobs[i].id - 1;
		js->jobs[i].app_name = js->bytes + (uintptr_t)js->jobs[i].app_name - 1;
		if (js->jobs[i].rates)
			js->jobs[i].rates = js->rates + (uintptr_t)js->jobs[i].rates - 1;
	}
	rc = rc ? rc : find_apps(js, p, err);
	rc = rc ? rc : check_sizes(js, p, err);
	fit_reader_hash(r, js->hash);
	fit_reader_close(r);
	if (rc) {
		fit_jobs_release(js);
		return rc;
	}
	if (!p->file_order && js->n)
		qsort(js->jobs, js->n, sizeof *js->jobs, by_submit_and_id);
	rc = count_by_partition(js, p->partitions->n, err);
	if (rc)
		fit_jobs_release(js);
	return rc;
}
