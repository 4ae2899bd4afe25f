/* SPDX-License-Identifier: Apache-2.0 */
#include "relay/exchange.h"
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010	/* Linux 5.1 */
#endif

enum { OPEN, ANSWERED, WITHDRAWN };	/* states of a question */

/* A part of the shared memory: a header, then bytes that are mapped twice in a row. */
struct area {
	size_t header, size;
};

static size_t round_to_page(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static struct area records_area(const struct exchange *x)
{
	return (struct area){ round_to_page(sizeof(struct exchange_records)), x->size };
}

static struct area results_area(const struct exchange *x)
{
	return (struct area){ round_to_page(sizeof(struct exchange_results)), x->size / 4 };
}

static void unmap(void *at, struct area a)
{
	if (at)
		munmap(at, a.header + 2 * a.size);
}

/* Map the area A of FD.  Returns NULL with errno. */
static void *map(int fd, struct area a, int access)
{
	uint8_t *at = mmap(NULL, a.header + 2 * a.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	off_t bytes = (off_t)a.header;

	if (at == MAP_FAILED)
		return NULL;
	if (mmap(at, a.header + a.size, access, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED &&
	    mmap(at + a.header + a.size, a.size, access, MAP_SHARED | MAP_FIXED, fd, bytes) !=
		    MAP_FAILED)
		return at;
	unmap(at, a);
	return NULL;
}

/* Make memory for area A, and map it at *AT.  Returns its descriptor, or -1 with errno. */
static int make(const char *name, struct area a, void *at)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *mapped = NULL;

	if (fd >= 0 && ftruncate(fd, (off_t)(a.header + a.size)) == 0)
		mapped = map(fd, a, PROT_READ | PROT_WRITE);
	if (!mapped && fd >= 0) {
		close(fd);
		return -1;
	}
	if (fd >= 0)
		memcpy(at, &mapped, sizeof(mapped));
	return fd;
}

bool exchange_open(struct exchange *x, size_t size)
{
	*x = (struct exchange){ .size = size, .fd = -1 };
	int results = make("pmu-sample results", results_area(x), &x->results);
	if (results < 0)
		return false;
	close(results);
	x->fd = make("pmu-sample records", records_area(x), &x->records);
	if (x->fd < 0) {
		exchange_close(x);
		return false;
	}
	/*
	 * Our mapping stays writable; no other process can make one.  (Before Linux 5.1 it could.)
	 */
	fcntl(x->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW);
	x->record_bytes = (uint8_t *)x->records + records_area(x).header;
	x->result_bytes = (uint8_t *)x->results + results_area(x).header;
	return true;
}

void exchange_close(struct exchange *x)
{
	unmap(x->records, records_area(x));
	unmap(x->results, results_area(x));
	descriptor_close(x->fd);
	*x = (struct exchange){ .fd = -1 };
}

bool exchange_enter(struct exchange *x)
{
	void *at = map(x->fd, records_area(x), PROT_READ);

	unmap(x->records, records_area(x));
	close(x->fd);
	x->fd = -1;
	x->records = at;
	x->record_bytes = at ? (uint8_t *)at + records_area(x).header : NULL;
	return at;
}

uint64_t exchange_memory(const struct exchange *x)
{
	return records_area(x).header + records_area(x).size + results_area(x).header +
	       results_area(x).size;
}

void exchange_spare(struct exchange *x, bool spares)
{
	__atomic_store_n(&x->results->spares, spares, __ATOMIC_RELAXED);
}

bool exchange_spares(const struct exchange *x)
{
	return __atomic_load_n(&x->results->spares, __ATOMIC_RELAXED) != 0;
}

uint64_t exchange_progress(const struct exchange *x)
{
	uint64_t tail = __atomic_load_n(&x->results->tail, __ATOMIC_ACQUIRE);

	return tail <= x->head ? tail : x->head;	/* do not trust the helper */
}

void *exchange_room(struct exchange *x, size_t size, bool is_question)
{
	uint64_t done = exchange_progress(x);
	uint64_t oldest = done < x->free_from ? done : x->free_from;
	uint64_t limit = is_question ? x->size - x->size / 4 : x->size;

	if (x->head - oldest + sizeof(struct exchange_entry) + size + 7 > limit ||
	    (is_question && x->asked - x->taken == EXCHANGE_QUESTIONS))
		return NULL;
	return x->record_bytes + (x->head & (x->size - 1)) + sizeof(struct exchange_entry);
}

uint64_t exchange_put(struct exchange *x, size_t size, uint32_t event, bool is_question)
{
	uint64_t number = is_question ? x->asked++ : EXCHANGE_NO_QUESTION;
	struct exchange_entry entry = { .question = number, .event = event,
					.size = (uint32_t)(size + 7) & ~7U };

	memcpy(x->record_bytes + (x->head & (x->size - 1)), &entry, sizeof(entry));
	if (is_question)
		__atomic_store_n(&x->results->state[number % EXCHANGE_QUESTIONS],
				 4 * number + OPEN, __ATOMIC_RELAXED);
	x->head += sizeof(entry) + entry.size;
	/* Release: the helper sees the head only after the record and the state. */
	__atomic_store_n(&x->records->head, x->head, __ATOMIC_RELEASE);
	return number;
}

bool exchange_is_answered(const struct exchange *x, uint64_t number)
{
	return __atomic_load_n(&x->results->state[number % EXCHANGE_QUESTIONS],
			       __ATOMIC_ACQUIRE) == 4 * number + ANSWERED;
}

size_t exchange_take(struct exchange *x, uint64_t number, void *out)
{
	const uint64_t room = x->size / 4;
	uint64_t open = 4 * number + OPEN;
	size_t i = number % EXCHANGE_QUESTIONS;

	x->taken++;
	if (__atomic_compare_exchange_n(&x->results->state[i], &open, 4 * number + WITHDRAWN,
					false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
	    open != 4 * number + ANSWERED)
		return 0;
	uint64_t at = __atomic_load_n(&x->results->result[i].at, __ATOMIC_RELAXED);
	uint64_t size = __atomic_load_n(&x->results->result[i].size, __ATOMIC_RELAXED);
	if (size == 0 || size > RECORD_MAX_SIZE)
		return 0;
	memcpy(out, x->result_bytes + (at & (room - 1)), size);
	__atomic_store_n(&x->records->results_tail, at + size, __ATOMIC_RELEASE);
	return size;
}

const struct exchange_entry *exchange_next(struct exchange *x)
{
	/* Release: the recorder overwrites the records only after we have processed them. */
	__atomic_store_n(&x->results->tail, x->tail, __ATOMIC_RELEASE);
	if (__atomic_load_n(&x->records->head, __ATOMIC_ACQUIRE) == x->tail)
		return NULL;
	const struct exchange_entry *entry =
		(const void *)(x->record_bytes + (x->tail & (x->size - 1)));
	x->tail += sizeof(*entry) + entry->size;
	return entry;
}

void *exchange_answer_room(struct exchange *x)
{
	uint64_t taken = __atomic_load_n(&x->records->results_tail, __ATOMIC_ACQUIRE);

	if (x->results_head - taken + RECORD_MAX_SIZE > x->size / 4)
		return NULL;
	return x->result_bytes + (x->results_head & (x->size / 4 - 1));
}

void exchange_answer(struct exchange *x, const struct exchange_entry *entry, size_t size)
{
	size_t i = entry->question % EXCHANGE_QUESTIONS;
	uint64_t open = 4 * entry->question + OPEN;

	x->results->result[i].at = x->results_head;
	x->results->result[i].size = size;
	/* Release: the recorder reads the result after the state. */
	if (__atomic_compare_exchange_n(&x->results->state[i], &open,
					4 * entry->question + ANSWERED, false, __ATOMIC_RELEASE,
					__ATOMIC_RELAXED))
		x->results_head += size;
}

bool exchange_is_withdrawn(const struct exchange *x, const struct exchange_entry *entry)
{
	return __atomic_load_n(&x->results->state[entry->question % EXCHANGE_QUESTIONS],
			       __ATOMIC_RELAXED) != 4 * entry->question + OPEN;
}
