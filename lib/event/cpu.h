/* SPDX-License-Identifier: Apache-2.0 */
/* cpu - which CPU a PMU belongs to, as the makers' tables name CPUs. */
#pragma once
#include "event/pmu.h"

enum { CPU_ID_SIZE = 64 };

/*
 * Set ID to the id of the CPUs that PMU counts on.  If PMU is NULL, take the first CPU.  An id is
 * "GenuineIntel-6-6A-6" (vendor, family, model and stepping, in hexadecimal), "0x41d0c" (Arm's
 * implementer and part), or "" if it is unknown.  PMUS must have been read.  If its root is a copy
 * of another machine's /sys, the id is the other machine's, or "" if its sysfs does not show it.
 */
void cpu_identify(struct pmus *pmus, struct pmu *pmu, char id[CPU_ID_SIZE]);

/* Return the kind of core that PMU counts on ("core" for cpu_core); "": all are of one kind. */
const char *cpu_role(const struct pmu *pmu);
