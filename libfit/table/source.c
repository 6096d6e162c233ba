/* SPDX-License-Identifier: MIT */
#include "libfit/table/source.h"

#include "libfit/base/meter.h"
#include "libfit/base/utf16.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define RAW_SIZE ((size_t)1 << 16)
#define LINE_START ((size_t)1 << 17)

enum coding { UNKNOWN, PLAIN, GZIP, ZSTD };

#define WIDE_SIZE ((size_t)1 << 15)
#define START_SIZE ((size_t)512)	/* a tar archive shows itself in so many */

/* UTF-16 that waits to be handed on as UTF-8. */
struct wide {
	struct fit_utf16 utf16;
	unsigned char in[WIDE_SIZE];
	char out[FIT_UTF16_ROOM(WIDE_SIZE)];
	size_t at, n;
};

struct fit_source {
	int fd;
	const char *memory;	/* read from here instead of fd when it is not NULL */
	size_t memory_n;
	char *name;
	uint64_t read, size;	/* bytes read of the file, and its size; 0: not known */
	enum coding coding;
	/* compressed bytes that wait */
	unsigned char raw[RAW_SIZE];
	size_t raw_at, raw_n;
	bool raw_end;
	z_stream gz;
	bool gz_on, gz_done;
	/* the first bytes, held back until it is known what text they are */
	unsigned char start[START_SIZE];
	size_t start_at, start_n;
	bool started;
	struct wide *wide;		/* NULL: no UTF-16 */
	ZSTD_DStream *zstd;
	size_t zstd_hint;
	/* decoded bytes that wait for fit_source_line() */
	char *buf;
	size_t at, n, cap;
	bool end;
	bool line_ended;
	uint64_t line;
	struct fit_hasher *hasher;
};

const char *fit_operand_name(const char *operand)
{
	return strcmp(operand, "-") == 0 ? "<stdin>" : operand;
}

bool fit_operand_is_json(const char *operand)
{
	size_t n = strlen(operand);

	return n > 5 && strcmp(operand + n - 5, ".json") == 0;
}

int fit_source_open(struct fit_source **out, const char *operand, struct fit_err *err)
{
	bool is_stdin = strcmp(operand, "-") == 0;
	struct fit_source *s = calloc(1, sizeof *s);
	struct stat st;
	int rc;

	*out = NULL;
	if (!s)
		return fit_fail_nomem(err);
	s->fd = -1;
	s->name = fit_strdup(fit_text_of(fit_operand_name(operand)));
	s->hasher = fit_hasher_new();
	if (!s->name || !s->hasher) {
		rc = fit_fail_nomem(err);
		goto fail;
	}
	s->fd = is_stdin ? STDIN_FILENO : open(operand, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0) {
		rc = fit_fail_errno(err, "%s: cannot open", s->name);
		goto fail;
	}
	if (fstat(s->fd, &st))
		st = (struct stat){ 0 };
	if (S_ISREG(st.st_mode))
		s->size = (uint64_t)st.st_size;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		rc = fit_fail_errno(err, "%s: cannot read", s->name);
		goto fail;
	}
	*out = s;
	return FIT_OK;
fail:
	fit_source_close(s);
	return rc;
}

int fit_source_open_memory(struct fit_source **out, const char *name, const void *bytes, size_t n,
			   struct fit_err *err)
{
	struct fit_source *s = calloc(1, sizeof *s);

	*out = NULL;
	if (!s)
		return fit_fail_nomem(err);
	s->fd = -1;
	s->memory = n ? bytes : "";
	s->memory_n = n;
	s->name = fit_strdup(fit_text_of(name));
	s->hasher = fit_hasher_new();
	if (!s->name || !s->hasher) {
		fit_source_close(s);
		return fit_fail_nomem(err);
	}
	*out = s;
	return FIT_OK;
}

void fit_source_close(struct fit_source *s)
{
	if (!s)
		return;
	if (s->gz_on)
		inflateEnd(&s->gz);
	ZSTD_freeDStream(s->zstd);
	if (s->fd > STDERR_FILENO)
		close(s->fd);
	fit_hasher_free(s->hasher);
	free(s->wide);
	free(s->buf);
	free(s->name);
	free(s);
}

/* read(2), from the file or from memory. */
static ssize_t read_raw(struct fit_source *s, void *to, size_t cap)
{
	size_t n = s->memory_n < cap ? s->memory_n : cap;
	ssize_t k;

	if (s->memory) {
		memcpy(to, s->memory, n);
		s->memory += n;
		s->memory_n -= n;
		return (ssize_t)n;
	}
	do {
		k = read(s->fd, to, cap);
	} while (k < 0 && errno == EINTR);
	if (k > 0)
		fit_meter_tell(s->name, s->read += (uint64_t)k, s->size, FIT_METER_BYTES);
	return k;
}

/* Refill raw[] where it is used up. */
static int fill_raw(struct fit_source *s, struct fit_err *err)
{
	ssize_t k;

	if (s->raw_at < s->raw_n || s->raw_end)
		return FIT_OK;
	k = read_raw(s, s->raw, sizeof s->raw);
	if (k < 0)
		return fit_fail_errno(err, "%s: cannot read", s->name);
	s->raw_at = 0;
	s->raw_n = (size_t)k;
	s->raw_end = k == 0;
	return FIT_OK;
}

/* What is packed in a way that is not read is named, rather than taken for text with strange bytes. */
static int check_packed(const struct fit_source *s, const unsigned char *bytes, size_t n, bool unpacked,
			struct fit_err *err)
{
	static const struct { const char *magic, *what; size_t n; } known[] = {
		{ "PK\3\4", "a zip archive", 4 }, { "\xfd" "7zXZ\0", "an xz file", 6 },
		{ "7z\xbc\xaf\x27\x1c", "a 7z archive", 6 }, { "\x04\x22\x4d\x18", "a lz4 file", 4 },
		{ "\x1f\x8b", "a gzip file", 2 }, { "\x28\xb5\x2f\xfd", "a zstd file", 4 }
	};
	const char *what = NULL;

	for (size_t i = 0; i < (unpacked ? 6 : 4); i++)
		if (n >= known[i].n && memcmp(bytes, known[i].magic, known[i].n) == 0)
			what = known[i].what;
	if (n >= 10 && memcmp(bytes, "BZh", 3) == 0 && memcmp(bytes + 4, "1AY&SY", 6) == 0)
		what = "a bzip2 file";
	if (n >= 262 && memcmp(bytes + 257, "ustar", 5) == 0 && memchr(bytes, '\0', 257))
		what = "a tar archive";
	if (!what)
		return FIT_OK;
	return fit_fail(err, FIT_EPARSE, "%s: %s%s (expected the file in it, plain or as gzip or zstd)",
			s->name, what, unpacked && s->coding != PLAIN ? " in a compressed file" : "");
}

static int recognise(struct fit_source *s, struct fit_err *err)
{
	static const unsigned char gz[] = { 0x1f, 0x8b }, zs[] = { 0x28, 0xb5, 0x2f, 0xfd };
	const size_t enough = 10;	/* the longest magic number */

	/* a pipe may hand over fewer bytes than a magic number has */
	while (s->raw_n < enough && !s->raw_end) {
		ssize_t k = read_raw(s, s->raw + s->raw_n, sizeof s->raw - s->raw_n);

		if (k < 0)
			return fit_fail_errno(err, "%s: cannot read", s->name);
		s->raw_n += (size_t)k;
		s->raw_end = k == 0;
	}
	s->coding = PLAIN;
	if (s->raw_n >= sizeof gz && memcmp(s->raw, gz, sizeof gz) == 0) {
		s->coding = GZIP;
		if (inflateInit2(&s->gz, 15 + 16) != Z_OK)
			return fit_fail_nomem(err);
		s->gz_on = true;
	} else if (s->raw_n >= sizeof zs && memcmp(s->raw, zs, sizeof zs) == 0) {
		s->coding = ZSTD;
		s->zstd = ZSTD_createDStream();
		if (!s->zstd)
			return fit_fail_nomem(err);
		s->zstd_hint = 1;
	}
	return check_packed(s, s->raw, s->raw_n, false, err);
}

static int read_gzip(struct fit_source *s, void *buf, size_t cap, size_t *n, struct fit_err *err)
{
	while (*n == 0) {
		int rc = fill_raw(s, err), z;

		if (rc)
			return rc;
		if (s->raw_at == s->raw_n) {
			if (s->gz_done)
				return FIT_OK;
			return fit_fail(err, FIT_EPARSE, "%s: truncated gzip file", s->name);
		}
		if (s->gz_done) {	/* a further member */
			inflateReset(&s->gz);
			s->gz_done = false;
		}
		s->gz.next_in = s->raw + s->raw_at;
		s->gz.avail_in = (uInt)(s->raw_n - s->raw_at);
		s->gz.next_out = buf;
		s->gz.avail_out = (uInt)cap;
		z = inflate(&s->gz, Z_NO_FLUSH);
		s->raw_at = s->raw_n - s->gz.avail_in;
		*n = cap - s->gz.avail_out;
		if (z == Z_STREAM_END)
			s->gz_done = true;
		else if (z != Z_OK && z != Z_BUF_ERROR)
			return fit_fail(err, FIT_EPARSE, "%s: damaged gzip file", s->name);
	}
	return FIT_OK;
}

static int read_zstd(struct fit_source *s, void *buf, size_t cap, size_t *n, struct fit_err *err)
{
	while (*n == 0) {
		ZSTD_inBuffer in;
		ZSTD_outBuffer out = { buf, cap, 0 };
		int rc = fill_raw(s, err);

		if (rc)
			return rc;
		if (s->raw_at == s->raw_n) {
			if (s->zstd_hint == 0)
				return FIT_OK;
			return fit_fail(err, FIT_EPARSE, "%s: truncated zstd file", s->name);
		}
		in = (ZSTD_inBuffer){ s->raw + s->raw_at, s->raw_n - s->raw_at, 0 };
		s->zstd_hint = ZSTD_decompressStream(s->zstd, &out, &in);
		if (ZSTD_isError(s->zstd_hint))
			return fit_fail(err, FIT_EPARSE, "%s: damaged zstd file", s->name);
		s->raw_at += in.pos;
		*n = out.pos;
	}
	return FIT_OK;
}

static int unpack(struct fit_source *s, void *buf, size_t cap, size_t *n, struct fit_err *err)
{
	int rc = s->coding == UNKNOWN ? recognise(s, err) : FIT_OK;

	*n = 0;
	if (rc)
		return rc;
	if (s->coding == GZIP) {
		rc = read_gzip(s, buf, cap, n, err);
	} else if (s->coding == ZSTD) {
		rc = read_zstd(s, buf, cap, n, err);
	} else if (s->raw_at == s->raw_n && !s->raw_end) {
		/* straight to where it is wanted */
		ssize_t k = read_raw(s, buf, cap);

		if (k < 0)
			return fit_fail_errno(err, "%s: cannot read", s->name);
		*n = (size_t)k;
		s->raw_end = k == 0;
	} else {
		rc = fill_raw(s, err);
		if (!rc) {
			*n = s->raw_n - s->raw_at < cap ? s->raw_n - s->raw_at : cap;
			memcpy(buf, s->raw + s->raw_at, *n);
			s->raw_at += *n;
		}
	}
	return rc;
}

/* ---- UTF-16 ---- */

static int bad_wide(const struct fit_source *s, const char *what, struct fit_err *err)
{
	return fit_fail(err, FIT_EPARSE, "%s:%llu: %s", s->name, (unsigned long long)s->wide->utf16.lines + 1,
			what);
}

/* Which text is it? */
static int start(struct fit_source *s, struct fit_err *err)
{
	bool big;
	size_t mark, n = 1;

	/* plain text shows itself earlier, and may come slowly */
	while (n && s->start_n < (s->coding == PLAIN ? 4 : START_SIZE)) {
		int rc = unpack(s, s->start + s->start_n, sizeof s->start - s->start_n, &n, err);

		if (rc)
			return rc;
		s->start_n += n;
	}
	s->started = true;
	if (s->coding != PLAIN) {
		int rc = check_packed(s, s->start, s->start_n, true, err);

		if (rc)
			return rc;
	}
	if (fit_utf32_begins(s->start, s->start_n))
		return fit_fail(err, FIT_EPARSE, "%s:1: UTF-32 text (expected UTF-8 or UTF-16)", s->name);
	if (!fit_utf16_begins(s->start, s->start_n, &big, &mark))
		return FIT_OK;
	s->wide = calloc(1, sizeof *s->wide);
	if (!s->wide)
		return fit_fail_nomem(err);
	s->wide->utf16.big = big;
	s->start_at = mark;
	return FIT_OK;
}

static int unpack_started(struct fit_source *s, void *buf, size_t cap, size_t *n, struct fit_err *err)
{
	size_t left = s->start_n - s->start_at;

	if (!left)
		return unpack(s, buf, cap, n, err);
	*n = left < cap ? left : cap;
	memcpy(buf, s->start + s->start_at, *n);
	s->start_at += *n;
	return FIT_OK;
}

static int narrow(struct fit_source *s, void *buf, size_t cap, size_t *n, struct fit_err *err)
{
	struct wide *w = s->wide;

	while (w->at == w->n) {
		size_t got;
		int rc = unpack_started(s, w->in, sizeof w->in, &got, err);

		*n = 0;
		w->at = w->n = 0;
		if (rc)
			return rc;
		if (!got)
			return fit_utf16_end(&w->utf16) ?
			       bad_wide(s, "UTF-16 text that ends inside a character", err) : FIT_OK;
		if (fit_utf16_convert(&w->utf16, w->in, got, w->out, &w->n))
			return bad_wide(s, "invalid UTF-16 (half of a surrogate pair)", err);
	}
	*n = w->n - w->at < cap ? w->n - w->at : cap;
	memcpy(buf, w->out + w->at, *n);
	w->at += *n;
	return FIT_OK;
}

/* The next bytes of the text. */
static int decode(struct fit_source *s, void *buf, size_t cap, size_t *n, struct fit_err *err)
{
	int rc = s->started ? FIT_OK : start(s, err);

	*n = 0;
	if (rc)
		return rc;
	rc = s->wide ? narrow(s, buf, cap, n, err) : unpack_started(s, buf, cap, n, err);
	if (!rc && s->hasher)
		fit_hasher_add(s->hasher, buf, *n);
	return rc;
}

/* More of the text behind what the buffer has, or the end of it. */
static int take_in(struct fit_source *s, struct fit_err *err)
{
	size_t got;
	int rc;

	if (fit_grow(&s->buf, &s->cap, s->n + LINE_START + FIT_LINE_SLACK, 1))
		return fit_fail_nomem(err);
	rc = decode(s, s->buf + s->n, s->cap - FIT_LINE_SLACK - s->n, &got, err);
	if (rc)
		return rc;
	s->end = got == 0;
	s->n += got;
	return FIT_OK;
}

int fit_source_peek(struct fit_source *s, size_t cap, struct fit_text *bytes, bool *whole,
		    struct fit_err *err)
{
	while (s->n - s->at < cap && !s->end) {
		int rc = take_in(s, err);

		if (rc)
			return rc;
	}
	bytes->s = s->buf ? s->buf + s->at : "";
	bytes->n = s->n - s->at < cap ? s->n - s->at : cap;
	*whole = s->end && bytes->n == s->n - s->at;
	return FIT_OK;
}

int fit_source_read(struct fit_source *s, void *buf, size_t cap, size_t *n, struct fit_err *err)
{
	if (s->at < s->n) {
		*n = s->n - s->at < cap ? s->n - s->at : cap;
		memcpy(buf, s->buf + s->at, *n);
		s->at += *n;
		return FIT_OK;
	}
	return decode(s, buf, cap, n, err);
}

int fit_source_read_all(struct fit_source *s, struct fit_str *text, struct fit_err *err)
{
	char buf[65536];
	size_t got = 1;
	int rc = FIT_OK;

	while (!rc && got > 0) {
		rc = fit_source_read(s, buf, sizeof buf, &got, err);
		if (!rc && fit_str_add(text, buf, got))
			rc = fit_fail_nomem(err);
	}
	return rc;
}

int fit_source_slurp(const char *operand, struct fit_str *text, char hash[FIT_HASH_HEX], struct fit_err *err)
{
	struct fit_source *s = NULL;
	int rc = fit_source_open(&s, operand, err);

	rc = rc ? rc : fit_source_read_all(s, text, err);
	if (!rc && hash)
		fit_source_hash(s, hash);
	fit_source_close(s);
	return rc;
}

int fit_source_line(struct fit_source *s, char **line, size_t *n, struct fit_err *err)
{
	size_t searched = 0;

	for (;;) {
		char *lf = s->n > s->at + searched ?
			   memchr(s->buf + s->at + searched, '\n', s->n - s->at - searched) : NULL;
		int rc;

		if (lf || (s->end && s->at < s->n)) {
			*line = s->buf + s->at;
			*n = lf ? (size_t)(lf - *line) : s->n - s->at;
			if (!lf)
				s->buf[s->n] = '\n';
			s->at += *n + (lf ? 1 : 0);
			s->line_ended = lf != NULL;
			s->line++;
			return FIT_OK;
		}
		if (s->end)
			return FIT_END;
		searched = s->n - s->at;
		if (searched > FIT_LINE_MAX)
			return fit_fail(err, FIT_EPARSE, "%s:%llu: line too long (expected at most %zu bytes)",
					s->name, (unsigned long long)s->line + 1, FIT_LINE_MAX);
		if (s->at) {
			memmove(s->buf, s->buf + s->at, searched);
			s->n = searched;
			s->at = 0;
		}
		rc = take_in(s, err);
		if (rc)
			return rc;
	}
}

const char *fit_source_name(const struct fit_source *s)
{
	return s->name;
}

uint64_t fit_source_line_number(const struct fit_source *s)
{
	return s->line;
}

bool fit_source_line_ended(const struct fit_source *s)
{
	return s->line_ended;
}

void fit_source_drop_hash(struct fit_source *s)
{
	fit_hasher_free(s->hasher);
	s->hasher = NULL;
}

void fit_source_hash(const struct fit_source *s, char out[FIT_HASH_HEX])
{
	assert(s->hasher);
	fit_hasher_hex(s->hasher, out);
}
