/* SPDX-License-Identifier: MIT */
/*
 * Calibration of the generators: one row per application, from which workloads and application
 * profiles are made (docs/methods/synth.md has the model, data/README.md the origin of the numbers).
 *
 *   app                   name, also a folder name: letters, digits, '_', '-', '.'
 *   share                 part in the mix of a workload, >= 0
 *   alpha_c_s … gamma     the throughput model, libfit/model/throughput.h; alpha, beta > 0, gamma >= 1
 *   init_batch max_batch  total batch size, samples; max_batch is init_batch times a power of two
 *   min_local_bsz max_local_bsz   per GPU, samples
 *   epochs epoch_steps    a job completes this many epochs of this many steps at init_batch
 *   noise_first noise_last        gradient variance over squared norm at init_batch, in the first and
 *                         the last epoch, > 0
 *   sqr_first             squared gradient norm in the first epoch, > 0
 *   metric_first metric_last      validation metric after the first and the last epoch
 */
#ifndef FIT_SYNTH_CALIBRATION_H
#define FIT_SYNTH_CALIBRATION_H

#include <stddef.h>
#include <stdint.h>

#include "libfit/base/linkage.h"
#include "libfit/base/status.h"
#include "libfit/model/throughput.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

#define FIT_SYNTH_NAME_MAX 64

struct fit_synth_app {
	char name[FIT_SYNTH_NAME_MAX];
	double share;
	struct fit_theta theta;
	int64_t init_batch, max_batch, min_local_bsz, max_local_bsz, epochs, epoch_steps;
	double noise_first, noise_last, sqr_first, metric_first, metric_last;
};

struct fit_synth_calibration {
	struct fit_synth_app *apps;
	size_t n, cap;
	char hash[FIT_HASH_HEX];	/* of the table; "" for the built-in one */
};

/* The built-in calibration: six applications. */
int fit_synth_calibration_default(struct fit_synth_calibration *c, struct fit_err *err) FIT_MUST_CHECK;
/* From a table. FIT_EDATA: a value outside of its domain, or an application twice; names line and
 * column. FIT_ENOTFOUND: a column is missing. c is zeroed on failure. */
int fit_synth_calibration_read(struct fit_synth_calibration *c, const char *operand,
			       struct fit_err *err) FIT_MUST_CHECK;
void fit_synth_calibration_release(struct fit_synth_calibration *c);
/* As one table of an open writer, with a `source` in the metadata for the built-in one. */
int fit_synth_calibration_write(const struct fit_synth_calibration *c, struct fit_writer *w,
				struct fit_meta *meta, struct fit_err *err) FIT_MUST_CHECK;
const struct fit_synth_app *fit_synth_find(const struct fit_synth_calibration *c,
					   struct fit_text name);	/* or NULL */

FIT_C_END

#endif
