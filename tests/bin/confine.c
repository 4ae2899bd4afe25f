/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine - run a test in a fixed environment, and kill the processes it leaves running.
 *
 *	confine [-t SECONDS] [-o FILE] COMMAND...
 *
 * The command starts with default signal dispositions, an empty signal mask, no
 * open files but stdin, stdout and stderr, umask 022, its own process group, and our PID
 * in $CONFINED.  Every process that outlives its parent becomes our child
 * (PR_SET_CHILD_SUBREAPER), and is killed when the command has ended.
 *
 * -t	kill everything after SECONDS, and exit 124
 * -o	write "WALL CPU" to FILE: elapsed seconds, and CPU seconds of all processes
 *
 * SIGINT, SIGTERM, SIGQUIT and SIGHUP kill everything, too.  SIGINT and SIGHUP are ignored
 * if the caller ignores them, as nohup(1) and & in a script do.
 *
 * Exits with the command's status, or 128 + the number of the signal that ended it
 * or us.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GIVE_UP = 60 };	/* seconds until killed processes must be gone */

/*
 * Block the signals that we wait for, so that none arrives too early, and return their
 * set.  Signals that the caller ignores stay ignored.
 */
static sigset_t take_signals(void)
{
	static const int stops[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	struct sigaction before;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGCHLD);
	signal(SIGALRM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);	/* if it were ignored, we would get no statuses */
	for (size_t i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		if (sigaction(stops[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaddset(&set, stops[i]);
	sigprocmask(SIG_SETMASK, &set, NULL);
	return set;
}

/* Open stdin, stdout and stderr if they are closed, and pass the command no other file. */
static void reset_files(void)
{
	for (int fd = 0; fd >= 0 && fd <= STDERR_FILENO; )	/* until none is closed */
		fd = open("/dev/null", O_RDWR);
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
}

static void run(char **argv)
{
	sigset_t none;

	/*
	 * By the system call: libc refuses to touch the two signals that it uses itself,
	 * which a caller may have ignored.  All zero is SIG_DFL; the last number is the
	 * size of the kernel's set of signals.
	 */
	static const unsigned long by_default[8];
	for (int number = 1; number < NSIG; number++)
		syscall(SYS_rt_sigaction, number, by_default, NULL, 8);	/* not KILL, STOP */
	setpgid(0, 0);
	umask(022);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	fprintf(stderr, "confine: cannot run '%s': %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Return the parent of process PID according to /proc, or 0. */
static long parent_of(const char *pid)
{
	char path[300], text[512], *end;
	long parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	/* PID (COMM) STATE PARENT ...; COMM may contain anything, even ')' */
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	end = strrchr(text, ')');
	if (end)
		sscanf(end + 1, " %*c %ld", &parent);
	fclose(file);
	return parent;
}

/*
 * Kill our children.  When they are dead, their children become ours.  A child's PID is not
 * reused before we wait for the child, so no other process is killed.
 */
static void kill_children(void)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	while (proc && (entry = readdir(proc)) != NULL) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 0 && parent_of(entry->d_name) == getpid())
			kill((pid_t)pid, SIGKILL);
	}
	if (proc)
		closedir(proc);
}

/* Reap all children that have ended; set *RESULT to CHILD's status.  False: no child is left. */
static bool reap(pid_t child, int *result)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == child && *result < 0)
			*result = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
						      : WEXITSTATUS(status);
	return pid == 0;
}

/*
 * Wait until no child is left.  Kill the rest once CHILD has ended or a signal arrived.
 * A dead process may leave us more children, so look for them after each death.
 */
static int wait_for_all(pid_t child, const sigset_t *signals)
{
	static const struct timespec second = { .tv_sec = 1 };
	int result = -1, stuck = 0;

	while (reap(child, &result)) {
		if (result >= 0)
			kill_children();
		int number = sigtimedwait(signals, NULL, &second);
		if (number > 0 && number != SIGCHLD && result < 0) {
			result = number == SIGALRM ? 124 : 128 + number;
			kill_children();
		}
		stuck = result < 0 || number == SIGCHLD ? 0 : stuck + 1;
		if (stuck > GIVE_UP) {
			fprintf(stderr, "confine: processes remain that cannot be killed\n");
			break;
		}
	}
	return result < 0 ? 125 : result;
}

static void write_times(const char *path, const struct timespec *start)
{
	struct timespec end;
	struct rusage used;
	FILE *file = fopen(path, "w");

	if (!file)
		return;
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_CHILDREN, &used);
	fprintf(file, "%.2f %.2f\n",
		(double)(end.tv_sec - start->tv_sec) + (double)(end.tv_nsec - start->tv_nsec) / 1e9,
		(double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		(double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
	fclose(file);
}

int main(int argc, char **argv)
{
	struct timespec start;
	const char *times = NULL;
	unsigned limit = 0;
	int option, status;
	char self[16];

	while ((option = getopt(argc, argv, "+t:o:")) != -1)
		if (option == 't')
			limit = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'o')
			times = optarg;
		else
			return 2;
	if (optind == argc)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &start);
	snprintf(self, sizeof(self), "%d", (int)getpid());
	setenv("CONFINED", self, 1);
	reset_files();
	sigset_t signals = take_signals();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t child = fork();
	if (child == 0)
		run(argv + optind);
	if (child < 0)
		perror("confine: cannot fork");
	alarm(limit);
	status = wait_for_all(child, &signals);
	if (times)
		write_times(times, &start);
	return status;
}
