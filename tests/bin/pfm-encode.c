/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfm-encode N - encode N events of each model that libpfm4 supports, with libpfm4 alone.
 * pfm-encode - - encode the events whose names stand on the lines of stdin, if libpfm4 has them.
 *
 * Writes "MODEL::EVENT:UMASK TYPE CONFIG CONFIG1 CONFIG2" per event, to check how
 * pmu-events encodes the same name.  The events are spread over the list of each model;
 * the umask is the last that encodes with the event, if there is one.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <perfmon/pfmlib_perf_event.h>

static bool encode(const char *name)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t arg = { .size = sizeof(arg), .attr = &attr };

	if (pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg))
		return false;
	printf("%s %u 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 "\n", name, attr.type,
	       (uint64_t)attr.config, (uint64_t)attr.config1, (uint64_t)attr.config2);
	return true;
}

/* Encode the event with its last umask that encodes, or else alone.  False: nothing encodes. */
static bool encode_any(const char *model, int index)
{
	pfm_event_info_t event = { .size = sizeof(event) };
	bool found = false;
	char name[256];

	if (pfm_get_event_info(index, PFM_OS_NONE, &event))
		return false;
	for (int i = event.nattrs - 1; i >= 0 && !found; i--) {
		pfm_event_attr_info_t a = { .size = sizeof(a) };
		if (pfm_get_event_attr_info(index, i, PFM_OS_NONE, &a) || a.type != PFM_ATTR_UMASK)
			continue;
		snprintf(name, sizeof(name), "%s::%s:%s", model, event.name, a.name);
		found = encode(name);
	}
	snprintf(name, sizeof(name), "%s::%s", model, event.name);
	return found || encode(name);
}

static int encode_named(void)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		encode(line);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int wanted = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (argc == 2 && !strcmp(argv[1], "-"))
		return pfm_initialize() ? 2 : encode_named();
	if (wanted < 1 || pfm_initialize())
		return 2;
	for (int pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = { .size = sizeof(info) };
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) || info.type != PFM_PMU_TYPE_CORE ||
		    !strncmp(info.name, "perf", 4) || info.nevents < 10)
			continue;
		int step = info.nevents / wanted > 0 ? info.nevents / wanted : 1;
		int index = info.first_event;
		for (int n = 0; n < info.nevents && index >= 0; n++) {
			if (n % step == 0)
				encode_any(info.name, index);
			index = pfm_get_event_next(index);
		}
	}
	return 0;
}
