/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live-source.h"
#include "base/arena.h"
#include "base/output.h"
#include "base/text.h"
#include "pprof/merge.h"
#include "show/keys.h"
#include "show/name-print.h"
#include "show/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEEP_BYTES = 64 << 20,	/* of all profiles, uncompressed */
	TEXT_BYTES = 4 << 20,	/* that are kept of pmu-annotate's output */
	OTHER_LINES = 2,	/* above and below the text: the head, and the keys */
};

static void drop_oldest(struct live_source *s)
{
	s->bytes -= s->kept[0]->size;
	decoded_free(s->kept[0]);
	s->profiles--;
	memmove(s->kept, s->kept + 1, s->profiles * sizeof(*s->kept));
	memmove(s->slice, s->slice + 1, s->profiles * sizeof(*s->slice));
}

void live_source_keep(struct live_source *s, struct decoded *d, uint32_t slice)
{
	s->kept = array_grow(s->kept, s->profiles, sizeof(*s->kept));
	s->slice = array_grow(s->slice, s->profiles, sizeof(*s->slice));
	s->kept[s->profiles] = d;
	s->slice[s->profiles++] = slice;
	s->bytes += d->size;
	while (s->bytes > KEEP_BYTES)
		drop_oldest(s);
}

void live_source_drop(struct live_source *s, uint32_t first)
{
	while (s->profiles > 0 && s->slice[0] < first)
		drop_oldest(s);
}

/* Write the sum of the profiles to a file in memory.  Return its descriptor, or -1 (reported). */
static int write_profile(const struct live_source *s, struct report *report)
{
	struct merge *m = merge_new();
	struct output out;

	for (size_t i = 0; i < s->profiles; i++)
		merge_add(m, s->kept[i], MERGE_SUM, "stream", report);
	output_open_memory(&out, report);
	merge_write(m, PACK_NONE, &out);
	return output_take_memory(&out);
}

static void end_tool(struct live_source *s, struct report *report)
{
	if (s->tool.pid)
		close(s->fd);
	sibling_end(&s->tool, true, report);
}

/* Start pmu-annotate on PROFILE, which is closed.  What it writes and reports comes to us. */
static void start_tool(struct live_source *s, int profile, const char *type, struct report *report)
{
	char *argv[] = {
		(char *)(uintptr_t)"pmu-annotate", (char *)(uintptr_t)"--rows=1",
		(char *)(uintptr_t)"--bars=none",
		(char *)(uintptr_t)(s->is_code ? "--show=asm" : "--show=source"),
		(char *)(uintptr_t)"--type", (char *)(uintptr_t)type, (char *)(uintptr_t)"--",
		s->name, NULL,
	};
	struct sibling_how how = { .in = profile, .deaf = true, .bound = true };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0) {
		close(profile);
		return;
	}
	how.out = how.err = ends[1];
	s->fd = ends[0];
	bool started = sibling_run(&s->tool, argv, &how, report) == 0;
	close(ends[1]);
	if (!started)
		close(ends[0]);
}

void live_source_show(struct live_source *s, const char *name, const char *type,
		      struct report *report)
{
	char *copy = mem_text(name);	/* NAME may be ours */

	end_tool(s, report);
	free(s->name);
	s->name = copy;
	s->is_shown = true;
	s->size = 0;
	int profile = s->profiles > 0 ? write_profile(s, report) : -1;
	if (profile >= 0)
		start_tool(s, profile, type, report);
}

int live_source_fd(const struct live_source *s)
{
	return s->tool.pid ? s->fd : -1;
}

bool live_source_read(struct live_source *s, struct report *report)
{
	char part[1 << 14];
	ssize_t n = read(s->fd, part, sizeof(part));

	if (n < 0 && errno == EINTR)
		return false;
	if (n > 0 && s->size + (size_t)n <= TEXT_BYTES) {
		s->text = mem_resize(s->text, s->size + (size_t)n + 1);
		memcpy(s->text + s->size, part, (size_t)n);
		s->size += (size_t)n;
		s->text[s->size] = '\0';
		return false;
	}
	end_tool(s, report);
	return true;
}

/* Return line NUMBER of the text, or its end. */
static const char *line_at(const struct live_source *s, size_t number)
{
	const char *at = s->text;

	while (number-- > 0 && *at)
		at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
	return at;
}

static size_t lines_of(const struct live_source *s)
{
	size_t lines = 0;

	for (size_t i = 0; i < s->size; i++)
		lines += s->text[i] == '\n';
	return lines;
}

static void print_head(const struct live_source *s, size_t columns, FILE *out)
{
	const char *what = s->is_code ? "instructions of " : "source lines of ";

	fprintf(out, "%c%s", SCREEN_BOLD, what);
	name_end_line(s->name, columns, strlen(what), out);
}

void live_source_print(struct live_source *s, size_t columns, size_t lines, FILE *out)
{
	size_t room = lines > OTHER_LINES ? lines - OTHER_LINES : 1, all = lines_of(s);
	size_t last = all > room ? all - room : 0, shown = 0;

	s->first = s->first < last ? s->first : last;
	print_head(s, columns, out);
	if (s->size == 0)
		fputs(s->tool.pid ? "reading the files ...\n" : "no samples are kept\n", out);
	const char *at = s->size ? line_at(s, s->first) : "";
	for (; *at && shown < room; shown++) {
		int length = (int)strcspn(at, "\n");
		char *line = strndup(at, (size_t)length);
		for (char *tab = line; line && (tab = strchr(tab, '\t')); )
			*tab = ' ';
		if (line)
			text_make_safe(line);
		fprintf(out, "%s\n", line ? line : "");
		free(line);
		at += length + (at[length] == '\n');
	}
	for (shown += s->size == 0; shown < room; shown++)
		fputc('\n', out);
	fprintf(out, "%cEsc functions  a %s  r newest samples\n", SCREEN_INVERSE,
		s->is_code ? "source" : "instructions");
}

static void scroll(struct live_source *s, size_t up, size_t down)
{
	s->first = s->first > up ? s->first - up : 0;
	s->first += down;
}

void live_source_press(struct live_source *s, int key, size_t page, const char *type,
		       struct report *report)
{
	enum { WHEEL_LINES = 3 };

	switch (key) {
	case KEY_UP: case 'k':
		scroll(s, 1, 0);
		break;
	case KEY_DOWN: case 'j':
		scroll(s, 0, 1);
		break;
	case KEY_WHEEL_UP:
		scroll(s, WHEEL_LINES, 0);
		break;
	case KEY_WHEEL_DOWN:
		scroll(s, 0, WHEEL_LINES);
		break;
	case KEY_PAGE_UP: case 'b':
		scroll(s, page, 0);
		break;
	case KEY_PAGE_DOWN: case ' ':
		scroll(s, 0, page);
		break;
	case KEY_HOME: case 'g':
		s->first = 0;
		break;
	case KEY_END: case 'G':
		s->first = lines_of(s);
		break;
	case 'a':
		s->is_code = !s->is_code;
		s->first = 0;
		live_source_show(s, s->name, type, report);
		break;
	case 'r': case KEY_ENTER:
		live_source_show(s, s->name, type, report);
		break;
	case KEY_ESCAPE: case KEY_LEFT: case KEY_QUIT: case 'q':
		end_tool(s, report);
		s->is_shown = false;
		break;
	}
}

void live_source_release(struct live_source *s)
{
	struct report unused = { .quiet = true };

	end_tool(s, &unused);
	while (s->profiles > 0)
		drop_oldest(s);
	free(s->kept);
	free(s->slice);
	free(s->name);
	free(s->text);
	*s = (struct live_source){ .profiles = 0 };
}
