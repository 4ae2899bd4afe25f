/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what only this module uses; the files are named. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/*
 * any-user - lets root open a file with the rights that any user has.
 *
 * Names of source files come from debug information, which others wrote.  If root opened them,
 * a program could show its reader what its own user may not read: /etc/shadow, or a file in
 * /root.  The kernel checks the rights at each step of the path, so nobody can replace a part of
 * it between a check and the opening.
 */

/* The rights to files before any_user_begin(). */
struct any_user {
	bool is_on;
	gid_t group;
	gid_t *groups;
	int count;		/* of GROUPS */
};

/*
 * From now on open files with the rights of user and group 65534 (nobody), if this is root.  Return
 * false, and change nothing, if the kernel does not let us.  any_user_end() follows in any case.
 */
bool any_user_begin(struct any_user *before);
void any_user_end(struct any_user *before);
