/* SPDX-License-Identifier: MIT */
/*
 * Published claims, and whether they hold on the tables that recipes of figures left.
 *
 * A claim is one row of a table (docs/formats/claims.md): what a paper says, how it is to agree, and a
 * formula (libfit/table/formula.h) for what is found here. Nothing but these tables is read: a
 * verdict is worked out of them each time.
 */
#ifndef FIT_VERIFY_CLAIMS_H
#define FIT_VERIFY_CLAIMS_H

#include "libfit/base/linkage.h"
#include "libfit/table/table.h"

FIT_C_BEGIN

/* How a number found here, x, is to agree with the published one, or its range low..high; t: tolerance. */
enum fit_agreement {
	FIT_AGREE_EXACT,	/* x = published, but for rounding in the last digit that is printed */
	FIT_AGREE_WITHIN,	/* low - t |low| / 100 <= x <= high + t |high| / 100 */
	FIT_AGREE_RATIO,	/* both above 0: low / (1 + t / 100) <= x <= high (1 + t / 100) */
	FIT_AGREE_AT_MOST,	/* x <= high + t |high| / 100 */
	FIT_AGREE_AT_LEAST,	/* x >= low - t |low| / 100 */
	FIT_AGREE_ORDERING,	/* the formula is a comparison, and holds */
	FIT_AGREE_NONE		/* nothing public lets one check it; the note says what is missing */
};
extern const char *const fit_agreement_names[];	/* in this order; ends with NULL */

enum fit_claim_verdict { FIT_CLAIM_HOLDS, FIT_CLAIM_DIFFERS, FIT_CLAIM_CANNOT };
extern const char *const fit_claim_verdict_names[];	/* "holds", "differs", "cannot be checked here" */

struct fit_claim {
	struct fit_text id, paper, place, quantity, published, unit, why, recipes, here, note; /* of table */
	enum fit_agreement agreement;
	double low, high;	/* published; NAN where it is no number (ordering, none) */
	int digits;		/* after the point, of the published number (exact) */
	double tolerance_pct;
	bool any_data;		/* makes sense of generated data as well */
};

struct fit_claims {
	struct fit_table table;
	struct fit_claim *claims;
	size_t n;
};

/* Read a table of claims. Each formula and number is checked: FIT_EPARSE, FIT_EDATA with line and
 * column. Also errors of the reader. */
int fit_claims_read(struct fit_claims *c, const char *operand, struct fit_err *err) FIT_MUST_CHECK;
void fit_claims_release(struct fit_claims *c);
/* Whether a name is in a list that is separated by commas. */
bool fit_claim_lists(struct fit_text list, struct fit_text name);

/* What is known of a claim. Zero-initialise; texts are owned. */
struct fit_claim_result {
	enum fit_claim_verdict verdict;
	double here;		/* NAN where it was not found */
	double off_pct;		/* from the nearer end of what is published; NAN where that has no sense */
	char *data;		/* "public", "shipped": what the tables were made of; "" unknown */
	char *reason;		/* why it cannot be checked; "" else */
};
void fit_claim_result_release(struct fit_claim_result *r);

/* Tables are FOLDER/NAME.tsv, read once each. */
struct fit_claim_tables;
int fit_claim_tables_new(struct fit_claim_tables **t, const char *folder, struct fit_err *err) FIT_MUST_CHECK;
void fit_claim_tables_free(struct fit_claim_tables *t);

/* Judge one claim. A table, row or cell that is not there makes the verdict "cannot", and is no error;
 * a broken table is one. */
int fit_claim_judge(const struct fit_claim *c, struct fit_claim_tables *t, struct fit_claim_result *r,
		    struct fit_err *err) FIT_MUST_CHECK;

FIT_C_END

#endif
