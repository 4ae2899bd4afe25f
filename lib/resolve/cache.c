/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last use of a file is stored as its modification time, because every file system keeps this
 * time.
 */
#include "resolve/cache.h"
#include "base/arena.h"
#include "base/directory.h"
#include "base/regular.h"
#include "base/replace.h"
#include "base/write.h"
#include "record/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char suffix[] = ".index";

enum { HIDDEN_SECONDS = 3600 };	/* age after which a hidden file counts as left over */

/* Set NAME to "BUILDID-INPUTS.index". Returns false if KEY has no build ID. */
static bool name_of(const struct cache_key *key, char name[NAME_MAX + 1])
{
	char id[BUILD_ID_HEX];

	record_build_id_hex(key->build_id, key->build_id_size, id);
	return key->build_id_size > 0 &&
	       snprintf(name, NAME_MAX + 1, "%s-%016" PRIx64 "%s", id, key->inputs, suffix) <=
	       NAME_MAX;
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
static int open_believed(const struct cache *c, int directory, const char *name)
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
	char name[NAME_MAX + 1], unused[DIRECTORY_WHY];
	int directory = name_of(key, name) ? directory_open(c->directory, unused) : -1;
	int fd = directory >= 0 ? open_believed(c, directory, name) : -1;
	struct index *x = NULL;
	const char *why;

	if (fd >= 0 && (x = index_open(fd, key->inputs, &why)) == NULL)
		report_note(c->report, "'%s/%s' is not used: %s; it is rebuilt", c->directory,
			    name, why);
	if (x)		/* note the use; a failure, as if the file is not ours, does no harm */
		utimensat(directory, name, NULL, AT_SYMLINK_NOFOLLOW);
	if (directory >= 0)
		close(directory);
	return x;
}

/* Replace the file NAME. On failure returns false and sets errno. */
static bool write_file(int directory, const char *name, const uint8_t *bytes, size_t size)
{
	struct replace *r = replace_open_in(directory, name);

	if (!r)
		return false;
	int error = write_whole(replace_fd(r), bytes, size);
	bool good = replace_close(r, !error);
	if (error)
		errno = error;
	return good && !error;
}

void cache_save(const struct cache *c, const struct cache_key *key, struct index_builder *b)
{
	char name[NAME_MAX + 1], why[DIRECTORY_WHY] = "";
	size_t size;
	uint8_t *bytes = name_of(key, name) ? index_builder_encode(b, key->inputs, &size) : NULL;
	int directory = -1;

	if (!bytes)
		return;
	if (directory_make(c->directory, 0755))
		directory = directory_open(c->directory, why);
	if (directory < 0 || !write_file(directory, name, bytes, size))
		report_note(c->report, "cannot save names in the cache '%s': %s", c->directory,
			    *why ? why : strerror(errno));
	if (directory >= 0)
		close(directory);
	free(bytes);
}

/* --- the directory --- */
struct cache_file {
	char name[NAME_MAX + 1];
	uint64_t size;
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct cache_file *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

static bool ends_in(const char *name, const char *end)
{
	size_t size = strlen(name), ends = strlen(end);

	return size > ends && !strcmp(name + size - ends, end);
}

/*
 * Return the indexes in the directory, for the caller to free, and the sum of their sizes. Removes
 * hidden files that were left over.
 */
static struct cache_file *list(DIR *in, size_t *count, uint64_t *total)
{
	struct cache_file *entry = NULL;
	struct stat st;

	for (const struct dirent *d; (d = readdir(in)) != NULL; ) {
		bool is_hidden = !strncmp(d->d_name, REPLACE_HIDDEN, strlen(REPLACE_HIDDEN));
		if ((!is_hidden && !ends_in(d->d_name, suffix)) ||
		    fstatat(dirfd(in), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (is_hidden) {
			if (time(NULL) - st.st_mtime > HIDDEN_SECONDS)
				unlinkat(dirfd(in), d->d_name, 0);
			continue;
		}
		entry = array_grow(entry, *count, sizeof(*entry));
		struct cache_file *e = &entry[(*count)++];
		snprintf(e->name, sizeof(e->name), "%s", d->d_name);
		e->size = (uint64_t)st.st_size;
		e->used = st.st_mtim;
		*total += e->size;
	}
	return entry;
}

void cache_trim(const struct cache *c)
{
	char unused[DIRECTORY_WHY];
	int directory = directory_open(c->directory, unused);
	DIR *in = directory >= 0 ? fdopendir(directory) : NULL;
	uint64_t total = 0;
	size_t count = 0;

	if (!in)
		return;
	struct cache_file *entry = list(in, &count, &total);
	if (total > c->size_max)
		qsort(entry, count, sizeof(*entry), by_use);
	for (size_t i = 0; i < count && total > c->size_max; i++)
		if (unlinkat(dirfd(in), entry[i].name, 0) == 0)
			total -= entry[i].size;
	free(entry);
	closedir(in);
}
