/* SPDX-License-Identifier: MIT */
#include "libfit/base/utf16.h"

#include <string.h>

static bool is_letter(unsigned char c)
{
	return (c >= ' ' && c < 0x7f) || c == '\t' || c == '\r' || c == '\n';
}

bool fit_utf32_begins(const unsigned char *s, size_t n)
{
	return n >= 4 && (memcmp(s, "\xff\xfe\0\0", 4) == 0 || memcmp(s, "\0\0\xfe\xff", 4) == 0);
}

bool fit_utf16_begins(const unsigned char *s, size_t n, bool *big, size_t *mark)
{
	*mark = 0;
	*big = false;
	if (n < 2)
		return false;
	if ((s[0] == 0xff && s[1] == 0xfe) || (s[0] == 0xfe && s[1] == 0xff)) {
		*big = s[0] == 0xfe;
		*mark = 2;
		return true;
	}
	if (n < 4)
		return false;
	*big = s[0] == 0;
	return *big ? s[2] == 0 && is_letter(s[1]) && is_letter(s[3]) :
	       s[1] == 0 && s[3] == 0 && is_letter(s[0]) && is_letter(s[2]);
}

static char *put_character(char *p, uint32_t c)
{
	if (c < 0x80) {
		*p++ = (char)c;
	} else if (c < 0x800) {
		*p++ = (char)(0xc0 | c >> 6);
		*p++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*p++ = (char)(0xe0 | c >> 12);
		*p++ = (char)(0x80 | (c >> 6 & 0x3f));
		*p++ = (char)(0x80 | (c & 0x3f));
	} else {
		*p++ = (char)(0xf0 | c >> 18);
		*p++ = (char)(0x80 | (c >> 12 & 0x3f));
		*p++ = (char)(0x80 | (c >> 6 & 0x3f));
		*p++ = (char)(0x80 | (c & 0x3f));
	}
	return p;
}

static int put_unit(struct fit_utf16 *u, uint32_t unit, char **p)
{
	bool is_high = unit >= 0xd800 && unit < 0xdc00, is_low = unit >= 0xdc00 && unit < 0xe000;

	if (is_low != (u->high != 0))
		return FIT_EPARSE;
	if (is_high) {
		u->high = unit;
		return FIT_OK;
	}
	if (is_low) {
		unit = 0x10000 + ((u->high - 0xd800) << 10) + (unit - 0xdc00);
		u->high = 0;
	}
	u->lines += unit == '\n';
	*p = put_character(*p, unit);
	return FIT_OK;
}

int fit_utf16_convert(struct fit_utf16 *u, const unsigned char *s, size_t n, char *out, size_t *n_out)
{
	char *p = out;
	int rc = FIT_OK;

	for (size_t i = 0; !rc && i < n; i++) {
		if (!u->half) {
			u->waiting = s[i];
			u->half = true;
			continue;
		}
		u->half = false;
		rc = put_unit(u, u->big ? (uint32_t)u->waiting << 8 | s[i] : (uint32_t)s[i] << 8 | u->waiting,
			      &p);
	}
	*n_out = (size_t)(p - out);
	return rc;
}

int fit_utf16_end(const struct fit_utf16 *u)
{
	return u->half || u->high ? FIT_EPARSE : FIT_OK;
}
