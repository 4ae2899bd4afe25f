/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image: which files are closed to make room, in which order, and what is kept of them; and which
 * changed files are used.
 */
#include "locate/image.h"
#include "tests/unit/host.h"
#include "tests/unit/tap.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 6, CODE_SIZE = 0x2000 };	/* bytes of the segment with code */

static char directory[] = "/tmp/test-image-XXXXXX";
static char path[FILES][64];
static struct image *forgotten[2 * FILES];
static uint32_t forgets;

static void forget(struct image *image)
{
	if (image->elf && forgets < 2 * FILES)
		forgotten[forgets++] = image;
}

/* Write an ELF file of one segment, which is code of CODE_SIZE bytes, and has no build ID. */
static void write_file(const char *name)
{
	const Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, HOST_ELFDATA, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(head), .e_ehsize = sizeof(head), .e_phnum = 1,
		.e_phentsize = sizeof(Elf64_Phdr), .e_shentsize = sizeof(Elf64_Shdr),
	};
	const Elf64_Phdr segment = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
				     .p_filesz = CODE_SIZE, .p_memsz = CODE_SIZE,
				     .p_align = 0x1000 };
	uint8_t bytes[CODE_SIZE] = { 0 };
	FILE *out = fopen(name, "we");

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), &segment, sizeof(segment));
	if (!out || fwrite(bytes, 1, sizeof(bytes), out) != sizeof(bytes) || fclose(out))
		abort();
}

static struct image *use(struct images *i, uint32_t id, uint64_t mapped)
{
	const struct object object = { .path = path[id], .kind = OBJECT_FILE };
	const struct mapping m = { .start = 0x10000, .end = 0x10000 + mapped };

	return image_use(i, id, &object, &m, 0, 0);
}

static void begin(struct images *i, bool refuses_changed)
{
	*i = (struct images){ .size = sizeof(struct image), .forget = forget, .is_local = true,
			      .refuses_changed = refuses_changed };
	images_begin(i);
	forgets = 0;
}

/* Pretend that data from files takes too much memory. */
static bool make_room(struct images *i)
{
	static struct report quiet = { .tool = "test-image", .quiet = true };

	i->report = &quiet;
	i->pool.memory += ELF_POOL_MEMORY + 1;
	bool any = images_make_room(i);
	i->pool.memory -= ELF_POOL_MEMORY + 1;
	return any;
}

static void test_room(void)
{
	struct images i;

	begin(&i, false);
	tap(!images_make_room(&i), "files that take little memory stay open");
	for (uint32_t id = 0; id < FILES; id++)
		use(&i, id, CODE_SIZE)->is_read = id != 3;
	use(&i, 0, CODE_SIZE)->stays_open = true;
	use(&i, 1, CODE_SIZE)->is_reported = true;
	tap(i.opened == FILES && i.pool.open == FILES, "each file is opened once");
	tap(make_room(&i), "memory is short: files are closed");
	tap(forgets == 3 && forgotten[0] == image_find(&i, 2) &&
	    forgotten[1] == image_find(&i, 4) && forgotten[2] == image_find(&i, 5),
	    "the least recently used is first; a file that takes no memory, or is to stay open, "
	    "and the last one stay");
	tap(!make_room(&i) && forgets == 3, "nothing is left to be closed but the last");
	use(&i, 2, CODE_SIZE)->is_read = true;
	tap(image_find(&i, 2)->elf && i.opened == FILES + 1, "a file is opened again");
	make_room(&i);
	const struct image *reported = image_find(&i, 1);
	tap(forgotten[3] == reported && !reported->elf && reported->is_reported &&
	    reported->closed == 1, "a file is closed, and it is known what was reported of it");
	images_release(&i);
	tap(i.pool.open == 0, "nothing stays open");
}

static void test_changed(void)
{
	struct images i;
	const struct image *image;

	begin(&i, false);
	i.where.recorded_before = 1;	/* ns since 1970: the files are newer */
	image = use(&i, 0, CODE_SIZE);
	tap(image->elf && image->result == LOCATE_CHANGED && i.opened == 1,
	    "a file that was changed is used, and is known to be changed");
	image = use(&i, 1, 4 * CODE_SIZE);
	tap(!image->elf && image->result == LOCATE_CHANGED && i.opened == 1,
	    "a file that is too small for what was mapped is not used");
	images_release(&i);
	begin(&i, true);
	i.where.recorded_before = 1;
	image = use(&i, 0, CODE_SIZE);
	tap(!image->elf && image->result == LOCATE_CHANGED && image->tried && i.opened == 0,
	    "an owner may refuse all changed files");
	images_release(&i);
	begin(&i, true);
	i.where.recorded_before = INT64_MAX;
	tap(use(&i, 0, CODE_SIZE)->result == LOCATED, "a file that is older is as it was");
	images_release(&i);
}

int main(void)
{
	if (!mkdtemp(directory))
		abort();
	for (int k = 0; k < FILES; k++) {
		snprintf(path[k], sizeof(path[k]), "%s/%d", directory, k);
		write_file(path[k]);
	}
	test_room();
	test_changed();
	for (int k = 0; k < FILES; k++)
		unlink(path[k]);
	rmdir(directory);
	return tap_done();
}
