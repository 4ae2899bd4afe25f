/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unopened FILE COMMAND... - run COMMAND, which must not open FILE.
 *
 * Exits 99 if COMMAND opened FILE, else with COMMAND's status.  The kernel watches FILE
 * (inotify): this works for FIFOs and devices, too, and for files open only for an instant.
 */
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int status, watcher = inotify_init1(IN_CLOEXEC);

	if (argc < 3 || inotify_add_watch(watcher, argv[1], IN_OPEN) < 0) {
		perror("unopened");
		return 2;
	}
	pid_t child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	waitpid(child, &status, 0);
	struct pollfd opened = { .fd = watcher, .events = POLLIN };
	if (poll(&opened, 1, 0) > 0) {
		fprintf(stderr, "unopened: '%s' was opened\n", argv[1]);
		return 99;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
