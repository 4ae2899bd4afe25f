/* SPDX-License-Identifier: Apache-2.0 */
/* sysfs - finds what profiling needs in /sys, tracefs and cgroups. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define SYSFS_ROOT "/sys"
#define SYSFS_PMUS "bus/event_source/devices"		/* below the root */
#define SYSFS_LOCKDOWN "/sys/kernel/security/lockdown"
#define SYSFS_BTF "/sys/kernel/btf/vmlinux"

/*
 * Store the directory of this machine's tracepoints ("/sys/kernel/tracing/events") in PATH.
 * False, with errno set: it cannot be read; PATH is where it usually is.
 */
bool sysfs_tracepoints(char *path, size_t size);

/*
 * Store the mount point of the cgroups for perf events in PATH: version 1's hierarchy, or
 * version 2's.  False: none is mounted.
 */
bool sysfs_cgroups(char *path, size_t size);
