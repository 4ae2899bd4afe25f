/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables - the events that CPU makers publish, by CPU model.
 *
 * lib/event/tables/ has the tables as text; its script "generate" makes C of them when pmukit is
 * built.  A lookup is two binary searches; nothing is parsed or relocated at start.
 */
#pragma once
#include "base/slice.h"

/* The config word's part that selects an extra register (MSR) of Intel's CPUs. */
enum table_register {
	TABLE_NO_REGISTER, TABLE_LDLAT, TABLE_OFFCORE_RSP, TABLE_FRONTEND, TABLE_OMR,
};

/* An event of a model. */
struct table_event {
	const char *name;	/* as the maker writes it: "MEM_LOAD_RETIRED.L3_MISS" */
	uint64_t config;	/* for perf_event_attr */
	uint64_t config1;	/* value of REGISTER */
	enum table_register extra;
	bool precise;		/* precise levels are possible */
	bool only_precise;	/* it counts nothing without a precise level */
	bool deprecated;	/* the maker has another name for it, or does not want it used */
};

/* Return the kernel's term for the extra register, such as "ldlat", or "" if it has none. */
const char *tables_register(enum table_register extra);

struct own_model;

/* A kind of core of a CPU, or a CPU with one kind of cores. */
struct table_model {
	int number;		/* for the functions below; -1: it is OWN */
	const struct own_model *own;	/* a model that the user added (own.h), or NULL */
	const char *name;	/* "icx", "adl_glc", "arm_n1" */
	const char *text;	/* "Intel Ice Lake X" */
	const char *version;	/* the maker's version of the table, or "-" */
	size_t events;
	bool arm;		/* Arm's: the config word is only the number of an event */
};

/* Get the next model and advance *AT, which starts at 0.  False: no more. */
bool tables_next(int *at, struct table_model *model);

/* Return whether the model NUMBER is called NAME, in upper or lower case, with '-' or '_'. */
bool tables_is_called(int number, struct slice name);

/*
 * Return whether the model NUMBER is for CPUs with this ID ("GenuineIntel-6-6A-6", "0x41d0c") and
 * for cores of the kind ROLE ("core", "atom", "lowpower", or "" if there is only one kind).  If ID
 * is NULL, only ROLE counts.
 */
bool tables_is_for(int number, const char *id, const char *role);

/*
 * Find the event called NAME of the model NUMBER, in upper or lower case, with '.' or ':'.  Return
 * false if the model has no such event.
 */
bool tables_find(int number, struct slice name, struct table_event *event);

/* Compare two names of events like strcmp(), but take upper for lower case, and ':' for '.'. */
int tables_compare(struct slice name, const char *other);

/* Get the event at index I of the model NUMBER, in the order of the names.  False: no more. */
bool tables_event(int number, size_t i, struct table_event *event);

/* The generated tables, for tables.c alone. */
struct table_code {
	uint64_t config : 56;
	uint64_t flags : 8;	/* enum table_register; 16: precise, 32: only precise,
				   64: deprecated */
	uint64_t config1;
};
struct table_entry {
	uint16_t name, code;	/* indexes of tables_names and tables_codes */
};
struct table_row {
	uint32_t name, also, version, cpus, text;	/* offsets in tables_text */
	uint32_t first, count;				/* of its entries */
};
extern const char tables_text[];
extern const uint32_t tables_names[];	/* offsets in tables_text, in the order of the names */
extern const struct table_code tables_codes[];
extern const struct table_entry tables_entries[];
extern const struct table_row tables_rows[];
extern const unsigned int tables_count;
