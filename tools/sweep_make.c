/* SPDX-License-Identifier: MIT */
/* Plans of sweeps: made of a grid and command lines with placeholders. */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/version.h"
#include "tools/sweep_plan.h"
#include "tools/sweep_sides.h"
#include "tools/sweep_template.h"

/* ---- one command line of one row ---- */

#define NO_INPUT SIZE_MAX

struct making {
	struct sweep_plan *p;
	const struct sweep_spec *spec;
	struct sweep_templates t;
	size_t row;
	size_t *made;		/* what each preparation became in this row, or NO_INPUT */
	bool *used;		/* in any row */
	/* of the command line at hand */
	size_t *needs, n_needs;
};

static int need(struct making *m, size_t k, struct fit_err *err);

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
	for (size_t k = 0; k < m->t.n_prepare; k++) {
		int rc;

		if (!fit_text_is(name, m->t.prepare[k].name))
			continue;
		rc = need(m, k, err);
		if (!rc)
			*value = fit_text_of(m->p->inputs[m->made[k]].result);
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
static int fill_words(struct making *m, const struct sweep_words *from, struct sweep_words *to,
		      struct fit_err *err)
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

/* replay: it is the command line of gf-replay. */
static int hash_words(struct making *m, struct fit_hasher *h, const struct sweep_words *words, bool replay,
		      struct fit_err *err)
{
	const char *hash;
	int rc = sweep_files_get(&m->p->files, words->w[0], true, &hash, err);

	if (!rc)
		fit_hasher_add_text(h, fit_text_of(hash));
	for (size_t i = 0; i < words->n && !rc; i++) {
		size_t at;

		if (replay && sweep_side(words, i, &at))	/* no file, whatever there is of that name */
			fit_hasher_add_text(h, fit_text_of(words->w[i]));
		else
			rc = hash_word(m, h, words->w[i], err);
	}
	fit_hasher_add_text(h, FIT_TEXT_LIT("\n"));
	return rc;
}

struct fit_hasher *sweep_hasher_new(const char *what)
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
static int put_input(struct making *m, size_t k, const char *hash, const struct sweep_words *words,
		     struct fit_err *err)
{
	struct fit_str line = { 0 };
	struct sweep_input *in;
	uint32_t found;

	if (fit_index_put(&m->p->by_hash, fit_text_of(hash), (uint32_t)m->p->n_inputs, &found))
		return fit_fail_nomem(err);
	if (found != FIT_NO_INDEX) {
		m->made[k] = found;
		return FIT_OK;
	}
	m->made[k] = m->p->n_inputs;
	in = sweep_plan_new_input(m->p);
	if (!in || sweep_words_join(&line, words))
		return fit_fail_nomem(err);
	memcpy(in->hash, hash, sizeof in->hash);
	in->name = fit_strdup(fit_text_of(m->t.prepare[k].name));
	in->command = line.s;
	in->result = !in->name ? NULL : input_file(m->spec->folder, hash, in->name);
	for (size_t i = 0; i < m->n_needs; i++)
		if (sweep_add_need(&in->needs, &in->n_needs, m->needs[i]))
			return fit_fail_nomem(err);
	return in->name && in->result ? FIT_OK : fit_fail_nomem(err);
}

/* The command line at hand needs preparation k: work it out, unless that was done in this row. */
static int need(struct making *m, size_t k, struct fit_err *err)
{
	const struct sweep_template *t = &m->t.prepare[k];
	size_t *outer = m->needs, n_outer = m->n_needs;
	struct sweep_words words = { 0 };
	struct fit_hasher *h;
	char hash[FIT_HASH_HEX];
	int rc = FIT_OK;

	m->used[k] = true;
	if (m->made[k] == NO_INPUT) {
		m->needs = NULL;
		m->n_needs = 0;
		h = sweep_hasher_new("gf-sweep input");
		rc = h ? fill_words(m, &t->words, &words, err) : fit_fail_nomem(err);
		rc = rc ? rc : hash_words(m, h, &words, false, err);
		if (!rc) {
			const char *dot = strrchr(t->name, '.');

			fit_hasher_add_text(h, fit_text_of(dot ? dot : ""));
			fit_hasher_hex(h, hash);
			rc = put_input(m, k, hash, &words, err);
		}
		fit_hasher_free(h);
		sweep_words_release(&words);
		free(m->needs);
		m->needs = outer;
		m->n_needs = n_outer;
	}
	return rc ? rc : sweep_add_need(&m->needs, &m->n_needs, m->made[k]) ? fit_fail_nomem(err) : FIT_OK;
}

/* ---- rows ---- */

/* Axes that no placeholder names are options of gf-replay, behind its other words: --NAME=VALUE, or
 * --NAME where the value is "on". */
static int add_options(struct making *m, struct sweep_words *words, struct fit_err *err)
{
	const struct sweep_grid *g = m->spec->grid;
	struct fit_str word = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < g->n && !rc; i++) {
		const char *v = sweep_grid_value(g, i, m->row);

		if (m->t.placed[i] || !v)
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
static int make_command(struct making *m, const struct sweep_words *from, bool replay, struct fit_hasher *h,
			char **line, struct fit_err *err)
{
	struct sweep_words words = { 0 };
	struct fit_str text = { 0 };
	int rc = fill_words(m, from, &words, err);

	if (!rc && replay)
		rc = add_options(m, &words, err);
	if (!rc && replay)
		rc = sweep_sides_check(&words, err);
	rc = rc ? rc : hash_words(m, h, &words, replay, err);
	if (!rc && sweep_words_join(&text, &words))
		rc = fit_fail_nomem(err);
	sweep_words_release(&words);
	*line = text.s;
	return rc;
}

static int make_row(struct making *m, struct fit_err *err)
{
	const struct sweep_grid *g = m->spec->grid;
	struct fit_hasher *h = sweep_hasher_new("gf-sweep row");
	struct sweep_row *row = sweep_plan_new_row(m->p);
	struct fit_str result = { 0 };
	int rc = h && row ? FIT_OK : fit_fail_nomem(err);

	for (size_t k = 0; k < m->t.n_prepare; k++)
		m->made[k] = NO_INPUT;
	m->needs = NULL;
	m->n_needs = 0;
	for (size_t i = 0; i < g->n && !rc; i++) {
		const char *v = sweep_grid_value(g, i, m->row);

		row->values[i] = v ? fit_strdup(fit_text_of(v)) : NULL;
		rc = v && !row->values[i] ? fit_fail_nomem(err) : FIT_OK;
	}
	rc = rc ? rc : make_command(m, &m->t.replay, true, h, &row->replay, err);
	rc = rc ? rc : make_command(m, &m->t.metrics, false, h, &row->metrics, err);
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

int sweep_plan_make(struct sweep_plan *p, const struct sweep_spec *spec, struct fit_err *err)
{
	struct making m = { .p = p, .spec = spec };
	size_t rows = 0;
	int rc = sweep_grid_size(spec->grid, &rows, err);

	rc = rc ? rc : sweep_templates_read(&m.t, spec, err);
	m.made = calloc(spec->n_prepare + 1, sizeof *m.made);
	m.used = calloc(spec->n_prepare + 1, sizeof *m.used);
	p->axes = calloc(spec->grid->n + 1, sizeof *p->axes);
	if (!rc && (!m.made || !m.used || !p->axes))
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < spec->grid->n && !rc; i++) {
		p->axes[i] = fit_strdup(fit_text_of(spec->grid->axes[i].column));
		rc = p->axes[i] ? FIT_OK : fit_fail_nomem(err);
		p->n_axes += !rc;
	}
	for (m.row = 0; m.row < rows && !rc; m.row++)
		rc = make_row(&m, err);
	for (size_t k = 0; k < m.t.n_prepare && !rc; k++)
		if (!m.used[k])
			rc = fit_fail(err, FIT_EINVAL, "'%s' is prepared, but nothing uses it",
				      m.t.prepare[k].name);
	rc = rc ? rc : check_rows(p, err);
	sweep_templates_release(&m.t);
	free(m.made);
	free(m.used);
	if (rc)
		sweep_plan_release(p);
	return rc;
}
