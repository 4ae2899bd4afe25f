/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolver's inside: shared by its caches (resolver.c), the kernel
 * (resolver-kernel.c), what is mapped where (resolver-object.c), and what it
 * is called (resolver-name.c).
 */
#pragma once
#include "base/intern.h"
#include "symbol/kallsyms.h"
#include "symbol/resolver.h"
#include "symbol/source.h"

enum {
	QUICK_SLOTS = 16384,	/* a power of two */
	LINES_MAX = 512,	/* of one place: calls inlined into each other */
};

/* First cache: the frame at ADDRESS of the space of this GENERATION. */
struct quick {
	uint64_t generation, address;
	uint32_t frame;
};

/* An object of the resolved stream, and what it stands for. */
struct part {
	uint32_t object;	/* of lib/process; TABLE_NONE: what is mapped nowhere */
	uint64_t start, size;
};

struct resolver {
	struct resolver_options options;
	struct resolved *tables;
	struct report *report;
	struct spaces spaces;
	struct quick *quick;
	struct table frame_table;	/* over tables->frame, by (object, address) */
	struct source *source;		/* by object of lib/process */
	uint32_t sources;
	struct part *part;		/* by object of the tables */
	struct table part_table;
	struct intern strings;		/* the same ids as tables->string */
	struct table function_table;	/* over tables->function */
	uint32_t *comm;			/* string of each thread name in spaces.names */
	uint32_t comms;
	struct kallsyms *kallsyms;
	bool kernel_tried;
	uint64_t kernel_shift;		/* from the recorded kernel's addresses to kallsyms' */
	struct resolved_line line[LINES_MAX];	/* of the place in hand */
	uint32_t *frame;		/* of the sample in hand */
	size_t frame_capacity;
	uint64_t opened, named;
};

/* Where an address is: a part of an object, and the address in it. */
struct place {
	uint32_t object;		/* of the tables */
	uint64_t address;
	uint32_t source;		/* to look it up in; TABLE_NONE: none */
	bool in_kernel;			/* to look it up in kallsyms */
};

/* Where ADDRESS is, which is mapped in SPACE of process PID. */
struct place place_of(struct resolver *r, const struct stream_reader *in, pid_t pid,
		      const struct space *space, uint64_t address);

/* The place of an address where nothing is mapped. */
struct place nowhere(struct resolver *r, uint64_t address);

/* The tables' string for TEXT. */
uint32_t string_id(struct resolver *r, const char *text);

/* Look PLACE up; its lines, innermost first, are in r->line.  Returns how many. */
uint32_t find_lines(struct resolver *r, const struct place *place);

/* Was it recorded on this machine, as it runs now? */
bool is_local(const struct stream_reader *in);

/* The mapping of the kernel image itself; NULL: the stream has none. */
const struct mapping *kernel_image(const struct resolver *r);

/* Read the kernel's symbols, at the first of its addresses. */
void open_kernel(struct resolver *r, const struct stream_reader *in);
