/* SPDX-License-Identifier: Apache-2.0 */
/* word-list - words in their order, such as the arguments of an option that may be repeated. */
#pragma once
#include <stddef.h>

/* Zero-initialised: empty.  Who adds the words says who owns them. */
struct word_list {
	const char **item;
	size_t count;
	const struct word_list *beside;	/* list to which the order is kept, or NULL */
	size_t *beside_count;	/* for each item: length of BESIDE when the item was given */
};

/* Return COUNT words as one string, quoted for a shell where needed.  The caller frees. */
char *words_quoted(size_t count, const char *const *word);
