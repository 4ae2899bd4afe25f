/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses the library while memory and descriptors run out (takes.h).
 *
 *	failures each FIRST MORE SCENARIO FILE...
 *	failures fresh N SCENARIO FILE...
 *	failures stack SCENARIO FILE...
 *
 * each: run the scenario again and again; take 1 fails, then take 2, and so on, until none has
 * failed.  Above FIRST, only some MORE of them fail, which are spread evenly; MORE 0: all.  After
 * each run, as many blocks, mappings and descriptors are in use as before, and the next run without
 * a failure works.
 * fresh: the same in a new process for each of the first N takes: what is done once fails, too.
 * stack: run it in a thread with 256 KiB of stack; print how much of it was used.
 *
 * The last line: takes, how many of them failed, and how the call with the failed take ended: by
 * PMUKIT_NO_MEMORY, by another error, or well, with all results or with less.  If memory was
 * lacking, only the first and the third are right.  Exit 1 after a line about what is wrong.
 */
#include "takes.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pmukit.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char **files;		/* the scenario's, then NULL */
static int problems;

/* How the scenario's first call that failed ended; 0: all went well. */
static int status;
static uint64_t got;		/* a sum of all that the scenario was given */
static bool is_quiet;		/* what is done once, or for a thread's first error, is no leak */
static bool is_told;		/* a problem of this run was printed */

static void problem(const char *what)
{
	if (is_quiet)
		return;
	if (!is_told)
		printf("take %ld (%s): %s: %d %s\n", takes.fails,
		       takes.failed ? takes.failed : "none failed", what, pmukit_error_code(),
		       pmukit_error());
	is_told = true;
	problems++;
}

/* RESULT is what a call returned.  Return whether it is no error. */
static bool fine(int64_t result)
{
	if (result >= 0)
		return true;
	if (result != pmukit_error_code() || !pmukit_error()[0])
		problem("the error is not told");
	if (status == 0)
		status = (int)result;
	return false;
}

static bool made(const void *handle)
{
	return fine(handle ? 0 : pmukit_error_code() == 0 ? -100 : pmukit_error_code());
}

/* If BEFORE is PMUKIT_NO_MEMORY, RESULT of the next call says that the handle is broken. */
static void is_broken(int64_t before, int64_t result)
{
	if (before == PMUKIT_NO_MEMORY && result != PMUKIT_BROKEN)
		problem("the handle is not broken");
}

static void get_number(uint64_t number)
{
	got = (got ^ number) * 0x100000001b3;
}

static void get(const char *text)
{
	for (const char *c = text ? text : "?"; *c; c++)
		get_number((unsigned char)*c);
}

static int take(void *context, const void *bytes, size_t size)
{
	(void)context;
	for (size_t i = 0; i < size; i++)
		get_number(((const uint8_t *)bytes)[i]);
	return 0;
}

/* Of a program that is profiled, not even the number of bytes is known. */
static int take_any(void *context, const void *bytes, size_t size)
{
	(void)context;
	(void)bytes;
	(void)size;
	return 0;
}

static void on_message(void *context, enum pmukit_severity severity, const char *text)
{
	(void)severity;
	*(size_t *)context += strlen(text);
}

static size_t said;
static const struct pmukit_options options = {
	.size = sizeof(options), .message = on_message, .context = &said,
};

/* A bit for each of the first descriptors that is open. */
static uint64_t descriptors(void)
{
	uint64_t open = 0;

	for (int fd = 0; fd < 64; fd++)
		open |= (uint64_t)(fcntl(fd, F_GETFD) >= 0) << fd;
	return open;
}

static void use_events(void)
{
	static const char *const names[] = { "page-faults:u", "cpu-clock", "r1c0", "cycles",
					     "sched:sched_switch", "icx::INST_RETIRED:ANY" };
	const struct pmukit_event_name *event;
	struct perf_event_attr attr;
	int found;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int result = TAKING(pmukit_event_encode(names[i], &attr, sizeof(attr)));
		get_number((uint64_t)result);
		get_number(result == 0 ? attr.config + attr.type : 0);
		if (result != PMUKIT_NOT_FOUND)
			fine(result);
	}
	uint64_t open = descriptors();
	struct pmukit_event_list *list = TAKING(pmukit_event_list_open("faults"));
	if (!made(list))
		return;
	if (descriptors() != open)
		problem("a list keeps descriptors");
	while ((found = TAKING(pmukit_event_list_next(list, &event))) > 0) {
		get(event->name);
		get(event->description);
	}
	fine(found);
	is_broken(found, pmukit_event_list_next(list, &event));
	TAKING_VOID(pmukit_event_list_close(list));
}

/* Add each stack of FROM to TO.  Return whether all went well. */
static bool add_all(struct pmukit_pprof *to, struct pmukit_pprof *from)
{
	const struct pmukit_stack *stack;
	int64_t count = TAKING(pmukit_pprof_stacks(from));

	for (int64_t i = 0; fine(count) && i < count && i < 20; i++) {
		if (!fine(TAKING(pmukit_pprof_stack(from, i, &stack))))
			return false;
		get_number((uint64_t)stack->values[0]);
		for (size_t k = 0; k < stack->frames_size; k++)
			get(stack->frames[k].function);
		if (!fine(TAKING(pmukit_pprof_add(to, stack))))
			return false;
	}
	return count >= 0;
}

/* Read FILE, add it to a new profile in two ways, and write that in three. */
static void use_profile(const char *file)
{
	const struct pmukit_value_type *type;
	struct pmukit_pprof *from = TAKING(pmukit_pprof_open(file, &options)), *to = NULL;
	int types = made(from) ? TAKING(pmukit_pprof_types(from, &type)) : -1;

	if (types > 0)
		to = TAKING(pmukit_pprof_new(type, (size_t)types));
	if (types > 0 && made(to) && add_all(to, from) &&
	    fine(TAKING(pmukit_pprof_merge(to, from)))) {
		int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

		if (fine(TAKING(pmukit_pprof_write_callback(to, take, NULL))) &&
		    fine(TAKING(pmukit_pprof_write_fd(to, fd))))
			fine(TAKING(pmukit_pprof_write(to, "written.pb.gz")));
		close(fd);
	}
	if (to && pmukit_pprof_stacks(from) >= 0)
		is_broken(status, pmukit_pprof_stacks(to));
	TAKING_VOID(pmukit_pprof_close(to));
	TAKING_VOID(pmukit_pprof_close(from));
}

static void use_profiles(void)
{
	for (char **file = files; *file && status == 0; file++)
		use_profile(*file);
}

static void use_records(void)
{
	for (char **file = files; *file && status == 0; file++) {
		const struct pmukit_record *record;
		struct pmukit_stream *s = TAKING(pmukit_stream_open(*file, &options));
		int found;

		if (!made(s))
			return;
		while ((found = TAKING(pmukit_stream_next(s, &record))) > 0)
			get_number(record->offset);
		fine(found);
		is_broken(found, pmukit_stream_next(s, &record));
		TAKING_VOID(pmukit_stream_close(s));
	}
}

/* Use the last sample of S.  Return whether all went well. */
static bool use_sample(struct pmukit_stream *s, const struct pmukit_sample *sample)
{
	const struct pmukit_stream_event *event = TAKING(pmukit_stream_event(s, sample->event));
	const struct pmukit_frame *frame;
	int frames;

	if (!made(event))
		return false;
	get(event->name);
	frames = TAKING(pmukit_stream_frames(s, &frame));
	for (int i = 0; i < frames; i++)
		get(frame[i].function);
	return fine(frames);
}

static void use_frames(void)
{
	for (char **file = files; *file && status == 0; file++) {
		const struct pmukit_sample *sample;
		struct pmukit_stream *s = TAKING(pmukit_stream_open(*file, &options));
		int found;

		if (!made(s) || !made(TAKING(pmukit_stream_origin(s)))) {
			TAKING_VOID(pmukit_stream_close(s));
			return;
		}
		while ((found = TAKING(pmukit_stream_next_sample(s, &sample))) > 0)
			if (!use_sample(s, sample))
				break;
		fine(found);
		is_broken(status, pmukit_stream_next_sample(s, &sample));
		TAKING_VOID(pmukit_stream_close(s));
	}
}

static void use_stream_profile(void)
{
	for (char **file = files; *file && status == 0; file++) {
		struct pmukit_pprof *p;
		struct pmukit_stream *s = TAKING(pmukit_stream_open(*file, &options));

		if (!made(s))
			return;
		p = TAKING(pmukit_stream_profile(s, NULL));
		if (made(p))
			fine(TAKING(pmukit_pprof_write_callback(p, take, NULL)));
		TAKING_VOID(pmukit_pprof_close(p));
		TAKING_VOID(pmukit_stream_close(s));
	}
}

/* Look up some addresses of each program. */
static void use_binaries(void)
{
	for (char **file = files; *file && status == 0; file++) {
		const struct pmukit_frame *frame;
		struct pmukit_binary *b = TAKING(pmukit_binary_open(*file, &options));
		int frames = 0;

		if (!made(b))
			return;
		get(TAKING(pmukit_binary_build_id(b)));
		for (uint64_t at = 0x2000; at < 0x5000 && frames >= 0; at += 0x155) {
			frames = TAKING(pmukit_binary_frames(b, at, &frame));
			for (int i = 0; i < frames; i++) {
				get(frame[i].function);
				get_number(frame[i].line);
			}
		}
		fine(frames);
		is_broken(frames, pmukit_binary_frames(b, 0x2000, &frame));
		TAKING_VOID(pmukit_binary_close(b));
	}
}

static void *set_labels(void *unused)
{
	static const char *const keys[] = { "request", "user", "request", "host", "user" };

	for (int i = 0; i < 20 && status == 0; i++)
		fine(TAKING(pmukit_label_set(keys[i % 5], i % 7 ? keys[i % 3] : NULL)));
	TAKING_VOID(pmukit_label_clear());
	return unused;
}

/* The labels of a thread are freed when it ends. */
static void use_labels(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, set_labels, NULL) == 0)
		pthread_join(thread, NULL);
}

/* Profile this program; the result has the type RESULT. */
static void use_profiler(enum pmukit_result result)
{
	static const char *const events[] = { "page-faults:u", NULL };
	const struct pmukit_profile_config config = {
		.size = sizeof(config), .events = events, .period = 1, .result = result,
		.write = take_any, .message = on_message, .context = &said,
	};
	struct pmukit_profile *p = TAKING(pmukit_profile_start(&config));

	if (!made(p))
		return;
	if (fine(TAKING(pmukit_profile_pause(p))) && fine(TAKING(pmukit_profile_resume(p))) &&
	    fine(TAKING(pmukit_profile_is_running(p)))) {
		char *page = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (int i = 0; i < 16; i++)
			page[i << 12] = 1;
		munmap(page, 1 << 16);
	} else {
		is_broken(status, pmukit_profile_is_running(p));
	}
	fine(TAKING(pmukit_profile_stop(p)));
}

static void use_records_profiler(void)
{
	use_profiler(PMUKIT_RECORDS);
}

static void use_pprof_profiler(void)
{
	use_profiler(PMUKIT_PPROF);
}

static const struct scenario {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "events", use_events }, { "profiles", use_profiles }, { "records", use_records },
	{ "frames", use_frames }, { "stream-profile", use_stream_profile },
	{ "binaries", use_binaries }, { "labels", use_labels },
	{ "record-myself", use_records_profiler }, { "profile-myself", use_pprof_profiler },
};

/* Run S; take N fails, if N is not 0.  Return how the first call that failed ended. */
static int run(const struct scenario *s, long n)
{
	struct takes before = takes;
	uint64_t open = descriptors();

	takes.count = 0;
	takes.fails = n;
	takes.failed = NULL;
	status = 0;
	got = 0;
	is_told = false;
	s->run();
	if (n && takes.failed && getenv("SHOW"))
		fprintf(stderr, "%ld %s %d %" PRIx64 " %s\n", n, takes.failed, status, got,
			status ? pmukit_error() : "");
	if (!takes.failed && status < 0)
		problem("failed without a reason");
	if (takes.blocks != before.blocks)
		problem("a block is not freed, or twice");
	if (takes.mappings != before.mappings)
		problem("a mapping is left, or unmapped twice");
	if (descriptors() != open)
		problem("other descriptors are open");
	return status;
}

static void warm_up(const struct scenario *s)
{
	struct pmukit_options bad = { .size = 1 };

	is_quiet = true;
	pmukit_pprof_open("/", &bad);
	run(s, 0);
	run(s, 1);
	is_quiet = false;
}

static void tell_where(int number)
{
	dprintf(2, "take %ld (%s): signal %d\n", takes.fails, takes.failed, number);
	signal(number, SIG_DFL);
	raise(number);
}

static void let_each_fail(const struct scenario *s, long first, long more)
{
	long memory = 0, other = 0, well = 0, less = 0, tried = 0, step = 1;

	warm_up(s);
	run(s, 0);
	if (status < 0)
		return;
	long all = takes.count;
	uint64_t all_got = got;
	if (more > 0 && all > first + more)
		step = (all - first) / more;
	for (long n = 1; ; n += n < first ? 1 : step) {
		int ended = run(s, n);

		if (!takes.failed)
			break;
		tried++;
		if (takes.lacks_memory && ended != PMUKIT_NO_MEMORY && (ended || got != all_got))
			problem("not PMUKIT_NO_MEMORY, and not well");
		if (ended == PMUKIT_NO_MEMORY)
			memory++;
		else if (ended < 0)
			other++;
		else if (got == all_got)
			well++;
		else
			less++;
	}
	run(s, 0);
	printf("%s: takes %ld, failed %ld: memory %ld, other %ld, well %ld, less %ld\n", s->name,
	       all, tried, memory, other, well, less);
}

static void let_fail_in_new_processes(const struct scenario *s, long count)
{
	for (long n = 1; n <= count; n++) {
		int ended;
		pid_t child = fork();

		if (child == 0) {
			is_quiet = true;
			run(s, n);
			run(s, 0);
			is_quiet = false;
			run(s, 0);
			_exit(problems > 0);
		}
		if (waitpid(child, &ended, 0) < 0 || ended != 0) {
			printf("%s: a new process, take %ld: status %#x\n", s->name, n, ended);
			problems++;
		}
	}
}

enum { STACK = 256 << 10, UNUSED = 0x5a };

static void *run_in_thread(void *scenario)
{
	((const struct scenario *)scenario)->run();
	return NULL;
}

/* The C library's own data of a thread are at the top of its stack, and are not counted. */
static void run_on_small_stack(const struct scenario *s)
{
	unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	size_t unused = 0;

	memset(stack, UNUSED, STACK);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	if (pthread_create(&thread, &attr, run_in_thread, (void *)(uintptr_t)s) ||
	    pthread_join(thread, NULL))
		problem("no thread");
	if (status < 0)
		problem("failed without a reason");
	while (unused < STACK && stack[unused] == UNUSED)
		unused++;
	printf("%s: used %zu\n", s->name, STACK - unused);
}

int main(int argc, char **argv)
{
	takes_prepare();
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGSEGV, tell_where);
	signal(SIGABRT, tell_where);
	signal(SIGILL, tell_where);
	const char *what = argc > 2 ? argv[1] : "";
	int at = !strcmp(what, "each") ? 4 : !strcmp(what, "fresh") ? 3 : 2;
	for (size_t i = 0; argc > at && i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (strcmp(argv[at], scenarios[i].name))
			continue;
		files = argv + at + 1;
		if (at == 4)
			let_each_fail(&scenarios[i], atol(argv[2]), atol(argv[3]));
		else if (at == 3)
			let_fail_in_new_processes(&scenarios[i], atol(argv[2]));
		else
			run_on_small_stack(&scenarios[i]);
		return problems > 0;
	}
	return 2;
}
