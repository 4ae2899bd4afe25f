/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread writes the bytes, so a reader that stalls does not stall the tool: the
 * bytes that the reader has not read yet are kept in memory.
 */
#include "base/output-queue.h"
#include "base/arena.h"
#include "base/write.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct queued_chunk {
	struct queued_chunk *next;
	size_t size;
	uint8_t bytes[];
};

struct output_queue {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;		/* signalled when bytes are added, or at the end */
	struct queued_chunk *first, **last;
	size_t waiting;			/* bytes in all chunks */
	bool ending;
	int error;			/* of the first write that failed; 0: none */
};

static void *write_all(void *argument)
{
	struct output_queue *q = argument;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		while (!q->first && !q->ending)
			pthread_cond_wait(&q->changed, &q->lock);
		struct queued_chunk *chunk = q->first;
		if (!chunk)
			break;
		q->first = chunk->next;
		if (!q->first)
			q->last = &q->first;
		bool failed = q->error;
		pthread_mutex_unlock(&q->lock);
		int error = failed ? 0 : write_whole(q->fd, chunk->bytes, chunk->size);
		pthread_mutex_lock(&q->lock);
		q->waiting -= chunk->size;
		if (error)
			q->error = error;
		free(chunk);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

struct output_queue *output_queue_start(int fd)
{
	struct output_queue *q = mem_zeroed(1, sizeof(*q));
	sigset_t all, before;

	q->fd = fd;
	q->last = &q->first;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	sigfillset(&all);	/* the main thread handles signals */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&q->thread, NULL, write_all, q);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		return q;
	errno = error;
	free(q);
	return NULL;
}

int output_queue_add(struct output_queue *q, const void *bytes, size_t size)
{
	struct queued_chunk *chunk = mem_resize(NULL, sizeof(*chunk) + size);

	chunk->next = NULL;
	chunk->size = size;
	memcpy(chunk->bytes, bytes, size);
	pthread_mutex_lock(&q->lock);
	*q->last = chunk;
	q->last = &chunk->next;
	q->waiting += size;
	int error = q->error;
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->lock);
	return error;
}

size_t output_queue_waiting(struct output_queue *q)
{
	pthread_mutex_lock(&q->lock);
	size_t waiting = q->waiting;
	pthread_mutex_unlock(&q->lock);
	return waiting;
}

int output_queue_stop(struct output_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->ending = true;
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	int error = q->error;
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q);
	return error;
}
