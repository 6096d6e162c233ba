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
