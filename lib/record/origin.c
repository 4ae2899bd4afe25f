/* SPDX-License-Identifier: Apache-2.0 */
#include "record/origin.h"
#include "base/slice.h"

/* perf's string: u32 size, bytes[size] padded with NULs. */
static const char *take_string(struct cursor *c, uint32_t *size)
{
	*size = cursor_u32(c);
	const char *text = cursor_bytes(c, *size);
	if (text)
		return text;
	*size = 0;
	return "";
}

/* Return a copy of TEXT; "" if the stream had more texts than are kept. */
static const char *keep(struct stream_origin *origin, const char *text, size_t size)
{
	enum { MEMORY_MAX = 4 << 20 };	/* bytes: features of dozens of joined streams */

	if (origin->texts.arena.size > MEMORY_MAX)
		return "";
	uint32_t id = intern_bytes(&origin->texts, text, size);	/* this moves the array */
	return origin->texts.text[id];
}

static const char *keep_string(struct stream_origin *origin, struct cursor *c)
{
	uint32_t size;
	const char *text = take_string(c, &size);

	return keep(origin, text, strnlen(text, size));
}

/* Return the command line at C: u32 count, then that many strings, the arguments. */
static const char *keep_command(struct stream_origin *origin, struct cursor *c)
{
	uint32_t count = cursor_u32(c), size;
	struct arena scratch = { 0 };
	char *line = arena_alloc(&scratch, cursor_left(c) + 1), *to = line;

	for (uint32_t i = 0; i < count && !c->failed; i++) {
		const char *text = take_string(c, &size);
		if (i)
			*to++ = ' ';	/* instead of the input's size field */
		to = mempcpy(to, text, strnlen(text, size));
	}
	const char *kept = keep(origin, line, (size_t)(to - line));
	arena_release(&scratch);
	return kept;
}

/* CPU_PMU_CAPS: u32 count, then that many pairs of strings, a name and a value. */
static void take_caps(struct stream_origin *origin, struct cursor *c)
{
	uint32_t count = cursor_u32(c), size;

	for (uint32_t i = 0; i < count && !c->failed; i++) {
		const char *name = take_string(c, &size);
		bool is_slots = !strncmp(name, "slots", size) && size >= sizeof("slots") - 1;
		const char *value = take_string(c, &size);
		uint64_t slots;
		if (is_slots && slice_number((struct slice){ value, strnlen(value, size) }, &slots)
		    && slots <= 255)
			origin->slots = (uint32_t)slots;
	}
}

bool origin_add(struct stream_origin *origin, uint64_t feature, struct cursor data)
{
	struct cursor *c = &data;

	switch (feature) {
	case FEATURE_HOSTNAME:
		origin->host = keep_string(origin, c);
		break;
	case FEATURE_OSRELEASE:
		origin->kernel = keep_string(origin, c);
		break;
	case FEATURE_VERSION:
		origin->version = keep_string(origin, c);
		origin->is_ours = !strncmp(origin->version, "pmukit ", 7);
		break;
	case FEATURE_ARCH:
		origin->arch = keep_string(origin, c);
		break;
	case FEATURE_CPUDESC:
		origin->cpu = keep_string(origin, c);
		break;
	case FEATURE_NRCPUS:
		cursor_u32(c);		/* CPUs available */
		origin->cpus = cursor_u32(c);
		break;
	case FEATURE_CPU_PMU_CAPS:
		take_caps(origin, c);
		break;
	case FEATURE_CMDLINE:
		origin->command = keep_command(origin, c);
		break;
	case FEATURE_CACHE:	/* u32 version; u32 count; each: u32 level, u32 line size, ... */
		cursor_u32(c);
		if (cursor_u32(c) > 0) {
			cursor_u32(c);
			origin->cache_line = cursor_u32(c);
		}
		break;
	case FEATURE_SAMPLE_TIME:
		origin->first_time = cursor_u64(c);
		origin->last_time = cursor_u64(c);
		origin->has_ended = true;
		break;
	case FEATURE_FILE:
	case FEATURE_META_INFO:
	case FEATURE_FILE2:
		origin->is_simpleperf = true;
		break;
	case FEATURE_CLOCK_DATA:	/* u32 version; u32 clock; u64 wall, clock time */
		cursor_u32(c);
		origin->clock = cursor_u32(c);
		origin->wall_time = cursor_u64(c);
		origin->clock_time = cursor_u64(c);
		origin->has_clock = !c->failed;
		break;
	}
	return !c->failed;
}

void origin_release(struct stream_origin *origin)
{
	intern_release(&origin->texts);
	*origin = (struct stream_origin){ 0 };
}
