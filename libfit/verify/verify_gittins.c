/* SPDX-License-Identifier: MIT */
/*
 * Gittins indices (tiresias-g, gittins): derived from the samples by their definition (Gu et al., NSDI'19,
 * section 3; the simulator's form: docs/methods/tiresias.md), the order that follows, and when the policy
 * looks at it by itself. docs/methods/verify.md has the rule.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/table/table.h"
#include "libfit/verify/verify_state.h"

#define QUANTUM_S 3250
#define SAME 1e-7	/* indices that are closer, relative to them, cannot be told apart */

struct verify_gittins {
	double *size, *before;	/* samples, ascending; the sum of those before each */
	size_t n;
	char hash[FIT_HASH_HEX];	/* of the table that was given; "" */
	int64_t decided_ns;
	int64_t unit_ns, left_ns;	/* the simulator's next unit; the last job left then, or -1 */
};

void verify_gittins_release(struct fit_verifier *v)
{
	if (!v->gittins)
		return;
	free(v->gittins->size);
	free(v->gittins->before);
	free(v->gittins);
	v->gittins = NULL;
}

/* ---- samples ---- */

static int ascending(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static int make_room(struct fit_verifier *v, size_t n)
{
	struct verify_gittins *g = v->gittins ? v->gittins : calloc(1, sizeof *g);

	v->gittins = g;
	if (!g)
		return FIT_ENOMEM;
	g->size = calloc(n + 1, sizeof *g->size);
	g->before = calloc(n + 2, sizeof *g->before);
	return g->size && g->before ? FIT_OK : FIT_ENOMEM;
}

static void take_samples(struct verify_gittins *g)
{
	qsort(g->size, g->n, sizeof *g->size, ascending);
	for (size_t i = 0; i < g->n; i++)
		g->before[i + 1] = g->before[i] + g->size[i];
	g->unit_ns = QUANTUM_S * FIT_NS_PER_S;
	g->left_ns = -1;
}

int fit_verifier_gpu_times(struct fit_verifier *v, const char *operand, struct fit_err *err)
{
	static const struct fit_field fields[] = {
		{ "gpu_s", FIT_REAL, FIT_F_OPTIONAL }, { "duration", FIT_REAL, FIT_F_OPTIONAL },
	};
	struct fit_table t = { 0 };
	const double *values;
	bool plain;
	int rc = fit_table_read(&t, operand, fields, 2, err);

	if (!rc && make_room(v, t.n_rows))
		rc = fit_fail_nomem(err);
	plain = !rc && t.n_rows && fit_real_is_na(t.columns[0].d[0]);
	values = rc ? NULL : t.columns[plain].d;
	for (size_t i = 0; i < t.n_rows && !rc; i++) {
		if (!(values[i] >= 0 && values[i] <= 1e15))
			rc = fit_table_fail(&t, i, FIT_EDATA, fields[plain].name, err,
					    "missing or out of range (expected GPU-seconds)");
		else
			v->gittins->size[v->gittins->n++] = values[i];
	}
	if (!rc) {
		memcpy(v->gittins->hash, t.hash, sizeof v->gittins->hash);
		take_samples(v->gittins);
	}
	fit_table_release(&t);
	return rc;
}

const char *fit_verifier_hash_gpu_times(const struct fit_verifier *v)
{
	return v->gittins ? v->gittins->hash : "";
}

bool verify_gittins_knows(const struct fit_verifier *v, const struct fit_meta *m)
{
	return !fit_meta_get(m, "input_gpu_times") || (v->gittins && *v->gittins->hash);
}

/* Of the jobs of the table, where the log names no other samples. */
int verify_gittins_begin(struct fit_verifier *v)
{
	struct verify_gittins *g;

	if (v->gittins_given)
		return FIT_OK;
	verify_gittins_release(v);
	if (make_room(v, v->n_jobs))
		return FIT_ENOMEM;
	g = v->gittins;
	for (size_t i = 0; i < v->n_jobs; i++)
		if (v->jobs[i].state != JOB_LEFT_OUT)
			g->size[g->n++] = fit_time_to_double(v->jobs[i].duration_ns) * v->jobs[i].gpus;
	take_samples(g);
	return FIT_OK;
}

/* ---- the index ---- */

/* The first sample above x; n: there is none. */
static size_t above(const struct verify_gittins *g, double x)
{
	size_t lo = 0, n = g->n;

	while (n > 0) {
		size_t half = n / 2;

		if (g->size[lo + half] > x) {
			n = half;
		} else {
			lo += half + 1;
			n -= half + 1;
		}
	}
	return lo;
}

/* E(min(S - a, D) | S > a), times those above a, the i-th on, where a + D is sample m: it never falls with
 * m. */
static double takes(const struct verify_gittins *g, double a, size_t i, size_t m)
{
	return g->before[m + 1] - g->before[i] - (double)(m + 1 - i) * a + (double)(g->n - m - 1) * (g->size[m] - a);
}

/* The largest ratio by now, and the sample that has it. */
struct best {
	double ratio;
	size_t peak;
};

/* Of the samples from one to before another the last has ended most and the first takes least: where that is
 * no better than what is known, nor is any of them. */
static void look_between(const struct verify_gittins *g, double a, size_t i, size_t from, size_t to,
			 struct best *b)
{
	double least = takes(g, a, i, from);

	if ((double)(to - i) <= b->ratio * least)
		return;
	if (to - from == 1) {
		*b = (struct best){ (double)(to - i) / least, from };
		return;
	}
	look_between(g, a, i, from, from + (to - from) / 2, b);
	look_between(g, a, i, from + (to - from) / 2, to, b);
}

/* sup over D of P(S - a <= D | S > a) / E(min(S - a, D) | S > a). D is best where a + D is a sample; up to
 * sample m those from i on have ended. It is looked at first where it was best the last time (peak). */
static double by_definition(const struct verify_gittins *g, double a, size_t *peak)
{
	size_t i = above(g, a);
	struct best b = { 0, i };

	if (i == g->n)
		return 0;
	if (*peak >= i && *peak < g->n)
		b = (struct best){ (double)(*peak + 1 - i) / takes(g, a, i, *peak), *peak };
	look_between(g, a, i, i, g->n, &b);
	*peak = b.peak;
	return b.ratio;
}

static double decimals(double x, double scale)
{
	return floor(x * scale + 0.5) / scale;
}

/* Of the simulator: of a job just below the first sample above a, with D fixed, and E of whole sizes. */
static double by_table(const struct verify_gittins *g, double a)
{
	size_t j = above(g, a), from, to;
	double at, share, each, n;

	if (j == g->n)
		return 0;
	at = g->size[j] - 1;
	from = above(g, at);
	to = at + QUANTUM_S > g->size[g->n - 1] - 1 ? g->n - 1 : above(g, at + QUANTUM_S);
	n = (double)(g->n - from);
	share = decimals((double)(to - from) / n, 1e5);
	each = floor((g->before[to] - g->before[from] + QUANTUM_S * (double)(g->n - to)) / n);
	return each > 0 ? decimals(share * 1e6 / each, 1e4) : 0;
}

/* Before a decision, of a job of this policy. */
void verify_gittins_rank(const struct fit_verifier *v, struct verify_live *l)
{
	int64_t ran_ns = l->served_ns + (l->stood_running ? v->now - l->stands_ns : 0);
	double a = fit_time_to_double(ran_ns);

	if (!v->gittins_artifact || v->policy == POLICY_TIRESIAS_G || l->stood_running)
		a *= v->jobs[l->job].gpus;
	if (l->ranked && l->attained <= a && l->attained >= a)
		return;
	l->ranked = true;
	l->attained = a;
	l->number = v->gittins_artifact ? by_table(v->gittins, a) :
		    by_definition(v->gittins, a, &l->peak);
}

int verify_gittins_order(const struct fit_verifier *v, uint32_t i, uint32_t k)
{
	const struct verify_live *a = &v->live[i], *b = &v->live[k];
	bool lowest = v->gittins_artifact && v->policy == POLICY_GITTINS;
	int64_t x = v->jobs[a->job].submit_ns, y = v->jobs[b->job].submit_ns;

	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	if (a->number < b->number || a->number > b->number)
		return (a->number < b->number) == lowest ? -1 : 1;
	if (!lowest && x != y)
		return x < y ? -1 : 1;
	return (a->listed > b->listed) - (a->listed < b->listed);
}

/* Sums that were formed in another way can put these the other way round; indices of the same service
 * cannot. */
bool verify_gittins_near(const struct fit_verifier *v, uint32_t i, uint32_t k)
{
	const struct verify_live *a = &v->live[i], *b = &v->live[k];

	return !v->gittins_artifact && a->queue == b->queue && a->number > 0 &&
	       fabs(a->number - b->number) <= SAME * fmax(a->number, b->number);
}

/* ---- when it looks by itself ---- */

int64_t verify_gittins_timer(struct fit_verifier *v)
{
	const struct verify_gittins *g = v->gittins;
	int64_t quantum = QUANTUM_S * FIT_NS_PER_S;

	if (v->policy == POLICY_TIRESIAS_G)
		return verify_queue_timer(v);
	if (!g || v->interval_ns || !v->n_active)
		return NEVER;
	if (v->gittins_artifact)
		return g->unit_ns > g->decided_ns ? g->unit_ns : NEVER;
	return g->decided_ns > NEVER - quantum ? NEVER : (g->decided_ns / quantum + 1) * quantum;
}

/* A decision is over: the simulator's unit grows by the time of each of its events, which go on while nobody
 * is there. */
void verify_gittins_decided(struct fit_verifier *v)
{
	struct verify_gittins *g = v->gittins;

	if (!v->n_active)
		return;
	g->decided_ns = v->now;
	if (g->left_ns >= 0 && g->left_ns < v->now && g->unit_ns < NEVER - g->left_ns)
		g->unit_ns += g->left_ns;
	g->left_ns = -1;
	while (g->unit_ns < v->now)
		g->unit_ns = g->unit_ns > NEVER / 2 ? NEVER : g->unit_ns * 2;
	if (g->unit_ns < NEVER - v->now)
		g->unit_ns += v->now;
}

void verify_gittins_left(struct fit_verifier *v, bool last)
{
	if (v->gittins)
		v->gittins->left_ns = last ? v->now : -1;
}
