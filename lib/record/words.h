/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words - the names that streams and profiles share.  The code that writes such a name and the code
 * that looks for it use the same word of this file.
 */
#pragma once
#include <stdbool.h>
#include <string.h>

/* Frames that are not functions. */
#define WORD_LOST "[lost]"			/* samples that were lost */
#define WORD_OUTSIDE "[outside]"			/* code that branch records do not tell */
#define WORD_NOT_SAMPLED "[not sampled]"	/* events that are in no sample */
#define WORD_OTHER_STACKS "[other stacks]"	/* what a limit of stacks left out */
#define WORD_MORE_ADDRESSES "[more addresses]"	/* what a limit of addresses left out */
#define WORD_FRAMES_LEFT_OUT "[frames left out]"	/* of a very deep stack */
#define WORD_TOO_SMALL "[too small]"		/* paths that a page leaves out */
#define WORD_PREEMPTED "[preempted]"		/* the leaf: the thread could run, but did not */
#define WORD_SCHEDULER "[scheduler]"		/* the leaf: woken, but not on a CPU yet */
#define WORD_EXIT "[exit]"			/* the end of a thread, which has no stack */
#define WORD_KEPT_BY "[waits for]"		/* between a stack that waits and who ended that */
#define WORD_WAITED_IN "[which waited in]"	/* between that one and where it waited itself */
#define WORD_EARLIER_UNLOCKS "[earlier unlocks]"	/* the leaf: forgotten because of a limit */
#define WORD_SHORT_WAITS "[short waits]"	/* the leaf: all waits that were too short to see */
#define WORD_WAITS "[waits]"			/* the leaf: the thread waits; nothing is known */
#define WORD_WAITS_FOR "[waits: %s]"		/* the same: in this function or system call */
#define WORD_WAKES "[wakes]"			/* the leaf: the code wakes another thread */
#define WORD_WAKES_BY "[wakes: %s]"		/* the same: in this system call */
#define WORD_NO_CODE "[cut: no code]"		/* the root: why callers are missing */
#define WORD_SHORT_DUMP "[cut: dump too short]"
#define WORD_NO_UNWINDING "[cut: no unwind information]"

/* Objects, and functions of which no more is known than the object. */
#define WORD_UNKNOWN "[unknown]"
#define WORD_UNKNOWN_OBJECT "unknown"		/* an object without a path, in a row or a box */
#define WORD_REMOVED "[removed]"		/* all objects that are mapped nowhere any more */
#define WORD_DATA "[data]"			/* holds the data addresses of samples */
#define WORD_KERNEL_MEMORY "[kernel memory]"	/* without a name */
#define WORD_PADDING "[padding]"		/* bytes of a structure that no member has */
#define WORD_SEVERAL "[several]"		/* functions of one name are in several objects */

/* Objects as the kernel and perf call them. */
#define WORD_KERNEL "[kernel.kallsyms]"
#define WORD_GUEST_KERNEL "[guest.kernel.kallsyms]"
#define WORD_ANY_KERNEL "[kernel"		/* all names of the kernel start with this */
#define WORD_ANY_GUEST "[guest"
#define WORD_BPF "[bpf]"
#define WORD_VDSO "[vdso]"
#define WORD_VDSO32 "[vdso32]"
#define WORD_VSYSCALL "[vsyscall]"
#define WORD_HEAP "[heap]"
#define WORD_STACK "[stack]"
#define WORD_STACK_OF "[stack of %s%s%d]"	/* of a thread: its name, "/", its number */
#define WORD_ANON "[anon]"
#define WORD_ANON_OBJECT "anon"			/* the same in a row or a box */
#define WORD_ANON_FILE "//anon"

/* Values of labels. */
#define WORD_OTHER "[other]"			/* all values beyond a limit; in a table, rows */
#define WORD_EMPTY "[empty]"			/* an empty text */
#define WORD_UNREADABLE "[unreadable]"		/* the program's memory could not be read */

/* Keys of labels that tools look for. */
#define LABEL_PID "pid"
#define LABEL_TID "tid"
#define LABEL_COMM "comm"
#define LABEL_THREAD_COMM "thread_comm"
#define LABEL_CPU "cpu"
#define LABEL_SLICE "slice"
#define LABEL_RUN "run"

/* Names and units of sample types. */
#define TYPE_CPU "cpu"
#define TYPE_OFF_CPU "off-cpu"
#define TYPE_WALL "wall"
#define TYPE_CONTENTIONS "contentions"		/* as in Go's profiles of waits: how many ... */
#define TYPE_DELAY "delay"			/* ... and how long */
#define TYPE_LATENCY "latency"
#define TYPE_BLOCK "block"			/* the same beside other types: who waits, */
#define TYPE_MUTEX "mutex"			/* which code made them wait, */
#define TYPE_CAUSES "causes"			/* and both in one stack */
#define TYPE_SAMPLES "samples"			/* of the only event */
#define TYPE_END_SAMPLES "_samples"		/* of one of several: EVENT_samples */
#define TYPE_END_SAMPLE "_sample"		/* as perf_to_profile names them: EVENT_sample */
#define TYPE_END_EVENT "_event"			/* and the values: EVENT_event */
#define UNIT_TIME "nanoseconds"
#define UNIT_COUNT "count"

/* In a recorder's command line: its stream went through pmu-unwind. */
#define WORD_UNWOUND " | pmu-unwind"

/* Return whether NAME is WORD, or goes on where WORD's bracket closes: "[vdso]", "[vdso32]". */
static inline bool word_starts(const char *name, const char *word)
{
	return !strncmp(name, word, strlen(word) - 1);
}

/* Return whether OBJECT is the kernel or one of its modules: "[kernel.kallsyms]", "[ext4]". */
static inline bool word_is_of_kernel(const char *object)
{
	return *object == '[' && !word_starts(object, WORD_VDSO) &&
	       !word_starts(object, WORD_VSYSCALL) && !word_starts(object, WORD_ANON) &&
	       !word_starts(object, WORD_HEAP) && !word_starts(object, WORD_STACK) &&
	       !word_starts(object, WORD_UNKNOWN);
}
