/* SPDX-License-Identifier: MIT */
/* gf-ga2m train: a table becomes a model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/ga2m_train.h"
#include "tools/ga2m_data.h"

static const char *const losses[] = { "squared", "poisson", "gamma", "absolute", "quantile", "logistic",
				      "softmax", NULL };
#define R CLI_RESULT
#define AT(field) offsetof(struct ga2m_train_options, field)

const struct cli_option ga2m_train_options[] = {
	{ 't', "target", CLI_TEXT, AT(target), "COLUMN", NULL, "what the model predicts", NULL, 0, 0,
	  R | CLI_REQUIRED },
	{ 0, "loss", CLI_CHOICE, AT(loss), "NAME", "squared",
	  "what is made small; the last two are of classes", losses,
			0, 0, R },
	{ 0, "quantile", CLI_REAL, AT(quantile), "Q", "0.5", "with --loss quantile: which one", NULL, 1e-6,
	  1 - 1e-6, R },
	{ 0, "feature", CLI_LIST, AT(feature), "COLUMN", "all others",
	  "use this column, and no others that are not named; may be repeated", NULL, 0, 0, R },
	{ 0, "exclude", CLI_LIST, AT(exclude), "COLUMN", NULL, "do not use this column; may be repeated",
			NULL, 0,
	  0, R },
	{ 0, "nominal", CLI_LIST, AT(nominal), "COLUMN", "text columns of typed tables",
	  "its values are categories; may be repeated", NULL, 0, 0, R },
	{ 0, "weight", CLI_TEXT, AT(weight), "COLUMN", NULL, "weight of a row, 0 or more", NULL, 0, 0, R },
	{ 0, "offset", CLI_TEXT, AT(offset), "COLUMN", NULL, "known part of the score, on the link scale",
			NULL,
	  0, 0, R },
	{ 0, "time", CLI_TEXT, AT(time), "COLUMN", NULL,
	  "orders the rows, is no feature, and makes validation go by blocks", NULL, 0, 0, R },
	{ 0, "group", CLI_TEXT, AT(group), "COLUMN", NULL,
			"with --validation groups: what stays together", NULL,
	  0, 0, R },
	{ 0, "validation", CLI_CHOICE, AT(validation), "HOW", "blocks with --time, else random",
	  "rows that a bag holds back", fit_ga2m_validation_names, 0, 0, R },
	{ 0, "share", CLI_REAL, AT(share), "X", "0.15", "how many; 0: none, and --max-rounds are run",
			NULL, 0, 0.9,
	  R },
	{ 0, "bags", CLI_INT, AT(bags), "N", "14", "models that are averaged", NULL, 1, 1000, R },
	{ 0, "pairs", CLI_INT, AT(pairs), "N", "10", "pairs of features that are looked for", NULL, 0,
			100000, R },
	{ 0, "pair", CLI_LIST, AT(pair), "A,B", NULL, "this pair, in place of --pairs; may be repeated",
			NULL, 0, 0,
	  R },
	{ 0, "shape", CLI_LIST, AT(shape), "COLUMN=SHAPE", NULL,
	  "increasing, decreasing, convex or concave; may be repeated", NULL, 0, 0, R },
	{ 0, "max-bins", CLI_INT, AT(max_bins), "N", "by rows and --memory, at most 1022",
			"bins of a main effect",
	  NULL, 2, 65000, R },
	{ 0, "max-pair-bins", CLI_INT, AT(max_pair_bins), "N", "32", "bins of a pair on either side",
			NULL, 2, 250,
	  R },
	{ 0, "rate", CLI_REAL, AT(rate), "X", "0.04", "learning rate of main effects", NULL, -1, 1, R },
	{ 0, "pair-rate", CLI_REAL, AT(pair_rate), "X", "0.1", "learning rate of pairs", NULL, -1, 1, R },
	{ 0, "smoothing-rounds", CLI_INT, AT(smoothing), "N", "500", "rounds of random cuts ahead", NULL,
			0, 1e9, R },
	{ 0, "max-rounds", CLI_INT, AT(max_rounds), "N", "5000", "most rounds of a bag", NULL, 0, 1e9, R },
	{ 0, "greedy", CLI_INT, AT(greedy), "N", "10", "greedy steps for each step of a round", NULL, 0,
			1000, R },
	{ 0, "patience", CLI_INT, AT(patience), "N", "100",
	  "stop when that many cycles' worth of steps did not help", NULL, 1, 1e9, R },
	{ 0, "tolerance", CLI_REAL, AT(tolerance), "X", "1e-5", "relative fall of the loss that helps",
			NULL, -1, 1,
	  R },
	{ 0, "min-leaf", CLI_INT, AT(min_leaf), "N", "4, or 0.8 % of the rows", "rows on either side of a cut",
	  NULL, 0, 1e12, R },
	{ 0, "no-purify", CLI_FLAG, AT(no_purify), NULL, NULL, "leave main effects in the pairs", NULL, 0,
			0, R },
	{ 0, "keep-bags", CLI_FLAG, AT(keep_bags), NULL, NULL, "keep the scores of each bag, for spreads",
			NULL, 0, 0,
	  R },
	{ 0, "engine", CLI_CHOICE, AT(engine), "NAME", "auto", "what a step goes over",
			fit_ga2m_engine_names, 0, 0,
	  R },
	{ 0, "memory", CLI_REAL, AT(memory_mib), "MIB", "20", "joint counts of bins may take, by thread",
			NULL, 0,
	  1e6, R },
	{ 0, "csv", CLI_FLAG, AT(csv), NULL, NULL,
	  "FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0, 0, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

void ga2m_train_defaults(void *given)
{
	struct ga2m_train_options *o = given;
	struct fit_ga2m_params p = fit_ga2m_params_default(FIT_GA2M_SQUARED);

	*o = (struct ga2m_train_options){
		.quantile = p.quantile, .share = p.validation_share, .bags = (int64_t)p.bags, .pairs = 10,
		.max_bins = -1, .max_pair_bins = (int64_t)p.max_pair_bins, .rate = p.learning_rate,
		.pair_rate = p.pair_learning_rate, .smoothing = (int64_t)p.smoothing_rounds,
		.max_rounds = (int64_t)p.max_rounds, .greedy = (int64_t)p.greedy_ratio,
		.patience = (int64_t)p.patience, .tolerance = p.tolerance, .min_leaf = -1,
		.memory_mib = p.memory_mib
	};
}

/* ---- parameters ---- */

static size_t feature_of(const struct ga2m_columns *c, const char *name, size_t n)
{
	for (size_t f = 0; f < c->n; f++)
		if (strlen(c->name[f]) == n && strncmp(c->name[f], name, n) == 0)
			return f;
	return SIZE_MAX;
}

static int get_shapes(const struct ga2m_train_options *o, const struct ga2m_columns *c,
		enum fit_ga2m_shape *shape,
		      struct fit_err *err)
{
	for (size_t i = 0; i < o->shape.n; i++) {
		const char *text = o->shape.items[i], *eq = strrchr(text, '=');
		size_t f = eq ? feature_of(c, text, (size_t)(eq - text)) : SIZE_MAX;
		int k = 0;

		while (fit_ga2m_shape_names[k] && eq && strcmp(fit_ga2m_shape_names[k], eq + 1) != 0)
			k++;
		if (!eq || !fit_ga2m_shape_names[k])
			return fit_fail(err, FIT_EINVAL, "bad '%s' for --shape (expected COLUMN=SHAPE: increasing, "
					"decreasing, convex, concave)", text);
		if (f == SIZE_MAX)
			return fit_fail(err, FIT_ENOTFOUND, "no feature '%.*s' (--shape)", (int)(eq - text), text);
		if (c->nominal[f])
			return fit_fail(err, FIT_EDATA, "a shape for the categories of '%s' (--shape)", c->name[f]);
		if (shape[f] != FIT_GA2M_FREE)
			return fit_fail(err, FIT_EINVAL, "two shapes for '%s' (--shape)", c->name[f]);
		shape[f] = (enum fit_ga2m_shape)k;
	}
	return FIT_OK;
}

static int get_pairs(const struct ga2m_train_options *o, const struct ga2m_columns *c, size_t (*pair)[2],
		     struct fit_err *err)
{
	for (size_t i = 0; i < o->pair.n; i++) {
		const char *text = o->pair.items[i];
		size_t a = SIZE_MAX, b = SIZE_MAX;

		/* a name may hold a comma: the first place that makes two names counts */
		for (const char *comma = strchr(text, ','); comma && b == SIZE_MAX; comma = strchr(comma + 1, ',')) {
			a = feature_of(c, text, (size_t)(comma - text));
			b = a == SIZE_MAX ? SIZE_MAX : feature_of(c, comma + 1, strlen(comma + 1));
		}
		if (!strchr(text, ',') || (b != SIZE_MAX && a == b))
			return fit_fail(err, FIT_EINVAL, "bad '%s' for --pair (expected two features: A,B)", text);
		if (b == SIZE_MAX)
			return fit_fail(err, FIT_ENOTFOUND, "no two features '%s' (--pair)", text);
		pair[i][0] = a < b ? a : b;
		pair[i][1] = a < b ? b : a;
	}
	return FIT_OK;
}

static struct fit_ga2m_params parameters(const struct cli *cli, const struct ga2m_train_options *o)
{
	struct fit_ga2m_params p = fit_ga2m_params_default((enum fit_ga2m_loss)o->loss);

	p.quantile = o->quantile;
	p.bags = (size_t)o->bags;
	p.validation_share = o->share;
	p.validation = (enum fit_ga2m_validation)o->validation;
	p.engine = (enum fit_ga2m_engine)o->engine;
	p.max_bins_given = o->max_bins > 0;
	p.max_bins = o->max_bins > 0 ? (size_t)o->max_bins : p.max_bins;
	p.max_pair_bins = (size_t)o->max_pair_bins;
	p.memory_mib = o->memory_mib;
	p.pairs = (size_t)o->pairs;
	p.learning_rate = o->rate;
	p.pair_learning_rate = o->pair_rate;
	p.smoothing_rounds = (size_t)o->smoothing;
	p.max_rounds = (size_t)o->max_rounds;
	p.greedy_ratio = (size_t)o->greedy;
	p.patience = (size_t)o->patience;
	p.tolerance = o->tolerance;
	if (o->min_leaf >= 0) {
		p.min_leaf = (double)o->min_leaf;
		p.min_leaf_share = 0;
	}
	p.purify = !o->no_purify;
	p.keep_bags = o->keep_bags;
	p.seed = cli->seed;
	p.threads = cli->threads;
	return p;
}

/* ---- the job ---- */

static int name_columns(struct fit_ga2m *m, const struct ga2m_train_options *o)
{
	free(m->target);
	m->target = fit_strdup(fit_text_of(o->target));
	if (o->weight)
		m->weight = fit_strdup(fit_text_of(o->weight));
	if (o->offset)
		m->offset = fit_strdup(fit_text_of(o->offset));
	if (o->time)
		m->time = fit_strdup(fit_text_of(o->time));
	if (o->group && fit_meta_set(&m->meta, FIT_GA2M_TRAINED_GROUP, o->group))
		return FIT_ENOMEM;
	return !m->target || (o->weight && !m->weight) || (o->offset && !m->offset) || (o->time && !m->time) ?
	       FIT_ENOMEM : FIT_OK;
}

static int write_model(const struct cli *cli, const struct fit_ga2m *m, const char *hash,
		struct fit_err *err)
{
	struct fit_writer *w = NULL;
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, true) || cli_meta_input(&meta, NULL, hash) ? fit_fail_nomem(err) :
			FIT_OK;

	if (!rc)
		rc = cli_writer_open(cli, &w, err);
	if (!rc)
		rc = fit_ga2m_write(m, &meta, w, err);
	rc = cli_writer_close(w, rc, err);
	fit_meta_release(&meta);
	return rc;
}

static void say(const struct cli *cli, const struct ga2m_train_options *o,
		const struct fit_ga2m_report *r)
{
	if (r->n_zero_weight)
		cli_warn(cli, "%llu %s of weight 0 left out", (unsigned long long)r->n_zero_weight,
			 fit_plural(r->n_zero_weight, "row", "rows"));
	if (r->capped_bags)
		cli_warn(cli, "%zu of %lld %s ran into --max-rounds before the validation loss stopped falling",
			 r->capped_bags, (long long)o->bags, fit_plural((uint64_t)o->bags, "bag", "bags"));
	cli_note(cli, "at most %zu bins, steps by %s, %.0f steps of main effects and %.0f of pairs in the mean, "
		 "validation loss %g", r->max_bins, r->bins_engine ? "bins" : "rows", r->mean_steps,
		 r->mean_pair_steps, r->validation_loss);
}

/* Options that have no effect beside others. */
static int unused(struct cli *cli, const struct ga2m_train_options *o)
{
	const struct {
		bool none;
		const char *why, *options[4];
	} rules[] = {
		{ o->loss != FIT_GA2M_QUANTILE, "goes with --loss quantile", { "quantile" } },
		{ o->pair.n > 0, "is of pairs that are looked for, and --pair names them", { "pairs" } },
		{ !o->pair.n && !o->pairs, "has no use without pairs", { "pair-rate", "max-pair-bins", "no-purify" } },
		{ o->engine == FIT_GA2M_ENGINE_SAMPLES, "has no use with --engine rows", { "memory" } },
		{ o->share <= 0, "has no use with --share 0", { "patience", "tolerance", "validation" } }
	};

	for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
		for (size_t k = 0; k < 4 && rules[r].none && rules[r].options[k]; k++)
			if (cli_given(cli, rules[r].options[k]))
				return cli_usage(cli, "--%s %s", rules[r].options[k], rules[r].why);
	return 0;
}

static int check_usage(struct cli *cli, const struct ga2m_train_options *o)
{
	const struct {
		const char *option, *column;
	} others[] = { { "weight", o->weight }, { "offset", o->offset }, { "time", o->time },
		       { "group", o->group } };

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i].column && strcmp(others[i].column, o->target) == 0)
			return cli_usage(cli, "'%s' is both --target and --%s", o->target, others[i].option);
	if (cli_listed(&o->feature, o->target))
		return cli_usage(cli, "'%s' is both --target and --feature", o->target);
	if (cli_listed(&o->nominal, o->target))
		return cli_usage(cli, "'%s' is both --target and --nominal (classes: --loss logistic or softmax)",
				 o->target);
	if ((o->group != NULL) != (o->validation == FIT_GA2M_GROUPS))
		return cli_usage(cli, "--group and --validation groups belong together");
	if (cli->no_meta)
		return cli_usage(cli, "--no-meta does not go with train (a model is several tables)");
	return unused(cli, o);
}

int ga2m_train(struct cli *cli, void *given)
{
	const struct ga2m_train_options *o = given;
	struct fit_ga2m_params p = parameters(cli, o);
	struct fit_input *in = NULL;
	struct ga2m_columns c = { 0 };
	struct fit_ga2m_data d = { 0 };
	struct fit_ga2m_report report;
	struct fit_ga2m m = { 0 };
	struct fit_err err;
	char hash[FIT_HASH_HEX];
	enum fit_ga2m_shape *shape = NULL;
	size_t (*pair)[2] = NULL;
	int status = check_usage(cli, o), rc;

	if (status)
		return status;
	rc = fit_input_open(&in, cli_operand(cli, 0), o->csv, &err);
	if (!rc)
		rc = ga2m_find_columns(in, o, &c, &err);
	shape = calloc(c.n + 1, sizeof *shape);
	pair = calloc(o->pair.n + 1, sizeof *pair);
	if (!rc && (!shape || !pair))
		rc = fit_fail_nomem(&err);
	if (!rc)
		rc = get_shapes(o, &c, shape, &err);
	if (!rc)
		rc = get_pairs(o, &c, pair, &err);
	if (rc == FIT_EINVAL) {
		status = cli_usage(cli, "%s", err.msg);
		goto out;
	}
	if (!rc)
		rc = ga2m_read_rows(in, o, &c, &d, &err);
	if (!rc && d.n_classes > 2 && 2 * d.n_classes > d.n_rows)
		cli_warn(cli, "%s: %zu classes in %zu rows (is '%s' a number?)", fit_input_name(in), d.n_classes,
			 d.n_rows, o->target);
	if (!rc) {
		fit_input_hash(in, hash);
		p.shapes = o->shape.n ? shape : NULL;
		p.pair_list = (const size_t(*)[2])pair;
		p.n_pair_list = o->pair.n;
		rc = fit_ga2m_train(&m, &d, &p, &report, &err);
		if (rc)
			fit_fail_prefix(&err, rc, "%s", fit_input_name(in));
	}
	if (!rc && name_columns(&m, o))
		rc = fit_fail_nomem(&err);
	if (!rc) {
		say(cli, o, &report);
		rc = write_model(cli, &m, hash, &err);
	}
	if (rc)
		status = cli_error(cli, &err);
out:
	fit_input_close(in);
	ga2m_columns_release(&c);
	fit_ga2m_data_release(&d);
	fit_ga2m_release(&m);
	free(shape);
	free(pair);
	return status;
}
