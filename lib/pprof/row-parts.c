/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/row-parts.h"
#include "base/bisect.h"
#include "base/json-reader.h"
#include "pprof/decode.h"
#include "record/words.h"

void row_parts_init(struct row_parts *p)
{
	static const char *const texts[ROW_TEXTS] = {
		[ROW_COMM] = LABEL_COMM, [ROW_THREAD_COMM] = LABEL_THREAD_COMM,
		[ROW_BASE] = PROFILE_BASE,
	};

	*p = (struct row_parts){ .wrong = NULL };
	intern_empty(&p->strings);
	for (int i = ROW_COMM; i < ROW_TEXTS; i++)
		intern_text(&p->strings, texts[i]);
	byte_ids_add(&p->sets, "", 0);		/* of samples without labels */
	p->set = array_grow(NULL, 0, sizeof(*p->set));
	p->set[0] = (struct parsed_labels){ 0 };
}

/* Broken characters become a byte that is not UTF-8: what decodes the profile counts such names. */
static struct json_reader reader_of(const char *at, size_t size)
{
	return (struct json_reader){ .at = at, .end = at + size, .broken = '\xff' };
}

static uint32_t fail(struct row_parts *p, const char *wrong)
{
	p->wrong = wrong;
	return TABLE_NONE;
}

/* Make *ROOM, the size of TEXT, at least SIZE. */
static char *text_of_size(char *text, size_t *room, size_t size)
{
	if (*room >= size)
		return text;
	*room = 2 * size;
	free(text);
	return mem_resize(NULL, *room);
}

/* Read a string, number or word to p->text. */
static bool read_text(struct row_parts *p, struct json_reader *in)
{
	p->text = text_of_size(p->text, &p->text_room, (size_t)(in->end - in->at) + 1);
	return json_read_text(in, p->text, p->text_room);
}

/* Read a key as the id of a string. */
static bool read_key(struct row_parts *p, struct json_reader *in, uint32_t *key)
{
	p->text = text_of_size(p->text, &p->text_room, (size_t)(in->end - in->at) + 1);
	if (!json_read_key(in, p->text, p->text_room))
		return false;
	*key = intern_text(&p->strings, p->text);
	return true;
}

/* Start to read V; or the JSON text in V, if V is a string: so engines without arrays keep it. */
static struct json_reader begin(struct row_parts *p, struct row_value v)
{
	if (v.size == 0)
		v.at = "";
	struct json_reader in = reader_of(v.at, v.size);
	if (*v.at != '"')
		return in;
	p->inner = text_of_size(p->inner, &p->inner_room, v.size + 1);
	if (json_read_text(&in, p->inner, p->inner_room))
		in = reader_of(p->inner, strlen(p->inner));
	return in;
}

uint32_t row_parts_string(struct row_parts *p, struct row_value v)
{
	if (v.size == 0)
		return ROW_NO_TEXT;
	uint32_t id = byte_ids_find(&p->quoted, v.at, v.size);
	if (id != TABLE_NONE)
		return p->string[id];
	struct json_reader in = reader_of(v.at, v.size);
	if (*v.at != '"')
		return fail(p, "a host, service, type or unit is not a text");
	if (!read_text(p, &in))
		return fail(p, in.why);
	id = byte_ids_add(&p->quoted, v.at, v.size);
	p->string = array_grow(p->string, id, sizeof(*p->string));
	return p->string[id] = intern_text(&p->strings, p->text);
}

/* Read a number; or, IS_TEXT, a text as the id of a string.  null is 0. */
static bool read_item(struct row_parts *p, struct json_reader *in, bool is_text, int64_t *item)
{
	char c = json_peek(in);
	const char *at = in->at;

	*item = 0;
	if (!c || !read_text(p, in))
		return false;
	if (c == 'n')
		return true;
	if (is_text && c == '"')
		*item = intern_text(&p->strings, p->text);
	else if (is_text || !row_number((struct row_value){ at, (size_t)(in->at - at) }, item))
		in->why = is_text ? "a frame, file or build ID is not a text"
				  : "a line is not a whole number";
	return !in->why;
}

/* Read V, an array. */
static bool read_list(struct row_parts *p, struct row_value v, bool is_text,
		      struct row_list *list)
{
	struct json_reader in = begin(p, v);
	bool good = json_enter(&in, '[');

	list->count = 0;
	if (!good && !in.why)
		in.why = "a stack, or what goes with it, is not an array";
	while (good && json_next(&in, ']')) {
		list->item = array_grow(list->item, list->count, sizeof(*list->item));
		good = read_item(p, &in, is_text, &list->item[list->count++]);
	}
	if (!json_ended(&in))
		fail(p, in.why);
	return !in.why;
}

/* Read the lists of ROW.  Those that it does not have are as long as the stack, and all zero. */
static bool read_lists(struct row_parts *p, const struct row_line *row)
{
	static const enum row_key keys[] = { ROW_STACK, ROW_FILE, ROW_LINE, ROW_BUILD_ID };

	for (int i = 0; i < 4; i++) {
		struct row_list *list = &p->list[i];
		const struct row_value v = row->value[keys[i]];
		if (i == 0 || v.size > 0) {
			if (!read_list(p, v, keys[i] != ROW_LINE, list))
				return false;
		} else {
			list->count = p->list[0].count;
			list->item = mem_resize(list->item,
						(list->count + 1) * sizeof(*list->item));
			memset(list->item, 0, list->count * sizeof(*list->item));
		}
		if (list->count != p->list[0].count) {
			fail(p, "it has not one file, line or build_id for each frame");
			return false;
		}
	}
	return true;
}

static uint32_t location_of(struct row_parts *p, size_t frame)
{
	const struct parsed_function function = { (uint32_t)p->list[0].item[frame],
					       (uint32_t)p->list[1].item[frame] };
	uint32_t build_id = (uint32_t)p->list[3].item[frame];
	struct parsed_location l = { .mapping = TABLE_NONE, .line = p->list[2].item[frame] };

	if (build_id != ROW_NO_TEXT)
		l.mapping = byte_ids_add(&p->mappings, &build_id, sizeof(build_id));
	l.function = byte_ids_add(&p->functions, &function, sizeof(function));
	return byte_ids_add(&p->locations, &l, sizeof(l));
}

/* Return the id of the stack in the lists. */
static uint32_t add_chain(struct row_parts *p)
{
	size_t frames = p->list[0].count;

	p->chain = mem_resize(p->chain, (frames + 1) * sizeof(*p->chain));
	for (size_t i = 0; i < frames; i++)
		p->chain[i] = location_of(p, frames - 1 - i);
	return byte_ids_add(&p->chains, p->chain, frames * sizeof(*p->chain));
}

/* Write the COUNT texts at V to p->key, each after its size.  Return their size. */
static size_t make_key(struct row_parts *p, uint32_t number, const struct row_value *v,
		       size_t count)
{
	size_t size = sizeof(number);

	for (size_t i = 0; i < count; i++)
		size += sizeof(v[i].size) + v[i].size;
	p->key = text_of_size(p->key, &p->key_room, size);
	char *to = mempcpy(p->key, &number, sizeof(number));
	for (size_t i = 0; i < count; i++) {
		to = mempcpy(to, &v[i].size, sizeof(v[i].size));
		to = v[i].size ? mempcpy(to, v[i].at, v[i].size) : to;
	}
	return size;
}

/* Return the id of the text of ROW's stack.  A new text, and the row's hash, are remembered. */
static uint32_t add_stack_text(struct row_parts *p, const struct row_line *row)
{
	const struct row_value text = row->value[ROW_STACK], hash = row->value[ROW_HASH];
	struct row_stacks *s = &p->stacks;
	uint32_t id = byte_ids_add(&s->texts, text.at, text.size);

	p->stack = array_grow(p->stack, id, sizeof(*p->stack));
	p->stack[id] = TABLE_NONE;
	if (hash.size == 0 || byte_ids_find(&s->hashes, hash.at, hash.size) != TABLE_NONE)
		return id;
	uint32_t of = byte_ids_add(&s->hashes, hash.at, hash.size);
	s->of_hash = array_grow(s->of_hash, of, sizeof(*s->of_hash));
	s->of_hash[of] = id;
	return id;
}

uint32_t row_parts_stack(struct row_parts *p, const struct row_line *row)
{
	const struct row_value stack = row->value[ROW_STACK];
	const struct row_value details[] = { row->value[ROW_FILE], row->value[ROW_LINE],
					     row->value[ROW_BUILD_ID] };
	bool detailed = details[0].size || details[1].size || details[2].size;
	uint32_t text = row->stack, found = TABLE_NONE;

	if (text == TABLE_NONE)
		text = byte_ids_find(&p->stacks.texts, stack.at, stack.size);
	if (text != TABLE_NONE && !detailed) {
		found = p->stack[text];
	} else if (text != TABLE_NONE) {
		size_t size = make_key(p, text, details, 3);
		uint32_t id = byte_ids_find(&p->detailed, p->key, size);
		found = id != TABLE_NONE ? p->detailed_stack[id] : TABLE_NONE;
	}
	if (found != TABLE_NONE)
		return found;
	if (!read_lists(p, row))
		return TABLE_NONE;
	if (text == TABLE_NONE)
		text = add_stack_text(p, row);
	if (!detailed)
		return p->stack[text] = add_chain(p);
	size_t size = make_key(p, text, details, 3);
	uint32_t id = byte_ids_add(&p->detailed, p->key, size);
	p->detailed_stack = array_grow(p->detailed_stack, id, sizeof(*p->detailed_stack));
	return p->detailed_stack[id] = add_chain(p);
}

/* Read a value of the label KEY to p->label. */
static bool read_label(struct row_parts *p, struct json_reader *in, uint32_t key)
{
	char c = json_peek(in);
	const char *at = in->at;
	struct parsed_label label = { .key = key };

	if (!c || !read_text(p, in))
		return false;
	if (c == 'n')
		return true;
	if (c == '{' || c == '[')
		in->why = "a label is neither a text nor a number";
	else if (c == '"')
		label.text = *p->text ? intern_text(&p->strings, p->text) : ROW_EMPTY_TEXT;
	else if (!row_is_number((struct row_value){ at, (size_t)(in->at - at) }))
		in->why = "a label is neither a text nor a number";
	else if (!row_number((struct row_value){ at, (size_t)(in->at - at) }, &label.number))
		label.text = intern_text(&p->strings, p->text);	/* the same digits */
	if (!in->why && p->label_count == PROFILE_LABELS_MAX)
		in->why = "it has too many labels";
	if (in->why)
		return false;
	p->label = array_grow(p->label, p->label_count, sizeof(*p->label));
	p->label[p->label_count++] = label;
	return true;
}

static int compare_labels(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct parsed_label));
}

/* Read V, an object with labels, to p->label, sorted. */
static bool read_labels(struct row_parts *p, struct row_value v)
{
	struct json_reader in = begin(p, v);
	size_t keys = 0, found = 0;
	uint32_t key;

	p->label_count = 0;
	if (v.size == 0 || (in.at == in.end && !in.why))
		return true;
	if (!json_enter(&in, '{') && !in.why)
		in.why = "'labels' is not an object";
	while (!in.why && json_next(&in, '}') && read_key(p, &in, &key)) {
		size_t before = p->label_count;
		if (!json_enter(&in, '['))
			read_label(p, &in, key);
		else
			while (json_next(&in, ']') && read_label(p, &in, key))
				;
		keys += p->label_count > before;
	}
	if (!json_ended(&in))
		fail(p, in.why);
	if (p->label_count > 1)
		qsort(p->label, p->label_count, sizeof(*p->label), compare_labels);
	for (size_t i = 0; i < p->label_count; i++)
		found += i == 0 || p->label[i].key != p->label[i - 1].key;
	if (found != keys)
		fail(p, "a label is there twice");
	return !in.why && found == keys;
}

/* Set the unit of the numbers with this KEY in p->label, which is sorted by the bytes of keys. */
static void set_unit(struct row_parts *p, uint32_t key, uint32_t unit)
{
	size_t first = BISECT(0, p->label_count, i,
			      memcmp(&p->label[i].key, &key, sizeof(key)) >= 0);

	for (; first < p->label_count && p->label[first].key == key; first++)
		if (p->label[first].text == ROW_NO_TEXT)
			p->label[first].unit = unit;
}

/* Read V, an object with the units of labels. */
static bool read_units(struct row_parts *p, struct row_value v)
{
	struct json_reader in = begin(p, v);
	uint32_t key;
	int64_t unit;

	if (v.size == 0 || (in.at == in.end && !in.why))
		return true;
	if (!json_enter(&in, '{') && !in.why)
		in.why = "'units' is not an object";
	while (!in.why && json_next(&in, '}') && read_key(p, &in, &key))
		if (read_item(p, &in, true, &unit))
			set_unit(p, key, (uint32_t)unit);
	if (!json_ended(&in))
		fail(p, in.why);
	return !in.why;
}

static uint32_t text_of(const struct row_parts *p, uint32_t key)
{
	for (size_t i = 0; i < p->label_count; i++)
		if (p->label[i].key == key && p->label[i].text != ROW_EMPTY_TEXT)
			return p->label[i].text;
	return ROW_NO_TEXT;
}

/* Return the id of the set of labels in p->label. */
static uint32_t add_set(struct row_parts *p)
{
	if (p->label_count == 0)
		return 0;
	uint32_t id = byte_ids_add(&p->sets, p->label, p->label_count * sizeof(*p->label));
	p->set = array_grow(p->set, id, sizeof(*p->set));
	uint32_t comm = text_of(p, ROW_COMM), thread = text_of(p, ROW_THREAD_COMM);
	p->set[id] = (struct parsed_labels){ .process = comm ? comm : thread,
					     .is_base = text_of(p, ROW_BASE) };
	return id;
}

uint32_t row_parts_set(struct row_parts *p, const struct row_line *row)
{
	const struct row_value texts[] = { row->value[ROW_LABELS], row->value[ROW_UNITS] };

	if (texts[0].size == 0)
		return 0;
	size_t size = make_key(p, 0, texts, 2);
	uint32_t id = byte_ids_find(&p->labels, p->key, size);
	if (id != TABLE_NONE)
		return p->labels_set[id];
	if (!read_labels(p, texts[0]) || !read_units(p, texts[1]))
		return TABLE_NONE;
	id = byte_ids_add(&p->labels, p->key, size);
	p->labels_set = array_grow(p->labels_set, id, sizeof(*p->labels_set));
	return p->labels_set[id] = add_set(p);
}

static void release_ids(struct byte_ids *ids, uint32_t *of_id)
{
	byte_ids_release(ids);
	free(of_id);
}

void row_parts_release(struct row_parts *p)
{
	intern_release(&p->strings);
	release_ids(&p->quoted, p->string);
	release_ids(&p->stacks.texts, p->stack);
	release_ids(&p->stacks.hashes, p->stacks.of_hash);
	release_ids(&p->detailed, p->detailed_stack);
	release_ids(&p->labels, p->labels_set);
	release_ids(&p->functions, NULL);
	release_ids(&p->locations, NULL);
	release_ids(&p->mappings, NULL);
	release_ids(&p->chains, NULL);
	release_ids(&p->sets, NULL);
	for (int i = 0; i < 4; i++)
		free(p->list[i].item);
	free(p->set);
	free(p->label);
	free(p->chain);
	free(p->text);
	free(p->inner);
	free(p->key);
}
