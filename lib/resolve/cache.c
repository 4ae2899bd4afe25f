/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last use of a file is stored as its modification time, because every file system keeps this
 * time.
 */
#include "resolve/cache.h"
#include "base/arena.h"
#include "base/descriptor.h"
#include "base/destination.h"
#include "base/directory.h"
#include "base/regular.h"
#include "base/replace.h"
#include "base/write.h"
#include "record/record.h"
#include "symbol/kallsyms-copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".index"
#define OWN_SUFFIX ".kallsyms"

enum { CACHE_NAME = BUILD_ID_HEX + sizeof("-0123456789abcdef" SUFFIX) };

static void write_name(const struct cache_key *key, char name[CACHE_NAME])
{
	char id[BUILD_ID_HEX];

	record_build_id_hex(key->build_id, key->build_id_size, id);
	snprintf(name, CACHE_NAME, "%s-%016" PRIx64 SUFFIX, id, key->inputs);
}

void cache_check(struct cache *c)
{
	char why[DIRECTORY_WHY];
	int fd = c->directory ? directory_open(c->directory, why) : -1;

	if (fd >= 0)
		close(fd);
	else if (c->directory && !errno) {
		report_note(c->report, "the cache '%s' is not used: %s", c->directory, why);
		c->directory = NULL;
	}
}

/* Open NAME if root or we own it, because others could store any names. Returns -1 if not. */
static int open_trusted(const struct cache *c, int directory, const char *name)
{
	int fd = regular_open_in(directory, name, true);
	struct stat st = { 0 };

	if (fd < 0 || (fstat(fd, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid())))
		return fd;
	report_note(c->report, "'%s/%s' is not used: it belongs to user %u, who is neither root "
		    "nor you", c->directory, name, st.st_uid);
	close(fd);
	return -1;
}

struct index *cache_open(const struct cache *c, const struct cache_key *key)
{
	char name[CACHE_NAME], unused[DIRECTORY_WHY];
	int directory = directory_open(c->directory, unused);

	write_name(key, name);
	int fd = directory >= 0 ? open_trusted(c, directory, name) : -1;
	descriptor_close(directory);
	if (fd < 0)
		return NULL;
	futimens(fd, NULL);	/* note the use; it does no harm if the file is not ours */
	const char *why;
	struct index *x = index_open(fd, key->inputs, &why);
	if (!x)
		report_note(c->report, "'%s/%s' is not used: %s; it is rebuilt", c->directory,
			    name, why);
	return x;
}

/* Replace the file NAME. Returns 0, or the errno of what failed. */
static int write_file(int directory, const char *name, const uint8_t *bytes, size_t size,
		      mode_t mode)
{
	struct replace *r = replace_open_in(directory, name, mode);

	if (!r)
		return errno;
	int error = write_whole(replace_fd(r), bytes, size);
	return replace_close(r, !error) ? error : errno;
}

/* Write the file NAME. Makes the directory if needed. */
static void save(const struct cache *c, const char *name, const uint8_t *bytes, size_t size,
		 mode_t mode)
{
	char why[DIRECTORY_WHY] = "";
	int directory = -1;

	if (directory_make(c->directory, 0755))
		directory = directory_open(c->directory, why);
	int error = directory < 0 ? errno : write_file(directory, name, bytes, size, mode);
	if (error || *why)
		report_note(c->report, "cannot save names in the cache '%s': %s", c->directory,
			    *why ? why : destination_why(error));
	descriptor_close(directory);
}

void cache_save(const struct cache *c, const struct cache_key *key, struct index_builder *b)
{
	char name[CACHE_NAME];
	size_t size;
	uint8_t *bytes = index_builder_encode(b, key->inputs, &size);

	if (!bytes)
		return;
	write_name(key, name);
	save(c, name, bytes, size, 0666);
	free(bytes);
}

/* --- the kernel's symbols --- */
enum { OWN_NAME = 80 };		/* bytes of the name of a file */

static void write_own_name(const struct kernel_state *state, bool variables, char name[OWN_NAME])
{
	snprintf(name, OWN_NAME, "%s-%u%s" OWN_SUFFIX, state->boot, geteuid(),
		 variables ? "-variables" : "");
}

/* Return the SIZE bytes of FD, or NULL. */
static uint8_t *read_bytes(int fd, size_t size)
{
	uint8_t *bytes = mem_resize(NULL, size + 1);
	size_t have = 0;
	ssize_t n;

	do {
		n = read(fd, bytes + have, size + 1 - have);
		have += n > 0 ? (size_t)n : 0;
	} while (have <= size && (n > 0 || (n < 0 && errno == EINTR)));
	if (have == size)
		return bytes;
	free(bytes);
	return NULL;
}

/* Read the copy in FD.  Return NULL, with *WHY set, if it is not to be used; WHY NULL: no note. */
static struct kallsyms *read_copy(int fd, uint64_t key, const char **why)
{
	enum { COPY_MAX = 256 << 20 };
	struct stat st;

	*why = "it can be read or written by others";
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 077)
		return NULL;
	uint8_t *bytes = st.st_size > 0 && st.st_size < COPY_MAX
		? read_bytes(fd, (size_t)st.st_size) : NULL;
	*why = "it cannot be read whole";
	return bytes ? kallsyms_decode(bytes, (size_t)st.st_size, key, why) : NULL;
}

struct kallsyms *cache_open_kernel(const struct cache *c, const struct kernel_state *state,
				   bool variables)
{
	char name[OWN_NAME], unused[DIRECTORY_WHY];
	int directory = directory_open(c->directory, unused);
	const char *why;

	write_own_name(state, variables, name);
	int fd = directory >= 0 ? regular_open_in(directory, name, true) : -1;
	descriptor_close(directory);
	if (fd < 0)
		return NULL;
	struct kallsyms *k = read_copy(fd, state->digest, &why);
	if (k)
		futimens(fd, NULL);
	else if (why)
		report_note(c->report, "'%s/%s' is not used: %s; it is rebuilt", c->directory,
			    name, why);
	close(fd);
	return k;
}

void cache_save_kernel(const struct cache *c, const struct kernel_state *state,
		       const struct kallsyms *k, bool variables)
{
	struct kernel_state now;
	char name[OWN_NAME];
	size_t size;
	uint8_t *bytes = kallsyms_encode(k, state->digest, &size);

	write_own_name(state, variables, name);
	if (kernel_state(&now) && now.digest == state->digest)
		save(c, name, bytes, size, 0600);
	free(bytes);
}

/* --- the directory --- */
struct cache_file {
	char name[NAME_MAX + 1];
	uint64_t size;
	int64_t used;			/* ns since 1970 */
};

/* Set F to the file NAME. Return false if it is not ours. Remove hidden files left over. */
static bool find_file(int directory, const char *name, struct cache_file *f)
{
	const char *dot = strrchr(name, '.');
	struct stat st;

	if (replace_clean(directory, name) || !dot || dot == name ||
	    (strcmp(dot, SUFFIX) && strcmp(dot, OWN_SUFFIX)) ||
	    fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return false;
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->size = (uint64_t)st.st_size;
	f->used = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return true;
}

static int by_use(const void *a, const void *b)
{
	const struct cache_file *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

void cache_trim(const struct cache *c)
{
	char unused[DIRECTORY_WHY];
	int directory = directory_open(c->directory, unused);
	DIR *in = directory >= 0 ? fdopendir(directory) : NULL;
	struct cache_file *file = NULL;
	size_t count = 0;
	uint64_t total = 0;

	if (!in)
		return;
	for (const struct dirent *d; (d = readdir(in)) != NULL; ) {
		file = array_grow(file, count, sizeof(*file));
		if (find_file(directory, d->d_name, &file[count]))
			total += file[count++].size;
	}
	if (total > c->size_max)
		qsort(file, count, sizeof(*file), by_use);
	for (size_t i = 0; i < count && total > c->size_max; i++)
		if (unlinkat(directory, file[i].name, 0) == 0)
			total -= file[i].size;
	free(file);
	closedir(in);
}
