/* SPDX-License-Identifier: Apache-2.0 */
/* Control sequences: ECMA-48, and xterm's private modes 25 (cursor) and 1049 (second screen). */
#include "show/screen.h"
#include "base/text.h"
#include "base/write.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* There is one terminal, and signal handlers and exit() must find it. */
static int keys = -1;
static bool is_on;
static struct termios before;
static volatile sig_atomic_t changed;

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
	put("\033[?1049h\033[?25l");
}

static void leave(void)
{
	put("\033[?25h\033[?1049l");
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

int screen_key(void)
{
	struct pollfd typed = { .fd = keys, .events = POLLIN };
	unsigned char key = 0;

	if (keys < 0 || poll(&typed, 1, 0) <= 0)
		return 0;
	if (read(keys, &key, 1) == 1)
		return key;
	keys = -1;	/* the terminal was closed */
	return 0;
}

size_t screen_columns(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void screen_size(size_t *columns, size_t *lines)
{
	struct winsize size = { 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*columns = size.ws_col ? size.ws_col : 80;
	*lines = size.ws_row ? size.ws_row : 24;
}

bool screen_changed(void)
{
	bool was = changed;

	changed = 0;
	return was;
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
		const char *end = text_fitting(text, strcspn(text, "\n"), columns);
		fprintf(out, "%s%.*s\033[K", i ? "\r\n" : "", (int)(end - text), text);
		text = end + strcspn(end, "\n");
		text += *text == '\n';
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
