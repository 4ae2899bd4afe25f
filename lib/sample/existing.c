/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/existing.h"
#include "base/regular.h"
#include "elf/build-id.h"
#include "sample/go-program.h"
#include "stream/writer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A line of /proc/PID/maps. */
struct maps_line {
	uint64_t start, end, file_offset;
	uint32_t major, minor;
	uint64_t inode;
	uint32_t prot;		/* PROT_* */
	uint32_t flags;		/* MAP_* */
	char path[PATH_MAX + 16];	/* "" for anonymous memory */
};

/* Append a struct sample_id of zeros, and end the record. */
static void end_record(struct writer *w, const struct sample_layout *layout)
{
	static const uint8_t zeros[64];

	writer_bytes(w, zeros, layout->trailer_size);
	writer_end(w);
}

/* Parse "START-END PERMS OFFSET MAJOR:MINOR INODE   PATH" (proc(5)).  False: malformed. */
static bool parse_maps_line(char *line, struct maps_line *m)
{
	char perms[5];
	int path;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &m->start, &m->end, perms, &m->file_offset, &m->major, &m->minor,
		   &m->inode, &path) != 7)
		return false;
	m->prot = (perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0) |
		  (perms[2] == 'x' ? PROT_EXEC : 0);
	m->flags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	line[strcspn(line, "\n")] = '\0';
	snprintf(m->path, sizeof(m->path), "%s", line + path);
	return true;
}

/* What identifies the file of a mapping. */
struct mapped_id {
	uint8_t gnu[BUILD_ID_MAX];
	size_t gnu_size;		/* bytes; 0: it has none */
	char go[GO_BUILD_ID_MAX];	/* of code without the other; "": it has none */
};

/* The build ID of what PID maps at M; none if the path now leads to another file. */
static struct mapped_id mapped_id(pid_t pid, const struct maps_line *m)
{
	struct mapped_id id = { 0 };
	int fd = m->path[0] == '/' ? go_program_open(pid, m->path, m->inode) : -1;

	if (fd < 0)
		return id;
	id.gnu_size = build_id_of_file(fd, id.gnu);
	if (!id.gnu_size && m->prot & PROT_EXEC)
		go_build_id_of_file(fd, (uint8_t *)id.go);
	close(fd);
	return id;
}

/* Write an MMAP2 record (linux/perf_event.h). */
static void write_mmap2(struct output *out, const struct sample_layout *layout, pid_t pid,
			const struct maps_line *m)
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
	writer_string(&w, *m->path ? m->path : "//anon");
	go_program_add(&w, id.go);
	end_record(&w, layout);
}

void existing_mappings(struct output *out, const struct sample_layout *layout, pid_t pid,
		       bool with_data)
{
	struct maps_line m;
	char path[64], *line = NULL;
	size_t capacity = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && getline(&line, &capacity, f) > 0)
		if (parse_maps_line(line, &m) &&
		    (m.prot & PROT_EXEC || (with_data && *m.path == '/')))
			write_mmap2(out, layout, pid, &m);
	free(line);
	if (f)
		fclose(f);
}

void existing_thread(struct output *out, const struct sample_layout *layout, pid_t pid, pid_t tid)
{
	char path[64], name[64];
	struct writer w;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	name[n] = '\0';
	name[strcspn(name, "\n")] = '\0';
	writer_begin(&w, out, PERF_RECORD_COMM, 0);
	writer_u32(&w, (uint32_t)pid);
	writer_u32(&w, (uint32_t)tid);
	writer_string(&w, name);
	end_record(&w, layout);
}

/* Return the start of the kernel's code: one of the first symbols of kallsyms.  0: hidden. */
static uint64_t kernel_start(void)
{
	uint64_t start = 0, address;
	char name[128];

	FILE *f = fopen("/proc/kallsyms", "re");
	for (int line = 0; f && !start && line < 64; line++)
		if (fscanf(f, "%" SCNx64 " %*c %127s%*[^\n]", &address, name) == 2 &&
		    (!strcmp(name, "_text") || !strcmp(name, "_stext")))
			start = address;
	if (f)
		fclose(f);
	return start;
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

static void write_build_id(struct output *out, const char *notes, const char *name)
{
	enum { HAS_SIZE = 1 << 15 };	/* PERF_RECORD_MISC_BUILD_ID_SIZE */
	uint8_t id[BUILD_ID_MAX];
	size_t size = build_id_of_notes_file(notes, id);
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

/* /proc/modules: NAME SIZE REFERENCES USERS STATE ADDRESS */
static void write_modules(struct output *out, const struct sample_layout *layout)
{
	char name[64], path[128], bracketed[72];
	uint64_t size, start;

	FILE *f = fopen("/proc/modules", "re");
	while (f && fscanf(f, "%63s %" SCNu64 " %*s %*s %*s 0x%" SCNx64 "%*[^\n]",
			   name, &size, &start) == 3) {
		if (!start)
			continue;	/* hidden by kptr_restrict */
		snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
		snprintf(bracketed, sizeof(bracketed), "[%s]", name);
		write_build_id(out, path, bracketed);
		write_kernel_mmap(out, layout, start, size, 0, bracketed);
	}
	if (f)
		fclose(f);
}

void existing_kernel(struct output *out, const struct sample_layout *layout)
{
	uint64_t start = kernel_start();

	write_build_id(out, "/sys/kernel/notes", "[kernel.kallsyms]");
	/*
	 * The mapping extends to the last address; modules, which follow, replace parts of it.
	 * The file offset is the address of the reference symbol, as in perf.
	 */
	if (start)
		write_kernel_mmap(out, layout, start, UINT64_MAX - start, start,
				  "[kernel.kallsyms]_text");
	write_modules(out, layout);
}
