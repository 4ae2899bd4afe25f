/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/wait-stack.h"
#include "record/words.h"

#include <ctype.h>
#include <stdlib.h>

/* Functions of the program are looked at up to this number: locks are near the leaf. */
enum { FUNCTIONS_MAX = 16 };

enum { KERNEL_FRAMES_MAX = 128 };

enum {
	KERNEL_FUTEX, KERNEL_VECTOR, KERNEL_ENDS, KERNEL_EXITS, KERNEL_TIMER, KERNEL_SIGNAL,
	KERNEL_STOPS, KERNEL_SENDER, KERNEL_SLEEPS, KERNEL_JOINS, KERNEL_CLONES, KERNEL_COMPLETES,
	KERNEL_AWAITS, KERNEL_POLLS, KERNEL_PIPE, KERNEL_SHORT,
	PROGRAM_JOINS, PROGRAM_SLEEPS, PROGRAM_CALLS, PROGRAM_LOCK, PROGRAM_PAIR_LOCK,
	PROGRAM_CONDITION, PROGRAM_BARRIER, PROGRAM_SEMAPHORE, PROGRAM_PARKS, HINTS
};

#define HINT(bit) (1U << (bit))

/*
 * Parts of names, from the start of a word on; after ^, from the start of the name.  Those of the
 * kernel are in kernel/futex/, exit.c, time/ and signal.c, and in net/core/dev.c; those of programs
 * in glibc, musl, and the standard libraries of C++, Rust, Java.
 */
static const char *const parts[HINTS][14] = {
	[KERNEL_FUTEX] = { "futex" },
	[KERNEL_VECTOR] = { "futex_wait_multiple", "sys_futex_waitv" },
	[KERNEL_ENDS] = { "exit_robust_list", "futex_exit", "futex_cleanup", "mm_release",
			  "handle_futex_death" },
	/* do_group_exit alone kills the other threads of the process */
	[KERNEL_EXITS] = { "do_exit", "do_notify_parent" },
	[KERNEL_TIMER] = { "hrtimer_wakeup", "process_timeout", "it_real_fn", "posix_timer_fn",
			   "alarm_timer", "timerfd_t", "hrtimer_interrupt", "run_timer" },
	[KERNEL_SIGNAL] = { "signal_wake_up", "complete_signal" },
	/* for all threads of a process: its end, a stop and what ends that, a debugger */
	[KERNEL_STOPS] = { "zap_process", "zap_other_threads", "do_signal_stop", "prepare_signal",
			   "do_jobctl_trap", "^ptrace_" },
	[KERNEL_SENDER] = { "__local_bh_enable_ip" },
	[KERNEL_SLEEPS] = { "nanosleep", "sys_pause" },
	[KERNEL_JOINS] = { "^do_wait", "^__do_wait", "^kernel_wait", "^wait_for_vfork_done" },
	/* vfork(), where that is inlined */
	[KERNEL_CLONES] = { "^kernel_clone", "^_do_fork" },
	[KERNEL_COMPLETES] = { "wait_for_completion" },
	[KERNEL_AWAITS] = { "sigsuspend", "do_sigtimedwait", "sys_pause", "signalfd_read" },
	[KERNEL_POLLS] = { "^do_select", "^do_sys_poll", "^do_poll", "^ep_poll" },
	[KERNEL_PIPE] = { "^pipe_read", "^anon_pipe_read", "^fifo_pipe_read" },
	[KERNEL_SHORT] = { WORD_SHORT_WAITS },
	[PROGRAM_JOINS] = { "pthread_join", "pthread_clockjoin", "pthread_timedjoin",
			    "thrd_join" },
	[PROGRAM_SLEEPS] = { "JVM_Sleep" },
	[PROGRAM_CALLS] = { "futex", "lll_lock", "pthread_", "sem_", "__timedwait", "__wake",
			    "thrd_" },
	[PROGRAM_LOCK] = { "lll_lock", "pthread_mutex", "mtx_", "Mutex", "RawMutex", "mutex" },
	[PROGRAM_PAIR_LOCK] = { "pthread_rwlock", "RwLock" },
	[PROGRAM_CONDITION] = { "pthread_cond", "cnd_", "Condvar", "condition_variable" },
	[PROGRAM_BARRIER] = { "pthread_barrier", "Barrier" },
	[PROGRAM_SEMAPHORE] = { "sem_" },
	[PROGRAM_PARKS] = { "ThreadParker", "thread_parker", "thread_parking", "Parker::park",
			    "Unsafe_Park", "PlatformEvent::park", "parking_lot",
			    "thread::park", "Thread::park", "runtime.futexsleep", "PerThreadSem",
			    "FutexWaiter", "ParkingLot" },
};

/* Return whether NAME has PART, so that the user's own "assem_blies" is not taken for "sem_". */
static bool has_part(const char *name, const char *part)
{
	if (*part == '^')
		return !strncmp(name, part + 1, strlen(part + 1));
	for (const char *at = name; (at = strstr(at, part)); at++)
		if (at == name || !isalnum((unsigned char)at[-1]))
			return true;
	return false;
}

static uint32_t hints_of(const char *name)
{
	uint32_t hints = 0;

	for (int i = 0; i < HINTS; i++)
		for (const char *const *part = parts[i]; *part; part++)
			if (has_part(name, *part))
				hints |= HINT(i);
	return hints;
}

/* Return what the name of FUNCTION says. */
static uint32_t find_hints(struct wait_names *n, const struct resolved *r, uint32_t function)
{
	if (function >= n->count) {
		n->hints = mem_resize(n->hints, (size_t)r->functions * sizeof(*n->hints));
		for (; n->count < r->functions; n->count++)
			n->hints[n->count] = hints_of(r->string[r->function[n->count].name]);
	}
	return n->hints[function];
}

/* Add what the HINTS of a function of the kernel say. */
static void add_kernel(struct wait_stack *s, uint32_t hints)
{
	s->has_kernel_names = true;
	s->in_futex |= hints & HINT(KERNEL_FUTEX);
	s->in_vector |= hints & HINT(KERNEL_VECTOR);
	s->ends |= hints & (HINT(KERNEL_ENDS) | HINT(KERNEL_EXITS));
	s->by_exit |= hints & (HINT(KERNEL_ENDS) | HINT(KERNEL_EXITS));
	s->by_timer |= hints & HINT(KERNEL_TIMER);
	s->by_signal |= hints & (HINT(KERNEL_SIGNAL) | HINT(KERNEL_STOPS));
	s->by_stop |= hints & HINT(KERNEL_STOPS);
	s->by_sender |= hints & HINT(KERNEL_SENDER);
	s->sleeps |= hints & HINT(KERNEL_SLEEPS);
	/* the leaf comes first */
	s->completes |= hints & HINT(KERNEL_COMPLETES);
	s->joins |= hints & HINT(KERNEL_JOINS) || (s->completes && hints & HINT(KERNEL_CLONES));
	s->awaits_signal |= hints & HINT(KERNEL_AWAITS);
	s->sees_exits |= hints & (HINT(KERNEL_AWAITS) | HINT(KERNEL_POLLS));
	s->reads_pipe |= hints & HINT(KERNEL_PIPE);
	s->is_short |= hints & HINT(KERNEL_SHORT);
}

/*
 * Add what the HINTS of a function of the program say.  The one nearest to the leaf says what it
 * waits for.  But some, such as Java, park threads at a condition: then a caller says so.
 */
static void add_program(struct wait_stack *s, uint32_t hints)
{
	bool is_pair = hints & HINT(PROGRAM_PAIR_LOCK);

	s->sleeps |= hints & HINT(PROGRAM_SLEEPS);
	s->is_parked |= !s->is_lock && hints & HINT(PROGRAM_PARKS);
	if (s->is_lock || s->is_condition || s->is_parked)
		return;
	/* many use it as a lock, as Python does; each post while some thread waits wakes one */
	s->is_semaphore = hints & HINT(PROGRAM_SEMAPHORE);
	s->is_lock = is_pair || s->is_semaphore || hints & HINT(PROGRAM_LOCK);
	s->joins |= hints & HINT(PROGRAM_JOINS);
	s->is_barrier = hints & HINT(PROGRAM_BARRIER);
	s->is_condition = !s->is_lock && hints & (HINT(PROGRAM_CONDITION) | HINT(PROGRAM_BARRIER) |
						  HINT(PROGRAM_JOINS));
	s->is_pair = is_pair || (s->is_condition && hints & HINT(PROGRAM_CONDITION));
}

/* Return whether F is code of the kernel.  Where its addresses are secret, no mapping says so. */
static bool is_in_kernel(const struct resolved *r, const struct resolved_frame *f)
{
	uint16_t kind = r->object[f->object].kind;

	return kind == OBJECT_KERNEL || kind == OBJECT_MODULE ||
	       (kind == OBJECT_UNKNOWN && f->address >> 63);
}

/*
 * Return how many frames are the kernel's: they come first.  Some kernels have a wrong one among
 * them, so the last one counts.
 */
static uint32_t kernel_frames(const struct resolved *r, const uint32_t *frame, uint32_t frames)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < frames && i < KERNEL_FRAMES_MAX; i++)
		if (is_in_kernel(r, &r->frame[frame[i]]))
			count = i + 1;
	return count;
}

static bool is_in_c_library(const struct resolved *r, const struct resolved_frame *f)
{
	const char *path = r->string[r->object[f->object].path], *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-2.", 7) ||
	       !strncmp(name, "libpthread", 10) || !strncmp(name, "ld-musl", 7);
}

/* Return how many frames from I on are functions of the C library that have no names. */
static uint32_t nameless_frames(const struct resolved *r, const uint32_t *frame, uint32_t frames,
				uint32_t i)
{
	uint32_t first = i;

	while (i < frames && !r->frame[frame[i]].lines && is_in_c_library(r, &r->frame[frame[i]]))
		i++;
	return i - first;
}

struct wait_stack wait_stack_of(struct wait_names *names, const struct resolved *r,
				const uint32_t *frame, uint32_t frames)
{
	struct wait_stack s = { .in_futex = false };
	uint32_t functions = 0, kernel = kernel_frames(r, frame, frames);
	uint32_t nameless = nameless_frames(r, frame, frames, kernel), first = kernel + nameless;

	/* In a stripped C library, functions that programs call have names.  Most make their
	   system calls themselves, but unlocks jump to a function without a name for it, and
	   so have no frame. */
	s.in_call = nameless && first < frames && !is_in_c_library(r, &r->frame[frame[first]]);
	for (uint32_t i = 0; i < frames && functions < FUNCTIONS_MAX; i++) {
		const struct resolved_frame *f = &r->frame[frame[i]];
		bool is_kernel = i < kernel;
		for (uint32_t line = 0; line < f->lines; line++) {
			uint32_t hints = find_hints(names, r, f->line[line].function);
			if (is_kernel)
				add_kernel(&s, hints);
			else if (functions++ < 2)	/* in Rust, syscall() is the leaf */
				s.in_call |= hints & HINT(PROGRAM_CALLS);
			if (!is_kernel)
				add_program(&s, hints);
		}
		functions += i >= first && !f->lines;
	}
	/* in a C library without local symbols, the function that joins a thread has no name */
	s.joins |= s.in_futex && nameless && !s.is_lock && !s.is_condition && !s.is_parked;
	return s;
}

bool wait_stack_in_futex(const struct wait_stack *s)
{
	if (s->ends || s->in_vector)
		return false;
	return s->has_kernel_names ? s->in_futex : s->in_call;
}

enum pairing_rule wait_stack_rule(const struct wait_stack *s)
{
	if (s->is_parked)
		return RULE_PARKED;
	return s->is_condition ? RULE_LAST : RULE_UNLOCKS;
}

bool wait_stack_is_idle(const struct wait_stack *s)
{
	return s->is_semaphore || s->is_parked || (s->is_condition && !s->is_barrier);
}

enum pairing_ended wait_stack_kind(const struct wait_stack *s, bool in_interrupt)
{
	if (in_interrupt && !s->by_sender)
		return s->by_timer ? ENDED_TIMER : ENDED_DEVICE;
	if (s->by_exit)
		return ENDED_EXIT;
	if (s->by_stop)
		return ENDED_STOP;
	return s->by_signal ? ENDED_SIGNAL : ENDED_THREAD;
}
