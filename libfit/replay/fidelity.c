/* SPDX-License-Identifier: MIT */
#include "libfit/replay/fidelity.h"

#include <stddef.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/replay/placement.h"

/* In Lucid's simulator. */
static const char *const lucid_unmeasured[] = { "NeuMF", "ResNet50", "BERT", "Transformer", NULL };

/* In Rubick's simulator. */
static const char *const llama7[] = { "88", "4444", "22222222", "88888888", "8888", "44444444", "8", "4",
				      "2", "1", NULL };
static const char *const llama30[] = { "888888", "88888", "8888", "444444", NULL };
static const struct fit_rubick_spreads rubick_spreads[] = {
	{ "llama7", llama7 }, { "llama30", llama30 }, { NULL, NULL }
};
/* In Gavel's. */
static const char *const gavel_types[] = { "v100", "p100", "k80", NULL };

/* In Sia's: GPU types from the fastest on. */
static const char *const sia_types[] = { "dgx-ext", "azure", "quad", "rtx", "aws", NULL };

/* In Sia's, too: what a change costs, what the policy thinks, and how much slower jobs are than measured. */
static const struct fit_fidelity_app sia_apps[] = {
	{ "bert", 120 * FIT_NS_PER_S, 120 * FIT_NS_PER_S, 1.2 },
	{ "cifar10", 50 * FIT_NS_PER_S, 30 * FIT_NS_PER_S, 1.8 },
	{ "deepspeech2", 25 * FIT_NS_PER_S, 25 * FIT_NS_PER_S, 1.2 },
	{ "imagenet", 250 * FIT_NS_PER_S, 250 * FIT_NS_PER_S, 1.2 },
	{ "ncf", 15 * FIT_NS_PER_S, 30 * FIT_NS_PER_S, 1.5 },
	{ "yolov3", 80 * FIT_NS_PER_S, 45 * FIT_NS_PER_S, 1.2 },
	{ NULL, 30 * FIT_NS_PER_S, 30 * FIT_NS_PER_S, 1.2 },
};

const struct fit_fidelity_app *fit_fidelity_app(const struct fit_fidelity *f, const char *app)
{
	const struct fit_fidelity_app *a = f->apps;

	while (a && a->app && strcmp(a->app, app) != 0)
		a++;
	return a;
}

const struct fit_fidelity fit_fidelities[] = {
	{ .name = "none", .source = "goodfit's own conventions" },
	{
		.name = "pollux-osdi21",
		.source = "simulator of Qiao et al., Pollux, OSDI'21 (branch osdi21-artifact)",
		.interval_ns = 60 * FIT_NS_PER_S,
		.needs_interval = true,
		.release_at_interval_end = true,
		.file_order = true,
		.tiresias_threshold_gpu_s = 57600,
		.tiresias_order = FIT_QUEUE_ENTERED,
		.epoch_quantum_ns = FIT_NS_PER_S,
		.optimus_whole_epochs = true,
		.optimus_single_gpu_accumulates = true,
		.optimus_node_gpus = 4,
		.pollux_search_defects = true,
		.pollux_fair_share_on_one_node = true,
	},
	{
		.name = "lucid-asplos23",
		.source = "simulator of Hu et al., Lucid, ASPLOS'23",
		.file_order = true,
		.placement = FIT_PLACE_CONSOLIDATE,
		.random_is_first_fit = true,
		.notice_ns = FIT_NS_PER_S,
		.preempt_work_ns = 40 * FIT_NS_PER_S,
		.preempt_wide_work_ns = 60 * FIT_NS_PER_S,
		.preempt_wide_gpus = 8,
		.decides_at_zero = true,
		.greedy_list_order = true,
		.count_ns = FIT_NS_PER_S,
		.survivor_keeps_speed = true,
		.profiling_overlaps = true,
		.profiler_places_alike = true,
		.echoed_lending = true,
		.packs_again_later = true,
		.packs_distributed = true,
		.unmeasured = lucid_unmeasured,
		.qssf_burst_by_size = true,
		.tiresias_interval_ns = 60 * FIT_NS_PER_S,
		.tiresias_threshold_gpu_s = 18000,
		.tiresias_order = FIT_QUEUE_SUBMITTED,
		.tiresias_over = true,
	},
	{
		.name = "rubick-mlsys25",
		.source = "simulator of Zhang et al., Rubick, MLSys'25",
		.interval_ns = 60 * FIT_NS_PER_S,
		.needs_interval = true,
		.release_at_interval_end = true,
		.file_order = true,
		.placement = FIT_PLACE_CONSOLIDATE,
		.restart_ns = 260 * FIT_NS_PER_S,
		.free_shifts = true,
		.ghosts = true,
		.extra_iterations = 1,
		.keeps_partial_seconds = true,
		.any_plan_time = true,
		.rubick_as_run = true,
		.rubick_spreads = rubick_spreads,
	},
	{
		.name = "tiresias-nsdi19",
		.source = "simulator of Gu et al., Tiresias, NSDI'19",
		.file_order = true,
		.one_list = true,
		.ends_in_order = true,
		.sjf_is_smallest = true,
		.gittins_artifact = true,
		.tiresias_one_level = true,
		.tiresias_late_wake = true,
		.tiresias_whole_seconds = true,
	},
	{
		.name = "sia-sosp23",
		.source = "simulator of Jayaram Subramanya et al., Sia, SOSP'23",
		.interval_ns = 60 * FIT_NS_PER_S,
		.needs_interval = true,
		.release_at_interval_end = true,
		.file_order = true,
		.epoch_quantum_ns = FIT_NS_PER_S,
		.apps = sia_apps,
		.shape_is_all = true,
		.fit_tol = 1e-5,
		.sia_slowest_step = true,
		.sia_batch_as_asked = true,
		.batch_as_measured = true,
		.pollux_fair_share_on_one_node = true,
		.pollux_type_order = sia_types,
		.gavel_lifetime = true,
		.gavel_evens = true,
	},
	{
		.name = "gavel-osdi20",
		.source = "simulator of Narayanan et al., Gavel, OSDI'20",
		.file_order = true,
		.steps_round_ns = 360 * FIT_NS_PER_S,
		.steps_anywhere = true,
		.gavel_type_order = gavel_types,
		.gavel_shuffles_types = true,
		.gavel_shuffle_seed = 5,
		.gavel_reallocate_ns = 1920 * FIT_NS_PER_S,
		.gavel_holds_room = true,
	},
	{ .name = NULL }
};

const struct fit_fidelity *fit_fidelity_named(const char *name)
{
	for (size_t i = 0; fit_fidelities[i].name; i++)
		if (strcmp(fit_fidelities[i].name, name) == 0)
			return &fit_fidelities[i];
	return NULL;
}
