/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jitmap-internal.h"
#include "base/arena.h"
#include "base/bisect.h"
#include "base/hex.h"
#include "base/report.h"

#include <stdlib.h>

struct jitmap *jitmap_new(struct jit_budget *budget)
{
	struct jitmap *j = mem_zeroed(1, sizeof(*j));

	j->map.fd = j->dump.fd = -1;
	j->budget = budget ? budget : &j->own_budget;
	return j;
}

struct jitmap *jitmap_share(struct jitmap *j)
{
	j->further_users++;
	return j;
}

bool jitmap_is_shared(const struct jitmap *j)
{
	return j->further_users > 0;
}

bool jitmap_only_map(const struct jitmap *j, uint64_t id[2])
{
	id[0] = j->map.device;
	id[1] = j->map.inode;
	return j->map.fd >= 0 && j->dump.fd < 0;
}

/* Return what one jitmap may use: 3/4 of what the others left, so that more can always follow. */
static uint64_t share_of(uint64_t all, uint64_t taken, uint64_t own)
{
	uint64_t left = all - (taken - own);

	return left - left / 4;
}

static bool is_full(const struct jitmap *j)
{
	const struct jit_budget *b = j->budget;

	return j->functions >= share_of(JIT_FUNCTIONS_MAX, b->functions, j->functions) ||
	       j->strings.arena.size >= share_of(JIT_STRINGS_MAX, b->strings, j->counted);
}

static void count_strings(struct jitmap *j)
{
	j->budget->strings += j->strings.arena.size - j->counted;
	j->counted = j->strings.arena.size;
}

static void release_levels(struct jitmap *j)
{
	for (; j->levels; j->levels--)
		jit_history_release(&j->level[j->levels - 1].history);
	j->known = 0;
}

void jitmap_forget(struct jitmap *j)
{
	j->budget->functions -= j->functions;
	j->budget->lines -= j->lines;
	free(j->function);
	free(j->line);
	j->function = NULL;
	j->line = NULL;
	j->functions = j->lines = j->pendings = 0;
	j->first_time = 0;
	release_levels(j);
	table_release(&j->by_index);
	j->by_index = (struct table){ 0 };
	intern_release(&j->strings);
	j->strings = (struct intern){ 0 };
	count_strings(j);
}

void jitmap_end_if_full(struct jitmap *j, struct jit_file *f, size_t ahead)
{
	count_strings(j);
	if (is_full(j))
		jit_file_ends(f, ahead, "more functions than are kept of all such files; "
			      "not read further");
}

struct jit_function *jitmap_add(struct jitmap *j, uint64_t start, uint64_t size, uint64_t time,
				const char *name, size_t length)
{
	if (size == 0 || size > UINT64_MAX - start || is_full(j))
		return NULL;
	if (length > JIT_NAME_MAX)
		length = JIT_NAME_MAX;
	j->function = array_grow(j->function, j->functions, sizeof(*j->function));
	struct jit_function *f = &j->function[j->functions++];
	*f = (struct jit_function){ .start = start, .size = size, .time = time,
				    .name = intern_bytes(&j->strings, name, length) };
	if (time && (!j->first_time || time < j->first_time))
		j->first_time = time;
	j->budget->functions++;
	return f;
}

void jitmap_add_function(struct jitmap *j, uint64_t start, uint64_t size, const char *name)
{
	jitmap_add(j, start, size, 0, name, strlen(name));
}

/* Parse 1 to 16 hexadecimal digits, with or without "0x" before them. */
static bool parse_hex(const char **at, const char *end, uint64_t *out)
{
	const char *start;

	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] | 0x20) == 'x')
		*at += 2;
	start = *at;
	*at = hex_number(start, end, out);
	return *at > start && *at - start <= 16;
}

/* Add the function of a line. Returns false if the line is malformed; an empty name is skipped. */
static bool add_line(struct jitmap *j, const char *at, const char *end)
{
	uint64_t start, size;

	if (!parse_hex(&at, end, &start) || at == end || *at++ != ' ' ||
	    !parse_hex(&at, end, &size) || at == end || *at++ != ' ' ||
	    memchr(at, 0, (size_t)(end - at)))
		return false;
	if (at < end)
		jitmap_add(j, start, size, 0, at, (size_t)(end - at));
	return true;
}

size_t jitmap_add_map(struct jitmap *j, const void *bytes, size_t size)
{
	const char *const start = bytes, *at = bytes, *end = at + size, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		if (!add_line(j, at, newline))
			jit_file_damaged(&j->map, (size_t)(at - start),
					 "a line that is not 'START SIZE NAME'; skipped");
		at = newline + 1;
	}
	if (end - at >= JIT_PIECE)
		jit_file_ends(&j->map, (size_t)(at - start),
			      "a line of more than 1 MiB; not read further");
	jitmap_end_if_full(j, &j->map, (size_t)(at - start));
	return (size_t)(at - start);
}

void jitmap_trust(struct jitmap *j, uid_t owner)
{
	j->trusted = owner;
}

void jitmap_refuse_older(struct jitmap *j, int64_t time)
{
	j->oldest = time;
}

bool jitmap_open_map(struct jitmap *j, const char *file)
{
	return jit_file_open(j, &j->map, file);
}

bool jitmap_open_dump(struct jitmap *j, const char *file)
{
	if (!jit_file_open(j, &j->dump, file))
		return false;
	j->header_read = false;
	return true;
}

bool jitmap_has_map(const struct jitmap *j)
{
	return j->map.fd >= 0;
}

bool jitmap_is_empty(const struct jitmap *j)
{
	return j->map.fd < 0 && j->dump.fd < 0 && j->functions == 0;
}

bool jitmap_refresh(struct jitmap *j)
{
	bool map = jit_file_read(j, &j->map, jitmap_add_map);

	return jit_file_read(j, &j->dump, jitmap_add_dump) || map;
}

/* Find the last source line at or before ADDRESS; of several at one address, the last recorded. */
static void find_line(const struct jitmap *j, const struct jit_function *f, uint64_t address,
		      struct jit_symbol *out)
{
	uint32_t first = f->first_line;
	size_t next = BISECT(first, first + f->lines, i, j->line[i].address > address - f->moved);

	if (next > first) {
		out->file = j->strings.text[j->line[next - 1].file];
		out->line = j->line[next - 1].line;
	}
}

/*
 * Add the new functions to the history. A level is rebuilt only together with at least half as
 * many functions as it has, so even files that grow by one line at a time cost O(n log n).
 */
static void update_levels(struct jitmap *j)
{
	uint32_t first = j->known;

	if (j->known == j->functions)
		return;
	while (j->levels && (j->levels == JIT_LEVELS ||
			     j->level[j->levels - 1].count / 2 <= j->functions - first)) {
		struct jit_level *last = &j->level[--j->levels];
		first = last->first;
		jit_history_release(&last->history);
	}
	struct jit_level *l = &j->level[j->levels++];
	*l = (struct jit_level){ .first = first, .count = j->functions - first };
	jit_history_make(&l->history, j->function + first, l->count);
	j->known = j->functions;
}

/* Return whether function A, and not B, was there at TIME. B was recorded before A. */
static bool is_rather(const struct jitmap *j, uint32_t a, uint32_t b, uint64_t time)
{
	uint64_t a_time = j->function[a].time, b_time = j->function[b].time;

	if (a_time <= time && b_time <= time)
		return a_time >= b_time;	/* the later one */
	return a_time < b_time;			/* the function that was there by then, otherwise
						   the earlier one */
}

/* Return the function at ADDRESS at TIME among all levels, or JIT_NOBODY. */
static uint32_t find_function(const struct jitmap *j, uint64_t address, uint64_t time,
			      bool *varies)
{
	uint32_t found = JIT_NOBODY;
	bool any_varies = false, any_time = false;
	int levels = 0;

	for (uint32_t i = 0; i < j->levels; i++) {
		const struct jit_level *l = &j->level[i];
		uint32_t id = jit_history_find(&l->history, j->function + l->first, address, time,
					       varies);
		if (id == JIT_NOBODY)
			continue;
		id += l->first;
		levels++;
		any_varies |= *varies;
		any_time |= j->function[id].time != 0;
		if (found == JIT_NOBODY || is_rather(j, id, found, time))
			found = id;
	}
	*varies = any_varies || (levels > 1 && any_time);
	return found;
}

/*
 * A time before the dump's first function is ignored: compilers record the code that they start
 * with, so the sample and the dump most likely use different clocks.
 */
bool jitmap_find(struct jitmap *j, uint64_t address, uint64_t time, struct jit_symbol *out)
{
	bool varies;

	update_levels(j);
	if (time < j->first_time)
		time = JIT_LATEST;
	uint32_t id = find_function(j, address, time, &varies);
	if (id == JIT_NOBODY)
		return false;
	*out = (struct jit_symbol){ .name = j->strings.text[j->function[id].name],
				    .varies = varies };
	find_line(j, &j->function[id], address, out);
	return true;
}

static bool file_trouble(struct jit_file *f, struct jit_trouble *out)
{
	if (f->refused && report_first(&f->refusal_reported)) {
		*out = (struct jit_trouble){ .file = f->refused, .owner = f->refused_owner };
		return true;
	}
	if (!f->trouble || !report_first(&f->trouble_reported))
		return false;
	*out = (struct jit_trouble){ .file = f->name ? f->name : "", .why = f->trouble,
				     .offset = f->trouble_at };
	return true;
}

bool jitmap_trouble(struct jitmap *j, struct jit_trouble *out)
{
	return file_trouble(&j->map, out) || file_trouble(&j->dump, out);
}

void jitmap_free(struct jitmap *j)
{
	if (!j)
		return;
	if (j->further_users) {
		j->further_users--;
		return;
	}
	jit_file_close(j, &j->map);
	jit_file_close(j, &j->dump);
	jitmap_forget(j);
	free(j);
}
