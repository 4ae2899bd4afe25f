/* SPDX-License-Identifier: Apache-2.0 */
/* kernel-info - the running kernel: its limits, its code and its modules. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define KERNEL_KALLSYMS "/proc/kallsyms"

/* Return the number kernel.NAME of sysctl(8), or its usual value if it cannot be read. */
long kernel_sysctl(const char *name);

/* Return whether these numbers can be read: not without /proc. */
bool kernel_has_sysctls(void);

/*
 * A line of /proc/kallsyms: "ADDRESS TYPE NAME[\tMODULE]\n".  The kernel lists its own symbols by
 * address first, then those of each module.
 */
struct kernel_symbol {
	uint64_t address;	/* 0: hidden */
	char type;		/* as in nm(1); t, T, w and W are code; 0: the line is damaged */
	const char *name, *module;	/* in the line; MODULE is NULL for the kernel itself */
};

/* Split the line at AT, and end its name with a NUL.  Return the start of the next line. */
char *kernel_parse_symbol(char *at, struct kernel_symbol *out);

/* Return the start of the kernel's code, from kallsyms; 0: addresses are hidden. */
uint64_t kernel_start(void);

/*
 * Read the ELF notes that hold the build ID of the module NAME, or if it is NULL, the kernel's.
 * Return their size, or -1.
 */
ssize_t kernel_notes(const char *name, void *notes, size_t size);

struct kernel_module {
	char name[64];
	uint64_t start;		/* address; 0: hidden */
	uint64_t size;		/* bytes */
	bool is_live;		/* loaded completely, and not being removed */
};

/* Open the list of modules.  NULL: the kernel has no list.  The caller closes it by fclose(). */
FILE *kernel_modules(void);

/* What decides which symbols the kernel and its modules have, for this process. */
struct kernel_state {
	char boot[37];		/* id of this boot: hexadecimal digits and '-' */
	uint64_t digest;	/* of the modules, and of what this process may see of addresses */
};

/*
 * Set STATE.  While it stays as it is, KERNEL_KALLSYMS shows the same symbols of the kernel and its
 * modules; those of generated code may change.  False: the state is unknown, or changes now.
 */
bool kernel_state(struct kernel_state *state);

/* Return the next of MODULES in *MODULE.  False: there are no more. */
bool kernel_next_module(FILE *modules, struct kernel_module *module);
