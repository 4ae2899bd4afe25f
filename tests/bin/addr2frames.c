/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr2frames [-n | -g | -k | -m] ELF [DEBUG [ALTERNATE [PACKAGE]]] - print frames at addresses.
 *
 * Reads hexadecimal addresses from stdin.  For each address, prints the function and
 * FILE:LINE:COLUMN of every frame, innermost first, then an empty line: the format of
 * llvm-symbolizer.  -n prints nothing, and looks for a symbol only where DWARF has no frame, to be
 * compared with other readers of DWARF.  -g reads the function table of a Go program instead of
 * DWARF, and -k reads a list of kernel symbols.  -m reads the address of a variable and an offset
 * from each line, and prints the name of the member there, or ?.
 */
#include "dwarf/dwarf.h"
#include "names/demangle.h"
#include "symbol/gotable.h"
#include "symbol/kallsyms.h"

#include <fcntl.h>
#include <inttypes.h>

static struct elf *open_elf(const char *path)
{
	const char *why = "it cannot be opened";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf *elf = fd < 0 ? NULL : elf_open(fd, &why);

	if (!elf)
		fprintf(stderr, "addr2frames: '%s': %s\n", path, why);
	return elf;
}

static struct elf *open_split(void *context, const char *path)
{
	(void)context;
	return open_elf(path);
}

/* SYMBOL: the outermost function in the symbol table, which llvm-symbolizer prefers; or NULL */
static void print_frame(const struct dwarf_frame *f, const char *symbol)
{
	const char *name = symbol ? symbol : dwarf_function_name(f->function);

	printf("%s\n%s:%u:%u\n", name ? name : "??", f->file ? f->file : "??", f->line,
	       f->column);
}

static void print_frames(struct elf *elf, struct dwarf *d, uint64_t address, bool quiet)
{
	const struct dwarf_frame *frame;
	struct elf_symbol symbol = { 0 };
	size_t count = dwarf_find(d, address, &frame);

	if (quiet && count)
		return;
	elf_symbol(elf, address, &symbol);
	if (quiet)
		return;
	for (size_t i = 0; i < count; i++)
		print_frame(&frame[i], i + 1 == count ? symbol.name : NULL);
	if (count == 0)
		printf("%s\n??:0:0\n", symbol.name ? symbol.name : "??");
	putchar('\n');
}

/* Print the member that LINE asks for: the address of a variable, and an offset in it. */
static void print_member(struct dwarf *d, const char *line)
{
	char *at;
	uint64_t variable = strtoull(line, &at, 16);
	const char *member = dwarf_member(d, variable, strtoull(at, NULL, 16));

	printf("%s\n", member ? member : "?");
}

static int print_go(const char *path)
{
	struct elf *elf = open_elf(path);
	struct gotable *t = elf ? gotable_open(elf) : NULL;
	const struct go_frame *frame;
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		size_t count = gotable_find(t, strtoull(line, NULL, 16), &frame);
		for (size_t i = 0; i < count; i++)
			printf("%s\n%s:%u:0\n", frame[i].function ? frame[i].function : "??",
			       frame[i].file ? frame[i].file : "??", frame[i].line);
		puts(count ? "" : "??\n??:0:0\n");
	}
	gotable_close(t);
	elf_close(elf);
	return !t;
}

static int print_kernel(const char *path)
{
	struct kallsyms *k = kallsyms_open(path);
	const char *trouble = kallsyms_trouble(k);
	char line[64];

	if (trouble)
		fprintf(stderr, "addr2frames: '%s': %s\n", path, trouble);
	while (!trouble && fgets(line, sizeof(line), stdin)) {
		const char *module, *name = kallsyms_find(k, strtoull(line, NULL, 16), &module);
		puts(name ? name : "??");
	}
	kallsyms_close(k);
	return trouble != NULL;
}

int main(int argc, char **argv)
{
	bool quiet = argc > 1 && !strcmp(argv[1], "-n");
	bool members = argc > 1 && !strcmp(argv[1], "-m");
	struct elf *elf[4] = { NULL };
	char line[64];

	if (argc == 3 && !strcmp(argv[1], "-g"))
		return print_go(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "-k"))
		return print_kernel(argv[2]);
	argv += quiet || members;
	argc -= quiet || members;
	for (int i = 0; i < 4 && i + 1 < argc; i++)
		if (*argv[i + 1] && !(elf[i] = open_elf(argv[i + 1])))
			return 1;
	if (!elf[0])
		return 2;
	struct dwarf_inputs inputs = { .elf = elf[0], .debug = elf[1], .alternate = elf[2],
				       .package = elf[3], .open_split = open_split };
	struct dwarf *d = dwarf_open(&inputs);
	while (members && fgets(line, sizeof(line), stdin))
		print_member(d, line);
	while (!members && fgets(line, sizeof(line), stdin))
		print_frames(elf[1] ? elf[1] : elf[0], d, strtoull(line, NULL, 16), quiet);
	dwarf_close(d);
	for (int i = 0; i < 4; i++)
		elf_close(elf[i]);
	return 0;
}
