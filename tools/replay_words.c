/* SPDX-License-Identifier: MIT */
#include "tools/replay_words.h"

#include <stddef.h>

#include "libfit/replay/engine.h"

const char *replay_policies[REPLAY_WORDS_MAX], *replay_fidelities[REPLAY_WORDS_MAX],
	*replay_autoscalers[REPLAY_WORDS_MAX];

void replay_words(void)
{
	for (size_t i = 0; i < REPLAY_WORDS_MAX - 1 && fit_policies[i]; i++)
		replay_policies[i] = fit_policies[i]->name;
	for (size_t i = 0; i < REPLAY_WORDS_MAX - 1 && fit_fidelities[i].name; i++)
		replay_fidelities[i] = fit_fidelities[i].name;
	for (size_t i = 0; i < REPLAY_WORDS_MAX - 1 && fit_autoscalers[i]; i++)
		replay_autoscalers[i] = fit_autoscalers[i]->name;
}

const char replay_help[] =
	"Policies:\n"
	"  fifo      first in, first out; the head of the queue blocks\n"
	"  fjf       fit job first: the same, but those that do not fit are passed over\n"
	"  sjf       shortest job first, not preemptive; the head of the queue blocks\n"
	"  qssf      smallest predicted GPU time first, not preemptive; needs predicted_s\n"
	"  srtf      shortest remaining time first, preemptive\n"
	"  shortest  the same as srtf\n"
	"  shortest-gpu  smallest remaining GPU time first, preemptive\n"
	"  smallest  fewest GPUs first, preemptive\n"
	"  tiresias  least attained service in queues, preemptive\n"
	"  tiresias-g  the same with Gittins indices in each queue\n"
	"  gittins   highest Gittins index of attained GPU time first\n"
	"  optimus   marginal gain with an oracle; needs --profile and an interval\n"
	"  pollux    goodput speedups, adaptive batch sizes; needs --profile and an interval\n"
	"  boa       widths of a plan, by class and epoch; needs --speedups and --plan\n"
	"  lucid     smallest predicted GPU time first, packed by score; needs predicted_s\n"
	"  horus     first in, first out, packed by utilisation\n"
	"  rubick    GPUs by what they are worth, by the best plan; needs --plan-times\n"
	"  sia       GPU types and numbers by goodput; needs --profile and an interval\n"
	"  follow    what a table says; needs --allocations\n"
	"  gavel-fifo               in order of arrival, each the fastest GPU type with room\n"
	"  gavel-isolated           an equal share of each type\n"
	"  gavel-fairness           the least share of throughput is as large as can be\n"
	"  gavel-fairness-agnostic  the same, as if all types were alike\n"
	"  gavel-makespan           all are done as early as can be\n"
	"  gavel-finish-time        nobody is later against equal shares than need be\n"
	"  gavel-throughput         the most steps a second; all of gavel need --rates\n"
	"Placements (of policies that place no jobs themselves):\n"
	"  emptiest           from the node with most free GPUs, over and over\n"
	"  consolidate        on as few nodes as can be, or not at all\n"
	"  consolidate-first  consolidate, and where that fails emptiest\n"
	"  first-fit          nodes by their numbers, all that is free on each\n"
	"  random             nodes in an order that --seed draws for each job\n"
	"  yarn               on the first node with room, or on idle nodes\n"
	"Autoscaling:\n"
	"  demand       nodes for all GPUs that jobs in the system ask for\n"
	"  plan         nodes that the policy's plan needs\n"
	"  goodput      by predicted goodput against perfect scaling (Pollux)\n"
	"  throughput   the same of throughput\n"
	"  utilisation  by predicted goodput of what is held, over time\n"
	"  pollux       efficiency near a target, sizes by bisection\n"
	"  rubick       the same, of all sizes\n"
	"  sia          as pollux, for each GPU type apart\n"
	"Fidelity:\n"
	"  none            goodfit's own conventions\n"
	"  pollux-osdi21   the simulator of the Pollux paper (interval 60)\n"
	"  lucid-asplos23  the simulator of the Lucid paper (placement consolidate)\n"
	"  rubick-mlsys25  the simulator of the Rubick paper (interval 60)\n"
	"  tiresias-nsdi19 the simulator of the Tiresias paper\n"
	"  sia-sosp23      the simulator of the Sia paper (interval 60)\n"
	"  gavel-osdi20    the simulator of the Gavel paper (rounds of whole steps)";
