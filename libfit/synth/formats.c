/* SPDX-License-Identifier: MIT */
#include "libfit/synth/formats.h"

#include <gsl/gsl_randist.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/base/rng.h"

#define EPOCH_S INT64_C(1577836800)	/* 2020-01-01T00:00:00 */
#define LAST_S INT64_C(7258118400)	/* 2200-01-01: years as the readers take them */
#define FLUSH_AT ((size_t)1 << 17)
#define NODE_GPUS 8
#define MIN_MACHINES 500
#define GROUPS 10

struct layout {
	struct fit_str *text;
	struct fit_outfile *out;
	enum fit_synth_format format;
	gsl_rng *wait, *status, *attempt;
	int64_t machines;
	char day[11];			/* "2020-01-31", of the number beside it */
	int64_t day_number;
	bool failed;			/* out of memory; checked once a job */
};

/* A job with what the layouts add. Seconds since EPOCH_S. */
struct entry {
	const struct fit_synth_job *job;
	int64_t number, submit, start, end, duration, gpus, nodes;
	int64_t again;			/* so long was the first of two attempts; 0: there was one */
	int64_t again_at;		/* start of the second */
	enum { OK, FAILED, CANCELLED } status;
};

/* ---- text ---- */

static void put_n(struct layout *l, const char *s, size_t n)
{
	if (fit_str_add(l->text, s, n))
		l->failed = true;
}

#define PUT(l, literal) put_n((l), (literal), sizeof(literal) - 1)

static void put_s(struct layout *l, const char *s)
{
	put_n(l, s, strlen(s));
}

static void put_int(struct layout *l, int64_t v)
{
	char num[FIT_NUM_MAX];

	put_n(l, num, fit_format_int64(num, v));
}

static void two(char *to, int64_t v)
{
	to[0] = (char)('0' + v / 10);
	to[1] = (char)('0' + v % 10);
}

/* Year, month and day of a day since 1970-01-01, counting years from March. */
static void set_day(struct layout *l, int64_t number)
{
	int64_t z = number + 719468, era = z / 146097, doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	int64_t d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
	int64_t y = yoe + era * 400 + (m <= 2);

	two(l->day, y / 100);
	two(l->day + 2, y % 100);
	l->day[4] = l->day[7] = '-';
	two(l->day + 5, m);
	two(l->day + 8, d);
	l->day_number = number;
}

static void put_time(struct layout *l, int64_t t, char between)
{
	char text[19];
	int64_t day, rest;

	t += EPOCH_S;
	day = t / 86400;
	rest = t % 86400;
	if (day != l->day_number)
		set_day(l, day);
	memcpy(text, l->day, 10);
	text[10] = between;
	two(text + 11, rest / 3600);
	text[13] = ':';
	two(text + 14, rest / 60 % 60);
	text[16] = ':';
	two(text + 17, rest % 60);
	put_n(l, text, sizeof text);
}

/* ---- Philly ---- */

static void put_machines(struct layout *l, const struct entry *e, int64_t first)
{
	int64_t left = e->gpus;
	/* the GPUs of a small job lie side by side in one machine */
	int64_t slot = e->gpus < NODE_GPUS ? e->number % (NODE_GPUS / e->gpus) * e->gpus : 0;

	for (int64_t k = 0; k < e->nodes; k++) {
		int64_t here = left < NODE_GPUS ? left : NODE_GPUS;

		if (k)
			PUT(l, ",");
		PUT(l, "{\"ip\":\"m");
		put_int(l, (first + k) % l->machines + 1);
		PUT(l, "\",\"gpus\":[");
		for (int64_t g = 0; g < here; g++) {
			put_s(l, g ? ",\"gpu" : "\"gpu");
			put_int(l, slot + g);
			PUT(l, "\"");
		}
		PUT(l, "]}");
		left -= here;
	}
}

static void put_attempt(struct layout *l, const struct entry *e, int64_t start, int64_t end, int64_t first)
{
	PUT(l, "{\"start_time\":\"");
	put_time(l, start, ' ');
	PUT(l, "\",\"end_time\":\"");
	put_time(l, end, ' ');
	PUT(l, "\",\"detail\":[");
	put_machines(l, e, first);
	PUT(l, "]}");
}

static void put_philly(struct layout *l, const struct entry *e)
{
	static const char *const words[] = { "Pass", "Failed", "Killed" };

	put_s(l, e->number > 1 ? ",\n{\"status\":\"" : "[{\"status\":\"");
	put_s(l, words[e->status]);
	PUT(l, "\",\"vc\":\"vc");
	put_int(l, e->job->user % GROUPS);
	PUT(l, "\",\"jobid\":\"application_1577836800000_");
	for (int64_t zeros = 1000; zeros > e->number; zeros /= 10)
		PUT(l, "0");
	put_int(l, e->number);
	PUT(l, "\",\"attempts\":[");
	if (e->again) {
		put_attempt(l, e, e->start, e->start + e->again, e->number * 7);
		PUT(l, ",");
		put_attempt(l, e, e->again_at, e->end, e->number * 11);
	} else {
		put_attempt(l, e, e->start, e->end, e->number * 7);
	}
	PUT(l, "],\"submitted_time\":\"");
	put_time(l, e->submit, ' ');
	PUT(l, "\",\"user\":\"u");
	put_int(l, e->job->user);
	PUT(l, "\"}");
}

/* ---- sacct ---- */

static void put_tres(struct layout *l, const struct entry *e)
{
	PUT(l, "billing=");
	put_int(l, 8 * e->gpus);
	PUT(l, ",cpu=");
	put_int(l, 8 * e->gpus);
	PUT(l, ",gres/gpu=");
	put_int(l, e->gpus);
	PUT(l, ",mem=");
	put_int(l, 64 * e->gpus);
	PUT(l, "G,node=");
	put_int(l, e->nodes);
}

static void put_sacct(struct layout *l, const struct entry *e)
{
	static const char *const words[] = { "COMPLETED", "FAILED", "CANCELLED by 1000" };

	put_int(l, e->number);
	PUT(l, "|train|u");
	put_int(l, e->job->user);
	PUT(l, "|vc");
	put_int(l, e->job->user % GROUPS);
	PUT(l, "|batch|");
	put_s(l, words[e->status]);
	PUT(l, "|");
	put_time(l, e->submit, 'T');
	PUT(l, "|");
	put_time(l, e->start, 'T');
	PUT(l, "|");
	put_time(l, e->end, 'T');
	PUT(l, "|");
	put_int(l, e->duration);
	PUT(l, "|");
	put_tres(l, e);
	PUT(l, "|");
	put_tres(l, e);
	PUT(l, "\n");
}

/* ---- Helios ---- */

static void put_helios(struct layout *l, const struct entry *e)
{
	static const char *const words[] = { "COMPLETED", "FAILED", "CANCELLED" };

	put_int(l, e->number);
	PUT(l, ",u");
	put_int(l, e->job->user);
	PUT(l, ",vc");
	put_int(l, e->job->user % GROUPS);
	PUT(l, ",");
	put_int(l, e->gpus);
	PUT(l, ",");
	put_int(l, 8 * e->gpus);
	PUT(l, ",");
	put_int(l, e->nodes);
	PUT(l, ",");
	put_s(l, words[e->status]);
	PUT(l, ",");
	put_time(l, e->submit, ' ');
	PUT(l, ",");
	put_time(l, e->start, ' ');
	PUT(l, ",");
	put_time(l, e->end, ' ');
	PUT(l, ",");
	put_int(l, e->duration);
	PUT(l, ",");
	put_int(l, e->start - e->submit);
	PUT(l, "\n");
}

/* ---- SWF ---- */

static void put_swf(struct layout *l, const struct entry *e)
{
	static const int64_t codes[] = { 1, 0, 5 };
	const int64_t fields[18] = {
		e->number, e->submit, e->start - e->submit, e->duration, e->gpus, -1, -1, e->gpus, -1, -1,
		codes[e->status], e->job->user, e->job->user % GROUPS, -1, 1, 1, -1, -1
	};

	for (int i = 0; i < 18; i++) {
		if (i)
			PUT(l, " ");
		put_int(l, fields[i]);
	}
	PUT(l, "\n");
}

/* ---- all of them ---- */

static const struct {
	const char *head, *tail;
	void (*put)(struct layout *l, const struct entry *e);
} layouts[] = {
	[FIT_SYNTH_PHILLY] = { "", "]\n", put_philly },
	[FIT_SYNTH_SACCT] = { "JobIDRaw|JobName|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|"
			      "ReqTRES|AllocTRES\n", "", put_sacct },
	[FIT_SYNTH_HELIOS] = { "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,"
			       "end_time,duration,queue\n", "", put_helios },
	[FIT_SYNTH_SWF] = { "; Version: 2.2\n; Computer: generated\n; UnixStartTime: 1577836800\n"
			    "; TimeZoneString: UTC\n; Note: processors are GPUs\n", "", put_swf }
};

static int put_job(void *arg, const struct fit_synth_job *job, struct fit_err *err)
{
	struct layout *l = arg;
	struct entry e = { .job = job, .number = job->index + 1, .gpus = job->gpus };
	double u = gsl_rng_uniform(l->status), v = gsl_rng_uniform(l->attempt);

	e.submit = job->submit_ns / FIT_NS_PER_S;
	e.start = e.submit + (int64_t)gsl_ran_exponential(l->wait, 60);
	e.duration = job->duration_ns / FIT_NS_PER_S;
	e.end = e.start + e.duration;
	e.nodes = (e.gpus + NODE_GPUS - 1) / NODE_GPUS;
	e.status = u < 0.7 ? OK : u < 0.9 ? FAILED : CANCELLED;
	/* one job in ten starts anew after a third of its time */
	if (l->format == FIT_SYNTH_PHILLY && v < 0.1 && e.duration >= 3) {
		e.again = e.duration / 3;
		e.again_at = e.start + e.again + 30;
		e.end += 30;
	}
	if (e.end + EPOCH_S >= LAST_S)
		return fit_fail(err, FIT_EINVAL, "job %lld ends after the year 2199 (expected fewer hours)",
				(long long)e.number);
	layouts[l->format].put(l, &e);
	if (l->failed)
		return fit_fail_nomem(err);
	return fit_outfile_flush(l->out, FLUSH_AT, err);
}

int fit_synth_format_write(enum fit_synth_format format, const struct fit_synth_jobs_params *p,
			   struct fit_outfile *out, struct fit_err *err)
{
	struct layout l = { .text = fit_outfile_text(out), .out = out, .format = format, .day_number = -1 };
	int rc = fit_synth_jobs_params_check(p, err);

	if (rc)
		return rc;
	l.machines = p->max_gpus / NODE_GPUS + 1 > MIN_MACHINES ? p->max_gpus / NODE_GPUS + 1 : MIN_MACHINES;
	l.wait = fit_rng_new(p->seed, "synth/waits");
	l.status = fit_rng_new(p->seed, "synth/status");
	l.attempt = fit_rng_new(p->seed, "synth/attempts");
	if (!l.wait || !l.status || !l.attempt)
		rc = fit_fail_nomem(err);
	put_s(&l, layouts[format].head);
	if (!rc && format == FIT_SYNTH_PHILLY && p->n_jobs == 0)
		PUT(&l, "[");
	if (!rc)
		rc = fit_synth_jobs_each(p, put_job, &l, err);
	put_s(&l, layouts[format].tail);
	if (!rc && l.failed)
		rc = fit_fail_nomem(err);
	gsl_rng_free(l.wait);
	gsl_rng_free(l.status);
	gsl_rng_free(l.attempt);
	return rc;
}
