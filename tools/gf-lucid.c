/* SPDX-License-Identifier: MIT */
/*
 * gf-lucid: the parts of Lucid (Hu et al., ASPLOS'23) that work before a job is scheduled: the profiler, the
 * tree that says who shares well, what a rule packs, and what is known of a job when it is submitted. Each
 * verb is in a tools/lucid_*.c.
 */
#include "tools/lucid_estimate.h"
#include "tools/lucid_forecast.h"
#include "tools/lucid_jobs.h"
#include "tools/lucid_pack.h"
#include "tools/lucid_profile.h"
#include "tools/lucid_score.h"

/* Options of one verb at a time are filled in. */
union options {
	struct lucid_profile_options profile;
	struct lucid_pack_options pack;
	struct lucid_score_options score;
	struct lucid_feature_options features;
	struct lucid_estimate_options estimate;
	struct lucid_forecast_options forecast;
};

static const struct cli_verb verbs[] = {
	{ "profile", "[JOBS]", "which jobs end on a profiler, and how long they wait for it",
	  lucid_profile_options, 0, 1, .run = lucid_profile, .defaults = lucid_profile_defaults },
	{ "score", "[CONFIGS]", "how well a tree tells who shares well, from what each job uses alone",
	  lucid_score_options, 0, 1, .run = lucid_score },
	{ "pack", "[PAIRS]", "what a packing rule chooses of the measured pairs",
	  lucid_pack_options, 0, 1, .run = lucid_pack, .defaults = lucid_pack_defaults },
	{ "features", "[JOBS]", "what was known of earlier jobs when each was submitted",
	  lucid_features_options, 0, 1, .run = lucid_features, .defaults = lucid_features_defaults },
	{ "estimate", "[JOBS]", "how long each job will take, by what was known when it came",
	  lucid_estimate_options, 0, 1, .run = lucid_estimate, .defaults = lucid_estimate_defaults },
	{ "forecast", "[SERIES]", "how many jobs and GPUs will be submitted, known an hour ahead",
	  lucid_forecast_options, 0, 1, .run = lucid_forecast, .defaults = lucid_forecast_defaults },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	.name = "gf-lucid",
	.summary = "Profile jobs as Lucid does, label them, and judge rules that pack them.",
	.details = "The schedule of Lucid is a policy of gf-replay.",
	.verbs = verbs,
};

int main(int argc, char **argv)
{
	union options o = { .profile = { 0 } };

	return cli_main(&tool, argc, argv, &o);
}
