/* SPDX-License-Identifier: MIT */
/* The list of trace formats, and how they are told apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/jobs.h"
#include "traces/lines.h"

static const struct fit_field pollux_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
	{ "gpus", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 }, { "scaling", FIT_TEXT, 0 }
};
static const struct fit_field philly_list_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
	{ "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 }
};
static const struct fit_field tiresias_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
	{ "start_s", FIT_TIME, 0 }, { "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 },
	{ "work", FIT_INT, 0 }
};
static const struct fit_field cluster_fields[] = {
	{ "node_type", FIT_TEXT, 0 }, { "nodes", FIT_INT, 0 }, { "gpus_per_node", FIT_INT, 0 },
	{ "cpus_per_node", FIT_INT, 0 }, { "mem_gib_per_node", FIT_REAL, 0 }, { "switches", FIT_INT, 0 }
};
static const struct fit_field pai_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "user", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 },
	{ "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 }, { "start_s", FIT_TIME, 0 },
	{ "end_s", FIT_TIME, 0 }, { "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 },
	{ "gpu_type", FIT_TEXT, 0 }, { "status", FIT_TEXT, 0 }, { "cpus", FIT_REAL, 0 },
	{ "mem_mib", FIT_REAL, 0 }
};
static const struct fit_field openb_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
	{ "start_s", FIT_TIME, 0 }, { "end_s", FIT_TIME, 0 }, { "duration_s", FIT_TIME, 0 },
	{ "gpus", FIT_REAL, 0 }, { "gpu_type", FIT_TEXT, 0 }, { "status", FIT_TEXT, 0 },
	{ "cpus", FIT_REAL, 0 }, { "mem_mib", FIT_INT, 0 }, { "seen_s", FIT_TIME, 0 }
};
static const struct fit_field alibaba2025_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 },
	{ "submit_s", FIT_TIME, 0 }, { "start_s", FIT_TIME, 0 }, { "end_s", FIT_TIME, 0 },
	{ "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 }, { "status", FIT_TEXT, 0 },
	{ "censored", FIT_TEXT, 0 }, { "cpus", FIT_REAL, 0 }, { "mem_mib", FIT_REAL, 0 },
	{ "max_per_node", FIT_INT, 0 }
};
static const struct fit_field lora_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 }, { "name", FIT_TEXT, 0 },
	{ "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 }, { "duration_s", FIT_TIME, 0 },
	{ "gpus", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 }, { "status", FIT_TEXT, 0 },
	{ "work", FIT_INT, 0 }
};
static const struct fit_field spot_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
	{ "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 }, { "gpu_type", FIT_TEXT, 0 },
	{ "cpus", FIT_REAL, 0 }, { "job_class", FIT_TEXT, 0 }
};
static const struct fit_field rubick_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
	{ "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 }, { "work", FIT_INT, 0 },
	{ "cpus", FIT_REAL, 0 }, { "bandwidth_gb_per_s", FIT_REAL, 0 },
	{ "exec_plan", FIT_TEXT, 0 }, { "is_sla", FIT_INT, 0 }
};
static const struct fit_field gavel_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
	{ "gpus", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 }, { "work", FIT_INT, 0 },
	{ "priority", FIT_REAL, 0 }, { "slo", FIT_REAL, 0 }
};
static const struct fit_field lucid_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "user", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 },
	{ "name", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 },
	{ "start_s", FIT_TIME, 0 }, { "end_s", FIT_TIME, 0 }, { "duration_s", FIT_TIME, 0 },
	{ "gpus", FIT_REAL, 0 }, { "batch_size", FIT_INT, 0 }, { "status", FIT_TEXT, 0 },
	{ "cpus", FIT_REAL, 0 }, { "dataset", FIT_TEXT, 0 }, { "amp", FIT_INT, 0 },
	{ "speed_per_s", FIT_REAL, 0 }, { "gpu_util_pct", FIT_REAL, 0 },
	{ "mem_util_pct", FIT_REAL, 0 }, { "fb_used_mib", FIT_REAL, 0 }
};
static const struct fit_field node_fields[] = {
	{ "node_type", FIT_TEXT, 0 }, { "nodes", FIT_INT, 0 }, { "gpus_per_node", FIT_INT, 0 },
	{ "cpus_per_node", FIT_REAL, 0 }, { "mem_gib_per_node", FIT_REAL, 0 }
};
static const struct fit_field vc_fields[] = {
	{ "group", FIT_TEXT, 0 }, { "nodes", FIT_INT, 0 }, { "gpus_per_node", FIT_INT, 0 }
};

static const struct fit_field philly_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "user", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 },
	{ "submit_s", FIT_TIME, 0 }, { "start_s", FIT_TIME, 0 }, { "end_s", FIT_TIME, 0 },
	{ "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 }, { "status", FIT_TEXT, 0 },
	{ "attempts", FIT_INT, 0 }, { "hosts", FIT_TEXT, 0 }, { "raw_status", FIT_TEXT, 0 }
};
static const struct fit_field philly_cluster_fields[] = {
	{ "node_type", FIT_TEXT, 0 }, { "nodes", FIT_INT, 0 }, { "gpus_per_node", FIT_INT, 0 },
	{ "gpus_used", FIT_INT, 0 }, { "gpus_listed", FIT_INT, 0 }, { "gpu_mem_gib", FIT_REAL, 0 }
};
static const struct fit_field helios_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "user", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 },
	{ "submit_s", FIT_TIME, 0 }, { "start_s", FIT_TIME, 0 }, { "end_s", FIT_TIME, 0 },
	{ "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 }, { "status", FIT_TEXT, 0 },
	{ "cpus", FIT_INT, 0 }, { "nodes", FIT_INT, 0 }
};
static const struct fit_field acme_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "user", FIT_TEXT, 0 }, { "app", FIT_TEXT, 0 },
	{ "submit_s", FIT_TIME, 0 }, { "start_s", FIT_TIME, 0 }, { "end_s", FIT_TIME, 0 },
	{ "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 }, { "status", FIT_TEXT, 0 },
	{ "cpus", FIT_INT, 0 }, { "nodes", FIT_INT, 0 }
};
/* as the enum in traces/sacct_jobs.h */
static const struct fit_field sacct_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "user", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 },
	{ "name", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 }, { "start_s", FIT_TIME, 0 },
	{ "end_s", FIT_TIME, 0 }, { "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 },
	{ "gpu_type", FIT_TEXT, 0 }, { "status", FIT_TEXT, 0 }, { "priority", FIT_INT, 0 },
	{ "attempts", FIT_INT, 0 }, { "cpus", FIT_INT, 0 }, { "mem_mib", FIT_REAL, 0 },
	{ "timelimit_s", FIT_REAL, 0 }, { "partition", FIT_TEXT, 0 }, { "qos", FIT_TEXT, 0 },
	{ "nodes", FIT_INT, 0 }, { "gpus_req", FIT_REAL, 0 }, { "gpus_alloc", FIT_REAL, 0 },
	{ "gpu_types", FIT_TEXT, 0 }, { "cpu_time_s", FIT_TIME, 0 }, { "elapsed_s", FIT_TIME, 0 },
	{ "raw_status", FIT_TEXT, 0 }
};
/* as the enum in traces/jobs_swf.c */
static const struct fit_field swf_fields[] = {
	{ "job_id", FIT_TEXT, 0 }, { "user", FIT_TEXT, 0 }, { "group", FIT_TEXT, 0 },
	{ "app", FIT_TEXT, 0 }, { "submit_s", FIT_TIME, 0 }, { "start_s", FIT_TIME, 0 },
	{ "end_s", FIT_TIME, 0 }, { "duration_s", FIT_TIME, 0 }, { "gpus", FIT_REAL, 0 },
	{ "gpu_type", FIT_TEXT, 0 }, { "status", FIT_TEXT, 0 }, { "cpus", FIT_REAL, 0 },
	{ "mem_mib", FIT_REAL, 0 }, { "timelimit_s", FIT_REAL, 0 }, { "queue", FIT_TEXT, 0 },
	{ "partition", FIT_TEXT, 0 }, { "gpus_req", FIT_REAL, 0 }, { "after_job", FIT_TEXT, 0 },
	{ "think_s", FIT_TIME, 0 }
};

#define FIELDS(f) .fields = f, .n_fields = sizeof f / sizeof *f

const struct fit_trace_format fit_trace_formats[] = {
	{ .name = "pollux", .summary = "workload CSV of the Pollux and Sia simulators",
	  FIELDS(pollux_fields), .id_field = "name", .read = fit_trace_read_pollux,
	  .marks = "name,time,application,num_replicas,batch_size" },
	{ .name = "pollux-philly", .summary = "the Philly job list that comes with Pollux",
	  FIELDS(philly_list_fields), .flags = FIT_TRACE_CALENDAR | FIT_TRACE_SORT | FIT_TRACE_RANK_ID,
	  .id_prefix = "philly-", .read = fit_trace_read_philly_list,
	  .marks = "timestamp,duration,num_gpus,gpu_time,cluster" },
	{ .name = "tiresias", .summary = "job list of the Tiresias simulator, CSV or blanks",
	  FIELDS(tiresias_fields), .id_field = "job_id", .read = fit_trace_read_tiresias,
	  .marks = "job_id,num_gpu,submit_time,duration,model_name" },
	{ .name = "tiresias-cluster", .summary = "cluster file of the Tiresias simulator",
	  FIELDS(cluster_fields), .read = fit_trace_read_tiresias_cluster,
	  .marks = "num_switch,num_node_p_switch,num_gpu_p_node" },
	{ .name = "pai", .summary = "Alibaba PAI v2020: job, task, instance and group tag tables",
	  FIELDS(pai_fields), .flags = FIT_TRACE_JOINS, .id_field = "job_name",
	  .read = fit_trace_read_pai, .sniff = fit_trace_sniff_pai, .max_inputs = 16 },
	{ .name = "pai-machines", .summary = "Alibaba PAI v2020: machine specifications",
	  FIELDS(node_fields), .read = fit_trace_read_pai_machines, .max_inputs = 2,
	  .sniff = fit_trace_sniff_pai_machines },
	{ .name = "openb", .summary = "Alibaba v2023 (openb): pods", FIELDS(openb_fields),
	  .id_field = "name", .read = fit_trace_read_openb,
	  .marks = "name,cpu_milli,memory_mib,num_gpu,gpu_milli" },
	{ .name = "openb-nodes", .summary = "Alibaba v2023 (openb): nodes", FIELDS(node_fields),
	  .read = fit_trace_read_openb_nodes, .marks = "sn,cpu_milli,memory_mib,gpu,model" },
	{ .name = "alibaba2025", .summary = "Alibaba v2025: instances of recommendation services",
	  FIELDS(alibaba2025_fields), .id_field = "instance_sn", .read = fit_trace_read_alibaba2025,
	  .marks = "instance_sn,role,app_name,gpu_request,creation_time,deletion_time" },
	{ .name = "alibaba2026-lora", .summary = "Alibaba v2026: requests for pictures (GenAI, LoRA)",
	  FIELDS(lora_fields), .flags = FIT_TRACE_CALENDAR | FIT_TRACE_SORT | FIT_TRACE_RANK_ID,
	  .id_prefix = "lora-", .read = fit_trace_read_lora,
	  .marks = "gmt_create,predict_status,exec_time_seconds" },
	{ .name = "alibaba2026-spot", .summary = "Alibaba v2026: jobs on spot GPUs",
	  FIELDS(spot_fields), .id_field = "job_name", .read = fit_trace_read_spot,
	  .marks = "job_name,gpu_model,gpu_request,worker_num,submit_time,duration" },
	{ .name = "alibaba2026-nodes", .summary = "Alibaba v2026: nodes with spot GPUs",
	  FIELDS(node_fields), .read = fit_trace_read_spot_nodes,
	  .marks = "gpu_model,gpu_capacity_num,cpu_num,node_name" },
	{ .name = "rubick", .summary = "workload CSV of the Rubick simulator", FIELDS(rubick_fields),
	  .id_field = "name", .read = fit_trace_read_rubick,
	  .marks = "name,submission_time,duration,application,num_gpus,exec_plan" },
	{ .name = "gavel", .summary = "trace of the Gavel simulator, ten fields or the old seven",
	  FIELDS(gavel_fields), .read = fit_trace_read_gavel, .sniff = fit_trace_sniff_gavel },
	{ .name = "lucid", .summary = "job log of the Lucid simulator", FIELDS(lucid_fields),
	  .flags = FIT_TRACE_CALENDAR | FIT_TRACE_SORT, .id_field = "job_id",
	  .read = fit_trace_read_lucid, .marks = "job_id,vc,gpu_num,submit_time,duration,model,dataset,amp" },
	{ .name = "lucid-vc", .summary = "virtual clusters of the Lucid simulator", FIELDS(vc_fields),
	  .read = fit_trace_read_lucid_vc, .sniff = fit_trace_sniff_lucid_vc },
	{ .name = "philly", .summary = "job log of the Philly cluster, cluster_job_log (JSON)",
	  FIELDS(philly_fields), .flags = FIT_TRACE_CALENDAR | FIT_TRACE_SORT | FIT_TRACE_MACHINES,
	  .id_field = "jobid", .read = fit_trace_read_philly, .sniff = fit_trace_sniff_philly },
	{ .name = "philly-cluster", .summary = "the machines that the job log of Philly shows",
	  FIELDS(philly_cluster_fields), .flags = FIT_TRACE_MACHINES,
	  .read = fit_trace_read_philly_cluster },
	{ .name = "helios", .summary = "job log of the Helios clusters, cluster_log.csv",
	  FIELDS(helios_fields), .flags = FIT_TRACE_CALENDAR, .id_field = "job_id",
	  .read = fit_trace_read_helios, .marks = "job_id,vc,gpu_num,state,submit_time" },
	{ .name = "acme", .summary = "job log of the Acme clusters, trace_seren.csv, trace_kalos.csv",
	  FIELDS(acme_fields), .flags = FIT_TRACE_CALENDAR, .id_field = "job_id",
	  .read = fit_trace_read_acme, .marks = "job_id,gpu_num,type,state,submit_time" },
	{ .name = "sacct", .summary = "accounting of Slurm, sacct --parsable2", FIELDS(sacct_fields),
	  .flags = FIT_TRACE_CALENDAR | FIT_TRACE_JOINS, .id_field = "JobID",
	  .read = fit_trace_read_sacct, .sniff = fit_trace_sniff_sacct },
	{ .name = "swf", .summary = "Standard Workload Format 2.2", FIELDS(swf_fields),
	  .id_field = "job number", .read = fit_trace_read_swf, .sniff = fit_trace_sniff_swf },
	{ .name = NULL }
};

const struct fit_trace_format *fit_trace_format_find(const char *name)
{
	for (const struct fit_trace_format *f = fit_trace_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

/* ---- telling formats apart ---- */

static struct fit_text without_quotes(struct fit_text t)
{
	t = fit_trim(t);
	if (t.n >= 2 && t.s[0] == '"' && t.s[t.n - 1] == '"') {
		t.s++;
		t.n -= 2;
	}
	return t;
}

/* Take one name off the front of a line; false at the end. */
static bool next_name(struct fit_text *line, char delimiter, struct fit_text *name)
{
	size_t n = 0;

	if (delimiter == ' ')
		while (line->n && fit_is_blank(line->s[0])) {
			line->s++;
			line->n--;
		}
	if (!line->n)
		return false;
	while (n < line->n && (delimiter == ' ' ? !fit_is_blank(line->s[n]) : line->s[n] != delimiter))
		n++;
	*name = without_quotes((struct fit_text){ line->s, n });
	n += n < line->n;
	line->s += n;
	line->n -= n;
	return true;
}

static char delimiter_of(struct fit_text line)
{
	static const char known[] = { ',', '\t', ';', '|' };

	for (size_t i = 0; i < sizeof known; i++)
		if (line.n && memchr(line.s, known[i], line.n))
			return known[i];
	return ' ';
}

bool fit_trace_line_has(struct fit_text line, char delimiter, const char *columns)
{
	struct fit_text wanted = fit_text_of(columns), want, name;

	if (!delimiter)
		delimiter = delimiter_of(line);
	while (next_name(&wanted, ',', &want)) {
		struct fit_text rest = line;
		bool found = false;

		while (!found && next_name(&rest, delimiter, &name))
			found = fit_text_eq(name, want);
		if (!found)
			return false;
	}
	return true;
}

static int score_of(const struct fit_trace_format *f, const struct fit_trace_head *head,
		    char why[FIT_TRACE_WHY])
{
	struct fit_text marks, mark;
	int n = 0;

	if (f->sniff)
		return f->sniff(head, why);
	if (!f->marks || !fit_trace_line_has(head->line, 0, f->marks))
		return 0;
	for (marks = fit_text_of(f->marks); next_name(&marks, ',', &mark); )
		n++;
	snprintf(why, FIT_TRACE_WHY, "header has %s", f->marks);
	return 30 + 5 * n < 95 ? 30 + 5 * n : 95;
}

static struct fit_text first_line(struct fit_text bytes)
{
	struct fit_text line = { bytes.s, 0 };
	size_t at = 0;

	while (at < bytes.n && (fit_is_blank(bytes.s[at]) || bytes.s[at] == '\n'))
		at++;
	/* from the start of that line */
	line.s = bytes.s + at;
	line.n = bytes.n - at;
	if (line.n) {
		const char *lf = memchr(line.s, '\n', line.n);

		line.n = lf ? (size_t)(lf - line.s) : line.n;
	}
	while (line.n && fit_is_blank(line.s[line.n - 1]))
		line.n--;
	return line;
}

/* What every input is looked at for before the formats are asked. */
static int check_head(const struct fit_source *s, const struct fit_trace_head *head, struct fit_err *err)
{
	static const char lfs[] = "version https://git-lfs", table[] = "#fit-table/";

	if (head->line.n == 0)
		return fit_fail(err, FIT_EPARSE, "%s: empty file (expected a trace)", fit_source_name(s));
	if (head->line.n >= sizeof lfs - 1 && memcmp(head->line.s, lfs, sizeof lfs - 1) == 0)
		return fit_fail(err, FIT_EPARSE, "%s:1: Git LFS pointer, not the data (expected the file that "
				"'git lfs pull' fetches)", fit_source_name(s));
	if (head->line.n >= sizeof table - 1 && memcmp(head->line.s, table, sizeof table - 1) == 0)
		return fit_fail(err, FIT_EDATA, "%s: a table of goodfit already (expected a trace)",
				fit_source_name(s));
	return FIT_OK;
}

/* As far as its start shows: the end may cut a character. */
static bool is_text(struct fit_text line)
{
	for (size_t i = 0; i < line.n && i < 60; i++)
		if ((unsigned char)line.s[i] < ' ' && line.s[i] != '\t')
			return false;
	for (size_t cut = 0; cut < 4 && cut <= line.n; cut++)
		if (fit_text_is_utf8((struct fit_text){ line.s, line.n - cut }))
			return true;
	return false;
}

int fit_trace_recognise(struct fit_source *s, const struct fit_trace_format **format,
			char why[FIT_TRACE_WHY], struct fit_err *err)
{
	const struct fit_trace_format *best = NULL, *second = NULL;
	char reason[FIT_TRACE_WHY], other[FIT_TRACE_WHY] = "";
	struct fit_trace_head head = { 0 };
	int top = 0, rc = fit_source_peek(s, FIT_TRACE_HEAD, &head.bytes, &head.whole, err);

	*format = NULL;
	if (rc)
		return rc;
	if (head.bytes.n >= 3 && memcmp(head.bytes.s, "\xef\xbb\xbf", 3) == 0) {
		head.bytes.s += 3;
		head.bytes.n -= 3;
	}
	head.line = first_line(head.bytes);
	rc = check_head(s, &head, err);
	if (rc)
		return rc;
	for (const struct fit_trace_format *f = fit_trace_formats; f->name; f++) {
		int score;

		reason[0] = '\0';
		score = score_of(f, &head, reason);
		if (score <= 0 || score < top)
			continue;
		second = score == top ? f : NULL;
		if (second) {
			memcpy(other, reason, sizeof other);
			continue;
		}
		best = f;
		top = score;
		memcpy(why, reason, sizeof reason);
	}
	if (!best && !is_text(head.line))
		return fit_fail(err, FIT_EDATA, "%s: no known format, and no text (expected a trace)",
				fit_source_name(s));
	if (!best)
		return fit_fail(err, FIT_EDATA, "%s: no known format; it starts with '%.*s' (expected --from "
				"FORMAT; --list lists them)", fit_source_name(s),
				(int)(head.line.n > 60 ? 60 : head.line.n), head.line.s);
	if (second)
		return fit_fail(err, FIT_EDATA, "%s: could be %s (%s) or %s (%s) (expected --from FORMAT)",
				fit_source_name(s), best->name, why, second->name, other);
	*format = best;
	return FIT_OK;
}
