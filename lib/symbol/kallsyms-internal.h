/* SPDX-License-Identifier: Apache-2.0 */
/* The list itself, for kallsyms.c and kallsyms-copy.c. */
#pragma once
#include "base/span.h"
#include "linux/kernel-info.h"
#include "symbol/kallsyms.h"

struct kallsyms {
	char *text;		/* the file, with NULs as separators */
	struct kernel_symbol *symbol;	/* of code, or of variables, sorted by address */
	size_t symbols;
	bool is_copy;		/* without the code that the kernel generates */
	struct extent image;	/* of a copy: the kernel's own code, without its last function */
	char trouble[160];
};
