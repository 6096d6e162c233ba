/* SPDX-License-Identifier: MIT */
/*
 * What was measured of jobs that share a GPU: configurations (application, data set, batch size, mixed
 * precision) alone, and pairs of them on one GPU. Tables as gf-prof makes them from Lucid's measurements
 * (docs/formats/lucid-profiles.md); Hu et al., Lucid, ASPLOS'23, section 3.
 *
 * Speeds are relative to running alone, measured on one GPU; jobs on several GPUs are taken to slow down
 * as on one.
 */
#ifndef FIT_MODEL_COLOCATION_H
#define FIT_MODEL_COLOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/hash.h"
#include "libfit/base/linkage.h"
#include "libfit/base/text.h"

FIT_C_BEGIN

struct fit_colo_config {
	const char *app, *dataset;	/* owned by the struct fit_colocation */
	int64_t batch_size, amp;
	int64_t label;			/* sharing score: 0 tiny, 1 medium, 2 jumbo; -1: not given */
	double gpu_util_pct, mem_util_pct, fb_used_mib;		/* alone; NAN: not measured */
};

struct fit_colo_pair {
	uint32_t a, b;			/* configurations */
	double speed_a, speed_b;
	double gpu_util_pct, mem_util_pct, fb_used_mib;		/* of both; NAN: not measured */
};

struct fit_colocation {
	struct fit_colo_config *configs;
	size_t n_configs, cap_configs;
	struct fit_colo_pair *pairs;	/* in the order of the table */
	size_t n_pairs, cap_pairs;
	struct fit_index by_key, by_pair;
	struct fit_str texts;
	char hash_configs[FIT_HASH_HEX], hash_pairs[FIT_HASH_HEX];
};

/*
 * Read both tables. pairs NULL: configurations only. FIT_EDATA: a configuration or a pair twice, a pair of
 * an unknown configuration, a speed that is not above 0, a label that is not 0, 1 or 2.
 */
int fit_colocation_load(struct fit_colocation *c, const char *configs, const char *pairs,
			struct fit_err *err) FIT_MUST_CHECK;
void fit_colocation_release(struct fit_colocation *c);

/* The configuration, or FIT_NO_INDEX. */
uint32_t fit_colocation_find(const struct fit_colocation *c, struct fit_text app, struct fit_text dataset,
			     int64_t batch_size, int64_t amp);

/* Speeds of a and b beside each other. false: the pair was not measured; both are then 1. */
bool fit_colocation_speeds(const struct fit_colocation *c, uint32_t a, uint32_t b, double *speed_a,
			   double *speed_b);

FIT_C_END

#endif
