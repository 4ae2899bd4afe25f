/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/hypervisor.h"
#include "linux/read.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Return the hypervisor's name, by the 12 letters that CPUID has of it. */
static const char *name_of(const char *letters)
{
	static const char *const known[][2] = {
		{ "KVMKVMKVM", "KVM" }, { "Microsoft Hv", "Hyper-V" }, { "VMwareVMware", "VMware" },
		{ "XenVMMXenVMM", "Xen" }, { "TCGTCGTCGTCG", "QEMU" }, { "bhyve bhyve ", "bhyve" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(letters, known[i][0]))
			return known[i][1];
	return "an unknown hypervisor";
}

const char *hypervisor_describe(char text[HYPERVISOR_SIZE])
{
	unsigned int a, b, c, d;
	char letters[13] = "";

	/* Intel's and AMD's manuals keep leaf 1, ECX bit 31, for hypervisors */
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
		return "real: no hypervisor, as far as the CPU says";
	__cpuid(0x40000000, a, b, c, d);
	memcpy(letters, &b, 4);
	memcpy(letters + 4, &c, 4);
	memcpy(letters + 8, &d, 4);
	snprintf(text, HYPERVISOR_SIZE, "virtual (%s)", name_of(letters));
	return text;
}
#else
/* Only known makers of virtual machines are named. */
const char *hypervisor_describe(char text[HYPERVISOR_SIZE])
{
	static const char *const makers[] = { "QEMU", "VMware", "Xen", "Microsoft", "Google",
					      "Amazon", "Parallels", "Apple" };
	char line[128];

	if (linux_read_text(line, sizeof(line), "/sys/hypervisor/type"))
		return "virtual";
	if (!linux_read_text(line, sizeof(line), "/sys/class/dmi/id/sys_vendor") &&
	    !linux_read_text(line, sizeof(line), "/proc/device-tree/compatible"))
		return "unknown";
	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
		if (strstr(line, makers[i])) {
			snprintf(text, HYPERVISOR_SIZE, "virtual or rented (%s)", makers[i]);
			return text;
		}
	if (strstr(line, "dummy-virt"))
		return "virtual (QEMU)";
	return "real, as far as the firmware says";
}
#endif
