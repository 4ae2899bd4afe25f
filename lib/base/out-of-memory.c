/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>

void out_of_memory(void)
{
	static const char text[] = "out of memory\n";

	fputs(text, stderr);
	exit(1);
}
