/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake-go - says that it is a Go program, and keeps labels as Go 1.24 does, or hostile ones.
 *
 *	cc -O2 -no-pie -pthread fake-go.c
 *	cc -O2 -fPIC -shared -pthread -DLIBRARY -o libfake.so fake-go.c
 *	cc -O2 -pthread -DHOST fake-go.c libfake.so	the Go program is a library
 *	cc -O2 -no-pie -pthread -DLAST_WORD fake-go.c	where g is says the last word of a mapping
 *	-DVERSION='"go1.23.4"'	which keeps labels in a map: of hostile ones, with a WHAT of these
 *	fake-go MS [WHAT]	until it got so many ms of CPU time
 *
 * workA() runs under the label user=A, workB() under user=B.  WHAT: "wild": the pointers to the
 * labels lead anywhere; "long": lengths up to 2^63; "large": a value of 10 MB; "racing": another
 * thread changes them all the time; "astray": the pointers from the thread to its goroutine do.  It
 * has the two functions whose code pmu-sample looks at.
 */
#ifdef HOST
int run(int argc, char **argv);

int main(int argc, char **argv)
{
	return run(argc, argv);
}
#else
#ifdef LIBRARY
#define main run
#define TABLES ".data.rel.ro.gopclntab, \"aw\""
#define LOAD_G "mov g@gottpoff(%rip), %rcx\n mov %fs:(%rcx), %rax\n"
#define MODEL "initial-exec"
/* as Go 1.27 writes it */
#define SET_LABELS "mov 0x160(%r14), %rcx\n mov (%rsp), %rcx\n mov %rax, 0x160(%rcx)\n"
#elif defined(LAST_WORD)
#define TABLES ".gopclntab, \"a\""
#define LOAD_G "mov last_word(%rip), %rcx\n mov %fs:(%rcx), %rax\n"
#define MODEL "local-exec"
#define SET_LABELS "mov %rax, 0x160(%r14)\n"
#else
#define TABLES ".gopclntab, \"a\""
#define LOAD_G ".byte 0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff\n"
#define MODEL "local-exec"
#define SET_LABELS "mov %rax, 0x160(%r14)\n"
#endif
#ifndef VERSION
#define VERSION "go1.24.4"		/* 8 characters */
#endif
#include "anywhere.h"
#include "work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

__asm__(
".pushsection .go.buildinfo, \"aw\"\n"
"	.balign 16\n"
"	.ascii \"\\377 Go buildinf:\"\n"
"	.byte 8, 2\n"
"	.zero 16\n"
"	.byte 8\n"
"	.ascii \"" VERSION "\"\n"
"	.zero 32\n"
".popsection\n"
".text\n"
".balign 16\n"
"go_text:\n"
	SET_LABELS			/* runtime/pprof.runtime_setProfLabel */
"	ret\n"
".balign 16\n"
"go_switch:\n"				/* runtime.systemstack */
"	mov 0x8(%rsp), %rdi\n"
	LOAD_G
"	mov 0x30(%rax), %rbx\n"
"	cmp 0x50(%rbx), %rax\n"
"	mov (%rbx), %rdx\n"
"	cmp %rdx, %rax\n"
"	cmp 0xc0(%rbx), %rax\n"
"	ret\n"
"go_end:\n"
".pushsection " TABLES "\n"
"	.balign 32\n"
"table:	.long 0xfffffff1\n"
"	.byte 0, 0, 1, 8\n"
"	.quad 2, 0, go_text\n"
"	.quad names - table, names - table, names - table, names - table, pairs - table\n"
"names:	.byte 0\n"
"name1:	.asciz \"runtime/pprof.runtime_setProfLabel\"\n"
"name2:	.asciz \"runtime.systemstack\"\n"
"	.balign 4\n"
"pairs:	.long 0, one - pairs, go_switch - go_text, two - pairs, go_end - go_text\n"
"one:	.long 0, name1 - names, 0, 0, 0, 0, 0, 0, 0, 1, 0\n"
"two:	.long go_switch - go_text, name2 - names, 0, 0, 0, 0, 0, 0, 0, 1, 0\n"
".popsection\n");

#ifdef LAST_WORD
__asm__(
".pushsection .data\n"
"	.balign 4096\n"
"	.zero 4088\n"
"last_word:\n"
"	.quad g@tpoff\n"
"after:	.zero 4096\n"			/* a page that main() unmaps */
".popsection\n");
extern char after[];
#endif

struct text { const void *at; uint64_t size; };
struct pair { struct text key, value; };
struct slice { struct pair *pair; uint64_t size, room; };
struct machine { void *g0; char before[72]; void *gsignal; char more[104]; struct go *curg;
		 char rest[256]; };
struct go { char before[48]; struct machine *m; char more[296]; struct slice *labels; };

static __thread struct go *g __attribute__((tls_model(MODEL), used));

static struct pair a = { { "user", 4 }, { "A", 1 } }, b = { { "user", 4 }, { "B", 1 } };
static struct pair many[64];
static struct slice set_a = { &a, 1, 1 }, set_b = { &b, 1, 1 }, set_many = { many, 1, 1 };
static const char *what = "";
static void confuse(struct go *own)
{
	own->labels = &set_many;
	for (int i = 0; i < 64; i++) {
		many[i].key.at = !strcmp(what, "wild") ? (void *)any(many) : "user";
		many[i].value.at = !strcmp(what, "wild") ? (void *)any(many) : (void *)many;
		many[i].key.size = any(many);
		many[i].value.size = any(many);
	}
	set_many.size = any(many);
	set_many.pair = many;
	if (!strcmp(what, "wild") && any(many) & 1)
		set_many.pair = (void *)any(many);
	if (!strcmp(what, "wild") && any(many) & 1)
		own->labels = (void *)any(many);
}

/* The goroutine, its thread, and the goroutines of that are anywhere, each half of the time. */
static void lose(struct go *own, struct machine *m)
{
	g = any(many) & 1 ? own : (void *)any(many);
	own->m = any(many) & 1 ? m : (void *)any(many);
	m->curg = any(many) & 1 ? own : (void *)any(many);
	m->g0 = (void *)any(many);
	m->gsignal = any(many) & 1 ? own : (void *)any(many);
}

static void *race(void *own)
{
	for (;;)
		confuse(own);
	return NULL;
}

/* The compiler must store what pmu-sample reads. */
static void set(struct go *own, struct slice *labels)
{
	__asm__ volatile("" ::: "memory");
	own->labels = labels;
	__asm__ volatile("" ::: "memory");
}

static int64_t spent(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	static struct machine m;
	static struct go own = { .m = &m };
	int ms = argc > 1 ? atoi(argv[1]) : 500;
	pthread_t other;

#ifdef LAST_WORD
	munmap(after, 4096);
#endif
	g = m.curg = &own;
	what = argc > 2 ? argv[2] : "";
	if (!strcmp(what, "large"))
		b.value = (struct text){ memset(malloc(10 << 20), 'B', 10 << 20), 10 << 20 };
	if (!strcmp(what, "racing"))
		pthread_create(&other, NULL, race, &own);
	while (spent() < ms) {
		if (!strcmp(what, "astray"))
			lose(&own, &m);
		if (!strcmp(what, "wild") || !strcmp(what, "long"))
			confuse(&own);
		else
			set(&own, &set_a);
		workA();
		if (*what != 'w' && strcmp(what, "long"))
			set(&own, &set_b);
		workB();
		set(&own, NULL);
	}
}
#endif
