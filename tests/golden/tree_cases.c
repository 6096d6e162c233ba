/* SPDX-License-Identifier: MIT */
/*
 * tree_cases FOLDER: grow the tree of each FOLDER/NAME.json from the table that it names, in the mode that
 * agrees with scikit-learn, and compare. One line for each comparison:
 *
 *	CASE <tab> WHAT <tab> ok | not ok <tab> the first difference
 *
 * Where the tree of a case is the only one that the rules allow (one tree over all seeds, no tied nodes)
 * it is compared node by node; else with the tree of the written tie rule, if the case has one, else by
 * impurity and by the predictions that all seeds agree on.
 */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/model/tree.h"
#include "libfit/table/table.h"
#include "traces/csv_table.h"

static const char *case_name;

static void say(const char *what, const char *why)
{
	printf("%s\t%s\t%s\t%s\n", case_name, what, *why ? "not ok" : "ok", why);
}

static bool near(double a, double b, double rel, double abs)
{
	return fabs(a - b) <= abs + rel * fmax(fabs(a), fabs(b));
}

static double real(const json_t *v)
{
	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* ---- a case ---- */

struct rows {
	struct fit_table table;
	struct fit_tree_feature *features;
	double **x, *y, *w;
	char **classes;
	size_t k, n_classes;
	bool *train;
};

/* "0.5+frac((row_index+1)*0.6180339887498949)" */
static bool weight_rule(const char *rule, size_t row, double *w)
{
	static const char head[] = "+frac((row_index+1)*";
	const char *mid = strstr(rule, head);
	double a, b, whole;
	size_t n;

	if (!mid || fit_parse_double((struct fit_text){ rule, (size_t)(mid - rule) }, &a))
		return false;
	mid += strlen(head);
	n = strcspn(mid, ")");
	if (strcmp(mid + n, ")") != 0 || fit_parse_double((struct fit_text){ mid, n }, &b))
		return false;
	*w = a + modf((double)(row + 1) * b, &whole);
	return true;
}

/* "row_index % 3 != 2" */
static bool train_rule(const char *rule, size_t row, bool *train)
{
	static const char head[] = "row_index % ", middle[] = " != ";
	const char *mid;
	int64_t a, b;

	if (strncmp(rule, head, strlen(head)) != 0 || !(mid = strstr(rule, middle)))
		return false;
	rule += strlen(head);
	if (fit_parse_int64((struct fit_text){ rule, (size_t)(mid - rule) }, &a) || a < 1 ||
	    fit_parse_int64(fit_text_of(mid + strlen(middle)), &b))
		return false;
	*train = (int64_t)row % a != b;
	return true;
}

static void rows_release(struct rows *g)
{
	for (size_t f = 0; f < g->k; f++) {
		free(g->x[f]);
		free(g->features[f].name);
	}
	for (size_t c = 0; c < g->n_classes; c++)
		free(g->classes[c]);
	free(g->classes);
	free(g->features);
	free(g->x);
	free(g->y);
	free(g->w);
	free(g->train);
	fit_table_release(&g->table);
}

static double cell(const struct fit_column *c, size_t row)
{
	struct fit_cell v = fit_column_cell(c, row);

	return v.na ? (double)NAN : c->type == FIT_INT ? (double)v.u.i : c->type == FIT_REAL ? v.u.d : (double)NAN;
}

static const char *rows_read(struct rows *g, const char *folder, const json_t *root)
{
	const char *rule = json_string_value(json_object_get(root, "train_rule"));
	const char *weights = json_string_value(json_object_get(root, "weight_rule"));
	bool classifier = strcmp(json_string_value(json_object_get(root, "task")), "clf") == 0;
	static struct fit_err err;
	char path[1024];

	snprintf(path, sizeof path, "%s/%s.csv", folder, json_string_value(json_object_get(root, "dataset")));
	if (fit_csv_table(&g->table, path, &err))
		return err.msg;
	g->k = g->table.n_columns - 1;
	g->features = calloc(g->k + 1, sizeof *g->features);
	g->x = calloc(g->k + 1, sizeof *g->x);
	g->y = calloc(g->table.n_rows + 1, sizeof *g->y);
	g->w = calloc(g->table.n_rows + 1, sizeof *g->w);
	g->train = calloc(g->table.n_rows + 1, sizeof *g->train);
	for (size_t f = 0; f < g->k; f++) {
		g->features[f].name = fit_strdup(fit_text_of(g->table.columns[f].name));
		g->x[f] = calloc(g->table.n_rows + 1, sizeof **g->x);
		for (size_t i = 0; i < g->table.n_rows; i++)
			g->x[f][i] = cell(&g->table.columns[f], i);
	}
	for (size_t i = 0; i < g->table.n_rows; i++) {
		g->y[i] = cell(&g->table.columns[g->k], i);
		g->w[i] = 1;
		if (!rule || !train_rule(rule, i, &g->train[i]))
			return "unknown train_rule";
		if (weights && !weight_rule(weights, i, &g->w[i]))
			return "unknown weight_rule";
		if (classifier && g->y[i] + 1 > (double)g->n_classes)
			g->n_classes = (size_t)g->y[i] + 1;
	}
	g->classes = calloc(g->n_classes + 1, sizeof *g->classes);
	for (size_t c = 0; c < g->n_classes; c++) {
		char name[32];

		snprintf(name, sizeof name, "%zu", c);
		g->classes[c] = fit_strdup(fit_text_of(name));
	}
	return NULL;
}

static const char *params_of(struct fit_tree_params *p, const json_t *root, bool *balanced)
{
	bool classifier = strcmp(json_string_value(json_object_get(root, "task")), "clf") == 0;
	const char *key;
	json_t *v;

	*p = fit_tree_params_default(classifier ? FIT_TREE_GINI : FIT_TREE_SQUARED);
	p->sklearn = true;
	*balanced = false;
	json_object_foreach(json_object_get(root, "params"), key, v) {
		if (strcmp(key, "max_depth") == 0) {
			p->max_depth = json_integer_value(v);
		} else if (strcmp(key, "min_samples_leaf") == 0) {
			p->min_leaf = json_integer_value(v);
		} else if (strcmp(key, "min_samples_split") == 0) {
			p->min_split = json_integer_value(v);
		} else if (strcmp(key, "max_leaf_nodes") == 0) {
			p->max_leaves = json_integer_value(v);
		} else if (strcmp(key, "min_impurity_decrease") == 0) {
			p->min_decrease = real(v);
		} else if (strcmp(key, "min_weight_fraction_leaf") == 0) {
			p->min_weight_share = real(v);
		} else if (strcmp(key, "class_weight") == 0) {
			*balanced = true;
		} else if (strcmp(key, "criterion") == 0) {
			int k = 0;

			while (fit_tree_criterion_names[k] &&
			       strcmp(fit_tree_criterion_names[k], json_string_value(v)) != 0)
				k++;
			if (!fit_tree_criterion_names[k])
				return "unknown criterion";
			p->criterion = (enum fit_tree_criterion)k;
		} else {
			return "unknown parameter";
		}
	}
	return NULL;
}

/* Rows of the training set alone; class weights n / (classes * n of the class). */
static struct fit_tree_data training(struct rows *g, bool balanced, double *w)
{
	double count[64] = { 0 }, all = 0;

	for (size_t i = 0; i < g->table.n_rows; i++) {
		w[i] = g->train[i] ? g->w[i] : 0;
		if (g->train[i] && balanced) {
			count[(size_t)g->y[i]]++;
			all++;
		}
	}
	for (size_t i = 0; i < g->table.n_rows && balanced; i++)
		w[i] *= all / ((double)g->n_classes * fmax(count[(size_t)g->y[i]], 1));
	return (struct fit_tree_data){ g->table.n_rows, g->k, g->n_classes, g->features, g->classes,
				       (const double *const *)g->x, g->y, w };
}

/* ---- comparisons; each gives "" or the first difference ---- */

static char diff[400];

static const char *same_nodes(const struct fit_tree *t, const struct fit_tree *want)
{
	if (want->n_nodes != t->n_nodes) {
		snprintf(diff, sizeof diff, "%zu nodes, expected %zu", t->n_nodes, want->n_nodes);
		return diff;
	}
	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct fit_tree_node *a = &t->nodes[i], *b = &want->nodes[i];

		if (a->left != b->left || a->right != b->right || a->feature != b->feature || a->n != b->n ||
		    a->threshold < b->threshold || a->threshold > b->threshold) {
			snprintf(diff, sizeof diff, "node %zu: feature %d at %.17g, %llu rows", i, a->feature,
				 a->threshold, (unsigned long long)a->n);
			return diff;
		}
	}
	return "";
}

static const char *same_numbers(const struct fit_tree *t, const struct fit_tree *want)
{
	for (size_t i = 0; i < t->n_nodes && i < want->n_nodes; i++) {
		const struct fit_tree_node *a = &t->nodes[i], *b = &want->nodes[i];
		bool good = near(a->weight, b->weight, 1e-12, 0) &&
			    near(a->impurity, b->impurity, 1e-12, 1e-12 * fmax(t->nodes[0].impurity, 1e-12)) &&
			    near(a->value, b->value, 1e-12, 1e-12 * sqrt(t->nodes[0].impurity));

		for (size_t c = 0; c < t->n_classes; c++)
			good = good && near(t->class_weight[i * t->n_classes + c],
					    want->class_weight[i * t->n_classes + c], 1e-12, 1e-12);
		if (!good) {
			snprintf(diff, sizeof diff, "node %zu: weight %.17g, impurity %.17g, value %.17g", i, a->weight,
				 a->impurity, a->value);
			return diff;
		}
	}
	return "";
}

/*
 * "(feature, threshold, LEFT, RIGHT)" or "('L', rows)", in preorder. A node of one class or one target is a
 * leaf of ours. With weights that are no whole numbers the sums of the other side can leave an impurity of
 * 1e-15 there, and cut it once more to no avail: such a subtree is passed over, and counted.
 */
static size_t passed_over;

static const char *same_canon(const struct fit_tree *t, const char *s)
{
	size_t i = 0;

	while (*s) {
		double v[2];

		if (*s != '(') {
			s++;
			continue;
		}
		s++;
		if (i == t->n_nodes) {
			snprintf(diff, sizeof diff, "only %zu nodes", t->n_nodes);
			return diff;
		}
		v[0] = -1;
		for (int k = strncmp(s, "'L'", 3) == 0; k < 2; k++) {
			size_t n;

			if (strncmp(s, "'L', ", 5) == 0)
				s += 5;
			n = strcspn(s, ",)");
			if (fit_parse_double((struct fit_text){ s, n }, &v[k]))
				return "the expected tree cannot be read";
			s += n;
			while (*s == ',' || *s == ' ')
				s++;
		}
		if (t->nodes[i].left < 0 && !(t->nodes[i].impurity > 0) && v[0] >= 0) {
			/* up to the bracket that closes this subtree */
			for (int depth = 1; *s && depth > 0; s++)
				depth += (*s == '(') - (*s == ')');
			passed_over++;
			i++;
			continue;
		}
		if (t->nodes[i].left < 0 ? v[0] >= 0 || (double)t->nodes[i].n < v[1] || (double)t->nodes[i].n > v[1]
					 : t->nodes[i].feature != (int32_t)v[0] || t->nodes[i].threshold < v[1] ||
						   t->nodes[i].threshold > v[1]) {
			snprintf(diff, sizeof diff, "node %zu: feature %d at %.17g, %llu rows, expected %g and %.17g", i,
				 t->nodes[i].feature, t->nodes[i].threshold, (unsigned long long)t->nodes[i].n, v[0],
				 v[1]);
			return diff;
		}
		i++;
	}
	if (i != t->n_nodes) {
		snprintf(diff, sizeof diff, "%zu nodes, expected %zu", t->n_nodes, i);
		return diff;
	}
	return "";
}

/* Predictions of the rows that are not for training; where stable is given, of its true rows. */
static const char *same_predictions(const struct fit_tree *t, const struct rows *g, const json_t *want,
				    const json_t *stable, const json_t *shares)
{
	double *x = calloc(g->k + 1, sizeof *x);
	size_t at = 0;

	*diff = '\0';
	for (size_t i = 0; i < g->table.n_rows && !*diff; i++) {
		size_t leaf;

		if (g->train[i])
			continue;
		for (size_t f = 0; f < g->k; f++)
			x[f] = g->x[f][i];
		leaf = fit_tree_leaf(t, x);
		if (!stable || json_is_true(json_array_get(stable, at))) {
			const json_t *p = json_array_get(shares, at);

			if (!near(t->nodes[leaf].value, real(json_array_get(want, at)), 1e-12, 0))
				snprintf(diff, sizeof diff, "row %zu: %.17g, expected %.17g", i + 1, t->nodes[leaf].value,
					 real(json_array_get(want, at)));
			for (size_t c = 0; c < json_array_size(p); c++)
				if (!near(t->class_weight[leaf * t->n_classes + c] / t->nodes[leaf].weight,
					  real(json_array_get(p, c)), 1e-12, 1e-12))
					snprintf(diff, sizeof diff, "row %zu: share of class %zu", i + 1, c);
		}
		at++;
	}
	if (!*diff && at != json_array_size(want))
		snprintf(diff, sizeof diff, "%zu rows, expected %zu", at, json_array_size(want));
	free(x);
	return diff;
}

static const char *same_path(const struct fit_tree_path *path, const json_t *root)
{
	const json_t *alphas = json_object_get(root, "ccp_alphas"), *sums = json_object_get(root, "ccp_impurities");
	double scale = path->steps[path->n - 1].impurity;

	if (json_array_size(alphas) != path->n) {
		snprintf(diff, sizeof diff, "%zu steps, expected %zu", path->n, json_array_size(alphas));
		return diff;
	}
	for (size_t i = 0; i < path->n; i++) {
		if (!near(path->steps[i].alpha, real(json_array_get(alphas, i)), 1e-9, 1e-12 * scale) ||
		    !near(path->steps[i].impurity, real(json_array_get(sums, i)), 1e-9, 1e-12 * scale)) {
			snprintf(diff, sizeof diff, "step %zu: alpha %.17g, impurity %.17g", i, path->steps[i].alpha,
				 path->steps[i].impurity);
			return diff;
		}
	}
	return "";
}

static double total_impurity(const struct fit_tree *t)
{
	double sum = 0;

	for (size_t i = 0; i < t->n_nodes; i++)
		if (t->nodes[i].left < 0)
			sum += t->nodes[i].weight / t->nodes[0].weight * t->nodes[i].impurity;
	return sum;
}

static void pruned_trees(const struct fit_tree_data *d, const struct fit_tree_params *p, const struct rows *g,
			 const json_t *root)
{
	const json_t *list = json_object_get(root, "pruned");

	for (size_t k = 0; k < json_array_size(list); k++) {
		const json_t *want = json_array_get(list, k);
		double alpha = real(json_object_get(want, "ccp_alpha"));
		struct fit_tree t;
		struct fit_err err;
		char what[64];
		const char *wrong;

		if (fit_tree_train(&t, d, p, &err) || fit_tree_prune(&t, alpha, &err)) {
			say("pruned", err.msg);
			return;
		}
		snprintf(what, sizeof what, "pruned at %.6g", alpha);
		wrong = (json_int_t)fit_tree_n_leaves(&t) != json_integer_value(json_object_get(want, "n_leaves"))
				? "leaves"
				: same_canon(&t, json_string_value(json_object_get(want, "canon")));
		if (!*wrong)
			wrong = same_predictions(&t, g, json_object_get(want, "predict_test"), NULL, NULL);
		say(what, wrong);
		fit_tree_release(&t);
	}
}

static void compare(const struct fit_tree_data *d, const struct fit_tree_params *p, const struct rows *g,
		    const struct fit_tree *theirs, const json_t *root)
{
	const json_t *ties = json_object_get(root, "tie_nodes"),
		     *stable = json_object_get(root, "stable_over_10_seeds"),
		     *want = json_object_get(root, "predict_test"), *shares = json_object_get(root, "proba_test");
	const char *rule = json_string_value(json_object_get(root, "ref_rule_tree"));
	bool unique = json_integer_value(json_object_get(root, "distinct_trees_over_10_seeds")) == 1 &&
		      json_array_size(ties) == 0;
	struct fit_tree_path path = { 0 };
	struct fit_tree t = { 0 };
	struct fit_err err;

	if (fit_tree_train(&t, d, p, &err) || fit_tree_path(&t, &path, &err)) {
		say("trained", err.msg);
		return;
	}
	if (unique) {
		say("the same nodes", same_nodes(&t, theirs));
		say("the same numbers in them", same_numbers(&t, theirs));
		say("the same predictions", same_predictions(&t, g, want, NULL, shares));
		if (json_object_get(root, "ccp_alphas")) {
			say("the same path", same_path(&path, root));
			pruned_trees(d, p, g, root);
		}
	} else if (rule) {
		say("the tree of the tie rule", same_canon(&t, rule));
		say("its predictions",
		    same_predictions(&t, g, json_object_get(root, "ref_predict_test"), NULL, NULL));
		say("what all seeds predict", same_predictions(&t, g, want, stable, NULL));
	} else {
		double ours = path.steps[0].impurity, limit = total_impurity(theirs);

		snprintf(diff, sizeof diff, "%.17g, expected at most %.17g", ours, limit);
		say("no more impurity", ours <= limit * (1 + 1e-9) + 1e-12 ? "" : diff);
		say("what all seeds predict", same_predictions(&t, g, want, stable, NULL));
	}
	free(path.steps);
	fit_tree_release(&t);
}

static void one_case(const char *folder, const char *file)
{
	char path[1024];
	json_error_t why;
	json_t *root;
	struct rows g = { 0 };
	struct fit_tree_params p;
	struct fit_tree theirs;
	struct fit_err err;
	const char *wrong;
	bool balanced;
	char *bytes;
	double *w;

	snprintf(path, sizeof path, "%s/%s", folder, file);
	root = json_load_file(path, 0, &why);
	if (!root || !json_is_array(json_object_get(root, "nodes"))) {
		say("read", root ? "no nodes" : why.text);
		json_decref(root);
		return;
	}
	wrong = rows_read(&g, folder, root);
	wrong = wrong ? wrong : params_of(&p, root, &balanced);
	if (wrong) {
		say("read", wrong);
	} else {
		struct fit_tree_data d;

		/* their tree, read as any JSON of theirs */
		bytes = json_dumps(root, JSON_REAL_PRECISION(17));
		w = calloc(g.table.n_rows + 1, sizeof *w);
		d = training(&g, balanced, w);
		if (fit_tree_read_json(&theirs, file, bytes, strlen(bytes), &err)) {
			say("their JSON is read", err.msg);
		} else {
			say("their JSON predicts the same",
			    same_predictions(&theirs, &g, json_object_get(root, "predict_test"), NULL,
					     json_object_get(root, "proba_test")));
			compare(&d, &p, &g, &theirs, root);
			fit_tree_release(&theirs);
		}
		free(w);
		free(bytes);
	}
	rows_release(&g);
	json_decref(root);
}

static int json_only(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 5 && strcmp(e->d_name + n - 5, ".json") == 0;
}

int main(int argc, char **argv)
{
	struct dirent **list;
	int n;

	if (argc != 2) {
		fprintf(stderr, "usage: tree_cases FOLDER\n");
		return 2;
	}
	n = scandir(argv[1], &list, json_only, alphasort);
	for (int i = 0; i < n; i++) {
		case_name = list[i]->d_name;
		one_case(argv[1], list[i]->d_name);
		free(list[i]);
	}
	if (n > 0)
		free(list);
	printf("# cuts of nodes of one class passed over: %zu\n", passed_over);
	return n > 0 ? 0 : 1;
}
