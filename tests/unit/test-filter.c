/* SPDX-License-Identifier: Apache-2.0 */
/* filter: whose records pass, as processes come and go and pids are used again. */
#include "target/process-set.h"
#include "tests/unit/tap.h"

static const struct sample_layout layout = { .ip = 0, .tid = 8, .time = 16, .size = 24,
					     .trailer_size = 16, .trailer_time = 8 };

struct fork_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
	uint32_t sample_pid, sample_tid;
	uint64_t sample_time;
};

static bool passes_fork(struct process_set *f, uint32_t pid, uint32_t ppid)
{
	struct fork_record r = { { PERF_RECORD_FORK, 0, sizeof(r) }, pid, ppid, pid, ppid, 0,
				 ppid, ppid, 0 };

	return process_set_selects(f, &r.header, &layout);
}

/* A record of TYPE that begins with a pid: EXIT, COMM and others. */
static bool passes(struct process_set *f, uint32_t type, uint32_t pid)
{
	struct fork_record r = { { type, 0, sizeof(r) }, pid, 1, pid, 1, 0, 999, 999, 0 };

	return process_set_selects(f, &r.header, &layout);
}

static bool passes_sample(struct process_set *f, uint32_t pid)
{
	struct { struct perf_event_header header; uint64_t ip; uint32_t pid, tid; uint64_t time; }
		r = { { PERF_RECORD_SAMPLE, 0, sizeof(r) }, 0xffff, pid, pid + 1, 0 };

	return process_set_selects(f, &r.header, &layout);
}

/* A SWITCH record has nothing but its sample_id. */
static bool passes_switch(struct process_set *f, uint32_t pid)
{
	struct { struct perf_event_header header; uint32_t pid, tid; uint64_t time; }
		r = { { PERF_RECORD_SWITCH, 0, sizeof(r) }, pid, pid + 1, 0 };

	return process_set_selects(f, &r.header, &layout);
}

static void test_off(void)
{
	struct process_set f = { 0 };

	tap(passes_sample(&f, 7) && passes_fork(&f, 8, 7) && f.dropped == 0,
	   "without a pid everything passes");
}

static void test_processes(void)
{
	struct process_set f = { 0 };

	process_set_add(&f, 7);
	process_set_add(&f, 7);
	tap(f.pids == 1 && passes_sample(&f, 7) && !passes_sample(&f, 8), "samples by their pid");
	tap(passes_switch(&f, 7) && !passes_switch(&f, 8), "switches by their sample_id's pid");
	tap(passes(&f, PERF_RECORD_COMM, 7) && !passes(&f, PERF_RECORD_MMAP2, 8) &&
	   passes(&f, PERF_RECORD_EXIT, 7) && !passes(&f, PERF_RECORD_NAMESPACES, 9),
	   "other records by the pid they begin with");
	tap(passes(&f, PERF_RECORD_MMAP, UINT32_MAX) && !passes_sample(&f, UINT32_MAX),
	   "the kernel's mappings pass, samples of no process do not");
	tap(passes(&f, PERF_RECORD_LOST, 8) && passes(&f, PERF_RECORD_THROTTLE, 8),
	   "losses pass, whoever had them");
	tap(passes_fork(&f, 7, 7) && !passes_fork(&f, 8, 7) && !passes_sample(&f, 8),
	   "new threads pass, new processes do not");
	tap(f.dropped == 7, "what did not pass is counted");
	process_set_release(&f);
}

static void test_children(void)
{
	struct process_set f = { .children = true };

	process_set_add(&f, 7);
	tap(passes_fork(&f, 8, 7) && passes_fork(&f, 9, 8) && passes_sample(&f, 9),
	   "the children's children pass");
	tap(!passes_fork(&f, 11, 10) && !passes_sample(&f, 11), "those of others do not");
	tap(!passes_fork(&f, 8, 10) && !passes_sample(&f, 8) && passes_sample(&f, 9),
	   "a pid that others use again is not ours any more");
	tap(passes_fork(&f, 8, 9) && passes_sample(&f, 8), "and may be ours again");
	for (uint32_t pid = 100; pid < 5000; pid++)
		process_set_add(&f, (pid_t)pid);
	tap(passes_sample(&f, 4999) && !passes_sample(&f, 5000) && passes_sample(&f, 7), "many");
	process_set_release(&f);
}

int main(void)
{
	test_off();
	test_processes();
	test_children();
	return tap_done();
}
