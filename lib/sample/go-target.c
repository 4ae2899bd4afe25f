/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/go-target.h"
#include "base/arena.h"
#include "base/table.h"
#include "elf/program-kind.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A program's file. */
struct program_file {
	dev_t device;
	ino_t inode;
	enum program_kind kind;
};

/* How many of the target's programs are Go programs. */
struct go_count {
	size_t all;	/* programs of any kind */
	size_t go;	/* Go programs, with or without C code */
	size_t only;	/* Go programs without C code */
	/* The files that were read: threads and many processes share them. */
	struct program_file *program;
	uint32_t programs;
	struct table table;	/* over PROGRAM, by inode */
};

/* Return the kind of the program in the file FD, which is closed. */
static enum program_kind kind_of(struct go_count *n, int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return program_kind(fd);
	uint32_t id = TABLE_FIND(&n->table, hash_u64(st.st_ino), i,
				 n->program[i].inode == st.st_ino &&
				 n->program[i].device == st.st_dev);
	if (id != TABLE_NONE) {
		close(fd);
		return n->program[id].kind;
	}
	n->program = array_grow(n->program, n->programs, sizeof(*n->program));
	n->program[n->programs] = (struct program_file){ st.st_dev, st.st_ino, program_kind(fd) };
	table_add(&n->table, hash_u64(st.st_ino), n->programs);
	return n->program[n->programs++].kind;
}

static void count(struct go_count *n, int fd)
{
	enum program_kind kind = kind_of(n, fd);

	n->all++;
	n->go += kind == PROGRAM_GO || kind == PROGRAM_GO_AND_C;
	n->only += kind == PROGRAM_GO;
}

void go_target_complete(struct sample_settings *s, const struct target *t)
{
	struct go_count n = { 0 };

	for (size_t i = 0; i < t->pids; i++)
		count(&n, program_open_process(t->pid[i]));
	for (size_t i = 0; i < t->tids; i++)
		count(&n, program_open_process(t->tid[i]));
	if (t->command)
		count(&n, program_open_command(t->command[0]));
	table_release(&n.table);
	free(n.program);
	s->user_frames = n.go > 0;
	/* A command, or children, may start other programs. */
	if (n.only && n.only == n.all && !t->command && !t->children && !s->stack_bytes)
		s->stack_bytes = GO_STACK_BYTES;
}
