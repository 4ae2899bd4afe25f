/* SPDX-License-Identifier: Apache-2.0 */
#include "event/internal.h"
#include "linux/read.h"
#include "linux/sysfs.h"

#include <inttypes.h>
#include <stdio.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* Write the id that the instruction CPUID gives. */
static void identify_here(char id[CPU_ID_SIZE])
{
	unsigned int a, b, c, d;
	char vendor[13] = "";

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return;
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return;
	unsigned int family = a >> 8 & 15, model = a >> 4 & 15;
	if (family == 6 || family == 15)
		model |= (a >> 16 & 15) << 4;
	if (family == 15)
		family += a >> 20 & 255;
	snprintf(id, CPU_ID_SIZE, "%s-%u-%X-%X", vendor, family, model, a & 15);
}
#else
static void identify_here(char id[CPU_ID_SIZE])
{
	*id = '\0';
}
#endif

/* Write the id in sysfs's "cpu:type:x86,ven0000fam0006mod006A:feature:...": without a stepping. */
static void identify_alias(const char *text, char id[CPU_ID_SIZE])
{
	unsigned int vendor, family, model;

	if (sscanf(text, "cpu:type:x86,ven%4xfam%4xmod%4x:", &vendor, &family, &model) != 3)
		return;
	/* X86_VENDOR_* of the kernel's processor.h */
	const char *name = vendor == 0 ? "GenuineIntel" : vendor == 2 ? "AuthenticAMD"
			 : vendor == 9 ? "HygonGenuine" : NULL;
	if (name)
		snprintf(id, CPU_ID_SIZE, "%s-%u-%X", name, family, model);
}

void cpu_identify(struct pmus *pmus, struct pmu *pmu, char id[CPU_ID_SIZE])
{
	bool has_cpus = pmu && pmus_load(pmus, pmu) && pmu->cpus > 0;
	char text[512];
	uint64_t midr;

	*id = '\0';
	if (linux_read_text(text, sizeof(text), "%s/devices/system/cpu/cpu%d/regs/identification/"
			    "midr_el1", pmus->root, has_cpus ? pmu->cpu[0] : 0)) {
		if (slice_number((struct slice){ text, strlen(text) }, &midr))
			snprintf(id, CPU_ID_SIZE, "0x%02" PRIx64 "%03" PRIx64,
				 midr >> 24 & 0xff, midr >> 4 & 0xfff);
		return;
	}
	if (!strcmp(pmus->root, SYSFS_ROOT))
		identify_here(id);
	else if (linux_read_text(text, sizeof(text), "%s/devices/system/cpu/modalias", pmus->root))
		identify_alias(text, id);
}

const char *cpu_role(const struct pmu *pmu)
{
	return pmu && !strncmp(pmu->name, "cpu_", 4) ? pmu->name + 4 : "";
}
