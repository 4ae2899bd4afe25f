/* SPDX-License-Identifier: Apache-2.0 */
#include "base/command.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/units.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PMU_VERSION
#define PMU_VERSION "0.0"
#endif

enum { MAX_OPTIONS = 64, FIRST_LONG = 256 };	/* getopt_long's val of options without a letter */

volatile sig_atomic_t command_stop;

static volatile sig_atomic_t interrupts_to_ignore;	/* SIGINTs after which the tool reads on */
static bool help, version, quiet, verbose;
static int verbosity;		/* how often --verbose was given */

static const struct command_option common_options[] = {
	{ 'q', "quiet", NULL, "print no messages; the exit status still tells", &quiet, NULL },
	{ 'v', "verbose", NULL, "print a summary of counts and costs at the end", &verbose, NULL },
	{ 'h', "help", NULL, "print this help", &help, NULL },
	{ 'V', "version", NULL, "print the version", &version, NULL },
	{ 0 }
};

/* List the options of CMD, then the common ones, in ALL.  Return their number. */
static int all_options(const struct command *cmd, const struct command_option *all[MAX_OPTIONS])
{
	const struct command_option *const table[] = { cmd->options, common_options };
	int n = 0;

	for (int t = 0; t < 2; t++)
		for (const struct command_option *o = table[t]; o && o->name; o++)
			if (n < MAX_OPTIONS)
				all[n++] = o;
	return n;
}

static bool is_optional(const struct command_option *option)
{
	return option->argument && option->argument[0] == '[';
}

static void print_usage(const struct command *cmd, FILE *out)
{
	fprintf(out, "usage: %s [OPTION]... %s\n", cmd->name, cmd->operands);
}

static void print_help(const struct command *cmd)
{
	const struct command_option *all[MAX_OPTIONS];
	int n = all_options(cmd, all);

	print_usage(cmd, stdout);
	printf("%s: %s\n\n", cmd->name, cmd->purpose);
	for (int i = 0; i < n; i++) {
		const struct command_option *o = all[i];
		bool optional = is_optional(o);
		char form[64];

		snprintf(form, sizeof(form), "%c%c%c --%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
			 optional ? "[=" : o->argument ? "=" : "",
			 o->argument ? o->argument + optional : "");
		printf("  %-26s %s\n", form, o->help);
	}
	printf("\nSee %s(1).\n", cmd->name);
}

void command_misused(const struct command *cmd, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", cmd->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	print_usage(cmd, stderr);
	exit(2);
}

uint64_t command_count(const struct command *cmd, const char *name, const char *text,
		       uint64_t least, uint64_t most)
{
	uint64_t count;

	if (!units_parse_count(text, &count) || count < least)
		command_misused(cmd, "--%s takes a number from %" PRIu64 " on, not '%s'", name,
				least, text);
	if (count > most)
		command_misused(cmd, "--%s takes a number up to %" PRIu64 ", not '%s'", name, most,
				text);
	return count;
}

static void set_option(const struct command_option *o)
{
	if (o->list) {
		o->list->item = mem_resize(o->list->item,
					 (o->list->count + 1) * sizeof(*o->list->item));
		if (o->list->beside) {
			o->list->place = mem_resize(o->list->place, (o->list->count + 1) *
						    sizeof(*o->list->place));
			o->list->place[o->list->count] = o->list->beside->count;
		}
		o->list->item[o->list->count++] = optarg;
	} else if (o->argument) {
		*(const char **)o->value = optarg ? optarg : "";
	} else {
		*(bool *)o->value = true;
		verbosity += o->value == &verbose;
	}
}

static void parse_options(const struct command *cmd, int argc, char **argv)
{
	const struct command_option *all[MAX_OPTIONS];
	struct option longs[MAX_OPTIONS + 1] = { 0 };
	char shorts[3 * MAX_OPTIONS + 2];
	int n = all_options(cmd, all), s = 0, val;

	if (cmd->runs_command)
		shorts[s++] = '+';	/* the command's options are not ours */
	for (int i = 0; i < n; i++) {
		longs[i] = (struct option){
			.name = all[i]->name, .val = FIRST_LONG + i,
			.has_arg = is_optional(all[i]) ? optional_argument
				 : all[i]->argument ? required_argument : no_argument,
		};
		if (all[i]->letter)
			shorts[s++] = all[i]->letter;
		for (int k = 0; all[i]->letter && k < longs[i].has_arg; k++)
			shorts[s++] = ':';	/* one: an argument; two: an optional one */
	}
	shorts[s] = '\0';

	argv[0] = (char *)cmd->name;	/* getopt's messages start with it */
	while ((val = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		int i = val - FIRST_LONG;
		if (val < FIRST_LONG)
			for (i = 0; i < n && all[i]->letter != val; i++)
				;
		if (i == n) {
			print_usage(cmd, stderr);
			exit(2);
		}
		set_option(all[i]);
	}
}

static volatile sig_atomic_t signals_end;	/* SIGINT ends the program */

static void on_signal(int number)
{
	if (number != SIGINT || interrupts_to_ignore == 0) {
		command_stop = 1;
		return;
	}
	interrupts_to_ignore--;
	if (signals_end)
		signal(SIGINT, SIG_DFL);
}

void command_on_signals(enum command_signals how)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	signals_end = how != SIGNALS_STOP;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct sigaction act = { .sa_handler = on_signal }, now;
		bool is_kept = numbers[i] == SIGINT && how == SIGNALS_END_BUT_ONE &&
			       interrupts_to_ignore > 0;
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

static bool ignored_interrupts;
static sigset_t signals;

bool command_ignored_interrupts(void)
{
	return ignored_interrupts;
}

const sigset_t *command_signals(void)
{
	return &signals;
}

static void catch_signals(const struct command *cmd)
{
	struct sigaction act = { .sa_handler = on_signal };	/* no SA_RESTART: wake read() */
	struct sigaction hangup, interrupt;
	struct stat in;

	if (!cmd->runs_command && !fstat(STDIN_FILENO, &in) && S_ISFIFO(in.st_mode))
		interrupts_to_ignore = 1;
	sigemptyset(&act.sa_mask);
	sigaction(SIGINT, &act, &interrupt);
	ignored_interrupts = interrupt.sa_handler == SIG_IGN;
	sigprocmask(SIG_SETMASK, NULL, &signals);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN)	/* ignored by nohup(1): go on */
		sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);	/* writes fail with EPIPE; restored before any exec */
}

int command_begin(const struct command *cmd, struct report *report, int argc, char **argv)
{
	/*
	 * Have malloc() map blocks of more than 1 MiB: growing them copies nothing, and
	 * freed blocks return to the system.  By default, glibc would raise this limit.
	 */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	parse_options(cmd, argc, argv);
	*report = (struct report){ .tool = cmd->name, .quiet = quiet,
				    .verbose = verbosity };
	if (version)
		printf("%s %s\n", cmd->name, PMU_VERSION);
	else if (help)
		print_help(cmd);
	if (version || help) {
		signal(SIGPIPE, SIG_IGN);
		exit(command_end(report));
	}
	hash_draw_secret();
	catch_signals(cmd);
	return optind;
}

const char *command_input(const struct command *cmd, int argc, char **argv, int first)
{
	if (argc - first > 1)
		command_misused(cmd, "more than one FILE: '%s'", argv[first + 1]);
	const char *file = first < argc ? argv[first] : "-";
	if (!strcmp(file, "-") && isatty(STDIN_FILENO))
		command_misused(cmd, "stdin is a terminal: name a FILE, or pipe a stream in");
	return file;
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

void command_output_whole(const struct command *cmd, struct output *out, const char *file,
			  bool same_inode, struct report *report)
{
	output_open_whole(out, binary_output(cmd, file), same_inode, report);
}

/* Fill *ST for FILE ("-": the descriptor STANDARD).  Return whether it is a regular file. */
static bool find_inode(const char *file, int standard, struct stat *st)
{
	return (strcmp(file, "-") ? stat(file, st) : fstat(standard, st)) == 0 &&
	       S_ISREG(st->st_mode);
}

bool command_is_input(const char *file, const char *const *input, size_t inputs)
{
	struct stat out, in;

	if (!find_inode(file, STDOUT_FILENO, &out))
		return false;
	for (size_t i = 0; i < inputs; i++)
		if (find_inode(input[i], STDIN_FILENO, &in) && in.st_dev == out.st_dev &&
		    in.st_ino == out.st_ino)
			return true;
	return false;
}

void command_spare_inputs(const struct command *cmd, const char *file, const char *const *input,
			  size_t inputs)
{
	if (command_is_input(file ? file : "-", input, inputs))
		command_misused(cmd, "%s is an input, too: write to another file",
				!file || !strcmp(file, "-") ? "stdout" : file);
}

/* Return whether a shell needs no quotes around WORD. */
static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_^";

	return *word && word[strspn(word, plain)] == '\0';
}

char *command_line(int argc, char **argv)
{
	size_t size = 1;

	for (int i = 0; i < argc; i++)
		size += 4 * strlen(argv[i]) + 3;	/* every byte may be a quote: '\'' */
	char *line = mem_resize(NULL, size), *to = line;
	for (int i = 0; i < argc; i++) {
		if (i)
			*to++ = ' ';
		bool plain = is_plain(argv[i]);
		if (!plain)
			*to++ = '\'';
		for (const char *from = argv[i]; *from; from++) {
			if (*from == '\'')
				to = mempcpy(to, "'\\'", 3);
			*to++ = *from;
		}
		if (!plain)
			*to++ = '\'';
	}
	*to = '\0';
	return line;
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
