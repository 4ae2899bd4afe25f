/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms-copy - the kernel's symbols as bytes, for later runs while this kernel runs.
 *
 * A copy has the symbols of the kernel and of its modules, not those of code that the kernel
 * generates (BPF programs, trampolines, probes): that code comes and goes, and only reading the
 * whole list shows it.  The layout, with numbers in the machine's own byte order:
 *
 *	u64 magic; u32 version, checksum; u64 key; u32 symbols, bytes of strings
 *	symbols:	u64 address; u32 name, module	sorted by address
 *	strings:	each with a NUL; names and modules are offsets here, module 0: the kernel
 *
 * The checksum is the CRC-32 of everything after it.
 */
#pragma once
#include "symbol/kallsyms.h"

/*
 * Return the *SIZE bytes of the copy of K, for the caller to free.  KEY is what kernel_state()
 * said before K was read, and says still.
 */
uint8_t *kallsyms_encode(const struct kallsyms *k, uint64_t key, size_t *size);

/*
 * Return the list in the SIZE bytes at BYTES, which are taken over.  On failure free them, return
 * NULL, and set *WHY to what is wrong; to NULL if the copy is whole, but has another KEY.
 */
struct kallsyms *kallsyms_decode(uint8_t *bytes, size_t size, uint64_t key, const char **why);
