/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-earlier - any bytes as the JSON of an earlier pmu-stat; what is kept of it is in order. */
#include "counting/earlier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct report report = { .tool = "fuzz", .quiet = true };
	struct earlier e;

	bool good = earlier_parse(&e, "input", (const char *)bytes, size, &report);
	if (good != (report.status == 0) || (good && !e.rows.count))
		abort();
	for (size_t i = 0; good && i < e.rows.count; i++) {
		const struct counting_row *row = &e.rows.row[i];
		if (row->runs > e.rows.runs || counting_rows_find(&e.rows, row->name) != row ||
		    (row->runs && !(row->min <= row->max)))
			abort();
	}
	earlier_release(&e);
	return 0;
}
