/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starts - where functions of an object start, as far as its code says: at the targets of direct
 * calls, and at addresses that the code takes and that look like a start.
 */
#pragma once
#include "code/machine.h"
#include "elf/elf.h"

struct starts;

/* Read all code of ELF.  FUEL: the bytes that may still be read.  Return NULL if there are more. */
struct starts *starts_open(const struct machine *m, struct elf *elf, uint64_t *fuel);
void starts_close(struct starts *s);

/*
 * Return the last start that is not after ADDRESS, or 0 if there is none.  *IS_CALLED: a call names
 * it; else it may also be a label inside a function, to which a computed goto jumps.  S may be
 * NULL.
 */
uint64_t starts_before(const struct starts *s, uint64_t address, bool *is_called);

/* Return the last start that a call names and that is not after ADDRESS, or 0. */
uint64_t starts_called_before(const struct starts *s, uint64_t address);
