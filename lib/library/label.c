/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of this thread, in the layout of custom labels, version 1, which profilers read while
 * the thread is interrupted.  A set is never changed: a new one takes its place by one store, and
 * then the old one is freed.
 *
 * The variable may belong to another library, if it is loaded first and has custom labels, too.
 * Then its labels are kept, and its sets are not ours to free.
 */
#include "library/handle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The layout. */
struct label_word { size_t size; const char *at; };
struct label_words { struct label_word key, value; };
struct label_words_set { struct label_words *pair; size_t count, room; };

#pragma GCC visibility push(default)
extern __thread struct label_words_set *custom_labels_current_set;
extern const uint32_t custom_labels_abi_version;
#pragma GCC visibility pop

__thread struct label_words_set *custom_labels_current_set;
const uint32_t custom_labels_abi_version = 1;

/* The last set that was published here, or NULL. */
static __thread struct label_words_set *own_set;

/* Let this thread have the labels in NEW, or none.  Our old ones are freed. */
static void publish(struct label_words_set *new)
{
	struct label_words_set *old = own_set;

	own_set = new;
	/* the reader interrupts this thread, so only the compiler could change the order */
	atomic_signal_fence(memory_order_release);
	*(struct label_words_set *volatile *)&custom_labels_current_set = new;
	atomic_signal_fence(memory_order_seq_cst);
	free(old);
}

static pthread_key_t at_end_of_thread;
static bool has_key;

static void end_thread(void *unused)
{
	(void)unused;
	publish(NULL);
}

static void make_key(void)
{
	has_key = pthread_key_create(&at_end_of_thread, end_thread) == 0;
}

/* Have the labels freed at the end of this thread.  Return false if there is no memory for that. */
static bool prepare_end(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_key);
	return has_key && (pthread_getspecific(at_end_of_thread) ||
			   pthread_setspecific(at_end_of_thread, &once) == 0);
}

/* Return a copy of TEXT, SIZE bytes, at *ROOM, and move *ROOM after it. */
static struct label_word put(char **room, const char *text, size_t size)
{
	struct label_word word = { size, memcpy(*room, text, size) };

	*room += size;
	return word;
}

static bool is_key(const struct label_words *pair, const char *key, size_t size)
{
	return pair->key.size == size && !memcmp(pair->key.at, key, size);
}

/* Return OLD (NULL: none), but with VALUE (NULL: without a label) for KEY; NULL: no memory. */
static struct label_words_set *changed(const struct label_words_set *old, const char *key,
				       const char *value)
{
	size_t key_size = strlen(key), value_size = value ? strlen(value) : 0;
	size_t count = old ? old->count : 0, bytes = key_size + value_size;

	for (size_t i = 0; i < count; i++)
		bytes += old->pair[i].key.size + old->pair[i].value.size;
	struct label_words_set *new = malloc(sizeof(*new) + (count + 1) * sizeof(*new->pair) +
					     bytes);
	if (!new)
		return NULL;
	*new = (struct label_words_set){ .pair = (struct label_words *)(new + 1),
					 .room = count + 1 };
	char *room = (char *)(new->pair + count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct label_words *pair = &old->pair[i];

		if (is_key(pair, key, key_size))
			continue;
		new->pair[new->count].key = put(&room, pair->key.at, pair->key.size);
		new->pair[new->count++].value = put(&room, pair->value.at, pair->value.size);
	}
	if (value) {
		new->pair[new->count].key = put(&room, key, key_size);
		new->pair[new->count++].value = put(&room, value, value_size);
	}
	return new;
}

int pmukit_label_set(const char *key, const char *value)
{
	if (!key || !*key)
		return fail(PMUKIT_WRONG_ARGUMENT, "a label needs a key");
	if (!value && !custom_labels_current_set)
		return 0;
	struct label_words_set *new = prepare_end()
		? changed(custom_labels_current_set, key, value) : NULL;
	if (!new)
		return fail(PMUKIT_NO_MEMORY, "there is no memory for the label '%s'", key);
	if (new->count == 0) {
		free(new);
		new = NULL;
	}
	publish(new);
	return 0;
}

void pmukit_label_clear(void)
{
	publish(NULL);
}
