/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "listing/internal.h"

#include <grp.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <unistd.h>

enum { NOBODY = 65534 };

/* An impossible id changes nothing: this is how to ask for the current one. */
static uid_t files_user(void)
{
	return (uid_t)setfsuid((uid_t)-1);
}

static gid_t files_group(void)
{
	return (gid_t)setfsgid((gid_t)-1);
}

bool any_user_begin(struct any_user *before)
{
	*before = (struct any_user){ .is_on = geteuid() == 0 };
	if (!before->is_on)
		return true;
	before->group = files_group();
	before->count = getgroups(0, NULL);
	before->groups = mem_zeroed((size_t)(before->count > 0 ? before->count : 0) + 1,
				    sizeof(*before->groups));
	before->count = getgroups(before->count, before->groups);
	bool good = before->count >= 0 && setgroups(0, NULL) == 0;
	setfsgid(NOBODY);
	setfsuid(NOBODY);	/* with this the kernel takes our capabilities for files, too */
	if (good && files_group() == NOBODY && files_user() == NOBODY)
		return true;
	any_user_end(before);
	return false;
}

void any_user_end(struct any_user *before)
{
	if (!before->is_on)
		return;
	setfsuid(0);
	setfsgid(before->group);
	/* without the groups root has fewer rights, not more */
	if (before->count < 0 || setgroups((size_t)before->count, before->groups) < 0)
		before->count = 0;
	free(before->groups);
	*before = (struct any_user){ .is_on = false };
}
