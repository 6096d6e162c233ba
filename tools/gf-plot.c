/* SPDX-License-Identifier: MIT */
/*
 * gf-plot: figures as SVG, PNG or PDF through gnuplot. jct-cdf and timeline draw event logs, trace-cdf
 * and diurnal draw jobs tables, bars, lines and panels columns of any table. Labels are plain text.
 * With -o the gnuplot script and its data stay beside the picture. A further figure is one more entry
 * of verbs[] and drawers[], and one function of tools/plot_draw.h.
 */
#include <stddef.h>
#include <string.h>

#include "libfit/base/num.h"
#include "libfit/metrics/trace_stats.h"
#include "libfit/plot/frame.h"
#include "tools/plot_draw.h"

enum { N_FORMATS = FIT_PLOT_PDF + 1 };
static const char *const formats[] = { "svg", "png", "pdf", NULL };
static const char *const quantities[] = { "duration", "gpus", "gpu-hours", "interarrival", NULL };
#define O(field) offsetof(struct plot_options, field)
#define COMMON \
	{ 0, "format", CLI_CHOICE, O(format), "NAME", "by the suffix of -o, else svg", \
	  "kind of picture", formats, 0, 0, 0 }, \
	{ 0, "title", CLI_TEXT, O(title), "TEXT", NULL, "title above the figure", NULL, 0, 0, 0 }, \
	{ 0, "xlabel", CLI_TEXT, O(xlabel), "TEXT", NULL, "text at the x axis", NULL, 0, 0, 0 }, \
	{ 0, "ylabel", CLI_TEXT, O(ylabel), "TEXT", NULL, "text at the y axis", NULL, 0, 0, 0 }, \
	{ 0, "size", CLI_TEXT, O(size), "WxH", NULL, "width and height at 96 pixels an inch", NULL, 0, 0, 0 }
#define END { 0, NULL, CLI_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0 }
#define LOG_X { 0, "log-x", CLI_FLAG, O(log_x), NULL, NULL, "logarithmic x axis", NULL, 0, 0, 0 }
#define LOG_Y { 0, "log-y", CLI_FLAG, O(log_y), NULL, NULL, "logarithmic y axis", NULL, 0, 0, 0 }
#define LABELS(of) { 0, "label", CLI_LIST, O(label), "TEXT", of, \
	"legend text of each operand, in order", NULL, 0, 0, 0 }
#define COLUMNS \
	{ 0, "x", CLI_TEXT, O(x), "COLUMN", NULL, "column along the x axis", NULL, 0, 0, CLI_REQUIRED }, \
	{ 0, "y", CLI_LIST, O(y), "COLUMN", NULL, "column of values; may be given several times", \
	  NULL, 0, 0, CLI_REQUIRED }, \
	{ 0, "label", CLI_LIST, O(label), "TEXT", "names of the columns", "legend text of each --y", \
	  NULL, 0, 0, 0 }, \
	{ 0, "csv", CLI_FLAG, O(csv), NULL, NULL, "the operand is CSV with a header row, not a table", \
	  NULL, 0, 0, 0 }

static const struct cli_option cdf_options[] = {
	LABELS("policy of the log, or file name"), LOG_X, COMMON, END
};
static const struct cli_option trace_cdf_options[] = {
	{ 0, "of", CLI_CHOICE, O(of), "WHAT", "duration", "what is distributed", quantities, 0, 0, 0 },
	LABELS("file names"), LOG_X, COMMON, END
};
static const struct cli_option diurnal_options[] = { LABELS("file names"), COMMON, END };
static const struct cli_option timeline_options[] = { COMMON, END };
static const struct cli_option bars_options[] = {
	COLUMNS,
	{ 0, "error", CLI_LIST, O(error), "COLUMN", NULL, "column of error bars (half lengths) of each --y",
	  NULL, 0, 0, 0 },
	LOG_Y, COMMON, END
};
#define POINTS(name, field, metavar, flags, help) \
	{ 0, name, CLI_TEXT, O(points.field), metavar, NULL, help, NULL, 0, 0, flags }
static const struct cli_option lines_options[] = {
	COLUMNS, POINTS("by", series, "COLUMN", 0, "one line a value of this column, of one --y"),
	LOG_X, LOG_Y, COMMON, END
};

static const struct cli_option panels_options[] = {
	POINTS("x", x, "COLUMN", CLI_REQUIRED, "column along the x axis"),
	POINTS("y", y, "COLUMN", CLI_REQUIRED, "column of values"),
	POINTS("by", series, "COLUMN", 0, "one series a value of this column"),
	POINTS("panel", panel, "COLUMN", 0, "one panel a value of this column"),
	POINTS("error", error, "COLUMN", 0, "column of error bars (half lengths)"),
	POINTS("look", look, "COLUMN", 0, "series with one value share their colour and mark"),
	POINTS("style", style, "COLUMN", 0, "column that says how a series is drawn"),
	{ 0, "columns", CLI_INT, O(columns), "N", "at most 3", "panels side by side", NULL, 1, 12, 0 },
	LOG_X, LOG_Y, COMMON, END
};

static const struct cli_option shape_options[] = {
	{ 0, "class", CLI_TEXT, O(class), "NAME", NULL, "of a model of several classes: this one", NULL, 0, 0, 0 },
	COMMON, END
};

static int parse_size(const char *text, struct fit_figure_size *size)
{
	const char *x = strchr(text, 'x');
	int64_t w, h;

	if (!x || fit_parse_int64((struct fit_text){ text, (size_t)(x - text) }, &w) ||
	    fit_parse_int64(fit_text_of(x + 1), &h) || w < 100 || w > 8000 || h < 100 || h > 8000)
		return FIT_EINVAL;
	*size = (struct fit_figure_size){ (int)w, (int)h };
	return FIT_OK;
}

/* What the option table cannot check; 0, or the exit status. */
static int check_options(struct cli *cli, struct plot_options *o)
{
	size_t inputs = o->x ? o->y.n : cli->n_operands ? (size_t)cli->n_operands : 1;
	enum fit_plot_format by_suffix = FIT_PLOT_SVG;
	bool named = cli->out && strcmp(cli->out, "-") != 0;
	const struct cli_list *lists[] = { &o->label, &o->y, &o->error };
	const char *texts[] = { o->title, o->xlabel, o->ylabel, o->class };

	if (o->size && parse_size(o->size, &o->wanted))
		return cli_usage(cli, "bad value '%s' for --size (expected WxH, 100x100 to 8000x8000)", o->size);
	if (o->format == N_FORMATS && named && fit_plot_format_of(cli->out, &by_suffix))
		return cli_usage(cli, "unknown kind of picture '%s' (expected .svg, .png or .pdf, or --format)",
				 cli->out);
	if (o->format == N_FORMATS)
		o->format = (int)by_suffix;
	if (o->label.n > inputs)
		return cli_usage(cli, "%zu times --label for %zu series", o->label.n, inputs);
	if (o->y.n > FIT_FRAME_SERIES_MAX)
		return cli_usage(cli, "too many --y columns (expected at most %d)", FIT_FRAME_SERIES_MAX);
	for (size_t i = 0; i < o->y.n + o->error.n; i++)
		if (strcmp(o->x, i < o->y.n ? o->y.items[i] : o->error.items[i - o->y.n]) == 0)
			return cli_usage(cli, "column '%s' on both axes", o->x);
	if (o->x && o->points.series) {
		if (o->y.n != 1 || o->label.n || o->csv)
			return cli_usage(cli, "--by goes with one --y, and without --label and --csv");
		o->points.x = o->x;
		o->points.y = o->y.items[0];
	}
	if (o->error.n && o->error.n != o->y.n)
		return cli_usage(cli, "%zu times --error for %zu series (expected one for each --y)",
				 o->error.n, o->y.n);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		for (size_t k = 0; k < lists[i]->n; k++)
			if (!fit_text_is_utf8(fit_text_of(lists[i]->items[k])))
				return cli_usage(cli, "a label or column name is not in UTF-8");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i] && !fit_text_is_utf8(fit_text_of(texts[i])))
			return cli_usage(cli, "a title or axis text is not in UTF-8");
	return 0;
}

static int dress(const struct plot_options *o, struct fit_plot *p)
{
	struct fit_plot_panel *last = &p->panels[p->n_panels - 1];
	int rc = FIT_OK;

	if (o->title)
		rc = fit_plot_text(&p->title, o->title);
	/* in a grid each panel has its own, else the lowest one */
	for (struct fit_plot_panel *a = p->columns ? p->panels : last; a <= last && !rc; a++) {
		if (o->xlabel)
			rc = fit_plot_text(&a->x.label, o->xlabel);
		if (o->ylabel && !rc)
			rc = fit_plot_text(&a->y.label, o->ylabel);
	}
	return rc;
}

static void pass_on_warnings(struct cli *cli, struct fit_str *lines)
{
	char *line = lines->s;

	while (line && *line) {
		char *end = strchr(line, '\n');

		*end = '\0';
		cli_warn(cli, "gnuplot: %s", line);
		line = end + 1;
	}
}

static const struct {
	const char *verb;
	plot_draw_fn *draw;
} drawers[] = {
	{ "jct-cdf", plot_draw_cdf }, { "timeline", plot_draw_timeline }, { "trace-cdf", plot_draw_cdf },
	{ "diurnal", plot_draw_diurnal }, { "bars", plot_draw_columns }, { "lines", plot_draw_columns },
	{ "panels", plot_draw_panels }, { "shape", plot_draw_shape }, { "heatmap", plot_draw_shape },
};

static plot_draw_fn *drawer(const struct cli *cli, const struct plot_options *o)
{
	size_t i = 0;

	while (strcmp(drawers[i].verb, cli->verb->name) != 0)
		i++;
	return o->points.x ? plot_draw_panels : drawers[i].draw;	/* also lines --by */
}

static int run(struct cli *cli, void *given)
{
	struct plot_options *o = given;
	struct fit_plot p = { 0 };
	struct fit_str warnings = { 0 };
	struct fit_err err = { 0 };
	int rc, status = check_options(cli, o);

	if (status)
		return status;
	rc = drawer(cli, o)(cli, o, &p, &err);
	if (!rc && dress(o, &p))
		rc = fit_fail_nomem(&err);
	if (!rc)
		rc = fit_plot_render(&p, cli->out, (enum fit_plot_format)o->format, &warnings, &err);
	pass_on_warnings(cli, &warnings);
	if (rc)
		status = cli_error(cli, &err);
	fit_str_release(&warnings);
	fit_plot_release(&p);
	return status;
}

static const struct cli_verb verbs[] = {
	{ "jct-cdf", "[LOG...]", "distribution of job completion times, one curve a log",
	  cdf_options, 0, -1, .run = run },
	{ "timeline", "[LOG]", "GPUs and jobs over time", timeline_options, 0, 1, .run = run },
	{ "trace-cdf", "[JOBS...]", "distribution over the jobs of a trace, one curve a trace",
	  trace_cdf_options, 0, -1, .run = run },
	{ "diurnal", "[JOBS...]", "submissions by hour of day, one curve a trace",
	  diurnal_options, 0, -1, .run = run },
	{ "bars", "[TABLE]", "columns as bars, one label a row", bars_options, 0, 1, .run = run },
	{ "lines", "[TABLE]", "columns as lines over a column", lines_options, 0, 1, .run = run },
	{ "panels", "[TABLE]", "the points of a long table in series and panels",
	  panels_options, 0, 1, .run = run },
	{ "shape", "[TABLE]", "a term of one feature, from gf-ga2m explain --shape",
	  shape_options, 0, 1, .run = run },
	{ "heatmap", "[TABLE]", "a term of two features, from there, too", shape_options, 0, 1, .run = run },
	{ .name = NULL }
};

static const struct cli_tool tool = {
	.name = "gf-plot",
	.summary = "Figures as SVG, PNG or PDF, drawn by gnuplot.",
	.details = "With -o FIG.svg the script FIG.gp and its data FIG.dat are kept beside the picture.",
	.verbs = verbs,
};

int main(int argc, char **argv)
{
	struct plot_options o = { .format = N_FORMATS };

	return cli_main(&tool, argc, argv, &o);
}
