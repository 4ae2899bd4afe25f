/* SPDX-License-Identifier: Apache-2.0 */
#include "target/existing.h"
#include "elf/build-id.h"
#include "linux/kernel-info.h"
#include "linux/maps.h"
#include "linux/proc.h"
#include "record/words.h"
#include "stream/writer.h"
#include "target/go-program.h"

#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Append a struct sample_id of zeros, and end the record. */
static void end_record(struct writer *w, const struct sample_layout *layout)
{
	static const uint8_t zeros[64];

	writer_bytes(w, zeros, layout->trailer_size);
	writer_end(w);
}

/* The identity of a mapped file. */
struct mapped_id {
	uint8_t gnu[BUILD_ID_MAX];
	size_t gnu_size;		/* bytes; 0: it has none */
	char go[GO_BUILD_ID_MAX];	/* for code without a GNU build ID; "": it has none */
};

/*
 * Return the build IDs of the file that PID maps at M; none if its path now leads to another file.
 */
static struct mapped_id mapped_id(pid_t pid, const struct proc_mapping *m)
{
	struct mapped_id id = { 0 };
	int fd = m->path[0] == '/' ? go_program_open(pid, m->path, m->inode) : -1;

	if (fd < 0)
		return id;
	id.gnu_size = build_id_of_file(fd, id.gnu);
	if (!id.gnu_size && m->prot & PROT_EXEC)
		build_id_go_in_file(fd, (uint8_t *)id.go);
	close(fd);
	return id;
}

/* Write an MMAP2 record (linux/perf_event.h). */
static void write_mmap2(struct output *out, const struct sample_layout *layout, pid_t pid,
			const struct proc_mapping *m)
{
	struct mapped_id id = mapped_id(pid, m);
	struct writer w;

	writer_begin(&w, out, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER |
		     (m->prot & PROT_EXEC ? 0 : PERF_RECORD_MISC_MMAP_DATA) |
		     (id.gnu_size ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
	writer_u32(&w, (uint32_t)pid);
	writer_u32(&w, (uint32_t)pid);
	writer_u64(&w, m->start);
	writer_u64(&w, m->end - m->start);
	writer_u64(&w, m->file_offset);
	if (id.gnu_size) {
		writer_bytes(&w, (uint8_t[4]){ (uint8_t)id.gnu_size }, 4);	/* and 3 reserved */
		writer_bytes(&w, id.gnu, BUILD_ID_MAX);
	} else {
		writer_u32(&w, m->major);
		writer_u32(&w, m->minor);
		writer_u64(&w, m->inode);
		writer_u64(&w, 0);	/* inode generation: unknown */
	}
	writer_u32(&w, m->prot);
	writer_u32(&w, m->flags);
	writer_string(&w, *m->path ? m->path : WORD_ANON_FILE);
	go_program_add(&w, id.go);
	end_record(&w, layout);
}

void existing_mappings(struct output *out, const struct sample_layout *layout, pid_t pid,
		       enum existing_data data)
{
	struct proc_maps maps = proc_maps_open(pid);
	struct proc_mapping m;

	while (proc_maps_next(&maps, &m))
		if (m.prot & PROT_EXEC || (data && *m.path == '/') ||
		    (data == EXISTING_MEMORY && m.prot))
			write_mmap2(out, layout, pid, &m);
	proc_maps_close(&maps);
}

void existing_thread(struct output *out, const struct sample_layout *layout, pid_t pid, pid_t tid)
{
	char name[PROC_NAME_SIZE];
	struct writer w;

	if (!proc_name(pid, tid, name))
		return;
	writer_begin(&w, out, PERF_RECORD_COMM, 0);
	writer_u32(&w, (uint32_t)pid);
	writer_u32(&w, (uint32_t)tid);
	writer_string(&w, name);
	end_record(&w, layout);
}

static void write_kernel_mmap(struct output *out, const struct sample_layout *layout,
			      uint64_t start, uint64_t size, uint64_t file_offset, const char *name)
{
	struct writer w;

	writer_begin(&w, out, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	writer_u32(&w, (uint32_t)-1);
	writer_u32(&w, 0);
	writer_u64(&w, start);
	writer_u64(&w, size);
	writer_u64(&w, file_offset);
	writer_string(&w, name);
	end_record(&w, layout);
}

void existing_kernel_name(struct output *out, const struct sample_layout *layout, uint64_t start,
			  uint32_t size, const char *name)
{
	struct writer w;

	writer_begin(&w, out, PERF_RECORD_KSYMBOL, 0);
	writer_u64(&w, start);
	writer_u32(&w, size);
	writer_u16(&w, PERF_RECORD_KSYMBOL_TYPE_UNKNOWN);
	writer_u16(&w, 0);	/* flags: it is registered */
	writer_string(&w, name);
	end_record(&w, layout);
}

/* Write the build ID of MODULE (NULL: the kernel), with the NAME of its mapping. */
static void write_build_id(struct output *out, const char *module, const char *name)
{
	enum { HAS_SIZE = 1 << 15 };	/* PERF_RECORD_MISC_BUILD_ID_SIZE */
	uint8_t id[BUILD_ID_MAX];
	size_t size = build_id_of_kernel(module, id);
	struct writer w;

	if (size == 0)
		return;
	writer_begin(&w, out, RECORD_BUILD_ID, PERF_RECORD_MISC_KERNEL | HAS_SIZE);
	writer_u32(&w, (uint32_t)-1);
	writer_bytes(&w, id, BUILD_ID_MAX);
	writer_bytes(&w, (uint8_t[4]){ (uint8_t)size }, 4);	/* and 3 reserved */
	writer_string(&w, name);
	writer_end(&w);
}

static void write_modules(struct output *out, const struct sample_layout *layout)
{
	FILE *modules = kernel_modules();
	struct kernel_module m;
	char name[sizeof(m.name) + 2];

	while (kernel_next_module(modules, &m)) {
		if (!m.start)
			continue;	/* hidden by kptr_restrict */
		snprintf(name, sizeof(name), "[%s]", m.name);
		write_build_id(out, m.name, name);
		write_kernel_mmap(out, layout, m.start, m.size, 0, name);
	}
	if (modules)
		fclose(modules);
}

void existing_kernel(struct output *out, const struct sample_layout *layout)
{
	uint64_t start = kernel_start();

	write_build_id(out, NULL, WORD_KERNEL);
	/*
	 * The mapping extends to the last address; modules, which follow, replace parts of it.
	 * The file offset is the address of the reference symbol, as in perf.
	 */
	if (start)
		write_kernel_mmap(out, layout, start, UINT64_MAX - start, start,
				  WORD_KERNEL "_text");
	write_modules(out, layout);
}
