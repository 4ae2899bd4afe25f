/* SPDX-License-Identifier: Apache-2.0 */
/* catalog - every event there is, as a table for people. */
#pragma once
#include "event/event.h"

/* Print the events whose name matches one of COUNT GLOBs (none: all) to stdout. */
void catalog_print(char *const *glob, size_t count);
