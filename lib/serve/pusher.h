/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pusher - sends kept profiles to a server, oldest first, each at least once.
 *
 * The kept files are the queue: a file that was not sent waits there until it is deleted.  The mark
 * (push/sent.h) says which files were sent.  After a failure the pusher waits, then goes on.
 */
#pragma once
#include "serve/kept-files.h"

#include <event2/buffer.h>
#include <stdbool.h>

struct pusher;
struct server;

/*
 * Return a pusher by the settings of S for the files of KEPT, which must outlive it, or NULL
 * (reported).
 */
struct pusher *pusher_open(struct server *s, const struct kept_files *kept);
void pusher_close(struct pusher *p);

/* KEPT is another directory now. */
void pusher_reopen(struct pusher *p);

/*
 * Look at the list of KEPT, which was read again: send new files, and count those that are gone
 * unsent.
 */
void pusher_look(struct pusher *p);

/* The server stops: what can be sent at once is sent, without pauses. */
void pusher_stop(struct pusher *p);

/* Return whether something is being sent. */
bool pusher_is_busy(const struct pusher *p);

/* Write its metrics. */
void pusher_print(const struct pusher *p, struct evbuffer *out);
