/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types - the one table of record types and header features: what each is called, and its
 * fields.  Descriptions and the conversion of byte order follow from it.
 *
 * A layout lists fields with spaces between:
 *
 *	[NAME]:KIND[x]	a field; without a NAME nobody is shown it; x: shown in hexadecimal
 *	#( FIELDS )	u32 count, then FIELDS so many times
 *	*( FIELDS )	FIELDS again and again, to the end
 *
 *	KIND:	2 4 8	a number of so many bytes
 *		w	words of 64 bits, to the end
 *		s	a string up to its NUL; the bytes after it stay as they are
 *		S	perf's string: u32 size, then so many bytes
 *		C c	16 bytes, 8 bytes that stay as they are
 *
 * Bytes after the last field stay as they are.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct type_info {
	const char *name;	/* NULL: the type is unknown */
	const char *layout;	/* NULL: nothing is known of its fields */
};

/* Return what is known of record type TYPE; MISC chooses between two forms of MMAP2. */
struct type_info record_type_info(uint32_t type, uint16_t misc);

/* Return what is known of header feature FEATURE. */
struct type_info feature_type_info(uint64_t feature);

/* A field of a layout. */
struct layout_field {
	const char *name;
	size_t name_size;	/* bytes; 0: no name */
	char kind;		/* as above; '#' and '*': a group */
	bool hex;
	const char *group;	/* the first field of a group */
};

/* Take the next field of *LAYOUT into *FIELD.  False: the layout, or its group, ends. */
bool layout_next(const char **layout, struct layout_field *field);
