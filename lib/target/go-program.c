/* SPDX-License-Identifier: Apache-2.0 */
#include "target/go-program.h"
#include "base/descriptor.h"
#include "base/regular.h"
#include "base/table.h"
#include "elf/build-id.h"
#include "linux/proc.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int go_program_open(pid_t pid, const char *path, uint64_t inode)
{
	struct stat st;
	int fd = regular_open_below(proc_path(pid, "root").text, path, false);

	pid_t living = fd < 0 ? proc_living_thread(pid) : pid;

	if (living != pid)
		fd = regular_open_below(proc_path(living, "root").text, path, false);
	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_ino == inode))
		return fd;
	close(fd);
	return -1;
}

void go_program_add(struct writer *w, const char *id)
{
	if (!*id)
		return;
	writer_bytes(w, GO_BUILD_ID_MARK, sizeof(GO_BUILD_ID_MARK) - 1);
	writer_string(w, id);
}

/* Return whether M may be of a Go program that nothing else identifies. */
static bool is_candidate(const struct mmap_record *m)
{
	return m->executable && m->pid > 0 && m->path[0] == '/' && !m->build_id_size && m->inode;
}

bool go_programs_write(struct go_programs *seen, struct output *out,
		       const struct perf_event_header *record, const struct sample_layout *layout)
{
	char id[GO_BUILD_ID_MAX];
	struct mmap_record m;
	struct record rec;
	struct writer w;

	record_frame(&rec, (const uint8_t *)record, false);
	if (!record_mmap(&rec, &m) || !is_candidate(&m))
		return false;
	uint64_t hash = hash_more(m.inode, (uint64_t)m.major << 32 | m.minor) | 1;
	uint64_t *slot = &seen->other[hash >> 58];
	if (*slot == hash)
		return false;
	int fd = go_program_open(m.pid, m.path, m.inode);
	bool is_go = fd >= 0 && build_id_go_in_file(fd, (uint8_t *)id) > 0;
	descriptor_close(fd);
	if (!is_go) {
		if (fd >= 0)
			*slot = hash;
		return false;
	}
	size_t size = cursor_left(&rec.body) - layout->trailer_size;
	writer_begin(&w, out, rec.type, rec.misc);
	writer_bytes(&w, rec.body.at, size);
	go_program_add(&w, id);
	writer_bytes(&w, rec.body.at + size, layout->trailer_size);
	return writer_end(&w);
}
