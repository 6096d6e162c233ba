/* SPDX-License-Identifier: MIT */
/* gf-ga2m explain: predictions as sums of terms, the shape of a term, or what each term is worth. */
#include <math.h>
#include <stdlib.h>

#include "libfit/model/ga2m_edit.h"
#include "tools/ga2m_rows.h"

#define AT(field) offsetof(struct ga2m_explain_options, field)

const struct cli_option ga2m_explain_options[] = {
	{ 'm', "model", CLI_TEXT, AT(model), "MODEL", NULL, "the model", NULL, 0, 0, CLI_REQUIRED | CLI_INPUT },
	{ 0, "id", CLI_TEXT, AT(id), "COLUMN", "row", "name rows by this column, not by number", NULL, 0, 0,
	  CLI_RESULT },
	{ 0, "top", CLI_INT, AT(top), "N", "all", "the N terms that add most, the others in one row", NULL, 1, 1e9,
	  CLI_RESULT },
	{ 0, "shape", CLI_TEXT, AT(shape), "TERM", NULL,
		"the table of one term, a or 'a x b', in place of FILE", NULL,
	  0, 0, CLI_RESULT | CLI_INSTEAD },
	{ 0, "importance", CLI_FLAG, AT(importance), NULL, NULL,
		"what each term is worth, in place of FILE", NULL, 0,
	  0, CLI_RESULT | CLI_INSTEAD },
	{ 0, "csv", CLI_FLAG, AT(csv), NULL, NULL,
	  "FILE is comma-separated (assumed when its name ends in .csv)", NULL, 0, 0, 0 },
	{ 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
};

static int begin(const struct cli *cli, const struct fit_ga2m *m, const char *hash, const char *name,
		 const struct fit_ga2m_term *term, const struct fit_field *fields, size_t n, struct fit_writer **w,
		 struct fit_err *err)
{
	struct fit_meta meta = { 0 };
	int rc = cli_meta(cli, &meta, false) || cli_meta_input(&meta, "model", hash) ||
		 fit_meta_add(&meta, "link", fit_ga2m_link_name(m->loss)) ||
		 fit_meta_add(&meta, "target", m->target);

	for (int d = 0; term && d < term->n_dims && !rc; d++)
		rc = fit_meta_add(&meta, d ? "feature_2" : "feature", m->features[term->feature[d]].name);
	rc = rc ? fit_fail_nomem(err) : cli_writer_open(cli, w, err);
	rc = rc ? rc : fit_writer_begin(*w, name, &meta, fields, n, err);
	fit_meta_release(&meta);
	return rc;
}

/* ---- importance ---- */

static int importance(const struct cli *cli, const struct fit_ga2m *m, const char *hash,
		struct fit_writer **w,
		      struct fit_err *err)
{
	static const struct fit_field fields[] = { { "term", FIT_TEXT, 0 }, { "importance", FIT_REAL, 0 },
						   { "importance_sd", FIT_REAL, 0 }, { "least", FIT_REAL, 0 },
						   { "largest", FIT_REAL, 0 } };
	struct fit_str name = { 0 };
	int rc = begin(cli, m, hash, "importance", NULL, fields, 5, w, err);

	for (size_t k = 0; k < m->n_terms && !rc; k++) {
		const struct fit_ga2m_term *t = &m->terms[k];
		double least = HUGE_VAL, largest = -HUGE_VAL;

		for (size_t i = 0; i < fit_ga2m_n_cells(t) * m->n_outputs; i++) {
			if (!(t->weight[i / m->n_outputs] > 0))
				continue;
			least = fmin(least, t->score[i]);
			largest = fmax(largest, t->score[i]);
		}
		if (fit_ga2m_term_name(m, k, &name)) {
			rc = fit_fail_nomem(err);
			break;
		}
		fit_writer_str(*w, name.s);
		fit_writer_real(*w, t->importance);
		fit_writer_real_or_na(*w, t->importance_sd);
		fit_writer_real_or_na(*w, least <= largest ? least : (double)NAN);
		fit_writer_real_or_na(*w, least <= largest ? largest : (double)NAN);
		rc = fit_writer_end_row(*w, err);
	}
	fit_str_release(&name);
	return rc ? rc : fit_writer_end(*w, err);
}

/* ---- one term ---- */

/* Bounds of a bin of numbers: the least and the largest value of training stand for the ends. */
static double bound(const struct fit_ga2m_feature *f, int level, size_t bin, bool upper)
{
	size_t n = f->n_cuts[level];

	if (bin == 0)
		return (double)NAN;
	if (!upper)
		return bin > 1 ? f->cuts[level][bin - 2] : n ? fmin(f->min, f->cuts[level][0]) : f->min;
	return bin <= n ? f->cuts[level][bin - 1] : n ? fmax(f->max, f->cuts[level][n - 1]) : f->max;
}

static void put_bin(struct fit_writer *w, const struct fit_ga2m *m, const struct fit_ga2m_term *t, int d,
		    size_t bin)
{
	const struct fit_ga2m_feature *f = &m->features[t->feature[d]];

	fit_writer_int(w, (int64_t)bin);
	fit_writer_real_or_na(w, f->nominal ? (double)NAN : bound(f, t->level[d], bin, false));
	fit_writer_real_or_na(w, f->nominal ? (double)NAN : bound(f, t->level[d], bin, true));
	fit_writer_str(w, bin == 0 ? "missing" : f->nominal ? f->categories[bin - 1] : NULL);
}

static int shape(const struct cli *cli, const struct fit_ga2m *m, size_t term, const char *hash,
		 struct fit_writer **w, struct fit_err *err)
{
	const struct fit_ga2m_term *t = &m->terms[term];
	struct fit_field fields[16];
	size_t n = 0;
	int rc;

	fields[n++] = (struct fit_field){ "bin", FIT_INT, 0 };
	fields[n++] = (struct fit_field){ "from", FIT_REAL, 0 };
	fields[n++] = (struct fit_field){ "to", FIT_REAL, 0 };
	fields[n++] = (struct fit_field){ "category", FIT_TEXT, 0 };
	if (t->n_dims == 2) {
		fields[n++] = (struct fit_field){ "bin_2", FIT_INT, 0 };
		fields[n++] = (struct fit_field){ "from_2", FIT_REAL, 0 };
		fields[n++] = (struct fit_field){ "to_2", FIT_REAL, 0 };
		fields[n++] = (struct fit_field){ "category_2", FIT_TEXT, 0 };
	}
	if (m->n_outputs > 1)
		fields[n++] = (struct fit_field){ "class", FIT_TEXT, 0 };
	fields[n++] = (struct fit_field){ "score", FIT_REAL, 0 };
	fields[n++] = (struct fit_field){ "sd", FIT_REAL, 0 };
	fields[n++] = (struct fit_field){ "weight", FIT_REAL, 0 };
	rc = begin(cli, m, hash, "shape", t, fields, n, w, err);
	/* the last bin is the one of unseen categories, whose score is 0 */
	for (size_t i = 0; i + 1 < t->n_bins[0] && !rc; i++) {
		for (size_t j = 0; (t->n_dims == 1 || j + 1 < t->n_bins[1]) && j < t->n_bins[1] && !rc; j++) {
			size_t cell = i * t->n_bins[1] + j;

			if ((i == 0 || (t->n_dims == 2 && j == 0)) && !(t->weight[cell] > 0))
				continue;
			for (size_t o = 0; o < m->n_outputs && !rc; o++) {
				put_bin(*w, m, t, 0, i);
				if (t->n_dims == 2)
					put_bin(*w, m, t, 1, j);
				if (m->n_outputs > 1)
					fit_writer_str(*w, m->classes[o]);
				fit_writer_real(*w, t->score[cell * m->n_outputs + o]);
				fit_writer_real_or_na(*w, t->sd[cell * m->n_outputs + o]);
				fit_writer_real(*w, t->weight[cell]);
				rc = fit_writer_end_row(*w, err);
			}
		}
	}
	return rc ? rc : fit_writer_end(*w, err);
}

/* ---- rows ---- */

struct part {
	size_t term;
	double add, size;
};

static int by_size(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	if (a->size < b->size || a->size > b->size)
		return a->size > b->size ? -1 : 1;
	return (a->term > b->term) - (a->term < b->term);
}

struct job {
	const struct ga2m_explain_options *o;
	const struct fit_ga2m *m;
	struct ga2m_rows r;
	struct fit_writer *w;
	double *parts, *score, *out;
	struct part *order;
	struct fit_str name;
};

static void put_head(struct job *j, size_t output, const char *part)
{
	char buf[FIT_NUM_MAX];
	struct fit_text id;

	if (j->r.id >= 0) {
		id = fit_input_text(j->r.in, j->r.id, buf);
		if (id.s)
			fit_writer_text(j->w, id);
		else
			fit_writer_na(j->w);
	} else {
		fit_writer_int(j->w, j->r.row);
	}
	if (j->m->n_outputs > 1)
		fit_writer_str(j->w, j->m->classes[output]);
	fit_writer_str(j->w, part);
}

static int put_plain(struct job *j, size_t output, const char *part, double add, double total,
		     struct fit_err *err)
{
	put_head(j, output, part);
	fit_writer_na(j->w);
	fit_writer_na(j->w);
	fit_writer_real_or_na(j->w, add);
	fit_writer_na(j->w);
	fit_writer_real(j->w, total);
	return fit_writer_end_row(j->w, err);
}

static void put_value(struct job *j, const struct fit_ga2m_term *t, int d)
{
	char buf[FIT_NUM_MAX];
	struct fit_text v = { NULL, 0 };

	if (d < t->n_dims)
		v = fit_input_text(j->r.in, j->r.column[t->feature[d]], buf);
	if (v.s)
		fit_writer_text(j->w, v);
	else
		fit_writer_na(j->w);
}

static int one_output(struct job *j, size_t o, struct fit_err *err)
{
	const struct fit_ga2m *m = j->m;
	size_t shown = j->o->top > 0 && (size_t)j->o->top < m->n_terms ? (size_t)j->o->top : m->n_terms;
	double total = m->intercept[o], rest = 0;
	int rc = put_plain(j, o, "intercept", m->intercept[o], total, err);

	if (!rc && j->r.offset >= 0) {
		total += j->r.known;
		rc = put_plain(j, o, "offset", j->r.known, total, err);
	}
	for (size_t k = 0; k < m->n_terms; k++) {
		double add = j->parts[k * m->n_outputs + o];

		j->order[k] = (struct part){ k, add, fabs(add) };
	}
	if (m->n_terms)
		qsort(j->order, m->n_terms, sizeof *j->order, by_size);
	for (size_t i = 0; i < m->n_terms && !rc; i++) {
		const struct fit_ga2m_term *t = &m->terms[j->order[i].term];

		if (i >= shown) {
			rest += j->order[i].add;
			continue;
		}
		if (fit_ga2m_term_name(m, j->order[i].term, &j->name))
			return fit_fail_nomem(err);
		total += j->order[i].add;
		put_head(j, o, j->name.s);
		put_value(j, t, 0);
		put_value(j, t, 1);
		fit_writer_real(j->w, j->order[i].add);
		fit_writer_real_or_na(j->w, t->sd[fit_ga2m_cell(m, t, j->r.x) * m->n_outputs + o]);
		fit_writer_real(j->w, total);
		rc = fit_writer_end_row(j->w, err);
	}
	if (!rc && shown < m->n_terms)
		rc = put_plain(j, o, "others", rest, total + rest, err);
	/* the score as predict gives it: terms in the order of the model */
	if (!rc)
		rc = put_plain(j, o, "score", (double)NAN, j->score[o] + j->r.known, err);
	return rc;
}

static int one_row(struct job *j, struct fit_err *err)
{
	const struct fit_ga2m *m = j->m;
	int rc = FIT_OK;

	fit_ga2m_explain(m, j->r.x, j->parts);
	fit_ga2m_score(m, j->r.x, j->score);
	for (size_t o = 0; o < m->n_outputs && !rc; o++)
		rc = one_output(j, o, err);
	for (size_t o = 0; o < m->n_outputs; o++)
		j->score[o] += j->r.known;
	fit_ga2m_link_inverse(m, j->score, j->out);
	for (size_t o = 0; o < m->n_outputs && !rc; o++)
		rc = put_plain(j, o, "prediction", (double)NAN, j->out[m->n_outputs == 1 && m->n_classes ? 1 : o], err);
	return rc;
}

static int rows(const struct cli *cli, const struct ga2m_explain_options *o, const struct fit_ga2m *m,
		const char *hash, struct fit_writer **w, struct fit_err *err)
{
	struct job j = { .o = o, .m = m };
	struct fit_meta meta = { 0 };
	struct fit_field fields[8];
	char input[FIT_HASH_HEX];
	size_t n = 0;
	int rc = ga2m_rows_open(&j.r, m, cli_operand(cli, 0), o->csv, o->id, err);

	fields[n++] = (struct fit_field){ o->id ? o->id : "row", o->id ? FIT_TEXT : FIT_INT, 0 };
	if (m->n_outputs > 1)
		fields[n++] = (struct fit_field){ "class", FIT_TEXT, 0 };
	fields[n++] = (struct fit_field){ "part", FIT_TEXT, 0 };
	fields[n++] = (struct fit_field){ "value", FIT_TEXT, 0 };
	fields[n++] = (struct fit_field){ "value_2", FIT_TEXT, 0 };
	fields[n++] = (struct fit_field){ "adds", FIT_REAL, 0 };
	fields[n++] = (struct fit_field){ "sd", FIT_REAL, 0 };
	fields[n++] = (struct fit_field){ "total", FIT_REAL, 0 };
	j.parts = calloc(m->n_terms * m->n_outputs + 1, sizeof *j.parts);
	j.score = calloc(m->n_outputs + 1, sizeof *j.score);
	j.out = calloc(m->n_classes + 2, sizeof *j.out);
	j.order = calloc(m->n_terms + 1, sizeof *j.order);
	if (!rc && (!j.parts || !j.score || !j.out || !j.order))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : begin(cli, m, hash, "parts", NULL, fields, n, w, err);
	j.w = *w;
	while (!rc && (rc = ga2m_rows_next(&j.r, err)) == FIT_OK)
		rc = one_row(&j, err);
	if (rc == FIT_END) {
		fit_input_hash(j.r.in, input);
		rc = cli_meta_input(&meta, NULL, input) ? fit_fail_nomem(err) : fit_writer_end_meta(*w, &meta, err);
		rc = rc ? rc : fit_writer_end(*w, err);
	}
	fit_meta_release(&meta);
	fit_str_release(&j.name);
	ga2m_rows_close(&j.r);
	free(j.parts);
	free(j.score);
	free(j.out);
	free(j.order);
	return rc;
}

void ga2m_explain_defaults(void *given)
{
	((struct ga2m_explain_options *)given)->top = -1;
}

int ga2m_explain(struct cli *cli, void *given)
{
	const struct ga2m_explain_options *o = given;
	struct fit_ga2m m = { 0 };
	struct fit_writer *w = NULL;
	char hash[FIT_HASH_HEX];
	struct fit_err err;
	size_t term = SIZE_MAX;
	int rc;

	if (o->shape && o->importance)
		return cli_usage(cli, "--shape and --importance are two tables");
	if ((o->shape || o->importance) && (cli->n_operands > 0 || o->id || o->top > 0 || o->csv))
		return cli_usage(cli, "--shape and --importance go with none of FILE, --id, --top and --csv");
	rc = ga2m_read_model(&m, o->model, hash, &err);
	if (!rc && o->shape && (term = fit_ga2m_term_called(&m, fit_text_of(o->shape))) == SIZE_MAX)
		rc = fit_fail(&err, FIT_ENOTFOUND, "no term '%s' (--shape; see --importance)", o->shape);
	if (!rc && o->shape)
		rc = shape(cli, &m, term, hash, &w, &err);
	else if (!rc)
		rc = o->importance ? importance(cli, &m, hash, &w, &err) : rows(cli, o, &m, hash, &w, &err);
	rc = cli_writer_close(w, rc, &err);
	fit_ga2m_release(&m);
	return rc ? cli_error(cli, &err) : CLI_EXIT_OK;
}
