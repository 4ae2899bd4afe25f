/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/command.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/destination.h"
#include "base/hash.h"
#include "base/memory.h"
#include "tool/options.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

volatile sig_atomic_t command_stop;

static bool input_is_pipe;			/* SIGINT is for the whole pipe */
static volatile uint64_t interrupted;		/* time of the last SIGINT, in ns; 0: none */
static volatile sig_atomic_t signals_end;	/* SIGINT ends the program */

/* Return whether this SIGINT is for this tool, not only for the program that writes its input. */
static bool is_for_us(void)
{
	uint64_t last = interrupted;

	interrupted = monotonic_ns();
	return !input_is_pipe || (last && interrupted - last < SIGNALS_TWICE);
}

static void on_signal(int number)
{
	if (number == SIGINT && !is_for_us())
		return;
	if (number == SIGINT && signals_end) {
		signal(SIGINT, SIG_DFL);
		raise(SIGINT);		/* delivered when this handler returns */
		return;
	}
	command_stop = 1;
}

void command_on_signals(enum command_signals how)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	signals_end = how != SIGNALS_STOP;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct sigaction act = { .sa_handler = on_signal }, now;
		bool is_kept = numbers[i] == SIGINT && how == SIGNALS_END_BUT_ONE &&
			       input_is_pipe;
		sigaction(numbers[i], NULL, &now);
		if (now.sa_handler == SIG_IGN)
			continue;
		if (signals_end && !is_kept)
			act.sa_handler = SIG_DFL;
		sigemptyset(&act.sa_mask);
		sigaction(numbers[i], &act, NULL);
	}
	if (signals_end && command_stop)
		raise(SIGTERM);		/* a signal came before this call */
}

void command_input_ended(void)
{
	if (signals_end)
		command_on_signals(SIGNALS_END);
}

static void catch_signals(const struct command *cmd)
{
	struct sigaction act = { .sa_handler = on_signal };	/* no SA_RESTART: wake read() */
	struct sigaction hangup;
	struct stat in;

	if (!cmd->runs_command && !fstat(STDIN_FILENO, &in) && S_ISFIFO(in.st_mode))
		input_is_pipe = true;
	sigemptyset(&act.sa_mask);
	signals_remember();
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN)	/* ignored by nohup(1): go on */
		sigaction(SIGHUP, &act, NULL);
	/* writes fail with EPIPE and EFBIG (ulimit -f); both are restored before any exec */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int command_begin(const struct command *cmd, struct report *report, int argc, char **argv)
{
	/* messages must not go into a pipe or file that gets the number of a closed stderr */
	descriptor_fill(STDERR_FILENO, O_WRONLY);
	memory_map_from(1 << 20);	/* by default, glibc would raise this limit */
	struct options_common common = options_parse(cmd, argc, argv);
	*report = (struct report){ .tool = cmd->name, .quiet = common.quiet,
				   .verbose = common.verbose };
	if (common.printed) {
		signal(SIGPIPE, SIG_IGN);
		signal(SIGXFSZ, SIG_IGN);
		exit(command_end(report));
	}
	if (!cmd->runs_command)
		descriptor_enlarge_pipe(STDOUT_FILENO);
	hash_draw_secret();
	catch_signals(cmd);
	return optind;
}

const struct word_list *command_inputs(const struct command *cmd)
{
	static const char *standard_input = "-";
	static const struct word_list only_stdin = { .item = &standard_input, .count = 1 };
	const struct word_list *files = options_files();

	if (files->count == 0)
		files = &only_stdin;
	for (size_t i = 0; i < files->count; i++)
		if (!strcmp(files->item[i], "-") && isatty(STDIN_FILENO))
			command_misused(cmd, "stdin is a terminal: name a FILE, or pipe a stream "
					"in");
	return files;
}

const char *command_input(const struct command *cmd)
{
	const struct word_list *files = command_inputs(cmd);

	if (files->count > 1)
		command_misused(cmd, "more than one FILE: '%s'", files->item[1]);
	return files->item[0];
}

/* Return FILE, or "-" for NULL.  Misuse: stdout is a terminal. */
static const char *binary_output(const struct command *cmd, const char *file)
{
	if (!file)
		file = "-";
	if (!strcmp(file, "-") && isatty(STDOUT_FILENO))
		command_misused(cmd, "will not write binary data to a terminal: "
				"pipe it on, or use -o FILE");
	return file;
}

void command_output(const struct command *cmd, struct output *out, const char *file,
		    struct report *report)
{
	output_open(out, binary_output(cmd, file), report);
}

void command_output_late(const struct command *cmd, struct output *out, const char *file,
			 struct report *report)
{
	output_open_late(out, binary_output(cmd, file), report);
}

void command_output_whole(const struct command *cmd, struct output *out, const char *file,
			  bool same_inode, struct report *report)
{
	output_open_whole(out, binary_output(cmd, file), same_inode, report);
}

void command_spare_inputs(const struct command *cmd, const char *file, const char *const *input,
			  size_t inputs)
{
	if (destination_is_input(file ? file : "-", input, inputs))
		command_misused(cmd, "%s is an input, too: write to another file",
				!file || !strcmp(file, "-") ? "stdout" : file);
}

/* Return whether FD is a pipe whose reader has closed it. */
static bool is_abandoned(int fd)
{
	struct pollfd pipe = { .fd = fd };

	return poll(&pipe, 1, 0) > 0 && pipe.revents & POLLERR;
}

/* If an earlier write failed (ferror), its errno is no longer known. */
int command_end(struct report *report)
{
	bool failed = fflush(stdout) != 0;

	if ((failed && errno == EPIPE) || is_abandoned(STDOUT_FILENO))
		return report_finish(report);
	if (failed)
		report_failure(report, "cannot write to stdout");
	else if (ferror(stdout))
		report_error(report, "cannot write all to stdout");
	return report_finish(report);
}
