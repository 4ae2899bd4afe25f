/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/pool.h"
#include "base/table.h"
#include "elf/internal.h"

#include <sys/stat.h>
#include <unistd.h>

uint32_t elf_pool_max(struct elf_pool *pool)
{
	if (!pool->open_max)
		pool->open_max = mapped_files_max(ELF_POOL_MAX);
	return pool->open_max;
}

static struct elf **chain_of(struct elf_pool *pool, const struct elf_file *f)
{
	return &pool->chain[hash_more(f->device, f->inode) % ELF_POOL_CHAINS];
}

static struct elf *find(struct elf_pool *pool, const struct elf_file *f)
{
	struct elf *elf = *chain_of(pool, f);

	while (elf && !(elf->file.inode == f->inode && elf->file.device == f->device &&
			elf->file.size == f->size && elf->file.modified == f->modified &&
			elf->file.part == f->part && elf->file.part_size == f->part_size))
		elf = elf->next_in_pool;
	return elf;
}

static void add(struct elf_pool *pool, const struct elf_file *f, struct elf *elf)
{
	struct elf **chain = chain_of(pool, f);

	elf->file = *f;
	elf->pool = pool;
	elf->next_in_pool = *chain;
	*chain = elf;
	pool->open++;
	pool->memory += elf->memory;
}

/* Opens the SIZE bytes at OFFSET of the file FD; SIZE is 0: all. */
typedef struct elf *opener(int fd, uint64_t offset, uint64_t size, const char **why);

static struct elf *open_part(int fd, uint64_t offset, uint64_t size, const char **why)
{
	return size ? elf_open_part(fd, offset, size, why) : elf_open(fd, why);
}

static struct elf *open_packed(int fd, uint64_t offset, uint64_t size, const char **why)
{
	(void)offset;
	(void)size;
	return elf_open_packed(fd, why);
}

static struct elf *open_by(opener *opens, struct elf_pool *pool, int fd, uint64_t offset,
			   uint64_t size, const char **why)
{
	struct stat st;

	if (!pool || fstat(fd, &st) < 0)
		return opens(fd, offset, size, why);
	const struct elf_file file = {
		.device = st.st_dev, .inode = st.st_ino, .size = st.st_size,
		.part = offset, .part_size = size,
		.modified = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
	};
	struct elf *elf = find(pool, &file);
	if (elf && !elf_is_cut(elf)) {
		elf->further_users++;
		close(fd);
		return elf;
	}
	if (pool->open >= elf_pool_max(pool)) {
		*why = "too many files are open";
		close(fd);
		return NULL;
	}
	elf = opens(fd, offset, size, why);
	if (elf)
		add(pool, &file, elf);
	return elf;
}

struct elf *elf_pool_open(struct elf_pool *pool, int fd, const char **why)
{
	return open_by(open_part, pool, fd, 0, 0, why);
}

struct elf *elf_pool_open_part(struct elf_pool *pool, int fd, uint64_t offset, uint64_t size,
			       const char **why)
{
	return open_by(open_part, pool, fd, offset, size, why);
}

struct elf *elf_pool_open_packed(struct elf_pool *pool, int fd, const char **why)
{
	return open_by(open_packed, pool, fd, 0, 0, why);
}

void elf_pool_wake(struct elf *elf)
{
	struct elf_pool *pool = elf ? elf->pool : NULL;

	if (!pool || elf->is_awake)
		return;
	if (pool->awakes < ELF_POOL_AWAKE) {
		elf->awake = pool->awakes++;
	} else {
		/*
		 * Choose at random: if files are read in turns, the least recently used is needed
		 * next.
		 */
		elf->awake = (uint32_t)(hash_u64(pool->rests++) % ELF_POOL_AWAKE);
		pool->awake[elf->awake]->is_awake = false;
		elf_rest(pool->awake[elf->awake]);
	}
	elf->is_awake = true;
	pool->awake[elf->awake] = elf;
}

/* Forget that ELF, which is awake, was read. */
static void forget_awake(struct elf *elf)
{
	struct elf_pool *pool = elf->pool;
	struct elf *last = pool->awake[--pool->awakes];

	last->awake = elf->awake;
	pool->awake[last->awake] = last;
	elf->is_awake = false;
}

void elf_pool_remove(struct elf *elf)
{
	if (elf->is_awake)
		forget_awake(elf);
	struct elf **link = chain_of(elf->pool, &elf->file);
	while (*link != elf)
		link = &(*link)->next_in_pool;
	*link = elf->next_in_pool;
	elf->pool->open--;
	elf->pool->memory -= elf->memory;
}

void elf_charge(struct elf *elf, uint64_t bytes)
{
	if (!elf)
		return;
	elf->memory += bytes;
	if (elf->pool)
		elf->pool->memory += bytes;
}
