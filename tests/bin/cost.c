/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost COMMAND... - run COMMAND without output, and print "CPU-SECONDS PEAK-KIB": the CPU
 * time of all processes that it started and waited for, and the peak memory of the largest
 * process.  The kernel counts CPU time in ns, so short processes count, too.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage used;
	int status;

	if (argc < 2)
		return 2;
	pid_t child = fork();
	if (child == 0) {
		int nowhere = open("/dev/null", O_WRONLY);
		dup2(nowhere, STDOUT_FILENO);
		dup2(nowhere, STDERR_FILENO);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &used) < 0 || getrusage(RUSAGE_CHILDREN, &used))
		return 1;
	printf("%.6f %ld\n", seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
	return WIFEXITED(status) && WEXITSTATUS(status) == 127;
}
