/* SPDX-License-Identifier: MIT */
#include "tools/common/cli.h"
#include "tools/common/cli_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>
#include <hdf5.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/base/version.h"
#include "tools/common/completion.h"

/* ---- the options that every tool has ---- */

struct shared {
	const char *out;
	const char *completion;
	bool quiet, no_meta, help, version;
	int64_t seed, threads;
	bool verbose;
};

static const struct cli_option shared_options[] = {
	{ 'o', "output", CLI_TEXT, offsetof(struct shared, out), "FILE", "standard output",
	  "write to FILE, or to the table store.h5:/path", NULL, 0, 0, 0 },
	{ 0, "seed", CLI_INT, offsetof(struct shared, seed), "N", "1", "seed of all random streams",
	  NULL, 0, 9007199254740992.0, 0 },
	{ 0, "threads", CLI_INT, offsetof(struct shared, threads), "N", "1",
	  "threads to use; the output does not depend on it", NULL, 1, 1024, 0 },
	{ 0, "no-meta", CLI_FLAG, offsetof(struct shared, no_meta), NULL, NULL,
	  "write the header row and the rows only", NULL, 0, 0, 0 },
	{ 'v', "verbose", CLI_FLAG, offsetof(struct shared, verbose), NULL, NULL,
	  "say more on standard error", NULL, 0, 0, 0 },
	{ 'q', "quiet", CLI_FLAG, offsetof(struct shared, quiet), NULL, NULL, "no warnings", NULL, 0, 0, 0 },
	{ 'h', "help", CLI_FLAG, offsetof(struct shared, help), NULL, NULL, "show this text", NULL, 0, 0, 0 },
	{ 'V', "version", CLI_FLAG, offsetof(struct shared, version), NULL, NULL, "show versions",
	  NULL, 0, 0, 0 },
	{ 0, "completion", CLI_TEXT, offsetof(struct shared, completion), "SHELL", NULL,
	  "write what completes command lines in bash or zsh", NULL, 0, 0, CLI_HIDDEN },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};
#define N_SHARED (sizeof shared_options / sizeof *shared_options - 1)

/* ---- messages ---- */

static void say(const struct cli *cli, const char *kind, const char *fmt, va_list ap) FIT_PRINTF(3, 0);
static void say(const struct cli *cli, const char *kind, const char *fmt, va_list ap)
{
	struct fit_err line;

	fit_fail_v(&line, FIT_OK, fmt, ap);
	cli_meter_wipe();
	fprintf(stderr, "%s: %s%s\n", cli->tool->name, kind, line.msg);
}

void cli_warn(const struct cli *cli, const char *fmt, ...)
{
	va_list ap;

	if (cli->quiet)
		return;
	va_start(ap, fmt);
	say(cli, "warning: ", fmt, ap);
	va_end(ap);
}

void cli_note(const struct cli *cli, const char *fmt, ...)
{
	va_list ap;

	if (!cli->verbose)
		return;
	va_start(ap, fmt);
	say(cli, "", fmt, ap);
	va_end(ap);
}

static void complain(struct cli *cli, const char *fmt, ...) FIT_PRINTF(2, 3);
static void complain(struct cli *cli, const char *fmt, ...)
{
	struct fit_err line;
	va_list ap;

	va_start(ap, fmt);
	fit_fail_v(&line, FIT_EINVAL, fmt, ap);
	va_end(ap);
	if (fit_str_printf(&cli->faults, "%s: %s\n", cli->tool->name, line.msg))
		fprintf(stderr, "%s: %s\n", cli->tool->name, line.msg);
	cli->status = CLI_EXIT_USAGE;
}

static int try_help(const struct cli *cli)
{
	if (cli->faults.n)
		fputs(cli->faults.s, stderr);
	fprintf(stderr, "Try '%s --help'.\n", cli->tool->name);
	return CLI_EXIT_USAGE;
}

int cli_usage(struct cli *cli, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(cli, "", fmt, ap);
	va_end(ap);
	return try_help(cli);
}

int cli_error(struct cli *cli, const struct fit_err *err)
{
	int status = CLI_EXIT_DATA;

	fprintf(stderr, "%s: %s\n", cli->tool->name, err->msg);
	if (err->code == FIT_EIO || err->code == FIT_ENOMEM || err->code == FIT_ECHILD)
		status = CLI_EXIT_MACHINE;
	if (status > cli->status)
		cli->status = status;
	return status;
}

/* ---- help ---- */

#define HELP_COLUMN 30
#define HELP_WIDTH 100

/* The words of a text, the first at HELP_COLUMN, broken before HELP_WIDTH. */
static void print_wrapped(const char *text)
{
	size_t column = HELP_COLUMN;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column > HELP_COLUMN && column + 1 + n > HELP_WIDTH) {
			printf("\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (column > HELP_COLUMN) {
			putchar(' ');
			column++;
		}
		printf("%.*s", (int)n, text);
		column += n;
		text += n;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void add(char *buf, size_t cap, const char *text)
{
	size_t n = strlen(buf);

	snprintf(buf + n, cap - n, "%s", text);
}

static void print_option(const struct cli_option *o)
{
	char left[80], right[2048] = "";
	int n = 0;

	n += snprintf(left, sizeof left, o->short_name ? "  -%c, " : "      ", o->short_name);
	n += snprintf(left + n, sizeof left - (size_t)n, "--%s%s%s", o->long_name,
		      o->metavar ? "=" : "", o->metavar ? o->metavar : "");
	if (n > HELP_COLUMN - 2)
		printf("%s\n%*s", left, HELP_COLUMN, "");
	else
		printf("%-*s", HELP_COLUMN, left);
	add(right, sizeof right, o->help);
	for (size_t i = 0; o->kind == CLI_CHOICE && o->choices[i]; i++) {
		add(right, sizeof right, i ? ", " : ": ");
		add(right, sizeof right, o->choices[i]);
	}
	if (o->default_text) {
		add(right, sizeof right, " [");
		add(right, sizeof right, o->default_text);
		add(right, sizeof right, "]");
	} else if (o->flags & CLI_REQUIRED) {
		add(right, sizeof right, " [required]");
	}
	print_wrapped(right);
}

static void print_options(const struct cli_option *o)
{
	for (; o && o->long_name; o++)
		if (!(o->flags & CLI_HIDDEN))
			print_option(o);
}

/* The verb of a call that names none: the entry whose name is "", or NULL. */
static const struct cli_verb *default_verb(const struct cli_tool *tool)
{
	const struct cli_verb *v = tool->verbs;

	while (v->name && v->name[0])
		v++;
	return v->name ? v : NULL;
}

static void print_usage(const struct cli_tool *tool, const struct cli_verb *v)
{
	printf("usage: %s%s%s [options]%s%s\n", tool->name, v->name[0] ? " " : "", v->name,
	       v->operands[0] ? " " : "", v->operands);
}

static void print_help(const struct cli_tool *tool, const struct cli_verb *only)
{
	for (const struct cli_verb *v = tool->verbs; v->name; v++)
		if (!only || v == only)
			print_usage(tool, v);
	printf("\n%s\n", tool->summary);
	if (tool->details)
		printf("\n%s\n", tool->details);
	for (const struct cli_verb *v = tool->verbs; v->name; v++) {
		if (only && v != only)
			continue;
		if (v->name[0])
			printf("\n%s: %s\n", v->name, v->summary);
		else
			putchar('\n');
		print_options(v->options);
	}
	printf("\nCommon options:\n");
	print_options(shared_options);
	printf("\nExit status: 0 done, 1 the data, 2 the command line, 3 the machine.\n"
	       "See '%s(1)' and, for the table format, 'fit-table(5)'.\n", tool->name);
}

static void print_version(const struct cli_tool *tool)
{
	unsigned major, minor, release;

	H5get_libversion(&major, &minor, &release);
	printf("%s %s\nlibfit %s, GSL %s, HDF5 %u.%u.%u\nbuilt with %s%s\n", tool->name, FIT_VERSION,
	       FIT_VERSION, gsl_version, major, minor, release,
#ifdef __clang__
	       "clang " __clang_version__,
#else
	       "gcc " __VERSION__,
#endif
#ifdef __OPTIMIZE__
	       ", optimised, -ffp-contract=off"
#else
	       ", not optimised, -ffp-contract=off"
#endif
	);
}

/* ---- parsing ---- */

/* A bound as an integer, of nanoseconds for a time: a double would round its neighbours to it. */
static int64_t whole_bound(const struct cli_option *o, double bound)
{
	int64_t ns;

	if (o->kind == CLI_TIME && fit_time_from_double(bound, &ns) == FIT_OK)
		return ns;
	if (o->kind == CLI_TIME || !(bound > -9.2e18 && bound < 9.2e18))
		return bound > 0 ? INT64_MAX : INT64_MIN;
	return (int64_t)bound;
}

static void bad_number(struct cli *cli, const struct cli_option *o, const char *arg)
{
	const char *what = o->kind == CLI_INT ? "an integer" : o->kind == CLI_TIME ? "seconds" : "a number";

	if (!(o->max > o->min))
		complain(cli, "bad value '%s' for --%s (expected %s)", arg, o->long_name, what);
	else if (o->kind == CLI_INT)
		complain(cli, "bad value '%s' for --%s (expected %s from %lld to %lld)", arg, o->long_name, what,
			 (long long)whole_bound(o, o->min), (long long)whole_bound(o, o->max));
	else
		complain(cli, "bad value '%s' for --%s (expected %s from %g to %g)", arg, o->long_name, what,
			 o->min, o->max);
}

static void set_number(struct cli *cli, const struct cli_option *o, const char *arg, void *field)
{
	struct fit_text t = fit_text_of(arg);
	bool bounded = o->max > o->min;
	double v = 0;
	int64_t i = 0;
	int rc;

	if (o->kind == CLI_REAL) {
		rc = fit_parse_double(t, &v);
		if (!rc && bounded && !(v >= o->min && v <= o->max))
			rc = FIT_EINVAL;
	} else {
		rc = o->kind == CLI_INT ? fit_parse_int64(t, &i) : fit_parse_time(t, &i);
		if (!rc && bounded && (i < whole_bound(o, o->min) || i > whole_bound(o, o->max)))
			rc = FIT_EINVAL;
	}
	if (rc)
		bad_number(cli, o, arg);
	else if (o->kind == CLI_REAL)
		*(double *)field = v;
	else
		*(int64_t *)field = i;
}

static void set_choice(struct cli *cli, const struct cli_option *o, const char *arg, int *field)
{
	char list[512] = "";
	size_t n = 0;

	for (int i = 0; o->choices[i]; i++) {
		if (strcmp(o->choices[i], arg) == 0) {
			*field = i;
			return;
		}
		if (n < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", o->choices[i]);
	}
	complain(cli, "unknown value '%s' for --%s (expected %s)", arg, o->long_name, list);
}

/* A text may be empty, a name of anything may not: it is what a shell makes of a variable that is not set. */
static bool is_empty_name(const struct cli_option *o, const char *arg)
{
	return (o->kind == CLI_TEXT || o->kind == CLI_LIST) && !*arg && strcmp(o->metavar, "TEXT") != 0;
}

static void set_option(struct cli *cli, const struct cli_option *o, const char *arg, void *base)
{
	void *field = (char *)base + o->offset;
	struct cli_list *list = field;

	if (is_empty_name(o, arg)) {
		complain(cli, "empty value for --%s (expected %s)", o->long_name, o->metavar);
		return;
	}
	switch (o->kind) {
	case CLI_FLAG:
		*(bool *)field = true;
		break;
	case CLI_TEXT:
		*(const char **)field = arg;
		break;
	case CLI_LIST:
		if (fit_grow(&list->items, &list->cap, list->n + 1, sizeof *list->items))
			complain(cli, "out of memory");
		else
			list->items[list->n++] = arg;
		break;
	case CLI_CHOICE:
		set_choice(cli, o, arg, field);
		break;
	case CLI_INT:
	case CLI_REAL:
	case CLI_TIME:
		set_number(cli, o, arg, field);
		break;
	}
}

bool cli_listed(const struct cli_list *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

bool cli_given(const struct cli *cli, const char *long_name)
{
	size_t i = 0;

	for (const struct cli_option *o = cli->verb->options; o && o->long_name; o++, i++)
		if (strcmp(o->long_name, long_name) == 0)
			return cli->is_given[i / 64] >> i % 64 & 1;
	return false;
}

int cli_check_uses(struct cli *cli, const struct cli_use *uses, unsigned settings)
{
	struct fit_err list = { .msg = "" };
	size_t n = 0;

	for (; uses->option; uses++)
		if (!(uses->with & settings) && cli_given(cli, uses->option) && n < sizeof list.msg)
			n += (size_t)snprintf(list.msg + n, sizeof list.msg - n, "%s--%s (expected %s)", n ? ", " : "",
					      uses->option, uses->needs);
	return n ? cli_usage(cli, "of no use here: %s", list.msg) : CLI_EXIT_OK;
}

/* Verb options first, then the shared ones; the getopt value of entry k is 256 + k. */
static size_t collect(const struct cli_verb *verb, const struct cli_option **all, size_t max)
{
	size_t n = 0;

	for (const struct cli_option *o = verb->options; o && o->long_name && n < max; o++)
		all[n++] = o;
	for (size_t i = 0; i < N_SHARED && n < max; i++)
		all[n++] = &shared_options[i];
	return n;
}

#define MAX_OPTIONS 96

struct parse {
	const struct cli_option *all[MAX_OPTIONS];
	const char *arg[MAX_OPTIONS];
	bool given[MAX_OPTIONS];
	struct option longs[MAX_OPTIONS + 1];
	char shorts[2 * MAX_OPTIONS + 3];
	size_t n;
};

static void make_getopt_tables(struct parse *p)
{
	size_t s = 0;

	p->shorts[s++] = ':';
	for (size_t i = 0; i < p->n; i++) {
		int takes = p->all[i]->kind == CLI_FLAG ? no_argument : required_argument;

		p->longs[i] = (struct option){ p->all[i]->long_name, takes, NULL, 256 + (int)i };
		if (p->all[i]->short_name) {
			p->shorts[s++] = (char)p->all[i]->short_name;
			if (takes == required_argument)
				p->shorts[s++] = ':';
		}
	}
	p->shorts[s] = '\0';
	p->longs[p->n] = (struct option){ 0 };
}

static void run_getopt(struct cli *cli, struct parse *p, int argc, char **argv, struct shared *sh,
		       void *options)
{
	int c;

	unsetenv("POSIXLY_CORRECT");	/* options may follow operands, whatever the environment says */
	optind = 0;	/* glibc: start anew, reading the flags of shorts again */
	opterr = 0;
	while ((c = getopt_long(argc, argv, p->shorts, p->longs, NULL)) != -1) {
		size_t k = p->n;

		if (c == '?' || c == ':') {
			const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";

			if (c == ':')
				complain(cli, "option '%s' needs a value", word);
			else if (optopt && optopt < 256 && word[0] == '-' && word[1] != '-')
				complain(cli, "unknown option '-%c'", optopt);
			else if (optopt >= 256)
				complain(cli, "option '%s' takes no value", word);
			else
				complain(cli, "unknown option '%s'", word);
			continue;
		}
		if (c >= 256) {
			k = (size_t)c - 256;
		} else {
			for (k = 0; k < p->n && p->all[k]->short_name != c; k++)
				;
		}
		if (k == p->n)
			continue;
		p->given[k] = true;
		p->arg[k] = optarg;
		if (p->all[k] >= shared_options && p->all[k] < shared_options + N_SHARED)
			set_option(cli, p->all[k], optarg, sh);
		else
			set_option(cli, p->all[k], optarg, options);
	}
}

/* options: the tool's struct; an option that may be given several times is one pair each time. */
static int remember_results(struct cli *cli, const struct parse *p, const void *options)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct cli_option *o = p->all[i];
		const struct cli_list *list = NULL;
		char key[64];
		size_t n = 0;
		int rc = FIT_OK;

		if (!p->given[i] || !(o->flags & CLI_RESULT))
			continue;
		for (; n < sizeof key - 1 && o->long_name[n]; n++)
			key[n] = o->long_name[n] == '-' ? '_' : o->long_name[n];
		key[n] = '\0';
		if (o->kind == CLI_LIST)
			list = (const void *)((const char *)options + o->offset);
		for (size_t k = 0; list && k < list->n && !rc; k++)
			rc = fit_meta_add(&cli->given, key, list->items[k]);
		if (!list)
			rc = fit_meta_add(&cli->given, key, p->arg[i] ? p->arg[i] : "1");
		if (rc)
			return FIT_ENOMEM;
	}
	return FIT_OK;
}

/* ---- standard input, which can be read once ---- */

struct stdin_use {
	char who[2][80];
	int n;
};

static void use_stdin(struct stdin_use *u, const char *before, const char *name)
{
	if (u->n < 2)
		snprintf(u->who[u->n], sizeof u->who[u->n], "%s%s", before, name);
	u->n++;
}

static void use_option(struct stdin_use *u, const struct cli_option *o, const void *options)
{
	const void *field = (const char *)options + o->offset;
	const struct cli_list *list = field;

	if (o->kind == CLI_TEXT) {
		if (strcmp(*(const char *const *)field, "-") == 0)
			use_stdin(u, "--", o->long_name);
		return;
	}
	for (size_t i = 0; o->kind == CLI_LIST && i < list->n; i++)
		if (strcmp(list->items[i], "-") == 0)
			use_stdin(u, "--", o->long_name);
}

static void check_stdin(struct cli *cli, const struct parse *p, const void *options)
{
	struct stdin_use u = { .n = 0 };
	bool reads = cli->verb->max_operands != 0;

	for (size_t i = 0; i < p->n; i++) {
		if (!p->given[i])
			continue;
		if (p->all[i]->flags & CLI_INPUT)
			use_option(&u, p->all[i], options);
		if (p->all[i]->flags & CLI_INSTEAD)
			reads = false;
	}
	for (int i = 0; i < cli->n_operands; i++) {
		char number[FIT_NUM_MAX];

		fit_format_int64(number, i + 1);
		if (strcmp(cli->operands[i], "-") == 0)
			use_stdin(&u, "operand ", number);
	}
	if (reads && cli->n_operands == 0 && cli->verb->min_operands == 0)
		use_stdin(&u, "", "the operand that is not given");
	if (u.n > 1)
		complain(cli, "standard input cannot be two inputs: %s and %s", u.who[0], u.who[1]);
}

/* Of two outputs of one name the later rename would undo the other. Devices take both. */
static void check_outputs(struct cli *cli, const struct parse *p, const void *options, const char *out)
{
	for (size_t i = 0; i < p->n && out; i++) {
		const char *also = NULL;

		if (p->given[i] && (p->all[i]->flags & CLI_OUTPUT))
			also = *(const char *const *)(const void *)((const char *)options + p->all[i]->offset);
		if (also && strcmp(also, out) == 0 && strncmp(out, "/dev/", 5) != 0)
			complain(cli, "--output and --%s are the same file '%s'", p->all[i]->long_name, out);
	}
}

/* A closed descriptor 0, 1 or 2 would be handed to the next file that is opened, and then data
 * would be overwritten by messages. Put something there on which the wrong direction fails. */
static void guard_standard_descriptors(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
		    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			_exit(CLI_EXIT_MACHINE);
}

static void list_verbs(const struct cli_tool *tool, char *list, size_t cap)
{
	list[0] = '\0';
	for (const struct cli_verb *v = tool->verbs; v->name; v++) {
		add(list, cap, v == tool->verbs ? "" : v[1].name ? ", " : " or ");
		add(list, cap, v->name);
	}
}

static const struct cli_verb *find_verb(struct cli *cli, int *argc, char ***argv)
{
	const struct cli_tool *tool = cli->tool;
	char *name = *argc > 1 ? (*argv)[1] : NULL;

	for (const struct cli_verb *v = tool->verbs; name && v->name; v++) {
		if (v->name[0] && strcmp(v->name, name) == 0) {
			(*argv)++;
			(*argc)--;
			return v;
		}
	}
	if (!default_verb(tool) && name && name[0] != '-') {
		char list[256];

		list_verbs(tool, list, sizeof list);
		complain(cli, "unknown verb '%s' (expected %s)", name, list);
	}
	return default_verb(tool);
}

/* Flush and check standard output, free, and return the final exit status. */
static int finish(struct cli *cli, int status)
{
	bool bad = ferror(stdout) != 0;

	cli_meter_wipe();

	errno = 0;
	if (fflush(stdout) || bad || (fclose(stdout) && errno != EBADF)) {
		fprintf(stderr, "%s: cannot write to standard output: %s\n", cli->tool->name,
			errno ? strerror(errno) : "write error");
		status = CLI_EXIT_MACHINE;
	}
	fit_meta_release(&cli->given);
	fit_str_release(&cli->faults);
	return status;
}

/* Returns -1 to go on, or the exit status to leave with (--help, --version, wrong usage). */
static int start(struct cli *cli, const struct cli_tool *tool, int argc, char **argv, void *options)
{
	static const struct cli_verb no_verb = { "", "", "", NULL, 0, -1, .run = NULL };
	struct shared sh = { .seed = 1, .threads = 1 };
	struct parse p = { .n = 0 };
	bool verbless;

	guard_standard_descriptors();
	gsl_set_error_handler_off();
	H5dont_atexit();
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	*cli = (struct cli){ .tool = tool };
	cli->verb = find_verb(cli, &argc, &argv);
	verbless = !cli->verb;
	if (verbless)
		cli->verb = &no_verb;
	if (cli->verb->defaults)
		cli->verb->defaults(options);
	p.n = collect(cli->verb, p.all, MAX_OPTIONS);
	make_getopt_tables(&p);
	if (!cli->status)
		run_getopt(cli, &p, argc, argv, &sh, options);
	if (sh.help) {
		print_help(tool, verbless || !cli->verb->name[0] ? NULL : cli->verb);
		return finish(cli, CLI_EXIT_OK);
	}
	if (sh.version) {
		print_version(tool);
		return finish(cli, CLI_EXIT_OK);
	}
	if (sh.completion && cli_completion(tool, shared_options, sh.completion))
		return finish(cli, CLI_EXIT_OK);
	if (sh.completion)
		complain(cli, "unknown value '%s' for --completion (expected bash, zsh)", sh.completion);
	cli->operands = (const char *const *)argv + optind;
	cli->n_operands = cli->status ? 0 : argc - optind;
	if (verbless && !cli->status) {
		char list[256];

		list_verbs(tool, list, sizeof list);
		complain(cli, "no verb (expected %s)", list);
	}
	for (size_t i = 0; i < p.n && !cli->status; i++)
		if ((p.all[i]->flags & CLI_REQUIRED) && !p.given[i])
			complain(cli, "option --%s is required", p.all[i]->long_name);
	if (!cli->status && cli->n_operands < cli->verb->min_operands)
		complain(cli, "too few operands (expected %s)", cli->verb->operands);
	if (!cli->status && cli->verb->max_operands >= 0 && cli->n_operands > cli->verb->max_operands)
		complain(cli, "unexpected operand '%s'", cli->operands[cli->verb->max_operands]);
	if (!cli->status)
		check_stdin(cli, &p, options);
	if (!cli->status)
		check_outputs(cli, &p, options, sh.out);
	if (cli->status) {
		int status = try_help(cli);

		fit_str_release(&cli->faults);
		return status;
	}
	cli->out = sh.out;
	cli->verbose = sh.verbose;
	cli->quiet = sh.quiet;
	cli->no_meta = sh.no_meta;
	cli->seed = (uint64_t)sh.seed;
	cli->threads = (int)sh.threads;
	for (size_t i = 0; i < p.n; i++)
		cli->is_given[i / 64] |= (uint64_t)p.given[i] << i % 64;
	cli_meter_start(cli);
	if (remember_results(cli, &p, options)) {
		fprintf(stderr, "%s: out of memory\n", tool->name);
		return CLI_EXIT_MACHINE;
	}
	return -1;
}

static void free_lists(const struct cli_verb *verb, void *options)
{
	for (const struct cli_option *o = verb->options; o && o->long_name; o++) {
		struct cli_list *list = (void *)((char *)options + o->offset);

		if (o->kind != CLI_LIST)
			continue;
		free(list->items);
		*list = (struct cli_list){ NULL, 0, 0 };
	}
}

int cli_main(const struct cli_tool *tool, int argc, char **argv, void *options)
{
	struct cli cli;
	int status = start(&cli, tool, argc, argv, options);

	if (status < 0)
		status = finish(&cli, cli.verb->run(&cli, options));
	free_lists(cli.verb, options);
	return status;
}

const char *cli_operand(const struct cli *cli, int i)
{
	return i < cli->n_operands ? cli->operands[i] : "-";
}

const char *cli_operand_name(const struct cli *cli, int i)
{
	const char *operand = cli_operand(cli, i);

	return strcmp(operand, "-") == 0 ? "<stdin>" : operand;
}

/* ---- outputs ---- */

int cli_meta(const struct cli *cli, struct fit_meta *meta, bool with_seed)
{
	char seed[FIT_NUM_MAX];
	int rc = fit_meta_add(meta, "tool", cli->tool->name);

	if (!rc)
		rc = fit_meta_add(meta, "version", FIT_VERSION);
	if (!rc && cli->verb->name[0])
		rc = fit_meta_add(meta, "verb", cli->verb->name);
	for (size_t i = 0; !rc && i < cli->given.n; i++)
		rc = fit_meta_add(meta, cli->given.pairs[i].key, cli->given.pairs[i].value);
	if (!rc && with_seed) {
		fit_format_int64(seed, (int64_t)cli->seed);
		rc = fit_meta_add(meta, "seed", seed);
	}
	return rc;
}

int cli_meta_input(struct fit_meta *meta, const char *name, const char *hash)
{
	char key[64] = "input";

	if (name)
		snprintf(key, sizeof key, "input_%s", name);
	return fit_meta_add(meta, key, hash);
}

int cli_writer_open(const struct cli *cli, struct fit_writer **w, struct fit_err *err)
{
	return fit_writer_open(w, cli->out, cli->no_meta ? FIT_W_NO_META : 0, err);
}

int cli_table_begin(const struct cli *cli, struct fit_writer **w, const char *name, struct fit_meta *meta,
		    int rc, const struct fit_field *fields, size_t n, struct fit_err *err)
{
	rc = rc ? fit_fail_nomem(err) : cli_writer_open(cli, w, err);
	rc = rc ? rc : fit_writer_begin(*w, name, meta, fields, n, err);
	fit_meta_release(meta);
	return rc;
}

int cli_table_about(const struct cli *cli, struct fit_writer **w, const char *name, const char *role,
		    const char *hash, const struct fit_field *fields, size_t n, struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false);

	if (!rc && hash)
		rc = cli_meta_input(&meta, role, hash);
	return cli_table_begin(cli, w, name, &meta, rc, fields, n, err);
}

int cli_writer_close(struct fit_writer *w, int rc, struct fit_err *err)
{
	if (!rc && w)
		return fit_writer_close(w, err);
	fit_writer_abort(w);
	return rc;
}

int cli_writer_end(struct fit_writer *w, int rc, struct fit_err *err)
{
	return cli_writer_close(w, rc || !w ? rc : fit_writer_end(w, err), err);
}
