/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up names with libpmukit, for strace to see which files it opens.
 *
 *	files [-f FILES] [-d DIRECTORY] [-b FILE] [-k KALLSYMS] [-c CACHE] stream FILE
 *	files ... binary FILE		the addresses of stdin, in hexadecimal digits
 *
 * FILES is an enum pmukit_files.  It prints the function of each frame, "-" if it is unknown.
 * Before it uses the library, it asks for the file "here it begins".
 */
#include <pmukit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 8 };

static const char *directory[MOST + 1], *binary[MOST + 1];
static struct pmukit_options options = { .size = sizeof(options) };

static void check(int status)
{
	if (status >= 0)
		return;
	printf("%d: %s\n", status, pmukit_error());
	exit(1);
}

static void print(const struct pmukit_frame *frame, int count)
{
	check(count);
	for (int i = 0; i < count; i++)
		puts(frame[i].function ? frame[i].function : "-");
}

static void read_stream(const char *file)
{
	struct pmukit_stream *s = pmukit_stream_open(file, &options);
	const struct pmukit_sample *sample;
	const struct pmukit_frame *frame;
	int more;

	check(s ? 0 : pmukit_error_code());
	while ((more = pmukit_stream_next_sample(s, &sample)) > 0) {
		int count = pmukit_stream_frames(s, &frame);
		print(frame, count);
	}
	check(more);
	pmukit_stream_close(s);
}

static void read_binary(const char *file)
{
	struct pmukit_binary *b = pmukit_binary_open(file, &options);
	const struct pmukit_frame *frame;
	char line[64];

	check(b ? 0 : pmukit_error_code());
	while (fgets(line, sizeof(line), stdin)) {
		int count = pmukit_binary_frames(b, strtoull(line, NULL, 16), &frame);
		print(frame, count);
	}
	pmukit_binary_close(b);
}

int main(int argc, char **argv)
{
	size_t directories = 0, binaries = 0;
	int option;

	while ((option = getopt(argc, argv, "f:d:b:k:c:")) != -1)
		if (option == 'f')
			options.files = (enum pmukit_files)atoi(optarg);
		else if (option == 'd' && directories < MOST)
			directory[directories++] = optarg;
		else if (option == 'b' && binaries < MOST)
			binary[binaries++] = optarg;
		else if (option == 'k')
			options.kallsyms = optarg;
		else if (option == 'c')
			options.cache = optarg;
		else
			return 2;
	options.debug_dirs = directories ? directory : NULL;
	options.binaries = binaries ? binary : NULL;
	if (argc - optind != 2)
		return 2;
	if (access("here it begins", F_OK) == 0)
		return 2;
	if (!strcmp(argv[optind], "stream"))
		read_stream(argv[optind + 1]);
	else
		read_binary(argv[optind + 1]);
	return 0;
}
