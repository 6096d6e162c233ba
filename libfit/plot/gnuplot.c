/* SPDX-License-Identifier: MIT */
#include "libfit/plot/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libfit/base/outfile.h"

#define PRINTED_MAX 8192	/* of gnuplot's output that is kept */

/* The three files: in the working folder while gnuplot runs, then beside dest. */
enum { DATA, SCRIPT, PICTURE, N_FILES };

struct job {
	char *dest;			/* NULL: write to fd */
	int fd;
	struct fit_str folder;		/* working folder, "" while there is none */
	struct fit_str home;		/* folder of dest with its slash, or "" */
	struct fit_str name[N_FILES];	/* without folder */
	struct fit_str path[N_FILES];	/* in the working folder */
	struct fit_str program;		/* gnuplot's path */
	struct fit_str printed;
};

static void release_job(struct job *j)
{
	for (int i = 0; i < N_FILES; i++) {
		if (j->folder.n && j->path[i].n)
			unlink(j->path[i].s);
		fit_str_release(&j->name[i]);
		fit_str_release(&j->path[i]);
	}
	if (j->folder.n)
		rmdir(j->folder.s);
	if (j->fd > STDERR_FILENO)
		close(j->fd);
	fit_str_release(&j->folder);
	fit_str_release(&j->home);
	fit_str_release(&j->program);
	fit_str_release(&j->printed);
	free(j->dest);
}

/* ---- names ---- */

static int name_files(struct job *j, enum fit_plot_format format)
{
	const char *slash = j->dest ? strrchr(j->dest, '/') : NULL;
	const char *base = j->dest ? slash ? slash + 1 : j->dest : "figure";
	enum fit_plot_format by_name;
	size_t stem = strlen(base);
	int rc = FIT_OK;

	if (slash)
		rc = fit_str_add(&j->home, j->dest, (size_t)(base - j->dest));
	if (!rc)
		rc = fit_str_puts(&j->name[PICTURE], base);
	if (!rc && !j->dest)
		rc = fit_str_printf(&j->name[PICTURE], ".%s", fit_plot_format_name(format));
	if (fit_plot_format_of(base, &by_name) == FIT_OK)
		stem = (size_t)(strrchr(base, '.') - base);
	if (!rc)
		rc = fit_str_printf(&j->name[SCRIPT], "%.*s.gp", (int)stem, base);
	return rc ? rc : fit_str_printf(&j->name[DATA], "%.*s.dat", (int)stem, base);
}

static int choose_dest(struct job *j, const char *dest, struct fit_err *err)
{
	struct stat st;

	j->fd = STDOUT_FILENO;
	if (!dest || strcmp(dest, "-") == 0)
		return FIT_OK;
	for (const char *c = dest; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return fit_fail(err, FIT_EINVAL, "control character in the file name '%s'", dest);
	if (fit_dest_descriptor(dest) >= 0 ||
	    (stat(dest, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) {
		char *tmp, *target;
		int rc = fit_dest_open(dest, &j->fd, &tmp, &target, err);

		free(tmp);
		free(target);
		return rc;
	}
	if (!*dest || dest[strlen(dest) - 1] == '/' || (stat(dest, &st) == 0 && S_ISDIR(st.st_mode)))
		return fit_fail(err, FIT_EIO, "%s: cannot write: is a folder, or no file name", dest);
	return fit_dest_follow(dest, &j->dest, err);
}

static int make_folder(struct job *j, struct fit_err *err)
{
	const char *tmp = getenv("TMPDIR");
	struct fit_str name = { 0 };
	int rc;

	if (j->dest)
		rc = fit_str_printf(&name, "%s.tmp.%ld", j->dest, (long)getpid());
	else
		rc = fit_str_printf(&name, "%s/gf-plot.XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	if (rc)
		return fit_fail_nomem(err);
	if (j->dest ? mkdir(name.s, 0700) != 0 : mkdtemp(name.s) == NULL) {
		rc = fit_fail_errno(err, "%s: cannot open for writing", j->dest ? j->dest : name.s);
		fit_str_release(&name);
		return rc;
	}
	j->folder = name;
	for (int i = 0; i < N_FILES; i++)
		if (fit_str_printf(&j->path[i], "%s/%s", j->folder.s, j->name[i].s))
			return fit_fail_nomem(err);
	return FIT_OK;
}

/* ---- files ---- */

static int write_all(int fd, const char *s, size_t n)
{
	while (n) {
		ssize_t k = write(fd, s, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return FIT_EIO;
		s += k;
		n -= (size_t)k;
	}
	return FIT_OK;
}

static int write_file(const char *path, const struct fit_str *text, struct fit_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int rc = FIT_OK;

	if (fd < 0)
		return fit_fail_errno(err, "%s: cannot open for writing", path);
	if (write_all(fd, text->s ? text->s : "", text->n))
		rc = fit_fail_errno(err, "%s: cannot write", path);
	if (close(fd) && !rc)
		rc = fit_fail_errno(err, "%s: cannot write", path);
	return rc;
}

/* Up to max bytes of what fd gives are added to out; the rest is read and dropped. */
static int drain(int fd, struct fit_str *out, size_t max)
{
	char buf[16384];
	int rc = FIT_OK;

	for (;;) {
		ssize_t k = read(fd, buf, sizeof buf);
		size_t keep = k > 0 ? (size_t)k : 0;

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? FIT_EIO : rc;
		if (keep > max - out->n)
			keep = max - out->n;
		if (!rc)
			rc = fit_str_add(out, buf, keep);
	}
}

static int write_inputs(const struct job *j, const struct fit_plot *p, enum fit_plot_format format,
			struct fit_err *err)
{
	struct fit_str script = { 0 }, data = { 0 };
	int rc = FIT_OK;

	if (fit_plot_script(&script, p, format, j->name[PICTURE].s, j->name[DATA].s) ||
	    fit_plot_data(&data, p))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = write_file(j->path[SCRIPT].s, &script, err);
	if (!rc)
		rc = write_file(j->path[DATA].s, &data, err);
	fit_str_release(&script);
	fit_str_release(&data);
	return rc;
}

/* ---- the process ---- */

/* gnuplot in the absolute folders of PATH: relative ones would mean another folder after chdir(). */
static int find_program(struct fit_str *out, struct fit_err *err)
{
	const char *path = getenv("PATH");

	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	while (*path) {
		size_t n = strcspn(path, ":");

		if (*path == '/') {
			fit_str_clear(out);
			if (fit_str_printf(out, "%.*s/gnuplot", (int)n, path))
				return fit_fail_nomem(err);
			if (access(out->s, X_OK) == 0)
				return FIT_OK;
		}
		path += n + (path[n] == ':');
	}
	return fit_fail(err, FIT_ECHILD, "gnuplot is not installed (no program of that name on the PATH); "
			"figures need it");
}

#define N_ENV 10

static int make_environment(struct fit_str text[N_ENV], char *env[N_ENV + 1])
{
	static const char *const passed[] = { "PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME",
					      "FONTCONFIG_FILE", "FONTCONFIG_PATH", "LD_LIBRARY_PATH" };
	size_t n = 0;
	int rc = fit_str_puts(&text[n++], "LC_ALL=C.UTF-8");

	if (!rc)
		rc = fit_str_puts(&text[n++], "TZ=UTC");
	for (size_t i = 0; i < sizeof passed / sizeof *passed && !rc; i++) {
		const char *value = getenv(passed[i]);

		if (value)
			rc = fit_str_printf(&text[n++], "%s=%s", passed[i], value);
	}
	for (size_t i = 0; i < n; i++)
		env[i] = text[i].s;
	env[n] = NULL;
	return rc;
}

_Noreturn static void be_gnuplot(const struct job *j, int out, char *const *env)
{
	char script[4096];
	char arg0[] = "gnuplot", plain[] = "-d";
	char *argv[] = { arg0, plain, script, NULL };
	int null = open("/dev/null", O_RDONLY);

	snprintf(script, sizeof script, "./%s", j->name[SCRIPT].s);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0 || chdir(j->folder.s) != 0)
		_exit(126);
	execve(j->program.s, argv, env);
	_exit(127);
}

static int run_program(struct job *j, int *status, struct fit_err *err)
{
	struct fit_str text[N_ENV] = { { 0 } };
	char *env[N_ENV + 1];
	int out[2], rc = FIT_OK;
	pid_t pid;

	if (make_environment(text, env)) {
		rc = fit_fail_nomem(err);
		goto out;
	}
	if (pipe(out)) {
		rc = fit_fail_errno(err, "cannot start gnuplot");
		goto out;
	}
	fcntl(out[0], F_SETFD, FD_CLOEXEC);
	fcntl(out[1], F_SETFD, FD_CLOEXEC);
	pid = fork();
	if (pid == 0)
		be_gnuplot(j, out[1], env);
	if (pid < 0)
		rc = fit_fail_errno(err, "cannot start gnuplot");
	close(out[1]);
	if (pid > 0) {
		int bad = drain(out[0], &j->printed, PRINTED_MAX);

		while (waitpid(pid, status, 0) < 0 && errno == EINTR)
			;
		if (bad)
			rc = fit_fail(err, bad, "cannot read what gnuplot says");
	}
	close(out[0]);
out:
	for (size_t i = 0; i < N_ENV; i++)
		fit_str_release(&text[i]);
	return rc;
}

static bool has_text(const char *line, size_t n, const char *what)
{
	size_t k = strlen(what);

	for (size_t i = 0; i + k <= n; i++)
		if (memcmp(line + i, what, k) == 0)
			return true;
	return false;
}

int fit_gnuplot_sort_messages(const char *printed, struct fit_str *fault, struct fit_str *warnings)
{
	bool located = false;

	while (*printed) {
		size_t n = strcspn(printed, "\n");
		size_t blank = strspn(printed, " \t\r^");
		int rc = FIT_OK;

		if (blank >= n || has_text(printed, n, "iconv failed to convert degree sign")) {
			/* nothing, the caret below a faulty line, or a locale without UTF-8 (the sign it
			 * cannot convert is for maps) */
		} else if (has_text(printed, n, "warning:") || has_text(printed, n, "Fontconfig ")) {
			if (warnings)
				rc = fit_str_printf(warnings, "%.*s\n", (int)n, printed);
		} else if (!fault->n || (!located && printed[0] == '"')) {
			/* gnuplot echoes the line first; better is the one that begins with file and line */
			fit_str_clear(fault);
			rc = fit_str_printf(fault, "%.*s", (int)n, printed);
			located = printed[0] == '"';
		}
		if (rc)
			return rc;
		printed += n + (printed[n] == '\n');
	}
	return FIT_OK;
}

static int judge(const struct job *j, int status, struct fit_str *warnings, struct fit_err *err)
{
	struct fit_str fault = { 0 };
	struct stat st;
	int rc = FIT_OK;

	if (fit_gnuplot_sort_messages(j->printed.s ? j->printed.s : "", &fault, warnings))
		rc = fit_fail_nomem(err);
	else if (WIFSIGNALED(status))
		rc = fit_fail(err, FIT_ECHILD, "gnuplot was ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) == 127)
		rc = fit_fail(err, FIT_ECHILD, "%s: cannot be run", j->program.s);
	else if (WEXITSTATUS(status) || fault.n)
		rc = fit_fail(err, FIT_ECHILD, "gnuplot failed with status %d: %s", WEXITSTATUS(status),
			      fault.n ? fault.s : "no message");
	else if (stat(j->path[PICTURE].s, &st) || st.st_size == 0)
		rc = fit_fail(err, FIT_ECHILD, "gnuplot made no picture");
	fit_str_release(&fault);
	return rc;
}

/* ---- results ---- */

static int move_files(struct job *j, struct fit_err *err)
{
	struct fit_str to = { 0 };
	int rc = FIT_OK;

	for (int i = 0; i < N_FILES && !rc; i++) {
		fit_str_clear(&to);
		if (fit_str_printf(&to, "%s%s", j->home.s ? j->home.s : "", j->name[i].s))
			rc = fit_fail_nomem(err);
		else if (rename(j->path[i].s, to.s))
			rc = fit_fail_errno(err, "%s: cannot write", to.s);
	}
	fit_str_release(&to);
	return rc;
}

/* The folder goes before the first byte is written: a closed pipe may end this process there. */
static int pour(struct job *j, struct fit_err *err)
{
	struct fit_str picture = { 0 };
	int in = open(j->path[PICTURE].s, O_RDONLY | O_CLOEXEC);
	int fd = j->fd, rc = FIT_OK;

	if (in < 0 || drain(in, &picture, SIZE_MAX))
		rc = fit_fail_errno(err, "cannot read the picture");
	if (in >= 0)
		close(in);
	j->fd = -1;
	release_job(j);
	*j = (struct job){ .fd = -1 };
	if (!rc && write_all(fd, picture.s, picture.n))
		rc = fit_fail_errno(err, "cannot write to %s",
				    fd == STDOUT_FILENO ? "standard output" : "the output");
	if (fd > STDERR_FILENO && close(fd) && !rc)
		rc = fit_fail_errno(err, "cannot write to the output");
	fit_str_release(&picture);
	return rc;
}

int fit_plot_render(const struct fit_plot *p, const char *dest, enum fit_plot_format format,
		    struct fit_str *warnings, struct fit_err *err)
{
	struct job j = { .fd = -1 };
	int status = 0;
	int rc = fit_plot_check(p, err);

	if (!rc)
		rc = find_program(&j.program, err);
	if (!rc)
		rc = choose_dest(&j, dest, err);
	if (!rc && name_files(&j, format))
		rc = fit_fail_nomem(err);
	if (!rc)
		rc = make_folder(&j, err);
	if (!rc)
		rc = write_inputs(&j, p, format, err);
	if (!rc)
		rc = run_program(&j, &status, err);
	if (!rc)
		rc = judge(&j, status, warnings, err);
	if (!rc)
		rc = j.dest ? move_files(&j, err) : pour(&j, err);
	release_job(&j);
	return rc;
}
