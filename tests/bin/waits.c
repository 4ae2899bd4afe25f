/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits KIND [ROUNDS [MS]] - one kind of waiting: waiter() waits, and culprit() makes it wait.
 *
 * In each of ROUNDS (300) rounds culprit() takes MS (4) for something that waiters wait for: it
 * holds a lock, is late at a barrier, or works on what they want to read.  Of "disk", the waits
 * are those for the device, and there is no culprit.  "waits" alone lists the kinds.
 */
#include "tests/bin/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id	/* as the manual of timer_create() and musl call it */
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { PAUSE_US = 1500, WAITER_PAUSE_US = 200, MOST_WAITERS = 3, INTERRUPTS_NS = 3000000 };

/* How to wait and to keep waiting.  What is NULL is nothing to do. */
struct kind {
	const char *name, *lock;	/* the variable's name, or - */
	int waiters;
	void (*prepare)(void);
	void (*take)(void);	/* of the waiter: what may wait */
	void (*give)(void);	/* of the waiter, when it has what it waited for */
	void (*seize)(void);	/* of the culprit, before it takes its time */
	void (*yield)(void);	/* of the culprit, after that */
	void (*run)(void);	/* a round of the culprit, if that is not a call of culprit() */
};

/* What two processes share, where they do. */
struct shared {
	pthread_mutex_t mutex;
	atomic_bool stop;
};

/* Where musl waits for a condition or at a barrier, the word is on a stack. */
#ifdef __GLIBC__
#define WORD_INSIDE(name) name
#else
#define WORD_INSIDE(name) "-"
#endif

/* The variables whose names a profile shows. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;

static const struct kind *kind;
static struct shared own, *shared = &own;
static int shared_file;
static unsigned culprit_us = 4000;
static int rounds = 300, items, ends[2], poll_set, flocks[2];
static atomic_uint_fast64_t waited;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void check(bool right, const char *what)
{
	if (!right)
		fail(what);
}

static void lock_mutex(void) { pthread_mutex_lock(&mutex); }
static void unlock_mutex(void) { pthread_mutex_unlock(&mutex); }

static void prepare_inheriting(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &attributes);
}

static void prepare_robust(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attributes);
}

static void lock_robust(void)
{
	if (pthread_mutex_lock(&mutex) == EOWNERDEAD)
		pthread_mutex_consistent(&mutex);
}

/* The thread ends inside culprit(), and holds the mutex. */
static void die(void) { syscall(SYS_exit, 0); }

static void prepare_shared(void)
{
	pthread_mutexattr_t attributes;

	shared_file = memfd_create("shared", MFD_CLOEXEC);
	check(shared_file >= 0 && !ftruncate(shared_file, sizeof(*shared)), "memfd_create");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_file, 0);
	check(shared != MAP_FAILED, "mmap");
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &attributes);
}

/* Wait a few ms at a time, as Python does for its interpreter. */
static void lock_impatiently(void)
{
	struct timespec until;

	do {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += INTERRUPTS_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	} while (pthread_mutex_timedlock(&mutex, &until));
}

static void ignore(int number) { (void)number; }

/* As a profiler that interrupts each thread: system calls that it interrupts are started again. */
static void prepare_signals(void)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &action, NULL);
}

static void lock_interrupted(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec each = { { 0, INTERRUPTS_NS }, { 0, INTERRUPTS_NS } };
	static _Thread_local bool has_timer;
	timer_t timer;

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (!has_timer)
		check(!timer_create(CLOCK_MONOTONIC, &event, &timer) &&
		      !timer_settime(timer, 0, &each, NULL), "timer_create");
	has_timer = true;
	lock_mutex();
}

static void lock_shared(void) { pthread_mutex_lock(&shared->mutex); }
static void unlock_shared(void) { pthread_mutex_unlock(&shared->mutex); }

static void lock_read(void) { pthread_rwlock_rdlock(&rwlock); }
static void lock_write(void) { pthread_rwlock_wrlock(&rwlock); }
static void unlock_either(void) { pthread_rwlock_unlock(&rwlock); }

static void wait_for_item(void)
{
	pthread_mutex_lock(&mutex);
	while (!items)
		pthread_cond_wait(&condition, &mutex);
	items--;
	pthread_mutex_unlock(&mutex);
}

static void add_item(void)
{
	pthread_mutex_lock(&mutex);
	items++;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

static void prepare_semaphore_lock(void) { sem_init(&semaphore, 0, 1); }
static void prepare_semaphore(void) { sem_init(&semaphore, 0, 0); }
static void wait_semaphore(void) { while (sem_wait(&semaphore)); }
static void post_semaphore(void) { sem_post(&semaphore); }

static void prepare_barrier(void) { pthread_barrier_init(&barrier, NULL, MOST_WAITERS + 1); }
static void meet(void) { pthread_barrier_wait(&barrier); }

static void prepare_pipe(void) { check(!pipe(ends), "pipe"); }

static void prepare_sockets(void)
{
	check(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
}

static void prepare_eventfd(void)
{
	ends[0] = ends[1] = eventfd(0, EFD_SEMAPHORE);
	check(ends[0] >= 0, "eventfd");
}

static void prepare_epoll(void)
{
	struct epoll_event wanted = { .events = EPOLLIN };

	prepare_eventfd();
	poll_set = epoll_create1(EPOLL_CLOEXEC);
	check(poll_set >= 0 && !epoll_ctl(poll_set, EPOLL_CTL_ADD, ends[0], &wanted), "epoll");
}

static void read_word(void)
{
	uint64_t word;

	check(read(ends[0], &word, sizeof(word)) == sizeof(word), "read");
}

static void write_word(void)
{
	uint64_t word = 1;

	check(write(ends[1], &word, sizeof(word)) == sizeof(word), "write");
}

static void poll_word(void)
{
	struct epoll_event event;

	check(epoll_wait(poll_set, &event, 1, -1) == 1, "epoll_wait");
	read_word();
}

/* A file lock belongs to the open file, so each side opens the file for itself. */
static void prepare_flock(void)
{
	char path[32];

	flocks[0] = memfd_create("flock", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", flocks[0]);
	flocks[1] = open(path, O_RDWR | O_CLOEXEC);
	check(flocks[0] >= 0 && flocks[1] >= 0, "open");
}

static void lock_file(void) { check(!flock(flocks[0], LOCK_EX), "flock"); }
static void unlock_file(void) { check(!flock(flocks[0], LOCK_UN), "flock"); }
static void lock_same_file(void) { check(!flock(flocks[1], LOCK_EX), "flock"); }
static void unlock_same_file(void) { check(!flock(flocks[1], LOCK_UN), "flock"); }

static void prepare_disk(void)
{
	ends[1] = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	check(ends[1] >= 0, "open");
}

static void write_to_disk(void)
{
	write_word();
	check(!fsync(ends[1]), "fsync");
}

/* What a thread does for a disk itself is much of the time, and is not waiting. */
static uint64_t now_without_work(void)
{
	struct timespec t = { 0, 0 };

	if (kind->take == write_to_disk)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return now() - ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
}

FUNCTION void waiter(void)
{
	uint64_t start = now_without_work();

	kind->take();
	atomic_fetch_add(&waited, now_without_work() - start);
	if (kind->give)
		kind->give();
	STAY;
}

FUNCTION void culprit(void)
{
	if (kind->seize)
		kind->seize();
	nap(culprit_us);
	kind->yield();
	STAY;
}

static bool is_lock(void) { return kind->seize != NULL; }

/* All meet at each barrier; nothing else needs a count. */
static void *wait_in_rounds(void *unused)
{
	bool counted = kind->take == meet || !kind->yield;

	for (int i = 0; counted ? i < rounds : !atomic_load(&shared->stop); i++) {
		waiter();
		if (is_lock())
			nap(WAITER_PAUSE_US);
	}
	return unused;
}

/* Who waits for an event sees the end by one more of them. */
static void keep_waiting(void)
{
	int last = is_lock() || kind->take == meet ? 0 : kind->waiters;

	for (int i = 0; i < rounds + last; i++) {
		if (i == rounds)
			atomic_store(&shared->stop, true);
		if (kind->run)
			kind->run();
		else
			culprit();
		if (is_lock())
			nap(PAUSE_US);
	}
	atomic_store(&shared->stop, true);
}

static void *call_culprit(void *unused)
{
	culprit();
	return unused;
}

static void run_thread(void)
{
	pthread_t thread;

	check(!pthread_create(&thread, NULL, call_culprit, NULL), "pthread_create");
	pthread_join(thread, NULL);
}

static void *keep_waiting_in_thread(void *unused)
{
	keep_waiting();
	return unused;
}

/* The process maps the file once more, and so at another address. */
static void keep_waiting_in_process(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_file, 0);
	check(shared != MAP_FAILED, "mmap");
	keep_waiting();
	exit(0);
}

static const struct kind kinds[] = {
	{ "mutex", "mutex", 3, NULL, lock_mutex, unlock_mutex, lock_mutex, unlock_mutex, NULL },
	{ "impatient", "mutex", 3, NULL, lock_impatiently, unlock_mutex, lock_mutex, unlock_mutex,
	  NULL },
	{ "interrupted", "mutex", 3, prepare_signals, lock_interrupted, unlock_mutex, lock_mutex,
	  unlock_mutex, NULL },
	{ "semaphore-lock", "semaphore", 3, prepare_semaphore_lock, wait_semaphore, post_semaphore,
	  wait_semaphore, post_semaphore, NULL },
	{ "inheriting", "mutex", 3, prepare_inheriting, lock_mutex, unlock_mutex, lock_mutex,
	  unlock_mutex, NULL },
	{ "robust", "mutex", 3, prepare_robust, lock_robust, unlock_mutex, lock_robust, die,
	  run_thread },
	{ "shared", "-", 3, prepare_shared, lock_shared, unlock_shared, lock_shared, unlock_shared,
	  NULL },
	{ "writers", "rwlock", 3, NULL, lock_write, unlock_either, lock_read, unlock_either, NULL },
	{ "readers", "rwlock", 3, NULL, lock_read, unlock_either, lock_write, unlock_either, NULL },
	{ "condition", WORD_INSIDE("condition"), 3, NULL, wait_for_item, NULL, NULL, add_item,
	  NULL },
	{ "semaphore", "semaphore", 3, prepare_semaphore, wait_semaphore, NULL, NULL,
	  post_semaphore, NULL },
	{ "barrier", WORD_INSIDE("barrier"), MOST_WAITERS, prepare_barrier, meet, NULL, NULL, meet,
	  NULL },
	{ "pipe", "-", 1, prepare_pipe, read_word, NULL, NULL, write_word, NULL },
	{ "sockets", "-", 1, prepare_sockets, read_word, NULL, NULL, write_word, NULL },
	{ "eventfd", "-", 1, prepare_eventfd, read_word, NULL, NULL, write_word, NULL },
	{ "epoll", "-", 1, prepare_epoll, poll_word, NULL, NULL, write_word, NULL },
	{ "flock", "-", 1, prepare_flock, lock_file, unlock_file, lock_same_file,
	  unlock_same_file, NULL },
	{ "disk", "-", 1, prepare_disk, write_to_disk, NULL, NULL, NULL, NULL },
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (name && !strcmp(kinds[i].name, name))
			return &kinds[i];
		if (!name)
			puts(kinds[i].name);
	}
	exit(name ? 2 : 0);
}

static void run_all(void)
{
	pthread_t threads[MOST_WAITERS], other;
	bool in_process = kind->take == lock_shared, in_thread = kind->yield && !in_process;
	pid_t child = in_process ? fork() : 0;

	check(child >= 0, "fork");
	if (in_process && !child)
		keep_waiting_in_process();
	for (int i = 0; i < kind->waiters; i++)
		check(!pthread_create(&threads[i], NULL, wait_in_rounds, NULL), "pthread_create");
	if (in_thread) {
		check(!pthread_create(&other, NULL, keep_waiting_in_thread, NULL),
		      "pthread_create");
		pthread_join(other, NULL);
	}
	for (int i = 0; i < kind->waiters; i++)
		pthread_join(threads[i], NULL);
	if (in_process)
		waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	kind = find_kind(argv[1]);
	if (argc > 2)
		rounds = (int)atof(argv[2]);
	if (argc > 3)
		culprit_us = (unsigned)(1000 * atof(argv[3]));
	if (kind->prepare)
		kind->prepare();
	run_all();
	truth("waited", kind->name, kind->lock, "waiter", waited);
	if (kind->yield)
		truth("caused", kind->name, kind->lock, "culprit", waited);
	return 0;
}
