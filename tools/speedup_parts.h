/* SPDX-License-Identifier: MIT */
/* The parts of gf-speedup: settings by name, the rows that it writes, and where they come from. */
#ifndef TOOLS_SPEEDUP_PARTS_H
#define TOOLS_SPEEDUP_PARTS_H

#include "libfit/model/envelope.h"
#include "libfit/model/speedup.h"
#include "libfit/model/speedup_profile.h"
#include "tools/common/cli.h"

struct speedup_options {
	struct cli_list profiles, app, phases, slowdown, per_node, max_gpus, min_gpus, work;
	const char *placements;
	bool envelope, drop_bad;
};

/* ---- settings: NAME=VALUE, or VALUE for all ---- */

struct speedup_setting {
	struct fit_text name;	/* s NULL: all */
	double v;
};

struct speedup_settings {
	struct speedup_setting *list;
	size_t n;
	double otherwise;
};

enum { SPEEDUP_PHASES, SPEEDUP_SLOWDOWN, SPEEDUP_PER_NODE, SPEEDUP_MAX_GPUS, SPEEDUP_MIN_GPUS, SPEEDUP_WORK,
       SPEEDUP_SETTINGS };

extern const struct speedup_setting_kind {
	const char *option;
	size_t offset;		/* of the list in struct speedup_options */
	bool whole;		/* a number of things */
	bool by_class;		/* the names are of classes or applications, else of GPU types */
	double least, most, otherwise;
} speedup_setting_kinds[SPEEDUP_SETTINGS];

/* 0, or an exit status. list is freed by the caller, also of a failure. */
int speedup_take_settings(struct cli *cli, const struct speedup_options *o,
			  const struct speedup_setting_kind *kind, struct speedup_settings *s);
/* What was given for the name, for all, or neither. */
double speedup_setting_of(const struct speedup_settings *s, const char *name);

struct speedup_data {
	struct speedup_settings set[SPEEDUP_SETTINGS];
	struct fit_meta inputs;
	struct fit_writer *w;
	struct fit_envelope_work envelope;
	uint64_t dropped;
};

/* ---- names that options give, and nothing has ---- */

/* Is there a class, an application or a type of this name? */
typedef bool speedup_there_fn(const void *what, struct fit_text name);

/* Every name of the settings is there, or FIT_EDATA: those by class with --app, or those by GPU type. A name
 * that is not there would silently change nothing, or leave nothing. */
int speedup_need_classes(const struct speedup_options *o, const struct speedup_data *d, const char *kind,
			 const char *in, speedup_there_fn *there, const void *what,
			 struct fit_err *err) FIT_MUST_CHECK;
int speedup_need_types(const struct speedup_data *d, const char *in, speedup_there_fn *there,
		       const void *what, struct fit_err *err) FIT_MUST_CHECK;

/* ---- output ---- */

/* One width, and how it comes about. */
struct speedup_row {
	struct fit_width width;
	int64_t nodes;			/* 0: not known */
	const char *plan;		/* or NULL */
	struct fit_speedup_point first, last;
};

/* Rows of one class, epoch and type. */
struct speedup_group {
	const char *class, *type;
	int64_t epoch, epochs;		/* epochs 0: not known */
	double work;
	struct speedup_row *rows;
	size_t n, cap;
};

int speedup_begin(const struct cli *cli, struct speedup_data *d, struct fit_err *err) FIT_MUST_CHECK;
int speedup_add_row(struct speedup_group *g, const struct speedup_row *r, struct fit_err *err) FIT_MUST_CHECK;
/* The envelope of a group, and its rows. */
int speedup_put_group(const struct speedup_options *o, struct speedup_data *d, const struct speedup_group *g,
		      struct fit_err *err) FIT_MUST_CHECK;

/* ---- inputs in place of a table of speedups ---- */

int speedup_from_profiles(const struct cli *cli, const struct speedup_options *o, struct speedup_data *d,
			  struct fit_err *err) FIT_MUST_CHECK;
int speedup_from_placements(const struct cli *cli, const struct speedup_options *o, struct speedup_data *d,
			    struct fit_err *err) FIT_MUST_CHECK;

#endif
