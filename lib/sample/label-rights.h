/* SPDX-License-Identifier: Apache-2.0 */
/* label-rights - finds which rights and kernel features that labels need are missing here. */
#pragma once
#include "event/event.h"

/* Return whether the kernel can run programs at the first COUNT of EVENTS.  False: reported. */
bool label_rights_events(const struct event_list *events, size_t count, struct report *report);

/*
 * Write why labels cannot be recorded, and a remedy, to REASON (SIZE bytes): a step failed with
 * ERROR, an errno or 0, and WHY names the step or has the kernel's message.
 */
void label_rights_explain(int error, const char *why, char *reason, size_t size);

/* Store the identity of our pid namespace; zeros: the initial namespace, or unknown. */
void label_rights_namespace(uint64_t *device, uint64_t *inode);

/*
 * Return whether labels can be recorded here: run a program that reads this process.  Otherwise
 * write the reason to REASON (SIZE bytes).
 */
bool label_rights_check(char *reason, size_t size);
