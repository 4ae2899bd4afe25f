/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/go-target.h"
#include "elf/program-kind.h"

/* How many of the target's programs are Go programs. */
struct go_count {
	size_t all;	/* programs of any kind */
	size_t go;	/* Go programs, with or without C code */
	size_t only;	/* Go programs without C code */
};

static void count(struct go_count *n, int fd)
{
	enum program_kind kind = program_kind(fd);

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
	s->user_frames = n.go > 0;
	/* A command, or children, may start other programs. */
	if (n.only && n.only == n.all && !t->command && !t->children && !s->stack_bytes)
		s->stack_bytes = GO_STACK_BYTES;
}
