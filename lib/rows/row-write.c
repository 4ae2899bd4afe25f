/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/row-write.h"
#include "base/json.h"
#include "base/saturate.h"
#include "base/text.h"
#include "pprof/comments.h"
#include "rows/row-frames.h"
#include "rows/row-origins.h"
#include "rows/row-types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	FRAMES_LEAST = 1 << 22,		/* in the stacks of a profile, all together, plus ... */
	FRAMES_PER_BYTE = 4,		/* of the profile: an address takes two or three bytes */
	NUMBER_SIZE = 24,		/* bytes of a number as text */
	NS = 1000000000,		/* in a second */
};
#define TEXT_MAX ((uint64_t)16 << 30)	/* bytes of the rows of a profile */
#define TEXTS_MAX ((size_t)512 << 20)	/* bytes of memory for texts of profiles before */

/* Samples of one stack with one set of labels, which become a row of each type. */
struct group {
	uint32_t stack, set;
};

struct row_writer {
	const struct row_options *options;
	struct row_texts texts;
	uint64_t unsafe;		/* names that had to be changed, in all profiles */
	/* for one profile: */
	const struct decoded *d;
	struct row_frames frames;
	struct row_origins origins;
	struct buffer head;		/* the start of a row: its time */
	struct buffer host, service;	/* those of all rows, as members */
	uint32_t *count;		/* by type: row_types_pair() */
	struct row_piece *kind;		/* by type: its text, in KINDS */
	struct buffer kinds;
	struct group *group;
	int64_t *sum;			/* by group and type */
	uint32_t groups;
	struct table table;		/* over the groups */
	uint32_t *stack;		/* ids of a sample's frames, the root first */
	size_t stack_room;		/* frames */
	struct row_label *label;	/* of a sample */
	uint64_t frames_left;		/* that the stacks may still have */
	uint64_t written;		/* bytes of rows */
	uint64_t left_out;		/* samples and rows */
	uint64_t cut;			/* sums that do not fit into 64 bits */
	struct output *out;
};

static void add_json(void *buffer, const char *bytes, size_t size)
{
	buffer_add(buffer, bytes, size);
}

/* Append "KEY":"TEXT", to B, unless TEXT is empty. */
static void add_text(struct buffer *b, const char *key, const char *text)
{
	if (!*text)
		return;
	json_write(key, false, add_json, b);
	buffer_add(b, ":", 1);
	json_write(text, false, add_json, b);
	buffer_add(b, ",", 1);
}

/* Append "KEY":NUMBER, to B if NUMBER is positive. */
static void add_number(struct buffer *b, const char *key, int64_t number)
{
	char text[64];

	if (number <= 0)
		return;
	int size = snprintf(text, sizeof(text), "\"%s\":%" PRId64 ",", key, number);
	buffer_add(b, text, (size_t)size);
}

struct row_writer *row_writer_new(const struct row_options *options)
{
	struct row_writer *w = mem_zeroed(1, sizeof(*w));

	w->options = options;
	w->texts.has_details = options->details;
	w->label = mem_zeroed(PROFILE_LABELS_MAX, sizeof(*w->label));
	return w;
}

void row_writer_free(struct row_writer *w, struct report *report)
{
	if (!w)
		return;
	if (w->unsafe > 0)
		report_note(report, "%" PRIu64 " names have bytes that are not UTF-8, or "
			    "characters that move the cursor or hide text: each such byte is '?' "
			    "in the rows", w->unsafe);
	row_texts_clear(&w->texts);
	free(w->head.at);
	free(w->host.at);
	free(w->service.at);
	free(w->kinds.at);
	free(w->stack);
	free(w->label);
	free(w);
}

/*
 * Append what the comments of D say after COMMENT, up to a byte of END, if all say the same.
 */
static void add_from_comments(struct buffer *head, const char *key, const struct decoded *d,
			      const char *comment, const char *end)
{
	const char *found = NULL, *text;
	size_t size = 0;

	for (uint32_t i = 0; i < d->comments; i++) {
		text = comment_after(decoded_string(d, d->comment[i]), comment);
		if (!text)
			continue;
		size_t length = strcspn(text, end);
		if (found && (length != size || memcmp(found, text, size)))
			return;
		found = text;
		size = length;
	}
	if (!found || size == 0)
		return;
	char *name = mem_resize(NULL, size + 1);
	*(char *)mempcpy(name, found, size) = '\0';
	add_text(head, key, name);
	free(name);
}

/* Make the start of rows that were recorded at this time. */
static void start_row(struct row_writer *w, struct row_time of)
{
	int64_t time = of.time > 0 ? of.time : 0;

	w->head.size = 0;
	buffer_add(&w->head, "{", 1);
	add_number(&w->head, "time", time / NS);
	add_number(&w->head, "time_ns", time % NS);
	add_number(&w->head, "duration_ns", of.duration);
}

static void start_members(struct row_writer *w)
{
	row_origins_read(&w->origins, w->d, &w->texts);
	start_row(w, w->origins.all);
	w->host.size = w->service.size = 0;
	if (w->options->host)
		add_text(&w->host, "host", w->options->host);
	else
		add_from_comments(&w->host, "host", w->d, COMMENT_HOST, " ,");
	if (w->options->service)
		add_text(&w->service, "service", w->options->service);
	else
		add_from_comments(&w->service, "service", w->d, COMMENT_SERVICE, "");
}

/* Make the text of each type. */
static void start_kinds(struct row_writer *w)
{
	static const char value[] = "\"value\":";
	const struct decoded *d = w->d;

	w->kind = mem_zeroed(d->types, sizeof(*w->kind));
	w->kinds.size = 0;
	for (uint32_t i = 0; i < d->types; i++) {
		w->kind[i].at = w->kinds.size;
		buffer_add(&w->kinds, "\"type\":", 7);
		json_write(decoded_string(d, d->type[i].type), false, add_json, &w->kinds);
		buffer_add(&w->kinds, ",", 1);
		add_text(&w->kinds, "unit", decoded_string(d, d->type[i].unit));
		buffer_add(&w->kinds, value, sizeof(value) - 1);
		w->kind[i].size = w->kinds.size - w->kind[i].at;
	}
}

static void start(struct row_writer *w, const struct decoded *d, struct output *out)
{
	if (row_texts_size(&w->texts) > TEXTS_MAX)
		row_texts_clear(&w->texts);
	w->d = d;
	w->out = out;
	row_frames_init(&w->frames, d, &w->texts);
	start_members(w);
	start_kinds(w);
	w->group = NULL;
	w->sum = NULL;
	w->groups = 0;
	w->unsafe += d->unsafe;
	w->frames_left = FRAMES_LEAST + FRAMES_PER_BYTE * (uint64_t)d->size;
	w->written = w->left_out = w->cut = 0;
}

static void end(struct row_writer *w)
{
	row_frames_release(&w->frames);
	row_origins_release(&w->origins);
	table_release(&w->table);
	free(w->kind);
	free(w->group);
	free(w->sum);
}

/* Make room for COUNT frames. */
static void make_room(struct row_writer *w, size_t count)
{
	if (count <= w->stack_room)
		return;
	w->stack_room = 2 * count;
	w->stack = mem_resize(w->stack, w->stack_room * sizeof(*w->stack));
}

/* Put the frames of a sample into W->stack, and set *COUNT.  False: they are too many. */
static bool take_frames(struct row_writer *w, const struct decoded_sample *sample, size_t *count)
{
	size_t frames = 0;

	make_room(w, sample->locations + 1);	/* not NULL, even of an empty stack */
	for (size_t i = sample->locations; i-- > 0;) {
		if (sample->location[i] == TABLE_NONE)
			continue;
		struct row_location of = row_frames_of(&w->frames, sample->location[i]);
		if (of.count > w->frames_left)
			return false;
		w->frames_left -= of.count;
		make_room(w, frames + of.count + i);
		for (uint32_t k = of.count; k-- > 0;)
			w->stack[frames++] = w->frames.frame[of.first + k];
	}
	*count = frames;
	return true;
}

static uint32_t take_labels(struct row_writer *w, const struct decoded_sample *sample)
{
	for (size_t i = 0; i < sample->labels; i++) {
		const struct decoded_label *from = &sample->label[i];
		w->label[i] = (struct row_label){
			.key = row_frames_string(&w->frames, from->key),
			.text = from->text ? row_frames_string(&w->frames, from->text)
					   : TABLE_NONE,
			.unit = row_frames_string(&w->frames, from->unit),
			.number = from->text ? 0 : from->number,
		};
	}
	return row_texts_set(&w->texts, w->label, sample->labels);
}

static uint32_t group_of(struct row_writer *w, uint32_t stack, uint32_t set)
{
	uint64_t hash = hash_u64((uint64_t)set << 32 | stack);
	uint32_t types = w->d->types;
	uint32_t id = TABLE_FIND(&w->table, hash, i,
				 w->group[i].stack == stack && w->group[i].set == set);

	if (id != TABLE_NONE)
		return id;
	id = w->groups++;
	w->group = array_grow(w->group, id, sizeof(*w->group));
	w->group[id] = (struct group){ stack, set };
	w->sum = array_grow(w->sum, id, types * sizeof(*w->sum));
	memset(&w->sum[(size_t)id * types], 0, types * sizeof(*w->sum));
	table_add(&w->table, hash, id);
	return id;
}

/* Add a sample to its group. */
static void add_sample(struct row_writer *w, const struct decoded_sample *sample)
{
	size_t frames;

	if (!take_frames(w, sample, &frames)) {
		w->left_out++;
		return;
	}
	uint32_t stack = row_texts_stack(&w->texts, w->stack, frames);
	uint32_t group = group_of(w, stack, take_labels(w, sample));
	int64_t *sum = &w->sum[(size_t)group * w->d->types];
	for (uint32_t i = 0; i < w->d->types; i++)
		w->cut += !saturate_add(&sum[i], sample->value[i]);
}

/* Write NUMBER to TO, without a NUL.  Returns the end. */
static uint8_t *put_number(uint8_t *to, int64_t number)
{
	uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	uint8_t text[NUMBER_SIZE], *at = text + sizeof(text);

	do
		*--at = (uint8_t)('0' + left % 10);
	while (left /= 10);
	if (number < 0)
		*--at = '-';
	return mempcpy(to, at, (size_t)(text + sizeof(text) - at));
}

static void put(void *writer, const void *bytes, size_t size)
{
	struct row_writer *w = writer;

	w->written += size;
	output_write(w->out, bytes, size);
}

/* Write a part of BUFFER. */
static void put_piece(struct row_writer *w, const struct buffer *buffer, struct row_piece piece)
{
	put(w, buffer->at + piece.at, piece.size);
}

/* Write KEY, which is "host": or "service":, and NAME; NAME 0: the member of ALL rows, if any. */
static void put_member(struct row_writer *w, const char *key, uint32_t name,
		       const struct buffer *all)
{
	if (name == 0 && all->size > 0)
		put(w, all->at, all->size);
	if (name == 0)
		return;
	struct row_piece quoted = row_texts_quoted(&w->texts, name);
	put(w, key, strlen(key));
	put_piece(w, &w->texts.quotes, quoted);
	put(w, ",", 1);
}

/* Write the members up to the service. */
static void put_origin(struct row_writer *w, const struct row_set *set)
{
	uint32_t service = set->service;

	if (w->origins.has_sides || w->origins.ids.count > 0)
		start_row(w, row_origins_time(&w->origins, set));
	if (service == 0 && w->service.size == 0)
		service = set->process;
	put(w, w->head.at, w->head.size);
	put_member(w, "\"host\":", w->options->host ? 0 : set->host, &w->host);
	put_member(w, "\"service\":", w->options->service ? 0 : service, &w->service);
}

/* Write the members from the type to the number of samples. */
static void put_values(struct row_writer *w, uint32_t type, const int64_t *sum)
{
	static const char samples[] = ",\"samples\":";
	uint8_t text[sizeof(samples) + 2 * NUMBER_SIZE], *at = put_number(text, sum[type]);
	uint32_t count = w->count[type];

	/* 0 samples of a value: there were rows that do not say how many */
	if (count != TABLE_NONE && (!w->origins.is_uncounted || !sum[type] || sum[count]))
		at = put_number(mempcpy(at, samples, sizeof(samples) - 1), sum[count]);
	put_piece(w, &w->kinds, w->kind[type]);
	put(w, text, (size_t)(at - text));
}

static void put_row(struct row_writer *w, uint32_t group, uint32_t type, const int64_t *sum)
{
	const struct group *g = &w->group[group];
	const struct row_stack *stack = &w->texts.stack[g->stack];
	const struct row_set *set = &w->texts.set[g->set];

	put_origin(w, set);
	put_values(w, type, sum);
	if (stack->text.size)
		put_piece(w, &w->texts.text, stack->text);
	else
		row_texts_put_stack(&w->texts, g->stack, put, w);
	put_piece(w, &w->texts.text, set->text);
	if (stack->text.size)
		put_piece(w, &w->texts.text, stack->details);
	else
		row_texts_put_details(&w->texts, g->stack, put, w);
	put(w, "}\n", 2);
}

/* Return whether the row would say something. */
static bool has_row(const struct row_writer *w, uint32_t type, const int64_t *sum)
{
	uint32_t count = w->count[type];

	return count != type && (sum[type] || (count != TABLE_NONE && sum[count]));
}

static void pair_types(struct row_writer *w)
{
	bool *is_used = mem_zeroed(w->d->types, sizeof(*is_used));
	const int64_t *sum = w->sum;

	for (uint32_t i = 0; i < w->groups; i++)
		for (uint32_t type = 0; type < w->d->types; type++)
			is_used[type] |= *sum++ != 0;
	w->count = row_types_pair(w->d, is_used);
	free(is_used);
}

/* Write all rows of the first type, then those of the next one: so the types have an order. */
static void put_rows(struct row_writer *w)
{
	uint32_t types = w->d->types;

	pair_types(w);
	for (uint32_t type = 0; type < types; type++)
		for (uint32_t i = 0; i < w->groups && !output_ended(w->out); i++) {
			const int64_t *sum = &w->sum[(size_t)i * types];
			if (!has_row(w, type, sum))
				continue;
			if (w->written < TEXT_MAX)
				put_row(w, i, type, sum);
			else
				w->left_out++;
		}
	free(w->count);
}

void row_write(struct row_writer *w, const struct decoded *d, struct output *out)
{
	struct decoded_reader r = { .d = d };

	start(w, d, out);
	while (decoded_next(&r))
		add_sample(w, &r.sample);
	decoded_reader_release(&r);
	put_rows(w);
	output_flush(out);
	if (w->written == 0 && w->left_out == 0 && !output_ended(out))
		report_note(out->report, "a profile without samples has no rows");
	if (w->cut > 0)
		report_error(out->report, "%" PRIu64 " sums of samples do not fit into 64 bits: "
			     "they are cut to the largest number", w->cut);
	if (w->left_out > 0)
		report_error(out->report, "%" PRIu64 " samples or rows are left out: all make more "
			     "than %" PRIu64 " GiB of text, or they repeat inlined calls too often",
			     w->left_out, TEXT_MAX >> 30);
	end(w);
}
