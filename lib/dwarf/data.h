/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data - the types of variables, for the files of this module only.
 *
 * Nothing that a file says is trusted: a type that contains itself, or has more members or levels
 * than any real one, is unknown.
 */
#pragma once
#include "dwarf/internal.h"

enum {
	TYPE_HOPS = 32,			/* typedefs, qualifiers and arrays in a row */
	LEVELS_MAX = 16,		/* bases and unnamed members within each other */
	MEMBERS_MAX = 1 << 16,		/* of a structure */
};

#define SIZE_UNKNOWN UINT64_MAX

/* A type.  U is NULL: void, or unknown. */
struct type {
	struct unit *u;
	uint64_t at;		/* offset of its DIE in .debug_info of U's file */
};

/* --- type.c --- */
/* Return the type that the attribute A_TYPE of DIE, in U, refers to. */
struct type type_of(struct unit *u, const struct die *die);

/* Return the type that V, a reference in U, refers to. */
struct type type_at(struct unit *u, const struct value *v);

/*
 * Read T's DIE, past typedefs and qualifiers, and past the declaration of a structure to its
 * definition; T becomes that type.  False: it is unknown.
 */
bool type_read(struct type *t, struct die *die);

/* Return the size of T in bytes, or SIZE_UNKNOWN. */
uint64_t type_size(struct type t);

/*
 * Return the size of the elements of T, an array with DIE, and set the type of the elements and the
 * number of dimensions.  0: unknown.
 */
uint64_t type_element(struct type t, const struct die *die, struct type *element,
		      unsigned *dimensions);

static inline bool tag_is_structure(uint16_t tag)
{
	return tag == 0x13 || tag == 0x02 || tag == 0x17;	/* structure, class, union */
}

/* The children of a DIE, but not their children. */
struct children {
	struct unit *u;
	struct cursor c;
	const uint8_t *start;	/* where paying has stopped */
	unsigned depth;		/* of lists of children that are being skipped */
	bool is_done;
};

/* Start with the children of the DIE at OFFSET of U. */
struct children children_of(struct unit *u, uint64_t offset);

/* Read the next child into DIE, and set its OFFSET.  False: there is none, or damage. */
bool children_next(struct children *c, struct die *die, uint64_t *offset);

/* --- shape.c --- */
/* A member of a structure, a union, or of their bases and unnamed members. */
struct shape_member {
	const char *name;
	uint64_t start, size;	/* bytes; SIZE: SIZE_UNKNOWN of an array without bounds */
	uint64_t reach;		/* the end of the bytes of this member and of those before it */
	struct type type;
	struct shape *shape;	/* of TYPE; NULL: not needed so far */
	bool is_bits;		/* a bit-field, in the bytes from START on */
};

enum shape_kind { SHAPE_UNKNOWN, SHAPE_PLAIN, SHAPE_ARRAY, SHAPE_STRUCTURE };

/* What a type looks like: read once, so that a lookup reads no DIE. */
struct shape {
	struct type asked;	/* the type before its typedefs */
	struct type type;	/* an array, a structure, or another type */
	enum shape_kind kind;
	uint64_t size;		/* bytes, or SIZE_UNKNOWN */
	/* of an array: */
	unsigned dimensions;
	uint64_t element_size;	/* bytes; 0: unknown */
	struct type element;
	struct shape *inner;	/* of ELEMENT; NULL: not needed so far */
	/* of a structure, by START; shape_members() reads them: */
	bool members_read;
	bool is_partial;	/* a part has no fixed place, such as a virtual base */
	struct shape_member *member;
	uint32_t members;
};

struct shapes {
	struct shape **shape;
	uint32_t count;
	struct table table;	/* over SHAPE, by ASKED */
};

/* Return the shape of T.  NULL: it is unknown, or no fuel is left. */
struct shape *shape_find(struct type t);

/* Read the members of S, a structure, unless they were read. */
void shape_read_members(struct shape *s);

void shapes_release(struct shapes *all);

/* --- definition.c --- */
/* Definitions of structures, by their scoped names. */
struct definitions {
	bool is_read;
	struct definition {
		uint64_t hash;	/* of the scopes and the name, or of the declaration's place */
		uint64_t size;	/* bytes */
		struct type type;	/* U is NULL: several have that name */
	} *at;
	uint32_t count;
	struct table table;	/* over AT */
};

/* Return the definition of the structure that T, with DIE, declares. */
struct type definition_of(struct type t, const struct die *die);

void definitions_release(struct definitions *d);

/* --- variable.c --- */
/* A variable with a fixed address. */
struct variable {
	uint64_t address;
	struct unit *u;
	uint64_t die;		/* offset in .debug_info of U's file */
	struct shape *shape;	/* NULL: unknown, or not needed so far */
	bool is_shape_read;
};

enum { MEMBER_SIZE = 1024 };	/* bytes of the name of a member */

struct variables {
	struct variable *at;	/* by ascending address */
	size_t count;
	struct shapes shapes;
	struct definitions definitions;
	bool signatures_read;
	struct signed_type {		/* type units */
		uint64_t signature;
		struct unit *u;
	} *signed_type;
	uint32_t signed_types;
	struct table signed_table;	/* over SIGNED_TYPE */
	char member[MEMBER_SIZE];	/* the last answer */
};

/* --- member.c --- */
/*
 * Write the name of the member at OFFSET of a variable of shape S to TEXT, SIZE bytes: "[].lock",
 * ".hits"; "" if it has no members.  False: it is unknown.
 */
bool member_write(struct shape *s, uint64_t offset, char *text, size_t size);
