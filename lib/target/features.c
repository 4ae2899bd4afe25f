/* SPDX-License-Identifier: Apache-2.0 */
#include "target/features.h"
#include "base/clock.h"
#include "base/version.h"
#include "event/pmu.h"
#include "linux/cpus.h"
#include "record/origin.h"
#include "stream/writer.h"

#include <sys/utsname.h>
#include <unistd.h>

static void write_clock(struct output *out, int clock)
{
	/* CLOCK is read before and after the wall clock: the mean is its time in between. */
	uint64_t before = clock_ns(clock), wall = clock_ns(CLOCK_REALTIME);
	uint64_t time = before + (clock_ns(clock) - before) / 2;

	writer_clock(out, (uint32_t)clock, wall, time);
}

void features_write_recorder(struct output *out, const char *remark)
{
	char text[1024];

	snprintf(text, sizeof(text), "pmukit %s%s%s", version_text, remark ? "; " : "",
		 remark ? remark : "");
	writer_feature_text(out, FEATURE_VERSION, text);
}

void features_write(struct output *out, int argc, char *const *argv, int clock)
{
	struct utsname host;
	char model[256];
	uint32_t cpus[2] = { (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
			     (uint32_t)sysconf(_SC_NPROCESSORS_ONLN) };

	if (uname(&host) == 0) {
		writer_feature_text(out, FEATURE_HOSTNAME, host.nodename);
		writer_feature_text(out, FEATURE_OSRELEASE, host.release);
		writer_feature_text(out, FEATURE_ARCH, host.machine);
	}
	writer_feature(out, FEATURE_NRCPUS, cpus, sizeof(cpus));
	if (cpus_model(model, sizeof(model)))
		writer_feature_text(out, FEATURE_CPUDESC, model);
	writer_feature_list(out, FEATURE_CMDLINE, argv, (size_t)argc);
	write_clock(out, clock);
}

void features_write_cpu(struct output *out)
{
	struct pmus pmus = { 0 };
	char id[CPU_ID_SIZE], vendor[16], text[80];
	unsigned int family, model, stepping;

	pmus_read(&pmus, NULL);
	cpu_identify(&pmus, NULL, id);	/* "AuthenticAMD-19-21-0" */
	if (sscanf(id, "%15[^-]-%x-%x-%x", vendor, &family, &model, &stepping) == 4) {
		snprintf(text, sizeof(text), "%s,%u,%u,%u", vendor, family, model, stepping);
		writer_feature_text(out, FEATURE_CPUID, text);
	}
	pmus_release(&pmus);
}

void features_write_time_span(struct output *out, uint64_t first, uint64_t last)
{
	uint64_t span[2] = { first, last };

	writer_feature(out, FEATURE_SAMPLE_TIME, span, sizeof(span));
}
