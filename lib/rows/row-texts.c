/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/row-texts.h"
#include "base/json.h"
#include "pprof/decode.h"
#include "rows/row-hash.h"
#include "record/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	STACK_KEPT = 128 * 1024,	/* bytes of the longest text of a stack that is kept */
	NUMBER_SIZE = 24,
};
#define TEXT_KEPT ((size_t)256 << 20)	/* bytes of the texts of all stacks that are kept */

/* What an element of an array that is parallel to the stack says about a frame. */
enum part { PART_NAME, PART_FILE, PART_LINE, PART_BUILD_ID };

uint32_t row_texts_name(struct row_texts *t, const char *name)
{
	return intern_text(&t->names, name);
}

uint32_t row_texts_frame(struct row_texts *t, const struct row_frame *frame)
{
	return byte_ids_add(&t->details, frame, sizeof(*frame));
}

static void add_bytes(void *buffer, const void *bytes, size_t size)
{
	buffer_add(buffer, bytes, size);
}

static void add_json(void *buffer, const char *bytes, size_t size)
{
	buffer_add(buffer, bytes, size);
}

struct row_piece row_texts_quoted(struct row_texts *t, uint32_t name)
{
	for (; t->quotes_made < t->names.count; t->quotes_made++) {
		t->quoted = array_grow(t->quoted, t->quotes_made, sizeof(*t->quoted));
		t->quoted[t->quotes_made] = (struct row_piece){ 0 };
	}
	struct row_piece *quoted = &t->quoted[name];
	if (quoted->size == 0) {
		quoted->at = t->quotes.size;
		json_write(t->names.text[name], false, add_json, &t->quotes);
		quoted->size = t->quotes.size - quoted->at;
	}
	return *quoted;
}

static void put_name(struct row_texts *t, uint32_t name, row_put *put, void *to)
{
	struct row_piece quoted = row_texts_quoted(t, name);

	put(to, t->quotes.at + quoted.at, quoted.size);
}

static void put_text(row_put *put, void *to, const char *text)
{
	put(to, text, strlen(text));
}

static const uint32_t *frames_of_stack(const struct row_texts *t, uint32_t stack, size_t *count)
{
	*count = t->stacks.item[stack].size / sizeof(uint32_t);
	return t->stacks.item[stack].bytes;
}

static struct row_frame frame_at(const struct row_texts *t, uint32_t frame)
{
	if (t->has_details)
		return *(const struct row_frame *)t->details.item[frame].bytes;
	return (struct row_frame){ .name = frame };
}

/* Return the text of PART of FRAME by its id; not for PART_LINE. */
static uint32_t part_of(const struct row_frame *frame, enum part part)
{
	return part == PART_NAME ? frame->name : part == PART_FILE ? frame->file : frame->build_id;
}

static void write_line(char text[NUMBER_SIZE], const struct row_frame *frame)
{
	snprintf(text, NUMBER_SIZE, "%" PRId64, frame->line);
}

/* Write ,"KEY":[...] with PART of each frame. */
static void put_parts(struct row_texts *t, uint32_t stack, const char *key, enum part part,
		      row_put *put, void *to)
{
	char number[NUMBER_SIZE];
	size_t count;
	const uint32_t *frame = frames_of_stack(t, stack, &count);

	put_text(put, to, key);
	for (size_t i = 0; i < count; i++) {
		const struct row_frame f = frame_at(t, frame[i]);
		put(to, ",", i > 0);
		if (part == PART_LINE) {
			write_line(number, &f);
			put_text(put, to, number);
		} else {
			put_name(t, part_of(&f, part), put, to);
		}
	}
	put_text(put, to, "]");
}

static bool has_part(const struct row_texts *t, uint32_t stack, enum part part)
{
	size_t count;
	const uint32_t *frame = frames_of_stack(t, stack, &count);

	for (size_t i = 0; i < count; i++) {
		const struct row_frame f = frame_at(t, frame[i]);
		if (part == PART_LINE ? f.line != 0 : part_of(&f, part) != 0)
			return true;
	}
	return false;
}

void row_texts_put_stack(struct row_texts *t, uint32_t stack, row_put *put, void *to)
{
	char hash[40];

	snprintf(hash, sizeof(hash), ",\"hash\":\"%016" PRIx64 "\"", t->stack[stack].hash);
	put_text(put, to, hash);
	put_parts(t, stack, ",\"stack\":[", PART_NAME, put, to);
}

void row_texts_put_details(struct row_texts *t, uint32_t stack, row_put *put, void *to)
{
	static const char *const keys[] = {
		[PART_FILE] = ",\"file\":[", [PART_LINE] = ",\"line\":[",
		[PART_BUILD_ID] = ",\"build_id\":[",
	};

	for (enum part part = PART_FILE; t->has_details && part <= PART_BUILD_ID; part++)
		if (has_part(t, stack, part))
			put_parts(t, stack, keys[part], part, put, to);
}

/* The definition of the hash is in pmu-rows(5). */
static uint64_t hash_of(const struct row_texts *t, uint32_t stack)
{
	const enum part last = t->has_details ? PART_BUILD_ID : PART_NAME;
	struct row_hash h = row_hash_start(0, 0);
	char number[NUMBER_SIZE];
	size_t count;
	const uint32_t *frame = frames_of_stack(t, stack, &count);

	for (enum part part = PART_NAME; part <= last; part++)
		for (size_t i = 0; i < count; i++) {
			const struct row_frame f = frame_at(t, frame[i]);
			if (part == PART_LINE)
				write_line(number, &f);
			row_hash_text(&h, part == PART_LINE ? number
				      : t->names.text[part_of(&f, part)]);
		}
	return row_hash_end(&h);
}

/* Return the bytes of all names of a stack. */
static size_t size_of(struct row_texts *t, uint32_t stack)
{
	size_t count, size = 0;
	const uint32_t *frame = frames_of_stack(t, stack, &count);

	for (size_t i = 0; i < count; i++) {
		const struct row_frame f = frame_at(t, frame[i]);
		size += row_texts_quoted(t, f.name).size;
		if (t->has_details)
			size += row_texts_quoted(t, f.file).size +
				row_texts_quoted(t, f.build_id).size + NUMBER_SIZE;
	}
	return size;
}

static void keep_stack(struct row_texts *t, uint32_t stack)
{
	struct row_stack *s = &t->stack[stack];

	s->text.at = t->text.size;
	row_texts_put_stack(t, stack, add_bytes, &t->text);
	s->text.size = t->text.size - s->text.at;
	s->details.at = t->text.size;
	row_texts_put_details(t, stack, add_bytes, &t->text);
	s->details.size = t->text.size - s->details.at;
}

uint32_t row_texts_stack(struct row_texts *t, const uint32_t *frame, size_t count)
{
	uint32_t stacks = t->stacks.count;
	uint32_t id = byte_ids_add(&t->stacks, frame, count * sizeof(*frame));

	if (id < stacks)
		return id;
	t->stack = array_grow(t->stack, stacks, sizeof(*t->stack));
	t->stack[id] = (struct row_stack){ .hash = hash_of(t, id) };
	if (t->text.size < TEXT_KEPT && size_of(t, id) < STACK_KEPT)
		keep_stack(t, id);
	return id;
}

static bool comes_before(const struct row_texts *t, const struct row_label *a,
			 const struct row_label *b)
{
	return a->key != b->key && strcmp(t->names.text[a->key], t->names.text[b->key]) < 0;
}

/* Sort by key; labels of one key keep their order.  Samples have few labels. */
static void sort(const struct row_texts *t, struct row_label *label, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct row_label moved = label[i];
		size_t k = i;
		for (; k > 0 && comes_before(t, &moved, &label[k - 1]); k--)
			label[k] = label[k - 1];
		label[k] = moved;
	}
}

static void put_value(struct row_texts *t, const struct row_label *label)
{
	char number[NUMBER_SIZE];

	if (label->text != TABLE_NONE) {
		put_name(t, label->text, add_bytes, &t->text);
		return;
	}
	snprintf(number, sizeof(number), "%" PRId64, label->number);
	put_text(add_bytes, &t->text, number);
}

/* Write the values of the first key of LABEL: one, or an array.  Return how many there are. */
static size_t put_values(struct row_texts *t, const struct row_label *label, size_t count)
{
	size_t values = 1;

	while (values < count && label[values].key == label->key)
		values++;
	if (values > 1)
		put_text(add_bytes, &t->text, "[");
	for (size_t i = 0; i < values; i++) {
		buffer_add(&t->text, ",", i > 0);
		put_value(t, &label[i]);
	}
	if (values > 1)
		put_text(add_bytes, &t->text, "]");
	return values;
}

static void put_labels(struct row_texts *t, const struct row_label *label, size_t count)
{
	const char *before = ",\"labels\":{";
	bool is_open = false;

	for (size_t i = 0; i < count;) {
		if (label[i].role != ROW_IS_LABEL) {
			i++;
			continue;
		}
		put_text(add_bytes, &t->text, before);
		put_name(t, label[i].key, add_bytes, &t->text);
		put_text(add_bytes, &t->text, ":");
		i += put_values(t, label + i, count - i);
		before = ",";
		is_open = true;
	}
	if (is_open)
		put_text(add_bytes, &t->text, "}");
}

/* Write the unit of each key that has one. */
static void put_units(struct row_texts *t, const struct row_label *label, size_t count)
{
	const char *before = ",\"units\":{";
	uint32_t last = TABLE_NONE;

	for (size_t i = 0; i < count; i++) {
		if (label[i].text != TABLE_NONE || !label[i].unit || label[i].key == last)
			continue;
		last = label[i].key;
		put_text(add_bytes, &t->text, before);
		put_name(t, last, add_bytes, &t->text);
		put_text(add_bytes, &t->text, ":");
		put_name(t, label[i].unit, add_bytes, &t->text);
		before = ",";
	}
	if (last != TABLE_NONE)
		put_text(add_bytes, &t->text, "}");
}

/* Return the text of the label KEY.  Without such a label, return 0, the empty text. */
static uint32_t text_of(const struct row_texts *t, const struct row_label *label, size_t count,
			const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (label[i].text != TABLE_NONE && label[i].text != 0 &&
		    !strcmp(t->names.text[label[i].key], key))
			return label[i].text;
	return 0;
}

void row_texts_member(struct row_texts *t, enum row_role role, const char *key)
{
	t->member = array_grow(t->member, t->members, sizeof(*t->member));
	t->member[t->members++] = (struct row_member){ row_texts_name(t, key), role };
}

static enum row_role role_of(const struct row_texts *t, const struct row_label *label)
{
	for (size_t i = 0; i < t->members && label->text != TABLE_NONE; i++)
		if (t->member[i].key == label->key)
			return t->member[i].role;
	return ROW_IS_LABEL;
}

/* Return the text of the label with this ROLE, or 0. */
static uint32_t text_in_role(const struct row_label *label, size_t count, enum row_role role)
{
	for (size_t i = 0; i < count; i++)
		if (label[i].role == role)
			return label[i].text;
	return 0;
}

uint32_t row_texts_set(struct row_texts *t, struct row_label *label, size_t count)
{
	uint32_t sets = t->sets.count;

	for (size_t i = 0; i < count; i++)
		label[i].role = role_of(t, &label[i]);
	sort(t, label, count);
	uint32_t id = byte_ids_add(&t->sets, label, count * sizeof(*label));
	if (id < sets)
		return id;
	uint32_t comm = text_of(t, label, count, LABEL_COMM);
	struct row_set set = {
		.text.at = t->text.size,
		.host = text_in_role(label, count, ROW_IS_HOST),
		.service = text_in_role(label, count, ROW_IS_SERVICE),
		.process = comm ? comm : text_of(t, label, count, LABEL_THREAD_COMM),
		.is_base = text_of(t, label, count, PROFILE_BASE) != 0,
	};
	put_labels(t, label, count);
	put_units(t, label, count);
	set.text.size = t->text.size - set.text.at;
	t->set = array_grow(t->set, sets, sizeof(*t->set));
	t->set[id] = set;
	return id;
}

size_t row_texts_size(const struct row_texts *t)
{
	enum { FOR_EACH = 100 };	/* bytes of tables and arrays for an item */

	return t->names.arena.size + t->quotes.room + t->text.room + t->details.arena.size +
	       t->stacks.arena.size + t->sets.arena.size +
	       FOR_EACH * ((size_t)t->names.count + t->details.count + t->stacks.count +
			   t->sets.count);
}

void row_texts_clear(struct row_texts *t)
{
	intern_release(&t->names);
	byte_ids_release(&t->details);
	byte_ids_release(&t->stacks);
	byte_ids_release(&t->sets);
	free(t->quoted);
	free(t->quotes.at);
	free(t->stack);
	free(t->set);
	free(t->text.at);
	free(t->member);
	*t = (struct row_texts){ .has_details = t->has_details };
}
