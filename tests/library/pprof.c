/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads, makes and writes profiles with libpmukit.
 *
 *	pprof print FILE		all that is in it, as text
 *	pprof print-memory FILE		the same, of its bytes
 *	pprof copy HOW FILE TO		read and write; HOW is file, fd or callback
 *	pprof again FILE TO		make a new profile, and add each stack of FILE
 *	pprof itself FILE TO		add each stack of FILE to itself
 *	pprof merge TO FILE...		add all files to a new profile
 *	pprof added TO FILE...		add all files to the first one
 *	pprof grow N			add N stacks; print the CPU time in ms
 *	pprof made TO			a profile with one of everything
 *	pprof wrong			wrong calls: status and sentence of each
 *	pprof locale FILE		a number as printf() prints it before, in and after a call
 */
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <pmukit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void message(void *context, enum pmukit_severity severity, const char *text)
{
	(void)context;
	fprintf(stderr, "%s: %s\n", severity == PMUKIT_NOTE ? "note" : "problem", text);
}

static const struct pmukit_options options = { .size = sizeof(options), .message = message };

static void check(int64_t status, const char *what)
{
	if (status >= 0)
		return;
	printf("%s: %" PRId64 ": %s\n", what, status, pmukit_error());
	exit(1);
}

static struct pmukit_pprof *opened(const char *file)
{
	struct pmukit_pprof *p = pmukit_pprof_open(file, &options);

	if (!p)
		check(pmukit_error_code(), "open");
	if (pmukit_error_code() != PMUKIT_OK)
		printf("damaged: %d: %s\n", pmukit_error_code(), pmukit_error());
	return p;
}

static const char *shown(const char *text)
{
	return text ? text : "-";
}

static void print_stack(const struct pmukit_stack *s, int types)
{
	for (int i = 0; i < types; i++)
		printf(i ? " %" PRId64 : "%" PRId64, s->values[i]);
	printf("\n");
	for (size_t i = 0; i < s->labels_size; i++) {
		const struct pmukit_label *l = &s->labels[i];
		if (l->value)
			printf("\tlabel %s=\"%s\"\n", l->key, l->value);
		else
			printf("\tlabel %s=%" PRId64 " %s\n", l->key, l->number, l->unit);
	}
	for (size_t i = 0; i < s->frames_size; i++) {
		const struct pmukit_frame *f = &s->frames[i];
		printf("\t%#" PRIx64 " %s %s %s %s:%" PRIu32 ":%" PRIu32 " %" PRIu32 "%s%s\n",
		       f->object_address, shown(f->object), *f->build_id ? f->build_id : "-",
		       shown(f->function), shown(f->file), f->line, f->column, f->start_line,
		       f->symbol && (!f->function || strcmp(f->symbol, f->function)) ? " mangled"
										       : "",
		       f->is_inlined ? " inlined" : "");
	}
}

static void print(struct pmukit_pprof *p)
{
	const struct pmukit_value_type *type;
	const struct pmukit_stack *stack;
	int types = pmukit_pprof_types(p, &type);

	check(types, "types");
	for (int i = 0; i < types; i++)
		printf("%s/%s\n", type[i].type, type[i].unit);
	int64_t count = pmukit_pprof_stacks(p);
	check(count, "stacks");
	for (int64_t i = 0; i <= count; i++) {
		int found = pmukit_pprof_stack(p, i, &stack);
		check(found, "stack");
		if (found != (i < count))
			printf("stack %" PRId64 " of %" PRId64 ": %d\n", i, count, found);
		if (found)
			print_stack(stack, types);
	}
}

static void add_all(struct pmukit_pprof *to, struct pmukit_pprof *from)
{
	const struct pmukit_stack *stack;
	int64_t count = pmukit_pprof_stacks(from);

	for (int64_t i = 0; i < count; i++) {
		check(pmukit_pprof_stack(from, i, &stack) - 1, "stack");
		check(pmukit_pprof_add(to, stack), "add");
	}
}

static struct pmukit_pprof *same_types(struct pmukit_pprof *as)
{
	const struct pmukit_value_type *type;
	int types = pmukit_pprof_types(as, &type);
	struct pmukit_pprof *p = pmukit_pprof_new(type, (size_t)types);

	if (!p)
		check(pmukit_error_code(), "new");
	return p;
}

static void end(struct pmukit_pprof *p, const char *file)
{
	check(pmukit_pprof_write(p, file), "write");
	pmukit_pprof_close(p);
}

static int to_stream(void *stream, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, stream) != size;
}

static void copy(const char *how, const char *file, const char *to)
{
	struct pmukit_pprof *p = opened(file);

	if (!strcmp(how, "file")) {
		check(pmukit_pprof_write(p, to), "write");
	} else if (!strcmp(how, "fd")) {
		int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		check(pmukit_pprof_write_fd(p, fd), "write_fd");
		close(fd);
	} else {
		FILE *stream = fopen(to, "w");
		check(pmukit_pprof_write_callback(p, to_stream, stream), "write_callback");
		fclose(stream);
	}
	pmukit_pprof_close(p);
}

static void print_memory(const char *file)
{
	size_t size = 0, room = 1 << 26;
	char *bytes = malloc(room);
	FILE *f = fopen(file, "r");

	size = fread(bytes, 1, room, f);
	fclose(f);
	char *exact = memcpy(malloc(size ? size : 1), bytes, size);	/* sanitizers see its end */
	free(bytes);
	struct pmukit_pprof *p = pmukit_pprof_open_memory(exact, size, &options);
	memset(exact, 'x', size);
	free(exact);
	if (!p)
		check(pmukit_error_code(), "open_memory");
	print(p);
	pmukit_pprof_close(p);
}

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Stacks of 20 frames, of 1,000 functions. */
static void grow(long n)
{
	const struct pmukit_value_type type = { "samples", "count" };
	struct pmukit_pprof *p = pmukit_pprof_new(&type, 1);
	const struct pmukit_stack *read;
	static char name[1000][16];
	struct pmukit_frame frame[20] = { 0 };
	const int64_t one = 1;
	struct pmukit_stack stack = { .frames = frame, .frames_size = 20, .values = &one };
	int64_t sum = 0;

	for (int i = 0; i < 1000; i++)
		snprintf(name[i], sizeof(name[i]), "function %d", i);
	long start = cpu_ms();
	for (long i = 0; i < n; i++) {
		long left = i;
		for (int k = 0; k < 20; k++, left /= 7) {
			frame[k].function = name[left % 7 + 7 * k];
			frame[k].object = "program";
		}
		check(pmukit_pprof_add(p, &stack), "add");
		check(pmukit_pprof_stack(p, i, &read) - 1, "stack");
		sum += read->values[0] + (int64_t)pmukit_pprof_stacks(p) - i - 1;
	}
	printf("%ld ms\n", cpu_ms() - start);
	if (sum != n)
		printf("the sum is %" PRId64 "\n", sum);
	pmukit_pprof_close(p);
}

static void make(const char *file)
{
	const struct pmukit_value_type types[] = { { "samples", "count" }, { "cycles", "count" } };
	struct pmukit_pprof *p = pmukit_pprof_new(types, 2);
	const struct pmukit_frame frames[] = {
		{ .function = "inner(int)", .symbol = "_Z5inneri", .file = "/src/inner.h",
		  .line = 7, .start_line = 5, .is_inlined = 1, .object_address = 0x1234,
		  .object = "/bin/program", .build_id = "0123456789abcdef" },
		{ .function = "outer", .symbol = "outer", .file = "/src/outer.c", .line = 40,
		  .start_line = 30, .object_address = 0x1234, .object = "/bin/program",
		  .build_id = "0123456789abcdef" },
		{ .object_address = 0xffff, .object = "/lib/libc.so.6" },
		{ .function = "main", .object = "/bin/program", .build_id = "0123456789abcdef" },
	};
	const struct pmukit_label labels[] = {
		{ .key = "thread", .value = "worker" }, { .key = "empty", .value = "" },
		{ .key = "bytes", .number = -3, .unit = "bytes" },
	};
	const struct pmukit_stack stacks[] = {
		{ frames, 4, (const int64_t[]){ 1, 1000 }, labels, 3 },
		{ frames + 3, 1, (const int64_t[]){ 2, 3000 }, NULL, 0 },
		{ NULL, 0, (const int64_t[]){ 0, -7 }, NULL, 0 },
		{ frames + 3, 1, (const int64_t[]){ 0, 0 }, labels, 1 },
		{ frames, 4, (const int64_t[]){ 1, 234 }, labels, 3 },
	};

	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		check(pmukit_pprof_add(p, &stacks[i]), "add");
	print(p);
	end(p, file);
}

static int refuse(void *context, const void *bytes, size_t size)
{
	(void)context;
	(void)bytes;
	(void)size;
	return 1;
}

static void say(const char *what, int64_t status)
{
	printf("%s: %" PRId64 " %d: %s\n", what, status, pmukit_error_code(), pmukit_error());
}

static void call_wrongly(void)
{
	const struct pmukit_value_type types[] = { { "a", "b" }, { NULL, "c" }, { "d", NULL } };
	const struct pmukit_options small = { .size = 3 }, large = { .size = SIZE_MAX };
	struct { struct pmukit_options known; int more[2]; } newer = {
		.known.size = sizeof(newer), .more = { 0, 1 },
	};
	const struct pmukit_value_type *type;
	const struct pmukit_stack *stack;
	struct pmukit_stack none = { 0 }, bad = { .values = (int64_t[]){ INT64_MAX } };
	struct pmukit_pprof *p = pmukit_pprof_new(types, 1), *q = pmukit_pprof_new(types + 2, 1);

	say("no types", !pmukit_pprof_new(types, 0));
	say("a type without a name", !pmukit_pprof_new(types, 3));
	say("no such file", !pmukit_pprof_open("no/such/file", &options));
	say("a directory", !pmukit_pprof_open("/", &options));
	say("small options", !pmukit_pprof_open("/dev/null", &small));
	say("large options", !pmukit_pprof_open("/dev/null", &large));
	say("a member of the future", !pmukit_pprof_open("/dev/null", &newer.known));
	newer.more[1] = 0;
	say("an unset member of the future", !pmukit_pprof_open("no/such/file", &newer.known));
	say("NULL as file", !pmukit_pprof_open(NULL, NULL));
	say("NULL as bytes", !pmukit_pprof_open_memory(NULL, 5, NULL));
	say("no bytes", !pmukit_pprof_open_memory("", 0, NULL));
	say("NULL as handle", pmukit_pprof_stacks(NULL));
	say("NULL as handle", pmukit_pprof_types(NULL, &type));
	say("NULL as handle", pmukit_pprof_write(NULL, "x"));
	say("NULL as stack", pmukit_pprof_add(p, NULL));
	say("no values", pmukit_pprof_add(p, &none));
	bad.labels_size = 1;
	say("no labels", pmukit_pprof_add(p, &bad));
	bad.labels = (const struct pmukit_label[]){ { .value = "x" } };
	say("a label without a key", pmukit_pprof_add(p, &bad));
	bad.labels_size = 5000;
	say("too many labels", pmukit_pprof_add(p, &bad));
	bad.labels_size = 0;
	bad.frames_size = 1;
	say("no frames", pmukit_pprof_add(p, &bad));
	bad.frames_size = 0;
	check(pmukit_pprof_add(p, &bad), "add");
	say("a sum that does not fit", pmukit_pprof_add(p, &bad));
	say("a profile that does not fit", pmukit_pprof_merge(p, p));
	say("other types", pmukit_pprof_merge(p, q));
	say("a stack before the first", pmukit_pprof_stack(p, -1, &stack));
	say("NULL for the stack", pmukit_pprof_stack(p, 0, NULL));
	say("no directory", pmukit_pprof_write(p, "no/such/directory"));
	say("NULL as name", pmukit_pprof_write(p, NULL));
	say("a wrong descriptor", pmukit_pprof_write_fd(p, 1000));
	say("a full disk", pmukit_pprof_write(p, "/dev/full"));
	say("a callback that ends", pmukit_pprof_write_callback(p, refuse, NULL));
	say("no callback", pmukit_pprof_write_callback(p, NULL, NULL));
	check(pmukit_pprof_stacks(p) - 1, "the profile is as before");
	pmukit_pprof_close(p);
	pmukit_pprof_close(q);
	pmukit_pprof_close(NULL);
}

static void print_number(void *context, enum pmukit_severity severity, const char *text)
{
	(void)context;
	(void)severity;
	(void)text;
	printf("%.1f\n", 1.5);
}

static void call_in_locale(const char *file)
{
	const struct pmukit_options own = { .size = sizeof(own), .message = print_number };

	printf("%.1f\n", 1.5);
	pmukit_pprof_close(pmukit_pprof_open(file, &own));
	printf("%.1f\n", 1.5);
}

int main(int argc, char **argv)
{
	struct pmukit_pprof *p, *all;

	setlocale(LC_ALL, "");
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "print")) {
		p = opened(argv[2]);
		print(p);
		pmukit_pprof_close(p);
	} else if (!strcmp(what, "print-memory")) {
		print_memory(argv[2]);
	} else if (!strcmp(what, "copy")) {
		copy(argv[2], argv[3], argv[4]);
	} else if (!strcmp(what, "again") || !strcmp(what, "itself")) {
		p = opened(argv[2]);
		all = !strcmp(what, "again") ? same_types(p) : p;
		add_all(all, p);
		if (all != p)
			pmukit_pprof_close(p);
		end(all, argv[3]);
	} else if (!strcmp(what, "merge") || !strcmp(what, "added")) {
		p = opened(argv[3]);
		all = !strcmp(what, "merge") ? same_types(p) : p;
		for (int i = 3 + (all == p); i < argc; i++) {
			struct pmukit_pprof *next = opened(argv[i]);
			check(pmukit_pprof_merge(all, next), "merge");
			pmukit_pprof_close(next);
		}
		if (all != p)
			pmukit_pprof_close(p);
		end(all, argv[2]);
	} else if (!strcmp(what, "grow")) {
		grow(atol(argv[2]));
	} else if (!strcmp(what, "made")) {
		make(argv[2]);
	} else if (!strcmp(what, "wrong")) {
		call_wrongly();
	} else if (!strcmp(what, "locale")) {
		call_in_locale(argv[2]);
	} else {
		return 2;
	}
	return 0;
}
