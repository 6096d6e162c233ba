/* SPDX-License-Identifier: MIT */
#include "libfit/model/pgns.h"

#include <math.h>

double fit_pgns_batch(const struct fit_pgns_step *s)
{
	return (double)s->replicas * (double)(s->accum_steps + 1) * (double)s->local_bsz;
}

enum fit_pgns_kind fit_pgns_of_step(const struct fit_pgns_step *s, double prev_batch,
				    double *signal, double *noise)
{
	double b = (double)s->local_bsz, batch = fit_pgns_batch(s);

	if (s->has_squares && (!isfinite(s->local_sqr) || !isfinite(s->global_sqr)))
		return FIT_PGNS_NONFINITE;
	if (batch > b) {
		if (!s->has_squares)
			return FIT_PGNS_UNKNOWN;
		/* McCandlish et al., appendix A.1. */
		*signal = (batch * s->global_sqr - b * s->local_sqr) / (batch - b);
		*noise = (s->local_sqr - s->global_sqr) / (1 / b - 1 / batch);
		return FIT_PGNS_REPLICAS;
	}
	if (!s->has_previous)
		return FIT_PGNS_UNKNOWN;
	if (!isfinite(s->prev_dot) || !isfinite(s->prev_diff_sqr))
		return FIT_PGNS_NONFINITE;
	if (!(prev_batch > 0))
		prev_batch = batch;
	*signal = s->prev_dot;
	*noise = s->prev_diff_sqr / (1 / batch + 1 / prev_batch);
	return FIT_PGNS_DIFFERENCED;
}

/* West's update of weighted moments, after fading what there is. */
void fit_pgns_add(struct fit_pgns_mean *m, double signal, double noise, double smooth, double scale)
{
	double keep = smooth > 0 ? pow(smooth, scale) : 1, w = smooth > 0 ? 1 - keep : 1;
	double ds = signal - m->signal, dn = noise - m->noise;

	m->n++;
	m->w = m->w * keep + w;
	m->w2 = m->w2 * keep * keep + w * w;
	if (!(m->w > 0))
		return; /* smooth^scale rounds to 1: the step does not weigh anything */
	m->signal += ds * (w / m->w);
	m->noise += dn * (w / m->w);
	m->ss = m->ss * keep + w * ds * (signal - m->signal);
	m->nn = m->nn * keep + w * dn * (noise - m->noise);
	m->sn = m->sn * keep + w * ds * (noise - m->noise);
}

struct fit_pgns_estimate fit_pgns_estimate(const struct fit_pgns_mean *m, double init_batch)
{
	struct fit_pgns_estimate e = { .se_phi = (double)NAN };
	double free_w = m->w > 0 ? m->w - m->w2 / m->w : 0, spread;

	e.grad_sqr = m->signal;
	e.grad_var = m->noise / init_batch;
	e.estimable = m->n > 0 && m->signal > 0 && m->noise > 0;
	if (!e.estimable)
		return e;
	e.phi = m->noise / m->signal;
	/* Ratio of two means, first order: var(phi) = var(mean of noise - phi signal) / signal^2. */
	spread = m->nn - 2 * e.phi * m->sn + e.phi * e.phi * m->ss;
	if (m->n > 1 && free_w > 0 && spread >= 0)
		e.se_phi = sqrt(spread / free_w * m->w2) / m->w / m->signal;
	return e;
}

double fit_pgns_efficiency(double phi, double init_batch, double batch)
{
	return isinf(phi) ? 1 : (phi + init_batch) / (phi + batch);
}

double fit_pgns_gain(double phi, double init_batch, double batch)
{
	return batch / init_batch * fit_pgns_efficiency(phi, init_batch, batch);
}
