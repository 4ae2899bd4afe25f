/* SPDX-License-Identifier: Apache-2.0 */
/* output-queue - a queue of bytes that its own thread writes to a file. */
#pragma once
#include <stddef.h>

struct output_queue;

/* Start a thread that writes to FD.  Return the queue, or NULL with errno set. */
struct output_queue *output_queue_start(int fd);

/* Queue a copy of BYTES.  Return the errno of an earlier write that failed, or 0. */
int output_queue_add(struct output_queue *q, const void *bytes, size_t size);

/* Return the number of bytes that are queued and not yet written. */
size_t output_queue_waiting(struct output_queue *q);

/* Write all queued bytes, end the thread, free Q.  Return the errno of a failed write, or 0. */
int output_queue_stop(struct output_queue *q);
