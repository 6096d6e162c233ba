/* SPDX-License-Identifier: MIT */
/*
 * The jobs of gf-ga2m: one file each, with its options. Each returns an exit status, as run() of a
 * tool.
 */
#ifndef TOOLS_GA2M_PARTS_H
#define TOOLS_GA2M_PARTS_H

#include "libfit/model/ga2m.h"
#include "tools/common/cli.h"
#include "traces/input.h"

struct ga2m_train_options {
	const char *target, *weight, *offset, *time, *group;
	struct cli_list nominal, feature, exclude, pair, shape;
	int loss, validation, engine;
	double quantile, share, rate, pair_rate, tolerance, memory_mib;
	int64_t bags, pairs, max_bins, max_pair_bins, smoothing, max_rounds, patience, greedy, min_leaf;
	bool no_purify, keep_bags, csv;
};
extern const struct cli_option ga2m_train_options[];
void ga2m_train_defaults(void *given);
int ga2m_train(struct cli *cli, void *given);

struct ga2m_predict_options {
	const char *model, *id;
	bool link, sd, terms, csv;
};
extern const struct cli_option ga2m_predict_options[];
int ga2m_predict(struct cli *cli, void *given);

/* A model from tables, or from JSON where the name of the operand ends in .json; and back. */
int ga2m_read_model(struct fit_ga2m *m, const char *operand, char hash[FIT_HASH_HEX],
		    struct fit_err *err) FIT_MUST_CHECK;
int ga2m_write_model(const struct cli *cli, const struct fit_ga2m *m, const char *hash,
		     struct fit_err *err) FIT_MUST_CHECK;
int ga2m_write_json(const struct cli *cli, const struct fit_ga2m *m, struct fit_err *err) FIT_MUST_CHECK;

struct ga2m_convert_options {
	const char *name;
	bool json, c;
};
extern const struct cli_option ga2m_convert_options[];
int ga2m_convert(struct cli *cli, void *given);

struct ga2m_explain_options {
	const char *model, *id, *shape;
	int64_t top;
	bool importance, csv;
};
extern const struct cli_option ga2m_explain_options[];
void ga2m_explain_defaults(void *given);
int ga2m_explain(struct cli *cli, void *given);

struct ga2m_edit_options {
	struct cli_list edit;
	const char *log;
};
extern const struct cli_option ga2m_edit_options[];
int ga2m_edit(struct cli *cli, void *given);

struct ga2m_update_options {
	const char *model, *drift, *target, *time;
	double keep, share;
	int64_t bags, max_rounds, smoothing;
	bool csv;
};
extern const struct cli_option ga2m_update_options[];
void ga2m_update_defaults(void *given);
int ga2m_update(struct cli *cli, void *given);

struct ga2m_check_options {
	struct cli_list shape;
	double support, spike, limit;
	const char *rows;
	bool csv;
};
extern const struct cli_option ga2m_check_options[];
void ga2m_check_defaults(void *given);
int ga2m_check(struct cli *cli, void *given);

#endif
