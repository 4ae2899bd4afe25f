/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/order.h"
#include "base/arena.h"

enum { WAITING_MAX = 64 * 1024 * 1024 };	/* bytes; more, and the older half goes */

struct entry {
	uint64_t time, offset;	/* of the record in its stream */
	size_t at;		/* where its bytes are kept */
	size_t sequence;	/* equal times keep the order they came in */
};

struct order {
	struct entry *entry;
	size_t count;		/* entries */
	size_t next, going;	/* entries [next..going) come out */
	bool is_sorted;		/* they came in order */
	uint8_t *bytes, *spare;	/* the records; SPARE is for moving what is left */
	size_t size, capacity, spare_capacity;
	uint64_t newest;	/* time, of all so far */
	uint64_t limit;		/* the newest of the round before */
	uint64_t gone;		/* newest time that has come out */
	uint64_t late;
};

struct order *order_new(void)
{
	return mem_zeroed(1, sizeof(struct order));
}

static void keep(struct order *o, const struct record *rec, uint64_t time)
{
	size_t size = record_size(rec), room = (size + 7) & ~(size_t)7;

	if (o->size + room > o->capacity) {
		o->capacity = 2 * o->capacity + room + RECORD_MAX_SIZE;
		o->bytes = mem_resize(o->bytes, o->capacity);
	}
	memcpy(o->bytes + o->size, record_bytes(rec), size);
	o->entry = array_grow(o->entry, o->count, sizeof(*o->entry));
	o->is_sorted = o->count == 0 || (o->is_sorted && o->entry[o->count - 1].time <= time);
	o->entry[o->count] = (struct entry){ time, rec->offset, o->size, o->count };
	o->count++;
	o->size += room;
}

static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* What is not newer than LIMIT comes out. */
static void let_go(struct order *o, uint64_t limit)
{
	if (!o->is_sorted && o->count > 1)
		qsort(o->entry, o->count, sizeof(*o->entry), by_time);
	o->is_sorted = true;
	o->next = o->going = 0;
	while (o->going < o->count && o->entry[o->going].time <= limit)
		o->going++;
}

void order_add(struct order *o, const struct record *rec, uint64_t time)
{
	o->late += time < o->gone;
	if (time > o->newest)
		o->newest = time;
	keep(o, rec, time);
	if (o->size > WAITING_MAX) {	/* no marks come, or a round is too long */
		let_go(o, UINT64_MAX);
		o->going = o->count / 2;
		o->limit = o->entry[o->going].time;
	}
}

void order_round(struct order *o, const struct record *mark)
{
	keep(o, mark, o->limit);	/* the last of its time: it came last */
	let_go(o, o->limit);
	o->limit = o->newest;
}

void order_end(struct order *o)
{
	let_go(o, UINT64_MAX);
}

/* Forget the bytes of what came out, move the rest to the front. */
static void compact(struct order *o)
{
	size_t left = o->count - o->going;

	if (o->spare_capacity < o->capacity) {
		o->spare_capacity = o->capacity;
		o->spare = mem_resize(o->spare, o->spare_capacity);
	}
	o->size = 0;
	for (size_t i = 0; i < left; i++) {
		struct entry e = o->entry[o->going + i];
		uint16_t size;
		memcpy(&size, o->bytes + e.at + 6, sizeof(size));
		memcpy(o->spare + o->size, o->bytes + e.at, size);
		o->entry[i] = (struct entry){ e.time, e.offset, o->size, i };
		o->size += ((size_t)size + 7) & ~(size_t)7;
	}
	uint8_t *bytes = o->bytes;
	size_t capacity = o->capacity;
	o->bytes = o->spare;
	o->capacity = o->spare_capacity;
	o->spare = bytes;
	o->spare_capacity = capacity;
	o->count = left;
	o->next = o->going = 0;
}

bool order_next(struct order *o, struct record *rec)
{
	if (o->next == o->going) {
		if (o->going > 0)
			compact(o);
		return false;
	}
	const struct entry *e = &o->entry[o->next++];
	const uint8_t *at = o->bytes + e->at;
	struct cursor c = { .at = at, .end = at + RECORD_HEADER_SIZE };
	rec->type = cursor_u32(&c);
	rec->misc = cursor_u16(&c);
	rec->made = false;
	rec->offset = e->offset;
	size_t size = cursor_u16(&c);
	rec->body = (struct cursor){ .at = c.at, .end = at + size };
	o->gone = e->time;
	return true;
}

uint64_t order_late(const struct order *o)
{
	return o->late;
}

void order_free(struct order *o)
{
	if (!o)
		return;
	free(o->entry);
	free(o->bytes);
	free(o->spare);
	free(o);
}
