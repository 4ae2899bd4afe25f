/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-names - the names of attributes in OpenTelemetry's thread contexts.
 *
 * A thread context has numbers; the names are in the process context (OTEP 4719), in the memory of
 * the process.  The process may append names at any time.
 */
#pragma once
#include "base/table.h"

#include <stdbool.h>
#include <sys/types.h>

enum { LABEL_NAMES_MAX = 256 };		/* attribute numbers are bytes */

/* Zero-initialised: no process is known. */
struct label_names {
	struct process_names {
		pid_t pid;
		uint64_t at;		/* address of the process context; 0: it has none */
		uint64_t read_at;	/* when it was read last, ns of CLOCK_MONOTONIC */
		uint64_t pause;		/* least time until it is read again, ns */
		uint32_t names;
		char *name[LABEL_NAMES_MAX];
	} **process;
	size_t processes;
	struct table table;		/* index of PROCESS by pid */
};

/* Read the names from the context that process PID maps, and forget older names of PID. */
void label_names_read(struct label_names *n, pid_t pid);

/* Return the name of attribute NUMBER in process PID, or NULL.  May read the context again. */
const char *label_names_find(struct label_names *n, pid_t pid, uint8_t number);

void label_names_release(struct label_names *n);
