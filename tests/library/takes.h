/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takes - counts what a program takes from the system, and lets one of these calls fail.
 *
 * A program that is linked with takes.c has its own malloc(), open(), mmap() and so on.  The shared
 * libraries call them, too.  They do what the C library's functions do; but while takes.inside is
 * set, each call is a take, and take number takes.fails fails: ENOMEM, or EMFILE for descriptors.
 */
#pragma once
#include <stdbool.h>

extern struct takes {
	bool inside;		/* the program is in a call of the library */
	long count;		/* takes so far */
	long fails;		/* the take that fails; 0: none */
	const char *failed;	/* the function that failed, or NULL */
	bool lacks_memory;	/* it failed by ENOMEM */
	long blocks;		/* of memory, not freed so far */
	long mappings;		/* not unmapped so far */
} takes;

/* Look up the C library's functions.  Call it first. */
void takes_prepare(void);

/* Call FUNCTION of the library, whose calls are takes. */
#define TAKING(function) \
	__extension__({ \
		takes.inside = true; \
		__auto_type taking_result = (function); \
		takes.inside = false; \
		taking_result; \
	})
#define TAKING_VOID(function) \
	do { \
		takes.inside = true; \
		function; \
		takes.inside = false; \
	} while (0)
