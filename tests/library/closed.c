/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes descriptors of the library, opens files of its own with their numbers, and looks whether
 * the library reads, writes or closes these.
 *
 *	closed WHICH RESULT END KIND
 *	closed stream FILE	all are closed after FILE's first record
 *	closed binary		all are closed before it looks for functions in itself
 *
 * WHICH is all (from 3 on), none, or a number: that of one of the library's descriptors, from 0 on.
 * RESULT is pprof or records, which a callback takes, or file:pprof or file:records.  END is stop,
 * cancel or pause (and then stop).  KIND, from 0 to 3, chooses the first file of the program: a
 * file, a pidfd, an eventfd or a file in memory.  The last line says how many of the program's
 * files are not as it left them.
 */
#include <pmukit.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 64, FIRST = 3 };
static const char mine[] = "mine";

static struct { int fd; struct stat st; } file[MOST];
static int files;

static void say(const char *what, int status)
{
	printf("%s: %d%s%s\n", what, status, status < 0 ? " " : "",
	       status < 0 ? pmukit_error() : "");
	fflush(stdout);
}

static void note(int fd)
{
	file[files].fd = fd;
	fstat(fd, &file[files++].st);
}

/* Open files of all kinds that the library opens, each with the lowest number, from KIND on. */
static void open_files(int rounds, int kind)
{
	char name[32];

	for (int i = kind; i < kind + 4 * rounds; i++) {
		snprintf(name, sizeof(name), "mine%d", i);
		note(i % 4 == 0 ? open(name, O_RDWR | O_CREAT | O_TRUNC, 0666) :
		     i % 4 == 1 ? (int)syscall(SYS_pidfd_open, getpid(), 0) :
		     i % 4 == 2 ? eventfd(0, 0) : memfd_create(mine, 0));
	}
	for (int i = 0; i < files; i++)
		if (S_ISREG(file[i].st.st_mode) && write(file[i].fd, mine, sizeof(mine)) < 0)
			perror("write");
}

/* Print how many files are closed, others, or changed. */
static void look(void)
{
	char bytes[2 * sizeof(mine)];
	int changed = 0;

	for (int i = 0; i < files; i++) {
		struct stat st;
		bool same = fstat(file[i].fd, &st) == 0 && st.st_ino == file[i].st.st_ino &&
			    st.st_dev == file[i].st.st_dev;

		if (same && S_ISREG(st.st_mode))
			same = pread(file[i].fd, bytes, sizeof(bytes), 0) == sizeof(mine) &&
			       !strcmp(bytes, mine) &&
			       lseek(file[i].fd, 0, SEEK_CUR) == sizeof(mine);
		if (!same)
			printf("changed: %d\n", file[i].fd);
		changed += !same;
	}
	printf("files %d, changed %d\n", files, changed);
}

static int take(void *context, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, context) != size;
}

static void on_message(void *context, enum pmukit_severity severity, const char *text)
{
	(void)context;
	printf("message %d: %s\n", (int)severity, text);
}

static uint64_t open_now(void)
{
	uint64_t set = 0;

	for (int fd = 0; fd < MOST; fd++)
		set |= (uint64_t)(fcntl(fd, F_GETFD) >= 0) << fd;
	return set;
}

/* Open files in place of the descriptor NUMBER of those in SET, and more. */
static void replace(uint64_t set, int number, int kind)
{
	for (int fd = 0; fd < MOST; fd++)
		if (set >> fd & 1 && number-- == 0) {
			close(fd);
			open_files(1, kind);
			return;
		}
	printf("no such descriptor\n");
	exit(3);
}

static void profile(const char *which, const char *result, const char *end, int kind)
{
	static const char *const events[] = { "page-faults:u", NULL };
	struct pmukit_profile_config c = {
		.size = sizeof(c), .events = events, .period = 1, .message = on_message,
		.result = strstr(result, "pprof") ? PMUKIT_PPROF : PMUKIT_RECORDS,
	};
	FILE *out = fopen("result", "w");

	if (!strncmp(result, "file:", 5)) {
		c.fd = fileno(out);
	} else {
		c.write = take;
		c.context = fdopen(dup2(fileno(out), 1000), "w");
	}
	uint64_t before = open_now();
	struct pmukit_profile *p = pmukit_profile_start(&c);
	uint64_t own = open_now() & ~before;

	say("start", p ? 0 : pmukit_error_code());
	if (!p)
		exit(3);
	for (int i = 0; i < 100; i++) {
		char *page = mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		explicit_bzero(page, 4096);	/* the fault is in libc */
	}
	if (!strcmp(which, "all")) {
		syscall(SYS_close_range, FIRST, 900, 0);
		open_files(6, kind);
	} else if (strcmp(which, "none")) {
		replace(own, atoi(which), kind);
	}
	if (!strcmp(end, "pause")) {
		say("pause", pmukit_profile_pause(p));
		say("running", pmukit_profile_is_running(p));
	}
	if (!strcmp(end, "cancel"))
		pmukit_profile_cancel(p);
	else
		say("stop", pmukit_profile_stop(p));
	if (c.context)
		fclose(c.context);
	look();
}

/* Read FILE, and close all after the first record. */
static void stream(const char *name)
{
	const struct pmukit_record *record;
	struct pmukit_stream *s = pmukit_stream_open(name, NULL);

	say("first", pmukit_stream_next(s, &record));
	syscall(SYS_close_range, FIRST, ~0U, 0);
	open_files(6, 0);
	int status;
	while ((status = pmukit_stream_next(s, &record)) > 0)
		;
	say("end", status);
	pmukit_stream_stop(s);
	pmukit_stream_close(s);
	look();
}

/* Look up addresses in this program, and close all after the first. */
static void binary(void)
{
	const struct pmukit_frame *frame;
	struct pmukit_binary *b = pmukit_binary_open("/proc/self/exe", NULL);

	syscall(SYS_close_range, FIRST, ~0U, 0);
	open_files(6, 0);
	say("frames", pmukit_binary_frames(b, 0x1200, &frame));
	pmukit_binary_close(b);
	look();
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "stream")) {
		stream(argv[2]);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "binary")) {
		binary();
		return 0;
	}
	if (argc != 5)
		return 2;
	profile(argv[1], argv[2], argv[3], atoi(argv[4]));
	return 0;
}
