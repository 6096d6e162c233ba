/* SPDX-License-Identifier: MIT */
/* Are the rows of a plan those that their hashes are of? A command line that was edited would otherwise take
 * the result of the one that it was. */
#include <string.h>

#include "libfit/base/version.h"
#include "tools/sweep_plan.h"
#include "tools/sweep_sides.h"

static const char *hash_of(const struct sweep_files *f, bool program, const char *name, size_t n)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->files[i].program == program && strlen(f->files[i].name) == n &&
		    memcmp(f->files[i].name, name, n) == 0)
			return f->files[i].hash;
	return NULL;
}

/* Numbers of the inputs that a command line may name. */
struct needed {
	const size_t *list;
	size_t n;
};

/* The input or the file that a word names: its hash, where it starts and how long it is. The same rules as
 * when a plan is made, but of the files that it lists: those on the disk may have changed or gone. */
static const char *named(const struct sweep_plan *p, const struct needed *needs, const char *word,
			 size_t *at, size_t *n)
{
	const char *s = word;

	for (size_t i = 0; i < needs->n; i++) {
		const struct sweep_input *in = &p->inputs[needs->list[i]];
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

static int add_command(struct fit_hasher *h, const struct sweep_plan *p, const struct needed *needs,
		       const char *line, bool replay, struct fit_err *err)
{
	struct sweep_words words = { 0 };
	int rc = sweep_words_split(&words, fit_text_of(line), err);
	const char *program = rc ? NULL : hash_of(&p->files, true, words.w[0], strlen(words.w[0]));

	fit_hasher_add_text(h, fit_text_of(program ? program : ""));
	for (size_t i = 0; i < words.n && !rc; i++) {
		const char *word = words.w[i];
		size_t at, n;
		const char *hash = replay && sweep_side(&words, i, &at) ? NULL : named(p, needs, word, &at, &n);

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

/* Plans of another version are not looked at, whose hashes are others. */
static bool is_ours(const struct fit_table *t)
{
	const char *version = fit_meta_get(&t->meta, "version");

	return version && strcmp(version, FIT_VERSION) == 0;
}

/* Is it the hash of what h was given? */
static int compare(const struct fit_hasher *h, const char *want, const struct fit_table *t, size_t number,
		   const char *what, struct fit_err *err)
{
	char hash[FIT_HASH_HEX];

	fit_hasher_hex(h, hash);
	return strcmp(hash, want) == 0 ? FIT_OK :
	       fit_table_fail(t, number, FIT_EDATA, "hash", err,
			      "not of the command %s of this row (make a new plan)", what);
}

int sweep_plan_check(const struct sweep_plan *p, const struct sweep_row *row, const struct fit_table *t,
		     size_t number, struct fit_err *err)
{
	struct needed needs = { row->needs, row->n_needs };
	struct fit_hasher *h;
	int rc;

	if (!is_ours(t))
		return FIT_OK;
	h = sweep_hasher_new("gf-sweep row");
	if (!h)
		return fit_fail_nomem(err);
	rc = add_command(h, p, &needs, row->replay, true, err);
	rc = rc ? rc : add_command(h, p, &needs, row->metrics, false, err);
	rc = rc ? rc : compare(h, row->hash, t, number, "lines", err);
	fit_hasher_free(h);
	return rc;
}

static int check_input(const struct sweep_plan *p, const struct fit_table *t, size_t number,
		       struct fit_err *err)
{
	const struct sweep_input *in = &p->inputs[number];
	struct needed needs = { in->needs, in->n_needs };
	const char *dot = strrchr(in->name, '.');
	struct fit_hasher *h = sweep_hasher_new("gf-sweep input");
	int rc;

	if (!h)
		return fit_fail_nomem(err);
	rc = add_command(h, p, &needs, in->command, false, err);
	fit_hasher_add_text(h, fit_text_of(dot ? dot : ""));
	rc = rc ? rc : compare(h, in->hash, t, number, "line", err);
	fit_hasher_free(h);
	return rc;
}

int sweep_plan_check_inputs(const struct sweep_plan *p, const struct fit_table *rows,
			    const struct fit_table *t, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < p->n_inputs && is_ours(rows) && !rc; i++)
		rc = check_input(p, t, i, err);
	return rc;
}

int sweep_plan_check_name(const char *result, const char *hash, const struct fit_table *t, size_t number,
			  struct fit_err *err)
{
	const char *slash = strrchr(result, '/'), *name = slash ? slash + 1 : result;
	size_t n = strlen(hash);

	return strncmp(name, hash, n) == 0 && name[n] == '.' ? FIT_OK :
	       fit_table_fail(t, number, FIT_EDATA, "result", err,
			      "bad name '%.100s' (expected %s. first, behind folders)", name, hash);
}
