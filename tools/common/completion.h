/* SPDX-License-Identifier: MIT */
/* Shell completion, from the tables that the command line is read with: gf-x --completion bash|zsh. */
#ifndef TOOLS_COMMON_COMPLETION_H
#define TOOLS_COMMON_COMPLETION_H

#include <stdbool.h>

#include "tools/common/cli.h"

/* Write to standard output what makes the shell complete the tool's verbs, options, the values of
 * enumerations, and files where a file is meant. shared: the options that every tool has. False: no
 * such shell, nothing is written. */
bool cli_completion(const struct cli_tool *tool, const struct cli_option *shared, const char *shell);

#endif
