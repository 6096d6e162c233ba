/* SPDX-License-Identifier: MIT */
/*
 * The shared command line. One table of options per tool (or per verb) gives getopt_long its input,
 * --help its text, shell completion its words and the output its metadata.
 *
 * Checklist for a new tool gf-x:
 *   1. tools/gf-x.c: includes, one paragraph of purpose, options struct, option table, helpers,
 *      run(), main(). Mathematics and formats go to libfit.
 *   2. docs/man/gf-x.1 with examples that run; a line in README's tool list.
 *   3. tests/cli/gf-x.sh; the contract test (tests/cli/contract.sh) picks the tool up by itself.
 *
 *	static int run(struct cli *cli, void *given)
 *	{
 *		const struct options *o = given;
 *		...
 *		return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
 *	}
 *
 *	static const struct cli_verb verbs[] = {
 *		{ "", "[FILE]", "", option_table, 0, 1, .run = run },
 *		{ .name = NULL }
 *	};
 *
 *	int main(int argc, char **argv)
 *	{
 *		struct options o = { .interval_ns = 60 * FIT_NS_PER_S };
 *
 *		return cli_main(&tool, argc, argv, &o);
 *	}
 */
#ifndef TOOLS_COMMON_CLI_H
#define TOOLS_COMMON_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libfit/base/status.h"
#include "libfit/table/table.h"

enum cli_kind {
	CLI_FLAG,	/* bool *; no argument */
	CLI_TEXT,	/* const char **; borrowed from argv */
	CLI_LIST,	/* struct cli_list *; may be given several times */
	CLI_INT,	/* int64_t *, within [min, max] where max > min */
	CLI_REAL,	/* double *, likewise */
	CLI_TIME,	/* int64_t * ns, given in seconds, likewise (bounds in seconds) */
	CLI_CHOICE	/* int *: index into choices */
};

struct cli_list {
	const char **items;
	size_t n, cap;
};

bool cli_listed(const struct cli_list *list, const char *text);

struct cli_option {
	int short_name;			/* 0: none */
	const char *long_name;
	enum cli_kind kind;
	size_t offset;			/* of the field in the tool's options struct */
	const char *metavar;		/* NULL for flags */
	const char *default_text;	/* shown in help; NULL: none */
	const char *help;		/* one line, no full stop */
	const char *const *choices;	/* CLI_CHOICE: NULL-terminated names; CLI_TEXT, CLI_LIST: names that
					 * completion offers, NULL: none */
	double min, max;
	unsigned flags;
};
#define CLI_RESULT 1u	/* changes the result: goes into the metadata when it was given */
#define CLI_REQUIRED 2u
#define CLI_INPUT 4u	/* names an input: "-" is standard input, which only one input can be */
#define CLI_INSTEAD 8u	/* given, no operand is read, and so not standard input for want of one */
#define CLI_HIDDEN 32u	/* not in --help and completion */
#define CLI_OUTPUT 16u	/* names an output besides -o: the two cannot be one file */

struct cli;

/* A job of a tool that has several: gf-x VERB [options]. Where each verb has options of its own, the
 * tool's options are a union, and defaults fills in the member of this verb. */
struct cli_verb {
	const char *name;
	const char *operands;	/* for usage: "[FILE]" */
	const char *summary;
	const struct cli_option *options;	/* ends with long_name == NULL; may be NULL */
	int min_operands, max_operands;		/* max -1: any number */
	int (*run)(struct cli *cli, void *options);	/* does it; returns the exit status */
	void (*defaults)(void *options);	/* before parsing; NULL: they stand in options already */
};

struct cli_tool {
	const char *name;
	const char *summary;		/* one line */
	const char *details;		/* further lines of --help, or NULL */
	const struct cli_verb *verbs;	/* ends with name == NULL; the entry whose name is "" is what a
					 * call without a verb does: the only one, or beside others */
};

/* What an option is of use with. */
struct cli_use {
	const char *option;		/* long name */
	unsigned with;			/* any of these settings of the tool (bits) */
	const char *needs;		/* said where it is of no use: "--profiler", "--policy lucid or horus" */
};

struct cli {
	const struct cli_tool *tool;
	const struct cli_verb *verb;
	const char *out;		/* -o, or NULL */
	int verbose;			/* -v, counted */
	bool quiet;			/* -q */
	bool no_meta;			/* --no-meta */
	uint64_t seed;			/* --seed, default 1 */
	int threads;			/* --threads, default 1 */
	bool seed_given;
	const char *const *operands;
	int n_operands;
	uint64_t is_given[2];		/* options of the verb that were given, a bit each in table order */
	struct fit_meta given;		/* CLI_RESULT options that were given, in table order */
	int status;			/* worst exit status of cli_error() so far */
	struct fit_str faults;		/* of the command line, a line each: not said where help is wanted */
};

enum { CLI_EXIT_OK = 0, CLI_EXIT_DATA = 1, CLI_EXIT_USAGE = 2, CLI_EXIT_MACHINE = 3 };

/* All of main(): parse, run the verb, flush and check standard output, free the lists of options. Returns
 * the exit status. Help wins over faults of other options. Standard input named twice (operands, CLI_INPUT)
 * is a fault. Fills options (the tool's struct, with its defaults already in it) through the offsets. Also
 * switches off GSL's error handler and HDF5's printing, and guards the three standard descriptors. */
int cli_main(const struct cli_tool *tool, int argc, char **argv, void *options);

/* The operand i, or "-" when none was given. */
const char *cli_operand(const struct cli *cli, int i);
/* What messages call it: "<stdin>" for "-". */
const char *cli_operand_name(const struct cli *cli, int i);

/* Was this option of the verb given? */
bool cli_given(const struct cli *cli, const char *long_name);
/* Options that were given and change nothing as things are: wrong usage, all of them said in one line.
 * uses ends with option == NULL; settings are the bits that hold. 0 or 2. */
int cli_check_uses(struct cli *cli, const struct cli_use *uses, unsigned settings);

/* Print "gf-x: MESSAGE" and return the exit status that err->code stands for. */
int cli_error(struct cli *cli, const struct fit_err *err);
/* Wrong usage found by the tool itself: message, "Try 'gf-x --help'.", returns 2. */
int cli_usage(struct cli *cli, const char *fmt, ...) FIT_PRINTF(2, 3);
void cli_warn(const struct cli *cli, const char *fmt, ...) FIT_PRINTF(2, 3);	/* not with -q */
void cli_note(const struct cli *cli, const char *fmt, ...) FIT_PRINTF(2, 3);	/* only with -v */

/* Metadata of an output: tool, version, verb, the CLI_RESULT options that were given, and, when
 * with_seed, the seed. Inputs are added with cli_meta_input(). */
int cli_meta(const struct cli *cli, struct fit_meta *meta, bool with_seed) FIT_MUST_CHECK;
/* input=HASH, or input_NAME=HASH when name is given (for inputs with a role: jobs, profile). */
int cli_meta_input(struct fit_meta *meta, const char *name, const char *hash) FIT_MUST_CHECK;

/* fit_writer_open() with -o and --no-meta. */
int cli_writer_open(const struct cli *cli, struct fit_writer **w, struct fit_err *err) FIT_MUST_CHECK;

/* cli_writer_open() and the head of a table. rc is what making meta came to (else than 0: no memory); meta is
 * released. */
int cli_table_begin(const struct cli *cli, struct fit_writer **w, const char *name, struct fit_meta *meta,
		    int rc, const struct fit_field *fields, size_t n, struct fit_err *err) FIT_MUST_CHECK;
/* The same of one input: cli_meta() without seed and, unless hash is NULL, cli_meta_input(role, hash). */
int cli_table_about(const struct cli *cli, struct fit_writer **w, const char *name, const char *role,
		    const char *hash, const struct fit_field *fields, size_t n,
		    struct fit_err *err) FIT_MUST_CHECK;

/* The end of the output, whose tables have ended; or, where rc says that something went wrong before, nothing
 * is left behind. w NULL: rc. */
int cli_writer_close(struct fit_writer *w, int rc, struct fit_err *err) FIT_MUST_CHECK;
/* The end of the table and then that of the output. */
int cli_writer_end(struct fit_writer *w, int rc, struct fit_err *err) FIT_MUST_CHECK;

#endif
