/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/order.h"
#include "base/arena.h"

/* Bytes of records and of what is kept beside them; more, and the older half goes. */
enum { WAITING_MAX = 64 * 1024 * 1024 };

enum { CHUNK_SIZE = 256 * 1024 };	/* bytes, with its head; a power of two; some records */

/*
 * Records are kept in chunks, aligned to their size: so the chunk of a record
 * is known by its address, and free once all in it have come out.
 */
struct chunk {
	struct chunk *next;	/* of those that are free */
	size_t used;		/* bytes, with this head */
	size_t live;		/* records in it that wait */
};

struct entry {
	uint64_t time, offset;	/* of the record in its stream */
	const uint8_t *at;	/* its bytes */
};

struct order {
	struct entry *entry;
	struct entry *merged;	/* as large: runs are merged from one to the other */
	size_t count, entry_capacity;	/* entries */
	size_t next, going;	/* entries [next..going) come out */
	size_t *run;		/* where runs of entries in order begin: each CPU's, mostly */
	size_t runs;
	struct chunk *chunk;	/* the one being filled; NULL: none */
	struct chunk *free;
	const uint8_t *out;	/* the record that came out last: its user may still look at it */
	size_t size;		/* bytes of all that wait */
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

static struct chunk *chunk_of(const uint8_t *at)
{
	return (struct chunk *)((uintptr_t)at & ~(uintptr_t)(CHUNK_SIZE - 1));
}

static size_t room_of(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* Room for a record of SIZE bytes. */
static uint8_t *place(struct order *o, size_t size)
{
	if (!o->chunk || o->chunk->used + room_of(size) > CHUNK_SIZE) {
		o->chunk = o->free;
		if (o->free)
			o->free = o->free->next;
		else
			o->chunk = mem_aligned(CHUNK_SIZE, CHUNK_SIZE);
		*o->chunk = (struct chunk){ .used = room_of(sizeof(struct chunk)) };
	}
	uint8_t *at = (uint8_t *)o->chunk + o->chunk->used;
	o->chunk->used += room_of(size);
	o->chunk->live++;
	o->size += room_of(size);
	return at;
}

/* The record at AT is not needed any more. */
static void drop(struct order *o, const uint8_t *at)
{
	struct chunk *chunk = chunk_of(at);
	struct record rec;

	o->size -= room_of(record_frame(&rec, at, false));
	if (--chunk->live > 0)
		return;
	if (chunk == o->chunk)
		o->chunk = NULL;
	chunk->next = o->free;
	o->free = chunk;
}

static void keep(struct order *o, const struct record *rec, uint64_t time)
{
	size_t size = record_size(rec);
	uint8_t *at = place(o, size);

	memcpy(at, record_bytes(rec), size);
	if (o->count == o->entry_capacity) {
		o->entry_capacity = o->count ? 2 * o->count : 1024;
		o->entry = mem_resize(o->entry, o->entry_capacity * sizeof(*o->entry));
		o->merged = mem_resize(o->merged, o->entry_capacity * sizeof(*o->merged));
	}
	if (o->count == 0 || o->entry[o->count - 1].time > time)
		begin_run(o);
	o->entry[o->count] = (struct entry){ time, rec->offset, at };
	o->count++;
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

/* Forget the entries of what came out, move the rest to the front. */
static void compact(struct order *o)
{
	o->count -= o->going;
	memmove(o->entry, o->entry + o->going, o->count * sizeof(*o->entry));
	o->runs = o->count > 0;	/* what is left is in order, from 0 on */
	o->next = o->going = 0;
}

bool order_next(struct order *o, struct record *rec)
{
	if (o->out)
		drop(o, o->out);
	o->out = NULL;
	if (o->next == o->going) {
		if (o->going > 0)
			compact(o);
		return false;
	}
	const struct entry *e = &o->entry[o->next++];
	record_frame(rec, e->at, false);
	rec->behind = (struct cursor){ 0 };
	rec->offset = e->offset;
	o->gone = e->time;
	o->out = e->at;
	return true;
}

uint64_t order_late(const struct order *o)
{
	return o->late;
}

void order_free(struct order *o)
{
	struct record rec;

	if (!o)
		return;
	while (order_next(o, &rec))
		;
	order_end(o);		/* what waits has to give its chunk back */
	while (order_next(o, &rec))
		;
	while (o->free) {
		struct chunk *chunk = o->free;
		o->free = chunk->next;
		free(chunk);
	}
	free(o->entry);
	free(o->merged);
	free(o->run);
	free(o);
}
