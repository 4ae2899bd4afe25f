/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known-work - ten functions with known shares of the work, and a loop with a known number of
 * instructions.
 *
 * Each function is a loop of its own, aligned to a line of the cache, so that all take the same
 * time for a turn.  Functions are found by their addresses: a stripped tool has no names.
 */
#include "survey/internal.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

/* The comment makes each loop another text, so that no compiler folds equal functions. */
#if defined(__aarch64__)
#define TURNS(name, n) __asm__ volatile(".p2align 6\n1: subs %0, %0, #1\n b.ne 1b // " name "\n" \
					: "+r"(n) : : "cc", "memory")
#define EXACT 1
#elif defined(__x86_64__)
#define TURNS(name, n) __asm__ volatile(".p2align 6\n1: dec %0\n jne 1b # " name "\n" \
					: "+r"(n) : : "cc", "memory")
#define EXACT 1
#else
#define TURNS(name, n) do __asm__ volatile("# " name : "+r"(n)); while (--n)
#define EXACT 0
#endif

const unsigned int work_instructions = 2 * EXACT, work_branches = EXACT;

/* The linker calls the start and the end of this section so. */
#define IN_SECTION __attribute__((noinline, section("known_work")))
extern const char __start_known_work[], __stop_known_work[];

#define FUNCTION(name)							\
	IN_SECTION static void name(uint64_t turns)			\
	{								\
		TURNS(#name, turns);					\
	}

FUNCTION(A) FUNCTION(B) FUNCTION(C) FUNCTION(D) FUNCTION(E)
FUNCTION(F) FUNCTION(G) FUNCTION(H) FUNCTION(I) FUNCTION(J)

static void (*const function[WORK_FUNCTIONS])(uint64_t) = { A, B, C, D, E, F, G, H, I, J };

void work_turn(uint64_t turns)
{
	if (turns)
		A(turns);
}

void work_rounds(uint64_t rounds)
{
	while (rounds--)
		for (unsigned int i = 0; i < WORK_FUNCTIONS; i++)
			function[i]((i + 1) * (uint64_t)WORK_UNIT);
}

uint64_t work_rounds_of(uint64_t ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		work_rounds(1);
		uint64_t took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		best = took && took < best ? took : best;
	}
	return best < ns ? ns / best : 1;
}

int work_find(uint64_t address)
{
	int found = -1;

	if (address < (uintptr_t)__start_known_work || address >= (uintptr_t)__stop_known_work)
		return -1;
	for (int i = 0; i < WORK_FUNCTIONS; i++)
		if ((uintptr_t)function[i] <= address &&
		    (found < 0 || (uintptr_t)function[i] > (uintptr_t)function[found]))
			found = i;
	return found;
}

#if defined(__aarch64__)
#define PROGRAM_COUNTER(u) ((u)->uc_mcontext.pc)
#elif defined(__x86_64__)
#define PROGRAM_COUNTER(u) ((uint64_t)(u)->uc_mcontext.gregs[REG_RIP])
#else
#define PROGRAM_COUNTER(u) ((void)(u), 0)
#endif

static volatile uint64_t hit[WORK_FUNCTIONS];

static void on_timer(int number, siginfo_t *info, void *context)
{
	int i = work_find(PROGRAM_COUNTER((ucontext_t *)context));

	(void)number;
	(void)info;
	if (i >= 0)
		hit[i]++;
}

void work_under_timer(uint64_t rounds, unsigned int hz, uint64_t hits[WORK_FUNCTIONS])
{
	struct sigaction act = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction before;
	struct itimerval each = { { 0, 1000000 / hz }, { 0, 1000000 / hz } }, never = { 0 };

	for (int i = 0; i < WORK_FUNCTIONS; i++)
		hit[i] = 0;
	sigaction(SIGPROF, &act, &before);
	setitimer(ITIMER_PROF, &each, NULL);
	work_rounds(rounds);
	setitimer(ITIMER_PROF, &never, NULL);
	sigaction(SIGPROF, &before, NULL);
	for (int i = 0; i < WORK_FUNCTIONS; i++)
		hits[i] = hit[i];
}
