/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf - maps and programs in the kernel, by bpf(2), without libraries.
 *
 * The programs call helpers that read memory.  The kernel allows these helpers only in programs
 * that declare a licence compatible with the GPL.  So the instructions that this project assembles
 * are loaded as "Dual MIT/GPL".
 */
#pragma once
#include "labels/bpf-code.h"

#include <stddef.h>

/* Create a map of TYPE (BPF_MAP_TYPE_*).  Returns a descriptor, or -1 with errno set. */
int bpf_map_new(int type, size_t key, size_t value, size_t entries);

/* Set, get or remove the value of KEY.  False: errno is set. */
bool bpf_map_set(int map, const void *key, const void *value);
bool bpf_map_get(int map, const void *key, void *value);
bool bpf_map_remove(int map, const void *key);

/*
 * Load CODE as a program for perf events.  Returns a descriptor, or -1 with errno set, and in WHY
 * (SIZE bytes) the last line of the kernel verifier's messages, or "".
 */
int bpf_program_load(const struct bpf_code *code, char *why, size_t size);

/* Run PROGRAM at each overflow of the perf event FD.  False: errno is set. */
bool bpf_program_attach(int program, int fd);
