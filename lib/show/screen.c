/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control sequences: ECMA-48, and xterm's private modes 25 (cursor), 1049 (second screen), 1000
 * (buttons of the mouse are reported) and 1006 (in decimal numbers).
 */
#include "show/screen.h"
#include "show/keys.h"
#include "base/arena.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/write.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* There is one terminal, and signal handlers and exit() must find it. */
static int keys = -1;
static bool is_on;
static struct termios before;
static volatile sig_atomic_t changed;
static uint8_t typed[64];	/* keys that were read, and not yet returned */
static size_t typed_size;

static void put(const char *text)
{
	write_whole(STDOUT_FILENO, text, strlen(text));
}

static void enter(void)
{
	struct termios raw = before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (keys >= 0)
		tcsetattr(keys, TCSADRAIN, &raw);
	put("\033[?1049h\033[?25l\033[?1000h\033[?1006h");
}

static void leave(void)
{
	put("\033[?1006l\033[?1000l\033[?25h\033[?1049l");
	if (keys >= 0)
		tcsetattr(keys, TCSADRAIN, &before);
}

static void on_resize(int number)
{
	(void)number;
	changed = 1;
}

/* Ctrl-Z: give the terminal back, stop, and take it again when the shell continues us. */
static void on_suspend(int number)
{
	(void)number;
	if (is_on)
		leave();
	raise(SIGSTOP);
	if (is_on)
		enter();
	changed = 1;
}

void screen_begin(void)
{
	struct sigaction resize = { .sa_handler = on_resize };	/* no SA_RESTART: wake poll() */
	struct sigaction suspend = { .sa_handler = on_suspend };

	keys = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (keys >= 0 && tcgetattr(keys, &before) < 0) {
		close(keys);
		keys = -1;
	}
	enter();
	is_on = true;
	atexit(screen_end);
	sigaction(SIGWINCH, &resize, NULL);
	sigaction(SIGTSTP, &suspend, NULL);
}

int screen_keys(void)
{
	return keys;
}

/* Read what is typed within MS milliseconds.  Return whether anything was. */
static bool read_keys(int ms)
{
	struct pollfd poll_on = { .fd = keys, .events = POLLIN };

	if (keys < 0 || typed_size == sizeof(typed) || poll(&poll_on, 1, ms) <= 0)
		return false;
	ssize_t n = read(keys, typed + typed_size, sizeof(typed) - typed_size);
	if (n <= 0)
		keys = -1;	/* the terminal was closed */
	else
		typed_size += (size_t)n;
	return n > 0;
}

int screen_key(size_t *line)
{
	enum { SEQUENCE_MS = 30 };	/* the bytes of a key may come one by one */
	size_t used;

	if (typed_size == 0 && !read_keys(0))
		return 0;
	int key = keys_decode(typed, typed_size, &used, line);
	while (key == KEY_ESCAPE && read_keys(SEQUENCE_MS))
		key = keys_decode(typed, typed_size, &used, line);
	typed_size -= used;
	memmove(typed, typed + used, typed_size);
	return key;
}

size_t screen_columns(void)
{
	size_t columns, lines;

	terminal_size(STDOUT_FILENO, &columns, &lines);
	return columns;
}

void screen_size(size_t *columns, size_t *lines)
{
	terminal_size(STDOUT_FILENO, columns, lines);
	*columns = *columns ? *columns : 80;
	*lines = *lines ? *lines : 24;
}

bool screen_changed(void)
{
	bool was = changed;

	changed = 0;
	return was;
}

/* Print the line at TEXT, up to END, in COLUMNS: a mark at its start says how. */
static void print_line(const char *text, const char *end, size_t columns, FILE *out)
{
	const char *how = *text == SCREEN_BOLD ? "\033[1m" :
			  *text == SCREEN_INVERSE ? "\033[7m" : "";

	text += *how != '\0';
	const char *fits = text_fitting(text, (size_t)(end - text), columns);
	char *part = mem_resize(NULL, (size_t)(fits - text) + 1);
	snprintf(part, (size_t)(fits - text) + 1, "%s", text);
	size_t width = text_width(part);
	fprintf(out, "%s%s", how, part);
	free(part);
	if (*how)
		fprintf(out, "%*s\033[m", (int)(columns - width), "");
	else if (width < columns)	/* in the last column it would erase a character */
		fputs("\033[K", out);
}

void screen_draw(const char *text)
{
	size_t columns, lines, size = 0;
	char *drawing = NULL;
	FILE *out = open_memstream(&drawing, &size);

	if (!out)
		return;
	screen_size(&columns, &lines);
	fputs("\033[H", out);
	for (size_t i = 0; i < lines && *text; i++) {
		const char *end = text + strcspn(text, "\n");
		fputs(i ? "\r\n" : "", out);
		print_line(text, end, columns, out);
		text = end + (*end == '\n');
	}
	fputs("\033[J", out);
	fclose(out);
	put(drawing);
	free(drawing);
}

void screen_end(void)
{
	if (is_on)
		leave();
	is_on = false;
}
