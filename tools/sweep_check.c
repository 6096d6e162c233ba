/* SPDX-License-Identifier: MIT */
/* Are the rows of a plan those that their hashes are of? A command line that was edited would otherwise take
 * the result of the one that it was. */
#include <string.h>

#include "libfit/base/version.h"
#include "tools/sweep_plan.h"

static const char *hash_of(const struct sweep_files *f, bool program, const char *name, size_t n)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->files[i].program == program && strlen(f->files[i].name) == n &&
		    memcmp(f->files[i].name, name, n) == 0)
			return f->files[i].hash;
	return NULL;
}

/* The input or the file that a word names: its hash, where it starts and how long it is. The same rules as
 * when a plan is made, but of the files that it lists: those on the disk may have changed or gone. */
static const char *named(const struct sweep_plan *p, const struct sweep_row *row, const char *word,
			 size_t *at, size_t *n)
{
	const char *s = word;

	for (size_t i = 0; i < row->n_needs; i++) {
		const struct sweep_input *in = &p->inputs[row->needs[i]];
		const char *found = strstr(word, in->result);

		*at = found ? (size_t)(found - word) : 0;
		*n = strlen(in->result);
		if (found)
			return in->hash;
	}
	for (int k = 0; k < 3 && s; k++) {
		const char *hash;

		*at = (size_t)(s - word);
		*n = sweep_file_length(s);
		hash = hash_of(&p->files, false, s, *n);
		if (hash)
			return hash;
		s = strchr(s, '=');
		s = s ? s + 1 : NULL;
	}
	return NULL;
}

static int add_command(struct fit_hasher *h, const struct sweep_plan *p, const struct sweep_row *row,
		       const char *line, struct fit_err *err)
{
	struct sweep_words words = { 0 };
	int rc = sweep_words_split(&words, fit_text_of(line), err);
	const char *program = rc ? NULL : hash_of(&p->files, true, words.w[0], strlen(words.w[0]));

	fit_hasher_add_text(h, fit_text_of(program ? program : ""));
	for (size_t i = 0; i < words.n && !rc; i++) {
		const char *word = words.w[i];
		size_t at, n;
		const char *hash = named(p, row, word, &at, &n);

		fit_hasher_add_text(h, hash ? (struct fit_text){ word, at } : fit_text_of(word));
		if (!hash)
			continue;
		fit_hasher_add_text(h, fit_text_of(hash));
		fit_hasher_add_text(h, fit_text_of(word + at + n));
	}
	fit_hasher_add_text(h, FIT_TEXT_LIT("\n"));
	sweep_words_release(&words);
	return rc;
}

int sweep_plan_check(const struct sweep_plan *p, const struct sweep_row *row, const struct fit_table *t,
		     size_t number, struct fit_err *err)
{
	const char *version = fit_meta_get(&t->meta, "version");
	struct fit_hasher *h;
	char hash[FIT_HASH_HEX];
	int rc;

	if (!version || strcmp(version, FIT_VERSION) != 0)
		return FIT_OK;
	h = fit_hasher_new();
	if (!h)
		return fit_fail_nomem(err);
	fit_hasher_add_text(h, FIT_TEXT_LIT("gf-sweep row"));
	fit_hasher_add_text(h, fit_text_of(FIT_VERSION));
	rc = add_command(h, p, row, row->replay, err);
	rc = rc ? rc : add_command(h, p, row, row->metrics, err);
	fit_hasher_hex(h, hash);
	fit_hasher_free(h);
	if (rc || strcmp(hash, row->hash) == 0)
		return rc;
	return fit_table_fail(t, number, FIT_EDATA, "hash", err,
			      "not of the command lines of this row (make a new plan)");
}
