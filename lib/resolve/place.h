/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place - where an address of a sample lies.
 *
 * A place says all that a look-up of its names needs: the process, its mappings and the time are
 * not needed any more.  A place in code of a JIT compiler already has the name of its function,
 * because that depends on the time.  A place is valid until the next record or sample.
 */
#pragma once
#include "resolve/jits.h"
#include "resolve/object-ranges.h"
#include "resolve/source.h"
#include "symbol/kallsyms.h"
#include "symbol/recorded-names.h"

/* An address in a file that was read. */
struct source_place {
	struct source *source;	/* NULL: none */
	uint64_t address;	/* as SOURCE counts */
};

/* An address in the symbols that the stream itself has of a file. */
struct recorded_place {
	uint32_t file;		/* index in the recorded names; TABLE_NONE: none */
	uint64_t address;	/* as these symbols count */
};

struct place {
	enum place_kind {
		PLACE_UNKNOWN,	/* there is nothing to look names up in */
		PLACE_FILE,	/* in a file that was read */
		PLACE_RECORDED,	/* in a file that only the stream has symbols of */
		PLACE_KERNEL,	/* in the kernel or a module of it */
		PLACE_JIT,	/* in code outside of files */
	} kind;
	bool is_no_code;	/* the process's mappings are known, and none is here */
	uint32_t object;	/* id in the definitions */
	uint64_t address;	/* as the output shows it */
	union {
		struct source_place file;
		struct recorded_place recorded;
		struct {
			struct source_place in;	/* vmlinux, or a module's file */
			const struct object *object;	/* whose code it is; NULL: unknown */
			struct recorded_place recorded;
		} kernel;
		struct jit_answer jit;
	};
};

/* The kernel's symbols, and the code that it generates. */
struct kernel_code {
	bool is_open;			/* the symbols were looked for */
	struct kallsyms *kallsyms;	/* NULL: none */
	bool has_kallsyms;		/* KALLSYMS is not NULL, and could be read */
	char *file;			/* of KALLSYMS and VARIABLES; NULL: none */
	struct kallsyms *variables;	/* NULL: not looked for */
	bool is_kept;			/* copies of both are in the cache, or to be saved there */
	struct kernel_state state;	/* of the kernel before KALLSYMS was read, if IS_KEPT */
	bool has_copy[2];		/* of KALLSYMS, of VARIABLES: there was one in the cache */
	uint64_t shift;			/* added to recorded kernel addresses for KALLSYMS */
	uint64_t init_end;		/* recorded address where the kernel's boot code ends */
	struct source *vmlinux;		/* the kernel's own file; NULL: none */
	uint32_t vmlinux_object;	/* the object of VMLINUX */
	uint64_t vmlinux_shift;		/* added to recorded kernel addresses for vmlinux */
	struct jitmap *generated;	/* what the kernel generated (KSYMBOL); NULL: nothing */
	uint32_t added;			/* to GENERATED since unmapped code was forgotten */
	uint32_t limit;			/* ADDED at which unmapped code is forgotten next */
};

/* All that finds places. */
struct places {
	/* The owner sets these; all others are zero at first. */
	bool symbols;			/* look for names; false: no file is read */
	const char *kallsyms;		/* file of the kernel's symbols; NULL: found by itself */
	struct spaces *spaces;
	struct sources *sources;
	struct object_ranges *ranges;
	struct jits *jits;
	struct report *report;
	struct stream_reader *in;	/* to look ahead in, while the kernel's symbols are read */
	/* The owner may read these. */
	struct kernel_code kernel;
	struct recorded_names recorded;	/* symbols that the stream itself carries */
};

/*
 * Return the place of ADDRESS in SPACE, where S was.  IS_RETURN: ADDRESS is a return address.  The
 * place is that of the call, one byte before.  But if a function starts at ADDRESS, and no call is
 * before it, then it was put on the stack by hand, and its own place is returned.
 */
struct place place_find(struct places *p, const struct sampled *s, const struct space *space,
			uint64_t address, bool is_return);

/* Return the place of ADDRESS, which mapping M of SPACE covers.  SPACE is not the kernel's. */
struct place place_in_process(struct places *p, const struct sampled *s,
			      const struct space *space, const struct mapping *m,
			      uint64_t address);

/* Return the place of an address without a mapping. */
struct place place_unknown(struct object_ranges *ranges, uint64_t address);

/* Start to fetch all files that the frames of SAMPLE need. */
void places_prefetch(struct places *p, const struct sampled *s, const struct sample *sample);

/* Open the file that the MMAP record REC maps, while it still exists. */
void places_open_mapped(struct places *p, const struct record *rec);

/* Follow a FEATURE record of IN, which may have symbols. */
void places_follow_feature(struct places *p, struct stream_reader *in, const struct record *rec);

/* Save copies of the kernel's symbols in the cache, if they were read, and a cache is in use. */
void places_save_kernel(const struct places *p);

/* Follow a KSYMBOL record. */
void places_follow_kernel(struct places *p, const struct record *rec);

void places_release(struct places *p);
