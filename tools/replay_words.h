/* SPDX-License-Identifier: MIT */
/* The names that gf-replay knows policies, conventions and autoscaling rules by, for its option table. */
#ifndef TOOLS_REPLAY_WORDS_H
#define TOOLS_REPLAY_WORDS_H

#define REPLAY_WORDS_MAX 64

/* NULL-terminated; empty until replay_words(). */
extern const char *replay_policies[REPLAY_WORDS_MAX], *replay_fidelities[REPLAY_WORDS_MAX],
	*replay_autoscalers[REPLAY_WORDS_MAX];

/* What --help says of them. */
extern const char replay_help[];

/* Take the names from the tables of libfit. */
void replay_words(void);

#endif
