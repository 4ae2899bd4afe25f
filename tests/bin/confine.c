/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine - run a test so that neither its caller nor its leftovers matter.
 *
 *	confine [-t SECONDS] [-o FILE] COMMAND...
 *
 * The command starts with default signal dispositions, an empty signal mask, no
 * files but stdin, stdout and stderr, and the umask 022, whatever the caller had.  Every process that it leaves behind is
 * adopted (PR_SET_CHILD_SUBREAPER) and killed when the command has ended.
 *
 * -t	kill everything after so many seconds, and exit 124
 * -o	write "WALL CPU" to FILE: seconds that passed, and CPU seconds of all processes
 *
 * Exits with the command's status, or 128 + the number of the signal that ended it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped_by;	/* a signal's number, SIGALRM after -t */

static void on_signal(int number)
{
	stopped_by = number;
}

static void reset_inherited(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);	/* fails for SIGKILL, SIGSTOP and libc's own */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	umask(022);
	for (int fd = 0; fd >= 0 && fd <= STDERR_FILENO; )	/* those that are closed */
		fd = open("/dev/null", O_RDWR);
	close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
}

/* Return the parent of process PID as /proc has it, or 0. */
static long parent_of(const char *pid)
{
	char path[300], text[512], *end;
	long parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	/* PID (COMM) STATE PARENT ...; COMM may contain anything, ')' too */
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	end = strrchr(text, ')');
	if (end)
		sscanf(end + 1, " %*c %ld", &parent);
	fclose(file);
	return parent;
}

/* Kill our children; theirs become ours when they are dead. */
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

/* Wait until no child is left, killing all that remain once CHILD has ended. */
static int wait_for_all(pid_t child)
{
	int status, result = -1;
	pid_t pid;

	while ((pid = wait(&status)) > 0 || errno == EINTR) {
		if (pid == child)
			result = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
						     : WEXITSTATUS(status);
		if (result < 0 && stopped_by)
			result = stopped_by == SIGALRM ? 124 : 128 + stopped_by;
		if (result >= 0)
			kill_children();
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
	static const int stops[] = { SIGHUP, SIGINT, SIGTERM, SIGALRM };
	struct sigaction act = { .sa_handler = on_signal };	/* no SA_RESTART: wait() returns */
	struct timespec start;
	const char *times = NULL;
	unsigned limit = 0;
	int option, status;
	pid_t child;

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
	reset_inherited();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (child == 0) {
		execvp(argv[optind], argv + optind);
		perror(argv[optind]);
		_exit(127);
	}
	for (size_t i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		sigaction(stops[i], &act, NULL);
	alarm(limit);
	status = wait_for_all(child);
	if (times)
		write_times(times, &start);
	return status;
}
