/* SPDX-License-Identifier: MIT */
/*
 * What gf-sweep reads, on any bytes: as a plan, as a table of combinations, as an axis, as the words of a command
 * line. Words that were cut and joined must be cut into the same words again, and a plan that is read and
 * written must be read again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/sweep_plan.h"
#include "tools/sweep_result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int look_up(void *arg, struct fit_text name, struct fit_text *value, struct fit_err *err)
{
	(void)arg;
	(void)err;
	*value = name;
	return name.n % 2 ? FIT_OK : FIT_ENOTFOUND;
}

static void try_words(const char *text, size_t size)
{
	struct sweep_words words = { 0 }, again = { 0 };
	struct fit_str line = { 0 }, filled = { 0 };
	struct fit_err err;

	/* words are C strings */
	if (!memchr(text, '\0', size) && !sweep_words_split(&words, (struct fit_text){ text, size }, &err)) {
		if (sweep_words_join(&line, &words) ||
		    sweep_words_split(&again, (struct fit_text){ line.s, line.n }, &err) || words.n != again.n)
			abort();
		for (size_t i = 0; i < words.n; i++)
			if (strcmp(words.w[i], again.w[i]) != 0)
				abort();
	}
	if (!sweep_fill(&filled, (struct fit_text){ text, size }, look_up, NULL, &err) && filled.n > size)
		abort();
	sweep_words_release(&words);
	sweep_words_release(&again);
	fit_str_release(&line);
	fit_str_release(&filled);
}

static void try_axis(const char *text)
{
	struct sweep_grid g = { 0 };
	struct fit_err err;
	size_t rows;
	bool chosen[8];

	if (!sweep_grid_axis(&g, text, &err)) {
		if (sweep_grid_size(&g, &rows, &err) || rows != g.axes[0].n)
			abort();
		sweep_grid_value(&g, 0, rows - 1);
	}
	sweep_grid_release(&g);
	if (!sweep_rows_choose(text, 8, chosen, &err) &&
	    !(chosen[0] || chosen[1] || chosen[2] || chosen[3] || chosen[4] || chosen[5] || chosen[6] || chosen[7]))
		abort();
}

static void try_tables(const char *name)
{
	struct sweep_grid g = { 0 };
	struct sweep_plan p, again;
	struct fit_writer *w;
	struct fit_err err;
	char out[40];
	FILE *f;

	if (!sweep_grid_table(&g, name, &err) && g.n == 0)
		abort();
	sweep_grid_release(&g);
	if (sweep_plan_read(&p, name, &err))
		return;
	f = tmpfile();
	if (f) {
		snprintf(out, sizeof out, "/dev/fd/%d", fileno(f));
		if (fit_writer_open(&w, out, 0, &err))
			abort();
		/* columns of a hostile plan may not be writable */
		if (!sweep_plan_write(&p, NULL, w, &err)) {
			if (fit_writer_close(w, &err) || lseek(fileno(f), 0, SEEK_SET) ||
			    sweep_plan_read(&again, out, &err))
				abort();
			if (again.n_rows != p.n_rows || again.n_inputs != p.n_inputs || again.files.n != p.files.n)
				abort();
			sweep_plan_release(&again);
		} else {
			fit_writer_abort(w);
		}
		fclose(f);
	}
	sweep_plan_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), name[40];
	FILE *f = tmpfile();

	if (text && f && fwrite(data, 1, size, f) == size && fflush(f) == 0) {
		memcpy(text, data, size);
		text[size] = '\0';
		try_words(text, size);
		try_axis(text);
		snprintf(name, sizeof name, "/dev/fd/%d", fileno(f));
		try_tables(name);
	}
	free(text);
	if (f)
		fclose(f);
	return 0;
}
