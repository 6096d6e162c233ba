/* SPDX-License-Identifier: MIT */
/* Words, placeholders and grids of sweeps. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "tools/sweep_files.h"
#include "tools/sweep_grid.h"
#include "tools/sweep_result.h"
#include "tools/sweep_words.h"

/* The words of a line, with '|' between them. */
static void check_split(const char *line, const char *expected)
{
	struct sweep_words words = { 0 };
	struct fit_str all = { 0 };
	struct fit_err err;

	check_ok(sweep_words_split(&words, fit_text_of(line), &err), &err);
	assert_int_equal(fit_str_add(&all, "", 0), FIT_OK);
	for (size_t i = 0; i < words.n; i++)
		assert_int_equal(fit_str_printf(&all, "%s%s", i ? "|" : "", words.w[i]), FIT_OK);
	check_text(all.s, expected);
	if (words.n)
		assert_null(words.w[words.n]);
	fit_str_release(&all);
	sweep_words_release(&words);
}

static void words_are_cut(void **state)
{
	struct sweep_words words = { 0 };
	struct fit_err err;

	(void)state;
	check_split("", "");
	check_split(" \t\n", "");
	check_split("a", "a");
	check_split("  gf-synth jobs\t--seed 3 ", "gf-synth|jobs|--seed|3");
	check_split("'a b' \"c d\"e 'f'", "a b|c de|f");
	check_split("'' \"\" x", "||x");
	check_split("a\\ b \\'c \"d\\\"e\" 'f\\g'", "a b|'c|d\"e|f\\g");
	check_split("'it'\\''s'", "it's");
	check_split("a\\", "a\\");
	check_err(sweep_words_split(&words, FIT_TEXT_LIT("a 'b"), &err), &err, FIT_EINVAL,
		  "'a 'b': a quote without its end");
	sweep_words_release(&words);
	check_err(sweep_words_split(&words, FIT_TEXT_LIT("\"b"), &err), &err, FIT_EINVAL,
		  "'\"b': a quote without its end");
	sweep_words_release(&words);
}

static void words_come_back(void **state)
{
	static const char *const cases[] = { "a", "", "a b", "it's", "\"", "\\", "$HOME", "x=1,2:3/4@5%6+7", "{a}", "*",
					     "\t\n", "gpus<=2", "ü" };
	size_t n = sizeof cases / sizeof *cases;
	struct sweep_words words = { 0 }, again = { 0 };
	struct fit_str line = { 0 };
	struct fit_err err;

	(void)state;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(sweep_words_add(&words, fit_text_of(cases[i])), FIT_OK);
	assert_int_equal(sweep_words_join(&line, &words), FIT_OK);
	check_ok(sweep_words_split(&again, (struct fit_text){ line.s, line.n }, &err), &err);
	assert_int_equal(again.n, n);
	for (size_t i = 0; i < n; i++)
		check_text(again.w[i], cases[i]);
	assert_non_null(strstr(line.s, " x=1,2:3/4@5%6+7 '{a}' "));
	fit_str_release(&line);
	sweep_words_release(&words);
	sweep_words_release(&again);
}

static int look_up(void *arg, struct fit_text name, struct fit_text *value, struct fit_err *err)
{
	(void)arg;
	(void)err;
	if (!fit_text_is(name, "seed") && !fit_text_is(name, "a-b_1.h5"))
		return FIT_ENOTFOUND;
	*value = fit_text_of(fit_text_is(name, "seed") ? "7" : "{seed}");
	return FIT_OK;
}

static void check_fill(const char *word, const char *expected)
{
	struct fit_str out = { 0 };
	struct fit_err err;

	check_ok(sweep_fill(&out, fit_text_of(word), look_up, NULL, &err), &err);
	check_text(out.s, expected);
	fit_str_release(&out);
}

static void placeholders_are_filled(void **state)
{
	struct fit_str out = { 0 };
	struct fit_err err;

	(void)state;
	check_fill("", "");
	check_fill("x", "x");
	check_fill("{seed}", "7");
	check_fill("--seed={seed}{seed}.tsv", "--seed=77.tsv");
	check_fill("{a-b_1.h5}:/x", "{seed}:/x");	/* values are not filled again */
	check_fill("{{seed}", "{seed}");
	check_fill("{", "{");
	check_fill("{}", "{}");
	check_fill("{Seed}", "{Seed}");
	check_fill("{ seed}", "{ seed}");
	check_fill("a{{{seed}", "a{7");
	check_err(sweep_fill(&out, FIT_TEXT_LIT("x{sed}"), look_up, NULL, &err), &err, FIT_EINVAL,
		  "unknown placeholder '{sed}' in 'x{sed}' (expected an axis, or what is prepared)");
	fit_str_release(&out);
	assert_true(sweep_has(FIT_TEXT_LIT("--x={seed}"), "seed"));
	assert_true(sweep_has(FIT_TEXT_LIT("{{{seed}"), "seed"));
	assert_false(sweep_has(FIT_TEXT_LIT("{{seed}"), "seed"));
	assert_false(sweep_has(FIT_TEXT_LIT("{seeds}{see"), "seed"));
	assert_false(sweep_has(FIT_TEXT_LIT(""), "seed"));
}

static void check_axis(const char *text, const char *expected)
{
	struct sweep_grid g = { 0 };
	struct fit_str all = { 0 };
	struct fit_err err;

	check_ok(sweep_grid_axis(&g, text, &err), &err);
	assert_int_equal(fit_str_puts(&all, g.axes[0].name), FIT_OK);
	for (size_t i = 0; i < g.axes[0].n; i++)
		assert_int_equal(fit_str_printf(&all, "|%s", g.axes[0].values[i] ? g.axes[0].values[i] : "(none)"), FIT_OK);
	check_text(all.s, expected);
	fit_str_release(&all);
	sweep_grid_release(&g);
}

static void check_no_axis(const char *text, const char *message)
{
	struct sweep_grid g = { 0 };
	struct fit_err err;

	check_err(sweep_grid_axis(&g, text, &err), &err, FIT_EINVAL, message);
	sweep_grid_release(&g);
}

static void axes_are_read(void **state)
{
	(void)state;
	check_axis("policy=fifo,srtf", "policy|fifo|srtf");
	check_axis("no_packing=on,off", "no-packing|on|(none)");
	check_axis("seed=1:4", "seed|1|2|3|4");
	check_axis("seed=3:3", "seed|3");
	check_axis("load=0.5:2:0.5,3", "load|0.5|1|1.5|2|3");
	check_axis("load=0:1:0.4", "load|0|0.4|0.8");		/* TO need not be met */
	check_axis("x=2:0:-1", "x|2|1|0");
	check_axis("x=-0.2:0.2:0.2", "x|-0.2|0|0.2");
	check_axis("x=0:0.000000002:0.000000001", "x|0|0.000000001|0.000000002");
	check_axis("cluster=a:2x4\\,b:1x4,NA", "cluster|a:2x4,b:1x4|(none)");
	check_axis("x=1x4:2:3:4,a:b", "x|1x4:2:3:4|a:b");	/* no ranges */
	check_no_axis("x=1:2:3:4",
		      "axis 'x': bad range '1:2:3:4' (expected FROM:TO or FROM:TO:STEP with at most 1000000 values)");
	check_axis("x=a=b", "x|a=b");
	check_axis("x=9223372036:-9223372036:-9223372036", "x|9223372036|0|-9223372036");
	check_no_axis("x", "bad axis 'x' (expected NAME=VALUE,VALUE…)");
	check_no_axis("=1", "bad axis '' (expected a name that starts with a-z)");
	check_no_axis("X=1", "bad axis 'X' (expected a name that starts with a-z)");
	check_no_axis("a b=1", "bad axis 'a b' (expected a-z, 0-9 and -)");
	check_no_axis("x=", "axis 'x': an empty value (expected NA where the option is not given)");
	check_no_axis("x=1,,2", "axis 'x': an empty value (expected NA where the option is not given)");
	check_no_axis("x=1:5:0", "axis 'x': bad range '1:5:0' (expected FROM:TO or FROM:TO:STEP with at most "
		      "1000000 values)");
	check_no_axis("x=1:1000001", "axis 'x': bad range '1:1000001' (expected FROM:TO or FROM:TO:STEP with at most "
		      "1000000 values)");
	check_no_axis("x=-9223372036:9223372036:0.000000001", "axis 'x': bad range '-9223372036:9223372036:0.000000001' "
		      "(expected FROM:TO or FROM:TO:STEP with at most 1000000 values)");
	check_no_axis("x=5:1", "axis 'x': bad range '5:1' (expected FROM:TO or FROM:TO:STEP with at most "
		      "1000000 values)");
	check_no_axis("x=NA,off", "axis 'x': value 'NA' is given twice");
	check_no_axis("result=1", "axis 'result': a plan has a column of that name");
}

static void grids_are_crossed(void **state)
{
	static const char bytes[] = "a\tb\nx\t1\ny\tNA\nz\t3\n";
	struct sweep_grid g = { 0 };
	struct fit_err err;
	size_t rows;
	FILE *f = tmpfile();
	char name[40];

	(void)state;
	check_err(sweep_grid_size(&g, &rows, &err), &err, FIT_EINVAL, "no axes (expected --axis or --grid)");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, sizeof bytes - 1, f), sizeof bytes - 1);
	assert_int_equal(fflush(f), 0);
	snprintf(name, sizeof name, "/dev/fd/%d", fileno(f));
	check_ok(sweep_grid_table(&g, name, &err), &err);
	check_ok(sweep_grid_axis(&g, "c=5,6", &err), &err);
	check_ok(sweep_grid_axis(&g, "d=7:9", &err), &err);
	check_ok(sweep_grid_size(&g, &rows, &err), &err);
	assert_int_equal(rows, 3 * 2 * 3);
	for (size_t i = 0; i < rows; i++) {
		static const char *const b[] = { "1", NULL, "3" };

		check_text(sweep_grid_value(&g, 0, i), ((const char *[]){ "x", "y", "z" })[i / 6]);
		if (b[i / 6])
			check_text(sweep_grid_value(&g, 1, i), b[i / 6]);
		else
			assert_null(sweep_grid_value(&g, 1, i));
		check_text(sweep_grid_value(&g, 2, i), i / 3 % 2 ? "6" : "5");
		check_text(sweep_grid_value(&g, 3, i), ((const char *[]){ "7", "8", "9" })[i % 3]);
	}
	check_err(sweep_grid_axis(&g, "b=1", &err), &err, FIT_EINVAL, "axis 'b' is given twice");
	sweep_grid_release(&g);
	fclose(f);
}

static void grids_have_an_end(void **state)
{
	struct sweep_grid g = { 0 };
	struct fit_err err;
	size_t rows;

	(void)state;
	check_ok(sweep_grid_axis(&g, "a=1:1000", &err), &err);
	check_ok(sweep_grid_axis(&g, "b=1:1000", &err), &err);
	check_ok(sweep_grid_size(&g, &rows, &err), &err);
	assert_int_equal(rows, SWEEP_ROWS_MAX);
	check_text(sweep_grid_value(&g, 0, rows - 1), "1000");
	check_ok(sweep_grid_axis(&g, "c=1,2", &err), &err);
	check_err(sweep_grid_size(&g, &rows, &err), &err, FIT_EINVAL, "more than 1000000 combinations of the axes");
	sweep_grid_release(&g);
}

static void rows_are_chosen(void **state)
{
	bool chosen[5];
	struct fit_err err;

	(void)state;
	check_ok(sweep_rows_choose(NULL, 5, chosen, &err), &err);
	assert_true(chosen[0] && chosen[4]);
	check_ok(sweep_rows_choose("2", 5, chosen, &err), &err);
	assert_true(!chosen[0] && chosen[1] && !chosen[2] && !chosen[3] && !chosen[4]);
	check_ok(sweep_rows_choose("4:,:1", 5, chosen, &err), &err);
	assert_true(chosen[0] && !chosen[1] && !chosen[2] && chosen[3] && chosen[4]);
	check_err(sweep_rows_choose("2:6", 5, chosen, &err), &err, FIT_EINVAL,
		  "bad rows '2:6' (expected numbers from 1 to 5, or A:B)");
	check_err(sweep_rows_choose("1,", 5, chosen, &err), &err, FIT_EINVAL,
		  "bad rows '' (expected numbers from 1 to 5, or A:B)");
}

static void files_are_found(void **state)
{
	char *name;
	size_t at;

	(void)state;
	assert_int_equal(sweep_word_file("Makefile", &name, &at), FIT_OK);
	check_text(name, "Makefile");
	assert_int_equal(at, 0);
	free(name);
	assert_int_equal(sweep_word_file("--profile=aws=Makefile", &name, &at), FIT_OK);
	check_text(name, "Makefile");
	assert_int_equal(at, 14);
	free(name);
	assert_int_equal(sweep_word_file("tests", &name, &at), FIT_OK);	/* a folder */
	assert_null(name);
	assert_int_equal(sweep_word_file("--policy=fifo", &name, &at), FIT_OK);
	assert_null(name);
	assert_int_equal(sweep_word_file("no-such-store.h5:/x", &name, &at), FIT_OK);
	assert_null(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_cut), cmocka_unit_test(words_come_back),
		cmocka_unit_test(placeholders_are_filled), cmocka_unit_test(axes_are_read),
		cmocka_unit_test(grids_are_crossed), cmocka_unit_test(grids_have_an_end),
		cmocka_unit_test(rows_are_chosen), cmocka_unit_test(files_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
