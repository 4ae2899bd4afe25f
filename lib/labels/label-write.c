/* SPDX-License-Identifier: Apache-2.0 */
/* label-write - writes labels records to the stream, each before its sample. */
#include "base/cursor.h"
#include "base/hex.h"
#include "labels/label-recorder.h"
#include "stream/writer.h"

#include <stdio.h>

/* The raw data of a labels record (record/label-payload.h). */
struct label_payload {
	uint8_t status, n, flags, form;
	uint32_t event, count;
	uint64_t ip;
	size_t used;		/* bytes of PAIR */
	uint8_t pair[LABEL_PAYLOAD_TEXT];
};

/* Leave a label out of the count, which comes from the target's memory and may be any number. */
static void uncount(struct label_payload *p)
{
	p->count -= p->count > 0;
}

/* Return whether labels with the key of SIZE bytes are recorded. */
static bool is_wanted(const struct label_options *o, const uint8_t *key, size_t size)
{
	if (o->keys == 0)
		return true;
	for (size_t i = 0; i < o->keys; i++)
		if (strlen(o->key[i]) == size && !memcmp(o->key[i], key, size))
			return true;
	return false;
}

/* Append a pair if it is wanted and fits; otherwise it counts as left out. */
static void add_pair(struct label_payload *p, const struct label_options *options,
		     const uint8_t *key, size_t key_size, const uint8_t *value, size_t value_size)
{
	if (!is_wanted(options, key, key_size)) {
		uncount(p);
		return;
	}
	if (p->n == LABEL_PAIRS_MAX || p->used + 2 + key_size + value_size > sizeof(p->pair))
		return;
	p->pair[p->used++] = (uint8_t)key_size;
	memcpy(p->pair + p->used, key, key_size);
	p->used += key_size;
	p->pair[p->used++] = (uint8_t)value_size;
	memcpy(p->pair + p->used, value, value_size);
	p->used += value_size;
	p->n++;
}

/* Return whether P has a pair with this key. */
static bool has_key(const struct label_payload *p, const uint8_t *key, size_t size)
{
	for (size_t at = 0; at < p->used; ) {
		if (p->pair[at] == size && !memcmp(p->pair + at + 1, key, size))
			return true;
		at += 1U + p->pair[at];
		at += 1U + p->pair[at];
	}
	return false;
}

static void copy_pairs(struct label_payload *p, const struct label_options *options,
		       struct cursor *c, unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++) {
		uint8_t key_size = cursor_u8(c);
		const uint8_t *key = cursor_bytes(c, key_size);
		uint8_t value_size = cursor_u8(c);
		const uint8_t *value = cursor_bytes(c, value_size);
		if (c->failed)
			break;
		if (p->form == LABEL_FORM_CUSTOM && has_key(p, key, key_size))
			uncount(p);	/* the first of equal keys counts */
		else
			add_pair(p, options, key, key_size, value, value_size);
	}
}

/* Add an id of SIZE bytes as hexadecimal digits. */
static void add_id(struct label_payload *p, const struct label_options *options, const char *key,
		   const uint8_t *id, size_t size)
{
	char text[2 * 16 + 1];

	hex_write(text, id, size);
	p->count++;
	add_pair(p, options, (const uint8_t *)key, strlen(key), (const uint8_t *)text, 2 * size);
}

/*
 * Add the attributes in C: u8 number, u8 size, value.  The last value of a number counts.  An
 * attribute that does not end in C was cut.
 */
static void add_attributes(struct label_payload *p, struct label_recorder *l, pid_t pid,
			   struct cursor c)
{
	const uint8_t *last[LABEL_NAMES_MAX] = { NULL };
	char number[16];

	for (struct cursor all = c; cursor_left(&all); ) {
		const uint8_t *at = all.at;
		uint8_t name = cursor_u8(&all), size = cursor_u8(&all);
		if (!cursor_bytes(&all, size)) {
			p->flags |= LABEL_CUT;
			break;
		}
		last[name] = at;
	}
	for (int i = 0; i < LABEL_NAMES_MAX; i++) {
		if (!last[i])
			continue;
		const char *key = label_names_find(&l->targets.names, pid, (uint8_t)i);
		if (!key) {
			snprintf(number, sizeof(number), "attribute-%d", i);
			key = number;
		}
		p->count++;
		add_pair(p, l->options, (const uint8_t *)key, strlen(key), last[i] + 2, last[i][1]);
	}
}

/* C is a thread context of SIZE bytes, as the program copied it: see label-program.c. */
static void read_context(struct label_payload *p, struct label_recorder *l, pid_t pid,
			 struct cursor c, uint32_t size)
{
	enum { TRACE = 16, SPAN = 8 };
	uint16_t attributes;

	const uint8_t *head = cursor_bytes(&c, LABEL_OTEL_HEAD);
	p->count = 0;
	if (!head || size < LABEL_OTEL_HEAD || size - LABEL_OTEL_HEAD > cursor_left(&c))
		return;
	memcpy(&attributes, head + LABEL_OTEL_HEAD - sizeof(attributes), sizeof(attributes));
	if (l->options->sources & LABEL_IDS) {
		add_id(p, l->options, "trace_id", head, TRACE);
		add_id(p, l->options, "span_id", head + TRACE, SPAN);
	}
	c.end = c.at + (size - LABEL_OTEL_HEAD);
	if (attributes > LABEL_OTEL_MAX)
		p->flags |= LABEL_CUT;
	add_attributes(p, l, pid, c);
}

/*
 * Read the raw data at C, as the program wrote it, into P, with names, and with allowed labels
 * only.
 */
static void read_payload(struct label_payload *p, struct label_recorder *l, pid_t pid,
			 struct cursor c)
{
	cursor_u32(&c);			/* LABEL_MAGIC */
	p->status = cursor_u8(&c);
	unsigned pairs = cursor_u8(&c);
	p->flags = cursor_u8(&c);
	p->form = cursor_u8(&c);
	p->event = (uint32_t)cursor_u64(&c);
	p->ip = cursor_u64(&c);
	uint32_t size = cursor_u32(&c);
	p->count = cursor_u32(&c);
	p->n = 0;
	p->used = 0;
	if (p->status != LABEL_STATUS_LABELS)
		p->count = 0;
	else if (p->form == LABEL_FORM_OTEL)
		read_context(p, l, pid, c, size);
	else
		copy_pairs(p, l->options, &c, pairs);
	if (p->count < p->n)
		p->count = p->n;
	if (p->status == LABEL_STATUS_LABELS && p->count == 0)
		p->status = LABEL_STATUS_NONE;
}

static void count(struct label_records *c, const struct label_payload *p)
{
	switch (p->status) {
	case LABEL_STATUS_LABELS:
		c->labelled++;
		c->cut += p->flags || p->count > p->n;
		break;
	case LABEL_STATUS_BAD_G:
	case LABEL_STATUS_FAULT:
		c->unreadable++;
		break;
	default:
		c->without++;
	}
}

/* Write KEPT, with P as its raw data, and with TIME. */
static void write_payload(const struct label_recorder *l, const struct kept_labels *kept,
			  const struct label_payload *p, const uint8_t *time, struct output *out)
{
	static const uint8_t zeros[8];
	uint8_t fields[128];		/* without raw data */
	uint32_t size = (uint32_t)(LABEL_PAYLOAD_HEAD + p->used);
	uint32_t padded = ((size + sizeof(uint32_t) + 7) & ~7U) - (uint32_t)sizeof(uint32_t);
	struct perf_event_header header;
	struct writer w;

	memcpy(&header, kept->record, sizeof(header));
	memcpy(fields, kept->record + sizeof(header), l->raw);
	memcpy(fields + l->time, time, sizeof(uint64_t));
	writer_begin(&w, out, PERF_RECORD_SAMPLE, header.misc);
	writer_bytes(&w, fields, l->raw);
	writer_u32(&w, padded);
	writer_u32(&w, LABEL_MAGIC);
	writer_u8(&w, p->status);
	writer_u8(&w, p->n);
	writer_u8(&w, p->flags);
	writer_u8(&w, p->form);
	writer_u64(&w, p->event);
	writer_u64(&w, p->ip);
	writer_u32(&w, (uint32_t)p->used);
	writer_u32(&w, p->count);
	writer_bytes(&w, p->pair, p->used);
	writer_bytes(&w, zeros, padded - size);
	writer_end(&w);
}

void label_recorder_write(struct label_recorder *l, const struct kept_labels *kept,
			  const struct perf_event_header *sample,
			  const struct sample_layout *layout, struct output *out)
{
	struct label_payload p;

	if (!kept) {
		l->counts.unknown++;
		return;
	}
	const uint8_t *raw = kept->record + sizeof(*sample) + l->raw + sizeof(uint32_t);
	read_payload(&p, l, kept->pid,
		     (struct cursor){ .at = raw, .end = kept->record + kept->size });
	count(&l->counts, &p);
	write_payload(l, kept, &p, (const uint8_t *)(sample + 1) + layout->time, out);
}
