/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overflow stack|copy - write 64 bytes into an array of 16 bytes: with a loop into an array
 * on the stack, or with memcpy(3) into a static array.  If built with the flags of the tools,
 * SIGABRT ends the program; else it prints "not noticed".
 */
#include <stdio.h>
#include <string.h>

enum { ROOM = 16, SIZE = 64 };	/* bytes */

static char target[ROOM];
static char after[SIZE];	/* likely to be overwritten */

/* SIZE in a variable, so that compilers cannot detect the overflow. */
static volatile size_t size = SIZE;

__attribute__((noinline))
static int write_on_stack(void)
{
	char array[ROOM];
	volatile char *at = array;

	for (size_t i = 0; i < size; i++)
		at[i] = 'x';
	return at[1];
}

__attribute__((noinline))
static int copy(const char *from)
{
	memcpy(target, from, size);
	return target[1];
}

int main(int count, char **arguments)
{
	static char from[SIZE];

	if (count != 2)
		return 2;
	if (!strcmp(arguments[1], "stack"))
		write_on_stack();
	else
		copy(from);
	printf("not noticed %d\n", after[0]);
	return 0;
}
