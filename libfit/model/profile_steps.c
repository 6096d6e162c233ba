/* SPDX-License-Identifier: MIT */
#include "libfit/model/profile_steps.h"

#include <math.h>

static double span_of(const struct fit_app *a, int64_t epoch)
{
	return fit_app_epoch_start(a, epoch + 1) - fit_app_epoch_start(a, epoch);
}

int fit_app_job_steps(const struct fit_app *a, int64_t batch, double *steps, struct fit_err *err)
{
	double sum = 0, gain;
	int rc = FIT_OK;

	for (int64_t e = 0; e < fit_app_info(a)->epochs && !rc; e++) {
		/* a step of a second: the rate of progress is what a step gains */
		rc = fit_app_rate(a, 1, (struct fit_batch){ batch, 0 }, e, 1, 0, &gain, err);
		sum += rc ? 0 : span_of(a, e) / gain;
	}
	*steps = fmax(1, rint(sum));
	return rc;
}

int fit_app_job_seconds(struct fit_app *a, const struct fit_placement *p, int64_t batch, double *seconds,
			struct fit_err *err)
{
	int64_t gpus = 0;
	struct fit_batch b;
	double rate;
	int rc = FIT_OK;

	for (int i = 0; i < p->n_nodes; i++)
		gpus += p->gpus[i];
	b = fit_app_split_measured(a, batch, gpus);
	*seconds = 0;
	for (int64_t e = 0; e < fit_app_info(a)->epochs && !rc; e++) {
		rc = fit_app_goodput(a, p, b, e, &rate, err);
		*seconds += rc ? 0 : span_of(a, e) / rate;
	}
	return rc;
}
