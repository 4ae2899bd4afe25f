/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait when recording starts: what records say of them, kernel stacks, calls. */
#include "elf/call.h"
#include "sample/waiting.h"
#include "symbol/kallsyms.h"
#include "target/descendants.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { START = 1000 };

static const struct sample_layout layout = { .tid = 0, .time = 8, .size = 16, .trailer_size = 16,
					     .trailer_time = 8 };

/* Return what the record of TYPE at TIME says of thread 7, after the one before. */
static int says(struct start_waits *w, uint32_t type, bool is_out, uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t time;
	} record = { { type, is_out ? PERF_RECORD_MISC_SWITCH_OUT : 0, sizeof(record) }, 7, 7,
		     time };

	waiting_follow(w, &record.header, &layout);
	return w->thread[0].first;
}

static void first_records(void)
{
	struct waiting_thread thread = { .pid = 7, .tid = 7 };
	struct start_waits w = { .since = START, .thread = &thread, .count = 1 };

	table_add(&w.table, hash_u64(7), 0);
	tap(says(&w, PERF_RECORD_MMAP2, false, 1100) == FIRST_NONE, "a mapping says nothing");
	tap(says(&w, PERF_RECORD_SWITCH, false, 1500) == FIRST_IN, "switched in: it has waited");
	tap(says(&w, PERF_RECORD_SWITCH, true, 1600) == FIRST_IN, "a later record says no more");
	tap(says(&w, PERF_RECORD_SWITCH, true, 1400) == FIRST_OUT, "switched out before: it ran");
	thread.first = FIRST_NONE;
	tap(says(&w, PERF_RECORD_SAMPLE, false, 1500) == FIRST_OUT, "a sample: it ran");
	thread.first = FIRST_NONE;
	tap(says(&w, PERF_RECORD_SWITCH, false, 900) == FIRST_OUT,
	    "switched in before the start: the kernel has sampled what came then");
	table_release(&w.table);
}

static void kernel_stacks(void)
{
	const char *at = "[<0>] futex_do_wait+0x46/0x90\nno frame\n"
			 "[<ffffffff81234567>] f.isra.0+0x1/0x2 [module]\n[<0>] cut+0x";
	struct thread_frame f;

	tap(thread_next_frame(&at, &f) && !strcmp(f.name, "futex_do_wait") && f.offset == 0x46 &&
	    f.size == 0x90, "a frame of the kernel");
	tap(thread_next_frame(&at, &f) && !strcmp(f.name, "f.isra.0") && f.offset == 1 &&
	    f.size == 2, "one of a module, after a line that is not a frame");
	tap(!thread_next_frame(&at, &f), "a frame that is cut is left out");
}

static void kernel_names(void)
{
	char path[] = "/tmp/test-waiting-XXXXXX";
	static const char text[] = "1000 t f\n1010 T g\n1030 t f\n1070 t h\n";
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, text, sizeof(text) - 1) < 0)
		exit(1);
	struct kallsyms *k = kallsyms_open(path);
	tap(kallsyms_function(k, "g", 1) == 0x1010, "the only function with a name");
	tap(kallsyms_function(k, "f", 0x10) == 0x1000 && kallsyms_function(k, "f", 0x40) == 0x1030,
	    "of several, the one with that size");
	tap(kallsyms_function(k, "f", 0x99) == 0x1000 && kallsyms_function(k, "i", 1) == 0,
	    "the first, if none has it; 0: no such name");
	kallsyms_close(k);
	close(fd);
	unlink(path);
}

static void calls(void)
{
#ifdef __x86_64__
	static const uint8_t direct[CALL_BYTES] = { 0x90, 0x90, 0xe8, 1, 2, 3, 4 };
	static const uint8_t through[CALL_BYTES] = { 0x90, 0xff, 0x15, 1, 2, 3, 4 };
	static const uint8_t by_register[CALL_BYTES] = { 0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd3 };
	static const uint8_t none[CALL_BYTES] = { 0x90, 0x90, 0xe9, 1, 2, 3, 4 };

	tap(call_ends(direct + CALL_BYTES) && call_ends(through + CALL_BYTES) &&
	    call_ends(by_register + CALL_BYTES) && !call_ends(none + CALL_BYTES),
	    "what follows a call, and what a jump");
#endif
}

static void follow(struct descendants *d, uint32_t type, uint32_t pid, uint32_t parent,
		   uint32_t tid)
{
	struct {
		struct perf_event_header header;
		uint32_t task[4];
		uint64_t time;
	} record = { { type, 0, sizeof(record) }, { pid, parent, tid, parent }, 1 };

	descendants_follow(d, &record.header);
}

static void families(void)
{
	struct descendants d = { .on = true };

	follow(&d, PERF_RECORD_FORK, 10, 1, 10);
	follow(&d, PERF_RECORD_FORK, 11, 1, 11);
	follow(&d, PERF_RECORD_FORK, 10, 10, 12);
	tap(d.count == 2, "two processes, one with a second thread");
	follow(&d, PERF_RECORD_EXIT, 10, 1, 12);
	tap(d.count == 2, "a thread ends, and the process goes on");
	follow(&d, PERF_RECORD_EXIT, 10, 1, 10);
	tap(d.count == 1 && d.pid[0] == 11, "it ends");
	descendants_release(&d);
}

int main(void)
{
	first_records();
	kernel_stacks();
	kernel_names();
	calls();
	families();
	return tap_done();
}
