/* SPDX-License-Identifier: MIT */
/* How the tables of Alibaba's PAI are recognised: they have no header rows (docs/formats/pai.md). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libfit/base/num.h"
#include "traces/jobs.h"

/* The fields of a line, as far as there is room for them; how many there are, or max + 1: there are more. */
static size_t cut(struct fit_text line, struct fit_text *fields, size_t max)
{
	for (size_t n = 0; n < max; n++) {
		const char *comma = line.n ? memchr(line.s, ',', line.n) : NULL;

		fields[n] = (struct fit_text){ line.s, comma ? (size_t)(comma - line.s) : line.n };
		if (!comma)
			return n + 1;
		line.n -= fields[n].n + 1;
		line.s = comma + 1;
	}
	return max + 1;
}

enum { MACHINE, MACHINE_TYPE, CAP_CPU, CAP_MEM, CAP_GPU, N_MACHINE };

/* A machine: a name, a type of GPU that the trace has, and three whole numbers; or a header row. There is
 * no other mark, so all lines at hand are looked at. */
int fit_trace_sniff_pai_machines(const struct fit_trace_head *head, char why[FIT_TRACE_WHY])
{
	static const char *const types[] = { "P100", "T4", "V100", "V100M32", "MISC", "CPU", "" };
	struct fit_text rest = head->bytes;
	size_t lines = 0;

	if (fit_trace_line_has(head->line, 0, "machine,gpu_type,cap_cpu,cap_mem,cap_gpu")) {
		snprintf(why, FIT_TRACE_WHY, "header has machine, gpu_type, cap_cpu, cap_mem and cap_gpu");
		return 55;
	}
	while (rest.n) {
		const char *lf = memchr(rest.s, '\n', rest.n);
		struct fit_text fields[N_MACHINE], line = { rest.s, lf ? (size_t)(lf - rest.s) : rest.n };
		size_t k = 0;
		double v;

		if (!lf && !head->whole)	/* cut short here */
			break;
		rest.n -= line.n + (lf ? 1 : 0);
		rest.s += line.n + (lf ? 1 : 0);
		if (line.n && line.s[line.n - 1] == '\r')
			line.n--;
		if (line.n == 0)
			continue;
		if (cut(line, fields, N_MACHINE) != N_MACHINE || fields[MACHINE].n == 0)
			return 0;
		while (k < sizeof types / sizeof *types && !fit_text_is(fields[MACHINE_TYPE], types[k]))
			k++;
		if (k == sizeof types / sizeof *types)
			return 0;
		for (k = CAP_CPU; k <= CAP_GPU; k++)
			if (fit_parse_double(fields[k], &v) || v < 0 || v > 1e6 || floor(v) < v)
				return 0;
		lines++;
	}
	if (!lines)
		return 0;
	snprintf(why, FIT_TRACE_WHY, "5 fields, a type of GPU that PAI has and three whole numbers, as its machine "
		 "list has");
	return 70;
}

/* A headerless table of one of four kinds, by its number of fields and a status where it has to be; or
 * a header row, or a header file. */
int fit_trace_sniff_pai(const struct fit_trace_head *head, char why[FIT_TRACE_WHY])
{
	static const char *const words[] = { "Terminated", "Failed", "Running", "Waiting" };
	static const struct { size_t n, status; const char *what; } kinds[] = {
		{ 6, 3, "job" }, { 10, 3, "task" }, { 9, 5, "instance" }
	};
	struct fit_text fields[10], line = head->line;
	size_t n;

	if (fit_trace_line_has(line, ',', "job_name,status,start_time,end_time")) {
		snprintf(why, FIT_TRACE_WHY, "header has job_name, status, start_time and end_time");
		return 60;
	}
	n = cut(line, fields, 10);
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (size_t w = 0; n == kinds[k].n && w < sizeof words / sizeof *words; w++) {
			if (!fit_text_is(fields[kinds[k].status], words[w]))
				continue;
			snprintf(why, FIT_TRACE_WHY, "%zu fields and '%s' in field %zu, as a PAI %s table has",
				 n, words[w], kinds[k].status + 1, kinds[k].what);
			return 85;
		}
	return 0;
}
