/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types - the table of record types and header features: their names and fields.  The
 * descriptions of records and the conversion of byte order use it.
 *
 * A layout is a list of fields, separated by spaces:
 *
 *	[NAME]:KIND[x]	a field; without a NAME it is not shown; x: shown in hexadecimal
 *	#( FIELDS )	u32 count, then FIELDS that many times
 *	*( FIELDS )	FIELDS repeated up to the end
 *
 *	KIND:	2 4 8	a number of that many bytes
 *		f	an attr's flags: 8 bytes of bit fields, shown as a little-endian machine's
 *		w	words of 64 bits, up to the end
 *		s	a string up to its NUL; the bytes after the NUL are not converted
 *		z	a string up to its NUL; the next field comes right after it
 *		S	perf's string: u32 size, then that many bytes
 *		C c	16 bytes (C) or 8 bytes (c) that are not converted, and shown in their order
 *
 * Bytes after the last field are not converted.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct type_info {
	const char *name;	/* NULL: the type is unknown */
	const char *layout;	/* NULL: its fields are unknown */
};

/* Return the entry of record type TYPE; MISC selects one of the two forms of MMAP2. */
struct type_info record_type_info(uint32_t type, uint16_t misc);

/* Return the entry of header feature FEATURE. */
struct type_info types_feature(uint64_t feature);

/* A field of a layout. */
struct layout_field {
	const char *name;
	size_t name_size;	/* bytes; 0: no name */
	char kind;		/* KIND above; '#' and '*': a group */
	bool hex;		/* shown in hexadecimal */
	const char *group;	/* layout of the group's fields */
};

/* Read the next field of *LAYOUT into *FIELD.  Return false at the end of the layout or group. */
bool types_next_field(const char **layout, struct layout_field *field);
