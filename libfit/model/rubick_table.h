/* SPDX-License-Identifier: MIT */
/*
 * The table of performance models (docs/formats/rubick-models.md): what gf-throughput --model rubick
 * writes, and what gf-replay --policy rubick believes.
 */
#ifndef FIT_MODEL_RUBICK_TABLE_H
#define FIT_MODEL_RUBICK_TABLE_H

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/model/rubick.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

#define FIT_RUBICK_FORWARDS_MAX 16

struct fit_rubick_model {
	char *app;
	struct fit_rubick m;
	/* what predictions need of the application; 0: missing */
	double params_mi, forward_ms;	/* the whole batch on one GPU */
	int64_t batch;			/* in all */
	double seq_hid, layers;
	int64_t most[3];		/* samples a GPU: without ZeRO, by ZeRO-Offload, by ZeRO-DP; -1: no limit */
	double reference_per_s;		/* samples a second that speeds are compared with */
	struct fit_rubick_forward {
		int64_t gpus;
		double speedup;		/* of the forward pass */
	} forwards[FIT_RUBICK_FORWARDS_MAX];	/* where it is not the number of GPUs */
	size_t n_forwards;
};

struct fit_rubick_models {
	struct fit_rubick_model *list;
	size_t n, cap;
	char hash[FIT_HASH_HEX];
};

/* FIT_EDATA: a constant or a link that is missing or below 0, an application twice. Release with
 * fit_rubick_models_release(). */
int fit_rubick_models_read(struct fit_rubick_models *t, const char *operand,
			   struct fit_err *err) FIT_MUST_CHECK;
void fit_rubick_models_release(struct fit_rubick_models *t);
const struct fit_rubick_model *fit_rubick_models_find(const struct fit_rubick_models *t,
						      struct fit_text app);	/* or NULL */

/* Milliseconds of the forward pass of one GPU's share of the batch. */
double fit_rubick_forward_ms(const struct fit_rubick_model *m, int64_t gpus);
/* Samples a second by a plan of the data-parallel family on so many GPUs of one node, with one CPU thread; 0
 * where the batch does not divide, or the application's numbers are missing. */
double fit_rubick_samples_per_s(const struct fit_rubick_model *m, const struct fit_rubick_plan *p,
				int64_t gpus);

FIT_C_END

#endif
