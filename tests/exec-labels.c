/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec-labels - runs under the custom label user=first; after SIGUSR1 it becomes another program.
 *
 *	cc -O2 exec-labels.c -o first
 *	cc -O2 -DSECOND exec-labels.c -o second
 *	./first ./second
 *
 * The second program runs under user=second.  Where the first has its variable, the second has
 * another variable, which leads to user=wrong.
 */
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

struct text { size_t size; const char *at; };
struct custom_set { struct text *pair; size_t count, room; };

#define SET(value) { (struct text[]){ { 4, "user" }, { sizeof(value) - 1, value } }, 1, 1 }

#ifdef SECOND
static struct custom_set own = SET("second"), wrong = SET("wrong");
static char any;

/* Variables with a value come first in the block of a thread. */
__thread struct custom_set *custom_labels_current_set = (struct custom_set *)&any;
__thread struct custom_set *other_variable;
#else
static struct custom_set own = SET("first");
__thread struct custom_set *custom_labels_current_set;
#endif

static volatile sig_atomic_t is_over;

static void end(int number)
{
	(void)number;
	is_over = 1;
}

/* Only memory that is present can be read in an interrupt. */
static void touch(const struct custom_set *set)
{
	volatile char byte = *set->pair[0].at;

	byte = *set->pair[1].at;
	(void)byte;
}

int main(int argc, char **argv)
{
	touch(&own);
	custom_labels_current_set = &own;
#ifdef SECOND
	touch(&wrong);
	other_variable = &wrong;
#endif
	signal(SIGUSR1, end);
	while (!is_over)
		;
	if (argc > 1)
		execl(argv[1], argv[1], NULL);
}
