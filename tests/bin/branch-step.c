/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch-step [OPTION]... COMMAND... - a test tool: run COMMAND, and record its branches by single
 * steps, where no hardware records branches.  x86-64, and one thread: others run unrecorded.
 *
 *	-F HZ		stop it about so many times a second, and step until the stack is full (500)
 *	-c COUNT	step all of it, and record a sample after about each COUNT instructions
 *	-f		step all of it, and record each branch taken in exactly one sample
 *	-r		with -f: record each range between two branches once.  The oldest entry of
 *			a sample is the newest one of the sample before
 *	-m		with -c or -f: step only from a SIGURG that the program raises to its next
 *	-d DEPTH	entries of a sample (32)
 *	-s SEED		of the random distances between samples (1)
 *	-o FILE		record in FILE, as seekable perf.data
 *	-n FILE		write the counts to FILE, not to stderr
 *
 * The counts are of what was stepped, "NAME NUMBER" in each line.  "instructions" has each repeated
 * string instruction once, as hardware does.  "not-taken" and "mispredicted" are not among "taken",
 * the sum of the six kinds.  With -f and -c they depend on the program alone, and so does which
 * branches are in which sample.
 *
 * What is not measured, but made: a branch is mispredicted as a two-bit counter, and for indirect
 * branches the last target, would have it; cycles are the instructions since the branch before.
 * A stack ends where a signal handler starts or returns: no range leads across.  Code that changes
 * is read anew after mmap(), mprotect() and the like only.
 *
 * The exit status is the program's.
 */
#ifdef __x86_64__
#include "base/random.h"
#include "base/units.h"
#include "code/instruction.h"
#include "tests/bin/branch-file.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

enum {
	INSTRUCTION_SIZE_MAX = 15,	/* bytes */
	WINDOW_MAX = 4000,		/* instructions to step until a stack is full */
	MAPPINGS = 1024,		/* with code */
	PREDICTORS = 65536,
	CYCLES_MAX = 65535,		/* what the field holds */
	CODES = 16384,			/* instructions that are kept decoded */
};

/* As perf_branch_entry.type has them: PERF_BR_*. */
enum branch { BRANCH_NONE, BRANCH_COND, BRANCH_JUMP, BRANCH_INDIRECT, BRANCH_CALL,
	      BRANCH_INDIRECT_CALL, BRANCH_RETURN, BRANCH_KINDS };
static const char *const branch_name[BRANCH_KINDS] = {
	[BRANCH_COND] = "conditional", [BRANCH_JUMP] = "jumps",
	[BRANCH_INDIRECT] = "indirect-jumps", [BRANCH_CALL] = "calls",
	[BRANCH_INDIRECT_CALL] = "indirect-calls", [BRANCH_RETURN] = "returns",
};

/* Why the program stopped. */
enum stop { STOP_STEP, STOP_SIGNAL, STOP_MARK, STOP_EXEC, STOP_EVENT, STOP_END };

/* What a branch did before, for the next prediction. */
struct predictor {
	uint64_t target;
	unsigned taken;		/* 0..3: 2 and 3 predict that it is taken */
};

/* The instruction at an address. */
struct code {
	uint64_t address;
	uint64_t version;	/* of the mappings when it was read */
	bool is_system_call;
	struct opcode opcode;
};

struct stepper {
	pid_t pid;
	int memory;		/* its /proc/PID/mem */
	int status;		/* by waitpid() */
	int signal;		/* to deliver when it continues; 0: none */
	uint64_t ip;
	bool has_ended;

	struct branch_entry entry[BRANCH_DEPTH_MAX];	/* the newest first */
	size_t entries, depth;
	uint64_t since;		/* instructions since the newest entry */

	bool is_full, are_ranges, has_marks;	/* -f, -r, -m */
	uint64_t distance;	/* -c: instructions between samples; 0: no -c */
	uint64_t left;		/* instructions until a sample is due */
	uint64_t pause;		/* -F: ns */
	uint64_t seed;

	uint64_t instructions, samples, recorded, not_taken, mispredicted, taken[BRANCH_KINDS];
	struct predictor predictor[PREDICTORS];
	struct proc_mapping mapping[MAPPINGS];	/* with code, without paths */
	size_t mappings;
	uint64_t version;	/* of the mappings; changes with each look at them */
	struct code code[CODES];
	struct branch_file file;
};

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "branch-step: cannot %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t read_register(const struct stepper *s, size_t offset)
{
	return (uint64_t)ptrace(PTRACE_PEEKUSER, s->pid, offset, NULL);
}

#define REGISTER(name) (offsetof(struct user, regs) + offsetof(struct user_regs_struct, name))

/* Record the mappings with code that were not there before. */
static void record_mappings(struct stepper *s)
{
	static struct proc_mapping now[MAPPINGS];
	struct proc_maps maps = proc_maps_open(s->pid);
	struct proc_mapping m;
	size_t count = 0;

	while (count < MAPPINGS && proc_maps_next(&maps, &m)) {
		size_t i = 0;
		if (!(m.prot & PROT_EXEC))
			continue;
		while (i < s->mappings &&
		       (s->mapping[i].start != m.start || s->mapping[i].end != m.end ||
			s->mapping[i].file_offset != m.file_offset ||
			s->mapping[i].inode != m.inode))
			i++;
		if (i == s->mappings)
			branch_file_mapping(&s->file, &m);
		now[count++] = m;
	}
	proc_maps_close(&maps);
	memcpy(s->mapping, now, count * sizeof(*now));
	s->mappings = count;
	s->version++;
}

/* The process executes another program: take note of all that is new. */
static void start_program(struct stepper *s)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", s->pid);
	if (s->memory >= 0)
		close(s->memory);
	s->memory = open(path, O_RDONLY | O_CLOEXEC);
	if (s->memory < 0)
		fail("read the program's memory");
	s->mappings = 0;
	branch_file_comm(&s->file);
	record_mappings(s);
}

/* Wait until the program stops, and return why. */
static enum stop wait_for(struct stepper *s)
{
	if (waitpid(s->pid, &s->status, __WALL) < 0 || !WIFSTOPPED(s->status)) {
		s->has_ended = true;
		return STOP_END;
	}
	int event = s->status >> 16, number = WSTOPSIG(s->status);
	s->ip = read_register(s, REGISTER(rip));
	if (event == PTRACE_EVENT_EXEC) {
		start_program(s);
		return STOP_EXEC;
	}
	if (event)
		return STOP_EVENT;
	if (number == SIGURG && s->has_marks)
		return STOP_MARK;
	s->signal = number;
	return STOP_SIGNAL;
}

/* Continue the program by REQUEST, PTRACE_CONT or PTRACE_SINGLESTEP, until it stops. */
static enum stop resume(struct stepper *s, enum __ptrace_request request)
{
	int number = s->signal;

	s->signal = 0;
	ptrace(request, s->pid, NULL, (void *)(long)number);
	enum stop why = wait_for(s);
	if (why == STOP_SIGNAL && s->signal == SIGTRAP && request == PTRACE_SINGLESTEP) {
		s->signal = 0;
		return STOP_STEP;
	}
	return why;
}

/* Return whether the signal to deliver, if any, starts a handler. */
static bool is_caught(const struct stepper *s)
{
	char path[32], line[256];
	unsigned long long caught = 0;

	if (!s->signal)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", s->pid);
	FILE *status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "SigCgt:", 7))
			caught = strtoull(line + 7, NULL, 16);
	if (status)
		fclose(status);
	return caught >> (s->signal - 1) & 1;
}

/* Record the entries so far as a sample. */
static void record_sample(struct stepper *s, uint64_t period)
{
	if (!s->entries)
		return;
	branch_file_sample(&s->file, s->ip, period, s->entry, s->entries);
	s->samples++;
	s->recorded += s->entries;
}

/* No range leads from the newest entry to here: start a new stack. */
static void break_stack(struct stepper *s)
{
	if (s->is_full && s->entries > (s->are_ranges ? 1 : 0))
		record_sample(s, s->entries);
	s->entries = 0;
	s->since = 0;
}

static enum branch kind_of(const struct opcode *code)
{
	static const uint8_t kind[] = {
		[INSTRUCTION_BRANCH] = BRANCH_COND, [INSTRUCTION_JUMP] = BRANCH_JUMP,
		[INSTRUCTION_JUMP_INDIRECT] = BRANCH_INDIRECT, [INSTRUCTION_CALL] = BRANCH_CALL,
		[INSTRUCTION_CALL_INDIRECT] = BRANCH_INDIRECT_CALL,
		[INSTRUCTION_RETURN] = BRANCH_RETURN,
	};

	return code->kind < sizeof(kind) ? kind[code->kind] : BRANCH_NONE;
}

/* Return whether the model predicts this branch wrongly, and have the model learn. */
static bool is_mispredicted(struct stepper *s, enum branch kind, uint64_t from, uint64_t to,
			    bool is_taken)
{
	struct predictor *p = &s->predictor[from * 0x9e3779b97f4a7c15 >> 48];
	bool is_wrong = false;

	if (kind == BRANCH_COND) {
		is_wrong = (p->taken >= 2) != is_taken;
		if (is_taken && p->taken < 3)
			p->taken++;
		if (!is_taken && p->taken > 0)
			p->taken--;
	} else if (kind == BRANCH_INDIRECT || kind == BRANCH_INDIRECT_CALL) {
		is_wrong = p->target != to;
		p->target = to;
	}
	s->mispredicted += is_wrong;
	return is_wrong;
}

/* Note a branch from FROM to s->ip, and record a full stack. */
static void take_branch(struct stepper *s, enum branch kind, uint64_t from)
{
	bool is_wrong = is_mispredicted(s, kind, from, s->ip, true);
	uint64_t cycles = s->since < CYCLES_MAX ? s->since : CYCLES_MAX;

	s->taken[kind]++;
	s->since = 0;
	if (s->entries == s->depth)
		s->entries--;	/* the oldest one is lost */
	memmove(s->entry + 1, s->entry, s->entries * sizeof(*s->entry));
	s->entry[0] = (struct branch_entry){
		from, s->ip, (is_wrong ? 1 : 2) | cycles << 4 | (uint64_t)kind << 20,
	};
	s->entries++;
	if (s->is_full && s->entries == s->depth) {
		record_sample(s, s->depth - s->are_ranges);
		s->entries = s->are_ranges;
	}
}

/* Note that the instruction CODE at FROM led to s->ip. */
static void take_step(struct stepper *s, const struct opcode *code, uint64_t from)
{
	enum branch kind = kind_of(code);
	uint64_t next = from + code->size;
	bool is_direct = kind == BRANCH_COND || kind == BRANCH_JUMP || kind == BRANCH_CALL;

	if (kind == BRANCH_NONE && s->ip == from)
		return;		/* a string instruction has more to do */
	if (is_direct && s->ip != code->target && (kind != BRANCH_COND || s->ip != next)) {
		break_stack(s);	/* it was not executed */
		return;
	}
	s->instructions++;
	s->since++;
	s->left -= s->left > 0;
	if (kind == BRANCH_COND && s->ip == next) {
		s->not_taken++;
		is_mispredicted(s, kind, from, next, false);
	} else if (kind != BRANCH_NONE) {
		take_branch(s, kind, from);
	} else if (s->ip - from > INSTRUCTION_SIZE_MAX) {
		break_stack(s);	/* it returned from a signal handler */
	}
	if (s->distance && !s->left && s->entries == s->depth) {
		record_sample(s, s->distance);
		s->left = s->distance / 2 + random_number(&s->seed) % (s->distance + 1);
	}
}

/* Return whether the system call that just ended may have changed the mappings. */
static bool has_mapped(const struct stepper *s)
{
	switch (read_register(s, REGISTER(orig_rax))) {
	case SYS_mmap: case SYS_munmap: case SYS_mremap: case SYS_mprotect: case SYS_pkey_mprotect:
		return true;
	default:
		return false;
	}
}

/*
 * Return the instruction at s->ip.  To read it takes a quarter of the time of a step, so it is kept
 * until the mappings change.
 */
static const struct code *read_code(struct stepper *s)
{
	static const uint8_t system_call[] = { 0x0f, 0x05 };
	struct code *code = &s->code[s->ip % CODES];
	uint8_t bytes[INSTRUCTION_SIZE_MAX + 1] = { 0 };

	if (code->address == s->ip && code->version == s->version)
		return code;
	ssize_t size = pread(s->memory, bytes, sizeof(bytes), (off_t)s->ip);
	*code = (struct code){
		.address = s->ip, .version = s->version,
		.is_system_call = !memcmp(bytes, system_call, sizeof(system_call)),
	};
	if (size <= 0 || !instruction_read_x86(bytes, (size_t)size, s->ip, &code->opcode))
		code->opcode = (struct opcode){ .kind = INSTRUCTION_OTHER };
	return code;
}

/* Execute one instruction.  Return false at the program's end, or at a mark. */
static bool step(struct stepper *s)
{
	const struct code *code = read_code(s);
	bool is_handler = is_caught(s);

	switch (resume(s, PTRACE_SINGLESTEP)) {
	case STOP_STEP:
		if (is_handler)
			break_stack(s);
		else
			take_step(s, &code->opcode, code->address);
		if (code->is_system_call && has_mapped(s))
			record_mappings(s);
		return true;
	case STOP_EXEC:
		s->instructions++;
		break_stack(s);
		return true;
	case STOP_END:
		s->instructions += code->is_system_call && WIFEXITED(s->status);
		return false;
	case STOP_MARK:
		return false;
	default:
		return true;
	}
}

/* Step all of the program, or all between its marks. */
static void step_all(struct stepper *s)
{
	s->left = s->distance;
	while (!s->has_ended) {
		if (s->has_marks)
			while (resume(s, PTRACE_CONT) != STOP_MARK && !s->has_ended)
				;
		if (s->has_ended)
			break;
		record_mappings(s);
		while (step(s))
			;
		break_stack(s);
	}
}

/* Let the program run for a while, and stop it. */
static void run_for_a_while(struct stepper *s)
{
	uint64_t ns = s->pause / 2 + random_number(&s->seed) % (s->pause + 1);
	struct timespec pause = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	ptrace(PTRACE_CONT, s->pid, NULL, (void *)(long)s->signal);
	s->signal = 0;
	nanosleep(&pause, NULL);
	ptrace(PTRACE_INTERRUPT, s->pid, NULL, NULL);
	for (enum stop why = wait_for(s); why != STOP_EVENT && !s->has_ended; )
		why = resume(s, PTRACE_CONT);	/* the interrupt is still to come */
}

/* Step through short windows. */
static void step_at_times(struct stepper *s)
{
	while (!s->has_ended) {
		run_for_a_while(s);
		if (s->has_ended)
			return;
		record_mappings(s);
		s->entries = s->since = 0;
		for (int i = 0; i < WINDOW_MAX && s->entries < s->depth && step(s); i++)
			;
		if (s->entries > 1)
			record_sample(s, s->pause);
	}
}

/* Start COMMAND, stopped at its first instruction. */
static void start(struct stepper *s, char **command)
{
	cpu_set_t one;
	int go[2];
	char byte = 0;

	if (pipe2(go, O_CLOEXEC))
		fail("make a pipe");
	s->pid = s->file.pid = fork();
	if (s->pid == 0) {
		if (read(go[0], &byte, 1) == 1)
			execvp(command[0], command);
		_exit(127);
	}
	if (s->pid < 0 || ptrace(PTRACE_SEIZE, s->pid, NULL,
				 (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC)))
		fail("trace a program");
	/* A step takes a quarter of the time where it changes no CPU. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(s->pid, sizeof(one), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (write(go[1], &byte, 1) != 1)
		fail("start a program");
	close(go[0]);
	close(go[1]);
	enum stop why;
	do
		why = wait_for(s);
	while (why != STOP_EXEC && why != STOP_END && ptrace(PTRACE_CONT, s->pid, NULL, NULL) == 0);
	if (why != STOP_EXEC) {
		fprintf(stderr, "branch-step: cannot run '%s'\n", command[0]);
		exit(127);
	}
}

static void write_counts(const struct stepper *s, FILE *out)
{
	uint64_t taken = 0;

	for (size_t i = 0; i < BRANCH_KINDS; i++)
		taken += s->taken[i];
	fprintf(out, "instructions %lu\ntaken %lu\nnot-taken %lu\nmispredicted %lu\n",
		s->instructions, taken, s->not_taken, s->mispredicted);
	for (size_t i = BRANCH_COND; i < BRANCH_KINDS; i++)
		fprintf(out, "%s %lu\n", branch_name[i], s->taken[i]);
	fprintf(out, "samples %lu\nentries %lu\n", s->samples, s->recorded);
}

/* Start the recording PATH. */
static void open_file(struct stepper *s, const char *path)
{
	bool is_stepped = s->is_full || s->distance;
	const struct perf_event_attr attr = {
		.size = BRANCH_ATTR,
		.type = is_stepped ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = s->is_full ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS :
			  s->distance ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = s->is_full ? s->depth : s->distance ? s->distance : s->pause,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_PERIOD | PERF_SAMPLE_BRANCH_STACK,
		.disabled = 1, .mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1, .task = 1,
		.exclude_kernel = 1, .exclude_hv = 1, .sample_id_all = 1,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY |
				      PERF_SAMPLE_BRANCH_TYPE_SAVE,
	};

	s->file.event_name = s->is_full ? "stepped-branches" :
			     s->distance ? "stepped-instructions" : "stepped-time";
	if (!branch_file_open(&s->file, path, &attr))
		fail("create the recording");
}

static int usage(void)
{
	fputs("usage: branch-step [-F HZ | -c COUNT | -f [-r]] [-m] [-d DEPTH] [-s SEED] [-o FILE] "
	      "[-n FILE] COMMAND...\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static struct stepper s = { .memory = -1, .depth = 32, .seed = 1 };
	const char *path = NULL, *counts = NULL;
	uint64_t number, hz = 500;
	int option;

	while ((option = getopt(argc, argv, "+F:c:frmd:s:o:n:")) != -1) {
		bool is_count = strchr("Fcds", option) && units_parse_count(optarg, &number);
		switch (option) {
		case 'F': hz = is_count ? number : 0; break;
		case 'c': s.distance = is_count ? number : 0; break;
		case 'd': s.depth = is_count ? number : 0; break;
		case 's': s.seed = is_count ? number : 1; break;
		case 'f': s.is_full = true; break;
		case 'r': s.are_ranges = true; break;
		case 'm': s.has_marks = true; break;
		case 'o': path = optarg; break;
		case 'n': counts = optarg; break;
		default: return usage();
		}
	}
	if (optind == argc || s.depth < 2 || s.depth > BRANCH_DEPTH_MAX || hz < 1 || hz > 10000 ||
	    (s.is_full && s.distance) || (s.has_marks && !s.is_full && !s.distance) ||
	    (s.are_ranges && !s.is_full))
		return usage();
	s.pause = 1000000000 / hz;
	s.file.command = argv + optind;
	FILE *out = counts ? fopen(counts, "we") : stderr;
	if (!out)
		fail("create the file of counts");
	if (path)
		open_file(&s, path);
	start(&s, argv + optind);
	if (s.is_full || s.distance)
		step_all(&s);
	else
		step_at_times(&s);
	if (path && !branch_file_close(&s.file))
		fail("write the recording");
	write_counts(&s, out);
	return WIFEXITED(s.status) ? WEXITSTATUS(s.status) : 128 + WTERMSIG(s.status);
}
#else
#include <stdio.h>

int main(void)
{
	fputs("branch-step: it steps x86-64 only\n", stderr);
	return 77;
}
#endif
