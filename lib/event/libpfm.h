/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpfm - libpfm4, set up.  Nothing changes its variables afterwards, so all threads may use it.
 *
 * libpfm.c is the tools', lib/library has its own: the linker chooses.
 */
#pragma once
#include <stdbool.h>

/* Initialize libpfm4; a second call does nothing.  False: it cannot be used. */
bool libpfm_initialize(void);
