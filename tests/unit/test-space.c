/* SPDX-License-Identifier: Apache-2.0 */
/* What is mapped where, as processes come, map, fork, exec and end. */
#include "process/space.h"
#include "tests/unit/host.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB2 = 2 * 1024 * 1024 };

/* A record being put together. */
struct draft {
	uint8_t bytes[512];
	size_t size;
};

static void add(struct draft *d, uint64_t value, size_t size)
{
	const uint8_t *low = (const uint8_t *)&value + (host_is_big ? sizeof(value) - size : 0);

	memcpy(d->bytes + d->size, low, size);
	d->size += size;
}

static void add_text(struct draft *d, const char *text)
{
	memcpy(d->bytes + d->size, text, strlen(text) + 1);
	d->size = (d->size + strlen(text) + 8) & ~(size_t)7;
}

static bool follow(struct spaces *s, const struct draft *d, uint32_t type, unsigned misc)
{
	struct record rec = { .type = type, .misc = (uint16_t)misc,
			      .body = { .at = d->bytes, .end = d->bytes + d->size } };

	return spaces_follow(s, &rec);
}

static void map_as(struct spaces *s, unsigned mode, pid_t pid, uint64_t start, uint64_t size,
		   uint64_t offset, const char *path)
{
	struct draft d = { .size = 0 };

	add(&d, (uint32_t)pid, 4);
	add(&d, (uint32_t)pid, 4);
	add(&d, start, 8);
	add(&d, size, 8);
	add(&d, offset, 8);
	d.size += 24;		/* device, inode, generation: not told */
	add(&d, mode & PERF_RECORD_MISC_MMAP_DATA ? PROT_READ : PROT_READ | PROT_EXEC, 4);
	add(&d, 0, 4);
	add_text(&d, path);
	follow(s, &d, PERF_RECORD_MMAP2, mode);
}

static void map(struct spaces *s, pid_t pid, uint64_t start, uint64_t size, uint64_t offset,
		const char *path)
{
	map_as(s, PERF_RECORD_MISC_USER, pid, start, size, offset, path);
}

static void comm(struct spaces *s, pid_t pid, pid_t tid, const char *name, unsigned misc)
{
	struct draft d = { .size = 0 };

	add(&d, (uint32_t)pid, 4);
	add(&d, (uint32_t)tid, 4);
	add_text(&d, name);
	follow(s, &d, PERF_RECORD_COMM, misc);
}

static void task(struct spaces *s, uint32_t type, pid_t pid, pid_t parent, pid_t tid,
		 pid_t parent_tid)
{
	struct draft d = { .size = 0 };

	add(&d, (uint32_t)pid, 4);
	add(&d, (uint32_t)parent, 4);
	add(&d, (uint32_t)tid, 4);
	add(&d, (uint32_t)parent_tid, 4);
	add(&d, 1, 8);
	follow(s, &d, type, PERF_RECORD_MISC_USER);
}

/* Return whether ADDRESS in SPACE is at OFFSET in the object PATH; PATH NULL: it is nowhere. */
static bool is_in(const struct spaces *s, const struct space *space, uint64_t address,
		  const char *path, uint64_t offset)
{
	const struct mapping *m = space_find(space, address);

	if (!m || !path)
		return !m && !path;
	return !strcmp(s->objects.object[m->object].path, path) &&
	       m->file_offset + (address - m->start) == offset;
}

static bool is_at(struct spaces *s, pid_t pid, uint64_t address, const char *path, uint64_t offset)
{
	return is_in(s, spaces_find(s, pid), address, path, offset);
}

static enum object_kind kind_at(struct spaces *s, pid_t pid, uint64_t address)
{
	return s->objects.object[space_find(spaces_find(s, pid), address)->object].kind;
}

static bool is_named(const struct spaces *s, pid_t tid, const char *name)
{
	return !strcmp(tasks_name_text(&s->tasks, tid), name);
}

static void test_mappings(void)
{
	struct spaces s = { 0 };

	map(&s, 7, 0x10000, 0x4000, 0x1000, "/a");
	tap(is_at(&s, 7, 0x10000, "/a", 0x1000) && is_at(&s, 7, 0x13fff, "/a", 0x4fff),
	    "a mapping, from its first byte to its last");
	tap(is_at(&s, 7, 0xffff, NULL, 0) && is_at(&s, 7, 0x14000, NULL, 0) &&
	    is_at(&s, 8, 0x10000, NULL, 0), "nothing beside it, nor in another process");
	uint64_t generation = spaces_find(&s, 7)->generation;
	map(&s, 7, 0x11000, 0x1000, 0, "/b");
	tap(is_at(&s, 7, 0x10fff, "/a", 0x1fff) && is_at(&s, 7, 0x11000, "/b", 0) &&
	    is_at(&s, 7, 0x12000, "/a", 0x3000), "one in the middle cuts it in two");
	tap(spaces_find(&s, 7)->generation > generation, "which is another version of the space");
	map(&s, 7, 0x10800, 0x1000, 0, "/c");
	tap(is_at(&s, 7, 0x107ff, "/a", 0x17ff) && is_at(&s, 7, 0x117ff, "/c", 0xfff) &&
	    is_at(&s, 7, 0x11800, "/b", 0x800), "one that overlaps two cuts both");
	map(&s, 7, 0xf000, 0x10000, 0, "/d");
	tap(is_at(&s, 7, 0x10000, "/d", 0x1000) &&
	    !mappings_from(&spaces_find(&s, 7)->code, 0x1f000),
	    "one that covers all is alone");
	map(&s, 7, UINT64_MAX - 0xfff, 0xfff, 0, "/top");
	tap(is_at(&s, 7, UINT64_MAX - 1, "/top", 0xffe), "the last page there is");
	map(&s, 7, 0x50000, 0, 0, "/empty");
	tap(is_at(&s, 7, 0x50000, NULL, 0), "of no bytes: nothing");
	spaces_release(&s);
}

static void test_data(void)
{
	const unsigned data = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA;
	struct spaces s = { 0 };

	map(&s, 7, 0x10000, 0x8000, 0, "/a");
	map_as(&s, data, 7, 0x13000, 0x1000, 0x3000, "/a");
	tap(is_at(&s, 7, 0x13000, "/a", 0x3000), "code stays where its file's data is mapped");
	map_as(&s, data, 7, 0x15000, 0x1000, 0, "/b");
	tap(is_at(&s, 7, 0x14fff, "/a", 0x4fff) && is_at(&s, 7, 0x15000, NULL, 0) &&
	    is_at(&s, 7, 0x16000, "/a", 0x6000), "another file's data replaces it");
	spaces_release(&s);
}

static void test_processes(void)
{
	struct spaces s = { 0 };

	map(&s, 7, 0x10000, 0x4000, 0, "/parent");
	comm(&s, 7, 7, "parent", 0);
	task(&s, PERF_RECORD_FORK, 8, 7, 8, 7);
	tap(is_at(&s, 8, 0x10000, "/parent", 0) && is_named(&s, 8, "parent"),
	    "a child has its parent's mappings and name");
	comm(&s, 8, 8, "child", PERF_RECORD_MISC_COMM_EXEC);
	tap(is_at(&s, 8, 0x10000, NULL, 0) && is_at(&s, 7, 0x10000, "/parent", 0) &&
	    is_named(&s, 8, "child") && is_named(&s, 7, "parent"),
	    "exec leaves it with none, and a name of its own; the parent keeps its");
	map(&s, 8, 0x20000, 0x1000, 0, "/child");
	task(&s, PERF_RECORD_FORK, 8, 8, 9, 8);
	tap(is_named(&s, 9, "child") && is_at(&s, 8, 0x20000, "/child", 0),
	    "a thread has the name of the one that made it, and no space of its own");
	comm(&s, 8, 9, "worker", 0);
	tap(is_named(&s, 9, "worker") && is_named(&s, 8, "child") &&
	    is_at(&s, 8, 0x20000, "/child", 0), "a thread's new name is its alone");
	task(&s, PERF_RECORD_FORK, 10, 7, 10, 7);
	comm(&s, 10, 11, "worker-of-child", 0);
	tap(spaces_find(&s, 10)->parent == 7, "nor does it change who started the process");
	task(&s, PERF_RECORD_EXIT, 8, 7, 9, 9);
	task(&s, PERF_RECORD_EXIT, 8, 7, 8, 8);
	tap(is_at(&s, 8, 0x20000, "/child", 0),
	    "samples that come after EXIT have their mappings");
	task(&s, PERF_RECORD_FORK, 8, 7, 8, 7);
	tap(is_at(&s, 8, 0x20000, NULL, 0) && is_at(&s, 8, 0x10000, "/parent", 0),
	    "a pid used again: nothing is left of the process before");
	map(&s, 30, 0x70000, 0x1000, 0, "/listed");
	task(&s, PERF_RECORD_FORK, 30, 7, 30, 7);
	tap(is_at(&s, 30, 0x70000, "/listed", 0),
	    "a child listed before its FORK came keeps what was listed");
	map(&s, 31, 0x70000, 0x1000, 0, "/main");
	map(&s, 31, 0x80000, 0x1000, 0, "/lib");
	tap(space_find(spaces_find(&s, 31), 0x70000)->is_main &&
	    !space_find(spaces_find(&s, 31), 0x80000)->is_main, "the first file is the program");
	map(&s, 31, 0x70800, 0x400, 0x800, "/main");
	tap(space_find(spaces_find(&s, 31), 0x70800)->is_main &&
	    space_find(spaces_find(&s, 31), 0x70000)->is_main,
	    "a part of the program that is mapped again stays the program");
	spaces_release(&s);
}

enum { PAGES = 200 };

/* What each page maps, the slow way: 0 nothing, else the object's id and 1. */
struct pages {
	uint32_t object[PAGES];
	uint64_t offset[PAGES];
};

static uint32_t draw(uint32_t limit)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % limit;
}

static bool are_same(const struct mappings *in, const struct pages *model)
{
	const struct mapping *before = NULL;

	for (uint64_t page = 0; page < PAGES; page++) {
		const struct mapping *m = mappings_find(in, page);
		if (mappings_before(in, page) != before)
			return false;
		before = m ? m : before;
		if (m ? m->object + 1 != model->object[page] ||
			m->file_offset + (page - m->start) != model->offset[page]
		      : model->object[page] != 0)
			return false;
	}
	return true;
}

static void change(struct mappings *in, struct pages *model, uint32_t object)
{
	uint64_t start = draw(PAGES), end = start + 1 + draw(PAGES / 4);
	bool is_set = draw(4) > 0;

	if (end > PAGES)
		end = PAGES;
	if (is_set)
		mappings_set(in, (struct mapping){ .start = start, .end = end, .object = object,
						   .file_offset = 1000 });
	else
		mappings_remove(in, start, end);
	for (uint64_t page = start; page < end; page++) {
		model->object[page] = is_set ? object + 1 : 0;
		model->offset[page] = 1000 + page - start;
	}
}

/* Four spaces that copy each other and change, against what each page would map. */
static void test_copies(void)
{
	struct mappings in[4] = { 0 };
	static struct pages model[4];
	int wrong = 0;

	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t one = draw(4), other = draw(4);
		if (draw(50) == 0 && one != other) {
			mappings_release(&in[one]);
			in[one] = mappings_copy(&in[other]);
			model[one] = model[other];
		} else {
			change(&in[one], &model[one], i);
		}
		for (int k = 0; i % 10 == 0 && k < 4; k++)
			wrong += !are_same(&in[k], &model[k]);
	}
	tap(wrong == 0, "copies of mappings change apart");
	for (int k = 0; k < 4; k++)
		mappings_release(&in[k]);
}

static void rounds(struct spaces *s, int count)
{
	struct draft d = { .size = 0 };

	while (count-- > 0)
		follow(s, &d, RECORD_FINISHED_ROUND, 0);
}

static void test_ends(void)
{
	struct spaces s = { 0 };

	map(&s, 7, 0x10000, 0x1000, 0, "/a");
	comm(&s, 7, 7, "first", 0);
	task(&s, PERF_RECORD_FORK, 7, 7, 8, 7);
	task(&s, PERF_RECORD_EXIT, 7, 7, 7, 7);
	rounds(&s, 10);
	tap(is_at(&s, 7, 0x10000, "/a", 0) && is_named(&s, 7, "first"),
	    "a process whose first thread has ended lives on in the others");
	task(&s, PERF_RECORD_EXIT, 7, 7, 8, 7);
	rounds(&s, 2);
	tap(is_at(&s, 7, 0x10000, "/a", 0) && is_named(&s, 8, "first"),
	    "it is there for late samples some rounds after its last thread has ended");
	rounds(&s, 6);
	tap(!spaces_has(&s, 7) && is_at(&s, 7, 0x10000, NULL, 0) && is_named(&s, 7, "") &&
	    is_named(&s, 8, ""), "then it is gone, and its names with it");
	map(&s, 9, 0x10000, 0x1000, 0, "/b");
	task(&s, PERF_RECORD_EXIT, 9, 7, 9, 7);
	task(&s, PERF_RECORD_FORK, 9, 1, 9, 1);
	map(&s, 9, 0x20000, 0x1000, 0, "/new");
	rounds(&s, 10);
	tap(is_at(&s, 9, 0x20000, "/new", 0), "a pid that is used again right away stays");
	task(&s, PERF_RECORD_EXIT, 9, 7, 9, 9);
	comm(&s, 9, 9, "exec", PERF_RECORD_MISC_COMM_EXEC);
	map(&s, 9, 0x30000, 0x1000, 0, "/run");
	rounds(&s, 10);
	tap(is_at(&s, 9, 0x30000, "/run", 0), "so does that of a program run by another thread");
	for (pid_t pid = 100; pid < 30000; pid++) {
		task(&s, PERF_RECORD_FORK, pid, 9, pid, 9);
		map(&s, pid, 0x40000, 0x1000, 0, "/lib");
		task(&s, PERF_RECORD_FORK, pid, pid, pid + 30000, pid);
		task(&s, PERF_RECORD_EXIT, pid, pid, pid + 30000, pid);
		task(&s, PERF_RECORD_EXIT, pid, 9, pid, 9);
	}
	tap(s.processes < 20000 && s.tasks.count < 40000,
	    "processes that have ended go where no rounds are marked, too");
	rounds(&s, 10);
	tap(s.processes == 1 && s.tasks.count == 1 && is_at(&s, 9, 0x30000, "/run", 0),
	    "and only who lives is left");
	spaces_release(&s);
}

static void test_kinds(void)
{
	static const struct { const char *path; enum object_kind kind; } cases[] = {
		{ "/usr/bin/x", OBJECT_FILE },
		{ "[vdso]", OBJECT_VDSO }, { "[vdso32]", OBJECT_VDSO },
		{ "//anon", OBJECT_ANONYMOUS }, { "[heap]", OBJECT_ANONYMOUS },
		{ "[anon:jit]", OBJECT_ANONYMOUS }, { "/memfd:code (deleted)", OBJECT_ANONYMOUS },
		{ "/anon_hugepage (deleted)", OBJECT_ANONYMOUS }, { "", OBJECT_ANONYMOUS },
		{ "/dev/zero (deleted)", OBJECT_ANONYMOUS }, { "/SYSV00000000", OBJECT_ANONYMOUS },
		{ "anon_inode:[perf_event]", OBJECT_ANONYMOUS },
		{ "/opt/x (deleted)", OBJECT_FILE },
	};
	struct spaces s = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char name[100];
		map(&s, 7, (i + 1) << 20, 0x1000, 0, cases[i].path);
		snprintf(name, sizeof(name), "kind of '%s'", cases[i].path);
		tap(kind_at(&s, 7, (i + 1) << 20) == cases[i].kind, name);
	}
	map(&s, 7, 0x100000000, 0x1000, 0, "/opt/x (deleted)");
	tap(is_at(&s, 7, 0x100000000, "/opt/x", 0), "a deleted file has its name");
	spaces_release(&s);
}

static void test_kernels(void)
{
	const uint64_t text = 0xffffffff81000000;
	struct spaces s = { 0 };

	map_as(&s, PERF_RECORD_MISC_KERNEL, -1, text, 0x1000000, text, "[kernel.kallsyms]_text");
	map_as(&s, PERF_RECORD_MISC_KERNEL, -1, 0xffffffffc0000000, 0x1000, 0, "/lib/modules/x.ko");
	map_as(&s, PERF_RECORD_MISC_GUEST_KERNEL, 0, text, 0x1000, text,
	       "[guest.kernel.kallsyms]_text");
	map_as(&s, PERF_RECORD_MISC_GUEST_USER, 7, 0x10000, 0x1000, 0, "/in/guest");
	tap(is_in(&s, &s.kernel, text + 8, "[kernel.kallsyms]", text + 8) &&
	    is_in(&s, &s.guest, text + 8, "[guest.kernel.kallsyms]", text + 8),
	    "the host's kernel and the guest's are at one address, apart");
	tap(s.objects.object[space_find(&s.guest, text)->object].kind == OBJECT_ANONYMOUS,
	    "the guest's is not named by the host's symbols");
	tap(is_at(&s, 7, 0x10000, NULL, 0), "a process of the guest is not the host's");
	comm(&s, 7, 7, "guest", PERF_RECORD_MISC_GUEST_USER);
	tap(is_named(&s, 7, ""), "nor has one a name here");
	tap(is_in(&s, &s.kernel, 0xffffffffc0000010, "/lib/modules/x.ko", 0x10),
	    "a module on its own");
	spaces_release(&s);
}

static void test_huge_pages(void)
{
	const uint64_t base = 0x40000000;
	struct spaces s = { 0 };

	map(&s, 7, base - 0x1000, 4 * MIB2, 0x1000, "/text");
	map(&s, 7, base, 2 * MIB2, 0, "/anon_hugepage (deleted)");
	tap(is_at(&s, 7, base + 16, "/text", 0x2010),
	    "text moved to huge pages is the file's still");
	map(&s, 7, base, 0x3000, 0, "//anon");
	tap(is_at(&s, 7, base + 16, "//anon", 16), "a mapping without huge pages is other memory");
	map(&s, 8, base - 0x1000, 0x1000, 0x1000, "/text");
	map(&s, 8, base, 2 * MIB2, 0, "/anon_hugepage (deleted)");
	map(&s, 8, base + 2 * MIB2, 0x1000, 0x2000 + 2 * MIB2, "/text");
	tap(is_at(&s, 8, base + 16, "/text", 0x2010), "and so where it was found that way");
	map(&s, 9, base, MIB2, 0, "//anon");
	map(&s, 9, base + MIB2, 0x1000, 0, "/lib");
	tap(is_at(&s, 9, base + 16, "//anon", 16), "but not before the start of a file");
	map(&s, 10, base, MIB2, 0, "//anon");
	map(&s, 10, base + MIB2 + 0x1000, 0x1000, MIB2, "/lib");
	tap(is_at(&s, 10, base + 16, "//anon", 16), "nor away from it");
	spaces_release(&s);
}

static void test_ksymbols(void)
{
	const uint64_t start = 0xffffffffc0100000;
	struct draft d = { .size = 0 };
	struct spaces s = { 0 };

	add(&d, start, 8);
	add(&d, 0x200, 4);
	add(&d, PERF_RECORD_KSYMBOL_TYPE_BPF, 2);
	add(&d, 0, 2);
	add_text(&d, "bpf_prog_x");
	follow(&s, &d, PERF_RECORD_KSYMBOL, 0);
	tap(is_in(&s, &s.kernel, start + 1, "[bpf]", start + 1), "code that the kernel made");
	d.bytes[host_is_big ? 15 : 14] = PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	follow(&s, &d, PERF_RECORD_KSYMBOL, 0);
	tap(is_in(&s, &s.kernel, start + 1, "[bpf]", start + 1), "stays for late samples");
	spaces_release(&s);
}

/* The Go build ID of file I */
static const char *go_id(int i, char text[16])
{
	snprintf(text, 16, "go-%d", i);
	return text;
}

/* Return how many of COUNT objects have another Go build ID than they were added with. */
static int wrong_ids(const struct objects *o, const uint32_t *id, int count)
{
	char text[16];
	int wrong = 0;

	for (int i = 0; i < count; i++)
		wrong += strcmp(o->object[id[i]].go_build_id, go_id(i, text)) != 0;
	return wrong;
}

/* Each adds two strings, so that the second falls on each size at which the array of them moves. */
static void test_go_programs(void)
{
	enum { PROGRAMS = 3000 };
	bool live[2 * PROGRAMS] = { false };
	uint32_t id[PROGRAMS];
	struct objects o = { 0 };
	char path[24], text[16];

	for (int i = 0; i < PROGRAMS; i++) {
		struct mmap_record m = { .path = path, .go_build_id = go_id(i, text) };
		snprintf(path, sizeof(path), "/bin/%d", i);
		id[i] = objects_add(&o, &m, false);
		live[id[i]] = true;
	}
	tap(wrong_ids(&o, id, PROGRAMS) == 0, "Go programs keep their build IDs");
	for (int i = 0; i < PROGRAMS; i++) {
		struct mmap_record m = { .path = path };
		snprintf(path, sizeof(path), "/tmp/%d", i);
		objects_add(&o, &m, false);
	}
	bool many = objects_are_many(&o);
	objects_remove(&o, live);
	tap(many && o.count - o.unuseds == PROGRAMS && wrong_ids(&o, id, PROGRAMS) == 0,
	    "also when others are removed");
	objects_release(&o);
}

/* Whether processes PID and OTHER share their files' code. */
static bool share(struct spaces *s, pid_t pid, pid_t other)
{
	return spaces_find(s, pid)->shared == spaces_find(s, other)->shared;
}

/* Each process maps code that differs in one way from what process 1 maps. */
static void test_not_shared(void)
{
	struct spaces s = { 0 };
	size_t wrong = 0;

	map(&s, 1, 0x10000, 0x4000, 0x1000, "/a");
	map(&s, 1, 0x20000, 0x4000, 0x1000, "/b");
	map(&s, 2, 0x10000, 0x4000, 0x2000, "/a");
	map(&s, 2, 0x20000, 0x4000, 0x1000, "/b");
	map(&s, 3, 0x11000, 0x3000, 0x1000, "/a");
	map(&s, 3, 0x20000, 0x4000, 0x1000, "/b");
	map(&s, 4, 0x10000, 0x5000, 0x1000, "/a");
	map(&s, 4, 0x20000, 0x4000, 0x1000, "/b");
	map(&s, 5, 0x10000, 0x4000, 0x1000, "/a");
	map(&s, 5, 0x20000, 0x4000, 0x1000, "/c");
	map(&s, 6, 0x20000, 0x4000, 0x1000, "/b");	/* the first is the program */
	map(&s, 6, 0x10000, 0x4000, 0x1000, "/a");
	for (pid_t pid = 2; pid <= 6; pid++)
		wrong += share(&s, 1, pid);
	tap(wrong == 0, "not from another offset, at another address, or to another end; "
	    "nor another file, or program");
	for (pid_t pid = 7; pid <= 8; pid++) {
		map(&s, pid, 0x200000, 0x800000, 0, "/a");
		map(&s, pid, 0x400000, 0x400000, 0, "//anon");
	}
	tap(!share(&s, 7, 8), "nor if a part of the file was moved to memory");
	spaces_release(&s);
}

static void test_shared(void)
{
	struct spaces s = { 0 };

	for (pid_t pid = 1; pid <= 5; pid++) {
		map(&s, pid, 0x10000, 0x4000, 0x1000, "/a");
		map(&s, pid, 0x20000 + 0x1000 * (uint64_t)pid, 0x1000, 0, "[vdso]");
	}
	uint64_t before = spaces_find(&s, 1)->shared;
	tap(before && share(&s, 1, 2) &&
	    spaces_find(&s, 1)->generation != spaces_find(&s, 2)->generation,
	    "processes with the same files share their code, wherever the vdso is");
	map(&s, 2, 0x12000, 0x1000, 0, "/b");
	map(&s, 3, 0x18000, 0x1000, 0x1000, "/a");
	map(&s, 4, 0x40000, 0x1000, 0, "//anon");
	tap(!share(&s, 1, 2) && !share(&s, 1, 3) && !share(&s, 1, 4) &&
	    spaces_find(&s, 4)->shared == spaces_find(&s, 4)->generation,
	    "not after another file is mapped, the same one twice, or code without a file");
	map(&s, 5, 0x12000, 0x1000, 0, "/b");
	tap(share(&s, 2, 5), "but again if both map the same");
	task(&s, PERF_RECORD_FORK, 11, 1, 11, 1);
	task(&s, PERF_RECORD_FORK, 14, 4, 14, 4);
	tap(share(&s, 1, 11) && !share(&s, 4, 14),
	    "a child shares with its parent, unless that has code without a file");
	s.objects.removals++;
	map(&s, 21, 0x10000, 0x4000, 0x1000, "/a");
	tap(spaces_find(&s, 21)->shared != before,
	    "what was shared does not return after ids of objects got new meanings");
	spaces_release(&s);
}

/* Return the pid of a process that has ended and was waited for. */
static pid_t dead_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

/* The records of a process's end were lost. */
static void test_gone(void)
{
	const uint64_t start = 1000000000000, often = 10000000000;
	struct spaces s = { 0 };
	pid_t dead = dead_process(), self = getpid(), parent = getppid();
	char name[17] = "";

	map(&s, dead, 0x10000, 0x1000, 0, "/dead");
	task(&s, PERF_RECORD_FORK, dead, dead, dead + 1, dead);
	map(&s, parent, 0x10000, 0x1000, 0, "/parent");
	spaces_forget_ended(&s, start, start + often);
	spaces_forget_ended(&s, start + 2 * often, start + 3 * often);
	rounds(&s, 8);
	tap(spaces_has(&s, dead), "nothing is forgotten where our own process is not known: "
	    "PIDs may be those of another namespace");
	prctl(PR_GET_NAME, name);
	comm(&s, self, self, name, PERF_RECORD_MISC_USER);
	spaces_forget_ended(&s, start + 3 * often, start + 2 * often);
	spaces_forget_ended(&s, start + 4 * often, start + 3 * often);
	rounds(&s, 8);
	tap(spaces_has(&s, dead) && is_at(&s, dead, 0x10000, "/dead", 0),
	    "a process without an end stays while its last records may still come");
	spaces_forget_ended(&s, start + 5 * often, start + 3 * often + 1);
	rounds(&s, 8);
	tap(!spaces_has(&s, dead) && !tasks_has(&s.tasks, dead + 1),
	    "then it is forgotten, with its threads");
	tap(spaces_has(&s, parent) && tasks_has(&s.tasks, self), "and those that exist are not");
	spaces_release(&s);
}

int main(void)
{
	test_go_programs();
	test_mappings();
	test_data();
	test_shared();
	test_not_shared();
	test_processes();
	test_copies();
	test_ends();
	test_gone();
	test_kinds();
	test_kernels();
	test_huge_pages();
	test_ksymbols();
	return tap_done();
}
