/* SPDX-License-Identifier: MIT */
/*
 * Time zones from any bytes: as a file of the tz database, and as the text of --tz. Whatever is taken
 * must give offsets of a day at most, and instants that lead back to the time of the clock.
 */
#include <stdlib.h>
#include <string.h>

#include "libfit/base/num.h"
#include "tests/fuzz/fuzz.h"
#include "traces/jobs.h"
#include "traces/zone.h"

static void use(const struct fit_zone *z)
{
	for (int64_t s = INT64_C(-2000000000); s < INT64_C(4000000000); s += 150000007) {
		int64_t local = s * FIT_NS_PER_S, utc, offset_s = fit_zone_offset(z, local);
		int n = fit_zone_to_utc(z, local, FIT_INT_NA, &utc);

		if (offset_s < -26 * 3600 || offset_s > 26 * 3600 || n < 0 || n > 2)
			abort();
		if (n && utc + fit_zone_offset(z, utc) * FIT_NS_PER_S != local)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const nowhere[] = { "/no/such/folder", NULL };
	struct fit_zone z = { .given = true };
	struct fit_err err = { 0 };
	char text[64];

	if (fit_zone_table_parse(&z.table, data, size, "z", &err) == FIT_OK)
		use(&z);
	fit_zone_release(&z);
	if (size >= sizeof text || memchr(data, '/', size))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (fit_zone_parse_in(&z, text, nowhere, &err) == FIT_OK)
		use(&z);
	fit_zone_release(&z);
	return 0;
}
