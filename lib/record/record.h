/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record - the records of a stream, one by one (pmu-stream(5)).
 *
 * A record is a view: it owns nothing.  Its bytes are valid until the next
 * stream_next() on the same reader.
 */
#pragma once
#include "base/cursor.h"
#include "base/load.h"

#include <linux/perf_event.h>
#include <sys/types.h>

/* Types that perf's user space adds to the kernel's (tools/perf: enum perf_user_event_type). */
enum {
	RECORD_ATTR		= 64,	/* an event: its attr and ids */
	RECORD_EVENT_TYPE	= 65,
	RECORD_TRACING_DATA	= 66,	/* followed by bytes that its size does not include */
	RECORD_BUILD_ID		= 67,
	RECORD_FINISHED_ROUND	= 68,	/* later records are not older than the previous round */
	RECORD_ID_INDEX		= 69,
	RECORD_AUXTRACE_INFO	= 70,
	RECORD_AUXTRACE		= 71,	/* followed by bytes that its size does not include */
	RECORD_AUXTRACE_ERROR	= 72,
	RECORD_THREAD_MAP	= 73,
	RECORD_CPU_MAP		= 74,
	RECORD_EVENT_UPDATE	= 78,	/* an event's name, unit, ... */
	RECORD_TIME_CONV	= 79,
	RECORD_FEATURE		= 80,	/* a header feature: host, kernel, command line, ... */
	RECORD_COMPRESSED	= 81,	/* zstd data: more records */
	RECORD_COMPRESSED2	= 83,	/* like COMPRESSED, with the size of the data first */
};

/* Types that simpleperf adds (its record.h); only EVENT_ID and LARGE_TRACING_DATA are read. */
enum {
	RECORD_SIMPLEPERF	= 32769,	/* the first type, KERNEL_SYMBOL */
	RECORD_EVENT_ID		= 32774,	/* the event of each id, in merged recordings */
	RECORD_LARGE_TRACING_DATA = 32777,	/* u32 size, then the data, inside the record */
	RECORD_SIMPLEPERF_END	= 32779,	/* one past the last type */
};

/* Types that only resolved streams have (resolved/resolved.h). */
enum {
	RECORD_STRING		= 0x504d0000,
	RECORD_OBJECT		= 0x504d0001,
	RECORD_FUNCTION		= 0x504d0002,
	RECORD_FRAME		= 0x504d0003,
	RECORD_RESOLVED_SAMPLE	= 0x504d0004,
	RECORD_TOOL		= 0x504d0005,
	RECORD_END		= 0x504d0006,
	RECORD_RESTART		= 0x504d0007,
	RECORD_LABELS		= 0x504d0008,
	RECORD_NAME		= 0x504d0009,
	RECORD_DATA		= 0x504d000a,
	RECORD_CHAIN		= 0x504d000b,
	RECORD_CHAIN_SAMPLE	= 0x504d000c,
	RECORD_CHAINS_RESTART	= 0x504d000d,
	RECORD_RESOLVED_LAST	= RECORD_CHAINS_RESTART,
};

/* A type and a marker that older linux/perf_event.h lack. */
enum { RECORD_CALLCHAIN_DEFERRED = 22 };	/* PERF_RECORD_CALLCHAIN_DEFERRED */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)	/* PERF_CONTEXT_USER_DEFERRED: a cookie follows */

static inline bool record_is_resolved(uint32_t type)
{
	return type >= RECORD_STRING && type <= RECORD_RESOLVED_LAST;
}

/* Return whether TYPE is a sample with frames in place of addresses. */
static inline bool record_is_resolved_sample(uint32_t type)
{
	return type == RECORD_CHAIN_SAMPLE || type == RECORD_RESOLVED_SAMPLE;
}

enum {
	RECORD_HEADER_SIZE = 8,		/* u32 type, u16 misc, u16 size */
	RECORD_MAX_SIZE = 65535,	/* bytes; the size is a u16 */
	BUILD_ID_MAX = 20,		/* bytes */
	BUILD_ID_HEX = 2 * BUILD_ID_MAX + 1,	/* hexadecimal digits and a NUL */
	GO_BUILD_ID_MAX = 128,		/* bytes of a Go build ID, with its NUL; 84 are usual */
};

struct record {
	uint32_t type;		/* PERF_RECORD_* or RECORD_* */
	uint16_t misc;		/* PERF_RECORD_MISC_* */
	bool made;		/* made from a file's header, not a record of the file */
	bool foreign;		/* its fields still have the other byte order: it is shown by its
				   name, and not written */
	uint64_t offset;	/* of the record's header, in bytes from the stream's start */
	struct cursor body;	/* the bytes after the header; the 8-byte header is right before */
	struct cursor trailing;	/* data after a TRACING_DATA record, which its size does not
				   include; simpleperf's data are inside the record, and the reader
				   moves them here */
};

/*
 * Fill *REC from the record's header at AT; SWAP: it has the other byte order.  Return
 * the size in the header, which the caller must check before it uses the body.
 */
static inline size_t record_frame(struct record *rec, const uint8_t *at, bool swap)
{
	struct cursor c = { .at = at, .end = at + RECORD_HEADER_SIZE, .swap = swap };

	rec->type = cursor_u32(&c);
	rec->misc = cursor_u16(&c);
	size_t size = cursor_u16(&c);
	rec->made = rec->foreign = false;
	rec->body = (struct cursor){ .at = c.at, .end = c.at };
	if (size > RECORD_HEADER_SIZE)
		rec->body.end = at + size;
	return size;
}

/* Return the whole record, including its header. */
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
	uint64_t file_offset;	/* offset in the object of the byte at START */
	bool executable;	/* mapped as code; for MMAP: MISC_MMAP_DATA is not set */
	bool is_jit;		/* from simpleperf's JIT: its symbols have process addresses */
	uint8_t build_id[BUILD_ID_MAX];	/* zero padded */
	uint8_t build_id_size;	/* bytes, 0..20; 0: the record has none */
	uint32_t major, minor;	/* device; 0 if the record has a build ID, or is an MMAP */
	uint64_t inode;		/* 0 as above */
	const char *path;	/* NUL-terminated, in the record */
	const char *go_build_id;	/* NUL-terminated, in the record; NULL: none */
};

/* The text before Go's build ID, which pmu-sample puts after the path of an MMAP2 record. */
#define GO_BUILD_ID_MARK "\xff Go build ID: \""

/* A thread was named. */
struct comm_record {
	pid_t pid;
	pid_t tid;
	bool exec;		/* by exec(2): the process has a new address space */
	const char *name;	/* NUL-terminated, in the record */
};

/* A thread started (FORK) or ended (EXIT). */
struct task_record {
	pid_t pid, parent_pid;
	pid_t tid, parent_tid;
	uint64_t time;		/* in the stream's clock */
};

/* The kernel (LOST) or the hardware (LOST_SAMPLES) lost records. */
struct lost_record {
	uint64_t id;		/* id of the event; 0: unknown */
	uint64_t count;		/* number of records (LOST) or samples (LOST_SAMPLES) */
};

/* The value of an event's counter so far, and its times. */
struct read_record {
	pid_t tid;		/* -1: a total of the whole recording (pmu-sample writes these) */
	uint64_t value;
	uint64_t enabled, running;	/* ns that it was enabled, and that it really counted */
	uint64_t id;			/* id of the event */
};

/* The kernel added or removed generated code: a BPF program, a trampoline. */
struct ksymbol_record {
	uint64_t start, size;	/* start + size does not overflow */
	bool unregister;
	const char *name;	/* NUL-terminated, in the record */
};

/* The build ID of an object, in a record of its own. */
struct build_id_record {
	pid_t pid;		/* -1: the kernel's or the host's */
	uint8_t build_id[BUILD_ID_MAX];	/* zero padded */
	uint8_t build_id_size;	/* bytes, 0..20; 0: all zeros, the recorder found no build ID */
	const char *path;	/* NUL-terminated, in the record */
};

/*
 * Decode REC, a record of the type in the function's name or in the comment.  Return
 * false if it is damaged; *OUT is then unspecified.
 */
bool record_mmap(const struct record *rec, struct mmap_record *out);	/* MMAP, MMAP2 */
bool record_comm(const struct record *rec, struct comm_record *out);
bool record_task(const struct record *rec, struct task_record *out);	/* FORK, EXIT */
bool record_lost(const struct record *rec, struct lost_record *out);	/* LOST, LOST_SAMPLES */

/* READ, of an event with this attr.read_format.  Also returns false if READ_FORMAT has no times. */
bool record_read(const struct record *rec, uint64_t read_format, struct read_record *out);
bool record_ksymbol(const struct record *rec, struct ksymbol_record *out);
bool record_build_id(const struct record *rec, struct build_id_record *out);

/*
 * Linux (5.1 to 6.18 at least) adds the size of the sample_id to a KSYMBOL, BPF_EVENT or TEXT_POKE
 * record once more for each event that gets it: with several events or sessions on a CPU, bytes of
 * older records follow the sample_id.  Return the size of REC, a record of these types, up to its
 * sample_id; 0: REC has another type, or its fields do not fit into it.
 */
size_t record_size_of_fields(const struct record *rec);

/* Return the u64 at offset AT of the body of RECORD, which has these bytes. */
static inline uint64_t record_u64(const struct perf_event_header *record, size_t at)
{
	return load_u64((const uint8_t *)(record + 1) + at);
}

static inline bool record_has_stale_bytes(uint32_t type)
{
	return type == PERF_RECORD_KSYMBOL || type == PERF_RECORD_BPF_EVENT ||
	       type == PERF_RECORD_TEXT_POKE;
}

/*
 * Return whether REC can be decoded by the function above for its type.  READ records, and types
 * without a function, always pass.
 */
bool record_fits(const struct record *rec);

/* Return the name of record type TYPE ("SAMPLE" for PERF_RECORD_SAMPLE); NULL: unknown type. */
const char *record_type_name(uint32_t type);

/* Write the SIZE bytes of a build ID (at most BUILD_ID_MAX) as hexadecimal digits into HEX. */
void record_build_id_hex(const uint8_t *id, size_t size, char hex[BUILD_ID_HEX]);
