/* SPDX-License-Identifier: MIT */
/* libfit/plot: figures as data, quoting, scripts, and gnuplot's messages. */
#include "tests/unit/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libfit/plot/figure.h"
#include "libfit/plot/frame.h"
#include "libfit/plot/gnuplot.h"
#include "libfit/plot/plot.h"
#include "libfit/plot/script.h"
#include "libfit/table/table.h"

static void has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("no '%s' in:\n%s", what, text);
}

static void hasnt(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("'%s' in:\n%s", what, text);
}

/* ---- texts ---- */

static void quoting(void **state)
{
	static const struct { const char *text, *quoted; } cases[] = {
		{ "", "''" },
		{ "res_net_50", "'res_net_50'" },
		{ "it's", "'it''s'" },
		{ "''", "''''''" },
		{ "`touch x` $(y) \"z\" @a", "'`touch x` $(y) \"z\" @a'" },
		{ "ends in \\", "'ends in \\'" },
		{ "two\nlines\tand\r\x7f!", "'two lines and  !'" },
		{ "m\xc3\xbcller", "'m\xc3\xbcller'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fit_str s = { 0 };

		assert_int_equal(fit_plot_quote(&s, cases[i].text), FIT_OK);
		check_text(s.s, cases[i].quoted);
		fit_str_release(&s);
	}
}

static void long_texts(void **state)
{
	struct fit_str s = { 0 };
	char *t = NULL;

	(void)state;
	for (int i = 0; i < FIT_PLOT_TEXT_MAX; i++)
		assert_int_equal(fit_str_puts(&s, "\xc3\xbc"), FIT_OK);
	assert_int_equal(fit_plot_text(&t, s.s), FIT_OK);
	check_text(t, s.s);	/* just fits: characters count, not bytes */
	assert_int_equal(fit_str_puts(&s, "x"), FIT_OK);
	assert_int_equal(fit_plot_text(&t, s.s), FIT_OK);
	assert_int_equal(strlen(t), 2 * (FIT_PLOT_TEXT_MAX - 3) + 3);
	check_text(t + strlen(t) - 5, "\xc3\xbc...");
	assert_true(fit_text_is_utf8(fit_text_of(t)));
	assert_int_equal(fit_plot_text(&t, "a\nb\x7f"), FIT_OK);
	check_text(t, "a b ");
	assert_int_equal(fit_plot_text(&t, NULL), FIT_OK);
	assert_null(t);
	fit_str_release(&s);
}

static void formats(void **state)
{
	enum fit_plot_format f = FIT_PLOT_SVG;

	(void)state;
	assert_int_equal(fit_plot_format_of("a/b.PNG", &f), FIT_OK);
	assert_int_equal(f, FIT_PLOT_PNG);
	assert_int_equal(fit_plot_format_of("x.tar.pdf", &f), FIT_OK);
	assert_int_equal(f, FIT_PLOT_PDF);
	assert_int_equal(fit_plot_format_of("a.svg/b", &f), FIT_ENOTFOUND);
	assert_int_equal(fit_plot_format_of("svg", &f), FIT_ENOTFOUND);
	assert_int_equal(fit_plot_format_of("a.svgz", &f), FIT_ENOTFOUND);
}

/* ---- checks ---- */

static void refuse_points(double x, double y, double e, bool log_x, bool log_y, const char *message)
{
	struct fit_plot p;
	struct fit_plot_panel *panel;
	struct fit_plot_series *s;
	struct fit_err err = { 0 };

	fit_plot_init(&p, 300, 200);
	panel = fit_plot_add_panel(&p);
	assert_non_null(panel);
	panel->x.log = log_x;
	panel->y.log = log_y;
	s = fit_panel_add_series(panel, FIT_PLOT_LINES, "line");
	assert_non_null(s);
	assert_int_equal(fit_series_add(s, 1, 2), FIT_OK);
	check_ok(fit_plot_check(&p, &err), &err);
	assert_int_equal(fit_series_add_err(s, x, y, e), FIT_OK);
	check_err(fit_plot_check(&p, &err), &err, FIT_EDATA, message);
	fit_plot_release(&p);
}

static void bad_points(void **state)
{
	struct fit_plot p;
	struct fit_err err = { 0 };

	(void)state;
	refuse_points((double)NAN, 1, 0, false, false, "series 'line', point 2: not a finite number");
	refuse_points(1, HUGE_VAL, 0, false, false, "series 'line', point 2: not a finite number");
	refuse_points(1, 1, fit_real_na(), false, false, "series 'line', point 2: not a finite number");
	refuse_points(0, 1, 0, true, false,
		      "series 'line', point 2: value '0' on a logarithmic axis (expected more than 0)");
	refuse_points(1, -2.5, 0, false, true,
		      "series 'line', point 2: value '-2.5' on a logarithmic axis (expected more than 0)");
	fit_plot_init(&p, 300, 200);
	check_err(fit_plot_check(&p, &err), &err, FIT_EDATA, "nothing to draw");
	assert_non_null(fit_plot_add_panel(&p));
	check_err(fit_plot_check(&p, &err), &err, FIT_EDATA, "nothing to draw");
	fit_plot_release(&p);
}

/* ---- figures ---- */

static void cdf_steps(void **state)
{
	static const double a[] = { 2, 3, 3, 7 }, b[] = { 0, 5 };
	const struct fit_figure_sample samples[] = { { "a", a, 4 }, { "b", b, 2 } };
	static const struct { double x, y; } want[] = { { 0, 0 }, { 2, 0 }, { 2, 0.25 }, { 3, 0.75 }, { 7, 1 } };
	struct fit_plot p;
	struct fit_err err = { 0 };
	const struct fit_plot_series *s;

	(void)state;
	check_ok(fit_figure_cdf(&p, (struct fit_figure_size){ 0, 0 }, "time", samples, 2, false, &err), &err);
	s = &p.panels[0].series[0];
	assert_int_equal(s->n, 5);
	for (size_t i = 0; i < 5; i++) {
		check_same_bits(s->points[i].x, want[i].x);
		check_same_bits(s->points[i].y, want[i].y);
	}
	s = &p.panels[0].series[1];
	assert_int_equal(s->n, 4);	/* 0,0  0,0.5  5,1  and on to the common end 7,1 */
	check_same_bits(s->points[1].x, 0);
	check_same_bits(s->points[1].y, 0.5);
	check_same_bits(s->points[3].x, 7);
	check_text(p.panels[0].x.label, "time (s)");
	fit_plot_release(&p);
	check_err(fit_figure_cdf(&p, (struct fit_figure_size){ 0, 0 }, "time", samples, 2, true, &err), &err,
		  FIT_EDATA, "value '0' on a logarithmic axis (expected more than 0)");
	assert_null(p.panels);
}

/* On a logarithmic axis a distribution starts at the share of its zeros. */
static void distribution_with_zeros(void **state)
{
	static const double a[] = { 0, 0, 2, 8 }, b[] = { 1, 4 }, z[] = { 0, 0 };
	const struct fit_figure_sample samples[] = { { "a", a, 4 }, { "b", b, 2 } }, zeros = { "z", z, 2 };
	static const struct { double x, y; } want[] = { { 1, 0.5 }, { 2, 0.75 }, { 8, 1 } };
	struct fit_figure_size any = { 0, 0 };
	struct fit_plot p;
	struct fit_err err = { 0 };
	const struct fit_plot_series *s;

	(void)state;
	check_ok(fit_figure_distribution(&p, any, "GPUs", false, samples, 2, true, &err), &err);
	s = &p.panels[0].series[0];
	assert_int_equal(s->n, 3);
	for (size_t i = 0; i < 3; i++) {
		check_same_bits(s->points[i].x, want[i].x);
		check_same_bits(s->points[i].y, want[i].y);
	}
	check_same_bits(p.panels[0].series[1].points[0].y, 0);
	assert_int_equal(p.panels[0].x.n_tics, 4);	/* 1 2 4 8 */
	check_text(p.panels[0].x.tics[3], "8");
	check_text(p.panels[0].x.label, "GPUs");
	fit_plot_release(&p);
	check_err(fit_figure_distribution(&p, any, "GPUs", false, &zeros, 1, true, &err), &err, FIT_EDATA,
		  "series 'z': no value above 0 for a logarithmic axis");
	check_ok(fit_figure_distribution(&p, any, "GPUs", false, &zeros, 1, false, &err), &err);
	fit_plot_release(&p);
}

static void a_day(void **state)
{
	struct fit_figure_day day = { .label = "d" };
	struct fit_figure_size any = { 0, 0 };
	struct fit_plot p;
	struct fit_err err = { 0 };

	(void)state;
	for (int h = 0; h < 24; h++)
		day.y[h] = h == 5 ? fit_real_na() : h;
	check_ok(fit_figure_diurnal(&p, any, "jobs", &day, 1, &err), &err);
	assert_int_equal(p.panels[0].series[0].n, 25);	/* 23 hours, and two ends */
	assert_int_equal(p.panels[0].series[0].n_gaps, 1);
	check_same_bits(p.panels[0].series[0].points[5].x, 5);
	check_same_bits(p.panels[0].series[0].points[5].y, 4);
	check_same_bits(p.panels[0].series[0].points[24].x, 24);
	fit_plot_release(&p);
	check_err(fit_figure_diurnal(&p, any, "jobs", &day, 0, &err), &err, FIT_EDATA, "nothing to draw");
}

/* A large sample is thinned, but stays a distribution: rising, from 0 to 1, each point on the curve. */
static void cdf_of_many(void **state)
{
	enum { N = 123457 };
	double *v = malloc(N * sizeof *v);
	const struct fit_figure_sample sample = { "many", v, N };
	struct fit_plot p;
	struct fit_err err = { 0 };
	const struct fit_plot_series *s;

	(void)state;
	assert_non_null(v);
	for (int i = 0; i < N; i++)
		v[i] = 10 + floor(i / 7.0);
	check_ok(fit_figure_cdf(&p, (struct fit_figure_size){ 0, 0 }, "time", &sample, 1, true, &err), &err);
	s = &p.panels[0].series[0];
	assert_in_range(s->n, 3000, FIT_FIGURE_CDF_MAX + 3);
	check_same_bits(s->points[0].y, 0);
	check_same_bits(s->points[s->n - 1].y, 1);
	for (size_t i = 1; i < s->n; i++) {
		size_t upto = (size_t)((s->points[i].x - 9) * 7);	/* values <= x */

		assert_true(s->points[i].x >= s->points[i - 1].x && s->points[i].y > s->points[i - 1].y);
		check_same_bits(s->points[i].y, (double)(upto < N ? upto : N) / N);
	}
	fit_plot_release(&p);
	free(v);
}

static void time_units(void **state)
{
	(void)state;
	check_text(fit_time_unit_for(600).name, "s");
	check_text(fit_time_unit_for(601).name, "min");
	check_text(fit_time_unit_for(78609).name, "h");
	check_text(fit_time_unit_for(20 * 86400).name, "d");
	check_same_bits(fit_time_unit_for(78609).seconds, 3600);
}

/* Thinning a long timeline keeps its peaks and its ends. */
static void timeline_of_many(void **state)
{
	enum { N = 200000 };
	struct fit_figure_moment *m = calloc(N, sizeof *m);
	struct fit_plot p;
	struct fit_err err = { 0 };
	double most = 0;

	(void)state;
	assert_non_null(m);
	for (int i = 0; i < N; i++)
		m[i] = (struct fit_figure_moment){ (int64_t)i * 1000000000, 8, i % 5, i % 3, i == 77777 ? 41 : 1 };
	check_ok(fit_figure_timeline(&p, (struct fit_figure_size){ 0, 0 }, m, N, &err), &err);
	assert_int_equal(p.n_panels, 2);
	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < p.panels[k].n_series; i++) {
			const struct fit_plot_series *s = &p.panels[k].series[i];

			assert_in_range(s->n, 2, 4 * 1501);
			check_same_bits(s->points[0].x, 0);
			check_real(s->points[s->n - 1].x, (N - 1) / 3600.0, 1e-15, 0);
			for (size_t j = 1; j < s->n; j++)
				assert_true(s->points[j].x >= s->points[j - 1].x);
		}
	}
	for (size_t j = 0; j < p.panels[1].series[2].n; j++)
		most = fmax(most, p.panels[1].series[2].points[j].y);
	check_same_bits(most, 41);
	fit_plot_release(&p);
	free(m);
}

static struct fit_figure_rows rows_of(const char *const *x, const double *number, size_t n,
				      const struct fit_figure_column *columns, size_t n_columns)
{
	return (struct fit_figure_rows){ x, number, n, columns, n_columns };
}

static void missing_values(void **state)
{
	static const char *const x[] = { "1", "2", NULL, "4" };
	const double number[] = { 1, 2, fit_real_na(), 4 };
	const double y[] = { 5, fit_real_na(), 6, 7 };
	const struct fit_figure_column c = { "c", y, NULL };
	const struct fit_figure_rows labels = rows_of(x, NULL, 4, &c, 1), numbers = rows_of(x, number, 4, &c, 1);
	struct fit_plot p;
	struct fit_str data = { 0 };
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_figure_lines(&p, (struct fit_figure_size){ 0, 0 }, "x", &numbers, false, false, &err), &err);
	assert_int_equal(fit_plot_data(&data, &p), FIT_OK);
	check_text(data.s, "# 0\n1\t5\n\n4\t7\n");
	fit_plot_release(&p);
	fit_str_clear(&data);
	check_ok(fit_figure_bars(&p, (struct fit_figure_size){ 0, 0 }, "x", &labels, false, &err), &err);
	assert_int_equal(fit_plot_data(&data, &p), FIT_OK);
	check_text(data.s, "# 0\n0\t5\n\n2\t6\n3\t7\n");
	check_text(p.panels[0].x.tics[2], "NA");
	fit_plot_release(&p);
	fit_str_release(&data);
}

/* ---- frames ---- */

static struct fit_cell text_cell(const char *s)
{
	return (struct fit_cell){ .na = !s, .u.t = fit_text_of(s) };
}

static struct fit_cell real_cell(double v)
{
	return (struct fit_cell){ .na = false, .u.d = v };
}

static void refuse_cells(struct fit_frame *f, const char *x, double y, double e, const char *field,
			 const char *message)
{
	const struct fit_cell cells[] = { text_cell(x), real_cell(y), real_cell(e) };
	const char *found = NULL;
	struct fit_err err = { 0 };
	size_t rows = f->n_rows;

	check_err(fit_frame_row(f, cells, &found, &err), &err, FIT_EDATA, message);
	check_text(found, field);
	assert_int_equal(f->n_rows, rows);
}

static void frames(void **state)
{
	static const char *const labels[] = { "first" };
	const struct fit_cell good[] = { text_cell("1.5"), real_cell(7), real_cell(0.25) };
	const struct fit_cell gaps[] = { text_cell(NULL), { .na = true }, { .na = true } };
	const struct fit_cell word[] = { text_cell("word"), real_cell(9), real_cell(0) };
	struct fit_figure_rows rows;
	struct fit_frame f;
	struct fit_err err = { 0 };
	const char *field = NULL;

	(void)state;
	fit_frame_init(&f, "x");
	f.log_x = f.log_y = true;
	assert_int_equal(fit_frame_series(&f, "y", "e"), FIT_OK);
	assert_int_equal(fit_frame_series(&f, "x", NULL), FIT_EINVAL);
	assert_int_equal(fit_frame_series(&f, "y", "x"), FIT_EINVAL);
	assert_int_equal(fit_frame_series(&f, "y", "e"), FIT_OK);	/* columns are read once */
	assert_int_equal(f.n_fields, 3);
	check_ok(fit_frame_row(&f, good, &field, &err), &err);
	check_ok(fit_frame_row(&f, gaps, &field, &err), &err);
	refuse_cells(&f, "0", 1, 0, "x", "'0' on a logarithmic axis (expected more than 0)");
	refuse_cells(&f, "2", -3, 0, "y", "'-3' on a logarithmic axis (expected more than 0)");
	refuse_cells(&f, "2", HUGE_VAL, 0, "y", "bad value 'inf' (expected a finite number)");
	refuse_cells(&f, "2", 1, -0.5, "e", "bad length '-0.5' of an error bar (expected 0 or more)");
	assert_int_equal(fit_frame_rows(&f, labels, 1, &rows), FIT_OK);
	assert_int_equal(rows.n_rows, 2);
	check_text(rows.x[0], "1.5");
	assert_null(rows.x[1]);
	check_same_bits(rows.x_number[0], 1.5);
	assert_true(fit_real_is_na(rows.x_number[1]));
	check_text(rows.columns[0].label, "first");
	check_text(rows.columns[1].label, "y");
	check_same_bits(rows.columns[1].y[0], 7);
	check_same_bits(rows.columns[1].err[0], 0.25);
	assert_true(fit_real_is_na(rows.columns[0].y[1]));
	assert_int_equal(f.missing, 1);		/* the column counts once */
	check_ok(fit_frame_row(&f, word, &field, &err), &err);
	assert_int_equal(fit_frame_rows(&f, labels, 0, &rows), FIT_OK);
	assert_null(rows.x_number);
	check_text(rows.x[2], "word");
	fit_frame_release(&f);
}

/* ---- scripts ---- */

static void steps_by_corners(void **state)
{
	struct fit_plot p;
	struct fit_plot_series *s;
	struct fit_str data = { 0 };

	(void)state;
	fit_plot_init(&p, 300, 200);
	s = fit_panel_add_series(fit_plot_add_panel(&p), FIT_PLOT_STEPS, "two\nlines");
	assert_non_null(s);
	assert_int_equal(fit_series_add(s, 1, 10), FIT_OK);
	assert_int_equal(fit_series_add(s, 2, 12.5), FIT_OK);
	fit_series_gap(s);
	assert_int_equal(fit_series_add(s, 4, 3), FIT_OK);
	assert_int_equal(fit_series_add(s, 4, 5), FIT_OK);
	assert_int_equal(fit_plot_data(&data, &p), FIT_OK);
	check_text(data.s, "# 0: two lines\n1\t10\n2\t10\n2\t12.5\n\n4\t3\n4\t5\n");
	fit_plot_release(&p);
	fit_str_release(&data);
}

static void hostile_texts_stay_texts(void **state)
{
	static const char *const x[] = { "a_b", "`touch pwned`", "it's", "50% %d", "x\nset output 'y'" };
	const double y[] = { 1, 2, 3, 4, 5 };
	const struct fit_figure_column c[] = { { "'; !touch pwned; '", y, NULL }, { "{/Symbol a}", y, NULL } };
	const struct fit_figure_rows rows = rows_of(x, NULL, 5, c, 2);
	struct fit_plot p;
	struct fit_str s = { 0 };
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_figure_bars(&p, (struct fit_figure_size){ 0, 0 }, "x", &rows, false, &err), &err);
	assert_int_equal(fit_plot_text(&p.title, "\"`t`\""), FIT_OK);
	assert_int_equal(fit_plot_script(&s, &p, FIT_PLOT_SVG, "|rm -rf", "<cat"), FIT_OK);
	has(s.s, "set output './|rm -rf'\n");
	has(s.s, "'./<cat' index 1");
	has(s.s, "title '''; !touch pwned; ''' noenhanced");
	has(s.s, "title '{/Symbol a}' noenhanced");
	has(s.s, "'50% %d' noenhanced at first 3");
	has(s.s, "'x set output ''y''' noenhanced at first 4");
	has(s.s, "title '\"`t`\"' noenhanced");
	hasnt(s.s, "\nset output 'y");
	/* a text never stands in double quotes, and quotes are balanced on every line */
	for (const char *line = s.s; *line; line += strcspn(line, "\n") + 1) {
		size_t n = strcspn(line, "\n"), quotes = 0;
		bool inside = false;

		for (size_t i = 0; i < n; i++) {
			if (line[i] == '\'') {
				quotes++;
				inside = !inside;
			}
			if (line[i] == '"' || line[i] == '`')
				assert_true(inside);
		}
		assert_int_equal(quotes % 2, 0);
	}
	fit_plot_release(&p);
	fit_str_release(&s);
}

/* One point: the ranges are given, since gnuplot complains of empty ones. */
static void one_point(void **state)
{
	static const double v[] = { 0 };
	const struct fit_figure_sample sample = { "one", v, 1 };
	struct fit_plot p;
	struct fit_str s = { 0 };
	struct fit_err err = { 0 };

	(void)state;
	check_ok(fit_figure_cdf(&p, (struct fit_figure_size){ 0, 0 }, "time", &sample, 1, false, &err), &err);
	assert_int_equal(fit_plot_script(&s, &p, FIT_PLOT_PDF, "a.pdf", "a.dat"), FIT_OK);
	has(s.s, "set xrange [0:1]\n");
	has(s.s, "set terminal pdfcairo size 6.6667in,4.1667in ");
	fit_plot_release(&p);
	fit_str_release(&s);
}

/* ---- gnuplot ---- */

static void messages(void **state)
{
	struct fit_str fault = { 0 }, warnings = { 0 };

	(void)state;
	assert_int_equal(fit_gnuplot_sort_messages("", &fault, &warnings), FIT_OK);
	assert_int_equal(fault.n + warnings.n, 0);
	assert_int_equal(fit_gnuplot_sort_messages(
		"\nplot foo\n     ^\n\"./a.gp\" line 3: warning: odd\n\"./a.gp\" line 4: undefined variable: foo\n"
		"\"./a.gp\" line 5: more\n", &fault, &warnings), FIT_OK);
	check_text(fault.s, "\"./a.gp\" line 4: undefined variable: foo");
	check_text(warnings.s, "\"./a.gp\" line 3: warning: odd\n");
	fit_str_clear(&fault);
	assert_int_equal(fit_gnuplot_sort_messages("cannot open display\n", &fault, NULL), FIT_OK);
	check_text(fault.s, "cannot open display");
	fit_str_release(&fault);
	fit_str_release(&warnings);
}

/* A stand-in for gnuplot on the PATH, so that its failures can be provoked. */
static void stand_in(const char *folder, const char *body)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof path, "%s/gnuplot", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", body);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static void failures_of_gnuplot(void **state)
{
	static const double v[] = { 1, 2 };
	static const struct { const char *body, *message; } cases[] = {
		{ "echo '\"./f.gp\" line 9: all wrong' >&2; exit 1",
		  "gnuplot failed with status 1: \"./f.gp\" line 9: all wrong" },
		{ "echo x > f.svg; echo 'half of it was dropped' >&2",
		  "gnuplot failed with status 0: half of it was dropped" },
		{ "exit 0", "gnuplot made no picture" },
		{ ": > f.svg", "gnuplot made no picture" },
		{ "exit 3", "gnuplot failed with status 3: no message" },
		{ "kill -9 $$", "gnuplot was ended by signal 9" },
	};
	const struct fit_figure_sample sample = { "s", v, 2 };
	char folder[300], dest[400], path[400], *old = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
	struct fit_plot p;
	struct fit_str warnings = { 0 };
	struct fit_err err = { 0 };
	struct stat st;

	(void)state;
	snprintf(folder, sizeof folder, "%s/test_plot.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(folder));
	snprintf(dest, sizeof dest, "%s/f.svg", folder);
	check_ok(fit_figure_cdf(&p, (struct fit_figure_size){ 0, 0 }, "time", &sample, 1, false, &err), &err);
	assert_int_equal(setenv("PATH", folder, 1), 0);
	check_err(fit_plot_render(&p, dest, FIT_PLOT_SVG, NULL, &err), &err, FIT_ECHILD,
		  "gnuplot is not installed (no program of that name on the PATH); figures need it");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		stand_in(folder, cases[i].body);
		check_err(fit_plot_render(&p, dest, FIT_PLOT_SVG, NULL, &err), &err, FIT_ECHILD,
			  cases[i].message);
		assert_int_equal(stat(dest, &st), -1);
	}
	/* it is called with the script's name and a fixed environment, and its warnings are handed on */
	stand_in(folder, "echo \"$# $1 $2 $LC_ALL $TZ $GNUTERM\" > f.svg; read -r x && exit 9\n"
		 "echo 'x.gp line 1: warning: odd' >&2");
	assert_int_equal(setenv("GNUTERM", "x11", 1), 0);
	check_ok(fit_plot_render(&p, dest, FIT_PLOT_SVG, &warnings, &err), &err);
	check_text(warnings.s, "x.gp line 1: warning: odd\n");
	assert_int_equal(stat(dest, &st), 0);
	assert_int_equal(st.st_size, sizeof "2 -d ./f.gp C.UTF-8 UTC \n" - 1);
	check_err(fit_plot_render(&p, "a\nb.svg", FIT_PLOT_SVG, NULL, &err), &err, FIT_EINVAL,
		  "control character in the file name 'a?b.svg'");
	check_err(fit_plot_render(&p, "none/", FIT_PLOT_SVG, NULL, &err), &err, FIT_EIO,
		  "none/: cannot write: is a folder, or no file name");
	if (old)
		setenv("PATH", old, 1);
	free(old);
	for (int i = 0; i < 4; i++) {
		static const char *const left[] = { "gnuplot", "f.gp", "f.dat", "f.svg" };

		snprintf(path, sizeof path, "%s/%s", folder, left[i]);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(folder), 0);	/* nothing else was left there */
	fit_plot_release(&p);
	fit_str_release(&warnings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quoting),
		cmocka_unit_test(long_texts),
		cmocka_unit_test(formats),
		cmocka_unit_test(bad_points),
		cmocka_unit_test(cdf_steps),
		cmocka_unit_test(cdf_of_many),
		cmocka_unit_test(distribution_with_zeros),
		cmocka_unit_test(a_day),
		cmocka_unit_test(time_units),
		cmocka_unit_test(timeline_of_many),
		cmocka_unit_test(missing_values),
		cmocka_unit_test(frames),
		cmocka_unit_test(steps_by_corners),
		cmocka_unit_test(hostile_texts_stay_texts),
		cmocka_unit_test(one_point),
		cmocka_unit_test(messages),
		cmocka_unit_test(failures_of_gnuplot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
