/* SPDX-License-Identifier: MIT */
#include "libfit/base/c_out.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

bool fit_c_is_name(const char *s)
{
	static const char *const taken[] = {
		"auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
		"extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
		"short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
		"volatile", "while",
		/* of later C, or of compilers; and what the functions need themselves */
		"alignas", "alignof", "asm", "bool", "constexpr", "false", "nullptr", "static_assert",
		"thread_local", "true", "typeof", "typeof_unqual", "main", "exp"
	};
	size_t n = 0;

	for (; s[n]; n++)
		if (!(s[n] == '_' || (s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
		      (n > 0 && s[n] >= '0' && s[n] <= '9')))
			return false;
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (strcmp(s, taken[i]) == 0)
			return false;
	/* names that begin with _ belong to the compiler */
	return n > 0 && n <= FIT_C_NAME_MAX && s[0] != '_';
}

void fit_c_put(struct fit_c_out *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!o->rc)
		o->rc = fit_str_vprintf(o->s, fmt, ap);
	va_end(ap);
}

void fit_c_comment(struct fit_c_out *o, const char *s)
{
	for (; *s && !o->rc; s++) {
		if ((unsigned char)*s < 0x20 || (s[0] == '*' && s[1] == '/') || (s[0] == '/' && s[1] == '*'))
			o->rc = fit_str_puts(o->s, "?");
		else
			o->rc = fit_str_add(o->s, s, 1);
	}
}

void fit_c_numbered(struct fit_c_out *o, const char *lead, char *const *names, size_t n)
{
	for (size_t i = 0; i < n && !o->rc; i++) {
		fit_c_put(o, "%s%zu ", i ? ", " : lead, i);
		fit_c_comment(o, names[i]);
	}
}

/* Not by %a, whose point is the locale's. */
void fit_c_real(struct fit_c_out *o, double v)
{
	static const char digit[] = "0123456789abcdef";
	char buf[16];
	uint64_t bits;
	int n = 0, exponent;

	memcpy(&bits, &v, sizeof bits);
	exponent = (int)(bits >> 52 & 0x7ff);
	if (isinf(v)) {
		fit_c_put(o, v > 0 ? "(1e308 * 10)" : "(-1e308 * 10)");
		return;
	}
	for (uint64_t rest = bits << 12; rest; rest <<= 4)
		buf[n++] = digit[rest >> 60];
	buf[n] = '\0';
	fit_c_put(o, "%s0x%d%s%sp%+d", signbit(v) ? "-" : "", exponent > 0, n ? "." : "", buf,
		  exponent ? exponent - (DBL_MAX_EXP - 1) : n ? DBL_MIN_EXP - 1 : 0);
}

void fit_c_reals(struct fit_c_out *o, const double *v, size_t n, int indent)
{
	fit_c_put(o, "{ ");
	for (size_t i = 0; i < n && !o->rc; i++) {
		if (i && i % 4 == 0)
			fit_c_put(o, ",\n%.*s", indent, "\t\t\t\t\t\t\t\t");
		else if (i)
			fit_c_put(o, ", ");
		fit_c_real(o, v[i]);
	}
	fit_c_put(o, " }");
}
