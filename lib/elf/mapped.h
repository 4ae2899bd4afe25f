/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped - maps a file that others may truncate or change at any time.
 *
 * Reading a page after the end of a mapped file raises SIGBUS.  The tools handle the signal
 * (mapped.c): they replace the rest of the mapping with zeros and set is_cut.  Bytes may change
 * between a check and a use, so a reader must check each value that it has read, not the
 * mapped bytes.  A page of zeros follows the file, so every string in it ends.
 *
 * The library may not handle signals, and maps no file (library/mapped.c).  It reserves memory for
 * the file, and reads a part of the file into it when mapped_need() says that the part is used.  So
 * each part must be named before it is used; until then, its bytes are zeros.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapped_pages;

struct mapped {
	const uint8_t *at;	/* NULL: nothing is mapped */
	size_t size;		/* bytes of the file when it was mapped */
	int64_t modified;	/* modification time, in ns since 1970 */
	uid_t owner;
	volatile bool is_cut;	/* the file was truncated; zeros replace the rest */
	struct mapped *next;	/* in the list that the signal handler walks */
	struct mapped_pages *pages;	/* that were read; NULL: the kernel reads them by itself */
};

/*
 * Map the regular file FD for reading.  The caller still closes FD.  M must stay in place
 * until mapped_close().  Return false if FD cannot be mapped, or is large and almost all holes.
 */
bool mapped_open(struct mapped *m, int fd);

/* Unmap M.  Does nothing if M has no mapping. */
void mapped_close(struct mapped *m);

/*
 * The SIZE bytes at AT are used from now on; bytes outside of M do not matter.  Return the bytes of
 * memory that this takes.
 */
uint64_t mapped_read(const struct mapped *m, const uint8_t *at, uint64_t size);
static inline uint64_t mapped_need(const struct mapped *m, const uint8_t *at, uint64_t size)
{
	return m->pages ? mapped_read(m, at, size) : 0;
}

/*
 * Release the memory of the pages that lie completely in the SIZE bytes at AT.  The next access, or
 * in the library the next mapped_need(), reads them from the file again.  Does nothing if the bytes
 * are not in M.  Return the bytes of memory that mapped_read() had counted.
 */
uint64_t mapped_rest(const struct mapped *m, const uint8_t *at, size_t size);

/* Return how many files may be mapped at a time, up to MOST. */
uint32_t mapped_files_max(uint32_t most);

/* --- for the implementations of this header --- */
/*
 * Set the size, the time and the owner of M to those of FD.  Return false if FD is not a regular
 * file with contents, or is large and almost all holes.
 */
bool mapped_describe(struct mapped *m, int fd);

/* Return the bytes of address space for a file of SIZE bytes: its pages, and one more. */
size_t mapped_reserved(size_t size);
