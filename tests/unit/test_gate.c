/* SPDX-License-Identifier: MIT */
/* Policies and verdicts of the model gate. */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "libfit/base/outfile.h"
#include "libfit/verify/gate.h"

static char path[] = "gate-test.XXXXXX";

static const char *put(const char *text)
{
	static char name[2][80];
	static int k;
	struct fit_err err;

	k = !k;
	snprintf(name[k], sizeof name[k], "%s.%d", path, k);
	check_ok(fit_outfile_write(name[k], fit_text_of(text), &err), &err);
	return name[k];
}

static const struct fit_gate_rule *rule(const struct fit_gate_policy *p, const char *check,
					const char *model)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->rules[i].check, check) == 0 && strcmp(p->rules[i].model, model) == 0)
			return &p->rules[i];
	return NULL;
}

static void a_policy_changes_the_defaults(void **state)
{
	struct fit_gate_policy p;
	struct fit_err err;

	(void)state;
	check_ok(fit_gate_policy_read(&p, NULL, &err), &err);
	assert_int_equal(p.n, fit_gate_n_defaults());
	check_real(rule(&p, "residual", "throughput")->limit, 20, 0, 0);
	assert_null(rule(&p, "shift", "tree"));
	fit_gate_policy_release(&p);
	check_ok(fit_gate_policy_read(&p, put("check\tmodel\tlimit\taction\nresidual\tthroughput\t5\tNA\n"
					      "shift\ttree\tNA\tnote\nover-fit\tNA\t4\tstop\n"), &err),
						      &err);
	check_real(rule(&p, "residual", "throughput")->limit, 5, 0, 0);
	assert_int_equal(rule(&p, "residual", "throughput")->action, FIT_GATE_STOP);
	check_real(rule(&p, "residual", "speedup")->limit, 20, 0, 0);
	assert_int_equal(rule(&p, "shift", "tree")->action, FIT_GATE_NOTE);
	check_real(rule(&p, "shift", "tree")->limit, 10, 0, 0);
	assert_int_equal(rule(&p, "shift", "any")->action, FIT_GATE_IF_KNOWN);
	check_real(rule(&p, "over-fit", "any")->limit, 4, 0, 0);
	fit_gate_policy_release(&p);
}

static void faults_of_policies(void **state)
{
	static const struct {
		const char *row, *message;
	} faults[] = {
		{ "residul\tany\t1\tstop",
		 "check: unknown check 'residul' (gf-gate thresholds lists them)" },
		{ "residual\tforest\t1\tstop",
		 "model: unknown kind of models 'forest' (expected any, throughput, speedup, "
		  "noise, estimates, tree, ga2m or rubick)" },
		{ "residual\tany\tinf\tstop", "limit: not a finite number" },
		{ "sound\tany\t1\tstop", "limit: the check 'sound' has no limit (expected NA)" },
		{ "residual\tany\t1\thalt",
		 "action: unknown action 'halt' (expected stop, stop-if-known, note or off)" },
		{ "links\ttree\t1\tstop", "model: models of kind 'tree' have no check 'links'" },
	};
	struct fit_gate_policy p;
	struct fit_err err;

	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		char text[256], message[400];
		const char *name;

		snprintf(text, sizeof text, "check\tmodel\tlimit\taction\n%s\n", faults[i].row);
		name = put(text);
		snprintf(message, sizeof message, "%s:2:%s", name, faults[i].message);
		check_err(fit_gate_policy_read(&p, name, &err), &err, FIT_EDATA, message);
		assert_int_equal(p.n, 0);
	}
}

#define THETA "app\talpha_c_s\tbeta_c_s\talpha_n_s\tbeta_n_s\talpha_r_s\tbeta_r_s\tgamma\n"

static enum fit_gate_verdict verdict_of(const char *model, const char *thresholds)
{
	struct fit_gate_inputs in = { .model = put(model), .folds = 5, .draws = 100, .level = 0.9, .seed =
				     1 };
	struct fit_gate_policy p;
	struct fit_gate g;
	struct fit_err err;
	enum fit_gate_verdict v;

	check_ok(fit_gate_policy_read(&p, thresholds ? put(thresholds) : NULL, &err), &err);
	check_ok(fit_gate_run(&g, &p, &in, &err), &err);
	v = g.verdict;
	assert_true(g.n > 0);
	fit_gate_release(&g);
	fit_gate_policy_release(&p);
	return v;
}

/* Actions of a check decide what a failure and a lack of evidence do. */
static void actions(void **state)
{
	const char *good = THETA "a\t1\t1\t1\t0.1\t1\t0.1\t2\n", *bad =
		THETA "a\t1\t-1\t1\t0.1\t1\t0.1\t2\n";
	const char *known =
		"check\tmodel\taction\ncoverage\tthroughput\tstop-if-known\nresidual\tthroughput\tstop-if-known\n"
			    "residual-region\tthroughput\tstop-if-known\nbias\tthroughput\tnote\n"
			    "cross-validation\tthroughput\toff\nover-fit\tthroughput\tstop-if-known\n";
	char all[800];

	(void)state;
	assert_int_equal(verdict_of(good, NULL), FIT_GATE_CANNOT);	/* nobody measured anything */
	assert_int_equal(verdict_of(bad, NULL), FIT_GATE_FAIL);
	assert_int_equal(verdict_of(good, known), FIT_GATE_PASS);
	assert_int_equal(verdict_of(bad, known), FIT_GATE_FAIL);
	snprintf(all, sizeof all, "%sparameters\tthroughput\tnote\n", known);
	assert_int_equal(verdict_of(bad, all), FIT_GATE_PASS);
	snprintf(all, sizeof all, "%sparameters\tthroughput\toff\n", known);
	assert_int_equal(verdict_of(bad, all), FIT_GATE_PASS);
}

static void no_model(void **state)
{
	struct fit_gate_inputs in = { .model = put("job_id\tsubmit_s\na\t0\n"), .folds = 5, .draws = 100,
				     .level = 0.9 };
	struct fit_gate_policy p;
	struct fit_gate g;
	struct fit_err err;
	char message[300];

	(void)state;
	check_ok(fit_gate_policy_read(&p, NULL, &err), &err);
	snprintf(message, sizeof message,
		 "%s: a table, but not one of models that is known (expected what gf-throughput, "
		 "gf-speedup, gf-pgns, gf-tree or gf-ga2m writes)", in.model);
	check_err(fit_gate_run(&g, &p, &in, &err), &err, FIT_EDATA, message);
	in.model = put("{ \"a\": 1 }");
	snprintf(message, sizeof message, "%s: JSON, but no tree and no GA2M", in.model);
	check_err(fit_gate_run(&g, &p, &in, &err), &err, FIT_EDATA, message);
	fit_gate_policy_release(&p);
}

static int begin(void **state)
{
	(void)state;
	return check_scratch(path);
}

static int end(void **state)
{
	char name[80];

	(void)state;
	for (int k = 0; k < 2; k++) {
		snprintf(name, sizeof name, "%s.%d", path, k);
		unlink(name);
	}
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_policy_changes_the_defaults),
		cmocka_unit_test(faults_of_policies),
		cmocka_unit_test(actions),
		cmocka_unit_test(no_model),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
