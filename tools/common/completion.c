/* SPDX-License-Identifier: MIT */
#include "tools/common/completion.h"

#include <stdio.h>
#include <string.h>

/* What may stand after an option. */
enum takes { NOTHING, WORDS, FILES, ANYTHING };

static enum takes takes(const struct cli_option *o)
{
	static const char *const files[] = { "FILE", "STORE", "[TYPE=]STORE", "TABLE", "FOLDER", "PAGE" };

	if (o->kind == CLI_FLAG)
		return NOTHING;
	if (o->choices)
		return WORDS;
	if (o->flags & (CLI_INPUT | CLI_OUTPUT))
		return FILES;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (o->metavar && strcmp(o->metavar, files[i]) == 0)
			return FILES;
	return ANYTHING;
}

/* gf-x to gf_x, for the name of a function. */
static void put_name(const char *name)
{
	for (; *name; name++)
		putchar(*name == '-' ? '_' : *name);
}

static void put_words(const struct cli_option *o)
{
	for (size_t i = 0; o->choices[i]; i++)
		printf("%s%s", i ? " " : "", o->choices[i]);
}

/* ---- bash ---- */

static void bash_options(const struct cli_option *o)
{
	for (; o && o->long_name; o++) {
		if (!(o->flags & CLI_HIDDEN))
			printf(" --%s", o->long_name);
	}
}

/* The lines of a case: "VERB:--option | VERB:-o) what it takes ;;". */
static void bash_values(const char *verb, const struct cli_option *o)
{
	for (; o && o->long_name; o++) {
		enum takes what = takes(o);

		if (what == NOTHING || o->flags & CLI_HIDDEN)
			continue;
		printf("\t%s:--%s", verb, o->long_name);
		if (o->short_name)
			printf(" | %s:-%c", verb, o->short_name);
		fputs(") ", stdout);
		if (what == WORDS) {
			fputs("words='", stdout);
			put_words(o);
			fputs("'", stdout);
		} else {
			fputs(what == FILES ? "files=1" : "return 0", stdout);
		}
		fputs(" ;;\n", stdout);
	}
}

static void bash_verbs(const struct cli_tool *tool, const char *between)
{
	const char *sep = "";

	for (const struct cli_verb *v = tool->verbs; v->name; v++) {
		if (v->name[0]) {
			printf("%s%s", sep, v->name);
			sep = between;
		}
	}
}

static bool has_verbs(const struct cli_tool *tool)
{
	for (const struct cli_verb *v = tool->verbs; v->name; v++)
		if (v->name[0])
			return true;
	return false;
}

static void bash(const struct cli_tool *tool, const struct cli_option *shared)
{
	printf("# Completion of %s in bash, made by '%s --completion bash'.\n_", tool->name, tool->name);
	put_name(tool->name);
	fputs("() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tlocal verb='' options='' words='' files='' before=''\n"
	      "\tCOMPREPLY=()\n"
	      "\t# --option=value: three words where '=' breaks words, else one\n"
	      "\tif [[ $cur == '=' ]]; then\n"
	      "\t\tcur=''\n"
	      "\telif [[ $prev == '=' ]] && ((COMP_CWORD > 1)); then\n"
	      "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	      "\telif [[ $cur == --*=* ]]; then\n"
	      "\t\tprev=${cur%%=*} before=${cur%%=*}= cur=${cur#*=}\n"
	      "\tfi\n", stdout);
	if (has_verbs(tool)) {
		fputs("\t((COMP_CWORD < 2)) || case ${COMP_WORDS[1]} in\n\t", stdout);
		bash_verbs(tool, " | ");
		fputs(") verb=${COMP_WORDS[1]} ;;\n\tesac\n", stdout);
	}
	fputs("\tcase $verb:$prev in\n", stdout);
	for (const struct cli_verb *v = tool->verbs; v->name; v++)
		bash_values(v->name, v->options);
	bash_values("*", shared);
	fputs("\tesac\n\tcase $verb in\n", stdout);
	for (const struct cli_verb *v = tool->verbs; v->name; v++) {
		printf("\t'%s') options='", v->name);
		bash_options(v->options);
		fputs("' ;;\n", stdout);
	}
	fputs("\tesac\n\tif [[ -z $words$files ]]; then\n"
	      "\t\tif [[ $cur == -* ]]; then\n\t\t\twords=\"$options", stdout);
	bash_options(shared);
	fputs("\"\n", stdout);
	if (has_verbs(tool)) {
		fputs("\t\telif ((COMP_CWORD == 1)); then\n\t\t\twords='", stdout);
		bash_verbs(tool, " ");
		fputs("' files=1\n", stdout);
	}
	fputs("\t\telse\n\t\t\tfiles=1\n\t\tfi\n\tfi\n"
	      "\t[[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$words\" -- \"$cur\")\n"
	      "\tif [[ -n $files ]]; then\n"
	      "\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P \"$before\" -f -- \"$cur\")\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n\tfi\n\treturn 0\n}\ncomplete -F _", stdout);
	put_name(tool->name);
	printf(" %s\n", tool->name);
}

/* ---- zsh ---- */

/* Text within '…[…]' of an _arguments specification. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (strchr("[]:\\", *text))
			putchar('\\');
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	}
}

static void zsh_spec(const struct cli_option *o)
{
	enum takes what = takes(o);
	const char *many = o->kind == CLI_LIST ? "*" : "";

	fputs(" \\\n\t\t", stdout);
	if (o->short_name && o->kind != CLI_LIST)
		printf("'(-%c --%s)'{-%c,--%s%s}", o->short_name, o->long_name, o->short_name, o->long_name,
		       what == NOTHING ? "" : "=");
	else if (o->short_name)
		printf("\\*{-%c,--%s=}", o->short_name, o->long_name);
	else
		printf("'%s--%s%s'", many, o->long_name, what == NOTHING ? "" : "=");
	fputs("'[", stdout);
	zsh_text(o->help);
	putchar(']');
	if (what != NOTHING) {
		putchar(':');
		zsh_text(o->metavar ? o->metavar : "value");
		putchar(':');
	}
	if (what == WORDS) {
		putchar('(');
		put_words(o);
		putchar(')');
	} else if (what != NOTHING) {
		fputs(what == FILES ? "_files" : " ", stdout);
	}
	putchar('\'');
}

static void zsh_specs(const struct cli_option *o)
{
	for (; o && o->long_name; o++)
		if (!(o->flags & CLI_HIDDEN))
			zsh_spec(o);
}

/* The verbs as the first operand; files may stand there, too, in a call without one. */
static void zsh_verbs(const struct cli_tool *tool)
{
	fputs(" \\\n\t\t'1:verb:((", stdout);
	for (const struct cli_verb *v = tool->verbs; v->name; v++) {
		if (!v->name[0])
			continue;
		printf("%s\\:\"", v->name);
		for (const char *s = v->summary; *s; s++)
			if (!strchr("\"'\\():", *s))
				putchar(*s);
		fputs("\" ", stdout);
	}
	fputs("))'", stdout);
}

static void zsh(const struct cli_tool *tool, const struct cli_option *shared)
{
	bool verbs = has_verbs(tool), bare = false;

	printf("#compdef %s\n# Completion of %s in zsh, made by '%s --completion zsh'.\n", tool->name,
	       tool->name, tool->name);
	fputs("local verb=''\n", stdout);
	if (verbs) {
		fputs("(( CURRENT < 3 )) || case $words[2] in\n", stdout);
		bash_verbs(tool, " | ");
		fputs(") verb=$words[2]; shift words; (( CURRENT-- )) ;;\nesac\n", stdout);
	}
	fputs("case $verb in\n", stdout);
	for (const struct cli_verb *v = tool->verbs; v->name; v++) {
		bare |= !v->name[0];
		printf("'%s')\n\t_arguments -s -S", v->name);
		zsh_specs(v->options);
		zsh_specs(shared);
		if (verbs && !v->name[0])
			zsh_verbs(tool);
		fputs(" \\\n\t\t'*:file:_files' ;;\n", stdout);
	}
	if (!bare) {
		fputs("'')\n\t_arguments -s -S", stdout);
		zsh_specs(shared);
		zsh_verbs(tool);
		fputs(" ;;\n", stdout);
	}
	fputs("esac\n", stdout);
}

static const struct {
	const char *name;
	void (*write)(const struct cli_tool *tool, const struct cli_option *shared);
} shells[] = { { "bash", bash }, { "zsh", zsh } };

bool cli_completion(const struct cli_tool *tool, const struct cli_option *shared, const char *shell)
{
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
		if (strcmp(shells[i].name, shell) == 0) {
			shells[i].write(tool, shared);
			return true;
		}
	}
	return false;
}
