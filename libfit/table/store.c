/* SPDX-License-Identifier: MIT */
#include "libfit/table/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libfit/table/cell.h"

#define MAX_OBJECTS 1000000	/* of a file that we did not write */
#define MAX_RATIO 1100		/* deflate never shrinks more than this */

static int damaged(const struct fit_store_image *im, const char *path, const char *what,
		   struct fit_err *err)
{
	return fit_fail(err, FIT_EPARSE, "%s:%s: damaged HDF5 file (%s)", im->name, path, what);
}

/* ---- names and attributes ---- */

int fit_store_link_name(struct fit_str *out, const char *column)
{
	int rc = FIT_OK;

	if (!*column)
		return fit_str_puts(out, "%");
	for (const char *p = column; *p && !rc; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '/' || c == '%' || c < 0x20 || (c == '.' && p == column))
			rc = fit_str_printf(out, "%%%02X", (unsigned)c);
		else
			rc = fit_str_add(out, p, 1);
	}
	return rc;
}

/* Append the text attribute NAME (and NAME.1, … where it was too long for one) of an object.
 * FIT_ENOTFOUND when there is none, FIT_EPARSE when it is not a text. */
static int get_text(hid_t obj, const char *name, struct fit_str *out)
{
	char part[80];

	for (unsigned k = 0;; k++) {
		hid_t attr, type = H5I_INVALID_HID;
		size_t size = 0;
		int rc = FIT_EPARSE;

		snprintf(part, sizeof part, k ? "%s.%u" : "%s", name, k);
		attr = H5Aopen(obj, part, H5P_DEFAULT);
		if (attr < 0)
			return k ? FIT_OK : FIT_ENOTFOUND;
		type = H5Aget_type(attr);
		if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0)
			size = H5Tget_size(type);
		/* one text, not a row of them: the room below holds one */
		if (size && size <= 65536 && H5Aget_storage_size(attr) == size) {
			rc = fit_grow(&out->s, &out->cap, out->n + size + 1, 1);
			if (!rc && H5Aread(attr, type, out->s + out->n) < 0)
				rc = FIT_EPARSE;
			if (!rc) {
				out->n += strnlen(out->s + out->n, size);
				out->s[out->n] = '\0';
			}
		}
		if (type >= 0)
			H5Tclose(type);
		H5Aclose(attr);
		if (rc || size < FIT_ATTR_MAX)
			return rc;
	}
}

/* FIT_ENOTFOUND: there is no such attribute. */
static int get_count(hid_t obj, const char *name, size_t *n)
{
	hid_t attr = H5Aopen(obj, name, H5P_DEFAULT);
	int64_t v = -1;

	if (attr < 0)
		return FIT_ENOTFOUND;
	if (H5Aget_storage_size(attr) != sizeof v || H5Aread(attr, H5T_NATIVE_INT64, &v) < 0)
		v = -1;
	H5Aclose(attr);
	if (v < 0)
		return FIT_EPARSE;
	*n = (size_t)v;
	return FIT_OK;
}

/* ---- which tables there are ---- */

void fit_store_paths_release(struct fit_store_paths *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->p[i]);
	free(list->p);
	*list = (struct fit_store_paths){ 0 };
}

static int add_path(struct fit_store_paths *list, struct fit_text path)
{
	char *copy;

	if (fit_grow(&list->p, &list->cap, list->n + 1, sizeof *list->p))
		return FIT_ENOMEM;
	copy = fit_strdup(path);
	if (!copy)
		return FIT_ENOMEM;
	list->p[list->n++] = copy;
	return FIT_OK;
}

/* The names of all hard links of a group, sorted. */
static herr_t take_link(hid_t group, const char *name, const H5L_info_t *info, void *udata)
{
	struct fit_store_paths *list = udata;

	(void)group;
	if (info->type != H5L_TYPE_HARD)
		return 0;
	if (list->n >= MAX_OBJECTS)
		return -1;
	return add_path(list, fit_text_of(name)) ? -1 : 0;
}

static int link_names(hid_t group, struct fit_store_paths *names)
{
	return H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, take_link, names) < 0 ? FIT_EPARSE
											  : FIT_OK;
}

static bool is_column(hid_t dset)
{
	hid_t space = H5Dget_space(dset);
	bool yes = space >= 0 && H5Sget_simple_extent_ndims(space) == 1;

	if (space >= 0)
		H5Sclose(space);
	return yes;
}

struct walk {
	const struct fit_store_image *im;
	struct fit_store_paths *found;
	struct fit_str path;
	size_t seen;		/* objects so far: a damaged file may have loops */
	struct fit_err *err;
};

static int walk_group(struct walk *w, hid_t group, unsigned depth)
{
	struct fit_store_paths names = { 0 };
	size_t here = w->path.n;
	bool table = false;
	int rc = link_names(group, &names);

	if (rc)
		rc = damaged(w->im, here ? w->path.s : "/", "a group cannot be read", w->err);
	for (size_t i = 0; i < names.n && !rc; i++) {
		hid_t obj;
		H5I_type_t kind;

		if (++w->seen > MAX_OBJECTS || depth > FIT_STORE_DEPTH) {
			rc = damaged(w->im, here ? w->path.s : "/", "too many groups", w->err);
			break;
		}
		obj = H5Oopen(group, names.p[i], H5P_DEFAULT);
		if (obj < 0) {
			rc = damaged(w->im, here ? w->path.s : "/", "an object cannot be opened", w->err);
			break;
		}
		kind = H5Iget_type(obj);
		if (kind == H5I_DATASET && !table)
			table = is_column(obj);
		if (kind == H5I_GROUP) {
			rc = fit_str_printf(&w->path, "/%s", names.p[i]) ? fit_fail_nomem(w->err)
									: walk_group(w, obj, depth + 1);
			w->path.n = here;
			if (w->path.s)
				w->path.s[here] = '\0';
		}
		H5Oclose(obj);
	}
	fit_store_paths_release(&names);
	if (!rc && table && add_path(w->found, fit_text_of(here ? w->path.s : "/")))
		rc = fit_fail_nomem(w->err);
	return rc;
}

static int compare_paths(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* The attribute tables of the root, which holds for a sealed store. */
static int listed_paths(const struct fit_store_image *im, hid_t root, struct fit_store_paths *list,
			struct fit_err *err)
{
	struct fit_str all = { 0 };
	int rc = get_text(root, "tables", &all);

	if (rc == FIT_ENOTFOUND)
		rc = FIT_OK;	/* a store without tables */
	else if (rc)
		rc = damaged(im, "/", "no list of tables", err);
	for (size_t at = 0; at < all.n && !rc; ) {
		size_t len = strcspn(all.s + at, "\n");

		if (add_path(list, (struct fit_text){ all.s + at, len }))
			rc = fit_fail_nomem(err);
		at += len + 1;
	}
	fit_str_release(&all);
	return rc;
}

int fit_store_paths(const struct fit_store_image *im, struct fit_store_paths *list, struct fit_err *err)
{
	struct walk w = { .im = im, .found = list, .err = err };
	struct fit_h5_quiet q;
	hid_t root;
	int rc;

	*list = (struct fit_store_paths){ 0 };
	fit_h5_quiet_begin(&q);
	root = H5Gopen2(im->file, "/", H5P_DEFAULT);
	if (root < 0)
		rc = damaged(im, "/", "no root group", err);
	else if (im->sealed)
		rc = listed_paths(im, root, list, err);
	else
		rc = walk_group(&w, root, 0);
	if (root >= 0)
		H5Gclose(root);
	fit_h5_quiet_end(&q);
	fit_str_release(&w.path);
	if (rc)
		fit_store_paths_release(list);
	else if (!im->sealed && list->n)
		qsort(list->p, list->n, sizeof *list->p, compare_paths);
	return rc;
}

int fit_store_list(const char *file, char ***paths, size_t *n, struct fit_err *err)
{
	struct fit_store_image im;
	struct fit_store_paths list = { 0 };
	int rc = fit_store_load(&im, file, err);

	*paths = NULL;
	*n = 0;
	if (!rc)
		rc = fit_store_open(&im, err);
	if (!rc)
		rc = fit_store_paths(&im, &list, err);
	if (!rc) {
		*paths = list.p;
		*n = list.n;
	}
	fit_store_release(&im);
	return rc;
}

/* ---- columns ---- */

/* What is known of a column before it is read. */
struct source_column {
	char *name;
	enum fit_type type;
	hid_t dset;		/* open for a table that is not ours, else invalid */
};

struct source_table {
	const struct fit_store_image *im;
	const char *path;
	hid_t group;
	bool foreign;
	size_t rows;
	struct source_column *columns;
	size_t n, cap;
	struct fit_index by_name;
};

static void release_source(struct source_table *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->columns[i].name);
		if (s->columns[i].dset >= 0)
			H5Dclose(s->columns[i].dset);
	}
	free(s->columns);
	fit_index_release(&s->by_name);
	if (s->group >= 0)
		H5Gclose(s->group);
}

static int add_column(struct source_table *s, char *name, enum fit_type type, hid_t dset,
		      struct fit_err *err)
{
	uint32_t before = FIT_NO_INDEX;

	if (!name || fit_grow(&s->columns, &s->cap, s->n + 1, sizeof *s->columns)) {
		free(name);
		if (dset >= 0)
			H5Dclose(dset);
		return fit_fail_nomem(err);
	}
	s->columns[s->n] = (struct source_column){ name, type, dset };
	if (fit_index_put(&s->by_name, fit_text_of(name), (uint32_t)s->n++, &before))
		return fit_fail_nomem(err);
	if (before != FIT_NO_INDEX)
		return damaged(s->im, s->path, "a column twice", err);
	return FIT_OK;
}

/* The columns of a table of ours, from its attributes. */
static int own_columns(struct source_table *s, struct fit_err *err)
{
	struct fit_str names = { 0 }, types = { 0 };
	size_t at_name = 0, at_type = 0;
	int rc = get_count(s->group, "rows", &s->rows);

	rc = rc ? rc : get_text(s->group, "columns", &names);
	rc = rc ? rc : get_text(s->group, "types", &types);
	if (rc)
		rc = damaged(s->im, s->path, "no list of columns", err);
	while (!rc && at_name < names.n) {
		size_t len = strcspn(names.s + at_name, "\t"), n = len, k = 0;
		enum fit_type type = FIT_TEXT;

		if (at_type < types.n)
			k = strcspn(types.s + at_type, ",");
		if (fit_unescape(names.s + at_name, &n) ||
		    fit_type_from_name((struct fit_text){ types.s + at_type, k }, &type))
			rc = damaged(s->im, s->path, "columns and types do not match", err);
		else
			rc = add_column(s, fit_strdup((struct fit_text){ names.s + at_name, n }), type,
					H5I_INVALID_HID, err);
		at_name += len + 1;
		at_type += k + 1;
	}
	fit_str_release(&names);
	fit_str_release(&types);
	return rc;
}

static bool foreign_type(hid_t dset, enum fit_type *type)
{
	hid_t t = H5Dget_type(dset);
	H5T_class_t class = t >= 0 ? H5Tget_class(t) : H5T_NO_CLASS;

	if (t >= 0)
		H5Tclose(t);
	*type = class == H5T_INTEGER ? FIT_INT : class == H5T_FLOAT ? FIT_REAL : FIT_TEXT;
	return class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_STRING;
}

/* The columns of any other group: its 1-D data sets of numbers and texts. */
static int foreign_columns(struct source_table *s, struct fit_err *err)
{
	struct fit_store_paths names = { 0 };
	int rc = link_names(s->group, &names);

	if (rc)
		rc = damaged(s->im, s->path, "a group cannot be read", err);
	for (size_t i = 0; i < names.n && !rc; i++) {
		hid_t obj = H5Oopen(s->group, names.p[i], H5P_DEFAULT), space;
		hssize_t rows = -1;
		enum fit_type type;

		if (obj < 0) {
			rc = damaged(s->im, s->path, "an object cannot be opened", err);
			break;
		}
		if (H5Iget_type(obj) != H5I_DATASET || !is_column(obj) || !foreign_type(obj, &type)) {
			H5Oclose(obj);
			continue;
		}
		space = H5Dget_space(obj);
		if (space >= 0) {
			rows = H5Sget_simple_extent_npoints(space);
			H5Sclose(space);
		}
		if (rows < 0 || (s->n && (size_t)rows != s->rows)) {
			H5Oclose(obj);
			rc = fit_fail(err, FIT_EDATA, "%s:%s: %lld rows in column '%s' (expected %zu as in '%s')",
				      s->im->name, s->path, (long long)rows, names.p[i], s->rows,
				      s->n ? s->columns[0].name : "");
			break;
		}
		s->rows = (size_t)rows;
		rc = add_column(s, fit_strdup(fit_text_of(names.p[i])), type, obj, err);
	}
	fit_store_paths_release(&names);
	if (!rc && !s->n)
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no table '%s' in this store", s->im->name, s->path);
	return rc;
}

/* An open data set that claims to have n values of size bytes: can that be? */
static bool plausible(const struct source_table *s, hid_t dset, size_t rows, size_t size)
{
	hid_t space = H5Dget_space(dset);
	bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
		    H5Sget_simple_extent_npoints(space) == (hssize_t)rows;

	if (space >= 0)
		H5Sclose(space);
	if (!good || !size || rows > SIZE_MAX / 64 / size)
		return false;
	return rows * size / MAX_RATIO <= s->im->n;
}

static int read_int(hid_t dset, const struct source_table *s, struct fit_column *col)
{
	hid_t type;
	bool wide_unsigned = false;

	if (!plausible(s, dset, s->rows, sizeof *col->i))
		return FIT_EPARSE;
	if (s->foreign) {
		type = H5Dget_type(dset);
		wide_unsigned = type >= 0 && H5Tget_size(type) >= 8 && H5Tget_sign(type) == H5T_SGN_NONE;
		if (type >= 0)
			H5Tclose(type);
	}
	col->i = malloc((s->rows ? s->rows : 1) * sizeof *col->i);
	if (!col->i)
		return FIT_ENOMEM;
	if (!s->rows)
		return FIT_OK;
	if (H5Dread(dset, wide_unsigned ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
		    col->i) < 0)
		return FIT_EPARSE;
	/* read as unsigned, what does not fit shows up negative */
	for (size_t r = 0; wide_unsigned && r < s->rows; r++)
		if (col->i[r] < 0)
			return FIT_EINVAL;
	return FIT_OK;
}

static int read_real(hid_t dset, const struct source_table *s, struct fit_column *col)
{
	if (!plausible(s, dset, s->rows, sizeof *col->d))
		return FIT_EPARSE;
	col->d = malloc((s->rows ? s->rows : 1) * sizeof *col->d);
	if (!col->d)
		return FIT_ENOMEM;
	if (s->rows && H5Dread(dset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, col->d) < 0)
		return FIT_EPARSE;
	return FIT_OK;
}

/* Missing is "NA"; a text of backslashes and NA has one backslash more than it had. */
static bool looks_na(const char *s, size_t n)
{
	if (n < 2 || s[n - 1] != 'A' || s[n - 2] != 'N')
		return false;
	for (size_t i = 0; i + 2 < n; i++)
		if (s[i] != '\\')
			return false;
	return true;
}

static int put_stored_text(const struct source_table *s, struct fit_column *col, size_t row, const char *p,
			   size_t n)
{
	if (looks_na(p, n)) {
		if (n == 2) {
			col->at[row] = FIT_TEXT_NA;
			return FIT_OK;
		}
		p++;
		n--;
	}
	if (!s->im->sealed && !fit_text_is_utf8((struct fit_text){ p, n }))
		return FIT_EINVAL;
	if (col->bytes_n + n + 1 > col->bytes_cap &&
	    fit_grow(&col->bytes, &col->bytes_cap, col->bytes_n + n + 1, 1))
		return FIT_ENOMEM;
	memcpy(col->bytes + col->bytes_n, p, n);
	col->at[row] = col->bytes_n;
	col->bytes_n += n;
	col->bytes[col->bytes_n++] = '\0';
	return FIT_OK;
}

static int read_fixed_text(hid_t dset, hid_t type, size_t width, const struct source_table *s,
			   struct fit_column *col)
{
	char *raw = NULL;
	int rc = FIT_OK;

	if (!plausible(s, dset, s->rows, width))
		return FIT_EPARSE;
	if (!s->rows)
		return FIT_OK;
	raw = malloc(s->rows * width);
	if (!raw)
		return FIT_ENOMEM;
	/* only the padding may differ: HDF5 does not convert between character sets */
	if (H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
	    H5Dread(dset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) < 0)
		rc = FIT_EPARSE;
	for (size_t r = 0; r < s->rows && !rc; r++) {
		const char *p = raw + r * width;

		/* runs of one text (an app column) share their bytes */
		if (r && memcmp(p, p - width, width) == 0)
			col->at[r] = col->at[r - 1];
		else
			rc = put_stored_text(s, col, r, p, strnlen(p, width));
	}
	free(raw);
	return rc;
}

static int read_variable_text(hid_t dset, const struct source_table *s, struct fit_column *col)
{
	hid_t type = H5Dget_type(dset), space = H5Dget_space(dset);
	char **raw = NULL;
	int rc = FIT_OK;

	if (type < 0 || space < 0 || !plausible(s, dset, s->rows, sizeof *raw))
		rc = FIT_EPARSE;
	else if (s->rows && !(raw = calloc(s->rows, sizeof *raw)))
		rc = FIT_ENOMEM;
	if (!rc && s->rows) {
		if (H5Dread(dset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) < 0)
			rc = FIT_EPARSE;
		for (size_t r = 0; r < s->rows && !rc; r++)
			rc = put_stored_text(s, col, r, raw[r] ? raw[r] : "", raw[r] ? strlen(raw[r]) : 0);
		H5Dvlen_reclaim(type, space, H5P_DEFAULT, raw);
	}
	free(raw);
	if (type >= 0)
		H5Tclose(type);
	if (space >= 0)
		H5Sclose(space);
	return rc;
}

static int read_text(hid_t dset, const struct source_table *s, struct fit_column *col)
{
	hid_t stored = H5Dget_type(dset), type = stored < 0 ? stored : H5Tcopy(stored);
	htri_t variable;
	int rc = FIT_EPARSE;

	if (stored >= 0)
		H5Tclose(stored);
	if (type < 0)
		return FIT_EPARSE;
	if (s->rows > SIZE_MAX / 64 || s->rows / MAX_RATIO > s->im->n) {
		H5Tclose(type);
		return FIT_EPARSE;
	}
	col->at = malloc((s->rows ? s->rows : 1) * sizeof *col->at);
	variable = H5Tget_class(type) == H5T_STRING ? H5Tis_variable_str(type) : -1;
	if (!col->at)
		rc = FIT_ENOMEM;
	else if (variable > 0)
		rc = read_variable_text(dset, s, col);
	else if (variable == 0)
		rc = read_fixed_text(dset, type, H5Tget_size(type), s, col);
	H5Tclose(type);
	return rc;
}

static int read_column(struct source_table *s, const struct source_column *c, struct fit_column *col,
		       struct fit_err *err)
{
	struct fit_str link = { 0 };
	hid_t dset = c->dset;
	int rc = FIT_OK;

	col->type = c->type;
	if (dset < 0) {
		if (fit_store_link_name(&link, c->name))
			rc = FIT_ENOMEM;
		else
			dset = H5Dopen2(s->group, link.s, H5P_DEFAULT);
		if (!rc && dset < 0)
			rc = FIT_EPARSE;
		fit_str_release(&link);
	}
	if (!rc)
		rc = c->type == FIT_TEXT ? read_text(dset, s, col) :
		     c->type == FIT_REAL ? read_real(dset, s, col) : read_int(dset, s, col);
	if (dset >= 0 && c->dset < 0)
		H5Dclose(dset);
	if (rc == FIT_ENOMEM)
		return fit_fail_nomem(err);
	if (rc == FIT_EINVAL)
		return fit_fail(err, FIT_EPARSE, "%s:%s: a value of column '%s' is not %s", s->im->name, s->path,
				c->name, c->type == FIT_TEXT ? "text in UTF-8" : "an int64");
	if (rc)
		return fit_fail(err, FIT_EPARSE, "%s:%s: damaged HDF5 file (column '%s' cannot be read)",
				s->im->name, s->path, c->name);
	return FIT_OK;
}

/* ---- from what is stored to what was asked for ---- */

static int set_na(struct fit_column *col, enum fit_type type, size_t rows, struct fit_err *err)
{
	size_t n = rows ? rows : 1;

	col->type = type;
	if (type == FIT_TEXT)
		col->at = malloc(n * sizeof *col->at);
	else if (type == FIT_REAL)
		col->d = malloc(n * sizeof *col->d);
	else
		col->i = malloc(n * sizeof *col->i);
	if (!col->at && !col->d && !col->i)
		return fit_fail_nomem(err);
	for (size_t r = 0; r < rows; r++) {
		if (col->at)
			col->at[r] = FIT_TEXT_NA;
		else if (col->d)
			col->d[r] = fit_real_na();
		else
			col->i[r] = FIT_INT_NA;
	}
	return FIT_OK;
}

static void free_values(struct fit_column *col)
{
	free(col->i);
	free(col->d);
	free(col->at);
	free(col->bytes);
}

static int convert(struct fit_table *t, struct fit_column *col, enum fit_type to, struct fit_err *err)
{
	struct fit_column out = { .name = col->name };
	int rc = set_na(&out, to, t->n_rows, err);

	for (size_t r = 0; r < t->n_rows && !rc; r++) {
		struct fit_cell cell = fit_column_cell(col, r), was = cell;
		char scratch[40], old[40] = "";

		if (cell.na)
			continue;
		rc = fit_cell_convert(col->type, to, &cell, scratch);
		if (rc) {
			if (col->type != FIT_TEXT)
				fit_cell_format(col->type, &was, old);
			rc = fit_table_fail(t, r, FIT_EPARSE, col->name, err, "%s '%.*s' (expected %s)",
					    rc == FIT_EINVAL ? "out of range" : "bad value",
					    FIT_TEXT_ARG(col->type == FIT_TEXT ? was.u.t : fit_text_of(old)),
					    fit_cell_expected(to));
		} else if (to == FIT_TEXT) {
			out.at[r] = out.bytes_n;
			rc = fit_grow(&out.bytes, &out.bytes_cap, out.bytes_n + cell.u.t.n + 1, 1);
			if (rc) {
				rc = fit_fail_nomem(err);
				break;
			}
			memcpy(out.bytes + out.bytes_n, cell.u.t.s, cell.u.t.n);
			out.bytes_n += cell.u.t.n;
			out.bytes[out.bytes_n++] = '\0';
		} else if (to == FIT_REAL) {
			out.d[r] = cell.u.d;
		} else {
			out.i[r] = cell.u.i;
		}
	}
	if (rc) {
		free_values(&out);
		return rc;
	}
	free_values(col);
	*col = out;
	return FIT_OK;
}

static int check_not_na(const struct fit_table *t, const struct fit_column *col, struct fit_err *err)
{
	for (size_t r = 0; r < t->n_rows; r++) {
		bool na = col->type == FIT_TEXT ? col->at[r] == FIT_TEXT_NA :
			  col->type == FIT_REAL ? fit_real_is_na(col->d[r]) : col->i[r] == FIT_INT_NA;

		if (na)
			return fit_table_fail(t, r, FIT_EDATA, col->name, err, "missing value 'NA' (expected %s)",
					      fit_cell_expected(col->type));
	}
	return FIT_OK;
}

static int no_column(const struct source_table *s, const char *name, struct fit_err *err)
{
	struct fit_str list = { 0 };
	int rc = FIT_OK;

	for (size_t i = 0; i < s->n && !rc; i++)
		rc = fit_str_printf(&list, "%s%s", i ? ", " : "", s->columns[i].name);
	rc = rc ? fit_fail_nomem(err) : fit_fail(err, FIT_ENOTFOUND, "%s:%s: no column '%s' (found %s)",
						 s->im->name, s->path, name, list.s ? list.s : "none");
	fit_str_release(&list);
	return rc;
}

static int get_meta(const struct source_table *s, struct fit_meta *meta, struct fit_err *err)
{
	struct fit_str all = { 0 };
	int rc = get_text(s->group, "meta", &all);

	if (rc == FIT_ENOTFOUND)
		rc = FIT_OK;
	else if (rc)
		rc = damaged(s->im, s->path, "bad metadata", err);
	for (size_t at = 0; at < all.n && !rc; ) {
		size_t len = strcspn(all.s + at, "\n"), n;
		char *line = all.s + at, *eq;

		line[len] = '\0';
		at += len + 1;
		eq = strchr(line, '=');
		n = eq ? strlen(eq + 1) : 0;
		if (!eq || fit_unescape(eq + 1, &n)) {
			rc = damaged(s->im, s->path, "bad metadata", err);
			break;
		}
		*eq = '\0';
		eq[1 + n] = '\0';
		if (fit_meta_add(meta, line, eq + 1))
			rc = fit_fail_nomem(err);
	}
	fit_str_release(&all);
	return rc;
}

static int open_source(struct source_table *s, struct fit_err *err)
{
	struct fit_str format = { 0 };
	int rc = get_text(s->group, "format", &format);

	s->foreign = rc == FIT_ENOTFOUND;
	if (!s->foreign && (rc || strcmp(format.s, FIT_STORE_FORMAT) != 0))
		rc = fit_fail(err, FIT_EPARSE, "%s:%s: unknown table version '%s' (expected %s)", s->im->name,
			      s->path, rc ? "" : format.s, FIT_STORE_FORMAT);
	else
		rc = s->foreign ? foreign_columns(s, err) : own_columns(s, err);
	fit_str_release(&format);
	return rc;
}

/* Is there a group at this path? 1, 0, or -1 for a damaged file. */
static int group_exists(hid_t file, const char *path)
{
	char part[FIT_STORE_PATH_MAX + 1];
	size_t n = strlen(path);

	if (strcmp(path, "/") == 0)
		return 1;
	if (path[0] != '/' || n > FIT_STORE_PATH_MAX)
		return 0;
	memcpy(part, path, n + 1);
	for (size_t i = 1; i <= n; i++) {
		htri_t there;

		if (path[i] != '/' && path[i] != '\0')
			continue;
		part[i] = '\0';
		there = H5Lexists(file, part, H5P_DEFAULT);
		if (there <= 0)
			return there < 0 ? -1 : 0;
		part[i] = path[i];
	}
	return 1;
}

/* The table's own hash; a store of another program has only that of the file. */
static int set_hash(const struct source_table *s, char hash[FIT_HASH_HEX])
{
	struct fit_str text = { 0 };
	int rc = s->foreign || !s->im->sealed ? FIT_ENOTFOUND : get_text(s->group, "content", &text);

	memcpy(hash, !rc && text.n == FIT_HASH_HEX - 1 ? text.s : s->im->hash, FIT_HASH_HEX);
	fit_str_release(&text);
	return rc == FIT_ENOMEM ? rc : FIT_OK;
}

static int fill_table(struct source_table *s, const struct fit_store_request *req, struct fit_table *t,
		      struct fit_err *err)
{
	size_t n = req->fields ? req->n_fields : s->n;
	struct fit_str name = { 0 };
	int rc = FIT_OK;

	if (!s->foreign) {
		rc = get_text(s->group, "table", &name);
		rc = rc == FIT_ENOTFOUND ? FIT_OK : rc;
		if (rc)
			rc = damaged(s->im, s->path, "bad name", err);
	}
	t->name = fit_strdup((struct fit_text){ name.s, name.n });
	t->columns = calloc(n ? n : 1, sizeof *t->columns);
	fit_str_release(&name);
	if (!rc && (!t->name || !t->columns))
		rc = fit_fail_nomem(err);
	t->n_rows = t->cap_rows = s->rows;
	snprintf(t->input, sizeof t->input, "%s:%s", s->im->name, s->path);
	if (!rc)
		rc = set_hash(s, t->hash);
	if (!rc && !s->foreign)
		rc = get_meta(s, &t->meta, err);
	if (!rc && t->meta.n && H5Aexists(s->group, "end_meta") > 0 &&
	    (get_count(s->group, "end_meta", &t->n_end_meta) || t->n_end_meta > t->meta.n)) {
		t->n_end_meta = 0;
		rc = damaged(s->im, s->path, "bad metadata", err);
	}
	for (size_t k = 0; k < n && !rc; k++) {
		const struct fit_field *f = req->fields ? &req->fields[k] : NULL;
		uint32_t c = f ? fit_index_get(&s->by_name, fit_text_of(f->name)) : (uint32_t)k;
		struct fit_column *col = &t->columns[t->n_columns++];

		col->name = fit_strdup(fit_text_of(f ? f->name : s->columns[k].name));
		if (!col->name)
			return fit_fail_nomem(err);
		if (c == FIT_NO_INDEX) {
			rc = f->flags & FIT_F_OPTIONAL ? set_na(col, f->type, t->n_rows, err)
						       : no_column(s, f->name, err);
			continue;
		}
		rc = read_column(s, &s->columns[c], col, err);
		if (!rc && f && f->type != col->type)
			rc = convert(t, col, f->type, err);
		if (!rc && f && (f->flags & FIT_F_NOT_NA))
			rc = check_not_na(t, col, err);
	}
	return rc;
}

int fit_store_read_table(const struct fit_store_image *im, const struct fit_store_request *req,
			 struct fit_err *err)
{
	struct source_table s = { .im = im, .path = req->path, .group = H5I_INVALID_HID };
	struct fit_table *t = req->table;
	struct fit_h5_quiet q;
	int rc, there;

	*t = (struct fit_table){ 0 };
	fit_h5_quiet_begin(&q);
	there = group_exists(im->file, req->path);
	if (there > 0)
		s.group = H5Gopen2(im->file, req->path, H5P_DEFAULT);
	if (there == 0 && req->optional)
		rc = FIT_OK;
	else if (there == 0 || (s.group < 0 && there > 0))
		rc = fit_fail(err, FIT_ENOTFOUND, "%s: no table '%s' in this store", im->name, req->path);
	else if (there < 0)
		rc = damaged(im, req->path, "a group cannot be read", err);
	else if (!(rc = open_source(&s, err)))
		rc = fill_table(&s, req, t, err);
	release_source(&s);
	fit_h5_quiet_end(&q);
	if (rc)
		fit_table_release(t);
	return rc;
}

/* One table: its hash; several: a hash of theirs, in order. */
static int hash_all(const struct fit_store_request *req, size_t n, char hash[FIT_HASH_HEX])
{
	struct fit_hasher *h;

	if (n == 1) {
		memcpy(hash, req[0].table->hash, FIT_HASH_HEX);
		return FIT_OK;
	}
	h = fit_hasher_new();
	if (!h)
		return FIT_ENOMEM;
	for (size_t i = 0; i < n; i++)
		fit_hasher_add(h, req[i].table->hash, FIT_HASH_HEX);
	fit_hasher_hex(h, hash);
	fit_hasher_free(h);
	return FIT_OK;
}

int fit_store_read(const char *file, const struct fit_store_request *req, size_t n,
		   char hash[FIT_HASH_HEX], struct fit_err *err)
{
	struct fit_store_image im;
	size_t done = 0;
	int rc = fit_store_load(&im, file, err);

	for (size_t i = 0; i < n; i++)
		*req[i].table = (struct fit_table){ 0 };
	if (!rc)
		rc = fit_store_open(&im, err);
	for (; done < n && !rc; done++)
		rc = fit_store_read_table(&im, &req[done], err);
	if (!rc && hash)
		rc = hash_all(req, n, hash) ? fit_fail_nomem(err) : FIT_OK;
	for (size_t i = 0; i < done && rc; i++)
		fit_table_release(req[i].table);
	fit_store_release(&im);
	return rc;
}
