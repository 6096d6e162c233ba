/* SPDX-License-Identifier: MIT */
#include "libfit/plot/script.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "libfit/base/num.h"
#include "libfit/base/version.h"

static const char *const format_names[] = { "svg", "png", "pdf" };

const char *fit_plot_format_name(enum fit_plot_format format)
{
	return format_names[format];
}

int fit_plot_format_of(const char *file, enum fit_plot_format *format)
{
	const char *slash = strrchr(file, '/');
	const char *dot = strrchr(slash ? slash : file, '.');

	for (size_t i = 0; dot && i < sizeof format_names / sizeof *format_names; i++) {
		if (strcasecmp(dot + 1, format_names[i]) == 0) {
			*format = (enum fit_plot_format)i;
			return FIT_OK;
		}
	}
	return FIT_ENOTFOUND;
}

int fit_plot_quote(struct fit_str *out, const char *text)
{
	int rc = fit_str_puts(out, "'");

	for (; *text && !rc; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\'')
			rc = fit_str_puts(out, "''");
		else
			rc = fit_str_add(out, c < 0x20 || c == 0x7f ? " " : text, 1);
	}
	return rc ? rc : fit_str_puts(out, "'");
}

/* A sticky builder: after the first failure nothing more is added. */
struct builder {
	struct fit_str *out;
	int rc;
};

static void put(struct builder *b, const char *s)
{
	if (!b->rc)
		b->rc = fit_str_puts(b->out, s);
}

static void put_text(struct builder *b, const char *text)
{
	if (!b->rc)
		b->rc = fit_plot_quote(b->out, text);
}

/* fit_format_double() and not %g: the decimal point must not follow the locale. */
static void put_num(struct builder *b, double v)
{
	char buf[FIT_NUM_MAX];

	fit_format_double(buf, v);
	put(b, buf);
}

/* A length or a position of the layout: a short decimal. */
static void put_short(struct builder *b, double v)
{
	char buf[FIT_NUM_MAX];

	fit_format_time(buf, (int64_t)rint(v * 1e4) * (FIT_NS_PER_S / 10000));
	put(b, buf);
}

static void put_count(struct builder *b, size_t n)
{
	char buf[FIT_NUM_MAX];

	fit_format_int64(buf, (int64_t)n);
	put(b, buf);
}

/* set WHAT 'text' */
static void set_text(struct builder *b, const char *what, const char *text, const char *more)
{
	if (!text)
		return;
	put(b, "set ");
	put(b, what);
	put(b, " ");
	put_text(b, text);
	put(b, " noenhanced");
	put(b, more);
	put(b, "\n");
}

/* ---- data ---- */

static void put_point(struct builder *b, const struct fit_plot_series *s, double x,
		      const struct fit_plot_point *p)
{
	put_num(b, x);
	put(b, "\t");
	put_num(b, p->y);
	if (s->has_err) {
		put(b, "\t");
		put_num(b, p->err);
	}
	put(b, "\n");
}

/* x from, x to, y from, y to, value. */
static void put_cells(struct builder *b, const struct fit_plot_series *s)
{
	for (size_t i = 0; i < s->n_values; i++) {
		const double v[] = { s->points[2 * i].x, s->points[2 * i + 1].x, s->points[2 * i].y,
				     s->points[2 * i + 1].y, s->values[i] };

		for (size_t k = 0; k < 5; k++) {
			put(b, k ? "\t" : "");
			put_num(b, v[k]);
		}
		put(b, "\n");
	}
}

/* Steps are written corner by corner: gnuplot's own step styles start a new path at each point, so
 * that dashes begin anew and filled areas show seams. */
static void put_points(struct builder *b, const struct fit_plot_series *s)
{
	bool corners = s->style == FIT_PLOT_STEPS || s->style == FIT_PLOT_AREA;
	size_t gap = 0;

	if (s->style == FIT_PLOT_CELLS) {
		put_cells(b, s);
		return;
	}
	for (size_t j = 0; j < s->n; j++) {
		bool cut = gap < s->n_gaps && s->gaps[gap] == j;

		if (cut)
			put(b, "\n");
		else if (corners && j && s->points[j].x > s->points[j - 1].x)
			put_point(b, s, s->points[j].x, &s->points[j - 1]);
		gap += cut;
		put_point(b, s, s->points[j].x, &s->points[j]);
	}
}

int fit_plot_data(struct fit_str *out, const struct fit_plot *p)
{
	struct builder b = { out, FIT_OK };
	size_t block = 0;

	for (size_t i = 0; i < p->n_panels; i++) {
		for (size_t k = 0; k < p->panels[i].n_series; k++) {
			const struct fit_plot_series *s = &p->panels[i].series[k];

			/* gnuplot would not count an empty block */
			if (!s->n)
				continue;
			put(&b, block ? "\n\n# " : "# ");
			put_count(&b, block++);
			if (s->label) {
				put(&b, ": ");
				put(&b, s->label);
			}
			put(&b, "\n");
			put_points(&b, s);
		}
	}
	return b.rc;
}

/* ---- looks ---- */

/* Okabe and Ito's palette, which colour-blind readers can tell apart, without its yellow (too pale on
 * white). Dashes and marks differ as well, for print without colour. */
static const char *const colours[] = { "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00",
				       "#56B4E9", "#000000" };
static const char *const dashes[] = { "solid", "(10,4)", "(3,3)", "(12,3,3,3)", "(18,5)",
				      "(7,3,2,3,2,3)" };
static const char *const marks[] = { "7", "5", "9", "13", "11", "4", "6", "8" };
static const char *const hollow_marks[] = { "6", "4", "8", "12", "10", "14", "1", "2" };
/* Solid first; then hatchings that differ in direction and density. */
static const char *const fills[] = { "solid 0.85", "pattern 4", "pattern 1", "pattern 5", "pattern 2",
				     "pattern 6", "solid 0.25", "pattern 7" };

#define PICK(list, i) ((list)[(i) % (sizeof(list) / sizeof *(list))])
#define FEW_POINTS 40	/* up to here lines carry marks */

static void put_style(struct builder *b, const struct fit_plot_series *s)
{
	const char *colour = PICK(colours, s->look);
	const char *mark = s->hollow ? PICK(hollow_marks, s->look) : PICK(marks, s->look);

	switch (s->style) {
	case FIT_PLOT_LINES:
		put(b, s->n <= FEW_POINTS ? "linespoints pt " : "lines");
		if (s->n <= FEW_POINTS)
			put(b, mark);
		break;
	case FIT_PLOT_CURVE:
	case FIT_PLOT_STEPS:
		put(b, "lines");
		break;
	case FIT_PLOT_AREA:
		put(b, "filledcurves y1=0 fs solid 0.3 noborder lc rgb '");
		put(b, colour);
		put(b, "'");
		return;
	case FIT_PLOT_POINTS:
		put(b, s->has_err ? "yerrorbars pt " : "points pt ");
		put(b, mark);
		break;
	case FIT_PLOT_CELLS:
		put(b, "boxxyerror fs solid 1 noborder fc palette");
		return;
	case FIT_PLOT_BARS:
		put(b, s->has_err ? "boxerrorbars fs " : "boxes fs ");
		put(b, PICK(fills, s->look));
		put(b, " border lt -1 lw 1 lc rgb '");
		put(b, colour);
		put(b, "'");
		return;
	}
	put(b, " lw 2 lc rgb '");
	put(b, colour);
	put(b, "'");
	if (s->style != FIT_PLOT_POINTS) {
		put(b, " dt ");
		put(b, PICK(dashes, s->look));
	}
}

/* ---- the script ---- */

#define FONT "Helvetica,Arial,sans-serif"

static void put_terminal(struct builder *b, const struct fit_plot *p, enum fit_plot_format format)
{
	double w = p->width, h = p->height;

	switch (format) {
	case FIT_PLOT_SVG:
		put(b, "set terminal svg size ");
		put_short(b, w);
		put(b, ",");
		put_short(b, h);
		put(b, " fixed font '" FONT ",14' noenhanced butt background '#ffffff'\n");
		break;
	case FIT_PLOT_PNG:
		put(b, "set terminal pngcairo size ");
		put_short(b, 2 * w);
		put(b, ",");
		put_short(b, 2 * h);
		put(b, " font 'Sans,10.5' fontscale 2 linewidth 2 pointscale 2 dashlength 1 "
		       "noenhanced butt background '#ffffff'\n");
		break;
	case FIT_PLOT_PDF:
		put(b, "set terminal pdfcairo size ");
		put_short(b, w / 96);
		put(b, "in,");
		put_short(b, h / 96);
		put(b, "in font 'Sans,10.5' fontscale 1 linewidth 1 noenhanced butt background '#ffffff'\n");
		break;
	}
}

static size_t text_chars(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* Roughly, in pixels: what a character of the figure's font takes. */
#define CHAR_WIDTH 7.8
#define SLANT 0.6428	/* sin 40 degrees */
#define COSINE 0.766

static double longest_tic(const struct fit_plot_axis *a)
{
	size_t most = 0;

	for (size_t i = 0; i < a->n_tics; i++)
		if (text_chars(a->tics[i]) > most)
			most = text_chars(a->tics[i]);
	return CHAR_WIDTH * (double)most;
}

double fit_plot_slanted_height(const struct fit_plot_axis *a)
{
	return SLANT * longest_tic(a);
}

static bool slanted_tics(const struct fit_plot *p, const struct fit_plot_axis *a)
{
	return a->n_tics && longest_tic(a) + 10 > (double)(p->width - 90) / (double)a->n_tics;
}

/* A range of its own where gnuplot would find an empty one, and complain. */
static void find_range(const struct fit_plot_panel *panel, bool is_x, double *lo, double *hi)
{
	*lo = HUGE_VAL;
	*hi = -HUGE_VAL;
	for (size_t k = 0; k < panel->n_series; k++) {
		for (size_t i = 0; i < panel->series[k].n; i++) {
			const struct fit_plot_point *q = &panel->series[k].points[i];
			double v = is_x ? q->x : q->y, e = is_x ? 0 : q->err;

			*lo = fmin(*lo, v - e);
			*hi = fmax(*hi, v + e);
		}
	}
}

static double highest(const struct fit_plot_panel *panel)
{
	double lo, hi;

	find_range(panel, false, &lo, &hi);
	return hi;
}

static double lowest(const struct fit_plot_panel *panel)
{
	double lo, hi;

	find_range(panel, false, &lo, &hi);
	return lo;
}

static void put_range(struct builder *b, const struct fit_plot_panel *panel, bool is_x)
{
	const struct fit_plot_axis *a = is_x ? &panel->x : &panel->y;
	bool has_min = a->has_min, has_max = a->has_max;
	double min = a->min, max = a->max, lo, hi;

	find_range(panel, is_x, &lo, &hi);
	lo = has_min ? min : lo;
	hi = has_max ? max : hi;
	if (!(lo < hi)) {
		if (!has_min && a->log)
			min = lo / 2;
		else if (!has_min)
			min = lo - fmax(1, fabs(lo) / 10);
		if (!has_max)
			max = a->log ? hi * 2 : fmax(min, hi) + fmax(1, fabs(hi) / 10);
		has_min = has_max = true;
	}
	put(b, is_x ? "set xrange [" : "set yrange [");
	if (has_min)
		put_num(b, min);
	else
		put(b, "*");
	put(b, ":");
	if (has_max)
		put_num(b, max);
	else
		put(b, "*");
	put(b, "]\n");
}

/* set label N 'text' at ... */
static void put_label(struct builder *b, size_t number, const char *text)
{
	put(b, "set label ");
	put_count(b, number);
	put(b, " ");
	put_text(b, text);
	put(b, " noenhanced at ");
}

/* Characters of the numbers that gnuplot puts at an axis of that range, in steps of a tenth of it or more. */
static double number_chars(double lo, double hi)
{
	double step = (hi - fmin(lo, 0)) / 10, most = fmax(fabs(lo), fabs(hi));
	double digits = most >= 10 ? 1 + floor(log10(most)) : 1;
	double decimals = step > 0 && step < 1 ? ceil(-log10(step)) : 0;

	/* from seven on there is an exponent, as in 1.2e+06 */
	return fmin(7, digits + decimals + (decimals > 0)) + (lo < 0);
}

/* Space on the left of the y axis, in pixels: for slanted texts, and for numbers with a label beside them,
 * which gnuplot leaves out where it does not fit. */
static double slanted_left(const struct fit_plot *p, const struct fit_plot_panel *panel)
{
	const struct fit_plot_axis *a = &panel->x;
	double slot = (double)(p->width - 120) / (double)a->n_tics, most = 80, lo, hi;

	find_range(panel, false, &lo, &hi);
	if (panel->y.label && !panel->y.n_tics)
		most = fmax(most, CHAR_WIDTH * number_chars(lo, hi) + 66);
	for (size_t i = 0; i < a->n_tics; i++)
		most = fmax(most, COSINE * CHAR_WIDTH * (double)text_chars(a->tics[i]) - (double)i * slot);
	return fmin(most, p->width / 2.0);
}

/* Texts at the x axis are labels of their own: `set xtics ('text' 1)` takes a '%' for a number format
 * and cuts such a text, and its layout gives up on long ones. Single panels only: positions are those
 * of the whole picture. */
static void put_tics(struct builder *b, const struct fit_plot *p, const struct fit_plot_panel *panel)
{
	const struct fit_plot_axis *a = &panel->x;
	bool slanted = a->n_tics && slanted_tics(p, a);
	double below = (slanted ? fit_plot_slanted_height(a) + 20 : 30) + (a->label ? 28 : 0);

	put(b, "unset label\n");
	if (!a->n_tics) {
		put(b, "set xtics autofreq\n");
		set_text(b, "xlabel", a->label ? a->label : "", "");
		return;
	}
	put(b, "unset xlabel\nset xtics (");
	for (size_t i = 0; i < a->n_tics; i++) {
		put(b, i ? ", '' " : "'' ");
		put_num(b, a->at[i]);
	}
	put(b, ")\nset rmargin 3\nset bmargin at screen ");
	put_short(b, fmin(0.7, below / p->height));
	if (slanted) {
		put(b, "\nset lmargin at screen ");
		put_short(b, slanted_left(p, panel) / p->width);
	}
	put(b, "\n");
	for (size_t i = 0; i < a->n_tics; i++) {
		put_label(b, i + 1, a->tics[i]);
		put(b, "first ");
		put_num(b, a->at[i]);
		put(b, slanted ? ", graph 0 right rotate by 40 offset 0.5,-1\n" :
				 ", graph 0 center offset 0,-1.3\n");
	}
	if (a->label) {
		put_label(b, a->n_tics + 1, a->label);
		put(b, "graph 0.5, screen ");
		put_short(b, 14.0 / p->height);
		put(b, " center\n");
	}
}

static void put_key(struct builder *b, enum fit_plot_key key)
{
	static const char *const text[] = {
		[FIT_PLOT_KEY_NONE] = "set key off\n",
		[FIT_PLOT_KEY_ABOVE] = "set key outside top center horizontal Left reverse noenhanced\n",
		[FIT_PLOT_KEY_BOTTOM_RIGHT] =
			"set key inside bottom right vertical Left reverse noenhanced opaque\n",
		[FIT_PLOT_KEY_TOP_LEFT] =
			"set key inside top left vertical Left reverse noenhanced opaque\n",
	};

	put(b, text[key]);
}

static size_t count_bars(const struct fit_plot_panel *panel)
{
	size_t n = 0;

	for (size_t k = 0; k < panel->n_series; k++)
		n += panel->series[k].style == FIT_PLOT_BARS;
	return n;
}

/* Error bars of a line are drawn by themselves: they would be dashed as it is. */
static void put_line_errors(struct builder *b, const struct fit_plot_series *s, const char *data,
			    size_t block)
{
	put_text(b, data);
	put(b, " index ");
	put_count(b, block);
	put(b, " using 1:2:3 with yerrorbars pt 0 lw 1.2 lc rgb '");
	put(b, PICK(colours, s->look));
	put(b, "' notitle, \\\n     ");
}

static void put_series(struct builder *b, const struct fit_plot_panel *panel, size_t k,
		       const char *data, size_t block, bool listed)
{
	const struct fit_plot_series *s = &panel->series[k];
	size_t bars = count_bars(panel);

	if (s->has_err && (s->style == FIT_PLOT_LINES || s->style == FIT_PLOT_CURVE))
		put_line_errors(b, s, data, block);
	put_text(b, data);
	put(b, " index ");
	put_count(b, block);
	put(b, " using ");
	if (s->style == FIT_PLOT_BARS) {
		/* Bars of one x share 0.8 of the distance to the next. */
		put(b, "($1+(");
		put_short(b, 0.8 / (double)bars * ((double)k - ((double)bars - 1) / 2));
		put(b, s->has_err ? ")):2:3:(" : ")):2:(");
		put_short(b, 0.8 / (double)bars);
		put(b, ")");
	} else if (s->style == FIT_PLOT_CELLS) {
		put(b, "(($1+$2)/2):(($3+$4)/2):1:2:3:4:5");
	} else {
		put(b, s->has_err && s->style == FIT_PLOT_POINTS ? "1:2:3" : "1:2");
	}
	put(b, " with ");
	put_style(b, s);
	if (s->label && listed) {
		put(b, " title ");
		put_text(b, s->label);
		put(b, " noenhanced");
	} else {
		put(b, " notitle");
	}
}

/* Texts at the y axis: labels of their own, as at the x axis. Single panels only. */
static void put_y_tics(struct builder *b, const struct fit_plot *p, const struct fit_plot_panel *panel)
{
	const struct fit_plot_axis *a = &panel->y;
	size_t number = panel->x.n_tics + 2;

	if (!a->n_tics)
		return;
	put(b, "set ytics (");
	for (size_t i = 0; i < a->n_tics; i++) {
		put(b, i ? ", '' " : "'' ");
		put_num(b, a->at[i]);
	}
	put(b, ")\nset lmargin at screen ");
	put_short(b, fmin(0.5, (longest_tic(a) + 50) / p->width));
	put(b, "\n");
	for (size_t i = 0; i < a->n_tics; i++) {
		put_label(b, number + i, a->tics[i]);
		put(b, "graph 0, first ");
		put_num(b, a->at[i]);
		put(b, " right offset -1,0\n");
	}
	if (a->label) {
		put(b, "unset ylabel\n");
		put_label(b, number + a->n_tics, a->label);
		put(b, "screen ");
		put_short(b, 15.0 / p->width);
		put(b, ", graph 0.5 center rotate by 90\n");
	}
}

/* Colours of cells: as strong below 0 as above. */
static void put_palette(struct builder *b, const struct fit_plot_panel *panel)
{
	double most = 0;
	bool cells = false;

	for (size_t k = 0; k < panel->n_series; k++) {
		cells = cells || panel->series[k].style == FIT_PLOT_CELLS;
		for (size_t i = 0; i < panel->series[k].n_values; i++)
			most = fmax(most, fabs(panel->series[k].values[i]));
	}
	if (!cells)
		return;
	most = most > 0 ? most : 1;
	put(b, "set palette defined (-1 '#2166ac', -0.5 '#92c5de', 0 '#f7f7f7', 0.5 '#f4a582', 1 '#b2182b')\n"
	       "set cbrange [");
	put_num(b, -most);
	put(b, ":");
	put_num(b, most);
	put(b, "]\nset colorbox\nunset grid\n");
}

static void put_panel(struct builder *b, const struct fit_plot *p, size_t i, const char *data,
		      size_t *block)
{
	const struct fit_plot_panel *panel = &p->panels[i];
	bool first = true;

	set_text(b, "ylabel", panel->y.label ? panel->y.label : "", "");
	put(b, panel->x.log ? "set logscale x 10\n" : "unset logscale x\n");
	put(b, panel->y.log ? "set logscale y 10\n" : "unset logscale y\n");
	put_range(b, panel, true);
	put_range(b, panel, false);
	put_tics(b, p, panel);
	put(b, panel->y.whole && highest(panel) <= 8 ? "set ytics 1\n" : "set ytics autofreq\n");
	put_y_tics(b, p, panel);
	put_palette(b, panel);
	put_key(b, panel->key);
	put(b, "plot ");
	for (size_t k = 0; k < panel->n_series; k++) {
		if (!panel->series[k].n)
			continue;
		put(b, first ? "" : ", \\\n     ");
		put_series(b, panel, k, data, (*block)++, true);
		first = false;
	}
	put(b, "\n");
}

/* ---- panels in a grid ---- */

/* Lengths of its layout, in pixels. */
#define GRID_LEFT 92.0
#define GRID_RIGHT 16.0
#define GRID_BOTTOM 64.0
#define GRID_GAP_X 60.0
#define GRID_GAP_Y 60.0
#define GRID_TITLE 30.0
#define GRID_KEY_ROW 21.0
#define GRID_KEY_MARK 62.0	/* sample and space of a legend entry */

static const struct fit_plot_series *first_of_label(const struct fit_plot *p, const char *label)
{
	for (size_t i = 0; i < p->n_panels; i++)
		for (size_t k = 0; k < p->panels[i].n_series; k++)
			if (p->panels[i].series[k].label && strcmp(p->panels[i].series[k].label, label) == 0)
				return &p->panels[i].series[k];
	return NULL;
}

struct grid {
	double gap_y;		/* between rows: with titles there is more in it */
	size_t columns, rows, entries;
	double key_rows, top;		/* pixels above the panels */
	double w, h;			/* of a panel, pixels */
};

static struct grid grid_of(const struct fit_plot *p)
{
	struct grid g = { .columns = p->columns, .rows = (p->n_panels + p->columns - 1) / p->columns };
	bool titles = false;
	size_t widest = 0;

	for (size_t i = 0; i < p->n_panels; i++) {
		titles = titles || p->panels[i].title;
		for (size_t k = 0; k < p->panels[i].n_series; k++) {
			const struct fit_plot_series *s = &p->panels[i].series[k];

			if (!s->label || first_of_label(p, s->label) != s)
				continue;
			g.entries++;
			widest = text_chars(s->label) > widest ? text_chars(s->label) : widest;
		}
	}
	if (g.entries > 1) {
		double fit = fmax(1, floor((p->width - 20) / (CHAR_WIDTH * (double)widest + GRID_KEY_MARK)));

		g.key_rows = ceil((double)g.entries / fit);
	}
	g.top = 14 + (p->title ? GRID_TITLE : 0) + g.key_rows * GRID_KEY_ROW + (titles ? 20 : 0);
	g.w = (p->width - GRID_LEFT - GRID_RIGHT - GRID_GAP_X * (double)(g.columns - 1)) / (double)g.columns;
	g.gap_y = GRID_GAP_Y + (titles ? 14 : 0);
	g.h = (p->height - g.top - GRID_BOTTOM - g.gap_y * (double)(g.rows - 1)) / (double)g.rows;
	return g;
}

static void put_margins(struct builder *b, const struct fit_plot *p, double left, double top, double w,
			double h)
{
	put(b, "set lmargin at screen ");
	put_short(b, left / p->width);
	put(b, "; set rmargin at screen ");
	put_short(b, (left + w) / p->width);
	put(b, "\nset tmargin at screen ");
	put_short(b, 1 - top / p->height);
	put(b, "; set bmargin at screen ");
	put_short(b, 1 - (top + h) / p->height);
	put(b, "\n");
}

/* A plot of nothing over the whole picture, with the title and the legend in it. */
static void put_grid_key(struct builder *b, const struct fit_plot *p, const struct grid *g)
{
	put_margins(b, p, 1, 0, p->width - 2, p->height);
	put(b, "unset border\nunset xtics\nunset ytics\nset xrange [0:1]\nset yrange [0:1]\n"
	    "unset xlabel\nunset ylabel\nunset label\n");
	if (p->title) {
		put_label(b, 1, p->title);
		put(b, "screen 0.5, screen ");
		put_short(b, 1 - 16.0 / p->height);
		put(b, " center\n");
	}
	put(b, "set key at screen 0.5, screen ");
	put_short(b, 1 - (8 + (p->title ? GRID_TITLE : 0)) / p->height);
	put(b, " center top vertical maxrows ");
	put_count(b, g->key_rows > 1 ? (size_t)g->key_rows : 1);
	put(b, " Left reverse noenhanced samplen 2.5\nplot NaN notitle");
	for (size_t i = 0; g->entries > 1 && i < p->n_panels; i++) {
		for (size_t k = 0; k < p->panels[i].n_series; k++) {
			const struct fit_plot_series *s = &p->panels[i].series[k];
			struct fit_plot_series sample = *s;

			if (!s->label || first_of_label(p, s->label) != s)
				continue;
			sample.has_err = false;
			put(b, ", \\\n     keyentry with ");
			put_style(b, &sample);
			put(b, " title ");
			put_text(b, s->label);
		}
	}
	put(b, "\nset border 3 lw 1\nset key off\n");
}

/* Names of the axes are labels of their own: gnuplot's y axis label stands where long numbers push it, out
 * of the picture at times, and under a fixed margin its SVG terminal leaves out that of the x axis. */
static void put_grid_axes(struct builder *b, const struct fit_plot *p, const struct fit_plot_panel *panel,
			  bool leftmost, bool lowest)
{
	const struct fit_plot_axis *x = &panel->x;

	put(b, "unset label\nunset xlabel\nunset ylabel\n");
	put(b, x->n_tics ? "set xtics nomirror out (" : "set xtics autofreq nomirror out");
	for (size_t i = 0; i < x->n_tics; i++) {
		put(b, i ? ", '' " : "'' ");
		put_num(b, x->at[i]);
	}
	put(b, x->n_tics ? ")\n" : "\n");
	for (size_t i = 0; i < x->n_tics; i++) {
		put_label(b, i + 1, x->tics[i]);
		put(b, "first ");
		put_num(b, x->at[i]);
		put(b, ", graph 0 center offset 0,-1.1\n");
	}
	if (lowest && x->label) {
		put_label(b, x->n_tics + 1, x->label);
		put(b, "graph 0.5, graph 0 center offset 0,-2.5\n");
	}
	if (leftmost && panel->y.label) {
		put_label(b, x->n_tics + 2, panel->y.label);
		put(b, "screen ");
		put_short(b, 15.0 / p->width);
		put(b, ", graph 0.5 center rotate by 90\n");
	}
}

static void put_grid_panel(struct builder *b, const struct fit_plot *p, const struct grid *g, size_t i,
			   const char *data, size_t *block)
{
	const struct fit_plot_panel *panel = &p->panels[i];
	size_t column = i % g->columns, row = i / g->columns;
	bool first = true;

	put_margins(b, p, GRID_LEFT + (double)column * (g->w + GRID_GAP_X),
		    g->top + (double)row * (g->h + g->gap_y), g->w, g->h);
	set_text(b, "title", panel->title ? panel->title : "", " offset 0,-0.6");
	put(b, panel->x.log ? "set logscale x 10\n" : "unset logscale x\n");
	put(b, panel->y.log ? "set logscale y 10\n" : "unset logscale y\n");
	put_range(b, panel, true);
	put_range(b, panel, false);
	put_grid_axes(b, p, panel, column == 0, i + g->columns >= p->n_panels);
	/* 10k and not 10000 where the decades from 1 up are the tics */
	put(b, panel->y.log && lowest(panel) >= 1 ? "set format y '%.0s%c'\n" : "set format y '%h'\n");
	put(b, "set ytics autofreq nomirror out\nplot ");
	for (size_t k = 0; k < panel->n_series; k++) {
		if (!panel->series[k].n)
			continue;
		put(b, first ? "" : ", \\\n     ");
		put_series(b, panel, k, data, (*block)++, false);
		first = false;
	}
	put(b, "\n");
}

static void put_grid(struct builder *b, const struct fit_plot *p, const char *data)
{
	struct grid g = grid_of(p);
	size_t block = 0;

	put(b, "set multiplot\n");
	put_grid_key(b, p, &g);
	for (size_t i = 0; i < p->n_panels; i++)
		put_grid_panel(b, p, &g, i, data, &block);
	put(b, "unset multiplot\nunset output\n");
}

int fit_plot_script(struct fit_str *out, const struct fit_plot *p, enum fit_plot_format format,
		    const char *picture, const char *data)
{
	struct builder b = { out, FIT_OK };
	struct fit_str data_name = { 0 };
	bool multi = p->n_panels > 1 || (p->title && p->panels[0].key == FIT_PLOT_KEY_ABOVE);
	size_t block = 0;

	put(&b, "# written by goodfit " FIT_VERSION "; run gnuplot on it in this folder\n"
	    "reset\nset encoding utf8\nset decimalsign '.'\n");
	put_terminal(&b, p, format);
	b.rc = b.rc ? b.rc : fit_str_printf(&data_name, "./%s", picture);
	put(&b, "set output ");
	put_text(&b, data_name.s ? data_name.s : "");
	fit_str_clear(&data_name);
	b.rc = b.rc ? b.rc : fit_str_printf(&data_name, "./%s", data);
	put(&b, "\nset datafile commentschars '#'\n"
	    "set border 3 lw 1\nset tics nomirror out\nset grid ytics lc rgb '#d0d0d0' lw 0.7 dt solid\n"
	    "set style data lines\n");
	if (p->columns) {
		put_grid(&b, p, data_name.s ? data_name.s : "");
		fit_str_release(&data_name);
		return b.rc;
	}
	if (p->n_panels > 1)
		put(&b, "set lmargin 10\nset rmargin 3\n");
	/* multiplot's title stands above the legend, a plot's own below it */
	if (multi) {
		put(&b, "set multiplot layout ");
		put_count(&b, p->n_panels);
		put(&b, ",1");
		if (p->title) {
			put(&b, " title ");
			put_text(&b, p->title);
			put(&b, " noenhanced offset 0,0.4");
		}
		put(&b, "\n");
	} else {
		set_text(&b, "title", p->title, "");
	}
	for (size_t i = 0; i < p->n_panels; i++)
		put_panel(&b, p, i, data_name.s ? data_name.s : "", &block);
	if (multi)
		put(&b, "unset multiplot\n");
	put(&b, "unset output\n");
	fit_str_release(&data_name);
	return b.rc;
}
