/* SPDX-License-Identifier: Apache-2.0 */
/* cpu - which CPU a PMU belongs to, as the makers' tables name CPUs. */
#pragma once
#include "event/pmu.h"

enum { CPU_ID_SIZE = 64 };

/*
 * Write the id of the CPU, or of the kind of core, that PMU (NULL: the first CPU) counts on:
 * "GenuineIntel-6-6A-6" (vendor, family, model, stepping, in hexadecimal), "0x41d0c" (Arm's
 * implementer and part), or "" if it is unknown.  PMUS has been read; if its root is not /sys, the
 * id is that of the machine whose sysfs was copied there, as far as sysfs has it.
 */
void cpu_identify(struct pmus *pmus, struct pmu *pmu, char id[CPU_ID_SIZE]);

/* Return the kind of core that PMU is for, "core" of cpu_core; "": there is one kind only. */
const char *cpu_role(const struct pmu *pmu);
