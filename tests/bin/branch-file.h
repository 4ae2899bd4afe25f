/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch-file - writes the recording of branch-step: a seekable perf.data file whose samples have
 * branch stacks.
 *
 * It has its own code for the format, so that files of lib/ are not compared with themselves.
 */
#pragma once
#include "base/buffer.h"
#include "base/clock.h"
#include "elf/build-id.h"
#include "linux/maps.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
	BRANCH_DEPTH_MAX = 2000,	/* entries that fit into a record */
	BRANCH_PATHS = 256,		/* files whose build IDs are recorded */
	BRANCH_ATTR = PERF_ATTR_SIZE_VER2,	/* the first that has branch_sample_type */
	BRANCH_STRING = 64,		/* strings are padded to a multiple */
};

/* As struct perf_branch_entry. */
struct branch_entry {
	uint64_t from, to;
	uint64_t flags;
};

/* A stretch of the file, as in its header. */
struct branch_section { uint64_t offset, size; };

/* The header of a seekable perf.data file: struct perf_file_header of tools/perf. */
struct branch_header {
	uint64_t magic, size, attr_size;
	struct branch_section attrs, data, event_types;
	uint64_t features[4];
};

/* One event, as the section of events has it. */
struct branch_event {
	uint8_t attr[BRANCH_ATTR];
	struct branch_section ids;
};

struct branch_file {
	FILE *out;		/* NULL: nothing is recorded */
	pid_t pid;		/* of the program */
	struct branch_header header;
	struct branch_event event;
	const char *event_name;
	char *const *command;
	struct buffer record;
	char *path[BRANCH_PATHS];	/* of files with code, each once */
	size_t paths;
};

/* Start the recording PATH of an event of this attr. */
static bool branch_file_open(struct branch_file *f, const char *path,
			     const struct perf_event_attr *attr)
{
	f->header = (struct branch_header){
		.magic = 0x32454c4946524550,	/* "PERFILE2" */
		.size = sizeof(f->header), .attr_size = sizeof(f->event),
		.attrs = { sizeof(f->header), sizeof(f->event) },
		/* a size of 0 says that the file is not complete */
		.data = { sizeof(f->header) + sizeof(f->event), 0 },
	};
	memcpy(f->event.attr, attr, sizeof(f->event.attr));
	f->event.ids.offset = sizeof(f->header);
	f->out = fopen(path, "we");
	if (!f->out)
		return false;
	fwrite(&f->header, sizeof(f->header), 1, f->out);
	fwrite(&f->event, sizeof(f->event), 1, f->out);
	return true;
}

static void branch_u32(struct buffer *b, uint32_t value) { buffer_add(b, &value, sizeof(value)); }
static void branch_u64(struct buffer *b, uint64_t value) { buffer_add(b, &value, sizeof(value)); }

/* Append TEXT, its NUL, and zeros up to a multiple of ALIGNMENT. */
static void branch_text(struct buffer *b, const char *text, size_t alignment)
{
	size_t size = (strlen(text) + alignment) / alignment * alignment;

	memcpy(memset(buffer_extend(b, size), 0, size), text, strlen(text));
}

static void branch_record_begin(struct branch_file *f, uint32_t type, uint16_t misc)
{
	const struct perf_event_header header = { .type = type, .misc = misc };

	f->record.size = 0;
	buffer_add(&f->record, &header, sizeof(header));
}

static void branch_record_end(struct branch_file *f)
{
	((struct perf_event_header *)f->record.at)->size = (uint16_t)f->record.size;
	if (f->out)
		fwrite(f->record.at, f->record.size, 1, f->out);
	f->header.data.size += f->record.size;
}

/* Append the thread and the time. */
static void branch_thread(struct branch_file *f)
{
	branch_u32(&f->record, (uint32_t)f->pid);
	branch_u32(&f->record, (uint32_t)f->pid);
	branch_u64(&f->record, monotonic_ns());
}

/* Record that the process executes another program, /proc/PID/comm. */
static void branch_file_comm(struct branch_file *f)
{
	char path[64], name[16] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", f->pid);
	FILE *comm = fopen(path, "re");
	if (comm && fgets(name, sizeof(name), comm))
		name[strcspn(name, "\n")] = '\0';
	if (comm)
		fclose(comm);
	branch_record_begin(f, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	branch_u32(&f->record, (uint32_t)f->pid);
	branch_u32(&f->record, (uint32_t)f->pid);
	branch_text(&f->record, name, 8);
	branch_thread(f);
	branch_record_end(f);
}

/* Record that M is mapped. */
static void branch_file_mapping(struct branch_file *f, const struct proc_mapping *m)
{
	const char *path = *m->path ? m->path : "//anon";
	size_t i = 0;

	branch_record_begin(f, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	branch_u32(&f->record, (uint32_t)f->pid);
	branch_u32(&f->record, (uint32_t)f->pid);
	branch_u64(&f->record, m->start);
	branch_u64(&f->record, m->end - m->start);
	branch_u64(&f->record, m->file_offset);
	branch_u32(&f->record, m->major);
	branch_u32(&f->record, m->minor);
	branch_u64(&f->record, m->inode);
	branch_u64(&f->record, 0);	/* generation of the inode */
	branch_u32(&f->record, m->prot);
	branch_u32(&f->record, m->flags);
	branch_text(&f->record, path, 8);
	branch_thread(f);
	branch_record_end(f);
	while (i < f->paths && strcmp(f->path[i], path) != 0)
		i++;
	if (i == f->paths && i < BRANCH_PATHS && path[0] == '/' && path[1] != '/')
		f->path[f->paths++] = strdup(path);
}

/* Record a sample with COUNT entries, the newest first. */
static void branch_file_sample(struct branch_file *f, uint64_t ip, uint64_t period,
			       const struct branch_entry *entry, size_t count)
{
	branch_record_begin(f, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	branch_u64(&f->record, ip);
	branch_thread(f);
	branch_u64(&f->record, period);
	branch_u64(&f->record, count);
	buffer_add(&f->record, entry, count * sizeof(*entry));
	branch_record_end(f);
}

/* Features of the header, by their bits (tools/perf: enum HEADER_*). */
enum {
	BRANCH_BUILD_ID = 2, BRANCH_HOSTNAME = 3, BRANCH_OSRELEASE = 4, BRANCH_VERSION = 5,
	BRANCH_ARCH = 6, BRANCH_CPUDESC = 8, BRANCH_CMDLINE = 11, BRANCH_EVENT_DESC = 12,
	BRANCH_HAS_STACKS = 15, BRANCH_FEATURES = 16,
};

/* Append a string as features have it. */
static void branch_string(struct buffer *b, const char *text)
{
	branch_u32(b, (uint32_t)((strlen(text) / BRANCH_STRING + 1) * BRANCH_STRING));
	branch_text(b, text, BRANCH_STRING);
}

static void branch_command(struct buffer *b, char *const *command)
{
	uint32_t count = 0;

	while (command[count])
		count++;
	branch_u32(b, count);
	for (uint32_t i = 0; i < count; i++)
		branch_string(b, command[i]);
}

static void branch_event_description(struct buffer *b, const struct branch_file *f)
{
	branch_u32(b, 1);	/* one event */
	branch_u32(b, sizeof(f->event.attr));
	buffer_add(b, f->event.attr, sizeof(f->event.attr));
	branch_u32(b, 0);	/* without ids */
	branch_string(b, f->event_name);
}

/* Append the build ID of the file PATH, if it has one. */
static void branch_build_id(struct buffer *b, const char *path)
{
	uint8_t id[24] = { 0 };	/* with its size after the 20 bytes */
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = fd < 0 ? 0 : build_id_of_file(fd, id);

	if (fd >= 0)
		close(fd);
	if (!size)
		return;
	id[BUILD_ID_MAX] = (uint8_t)size;
	struct perf_event_header header = {
		.misc = PERF_RECORD_MISC_USER | 1 << 15,	/* the size of the ID is there */
		.size = (uint16_t)(sizeof(header) + 4 + sizeof(id) + strlen(path) / 8 * 8 + 8),
	};
	buffer_add(b, &header, sizeof(header));
	branch_u32(b, UINT32_MAX);	/* of any process */
	buffer_add(b, id, sizeof(id));
	branch_text(b, path, 8);
}

/* Append the feature of this BIT.  False: it is not recorded. */
static bool branch_feature(struct buffer *b, unsigned bit, const struct branch_file *f)
{
	struct utsname host;

	uname(&host);
	switch (bit) {
	case BRANCH_BUILD_ID:
		for (size_t i = 0; i < f->paths; i++)
			branch_build_id(b, f->path[i]);
		return true;
	case BRANCH_HOSTNAME: branch_string(b, host.nodename); return true;
	case BRANCH_OSRELEASE: branch_string(b, host.release); return true;
	case BRANCH_VERSION: branch_string(b, "branch-step"); return true;
	case BRANCH_ARCH: branch_string(b, host.machine); return true;
	case BRANCH_CPUDESC:
		branch_string(b, "single steps by branch-step, a test tool; cycles are "
			      "instructions, mispredictions are those of a simple model");
		return true;
	case BRANCH_CMDLINE: branch_command(b, f->command); return true;
	case BRANCH_EVENT_DESC: branch_event_description(b, f); return true;
	default: return bit == BRANCH_HAS_STACKS;
	}
}

/* Write the features and the complete header.  False: not all could be written; see errno. */
static bool branch_file_close(struct branch_file *f)
{
	struct branch_section section[BRANCH_FEATURES];
	struct buffer bytes = { 0 };
	size_t sections = 0;

	for (unsigned bit = 0; bit < BRANCH_FEATURES; bit++) {
		uint64_t start = bytes.size;
		if (!branch_feature(&bytes, bit, f))
			continue;
		f->header.features[0] |= 1ULL << bit;
		section[sections++] = (struct branch_section){ start, bytes.size - start };
	}
	uint64_t start = f->header.data.offset + f->header.data.size + sections * sizeof(*section);
	for (size_t i = 0; i < sections; i++)
		section[i].offset += start;
	fwrite(section, sizeof(*section), sections, f->out);
	fwrite(bytes.at, 1, bytes.size, f->out);
	rewind(f->out);
	fwrite(&f->header, sizeof(f->header), 1, f->out);
	free(bytes.at);
	for (size_t i = 0; i < f->paths; i++)
		free(f->path[i]);
	free(f->record.at);
	bool is_whole = !ferror(f->out);
	return fclose(f->out) == 0 && is_whole;
}
