/* SPDX-License-Identifier: MIT */
/*
 * Inside of the model gate: what a kind of models is, rows as its models take them, and a run. Not a
 * public header.
 */
#ifndef FIT_VERIFY_GATE_KIND_H
#define FIT_VERIFY_GATE_KIND_H

#include "libfit/verify/gate.h"
#include "libfit/verify/gate_stats.h"

/* ---- an operand that is read more than once ---- */

struct fit_gate_source {
	const char *operand;
	char name[256];		/* in messages */
	struct fit_str bytes;	/* of all but a store */
	bool json;		/* the bytes begin as JSON does */
	char hash[FIT_HASH_HEX];
};
int fit_gate_source_open(struct fit_gate_source *s, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
void fit_gate_source_release(struct fit_gate_source *s);
int fit_gate_source_reader(const struct fit_gate_source *s, struct fit_reader **r,
			   struct fit_err *err) FIT_MUST_CHECK;
/* Its first table; fields may be NULL. */
int fit_gate_source_table(struct fit_gate_source *s, struct fit_table *t, const struct fit_field *fields,
			  size_t n, struct fit_err *err) FIT_MUST_CHECK;

/* ---- rows ---- */

/* Rows of a table as models of one kind take them. y is NAN where it is not known. */
struct fit_gate_set {
	size_t n, n_x;
	double *x;		/* [row * n_x + i] */
	double *y;
	double *w;		/* what a row counts, 0 or more; NULL: 1 each */
	uint32_t *group;	/* number of the row's group */
	char **groups;		/* names, as met; "" where rows have none */
	size_t n_groups, cap_groups;
	struct fit_index index;
	uint8_t *region;	/* number of the row's region, or NULL */
	const char *const *regions;	/* their names; end with NULL */
	double quantile;	/* what a prediction of numbers aims at; NAN: the mean */
};
int fit_gate_set_init(struct fit_gate_set *s, size_t n, size_t n_x, bool regions,
		      struct fit_err *err) FIT_MUST_CHECK;
void fit_gate_set_release(struct fit_gate_set *s);
int fit_gate_set_group(struct fit_gate_set *s, size_t row, struct fit_text name,
		       struct fit_err *err) FIT_MUST_CHECK;

/* A number of any column; NAN where it is missing or a text that is none. Times in seconds. */
double fit_gate_number(const struct fit_column *c, size_t row);
/* The column of that name, which has to be there: FIT_ENOTFOUND says which are. */
int fit_gate_column(const struct fit_table *t, const char *name, const struct fit_column **c,
		    struct fit_err *err) FIT_MUST_CHECK;
/* The numbers of column c as feature f of rows s, or of its y (f SIZE_MAX). FIT_EDATA: a text; of y also
 * what is infinite or above 1e150. */
int fit_gate_set_numbers(struct fit_gate_set *s, size_t f, const struct fit_table *t,
			 const struct fit_column *c,
			 struct fit_err *err) FIT_MUST_CHECK;
/* The weights of rows s: those of column c, which are missing in none and 0 or more (FIT_EDATA). */
int fit_gate_set_weights(struct fit_gate_set *s, const struct fit_table *t, const struct fit_column *c,
			 struct fit_err *err) FIT_MUST_CHECK;
/* What row i counts. */
double fit_gate_weight(const struct fit_gate_set *s, size_t i);
/* A cell as text, in buf where it is a number; s NULL: missing. */
struct fit_text fit_gate_text(const struct fit_column *c, size_t row, char buf[40]);

/* How wrong predictions are; means and sums by weight. */
enum fit_gate_metric {
	FIT_GATE_RELATIVE,	/* mean |p - y| / |y|, percent */
	FIT_GATE_UNEXPLAINED,	/* loss over that of the best constant: squares, or with a quantile its check loss */
	FIT_GATE_WRONG,		/* share of rows of another class */
	FIT_GATE_LOG		/* root mean squared log of p / y */
};
/* Of the rows at[0 .. n - 1] that have both; NAN: none has. */
double fit_gate_error(enum fit_gate_metric metric, const struct fit_gate_set *s, const double *p,
		      const uint32_t *at, size_t n);

/* ---- kinds ---- */

struct fit_gate_run;

struct fit_gate_feature {
	const char *name;
	bool nominal;		/* x is a number of a category, -1: one that training did not see */
};

#define FIT_GATE_DATA 1u
#define FIT_GATE_FRESH 2u
#define FIT_GATE_INCUMBENT 4u
#define FIT_GATE_RESULTS 8u

struct fit_gate_check {
	const char *name;
	unsigned needs;		/* inputs without which it cannot say anything */
	int (*run)(struct fit_gate_run *r, struct fit_err *err);
};

struct fit_gate_kind {
	const char *name, *what;	/* in messages: "a throughput model" */
	const struct fit_gate_check *checks;	/* end with name == NULL */
	/* Is a stream whose first table has this name and these columns one? */
	bool (*is)(const char *table, bool (*has)(const void *arg, const char *column), const void *arg);
	bool (*is_json)(struct fit_text bytes);	/* NULL: never */
	/* FIT_EDATA: it is one, and unsound. */
	int (*load)(void **model, struct fit_gate_source *s, struct fit_err *err);
	void (*free)(void *model);	/* NULL is fine */
	enum fit_gate_metric metric;	/* of all its models, where metric_of is NULL */
	enum fit_gate_metric (*metric_of)(const void *model);
	/* The name of class k, which a prediction of classes is the number of; NULL: there is none. NULL: a kind
	 * without classes. */
	const char *(*class_name)(const void *model, size_t k);
	/* Feature i of x; false: there are no more. */
	bool (*feature)(const void *model, size_t i, struct fit_gate_feature *f);
	/* Rows of a table of measurements (measured: y has to be known). target: --target, or NULL. */
	int (*rows)(const void *model, const struct fit_table *t, const char *target, bool measured,
		    struct fit_gate_set *s, struct fit_err *err);
	/* Rows to compare two models on where there are none; NULL: the kind has no such. */
	int (*grid)(const void *model, struct fit_gate_set *s, struct fit_err *err);
	double (*predict)(const void *model, const char *group, const double *x);
	/* A model like this one, of the rows with use[row]; NULL: kind is not fitted to rows. */
	int (*refit)(void **model, const void *like, const struct fit_gate_set *s, const bool *use,
		     const struct fit_gate_inputs *in, struct fit_err *err);
	/* What the model keeps of its training rows: counts of feature i by bin (the first of missing
	 * values, the last of such as it did not see; 0: it keeps none of this feature), the bin of a
	 * value, and whether training had such a value. All NULL: it keeps nothing. */
	size_t (*bins)(const void *model, size_t i, const double **counts);
	size_t (*bin)(const void *model, size_t i, double x);
	bool (*inside)(const void *model, size_t i, double x);
};

static inline enum fit_gate_metric fit_gate_metric_of(const struct fit_gate_kind *k, const void *model)
{
	return k->metric_of ? k->metric_of(model) : k->metric;
}

/* What curves and estimates of the noise scale share: rows of (progress, batch size). */
enum { FIT_GATE_PROGRESS, FIT_GATE_BATCH, FIT_GATE_NOISE_X };
int fit_gate_noise_rows(const void *model, const struct fit_table *t, const char *target, bool measured,
			struct fit_gate_set *s, struct fit_err *err) FIT_MUST_CHECK;
bool fit_gate_noise_feature(const void *model, size_t i, struct fit_gate_feature *f);

extern const struct fit_gate_kind fit_gate_throughput, fit_gate_speedup, fit_gate_noise, fit_gate_estimates,
	fit_gate_tree, fit_gate_ga2m, fit_gate_rubick;

/* ---- a run ---- */

struct fit_gate_run {
	struct fit_gate *g;
	const struct fit_gate_inputs *in;
	const struct fit_gate_kind *kind;
	const struct fit_gate_rule *rule;	/* of the check that runs */
	void *model, *incumbent;
	struct fit_meta meta;		/* of the model */
	char data_hash[FIT_HASH_HEX];
	struct fit_table data_table, fresh_table, results_table, incumbent_results_table;
	const struct fit_table *results, *incumbent_results;	/* those, or borrowed ones */
	struct fit_gate_set data, fresh;	/* as the model takes them */
	double *data_p;			/* predictions of data */
	double *cv_p;			/* of models that did not see the row; NULL: not yet */
	unsigned has;			/* FIT_GATE_DATA … */
};

/* Add a finding to the check that runs. region may be NULL, reason is a format. A failure of a check that
 * is only noted is noted. */
int fit_gate_add(struct fit_gate_run *r, const char *region, double value,
		 const struct fit_gate_interval *between,
		 enum fit_gate_verdict verdict, struct fit_err *err, const char *reason, ...)
	FIT_PRINTF(7, 8) FIT_MUST_CHECK;
/* The same where the verdict is value <= limit; NAN cannot be said. */
int fit_gate_at_most(struct fit_gate_run *r, const char *region, double value, struct fit_err *err,
		     const char *reason, ...) FIT_PRINTF(5, 6) FIT_MUST_CHECK;
int fit_gate_at_least(struct fit_gate_run *r, const char *region, double value, struct fit_err *err,
		      const char *reason, ...) FIT_PRINTF(5, 6) FIT_MUST_CHECK;

/* ---- checks of every kind ---- */

int fit_gate_check_coverage(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_residual(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_residual_region(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_bias(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_cv(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_over_fit(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_extrapolation(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_provenance(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_shift(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_shift_region(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_psi(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_ks(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_jct(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_fairness(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;
int fit_gate_check_cost(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;

/* Entries of a kind's table. */
#define FIT_GATE_MEASURED \
	{ "provenance", FIT_GATE_DATA, fit_gate_check_provenance }, \
	{ "coverage", FIT_GATE_DATA, fit_gate_check_coverage }, \
	{ "residual", FIT_GATE_DATA, fit_gate_check_residual }, \
	{ "residual-region", FIT_GATE_DATA, fit_gate_check_residual_region }, \
	{ "bias", FIT_GATE_DATA, fit_gate_check_bias }
#define FIT_GATE_REFITTED \
	{ "cross-validation", FIT_GATE_DATA, fit_gate_check_cv }, \
	{ "over-fit", FIT_GATE_DATA, fit_gate_check_over_fit }
#define FIT_GATE_COMPARED \
	{ "extrapolation", FIT_GATE_FRESH, fit_gate_check_extrapolation }, \
	{ "drift-psi", FIT_GATE_FRESH, fit_gate_check_psi }, \
	{ "drift-ks", FIT_GATE_DATA | FIT_GATE_FRESH, fit_gate_check_ks }, \
	{ "shift", FIT_GATE_INCUMBENT, fit_gate_check_shift }, \
	{ "shift-region", FIT_GATE_INCUMBENT, fit_gate_check_shift_region }, \
	{ "replay-jct", FIT_GATE_RESULTS, fit_gate_check_jct }, \
	{ "replay-fairness", FIT_GATE_RESULTS, fit_gate_check_fairness }, \
	{ "replay-cost", FIT_GATE_RESULTS, fit_gate_check_cost }

/* Run the kind's own checks of a model over the rows: cross-validated predictions, once. */
int fit_gate_cross_validate(struct fit_gate_run *r, struct fit_err *err) FIT_MUST_CHECK;

#endif
