/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/order.h"
#include "base/arena.h"
#include "base/bisect.h"

enum { CHUNK_SIZE = 256 * 1024 };	/* bytes, with the header; a power of two */

/*
 * Records are kept in chunks, which are aligned to their size: the address of a record
 * gives its chunk.  A chunk is free when all its records have been returned.
 */
struct record_chunk {
	struct record_chunk *next;	/* next free chunk */
	size_t used;		/* bytes, with this header */
	size_t live;		/* records in it that are still needed */
};

struct ordered_record {
	uint64_t time, offset;	/* the record's time, and its offset in the stream */
	const uint8_t *at;	/* the record's bytes */
};

struct order {
	struct ordered_record *entry;	/* records that wait */
	struct ordered_record *merged;	/* second array of that size, to merge runs into */
	size_t count, entry_capacity;	/* entries */
	size_t next, ready;	/* entries [next..ready) can be returned */
	size_t *run;		/* starts of runs of sorted entries, mostly one per CPU */
	size_t runs;
	struct record_chunk *chunk;	/* chunk being filled; NULL: none */
	struct record_chunk *free;	/* list of free chunks */
	struct ordered_record mark;	/* to be returned after the entries that are ready */
	bool has_mark;		/* MARK waits; if not, MARK.at is NULL or still in use */
	size_t used;		/* entries [used..next) were returned; their records are in use */
	size_t size;		/* bytes of all records kept */
	uint64_t newest;	/* newest time so far */
	uint64_t limit;		/* newest time before the last mark */
	uint64_t last_time;	/* time of the record returned last */
	uint64_t late;		/* records that came too late to be sorted */
	size_t most;		/* bytes of records and entries that may wait, see order_limit() */
};

struct order *order_new(void)
{
	struct order *o = mem_zeroed(1, sizeof(struct order));

	order_limit(o, 64 * 1024 * 1024);
	return o;
}

void order_limit(struct order *o, size_t bytes)
{
	o->most = bytes;
}

static void begin_run(struct order *o)
{
	o->run = array_grow(o->run, o->runs, sizeof(*o->run));
	o->run[o->runs++] = o->count;
}

static struct record_chunk *chunk_of(const uint8_t *at)
{
	return (struct record_chunk *)((uintptr_t)at & ~(uintptr_t)(CHUNK_SIZE - 1));
}

static size_t room_of(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* Return room for COUNT records of SIZE bytes together in a chunk. */
static uint8_t *chunk_room(struct order *o, size_t size, size_t count)
{
	if (!o->chunk || o->chunk->used + room_of(size) > CHUNK_SIZE) {
		o->chunk = o->free;
		if (o->free)
			o->free = o->free->next;
		else
			o->chunk = mem_aligned(CHUNK_SIZE, CHUNK_SIZE);
		*o->chunk = (struct record_chunk){ .used = room_of(sizeof(struct record_chunk)) };
	}
	uint8_t *at = (uint8_t *)o->chunk + o->chunk->used;
	o->chunk->used += room_of(size);
	o->chunk->live += count;
	o->size += room_of(size);
	return at;
}

/* Free the record at AT, and its chunk if that was the last one in it. */
static void drop(struct order *o, const uint8_t *at)
{
	struct record_chunk *chunk = chunk_of(at);
	struct record rec;

	o->size -= room_of(record_frame(&rec, at, false));
	if (--chunk->live > 0)
		return;
	if (chunk == o->chunk)
		o->chunk = NULL;
	chunk->next = o->free;
	o->free = chunk;
}

/* Make room for COUNT more entries. */
static void make_room(struct order *o, size_t count)
{
	if (o->count + count <= o->entry_capacity)
		return;
	o->entry_capacity = o->count ? 2 * o->count : 1024;
	o->entry = mem_resize(o->entry, o->entry_capacity * sizeof(*o->entry));
	o->merged = mem_resize(o->merged, o->entry_capacity * sizeof(*o->merged));
}

/* Add an entry, for which there is room. */
static inline void add_entry(struct order *o, struct ordered_record entry)
{
	if (o->count == 0 || o->entry[o->count - 1].time > entry.time)
		begin_run(o);
	o->entry[o->count++] = entry;
}

/* Merge the runs [a..b) and [b..end) of FROM into TO; entries of equal time keep their order. */
static void merge(const struct ordered_record *from, size_t a, size_t b, size_t end,
		  struct ordered_record *to)
{
	size_t middle = b;

	while (a < middle && b < end)
		*to++ = from[b].time < from[a].time ? from[b++] : from[a++];
	memcpy(to, from + a, (middle - a) * sizeof(*to));
	memcpy(to + (middle - a), from + b, (end - b) * sizeof(*to));
}

/* Merge each pair of adjacent runs. */
static void merge_pairs(struct order *o)
{
	struct ordered_record *entry = o->entry;
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

/* Sort by merging runs: the records of each CPU come in order, so there are few runs. */
static void sort(struct order *o)
{
	while (o->runs > 1)
		merge_pairs(o);
}

/* Sort, and let order_next() return all records that are not newer than LIMIT. */
static void make_ready(struct order *o, uint64_t limit)
{
	sort(o);
	o->used = o->next = 0;
	o->ready = BISECT(0, o->count, i, o->entry[i].time > limit);
}

void order_pass(struct order *o, uint64_t time)
{
	o->late += time < o->last_time;
	if (time > o->newest)
		o->newest = time;
}

/* If the stream has no marks, or a round is too long, let order_next() return the older half. */
static void limit_waiting(struct order *o)
{
	if (o->size + 2 * o->count * sizeof(*o->entry) <= o->most)
		return;
	make_ready(o, UINT64_MAX);
	o->ready = o->count / 2;
	o->limit = o->entry[o->ready].time;
}

void order_add(struct order *o, const struct record *rec, uint64_t time)
{
	size_t size = record_size(rec);
	uint8_t *to = chunk_room(o, size, 1);

	memcpy(to, record_bytes(rec), size);
	order_pass(o, time);
	make_room(o, 1);
	add_entry(o, (struct ordered_record){ time, rec->offset, to });
	limit_waiting(o);
}

void order_add_all(struct order *o, const uint8_t *at, uint64_t offset,
		   const struct order_item *item, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += item[i].size;
	uint8_t *to = chunk_room(o, size, count);
	memcpy(to, at, size);
	make_room(o, count);
	for (size_t i = 0; i < count; i++) {
		order_pass(o, item[i].time);
		add_entry(o, (struct ordered_record){ item[i].time, offset, to });
		to += item[i].size;
		offset += item[i].size;
	}
	limit_waiting(o);
}

void order_round(struct order *o, const struct record *mark)
{
	make_ready(o, o->limit);
	uint8_t *to = chunk_room(o, record_size(mark), 1);
	memcpy(to, record_bytes(mark), record_size(mark));
	o->mark = (struct ordered_record){ o->limit, mark->offset, to };
	o->has_mark = true;
	o->limit = o->newest;
}

void order_end(struct order *o)
{
	make_ready(o, UINT64_MAX);
}

/* Remove the entries that were returned, and move the rest to the front. */
static void compact(struct order *o)
{
	o->count -= o->ready;
	memmove(o->entry, o->entry + o->ready, o->count * sizeof(*o->entry));
	o->runs = o->count > 0;	/* the rest is one sorted run */
	o->used = o->next = o->ready = 0;
}

static void show(struct order *o, const struct ordered_record *e, struct record *rec)
{
	record_frame(rec, e->at, false);
	rec->trailing = (struct cursor){ 0 };
	rec->offset = e->offset;
	o->last_time = e->time;
}

/* Free the records that were returned. */
static void drop_used(struct order *o)
{
	while (o->used < o->next)
		drop(o, o->entry[o->used++].at);
	if (o->mark.at && !o->has_mark) {
		drop(o, o->mark.at);
		o->mark.at = NULL;
	}
}

bool order_next(struct order *o, struct record *rec)
{
	drop_used(o);
	if (o->next < o->ready) {
		show(o, &o->entry[o->next++], rec);
		return true;
	}
	if (o->ready > 0)
		compact(o);
	if (!o->has_mark)
		return false;
	o->has_mark = false;
	show(o, &o->mark, rec);
	return true;
}

bool order_has_next(const struct order *o)
{
	return o->next < o->ready || o->has_mark;
}

bool order_next_of(struct order *o, uint32_t type, struct record *rec)
{
	uint32_t next;

	if (o->next == o->ready)	/* a mark is not in a run */
		return false;
	memcpy(&next, o->entry[o->next].at, sizeof(next));
	if (next == type)
		show(o, &o->entry[o->next++], rec);
	return next == type;
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
	order_end(o);		/* return all records, so that their chunks are freed */
	while (order_next(o, &rec))
		;
	while (o->free) {
		struct record_chunk *chunk = o->free;
		o->free = chunk->next;
		free(chunk);
	}
	free(o->entry);
	free(o->merged);
	free(o->run);
	free(o);
}
