/* SPDX-License-Identifier: MIT */
#include "libfit/synth/arrivals.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "libfit/base/rng.h"

struct fit_arrivals_params fit_arrivals_params_default(void)
{
	return (struct fit_arrivals_params){ .mean_gap_s = 180, .scv = 2.65, .low = 0.25, .burst_s = 1800 };
}

const char *fit_arrivals_params_check(const struct fit_arrivals_params *p)
{
	if (!(p->mean_gap_s > 0 && p->mean_gap_s <= 1e12))
		return "the mean gap is not above 0";
	if (!(p->scv >= 1 && p->scv <= 1e9))
		return "the squared coefficient of variation is not from 1 up";
	if (!(p->low >= 0 && p->low < 1))
		return "the low rate is not a share from 0 to below 1";
	if (!(p->burst_s > 0 && p->burst_s <= 1e12))
		return "the length of a burst is not above 0";
	return NULL;
}

/* The process that is in bursts for a share f of the time. */
static struct fit_mmpp process(const struct fit_arrivals_params *p, double f)
{
	double mean = 1 / p->mean_gap_s, low = p->low * mean, leave = 1 / p->burst_s;

	return (struct fit_mmpp){ { (mean - (1 - f) * low) / f, low }, { leave, f * leave / (1 - f) } };
}

int fit_mmpp_fit(const struct fit_arrivals_params *p, struct fit_mmpp *m, struct fit_err *err)
{
	const char *wrong = fit_arrivals_params_check(p);
	double lo = 0, hi = 1;

	if (wrong)
		return fit_fail(err, FIT_EINVAL, "%s", wrong);
	if (p->scv <= 1) {
		*m = (struct fit_mmpp){ { 1 / p->mean_gap_s, 0 }, { 0, 0 } };
		return FIT_OK;
	}
	if (p->low > 0 && p->scv >= 1 + 2 * (1 - p->low) / p->low)
		return fit_fail(err, FIT_EINVAL, "no squared coefficient of variation of %g with a low rate of %g of the "
				"mean (expected below %g, or a smaller low rate)", p->scv, p->low,
				1 + 2 * (1 - p->low) / p->low);
	for (int i = 0; i < 2000 && hi - lo > 1e-15 * hi; i++) {
		double f = (lo + hi) / 2;

		*m = process(p, f);
		if (fit_mmpp_scv(m) > p->scv)
			lo = f;
		else
			hi = f;
	}
	*m = process(p, hi);
	return FIT_OK;
}

double fit_mmpp_mean_gap_s(const struct fit_mmpp *m)
{
	if (!(m->leave[0] > 0))
		return 1 / m->rate[0];
	return (m->leave[0] + m->leave[1]) / (m->rate[0] * m->leave[1] + m->rate[1] * m->leave[0]);
}

double fit_mmpp_scv(const struct fit_mmpp *m)
{
	double all = m->leave[0] + m->leave[1], apart = m->rate[0] - m->rate[1];

	if (!(m->leave[0] > 0))
		return 1;
	return 1 + 2 * m->leave[0] * m->leave[1] * apart * apart /
		   (all * all * (m->rate[0] * m->rate[1] + m->rate[0] * m->leave[1] + m->rate[1] * m->leave[0]));
}

struct fit_arrivals {
	struct fit_mmpp m;
	gsl_rng *rng;
	int state;
	double now_s, until_s;		/* the state holds until then */
};

static double stay(struct fit_arrivals *a)
{
	return a->m.leave[a->state] > 0 ? gsl_ran_exponential(a->rng, 1 / a->m.leave[a->state]) : (double)INFINITY;
}

int fit_arrivals_new(struct fit_arrivals **out, const struct fit_mmpp *m, uint64_t seed, struct fit_err *err)
{
	struct fit_arrivals *a = calloc(1, sizeof *a);
	double all = m->leave[0] + m->leave[1];

	*out = NULL;
	if (!a)
		return fit_fail_nomem(err);
	a->m = *m;
	a->rng = fit_rng_new(seed, "synth/arrivals");
	if (!a->rng) {
		free(a);
		return fit_fail_nomem(err);
	}
	a->state = all > 0 && gsl_rng_uniform(a->rng) * all >= m->leave[1];
	a->until_s = stay(a);
	*out = a;
	return FIT_OK;
}

void fit_arrivals_free(struct fit_arrivals *a)
{
	if (a)
		gsl_rng_free(a->rng);
	free(a);
}

double fit_arrivals_next_s(struct fit_arrivals *a)
{
	for (;;) {
		double rate = a->m.rate[a->state];
		double at = rate > 0 ? a->now_s + gsl_ran_exponential(a->rng, 1 / rate) : (double)INFINITY;

		if (at <= a->until_s) {
			a->now_s = at;
			return at;
		}
		/* memoryless: what is left of a gap when the rate changes is drawn anew */
		a->now_s = a->until_s;
		a->state = !a->state;
		a->until_s = a->now_s + stay(a);
	}
}
