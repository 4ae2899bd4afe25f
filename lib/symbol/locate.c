/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/locate.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read-only, regular files only; without waiting for the writer of a FIFO. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static enum locate_result try_path(const char *path, const struct object *object,
				   struct elf **out)
{
	const uint8_t *id;
	const char *why;
	int fd = open_regular(path);

	if (fd < 0)
		return LOCATE_ABSENT;
	struct elf *elf = elf_open(fd, &why);
	if (!elf)
		return LOCATE_NO_ELF;
	size_t size = elf_build_id(elf, &id);
	if (object->build_id_size) {
		/* Old recorders pad the ID with zeros, and do not say its size. */
		if (size == 0 || size > object->build_id_size ||
		    memcmp(id, object->build_id, size)) {
			elf_close(elf);
			return LOCATE_OTHER_BUILD;
		}
	}
	*out = elf;
	return LOCATED;
}

enum locate_result locate_object(const struct object *object, pid_t pid, bool is_local,
				 struct elf **elf)
{
	enum locate_result result = LOCATE_ABSENT;
	char path[PATH_MAX + 64];

	if (!is_local && !object->build_id_size)
		return LOCATE_UNSURE;
	if (is_local && pid > 0) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", pid, object->path);
		result = try_path(path, object, elf);
	}
	/* A deleted file's path names nothing, or another file. */
	if (result != LOCATED && (!object->deleted || object->build_id_size)) {
		enum locate_result here = try_path(object->path, object, elf);
		if (here != LOCATE_ABSENT)
			result = here;
	}
	return result;
}

/* The file with debug information of this build ID, where distributions put it. */
static struct elf *open_by_build_id(const uint8_t *id, size_t size)
{
	char path[128] = "/usr/lib/debug/.build-id/";
	size_t at = strlen(path);
	const uint8_t *own;
	const char *why;

	if (size < 2 || size > BUILD_ID_MAX)
		return NULL;
	for (size_t i = 0; i < size; i++)
		at += (size_t)snprintf(path + at, sizeof(path) - at, i == 1 ? "/%02x" : "%02x",
				       id[i]);
	snprintf(path + at, sizeof(path) - at, ".debug");
	int fd = open_regular(path);
	struct elf *elf = fd < 0 ? NULL : elf_open(fd, &why);
	if (elf && (elf_build_id(elf, &own) != size || memcmp(own, id, size))) {
		elf_close(elf);
		elf = NULL;
	}
	return elf;
}

struct elf *locate_debug(const struct elf *elf)
{
	const uint8_t *id;
	size_t size = elf_build_id(elf, &id);

	return open_by_build_id(id, size);
}

/* The section: the other file's path, a NUL, its build ID. */
struct elf *locate_alternate(struct elf *debug)
{
	struct elf_bytes link;

	if (!elf_section(debug, ".gnu_debugaltlink", &link))
		return NULL;
	const uint8_t *nul = memchr(link.at, 0, link.size);
	return nul ? open_by_build_id(nul + 1, link.size - (size_t)(nul + 1 - link.at)) : NULL;
}

const char *locate_reason(enum locate_result result)
{
	static const char *const reason[] = {
		[LOCATED] = "found",
		[LOCATE_ABSENT] = "the file is gone, or may not be read",
		[LOCATE_NO_ELF] = "it is no ELF file",
		[LOCATE_OTHER_BUILD] = "the file here is of another build than the one recorded",
		[LOCATE_UNSURE] = "it was recorded on another machine, without a build ID",
	};

	return reason[result];
}
