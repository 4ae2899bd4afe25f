/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf-call - whether an address can be where a call returns to.
 *
 * A call pushes its return address, so the address is right after the call.  Some code pushes an
 * address without a call: Go's runtime.systemstack_switch, glibc's __start_context.  Such an
 * address is nearly always the first byte of a function, and the byte before it belongs to other
 * code.
 */
#pragma once
#include "elf/elf.h"

/*
 * Return whether the instruction before ADDRESS of ELF may be a call.  Also true if that is
 * unknown: the file does not have these bytes, or is not of x86 or arm64.
 */
bool elf_follows_call(const struct elf *elf, uint64_t address);

enum { CALL_BYTES = 7 };	/* the most that a call instruction has */

/* Return whether the bytes before END, CALL_BYTES at least, may end with a call of this machine. */
bool call_ends(const uint8_t *end);
