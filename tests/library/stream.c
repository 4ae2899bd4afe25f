/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses streams by the library:
 *
 *	stream [-s SELECT] [-f FILES] [-i INPUT] [-o OPTION=VALUE]... WHAT FILE
 *	stream ... profile FILE OUT [LABELS]
 *	stream ... addresses FILE PROGRAM
 *	stream mistakes|stops|leaks|profiles FILE
 *
 * WHAT: records, samples, frames, symbols, events.  INPUT: file, fd, or a number: by a callback
 * that returns so many bytes; at the end, it reads on from the shell's command $THEN.
 * FILES: 0, 1, 2.
 * OPTION: flags, root, debug_dirs, kallsyms, cache, as in struct pmukit_options.
 */
#include <pmukit.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

static struct pmukit_options options = { .size = sizeof(options) };
static const char *input = "file";
static size_t part;		/* bytes that read_part() returns at most */

static void message(void *context, enum pmukit_severity severity, const char *text)
{
	(void)context;
	fprintf(stderr, "%s: %s\n", severity == PMUKIT_PROBLEM ? "problem" : "note", text);
}

static ssize_t read_part(void *context, void *bytes, size_t size)
{
	const char *then = getenv("THEN");
	ssize_t n = read(*(int *)context, bytes, size < part ? size : part);

	if (n == 0 && then) {
		FILE *more = popen(then, "r");
		unsetenv("THEN");
		*(int *)context = fileno(more);
		n = read(fileno(more), bytes, size < part ? size : part);
	}
	return n;
}

static void fail_with(const char *what)
{
	printf("%s: %d: %s\n", what, pmukit_error_code(), pmukit_error());
	exit(1);
}

static struct pmukit_stream *open_stream(const char *file)
{
	static int fd = -1;
	struct pmukit_stream *s;

	if (!strcmp(input, "file")) {
		s = pmukit_stream_open(file, &options);
	} else {
		fd = !strcmp(file, "-") ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
		part = (size_t)atoi(input);
		s = part ? pmukit_stream_open_callback(read_part, &fd, &options)
			 : pmukit_stream_open_fd(fd, &options);
	}
	if (!s)
		fail_with("open");
	return s;
}

static void end(struct pmukit_stream *s, int status, int again)
{
	if (status < 0)
		printf("end: %d: %s\n", status, pmukit_error());
	if (again != 0)
		printf("the end is not an end\n");
	pmukit_stream_close(s);
	exit(status < 0);
}

static void print_records(const char *file)
{
	const struct pmukit_record *r;
	struct pmukit_stream *s = open_stream(file);
	int status;

	while ((status = pmukit_stream_next(s, &r)) > 0)
		printf("0x%" PRIx64 " %u %zu %" PRIu64 " %u\n", r->offset, r->type, r->size,
		       r->time, r->misc);
	end(s, status, pmukit_stream_next(s, &r));
}

static int print_sample(void *context, const struct pmukit_sample *sample)
{
	const struct pmukit_stream_event *e = pmukit_stream_event(context, sample->event);

	printf("%s %" PRIu64 " %" PRIu64 " %d/%d %u %" PRIx64 " %" PRIx64 " %s", e->name,
	       sample->period, sample->time, sample->pid, sample->tid, sample->cpu, sample->ip,
	       sample->address, sample->comm);
	if (sample->has & PMUKIT_HAS_LABELS)
		printf(" {");
	for (size_t i = 0; i < sample->labels_size; i++)
		printf("%s=%s ", sample->labels[i].key, sample->labels[i].value);
	printf("%s :", sample->has & PMUKIT_HAS_LABELS ? "}" : "");
	for (size_t i = 0; i < sample->callchain_size; i++)
		printf(" %" PRIx64, sample->callchain[i]);
	printf("\n");
	return 0;
}

static void print_samples(const char *file)
{
	struct pmukit_stream *s = open_stream(file);
	const struct pmukit_sample *sample;
	int status = pmukit_stream_each_sample(s, print_sample, s);

	end(s, status, pmukit_stream_next_sample(s, &sample));
}

/* A line as of folded stacks: comm;root;...;leaf period. */
static void print_frames(const char *file)
{
	struct pmukit_stream *s = open_stream(file);
	const struct pmukit_sample *sample;
	const struct pmukit_frame *frame;
	int status, count;

	while ((status = pmukit_stream_next_sample(s, &sample)) > 0) {
		count = pmukit_stream_frames(s, &frame);
		if (count < 0)
			fail_with("frames");
		printf("%s\t%s", pmukit_stream_event(s, sample->event)->name, sample->comm);
		for (int i = count; i-- > 0; )
			if (frame[i].function)
				printf("\t%s|%s|%s|%u", frame[i].function,
				       frame[i].object ? frame[i].object : "",
				       frame[i].file ? frame[i].file : "", frame[i].line);
			else
				printf("\t%#" PRIx64 "|%s||0", frame[i].object_address,
				       frame[i].object ? frame[i].object : "");
		printf("\t%" PRIu64 "\n", sample->period);
	}
	end(s, status, pmukit_stream_next_sample(s, &sample));
}

/*
 * The address of each frame in its object, as perf has it, and the name of the function there.  Of
 * callers it is not that of the call, but where they go on.
 */
static void print_symbols(const char *file)
{
	struct pmukit_stream *s = open_stream(file);
	const struct pmukit_sample *sample;
	const struct pmukit_frame *frame;
	int status;

	while ((status = pmukit_stream_next_sample(s, &sample)) > 0) {
		int count = pmukit_stream_frames(s, &frame);

		for (int i = 0; i < count; i++)
			if (!frame[i].is_inlined && frame[i].function)
				printf("%" PRIx64 " %s\n", frame[i].object_address +
				       (frame[i].address - frame[i].object_address) % 4096,
				       frame[i].function);
	}
	end(s, status, 0);
}

/* The places in PROGRAM: the address, and function|file|line|column|start of each frame. */
static void print_addresses(const char *file, const char *program)
{
	struct pmukit_stream *s = open_stream(file);
	const struct pmukit_sample *sample;
	const struct pmukit_frame *frame;
	int status, count;

	while ((status = pmukit_stream_next_sample(s, &sample)) > 0) {
		count = pmukit_stream_frames(s, &frame);
		for (int i = 0; i < count; i++) {
			const char *slash = frame[i].file ? strrchr(frame[i].file, '/') : NULL;

			if (!frame[i].line || !strstr(frame[i].object, program))
				continue;
			if (i == 0 || !frame[i - 1].is_inlined)
				printf("0x%" PRIx64, frame[i].object_address);
			printf("\t%s|%s|%u|%u|%u%s", frame[i].symbol,
			       slash ? slash + 1 : frame[i].file, frame[i].line, frame[i].column,
			       frame[i].start_line, frame[i].is_inlined ? "" : "\n");
		}
	}
	end(s, status, 0);
}

static void print_events(const char *file)
{
	struct pmukit_stream *s = open_stream(file);
	const struct pmukit_sample *sample;
	const struct pmukit_stream_event *first = pmukit_stream_event(s, 0);
	const struct pmukit_origin *o;
	int status;

	while ((status = pmukit_stream_next_sample(s, &sample)) > 0)
		;
	for (int i = 0; i < pmukit_stream_events(s); i++) {
		const struct pmukit_stream_event *e = pmukit_stream_event(s, i);
		printf("%s %" PRIu64 " %" PRIu64 " %zu\n", e->name, e->period, e->frequency,
		       e->attr_size);
	}
	if (first && first != pmukit_stream_event(s, 0))
		printf("event 0 has moved\n");
	o = pmukit_stream_origin(s);
	printf("%s|%s|%s|%s|%" PRIu64 "\n", o->host, o->kernel, o->machine, o->command, o->cpus);
	end(s, status, 0);
}

static void make_profile(const char *file, const char *out, const char *labels)
{
	struct pmukit_stream *s = open_stream(file);
	struct pmukit_pprof *p = pmukit_stream_profile(s, labels);

	if (!p)
		fail_with("profile");
	if (pmukit_error_code() != PMUKIT_OK)
		printf("profile: %d: %s\n", pmukit_error_code(), pmukit_error());
	if (pmukit_pprof_write(p, out) < 0)
		fail_with("write");
	pmukit_pprof_close(p);
	pmukit_stream_close(s);
}

static void say(const char *what, int64_t status)
{
	printf("%s: %" PRId64 " %d: %s\n", what, status, pmukit_error_code(), pmukit_error());
}

static ssize_t fail_to_read(void *context, void *bytes, size_t size)
{
	(void)context;
	(void)bytes;
	(void)size;
	errno = EIO;
	return -1;
}

static ssize_t read_too_much(void *context, void *bytes, size_t size)
{
	(void)context;
	(void)bytes;
	return (ssize_t)size + 1;
}

static int refuse(void *context, const struct pmukit_sample *sample)
{
	(void)context;
	(void)sample;
	return 1;
}

static void call_wrongly(const char *file)
{
	static const char *const selections[] = { "pid", "pid=x", "pid=-1", "event=", "to=0", "x=1",
						  "pid=1,,", "" };
	const struct pmukit_sample *sample;
	const struct pmukit_frame *frame;
	struct pmukit_stream *s;

	say("no such file", !pmukit_stream_open("no/such/file", NULL));
	say("a directory", !pmukit_stream_open("/", NULL));
	say("an empty file", !pmukit_stream_open("/dev/null", NULL));
	say("no stream", !pmukit_stream_open("/proc/self/exe", NULL));
	say("NULL as file", !pmukit_stream_open(NULL, NULL));
	say("no descriptor", !pmukit_stream_open_fd(1000, NULL));
	say("a negative descriptor", !pmukit_stream_open_fd(-1, NULL));
	say("no callback", !pmukit_stream_open_callback(NULL, NULL, NULL));
	say("a callback that fails", !pmukit_stream_open_callback(fail_to_read, NULL, NULL));
	say("a callback that lies", !pmukit_stream_open_callback(read_too_much, NULL, NULL));
	for (size_t i = 0; i < sizeof(selections) / sizeof(selections[0]); i++) {
		struct pmukit_options own = { .size = sizeof(own), .select = selections[i] };
		say(selections[i], !pmukit_stream_open(file, &own));
	}
	say("NULL as handle", pmukit_stream_next_sample(NULL, &sample));
	s = pmukit_stream_open(file, NULL);
	say("NULL for the sample", pmukit_stream_next_sample(s, NULL));
	say("NULL for the record", pmukit_stream_next(s, NULL));
	say("NULL for the frames", pmukit_stream_frames(s, NULL));
	say("no record yet", pmukit_stream_frames(s, &frame) - 1);
	say("a label that is none", !pmukit_stream_profile(s, "no-label"));
	say("a callback that ends", pmukit_stream_each_sample(s, refuse, NULL));
	say("a profile after a record", !pmukit_stream_profile(s, NULL));
	say("no such event", !pmukit_stream_event(s, 1000));
	say("no such event", !pmukit_stream_event(s, -1));
	pmukit_stream_close(s);
	pmukit_stream_close(NULL);
	pmukit_stream_stop(NULL);
	struct pmukit_options own = { .size = sizeof(own), .select = "event=no-such-event" };
	s = pmukit_stream_open(file, &own);
	say("an event that the stream lacks", pmukit_stream_next_sample(s, &sample));
	pmukit_stream_close(s);
	s = pmukit_stream_open(file, &own);
	say("the same, of a profile", !pmukit_stream_profile(s, NULL));
	pmukit_stream_close(s);
}

static struct pmukit_stream *to_stop;
static int to_empty;	/* the pipe that is read by it */

static bool has_read_all(void)
{
	int left;

	return ioctl(to_empty, FIONREAD, &left) == 0 && left == 0;
}

static void on_alarm(int number)
{
	(void)number;
	if (has_read_all())
		pmukit_stream_stop(to_stop);
}

static void *stop_soon(void *unused)
{
	do
		usleep(100000);
	while (!has_read_all());
	pmukit_stream_stop(to_stop);
	return unused;
}

/* Read FILE by a pipe that nobody closes, until another thread or a signal stops that. */
static void stop_reading(const char *file)
{
	for (int way = 0; way < 2; way++) {
		const struct itimerval often = { { 0, 100000 }, { 0, 100000 } }, never = { 0 };
		const struct pmukit_sample *sample;
		int ends[2], fd = open(file, O_RDONLY), status;
		uint64_t count = 0;
		char bytes[4096];
		pthread_t thread;
		ssize_t n;

		if (fd < 0 || pipe(ends) < 0)
			exit(2);
		fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
		while ((n = read(fd, bytes, sizeof(bytes))) > 0 &&
		       write(ends[1], bytes, (size_t)n) > 0)
			;
		to_empty = ends[0];
		to_stop = pmukit_stream_open_fd(ends[0], &options);
		if (!to_stop)
			fail_with("open");
		signal(SIGALRM, on_alarm);
		if (way == 0)
			pthread_create(&thread, NULL, stop_soon, NULL);
		else
			setitimer(ITIMER_REAL, &often, NULL);
		while ((status = pmukit_stream_next_sample(to_stop, &sample)) > 0)
			count++;
		printf("%d %d\n", status, count > 0);
		setitimer(ITIMER_REAL, &never, NULL);
		if (way == 0)
			pthread_join(thread, NULL);
		pmukit_stream_close(to_stop);
		close(fd);
		close(ends[0]);
		close(ends[1]);
	}
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

/* Open, read and close FILE a hundred times. */
static void look_for_leaks(const char *file)
{
	int before = descriptors();

	for (int i = 0; i < 100; i++) {
		struct pmukit_stream *s = open_stream(file);
		const struct pmukit_sample *sample;
		const struct pmukit_frame *frame;

		if (i % 2)
			pmukit_pprof_close(pmukit_stream_profile(s, NULL));
		else
			for (int k = 0; k < 50 && pmukit_stream_next_sample(s, &sample) > 0; k++)
				pmukit_stream_frames(s, &frame);
		pmukit_stream_close(s);
	}
	printf("%d\n", descriptors() - before);
}

/* Make a hundred profiles: how many descriptors they leave, and bytes, from the 20th on. */
static void make_profiles(const char *file)
{
	int before = descriptors();
	size_t bytes = 0;

	for (int i = 0; i < 100; i++) {
		struct pmukit_stream *s = open_stream(file);
		struct pmukit_pprof *p = pmukit_stream_profile(s, NULL);

		if (!p)
			fail_with("profile");
		pmukit_stream_close(s);
		pmukit_pprof_close(p);
		if (i == 20)
			bytes = mallinfo2().uordblks + mallinfo2().hblkhd;
	}
	printf("%d %zd\n", descriptors() - before,
	       (ssize_t)(mallinfo2().uordblks + mallinfo2().hblkhd - bytes));
}

static void set_option(char *text)
{
	static const char *debug_dirs[2];
	char *value = strchr(text, '=');

	if (!value)
		exit(2);
	*value++ = '\0';
	if (!strcmp(text, "flags"))
		options.flags = (unsigned int)atoi(value);
	else if (!strcmp(text, "root"))
		options.root = value;
	else if (!strcmp(text, "kallsyms"))
		options.kallsyms = value;
	else if (!strcmp(text, "cache"))
		options.cache = value;
	else if (!strcmp(text, "debug_dirs"))
		options.debug_dirs = memcpy(debug_dirs, &value, sizeof(value));
	else
		exit(2);
}

int main(int argc, char **argv)
{
	int option;

	options.message = message;
	while ((option = getopt(argc, argv, "s:f:i:o:")) != -1)
		if (option == 's')
			options.select = optarg;
		else if (option == 'f')
			options.files = (enum pmukit_files)atoi(optarg);
		else if (option == 'i')
			input = optarg;
		else if (option == 'o')
			set_option(optarg);
		else
			return 2;
	argc -= optind;
	argv += optind;
	const char *what = argc > 1 ? argv[0] : "";
	if (!strcmp(what, "records"))
		print_records(argv[1]);
	else if (!strcmp(what, "samples"))
		print_samples(argv[1]);
	else if (!strcmp(what, "frames"))
		print_frames(argv[1]);
	else if (!strcmp(what, "symbols"))
		print_symbols(argv[1]);
	else if (!strcmp(what, "addresses"))
		print_addresses(argv[1], argv[2] ? argv[2] : "");
	else if (!strcmp(what, "events"))
		print_events(argv[1]);
	else if (!strcmp(what, "profile") && argc > 2)
		make_profile(argv[1], argv[2], argc > 3 ? argv[3] : NULL);
	else if (!strcmp(what, "mistakes"))
		call_wrongly(argv[1]);
	else if (!strcmp(what, "stops"))
		stop_reading(argv[1]);
	else if (!strcmp(what, "leaks"))
		look_for_leaks(argv[1]);
	else if (!strcmp(what, "profiles"))
		make_profiles(argv[1]);
	else
		return 2;
	return 0;
}
