/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay: records leave in order and none is lost, whatever the other process does: answer, answer
 * nonsense, end, do nothing, or lie; with far more records than there is room for.
 */
#include "base/arena.h"
#include "relay/relay.h"
#include "tests/unit/tap.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS = 20000, ROUND = 2000, DUMP = 1024, USED = 512, EXCHANGE = 512 << 10,
       TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
	      PERF_SAMPLE_STACK_USER };

static const struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = TYPE,
					     .sample_regs_user = 1, .sample_stack_user = DUMP };

/* A SAMPLE with a dump; its callchain is empty, and its registers' ABI is 0: none. */
struct dumped {
	struct perf_event_header header;
	uint64_t ip, time, chain, abi, size;
	uint8_t stack[DUMP];
	uint64_t used;
};

/* The same sample, unwound. */
struct unwound {
	struct perf_event_header header;
	uint64_t ip, time, chain, caller, abi, size;
};

struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t number;	/* as its name */
};

enum behaviour { ANSWERS, SPARES, ANSWERS_SLOWLY, ANSWERS_SOME, ANSWERS_NONSENSE, ENDS, SLEEPS,
		 SEEMS_TO_READ, SEEMS_DONE, WAKES };

static size_t answer(const struct dumped *d, enum behaviour how, uint8_t *room)
{
	struct unwound u = { { PERF_RECORD_SAMPLE, 0, sizeof(u) }, d->ip, d->time, 1, ~d->ip, 0,
			     0 };
	size_t size = sizeof(u);

	if (d->stack[0] != (uint8_t)d->ip || d->stack[USED - 1] != (uint8_t)d->ip)
		u.caller = 0;	/* it was overwritten: that is noticed */
	if (how == ANSWERS_SOME && d->ip % 3 == 0)
		return 0;
	if (how == ANSWERS_NONSENSE && d->ip % 4 == 0)
		u.header.size = 8;
	else if (how == ANSWERS_NONSENSE && d->ip % 4 == 1)
		u.header.type = PERF_RECORD_MMAP2;
	else if (how == ANSWERS_NONSENSE && d->ip % 4 == 2)
		size = SIZE_MAX / 2;
	memcpy(room, &u, sizeof(u));
	return size;
}

static bool leaves_out_dumps;	/* samples that are not unwound leave without their dumps */
static uint64_t left_out;	/* number of these, as the relay says */
static bool *missed;	/* in shared memory: the other process did not see each COMM, in order */

/* The other process, taken over: it answers nothing, and never ends by itself. */
__attribute__((noreturn))
static void be_hostile(struct exchange *x, enum behaviour how, int socket)
{
	static const uint8_t bytes[4096];

	for (;;) {
		if (how == WAKES)
			(void)!send(socket, bytes, sizeof(bytes), MSG_NOSIGNAL);
		else if (how == SEEMS_DONE)
			__atomic_store_n(&x->results->tail, UINT64_MAX, __ATOMIC_RELAXED);
		else
			x->results->tail++;
		if (how != WAKES)
			usleep(100000);
	}
}

/* The other process. */
__attribute__((noreturn))
static void be_other(struct exchange *x, enum behaviour how, int socket)
{
	const struct exchange_entry *entry;
	uint64_t next_comm = 0, dumps = 0;
	char byte;

	if (!exchange_enter(x))
		_exit(1);
	while (how == SLEEPS)
		pause();
	if (how > SLEEPS)
		be_hostile(x, how, socket);
	do {
		while ((entry = exchange_next(x))) {
			const struct comm *comm = (const void *)(entry + 1);
			const struct dumped *dump = (const void *)(entry + 1);
			if (entry->question == EXCHANGE_NO_QUESTION) {
				if (comm->header.type == PERF_RECORD_COMM)
					*missed |= comm->number != next_comm;
				next_comm += comm->header.type == PERF_RECORD_COMM ? 10 : 0;
				continue;
			}
			if (++dumps > 1000 && how == ENDS)
				_exit(0);
			if (how == ANSWERS_SLOWLY && dumps % 50 == 0)
				usleep(1000);
			uint8_t *room = exchange_answer_room(x);
			exchange_answer(x, entry, room ? answer(dump, how, room) : 0);
			exchange_spare(x, how == SPARES);
		}
	} while (recv(socket, &byte, 1, 0) > 0);
	_exit(0);
}

static struct helper *start(enum behaviour how)
{
	struct helper *h = mem_zeroed(1, sizeof(*h));
	int pair[2];

	if (!exchange_open(&h->exchange, EXCHANGE) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		exit(1);
	h->pid = fork();
	if (h->pid == 0) {
		close(pair[0]);
		be_other(&h->exchange, how, pair[1]);
	}
	close(pair[1]);
	h->socket = pair[0];
	return h;
}

/* Write record NUMBER: each tenth is a COMM, the others are dumps. */
static void write_record(struct relay *r, uint64_t number)
{
	static struct dumped d = { .header = { PERF_RECORD_SAMPLE, 0, sizeof(d) }, .size = DUMP,
				   .used = USED };
	struct comm c = { { PERF_RECORD_COMM, 0, sizeof(c) }, 1, 1, number };

	d.ip = d.time = number;
	memset(d.stack, (int)number, sizeof(d.stack));
	if (number % 10 == 0)
		relay_write(r, &c.header);
	else
		relay_sample(r, &d.header, 0);
}

/* Return whether the record at AT is record NUMBER; sets *IS_UNWOUND. */
static bool is_record(const uint8_t *at, uint64_t number, bool *is_unwound)
{
	const struct unwound *u = (const void *)at;
	const struct dumped *d = (const void *)at;
	const struct comm *c = (const void *)at;
	const size_t trimmed = offsetof(struct dumped, stack) + USED + 8;

	*is_unwound = false;
	if (number % 10 == 0)
		return c->header.type == PERF_RECORD_COMM && c->number == number;
	if (u->header.type != PERF_RECORD_SAMPLE || u->ip != number || u->time != number)
		return false;
	*is_unwound = u->header.size == sizeof(*u);
	if (leaves_out_dumps && u->header.size == offsetof(struct dumped, stack))
		return d->chain == 0 && d->abi == 0 && d->size == 0;
	if (*is_unwound)
		return u->chain == 1 && u->caller == ~number && u->abi == 0 && u->size == 0;
	return d->header.size == trimmed && d->size == USED && d->stack[0] == (uint8_t)number &&
	       d->stack[USED - 1] == (uint8_t)number;
}

/* Return whether the SIZE bytes at AT are all records, in order; sets *UNWOUND to how many. */
static bool is_whole(const uint8_t *at, size_t size, uint64_t *unwound)
{
	const uint8_t *end = at + size;
	uint64_t number = 0;
	bool is_unwound;

	for (*unwound = 0; at < end; number++) {
		if (!is_record(at, number, &is_unwound)) {
			printf("# wrong at record %u\n", (unsigned)number);
			return false;
		}
		*unwound += is_unwound;
		at += ((const struct perf_event_header *)(const void *)at)->size;
	}
	return number == RECORDS;
}

/* Pass all records by a process that behaves so; PATIENT: with time for it. */
static uint64_t pass(enum behaviour how, bool may_wait, const char *name)
{
	struct report report = { .tool = "test", .quiet = true };
	struct stream_events events = { 0 };
	struct output out;
	const char *error;
	uint64_t unwound = 0;

	events_add(&events, &attr, sizeof(attr), (struct cursor){ 0 }, &error);
	output_open_memory(&out, &report);
	struct relay r = { .out = &out, .events = &events, .report = &report,
			   .may_wait = may_wait, .has_frame_pointers = leaves_out_dumps };
	relay_use(&r, start(how));
	for (uint64_t number = 0; number < RECORDS; number++) {
		write_record(&r, number);
		if (number % ROUND == ROUND - 1)
			relay_round(&r, number == RECORDS - 1);
	}
	relay_stop(&r);
	left_out = r.beyond + r.late + r.spared;
	tap(r.unwound + left_out + r.kept + r.without == RECORDS - RECORDS / 10 ||
	    how == ANSWERS_SOME || how == ANSWERS_NONSENSE, "each dump is counted once");
	relay_release(&r);
	output_flush(&out);
	const uint8_t *bytes = mmap(NULL, out.written, PROT_READ, MAP_SHARED, out.fd, 0);
	tap(bytes != MAP_FAILED && is_whole(bytes, out.written, &unwound), name);
	munmap((void *)(uintptr_t)bytes, out.written);
	output_close(&out);
	events_release(&events);
	return unwound;
}

int main(void)
{
	const uint64_t dumps = RECORDS - RECORDS / 10;

	signal(SIGPIPE, SIG_IGN);
	missed = mmap(NULL, sizeof(*missed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	alarm(300);
	tap(pass(ANSWERS, true, "all is answered: in order") == dumps, "with time, all is unwound");
	pass(ANSWERS, false, "without time, all is there, in order");
	pass(ANSWERS_SLOWLY, false, "the process is slow: all is there, in order");
	tap(pass(ANSWERS_SOME, true, "some stays as it is: in order") < dumps, "some is unwound");
	tap(pass(ANSWERS_NONSENSE, true, "nonsense is not written") < dumps / 2,
	    "only the rest is");
	leaves_out_dumps = true;
	tap(pass(ANSWERS_SOME, true, "some stays as it is, without its dump") + left_out == dumps &&
	    left_out >= dumps / 3, "the others are unwound");
	tap(pass(ANSWERS_SLOWLY, false, "the process is slow: dumps are left out") + left_out ==
	    dumps, "the others are unwound, too");
	uint64_t seen = pass(SPARES, true, "the process needs to see little: all is there");
	tap(seen + left_out == dumps && seen < dumps, "dumps that it need not see are left out");
	pass(ENDS, false, "the process ends: no later dump is left out");
	leaves_out_dumps = false;
	pass(ENDS, false, "the process ends: nothing is lost");
	tap(pass(ENDS, true, "the same, with time for it") >= 900, "what it answered is used");
	tap(pass(SLEEPS, false, "the process does nothing: nothing is lost") == 0,
	    "none is unwound");
	tap(pass(SEEMS_DONE, false, "the process says it has read all: nothing is lost") == 0,
	    "none is unwound, and the wait ends");
	tap(pass(WAKES, true, "the process wakes us up all the time: nothing is lost") == 0,
	    "none is unwound, and the wait ends");
	tap(pass(SEEMS_TO_READ, true, "the process only seems to read: nothing is lost") == 0,
	    "none is unwound, and the wait ends");
	tap(!*missed, "the process sees all mappings and names, in order, however slow it is");
	return tap_done();
}
