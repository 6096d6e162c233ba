/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libfit/base/outfile.h"
#include "libfit/table/cell.h"
#include "libfit/table/store.h"

/* Columns of more bytes than this are stored in compressed chunks. */
#define COMPRESS_ABOVE ((size_t)1 << 20)
#define CHUNK_BYTES ((size_t)1 << 19)
/* Texts are padded to the longest as long as that costs little; else they vary in length. */
#define PAD_ALWAYS 64			/* bytes of the longest text */
#define PAD_FACTOR 4

struct out {
	const char *name;	/* of the file, for messages */
	hid_t file, group_plist;
	struct fit_err *err;
};

static int h5_failed(const struct out *o, const char *path, const char *what)
{
	return fit_fail(o->err, FIT_ENOMEM, "%s:%s: HDF5 cannot store %s", o->name, path, what);
}

/* ---- attributes ---- */

static int put_text_part(hid_t obj, const char *name, const char *s, size_t n)
{
	hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1), attr = H5I_INVALID_HID;
	int rc = FIT_ENOMEM;

	if (space >= 0 && type >= 0 && H5Tset_size(type, n ? n : 1) >= 0 &&
	    H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0)
		attr = H5Acreate2(obj, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	if (attr >= 0 && H5Awrite(attr, type, n ? s : "") >= 0)
		rc = FIT_OK;
	if (attr >= 0 && H5Aclose(attr) < 0)
		rc = FIT_ENOMEM;
	if (type >= 0)
		H5Tclose(type);
	if (space >= 0)
		H5Sclose(space);
	return rc;
}

/* In parts of at most FIT_ATTR_MAX bytes; a part of that size says that another one follows. */
static int put_text(hid_t obj, const char *name, const char *s, size_t n)
{
	char part[80];

	for (unsigned k = 0;; k++) {
		size_t now = n < FIT_ATTR_MAX ? n : FIT_ATTR_MAX;
		int rc;

		snprintf(part, sizeof part, k ? "%s.%u" : "%s", name, k);
		rc = put_text_part(obj, part, s, now);
		if (rc || now < FIT_ATTR_MAX)
			return rc;
		s += now;
		n -= now;
	}
}

static int put_count(hid_t obj, const char *name, size_t n)
{
	hid_t space = H5Screate(H5S_SCALAR), attr = H5I_INVALID_HID;
	int64_t v = (int64_t)n;
	int rc = FIT_ENOMEM;

	if (space >= 0)
		attr = H5Acreate2(obj, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
	if (attr >= 0 && H5Awrite(attr, H5T_NATIVE_INT64, &v) >= 0)
		rc = FIT_OK;
	if (attr >= 0)
		H5Aclose(attr);
	if (space >= 0)
		H5Sclose(space);
	return rc;
}

static bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n >= k && strcmp(s + n - k, suffix) == 0;
}

/* The unit that a column's name ends in, or NULL. Times are stored in nanoseconds. */
static const char *unit_of(const struct fit_column *c)
{
	static const char *const units[][2] = {
		{ "_per_s", "1/s" }, { "_gpu_s", "GPU s" }, { "_s", "s" }, { "_ms", "ms" }, { "_us", "us" },
		{ "_ns", "ns" }, { "_mib", "MiB" }, { "_gib", "GiB" }, { "_pct", "%" }, { "_w", "W" },
		{ "gpus", "GPU" },
	};

	if (c->type == FIT_TIME)
		return "ns";
	if (c->type == FIT_TEXT)
		return NULL;
	for (size_t k = 0; k < sizeof units / sizeof *units; k++)
		if (ends_with(c->name, units[k][0]))
			return units[k][1];
	return NULL;
}

/* ---- columns ---- */

static hid_t dataset_plist(hid_t type, size_t rows, size_t width)
{
	hid_t p = H5Pcreate(H5P_DATASET_CREATE);
	hsize_t chunk = width < CHUNK_BYTES ? CHUNK_BYTES / width : 1;
	bool ok = p >= 0 && H5Pset_obj_track_times(p, false) >= 0;

	/* HDF5 wants texts of varying length filled */
	if (ok && H5Tis_variable_str(type) == 0)
		ok = H5Pset_fill_time(p, H5D_FILL_TIME_NEVER) >= 0;

	if (ok && rows * width > COMPRESS_ABOVE && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
		ok = H5Pset_chunk(p, 1, &chunk) >= 0 && H5Pset_shuffle(p) >= 0 && H5Pset_deflate(p, 1) >= 0;
	if (!ok && p >= 0) {
		H5Pclose(p);
		p = H5I_INVALID_HID;
	}
	return p;
}

static int put_values(const struct out *o, hid_t group, const char *path, const struct fit_column *c,
		      hid_t file_type, hid_t mem_type, size_t width, size_t rows, const void *values)
{
	hsize_t dim = rows;
	hid_t space = H5Screate_simple(1, &dim, NULL), plist = dataset_plist(file_type, rows, width);
	hid_t dset = H5I_INVALID_HID;
	struct fit_str link = { 0 };
	const char *unit = unit_of(c);
	int rc = fit_store_link_name(&link, c->name);

	if (!rc && space >= 0 && plist >= 0)
		dset = H5Dcreate2(group, link.s, file_type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
	if (dset < 0 || (rows && H5Dwrite(dset, mem_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) ||
	    (unit && put_text(dset, "unit", unit, strlen(unit))))
		rc = h5_failed(o, path, c->name);
	if (dset >= 0 && H5Dclose(dset) < 0 && !rc)
		rc = h5_failed(o, path, c->name);
	if (plist >= 0)
		H5Pclose(plist);
	if (space >= 0)
		H5Sclose(space);
	fit_str_release(&link);
	return rc;
}

static int put_real(const struct out *o, hid_t group, const char *path, const struct fit_column *c,
		    size_t rows)
{
	double *clean = NULL;
	int rc;

	/* one bit pattern for nan, as TSV has one spelling */
	for (size_t r = 0; r < rows; r++) {
		if (!isnan(c->d[r]) || fit_real_is_na(c->d[r]))
			continue;
		if (!clean) {
			clean = malloc(rows * sizeof *clean);
			if (!clean)
				return fit_fail_nomem(o->err);
			memcpy(clean, c->d, rows * sizeof *clean);
		}
		clean[r] = (double)NAN;
	}
	rc = put_values(o, group, path, c, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, sizeof *c->d, rows,
			clean ? clean : c->d);
	free(clean);
	return rc;
}

static bool looks_na(struct fit_text t)
{
	if (t.n < 2 || t.s[t.n - 1] != 'A' || t.s[t.n - 2] != 'N')
		return false;
	for (size_t i = 0; i + 2 < t.n; i++)
		if (t.s[i] != '\\')
			return false;
	return true;
}

/* The stored form of a text is "NA" when it is missing, and has a backslash in front when it would
 * look like that. */
static size_t stored_length(struct fit_text t)
{
	return !t.s ? 2 : t.n + (looks_na(t) ? 1 : 0);
}

static void stored_text(struct fit_text t, char *to)
{
	if (!t.s) {
		to[0] = 'N';
		to[1] = 'A';
		return;
	}
	if (looks_na(t))
		*to++ = '\\';
	memcpy(to, t.s, t.n);
}

static hid_t text_type(size_t width)
{
	hid_t type = H5Tcopy(H5T_C_S1);

	if (type >= 0 && (H5Tset_size(type, width) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
			  H5Tset_strpad(type, width == H5T_VARIABLE ? H5T_STR_NULLTERM : H5T_STR_NULLPAD) < 0)) {
		H5Tclose(type);
		type = H5I_INVALID_HID;
	}
	return type;
}

static int put_padded(const struct out *o, hid_t group, const char *path, const struct fit_column *c,
		      size_t rows, size_t width)
{
	hid_t type = text_type(width);
	char *raw = calloc(rows ? rows : 1, width);
	int rc;

	if (!raw || type < 0) {
		rc = fit_fail_nomem(o->err);
	} else {
		for (size_t r = 0; r < rows; r++)
			stored_text(fit_column_text(c, r), raw + r * width);
		rc = put_values(o, group, path, c, type, type, width, rows, raw);
	}
	free(raw);
	if (type >= 0)
		H5Tclose(type);
	return rc;
}

static int put_variable(const struct out *o, hid_t group, const char *path, const struct fit_column *c,
			size_t rows, size_t total)
{
	hid_t type = text_type(H5T_VARIABLE);
	char **raw = malloc((rows ? rows : 1) * sizeof *raw), *bytes = calloc(total + rows + 1, 1);
	size_t at = 0;
	int rc;

	if (!raw || !bytes || type < 0) {
		rc = fit_fail_nomem(o->err);
	} else {
		for (size_t r = 0; r < rows; r++) {
			struct fit_text t = fit_column_text(c, r);

			raw[r] = bytes + at;
			stored_text(t, raw[r]);
			at += stored_length(t) + 1;
		}
		rc = put_values(o, group, path, c, type, type, 1, rows, raw);
	}
	free(raw);
	free(bytes);
	if (type >= 0)
		H5Tclose(type);
	return rc;
}

static int put_text_column(const struct out *o, hid_t group, const char *path, const struct fit_column *c,
			   size_t rows)
{
	size_t width = 1, total = 0;

	for (size_t r = 0; r < rows; r++) {
		struct fit_text t = fit_column_text(c, r);
		size_t n = stored_length(t);

		if (t.s && !fit_text_is_utf8(t))
			return fit_fail(o->err, FIT_EDATA, "%s:%s: bad value '%.*s' in column '%s' (expected text in UTF-8)",
					o->name, path, FIT_TEXT_ARG(t), c->name);
		width = n > width ? n : width;
		total += n;
	}
	if (width <= PAD_ALWAYS || rows <= (PAD_FACTOR * total + 4096) / width)
		return put_padded(o, group, path, c, rows, width);
	return put_variable(o, group, path, c, rows, total);
}

/* ---- tables ---- */

static void hash_text(struct fit_hasher *h, struct fit_text t)
{
	uint64_t n = t.s ? t.n : UINT64_MAX;

	fit_hasher_add(h, &n, sizeof n);
	fit_hasher_add(h, t.s, t.s ? t.n : 0);
}

/* The content of a table: its name, metadata, columns and values, whatever else a store holds. */
static int hash_table(const struct fit_table *t, char out[FIT_HASH_HEX])
{
	struct fit_hasher *h = fit_hasher_new();

	if (!h)
		return FIT_ENOMEM;
	hash_text(h, fit_text_of(t->name ? t->name : ""));
	for (size_t i = 0; i < t->meta.n; i++) {
		hash_text(h, fit_text_of(t->meta.pairs[i].key));
		hash_text(h, fit_text_of(t->meta.pairs[i].value));
	}
	for (size_t c = 0; c < t->n_columns; c++) {
		const struct fit_column *col = &t->columns[c];

		hash_text(h, fit_text_of(col->name));
		hash_text(h, fit_text_of(fit_type_name(col->type)));
		if (col->type == FIT_TEXT)
			for (size_t r = 0; r < t->n_rows; r++)
				hash_text(h, fit_column_text(col, r));
		else if (t->n_rows)
			fit_hasher_add(h, col->type == FIT_REAL ? (const void *)col->d : (const void *)col->i,
				       t->n_rows * sizeof *col->d);
	}
	fit_hasher_hex(h, out);
	fit_hasher_free(h);
	return FIT_OK;
}

static int put_heads(hid_t group, const struct fit_table *t)
{
	char content[FIT_HASH_HEX];
	struct fit_str names = { 0 }, types = { 0 }, meta = { 0 };
	int rc = FIT_OK;

	for (size_t c = 0; c < t->n_columns && !rc; c++) {
		rc = c ? fit_str_puts(&names, "\t") : FIT_OK;
		rc = rc ? rc : fit_escape(&names, fit_text_of(t->columns[c].name), false);
		rc = rc ? rc : fit_str_printf(&types, "%s%s", c ? "," : "", fit_type_name(t->columns[c].type));
	}
	for (size_t i = 0; i < t->meta.n && !rc; i++) {
		rc = fit_str_printf(&meta, "%s%s=", i ? "\n" : "", t->meta.pairs[i].key);
		rc = rc ? rc : fit_escape(&meta, fit_text_of(t->meta.pairs[i].value), false);
	}
	rc = rc ? rc : put_text(group, "format", FIT_STORE_FORMAT, strlen(FIT_STORE_FORMAT));
	if (!rc && t->name && *t->name)
		rc = put_text(group, "table", t->name, strlen(t->name));
	rc = rc ? rc : put_count(group, "rows", t->n_rows);
	rc = rc ? rc : put_text(group, "columns", names.s, names.n);
	rc = rc ? rc : put_text(group, "types", types.s, types.n);
	rc = rc ? rc : hash_table(t, content);
	rc = rc ? rc : put_text(group, "content", content, strlen(content));
	if (!rc && t->meta.n)
		rc = put_text(group, "meta", meta.s, meta.n);
	if (!rc && t->n_end_meta)
		rc = put_count(group, "end_meta", t->n_end_meta);
	fit_str_release(&names);
	fit_str_release(&types);
	fit_str_release(&meta);
	return rc;
}

/* The group at path, and those above it where they are not there yet. */
static hid_t make_group(const struct out *o, const char *path)
{
	char part[FIT_STORE_PATH_MAX + 1];
	size_t n = strlen(path);
	hid_t group = H5I_INVALID_HID;

	memcpy(part, path, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		part[i] = '\0';
		if (group >= 0)
			H5Gclose(group);
		group = H5Lexists(o->file, part, H5P_DEFAULT) > 0 ? H5Gopen2(o->file, part, H5P_DEFAULT) :
			H5Gcreate2(o->file, part, H5P_DEFAULT, o->group_plist, H5P_DEFAULT);
		if (group < 0)
			return group;
		part[i] = path[i];
	}
	return group;
}

static int put_table(const struct out *o, const char *path, const struct fit_table *t)
{
	hid_t group = make_group(o, path);
	int rc = FIT_OK;

	if (group < 0)
		return fit_fail(o->err, FIT_EINVAL, "%s:%s: cannot make this table (a column of another table has "
				"that path)", o->name, path);
	if (put_heads(group, t))
		rc = h5_failed(o, path, "the head of the table");
	for (size_t c = 0; c < t->n_columns && !rc; c++) {
		const struct fit_column *col = &t->columns[c];

		if (col->type == FIT_TEXT)
			rc = put_text_column(o, group, path, col, t->n_rows);
		else if (col->type == FIT_REAL)
			rc = put_real(o, group, path, col, t->n_rows);
		else
			rc = put_values(o, group, path, col, H5T_STD_I64LE, H5T_NATIVE_INT64, sizeof *col->i,
					t->n_rows, col->i);
	}
	H5Gclose(group);
	return rc;
}

/* ---- the whole store ---- */

struct item {
	const char *path;
	const struct fit_table *table;
};

static int compare_items(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->path, ((const struct item *)b)->path);
}

static int write_tables(struct out *o, struct item *items, size_t n)
{
	struct fit_str list = { 0 };
	hid_t root;
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++)
		rc = fit_str_printf(&list, "%s\n", items[i].path);
	if (rc) {
		fit_str_release(&list);
		return fit_fail_nomem(o->err);
	}
	root = H5Gopen2(o->file, "/", H5P_DEFAULT);
	if (root < 0 || (n && put_text(root, "tables", list.s, list.n)))
		rc = h5_failed(o, "/", "the list of tables");
	if (root >= 0)
		H5Gclose(root);
	fit_str_release(&list);
	/* by path, so that the bytes do not tell in which steps a store was made */
	if (n)
		qsort(items, n, sizeof *items, compare_items);
	for (size_t i = 0; i < n && !rc; i++)
		rc = put_table(o, items[i].path, items[i].table);
	return rc;
}

/* About as many bytes as the store will have: the image grows in few steps. */
static size_t guess_size(const struct item *items, size_t n)
{
	size_t sum = 65536;

	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < items[i].table->n_columns; c++)
			sum += 512 + (items[i].table->n_rows < 131072 ? items[i].table->n_rows : 131072) * 8;
	return sum < (size_t)1 << 26 ? sum : (size_t)1 << 26;
}

/* The bytes of a store with these tables. *bytes is malloc'ed. */
static int make_image(struct out *o, struct item *items, size_t n, unsigned char **bytes, size_t *size)
{
	hid_t fcpl = H5Pcreate(H5P_FILE_CREATE), fapl = H5Pcreate(H5P_FILE_ACCESS);
	ssize_t k = -1;
	int rc = FIT_OK;

	o->file = H5I_INVALID_HID;
	o->group_plist = H5Pcreate(H5P_GROUP_CREATE);
	/* EARLIEST: an image of the newer superblocks does not open again in HDF5 1.10 */
	if (fcpl >= 0 && fapl >= 0 && o->group_plist >= 0 &&
	    H5Pset_obj_track_times(fcpl, false) >= 0 && H5Pset_obj_track_times(o->group_plist, false) >= 0 &&
	    H5Pset_libver_bounds(fapl, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) >= 0 &&
	    H5Pset_fapl_core(fapl, guess_size(items, n), 0) >= 0)
		o->file = H5Fcreate("goodfit-write", H5F_ACC_TRUNC, fcpl, fapl);
	if (o->file < 0)
		rc = h5_failed(o, "/", "anything");
	if (!rc)
		rc = write_tables(o, items, n);
	if (!rc && (H5Fflush(o->file, H5F_SCOPE_GLOBAL) < 0 ||
		    (k = H5Fget_file_image(o->file, NULL, 0)) <= 0))
		rc = h5_failed(o, "/", "the image");
	if (!rc) {
		*bytes = malloc((size_t)k);
		*size = (size_t)k;
		if (!*bytes)
			rc = fit_fail_nomem(o->err);
		else if (H5Fget_file_image(o->file, *bytes, *size) != k)
			rc = h5_failed(o, "/", "the image");
	}
	if (o->file >= 0)
		H5Fclose(o->file);
	if (o->group_plist >= 0)
		H5Pclose(o->group_plist);
	if (fapl >= 0)
		H5Pclose(fapl);
	if (fcpl >= 0)
		H5Pclose(fcpl);
	return rc;
}

/* NULL, or what is wrong with a path. */
static const char *check_path(const char *path)
{
	size_t depth = 0, n = strlen(path);

	if (path[0] != '/' || n < 2)
		return "/NAME or /FOLDER/NAME";
	if (n > FIT_STORE_PATH_MAX)
		return "at most 1024 bytes";
	if (!fit_text_is_utf8(fit_text_of(path)))
		return "text in UTF-8";
	for (const char *p = path; *p; ) {
		size_t k = strcspn(++p, "/");

		if (k == 0 || (p[0] == '.' && (k == 1 || (k == 2 && p[1] == '.'))))
			return "no empty part, '.' or '..'";
		if (++depth > FIT_STORE_DEPTH)
			return "at most 16 parts";
		for (size_t i = 0; i < k; i++)
			if ((unsigned char)p[i] < 0x20)
				return "no control characters";
		p += k;
	}
	return NULL;
}

struct store {
	struct fit_table *old;		/* what was there */
	struct fit_store_paths old_paths;
	struct item *items;
	size_t n;
};

/* Read the tables that are there. A missing file has none. */
static int read_old(struct store *s, const char *file, struct fit_err *err)
{
	struct fit_store_image im;
	int rc;

	if (access(file, F_OK) && errno == ENOENT)
		return FIT_OK;
	rc = fit_store_load(&im, file, err);
	/* what other programs put into a store would be lost */
	if (!rc && !im.sealed)
		rc = fit_fail(err, FIT_EDATA, "%s: made or changed by another program (expected a store "
			      "without foreign parts; choose another file)", file);
	if (!rc)
		rc = fit_store_open(&im, err);
	if (!rc)
		rc = fit_store_paths(&im, &s->old_paths, err);
	if (!rc && s->old_paths.n) {
		s->old = calloc(s->old_paths.n, sizeof *s->old);
		rc = s->old ? FIT_OK : fit_fail_nomem(err);
	}
	for (size_t i = 0; i < s->old_paths.n && !rc; i++) {
		struct fit_store_request req = { .path = s->old_paths.p[i], .table = &s->old[i] };

		rc = fit_store_read_table(&im, &req, err);
	}
	fit_store_release(&im);
	return rc;
}

/* Old tables in their order, replaced where there is a new one; then the other new ones. */
static int merge(struct store *s, const char *const *paths, const struct fit_table *const *tables, size_t n,
		 struct fit_err *err)
{
	struct fit_index where = { 0 };
	uint32_t before = FIT_NO_INDEX;
	int rc = FIT_OK;

	s->items = calloc(s->old_paths.n + n + 1, sizeof *s->items);
	if (!s->items)
		return fit_fail_nomem(err);
	for (; s->n < s->old_paths.n && !rc; s->n++) {
		s->items[s->n] = (struct item){ s->old_paths.p[s->n], &s->old[s->n] };
		rc = fit_index_put(&where, fit_text_of(s->old_paths.p[s->n]), (uint32_t)s->n, NULL);
	}
	for (size_t i = 0; i < n && !rc; i++) {
		rc = fit_index_put(&where, fit_text_of(paths[i]), (uint32_t)s->n, &before);
		if (!rc && before == FIT_NO_INDEX)
			s->items[s->n++] = (struct item){ paths[i], tables[i] };
		else if (!rc)
			s->items[before] = (struct item){ paths[i], tables[i] };
	}
	fit_index_release(&where);
	return rc ? fit_fail_nomem(err) : FIT_OK;
}

static int check_new(const char *file, const char *const *paths, const struct fit_table *const *tables,
		     size_t n, struct fit_err *err)
{
	struct fit_index seen = { 0 };
	uint32_t before = FIT_NO_INDEX;
	int rc = FIT_OK;

	for (size_t i = 0; i < n && !rc; i++) {
		const char *bad = check_path(paths[i]);

		if (bad)
			rc = fit_fail(err, FIT_EINVAL, "%s: bad path '%s' (expected %s)", file, paths[i], bad);
		else if (fit_index_put(&seen, fit_text_of(paths[i]), 0, &before))
			rc = fit_fail_nomem(err);
		else if (before != FIT_NO_INDEX)
			rc = fit_fail(err, FIT_EINVAL, "%s: two tables for the path '%s'", file, paths[i]);
	}
	fit_index_release(&seen);
	for (size_t i = 0; i < n && !rc; i++) {
		struct fit_index names = { 0 };

		for (size_t c = 0; c < tables[i]->n_columns && !rc; c++) {
			const char *name = tables[i]->columns[c].name;

			if (fit_index_put(&names, fit_text_of(name), 0, &before))
				rc = fit_fail_nomem(err);
			else if (before != FIT_NO_INDEX || !*name || !fit_text_is_utf8(fit_text_of(name)))
				rc = fit_fail(err, FIT_EINVAL, "%s:%s: bad column '%s' (expected another name, in "
					      "UTF-8)", file, paths[i], name);
		}
		fit_index_release(&names);
	}
	return rc;
}

static int write_store(const char *file, const char *const *paths,
		       const struct fit_table *const *tables, size_t n, struct fit_err *err)
{
	struct out o = { .name = file, .err = err };
	struct store s = { 0 };
	struct fit_store_lock lock;
	struct fit_h5_quiet q;
	unsigned char *bytes = NULL;
	size_t size = 0;
	int rc = check_new(file, paths, tables, n, err);

	if (rc)
		return rc;
	rc = fit_store_lock(&lock, file, err);
	if (rc)
		return rc;
	rc = read_old(&s, file, err);
	if (!rc)
		rc = merge(&s, paths, tables, n, err);
	if (!rc) {
		fit_h5_quiet_begin(&q);
		rc = make_image(&o, s.items, s.n, &bytes, &size);
		fit_h5_quiet_end(&q);
	}
	if (!rc)
		rc = fit_store_save(file, bytes, size, err);
	fit_store_unlock(&lock);
	free(bytes);
	for (size_t i = 0; s.old && i < s.old_paths.n; i++)
		fit_table_release(&s.old[i]);
	free(s.old);
	fit_store_paths_release(&s.old_paths);
	free(s.items);
	return rc;
}

int fit_store_write(const char *file, const char *const *paths,
		    const struct fit_table *const *tables, size_t n, struct fit_err *err)
{
	char *target;
	int rc = fit_dest_follow(file, &target, err);

	rc = rc ? rc : write_store(target, paths, tables, n, err);
	free(target);
	return rc;
}
