/* SPDX-License-Identifier: MIT */
#include "tools/sweep_words.h"

#include <stdlib.h>
#include <string.h>

void sweep_words_release(struct sweep_words *words)
{
	for (size_t i = 0; i < words->n; i++)
		free(words->w[i]);
	free(words->w);
	*words = (struct sweep_words){ 0 };
}

int sweep_words_add(struct sweep_words *words, struct fit_text word)
{
	char *copy;

	if (fit_grow(&words->w, &words->cap, words->n + 2, sizeof *words->w))
		return FIT_ENOMEM;
	copy = fit_strdup(word);
	if (!copy)
		return FIT_ENOMEM;
	words->w[words->n++] = copy;
	words->w[words->n] = NULL;
	return FIT_OK;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One word from *at on, which is no blank, to the first blank outside quotes. */
static int take_word(struct fit_str *word, struct fit_text line, size_t *at, struct fit_err *err)
{
	char quote = '\0';
	size_t i = *at;
	int rc = fit_str_add(word, "", 0);

	for (; i < line.n && !rc && (quote || !is_blank(line.s[i])); i++) {
		char c = line.s[i];

		if (c == '\\' && quote != '\'' && i + 1 < line.n)
			rc = fit_str_add(word, &line.s[++i], 1);
		else if (quote && c == quote)
			quote = '\0';
		else if (!quote && (c == '\'' || c == '"'))
			quote = c;
		else
			rc = fit_str_add(word, &c, 1);
	}
	*at = i;
	if (rc)
		return fit_fail_nomem(err);
	return quote ? fit_fail(err, FIT_EINVAL, "'%.*s': a quote without its end", FIT_TEXT_ARG(line)) : FIT_OK;
}

int sweep_words_split(struct sweep_words *words, struct fit_text line, struct fit_err *err)
{
	struct fit_str word = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < line.n && !rc; ) {
		if (is_blank(line.s[i])) {
			i++;
			continue;
		}
		fit_str_clear(&word);
		rc = take_word(&word, line, &i, err);
		if (!rc && sweep_words_add(words, (struct fit_text){ word.s ? word.s : "", word.n }))
			rc = fit_fail_nomem(err);
	}
	fit_str_release(&word);
	return rc;
}

/* Does a shell read it as it is? */
static bool is_plain(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";

	return *s && s[strspn(s, plain)] == '\0';
}

static int put_quoted(struct fit_str *line, const char *s)
{
	int rc = fit_str_puts(line, "'");

	for (; *s && !rc; s++)
		rc = *s == '\'' ? fit_str_puts(line, "'\\''") : fit_str_add(line, s, 1);
	return rc ? rc : fit_str_puts(line, "'");
}

int sweep_words_join(struct fit_str *line, const struct sweep_words *words)
{
	int rc = fit_str_add(line, "", 0);

	for (size_t i = 0; i < words->n && !rc; i++) {
		const char *s = words->w[i];

		rc = i ? fit_str_puts(line, " ") : FIT_OK;
		rc = rc ? rc : is_plain(s) ? fit_str_puts(line, s) : put_quoted(line, s);
	}
	return rc;
}

/* ---- placeholders ---- */

/* The name of the placeholder that starts at word.s[i], a brace; n is 0 where there is none. */
static struct fit_text placeholder(struct fit_text word, size_t i)
{
	size_t k = i + 1;

	while (k < word.n && word.s[k] && strchr("abcdefghijklmnopqrstuvwxyz0123456789._-", word.s[k]))
		k++;
	if (k < word.n && word.s[k] == '}')
		return (struct fit_text){ word.s + i + 1, k - i - 1 };
	return (struct fit_text){ "", 0 };
}

int sweep_fill(struct fit_str *out, struct fit_text word, sweep_lookup *lookup, void *arg,
	       struct fit_err *err)
{
	int rc = fit_str_add(out, "", 0);

	for (size_t i = 0; i < word.n && !rc; i++) {
		struct fit_text name, value;

		if (word.s[i] != '{') {
			rc = fit_str_add(out, word.s + i, 1);
			continue;
		}
		name = placeholder(word, i);
		if (name.n) {
			rc = lookup(arg, name, &value, err);
			if (rc == FIT_ENOTFOUND)
				return fit_fail(err, FIT_EINVAL, "unknown placeholder '{%.*s}' in '%.*s' "
						"(expected an axis, or what is prepared)", FIT_TEXT_ARG(name),
						FIT_TEXT_ARG(word));
			if (rc)
				return rc;
			rc = fit_str_add(out, value.s, value.n);
			i += name.n + 1;
		} else {
			i += i + 1 < word.n && word.s[i + 1] == '{';
			rc = fit_str_puts(out, "{");
		}
	}
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

bool sweep_has(struct fit_text word, const char *name)
{
	for (size_t i = 0; i < word.n; i++) {
		struct fit_text found;

		if (word.s[i] != '{')
			continue;
		found = placeholder(word, i);
		if (found.n && fit_text_is(found, name))
			return true;
		if (!found.n)
			i += i + 1 < word.n && word.s[i + 1] == '{';
	}
	return false;
}
