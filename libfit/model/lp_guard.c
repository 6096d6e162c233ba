/* SPDX-License-Identifier: MIT */
#include "libfit/model/lp_guard.h"

#include <glpk.h>
#include <setjmp.h>
#include <string.h>

struct guard {
	jmp_buf back;
	char said[200];		/* the first line of what GLPK had to say */
};

/* GLPK speaks to the terminal before it gives up, whatever it was told about that: 1 keeps it from it. */
static int hear(void *info, const char *text)
{
	struct guard *g = info;
	size_t n = strcspn(text, "\n");

	if (*g->said)
		return 1;
	n = n < sizeof g->said ? n : sizeof g->said - 1;
	memcpy(g->said, text, n);
	g->said[n] = '\0';
	return 1;
}

static void leave(void *info)
{
	struct guard *g = info;

	longjmp(g->back, 1);
}

int fit_lp_call(int (*work)(void *arg, struct fit_err *err), void *arg, const char *what,
		struct fit_err *err)
{
	struct guard g;
	int rc;

	g.said[0] = '\0';
	glp_term_out(GLP_OFF);
	glp_term_hook(hear, &g);
	glp_error_hook(leave, &g);
	if (setjmp(g.back)) {
		glp_free_env();
		return fit_fail(err, FIT_ENOCONV, "%s: the linear programme was given up: %s", what, g.said);
	}
	rc = work(arg, err);
	glp_free_env();
	return rc;
}
