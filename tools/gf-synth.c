/* SPDX-License-Identifier: MIT */
/*
 * gf-synth: generated inputs. A workload of applications that have profiles, the profiles themselves
 * in the file layout of the Pollux simulator, jobs of fixed duration, bursty arrivals, misjudged speedups,
 * and the calibration table behind the first two. All of it is decided by the options and the seed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "libfit/base/num.h"
#include "libfit/base/outfile.h"
#include "libfit/synth/calibration.h"
#include "libfit/synth/formats.h"
#include "libfit/synth/synth_arrivals.h"
#include "libfit/synth/synth_jobs.h"
#include "libfit/synth/synth_profile.h"
#include "tools/common/cli.h"

struct options {
	int64_t jobs, max_gpus, users, median_ns, longest_ns, gap_ns, burst_ns;
	double hours, sigma, noise, scv, low, size;
	int arrivals, format;
	bool force;
	const char *profiles, *calibration, *like, *classes;
};

static const char *const arrivals_names[] = { "poisson", "diurnal", NULL };
/* enum fit_synth_format, and the table */
enum { TABLE = FIT_SYNTH_SWF + 1 };
static const char *const format_names[] = { "philly", "sacct", "helios", "swf", "table", NULL };

#define OPT(member) offsetof(struct options, member)
#define NO_MORE { 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
#define CALIBRATION { 'c', "calibration", CLI_TEXT, OPT(calibration), "TABLE", "built in", \
	"calibration of the applications", NULL, 0, 0, CLI_INPUT }
#define JOBS(n) { 'n', "jobs", CLI_INT, OPT(jobs), "N", n, "number of jobs", NULL, 0, 1e8, CLI_RESULT }
#define HOURS(h, help) { 0, "hours", CLI_REAL, OPT(hours), "H", h, help, NULL, 1e-6, 1e5, CLI_RESULT }
#define ARRIVALS(a) { 0, "arrivals", CLI_CHOICE, OPT(arrivals), "KIND", a, "process of submissions", \
	arrivals_names, 0, 0, CLI_RESULT }

static const struct cli_option workload_options[] = {
	JOBS("160"), HOURS("8", "all jobs are submitted within H hours"), ARRIVALS("diurnal"),
	{ 0, "max-gpus", CLI_INT, OPT(max_gpus), "N", "64", "no job asks for more GPUs", NULL, 1, 1e6,
	  CLI_RESULT },
	{ 'p', "profile", CLI_TEXT, OPT(profiles), "STORE", NULL,
	  "choose GPUs and batch sizes by these profiles, not by the model", NULL, 0, 0, CLI_INPUT },
	CALIBRATION, NO_MORE
};
static const struct cli_option jobs_options[] = {
	JOBS("1000"), HOURS("24", "mean time over which they are submitted"), ARRIVALS("poisson"),
	{ 0, "median", CLI_TIME, OPT(median_ns), "S", "600", "median duration", NULL, 1e-3, 1e9,
	  CLI_RESULT },
	{ 0, "sigma", CLI_REAL, OPT(sigma), "X", "1.8", "spread: standard deviation of the log duration",
	  NULL, 0, 20, CLI_RESULT },
	{ 0, "max-duration", CLI_TIME, OPT(longest_ns), "S", "2592000", "longer jobs are cut to S",
	  NULL, 1, 1e9, CLI_RESULT },
	{ 0, "max-gpus", CLI_INT, OPT(max_gpus), "N", "8", "sizes are powers of two up to N", NULL, 1,
	  1e6, CLI_RESULT },
	{ 0, "users", CLI_INT, OPT(users), "N", "20", "number of users; user k submits as 1/k", NULL, 1,
	  1e5, CLI_RESULT },
	{ 0, "format", CLI_CHOICE, OPT(format), "NAME", "table",
	  "layout: a jobs table, or that of a production trace", format_names, 0, 0, 0 },
	NO_MORE
};
static const struct cli_option profiles_options[] = {
	CALIBRATION,
	{ 0, "noise", CLI_REAL, OPT(noise), "X", "0.02", "relative scatter of the step times", NULL, 0,
	  0.5, 0 },
	{ 0, "force", CLI_FLAG, OPT(force), NULL, NULL, "write into folders that are there already", NULL,
	  0, 0, 0 },
	NO_MORE
};
static const struct cli_option arrivals_options[] = {
	{ 0, "like", CLI_TEXT, OPT(like), "JOBS", NULL, "take the jobs of this table, in another order", NULL, 0, 0,
	  CLI_INPUT },
	{ 0, "classes", CLI_TEXT, OPT(classes), "FILE", NULL,
	  "draw jobs of these classes by their arrival rates", NULL, 0, 0, CLI_INPUT },
	{ 'n', "jobs", CLI_INT, OPT(jobs), "N", "960", "number of jobs, with --classes", NULL, 0, 1e8, CLI_RESULT },
	{ 0, "scv", CLI_REAL, OPT(scv), "X", "2.65",
	  "squared coefficient of variation of the gaps between jobs", NULL, 1, 1e9, CLI_RESULT },
	{ 0, "mean-gap", CLI_TIME, OPT(gap_ns), "SECONDS", "as the jobs or classes have it",
	  "mean gap between jobs", NULL, 1e-6, 1e9, CLI_RESULT },
	{ 0, "low", CLI_REAL, OPT(low), "SHARE", "0.25", "rate between bursts, of the mean rate", NULL, 0, 0.999999,
	  CLI_RESULT },
	{ 0, "burst", CLI_TIME, OPT(burst_ns), "SECONDS", "1800", "mean length of a burst", NULL, 1e-6, 1e9,
	  CLI_RESULT },
	NO_MORE
};
static const struct cli_option misjudge_options[] = {
	{ 0, "size", CLI_REAL, OPT(size), "SIGMA", "0.1",
	  "size of the error: deviation of the log speed", NULL, 0, 10, CLI_RESULT },
	NO_MORE
};
static const struct cli_option apps_options[] = { NO_MORE };

static int read_calibration(struct fit_synth_calibration *c, const struct options *o,
			    struct fit_err *err)
{
	return o->calibration ? fit_synth_calibration_read(c, o->calibration, err) :
	       fit_synth_calibration_default(c, err);
}

/* ---- verbs ---- */

static int do_workload(struct cli *cli, const struct options *o, struct fit_err *err)
{
	struct fit_synth_workload_params p;
	struct fit_synth_calibration c = { 0 };
	struct fit_profile *profile = NULL;
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	char hash[FIT_HASH_HEX] = "";
	int rc = read_calibration(&c, o, err);

	fit_synth_workload_params_default(&p);
	p.n_jobs = o->jobs >= 0 ? o->jobs : p.n_jobs;
	p.hours = o->hours > 0 ? o->hours : p.hours;
	p.max_gpus = o->max_gpus > 0 ? o->max_gpus : p.max_gpus;
	p.arrivals = o->arrivals >= 0 ? (enum fit_synth_arrivals)o->arrivals : p.arrivals;
	p.seed = cli->seed;
	if (!rc && o->profiles)
		rc = fit_profile_load(&profile, o->profiles, hash, err);
	if (!rc && (cli_meta(cli, &meta, true) ||
		    (c.hash[0] && cli_meta_input(&meta, "calibration", c.hash)) ||
		    (profile && cli_meta_input(&meta, "profile", hash))))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = cli_writer_open(cli, &w, err);
	if (!rc)
		rc = cli_writer_close(w, fit_synth_workload(&c, profile, &p, w, &meta, err), err);
	fit_meta_release(&meta);
	fit_profile_free(profile);
	fit_synth_calibration_release(&c);
	return rc;
}

static int write_layout(const struct cli *cli, const struct options *o,
			const struct fit_synth_jobs_params *p, struct fit_err *err)
{
	struct fit_outfile *out = NULL;
	int rc = fit_outfile_open(&out, cli->out, err);

	if (!rc)
		rc = fit_synth_format_write((enum fit_synth_format)o->format, p, out, err);
	if (!rc)
		return fit_outfile_close(out, err);
	fit_outfile_abort(out);
	return rc;
}

static int do_jobs(struct cli *cli, const struct options *o, struct fit_err *err)
{
	struct fit_synth_jobs_params p;
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	int rc = FIT_OK;

	fit_synth_jobs_params_default(&p);
	p.n_jobs = o->jobs >= 0 ? o->jobs : p.n_jobs;
	p.hours = o->hours > 0 ? o->hours : p.hours;
	p.max_gpus = o->max_gpus > 0 ? o->max_gpus : p.max_gpus;
	p.arrivals = o->arrivals >= 0 ? (enum fit_synth_arrivals)o->arrivals : p.arrivals;
	p.median_s = o->median_ns > 0 ? fit_time_to_double(o->median_ns) : p.median_s;
	p.max_duration_s = o->longest_ns > 0 ? fit_time_to_double(o->longest_ns) : p.max_duration_s;
	p.sigma = o->sigma >= 0 ? o->sigma : p.sigma;
	p.users = o->users > 0 ? o->users : p.users;
	p.seed = cli->seed;
	if (o->format != TABLE)
		return write_layout(cli, o, &p, err);
	if (cli_meta(cli, &meta, true))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = cli_writer_open(cli, &w, err);
	if (!rc)
		rc = cli_writer_close(w, fit_synth_jobs(&p, w, &meta, err), err);
	fit_meta_release(&meta);
	return rc;
}

static int make_folder(const char *path, bool may_exist, struct fit_err *err)
{
	if (mkdir(path, 0777) == 0 || (errno == EEXIST && may_exist))
		return FIT_OK;
	if (errno == EEXIST)
		return fit_fail(err, FIT_EIO, "%s: already there (expected a new folder, or --force)", path);
	return fit_fail_errno(err, "%s: cannot make the folder", path);
}

static int write_part(const char *folder, const char *name, const struct fit_str *text,
		      struct fit_err *err)
{
	struct fit_str path = { 0 };
	int rc = fit_str_printf(&path, "%s/%s", folder, name) ? fit_fail_nomem(err) :
		 fit_outfile_write(path.s, (struct fit_text){ text->s, text->n }, err);

	fit_str_release(&path);
	return rc;
}

/* All files of one application. */
static int write_app(const struct fit_synth_app *a, const char *folder, uint64_t seed,
		     const struct fit_synth_noise *z, struct fit_err *err)
{
	struct fit_str text = { 0 };
	int64_t batch;
	int rc = fit_synth_placements(a, seed, z, &text, err);

	if (!rc)
		rc = write_part(folder, "placements.csv", &text, err);
	fit_str_clear(&text);
	if (!rc)
		rc = fit_synth_scalability(a, seed, z, &text, err);
	if (!rc)
		rc = write_part(folder, "scalability.csv", &text, err);
	for (int k = 0; !rc && (batch = fit_synth_batch(a, k)) > 0; k++) {
		char name[64];

		fit_str_clear(&text);
		snprintf(name, sizeof name, "validation-%lld.csv", (long long)batch);
		rc = fit_synth_validation(a, batch, seed, z, &text, err);
		if (!rc)
			rc = write_part(folder, name, &text, err);
	}
	fit_str_release(&text);
	return rc;
}

static int do_profiles(struct cli *cli, const struct options *o, struct fit_err *err)
{
	struct fit_synth_noise noise = FIT_SYNTH_NOISE_DEFAULT;
	struct fit_synth_calibration c = { 0 };
	struct fit_str folder = { 0 };
	int rc = read_calibration(&c, o, err);

	if (o->noise >= 0)
		noise = (struct fit_synth_noise){ o->noise, 2.5 * o->noise };
	if (!rc)
		rc = make_folder(cli->operands[0], true, err);
	for (size_t i = 0; !rc && i < c.n; i++) {
		fit_str_clear(&folder);
		if (fit_str_printf(&folder, "%s/%s", cli->operands[0], c.apps[i].name))
			rc = fit_fail_nomem(err);
		if (!rc)
			rc = make_folder(folder.s, o->force, err);
		if (!rc)
			rc = write_app(&c.apps[i], folder.s, cli->seed, &noise, err);
		if (!rc)
			cli_note(cli, "%s", folder.s);
	}
	fit_str_release(&folder);
	fit_synth_calibration_release(&c);
	return rc;
}

static int do_arrivals(struct cli *cli, const struct options *o, struct fit_err *err)
{
	struct fit_arrivals_params p = fit_arrivals_params_default();
	struct fit_boa_classes classes = { 0 };
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	char hash[FIT_HASH_HEX];
	int rc = FIT_OK;

	p.mean_gap_s = o->gap_ns > 0 ? fit_time_to_double(o->gap_ns) : 0;
	p.burst_s = o->burst_ns > 0 ? fit_time_to_double(o->burst_ns) : p.burst_s;
	p.scv = o->scv >= 0 ? o->scv : p.scv;
	p.low = o->low >= 0 ? o->low : p.low;
	if (o->classes)
		rc = fit_boa_classes_read(&classes, o->classes, err);
	if (!rc && (cli_meta(cli, &meta, true) || (o->classes && cli_meta_input(&meta, "classes", classes.hash))))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = cli_writer_open(cli, &w, err);
	if (!rc && o->classes)
		rc = cli_writer_close(w, fit_synth_arrivals_of(&classes, o->jobs >= 0 ? o->jobs : 960, &p, cli->seed, w,
							&meta, err),
			    err);
	else if (!rc)
		rc = cli_writer_close(w, fit_synth_arrivals_like(o->like, &p, cli->seed, w, &meta, hash, err), err);
	fit_meta_release(&meta);
	fit_boa_classes_release(&classes);
	return rc;
}

static int do_misjudge(struct cli *cli, const struct options *o, struct fit_err *err)
{
	struct fit_speedups s = { 0 };
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	int rc = fit_speedups_read(&s, cli_operand(cli, 0), false, err);

	if (!rc && (cli_meta(cli, &meta, true) || cli_meta_input(&meta, NULL, s.hash)))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = cli_writer_open(cli, &w, err);
	if (!rc)
		rc = cli_writer_close(w, fit_synth_misjudge(&s, o->size >= 0 ? o->size : 0.1, cli->seed, w, &meta, err),
				      err);
	fit_meta_release(&meta);
	fit_speedups_release(&s);
	return rc;
}

static int do_apps(struct cli *cli, struct fit_err *err)
{
	struct fit_synth_calibration c = { 0 };
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	int rc = fit_synth_calibration_default(&c, err);

	if (!rc && cli_meta(cli, &meta, false))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = cli_writer_open(cli, &w, err);
	if (!rc)
		rc = cli_writer_close(w, fit_synth_calibration_write(&c, w, &meta, err), err);
	fit_meta_release(&meta);
	fit_synth_calibration_release(&c);
	return rc;
}

static int run(struct cli *cli, void *given)
{
	const struct options *o = given;
	struct fit_err err = { 0 };
	int rc;

	if (o->format != TABLE && cli->out && fit_is_store(cli->out))
		return cli_usage(cli, "a trace cannot go into a store '%s'", cli->out);
	if (strcmp(cli->verb->name, "profiles") == 0) {
		if (cli->out)
			return cli_usage(cli, "profiles are written into a folder, not to '%s'", cli->out);
		rc = do_profiles(cli, o, &err);
	} else if (strcmp(cli->verb->name, "workload") == 0) {
		rc = do_workload(cli, o, &err);
	} else if (strcmp(cli->verb->name, "jobs") == 0) {
		rc = do_jobs(cli, o, &err);
	} else if (strcmp(cli->verb->name, "arrivals") == 0) {
		if (!o->like == !o->classes)
			return cli_usage(cli, "%s --classes (expected one of them)",
				 o->like ? "both --like and" : "neither --like nor");
		if (o->like && o->jobs >= 0)
			return cli_usage(cli, "--jobs with --like (the number of jobs is that of the table)");
		rc = do_arrivals(cli, o, &err);
		if (rc == FIT_EINVAL)
			return cli_usage(cli, "%s", err.msg);
	} else if (strcmp(cli->verb->name, "misjudge") == 0) {
		rc = do_misjudge(cli, o, &err);
	} else {
		rc = do_apps(cli, &err);
	}
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}

static const struct cli_verb verbs[] = {
	{ "workload", "", "a jobs table of applications that have profiles", workload_options, 0, 0, .run = run },
	{ "jobs", "", "a jobs table of fixed durations, any length", jobs_options, 0, 0, .run = run },
	{ "profiles", "DIR", "a folder of profile files for each application", profiles_options, 1, 1, .run = run },
	{ "arrivals", "", "jobs in bursts, by a Poisson process of two rates", arrivals_options, 0, 0, .run = run },
	{ "misjudge", "[SPEEDUPS]", "speedups as somebody believes them who is wrong", misjudge_options, 0, 1,
	  .run = run },
	{ "apps", "", "the built-in calibration", apps_options, 0, 0, .run = run },
	{ .name = NULL }
};

int main(int argc, char **argv)
{
	static const struct cli_tool tool = {
		.name = "gf-synth", .verbs = verbs,
		.summary = "Generate workloads, application profiles and jobs from a seed."
	};
	struct options o = { .jobs = -1, .scv = -1, .low = -1, .size = -1, .sigma = -1, .noise = -1,
			     .arrivals = -1, .format = TABLE };

	return cli_main(&tool, argc, argv, &o);
}
