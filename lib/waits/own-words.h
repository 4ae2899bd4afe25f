/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own-words - words in memory, such as those of semaphores, at which one thread alone waits.
 *
 * Some locks let each thread wait at a word of its own: those of PostgreSQL at a semaphore, those
 * of InnoDB and node at a condition.  Which lock it is cannot be seen, nor who holds it: only who
 * ended a wait.  A word at which several threads wait is another thing.
 */
#pragma once
#include "base/table.h"

#include <sys/types.h>

/* Zero-initialised: nobody has waited. */
struct own_words {
	struct own_word {
		uint64_t key;
		pid_t tid;		/* who waits here; 0: several do */
		uint64_t ns;		/* as long as this, in all */
	} *word;
	uint32_t words;
	struct table table;	/* index of WORD */
};

enum { OWN_WORDS_MAX = 1 << 16 };	/* of others nothing is known: they count as shared */

/* Thread TID waits at the word KEY. */
void own_words_wait(struct own_words *o, uint64_t key, pid_t tid);

/* Return the word KEY, if one thread alone has waited there so far; else NULL. */
struct own_word *own_words_find(const struct own_words *o, uint64_t key);

/* Return the ns at words of one thread each, if there are several such threads; else 0. */
uint64_t own_words_sum(const struct own_words *o);

void own_words_release(struct own_words *o);
