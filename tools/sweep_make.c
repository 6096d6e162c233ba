/* SPDX-License-Identifier: MIT */
/* Plans of sweeps: made of a grid and command lines with placeholders. */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/version.h"
#include "tools/sweep_plan.h"

/* ---- one command line of one row ---- */

/* One --prepare: its name, its words with placeholders, and what it became in the current row. */
struct template {
	char *name;
	struct sweep_words words;
	size_t input;		/* SWEEP_NO_INPUT: not made in this row */
	bool used;
};

struct making {
	struct sweep_plan *p;
	const struct sweep_spec *spec;
	struct template *prepare;
	struct sweep_words replay, metrics;
	bool *placed;		/* of each axis: a placeholder names it, so it is no option of gf-replay */
	size_t row;
	/* of the command line at hand */
	size_t *needs, n_needs;
};

static int need(struct making *m, struct template *t, struct fit_err *err);

/* A placeholder: an axis, or what is prepared. */
static int look_up(void *arg, struct fit_text name, struct fit_text *value, struct fit_err *err)
{
	struct making *m = arg;
	const struct sweep_grid *g = m->spec->grid;

	for (size_t i = 0; i < g->n; i++) {
		const char *v;

		if (!fit_text_is(name, g->axes[i].name) && !fit_text_is(name, g->axes[i].column))
			continue;
		v = sweep_grid_value(g, i, m->row);
		if (!v)
			return fit_fail(err, FIT_EINVAL, "axis '%s' has the value NA, but a placeholder needs one",
					g->axes[i].name);
		*value = fit_text_of(v);
		return FIT_OK;
	}
	for (size_t i = 0; i < m->spec->n_prepare; i++) {
		struct template *t = &m->prepare[i];
		int rc;

		if (!fit_text_is(name, t->name))
			continue;
		rc = need(m, t, err);
		if (!rc)
			*value = fit_text_of(m->p->inputs[t->input].result);
		return rc;
	}
	return FIT_ENOTFOUND;
}

/* What a word is, apart from where files are: the input or the bytes in place of their name. */
static int hash_word(struct making *m, struct fit_hasher *h, const char *word, struct fit_err *err)
{
	const char *hash = NULL;
	char *file = NULL;
	size_t at = 0;
	int rc;

	for (size_t i = 0; i < m->n_needs && !hash; i++) {
		const struct sweep_input *in = &m->p->inputs[m->needs[i]];
		const char *s = strstr(word, in->result);

		if (!s)
			continue;
		hash = in->hash;
		at = (size_t)(s - word);
		file = fit_strdup(fit_text_of(in->result));
		if (!file)
			return fit_fail_nomem(err);
	}
	rc = hash ? FIT_OK : sweep_word_file(word, &file, &at) ? fit_fail_nomem(err) : FIT_OK;
	if (!rc && file && !hash)
		rc = sweep_files_get(&m->p->files, file, false, &hash, err);
	if (!rc && hash) {
		fit_hasher_add_text(h, (struct fit_text){ word, at });
		fit_hasher_add_text(h, fit_text_of(hash));
		fit_hasher_add_text(h, fit_text_of(word + at + strlen(file)));
	} else if (!rc) {
		fit_hasher_add_text(h, fit_text_of(word));
	}
	free(file);
	return rc;
}

/* Fill the placeholders of a command line, add the words to `to`, and hash them and the program. */
static int fill_words(struct making *m, const struct sweep_words *from, struct sweep_words *to, struct fit_err *err)
{
	struct fit_str word = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < from->n && !rc; i++) {
		fit_str_clear(&word);
		rc = sweep_fill(&word, fit_text_of(from->w[i]), look_up, m, err);
		if (!rc && sweep_words_add(to, (struct fit_text){ word.s, word.n }))
			rc = fit_fail_nomem(err);
	}
	fit_str_release(&word);
	return rc;
}

static int hash_words(struct making *m, struct fit_hasher *h, const struct sweep_words *words, struct fit_err *err)
{
	const char *hash;
	int rc = sweep_files_get(&m->p->files, words->w[0], true, &hash, err);

	if (!rc)
		fit_hasher_add_text(h, fit_text_of(hash));
	for (size_t i = 0; i < words->n && !rc; i++)
		rc = hash_word(m, h, words->w[i], err);
	fit_hasher_add_text(h, FIT_TEXT_LIT("\n"));
	return rc;
}

static struct fit_hasher *new_hasher(const char *what)
{
	struct fit_hasher *h = fit_hasher_new();

	if (h) {
		fit_hasher_add_text(h, fit_text_of(what));
		fit_hasher_add_text(h, fit_text_of(FIT_VERSION));
	}
	return h;
}

/* ---- what is prepared ---- */

/* FOLDER/inputs/HASH.EXTENSION, where the name has an extension; else .tsv */
static char *input_file(const char *folder, const char *hash, const char *name)
{
	const char *dot = strrchr(name, '.');
	struct fit_str s = { 0 };

	return fit_str_printf(&s, "%s/inputs/%s%s", folder, hash, dot ? dot : ".tsv") ? NULL : s.s;
}

/* The input of this hash, new or from an earlier row. */
static int put_input(struct making *m, struct template *t, const char *hash, const struct sweep_words *words,
		     struct fit_err *err)
{
	struct fit_str line = { 0 };
	struct sweep_input *in;
	uint32_t found;

	if (fit_index_put(&m->p->by_hash, fit_text_of(hash), (uint32_t)m->p->n_inputs, &found))
		return fit_fail_nomem(err);
	if (found != FIT_NO_INDEX) {
		t->input = found;
		return FIT_OK;
	}
	t->input = m->p->n_inputs;
	in = sweep_plan_new_input(m->p);
	if (!in || sweep_words_join(&line, words))
		return fit_fail_nomem(err);
	memcpy(in->hash, hash, sizeof in->hash);
	in->name = fit_strdup(fit_text_of(t->name));
	in->command = line.s;
	in->result = input_file(m->spec->folder, hash, t->name);
	for (size_t i = 0; i < m->n_needs; i++)
		if (sweep_add_need(&in->needs, &in->n_needs, m->needs[i]))
			return fit_fail_nomem(err);
	return in->name && in->result ? FIT_OK : fit_fail_nomem(err);
}

/* The command line at hand needs what t prepares: work it out, unless that was done in this row. */
static int need(struct making *m, struct template *t, struct fit_err *err)
{
	size_t *outer = m->needs, n_outer = m->n_needs;
	struct sweep_words words = { 0 };
	struct fit_hasher *h;
	char hash[FIT_HASH_HEX];
	int rc = FIT_OK;

	t->used = true;
	if (t->input == SWEEP_NO_INPUT) {
		m->needs = NULL;
		m->n_needs = 0;
		h = new_hasher("gf-sweep input");
		rc = h ? fill_words(m, &t->words, &words, err) : fit_fail_nomem(err);
		rc = rc ? rc : hash_words(m, h, &words, err);
		if (!rc) {
			const char *dot = strrchr(t->name, '.');

			fit_hasher_add_text(h, fit_text_of(dot ? dot : ""));
			fit_hasher_hex(h, hash);
			rc = put_input(m, t, hash, &words, err);
		}
		fit_hasher_free(h);
		sweep_words_release(&words);
		free(m->needs);
		m->needs = outer;
		m->n_needs = n_outer;
	}
	return rc ? rc : sweep_add_need(&m->needs, &m->n_needs, t->input) ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- rows ---- */

/* Axes that no placeholder names are options of gf-replay, behind its other words: --NAME=VALUE, or --NAME where
 * the value is "on". */
static int add_options(struct making *m, struct sweep_words *words, struct fit_err *err)
{
	const struct sweep_grid *g = m->spec->grid;
	struct fit_str word = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < g->n && !rc; i++) {
		const char *v = sweep_grid_value(g, i, m->row);

		if (m->placed[i] || !v)
			continue;
		fit_str_clear(&word);
		rc = strcmp(v, "on") == 0 ? fit_str_printf(&word, "--%s", g->axes[i].name) :
					    fit_str_printf(&word, "--%s=%s", g->axes[i].name, v);
		rc = rc || sweep_words_add(words, (struct fit_text){ word.s, word.n }) ? fit_fail_nomem(err) : FIT_OK;
	}
	fit_str_release(&word);
	return rc;
}

/* One of the two commands of a row, as a line. */
static int make_command(struct making *m, const struct sweep_words *from, bool options, struct fit_hasher *h,
			char **line, struct fit_err *err)
{
	struct sweep_words words = { 0 };
	struct fit_str text = { 0 };
	int rc = fill_words(m, from, &words, err);

	if (!rc && options)
		rc = add_options(m, &words, err);
	rc = rc ? rc : hash_words(m, h, &words, err);
	if (!rc && sweep_words_join(&text, &words))
		rc = fit_fail_nomem(err);
	sweep_words_release(&words);
	*line = text.s;
	return rc;
}

static int make_row(struct making *m, struct fit_err *err)
{
	const struct sweep_grid *g = m->spec->grid;
	struct fit_hasher *h = new_hasher("gf-sweep row");
	struct sweep_row *row = sweep_plan_new_row(m->p);
	struct fit_str result = { 0 };
	int rc = h && row ? FIT_OK : fit_fail_nomem(err);

	for (size_t i = 0; i < m->spec->n_prepare; i++)
		m->prepare[i].input = SWEEP_NO_INPUT;
	m->needs = NULL;
	m->n_needs = 0;
	for (size_t i = 0; i < g->n && !rc; i++) {
		const char *v = sweep_grid_value(g, i, m->row);

		row->values[i] = v ? fit_strdup(fit_text_of(v)) : NULL;
		rc = v && !row->values[i] ? fit_fail_nomem(err) : FIT_OK;
	}
	rc = rc ? rc : make_command(m, &m->replay, true, h, &row->replay, err);
	rc = rc ? rc : make_command(m, &m->metrics, false, h, &row->metrics, err);
	if (!rc) {
		fit_hasher_hex(h, row->hash);
		rc = fit_str_printf(&result, "%s/%s.tsv", m->spec->folder, row->hash) ? fit_fail_nomem(err) : FIT_OK;
		row->result = result.s;
	}
	if (row) {
		row->needs = m->needs;
		row->n_needs = m->n_needs;
	} else {
		free(m->needs);
	}
	fit_hasher_free(h);
	return rc;
}

static int check_rows(const struct sweep_plan *p, struct fit_err *err)
{
	struct fit_index seen = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < p->n_rows && !rc; i++) {
		uint32_t found;

		if (fit_index_put(&seen, fit_text_of(p->rows[i].hash), (uint32_t)i, &found))
			rc = fit_fail_nomem(err);
		else if (found != FIT_NO_INDEX)
			rc = fit_fail(err, FIT_EDATA, "rows %llu and %llu are the same replay: %s",
				      (unsigned long long)found + 1, (unsigned long long)i + 1, p->rows[i].replay);
	}
	fit_index_release(&seen);
	return rc;
}

/* ---- templates ---- */

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
		if (strcmp(w, "--output") == 0 || strncmp(w, "--output=", 9) == 0 ||
		    strncmp(w, "-o", 2) == 0)
			return fit_fail(err, FIT_EINVAL, "%s: '%s' (expected none: the sweep names outputs)", what, w);
	}
	return FIT_OK;
}

static int read_prepare(struct making *m, size_t k, struct fit_err *err)
{
	const char *text = m->spec->prepare[k], *equals = strchr(text, '=');
	struct template *t = &m->prepare[k];
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
		if (strcmp(m->prepare[i].name, t->name) == 0)
			return fit_fail(err, FIT_EINVAL, "'%s' is prepared twice", t->name);
	for (size_t i = 0; i < m->spec->grid->n; i++)
		if (strcmp(m->spec->grid->axes[i].name, t->name) == 0)
			return fit_fail(err, FIT_EINVAL, "'%s' is prepared, and an axis", t->name);
	rc = sweep_words_split(&t->words, fit_text_of(equals + 1), err);
	if (!rc && (!t->words.n || !is_tool(t->words.w[0])))
		return fit_fail(err, FIT_EINVAL, "'%s' is prepared by '%s' (expected a tool gf-…)", t->name,
				t->words.n ? t->words.w[0] : "");
	/* so nothing can need itself, round about */
	for (size_t i = k; i < m->spec->n_prepare && !rc; i++) {
		const char *later = m->spec->prepare[i];
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
static int place_axes(struct making *m, struct fit_err *err)
{
	const struct sweep_grid *g = m->spec->grid;

	for (size_t i = 0; i < g->n; i++) {
		const char *name = g->axes[i].name;
		size_t n = strlen(name);

		m->placed[i] = names(&m->replay, &g->axes[i]) || names(&m->metrics, &g->axes[i]);
		for (size_t k = 0; k < m->spec->n_prepare; k++)
			m->placed[i] = m->placed[i] || names(&m->prepare[k].words, &g->axes[i]);
		for (size_t w = 1; w < m->replay.n && !m->placed[i]; w++) {
			const char *word = m->replay.w[w];

			if (strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, n) == 0 &&
			    (word[2 + n] == '=' || !word[2 + n]))
				return fit_fail(err, FIT_EINVAL, "'%s' is an axis, and an option of the replay", name);
		}
	}
	return FIT_OK;
}

static int read_templates(struct making *m, struct fit_err *err)
{
	int rc = sweep_words_add(&m->replay, FIT_TEXT_LIT("gf-replay")) ||
		 sweep_words_add(&m->metrics, FIT_TEXT_LIT("gf-metrics")) ? fit_fail_nomem(err) : FIT_OK;

	for (size_t i = 0; i < m->spec->n_replay && !rc; i++)
		rc = sweep_words_add(&m->replay, fit_text_of(m->spec->replay[i])) ? fit_fail_nomem(err) : FIT_OK;
	if (!rc && m->spec->metrics)
		rc = sweep_words_split(&m->metrics, fit_text_of(m->spec->metrics), err);
	rc = rc ? rc : check_words(&m->replay, "gf-replay", err);
	rc = rc ? rc : check_words(&m->metrics, "gf-metrics", err);
	for (size_t k = 0; k < m->spec->n_prepare && !rc; k++)
		rc = read_prepare(m, k, err);
	return rc ? rc : place_axes(m, err);
}

int sweep_plan_make(struct sweep_plan *p, const struct sweep_spec *spec, struct fit_err *err)
{
	struct making m = { .p = p, .spec = spec };
	size_t rows = 0;
	int rc = sweep_grid_size(spec->grid, &rows, err);

	m.prepare = calloc(spec->n_prepare + 1, sizeof *m.prepare);
	m.placed = calloc(spec->grid->n + 1, sizeof *m.placed);
	p->axes = calloc(spec->grid->n + 1, sizeof *p->axes);
	if (!rc && (!m.prepare || !m.placed || !p->axes))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : read_templates(&m, err);
	for (size_t i = 0; i < spec->grid->n && !rc; i++) {
		p->axes[i] = fit_strdup(fit_text_of(spec->grid->axes[i].column));
		rc = p->axes[i] ? FIT_OK : fit_fail_nomem(err);
		p->n_axes += !rc;
	}
	for (m.row = 0; m.row < rows && !rc; m.row++)
		rc = make_row(&m, err);
	for (size_t k = 0; k < spec->n_prepare && !rc; k++)
		if (!m.prepare[k].used)
			rc = fit_fail(err, FIT_EINVAL, "'%s' is prepared, but nothing uses it", m.prepare[k].name);
	rc = rc ? rc : check_rows(p, err);
	for (size_t k = 0; k < spec->n_prepare && m.prepare; k++) {
		free(m.prepare[k].name);
		sweep_words_release(&m.prepare[k].words);
	}
	free(m.prepare);
	free(m.placed);
	sweep_words_release(&m.replay);
	sweep_words_release(&m.metrics);
	if (rc)
		sweep_plan_release(p);
	return rc;
}
