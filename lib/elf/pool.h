/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf-pool - the ELF files that are open, each once under all of its names.
 *
 * A file takes two mappings of the 65,530 that a process may have
 * (vm.max_map_count), and whoever is profiled decides how many files there are.  So a
 * pool holds ELF_POOL_MAX files, and ELF_POOL_MEMORY of what was read of them: its owner
 * closes those that were not used for the longest time before it is full.
 */
#pragma once
#include "elf/elf.h"

#define ELF_POOL_MEMORY (1ULL << 30)	/* bytes, of what was read of all files */
enum { ELF_POOL_MAX = 8192, ELF_POOL_CHAINS = 1024 };

/* Zero-initialised: empty.  It outlives the files that were opened in it. */
struct elf_pool {
	struct elf *chain[ELF_POOL_CHAINS];	/* by device and inode */
	uint32_t open;
	uint64_t memory;	/* bytes that what was read of them takes */
};

/*
 * Open the regular file FD, which is taken over.  A file that is open already, and of
 * the same size and time, is not opened again; elf_close() once for each call.  NULL:
 * *WHY says what is wrong with it, or that the pool is full.  POOL may be NULL.
 */
struct elf *elf_pool_open(struct elf_pool *pool, int fd, const char **why);

/* ELF, of a pool, is closed by its last user. */
void elf_pool_remove(struct elf *elf);
