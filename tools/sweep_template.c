/* SPDX-License-Identifier: MIT */
#include "tools/sweep_template.h"

#include <stdlib.h>
#include <string.h>

void sweep_templates_release(struct sweep_templates *all)
{
	for (size_t k = 0; k < all->n_prepare; k++) {
		free(all->prepare[k].name);
		sweep_words_release(&all->prepare[k].words);
	}
	free(all->prepare);
	free(all->placed);
	sweep_words_release(&all->replay);
	sweep_words_release(&all->metrics);
	*all = (struct sweep_templates){ .prepare = NULL };
}

static bool is_tool(const char *word)
{
	return strncmp(word, "gf-", 3) == 0 && !strchr(word, '/') && strcmp(word, "gf-sweep") != 0;
}

/* Words that a sweep gives or that cannot be many times. */
static int check_words(const struct sweep_words *words, const char *what, struct fit_err *err)
{
	for (size_t i = 1; i < words->n; i++) {
		const char *w = words->w[i];

		if (strcmp(w, "-") == 0)
			return fit_fail(err, FIT_EINVAL, "%s: '-' (expected files: standard input can be read once only)",
					what);
		size_t n = strcspn(w, "=");

		/* programs take the beginning of an option for all of it */
		if ((n > 2 && n <= 8 && strncmp(w, "--output", n) == 0) || strncmp(w, "-o", 2) == 0)
			return fit_fail(err, FIT_EINVAL, "%s: '%s' (expected none: the sweep names outputs)", what, w);
	}
	return FIT_OK;
}

static int read_prepare(struct sweep_templates *all, const struct sweep_spec *spec, size_t k,
			struct fit_err *err)
{
	const char *text = spec->prepare[k], *equals = strchr(text, '=');
	struct sweep_template *t = &all->prepare[k];
	struct fit_text name = { text, equals ? (size_t)(equals - text) : 0 };
	int rc;

	for (size_t i = 0; i < name.n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789._-", text[i]))
			name.n = 0;
	if (!name.n)
		return fit_fail(err, FIT_EINVAL, "bad preparation '%s' (expected NAME=TOOL WORD…)", text);
	t->name = fit_strdup(name);
	if (!t->name)
		return fit_fail_nomem(err);
	for (size_t i = 0; i < k; i++)
		if (strcmp(all->prepare[i].name, t->name) == 0)
			return fit_fail(err, FIT_EINVAL, "'%s' is prepared twice", t->name);
	for (size_t i = 0; i < spec->grid->n; i++)
		if (strcmp(spec->grid->axes[i].name, t->name) == 0)
			return fit_fail(err, FIT_EINVAL, "'%s' is prepared, and an axis", t->name);
	rc = sweep_words_split(&t->words, fit_text_of(equals + 1), err);
	if (!rc && (!t->words.n || !is_tool(t->words.w[0])))
		return fit_fail(err, FIT_EINVAL, "'%s' is prepared by '%s' (expected a tool gf-…)", t->name,
				t->words.n ? t->words.w[0] : "");
	/* so nothing can need itself, round about */
	for (size_t i = k; i < spec->n_prepare && !rc; i++) {
		const char *later = spec->prepare[i];
		struct fit_str other = { 0 };

		rc = fit_str_add(&other, later, strcspn(later, "=")) ? fit_fail_nomem(err) : FIT_OK;
		for (size_t w = 0; w < t->words.n && !rc; w++)
			if (sweep_has(fit_text_of(t->words.w[w]), other.s))
				rc = fit_fail(err, FIT_EINVAL, "'%s' needs '%s', which is prepared later", t->name,
					      other.s);
		fit_str_release(&other);
	}
	return rc ? rc : check_words(&t->words, t->name, err);
}

static bool names(const struct sweep_words *words, const struct sweep_axis *axis)
{
	for (size_t i = 0; i < words->n; i++)
		if (sweep_has(fit_text_of(words->w[i]), axis->name) ||
		    sweep_has(fit_text_of(words->w[i]), axis->column))
			return true;
	return false;
}

/* Which axes placeholders name; the others must not be options of the command line already. */
static int place_axes(struct sweep_templates *all, const struct sweep_spec *spec, struct fit_err *err)
{
	const struct sweep_grid *g = spec->grid;

	for (size_t i = 0; i < g->n; i++) {
		const char *name = g->axes[i].name;
		size_t n = strlen(name);

		all->placed[i] = names(&all->replay, &g->axes[i]) || names(&all->metrics, &g->axes[i]);
		for (size_t k = 0; k < spec->n_prepare; k++)
			all->placed[i] = all->placed[i] || names(&all->prepare[k].words, &g->axes[i]);
		for (size_t w = 1; w < all->replay.n && !all->placed[i]; w++) {
			const char *word = all->replay.w[w];

			if (strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, n) == 0 &&
			    (word[2 + n] == '=' || !word[2 + n]))
				return fit_fail(err, FIT_EINVAL, "'%s' is an axis, and an option of the replay", name);
		}
	}
	return FIT_OK;
}

static int read_all(struct sweep_templates *all, const struct sweep_spec *spec, struct fit_err *err)
{
	int rc = sweep_words_add(&all->replay, FIT_TEXT_LIT("gf-replay")) ||
		 sweep_words_add(&all->metrics, FIT_TEXT_LIT("gf-metrics")) ? fit_fail_nomem(err) : FIT_OK;

	for (size_t i = 0; i < spec->n_replay && !rc; i++)
		rc = sweep_words_add(&all->replay, fit_text_of(spec->replay[i])) ? fit_fail_nomem(err) : FIT_OK;
	if (!rc && spec->metrics)
		rc = sweep_words_split(&all->metrics, fit_text_of(spec->metrics), err);
	rc = rc ? rc : check_words(&all->replay, "gf-replay", err);
	rc = rc ? rc : check_words(&all->metrics, "gf-metrics", err);
	all->prepare = calloc(spec->n_prepare + 1, sizeof *all->prepare);
	all->placed = calloc(spec->grid->n + 1, sizeof *all->placed);
	if (!rc && (!all->prepare || !all->placed))
		rc = fit_fail_nomem(err);
	all->n_prepare = all->prepare ? spec->n_prepare : 0;
	for (size_t k = 0; k < spec->n_prepare && !rc; k++)
		rc = read_prepare(all, spec, k, err);
	return rc ? rc : place_axes(all, spec, err);
}

int sweep_templates_read(struct sweep_templates *all, const struct sweep_spec *spec, struct fit_err *err)
{
	int rc;

	*all = (struct sweep_templates){ .prepare = NULL };
	rc = read_all(all, spec, err);
	if (rc)
		sweep_templates_release(all);
	return rc;
}
