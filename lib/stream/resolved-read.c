/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/resolved.h"

#define refuse(why, text) (*(why) = (text), false)

/* Return whether ID is COUNT: each definition must have the next id. */
static bool is_next(uint32_t id, uint32_t count, const char **why)
{
	return id == count || refuse(why, "definition whose id is not the next one");
}

static bool read_string(struct resolved *r, struct cursor c, const char **why)
{
	uint32_t id = cursor_u32(&c);
	const char *text = cursor_string(&c);

	if (c.failed || !*text)
		return refuse(why, "STRING record without a string");
	if (r->strings == 0)
		resolved_add_string(r, "", 0);
	return is_next(id, r->strings, why) && resolved_add_string(r, text, strlen(text));
}

static bool read_object(struct resolved *r, struct cursor c, const char **why)
{
	uint32_t id = cursor_u32(&c);
	struct resolved_object o = { .path = cursor_u32(&c) };

	o.kind = cursor_u16(&c);
	o.flags = cursor_u16(&c);
	uint32_t build_id_size = cursor_u32(&c);
	o.start = cursor_u64(&c);
	o.size = cursor_u64(&c);
	o.file_offset = cursor_u64(&c);
	const void *build_id = cursor_bytes(&c, BUILD_ID_MAX);
	if (c.failed || o.path >= r->strings || build_id_size > BUILD_ID_MAX ||
	    o.size > UINT64_MAX - o.start)
		return refuse(why, "OBJECT record with fields that cannot be");
	memcpy(o.build_id, build_id, BUILD_ID_MAX);
	o.build_id_size = (uint8_t)build_id_size;
	if (!is_next(id, r->objects, why))
		return false;
	resolved_add_object(r, &o);
	return true;
}

static bool read_function(struct resolved *r, struct cursor c, const char **why)
{
	uint32_t id = cursor_u32(&c);
	struct resolved_function f = { .name = cursor_u32(&c) };

	f.system_name = cursor_u32(&c);
	f.file = cursor_u32(&c);
	f.line = cursor_u32(&c);
	if (c.failed || f.name >= r->strings || f.system_name >= r->strings || f.file >= r->strings)
		return refuse(why, "FUNCTION record with fields that cannot be");
	if (!is_next(id, r->functions, why))
		return false;
	resolved_add_function(r, &f);
	return true;
}

static bool read_frame(struct resolved *r, struct cursor c, const char **why)
{
	uint32_t id = cursor_u32(&c);
	struct resolved_frame f = { .object = cursor_u32(&c) };

	f.address = cursor_u64(&c);
	f.lines = cursor_u32(&c);
	if (c.failed || f.object >= r->objects || f.lines > cursor_left(&c) / sizeof(*f.line))
		return refuse(why, "FRAME record with fields that cannot be");
	if (!is_next(id, r->frames, why))
		return false;
	struct resolved_line *line = arena_alloc(&r->arena, f.lines * sizeof(*line));
	for (uint32_t i = 0; i < f.lines; i++) {
		line[i].function = cursor_u32(&c);
		line[i].file = cursor_u32(&c);
		line[i].line = cursor_u32(&c);
		line[i].column = cursor_u32(&c);
		if (line[i].function >= r->functions || line[i].file >= r->strings)
			return refuse(why, "FRAME record with a line that cannot be");
	}
	f.line = line;
	r->frame = array_grow(r->frame, r->frames, sizeof(f));
	r->frame[r->frames++] = f;
	return true;
}

bool resolved_read_definition(struct resolved *r, const struct record *rec, const char **why)
{
	switch (rec->type) {
	case RECORD_STRING:
		return read_string(r, rec->body, why);
	case RECORD_OBJECT:
		return read_object(r, rec->body, why);
	case RECORD_FUNCTION:
		return read_function(r, rec->body, why);
	default:
		return read_frame(r, rec->body, why);
	}
}

bool resolved_read_sample(struct resolved *r, const struct record *rec, uint32_t events,
			  uint32_t *frame, struct resolved_sample *s, const char **why)
{
	struct cursor c = rec->body;

	*s = (struct resolved_sample){ .event = cursor_u32(&c), .misc = rec->misc };
	s->pid = (pid_t)cursor_u32(&c);
	s->tid = (pid_t)cursor_u32(&c);
	s->cpu = cursor_u32(&c);
	s->time = cursor_u64(&c);
	s->period = cursor_u64(&c);
	s->has = cursor_u64(&c);
	uint64_t end = s->has >> RESOLVED_END_SHIFT & RESOLVED_END_MASK;
	s->has &= ~((uint64_t)RESOLVED_END_MASK << RESOLVED_END_SHIFT);
	s->end = end < STACK_ENDS ? (enum stack_end)end : STACK_NONE;
	s->comm = cursor_u32(&c);
	s->frames = cursor_u32(&c);
	for (int i = 0; i < VALUES; i++)
		if (s->has & resolved_value_bits[i])
			s->value[i] = cursor_u64(&c);
	if (c.failed || s->frames == 0 || s->frames > cursor_left(&c) / sizeof(*frame) ||
	    s->frames > RESOLVED_FRAMES_MAX)
		return refuse(why, "RESOLVED_SAMPLE record is shorter than its fields");
	if (s->event >= events || (s->comm && s->comm >= r->strings))
		return refuse(why, "RESOLVED_SAMPLE record of an undefined event or name");
	memcpy(frame, c.at, s->frames * sizeof(*frame));
	for (uint32_t i = 0; i < s->frames; i++)
		if (frame[i] >= r->frames)
			return refuse(why, "RESOLVED_SAMPLE record with an undefined frame");
	s->frame = frame;
	cursor_bytes(&c, s->frames * sizeof(*frame));
	if (s->has & PERF_SAMPLE_RAW) {
		s->raw.size = cursor_u32(&c);
		s->raw.at = cursor_bytes(&c, s->raw.size);
		if (!s->raw.at)
			return refuse(why, "RESOLVED_SAMPLE record is shorter than its raw fields");
	}
	r->samples++;
	return true;
}

bool resolved_read_tool(const struct record *rec, struct resolved_tool *tool)
{
	struct cursor c = rec->body;

	tool->name = cursor_string(&c);
	tool->version = cursor_string(&c);
	tool->arguments = cursor_string(&c);
	return !c.failed;
}

bool resolved_read_end(const struct resolved *r, const struct record *rec)
{
	struct cursor c = rec->body;

	return cursor_u64(&c) == r->samples &&
	       cursor_u32(&c) == (r->strings ? r->strings - 1 : 0) &&
	       cursor_u32(&c) == r->objects && cursor_u32(&c) == r->functions &&
	       cursor_u32(&c) == r->frames && !c.failed;
}
