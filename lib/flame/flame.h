/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame - the model of pmu-flame: one or two profiles as a tree of call paths, with rows
 * (node, labels, time, values) at its nodes.
 *
 * Nothing is summed up: every view of the page is a choice of rows.  Both profiles share
 * the tree, so that a node means the same in each.
 *
 *	struct flame *f = flame_new(&options, report);
 *
 *	if (flame_add(f, profile, FLAME_PROFILE) && flame_add(f, base, FLAME_BASE)) {
 *		flame_arrange(f);
 *		flame_write_page(f, out);	(flame/flame-page.h; or flame_write_svg())
 *	}
 *	flame_free(f);
 */
#pragma once
#include "base/byte-ids.h"
#include "base/intern.h"
#include "compare/ratio-request.h"
#include "flame/flame-bars.h"
#include "flame/flame-verdicts.h"
#include "pprof/decode.h"

enum {
	FLAME_NODES_MAX = 1 << 24,	/* in memory; deeper frames are left out, with a message */
	FLAME_NODES_KEPT = 2000000,	/* in the page; lighter ones are summed up */
	FLAME_TYPES_MAX = 64,
};

/* What code a function is.  The page and the SVG show it by colour and by pattern. */
enum flame_kind {
	KIND_PROGRAM, KIND_LIBRARY, KIND_KERNEL, KIND_JIT, KIND_LOST,
	KIND_BETWEEN,		/* not code: it divides the stacks of two threads */
};

/* Zero-initialised: everything as the profile says. */
struct flame_options {
	const char *type;	/* name of the type shown first; NULL: the profile's default */
	const char *by;		/* label: its value is the outermost frame; NULL: no such frame */
	struct ratio_request ratio;	/* instead of TYPE; its text is NULL: no ratio */
	double least;		/* share of all below which nodes are summed up */
	bool invert;		/* show callers: the function on top is the root */
	bool still;		/* the tree is for a picture: by function, not by line */
	bool compares;		/* a base will be added: functions of one name are one */
};

struct flame_type {
	const char *name, *unit;
	double per;		/* value of one sample; 0: unknown */
	uint32_t count;		/* index of the type that counts its samples; TABLE_NONE: none */
	int64_t total[FLAME_SIDES];
};

/* All are indices in STRINGS. */
struct flame_function {
	uint32_t name, file, object;
	uint32_t line;		/* first line; 0: unknown */
	enum flame_kind kind;
	/* of an object, all of whose addresses without a function are one; 0: a function */
	uint32_t addresses[FLAME_SIDES];
};

/* A line of a function, or an address.  Its bytes are the key of FRAMES: no padding. */
struct flame_frame {
	int64_t line;		/* an address is one of the file */
	uint32_t function, inlined;
};

struct flame_node {
	uint32_t parent, frame;
};

struct flame_row {
	int64_t time;		/* in ticks from FIRST_TIME; 0 if there are no times */
	uint32_t node, set;
	uint32_t values;	/* index of its first value, over TYPES */
};

/* The samples of one profile. */
struct flame_rows {
	struct flame_row *row;
	int64_t *value;		/* TYPES values for each sample that was added */
	uint32_t rows, samples;
};

struct flame {
	struct report *report;
	struct flame_options options;
	struct intern strings;
	struct flame_type *type;
	uint32_t types, shown;		/* SHOWN: index of the type shown first */
	uint32_t over;			/* index of the type divided by; TABLE_NONE: no ratio */
	struct flame_function *function;	/* 0: "all" */
	struct byte_ids frames;		/* items are struct flame_frame; 0: "all" */
	struct flame_node *node;	/* 0: the root; parents before children */
	uint32_t nodes;
	struct byte_ids sets;		/* items are pairs of strings; 0: no labels */
	struct flame_rows side[FLAME_SIDES];
	struct flame_bars *bars;	/* by type; NULL: none were made */
	struct flame_verdicts *verdicts;	/* by type; NULL: nothing is compared */
	struct flame_samples {
		uint32_t *node;		/* by sample of the profile */
		bool *of_base;		/* it is of the base of a difference */
	} sample[FLAME_SIDES];		/* of each profile that was added */
	bool has_base;
	bool has_times;			/* rows have times: in ns, or slices */
	int64_t first_time, tick;	/* ns; 1 until flame_arrange() */
	struct flame_when {
		int64_t time, duration;	/* ns; 0: unknown */
	} when[FLAME_SIDES];
	char **comment;
	uint32_t comments;
	struct {			/* what flame_arrange() has summed up; NODES 0: nothing */
		uint32_t nodes, function;	/* FUNCTION stands for them */
		double share;		/* of the heaviest of them */
		int64_t *flat, *cumulative;	/* exact, TYPES values for each function */
	} cut;
	/* private: */
	struct byte_ids identities;	/* of functions: name, base names of file and object */
	struct intern names;		/* texts in IDENTITIES */
	struct table children;		/* over NODE, by parent and frame */
	struct flame_step {
		uint32_t frame, node;
	} *step;			/* the last stack, from its outermost frame */
	size_t steps, step_room;
	int64_t slice;			/* ns in a slice; 0: unknown */
	int64_t slices;			/* highest number of a slice, from 1; 0: times are in ns */
	uint64_t too_deep;		/* stacks that were not followed to their leaf */
	struct arena arena;
};

struct flame *flame_new(const struct flame_options *options, struct report *report);

/*
 * Add the samples of D.  The first profile chooses the sample types; the base gives the
 * values that it has of these.  Samples of a base in D (PROFILE_BASE) count as such.
 * Return false (reported) if D does not have the types or the label of the options.
 */
bool flame_add(struct flame *f, const struct decoded *d, enum flame_side side);

/*
 * Name the objects whose addresses have no function, as "[libfoo.so: 12 addresses]".
 * Order the nodes: parents before children, depth first, the heaviest child first.  Sum up
 * those that are too light or too many, per parent, at one node of the function
 * CUT.FUNCTION; the line of its frame is the number of call paths in it.  Merge equal rows.
 */
void flame_arrange(struct flame *f);

static inline const struct flame_frame *flame_frame(const struct flame *f, uint32_t frame)
{
	return f->frames.item[frame].bytes;
}

static inline const struct flame_function *flame_function_of(const struct flame *f,
							     uint32_t node)
{
	return &f->function[flame_frame(f, f->node[node].frame)->function];
}

/* Return the part of PATH after its last slash. */
static inline const char *flame_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void flame_free(struct flame *f);
