/* SPDX-License-Identifier: Apache-2.0 */
/* Internal structures and functions of cfi, for the files of cfi and expression only. */
#pragma once
#include "base/arena.h"
#include "base/cursor.h"
#include "base/table.h"
#include "cfi/cfi.h"
#include "elf/section.h"

enum { CFI_FDES_MAX = 4 << 20 };	/* in a section; the largest browsers have 1 Mi */

/* A common information entry. */
struct cie {
	uint64_t offset;	/* in its section */
	uint64_t code_factor;	/* of instructions that advance the location */
	int64_t data_factor;	/* of offsets from the CFA */
	uint8_t ra_reg;		/* register of the return address */
	uint8_t encoding;	/* of FDEs' addresses: DW_EH_PE_* */
	uint8_t address_size;	/* bytes: 4 or 8 */
	bool has_augmentation;	/* FDEs have augmentation data */
	bool is_signal;		/* FDEs are of signal frames */
	struct cursor program;	/* the initial instructions */
};

/* A frame description entry: the instructions of a function. */
struct fde {
	struct cie cie;
	uint64_t offset;	/* in its section */
	uint64_t start, end;	/* addresses of code */
	struct cursor program;	/* the instructions */
};

/* Where an FDE is: 12 bytes, as a program may have a million of them. */
struct sorted_fde {
	uint32_t start_low, start_high;		/* halves of the FDE's first address */
	uint32_t offset;			/* in its section */
};

/* A section of call frame information.  cfi_section_find() fills the fields from IS_SORTED on. */
struct cfi_section {
	const char *name;		/* ".eh_frame" or ".debug_frame"; NULL: not open */
	struct elf *elf;
	struct elf_bytes bytes;		/* size 0: absent */
	uint64_t address;		/* of the section: for relative pointers */
	bool is_eh;			/* .eh_frame: other ids, relative pointers */
	bool ends_at_zero;		/* the size is unknown: stop at an entry of length 0 */
	uint64_t text_start, text_end;	/* of all code; FDEs of other addresses are not used */
	/* The search table of .eh_frame_hdr: pairs of addresses, relative to TABLE_BASE. */
	struct elf_bytes table;		/* size 0: the table is missing or unusable */
	uint64_t table_base;		/* address */
	bool is_sorted;			/* the table was found to be sorted */
	bool is_scanned;		/* FDE is filled */
	struct sorted_fde *fde;	/* by ascending start */
	uint32_t fdes;
	struct cie cie;			/* the last that was read */
	bool has_cie;			/* CIE is filled */
	struct cfi_damage damage;	/* the first; section NULL: none */
	struct cfi_budget *budget;	/* reading all entries takes its steps from this */
};

/* The rule of a register while a row is built. */
struct cfi_rule {
	uint8_t kind;		/* enum cfi_kind */
	int32_t value;		/* as in struct cfi_save */
};

/* A row while it is built.  The CFA's parts are kept apart: instructions set some of them. */
struct cfi_state {
	uint8_t cfa_kind;	/* as in struct cfi_row */
	uint8_t cfa_reg;
	bool signs_return;
	int32_t cfa_offset, cfa_expression;
	struct cfi_rule rule[CFI_REGISTERS];
};

/* The bytes of an expression. */
struct expression {
	const uint8_t *at;
	uint32_t size;
};

/* An object's call frame information.  A section is opened when it is needed. */
struct cfi {
	struct elf *elf, *debug;		/* DEBUG: NULL: none */
	struct cfi_section eh_frame, debug_frame;
	struct cfi_section separate;		/* .debug_frame of DEBUG */
	struct expression *expression;		/* by id; different from each other */
	uint32_t expressions;
	struct table expression_table;		/* hash of its bytes to id */
	struct kept_program **kept;		/* states of long programs (cfi-kept.c) */
	uint32_t kept_count;
	struct table kept_table;		/* over KEPT */
	struct arena arena;			/* expressions that are not in the file; states */
	uint64_t steps;				/* steps that may still be taken for this object */
	uint64_t hash;				/* of the section whose share it takes; 0: none */
	struct cfi_budget *budget, own;		/* OWN is used until cfi_use_budget() */
};

/* --- CIEs and FDEs (cfi-entry.c) --- */
/* The start of an entry. */
struct cfi_entry {
	uint64_t offset, next;	/* of this entry and of the next, in the section */
	enum entry_kind { ENTRY_CIE, ENTRY_FDE, ENTRY_ZERO /* length 0 */ } kind;
	uint64_t cie;		/* FDE: offset of its CIE */
	struct cursor body;	/* the rest of the entry */
};

/* Read the start of the entry at OFFSET.  False: damaged. */
bool cfi_entry_read(const struct cfi_section *s, uint64_t offset, struct cfi_entry *e);

/* Read the FDE that starts with E.  False: the FDE or its CIE is damaged. */
bool cfi_fde_read(struct cfi_section *s, const struct cfi_entry *e, struct fde *fde);

/* Read a pointer in ENCODING.  C fails if the encoding is unknown, or the pointer indirect. */
uint64_t cfi_section_pointer(const struct cfi_section *s, struct cursor *c, uint8_t encoding,
			     uint8_t address_size);

/* --- finding FDEs (cfi-find.c) --- */
/* Open .eh_frame of ELF.  Without the section, no FDE will be found. */
void cfi_section_open_eh(struct cfi_section *s, struct elf *elf);

/* Open .debug_frame of FILE, which is ELF or its debug file. */
void cfi_section_open_debug(struct cfi_section *s, struct elf *file, const struct elf *elf);

/* Find the FDE of ADDRESS.  Narrow SAME to the range with the same answer. */
enum cfi_result cfi_section_find(struct cfi_section *s, uint64_t address, struct fde *fde,
				 struct extent *same);
void cfi_section_release(struct cfi_section *s);

/* Note that the entry at OFFSET is damaged, or exceeds LIMIT. */
void cfi_section_damaged(struct cfi_section *s, uint64_t offset, enum cfi_limit limit);

/* --- instructions (cfi-run.c) --- */
/*
 * Run the instructions of FDE, in section S, up to ADDRESS, which is in the FDE's range.  Store
 * the row, and narrow SAME to its addresses.  *STEPS: the steps that may be taken, and then those
 * that were taken.  CFI_LATER: more are needed.  CFI_DAMAGED: see *LIMIT.
 */
enum cfi_result cfi_run(struct cfi *c, const struct cfi_section *s, const struct fde *fde,
			uint64_t address, struct cfi_row *row, struct extent *same,
			uint64_t *steps, enum cfi_limit *limit);

/* --- states of long programs (cfi-kept.c) --- */
enum {
	KEPT_LEAST = 256,	/* bytes of the shortest program whose states are kept */
	KEPT_STEPS = 256,	/* steps from one kept state to the next */
};

/* Where a run may start in a program, in place of the program's start. */
struct kept_point {
	uint64_t start;		/* first address of the row that is built there */
	const uint8_t *at;	/* the next instruction */
	unsigned depth;		/* number of remembered states */
	const struct kept_state *const *state;	/* the remembered states, then the row's */
};

/* The instructions of a long FDE or CIE. */
struct kept_program {
	const struct cfi_section *section;
	uint64_t offset;	/* of the entry in the section */
	struct kept_point *point;	/* by ascending AT and START; owned */
	uint32_t points;
};

/* Return the program of the entry at OFFSET of S; it is made, without points. */
struct kept_program *kept_find(struct cfi *c, const struct cfi_section *s, uint64_t offset);

/* Return the last point from which a run to ADDRESS may start, or NULL. */
const struct kept_point *kept_before(const struct kept_program *p, uint64_t address);

/*
 * Add a point to P at START and AT, with the DEPTH states in SAVED and STATE, if it comes after all
 * other points.  Return the number of bytes that it takes.
 */
uint64_t kept_add(struct cfi *c, struct kept_program *p, uint64_t start, const uint8_t *at,
		  const struct cfi_state *saved, unsigned depth, const struct cfi_state *state);

/* Read a kept state. */
void kept_read(const struct kept_state *kept, struct cfi_state *state);
void kept_release(struct cfi *c);

/* --- a word that is not in the stack's copy (cfi-red-zone.c) --- */
/* If the CFA of ROW, of FDE, is in the word below the stack, change ROW to where else it is. */
void cfi_leave_red_zone(struct cfi *c, const struct fde *fde, struct cfi_row *row);

/* --- expressions (expression.c) --- */
/*
 * Return the id of the expression at AT, which must live as long as C; -1: it is too long, or there
 * are too many.
 */
int32_t expression_add(struct cfi *c, const uint8_t *at, uint64_t size);
