/* SPDX-License-Identifier: MIT */
/* The scanner that cuts a JSON array into its elements. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "traces/json_scan.h"

/* Everything that comes out of a text, as "element;" or "key=value;", and then how it ends. */
static void scan(const char *bytes, size_t n, const struct fit_json_options *o, struct fit_str *out)
{
	struct fit_source *s = NULL;
	struct fit_json_scan *j = NULL;
	struct fit_text t, key = { 0 };
	struct fit_err err = { 0 };
	int rc = fit_source_open_memory(&s, "in", bytes, n, &err);

	fit_str_clear(out);
	rc = rc ? rc : fit_json_scan_open(&j, s, o, &err);
	while (!rc && !(rc = fit_json_scan_next(j, &t, &key, &err))) {
		if (key.s)
			check_ok(fit_str_printf(out, "%.*s=", FIT_TEXT_ARG(key)), &err);
		check_ok(fit_str_printf(out, "%.*s;", FIT_TEXT_ARG(t)), &err);
	}
	if (rc == FIT_END)
		check_ok(fit_str_puts(out, fit_json_cut(j) ? "cut" : "end"), &err);
	else
		check_ok(fit_str_puts(out, err.msg), &err);
	/* and the same once more: an end stays, a fault is final */
	assert_int_equal(fit_json_scan_next(j, &t, &key, &err), rc == FIT_END ? FIT_END : FIT_EPARSE);
	fit_json_scan_close(j);
	fit_source_close(s);
}

static void check_scan(const char *text, const struct fit_json_options *o, const char *expected)
{
	struct fit_str out = { 0 };

	scan(text, strlen(text), o, &out);
	check_text(out.s, expected);
	fit_str_release(&out);
}

static void arrays(void **state)
{
	(void)state;
	check_scan("[]", NULL, "end");
	check_scan(" [ ] \n", NULL, "end");
	check_scan("\xef\xbb\xbf[1]", NULL, "1;end");
	check_scan("[1, -2.5e3,true ,null,\"a\"]", NULL, "1;-2.5e3;true;null;\"a\";end");
	check_scan("[{\"a\":[1,{\"b\":2}]},[3],{}]", NULL, "{\"a\":[1,{\"b\":2}]};[3];{};end");
	/* brackets, quotes and commas inside of strings */
	check_scan("[\"]\",{\"}\":\"\\\"],\"},\"\\\\\"]", NULL, "\"]\";{\"}\":\"\\\"],\"};\"\\\\\";end");
	/* arrays one behind the other, and JSON lines */
	check_scan("[1]\n[2,3]\n", NULL, "1;2;3;end");
	check_scan("{\"a\":1}\n{\"a\":2}\n", NULL, "{\"a\":1};{\"a\":2};end");
}

static void faults(void **state)
{
	(void)state;
	check_scan("", NULL, "in: empty file (expected a JSON array)");
	check_scan(" \n ", NULL, "in: empty file (expected a JSON array)");
	check_scan("[1,]", NULL, "1;in:1: ']' at byte 3 (expected an element)");
	check_scan("[,1]", NULL, "in:1: ',' at byte 1 (expected an element or ']')");
	check_scan("[1 2]", NULL, "1;in:1: '2' at byte 3 (expected ',' or ']')");
	check_scan("[1]x", NULL, "1;in:1: 'x' at byte 3 (expected '[')");
	check_scan("7", NULL, "in:1: '7' at byte 0 (expected '[')");
	check_scan("[\n1,\n{\"a\":[}]", NULL, "1;in:3: '}' at byte 11 (expected ']')");
	check_scan("[\n1,\n{\"a\":(]", NULL, "1;in:3: ']' at byte 11 (expected '}')");
	check_scan("[1", NULL, "1;in:1: cut short at byte 2 (expected ',' or ']')");
	check_scan("[\n{\"a\":\n\"b", NULL, "in:3: cut short at byte 10 (expected the end of the element "
		   "that starts on line 2 at byte 2)");
	check_scan("[\"a\\\"", NULL, "in:1: cut short at byte 5 (expected the end of the element that starts "
		   "on line 1 at byte 1)");
	check_scan("version https://git-lfs.github.com/spec/v1\n", NULL, "in:1: Git LFS pointer, not the data "
		   "(expected the file that 'git lfs pull' fetches)");
	check_scan("[\x01]", NULL, "\x01;end");	/* jansson refuses that one */
}

static void members(void **state)
{
	static const struct fit_json_options o = { .member = "events" }, soft = {
		.member = "events", .forgiving = true
	};

	(void)state;
	check_scan("{\"a\":1,\"events\":[{\"x\":1},{\"x\":2}],\"b\":\"c\"}", &o,
		   "a=1;{\"x\":1};{\"x\":2};b=\"c\";end");
	check_scan("{\"events\":[]}", &o, "end");
	check_scan("[1,2]", &o, "1;2;end");
	check_scan("{\"a\":1}", &o, "a=1;in:1: no member 'events' (expected an array of that name)");
	check_scan("{\"events\":{}}", &o, "in:1: '{' at byte 10 (expected '[')");
	check_scan("{\"events\":[1]} {}", &o, "1;in:1: '{' at byte 15 (expected nothing more)");
	check_scan("{\"events\":[1,]}", &o, "1;in:1: ']' at byte 13 (expected an element)");
	check_scan("{\"events\":[1,]}", &soft, "1;end");
	check_scan("{\"events\":[1,2,", &soft, "1;2;cut");
	check_scan("{\"events\":[1,2]", &soft, "1;2;cut");
	check_scan("{\"events\":[{\"a\":1},{\"b\":", &soft, "{\"a\":1};cut");
	check_scan("{\"events\":[{\"a\":1}},3]}", &soft, "{\"a\":1};in:1: '}' at byte 18 (expected ',' or ']')");
}

static void passed_over_without_key(void **state)
{
	static const struct fit_json_options o = { .member = "e" };
	static const char text[] = "{\"a\":1,\"e\":[5],\"b\":2}";
	struct fit_source *s = NULL;
	struct fit_json_scan *j = NULL;
	struct fit_err err = { 0 };
	struct fit_text t;

	(void)state;
	check_ok(fit_source_open_memory(&s, "in", text, sizeof text - 1, &err), &err);
	check_ok(fit_json_scan_open(&j, s, &o, &err), &err);
	check_ok(fit_json_scan_next(j, &t, NULL, &err), &err);
	check_span(t, "5");
	assert_int_equal(fit_json_elements(j), 1);
	assert_int_equal(fit_json_scan_next(j, &t, NULL, &err), FIT_END);
	fit_json_scan_close(j);
	fit_source_close(s);
}

/* A string of braces, an array of arrays and a comma list, each just within its limit and just beyond. */
static void limits(void **state)
{
	struct fit_str text = { 0 }, out = { 0 };
	struct fit_err err = { 0 };

	(void)state;
	for (int depth = FIT_JSON_DEPTH; depth <= FIT_JSON_DEPTH + 1; depth++) {
		fit_str_clear(&text);
		check_ok(fit_str_puts(&text, "["), &err);
		for (int i = 0; i < depth; i++)
			check_ok(fit_str_puts(&text, "["), &err);
		for (int i = 0; i < depth; i++)
			check_ok(fit_str_puts(&text, "]"), &err);
		check_ok(fit_str_puts(&text, "]"), &err);
		scan(text.s, text.n, NULL, &out);
		assert_int_equal(strstr(out.s, "too deep at byte 65 (expected at most 64 levels)") != NULL,
				 depth > FIT_JSON_DEPTH);
	}
	for (size_t n = FIT_JSON_BYTES; n <= FIT_JSON_BYTES + 1; n++) {
		fit_str_clear(&text);
		check_ok(fit_str_puts(&text, "[\""), &err);
		for (size_t i = 0; i < n - 2; i++)
			check_ok(fit_str_add(&text, "{", 1), &err);
		check_ok(fit_str_puts(&text, "\"]"), &err);
		scan(text.s, text.n, NULL, &out);
		assert_int_equal(strstr(out.s, "too long an element") != NULL, n > FIT_JSON_BYTES);
	}
	for (size_t n = FIT_JSON_VALUES - 1; n <= FIT_JSON_VALUES; n++) {
		fit_str_clear(&text);
		check_ok(fit_str_puts(&text, "[[1"), &err);
		for (size_t i = 0; i < n; i++)
			check_ok(fit_str_puts(&text, ",1"), &err);
		check_ok(fit_str_puts(&text, "]]"), &err);
		scan(text.s, text.n, NULL, &out);
		assert_int_equal(strstr(out.s, "too many values") != NULL, n == FIT_JSON_VALUES);
	}
	fit_str_release(&text);
	fit_str_release(&out);
}

/* Every way to cut a text in two windows gives the same elements: padding moves the borders. */
static void windows(void **state)
{
	static const char tail[] = "{\"a\":\"\\\\\\\"]\",\"b\":[1,2]},\n[\"x,y\"],123456]";
	struct fit_str text = { 0 }, out = { 0 };
	struct fit_err err = { 0 };

	(void)state;
	for (size_t shift = 0; shift <= sizeof tail; shift++) {
		fit_str_clear(&text);
		check_ok(fit_str_puts(&text, "["), &err);
		while (text.n < 65536 - shift)
			check_ok(fit_str_puts(&text, " "), &err);
		check_ok(fit_str_puts(&text, tail), &err);
		scan(text.s, text.n, NULL, &out);
		check_text(out.s, "{\"a\":\"\\\\\\\"]\",\"b\":[1,2]};[\"x,y\"];123456;end");
	}
	fit_str_release(&text);
	fit_str_release(&out);
}

static void values(void **state)
{
	static const char text[] = "[{\"a\":1},\n{\"a\":1,\n\"a\":2},{\"b\":nul},[3]]";
	struct fit_source *s = NULL;
	struct fit_json_scan *j = NULL;
	struct fit_err err = { 0 };
	json_t *v = NULL;

	(void)state;
	check_ok(fit_source_open_memory(&s, "in", text, sizeof text - 1, &err), &err);
	check_ok(fit_json_scan_open(&j, s, NULL, &err), &err);
	check_ok(fit_json_scan_value(j, &v, NULL, &err), &err);
	assert_int_equal(json_integer_value(json_object_get(v, "a")), 1);
	json_decref(v);
	/* a name twice */
	assert_int_equal(fit_json_scan_value(j, &v, NULL, &err), FIT_EPARSE);
	assert_null(v);
	assert_true(fit_json_bad_element(j));
	assert_memory_equal(err.msg, "in:3: ", 6);
	assert_int_equal(fit_json_line(j), 2);
	assert_int_equal(fit_json_byte(j), 10);
	/* a word that is none */
	assert_int_equal(fit_json_scan_value(j, &v, NULL, &err), FIT_EPARSE);
	assert_true(fit_json_bad_element(j));
	/* and on */
	check_ok(fit_json_scan_value(j, &v, NULL, &err), &err);
	assert_int_equal(json_array_size(v), 1);
	json_decref(v);
	assert_int_equal(fit_json_elements(j), 4);
	assert_int_equal(fit_json_fail(j, FIT_EDATA, "name", &err, "bad %d", 7), FIT_EDATA);
	check_text(err.msg, "in:3:name: bad 7");
	fit_json_scan_close(j);
	fit_source_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays), cmocka_unit_test(faults), cmocka_unit_test(members),
		cmocka_unit_test(passed_over_without_key), cmocka_unit_test(limits),
		cmocka_unit_test(windows), cmocka_unit_test(values)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
