/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kallsyms-internal.h"
#include "base/bisect.h"
#include "base/buffer.h"
#include "base/descriptor.h"
#include "base/regular.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX_SIZE = 256 * 1024 * 1024 };	/* bytes; a kernel of today has 10 to 20 MB */

/*
 * Return the contents of FD, NUL-terminated, for the caller to free. On failure return NULL and
 * set errno. Call MEANWHILE(CONTEXT) every now and then, unless it is NULL.
 */
static char *read_whole(int fd, void (*meanwhile)(void *context), void *context)
{
	enum { CHUNK = 1 << 20, PART = 1 << 16 };
	struct buffer text = { 0 };
	size_t called = 0;	/* TEXT.size at the last call of MEANWHILE */
	ssize_t n;

	buffer_grow(&text, 4 * CHUNK);
	do {
		uint8_t *end = buffer_end(&text, CHUNK);
		n = read(fd, end, text.room - text.size - 1);
		text.size += n > 0 ? (size_t)n : 0;
		if (meanwhile && text.size - called >= PART) {
			meanwhile(context);
			called = text.size;
		}
		if (text.size >= FILE_MAX_SIZE) {
			errno = EFBIG;
			n = -1;
			break;
		}
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0) {
		free(text.at);
		return NULL;
	}
	text.at[text.size] = '\0';
	return (char *)text.at;
}

/* Return the contents of FILE, as read_whole() does. */
static char *read_file(const char *file, void (*meanwhile)(void *context), void *context)
{
	int fd = regular_open(file, false);

	if (fd < 0)
		return NULL;
	char *text = read_whole(fd, meanwhile, context);
	descriptor_close(fd);
	return text;
}

static bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* Return whether S is a variable.  Symbols of variables for each CPU are offsets. */
static bool is_variable(const struct kernel_symbol *s)
{
	return s->type && strchr("dDbBrRgGsSvV", s->type) && s->address >> 63;
}

static int by_address(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* Several names of one address keep the order of the file. */
	return x->name < y->name ? -1 : x->name > y->name;
}

static void parse(struct kallsyms *k, bool variables)
{
	bool sorted = true, any_address = false;
	struct kernel_symbol s;

	for (char *at = k->text; *at; ) {
		at = kernel_parse_symbol(at, &s);
		if (!(variables ? is_variable(&s) : is_code(s.type)))
			continue;
		any_address |= s.address != 0;
		if (k->symbols > 0 && k->symbol[k->symbols - 1].address > s.address)
			sorted = false;
		k->symbol = array_grow(k->symbol, k->symbols, sizeof(s));
		k->symbol[k->symbols++] = s;
	}
	if (!any_address)
		k->symbols = 0;
	if (!sorted)
		qsort(k->symbol, k->symbols, sizeof(*k->symbol), by_address);
}

static struct kallsyms *open_list(const char *file, void (*meanwhile)(void *context),
				  void *context, bool variables)
{
	struct kallsyms *k = mem_zeroed(1, sizeof(*k));

	k->text = read_file(file, meanwhile, context);
	if (!k->text) {
		snprintf(k->trouble, sizeof(k->trouble), "cannot read %s: %s", file,
			 strerror(errno));
		return k;
	}
	parse(k, variables);
	if (!k->symbols)
		snprintf(k->trouble, sizeof(k->trouble), "%s shows no addresses: "
			 "run as root, or set sysctl kernel.kptr_restrict=0", file);
	return k;
}

struct kallsyms *kallsyms_open(const char *file)
{
	return kallsyms_open_slowly(file, NULL, NULL);
}

struct kallsyms *kallsyms_open_slowly(const char *file, void (*meanwhile)(void *context),
				      void *context)
{
	return open_list(file, meanwhile, context, false);
}

struct kallsyms *kallsyms_open_variables(const char *file)
{
	return open_list(file, NULL, NULL, true);
}

const char *kallsyms_trouble(const struct kallsyms *k)
{
	return *k->trouble ? k->trouble : NULL;
}

/* Return the index of the first symbol after ADDRESS. */
static size_t after(const struct kallsyms *k, uint64_t address)
{
	return BISECT(0, k->symbols, i, k->symbol[i].address > address);
}

const char *kallsyms_find(const struct kallsyms *k, uint64_t address, const char **module)
{
	size_t next = after(k, address);

	if (next == 0)
		return NULL;
	*module = k->symbol[next - 1].module;	/* of several symbols there, the last: like perf */
	return k->symbol[next - 1].name;
}

/* Return whether S is the last symbol of the kernel or its module; NEXT, or none, follows. */
static bool is_last(const struct kernel_symbol *s, const struct kernel_symbol *next)
{
	if (!next || !s->module || !next->module)
		return !next || s->module != next->module;
	return strcmp(s->module, next->module);
}

bool kallsyms_is_beyond(const struct kallsyms *k, uint64_t address)
{
	enum { PAGE = 4096 };
	size_t next = after(k, address);

	if (next == 0)
		return true;
	const struct kernel_symbol *s = &k->symbol[next - 1];
	return address / PAGE > s->address / PAGE + 1 &&
	       is_last(s, next < k->symbols ? s + 1 : NULL);
}

bool kallsyms_is_certain(const struct kallsyms *k, uint64_t address)
{
	if (!k->is_copy || (address >= k->image.start && address < k->image.end))
		return true;
	size_t next = after(k, address);
	return next > 0 && next < k->symbols &&
	       !is_last(&k->symbol[next - 1], &k->symbol[next]);
}

const char *kallsyms_variable(const struct kallsyms *k, uint64_t address, uint64_t *start,
			      uint64_t *size)
{
	size_t next = after(k, address), first = next ? next - 1 : 0;

	if (next == 0 || kallsyms_is_beyond(k, address))
		return NULL;
	*start = k->symbol[first].address;
	*size = next < k->symbols && !is_last(&k->symbol[first], &k->symbol[next])
		? k->symbol[next].address - *start : 0;
	return k->symbol[first].name;
}

uint64_t kallsyms_address_in(const struct kallsyms *k, uint64_t start, uint64_t end,
			     const char *name)
{
	uint64_t found = 0;

	for (size_t i = start ? after(k, start - 1) : 0;
	     i < k->symbols && k->symbol[i].address < end; i++) {
		if (strcmp(k->symbol[i].name, name))
			continue;
		if (found)
			return 0;
		found = k->symbol[i].address;
	}
	return found;
}

uint64_t kallsyms_address(const struct kallsyms *k, const char *name)
{
	for (size_t i = 0; i < k->symbols; i++)
		if (!strcmp(k->symbol[i].name, name))
			return k->symbol[i].address;
	return 0;
}

uint64_t kallsyms_function(const struct kallsyms *k, const char *name, uint64_t size)
{
	uint64_t found = 0;

	for (size_t i = 0; i < k->symbols; i++) {
		if (strcmp(k->symbol[i].name, name))
			continue;
		uint64_t address = k->symbol[i].address;
		size_t next = after(k, address);
		if (next < k->symbols && k->symbol[next].address - address == size)
			return address;
		found = found ? found : address;
	}
	return found;
}

void kallsyms_close(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->text);
	free(k->symbol);
	free(k);
}
