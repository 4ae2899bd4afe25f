/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graceful [HOW] - works until a signal comes, and reports each signal.
 *
 * By default it ends at the first SIGINT or SIGTERM, after 0.3 s of CPU time in closing(), with
 * status 7.  HOW: "goes-on", at SIGINT it does not end; "stubborn", it never ends.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t got[65];

static void on_signal(int number)
{
	got[number]++;
}

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

__attribute__((noinline)) static void work(double seconds)
{
	for (double end = cpu_seconds() + seconds; cpu_seconds() < end; )
		for (int i = 0; i < 1000000; i++)
			__asm__ volatile ("");
}

__attribute__((noinline)) static void closing(double seconds)
{
	for (double end = cpu_seconds() + seconds; cpu_seconds() < end; )
		for (int i = 0; i < 1000000; i++)
			__asm__ volatile ("");
}

/* Report the signals since the last call.  Return whether one of them ends a program HOW. */
static int report(const char *how)
{
	static int reported[65];
	int ends = 0;

	for (int i = 0; i < 3; i++)
		for (int number = signals[i]; reported[number] < got[number]; reported[number]++) {
			printf("got signal %d\n", number);
			ends |= strcmp(how, "stubborn") &&
				(number != SIGINT || strcmp(how, "goes-on"));
		}
	return ends;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; i < 3; i++)
		signal(signals[i], on_signal);
	puts("ready");
	while (!report(how))
		work(0.01);
	closing(0.3);
	printf("closed after %d SIGINT, %d SIGTERM\n", got[SIGINT], got[SIGTERM]);
	return 7;
}
