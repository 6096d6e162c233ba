/* SPDX-License-Identifier: MIT */
/* Hand-off formats: what is recognised as what, and that any label and number goes through Prometheus
 * text. */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <unistd.h>

#include "libfit/base/num.h"
#include "libfit/base/rng.h"
#include "libfit/model/handoff.h"

static char path[] = "handoff-test.XXXXXX";

static void recognised(void **state)
{
	static const struct {
		const char *text, *format;
	} cases[] = {
		{ "{\"initBatchSize\": 4}", "adaptdl" },
		{ " \n{\"ant\": {\"initBatchSize\": 4}}", "adaptdl" },
		{ "{\"schema\": \"goodfit-tree/1\", \"nodes\": []}", "tree-json" },
		{ "{\"children_left\": []}", "tree-json" },
		{ "{\"ebm\": {}}", "ga2m-json" },
		{ "{\"schema\": \"goodfit-widths/1\"}", "widths-json" },
		{ "class\tplan\tshare\tepoch\tgpu_type\tgpus\twork\n", "widths-tsv" },
		{ "# HELP up x\n", "prometheus" },
		{ "up 1\n", "prometheus" },
		{ "a:b{x=\"1\"} 2", "prometheus" },
		{ "#fit-table/1\n", NULL },
		{ "{}", NULL },
		{ "", NULL },
		{ "{", NULL },
		{ "class\tplan\n", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct fit_handoff_format *f = fit_handoff_recognise(fit_text_of(cases[i].text));

		check_text(f ? f->name : "none", cases[i].format ? cases[i].format : "none");
	}
	for (size_t i = 0; fit_handoff_formats[i]; i++)
		assert_ptr_equal(fit_handoff_find(fit_handoff_formats[i]->name), fit_handoff_formats[i]);
	assert_null(fit_handoff_find("xml"));
}

/* A text of characters that are in the way: quotes, backslashes, line feeds, braces, commas, letters of
 * two bytes. */
static void odd_text(gsl_rng *rng, struct fit_str *s)
{
	static const char *const pieces[] = { "\"", "\\", "\n", "{", "}", ",", "=", " ", "a", "\xc3\xa4",
					     "n", "#", "\t" };
	size_t n = gsl_rng_uniform_int(rng, 8);

	fit_str_clear(s);
	assert_int_equal(fit_str_puts(s, "x"), FIT_OK);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(fit_str_puts(s, pieces[gsl_rng_uniform_int(rng,
			sizeof pieces / sizeof *pieces)]), FIT_OK);
}

static void write_rows(gsl_rng *rng, size_t n, double *values, struct fit_err *err)
{
	static const struct fit_field fields[] = { { "who", FIT_TEXT, 0 }, { "n", FIT_TEXT, 0 },
						  { "load", FIT_REAL, 0 } };
	struct fit_writer *w = NULL;
	struct fit_str who = { 0 };
	char number[FIT_NUM_MAX];

	check_ok(fit_writer_open(&w, path, 0, err), err);
	check_ok(fit_writer_begin(w, NULL, NULL, fields, 3, err), err);
	for (size_t i = 0; i < n; i++) {
		odd_text(rng, &who);
		fit_format_int64(number, (int64_t)i);
		values[i] = i % 7 == 3 ? (double)INFINITY :
			(gsl_rng_uniform(rng) - 0.5) * exp(40 * gsl_rng_uniform(rng) - 20);
		fit_writer_text(w, (struct fit_text){ who.s, who.n });
		fit_writer_str(w, number);
		fit_writer_real(w, values[i]);
		check_ok(fit_writer_end_row(w, err), err);
	}
	check_ok(fit_writer_end(w, err), err);
	check_ok(fit_writer_close(w, err), err);
	fit_str_release(&who);
}

/* Written, read and written again: the same bytes; read: the same numbers, to the bit. */
static void any_label_and_number(void **state)
{
	const struct fit_handoff_options none = { .prefix = "" };
	const struct fit_handoff_format *f = fit_handoff_find("prometheus");
	gsl_rng *rng = fit_rng_new(11, "test/handoff");
	struct fit_err err;

	(void)state;
	assert_non_null(rng);
	for (int k = 0; k < 30; k++) {
		struct fit_str one = { 0 }, two = { 0 };
		struct fit_writer *w = NULL;
		const struct fit_meta meta = { 0 };
		struct fit_table t;
		double values[20];

		write_rows(rng, 20, values, &err);
		check_ok(f->write(path, &none, &one, &err), &err);
		check_ok(fit_writer_open(&w, path, 0, &err), &err);
		check_ok(f->read("text", (struct fit_text){ one.s, one.n }, w, &meta, &err), &err);
		check_ok(fit_writer_close(w, &err), &err);
		check_ok(fit_table_read(&t, path, NULL, 0, &err), &err);
		assert_int_equal(t.n_rows, 20);
		for (size_t i = 0; i < 20; i++)
			check_same_bits(fit_table_column(&t, "value")->d[i], values[i]);
		fit_table_release(&t);
		check_ok(f->write(path, &none, &two, &err), &err);
		check_text(two.s, one.s);
		fit_str_release(&one);
		fit_str_release(&two);
	}
	gsl_rng_free(rng);
}

static int begin(void **state)
{
	(void)state;
	return check_scratch(path);
}

static int end(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recognised),
		cmocka_unit_test(any_label_and_number),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
