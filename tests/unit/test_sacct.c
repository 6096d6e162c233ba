/* SPDX-License-Identifier: MIT */
/* The values of sacct: spans of time, states, ids, TRES lists. */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "libfit/base/num.h"
#include "traces/sacct_values.h"
#include "traces/swf.h"
#include "traces/texts.h"

#define S FIT_NS_PER_S

static void spans(void **state)
{
	/* Slurm's own grammar, as sbatch(1) gives it for --time */
	static const struct { const char *text; int64_t ns; } good[] = {
		{ "0", 0 }, { "30", 1800 * S }, { "30:00", 1800 * S }, { "0:59", 59 * S },
		{ "90:00", 5400 * S }, { "04:05:06", 14706 * S }, { "100:00:00", 360000 * S },
		{ "2-12", 216000 * S }, { "2-12:30", 217800 * S }, { "1-02:03:04", 93784 * S },
		{ "0-00:00:00", 0 }, { "00:00.001", 1000000 }, { "35:45.828", 2145 * S + 828000000 },
		{ "1-00:00:00.123456789", 86400 * S + 123456789 }, { "9999-23:59:59", 863999999 * S }
	};
	static const char *const bad[] = {
		"1:2:3:4", "-00:05:00", "12h", ":", "1:", ":1", "1-", "-1", "1--2", "1-2-3", "1:60",
		"1:60:00", "1:00:60", "1-24", "1-00:60", "1.5", "1-12.5", "1-12:30.5", "00:30.", "00:30.1x",
		"00:30.1234567891", " 1", "1 ", "+1", "1-2:3:4:5", "UNLIMITED1", "inf", "nan"
	};
	static const char *const missing[] = {
		"", "Partition_Limit", "INVALID", "None", "Unknown", "N/A", "PARTITION_LIMIT"
	};
	enum fit_slurm_span kind;
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(fit_slurm_span(fit_text_of(good[i].text), true, &kind, &ns), FIT_OK);
		assert_int_equal(kind, FIT_SPAN_VALUE);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		ns = 77;
		if (fit_slurm_span(fit_text_of(bad[i]), true, &kind, &ns) != FIT_EPARSE || ns != 77)
			fail_msg("'%s' is taken", bad[i]);
	}
	for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
		assert_int_equal(fit_slurm_span(fit_text_of(missing[i]), true, &kind, &ns), FIT_OK);
		assert_int_equal(kind, FIT_SPAN_MISSING);
	}
	assert_int_equal(fit_slurm_span(FIT_TEXT_LIT("UNLIMITED"), true, &kind, &ns), FIT_OK);
	assert_int_equal(kind, FIT_SPAN_UNLIMITED);
	assert_int_equal(fit_slurm_span(FIT_TEXT_LIT("30"), false, &kind, &ns), FIT_EPARSE);
	assert_int_equal(fit_slurm_span(FIT_TEXT_LIT("2-12"), false, &kind, &ns), FIT_OK);
	assert_int_equal(fit_slurm_span(FIT_TEXT_LIT("9999999-00"), true, &kind, &ns), FIT_EINVAL);
	assert_int_equal(fit_slurm_span(FIT_TEXT_LIT("99999999999"), true, &kind, &ns), FIT_EINVAL);
}

static void raw_spans(void **state)
{
	enum fit_slurm_span kind;
	int64_t ns = 77;

	(void)state;
	assert_int_equal(fit_slurm_raw(FIT_TEXT_LIT("1440"), 60, &kind, &ns), FIT_OK);
	assert_int_equal(kind, FIT_SPAN_VALUE);
	assert_int_equal(ns, 86400 * S);
	assert_int_equal(fit_slurm_raw(FIT_TEXT_LIT("4294967295"), 60, &kind, &ns), FIT_OK);
	assert_int_equal(kind, FIT_SPAN_UNLIMITED);
	assert_int_equal(fit_slurm_raw(FIT_TEXT_LIT("18446744073709551614"), 1, &kind, &ns), FIT_OK);
	assert_int_equal(kind, FIT_SPAN_MISSING);
	assert_int_equal(fit_slurm_raw(FIT_TEXT_LIT("Partition_Limit"), 60, &kind, &ns), FIT_OK);
	assert_int_equal(kind, FIT_SPAN_MISSING);
	assert_int_equal(fit_slurm_raw(FIT_TEXT_LIT("-1"), 1, &kind, &ns), FIT_EPARSE);
	assert_int_equal(fit_slurm_raw(FIT_TEXT_LIT("01:00:00"), 1, &kind, &ns), FIT_EPARSE);
	assert_int_equal(fit_slurm_raw(FIT_TEXT_LIT("9999999999"), 1, &kind, &ns), FIT_EINVAL);
	assert_int_equal(ns, 86400 * S);
}

static void states(void **state)
{
	(void)state;
	check_text(fit_slurm_state_find(FIT_TEXT_LIT("CANCELLED by 1042"))->status, "CANCELLED");
	check_text(fit_slurm_state_find(FIT_TEXT_LIT("oUt_oF_mEmOrY"))->status, "FAILED");
	assert_true(fit_slurm_state_find(FIT_TEXT_LIT("PREEMPTED"))->says_more);
	check_text(fit_slurm_state_find(FIT_TEXT_LIT("NODE_FAI+"))->status, "NODE_FAIL");
	check_text(fit_slurm_state_find(FIT_TEXT_LIT("REQUEUE+"))->status, "PENDING");
	assert_null(fit_slurm_state_find(FIT_TEXT_LIT("COMPLET+")));	/* -ED or -ING */
	assert_null(fit_slurm_state_find(FIT_TEXT_LIT("+")));
	assert_null(fit_slurm_state_find(FIT_TEXT_LIT("COMPLETEDBY")));
	assert_null(fit_slurm_state_find(FIT_TEXT_LIT("")));
	assert_null(fit_slurm_state_find(FIT_TEXT_LIT(" COMPLETED")));
}

static void ids(void **state)
{
	static const struct { const char *text; enum fit_slurm_id kind; uint64_t tasks; } good[] = {
		{ "123", FIT_ID_JOB, 0 }, { "123_4", FIT_ID_JOB, 0 }, { "123+1", FIT_ID_COMPONENT, 0 },
		{ "123_[5-9%2]", FIT_ID_ARRAY, 5 }, { "123_[1,3,7-11:2]", FIT_ID_ARRAY, 5 },
		{ "123_[0-3,...]", FIT_ID_ARRAY, 4 }, { "123_[...%3]", FIT_ID_ARRAY, 0 },
		{ "123.0", FIT_ID_STEP, 0 }, { "123_4.batch", FIT_ID_STEP, 0 },
		{ "123+1.extern", FIT_ID_STEP, 0 }, { "123.0+1", FIT_ID_STEP, 0 }
	};
	static const char *const bad[] = {
		"", "a", "123a", "123_", "123_[", "123_[]", "123_[3-1]", "123_[1-3:0]", "123_[1%]", "123_[1;2]",
		"123_[1,]", "123+", "123.", "123 ", "123|4", "123_4_5", "123456789012345678901"
	};
	enum fit_slurm_id kind;
	uint64_t tasks;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(fit_slurm_id(fit_text_of(good[i].text), &kind, &tasks), FIT_OK);
		assert_int_equal(kind, good[i].kind);
		assert_int_equal(tasks, good[i].tasks);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (fit_slurm_id(fit_text_of(bad[i]), &kind, NULL) == FIT_OK)
			fail_msg("'%s' is taken", bad[i]);
}

static void resources(void **state)
{
	struct fit_slurm_tres r;
	struct fit_str types = { 0 }, set = { 0 };
	struct fit_text bad;

	(void)state;
	assert_int_equal(fit_slurm_tres(FIT_TEXT_LIT("billing=9,cpu=64,gres/gpu:a100=2,gres/gpu:v100=1,"
						     "gres/gpu=4,mem=1.5G,node=3"), &r, &types, &bad), FIT_OK);
	check_real(r.gpus, 4, 0, 0);
	check_real(r.typed, 3, 0, 0);
	check_real(r.mem_mib, 1536, 0, 0);
	assert_true(r.has_total);
	assert_int_equal(r.cpus, 64);
	assert_int_equal(r.nodes, 3);
	check_text(types.s, "a100:2 v100:1");
	assert_int_equal(fit_slurm_type_set((struct fit_text){ types.s, types.n }, &set), FIT_OK);
	check_text(set.s, "a100|v100");
	assert_int_equal(fit_slurm_tres(FIT_TEXT_LIT("mem=512K"), &r, &types, &bad), FIT_OK);
	check_real(r.mem_mib, 0.5, 0, 0);
	check_real(r.gpus, 0, 0, 0);
	assert_int_equal(r.cpus, -1);
	assert_int_equal(types.n, 0);
	assert_int_equal(fit_slurm_tres(FIT_TEXT_LIT("cpu=1,gres/gpu=x,node=1"), &r, &types, &bad),
			 FIT_EPARSE);
	check_span(bad, "gres/gpu=x");
	assert_int_equal(r.cpus, -1);		/* as it was */
	assert_int_equal(fit_slurm_tres(FIT_TEXT_LIT("cpu=1000000001"), &r, &types, &bad), FIT_EINVAL);
	assert_int_equal(fit_slurm_gres(FIT_TEXT_LIT("craynetwork:1,gpu:a100:2(IDX:0,2),gpu:v100:1"), &r,
					&types, &bad), FIT_OK);
	check_real(r.gpus, 3, 0, 0);
	check_text(types.s, "a100:2 v100:1");
	assert_int_equal(fit_slurm_gres(FIT_TEXT_LIT("gpu:a100"), &r, &types, &bad), FIT_OK);
	check_real(r.gpus, 1, 0, 0);
	assert_int_equal(fit_slurm_gres(FIT_TEXT_LIT("gpu:2(S:0-1"), &r, &types, &bad), FIT_EPARSE);
	assert_int_equal(fit_slurm_gres(FIT_TEXT_LIT("gpu:"), &r, &types, &bad), FIT_EPARSE);
	assert_int_equal(fit_slurm_gres(FIT_TEXT_LIT("gpu:2,gpu:2"), &r, &types, &bad), FIT_EPARSE);
	fit_str_release(&types);
	fit_str_release(&set);
}

static void texts_by_number(void **state)
{
	struct fit_texts t = { 0 };
	uint32_t n;
	bool fresh;
	char buf[FIT_NUM_MAX];

	(void)state;
	assert_int_equal(fit_texts_put(&t, FIT_TEXT_LIT(""), &n, &fresh), FIT_OK);
	assert_int_equal(n, FIT_NO_TEXT);
	for (int64_t pass = 0; pass < 2; pass++)
		for (int64_t i = 0; i < 5000; i++) {
			struct fit_text k = { buf, fit_format_int64(buf, i * 7919) };

			assert_int_equal(fit_texts_put(&t, k, &n, &fresh), FIT_OK);
			assert_int_equal(n, i);
			assert_int_equal(fresh, pass == 0);
			check_span(fit_texts_get(&t, n), buf);
		}
	assert_null(fit_texts_get(&t, FIT_NO_TEXT).s);
	fit_texts_release(&t);
}

static void labels_escape(void **state)
{
	struct fit_str out = { 0 }, back = { 0 };

	(void)state;
	assert_int_equal(fit_swf_escape(&out, FIT_TEXT_LIT("a\\n\nb\rc d")), FIT_OK);
	check_text(out.s, "a\\\\n\\nb\\rc d");
	assert_int_equal(fit_swf_unescape(&back, (struct fit_text){ out.s, out.n }), FIT_OK);
	check_text(back.s, "a\\n\nb\rc d");
	fit_str_clear(&back);
	assert_int_equal(fit_swf_unescape(&back, FIT_TEXT_LIT("end\\")), FIT_OK);
	check_text(back.s, "end\\");
	fit_str_release(&out);
	fit_str_release(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans), cmocka_unit_test(raw_spans), cmocka_unit_test(states),
		cmocka_unit_test(ids), cmocka_unit_test(resources), cmocka_unit_test(texts_by_number),
		cmocka_unit_test(labels_escape)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
