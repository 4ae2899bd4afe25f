/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/order.h"
#include "base/arena.h"

/* Bytes of records and of what is kept beside them; more, and the older half goes. */
enum { WAITING_MAX = 64 * 1024 * 1024 };

struct entry {
	uint64_t time, offset;	/* of the record in its stream */
	size_t at;		/* where its bytes are kept */
};

struct order {
	struct entry *entry;
	struct entry *merged;	/* as large: runs are merged from one to the other */
	size_t count, entry_capacity;	/* entries */
	size_t next, going;	/* entries [next..going) come out */
	size_t *run;		/* where runs of entries in order begin: each CPU's, mostly */
	size_t runs;
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

static void begin_run(struct order *o)
{
	o->run = array_grow(o->run, o->runs, sizeof(*o->run));
	o->run[o->runs++] = o->count;
}

static void keep(struct order *o, const struct record *rec, uint64_t time)
{
	size_t size = record_size(rec), room = (size + 7) & ~(size_t)7;

	if (o->size + room > o->capacity) {
		o->capacity = 2 * o->capacity + room + RECORD_MAX_SIZE;
		o->bytes = mem_resize(o->bytes, o->capacity);
	}
	memcpy(o->bytes + o->size, record_bytes(rec), size);
	if (o->count == o->entry_capacity) {
		o->entry_capacity = o->count ? 2 * o->count : 1024;
		o->entry = mem_resize(o->entry, o->entry_capacity * sizeof(*o->entry));
		o->merged = mem_resize(o->merged, o->entry_capacity * sizeof(*o->merged));
	}
	if (o->count == 0 || o->entry[o->count - 1].time > time)
		begin_run(o);
	o->entry[o->count] = (struct entry){ time, rec->offset, o->size };
	o->count++;
	o->size += room;
}

/* Merge the runs FROM [a..b) and [b..end) into TO; equal times keep the order they came in. */
static void merge(const struct entry *from, size_t a, size_t b, size_t end, struct entry *to)
{
	size_t middle = b;

	while (a < middle && b < end)
		*to++ = from[b].time < from[a].time ? from[b++] : from[a++];
	memcpy(to, from + a, (middle - a) * sizeof(*to));
	memcpy(to + (middle - a), from + b, (end - b) * sizeof(*to));
}

/* Each pair of neighbouring runs becomes one. */
static void merge_pairs(struct order *o)
{
	struct entry *entry = o->entry;
	size_t kept = 0;

	for (size_t i = 0; i < o->runs; i += 2) {
		size_t begin = o->run[i];
		size_t middle = i + 1 < o->runs ? o->run[i + 1] : o->count;
		size_t end = i + 2 < o->runs ? o->run[i + 2] : o->count;
		merge(entry, begin, middle, end, o->merged + begin);
		o->run[kept++] = begin;
	}
	o->runs = kept;
	o->entry = o->merged;
	o->merged = entry;
}

/* The records of each CPU come in order: it takes little to merge these. */
static void sort(struct order *o)
{
	while (o->runs > 1)
		merge_pairs(o);
}

/* What is not newer than LIMIT comes out. */
static void let_go(struct order *o, uint64_t limit)
{
	sort(o);
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
	/* No marks come, or a round is too long. */
	if (o->size + 2 * o->count * sizeof(*o->entry) > WAITING_MAX) {
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
		o->entry[i] = (struct entry){ e.time, e.offset, o->size };
		o->size += ((size_t)size + 7) & ~(size_t)7;
	}
	uint8_t *bytes = o->bytes;
	size_t capacity = o->capacity;
	o->bytes = o->spare;
	o->capacity = o->spare_capacity;
	o->spare = bytes;
	o->spare_capacity = capacity;
	o->count = left;
	o->runs = left > 0;	/* what is left is in order, from 0 on */
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
	record_frame(rec, at, false);
	rec->behind = (struct cursor){ 0 };
	rec->offset = e->offset;
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
	free(o->merged);
	free(o->run);
	free(o->bytes);
	free(o->spare);
	free(o);
}
