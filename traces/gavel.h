/* SPDX-License-Identifier: MIT */
/* What the files of the Gavel simulator have in common. */
#ifndef TRACES_GAVEL_H
#define TRACES_GAVEL_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/text.h"

/* "ResNet-50 (batch size 64)": the model, and the number. false: another text. */
bool fit_gavel_split_type(struct fit_text type, struct fit_text *model, int64_t *batch);

#endif
