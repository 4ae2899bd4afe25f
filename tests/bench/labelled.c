/* SPDX-License-Identifier: Apache-2.0 */
/* labelled - linked to a program, it gives the first thread PAIRS custom labels. */
#include <stddef.h>
#include <stdint.h>

struct text { size_t size; const char *at; };
struct custom_set { struct { struct text key, value; } *pair; size_t count, room; };

__thread struct custom_set *custom_labels_current_set;
const uint32_t custom_labels_abi_version = 1;

__attribute__((constructor)) static void set_labels(void)
{
	static const char name[] = "abcdefghij";
	static struct { struct text key, value; } pair[PAIRS + 1];
	static struct custom_set set = { (void *)pair, PAIRS, PAIRS };

	for (int i = 0; i < PAIRS; i++) {
		pair[i].key = (struct text){ 1, name + i };
		pair[i].value = (struct text){ sizeof(name) - 1, name };
	}
	custom_labels_current_set = PAIRS ? &set : NULL;
}
