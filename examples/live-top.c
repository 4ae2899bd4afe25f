/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live top: the functions of a process that take the most, each second, until the process ends,
 * with their shares and numbers of events (ns if the event is the CPU's clock).
 *
 *	cc -O2 -o live-top live-top.c $(pkg-config --cflags --libs pmukit)
 *	./live-top 42
 */
#include <pmukit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct row { char name[80]; double value; };
static struct row rows[1000];	/* of this second; functions beyond 1,000 are not counted */
static size_t used;
static uint64_t next;		/* when this second ends, in ns of the stream's clock */

static int larger_first(const void *a, const void *b)
{
	double x = ((const struct row *)a)->value, y = ((const struct row *)b)->value;
	return (x < y) - (x > y);
}

static void print_top(void)
{
	double all = 0;
	for (size_t i = 0; i < used; i++)
		all += rows[i].value;
	qsort(rows, used, sizeof(rows[0]), larger_first);
	for (size_t i = 0; i < used && i < 10; i++)
		printf("%6.2f%% %11.0f  %s\n", 100 * rows[i].value / all, rows[i].value, rows[i].name);
	printf("\n");
	memset(rows, 0, sizeof(rows));
	used = 0;
}

static int on_sample(void *stream, const struct pmukit_sample *sample)
{
	const struct pmukit_frame *leaf;
	int frames = pmukit_stream_frames(stream, &leaf);
	const char *name = frames > 0 && leaf->function ? leaf->function : "[unknown]";
	size_t i = 0;
	if (sample->time >= next) {
		print_top();
		next = sample->time + 1000000000;
	}
	while (i < used && strncmp(rows[i].name, name, sizeof(rows[i].name) - 1) != 0)
		i++;
	if (i == used && used < sizeof(rows) / sizeof(rows[0]))
		snprintf(rows[used++].name, sizeof(rows[i].name), "%s", name);
	if (i < used)
		rows[i].value += (double)sample->period;
	return frames < 0;
}

int main(int argc, char **argv)
{
	int ends[2];
	if (argc != 2 || pipe(ends) < 0)
		return 2;
	struct pmukit_profile_config config = { .size = sizeof(config), .pid = atoi(argv[1]),
		.flags = PMUKIT_NO_KERNEL, .result = PMUKIT_RECORDS, .fd = ends[1] };
	struct pmukit_profile *p = pmukit_profile_start(&config);
	close(ends[1]);		/* only the sampler has this end: the stream ends with it */
	struct pmukit_stream *s = p ? pmukit_stream_open_fd(ends[0], NULL) : NULL;
	setlinebuf(stdout);
	if (s)
		printf("sampling process %s\n", argv[1]);
	int status = s ? pmukit_stream_each_sample(s, on_sample, s) : -1;
	if (status < 0)
		fprintf(stderr, "%s\n", pmukit_error());
	else
		print_top();
	pmukit_stream_close(s);
	pmukit_profile_cancel(p);
	return status < 0;
}
