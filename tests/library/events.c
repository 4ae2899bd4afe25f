/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists and encodes events with libpmukit.
 *
 *	events list [MATCH]	the name, unit and description of each event, with tabs between
 *	events encode <NAMES	what the names encode to, a line for each, or the error
 *	events sizes		the result in structures of several sizes
 *	events threads		the same names by eight threads at a time, and in a child of fork()
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <locale.h>
#include <pmukit.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int list(const char *match)
{
	struct pmukit_event_list *l = pmukit_event_list_open(match);
	const struct pmukit_event_name *e;
	int found;

	while ((found = pmukit_event_list_next(l, &e)) > 0)
		printf("%s\t%s\t%s\n", e->name, e->pmu, e->description);
	if (found < 0 || e || pmukit_event_list_next(l, &e) != 0)
		printf("the list ends with %d: %s\n", found, pmukit_error());
	pmukit_event_list_close(l);
	return found;
}

static void encode(const char *name, FILE *to)
{
	struct perf_event_attr a;
	int status = pmukit_event_encode(name, &a, sizeof(a));

	if (status < 0) {
		fprintf(to, "%s: %d %d: %s\n", name, status, pmukit_error_code(), pmukit_error());
		return;
	}
	fprintf(to, "%s %" PRIu32 " %#" PRIx64 " %#" PRIx64 " %#" PRIx64, name, a.type,
		(uint64_t)a.config, (uint64_t)a.config1, (uint64_t)a.config2);
	fprintf(to, " %d%d%d%d%d%d %d %d%d", a.exclude_user, a.exclude_kernel, a.exclude_hv,
		a.exclude_idle, a.exclude_host, a.exclude_guest, a.precise_ip, a.pinned,
		a.exclusive);
	fprintf(to, "%s\n", a.sample_period || a.sample_type || a.freq || a.read_format ||
		a.size != sizeof(a) ? " and sampling" : "");
}

static void encode_input(void)
{
	char name[1024];

	while (fgets(name, sizeof(name), stdin)) {
		name[strcspn(name, "\n")] = '\0';
		encode(name, stdout);
	}
}

static void try_sizes(void)
{
	uint64_t room[32];
	const size_t sizes[] = { 0, 63, 64, 72, sizeof(struct perf_event_attr), sizeof(room) };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(room, 0xff, sizeof(room));
		int status = pmukit_event_encode("page-faults:u", room, sizes[i]);
		struct perf_event_attr *a = (struct perf_event_attr *)room;
		size_t at = 0, written = status < 0 ? 0 : sizes[i] / 8;
		while (at < 32 && (at < written ? room[at] != UINT64_MAX
						 : room[at] == UINT64_MAX))
			at++;
		if (status == 0)
			printf("%zu: %d %" PRIu32 "%s\n", i, status, a->type,
			       at < 32 || a->size > sizes[i] ? " wrong" : "");
		else
			printf("%zu: %d: %s%s\n", i, status, pmukit_error(),
			       at < 32 ? " wrong" : "");
	}
	printf("%d: %s\n", pmukit_event_encode(NULL, room, 64), pmukit_error());
	printf("%d: %s\n", pmukit_event_encode("cycles", NULL, 64), pmukit_error());
}

static const char *const names[] = {
	"cycles:u", "page-faults", "no-such-event", "L1-dcache-load-misses", "r1c0",
	"icx::INST_RETIRED:ANY", "perf::PERF_COUNT_HW_CPU_CYCLES", "sched:sched_switch",
};

static void *encode_all(void *result)
{
	size_t size;
	FILE *to = open_memstream((char **)result, &size);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		encode(names[i], to);
	fclose(to);
	return NULL;
}

static void from_threads(void)
{
	enum { THREADS = 8 };
	pthread_t thread[THREADS];
	char *text[THREADS + 1];
	int status;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, encode_all, &text[i]);
	pid_t child = fork();
	if (child == 0) {
		encode_all(&text[THREADS]);
		_exit(strlen(text[THREADS]) < 100);
	}
	waitpid(child, &status, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%schild: %d\n", text[0], status);
	for (int i = 1; i < THREADS; i++)
		if (strcmp(text[0], text[i]))
			printf("thread %d: %s\n", i, text[i]);
	for (int i = 0; i < THREADS; i++)
		free(text[i]);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setlocale(LC_ALL, "");
	if (!strcmp(what, "list"))
		return list(argv[2]) < 0;
	if (!strcmp(what, "encode"))
		encode_input();
	else if (!strcmp(what, "sizes"))
		try_sizes();
	else if (!strcmp(what, "threads"))
		from_threads();
	else
		return 2;
	return 0;
}
