/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record - the records of a stream, one by one (pmu-stream(5)).
 *
 * A record is a view: it owns nothing, and its bytes stay valid until the
 * next stream_next() on the reader it came from.
 */
#pragma once
#include "base/cursor.h"

#include <linux/perf_event.h>
#include <sys/types.h>

/* Types that perf's user space adds to the kernel's (tools/perf: enum perf_user_event_type). */
enum {
	RECORD_ATTR		= 64,	/* an event: its attr and ids */
	RECORD_EVENT_TYPE	= 65,
	RECORD_TRACING_DATA	= 66,	/* followed by bytes its own size does not count */
	RECORD_BUILD_ID		= 67,
	RECORD_FINISHED_ROUND	= 68,	/* nothing older than the round before comes after this */
	RECORD_ID_INDEX		= 69,
	RECORD_AUXTRACE_INFO	= 70,
	RECORD_AUXTRACE		= 71,	/* followed by bytes its own size does not count */
	RECORD_AUXTRACE_ERROR	= 72,
	RECORD_THREAD_MAP	= 73,
	RECORD_CPU_MAP		= 74,
	RECORD_EVENT_UPDATE	= 78,	/* an event's name, unit, ... */
	RECORD_TIME_CONV	= 79,
	RECORD_FEATURE		= 80,	/* a header feature: host, kernel, command line, ... */
	RECORD_COMPRESSED	= 81,	/* zstd data: more records */
	RECORD_COMPRESSED2	= 83,	/* the same, with their size */
};

/* Types that simpleperf adds (its record.h); of these only the two named are read. */
enum {
	RECORD_SIMPLEPERF	= 32769,	/* the first, KERNEL_SYMBOL */
	RECORD_EVENT_ID		= 32774,	/* of which events ids are, where it has merged */
	RECORD_LARGE_TRACING_DATA = 32777,	/* u32 size, then the data, inside the record */
	RECORD_SIMPLEPERF_END	= 32779,
};

/* Types of the resolved stream (stream/resolved.h); its other records are the recording's own. */
enum {
	RECORD_STRING		= 0x504d0000,
	RECORD_OBJECT		= 0x504d0001,
	RECORD_FUNCTION		= 0x504d0002,
	RECORD_FRAME		= 0x504d0003,
	RECORD_RESOLVED_SAMPLE	= 0x504d0004,
	RECORD_TOOL		= 0x504d0005,
	RECORD_END		= 0x504d0006,
};

static inline bool record_is_resolved(uint32_t type)
{
	return type >= RECORD_STRING && type <= RECORD_END;
}

enum {
	RECORD_HEADER_SIZE = 8,		/* u32 type, u16 misc, u16 size */
	RECORD_MAX_SIZE = 65535,	/* the size is a u16 */
	BUILD_ID_MAX = 20,		/* bytes */
	BUILD_ID_HEX = 2 * BUILD_ID_MAX + 1,	/* digits, and a NUL */
	GO_BUILD_ID_MAX = 128,		/* bytes of Go's own, with a NUL; 84 are usual */
};

struct record {
	uint32_t type;		/* PERF_RECORD_*, RECORD_*, or ours from 0x504d0000 */
	uint16_t misc;		/* PERF_RECORD_MISC_* */
	bool made;		/* made from a file's header: no record of the file itself */
	uint64_t offset;	/* of the record's header, bytes from the stream's start */
	struct cursor body;	/* what follows the 8-byte header, which stands right before it */
	struct cursor behind;	/* what follows without being part of it: that of TRACING_DATA,
				   which simpleperf's has inside, and gets put there */
};

/*
 * The record at AT into *REC, by its header alone, which is of the other byte
 * order where SWAP.  Its size, which is to be checked, is returned.
 */
static inline size_t record_frame(struct record *rec, const uint8_t *at, bool swap)
{
	struct cursor c = { .at = at, .end = at + RECORD_HEADER_SIZE, .swap = swap };

	rec->type = cursor_u32(&c);
	rec->misc = cursor_u16(&c);
	size_t size = cursor_u16(&c);
	rec->made = false;
	rec->body = (struct cursor){ .at = c.at, .end = c.at };
	if (size > RECORD_HEADER_SIZE)
		rec->body.end = at + size;
	return size;
}

/* The whole record, header included. */
static inline const void *record_bytes(const struct record *rec)
{
	return rec->body.at - RECORD_HEADER_SIZE;
}

static inline size_t record_size(const struct record *rec)
{
	return RECORD_HEADER_SIZE + cursor_left(&rec->body);
}

/* An object was mapped for execution: MMAP or MMAP2. */
struct mmap_record {
	pid_t pid;		/* -1: the kernel */
	pid_t tid;
	uint64_t start;		/* first address */
	uint64_t size;		/* bytes; start + size does not overflow */
	uint64_t file_offset;	/* bytes from the object's start to START's byte */
	bool executable;	/* for code; MMAP says it by the lack of MISC_MMAP_DATA */
	bool is_jit;		/* simpleperf's: its symbols are at addresses of the process */
	uint8_t build_id[BUILD_ID_MAX];	/* zero padded */
	uint8_t build_id_size;	/* bytes, 0..20; 0: the record has none */
	uint32_t major, minor;	/* of the device; all 0 where the record does not say, */
	uint64_t inode;		/* as it does not where it has a build ID */
	const char *path;	/* NUL-terminated, in the record */
	const char *go_build_id;	/* the same; NULL: the record has none */
};

/* What is before Go's own build ID, which pmu-sample puts after the path of an MMAP2 record. */
#define GO_BUILD_ID_MARK "\xff Go build ID: \""

/* A thread got a name. */
struct comm_record {
	pid_t pid;
	pid_t tid;
	bool exec;		/* by exec: the process has a new address space */
	const char *name;	/* NUL-terminated, in the record */
};

/* A thread began (FORK) or ended (EXIT). */
struct task_record {
	pid_t pid, parent_pid;
	pid_t tid, parent_tid;
	uint64_t time;		/* in the stream's clock */
};

/* The kernel (LOST) or the hardware (LOST_SAMPLES) dropped some. */
struct lost_record {
	uint64_t id;		/* of the event; 0: the record does not say */
	uint64_t count;		/* records, or samples */
};

/* What an event has counted so far, and for how long. */
struct read_record {
	pid_t tid;		/* -1: of all that was recorded, as pmu-sample says it */
	uint64_t value;
	uint64_t enabled, running;	/* ns: it should have counted, it did */
	uint64_t id;			/* of the event */
};

/* The kernel made code, or took it away: a BPF program, a trampoline. */
struct ksymbol_record {
	uint64_t start, size;	/* start + size does not overflow */
	bool unregister;
	const char *name;	/* NUL-terminated, in the record */
};

/* The build ID of an object, told apart from its mapping. */
struct build_id_record {
	pid_t pid;		/* -1: the kernel's or the host's */
	uint8_t build_id[BUILD_ID_MAX];	/* zero padded */
	uint8_t build_id_size;	/* bytes, 0..20; 0: all zeros, as where the recorder knew none */
	const char *path;	/* NUL-terminated, in the record */
};

/*
 * Decode a record of the type named.  False if it is damaged; *OUT is then
 * unspecified.
 */
bool record_mmap(const struct record *rec, struct mmap_record *out);	/* MMAP, MMAP2 */
bool record_comm(const struct record *rec, struct comm_record *out);
bool record_task(const struct record *rec, struct task_record *out);	/* FORK, EXIT */
bool record_lost(const struct record *rec, struct lost_record *out);	/* LOST, LOST_SAMPLES */

/* READ, of events with this attr.read_format.  False, too, where that leaves the times out. */
bool record_read(const struct record *rec, uint64_t read_format, struct read_record *out);
bool record_ksymbol(const struct record *rec, struct ksymbol_record *out);
bool record_build_id(const struct record *rec, struct build_id_record *out);

/* "SAMPLE" for PERF_RECORD_SAMPLE, ...; NULL: no type we know. */
const char *record_type_name(uint32_t type);

/* SIZE bytes of a build ID, at most BUILD_ID_MAX, as digits; "" for none. */
void build_id_hex(const uint8_t *id, size_t size, char hex[BUILD_ID_HEX]);
