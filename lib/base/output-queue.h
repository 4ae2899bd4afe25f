/* SPDX-License-Identifier: Apache-2.0 */
/* output-queue - bytes that wait to be written, by a thread of their own. */
#pragma once
#include <stddef.h>

struct output_queue;

/* Start the thread that writes to FD; NULL with errno set. */
struct output_queue *output_queue_start(int fd);

/* Have a copy of BYTES written.  Returns the errno of a write that failed before, or 0. */
int output_queue_add(struct output_queue *q, const void *bytes, size_t size);

/* Bytes that were added but not written yet. */
size_t output_queue_waiting(struct output_queue *q);

/* Write all that waits, end the thread.  Returns the errno of a failed write, or 0. */
int output_queue_stop(struct output_queue *q);
