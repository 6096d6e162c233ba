/* SPDX-License-Identifier: MIT */
#include "tools/sweep_result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "tools/common/cli.h"

#define TAIL ((size_t)4096)

const char *const sweep_state_names[] = { "finished", "failed", "broken", "started", "waiting", NULL };

static const struct fit_field metric_fields[] = {
	{ "metric", FIT_TEXT, FIT_F_NOT_NA }, { "value", FIT_REAL, 0 }, { "unit", FIT_TEXT, 0 },
};

/* ---- what is there ---- */

int sweep_result_read(const struct sweep_row *row, struct fit_table *t, struct fit_err *err)
{
	const char *hash;
	int rc;

	*t = (struct fit_table){ 0 };
	if (access(row->result, F_OK))
		return fit_fail(err, FIT_ENOTFOUND, "%s: no such file", row->result);
	rc = fit_table_read(t, row->result, metric_fields, sizeof metric_fields / sizeof *metric_fields, err);
	if (rc)
		return rc;
	hash = fit_meta_get(&t->meta, "sweep_hash");
	if (hash && strcmp(hash, row->hash) == 0)
		return FIT_OK;
	rc = fit_fail(err, FIT_EDATA, "%s: sweep_hash is '%s' (expected %s)", row->result, hash ? hash : "missing",
		      row->hash);
	fit_table_release(t);
	return rc;
}

char *sweep_log_of(const char *result)
{
	struct fit_str s = { 0 };

	return fit_str_printf(&s, "%s.log", result) ? NULL : s.s;
}

/* The last line of a log, without its line feed. */
static void last_line(const char *log, char *line, size_t cap)
{
	char bytes[TAIL + 1];
	int fd = open(log, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	ssize_t n = fd < 0 ? 0 : pread(fd, bytes, TAIL, size > (off_t)TAIL ? size - (off_t)TAIL : 0);
	size_t end = n > 0 ? (size_t)n : 0, at;

	if (fd >= 0)
		close(fd);
	while (end && bytes[end - 1] == '\n')
		end--;
	for (at = end; at && bytes[at - 1] != '\n'; at--)
		;
	bytes[end] = '\0';
	snprintf(line, cap, "%s", bytes + at);
}

enum sweep_state sweep_row_state(const struct sweep_row *row, char *said, size_t cap)
{
	static const char failed[] = "failed: ";
	struct fit_err err = { 0 };
	struct fit_table t;
	int rc = sweep_result_read(row, &t, &err);
	enum sweep_state state;
	struct stat st;
	char *log;

	*said = '\0';
	if (!rc)
		fit_table_release(&t);
	if (!rc)
		return SWEEP_FINISHED;
	if (rc != FIT_ENOTFOUND) {
		snprintf(said, cap, "%s", err.msg);
		return SWEEP_BROKEN;
	}
	log = sweep_log_of(row->result);
	if (!log || stat(log, &st)) {
		free(log);
		return SWEEP_WAITING;
	}
	last_line(log, said, cap);
	state = strncmp(said, failed, sizeof failed - 1) == 0 ? SWEEP_FAILED : SWEEP_STARTED;
	if (state == SWEEP_FAILED)
		memmove(said, said + sizeof failed - 1, strlen(said) - (sizeof failed - 1) + 1);
	else
		*said = '\0';
	free(log);
	return state;
}

/* ---- putting it there ---- */

int sweep_make_folders(const char *file, struct fit_err *err)
{
	char *path = fit_strdup(fit_text_of(file));
	int rc = path ? FIT_OK : fit_fail_nomem(err);

	for (char *s = path; !rc && (s = strchr(s + 1, '/')); *s = '/') {
		*s = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			rc = fit_fail_errno(err, "%s: cannot make the folder", path);
	}
	free(path);
	return rc;
}

static int copy_bytes(int from, int to)
{
	char bytes[1 << 15];
	ssize_t n;

	while ((n = read(from, bytes, sizeof bytes)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return FIT_EIO;
		for (ssize_t at = 0; at < n; ) {
			ssize_t k = write(to, bytes + at, (size_t)(n - at));

			if (k < 0 && errno != EINTR)
				return FIT_EIO;
			at += k > 0 ? k : 0;
		}
	}
	return FIT_OK;
}

/* DIR/.NAME.XXXXXX: drawn by the system, since processes on several hosts may have the same number */
static int name_beside(struct fit_str *s, const char *to)
{
	const char *slash = strrchr(to, '/');
	size_t n = slash ? (size_t)(slash + 1 - to) : 0;

	return fit_str_add(s, to, n) || fit_str_printf(s, ".%s.XXXXXX", to + n) ? FIT_ENOMEM : FIT_OK;
}

int sweep_input_check(const char *file, struct fit_err *err)
{
	const char *dot = strrchr(file, '.');
	struct fit_reader *r = NULL;
	char **paths = NULL;
	size_t n = 0, tables = 0;
	int rc;

	if (fit_is_store(file)) {
		rc = fit_store_list(file, &paths, &n, err);
		for (size_t i = 0; i < n; i++)
			free(paths[i]);
		free(paths);
		return rc || n ? rc : fit_fail(err, FIT_EDATA, "%s: a store without a table", file);
	}
	if (!dot || strcmp(dot, ".tsv") != 0)
		return FIT_OK;
	rc = fit_reader_open(&r, file, err);
	while (!rc && (rc = fit_reader_skip(r, err)) == FIT_OK)
		tables++;
	fit_reader_close(r);
	if (rc == FIT_END)
		return tables ? FIT_OK : fit_fail(err, FIT_EDATA, "%s: no table", file);
	/* that the bytes are none of a table is a fault of the data, not of the machine */
	return rc == FIT_EPARSE ? err->code = FIT_EDATA : rc;
}

int sweep_place(const char *from, const char *to, bool lasting, struct fit_err *err)
{
	mode_t mode = 0666;
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, rc = FIT_OK;
	struct fit_str name = { 0 };
	struct stat st;

	if (in < 0)
		return fit_fail_errno(err, "%s: cannot open", from);
	/* made by a program as usual, so its mode is what the umask leaves; mkstemp() gives another */
	if (fstat(in, &st) == 0)
		mode = st.st_mode & 0777;
	if (name_beside(&name, to)) {
		rc = fit_fail_nomem(err);
	} else {
		out = mkstemp(name.s);
		if (out < 0 || fchmod(out, mode) || copy_bytes(in, out) || (lasting && fsync(out)))
			rc = fit_fail_errno(err, "%s: cannot write", to);
		if (out >= 0 && close(out) && !rc)
			rc = fit_fail_errno(err, "%s: cannot write", to);
		if (!rc && rename(name.s, to))
			rc = fit_fail_errno(err, "%s: cannot rename into place", to);
		if (rc && out >= 0)
			unlink(name.s);
	}
	close(in);
	fit_str_release(&name);
	return rc;
}

int sweep_result_place(const struct sweep_row *row, const char *from, const char *between,
		       struct fit_err *err)
{
	struct fit_writer *w = NULL;
	struct fit_table t;
	int rc = fit_table_read(&t, from, metric_fields, sizeof metric_fields / sizeof *metric_fields, err);

	if (rc)
		return fit_fail_prefix(err, FIT_EDATA, "gf-metrics wrote no metrics");
	if (fit_meta_set(&t.meta, "sweep_hash", row->hash))
		rc = fit_fail_nomem(err);
	rc = rc ? rc : fit_writer_open(&w, between, 0, err);
	rc = rc ? rc : fit_table_write(&t, w, err);
	rc = cli_writer_close(w, rc, err);
	fit_table_release(&t);
	return rc ? rc : sweep_place(between, row->result, false, err);
}

/* ---- rows ---- */

static int bad_rows(struct fit_text t, size_t n_rows, struct fit_err *err)
{
	return fit_fail(err, FIT_EINVAL, "bad rows '%.*s' (expected numbers from 1 to %zu, or A:B)", FIT_TEXT_ARG(t),
			n_rows);
}

static int choose_range(struct fit_text t, size_t n_rows, bool *chosen, struct fit_err *err)
{
	const char *colon = t.n ? memchr(t.s, ':', t.n) : NULL;
	struct fit_text a = { t.s, colon ? (size_t)(colon - t.s) : t.n }, b = a;
	int64_t from = 1, to = (int64_t)n_rows;

	if (colon)
		b = (struct fit_text){ colon + 1, t.n - a.n - 1 };
	if ((a.n || !colon) && fit_parse_int64(a, &from))
		return bad_rows(t, n_rows, err);
	if (!colon)
		to = from;
	else if (b.n && fit_parse_int64(b, &to))
		return bad_rows(t, n_rows, err);
	if (from < 1 || to > (int64_t)n_rows || from > to)
		return bad_rows(t, n_rows, err);
	for (int64_t i = from; i <= to; i++)
		chosen[i - 1] = true;
	return FIT_OK;
}

int sweep_rows_choose(const char *text, size_t n_rows, bool *chosen, struct fit_err *err)
{
	int rc = FIT_OK;

	for (size_t i = 0; i < n_rows; i++)
		chosen[i] = !text;
	for (const char *s = text; s && !rc; ) {
		size_t n = strcspn(s, ",");

		rc = choose_range((struct fit_text){ s, n }, n_rows, chosen, err);
		s = s[n] ? s + n + 1 : NULL;
	}
	return rc;
}

void sweep_row_name(const struct sweep_plan *p, size_t row, char *name, size_t cap)
{
	size_t n = (size_t)snprintf(name, cap, "row %zu", row + 1);

	for (size_t i = 0; i < p->n_axes && n < cap; i++)
		n += (size_t)snprintf(name + n, cap - n, "%s%s=%s", i ? ", " : " (", p->axes[i],
				      p->rows[row].values[i] ? p->rows[row].values[i] : "NA");
	if (p->n_axes && n < cap)
		snprintf(name + n, cap - n, ")");
}
