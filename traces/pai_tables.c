/* SPDX-License-Identifier: MIT */
#include "traces/pai_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 16
#define NAMES_MAX 64

static const char *const job_names[] = {
	"job_name", "inst_id", "user", "status", "start_time", "end_time"
};
static const char *const task_names[] = {
	"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem",
	"plan_gpu", "gpu_type"
};
static const char *const instance_names[] = {
	"job_name", "task_name", "inst_name", "worker_name", "inst_id", "status", "start_time", "end_time",
	"machine"
};
static const char *const tag_names[] = { "inst_id", "user", "gpu_type_spec", "group", "workload" };
static const char *const machine_names[] = { "machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu" };
static const char *const sensor_names[] = {
	"job_name", "task_name", "worker_name", "inst_id", "machine", "gpu_name", "cpu_usage",
	"gpu_wrk_util", "avg_mem", "max_mem", "avg_gpu_wrk_mem", "max_gpu_wrk_mem", "read", "write",
	"read_count", "write_count"
};
static const char *const metric_names[] = {
	"worker_name", "machine", "start_time", "end_time", "machine_cpu_iowait", "machine_cpu_kernel",
	"machine_cpu_usr", "machine_gpu", "machine_load_1", "machine_net_receive", "machine_num_worker",
	"machine_cpu"
};

/* mark: a column that no other table has. */
static const struct table {
	struct fit_csv_layout layout;
	const char *mark, *what, *role;
} tables_known[FIT_PAI_N] = {
#define TABLE(names) { names, sizeof names / sizeof *names }
	[FIT_PAI_JOB] = { TABLE(job_names), "job_name", "a job table", "job" },
	[FIT_PAI_TASK] = { TABLE(task_names), "plan_gpu", "a task table", "task" },
	[FIT_PAI_INSTANCE] = { TABLE(instance_names), "inst_name", "an instance table", "instance" },
	[FIT_PAI_TAG] = { TABLE(tag_names), "gpu_type_spec", "a group tag table", "group_tag" },
	[FIT_PAI_MACHINE] = { TABLE(machine_names), "cap_gpu", "a machine table", "machine" },
	[FIT_PAI_SENSOR] = { TABLE(sensor_names), "gpu_wrk_util", "a sensor table", "sensor" },
	[FIT_PAI_METRIC] = { TABLE(metric_names), "machine_gpu", "a machine metric table", "metric" }
};

struct file {
	struct fit_source *source;
	bool borrowed;
	struct fit_csv *csv;
	enum fit_pai_table table;
	/* the names of a header file; they are the columns of a table that is another file */
	bool is_header, used;
	struct fit_str text;
	const char *names[NAMES_MAX];
	size_t n_names;
};

static bool ends_in(const char *s, size_t n, const char *end)
{
	size_t k = strlen(end);

	return n >= k && memcmp(s + n - k, end, k) == 0;
}

/* The name of a file without what says how it is kept: ".csv", ".csv.gz", ".header". */
static struct fit_text stem(const struct fit_source *s)
{
	static const char *const ends[] = { ".gz", ".zst", ".csv", ".header" };
	const char *name = fit_source_name(s);
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ends_in(name, n, ends[i]))
			n -= strlen(ends[i]);
	return (struct fit_text){ name, n };
}

/* A header file: one line of names with commas between. */
static int read_header_file(struct file *f, struct fit_err *err)
{
	const char *file = fit_source_name(f->source);
	char *line, *name;
	size_t n;
	int rc = fit_source_line(f->source, &line, &n, err);

	if (rc == FIT_END)
		return fit_fail(err, FIT_EPARSE, "%s: empty file (expected names of columns)", file);
	if (rc)
		return rc;
	if (n >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
		line += 3;
		n -= 3;
	}
	if (n > 4096 || !fit_text_is_utf8((struct fit_text){ line, n }))
		return fit_fail(err, FIT_EPARSE, "%s:1: bad names (expected names of columns)", file);
	if (fit_str_add(&f->text, line, n))
		return fit_fail_nomem(err);
	for (name = f->text.s; name; ) {
		char *end = strchr(name, ','), *last = end ? end : name + strlen(name);

		while (*name == ' ')
			name++;
		while (last > name && (last[-1] == ' ' || last[-1] == '\r'))
			last--;
		if (last - name >= 2 && *name == '"' && last[-1] == '"') {
			name++;
			last--;
		}
		*last = '\0';
		if (!*name || f->n_names == NAMES_MAX)
			return fit_fail(err, FIT_EPARSE, "%s:1: %s (expected up to %d names of columns)",
					file, *name ? "too many names" : "empty name", NAMES_MAX);
		for (size_t i = 0; i < f->n_names; i++)
			if (strcmp(f->names[i], name) == 0)
				return fit_fail(err, FIT_EPARSE, "%s:1: duplicate column '%s'", file, name);
		f->names[f->n_names++] = name;
		name = end ? end + 1 : NULL;
	}
	while (!(rc = fit_source_line(f->source, &line, &n, err)))
		if (n && !(n == 1 && *line == '\r'))
			return fit_fail(err, FIT_EPARSE, "%s:%llu: a second line (expected names of columns "
					"in one)", file,
					(unsigned long long)fit_source_line_number(f->source));
	return rc == FIT_END ? FIT_OK : rc;
}

/* The header file of a table: that of the same name, or the only one when there is one table. */
static struct file *header_of(struct file *files, size_t n, const struct file *table)
{
	struct file *only = NULL;
	size_t n_headers = 0;

	for (size_t i = 0; i < n; i++) {
		if (!files[i].is_header)
			continue;
		if (fit_text_eq(stem(files[i].source), stem(table->source)))
			return &files[i];
		only = &files[i];
		n_headers++;
	}
	return n_headers == 1 && n == 2 ? only : NULL;
}

static int open_table(struct file *f, struct file *header, const struct fit_pai_reader *first,
		      struct fit_err *err)
{
	struct fit_csv_layout layouts[FIT_PAI_N + 1];
	struct fit_csv_options options = { .missing = fit_trace_missing };
	int rc;

	/* two tables have five columns; the one that is read here goes first */
	layouts[0] = tables_known[first->table == FIT_PAI_MACHINE ? FIT_PAI_MACHINE : FIT_PAI_TAG].layout;
	for (size_t i = 0; i < FIT_PAI_N; i++)
		layouts[i + 1] = tables_known[i].layout;
	if (header) {
		options.names = header->names;
		options.n_names = header->n_names;
		header->used = true;
	} else {
		options.layouts = layouts;
		options.n_layouts = sizeof layouts / sizeof *layouts;
	}
	rc = fit_csv_open(&f->csv, f->source, &options, err);
	if (rc)
		return rc;
	/* the job table is the one that has nothing of its own */
	for (f->table = FIT_PAI_N - 1; f->table > FIT_PAI_JOB; f->table--)
		if (fit_csv_has(f->csv, tables_known[f->table].mark))
			return FIT_OK;
	return FIT_OK;
}

static int open_all(struct file *files, size_t n, const struct fit_pai_reader *readers,
		    struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < n; i++) {
		const char *name = fit_source_name(files[i].source);

		files[i].is_header = ends_in(name, strlen(name), ".header");
		if (files[i].is_header)
			rc = read_header_file(&files[i], err);
	}
	for (size_t i = 0; !rc && i < n; i++)
		if (!files[i].is_header)
			rc = open_table(&files[i], header_of(files, n, &files[i]), readers, err);
	for (size_t i = 0; !rc && i < n; i++)
		if (files[i].is_header && !files[i].used)
			rc = fit_fail(err, FIT_EDATA, "%s: a header file without its table (expected one of "
				      "the same name)", fit_source_name(files[i].source));
	return rc;
}

/* Which hash is whose goes into the metadata. */
static int keep_hash(struct fit_trace_out *out, const struct file *f, unsigned nth_table, bool first,
		     char first_hash[FIT_HASH_HEX])
{
	char hash[FIT_HASH_HEX], role[32];

	fit_csv_hash(f->csv, hash);
	if (first) {
		memcpy(first_hash, hash, FIT_HASH_HEX);
		return FIT_OK;
	}
	snprintf(role, sizeof role, nth_table > 1 ? "%s_%u" : "%s", tables_known[f->table].role,
		 nth_table);
	return fit_trace_add_hash(out, role, hash);
}

static int read_all(struct file *files, size_t n, struct fit_trace_out *out,
		    const struct fit_pai_reader *readers, size_t n_readers, void *ctx,
		    struct fit_err *err)
{
	char first_hash[FIT_HASH_HEX] = "";
	uint64_t rows = 0;
	bool first = true;
	int rc = FIT_OK;

	for (size_t k = 0; !rc && k < n_readers; k++) {
		const struct fit_pai_reader *r = &readers[k];
		const struct fit_trace_rows how = {
			.fields = r->fields, .n_fields = r->n_fields, .convert = r->take, .ctx = ctx
		};
		unsigned nth = 0;

		for (size_t i = 0; !rc && i < n; i++) {
			if (files[i].is_header || files[i].table != r->table)
				continue;
			fit_trace_set_input(out, fit_source_name(files[i].source));
			rc = fit_trace_visit_csv(files[i].csv, out, &how, err);
			rows += fit_csv_rows(files[i].csv);
			if (!rc && keep_hash(out, &files[i], ++nth, first, first_hash))
				rc = fit_fail_nomem(err);
			first = false;
		}
	}
	fit_trace_set_input(out, fit_source_name(files[0].source));
	fit_trace_set_hash(out, first_hash);
	fit_trace_count(out, rows);
	return rc;
}

/* A table of another kind is not passed over in silence. */
static int check_tables(const struct file *files, size_t n, const struct fit_pai_reader *readers,
			size_t n_readers, struct fit_err *err)
{
	char list[160] = "";
	size_t used = 0;

	for (size_t k = 0; k < n_readers; k++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
					 !k ? "" : k + 1 < n_readers ? ", " : " or ",
					 tables_known[readers[k].table].what);
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < n_readers && readers[k].table != files[i].table)
			k++;
		if (k == n_readers && !files[i].is_header)
			return fit_fail(err, FIT_EDATA, "%s: %s (expected %s)",
					fit_source_name(files[i].source), tables_known[files[i].table].what,
					list);
	}
	return FIT_OK;
}

int fit_pai_read_tables(struct fit_source *s, struct fit_trace_out *out,
			const struct fit_pai_reader *readers, size_t n_readers, void *ctx,
			unsigned *tables, struct fit_err *err)
{
	const struct fit_trace_params *params = fit_trace_params_of(out);
	struct file *files;
	size_t n = 1;
	int rc = FIT_OK;

	*tables = 0;
	if (params->n_more + 1 > FILES_MAX)
		return fit_fail(err, FIT_EINVAL, "too many files (expected at most %d)", FILES_MAX);
	files = calloc(FILES_MAX, sizeof *files);
	if (!files)
		return fit_fail_nomem(err);
	files[0].source = s;
	files[0].borrowed = true;
	for (; !rc && n <= params->n_more; n++)
		rc = fit_source_open(&files[n].source, params->more[n - 1], err);
	if (!rc)
		rc = open_all(files, n, readers, err);
	if (!rc)
		rc = check_tables(files, n, readers, n_readers, err);
	for (size_t i = 0; !rc && i < n; i++)
		*tables |= files[i].is_header ? 0 : 1u << files[i].table;
	if (!rc)
		rc = read_all(files, n, out, readers, n_readers, ctx, err);
	for (size_t i = 0; i < n; i++) {
		fit_csv_close(files[i].csv);
		if (!files[i].borrowed)
			fit_source_close(files[i].source);
		fit_str_release(&files[i].text);
	}
	free(files);
	return rc;
}
