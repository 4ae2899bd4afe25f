/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-metrics - any bytes as a file of metrics; what is accepted has values. */
#include "counting/user-metrics.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct report report = { .tool = "fuzz", .quiet = true };
	struct user_metrics m = { .count = 0 };
	const double count[] = { 7 };
	size_t index = 0;

	if (metrics_parse(&m, "input", (const char *)bytes, size, &report)) {
		for (size_t i = 0; i < m.events; i++) {
			m.event[i].counted = &index;
			m.event[i].count = 1;
		}
		for (size_t i = 0; i < m.count; i++)
			metric_value(&m, &m.metric[i], count);
		for (size_t i = 0; i < m.events; i++)
			m.event[i].counted = NULL;
	} else if (!report.status) {
		abort();
	}
	metrics_release(&m);
	return 0;
}
