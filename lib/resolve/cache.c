/* SPDX-License-Identifier: Apache-2.0 */
/* When a file was used last is its time of modification: a file system keeps that one. */
#include "resolve/cache.h"
#include "base/arena.h"
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
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char suffix[] = ".index";
static const char half_suffix[] = ".half";	/* while it is written */

enum { HALF_SECONDS = 3600 };	/* a file half written is left over after so long */

/* DIRECTORY/BUILDID-INPUTS.index; false: it is too long. */
static bool path_of(const struct cache *c, const struct cache_key *key, char path[PATH_MAX])
{
	char id[BUILD_ID_HEX];

	build_id_hex(key->build_id, key->build_id_size, id);
	return key->build_id_size > 0 &&
	       snprintf(path, PATH_MAX, "%s/%s-%016" PRIx64 "%s", c->directory, id, key->inputs,
			suffix) < PATH_MAX;
}

struct index *cache_open(const struct cache *c, const struct cache_key *key)
{
	char path[PATH_MAX];
	const char *why;
	int fd = path_of(c, key, path)
		? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW) : -1;

	if (fd < 0)
		return NULL;
	struct index *x = index_open(fd, key->inputs, &why);
	if (x)		/* it is in use; no matter if it is not ours */
		utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
	else
		report_note(c->report, "'%s' is not used: %s; it is made anew", path, why);
	return x;
}

/* Make a file for PATH, of a name that no other run takes, for those whom the umask lets read. */
static int open_half(const char *path, char *half, size_t room)
{
	uint64_t random;

	/* Not by mkostemps(): its mode is 0600, and without a race nobody can ask for the umask. */
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -1;
	snprintf(half, room, "%s.%016" PRIx64 "%s", path, random, half_suffix);
	return open(half, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Under a name that no run reads, then under its own. */
static bool write_file(const char *path, const uint8_t *bytes, size_t size)
{
	char half[PATH_MAX + 32];
	int fd = open_half(path, half, sizeof(half));

	if (fd < 0)
		return false;
	errno = write_whole(fd, bytes, size);
	bool good = errno == 0;
	good = close(fd) == 0 && good && rename(half, path) == 0;
	if (!good) {
		int error = errno;
		unlink(half);
		errno = error;
	}
	return good;
}

/* With all above it; what is there already is fine. */
static bool make_directory(const char *path)
{
	char part[PATH_MAX];

	if (strlen(path) >= sizeof(part))
		return false;
	for (size_t i = 1; path[i]; i++) {
		if (path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		mkdir(part, 0777);
	}
	return mkdir(path, 0777) == 0 || errno == EEXIST;
}

void cache_save(const struct cache *c, const struct cache_key *key, struct index_builder *b)
{
	char path[PATH_MAX];
	size_t size;
	uint8_t *bytes = path_of(c, key, path) ? index_builder_encode(b, key->inputs, &size) : NULL;

	if (!bytes)
		return;
	if (!make_directory(c->directory) || !write_file(path, bytes, size))
		report_note(c->report, "cannot keep what was found in '%s': %s", c->directory,
			    strerror(errno));
	free(bytes);
}

/* --- the directory --- */
struct entry {
	char name[NAME_MAX + 1];
	uint64_t size;
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

static bool ends_in(const char *name, const char *end)
{
	size_t size = strlen(name), ends = strlen(end);

	return size > ends && !strcmp(name + size - ends, end);
}

/* The indexes there, and their sizes added up; what was left half written is removed. */
static struct entry *list(DIR *in, size_t *count, uint64_t *total)
{
	struct entry *entry = NULL;
	struct stat st;

	for (const struct dirent *d; (d = readdir(in)) != NULL; ) {
		bool is_half = ends_in(d->d_name, half_suffix);
		if ((!is_half && !ends_in(d->d_name, suffix)) ||
		    fstatat(dirfd(in), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (is_half) {
			if (time(NULL) - st.st_mtime > HALF_SECONDS)
				unlinkat(dirfd(in), d->d_name, 0);
			continue;
		}
		entry = array_grow(entry, *count, sizeof(*entry));
		struct entry *e = &entry[(*count)++];
		snprintf(e->name, sizeof(e->name), "%s", d->d_name);
		e->size = (uint64_t)st.st_size;
		e->used = st.st_mtim;
		*total += e->size;
	}
	return entry;
}

void cache_trim(const struct cache *c)
{
	DIR *in = opendir(c->directory);
	uint64_t total = 0;
	size_t count = 0;

	if (!in)
		return;
	struct entry *entry = list(in, &count, &total);
	if (total > c->size_max)
		qsort(entry, count, sizeof(*entry), by_use);
	for (size_t i = 0; i < count && total > c->size_max; i++)
		if (unlinkat(dirfd(in), entry[i].name, 0) == 0)
			total -= entry[i].size;
	free(entry);
	closedir(in);
}
