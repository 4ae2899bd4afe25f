/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short-name - makes a function's name fit in a column, so that the function is still known.
 *
 * Names are taken apart at the brackets and separators of C++, Rust, Go, D, Swift, Java and OCaml.
 * The forms of a name, from long to short, of which the first that fits is taken:
 *	1. whole, but types of C++'s standard library as programs write them: std::string;
 *	2. '…' for arguments of templates and generics, and for the hash at a Rust name's end;
 *	3. '…' for parameters, and for the type that is returned;
 *	4. '…' for namespaces, packages and types, from the left;
 *	5. the function's own name, with the function around it if it has none;
 *	6. that, with '…' in its middle.
 * The page of pmu-flame does the same (flame-name.js), and tests/short-names has cases for both.
 */
#pragma once
#include <stddef.h>

/* Return the longest form of NAME that takes at most COLUMNS of a terminal.  The caller frees. */
char *short_name(const char *name, size_t columns);
