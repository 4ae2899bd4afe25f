/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf-pool - the open ELF files, each opened once, even if it has several names.
 *
 * A file takes two of the 65,530 mappings that a process may have (vm.max_map_count), and in the
 * library a descriptor; and the profiled processes decide how many files there are.  So a pool
 * opens at most elf_pool_max() files, and its owner keeps the memory for data read from them below
 * ELF_POOL_MEMORY: the owner closes the least recently used files before the pool is full.
 *
 * Pages of files that were read stay in memory for ELF_POOL_AWAKE files.
 */
#pragma once
#include "elf/elf.h"

#define ELF_POOL_MEMORY (1ULL << 30)	/* bytes, for data read from all files */
enum { ELF_POOL_MAX = 8192, ELF_POOL_CHAINS = 1024, ELF_POOL_AWAKE = 256 };

/* Zero-initialised: empty.  The pool must outlive the files that were opened in it. */
struct elf_pool {
	struct elf *chain[ELF_POOL_CHAINS];	/* hash table, by device and inode */
	uint32_t open;		/* number of open files */
	uint32_t open_max;	/* how many there may be; 0: not known yet */
	uint64_t memory;	/* bytes for data read from them: see elf_charge() */
	struct elf *awake[ELF_POOL_AWAKE];	/* whose pages may be in memory */
	uint32_t awakes;	/* number of these */
	uint64_t rests;		/* how many times the pages of a file were released */
};

/* Return how many files POOL may open: ELF_POOL_MAX, or less in the library. */
uint32_t elf_pool_max(struct elf_pool *pool);

/*
 * Open the regular file FD.  FD is closed in any case.  If the pool has the file already,
 * with the same size and modification time, return that one.  Call elf_close() once for each
 * call.  On failure, also if the pool is full, return NULL and set *WHY to the reason.  POOL
 * may be NULL.
 */
struct elf *elf_pool_open(struct elf_pool *pool, int fd, const char **why);

/* The same for the ELF file that is the SIZE bytes at OFFSET of the file FD. */
struct elf *elf_pool_open_part(struct elf_pool *pool, int fd, uint64_t offset, uint64_t size,
			       const char **why);

/* Like elf_pool_open(), also for a compressed file: see elf_open_packed(). */
struct elf *elf_pool_open_packed(struct elf_pool *pool, int fd, const char **why);

/*
 * Note that ELF, which may be NULL, is read from now on.  If more than ELF_POOL_AWAKE files of
 * its pool are read, release the pages of one of them, with elf_rest().
 */
void elf_pool_wake(struct elf *elf);
