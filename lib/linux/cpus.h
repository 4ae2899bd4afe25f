/* SPDX-License-Identifier: Apache-2.0 */
/* cpus - lists of CPUs as Linux writes them. */
#pragma once
#include "base/arena.h"

/*
 * Return the CPUs of a list such as "0-3,8" as an array in ARENA, with their number in *COUNT.
 * NULL: the list is empty or malformed.
 */
const int *cpus_parse(struct arena *arena, const char *text, size_t *count);
