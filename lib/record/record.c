/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record.h"
#include "base/hex.h"
#include "record/types.h"

#include <stdio.h>
#include <sys/mman.h>

static const uint8_t no_build_id[BUILD_ID_MAX];

/*
 * Return Go's build ID at C, after the path and its padding (GO_BUILD_ID_MARK, then a string),
 * or NULL.  A sample_id never looks like that: its pid or time would be impossibly large.
 */
static const char *go_build_id(struct cursor c)
{
	const char *mark = cursor_bytes(&c, sizeof(GO_BUILD_ID_MARK) - 1);
	const char *id = cursor_string(&c);

	return !c.failed && !memcmp(mark, GO_BUILD_ID_MARK, sizeof(GO_BUILD_ID_MARK) - 1) &&
	       *id && strlen(id) < GO_BUILD_ID_MAX ? id : NULL;
}

/*
 * PERF_RECORD_MMAP and MMAP2, linux/perf_event.h:
 *
 *	u32 pid, tid;  u64 addr, len, pgoff;
 *	MMAP2: 24 bytes: device, inode and generation, or (MISC_MMAP_BUILD_ID)
 *		u8 size; u8 reserved; u16 reserved; u8 build_id[20];
 *	MMAP2: u32 prot, flags;
 *	char filename[];  then, for a Go program, Go's build ID (see go_build_id());
 *	then sample_id, unused here
 */
bool record_mmap(const struct record *rec, struct mmap_record *out)
{
	enum { PROT_JIT = 0x4000 };	/* simpleperf's, PROT_JIT_SYMFILE_MAP */
	struct cursor c = rec->body;
	bool has_build_id = false;
	const uint8_t *id = NULL;

	out->pid = (pid_t)cursor_u32(&c);
	out->tid = (pid_t)cursor_u32(&c);
	out->start = cursor_u64(&c);
	out->size = cursor_u64(&c);
	out->file_offset = cursor_u64(&c);
	out->executable = !(rec->misc & PERF_RECORD_MISC_MMAP_DATA);
	out->is_jit = false;
	if (rec->type == PERF_RECORD_MMAP2) {
		id = cursor_bytes(&c, 24);
		uint32_t prot = cursor_u32(&c);
		out->executable = prot & PROT_EXEC;
		out->is_jit = prot & PROT_JIT;
		cursor_u32(&c);		/* flags */
	}
	out->path = cursor_string(&c);
	if (c.failed || out->size > UINT64_MAX - out->start)
		return false;

	cursor_bytes(&c, -(size_t)(c.at - rec->body.at) & 7);
	out->go_build_id = rec->type == PERF_RECORD_MMAP2 ? go_build_id(c) : NULL;
	out->build_id_size = 0;
	out->major = out->minor = 0;
	out->inode = 0;
	/*
	 * A larger number is not a size, but a device number: if one event asks for build IDs
	 * and the next does not, Linux sets the flag in the records of both.
	 */
	if (id && rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		has_build_id = id[0] <= sizeof(out->build_id);
	if (id && !has_build_id) {
		struct cursor file = { .at = id, .end = id + 24, .swap = c.swap };
		out->major = cursor_u32(&file);
		out->minor = cursor_u32(&file);
		out->inode = cursor_u64(&file);
	}
	memset(out->build_id, 0, sizeof(out->build_id));
	if (has_build_id) {
		memcpy(out->build_id, id + 4, id[0]);
		if (memcmp(out->build_id, no_build_id, BUILD_ID_MAX))	/* the vdso's is all zero */
			out->build_id_size = id[0];
	}
	return true;
}

/* PERF_RECORD_KSYMBOL: u64 addr;  u32 len;  u16 type, flags;  char name[];  sample_id */
bool record_ksymbol(const struct record *rec, struct ksymbol_record *out)
{
	struct cursor c = rec->body;

	out->start = cursor_u64(&c);
	out->size = cursor_u32(&c);
	cursor_u16(&c);
	out->unregister = cursor_u16(&c) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	out->name = cursor_string(&c);
	return !c.failed && out->size <= UINT64_MAX - out->start;
}

/* PERF_RECORD_COMM: u32 pid, tid;  char comm[];  sample_id */
bool record_comm(const struct record *rec, struct comm_record *out)
{
	struct cursor c = rec->body;

	out->pid = (pid_t)cursor_u32(&c);
	out->tid = (pid_t)cursor_u32(&c);
	out->exec = rec->misc & PERF_RECORD_MISC_COMM_EXEC;
	out->name = cursor_string(&c);
	return !c.failed;
}

/* PERF_RECORD_FORK and EXIT: u32 pid, ppid;  u32 tid, ptid;  u64 time;  sample_id */
bool record_task(const struct record *rec, struct task_record *out)
{
	struct cursor c = rec->body;

	out->pid = (pid_t)cursor_u32(&c);
	out->parent_pid = (pid_t)cursor_u32(&c);
	out->tid = (pid_t)cursor_u32(&c);
	out->parent_tid = (pid_t)cursor_u32(&c);
	out->time = cursor_u64(&c);
	return !c.failed;
}

/* PERF_RECORD_LOST: u64 id, lost;  LOST_SAMPLES: u64 lost;  sample_id */
bool record_lost(const struct record *rec, struct lost_record *out)
{
	struct cursor c = rec->body;

	out->id = rec->type == PERF_RECORD_LOST ? cursor_u64(&c) : 0;
	out->count = cursor_u64(&c);
	return !c.failed;
}

/* PERF_RECORD_READ: u32 pid, tid; u64 value, enabled, running, id; sample_id */
bool record_read(const struct record *rec, uint64_t read_format, struct read_record *out)
{
	const uint64_t needed = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
				PERF_FORMAT_ID;
	struct cursor c = rec->body;

	cursor_u32(&c);		/* pid */
	out->tid = (pid_t)cursor_u32(&c);
	out->value = cursor_u64(&c);
	out->enabled = cursor_u64(&c);
	out->running = cursor_u64(&c);
	out->id = cursor_u64(&c);
	return !c.failed && (read_format & needed) == needed && !(read_format & PERF_FORMAT_GROUP);
}

/* Return the size of a build ID whose size was not recorded: without trailing words of zeros. */
static uint8_t unpadded_size(const uint8_t id[BUILD_ID_MAX])
{
	uint8_t size = BUILD_ID_MAX;

	while (size > 0 && !memcmp(id + size - 4, no_build_id, 4))
		size -= 4;
	return size;
}

/*
 * perf's struct perf_record_header_build_id: u32 pid; u8 build_id[20];
 * u8 size, with MISC_BUILD_ID_SIZE (1 << 15) set, else 0; u8 reserved[3];
 * char filename[]
 */
bool record_build_id(const struct record *rec, struct build_id_record *out)
{
	struct cursor c = rec->body;

	out->pid = (pid_t)cursor_u32(&c);
	const uint8_t *id = cursor_bytes(&c, 24);
	out->path = cursor_string(&c);
	if (c.failed)
		return false;
	bool has_size = rec->misc & 1 << 15;
	out->build_id_size = has_size ? id[20] : unpadded_size(id);
	if ((has_size && out->build_id_size == 0) || out->build_id_size > BUILD_ID_MAX)
		return false;
	memset(out->build_id, 0, sizeof(out->build_id));
	memcpy(out->build_id, id, out->build_id_size);
	return true;
}

/* KSYMBOL: see above.  BPF_EVENT: u16 type, flags;  u32 id;  u8 tag[8] */
/* TEXT_POKE: u64 addr;  u16 old_len, new_len;  u8 bytes[];  padding to 8 bytes */
size_t record_size_of_fields(const struct record *rec)
{
	struct cursor c = rec->body;

	switch (rec->type) {
	case PERF_RECORD_KSYMBOL:
		cursor_bytes(&c, 16);
		cursor_string(&c);
		break;
	case PERF_RECORD_BPF_EVENT:
		cursor_bytes(&c, 16);
		break;
	case PERF_RECORD_TEXT_POKE:
		cursor_u64(&c);
		size_t bytes = cursor_u16(&c);
		bytes += cursor_u16(&c);
		cursor_bytes(&c, bytes);
		break;
	default:
		return 0;
	}
	size_t padded = ((size_t)(c.at - rec->body.at) + 7) & ~(size_t)7;
	return c.failed || padded > cursor_left(&rec->body) ? 0 : RECORD_HEADER_SIZE + padded;
}

bool record_fits(const struct record *rec)
{
	union {
		struct mmap_record mmap;
		struct comm_record comm;
		struct task_record task;
		struct lost_record lost;
		struct ksymbol_record ksymbol;
		struct build_id_record build_id;
	} u;

	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return record_mmap(rec, &u.mmap);
	case PERF_RECORD_COMM:
		return record_comm(rec, &u.comm);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return record_task(rec, &u.task);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return record_lost(rec, &u.lost);
	case PERF_RECORD_KSYMBOL:
		return record_ksymbol(rec, &u.ksymbol);
	case RECORD_BUILD_ID:
		return record_build_id(rec, &u.build_id);
	default:
		return true;
	}
}

const char *record_type_name(uint32_t type)
{
	return record_type_info(type, 0).name;
}

void record_build_id_hex(const uint8_t *id, size_t size, char hex[BUILD_ID_HEX])
{
	hex_write(hex, id, size);
}
