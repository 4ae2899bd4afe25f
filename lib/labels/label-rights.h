/* SPDX-License-Identifier: Apache-2.0 */
/* label-rights - finds which rights and kernel features that labels need are missing here. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/*
 * Return whether labels can be recorded here: run a program that reads this process.  Otherwise
 * write the reason to REASON (SIZE bytes).
 */
bool label_rights_check(char *reason, size_t size);
