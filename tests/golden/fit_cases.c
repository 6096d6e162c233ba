/* SPDX-License-Identifier: MIT */
/*
 * fit_cases FILE: fit each case of fit-cases.jsonl (one JSON object a line: num_nodes, num_replicas,
 * atomic_bsz, accum_time, optim_time, and what the reference implementation and a long search got)
 * and print one line a case, tab-separated, with a header row:
 *
 *   case        line of the file
 *   n_obs       observations
 *   objective   ours
 *   limit       the smaller of the reference's objective and the best known one
 *   gap         objective - limit
 *   value_err   |our objective at the reference's parameters / the reference's value - 1|
 *   step_err    largest relative difference of the predicted step time from the best known
 *               parameters', over the observed configurations
 *   status      of the fit
 *   cold_ms warm_ms   processor time of this fit, and of one that starts from the model of the case
 *               before where that has one observation less (else NA); the least of REPEAT times, as
 *               other work on the machine only adds to it
 *   cold_evals  evaluations of the objective in the cold fit
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libfit/model/throughput.h"
#include "libfit/table/source.h"

#define MAX_OBS 4096
#define REPEAT 3

static double processor_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static double element(const json_t *o, const char *key, size_t i)
{
	const json_t *v = json_array_get(json_object_get(o, key), i);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static int read_case(const json_t *o, struct fit_throughput_obs *obs, size_t *n)
{
	*n = json_array_size(json_object_get(o, "num_nodes"));
	if (*n == 0 || *n > MAX_OBS)
		return -1;
	for (size_t i = 0; i < *n; i++) {
		double step = element(o, "optim_time", i);

		obs[i] = (struct fit_throughput_obs){
			.num_nodes = (int64_t)element(o, "num_nodes", i),
			.num_replicas = (int64_t)element(o, "num_replicas", i),
			.local_bsz = (int64_t)element(o, "atomic_bsz", i),
			.step_s = step, .sync_s = step - element(o, "accum_time", i), .weight = 1
		};
	}
	return 0;
}

static double largest_difference(const struct fit_throughput_obs *obs, size_t n,
				 const struct fit_theta *a, const struct fit_theta *b)
{
	double worst = 0;

	for (size_t i = 0; i < n; i++) {
		double x = fit_theta_step_time(a, obs[i].num_nodes, obs[i].num_replicas,
					       (double)obs[i].local_bsz);
		double y = fit_theta_step_time(b, obs[i].num_nodes, obs[i].num_replicas,
					       (double)obs[i].local_bsz);

		worst = fmax(worst, fabs(x / y - 1));
	}
	return worst;
}

/* A fit, several times over; *ms is the least of their times. */
static int timed_fit(struct fit_throughput *w, const struct fit_throughput_obs *obs, size_t n,
		     const struct fit_throughput_params *p, struct fit_throughput_result *r, double *ms,
		     struct fit_err *err)
{
	int rc = FIT_OK;

	*ms = (double)INFINITY;
	for (int k = 0; k < REPEAT && (!rc || rc == FIT_ENOCONV); k++) {
		double start = processor_ms();

		rc = fit_throughput_fit(w, obs, n, p, r, err);
		*ms = fmin(*ms, processor_ms() - start);
	}
	return rc;
}

/* Fit one case; 0, or -1 with a message. */
static int run_case(struct fit_throughput *w, const json_t *o, unsigned long long line,
		    struct fit_throughput_result *last)
{
	static struct fit_throughput_obs obs[MAX_OBS];
	double reference = json_number_value(json_object_get(o, "objective"));
	double known = json_number_value(json_object_get(o, "best_known_objective"));
	double limit = fmin(reference, known), cold, warm = (double)NAN, value;
	struct fit_throughput_params p;
	struct fit_throughput_result r, again;
	struct fit_theta raw, best;
	struct fit_err err = { 0 };
	size_t n;
	int rc;

	if (read_case(o, obs, &n) || !(limit > 0)) {
		fprintf(stderr, "fit_cases: line %llu: not a case\n", line);
		return -1;
	}
	for (size_t j = 0; j < FIT_THETA_N; j++) {
		raw.v[j] = element(o, "raw_x", j);
		best.v[j] = element(o, "best_known_x", j);
	}
	fit_throughput_params_default(&p);
	p.std_errors = false;
	rc = timed_fit(w, obs, n, &p, &r, &cold, &err);
	if (rc && rc != FIT_ENOCONV) {
		fprintf(stderr, "fit_cases: line %llu: %s\n", line, err.msg);
		return -1;
	}
	value = fit_throughput_value(w, &raw, NULL);
	if (n > 1 && last->n_obs == n - 1) {
		fit_throughput_params_warm(&p, &last->raw);
		rc = timed_fit(w, obs, n, &p, &again, &warm, &err);
		if (rc && rc != FIT_ENOCONV)
			return -1;
	}
	printf("%llu\t%zu\t%.17g\t%.17g\t%.3g\t%.3g\t%.3g\t%s\t%.3f\t", line, n, r.objective, limit,
	       r.objective - limit, fabs(value / reference - 1),
	       largest_difference(obs, n, &r.raw, &best), fit_throughput_status_name(r.status), cold);
	if (isnan(warm))
		printf("NA");
	else
		printf("%.3f", warm);
	printf("\t%zu\n", r.n_eval);
	*last = r;
	return 0;
}

int main(int argc, char **argv)
{
	struct fit_throughput_result last = { 0 };
	struct fit_throughput *w = NULL;
	struct fit_source *s = NULL;
	struct fit_err err;
	char *line;
	size_t len;
	int rc, status = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: fit_cases FILE\n");
		return 2;
	}
	if (fit_source_open(&s, argv[1], &err) || fit_throughput_new(&w, &err)) {
		fprintf(stderr, "fit_cases: %s\n", err.msg);
		fit_source_close(s);
		return 3;
	}
	printf("case\tn_obs\tobjective\tlimit\tgap\tvalue_err\tstep_err\tstatus\tcold_ms\twarm_ms\tcold_evals\n");
	while (!status && (rc = fit_source_line(s, &line, &len, &err)) == FIT_OK) {
		json_error_t why;
		json_t *o = json_loadb(line, len, 0, &why);

		if (!o) {
			fprintf(stderr, "fit_cases: line %llu: %s\n",
				(unsigned long long)fit_source_line_number(s), why.text);
			status = 1;
		} else if (run_case(w, o, fit_source_line_number(s), &last)) {
			status = 1;
		}
		json_decref(o);
	}
	if (!status && rc != FIT_END) {
		fprintf(stderr, "fit_cases: %s\n", err.msg);
		status = 1;
	}
	fit_throughput_free(w);
	fit_source_close(s);
	return status;
}
