/* SPDX-License-Identifier: MIT */
/*
 * Trees from any bytes, as JSON or as tables. What is read must be sound, walk every row to a leaf, print in
 * all formats, prune, and come back the same from its own JSON.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/model/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *json_of(const struct fit_tree *t)
{
	struct fit_str s = { 0 };

	if (fit_tree_print_json(t, &s, NULL))
		abort();
	return s.s;
}

static void walk(const struct fit_tree *t)
{
	static const double values[] = { -1, 0, 0.5, 1, 3, 1e300, -1e300 };
	double *x = malloc((t->n_features + 1) * sizeof *x);
	struct fit_str s = { 0 };

	for (size_t k = 0; x && k <= sizeof values / sizeof *values; k++) {
		for (size_t f = 0; f < t->n_features; f++)
			x[f] = k < sizeof values / sizeof *values ? values[(k + f) % 7] : (double)NAN;
		if (t->nodes[fit_tree_leaf(t, x)].left >= 0 || fit_tree_explain(t, x, &s, NULL))
			abort();
	}
	if (fit_tree_print_text(t, 6, true, &s, NULL) || fit_tree_print_dot(t, 6, &s, NULL) ||
	    fit_tree_print_c(t, "tree", &s, NULL))
		abort();
	fit_str_release(&s);
	free(x);
}

static void use(struct fit_tree *t)
{
	struct fit_tree_params params = fit_tree_params_default(t->criterion);
	struct fit_tree_pruned pruned = { 0.5, 7 };
	struct fit_tree_findings found;
	struct fit_tree_path path;
	struct fit_tree back;
	char *a, *b;

	if (fit_tree_sound(t, NULL))
		abort();
	walk(t);
	if (!fit_tree_trained(t, &params, &pruned, NULL) &&
	    (fit_tree_params_check(&params) || fit_tree_note_pruned(t, &pruned, NULL)))
		abort();
	a = json_of(t);
	/* names may be what JSON cannot hold (text that is not UTF-8), or be there twice */
	if (!fit_tree_read_json(&back, "fuzz", a, strlen(a), NULL)) {
		b = json_of(&back);
		if (strcmp(a, b) != 0)
			abort();
		free(b);
		fit_tree_release(&back);
	}
	free(a);
	if (fit_tree_path(t, &path, NULL))
		abort();
	if (t->n_nodes < 200) {
		if (fit_tree_check(t, NULL, &found, NULL))
			abort();
		free(found.list);
	}
	if (fit_tree_prune(t, path.steps[path.n / 2].alpha, NULL) || fit_tree_sound(t, NULL))
		abort();
	free(path.steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fit_reader *r = NULL;
	struct fit_tree t;

	if (!fit_tree_read_json(&t, "fuzz", (const char *)data, size, NULL)) {
		use(&t);
		fit_tree_release(&t);
	}
	if (!fit_reader_open_memory(&r, "fuzz", data, size, NULL) && !fit_tree_read_from(&t, r, NULL)) {
		use(&t);
		fit_tree_release(&t);
	}
	fit_reader_close(r);
	return 0;
}
