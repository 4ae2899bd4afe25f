/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf's inside.  Names follow the standard (DWARF 5): a unit is a tree of
 * DIEs, written one after the other; each begins with a code, which an
 * abbreviation table turns into a tag and the list of its attributes and the
 * forms they are written in.
 */
#pragma once
#include "base/arena.h"
#include "base/cursor.h"
#include "base/span.h"
#include "base/table.h"
#include "dwarf/dwarf.h"
#include "elf/section.h"

enum section {
	S_INFO, S_ABBREV, S_LINE, S_STR, S_LINE_STR, S_RANGES, S_RNGLISTS, S_ADDR,
	S_STR_OFFSETS, S_CU_INDEX, SECTIONS,
};

/* Attributes that are looked at. */
enum slot {
	A_NONE, A_LOW_PC, A_HIGH_PC, A_RANGES, A_ORIGIN, A_SPECIFICATION, A_NAME,
	A_LINKAGE_NAME, A_CALL_FILE, A_CALL_LINE, A_CALL_COLUMN, A_DECL_FILE, A_DECL_LINE,
	A_STMT_LIST, A_COMP_DIR, A_STR_OFFSETS_BASE, A_ADDR_BASE, A_RNGLISTS_BASE,
	A_GNU_RANGES_BASE, A_DWO_NAME, A_DWO_ID, A_DECLARATION, SLOTS,
};

/* A value as it is written: what it refers to is looked up when it is needed. */
enum value_kind {
	V_NONE, V_CONSTANT, V_ADDRESS, V_ADDRESS_INDEX, V_STRING, V_STR, V_LINE_STR, V_STR_INDEX,
	V_ALTERNATE_STR, V_REFERENCE, V_ALTERNATE_REFERENCE, V_OFFSET, V_LIST_INDEX, V_OTHER,
};

struct value {
	uint64_t number;	/* V_STRING: a pointer to it */
	enum value_kind kind;
};

struct attribute {
	uint16_t form;
	uint8_t slot;
	uint8_t size, kind;	/* of the commonest forms: bytes, enum value_kind */
	int64_t implicit;	/* DW_FORM_implicit_const: the value */
};

/* How to pass over a DIE: FIXED bytes, then what OP says. */
enum step_op { STEP_END, STEP_LEB, STEP_STRING, STEP_BLOCK, STEP_BLOCK1, STEP_BLOCK2,
	       STEP_BLOCK4, STEP_INDIRECT, STEP_MORE, STEP_SIBLING };
struct step {
	uint16_t fixed;
	uint8_t op;
};

struct abbrev {
	uint16_t tag;		/* 0: no such code */
	bool has_children;
	bool is_function;	/* a subprogram with code */
	bool has_sibling;	/* an attribute says where its children end */
	bool is_codeless;	/* no function with code is among its children */
	bool is_class;		/* nor is there if it is a type outside of functions */
	bool is_instance;	/* nor is there, for what it holds is in the abstract one */
	bool is_fixed;		/* all attributes have fixed sizes: SIZE bytes */
	uint16_t size;
	uint32_t attribute, attributes;		/* first, count */
	uint32_t step;				/* first */
};

struct abbrevs {
	uint64_t offset;		/* with the next three: whose they are */
	uint8_t address_size, offset_size;
	bool is_version2;
	struct abbrev *abbrev;		/* by code */
	size_t codes;
	struct attribute *attribute;
	size_t attributes;
	struct step *step;
	size_t steps;
};

struct row {
	uint32_t delta;		/* address, from the start of its sequence */
	uint32_t line, file;
	uint32_t column;
};

struct sequence {
	uint64_t start, end;
	size_t row, rows;	/* first, count */
};

struct file_entry {
	struct value name;
	uint64_t directory;
	const char *path;	/* once asked for */
};

/* A line table; or, for units without code, only its files. */
struct lines {
	uint64_t offset;		/* in .debug_line */
	struct unit *unit;		/* whose strings and directory its files are relative to */
	uint16_t version;
	bool is_bad, rows_read;
	struct value *directory;
	size_t directories;
	struct file_entry *file;
	size_t files;
	uint64_t program, end;		/* offsets in .debug_line */
	uint8_t offset_size, address_size, min_length, max_operations, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *operands;	/* of opcodes 1..opcode_base-1 */
	struct row *row;
	struct sequence *sequence;	/* by start */
	size_t sequences;
	struct flats flat;		/* address to sequence */
};

struct call {
	uint64_t origin;	/* offset of the DIE that says what is inlined here */
	struct dwarf_file *file;	/* where that is */
	uint32_t parent;	/* the call this one is in; SPAN_NONE: the function itself */
	uint32_t call_file, call_line, call_column;
};

struct code {
	uint64_t die;			/* offset in .debug_info */
	uint64_t end;			/* behind its children; 0: not known */
	bool calls_read;
	struct call *call;
	struct flats flat;		/* address to call */
};

struct unit {
	struct dwarf_file *file;
	uint64_t offset, dies, end;	/* in .debug_info: the header, its first DIE, behind it */
	uint64_t abbrev_offset;
	uint16_t version;
	uint8_t type, address_size, offset_size;
	bool root_read, functions_read, lines_read, split_tried, is_bad;
	struct abbrevs *abbrevs;
	struct value low_pc, high_pc, ranges, name, comp_dir, dwo_name;
	struct value stmt_list;
	uint64_t dwo_id, base;		/* BASE: what its range lists begin with */
	uint64_t str_offsets_base, addr_base, rnglists_base, gnu_ranges_base;
	struct unit *split, *skeleton;
	struct code *code;
	size_t codes;
	struct flats functions;		/* address to CODE */
	struct lines *lines;
};

struct dwarf_file {
	struct dwarf *dwarf;
	struct elf *elf;
	bool is_owned;			/* we close ELF */
	bool swap;
	struct dwarf_file *next;	/* of the .dwo files */
	struct elf_bytes section[SECTIONS];
	struct unit *unit;		/* by offset */
	size_t units;
	struct abbrevs **abbrevs;
	struct table abbrevs_table;
	size_t abbrevs_count;
	/* of items: what may still be read */
	uint64_t range_budget, row_budget, entry_budget;
	uint64_t abbrev_budget, line_budget;	/* the same, of bytes */
	uint64_t path_budget;			/* bytes of paths that may still be made */
	struct table split_ids;			/* of a .dwo file's units; empty: not made yet */
	struct lines **lines;
	struct table lines_table;
	size_t lines_count;
};

struct dwarf {
	struct dwarf_inputs inputs;
	struct dwarf_file *main, *alternate, *package, *split;
	uint64_t text_start, text_end;	/* where code can be; 0, 0: not known */
	struct flats units;		/* address to unit of MAIN */
	bool rangeless_read;
	bool no_calls, no_lines;	/* not asked for */
	bool has_parts;			/* what was found depends on .dwo files */
	bool exceeded;			/* a budget: not all of it is read */
	uint64_t memory;		/* bytes that its tables take */
	uint32_t splits;		/* .dwo files */
	struct dwarf_frame *frame;
	struct extent same;		/* where the last answer holds */
	uint64_t function_start;	/* of the last one */
	struct arena arena;
	struct dwarf_function **function;
	struct { struct dwarf_file *file; uint64_t die; } *function_key;
	uint32_t functions;
	struct table function_table;
};

struct die {
	const struct abbrev *abbrev;	/* NULL: the end of a list of children */
	uint64_t offset;
	uint32_t has;			/* bit per slot: VALUE is set */
	struct value value[SLOTS];
};

/* The tables take BYTES more. */
static inline void dwarf_charge(struct dwarf *d, uint64_t bytes)
{
	d->memory += bytes;
	elf_charge(d->inputs.elf, bytes);
}

static inline bool die_has(const struct die *d, enum slot slot)
{
	return d->has >> slot & 1;
}

/* --- bytes --- */
static inline struct cursor section_cursor(const struct dwarf_file *f, enum section s,
					   uint64_t offset)
{
	const struct elf_bytes *b = &f->section[s];

	if (offset > b->size || b->size == 0)
		return (struct cursor){ .failed = true };
	return (struct cursor){ .at = b->at + offset, .end = b->at + b->size, .swap = f->swap };
}

/* An unsigned number of SIZE bytes: 1, 2, 3, 4 or 8; others fail. */
uint64_t cursor_number(struct cursor *c, unsigned size);

/* The first field of a table: its length, and by that the size of its offsets, 4 or 8. */
uint64_t cursor_length(struct cursor *c, uint8_t *offset_size);

/* --- forms (dwarf-form.c) --- */
bool read_form(const struct unit *u, struct cursor *c, unsigned form, int64_t implicit,
	       struct value *v);

/* How a form is passed over; -1: not known. */
int form_step(unsigned form, const struct abbrevs *a, unsigned *fixed);

/* NULL: none. */
const char *value_string(const struct unit *u, const struct value *v);

/* False: there is no such address. */
bool value_address(const struct unit *u, const struct value *v, uint64_t *address);

/* --- DIEs (dwarf-abbrev.c) --- */
struct abbrevs *abbrevs_find(struct dwarf_file *f, const struct unit *u);
void abbrevs_release(struct dwarf_file *f);
bool die_read(const struct unit *u, struct cursor *c, struct die *die);

/* Pass over the attributes of a DIE; where it has_sibling and if WITH_CHILDREN, over those too. */
bool die_step(const struct unit *u, struct cursor *c, const struct abbrev *a, bool with_children);

static inline bool die_pass(const struct unit *u, struct cursor *c, const struct abbrev *a,
			    bool with_children)
{
	if (!a->is_fixed || a->size > cursor_left(c) || (with_children && a->has_sibling))
		return die_step(u, c, a, with_children);
	c->at += a->size;
	return true;
}

static inline const struct abbrev *abbrev_of(const struct unit *u, uint64_t code)
{
	const struct abbrevs *a = u->abbrevs;

	return code < a->codes && a->abbrev[code].tag ? &a->abbrev[code] : NULL;
}

/* --- units (dwarf-unit.c) --- */
struct dwarf_file *file_open(struct dwarf *d, struct elf *elf, const char *suffix);
void file_close(struct dwarf_file *f);

/* Read one header at C; false: it is damaged, or of an unknown version. */
bool unit_header(struct dwarf_file *f, struct cursor *c, struct unit *u);

/* The unit that has this byte of .debug_info, its root read; NULL: none. */
struct unit *unit_at(struct dwarf_file *f, uint64_t offset);

/* Read its root DIE, once.  False: the unit is of no use. */
bool unit_read_root(struct unit *u);

/* Index the address ranges of all units. */
void units_index(struct dwarf *d);

/* The unit with the functions of U: itself, or the split one in another file. */
struct unit *unit_with_code(struct unit *u);

/* Add the address ranges that these attributes mean. */
void ranges_add(struct unit *u, const struct value *low_pc, const struct value *high_pc,
		const struct value *ranges, struct spans *out, uint32_t value);

/*
 * Each range and each inlined call is paid from a budget: lists may be shared,
 * a bomb may not be.  False: nothing is left.
 */
bool ranges_pay(struct unit *u);

/* The same of the attributes that DIE has. */
void die_ranges(struct unit *u, const struct die *die, struct spans *out, uint32_t value);

/* --- functions (dwarf-function.c, dwarf-inline.c) --- */
void unit_read_functions(struct unit *u);
void code_read_calls(struct unit *u, struct code *code);

/* What the DIE at this offset is called. */
const struct dwarf_function *function_at(struct dwarf_file *f, uint64_t die);

/* Where an attribute of U refers to: NULL if nowhere. */
struct dwarf_file *value_reference(const struct unit *u, const struct value *v, uint64_t *offset);

/* --- lines (dwarf-line.c, dwarf-path.c) --- */
struct lines *unit_lines(struct unit *u);
void lines_read_header(struct lines *l);
void lines_release(struct dwarf_file *f);
/* The row that covers ADDRESS; SAME shrinks to what it covers, or to where there is none. */
bool lines_find(struct lines *l, uint64_t address, struct row *row, struct extent *same);

/* The path of the file with this number; NULL: none. */
const char *lines_path(struct lines *l, uint64_t file);
