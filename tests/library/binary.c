/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up addresses in ELF files with libpmukit.
 *
 *	binary frames FILE [HOW...]	for each address of stdin, in hexadecimal digits: its
 *					frames, innermost first, then an empty line
 *	binary fd FILE			the same by a descriptor, whose position must not change
 *	binary open FILE...		open each file, look up some addresses; its status
 *	binary cut FILE SIZE		open FILE, shorten it to SIZE, then as frames
 *	binary wrong FILE		wrong calls: status and sentence of each
 *
 * HOW is a sum of enum pmukit_option_flags, @ and an enum pmukit_files, a directory of debug files
 * with a slash at its end, or a file with symbols.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pmukit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void message(void *context, enum pmukit_severity severity, const char *text)
{
	(void)context;
	fprintf(stderr, "%s: %s\n", severity == PMUKIT_NOTE ? "note" : "problem", text);
}

static struct pmukit_options options = { .size = sizeof(options), .message = message };

static const char *shown(const char *text)
{
	return text ? text : "-";
}

static void print(const struct pmukit_frame *f)
{
	printf("%s\t%s\t%s:%" PRIu32 ":%" PRIu32 "\t%" PRIu32 "%s\n", shown(f->function),
	       shown(f->symbol), shown(f->file), f->line, f->column, f->start_line,
	       f->is_inlined ? "\tinlined" : "");
}

static struct pmukit_binary *check(struct pmukit_binary *b)
{
	if (b)
		return b;
	printf("open: %d: %s\n", pmukit_error_code(), pmukit_error());
	exit(1);
}

static void print_frames(struct pmukit_binary *b, const char *name)
{
	const struct pmukit_frame *frame;
	char line[64];

	printf("build ID %s\n", pmukit_binary_build_id(b));
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t address = strtoull(line, NULL, 16);
		int count = pmukit_binary_frames(b, address, &frame);
		if (count < 1) {
			printf("frames: %d: %s\n", count, pmukit_error());
			exit(1);
		}
		for (int i = 0; i < count; i++) {
			print(&frame[i]);
			if (frame[i].address != address || frame[i].object_address != address ||
			    strcmp(frame[i].object, name) ||
			    strcmp(frame[i].build_id, pmukit_binary_build_id(b)) ||
			    frame[i].is_inlined != (i + 1 < count) || frame[i].is_kernel)
				puts("a wrong member");
		}
		puts("");
	}
}

static void set_options(char **how)
{
	static const char *directory[16], *file[16];
	size_t directories = 0, files = 0;

	for (; *how; how++) {
		size_t length = strlen(*how);
		if (**how >= '0' && **how <= '9')
			options.flags = (unsigned int)atoi(*how);
		else if (**how == '@')
			options.files = (enum pmukit_files)atoi(*how + 1);
		else if ((*how)[length - 1] == '/')
			directory[directories++] = *how;
		else
			file[files++] = *how;
	}
	options.debug_dirs = directories ? directory : NULL;
	options.binaries = files ? file : NULL;
}

static void frames_of_fd(const char *file)
{
	enum { AT = 123 };
	int fd = open(file, O_RDONLY);

	lseek(fd, AT, SEEK_SET);
	struct pmukit_binary *b = check(pmukit_binary_open_fd(fd, file, &options));
	print_frames(b, file);
	if (lseek(fd, 0, SEEK_CUR) != AT)
		puts("the position has changed");
	pmukit_binary_close(b);
	if (close(fd))
		puts("the descriptor was closed");
}

/* Look up addresses of all kinds; a crash or a signal ends the program. */
static void look_around(struct pmukit_binary *b)
{
	const struct pmukit_frame *frame;
	uint64_t hash = 1;

	for (int i = 0; i < 300; i++) {
		uint64_t address = i < 256 ? (uint64_t)i * 64 : (hash >> (i % 48)) + 0x400000;
		hash = hash * 6364136223846793005u + 1442695040888963407u;
		if (pmukit_binary_frames(b, address, &frame) < 1) {
			printf("frames: %d: %s\n", pmukit_error_code(), pmukit_error());
			exit(1);
		}
	}
}

static void open_all(char **files)
{
	options.message = NULL;
	for (; *files; files++) {
		struct pmukit_binary *b = pmukit_binary_open(*files, &options);
		if (b)
			look_around(b);
		printf("%s: %d\n", *files, b ? 0 : pmukit_error_code());
		pmukit_binary_close(b);
	}
}

static void cut(const char *file, off_t size)
{
	struct pmukit_binary *b = check(pmukit_binary_open(file, &options));

	if (truncate(file, size))
		exit(2);
	print_frames(b, file);
	pmukit_binary_close(b);
}

static void say(const char *what, int is_wrong)
{
	printf("%s: %d %d: %s\n", what, is_wrong, pmukit_error_code(), pmukit_error());
}

static void call_wrongly(const char *file)
{
	struct pmukit_binary *b = check(pmukit_binary_open(file, NULL));
	const struct pmukit_frame *frame;
	struct pmukit_options other = { .size = sizeof(other), .files = 7 };

	say("no file", !pmukit_binary_open("no/such/file", NULL));
	say("a directory", !pmukit_binary_open("/", NULL));
	say("a device", !pmukit_binary_open("/dev/null", NULL));
	say("another file", !pmukit_binary_open("/etc/passwd", NULL));
	say("a secret", !pmukit_binary_open("secret", NULL));
	say("NULL as file", !pmukit_binary_open(NULL, NULL));
	say("a wrong option", !pmukit_binary_open(file, &other));
	say("a wrong descriptor", !pmukit_binary_open_fd(1000, file, NULL));
	say("no descriptor", !pmukit_binary_open_fd(-1, file, NULL));
	say("no name", !pmukit_binary_open_fd(0, NULL, NULL));
	say("NULL as handle", pmukit_binary_frames(NULL, 0, &frame));
	say("NULL as handle", !pmukit_binary_build_id(NULL));
	say("NULL for the frames", pmukit_binary_frames(b, 0, NULL));
	if (pmukit_binary_frames(b, 1, &frame) != 1 || frame->function)
		puts("it does not work any more");
	pmukit_binary_close(b);
	pmukit_binary_close(NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "frames")) {
		set_options(argv + 3);
		struct pmukit_binary *b = check(pmukit_binary_open(argv[2], &options));
		print_frames(b, argv[2]);
		pmukit_binary_close(b);
	} else if (!strcmp(what, "fd")) {
		frames_of_fd(argv[2]);
	} else if (!strcmp(what, "open")) {
		open_all(argv + 2);
	} else if (!strcmp(what, "cut")) {
		cut(argv[2], atol(argv[3]));
	} else if (!strcmp(what, "wrong")) {
		call_wrongly(argv[2]);
	} else {
		return 2;
	}
	return 0;
}
