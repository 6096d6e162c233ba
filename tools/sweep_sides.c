/* SPDX-License-Identifier: MIT */
#include "tools/sweep_sides.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/sweep_result.h"
#include "tools/sweep_scratch.h"

/* Options of gf-replay that name an output; all but -o. */
static const char *const options[] = { "--fitness", "--shares", NULL };
/* Names of what is beside a result anyway. */
static const char *const taken[] = { "tsv", "tsv.log", "events.tsv", NULL };

/* The option that a word is, "--NAME" or "--NAME=…": its length, or 0. */
static size_t option_of(const char *word)
{
	for (size_t k = 0; options[k]; k++) {
		size_t n = strlen(options[k]);

		if (strncmp(word, options[k], n) == 0 && (!word[n] || word[n] == '='))
			return n;
	}
	return 0;
}

bool sweep_side(const struct sweep_words *words, size_t i, size_t *at)
{
	size_t n = option_of(words->w[i]);

	*at = 0;
	if (n && words->w[i][n] == '=') {
		*at = n + 1;
		return true;
	}
	return i > 0 && (n = option_of(words->w[i - 1])) > 0 && !words->w[i - 1][n];
}

/* Programs take the beginning of an option for all of it. */
static bool is_short(const char *word)
{
	size_t n = strcspn(word, "=");

	for (size_t k = 0; options[k]; k++)
		if (n > 3 && n < strlen(options[k]) && strncmp(word, options[k], n) == 0)
			return true;
	return false;
}

static bool is_name(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

	for (size_t k = 0; taken[k]; k++)
		if (strcmp(name, taken[k]) == 0)
			return false;
	return n > 0 && n <= 100 && !name[n] && name[0] != '.' && name[0] != '-';
}

int sweep_sides_check(const struct sweep_words *words, struct fit_err *err)
{
	for (size_t i = 1; i < words->n; i++) {
		size_t at, other;

		if (is_short(words->w[i]))
			return fit_fail(err, FIT_EINVAL, "gf-replay: '%s' (expected the option in full)", words->w[i]);
		if (!sweep_side(words, i, &at))
			continue;
		if (!is_name(words->w[i] + at))
			return fit_fail(err, FIT_EINVAL, "gf-replay: bad output '%s' (expected a name without a folder: each "
					"row writes FOLDER/HASH.NAME)", words->w[i] + at);
		for (size_t k = 1; k < i; k++)
			if (sweep_side(words, k, &other) && strcmp(words->w[k] + other, words->w[i] + at) == 0)
				return fit_fail(err, FIT_EINVAL, "gf-replay: two outputs of the name '%s'",
						words->w[i] + at);
	}
	return FIT_OK;
}

int sweep_side_file(struct fit_str *s, const char *result, const char *name)
{
	size_t n = strlen(result);
	bool tsv = n > 4 && strcmp(result + n - 4, ".tsv") == 0;

	fit_str_clear(s);
	return fit_str_add(s, result, n - (tsv ? 4 : 0)) || fit_str_printf(s, ".%s", name) ? FIT_ENOMEM : FIT_OK;
}

int sweep_sides_redirect(struct sweep_words *words, const struct fit_str *scratch, size_t slot,
			 struct fit_err *err)
{
	struct fit_str file = { 0 }, word = { 0 };
	int rc = FIT_OK;
	size_t at;

	for (size_t i = 1; i < words->n && !rc; i++) {
		char *copy;

		if (!sweep_side(words, i, &at))
			continue;
		fit_str_clear(&word);
		copy = sweep_scratch_file(scratch, &file, slot, words->w[i] + at) ||
		       fit_str_add(&word, words->w[i], at) || fit_str_puts(&word, file.s) ? NULL :
		       fit_strdup(fit_text_of(word.s));
		if (!copy) {
			rc = fit_fail_nomem(err);
			break;
		}
		free(words->w[i]);
		words->w[i] = copy;
	}
	fit_str_release(&file);
	fit_str_release(&word);
	return rc;
}

int sweep_sides_place(const struct sweep_row *row, const struct fit_str *scratch, size_t slot, bool drop,
		      struct fit_err *err)
{
	struct fit_str from = { 0 }, to = { 0 };
	struct sweep_words words = { 0 };
	int rc = sweep_words_split(&words, fit_text_of(row->replay), err);
	size_t at;

	for (size_t i = 1; i < words.n; i++) {
		if (!sweep_side(&words, i, &at))
			continue;
		if (sweep_scratch_file(scratch, &from, slot, words.w[i] + at) ||
		    sweep_side_file(&to, row->result, words.w[i] + at)) {
			rc = rc ? rc : fit_fail_nomem(err);
			continue;
		}
		if (!rc && !drop)
			rc = sweep_place(from.s, to.s, false, err);
		unlink(from.s);
	}
	fit_str_release(&from);
	fit_str_release(&to);
	sweep_words_release(&words);
	return rc;
}

bool sweep_sides_there(const struct sweep_row *row)
{
	struct sweep_words words = { 0 };
	struct fit_str file = { 0 };
	struct fit_err ignored;
	bool there = !sweep_words_split(&words, fit_text_of(row->replay), &ignored);
	size_t at;

	for (size_t i = 1; i < words.n && there; i++)
		if (sweep_side(&words, i, &at))
			there = !sweep_side_file(&file, row->result, words.w[i] + at) && access(file.s, R_OK) == 0;
	fit_str_release(&file);
	sweep_words_release(&words);
	return there;
}
