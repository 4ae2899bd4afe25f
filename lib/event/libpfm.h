/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpfm - initializes libpfm4.  After that, no call changes its variables, so all threads may use
 * it.
 *
 * The tools have libpfm.c, the library has lib/library/libpfm.c: the linker chooses.
 */
#pragma once
#include <stdbool.h>

/* Initialize libpfm4; a second call does nothing.  False: it cannot be used. */
bool libpfm_initialize(void);
