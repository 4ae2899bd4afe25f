/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-maker-json - any bytes as a maker's JSON of events; what is kept of it is in order. */
#include "event/maker-json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct report report = { .tool = "fuzz", .quiet = true };
	struct maker_json json = { .count = 0 };

	maker_json_read(&json, "input", (const char *)bytes, size, &report);
	maker_json_finish(&json);
	for (size_t i = 0; i < json.count; i++) {
		struct slice name = { json.event[i].name, strlen(json.event[i].name) };
		if (!name.size || strpbrk(name.at, "\t\n ") || json.role[i] >= JSON_ROLES)
			abort();
		if (i > 0 && json.role[i - 1] == json.role[i] &&
		    tables_compare(name, json.event[i - 1].name) <= 0)
			abort();
	}
	maker_json_release(&json);
	return 0;
}
