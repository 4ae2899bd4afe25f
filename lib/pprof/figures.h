/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures - a fact of a profile for each event, with numbers that statistics need and that the
 * samples do not have.  A difference has the figures of both sides, and when they were recorded.
 * pmu-topprof(1) documents the texts.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIGURES_SIZE = 600 };	/* bytes of a fact, with its NUL */

/* What the facts start with. */
#define FIGURES_KEY "figures: "
#define FIGURES_SIDES_KEY "sides: "
#define FIGURES_SLICES_KEY "slices: "
#define FIGURES_SLOTS_KEY "slots: "

/*
 * Facts of a profile that was made of rows (pmu-rows(5)) which differ in what a profile says once:
 * so they can be written as rows again.
 */
#define FIGURES_ROW_HOST_KEY "rows' host: label "	/* the key of the label that has it */
#define FIGURES_ROW_SERVICE_KEY "rows' service: label "
#define FIGURES_ROW_TIME_KEY "rows' time: "		/* figures_write_rows() */
#define FIGURES_ROWS_UNCOUNTED "rows: some without samples"

struct figures {
	uint64_t samples;	/* samples in the profile, without lost ones */
	double squares;		/* sum of the squares of the samples' values */
	uint64_t lost;		/* samples */
	uint64_t enabled, running;	/* ns, of all threads or CPUs; 0: unknown */
	bool is_complete;	/* each occurrence is a sample */
	bool is_group;		/* read at the samples of another event, or with others */
	const char *run;	/* name of the recording; "": it has none */
	const char *count, *value;	/* names of the event's sample types */
};

/* What a fact says.  Names longer than these are cut. */
struct figures_text {
	char run[16], count[200], value[200];
};

/* Write the fact of F to TEXT. */
void figures_write(char text[FIGURES_SIZE], const struct figures *f);

/* Read FACT into F, whose texts are then in ROOM.  Return false if it is another fact. */
bool figures_read(const char *fact, struct figures *f, struct figures_text *room);

/* In a difference, the facts of the base start with this. */
#define FIGURES_OF_BASE "base "

/* When the sides of a difference were recorded. */
struct figures_sides {
	struct figures_side {
		int64_t time, duration;	/* ns since the epoch, ns; 0: unknown */
	} base, after;
};

/* The same for the fact of a difference on its sides. */
void figures_write_sides(char text[FIGURES_SIZE], const struct figures_sides *sides);
bool figures_read_sides(const char *fact, struct figures_sides *sides);

/* The same for the fact on the length of a slice, in ns: "slices: 640ms each". */
void figures_write_slices(char text[FIGURES_SIZE], uint64_t length);
bool figures_read_slices(const char *fact, uint64_t *length);

/* When the rows of one host and service were recorded. */
struct figures_rows {
	int64_t time, duration;		/* ns since the epoch, ns; 0: unknown */
	const char *host, *service;	/* "": of no label; not ended by a NUL when they are read */
	size_t host_size, service_size;	/* bytes */
};

/* Write the fact, which the caller frees; or read FACT.  False: it is another one. */
char *figures_write_rows(const struct figures_rows *r);
bool figures_read_rows(const char *fact, struct figures_rows *r);

/* The same for the fact on the slots of a cycle, of which "topdown" shows the use: "slots: 8". */
void figures_write_slots(char text[FIGURES_SIZE], uint32_t slots);
bool figures_read_slots(const char *fact, uint32_t *slots);
