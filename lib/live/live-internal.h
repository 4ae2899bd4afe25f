/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of live share. */
#pragma once
#include "live/live-source.h"
#include "live/live.h"

enum {
	FILTER_MAX = 1000,	/* bytes of the filter that the user types */
};

struct live_type {
	char *name, *unit;
	struct top all;		/* since the start */
	struct top *slice;	/* ring of the last slices */
};

struct live {
	struct opened *opened;
	const struct live_options *options;
	struct report *report;
	struct collect collect;
	struct stream_reader *in;
	struct live_type *type;
	uint32_t types, shown;	/* index of the type on the screen */
	uint32_t slices, at;	/* size of the ring; index of the slice that is being filled */
	uint32_t ended;		/* number of slices that have ended */
	uint64_t next;		/* CLOCK_MONOTONIC, ns: when the slice ends */
	uint64_t slice;		/* ns */
	bool has_chosen, since_start, by_cumulative, objects, paused, editing, quit, drawing;
	char typed[FILTER_MAX + 1];
	size_t length;		/* of TYPED */
	struct name_filter filter;	/* by what is typed */
	bool has_filter;
	/* the table on the screen: */
	struct top sum;		/* what it shows; it does not change while the screen is paused */
	uint32_t *row;		/* rows of SUM in the order of the table */
	size_t rows, first, selected;	/* in ROW: how many, the screen's first, the inverse one */
	size_t page;		/* rows that the screen has room for */
	char *chosen;		/* name of the selected row, which the selection follows; or NULL */
	const char *message;	/* shown until the next key; NULL: none */
	bool helps;		/* the screen shows the keys */
	struct live_source source;
};

/* Show sample type number TYPE. */
void live_show_type(struct live *l, uint32_t type);

/* Sum up what the table shows. */
void live_sum(struct live *l);

void live_draw(struct live *l);

/* Do what KEY says; LINE: of a click. */
void live_press(struct live *l, int key, size_t line);

/* Free what the table holds. */
void live_screen_release(struct live *l);
