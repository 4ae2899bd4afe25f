/* SPDX-License-Identifier: Apache-2.0 */
/* choice - the events to count: those asked for, or the usual ones that this machine counts. */
#pragma once
#include "base/report.h"
#include "base/word-list.h"
#include "counting/counting.h"
#include "event/event.h"

/*
 * Add the events NAMES to LIST, each as event_parse() takes it.  Without names, add the usual
 * events, as far as they can be counted here; with DETAIL, more of them.  One of NOTES says why
 * some are missing.  False: reported.
 */
bool counting_choose(struct event_list *list, const struct word_list *names, bool detail,
		     struct counting_notes *notes, struct report *report);
