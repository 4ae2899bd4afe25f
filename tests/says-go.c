/* SPDX-License-Identifier: Apache-2.0 */
/*
 * says-go MS - has the build information of a Go program, with what SAID is after its head, and
 * nothing else of Go.  It ends when it got so many ms of CPU time.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

__asm__(
".pushsection .go.buildinfo, \"aw\"\n"
"	.balign 16\n"
"	.ascii \"\\377 Go buildinf:\"\n"
"	.byte 8, 2\n"
"	.zero 16\n"
"	.ascii \"" SAID "\"\n"
".popsection\n");

int main(int argc, char **argv)
{
	int64_t ms = argc > 1 ? atoi(argv[1]) : 100;
	struct timespec t = { 0 };

	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
}
