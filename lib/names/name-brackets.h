/* SPDX-License-Identifier: Apache-2.0 */
/* name-brackets - finds which brackets of a name belong together. */
#pragma once
#include "base/arena.h"
#include "base/slice.h"

/* Return whether C is a letter, a digit, '_' or '$', or a byte of a letter outside of ASCII. */
bool name_is_word(char c);

/*
 * If at I of NAME there is "operator" of C++, return where its sign ends, or the space that the
 * demangler puts between operator< and its arguments; else I.
 */
size_t name_after_operator(struct slice name, size_t i);

/* Return for each opening bracket of NAME the index of its end, for each other byte 0. */
uint32_t *name_brackets(struct arena *arena, struct slice name);
