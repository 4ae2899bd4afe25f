/* SPDX-License-Identifier: Apache-2.0 */
/* cpus - lists of CPUs as Linux writes them. */
#pragma once
#include "base/arena.h"

/*
 * Return the CPUs of a list such as "0-3,8", *COUNT of them, in ARENA.  NULL: the list names
 * none.
 */
const int *cpus_parse(struct arena *arena, const char *text, size_t *count);
