/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of collect: the profiles that are being made, and their ends. */
#pragma once
#include "profile/collect.h"

/* The part that sample S belongs to; made if it is the first.  S NULL: that of all. */
struct collect_part *collect_part(struct collect *c, const struct resolved_sample *s);

/* REC may give a process another name: its part is called so. */
void collect_rename(struct collect *c, const struct record *rec);

/* Something happened at TIME (0: unknown): profiles last until then; an interval may be over. */
void collect_time(struct collect *c, uint64_t time);

/* Thread TID runs again at TIME: count for how long it did not. */
void collect_waited(struct collect *c, pid_t tid, uint64_t time);

/* The stream has ended: all profiles are complete. */
void collect_end(struct collect *c);

void collect_release_parts(struct collect *c);
