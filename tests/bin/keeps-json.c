/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeps-json - called by the name of a tool: run the tool, of this build.  If it is asked for JSON
 * and prints some, keep a copy in the directory $KEPT_JSON, as NAME.PID, for the check of schemas
 * (tests/t065-schemas.sh).
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static void forward(int signal)
{
	kill(child, signal);
}

/* --to json, --json, -j, -qj */
static bool asks_for_json(char **argv)
{
	for (; *argv; argv++)
		if (strstr(*argv, "json") || ((*argv)[0] == '-' && (*argv)[1] != '-' &&
					      strchr(*argv, 'j')))
			return true;
	return false;
}

/* Run TOOL with its output in the file FD.  Return its status, as of wait(). */
static int run(const char *tool, char **argv, int fd)
{
	const int signals[] = { SIGHUP, SIGINT, SIGTERM, SIGUSR1 };
	int status;

	child = fork();
	if (child == 0) {
		dup2(fd, STDOUT_FILENO);
		execv(tool, argv);
		_exit(127);
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signal(signals[i], SIG_IGN) != SIG_IGN)
			signal(signals[i], forward);
	while (waitpid(child, &status, 0) < 0)
		;
	return status;
}

/* Write what is in FD to stdout.  Return whether it starts as JSON. */
static bool pass_on(int fd)
{
	char buffer[65536], first = 0;
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
		first = first ? first : buffer[0];
		for (ssize_t done = 0, wrote; done < n; done += wrote) {
			wrote = write(STDOUT_FILENO, buffer + done, (size_t)(n - done));
			if (wrote <= 0)
				return first == '{' || first == '[';
		}
	}
	return first == '{' || first == '[';
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	const char *directory = getenv("KEPT_JSON");
	char self[PATH_MAX / 2], tool[PATH_MAX], kept[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc < 1 || size <= 0)
		return 127;
	self[size] = '\0';
	*strrchr(self, '/') = '\0';	/* tests/bin, beside bin */
	snprintf(tool, sizeof(tool), "%s/../../bin/%s", self, name);
	if (!directory || !asks_for_json(argv + 1)) {
		execv(tool, argv);
		return 127;
	}
	snprintf(kept, sizeof(kept), "%s/%s.%d", directory, name, getpid());
	int fd = open(kept, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		execv(tool, argv);
		return 127;
	}
	int status = run(tool, argv, fd);
	if (!pass_on(fd) || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
		unlink(kept);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 127;
}
