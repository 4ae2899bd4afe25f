/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the screen of live, and does what its keys ask for. */
#include "base/arena.h"
#include "live/live-internal.h"
#include "show/keys.h"
#include "show/screen.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMNS_FOR_OBJECTS = 80,	/* in narrower terminals names need the space */
	LINES_ABOVE = 3,		/* the first row: status, total, head */
	LINES_BELOW = 1,		/* the last row: keys */
	WHEEL_ROWS = 3,
};

static const char help[] =
	"\1pmu-top: keys\n"
	"\n"
	"  Down, j / Up, k        next / previous function; the mouse wheel: three\n"
	"  Page Down / Page Up    a screen on / back\n"
	"  Home, g / End, G       first / last function\n"
	"  Enter                  source lines or instructions of the function\n"
	"  /                      show only what matches; Escape: show all\n"
	"  c                      sort by cumulative / flat cost\n"
	"  a                      all since the start / the last seconds\n"
	"  t                      next sample type\n"
	"  o                      objects\n"
	"  p                      pause / continue\n"
	"  q, F10, Ctrl-C         quit, and print a table of all\n"
	"\n"
	"  flat: the function alone.  cum: with all that it calls.\n"
	"  A click selects a function; with Shift, the mouse selects text to copy.\n";

void live_show_type(struct live *l, uint32_t type)
{
	l->shown = type;
	l->by_cumulative |= type < l->types && l->type[type].all.how.waits;
}

void live_sum(struct live *l)
{
	if (l->types == 0)
		return;
	const struct live_type *t = &l->type[l->shown];
	top_release(&l->sum);
	l->sum = (struct top){ .how = t->all.how };
	if (l->since_start)
		top_merge(&l->sum, &t->all);
	for (uint32_t i = 0; !l->since_start && i < l->slices; i++)
		top_merge(&l->sum, &t->slice[i]);
}

/* --- the table --- */

static void print_status(const struct live *l, FILE *out)
{
	const struct collect *c = &l->collect;
	char lost[LOSS_TEXT];

	fprintf(out, "pmu-top: %" PRIu64 " samples", c->samples);
	loss_text(&c->lost, lost);
	if (strcmp(lost, "0 lost") != 0)
		fprintf(out, ", %s", lost);
	if (c->throttled)
		fprintf(out, ", throttled %" PRIu64 " times", c->throttled);
	if (l->paused)
		fputs("; paused, p: go on", out);
	if (l->message)
		fprintf(out, "; %s", l->message);
	else if (l->has_filter && !l->editing)
		fprintf(out, "; filter: %s%s", l->typed,
			l->filter.is_pattern ? "" : " (searched as text)");
	fputc('\n', out);
}

static void print_keys(const struct live *l, FILE *out)
{
	if (l->editing)
		fprintf(out, "/%s_   (Enter: keep, Esc: show all)", l->typed);
	else
		fprintf(out, "%cq quit  h help  Enter source  %s  c %s  a %s  t type  o objects  "
			"p pause", SCREEN_INVERSE, l->has_filter ? "Esc all rows" : "/ filter",
			l->by_cumulative ? "flat" : "cum", l->since_start ? "last" : "all");
}

/* Follow the selected function to its row, and scroll so that the screen has it. */
static void find_selected(struct live *l)
{
	for (size_t i = 0; l->chosen && i < l->rows; i++)
		if (!strcmp(l->sum.names.text[l->row[i]], l->chosen)) {
			l->selected = i;
			break;
		}
	if (l->selected >= l->rows)
		l->selected = l->rows ? l->rows - 1 : 0;
	if (l->selected < l->first || l->sum.how.calls)	/* rows with calls take many lines */
		l->first = l->selected;
	if (l->selected >= l->first + l->page)
		l->first = l->selected + 1 - l->page;
	if (!l->sum.how.calls && l->first + l->page > l->rows)
		l->first = l->rows > l->page ? l->rows - l->page : 0;
}

/* Sort the table, and find the selected row.  Return how it is shown in COLUMNS. */
static struct top_view arrange(struct live *l, size_t columns)
{
	const struct live_type *t = &l->type[l->shown];
	struct top_view view = {
		.type = t->name, .unit = t->unit, .min = l->options->min,
		.min_call = l->options->min_call, .columns = columns,
		.objects = l->objects && columns >= COLUMNS_FOR_OBJECTS, .rows = l->page,
		.by_cumulative = l->by_cumulative, .filter = l->has_filter ? &l->filter : NULL,
		.on_screen = true,
	};

	top_sort(&l->sum, l->by_cumulative);
	l->rows = top_rows(&l->sum, &view, &l->row);
	find_selected(l);
	view.skip = l->first;
	view.selected = l->rows ? l->row[l->selected] : 0;
	return view;
}

static void print_table(struct live *l, FILE *out, size_t columns)
{
	struct top_view view = arrange(l, columns);
	char note[64];

	snprintf(note, sizeof(note), l->since_start ? " since the start" : " in the last %g s",
		 (double)l->options->window / 1e9);
	view.note = note;
	top_print(&l->sum, &view, &top_writers[TOP_TEXT], out);
	for (size_t i = l->rows - l->first; !l->sum.how.calls && i < l->page; i++)
		fputc('\n', out);
}

/* Print as much of TEXT as a screen of LINES has room for above its last line, which is next. */
static void print_above_keys(const char *text, size_t lines, FILE *out)
{
	const char *at = text;
	size_t shown = 0;

	for (; *at && shown + LINES_BELOW < lines; shown++)
		at += strcspn(at, "\n") + 1;
	fwrite(text, 1, (size_t)(at - text), out);
	for (; shown + LINES_BELOW < lines; shown++)
		fputc('\n', out);
}

static void print_screen(struct live *l, FILE *out, size_t columns, size_t lines)
{
	char *text = NULL;
	size_t size;
	FILE *table = open_memstream(&text, &size);

	if (!table)
		return;
	print_status(l, table);
	if (l->types > 0)
		print_table(l, table, columns);
	else
		fputs("no samples yet\n", table);
	fclose(table);
	print_above_keys(text, lines, out);
	print_keys(l, out);
	free(text);
}

static void print_help(FILE *out, size_t lines)
{
	print_above_keys(help, lines, out);
	fprintf(out, "%cany key: back", SCREEN_INVERSE);
}

void live_draw(struct live *l)
{
	size_t columns, lines, size;
	char *text = NULL;
	FILE *out = l->drawing ? open_memstream(&text, &size) : NULL;

	if (!out)
		return;
	screen_size(&columns, &lines);
	l->page = lines > LINES_ABOVE + LINES_BELOW ? lines - LINES_ABOVE - LINES_BELOW : 1;
	if (l->helps)
		print_help(out, lines);
	else if (l->source.is_shown)
		live_source_print(&l->source, columns, lines, out);
	else
		print_screen(l, out, columns, lines);
	fclose(out);
	screen_draw(text);
	free(text);
}

/* --- the filter --- */

static void drop_filter(struct live *l)
{
	if (l->has_filter)
		name_filter_release(&l->filter);
	l->has_filter = false;
}

static void set_filter(struct live *l)
{
	drop_filter(l);
	l->has_filter = l->length > 0;
	if (l->has_filter)
		name_filter_init(&l->filter, l->typed, NAME_IGNORES_CASE);
}

/* Remove the last character of the filter, and what of UTF-8 belongs to it: 10xxxxxx, RFC 3629. */
static void remove_character(struct live *l)
{
	while (l->length > 0 && (l->typed[--l->length] & 0xc0) == 0x80)
		;
}

/* A key while the filter is typed, or Escape. */
static void edit(struct live *l, int key)
{
	enum { BACKSPACE = 8, DELETE = 127 };

	if (key == KEY_ESCAPE)
		l->length = 0;
	else if (key == BACKSPACE || key == DELETE)
		remove_character(l);
	else if (key <= 0xff && (isprint(key) || key >= 0x80) && l->length < FILTER_MAX)
		l->typed[l->length++] = (char)key;
	l->typed[l->length] = '\0';
	l->editing = key != KEY_ESCAPE && key != KEY_ENTER;
	set_filter(l);
}

/* --- the other keys --- */

/* Select row NUMBER, or the nearest that there is. */
static void select_row(struct live *l, size_t number)
{
	free(l->chosen);
	l->chosen = NULL;
	l->selected = number < l->rows ? number : l->rows ? l->rows - 1 : 0;
	if (l->selected > 0)
		l->chosen = mem_text(l->sum.names.text[l->row[l->selected]]);
}

static void move_up(struct live *l, size_t rows)
{
	select_row(l, l->selected > rows ? l->selected - rows : 0);
}

static void click(struct live *l, size_t line)
{
	if (line >= LINES_ABOVE && line - LINES_ABOVE < l->page && !l->sum.how.calls)
		select_row(l, l->first + line - LINES_ABOVE);
}

/* Show the source of the selected function, if it is one. */
static void show_source(struct live *l)
{
	const struct top_how *how = &l->options->how;

	if (l->rows == 0)
		return;
	uint32_t row = l->row[l->selected];
	const char *name = l->sum.names.text[row];
	if (how->label || how->by != FRAMES_BY_FUNCTION || l->sum.row[row].addresses > 0 ||
	    *name == '[') {
		l->message = "this row is not a function: there is no source";
		return;
	}
	l->source.first = 0;
	live_source_show(&l->source, name, l->type[l->shown].name, l->report);
}

/* A key that moves to a different row.  Return false if KEY does not. */
static bool move(struct live *l, int key, size_t line)
{
	switch (key) {
	case KEY_UP: case 'k':
		move_up(l, 1);
		break;
	case KEY_DOWN: case 'j':
		select_row(l, l->selected + 1);
		break;
	case KEY_WHEEL_UP:
		move_up(l, WHEEL_ROWS);
		break;
	case KEY_WHEEL_DOWN:
		select_row(l, l->selected + WHEEL_ROWS);
		break;
	case KEY_PAGE_UP:
		move_up(l, l->page);
		break;
	case KEY_PAGE_DOWN:
		select_row(l, l->selected + l->page);
		break;
	case KEY_HOME: case 'g':
		select_row(l, 0);
		break;
	case KEY_END: case 'G':
		select_row(l, l->rows);
		break;
	case KEY_CLICK:
		click(l, line);
		break;
	default:
		return false;
	}
	return true;
}

/* A key that changes what the table shows. */
static void change(struct live *l, int key)
{
	switch (key) {
	case 'a':
		l->since_start = !l->since_start;
		live_sum(l);
		break;
	case 'c':
		l->by_cumulative = !l->by_cumulative;
		break;
	case 't':
		live_show_type(l, l->types ? (l->shown + 1) % l->types : 0);
		live_sum(l);
		break;
	case 'p':
		l->paused = !l->paused;
		break;
	case 'o':
		l->objects = !l->objects;
		break;
	case '/':
		l->editing = true;
		break;
	case KEY_ESCAPE:
		edit(l, key);
		break;
	}
}

void live_press(struct live *l, int key, size_t line)
{
	l->message = NULL;
	if (l->helps) {
		l->helps = false;
	} else if (l->editing) {
		edit(l, key);
	} else if (l->source.is_shown && key != '?' && key != 'h' && key != KEY_HELP) {
		live_source_press(&l->source, key, l->page, l->type[l->shown].name, l->report);
	} else if (!move(l, key, line)) {
		l->quit |= key == 'q' || key == KEY_QUIT;
		l->helps = key == '?' || key == 'h' || key == KEY_HELP;
		if (key == KEY_ENTER)
			show_source(l);
		change(l, key);
	}
	if (l->types > 0)	/* the next key may be here already, and not wait for a drawing */
		arrange(l, 0);
}

void live_screen_release(struct live *l)
{
	drop_filter(l);
	top_release(&l->sum);
	live_source_release(&l->source);
	free(l->row);
	free(l->chosen);
}
