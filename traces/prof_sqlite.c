/* SPDX-License-Identifier: MIT */
/* The SQLite export of Nsight Systems: opening it, whatever it is, and what is in it. */
#include "traces/prof_nsight.h"
#include "traces/prof_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libfit/base/text.h"

#define SLURP_MAX ((size_t)1 << 30)	/* of an export that is compressed or comes through a pipe */

int fit_nsight_fail(const struct fit_nsight *x, struct fit_err *err)
{
	int code = x->db ? sqlite3_errcode(x->db) : SQLITE_NOMEM;

	if (code == SQLITE_NOMEM)
		return fit_fail_nomem(err);
	return fit_fail(err, code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? FIT_EIO : FIT_EPARSE,
			"%s: cannot read the SQLite export: %s", x->name, sqlite3_errmsg(x->db));
}

static int slurp(struct fit_nsight *x, struct fit_source *s, size_t *n, struct fit_err *err)
{
	size_t cap = 0, got = 1;

	*n = 0;
	while (got) {
		int rc;

		if (*n > SLURP_MAX)
			return fit_fail(err, FIT_EDATA, "%s: more than 1 GiB through a pipe or compressed "
					"(expected a plain file)", x->name);
		if (fit_grow(&x->image, &cap, *n + ((size_t)1 << 16), 1))
			return fit_fail_nomem(err);
		rc = fit_source_read(s, x->image + *n, cap - *n, &got, err);
		if (rc)
			return rc;
		*n += got;
	}
	return FIT_OK;
}

static const char magic[] = "SQLite format 3";

static bool is_plain_export(const char *operand)
{
	char head[sizeof magic] = { 0 };
	struct stat st;
	/* a pipe with a name cannot be opened twice */
	FILE *f = operand && strcmp(operand, "-") != 0 && stat(operand, &st) == 0 && S_ISREG(st.st_mode) ?
		  fopen(operand, "rb") : NULL;
	bool yes = f && fread(head, 1, sizeof head, f) == sizeof head &&
		   memcmp(head, magic, sizeof magic) == 0;

	if (f)
		fclose(f);
	return yes;
}

int fit_nsight_open(struct fit_nsight *x, const struct fit_series_in *in, struct fit_err *err)
{
	bool plain = is_plain_export(in->operand), whole;
	struct fit_text head = { 0 };
	size_t n = 0;
	int rc = plain ? FIT_OK : fit_source_peek(in->source, sizeof magic, &head, &whole, err);

	if (rc)
		return rc;
	if (!plain && head.n == 0)
		return fit_fail(err, FIT_EPARSE, "%s: empty file (expected an SQLite export)", x->name);
	if (!plain && fit_prof_starts(head, "version https:/"))
		return fit_fail(err, FIT_EPARSE, "%s:1: Git LFS pointer, not the data (expected the file that 'git "
				"lfs pull' fetches)", x->name);
	if (!plain && (head.n < sizeof magic || memcmp(head.s, magic, sizeof magic) != 0))
		return fit_fail(err, FIT_EPARSE, "%s: not an SQLite file (expected the export of 'nsys export "
				"-t sqlite')", x->name);
	rc = plain ? FIT_OK : slurp(x, in->source, &n, err);
	if (rc)
		return rc;
	if (sqlite3_open_v2(plain ? in->operand : ":memory:", &x->db,
			    plain ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, NULL))
		return fit_nsight_fail(x, err);
	/* what a hostile file could make it do: run functions in its schema, allocate without bounds */
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(x->db, SQLITE_LIMIT_LENGTH, 1 << 24);
	if (!plain && sqlite3_deserialize(x->db, "main", x->image, (sqlite3_int64)n, (sqlite3_int64)n,
					  SQLITE_DESERIALIZE_READONLY))
		return fit_nsight_fail(x, err);
	if (sqlite3_exec(x->db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL))
		return fit_nsight_fail(x, err);
	return FIT_OK;
}

void fit_nsight_close(struct fit_nsight *x)
{
	sqlite3_close_v2(x->db);
	free(x->image);
}

int fit_nsight_tables(struct fit_nsight *x, const char *sql_list, int64_t *n, struct fit_err *err)
{
	struct fit_str sql = { 0 };
	sqlite3_stmt *q = NULL;
	int rc = fit_str_printf(&sql, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND "
				"sql NOT LIKE 'CREATE VIRTUAL%%' AND name IN (%s)", sql_list);

	if (rc)
		return fit_fail_nomem(err);
	if (sqlite3_prepare_v2(x->db, sql.s, -1, &q, NULL) || sqlite3_step(q) != SQLITE_ROW)
		rc = fit_nsight_fail(x, err);
	else
		*n = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	fit_str_release(&sql);
	return rc;
}

int fit_nsight_start(struct fit_nsight *x, int64_t *epoch_ns, bool *has, struct fit_err *err)
{
	sqlite3_stmt *q = NULL;
	int64_t n = 0;
	int rc = fit_nsight_tables(x, "'TARGET_INFO_SESSION_START_TIME'", &n, err);

	*has = false;
	if (rc || !n)
		return rc;
	if (sqlite3_prepare_v2(x->db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1", -1,
			       &q, NULL))
		return FIT_OK;		/* another version of the table */
	if (sqlite3_step(q) == SQLITE_ROW && sqlite3_column_type(q, 0) == SQLITE_INTEGER) {
		*epoch_ns = sqlite3_column_int64(q, 0);
		*has = *epoch_ns > 0 && *epoch_ns < INT64_MAX / 2;
	}
	sqlite3_finalize(q);
	return FIT_OK;
}
