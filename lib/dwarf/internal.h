/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal structures and functions of dwarf, for the files of this module only.
 *
 * Names follow the standard (DWARF 5).  A unit is a tree of DIEs (debugging information
 * entries), written one after the other.  A DIE starts with a code.  For each code, an
 * abbreviation table gives the DIE's tag and its attributes.  The form of an attribute is the
 * encoding of its value.
 */
#pragma once
#include "base/arena.h"
#include "base/bins.h"
#include "base/cursor.h"
#include "base/fuel.h"
#include "base/span.h"
#include "base/table.h"
#include "dwarf/dwarf.h"
#include "elf/section.h"

/* The sections that are read, by index of dwarf_file.section. */
enum dwarf_section {
	S_INFO, S_ABBREV, S_LINE, S_STR, S_LINE_STR, S_RANGES, S_RNGLISTS, S_ADDR,
	S_STR_OFFSETS, S_CU_INDEX, SECTIONS,
};

/* The attributes that are used; A_NONE: any other. */
enum slot {
	A_NONE, A_LOW_PC, A_HIGH_PC, A_RANGES, A_ORIGIN, A_SPECIFICATION, A_NAME,
	A_LINKAGE_NAME, A_CALL_FILE, A_CALL_LINE, A_CALL_COLUMN, A_DECL_FILE, A_DECL_LINE,
	A_STMT_LIST, A_COMP_DIR, A_STR_OFFSETS_BASE, A_ADDR_BASE, A_RNGLISTS_BASE,
	A_GNU_RANGES_BASE, A_DWO_NAME, A_DWO_ID, A_DECLARATION, A_LOCATION, A_TYPE, A_SIGNATURE,
	A_BYTE_SIZE, A_BIT_SIZE, A_BIT_OFFSET, A_DATA_BIT_OFFSET, A_MEMBER_LOCATION, A_COUNT,
	A_LOWER_BOUND, A_UPPER_BOUND, SLOTS,
};

/*
 * The meaning of value.number:
 *   V_NONE                   there is no value
 *   V_CONSTANT, V_ADDRESS    the number itself
 *   V_ADDRESS_INDEX          an index into .debug_addr
 *   V_STRING                 a pointer to the string
 *   V_STR, V_LINE_STR        an offset in .debug_str, in .debug_line_str
 *   V_STR_INDEX              an index into .debug_str_offsets
 *   V_ALTERNATE_STR          an offset in .debug_str of the alternate file
 *   V_REFERENCE              an offset in .debug_info
 *   V_UNIT_REFERENCE         only in a struct form: an offset in .debug_info, from the unit's start
 *   V_ALTERNATE_REFERENCE    an offset in .debug_info of the alternate file
 *   V_OFFSET                 an offset in the section that the attribute implies
 *   V_LIST_INDEX             an index of a range list in .debug_rnglists
 *   V_SIGNATURE              the signature of a type unit
 *   V_BLOCK                  a pointer to value.size bytes
 *   V_OTHER                  a value that is not used
 */
enum value_kind {
	V_NONE, V_CONSTANT, V_ADDRESS, V_ADDRESS_INDEX, V_STRING, V_STR, V_LINE_STR, V_STR_INDEX,
	V_ALTERNATE_STR, V_REFERENCE, V_UNIT_REFERENCE, V_ALTERNATE_REFERENCE, V_OFFSET,
	V_LIST_INDEX, V_SIGNATURE, V_BLOCK, V_OTHER,
};

/* The value of an attribute as encoded.  A string, address or list is looked up when needed. */
struct value {
	uint64_t number;	/* see KIND; V_STRING and V_BLOCK: the pointer */
	enum value_kind kind;
	uint32_t size;		/* bytes, of V_BLOCK */
};

/*
 * How many bytes a value takes.  A number up to SIZE_FIXED_MAX is the number of bytes.
 * SIZE_IMPLICIT: no bytes, because the abbreviation has the value.  The others:
 *   SIZE_ADDRESS, SIZE_OFFSET   an address, an offset; the unit says how many bytes these take
 *   SIZE_REF_ADDR               SIZE_ADDRESS in DWARF 2, else SIZE_OFFSET
 *   SIZE_ULEB, SIZE_SLEB        a LEB128 number, unsigned or signed
 *   SIZE_STRING                 a string and its NUL
 *   SIZE_BLOCK                  a LEB128 number, and then so many bytes
 *   SIZE_BLOCK1, 2, 4           a number of 1, 2 or 4 bytes, and then so many bytes
 *   SIZE_INDIRECT               the number of a form, and then a value of that form
 */
enum form_size {
	SIZE_IMPLICIT = 0, SIZE_FIXED_MAX = 16, SIZE_ADDRESS, SIZE_OFFSET, SIZE_REF_ADDR,
	SIZE_ULEB, SIZE_SLEB, SIZE_STRING, SIZE_BLOCK, SIZE_BLOCK1, SIZE_BLOCK2, SIZE_BLOCK4,
	SIZE_INDIRECT,
};

/* How a form encodes values. */
struct form {
	uint8_t kind;		/* enum value_kind */
	uint8_t size;		/* enum form_size */
};

/*
 * An attribute of an abbreviation.  Unused attributes of fixed size are not stored: their bytes
 * are in SKIP of the next one.
 */
struct attribute {
	uint16_t skip;		/* bytes before this attribute */
	uint8_t slot;		/* enum slot */
	struct form form;	/* for the unit: SIZE is not SIZE_ADDRESS to SIZE_REF_ADDR */
	int64_t implicit;	/* the value, if FORM.SIZE is SIZE_IMPLICIT */
};

/*
 * A step to skip a part of a DIE.  Skip FIXED bytes, then do OP, which is a size from SIZE_ULEB on:
 * skip a value of that size; or
 *   STEP_END                the DIE ends here
 *   STEP_MORE               go on with the next step
 *   STEP_SIBLING            skip the 4-byte offset of the sibling; or go there, past the children
 */
enum step_op { STEP_END, STEP_MORE, STEP_SIBLING };
struct step {
	uint16_t fixed;		/* bytes */
	uint8_t op;		/* enum step_op, or enum form_size */
};

/*
 * An abbreviation: the form of all DIEs with one code.  The children of a DIE need not be
 * searched for functions with code if it is_codeless, is_instance, or is_class outside functions.
 */
struct abbrev {
	uint16_t tag;		/* DW_TAG_*; 0: the table does not have this code */
	bool has_children;
	bool is_function;	/* a subprogram with code */
	bool has_sibling;	/* an attribute gives the end of the children */
	bool is_codeless;	/* a type or declaration without functions in it */
	bool is_class;		/* a class: the code of its functions is in DIEs outside of it */
	bool is_instance;	/* a call, or a copy of a function: its types are elsewhere */
	bool is_block;		/* an inlined call or a block: calls in it are the function's */
	bool is_fixed;		/* all attributes have fixed sizes, in all SIZE bytes */
	uint16_t size;		/* bytes of the attributes, if is_fixed */
	uint16_t skip;		/* bytes after the last attribute that is read */
	uint64_t has;		/* bit per slot: there is such an attribute */
	uint32_t attribute, attributes;		/* index of the first in its table; count */
	uint32_t step;				/* index of the first; the last is STEP_END */
};

/*
 * An abbreviation table.  The first four fields identify it: sizes of steps depend on those of
 * the unit.  It is read up to the highest code that was needed so far: of most units, only the
 * root DIE is read.
 */
struct abbrevs {
	uint64_t offset;		/* in .debug_abbrev */
	uint8_t address_size, offset_size;	/* bytes */
	bool is_version2;		/* DWARF 2 */
	bool is_read;			/* to its end, or to damage */
	uint64_t next;			/* offset of what was not read yet, from OFFSET */
	struct abbrev *abbrev;		/* by code */
	size_t codes;			/* length of ABBREV: the highest code is below it */
	struct attribute *attribute;
	size_t attributes;
	struct step *step;
	size_t steps;
};

/* A row of a line table.  It covers the addresses up to the next row of its sequence. */
struct row {
	uint32_t delta;		/* address, from the start of its sequence */
	uint32_t line, file;	/* FILE: its number, see lines_path() */
	uint32_t column;
};

/* Rows with ascending addresses, for the range [START, END). */
struct sequence {
	uint64_t start, end;	/* addresses */
	size_t row, rows;	/* index of the first; count */
	struct bins bins;	/* of its rows, by their DELTA */
};

/* A file of a line table. */
struct file_entry {
	struct value name;	/* string: absolute, or relative to DIRECTORY */
	uint64_t directory;	/* number; 0: where the unit was compiled */
	const char *path;	/* full path, set by lines_path(); "": unknown */
};

/*
 * A line table.  lines_read_header() fills it up to OPERANDS; the first lines_find() fills the
 * rest.  Units without code use only the files.
 */
struct lines {
	uint64_t offset;		/* in .debug_line */
	struct unit *unit;		/* the first that uses it; gives strings and directory */
	uint16_t version;		/* of the line table: 2 to 5 */
	bool is_bad, rows_read;		/* header is damaged; rows are filled */
	struct value *directory;	/* strings; directory 1 is first before version 5 */
	size_t directories;
	struct file_entry *file;	/* file 1 is first before version 5 */
	size_t files;
	uint64_t program, end;		/* of the line program, as offsets in .debug_line */
	/* Fields of the header, with their names in the standard: */
	uint8_t offset_size, address_size, min_length, max_operations, line_range, opcode_base;
	int8_t line_base;
	uint32_t line_scale;		/* 65536 / LINE_RANGE + 1: see run_special() */
	const uint8_t *operands;	/* number of operands, of opcodes 1..opcode_base-1 */
	struct row *row;		/* of all sequences */
	struct sequence *sequence;	/* in the order of the program */
	size_t sequences;
	struct flats flat;		/* address to index of SEQUENCE */
};

/* An inlined call. */
struct call {
	uint64_t origin;	/* offset in .debug_info of the DIE of the inlined function */
	struct dwarf_file *file;	/* the file of that DIE; NULL: unknown */
	uint32_t parent;	/* index of the call around it; SPAN_NONE: the function itself */
	uint32_t call_file, call_line, call_column;	/* source of the call; 0: unknown */
};

/* A function with code.  inline_read_calls() fills CALL and FLAT. */
struct dwarf_code {
	uint64_t die;			/* offset in .debug_info */
	uint64_t end;			/* offset after its children; 0: unknown; see inline.c */
	bool calls_read;
	const struct dwarf_function *function;	/* its names; NULL: not needed so far */
	struct call *call;		/* inlined calls, in the order of the file */
	struct flats flat;		/* address to index of the innermost call */
};

/*
 * A unit.  The header fills the fields up to OFFSET_SIZE, and DWO_ID if it has one;
 * unit_read_root() fills those from ABBREVS to GNU_RANGES_BASE; unit_with_code() SPLIT and
 * SKELETON; unit_read_functions() CODE to FUNCTIONS; unit_lines() LINES.
 */
struct unit {
	struct dwarf_file *file;
	uint64_t offset, dies, end;	/* in .debug_info: of the header, first DIE, next unit */
	uint64_t abbrev_offset;		/* in .debug_abbrev */
	uint16_t version;		/* DWARF version: 2 to 5 */
	uint8_t type, address_size, offset_size;	/* DW_UT_*; bytes */
	/* The steps above that are done.  IS_BAD: the unit is damaged, and is not used. */
	bool root_read, functions_read, lines_read, split_tried, is_bad;
	struct abbrevs *abbrevs;	/* may be shared with other units */
	/* Attributes of the root DIE; their kind is V_NONE if it does not have them. */
	struct value low_pc, high_pc, ranges, name, comp_dir, dwo_name;
	struct value stmt_list;		/* offset of the line table in .debug_line */
	uint64_t dwo_id, base;		/* BASE: initial base address of range lists */
	uint64_t signature, type_at;	/* of a type unit: its key; its type, from OFFSET */
	/* Offsets in .debug_str_offsets, .debug_addr, .debug_rnglists and .debug_ranges: */
	uint64_t str_offsets_base, addr_base, rnglists_base, gnu_ranges_base;
	struct unit *split, *skeleton;	/* see split.c; SPLIT has SKELETON's functions */
	struct dwarf_code *code;	/* functions with code, by ascending offset of the DIE */
	size_t codes;
	struct flats functions;		/* address to index of CODE */
	struct lines *lines;		/* may be shared; NULL: none */
};

/* Sections of which only parts are used; of the others, all is read at once. */
#define PARTLY_USED (1U << S_INFO | 1U << S_LINE | 1U << S_STR | 1U << S_LINE_STR | \
		     1U << S_RANGES | 1U << S_RNGLISTS | 1U << S_ADDR | 1U << S_STR_OFFSETS)

/*
 * A file with debug information.  dwarf_file_open() fills the sections, units and fuel; tables
 * of abbreviations and lines are added when a unit needs them.
 */
struct dwarf_file {
	struct dwarf *dwarf;
	struct elf *elf;
	bool is_owned;			/* dwarf_file_close() closes ELF */
	bool has_types;			/* S_INFO is .debug_types, of DWARF 4 */
	bool swap;			/* byte order is not this machine's */
	struct dwarf_file *next;	/* next .dwo file in dwarf.split */
	struct elf_bytes section[SECTIONS];	/* size 0: absent */
	struct elf_strings str, line_str;	/* the sections of these names */
	struct unit *unit;		/* by ascending offset */
	size_t units;
	struct abbrevs **abbrevs;	/* all tables of abbreviations */
	struct table abbrevs_table;	/* hash table: unit's parameters to index of ABBREVS */
	size_t abbrevs_count;
	struct fuel fuel;		/* see dwarf_pay() */
	struct table split_ids;			/* .dwo file: dwo_id to UNIT; filled on demand */
	bool split_ids_read;			/* SPLIT_IDS was filled; it may be empty */
	struct lines **lines;			/* all line tables */
	struct table lines_table;		/* hash table: offset to index of LINES */
	size_t lines_count;
};

struct dwarf {
	struct dwarf_inputs inputs;
	/* Debug file or program; .gnu_debugaltlink; .dwp; list of the .dwo files opened so far. */
	struct dwarf_file *main, *alternate, *package, *split;
	struct dwarf_file *types;	/* .debug_types of MAIN; NULL: absent, or not needed yet */
	struct variables *variables;	/* see variable.c; NULL: not needed so far */
	uint64_t text_start, text_end;	/* range of all code; 0, 0: unknown */
	struct flats units;		/* address to index of a unit of MAIN */
	bool rangeless_read;		/* UNITS includes units without address ranges */
	bool no_calls, no_lines;	/* see dwarf_leave_out() */
	bool has_parts;			/* an answer depended on .dwo files */
	bool exceeded;			/* a limit was exceeded: a part was not read */
	/* The first damage in each section.  NEW_DAMAGE: dwarf_next_damage() has some to return. */
	struct { uint64_t offset; bool is_damaged, is_returned; } damage[SECTIONS];
	bool new_damage;
	uint16_t unread_version;	/* see dwarf_unread_version(); 0: none */
	uint64_t memory;		/* bytes of all tables: see dwarf_charge() */
	uint32_t splits;		/* number of .dwo files in SPLIT */
	struct dwarf_frame *frame;	/* the last answer */
	struct extent same;		/* address range of the last answer */
	uint64_t function_start;	/* address; see dwarf_function_start() */
	struct arena arena;		/* functions, calls, paths, and all that is flat */
	struct call_reader *call_reader;	/* see inline.c; NULL: not needed so far */
	struct named **named;		/* functions that were in an answer: see function.c */
	uint32_t functions;		/* number of them */
	struct table function_table;	/* hash table: file and offset to index of the function */
};

/* A DIE with the values of its attributes. */
struct die {
	const struct abbrev *abbrev;	/* NULL: end of a list of children */
	uint64_t has;			/* bit per slot: VALUE is set; A_NONE: no meaning */
	struct value value[SLOTS];	/* by enum slot */
};

/* Charge BYTES of memory for tables to D and to its program's ELF file. */
static inline void dwarf_charge(struct dwarf *d, uint64_t bytes)
{
	d->memory += bytes;
	elf_charge(d->inputs.elf, bytes);
}

/*
 * Take the fuel for BYTES that are read from F, or that the answers from it take in memory.
 * False: not enough is left.
 */
static inline bool dwarf_pay(struct dwarf_file *f, uint64_t bytes)
{
	bool can = fuel_take(&f->fuel, bytes);

	f->dwarf->exceeded |= !can;
	return can;
}

enum { STRING_COST = 16 };	/* bytes of a string per unit of fuel (strlen is fast) */

static inline bool die_has(const struct die *d, enum slot slot)
{
	return d->has >> slot & 1;
}

/* --- bytes --- */
/* Return a cursor from OFFSET to the end of section S; failed if OFFSET is outside. */
static inline struct cursor section_cursor(const struct dwarf_file *f, enum dwarf_section s,
					   uint64_t offset)
{
	const struct elf_bytes *b = &f->section[s];

	if (offset > b->size || b->size == 0)
		return (struct cursor){ .failed = true };
	return (struct cursor){ .at = b->at + offset, .end = b->at + b->size, .swap = f->swap };
}

/* The SIZE bytes at C are used from now on: see elf_need(). */
static inline void dwarf_need(const struct dwarf_file *f, const struct cursor *c, uint64_t size)
{
	elf_need(f->elf, c->at, size < cursor_left(c) ? size : cursor_left(c));
}

/*
 * Return a cursor from OFFSET, which is in U, to the end of U; failed if OFFSET is outside of the
 * section.
 */
struct cursor unit_cursor(const struct unit *u, uint64_t offset);

/* Read an unsigned number of SIZE bytes: 1, 2, 3, 4 or 8.  Other sizes fail. */
uint64_t form_number(struct cursor *c, unsigned size);

/* Read the length in bytes that starts a unit or table; store the size of its offsets, 4 or 8. */
uint64_t form_length(struct cursor *c, uint8_t *offset_size);

/* --- damage (dwarf.c) --- */
/* Names of the sections, without the suffix ".dwo". */
extern const char *const dwarf_section_names[SECTIONS];

/*
 * Note damage at OFFSET of section S of F, unless S is absent.  After a limit was exceeded, a part
 * is missing, and what depends on it only looks damaged: this is not noted.
 */
void dwarf_damaged(struct dwarf_file *f, enum dwarf_section s, uint64_t offset);

/* Return whether this version of units and line tables is read. */
static inline bool dwarf_is_read(uint16_t version)
{
	return version >= 2 && version <= 5;
}

/* Note for dwarf_unread_version() that a part of VERSION, if that is not 0, was not read. */
void dwarf_unread(struct dwarf *d, uint16_t version);

/* Note damage at AT in .debug_info. */
static inline void unit_damaged(const struct unit *u, const uint8_t *at)
{
	dwarf_damaged(u->file, S_INFO, (uint64_t)(at - u->file->section[S_INFO].at));
}

/* --- forms (form.c) --- */
/* Store in *F how FORM (DW_FORM_*) encodes values in U.  False: unknown form, F->kind is V_NONE. */
bool form_find(const struct unit *u, uint64_t form, struct form *f);

/* Return the string that V refers to; NULL: not a string, missing, or too long. */
const char *form_string(const struct unit *u, const struct value *v);

/* Store the address that V refers to.  False: not an address, or missing. */
bool form_address(const struct unit *u, const struct value *v, uint64_t *address);

/* --- values and DIEs (abbrev.c, die.c) --- */
/* Read a value at C.  False: its form is unknown, or not allowed.  A cut value sets C->failed. */
bool form_read(const struct unit *u, struct cursor *c, struct form f, int64_t implicit,
	       struct value *v);

/* Return the abbreviation table of U.  Nothing of a new table has been read. */
struct abbrevs *abbrevs_find(struct dwarf_file *f, const struct unit *u);

/* Read more of U's table, up to CODE.  Return its abbreviation, or NULL: the table ends before. */
const struct abbrev *abbrevs_read(const struct unit *u, uint64_t code);

/* Free all abbreviation tables of F. */
void abbrevs_release(struct dwarf_file *f);

/* Read the DIE at C.  False: damage, or unknown code. */
bool die_read(const struct unit *u, struct cursor *c, struct die *die);

/* Skip the attributes of a DIE; if WITH_CHILDREN and it has_sibling, also skip its children. */
bool die_step(const struct unit *u, struct cursor *c, const struct abbrev *a, bool with_children);

/* Like die_step(), but fast for attributes of fixed sizes. */
static inline bool die_pass(const struct unit *u, struct cursor *c, const struct abbrev *a,
			    bool with_children)
{
	if (!a->is_fixed || a->size > cursor_left(c) || (with_children && a->has_sibling))
		return die_step(u, c, a, with_children);
	c->at += a->size;
	return true;
}

/* Return the abbreviation for CODE, or NULL.  Valid until the next call for the same table. */
static inline const struct abbrev *abbrev_of(const struct unit *u, uint64_t code)
{
	const struct abbrevs *a = u->abbrevs;

	return code < a->codes && a->abbrev[code].tag ? &a->abbrev[code] : abbrevs_read(u, code);
}

/* --- units (unit.c, ranges.c, split.c) --- */
/* Open the sections of ELF whose names end in SUFFIX ("" or ".dwo"); read all unit headers. */
struct dwarf_file *dwarf_file_open(struct dwarf *d, struct elf *elf, const char *suffix);

/* The same for DWARF 4's .debug_types instead of .debug_info; NULL: there is none. */
struct dwarf_file *dwarf_file_open_types(struct dwarf *d, struct elf *elf);
void dwarf_file_close(struct dwarf_file *f);

/* Return the unit with a DIE at OFFSET of .debug_info, its root read; NULL: none, or damaged. */
struct unit *unit_at(struct dwarf_file *f, uint64_t offset);

/* Read the root DIE of U, once.  False: the unit is damaged. */
bool unit_read_root(struct unit *u);

/* Fill d->units from the address ranges of all units of d->main. */
void units_index(struct dwarf *d);

/* Return the unit with the functions of U: its split unit, or U if U is not split. */
struct unit *unit_with_code(struct unit *u);

/* Add the address ranges in these attributes (NULL: absent) to OUT, with VALUE. */
void ranges_add(struct unit *u, const struct value *low_pc, const struct value *high_pc,
		const struct value *ranges, struct spans *out, uint32_t value);

/* Add the address ranges of DIE to OUT, with VALUE. */
void die_ranges(struct unit *u, const struct die *die, struct spans *out, uint32_t value);

/* --- functions (function.c, inline.c) --- */
/* Read the functions with code of U, of which FUNCTIONS_READ is false. */
void unit_read_functions(struct unit *u);

/* Read the inlined calls of CODE, a function of U, of which CALLS_READ is false. */
void inline_read_calls(struct unit *u, struct dwarf_code *code);
void call_reader_free(struct call_reader *r);

/* Return the function with its DIE at offset DIE of .debug_info in F.  Never NULL. */
const struct dwarf_function *function_at(struct dwarf_file *f, uint64_t die);

/* Return the file and the *OFFSET of the DIE that V, of unit U, refers to; NULL: none. */
struct dwarf_file *form_reference(const struct unit *u, const struct value *v, uint64_t *offset);

/*
 * Read the DIE at OFFSET of U, which takes fuel: DIEs that are read by their offset may overlap.
 * False: damage, or it is longer than any with names, or than the fuel that is left.
 */
bool die_at(struct unit *u, uint64_t offset, struct die *die);

/* --- variables (variable.c) --- */
void variables_free(struct variables *v);

/* --- lines (line.c, path.c) --- */
/* Return the line table of U, or of its skeleton, with its header read; NULL: none. */
struct lines *unit_lines(struct unit *u);

/* Read the header of L, whose OFFSET and UNIT are set.  Damage sets L->is_bad. */
void lines_read_header(struct lines *l);

/* Free all line tables of F. */
void lines_release(struct dwarf_file *f);

/*
 * Find the row that covers ADDRESS.  SAME shrinks to the range of that row or, if false is
 * returned, to the range without a row.  L may be NULL.
 */
bool lines_find(struct lines *l, uint64_t address, struct row *row, struct extent *same);

/* Return the path of FILE, a number as used in rows and attributes; NULL: unknown. */
const char *lines_path(struct lines *l, uint64_t file);
