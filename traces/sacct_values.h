/* SPDX-License-Identifier: MIT */
/*
 * The values of Slurm's sacct: spans of time, states, job ids, TRES lists. All take the whole text of
 * one field and never guess: what does not follow the grammar is FIT_EPARSE, a number that is too
 * large FIT_EINVAL; outputs are then untouched.
 *
 * Source: the manual pages sacct(1) and sbatch(1), and the output of sacct.
 */
#ifndef TRACES_SACCT_VALUES_H
#define TRACES_SACCT_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "libfit/base/status.h"
#include "libfit/base/text.h"

/* ---- spans of time ---- */

enum fit_slurm_span {
	FIT_SPAN_VALUE,
	FIT_SPAN_MISSING,	/* "", Partition_Limit, INVALID, None, Unknown, N/A */
	FIT_SPAN_UNLIMITED	/* UNLIMITED, INFINITE */
};

/*
 * MIN, MIN:SEC, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS, with up to nine decimals where the last part is
 * seconds. Minutes and seconds behind a colon are below 60, hours behind days below 24. "30:00" is 30
 * minutes. bare: a number alone, MIN, is fine (a time limit; elapsed times always have a colon).
 */
int fit_slurm_span(struct fit_text t, bool bare, enum fit_slurm_span *kind,
		   int64_t *ns) FIT_MUST_CHECK;
/* The "raw" columns: a whole number of units of unit_s seconds, or a word as above; 2^32 - 1 means
 * unlimited, 2^32 - 2 and 2^64 - 2 missing, as inside of Slurm. */
int fit_slurm_raw(struct fit_text t, int64_t unit_s, enum fit_slurm_span *kind,
		  int64_t *ns) FIT_MUST_CHECK;
/* Is this one of the words for a missing value? */
bool fit_slurm_is_missing(struct fit_text t);

/* ---- states ---- */

struct fit_slurm_state {
	const char *name;	/* "OUT_OF_MEMORY" */
	const char *status;	/* of the jobs table: "FAILED" */
	bool says_more;		/* the name says more than the status */
};
/* By the first word, of which a '+' may have cut the end off ("CANCELLED by 1042", "OUT_OF_ME+");
 * upper or lower case. NULL: no such state, or several that start so. */
const struct fit_slurm_state *fit_slurm_state_find(struct fit_text t);

/* ---- job ids ---- */

enum fit_slurm_id {
	FIT_ID_JOB,		/* 123, 123_4 */
	FIT_ID_COMPONENT,	/* 123+1: part of a heterogeneous job */
	FIT_ID_ARRAY,		/* 123_[5-9%2]: array tasks that are not split yet */
	FIT_ID_STEP		/* 123.0, 123_4.batch, 123+1.extern */
};
/* tasks (of FIT_ID_ARRAY): how many are listed; an ellipsis counts as none. May be NULL. */
int fit_slurm_id(struct fit_text t, enum fit_slurm_id *kind, uint64_t *tasks) FIT_MUST_CHECK;

/* ---- trackable resources ---- */

struct fit_slurm_tres {
	double gpus;		/* the total if it is given, else the sum of the types; 0: none listed */
	double typed;		/* sum of the types, 0: none */
	bool has_total;		/* gres/gpu itself is there */
	int64_t cpus, nodes;	/* -1: not there */
	double mem_mib;		/* -1: not there, or 0, which asks for all of a node */
};

/*
 * "billing=8,cpu=64,gres/gpu:a100=8,gres/gpu=8,mem=512G,node=1". gres/gpu and gres/gpu:TYPE are the same
 * devices. types (cleared first) becomes "a100:2 v100:1", or empty. bad: on failure the part at fault.
 * t is not empty.
 */
int fit_slurm_tres(struct fit_text t, struct fit_slurm_tres *r, struct fit_str *types,
		   struct fit_text *bad) FIT_MUST_CHECK;
/* The older "gpu:2", "gpu:a100:2(S:0-1)", "gres:gpu:2", "craynetwork:1,gpu:v100:4", and "gpu" for one.
 * Only gpus, typed and has_total are set (cpus, nodes, mem_mib: not there). */
int fit_slurm_gres(struct fit_text t, struct fit_slurm_tres *r, struct fit_str *types,
		   struct fit_text *bad) FIT_MUST_CHECK;
/* "a100:2 v100:1" as "a100|v100", into out (cleared first). */
int fit_slurm_type_set(struct fit_text types, struct fit_str *out) FIT_MUST_CHECK;

#endif
