/* SPDX-License-Identifier: Apache-2.0 */
/* The messages are those of proto/profile.proto. */
#include "pprof/decode-internal.h"
#include "base/text.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Join the lower seven bits of each byte of WORD, whose other bits are 0. */
static inline uint64_t join_sevens(uint64_t word)
{
	word = (word & 0x007f007f007f007fULL) | (word & 0x7f007f007f007f00ULL) >> 1;
	word = (word & 0x00003fff00003fffULL) | (word & 0x3fff00003fff0000ULL) >> 2;
	return (word & 0x0fffffffULL) | (word & 0x0fffffff00000000ULL) >> 4;
}

/* Return up to eight of the SIZE bytes at AT, at least three, as a word, the first one lowest. */
static inline uint64_t load(const uint8_t *at, size_t size)
{
	uint32_t first, last;
	uint64_t word;

	if (size >= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		return le64toh(word);
	}
	if (size < sizeof(first))
		return at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16;
	memcpy(&first, at, sizeof(first));
	memcpy(&last, at + size - sizeof(last), sizeof(last));
	return le32toh(first) | (uint64_t)le32toh(last) << 8 * (size - sizeof(last));
}

/* A number such as an address is put together from up to eight bytes at once. */
struct wire_number decode_long_number(const uint8_t *at, const uint8_t *end)
{
	const uint64_t tops = 0x8080808080808080ULL;	/* set in each byte but the last one */
	struct cursor c = { .at = at, .end = end };
	const size_t size = (size_t)(end - at);
	uint64_t word = size >= 3 ? load(at, size) : tops, last = ~word & tops;

	if (last) {
		size_t used = (size_t)__builtin_ctzll(last) / 8 + 1;
		word = join_sevens(word & (last ^ (last - 1)) & ~tops);
		return (struct wire_number){ used <= size ? at + used : NULL, word };
	}
	if (size >= 10 && (at[8] & at[9]) < 0x80) {	/* such as an address of the kernel */
		bool is_ten = at[8] >= 0x80;
		word = join_sevens(word & ~tops) | (uint64_t)(at[8] & 0x7f) << 56;
		word |= is_ten ? (uint64_t)at[9] << 63 : 0;
		return (struct wire_number){ at + 9 + is_ten, word };
	}
	uint64_t value = cursor_uleb(&c);

	return (struct wire_number){ c.failed ? NULL : c.at, value };
}

uint32_t decoded_default_type(const struct decoded *d)
{
	for (uint32_t i = 0; i < d->types && d->default_type; i++)
		if (d->type[i].type == d->default_type)
			return i;
	return d->types - 1;
}

/*
 * Return whether TYPE, such as "page-faults:u_samples" or "cpu/cycles/u", equals NAME if the
 * modifiers of its event (pmu-event(7)) are left out, or its PMU, too.
 */
static bool is_without_modifiers(const char *type, const char *name)
{
	const char *colon = strrchr(type, ':'), *last = strrchr(type, '/');
	const char *first = last ? memchr(type, '/', (size_t)(last - type)) : NULL;
	const char *end = first ? last + 1 : colon;	/* of the event without modifiers */

	if (!end)
		return false;
	size_t length = (size_t)(end - type), letters = strspn(end + !first, "ukhGHIpPSDeW");
	const char *rest = end + !first + letters;
	if ((letters == 0 && !first) || (*rest && *rest != '_'))
		return false;
	if (!strncmp(type, name, length) && !strcmp(rest, name + length))
		return true;
	size_t size = first ? (size_t)(last - first - 1) : 0;
	return size > 0 && !strncmp(first + 1, name, size) && !strcmp(rest, name + size);
}

/* Return the index of the only sample type that equals NAME without modifiers, or TABLE_NONE. */
static uint32_t find_without_modifiers(const struct decoded *d, const char *name)
{
	uint32_t found = TABLE_NONE;

	for (uint32_t i = 0; i < d->types; i++) {
		if (!is_without_modifiers(decoded_string(d, d->type[i].type), name))
			continue;
		if (found != TABLE_NONE)
			return TABLE_NONE;
		found = i;
	}
	return found;
}

uint32_t decoded_find_type(const struct decoded *d, const char *name)
{
	char number[24];

	for (uint32_t i = 0; i < d->types; i++) {
		snprintf(number, sizeof(number), "%" PRIu32, i);
		if (!strcmp(decoded_string(d, d->type[i].type), name) || !strcmp(number, name))
			return i;
	}
	return find_without_modifiers(d, name);
}

/* Return whether all SIZE bytes are printable ASCII, as most names are; eight at a time. */
static bool is_plain(const uint8_t *at, size_t size)
{
	const uint64_t ones = 0x0101010101010101ULL, tops = 0x80 * ones;
	uint64_t word, odd = 0;

	for (; size >= 8; size -= 8, at += 8) {
		memcpy(&word, at, 8);
		odd |= word | (word + ones) | (word - ' ' * ones);	/* >= 0x80, 0x7f, < ' ' */
	}
	for (; size > 0; size--, at++)
		odd |= *at < ' ' || *at >= 0x7f ? tops : 0;
	return !(odd & tops);
}

/* Add a string.  Its text moves over the last byte of its length, to make room for a NUL. */
static void add_string(struct decoded *d, const struct wire_field *f)
{
	uint8_t *at = d->bytes + (f->at - d->bytes) - 1;

	memmove(at, at + 1, f->size);
	at[f->size] = '\0';
	if (!is_plain(at, f->size)) {
		d->altered |= strlen((char *)at) != f->size;
		if (text_needs_care((char *)at)) {
			text_make_safe((char *)at);
			d->altered = true;
			d->unsafe++;
		}
	}
	d->string = array_grow(d->string, d->strings, sizeof(*d->string));
	d->string[d->strings++] = (uint32_t)(at - d->bytes);
}

static void add_sample(struct decoded *d, const struct wire_field *f)
{
	d->sample = array_grow(d->sample, d->samples, sizeof(*d->sample));
	d->sample[d->samples++] = (struct decoded_message){
		.offset = (uint32_t)(f->at - d->bytes), .size = (uint32_t)f->size };
}

/* message ValueType { type = 1; unit = 2; } */
static bool read_type(const struct wire_field *from, struct decoded_type *type)
{
	struct cursor c = cursor_of(from->at, from->size);
	struct wire_field f;

	while (decode_field(&c, &f))
		if (f.tag == FIELD(1, VARINT))
			type->type = decode_index(f.value);
		else if (f.tag == FIELD(2, VARINT))
			type->unit = decode_index(f.value);
	return !c.failed;
}

static bool add_type(struct decoded *d, const struct wire_field *f)
{
	d->type = array_grow(d->type, d->types, sizeof(*d->type));
	d->type[d->types] = (struct decoded_type){ .index = d->types };
	d->values++;
	return read_type(f, &d->type[d->types++]);
}

static void add_line(uint32_t **line, uint32_t *lines, uint64_t string)
{
	*line = array_grow(*line, *lines, sizeof(**line));
	(*line)[(*lines)++] = decode_index(string);
}

/* Add the strings of F, a field of a list of numbers, packed or not.  False: it is damaged. */
static bool add_lines(uint32_t **line, uint32_t *lines, const struct wire_field *f)
{
	struct cursor c = cursor_of(f->at, f->size);

	if ((f->tag & 7) == VARINT) {
		add_line(line, lines, f->value);
		return true;
	}
	while (c.at < c.end && !c.failed)
		add_line(line, lines, cursor_uleb(&c));
	return !c.failed;
}

/* Take one field of message Profile.  Return false if it is damaged. */
static bool take_field(struct decoding *g, const struct wire_field *f)
{
	struct decoded *d = g->d;

	switch (f->tag) {
	case FIELD(1, BYTES):
		return add_type(d, f);
	case FIELD(2, BYTES):
		add_sample(d, f);
		break;
	case FIELD(3, BYTES):
		return decode_mapping(g, f);
	case FIELD(4, BYTES):
		return decode_location(g, f);
	case FIELD(5, BYTES):
		return decode_function(g, f);
	case FIELD(6, BYTES):
		add_string(d, f);
		break;
	case FIELD(7, VARINT):
		d->drop_frames = decode_index(f->value);
		break;
	case FIELD(8, VARINT):
		d->keep_frames = decode_index(f->value);
		break;
	case FIELD(9, VARINT):
		d->time = (int64_t)f->value;
		break;
	case FIELD(10, VARINT):
		d->duration = (int64_t)f->value;
		break;
	case FIELD(11, BYTES):
		return read_type(f, &d->period_type);
	case FIELD(12, VARINT):
		d->period = (int64_t)f->value;
		break;
	case FIELD(13, VARINT):
	case FIELD(13, BYTES):
		return add_lines(&d->comment, &d->comments, f);
	case FIELD(14, VARINT):
		d->default_type = decode_index(f->value);
		break;
	case FIELD(15, VARINT):
		d->doc_url = decode_index(f->value);
		break;
	case FIELD(1001, VARINT):
	case FIELD(1001, BYTES):
		return add_lines(&d->fact, &d->facts, f);
	}
	return true;
}

/* Make room for a sample of SIZE bytes: each byte may be a location. */
static void make_room(struct decoded_reader *r, size_t size)
{
	if (!r->all) {
		r->all = mem_zeroed(r->d->values, sizeof(*r->all));
		r->sample.value = mem_zeroed(r->d->types, sizeof(*r->sample.value));
		r->sample.label = mem_resize(NULL, PROFILE_LABELS_MAX * sizeof(*r->sample.label));
	}
	if (size <= r->room)
		return;
	r->room = size + size / 4;
	free(r->sample.location);
	r->sample.location = mem_resize(NULL, r->room * sizeof(*r->sample.location));
}

/* message Label { key = 1; str = 2; num = 3; num_unit = 4; } */
static bool read_label(const struct wire_field *from, struct decoded_label *l)
{
	struct cursor c = cursor_of(from->at, from->size);
	struct wire_field f;

	*l = (struct decoded_label){ 0 };
	while (decode_field(&c, &f))
		switch (f.tag) {
		case FIELD(1, VARINT): l->key = decode_index(f.value); break;
		case FIELD(2, VARINT): l->text = decode_index(f.value); break;
		case FIELD(3, VARINT): l->number = (int64_t)f.value; break;
		case FIELD(4, VARINT): l->unit = decode_index(f.value); break;
		}
	return !c.failed;
}

/* Add the locations of F, packed numbers, up to MOST.  Return false if they are damaged. */
static bool add_locations(struct decoded_reader *r, const struct wire_field *f, size_t most)
{
	const struct decoded_items *items = &r->d->locations;
	const uint8_t *end = f->at + f->size;
	uint32_t *to = r->sample.location;
	size_t count = r->sample.locations;
	struct wire_number id = { .at = f->at };

	while (id.at < end && count < most) {
		id = decode_number(id.at, end);
		if (!id.at)
			return false;
		to[count++] = decoded_find_item(items, id.value);
	}
	r->sample.locations = count;
	return true;
}

/* Add the values of F, packed numbers, to the COUNT before.  Return false if they are damaged. */
static bool add_values(struct decoded_reader *r, const struct wire_field *f, uint32_t *count)
{
	const uint8_t *end = f->at + f->size;
	struct wire_number value = { .at = f->at };

	for (; value.at < end; ++*count) {
		value = decode_number(value.at, end);
		if (!value.at)
			return false;
		if (*count < r->d->values)
			r->all[*count] = (int64_t)value.value;
	}
	return true;
}

bool decode_sample(struct decoded_reader *r, struct decoded_message item)
{
	const struct decoded *d = r->d;
	struct cursor c = cursor_of_message(d, item);
	struct decoded_sample *s = &r->sample;
	size_t most = r->most ? r->most : SIZE_MAX;
	uint32_t values = 0;
	struct wire_field f;

	make_room(r, r->most ? r->most : item.size);
	s->locations = s->labels = 0;
	while (decode_field(&c, &f)) {
		switch (f.tag) {
		case FIELD(1, VARINT):
			if (s->locations < most)
				s->location[s->locations++] =
					decoded_find_item(&d->locations, f.value);
			break;
		case FIELD(1, BYTES):
			if (!add_locations(r, &f, most))
				return false;
			break;
		case FIELD(2, VARINT):
			if (values < d->values)
				r->all[values] = (int64_t)f.value;
			values++;
			break;
		case FIELD(2, BYTES):
			if (!add_values(r, &f, &values))
				return false;
			break;
		case FIELD(3, BYTES):
			if (s->labels == PROFILE_LABELS_MAX ||
			    !read_label(&f, &s->label[s->labels]))
				return false;
			s->labels += !d->hidden || !d->hidden[s->label[s->labels].key];
			break;
		}
	}
	return !c.failed && values == d->values;
}

bool decoded_next(struct decoded_reader *r)
{
	if (r->next == r->d->samples)
		return false;
	decode_sample(r, r->d->sample[r->next++]);
	for (uint32_t i = 0; i < r->d->types; i++)
		r->sample.value[i] = r->all[r->d->type[i].index];
	return true;
}

void decoded_reader_release(struct decoded_reader *r)
{
	free(r->sample.location);
	free(r->sample.value);
	free(r->sample.label);
	free(r->all);
	*r = (struct decoded_reader){ 0 };
}

/* Decode and check the profile.  Return false if it is bad; G->reported: that was reported. */
static bool decode(struct decoding *g)
{
	struct cursor c = cursor_of(g->d->bytes, g->d->size);
	struct wire_field f;

	while (decode_field(&c, &f))
		if (!take_field(g, &f))
			return false;
	if (c.failed || !decode_check(g))
		return false;
	if (g->frames > PROFILE_FRAMES_MAX) {
		report_error(g->report, "'%s' is refused: its samples have %" PRIu64 " frames, and "
			     "a profile may have %u", g->file, g->frames, PROFILE_FRAMES_MAX);
		g->reported = true;
		return false;
	}
	if (g->cut)
		report_error(g->report, "'%s' has %" PRIu64 " locations with more than %d lines: "
			     "their other callers are left out", g->file, g->cut,
			     PROFILE_LINES_MAX);
	return true;
}

struct decoded *decode_bytes(uint8_t *bytes, size_t size, const char *file, const char *wrong,
			     struct report *report)
{
	struct decoded *d = mem_zeroed(1, sizeof(*d));
	struct decoding g = { .d = d, .file = file, .report = report };
	d->bytes = bytes;
	d->size = size;
	if (decode(&g))
		return d;
	if (size == 0 && !strcmp(file, "-"))
		report_error(report, "standard input is empty: give a FILE, or send a profile or a "
			     "stream into it");
	else if (!g.reported)
		report_error(report, "'%s' is %s", file, size > 0 ? wrong : "empty");
	decoded_free(d);
	return NULL;
}

static void release_items(struct decoded_items *items)
{
	free(items->item);
	table_release(&items->table);
}

void decoded_free(struct decoded *d)
{
	if (!d)
		return;
	release_items(&d->mappings);
	release_items(&d->functions);
	release_items(&d->locations);
	free(d->bytes);
	free(d->string);
	free(d->type);
	free(d->sample);
	free(d->comment);
	free(d->fact);
	free(d->hidden);
	free(d);
}

const char *decoded_fact(const struct decoded *d, uint32_t i)
{
	if (i < d->facts)
		return decoded_string(d, d->fact[i]);
	return i - d->facts < d->comments ? decoded_string(d, d->comment[i - d->facts]) : NULL;
}
