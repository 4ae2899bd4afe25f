/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of place, shared by processes (place.c), data (data-place.c), the kernel
 * (place-kernel.c), its modules (place-module.c), and the symbols that the stream carries
 * (place-recorded.c).
 */
#pragma once
#include "resolve/place.h"

/* Return the source of the object that M maps in the process of S. Opens its file on first use. */
struct source *places_use_source(struct places *p, const struct sampled *s,
				 const struct mapping *m);

/*
 * Return the name of the kernel's variable at ADDRESS, and set *OWN to its addresses (equal if its
 * size is unknown); NULL: none is known there.
 */
const char *places_kernel_variable(struct places *p, const struct sampled *s, uint64_t address,
				   struct extent *own);

/* Return the range that stands for the kernel. */
uint32_t places_kernel_range(struct places *p);

/*
 * Return the mapping of the kernel that ADDRESS belongs to, or NULL.  The kernel's symbols are
 * looked for at the first address that needs them.
 */
const struct mapping *places_kernel_mapping(struct places *p, const struct sampled *s,
					    uint64_t address);

/* Return the place of ADDRESS in the kernel, which belongs to M. */
struct place place_in_kernel(struct places *p, const struct sampled *s, const struct mapping *m,
			     uint64_t address);

/* Return where ADDRESS is in the file of the module that M maps, if that is found. */
struct source_place place_in_module(struct places *p, const struct sampled *s,
				    const struct mapping *m, uint64_t address);

/* Return where in the stream's own symbols to look up ADDRESS, which belongs to M. */
struct recorded_place place_recorded(const struct places *p, const struct mapping *m,
				     uint64_t address);
