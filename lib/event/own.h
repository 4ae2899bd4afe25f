/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own - CPU models that the user added: a maker's or perf's tables for CPUs without a table in
 * pmukit.
 *
 * Each is a text file in the user's configuration directory.  Whoever writes such a file decides
 * which codes the names of events mean, so a file is used only if it belongs to the user of the
 * tool, or to root: root uses only root's files, and a program with more rights than the user who
 * started it uses no files.
 *
 *	# pmukit model 1
 *	cpus	AuthenticAMD-26-[[:xdigit:]]+
 *	kind	x86
 *	text	amdzen5, 312 events
 *	EX_RET_INSTR	0xc0	-	-
 *
 * "cpus" is an extended regular expression for ids of CPUs (cpu.h), or "-"; "kind" is x86, arm, or
 * the kind of core of a hybrid CPU.  The columns of events are those of lib/event/tables.
 */
#pragma once
#include "base/arena.h"
#include "base/report.h"
#include "event/tables.h"

struct own_model {
	struct table_model model;	/* its OWN is this structure */
	const char *cpus, *role;
	struct table_event *event;	/* in the order of the names */
};

/* Zero-initialised: not read yet. */
struct own_models {
	bool read;
	struct own_model **model;
	size_t count;
	struct arena arena;
};

/* Read the user's models, once.  A file that is not used is reported by a note. */
void own_read(struct own_models *own, struct report *report);

void own_release(struct own_models *own);

/* Return whether OWN is for the CPU called ID with cores of the kind ROLE, as tables_is_for(). */
bool own_is_for(const struct own_model *own, const char *id, const char *role);

/* Like tables_find(). */
bool own_find(const struct own_model *own, struct slice name, struct table_event *event);

/* A model to keep. */
struct own_new {
	const char *name;	/* letters, digits, '-' and '_' */
	const char *cpus, *kind, *text;
	const struct table_event *event;
	size_t count;
};

/* Keep NEW in the user's configuration directory; an older file of this name is replaced. */
bool own_keep(const struct own_new *new, struct report *report);

/* Return whether TEXT may be the "cpus" of a model. */
bool own_may_be_cpus(const char *text);
