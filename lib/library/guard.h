/* SPDX-License-Identifier: Apache-2.0 */
/* guard - what the library does for a thread now. */
#pragma once
#include <locale.h>
#include <setjmp.h>

struct handle;

/* A call of the program, which works for a handle.  Its callbacks may call for other handles. */
struct guard {
	jmp_buf back;		/* where out_of_memory() goes */
	struct handle *handle;
	struct guard *outer;	/* the call whose callback made this one, or NULL */
	locale_t locale;	/* the locale that the thread had before this call */
};

/* The innermost call in which this thread is, or NULL. */
extern __thread struct guard *current_guard;
