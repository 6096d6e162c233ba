/* SPDX-License-Identifier: MIT */
/*
 * Nodes as Pollux's search sees them: its columns.
 *
 * On GPUs of one type they are the open nodes. On several types Pollux, which knows no types, is run as Sia's
 * paper runs it (Jayaram Subramanya et al., SOSP'23): each node is cut into virtual ones with as many GPUs
 * as the smallest node has, so that all are alike, and of what the search gives a job the type with most GPUs
 * is kept.
 */
#ifndef FIT_REPLAY_POLLUX_NODES_H
#define FIT_REPLAY_POLLUX_NODES_H

#include "libfit/replay/policy.h"

/* Zero-initialise. */
struct fit_pollux_nodes {
	size_t n;			/* columns */
	int32_t *node;			/* of a column */
	uint8_t *capacity;		/* GPUs of a column */
	int32_t *column;		/* the first one of a node; of one type: its only one */
	bool several;			/* types: a job's row then is what was kept of it, see below */
	uint8_t **rows;			/* by job; NULL: it holds nothing, or there is one type */
	size_t n_rows;
	size_t node_cap, capacity_cap, column_cap;
};

void fit_pollux_nodes_release(struct fit_pollux_nodes *k);
/* The columns of the cluster as it is now. FIT_ENOMEM. */
int fit_pollux_nodes_find(struct fit_pollux_nodes *k, const struct fit_view *v) FIT_MUST_CHECK;

/* What a job holds, in k->n columns. false: one of its nodes is closed, so that nothing can stay as it is;
 * the row is then empty. */
bool fit_pollux_nodes_row(const struct fit_pollux_nodes *k, const struct fit_view *v, uint32_t j,
			  uint8_t *row);

/* Several types: take the GPUs off a row that are not of the type with most of them, of types with as many
 * that which the fidelity profile names first, or else the one on which the job's application is fastest. */
void fit_pollux_nodes_one_type(const struct fit_pollux_nodes *k, const struct fit_view *v, uint32_t j,
			       uint8_t *row);
/* The job holds this from now on; NULL: nothing. FIT_ENOMEM; no effect on one type. */
int fit_pollux_nodes_keep(struct fit_pollux_nodes *k, uint32_t j, const uint8_t *row) FIT_MUST_CHECK;

/* The shares of a row, node by node; room for k->n of them. Returns how many. */
size_t fit_pollux_nodes_shares(const struct fit_pollux_nodes *k, const uint8_t *row,
			       struct fit_share *shares);

/* The most GPUs that any job may have for the sake of types: those of the smallest type, on as many nodes as
 * profiles of the type were measured on. All of them where there is one type. */
int64_t fit_pollux_nodes_most(const struct fit_cluster *c);

#endif
