/* SPDX-License-Identifier: MIT */
/* Which profiling dump is it? By the first line that only one of them has, or by what SQLite wrote at the
 * start of the file; of a folder, by the header row of the files in it. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/jobs.h"
#include "traces/prof_text.h"
#include "traces/series.h"

#define LINES_MAX 200	/* of messages before the first record */
#define NAMES_MAX 1024	/* folders below a folder that are looked at */

/* Formats with a header row of names that are theirs. The first that fits counts. */
static const struct { const char *name; char delimiter; const char *columns; } marks[] = {
	{ "philly-util", ',', "time,machineId,gpu0_util" },
	{ "lucid-colocate", ',', "model1,dataset1,batchsize1,speed1,model2,speed2" },
	{ "lucid-single", ',', "model,dataset,batchsize,amp,gpu_util,gmem" },
	{ "gradient-stats", ',', "step,replicas,local_bsz,global_sqr" },
	{ "gradient-stats", '\t', "step,replicas,local_bsz,global_sqr" },
	{ "rubick-placements", ',', "exec_plan,placement,iter_time" },
	{ "nsight-trace", ',', "start,end,deviceId" },
	{ "dcgmi", ' ', "#Entity" },
	{ "dmon", ' ', "#gpu,sm,mem" }, { "dmon", ' ', "#,gpu,sm,mem" }, { "dmon", ' ', "#Date,gpu" },
	{ "dmon", ' ', "#Time,gpu" }, { "dmon", ' ', "#,gpu,fb" }, { "dmon", ' ', "#,gpu,pwr" }
};

static bool has(struct fit_text bytes, const char *what)
{
	size_t n = strlen(what);

	for (size_t i = 0; i + n <= bytes.n; i++) {
		const char *at = memchr(bytes.s + i, *what, bytes.n - n - i + 1);

		if (!at)
			return false;
		i = (size_t)(at - bytes.s);
		if (memcmp(at, what, n) == 0)
			return true;
	}
	return false;
}

/* Two columns of nvidia-smi, whatever the unit behind them. */
static bool is_smi(struct fit_text line)
{
	static const char *const names[] = { "utilization.gpu", "utilization.memory", "memory.used", "timestamp",
					     "index", "uuid", "gpu_uuid", "pci.bus_id", "name", "memory.total" };
	struct fit_text f[FIT_PROF_FIELDS_MAX];
	size_t n = fit_prof_cut(line, ',', f), known = 0, values = 0;

	for (size_t i = 0; i < n && i < FIT_PROF_FIELDS_MAX; i++) {
		const char *unit = f[i].n ? memchr(f[i].s, '[', f[i].n) : NULL;
		struct fit_text bare = unit ? fit_prof_trim((struct fit_text){ f[i].s, (size_t)(unit - f[i].s) }) :
				       f[i];

		for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
			known += fit_prof_is(bare, names[k]);
			values += k < 3 && fit_prof_is(bare, names[k]);
		}
	}
	return values && (known >= 2 || n == 1);
}

static const char *sniff_line(struct fit_text line, char why[FIT_TRACE_WHY])
{
	struct fit_text bare = line;

	if (is_smi(line)) {
		snprintf(why, FIT_TRACE_WHY, "a header row with columns of --query-gpu");
		return "nvidia-smi";
	}
	if (bare.n && bare.s[0] == '"') {
		bare.s++;
		bare.n--;
	}
	if ((fit_prof_starts(bare, "Time (%)") || fit_prof_starts(bare, "Time(%)")) && has(bare, "Name")) {
		snprintf(why, FIT_TRACE_WHY, "a header row from %.8s to Name", bare.s);
		return "nsight-kernels";
	}
	if (fit_prof_starts(bare, "Start") && has(bare, "Duration") && has(bare, "Device")) {
		snprintf(why, FIT_TRACE_WHY, "a header row with Start, Duration and Device");
		return "nsight-trace";
	}
	if (fit_prof_starts(line, "DCGM_FI_") || fit_prof_starts(line, "# HELP ") ||
	    fit_prof_starts(line, "# TYPE ") || fit_prof_starts(line, "dcgm_")) {
		snprintf(why, FIT_TRACE_WHY, "a line of Prometheus text, '%.*s'", (int)(line.n > 40 ? 40 : line.n),
			 line.s);
		return "dcgm-exporter";
	}
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		if (!fit_trace_line_has(line, marks[i].delimiter, marks[i].columns))
			continue;
		snprintf(why, FIT_TRACE_WHY, "a header row with %s", marks[i].columns);
		return marks[i].name;
	}
	return NULL;
}

static const char *sniff_bytes(struct fit_text bytes, char why[FIT_TRACE_WHY])
{
	struct fit_text first = bytes;

	if (bytes.n >= 15 && memcmp(bytes.s, "SQLite format 3", 15) == 0) {
		bool kernels = has(bytes, "CUPTI_ACTIVITY_KIND_KERNEL"), metrics = has(bytes, "GPU_METRICS");

		snprintf(why, FIT_TRACE_WHY, "SQLite%s", kernels ? " with kernels" :
			 metrics ? " with GPU_METRICS, without kernels" : "");
		return !kernels && metrics ? "nsight-metrics" : "nsight";
	}
	while (first.n && (first.s[0] == ' ' || first.s[0] == '\t' || first.s[0] == '\r' || first.s[0] == '\n')) {
		first.s++;
		first.n--;
	}
	if (first.n && (first.s[0] == '{' || first.s[0] == '[')) {
		if (has(bytes, "\"null\"") && has(bytes, "(batch size")) {
			snprintf(why, FIT_TRACE_WHY, "JSON with batch sizes in names, and with \"null\"");
			return "gavel";
		}
		if (!has(bytes, "\"traceEvents\"") && !has(bytes, "\"ph\""))
			return NULL;
		snprintf(why, FIT_TRACE_WHY, "JSON with events of a Chrome trace");
		return "pytorch-trace";
	}
	for (int i = 0; i < LINES_MAX && first.n; i++) {
		const char *lf = memchr(first.s, '\n', first.n);
		size_t n = lf ? (size_t)(lf - first.s) : first.n;
		const char *name = sniff_line(fit_prof_trim((struct fit_text){ first.s, n }), why);

		if (name)
			return name;
		n += lf != NULL;
		first.s += n;
		first.n -= n;
	}
	return NULL;
}

/* The first line of folder/file: does it have these columns? */
static bool file_has(const char *folder, const char *file, const char *columns)
{
	struct fit_str path = { 0 };
	struct fit_source *s = NULL;
	struct fit_err err;
	char *line;
	size_t n;
	bool yes = fit_str_printf(&path, "%s/%s", folder, file) == FIT_OK &&
		   fit_source_open(&s, path.s, &err) == FIT_OK && fit_source_line(s, &line, &n, &err) == FIT_OK;

	if (yes) {
		struct fit_text t = { line, n };

		if (n >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
			t = (struct fit_text){ line + 3, n - 3 };
		yes = fit_trace_line_has(fit_prof_trim(t), ',', columns);
	}
	fit_source_close(s);
	fit_str_release(&path);
	return yes;
}

static const char *sniff_folder(const char *folder, char why[FIT_TRACE_WHY])
{
	static const struct { const char *name, *file, *columns; } known[] = {
		{ "rubick-model", "config.csv", "nodes,gpus,parameter_size,zero_type" },
		{ "rubick-placements", "placements.csv", "exec_plan,placement,iter_time" },
		{ "pollux", "placements.csv", "placement,local_bsz,step_time,sync_time" }
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (file_has(folder, known[i].file, known[i].columns)) {
			snprintf(why, FIT_TRACE_WHY, "a folder whose %s has %s", known[i].file, known[i].columns);
			return known[i].name;
		}
	return NULL;
}

/* The folder itself, or the first folder in it, by name, that is known. */
static const char *sniff_folders(const char *folder, char why[FIT_TRACE_WHY])
{
	const char *name = sniff_folder(folder, why);
	char best[256] = "", reason[FIT_TRACE_WHY];
	DIR *d = name ? NULL : opendir(folder);
	struct dirent *e;

	for (int i = 0; d && i < NAMES_MAX && (e = readdir(d)) != NULL; i++) {
		struct fit_str path = { 0 };
		const char *found = NULL;

		if (e->d_name[0] != '.' && strlen(e->d_name) < sizeof best &&
		    (!best[0] || strcmp(e->d_name, best) < 0) &&
		    fit_str_printf(&path, "%s/%s", folder, e->d_name) == FIT_OK)
			found = sniff_folder(path.s, reason);
		if (found) {
			name = found;
			snprintf(best, sizeof best, "%s", e->d_name);
			memcpy(why, reason, sizeof reason);
		}
		fit_str_release(&path);
	}
	if (d)
		closedir(d);
	return name;
}

static bool is_blank(struct fit_text t)
{
	while (t.n && strchr(" \t\r\n", t.s[0]) && t.s[0]) {
		t.s++;
		t.n--;
	}
	return !t.n;
}

int fit_series_recognise(const char *folder, struct fit_source *s, const char **name, char why[FIT_TRACE_WHY],
			 struct fit_err *err)
{
	struct fit_text bytes = { 0 };
	bool whole;
	int rc = s ? fit_source_peek(s, FIT_TRACE_HEAD, &bytes, &whole, err) : FIT_OK;

	*name = NULL;
	if (rc)
		return rc;
	if (!s) {
		*name = sniff_folders(folder, why);
		return *name ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: no known folder of profiles (expected --from "
						 "FORMAT)", folder);
	}
	if (bytes.n >= 3 && memcmp(bytes.s, "\xef\xbb\xbf", 3) == 0)
		bytes = (struct fit_text){ bytes.s + 3, bytes.n - 3 };
	if (is_blank(bytes))
		return fit_fail(err, FIT_EPARSE, "%s: empty file (expected a profiling dump)", fit_source_name(s));
	if (fit_prof_starts(bytes, "version https://git-lfs"))
		return fit_fail(err, FIT_EPARSE, "%s:1: Git LFS pointer, not the data (expected the file that "
				"'git lfs pull' fetches)", fit_source_name(s));
	*name = sniff_bytes(bytes, why);
	return *name ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: no known format (expected --from FORMAT; --help lists "
					 "them)", fit_source_name(s));
}
