/* SPDX-License-Identifier: MIT */
/*
 * tokenise csv|pipes|blanks|json FILE: cut a file into fields and do nothing else, the measure that
 * readers are held against. csv and pipes: libcsv with comma or '|', which calls a function for each
 * field and one for each row; blanks: runs of blanks, by hand, with the same two calls (pointer and length
 * of every field of every line, through a pointer to a function, so that the compiler cannot make a loop
 * that counts blanks out of it); json: the object scanner and jansson, which makes a tree of each object.
 * Prints the number of rows (objects) and fields (members, for json) that it met.
 */
#include <csv.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "traces/json_scan.h"

#define CHUNK ((size_t)1 << 16)

struct counts {
	unsigned long long rows, fields;
};

static void on_field(void *s, size_t n, void *arg)
{
	struct counts *c = arg;

	(void)s;
	(void)n;
	c->fields++;
}

/* Read at run time: nobody inlines what it points to. */
static void (*volatile field_function)(void *, size_t, void *) = on_field;

static void on_row(int last, void *arg)
{
	struct counts *c = arg;

	(void)last;
	c->rows++;
}

static void (*volatile row_function)(int, void *) = on_row;

static int by_libcsv(int fd, unsigned char delimiter, struct counts *c)
{
	static char buf[CHUNK];
	struct csv_parser p;
	ssize_t n;

	if (csv_init(&p, 0))
		return 1;
	csv_set_delim(&p, delimiter);
	while ((n = read(fd, buf, sizeof buf)) > 0)
		if (csv_parse(&p, buf, (size_t)n, on_field, on_row, c) != (size_t)n)
			return 1;
	csv_fini(&p, on_field, on_row, c);
	csv_free(&p);
	return n < 0;
}

/* Hands fields and rows over, as libcsv does; what is cut by the end of a chunk is moved to the front. */
static int by_blanks(int fd, void (*field)(void *, size_t, void *), void (*row)(int, void *),
		     struct counts *c)
{
	static char buf[CHUNK + 1];
	size_t kept = 0;
	ssize_t n;

	while ((n = read(fd, buf + kept, CHUNK - kept)) > 0) {
		size_t end = kept + (size_t)n, i = 0, from = 0;

		for (; i < end; i++) {
			if (buf[i] != ' ' && buf[i] != '\t' && buf[i] != '\n')
				continue;
			if (i > from)
				field(buf + from, i - from, c);
			if (buf[i] == '\n')
				row('\n', c);
			from = i + 1;
		}
		kept = end - from;
		memmove(buf, buf + from, kept);
		if (kept == CHUNK)
			return 1;
	}
	return n < 0;
}

static int by_jansson(const char *file, struct counts *c)
{
	struct fit_json_scan *j = NULL;
	struct fit_source *s = NULL;
	struct fit_err err = { 0 };
	json_t *value;
	int rc = fit_source_open(&s, file, &err);

	if (!rc)
		rc = fit_json_scan_open(&j, s, NULL, &err);
	while (!rc && !(rc = fit_json_scan_value(j, &value, NULL, &err))) {
		c->rows++;
		c->fields += json_object_size(value);
		json_decref(value);
	}
	if (rc != FIT_END)
		fprintf(stderr, "tokenise: %s\n", err.msg);
	fit_json_scan_close(j);
	fit_source_close(s);
	return rc != FIT_END;
}

int main(int argc, char **argv)
{
	struct counts c = { 0, 0 };
	int fd, bad;

	if (argc != 3) {
		fprintf(stderr, "usage: tokenise csv|pipes|blanks|json FILE\n");
		return 2;
	}
	fd = open(argv[2], O_RDONLY);
	if (fd < 0) {
		perror(argv[2]);
		return 3;
	}
	if (strcmp(argv[1], "csv") == 0)
		bad = by_libcsv(fd, ',', &c);
	else if (strcmp(argv[1], "pipes") == 0)
		bad = by_libcsv(fd, '|', &c);
	else if (strcmp(argv[1], "blanks") == 0)
		bad = by_blanks(fd, field_function, row_function, &c);
	else
		bad = by_jansson(argv[2], &c);
	close(fd);
	printf("%llu rows, %llu fields\n", c.rows, c.fields);
	return bad;
}
