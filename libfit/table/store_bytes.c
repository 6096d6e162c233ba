/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libfit/table/store.h"

#define PROBE_SECONDS 300

void fit_h5_quiet_begin(struct fit_h5_quiet *q)
{
	/* closed by hand everywhere; at exit it only complains about damaged files that it cannot close */
	H5dont_atexit();
	if (H5Eget_auto2(H5E_DEFAULT, &q->func, &q->data) < 0)
		*q = (struct fit_h5_quiet){ 0 };
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void fit_h5_quiet_end(const struct fit_h5_quiet *q)
{
	H5Eset_auto2(H5E_DEFAULT, q->func, q->data);
}

/* ---- reading ---- */

static int read_all(int fd, const char *file, unsigned char **bytes, size_t *n, struct fit_err *err)
{
	struct stat st;
	size_t cap = 0;

	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return fit_fail_errno(err, "%s: cannot read", file);
	}
	/* one allocation and, with the byte more, one read() for a file of known size */
	if (S_ISREG(st.st_mode) && st.st_size > 0) {
		cap = (size_t)st.st_size + 1;
		*bytes = malloc(cap);
		if (!*bytes)
			return fit_fail_nomem(err);
	}
	for (;;) {
		ssize_t k;

		if (*n == cap && fit_grow(bytes, &cap, *n + 1, 1))
			return fit_fail_nomem(err);
		k = read(fd, *bytes + *n, cap - *n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return fit_fail_errno(err, "%s: cannot read", file);
		if (k == 0)
			return FIT_OK;
		*n += (size_t)k;
	}
}

static uint64_t little_endian(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/*
 * The superblock says how long the file is (HDF5 File Format Specification 3.0, II.A). HDF5 looks for
 * it at 0, 512, 1024, 2048, … *end is where HDF5 ends, or the size of the file where the version is
 * one that we do not know (HDF5 will say).
 */
static int find_end(const struct fit_store_image *im, size_t *end, struct fit_err *err)
{
	static const unsigned char sign[8] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };
	const unsigned char *p = im->bytes;
	size_t at = 0, left, base_at, need;
	uint64_t base, eof;

	*end = im->n;
	if (!im->n)
		return fit_fail(err, FIT_EPARSE, "%s: empty file (expected an HDF5 file)", im->name);
	while (at + sizeof sign <= im->n && memcmp(p + at, sign, sizeof sign) != 0)
		at = at ? 2 * at : 512;
	if (at + sizeof sign > im->n) {
		if (im->n < sizeof sign && memcmp(p, sign, im->n) == 0)
			return fit_fail(err, FIT_EPARSE, "%s: truncated HDF5 file", im->name);
		return fit_fail(err, FIT_EPARSE, "%s: not an HDF5 file", im->name);
	}
	p += at;
	left = im->n - at;
	need = 48;	/* the shortest superblock */
	if (left >= need && p[8] <= 1) {
		if (p[13] != 8)
			return FIT_OK;
		base_at = p[8] ? 28 : 24;
	} else if (left >= need && p[8] <= 3) {
		if (p[9] != 8)
			return FIT_OK;
		base_at = 12;
	} else if (left >= need) {
		return FIT_OK;
	} else {
		return fit_fail(err, FIT_EPARSE, "%s: truncated HDF5 file", im->name);
	}
	if (base_at + 24 > left)
		return fit_fail(err, FIT_EPARSE, "%s: truncated HDF5 file", im->name);
	base = little_endian(p + base_at, 8);
	eof = little_endian(p + base_at + 16, 8);
	/* with a user block some writers count the end from the base, others from byte 0 */
	if (eof > im->n || base > im->n)
		return fit_fail(err, FIT_EPARSE, "%s: truncated HDF5 file (%zu bytes, expected %llu)",
				im->name, im->n, (unsigned long long)eof);
	*end = (size_t)eof;
	return FIT_OK;
}

int fit_store_seal(const unsigned char *bytes, size_t n, char out[FIT_SEAL_SIZE])
{
	struct fit_hasher *h = fit_hasher_new();
	char hex[FIT_HASH_HEX];

	if (!h)
		return FIT_ENOMEM;
	fit_hasher_add(h, bytes, n);
	fit_hasher_hex(h, hex);
	fit_hasher_free(h);
	memcpy(out, FIT_SEAL_MAGIC, FIT_SEAL_MAGIC_SIZE);
	memcpy(out + FIT_SEAL_MAGIC_SIZE, hex, FIT_HASH_HEX - 1);
	return FIT_OK;
}

/* Set im->sealed and im->hash, and take the seal off im->n. */
static int check_seal(struct fit_store_image *im, struct fit_err *err)
{
	char seal[FIT_SEAL_SIZE];
	const unsigned char *tail = NULL;

	if (im->n > FIT_SEAL_SIZE) {
		tail = im->bytes + im->n - FIT_SEAL_SIZE;
		im->sealed = memcmp(tail, FIT_SEAL_MAGIC, FIT_SEAL_MAGIC_SIZE) == 0;
	}
	if (im->sealed)
		im->n -= FIT_SEAL_SIZE;
	if (fit_store_seal(im->bytes, im->n, seal))
		return fit_fail_nomem(err);
	if (im->sealed && memcmp(tail, seal, FIT_SEAL_SIZE) != 0)
		return fit_fail(err, FIT_EPARSE, "%s: damaged HDF5 file (its bytes do not match its seal)",
				im->name);
	memcpy(im->hash, seal + FIT_SEAL_MAGIC_SIZE, FIT_HASH_HEX - 1);
	im->hash[FIT_HASH_HEX - 1] = '\0';
	return FIT_OK;
}

int fit_store_load_bytes(struct fit_store_image *im, const char *name, unsigned char *bytes, size_t n,
			 struct fit_err *err)
{
	size_t end, rest;
	int rc;

	*im = (struct fit_store_image){ .name = name, .bytes = bytes, .n = n, .file = H5I_INVALID_HID };
	rc = find_end(im, &end, err);
	if (!rc)
		rc = check_seal(im, err);
	if (rc || im->sealed || end == im->n)
		return rc;
	/* a damaged or a cut seal must not make a store of ours one of another program */
	rest = im->n - end;
	if (rest == FIT_SEAL_SIZE)
		rc = fit_fail(err, FIT_EPARSE, "%s: damaged HDF5 file (a damaged seal)", name);
	else if (rest < FIT_SEAL_SIZE &&
		 memcmp(im->bytes + end, FIT_SEAL_MAGIC,
			rest < FIT_SEAL_MAGIC_SIZE ? rest : FIT_SEAL_MAGIC_SIZE) == 0)
		rc = fit_fail(err, FIT_EPARSE, "%s: truncated HDF5 file (its seal is cut)", name);
	return rc;
}

int fit_store_load(struct fit_store_image *im, const char *file, struct fit_err *err)
{
	unsigned char *bytes = NULL;
	size_t n = 0;
	int fd = open(file, O_RDONLY | O_CLOEXEC), rc;

	*im = (struct fit_store_image){ .name = file, .file = H5I_INVALID_HID };
	if (fd < 0)
		return fit_fail_errno(err, "%s: cannot open", file);
	rc = read_all(fd, file, &bytes, &n, err);
	close(fd);
	if (rc) {
		free(bytes);
		return rc;
	}
	return fit_store_load_bytes(im, file, bytes, n, err);
}

/* HDF5's core driver wants to copy the image it is given, twice. These make it use ours. */
static void *image_malloc(size_t size, H5FD_file_image_op_t op, void *udata)
{
	struct fit_store_image *im = udata;

	(void)op;
	return size == im->n ? im->bytes : NULL;
}

static void *image_memcpy(void *dest, const void *src, size_t size, H5FD_file_image_op_t op, void *udata)
{
	(void)op;
	(void)udata;
	if (dest != src)
		memcpy(dest, src, size);
	return dest;
}

static void *image_realloc(void *p, size_t size, H5FD_file_image_op_t op, void *udata)
{
	(void)p;
	(void)size;
	(void)op;
	(void)udata;
	return NULL;	/* read only: it never grows */
}

static herr_t image_free(void *p, H5FD_file_image_op_t op, void *udata)
{
	(void)p;
	(void)op;
	(void)udata;
	return 0;
}

static void *udata_copy(void *udata)
{
	return udata;
}

static herr_t udata_free(void *udata)
{
	(void)udata;
	return 0;
}

static int open_image(struct fit_store_image *im, struct fit_err *err)
{
	H5FD_file_image_callbacks_t cb = {
		image_malloc, image_memcpy, image_realloc, image_free, udata_copy, udata_free, im
	};
	struct fit_h5_quiet q;
	hid_t fapl;
	int rc = FIT_OK;

	fit_h5_quiet_begin(&q);
	fapl = H5Pcreate(H5P_FILE_ACCESS);
	if (fapl < 0 || H5Pset_fapl_core(fapl, 65536, 0) < 0 ||
	    H5Pset_file_image_callbacks(fapl, &cb) < 0 ||
	    H5Pset_file_image(fapl, im->bytes, im->n) < 0)
		rc = fit_fail(err, FIT_ENOMEM, "%s: HDF5 cannot start", im->name);
	if (!rc) {
		im->file = H5Fopen("goodfit-read", H5F_ACC_RDONLY, fapl);
		if (im->file < 0)
			rc = fit_fail(err, FIT_EPARSE, "%s: damaged HDF5 file", im->name);
	}
	if (fapl >= 0)
		H5Pclose(fapl);
	fit_h5_quiet_end(&q);
	return rc;
}

/* The other process of survives(): read all that there is. */
static void read_everything(struct fit_store_image *im)
{
	static const int deadly[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM };
	const struct rlimit no_core = { 0, 0 };
	struct fit_store_paths paths = { 0 };
	int fd = open("/dev/null", O_WRONLY);

	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		signal(deadly[i], SIG_DFL);
	setrlimit(RLIMIT_CORE, &no_core);
	alarm(PROBE_SECONDS);
	if (fd >= 0) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
	}
	if (open_image(im, NULL) == FIT_OK && fit_store_paths(im, &paths, NULL) == FIT_OK) {
		for (size_t i = 0; i < paths.n; i++) {
			struct fit_table t;
			struct fit_store_request req = { .path = paths.p[i], .table = &t };

			if (fit_store_read_table(im, &req, NULL) == FIT_OK)
				fit_table_release(&t);
		}
	}
	_exit(0);
}

/* Some damaged files kill HDF5 1.10 (a wild pointer, an endless loop). A file without our seal is
 * therefore read in another process first. */
static bool survives(struct fit_store_image *im)
{
	int status = 0;
	pid_t pid = fork(), k;

	if (pid == 0)
		read_everything(im);
	if (pid < 0)
		return true;	/* no process to be had: as without this test */
	do {
		k = waitpid(pid, &status, 0);
	} while (k < 0 && errno == EINTR);
	return k < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int fit_store_open(struct fit_store_image *im, struct fit_err *err)
{
	if (!im->sealed && !survives(im))
		return fit_fail(err, FIT_EPARSE, "%s: damaged HDF5 file (HDF5 does not survive reading it)",
				im->name);
	return open_image(im, err);
}

void fit_store_release(struct fit_store_image *im)
{
	if (im->file >= 0) {
		struct fit_h5_quiet q;

		fit_h5_quiet_begin(&q);
		H5Fclose(im->file);
		fit_h5_quiet_end(&q);
	}
	free(im->bytes);
	*im = (struct fit_store_image){ .file = H5I_INVALID_HID };
}

/* ---- writing ---- */

int fit_store_lock(struct fit_store_lock *lock, const char *file, struct fit_err *err)
{
	struct fit_str path = { 0 };

	lock->fd = -1;
	lock->path = NULL;
	if (fit_str_printf(&path, "%s.lock", file)) {
		fit_str_release(&path);
		return fit_fail_nomem(err);
	}
	for (;;) {
		struct stat mine, there;
		int rc;

		lock->fd = open(path.s, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
		if (lock->fd < 0) {
			rc = fit_fail_errno(err, "%s: cannot open for writing", file);
			fit_str_release(&path);
			return rc;
		}
		do {
			rc = flock(lock->fd, LOCK_EX);
		} while (rc && errno == EINTR);
		if (rc) {
			rc = fit_fail_errno(err, "%s: cannot lock", path.s);
			close(lock->fd);
			lock->fd = -1;
			fit_str_release(&path);
			return rc;
		}
		/* the holder before us removed the file that we waited for: lock the new one */
		if (fstat(lock->fd, &mine) == 0 && stat(path.s, &there) == 0 &&
		    mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
			break;
		close(lock->fd);
	}
	lock->path = path.s;
	return FIT_OK;
}

void fit_store_unlock(struct fit_store_lock *lock)
{
	if (lock->fd < 0)
		return;
	unlink(lock->path);
	close(lock->fd);
	free(lock->path);
	lock->fd = -1;
	lock->path = NULL;
}

static int write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		ssize_t k = write(fd, p, n < (size_t)1 << 30 ? n : (size_t)1 << 30);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

int fit_store_save(const char *file, const unsigned char *bytes, size_t n, struct fit_err *err)
{
	struct fit_str tmp = { 0 };
	char seal[FIT_SEAL_SIZE];
	struct stat st;
	int fd, rc;

	if (stat(file, &st) == 0 && !S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
		return fit_fail_errno(err, "%s: cannot write", file);
	}
	if (fit_store_seal(bytes, n, seal) || fit_str_printf(&tmp, "%s.tmp.%ld", file, (long)getpid())) {
		fit_str_release(&tmp);
		return fit_fail_nomem(err);
	}
	unlink(tmp.s);	/* left over by a killed process of the same number */
	fd = open(tmp.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		rc = fit_fail_errno(err, "%s: cannot open for writing", file);
		fit_str_release(&tmp);
		return rc;
	}
	rc = FIT_OK;
	if (write_all(fd, bytes, n) || write_all(fd, seal, sizeof seal))
		rc = fit_fail_errno(err, "%s: cannot write", file);
	if (close(fd) && !rc)
		rc = fit_fail_errno(err, "%s: cannot write", file);
	if (!rc && rename(tmp.s, file))
		rc = fit_fail_errno(err, "%s: cannot rename into place", file);
	if (rc)
		unlink(tmp.s);
	fit_str_release(&tmp);
	return rc;
}
