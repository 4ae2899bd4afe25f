/* SPDX-License-Identifier: Apache-2.0 */
#include "compose/internal.h"
#include "labels/go-labels.h"
#include "labels/label-rights.h"

#include <stdio.h>

/* Find the labels of T's program; GO_LABELS_ABSENT also if it cannot be read. */
static struct go_labels find_labels(const struct callgraph_target *t)
{
	struct go_labels labels = { .state = GO_LABELS_ABSENT };
	const char *why;

	int fd = t->is_many ? -1 : callgraph_open_program(t);
	struct elf *elf = fd < 0 ? NULL : elf_open(fd, &why);
	if (elf)
		labels = go_labels_find(elf);
	elf_close(elf);
	return labels;
}

bool label_choice(const struct callgraph_target *t, char *why, size_t size)
{
	struct go_labels labels = find_labels(t);
	char reason[512];

	snprintf(why, size, "%s", "");
	if (labels.state == GO_LABELS_UNKNOWN)
		snprintf(why, size, "labels: not recorded, as it is not known how %s keeps them",
			 *labels.version ? labels.version : "this version of Go");
	if (labels.state != GO_LABELS_FOUND)
		return false;
	bool may = label_rights_check(reason, sizeof(reason));
	if (may)
		snprintf(why, size, "labels: recorded, as the Go program sets some");
	else
		snprintf(why, size, "labels: not recorded: %s", reason);
	return may;
}
