/* SPDX-License-Identifier: MIT */
#include "libfit/model/speedup.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/table/table.h"

void fit_speedups_release(struct fit_speedups *s)
{
	for (size_t i = 0; i < s->n_classes; i++)
		free(s->classes[i].name);
	for (size_t i = 0; i < s->n_types; i++)
		free(s->types[i]);
	free(s->classes);
	free(s->types);
	free(s->epochs);
	free(s->widths);
	*s = (struct fit_speedups){ 0 };
}

const struct fit_speedup_class *fit_speedups_find(const struct fit_speedups *s, struct fit_text name)
{
	size_t lo = 0, hi = s->n_classes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (fit_text_cmp(fit_text_of(s->classes[mid].name), name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n_classes && fit_text_is(name, s->classes[lo].name) ? &s->classes[lo] : NULL;
}

/* ---- rows ---- */

void fit_speedup_rows_release(struct fit_speedup_rows *r)
{
	for (size_t i = 0; i < r->n_classes; i++)
		free(r->classes[i]);
	for (size_t i = 0; i < r->n_types; i++)
		free(r->types[i]);
	free(r->classes);
	free(r->types);
	free(r->rows);
	fit_index_release(&r->class_index);
	fit_index_release(&r->type_index);
	*r = (struct fit_speedup_rows){ 0 };
}

static int number_of(struct fit_index *index, char ***names, size_t *n, size_t *cap,
		     struct fit_text name, uint32_t *number, struct fit_err *err)
{
	uint32_t found = fit_index_get(index, name);

	if (found == FIT_NO_INDEX) {
		char *copy;

		if (*n >= FIT_SPEEDUP_CLASSES_MAX)
			return fit_fail(err, FIT_EDATA, "too many classes or types (expected at most %d)",
					FIT_SPEEDUP_CLASSES_MAX);
		if (fit_grow(names, cap, *n + 1, sizeof **names) || !(copy = fit_strdup(name)))
			return fit_fail_nomem(err);
		found = (uint32_t)*n;
		if (fit_index_put(index, name, found, NULL)) {
			free(copy);
			return fit_fail_nomem(err);
		}
		(*names)[(*n)++] = copy;
	}
	*number = found;
	return FIT_OK;
}

int fit_speedup_rows_class(struct fit_speedup_rows *r, struct fit_text name, uint32_t *number,
			   struct fit_err *err)
{
	return number_of(&r->class_index, &r->classes, &r->n_classes, &r->cap_classes, name, number,
			 err);
}

int fit_speedup_rows_type(struct fit_speedup_rows *r, struct fit_text name, uint32_t *number,
			  struct fit_err *err)
{
	return number_of(&r->type_index, &r->types, &r->n_types, &r->cap_types,
			 name.s ? name : FIT_TEXT_LIT(""), number, err);
}

int fit_speedup_rows_add(struct fit_speedup_rows *r, const struct fit_speedup_row *row,
			 struct fit_err *err)
{
	if (fit_grow(&r->rows, &r->cap, r->n + 1, sizeof *r->rows))
		return fit_fail_nomem(err);
	r->rows[r->n++] = *row;
	return FIT_OK;
}

/* ---- rows into speedups ---- */

struct name {
	char *s;
	uint32_t was;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->s, ((const struct name *)b)->s);
}

int fit_speedup_sort_names(char **names, size_t n, uint32_t **place, struct fit_err *err)
{
	struct name *list = calloc(n + 1, sizeof *list);

	*place = calloc(n + 1, sizeof **place);
	if (!list || !*place) {
		free(list);
		return fit_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		list[i] = (struct name){ names[i], (uint32_t)i };
	qsort(list, n, sizeof *list, compare_names);
	for (size_t i = 0; i < n; i++) {
		names[i] = list[i].s;
		(*place)[list[i].was] = (uint32_t)i;
	}
	free(list);
	return FIT_OK;
}

#define ORDER(x, y)            \
	if ((x) != (y))        \
		return (x) < (y) ? -1 : 1

static int compare_rows(const void *pa, const void *pb)
{
	const struct fit_speedup_row *a = pa, *b = pb;

	ORDER(a->class_no, b->class_no);
	ORDER(a->epoch, b->epoch);
	ORDER(a->type, b->type);
	ORDER(a->gpus, b->gpus);
	ORDER(b->speed, a->speed);
	return (a->line > b->line) - (a->line < b->line);
}

static int row_fail(const char *input, const struct fit_speedup_row *row, const char *column,
		    struct fit_err *err, const char *fmt, ...) FIT_PRINTF(5, 6);

static int row_fail(const char *input, const struct fit_speedup_row *row, const char *column,
		    struct fit_err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)fit_fail_v(err, FIT_EDATA, fmt, ap);
	va_end(ap);
	if (!input)
		return FIT_EDATA;
	return fit_fail_prefix(err, FIT_EDATA, "%s:%llu:%s", input, (unsigned long long)row->line,
			       column);
}

/* Rows in order into epochs and widths. */
static int fill(struct fit_speedups *s, const struct fit_speedup_row *rows, size_t n,
		char *const *classes, const char *input, struct fit_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct fit_speedup_row *r = &rows[i], *before = i ? r - 1 : NULL;
		bool new_class = !before || before->class_no != r->class_no;
		bool new_epoch = new_class || before->epoch != r->epoch;
		struct fit_speedup_class *c = &s->classes[r->class_no];

		if (new_class)
			*c = (struct fit_speedup_class){ NULL, s->n_epochs, 0 };
		if (new_epoch) {
			uint32_t expected = new_class ? 0 : before->epoch + 1;

			if (r->epoch != expected)
				return row_fail(input, r, "epoch", err,
						"class '%.200s': no epoch '%lu' (expected 0, 1, 2, … "
						"without a gap)",
						classes[r->class_no], (unsigned long)expected);
			s->epochs[s->n_epochs++] =
				(struct fit_speedup_epoch){ r->work, s->n_widths, 0 };
			c->n++;
		} else if (r->work != before->work) {
			return row_fail(input, r, "work", err,
					"another work of class '%.200s', epoch %lu, than on line %llu "
					"(expected one for all widths)",
					classes[r->class_no], (unsigned long)r->epoch,
					(unsigned long long)before->line);
		}
		s->epochs[s->n_epochs - 1].n++;
		s->widths[s->n_widths++] = (struct fit_width){ r->speed, 1, r->gpus, (int)r->type };
	}
	return FIT_OK;
}

int fit_speedups_finish(struct fit_speedups *s, struct fit_speedup_rows *r, const char *input,
			struct fit_err *err)
{
	uint32_t *class_place = NULL, *type_place = NULL;
	size_t n_epochs = 0;
	bool sorted = true;
	int rc;

	*s = (struct fit_speedups){ 0 };
	rc = fit_speedup_sort_names(r->classes, r->n_classes, &class_place, err);
	if (!rc)
		rc = fit_speedup_sort_names(r->types, r->n_types, &type_place, err);
	for (size_t i = 0; i < r->n && !rc; i++) {
		struct fit_speedup_row *row = &r->rows[i];

		row->class_no = class_place[row->class_no];
		row->type = type_place[row->type];
		sorted = sorted && (i == 0 || compare_rows(row - 1, row) < 0);
	}
	if (!rc && !sorted)
		qsort(r->rows, r->n, sizeof *r->rows, compare_rows);
	for (size_t i = 0; i < r->n && !rc; i++)
		n_epochs += i == 0 || r->rows[i].class_no != r->rows[i - 1].class_no ||
			    r->rows[i].epoch != r->rows[i - 1].epoch;
	if (!rc) {
		s->classes = calloc(r->n_classes + 1, sizeof *s->classes);
		s->epochs = calloc(n_epochs + 1, sizeof *s->epochs);
		s->widths = malloc((r->n + 1) * sizeof *s->widths);
		if (!s->classes || !s->epochs || !s->widths)
			rc = fit_fail_nomem(err);
	}
	if (!rc)
		rc = fill(s, r->rows, r->n, r->classes, input, err);
	if (!rc) {
		for (size_t i = 0; i < r->n_classes; i++)
			s->classes[i].name = r->classes[i];
		s->n_classes = r->n_classes;
		s->types = r->types;
		s->n_types = r->n_types;
		r->types = NULL;
		r->n_types = r->n_classes = 0;
	} else {
		fit_speedups_release(s);
	}
	free(class_place);
	free(type_place);
	fit_speedup_rows_release(r);
	return rc;
}

/* ---- the table ---- */

enum { CLASS, EPOCH, TYPE, GPUS, WORK, SPEED, N_COLUMNS };

static const struct fit_field fields[N_COLUMNS] = {
	[CLASS] = { "class", FIT_TEXT, FIT_F_NOT_NA }, [EPOCH] = { "epoch", FIT_INT, FIT_F_NOT_NA },
	[TYPE] = { "gpu_type", FIT_TEXT, FIT_F_OPTIONAL }, [GPUS] = { "gpus", FIT_INT, FIT_F_NOT_NA },
	[WORK] = { "work", FIT_REAL, FIT_F_NOT_NA }, [SPEED] = { "speed_per_s", FIT_REAL, 0 }
};

static int bad_real(const struct fit_reader *r, int column, double v, const char *expected,
		    struct fit_err *err)
{
	char text[FIT_NUM_MAX];

	fit_format_double(text, v);
	return fit_reader_fail(r, FIT_EDATA, fields[column].name, err, "bad value '%s' (expected %s)",
			       text, expected);
}

static int take_row(const struct fit_reader *r, const struct fit_cell *c, bool drop_bad,
		    struct fit_speedup_row *row, uint64_t *dropped, struct fit_err *err)
{
	if (c[EPOCH].u.i < 0 || c[EPOCH].u.i >= FIT_SPEEDUP_CLASSES_MAX)
		return fit_reader_fail(r, FIT_EDATA, "epoch", err, "bad value '%lld' (expected 0 to %d)",
				       (long long)c[EPOCH].u.i, FIT_SPEEDUP_CLASSES_MAX - 1);
	if (c[GPUS].u.i < 1 || c[GPUS].u.i >= FIT_GPUS_MAX)
		return fit_reader_fail(r, FIT_EDATA, "gpus", err,
				       "bad number of GPUs '%lld' (expected 1 to %lld)",
				       (long long)c[GPUS].u.i, (long long)FIT_GPUS_MAX - 1);
	row->epoch = (uint32_t)c[EPOCH].u.i;
	row->gpus = (uint32_t)c[GPUS].u.i;
	row->work = c[WORK].u.d;
	if (!(row->work >= 0 && row->work <= FIT_WORK_MAX))
		return bad_real(r, WORK, row->work, "0 to 1e30", err);
	row->speed = c[SPEED].na ? 0 : c[SPEED].u.d;
	if (row->speed == 0 || fit_width_usable(&(struct fit_width){ .speed = row->speed }))
		return FIT_OK;
	if (!drop_bad)
		return bad_real(r, SPEED, row->speed,
				"1e-30 to 1e30; 0 or NA where the width cannot be used", err);
	row->speed = 0;
	++*dropped;
	return FIT_OK;
}

int fit_speedups_read(struct fit_speedups *s, const char *operand, bool drop_bad,
		      struct fit_err *err)
{
	struct fit_speedup_rows rows = { 0 };
	struct fit_cell cells[N_COLUMNS];
	struct fit_reader *r = NULL;
	struct fit_speedup_row row = { 0 };
	struct fit_text last_class = { 0 }, last_type = { 0 };
	char hash[FIT_HASH_HEX] = "";
	uint64_t dropped = 0;
	int rc = fit_reader_open(&r, operand, err);

	*s = (struct fit_speedups){ 0 };
	if (!rc)
		rc = fit_reader_begin(r, fields, N_COLUMNS, err);
	if (rc == FIT_END)
		rc = fit_fail(err, FIT_EPARSE, "%s: no table", fit_reader_input(r));
	while (!rc && (rc = fit_reader_row(r, cells, err)) == FIT_OK) {
		struct fit_text type = cells[TYPE].na ? FIT_TEXT_LIT("") : cells[TYPE].u.t;

		row.line = fit_reader_line(r);
		/* most rows are of the class and type of the row before */
		if (!last_class.s || !fit_text_eq(cells[CLASS].u.t, last_class)) {
			rc = fit_speedup_rows_class(&rows, cells[CLASS].u.t, &row.class_no, err);
			if (rc)
				break;
			last_class = fit_text_of(rows.classes[row.class_no]);
		}
		if (!last_type.s || !fit_text_eq(type, last_type)) {
			rc = fit_speedup_rows_type(&rows, type, &row.type, err);
			if (rc)
				break;
			last_type = fit_text_of(rows.types[row.type]);
		}
		rc = take_row(r, cells, drop_bad, &row, &dropped, err);
		if (!rc)
			rc = fit_speedup_rows_add(&rows, &row, err);
	}
	if (rc == FIT_END) {
		fit_reader_hash(r, hash);
		rc = rows.n ? fit_speedups_finish(s, &rows, fit_reader_input(r), err) :
			      fit_fail(err, FIT_EDATA, "%s: no rows", fit_reader_input(r));
	}
	if (!rc) {
		memcpy(s->hash, hash, sizeof hash);
		s->dropped = dropped;
	}
	fit_speedup_rows_release(&rows);
	fit_reader_close(r);
	return rc;
}
