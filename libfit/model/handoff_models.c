/* SPDX-License-Identifier: MIT */
/*
 * Trees and GA2Ms as JSON and as C. C cannot be read back in general: behind the functions stands the
 * model's
 * JSON in a comment, and reading checks that the functions are those of that model.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/c_out.h"
#include "libfit/model/ga2m_json.h"
#include "libfit/model/handoff_formats.h"
#include "libfit/model/tree.h"
#include "libfit/table/source.h"

/* A kind of model: an opaque struct of `size` bytes. */
struct model {
	size_t size;
	const char *name;	/* of the function, by default */
	int (*table)(void *m, const char *operand, struct fit_err *err);
	int (*json)(void *m, const char *name, const char *bytes, size_t n, struct fit_err *err);
	int (*write)(const void *m, struct fit_writer *w, const struct fit_meta *meta, struct fit_err *err);
	int (*print_json)(const void *m, struct fit_str *out, struct fit_err *err);
	int (*print_c)(const void *m, const char *name, struct fit_str *out, struct fit_err *err);
	void (*release)(void *m);
};

static int tree_table(void *m, const char *operand, struct fit_err *err)
{
	return fit_tree_read(m, operand, NULL, err);
}

static int tree_json(void *m, const char *name, const char *bytes, size_t n, struct fit_err *err)
{
	return fit_tree_read_json(m, name, bytes, n, err);
}

static int tree_write(const void *m, struct fit_writer *w, const struct fit_meta *meta, struct fit_err *err)
{
	return fit_tree_write(m, NULL, w, meta, err);
}

static int tree_print_json(const void *m, struct fit_str *out, struct fit_err *err)
{
	return fit_tree_print_json(m, out, err);
}

static int tree_print_c(const void *m, const char *name, struct fit_str *out, struct fit_err *err)
{
	return fit_tree_print_c(m, name, out, err);
}

static void tree_release(void *m)
{
	fit_tree_release(m);
}

static const struct model tree = { sizeof(struct fit_tree), "tree", tree_table, tree_json, tree_write,
				   tree_print_json, tree_print_c, tree_release };

static int ga2m_table(void *m, const char *operand, struct fit_err *err)
{
	char hash[FIT_HASH_HEX];

	return fit_ga2m_read(m, operand, hash, err);
}

static int ga2m_json(void *m, const char *name, const char *bytes, size_t n, struct fit_err *err)
{
	return fit_ga2m_read_json(m, name, bytes, n, err);
}

static int ga2m_write(const void *m, struct fit_writer *w, const struct fit_meta *meta, struct fit_err *err)
{
	const struct fit_ga2m *model = m;

	/* where the JSON says what it was made of, that is what counts */
	return fit_ga2m_write(m, model->meta.n ? &model->meta : meta, w, err);
}

static int ga2m_print_json(const void *m, struct fit_str *out, struct fit_err *err)
{
	return fit_ga2m_print_json(m, out, err);
}

static int ga2m_print_c(const void *m, const char *name, struct fit_str *out, struct fit_err *err)
{
	return fit_ga2m_print_c(m, name, out, err);
}

static void ga2m_release(void *m)
{
	fit_ga2m_release(m);
}

static const struct model ga2m = { sizeof(struct fit_ga2m), "model", ga2m_table, ga2m_json, ga2m_write,
				   ga2m_print_json, ga2m_print_c, ga2m_release };

/* ---- in ---- */

static int load_json(const struct model *k, void *m, const char *operand, struct fit_err *err)
{
	struct fit_str text = { 0 };
	int rc = fit_source_slurp(operand, &text, NULL, err);

	rc = rc ? rc : k->json(m, fit_operand_name(operand), text.s ? text.s : "", text.n, err);
	fit_str_release(&text);
	return rc;
}

/* From tables, or JSON where the name says so. *m is freed by unload(). */
static int load(const struct model *k, void **m, const char *operand, struct fit_err *err)
{
	int rc;

	*m = calloc(1, k->size);
	if (!*m)
		return fit_fail_nomem(err);
	rc = fit_operand_is_json(operand) ? load_json(k, *m, operand, err) : k->table(*m, operand, err);
	if (rc) {
		free(*m);
		*m = NULL;
	}
	return rc;
}

static void unload(const struct model *k, void *m)
{
	if (m)
		k->release(m);
	free(m);
}

/* ---- JSON ---- */

static int write_json(const struct model *k, const char *operand, struct fit_str *out, struct fit_err *err)
{
	void *m;
	int rc = load(k, &m, operand, err);

	rc = rc ? rc : k->print_json(m, out, err);
	unload(k, m);
	return rc;
}

static int read_json(const struct model *k, const char *name, struct fit_text bytes, struct fit_writer *w,
		     const struct fit_meta *meta, struct fit_err *err)
{
	void *m = calloc(1, k->size);
	int rc = m ? k->json(m, name, bytes.s, bytes.n, err) : fit_fail_nomem(err);

	if (rc) {
		free(m);
		return rc;
	}
	rc = k->write(m, w, meta, err);
	unload(k, m);
	return rc;
}

/* ---- C ---- */

#define MARK "/* goodfit-model "

/* The functions, and the model in a comment: a slash is escaped, so that nothing ends it. */
static int print_c(const struct model *k, const void *m, const char *name, struct fit_str *out,
		   struct fit_err *err)
{
	struct fit_str json = { 0 };
	int rc = k->print_c(m, name, out, err);

	rc = rc ? rc : k->print_json(m, &json, err);
	if (!rc && fit_str_printf(out, "\n" MARK "%s\n", name))
		rc = fit_fail_nomem(err);
	for (size_t i = 0; i < json.n && !rc; i++)
		if (json.s[i] == '/' ? fit_str_puts(out, "\\/") : fit_str_add(out, &json.s[i], 1))
			rc = fit_fail_nomem(err);
	if (!rc && fit_str_puts(out, "*/\n"))
		rc = fit_fail_nomem(err);
	fit_str_release(&json);
	return rc;
}

static int write_c(const struct model *k, const char *operand, const struct fit_handoff_options *o,
		   struct fit_str *out, struct fit_err *err)
{
	const char *name = o->name ? o->name : k->name;
	void *m;
	int rc;

	if (!fit_c_is_name(name))
		return fit_fail(err, FIT_EINVAL, "bad name '%s' (expected a C identifier)", name);
	rc = load(k, &m, operand, err);
	rc = rc ? rc : print_c(k, m, name, out, err);
	unload(k, m);
	return rc;
}

/* Where the comment with the model starts, its name and its JSON. */
static bool find_model(struct fit_text bytes, struct fit_text *name, struct fit_text *json)
{
	size_t mark = sizeof MARK - 1, at = bytes.n;
	const char *end;

	while (at > 0 && !(at + mark <= bytes.n && memcmp(bytes.s + at, MARK, mark) == 0))
		at--;
	if (at + mark > bytes.n || memcmp(bytes.s + at, MARK, mark) != 0)
		return false;
	*name = (struct fit_text){ bytes.s + at + mark, bytes.n - at - mark };
	end = memchr(name->s, '\n', name->n);
	if (!end || bytes.n < at + mark + 4 || memcmp(bytes.s + bytes.n - 3, "*/\n", 3) != 0 ||
	    end + 4 > bytes.s + bytes.n)
		return false;
	name->n = (size_t)(end - name->s);
	*json = (struct fit_text){ end + 1, (size_t)(bytes.s + bytes.n - 3 - (end + 1)) };
	return true;
}

static int read_c(const struct model *k, const char *file, struct fit_text bytes, struct fit_writer *w,
		  const struct fit_meta *meta, struct fit_err *err)
{
	struct fit_text name, json;
	struct fit_str again = { 0 };
	void *m = NULL;
	char *function = NULL;
	int rc;

	if (!find_model(bytes, &name, &json))
		return fit_fail(err, FIT_EDATA,
				"%s: no model behind the functions (expected what gf-export writes)", file);
	m = calloc(1, k->size);
	function = fit_strdup(name);
	rc = m && function ? k->json(m, file, json.s, json.n, err) : fit_fail_nomem(err);
	if (rc) {
		free(m);
		free(function);
		return rc;
	}
	if (!fit_c_is_name(function))
		rc = fit_fail(err, FIT_EDATA, "%s: bad name of the functions", file);
	rc = rc ? rc : print_c(k, m, function, &again, err);
	if (!rc && !fit_text_eq(bytes, (struct fit_text){ again.s, again.n }))
		rc = fit_fail(err, FIT_EDATA, "%s: the functions are not those of the model behind them",
			      file);
	rc = rc ? rc : k->write(m, w, meta, err);
	fit_str_release(&again);
	free(function);
	unload(k, m);
	return rc;
}

/* ---- the formats ---- */

static bool is_tree_json(struct fit_text b)
{
	return fit_handoff_first(b) == '{' &&
	       (fit_handoff_has(b, "\"nodes\"") || fit_handoff_has(b, "\"children_left\""));
}

static bool is_ga2m_json(struct fit_text b)
{
	return fit_handoff_first(b) == '{' && fit_handoff_has(b, "\"ebm\"");
}

static bool is_tree_c(struct fit_text b)
{
	return fit_handoff_first(b) == '/' && fit_handoff_has(b, MARK) &&
		fit_handoff_has(b, "\"goodfit-tree");
}

static bool is_ga2m_c(struct fit_text b)
{
	return fit_handoff_first(b) == '/' && fit_handoff_has(b, MARK) && fit_handoff_has(b, "\"ebm\"");
}

static int write_tree_json(const char *operand, const struct fit_handoff_options *o, struct fit_str *out,
			   struct fit_err *err)
{
	(void)o;
	return write_json(&tree, operand, out, err);
}

static int write_ga2m_json(const char *operand, const struct fit_handoff_options *o, struct fit_str *out,
			   struct fit_err *err)
{
	(void)o;
	return write_json(&ga2m, operand, out, err);
}

static int write_tree_c(const char *operand, const struct fit_handoff_options *o, struct fit_str *out,
			struct fit_err *err)
{
	return write_c(&tree, operand, o, out, err);
}

static int write_ga2m_c(const char *operand, const struct fit_handoff_options *o, struct fit_str *out,
			struct fit_err *err)
{
	return write_c(&ga2m, operand, o, out, err);
}

static int read_tree_json(const char *name, struct fit_text b, struct fit_writer *w,
			  const struct fit_meta *meta,
			  struct fit_err *err)
{
	return read_json(&tree, name, b, w, meta, err);
}

static int read_ga2m_json(const char *name, struct fit_text b, struct fit_writer *w,
			  const struct fit_meta *meta,
			  struct fit_err *err)
{
	return read_json(&ga2m, name, b, w, meta, err);
}

static int read_tree_c(const char *name, struct fit_text b, struct fit_writer *w,
		       const struct fit_meta *meta,
		       struct fit_err *err)
{
	return read_c(&tree, name, b, w, meta, err);
}

static int read_ga2m_c(const char *name, struct fit_text b, struct fit_writer *w,
		       const struct fit_meta *meta,
		       struct fit_err *err)
{
	return read_c(&ga2m, name, b, w, meta, err);
}

const struct fit_handoff_format fit_handoff_tree_json = {
	"tree-json", "a decision tree as JSON", 0, is_tree_json, write_tree_json, read_tree_json
};
const struct fit_handoff_format fit_handoff_tree_c = {
	"tree-c", "a decision tree as C functions", FIT_HANDOFF_NAME, is_tree_c, write_tree_c, read_tree_c
};
const struct fit_handoff_format fit_handoff_ga2m_json = {
	"ga2m-json", "a GA2M as JSON", 0, is_ga2m_json, write_ga2m_json, read_ga2m_json
};
const struct fit_handoff_format fit_handoff_ga2m_c = {
	"ga2m-c", "a GA2M as C functions", FIT_HANDOFF_NAME, is_ga2m_c, write_ga2m_c, read_ga2m_c
};
