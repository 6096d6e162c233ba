/* SPDX-License-Identifier: MIT */
/*
 * gf-goodput: what a throughput model and gradient statistics say of allocations: goodput,
 * throughput, statistical efficiency, the best split of the batch, the speedup against one GPU, and
 * how learning rates grow. Allocations come from a table or from --gpus and --nodes.
 */
#include <math.h>
#include <string.h>

#include "libfit/base/num.h"
#include "tools/goodput_parts.h"

#define R CLI_RESULT
#define AT(field) offsetof(struct goodput_options, field)

static const struct cli_option option_table[] = {
	{ 0, "models", CLI_TEXT, AT(models), "THETA", NULL, "throughput models, from gf-throughput",
	  NULL, 0, 0, CLI_REQUIRED | CLI_INPUT },
	{ 0, "profile", CLI_TEXT, AT(profile), "STORE", NULL,
	  "limits, and gradient statistics at --epoch, of a profile store", NULL, 0, 0, CLI_INPUT },
	{ 0, "epoch", CLI_TEXT, AT(epoch), "LIST", "0", "epochs of the profile, from 0: 0,10-50:20",
	  NULL, 0, 0, R },
	{ 0, "stats-batch", CLI_INT, AT(stats_batch), "B", "the initial one",
	  "batch size at which the profile's statistics are taken", NULL, 1, 1e15, R },
	{ 0, "stats", CLI_TEXT, AT(stats), "FILE", NULL,
	  "gradient statistics, a row each, from gf-pgns", NULL, 0, 0, CLI_INPUT },
	{ 0, "grad-sqr", CLI_REAL, AT(grad_sqr), "X", NULL, "squared norm of the gradient", NULL, 0,
	  1e300, R },
	{ 0, "grad-var", CLI_REAL, AT(grad_var), "X", NULL,
	  "variance of the gradient at the initial batch size", NULL, 0, 1e300, R },
	{ 0, "phi", CLI_REAL, AT(phi), "X", NULL, "noise scale, samples, in place of these two",
	  NULL, 0, 1e300, R },
	{ 0, "init-batch", CLI_INT, AT(init_batch), "B", NULL, "initial total batch size", NULL, 1,
	  1e12, R },
	{ 0, "max-batch", CLI_INT, AT(max_batch), "B", NULL, "largest total batch size", NULL, 1,
	  1e12, R },
	{ 0, "min-local", CLI_INT, AT(min_local), "B", "1", "least samples a GPU and pass", NULL, 1,
	  1e12, R },
	{ 0, "max-local", CLI_INT, AT(max_local), "B", NULL, "most samples a GPU and pass (memory)",
	  NULL, 1, 1e12, R },
	{ 0, "max-accum", CLI_INT, AT(max_accum), "N", "no limit", "most accumulation passes", NULL,
	  0, 1e9, R },
	{ 0, "strict", CLI_FLAG, AT(strict), NULL, NULL,
	  "never above --max-batch, not even by rounding up", NULL, 0, 0, R },
	{ 0, "fixed", CLI_INT, AT(fixed), "B", NULL,
	  "a job that does not adapt: total batch size B, efficiency 1", NULL, 1, 1e12, R },
	{ 0, "gpus", CLI_TEXT, AT(gpus), "LIST", NULL,
	  "numbers of GPUs, in place of FILE: 1-4,8,16-64:16", NULL, 0, 0, R | CLI_INSTEAD },
	{ 0, "nodes", CLI_TEXT, AT(nodes), "LIST", "the fewest",
	  "numbers of nodes, each with each of --gpus", NULL, 0, 0, R },
	{ 0, "gpus-per-node", CLI_INT, AT(per_node), "N", "4", "GPUs that a node has", NULL, 1, 1e6,
	  R },
	{ 0, "at", CLI_FLAG, AT(at), NULL, NULL, "evaluate the splits in FILE, do not optimise",
	  NULL, 0, 0, R },
	{ 0, "lr-rule", CLI_TEXT, AT(lr_rule), "NAME", NULL,
	  "factor on the learning rate: adascale, sqrt, linear, legw, or all", NULL, 0, 0, R },
	{ 0, "app", CLI_LIST, AT(app), "NAME", NULL, "this application only; may be repeated", NULL,
	  0, 0, R },
	{ 0, "csv", CLI_FLAG, AT(csv), NULL, NULL,
	  "FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0, 0, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define MAX_LIST 100000

/* ---- options ---- */

static bool next_number(const char **s, const char *ends, int64_t *v)
{
	size_t n = strcspn(*s, ends);

	if (fit_parse_int64((struct fit_text){ *s, n }, v) || *v < 0 || *v > 1000000)
		return false;
	*s += n;
	return true;
}

/* "1-4,8,16-64:16": numbers and ranges A-B or A-B:STEP. 0, or an exit status. */
static int parse_list(struct cli *cli, const char *option, const char *text, int64_t least,
		      int64_t **list, size_t *n)
{
	size_t cap = 0;

	for (const char *s = text; text; s++) {
		int64_t a = 0, b = 0, step = 1;
		bool good = next_number(&s, "-,", &a) && a >= least;

		b = a;
		if (good && *s == '-') {
			s++;
			good = next_number(&s, ":,", &b) && b >= a;
			if (good && *s == ':') {
				s++;
				good = next_number(&s, ",", &step) && step >= 1;
			}
		}
		if (!good || (*s && *s != ',') || (size_t)((b - a) / step) + *n >= MAX_LIST)
			return cli_usage(
				cli,
				"bad list '%s' for --%s (expected numbers from %lld and ranges, "
				"like 1-4,8,16-64:16)",
				text, option, (long long)least);
		for (int64_t v = a; v <= b; v += step) {
			if (fit_grow(list, &cap, *n + 1, sizeof **list)) {
				struct fit_err err;

				fit_fail_nomem(&err);
				return cli_error(cli, &err);
			}
			(*list)[(*n)++] = v;
		}
		if (!*s)
			break;
	}
	return 0;
}

static int check_usage(struct cli *cli, const struct goodput_options *o, struct goodput_data *d)
{
	bool sqr = o->grad_sqr >= 0, var = o->grad_var >= 0, phi = o->phi >= 0;
	int sources = (sqr || var) + phi + (o->stats != NULL) + (o->fixed > 0);
	int rc;

	if (sqr != var)
		return cli_usage(cli, "--grad-sqr and --grad-var belong together");
	if (sources > 1)
		return cli_usage(cli, "more than one of --grad-sqr, --phi, --stats, --fixed given");
	if (sources == 0 && !o->profile)
		return cli_usage(
			cli, "no gradient statistics (expected --grad-sqr and --grad-var, --phi, "
			     "--stats, --profile, or --fixed)");
	if ((o->epoch || o->stats_batch > 0) && (sources > 0 || !o->profile))
		return cli_usage(
			cli, "--epoch and --stats-batch go with the statistics of --profile only");
	if (o->gpus && (cli->n_operands > 0 || o->at))
		return cli_usage(cli, "--gpus goes with neither FILE nor --at");
	if (o->nodes && !o->gpus)
		return cli_usage(cli, "--nodes goes with --gpus only");
	if (o->fixed > 0 && (o->init_batch > 0 || o->max_batch > 0))
		return cli_usage(cli, "--fixed goes with neither --init-batch nor --max-batch");
	if (o->lr_rule && strcmp(o->lr_rule, "all") != 0 &&
	    !(d->rule = fit_lr_rule_find(o->lr_rule)))
		return cli_usage(
			cli,
			"unknown rule '%s' for --lr-rule (expected adascale, sqrt, linear, legw "
			"or all)",
			o->lr_rule);
	rc = parse_list(cli, "gpus", o->gpus, 1, &d->gpus, &d->n_gpus);
	if (!rc)
		rc = parse_list(cli, "nodes", o->nodes, 1, &d->nodes, &d->n_nodes);
	if (!rc)
		rc = parse_list(cli, "epoch", o->epoch ? o->epoch : "0", 0, &d->epochs,
				&d->n_epochs);
	return rc;
}

static int run(struct cli *cli, void *given)
{
	const struct goodput_options *o = given;
	struct fit_writer *w = NULL;
	struct goodput_data d = { 0 };
	struct fit_err err;
	int status = check_usage(cli, o, &d), rc;

	if (status)
		goto out;
	rc = goodput_make_jobs(o, &d, &err);
	if (rc == FIT_EINVAL) {
		status = cli_usage(cli, "%s", err.msg);
		goto out;
	}
	if (d.not_estimable > 0)
		cli_warn(cli, "%s: %llu %s not estimable left out", o->stats,
			 (unsigned long long)d.not_estimable,
			 fit_plural(d.not_estimable, "row that is", "rows that are"));
	if (!rc)
		rc = cli_writer_open(cli, &w, &err);
	if (!rc)
		rc = o->gpus ? goodput_from_lists(cli, o, &d, w, &err) : goodput_from_file(cli, o, &d, w, &err);
	rc = cli_writer_end(w, rc, &err);
	if (rc)
		status = cli_error(cli, &err);
out:
	goodput_release(&d);
	return status;
}

static const struct cli_verb verbs[] = {
	{ "", "[FILE]", "goodput of allocations", option_table, 0, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	"gf-goodput", "Goodput, efficiency, best batch size and speedup of allocations.",
	"FILE has the columns num_nodes and num_replicas (or placement), app where there are\n"
	"several applications, and with --at atomic_bsz (or local_bsz) and accum_steps.",
	verbs
};

int main(int argc, char **argv)
{
	struct goodput_options o = {
		.grad_sqr = -1, .grad_var = -1, .phi = -1, .max_accum = -1, .per_node = 4
	};

	return cli_main(&tool, argc, argv, &o);
}
