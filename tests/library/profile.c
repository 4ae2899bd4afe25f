/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles itself with libpmukit, and says what it did meanwhile.
 *
 *	profile [OPTION]... WORK
 *
 *	-e EVENT	sample this event; "hits": each call of hit(), by a breakpoint
 *	-c N, -F N	period, frequency
 *	-f FLAGS	a number
 *	-o FILE		the result; "callback:FILE" takes it by a callback; "none": no config
 *	-n N		the descriptor of the result has this number
 *	-r		the result is the records, not a profile
 *	-k		on an older kernel
 *	-O OPTION	an option of pmu-sample
 *	-p PID		sample this process
 *	-s PATH		the sampler
 *
 * Lines: what was called, what it returned, and the error.
 */
#include <pmukit.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct pmukit_profile_config config = { .size = sizeof(config) };
static const char *events[8], *options[8];
static char hits_name[64];
static bool has_config = true;

static uint64_t ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline, noclone)) void hit(void)
{
	__asm__ volatile("");
}

static void *hits(void *count)
{
	for (intptr_t i = 0; i < (intptr_t)count; i++)
		hit();
	return NULL;
}

static void say(const char *what, int status)
{
	printf("%s: %d%s%s\n", what, status, status < 0 ? " " : "",
	       status < 0 ? pmukit_error() : "");
}

static void on_message(void *context, enum pmukit_severity severity, const char *text)
{
	(void)context;
	printf("message %d: %s\n", (int)severity, text);
}

static int on_write(void *context, const void *bytes, size_t size)
{
	return context ? fwrite(bytes, 1, size, context) != size : 1;
}

/* Start a profile, and forget the result of the one before. */
static struct pmukit_profile *start(void)
{
	if (config.fd > 0 && ftruncate(config.fd, 0) < 0 && errno != EINVAL)
		perror("ftruncate");
	struct pmukit_profile *p = pmukit_profile_start(has_config ? &config : NULL);

	say("start", p ? 0 : pmukit_error_code());
	return p;
}

static void stop(struct pmukit_profile *p)
{
	say("stop", p ? pmukit_profile_stop(p) : 0);
}

/* hit() is called 1500 times while the profile counts, and 100 times while it does not. */
static void work_pauses(void)
{
	config.flags |= PMUKIT_START_PAUSED;
	struct pmukit_profile *p = start();

	hits((void *)70);
	say("resume", pmukit_profile_resume(p));
	hits((void *)1000);
	say("pause", pmukit_profile_pause(p));
	say("pause", pmukit_profile_pause(p));
	hits((void *)30);
	say("resume", pmukit_profile_resume(p));
	hits((void *)500);
	say("running", pmukit_profile_is_running(p));
	stop(p);
	hits((void *)50);
}

static pthread_barrier_t barrier;

static void *hits_later(void *count)
{
	pthread_barrier_wait(&barrier);
	return hits(count);
}

/* Four threads that exist, four that come, and this one: hit() is called 100 times by each. */
static void work_threads(void)
{
	enum { EACH = 4 };
	pthread_t thread[2 * EACH];

	pthread_barrier_init(&barrier, NULL, EACH + 1);
	for (int i = 0; i < EACH; i++)
		pthread_create(&thread[i], NULL, hits_later, (void *)100);
	struct pmukit_profile *p = start();
	pthread_barrier_wait(&barrier);
	for (int i = EACH; i < 2 * EACH; i++)
		pthread_create(&thread[i], NULL, hits, (void *)100);
	for (int i = 0; i < 2 * EACH; i++)
		pthread_join(thread[i], NULL);
	hits((void *)100);
	stop(p);
}

static void *start_threads(void *stop)
{
	while (!atomic_load((atomic_bool *)stop)) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, hits, (void *)1) == 0)
			pthread_join(thread, NULL);
	}
	return NULL;
}

/* While two threads start others, this one starts profiles; in each, it calls hit() 10 times. */
static void work_starts(void)
{
	static atomic_bool over;
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, start_threads, (void *)&over);
	for (int i = 0; i < 20; i++) {
		struct pmukit_profile *p = start();

		hits((void *)10);
		stop(p);
	}
	atomic_store(&over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("thread %d\n", (int)getpid());
}

/* Two profiles: 1000 calls are in the second, and 1200 in the first, which goes to fd + 1. */
static void work_two(void)
{
	struct pmukit_profile *q, *p;
	int fd = config.fd;

	config.fd = open("first.data", O_WRONLY | O_CREAT | O_TRUNC, 0666);
	p = start();
	hits((void *)100);
	config.fd = fd;
	q = start();
	hits((void *)1000);
	stop(q);
	hits((void *)100);
	stop(p);
}

/* Use CPU time in three threads, and say how much. */
static void *burn(void *ms)
{
	uint64_t end = ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(intptr_t)ms * 1000000;

	do	/* the clock takes a call of the kernel */
		for (volatile int i = 0; i < 300000; i++)
			;
	while (ns(CLOCK_THREAD_CPUTIME_ID) < end);
	return NULL;
}

static void work_cpu(void)
{
	pthread_t thread[2];
	struct pmukit_profile *p = start();
	uint64_t before = ns(CLOCK_PROCESS_CPUTIME_ID);

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, burn, (void *)150);
	burn((void *)150);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("cpu %" PRIu64 "\n", ns(CLOCK_PROCESS_CPUTIME_ID) - before);
	stop(p);
}

/* Touch pages, and say where. */
static void work_pages(void)
{
	enum { PAGES = 2000, PAGE = 4096 };
	char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pmukit_profile *p;

	madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	p = start();
	for (int i = 0; i < PAGES; i++)
		pages[i * PAGE] = 1;
	stop(p);
	printf("pages %d %" PRIxPTR " %" PRIxPTR "\n", PAGES, (uintptr_t)pages,
	       (uintptr_t)pages + PAGES * PAGE - 1);
}

/* Load a library while the profile runs, and use CPU time in it. */
static void work_dlopen(void)
{
	struct pmukit_profile *p = start();
	void *library = dlopen("./loaded.so", RTLD_NOW);
	void (*loaded)(int) = library ? (void (*)(int))dlsym(library, "loaded") : NULL;

	if (!loaded)
		printf("dlopen: -1 %s\n", dlerror());
	else
		loaded(100);
	stop(p);
	dlclose(library);
}

/* How often writing to 4,000 pages faults that were written before the start. */
static void work_faults(void)
{
	enum { PAGES = 4000, PAGE = 4096 };
	volatile char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage before, after;

	madvise((void *)(uintptr_t)pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		pages[i * PAGE] = 1;
	struct pmukit_profile *p = start();
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < PAGES; i++)
		pages[i * PAGE] = 2;
	getrusage(RUSAGE_SELF, &after);
	printf("faults %ld\n", after.ru_minflt - before.ru_minflt);
	stop(p);
}

static volatile sig_atomic_t children, alarms;

static void on_signal(int number)
{
	if (number == SIGCHLD)
		children++;
	else
		alarms++;
}

static void *wait_for_any(void *found)
{
	for (;;) {
		pid_t pid = waitpid(-1, NULL, 0);

		if (pid > 0)
			++*(volatile int *)found;
		else
			usleep(100);
		pthread_testcancel();
	}
	return NULL;
}

/* Nothing is found by wait(), and nobody sends SIGCHLD: while profiles run, and afterwards. */
static void work_unnoticed(void)
{
	static volatile int found;
	pthread_t thread;

	signal(SIGCHLD, on_signal);
	pthread_create(&thread, NULL, wait_for_any, (void *)&found);
	for (int i = 0; i < 20; i++) {
		struct pmukit_profile *p = start();

		hits((void *)10);
		if (i % 2)
			stop(p);
		else
			pmukit_profile_cancel(p);
	}
	usleep(200000);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	pid_t left = waitpid(-1, NULL, __WALL);
	printf("found %d, signals %d, left %d: %s\n", found, (int)children, (int)left,
	       strerror(errno));
}

static void work_unnoticed_by_reaper(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	work_unnoticed();
}

/* The same if the program ignores SIGCHLD. */
static void work_ignored(void)
{
	struct sigaction act = { .sa_handler = SIG_IGN, .sa_flags = SA_NOCLDWAIT };
	struct pmukit_profile *p;

	sigaction(SIGCHLD, &act, NULL);
	p = start();
	hits((void *)10);
	stop(p);
	sigaction(SIGCHLD, NULL, &act);
	printf("ignored %d\n", act.sa_handler == SIG_IGN);
}

/* A signal each ms, whose handler lets calls be interrupted. */
static void work_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	const struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { 0 };

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 20; i++) {
		struct pmukit_profile *p = start();

		hits((void *)10);
		say("pause", pmukit_profile_pause(p));
		say("resume", pmukit_profile_resume(p));
		stop(p);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("many signals %d\n", alarms > 20);
}

/* The child of fork() cannot use the profile, and the parent's goes on. */
static void work_fork(void)
{
	struct pmukit_profile *p = start();
	int status;

	hits((void *)100);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		say("child's pause", pmukit_profile_pause(p));
		say("child's resume", pmukit_profile_resume(p));
		say("child's running", pmukit_profile_is_running(p));
		say("child's stop", pmukit_profile_stop(p));
		hits((void *)100);
		pmukit_profile_cancel(p);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", status);
	hits((void *)100);
	say("running", pmukit_profile_is_running(p));
	stop(p);
}

/*
 * End while a profile runs: HOW; "crash" is any other.  A child that has copies of all descriptors
 * stays.
 */
static void end(const char *how)
{
	config.flags |= strcmp(how, "exec") ? 0 : PMUKIT_START_PAUSED;
	char *const sleep[] = { "sleep", "1000", NULL };

	start();
	hits((void *)100);
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	if (fork() == 0) {
		pause();
		_exit(0);
	}
	if (!strcmp(how, "exit"))
		_exit(3);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "exec"))
		execvp("sleep", sleep);
	abort();
}

static void work_end_exit(void)
{
	end("exit");
}

/* The process that waits for the sampler shares the memory of the one that crashes. */
static void work_end_crash(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	end("crash");
}

static void work_end_kill(void)
{
	end("kill");
}

static void work_end_exec(void)
{
	end("exec");
}

/* The profile ends on its own. */
static void work_killed(void)
{
	struct pmukit_profile *p = start();

	hits((void *)100);
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	while (pmukit_profile_is_running(p) > 0)
		usleep(10000);
	say("running", pmukit_profile_is_running(p));
	say("pause", pmukit_profile_pause(p));
	stop(p);
}

/* Only start and stop. */
static void work_nothing(void)
{
	struct pmukit_profile *p = start();

	hits((void *)100);
	stop(p);
}

/* The result is a pipe that nobody reads any more; or nobody reads it after the start. */
static void await_end_of_reader(void)
{
	struct pollfd p = { .fd = config.fd };

	while (poll(&p, 1, -1) != 1 || !(p.revents & POLLERR))
		;
}

static void work_no_reader(void)
{
	await_end_of_reader();
	stop(start());
}

static void work_lost_reader(void)
{
	struct pmukit_profile *p = start();

	hits((void *)100);
	await_end_of_reader();
	hits((void *)100);
	stop(p);
}

/* The same descriptors before and after, and no more memory mapped. */
static void list_descriptors(const char *when)
{
	printf("%s:", when);
	for (int fd = 0; fd < 2000; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf(" %d", fd);
	printf("\n");
}

static void work_descriptors(void)
{
	struct pmukit_profile *p;
	sigset_t all, before;

	signal(SIGUSR1, SIG_IGN);	/* the sampler does not inherit that */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (int i = 0; i < 1000; i++)
		open("/etc/passwd", O_RDONLY);	/* would be inherited */
	list_descriptors("before");
	p = start();
	hits((void *)100);
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	getchar();
	stop(p);
	pmukit_profile_cancel(pmukit_profile_start(NULL));
	list_descriptors("after");
	sigprocmask(SIG_SETMASK, NULL, &before);
	for (int i = 1; i < SIGRTMIN - 2; i++)
		if (i != SIGKILL && i != SIGSTOP && !sigismember(&before, i))
			say("signal", i);
}

static void work_descriptors_of_reaper(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	work_descriptors();
}

/* No descriptor is left but I, for I from 0 to 30. */
static void work_scarce(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < 12; i++) {
		struct pmukit_profile *p;

		limit.rlim_cur = (rlim_t)(config.fd + 1 + i);
		setrlimit(RLIMIT_NOFILE, &limit);
		list_descriptors("before");
		p = pmukit_profile_start(&config);
		say("scarce", p ? 0 : pmukit_error_code());
		if (p)
			say("stop", pmukit_profile_stop(p));
		list_descriptors("after");
	}
}

/* stdin, stdout and stderr are closed; lines go elsewhere. */
static void work_closed(void)
{
	int out = fcntl(1, F_DUPFD, 10);
	struct pmukit_profile *p;
	int used = 0;

	fflush(stdout);
	for (int i = 0; i < 3; i++)
		close(i);
	p = pmukit_profile_start(&config);
	hits((void *)100);
	for (int i = 0; i < 3; i++)
		used += fcntl(i, F_GETFD) >= 0;
	int status = p ? pmukit_profile_stop(p) : pmukit_error_code();
	dprintf(out, "used %d, stop %d %s\n", used, status, status < 0 ? pmukit_error() : "");
	close(out);
}

/* Wrong configurations: each a line. */
static void wrong(const char *what, const struct pmukit_profile_config *c)
{
	struct pmukit_profile *p = pmukit_profile_start(c);

	printf("%s: ", what);
	say("start", p ? 0 : pmukit_error_code());
	pmukit_profile_cancel(p);
}

static void work_wrong(void)
{
	static const char *const bad[] = { "-v", "word", "--", "--output=x", "--out=x", "--pid=1",
					   "--control=fd:1", "--help", "--del=1" };
	const char *one[2] = { NULL };
	struct pmukit_profile_config c;

#define WRONG(what, ...) \
	do { c = config; __VA_ARGS__; wrong(what, &c); } while (0)
	WRONG("size", c.size = 8);
	WRONG("period and frequency", c.period = c.frequency = 1000);
	WRONG("result", c.result = 7);
	WRONG("flags", c.flags = 1 << 20);
	WRONG("both", c.flags = PMUKIT_NO_CALLCHAINS | PMUKIT_UNWIND);
	WRONG("place", c.fd = 0);
	WRONG("closed", c.fd = 987);
	WRONG("read only", c.fd = open("/dev/null", O_RDONLY));
	WRONG("process", c.pid = -1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		one[0] = bad[i];
		WRONG(bad[i], c.options = one);
	}
	say("pause", pmukit_profile_pause(NULL));
	say("stop", pmukit_profile_stop(NULL));
	pmukit_profile_cancel(NULL);
}

static const struct { const char *name; void (*run)(void); } works[] = {
	{ "pauses", work_pauses }, { "threads", work_threads }, { "starts", work_starts },
	{ "two", work_two }, { "cpu", work_cpu }, { "pages", work_pages },
	{ "dlopen", work_dlopen }, { "faults", work_faults },
	{ "unnoticed", work_unnoticed }, { "unnoticed-by-reaper", work_unnoticed_by_reaper },
	{ "ignored", work_ignored }, { "signals", work_signals }, { "fork", work_fork },
	{ "end-exit", work_end_exit }, { "end-crash", work_end_crash },
	{ "end-kill", work_end_kill }, { "end-exec", work_end_exec },
	{ "no-reader", work_no_reader }, { "lost-reader", work_lost_reader },
	{ "killed", work_killed }, { "nothing", work_nothing },
	{ "descriptors", work_descriptors },
	{ "descriptors-of-reaper", work_descriptors_of_reaper },
	{ "scarce", work_scarce }, { "closed", work_closed },
	{ "wrong", work_wrong },
};

static void open_result(const char *file)
{
	has_config = strcmp(file, "none");
	if (!has_config)
		return;
	if (!strncmp(file, "callback:", 9)) {
		config.write = on_write;
		config.context = fopen(file + 9, "w");	/* NULL: the callback ends it */
		return;
	}
	config.fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
}

/* Let this process and its children have a kernel without the calls that Linux 5.1 to 5.9 added. */
static void lack_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_send_signal, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		perror("seccomp");
}

static void set(int letter, char *value)
{
	static int event_count, option_count;

	switch (letter) {
	case 'e':
		snprintf(hits_name, sizeof(hits_name), "mem:0x%" PRIxPTR ":x:u", (uintptr_t)hit);
		events[event_count++] = strcmp(value, "hits") ? value : hits_name;
		config.events = events;
		break;
	case 'O':
		options[option_count++] = value;
		config.options = options;
		break;
	case 'c':
		config.period = strtoull(value, NULL, 0);
		break;
	case 'F':
		config.frequency = strtoull(value, NULL, 0);
		break;
	case 'f':
		config.flags = (unsigned int)strtoul(value, NULL, 0);
		break;
	case 'o':
		open_result(value);
		break;
	case 'n':
		config.fd = dup2(config.fd, atoi(value));
		break;
	case 'r':
		config.result = PMUKIT_RECORDS;
		break;
	case 'k':
		lack_calls();
		break;
	case 'p':
		config.pid = atoi(value);
		break;
	case 's':
		config.sampler = value;
		break;
	default:
		exit(2);
	}
}

int main(int argc, char **argv)
{
	int letter;

	config.message = on_message;
	while ((letter = getopt(argc, argv, "e:c:F:f:o:n:rkO:p:s:")) >= 0)
		set(letter, optarg);
	for (size_t i = 0; i < sizeof(works) / sizeof(*works) && optind < argc; i++)
		if (!strcmp(works[i].name, argv[optind])) {
			works[i].run();
			return fflush(stdout) != 0;
		}
	return 2;
}
