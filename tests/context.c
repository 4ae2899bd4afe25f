/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context - labels its work by OpenTelemetry's thread context, or by custom labels.
 *
 *	cc -O2 -pthread context.c			the variables are the program's own
 *	cc -O2 -fPIC -shared -DVARIABLES -o libcontext.so context.c	they are a library's
 *	cc -O2 -pthread -DLIBRARY context.c libcontext.so
 *	context MS {otel|custom} [leave|wild]
 *
 * Two threads run workA() under user=A, then workB() under user=B.  With "leave" the first thread
 * ends at once; with "wild" labels are anywhere, and have any size.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct text { size_t size; const char *at; };
struct custom_pair { struct text key, value; };
struct custom_set { struct custom_pair *pair; size_t count, room; };
struct context {
	uint8_t trace[16], span[8], valid, flags;
	uint16_t size;
	uint8_t attributes[32];
} __attribute__((packed));

#ifdef VARIABLES
__thread struct context *otel_thread_ctx_v1;
__thread struct custom_set *custom_labels_current_set;
void set_labels(struct context *c, struct custom_set *s)
{
	otel_thread_ctx_v1 = c;
	custom_labels_current_set = s;
}
#else
#ifdef LIBRARY
void set_labels(struct context *c, struct custom_set *s);
#else
__thread struct context *otel_thread_ctx_v1 __attribute__((used, visibility("default")));
__thread struct custom_set *custom_labels_current_set
	__attribute__((used, visibility("default")));
static __thread char other[100];

static void set_labels(struct context *c, struct custom_set *s)
{
	__asm__ volatile("" : : "r"(other) : "memory");
	otel_thread_ctx_v1 = c;
	custom_labels_current_set = s;
	__asm__ volatile("" ::: "memory");
}
#endif

#include "anywhere.h"
#include "work.h"

static int ms;
static int is_custom, is_wild;

static int64_t spent(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Publish the names "path" and "user" of attributes 0 and 1. */
static void publish(void)
{
	/* 2: attribute { 1: key, 2: value { 5: list { 1: { 1: "path" }, 1: { 1: "user" } } } } */
	static const char payload[] =
		"\x12\x33" "\x0a\x1d" "threadlocal.attribute_key_map" "\x12\x12" "\x2a\x10"
		"\x0a\x06\x0a\x04" "path" "\x0a\x06\x0a\x04" "user";
	struct {
		char signature[8];
		uint32_t version, size;
		uint64_t published;
		const void *payload;
	} head = { "OTEL_CTX", 2, sizeof(payload) - 1, 1, payload };
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);

	if (ftruncate(fd, 4096) == 0)
		memcpy(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), &head,
		       sizeof(head));
}

static void *run(void *unused)
{
	struct context a = { { 0xaa }, { 1 }, 1, 0, 9,
			     { 0, 1, '/', 1, 1, 'X', 1, 1, 'A' } }, b = a;
	struct custom_pair pair_a[] = { { { 0, NULL }, { 0, NULL } }, { { 4, "user" }, { 1, "A" } },
					{ { 4, "user" }, { 1, "X" } } };
	struct custom_pair pair_b[] = { { { 4, "user" }, { 1, "B" } } };
	struct custom_set set_a = { pair_a, 3, 3 }, set_b = { pair_b, 1, 1 };

	while (is_wild && spent() < ms) {
		a.size = (uint16_t)any(&a);
		for (size_t i = 0; i < sizeof(a.attributes); i++)
			a.attributes[i] = (uint8_t)any(&a);
		for (int i = 0; i < 3; i++)
			pair_a[i] = (struct custom_pair){ { any(&a), (void *)any(pair_a) },
							  { any(&a), (void *)any(pair_a) } };
		set_a.pair = any(&a) & 1 ? pair_a : (void *)any(pair_a);
		set_a.count = any(&a);
		set_labels(is_custom ? NULL : any(&a) & 1 ? &a : (void *)any(&a),
			   is_custom ? any(&a) & 1 ? &set_a : (void *)any(&a) : NULL);
		workA();
	}
	b.trace[0] = 0xbb;
	b.attributes[8] = 'B';
	while (spent() < ms) {
		set_labels(is_custom ? NULL : &a, is_custom ? &set_a : NULL);
		workA();
		set_labels(is_custom ? NULL : &b, is_custom ? &set_b : NULL);
		workB();
		set_labels(NULL, NULL);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t other_thread;

	ms = argc > 1 ? atoi(argv[1]) : 500;
	is_custom = argc > 2 && !strcmp(argv[2], "custom");
	is_wild = argc > 3 && !strcmp(argv[3], "wild");
	publish();
	pthread_create(&other_thread, NULL, run, NULL);
	if (argc > 3 && !is_wild)
		pthread_exit(NULL);
	run(NULL);
	pthread_join(other_thread, NULL);
}
#endif
