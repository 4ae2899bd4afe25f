/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign - prints what a host says, as it comes, so that it cannot do anything to our terminal.
 *
 * Control characters become visible: ESC is "^[".  Lines and tabs stay.
 */
#pragma once
#include <stddef.h>

struct foreign {
	char held[8];		/* the first bytes of a character that has not come completely */
	size_t size;
};

/* Write SIZE bytes of TEXT to stderr. */
void foreign_print(struct foreign *f, const void *text, size_t size);

/* Write what is held: nothing more will come. */
void foreign_end(struct foreign *f);
