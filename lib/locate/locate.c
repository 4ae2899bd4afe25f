/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/descriptor.h"
#include "base/regular.h"
#include "elf/mapped.h"
#include "linux/proc.h"
#include "locate/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Open a regular file below ROOT, read-only. Return -1 on failure. */
static int open_regular(const char *root, const char *path, struct stat *st)
{
	int fd = regular_open_below(root, path, false);

	if (fd >= 0 && fstat(fd, st) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

struct elf *locate_elf(const struct locate_options *where, const char *root, const char *path)
{
	const char *why;
	int fd = where->files == LOCATE_RECORDED ? regular_open_below(root, path, false) : -1;

	return fd < 0 ? NULL : elf_pool_open(where->pool, fd, &why);
}

struct elf *locate_printed(const struct locate_options *where, const char *root,
			   const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	return length < (int)sizeof(path) ? locate_elf(where, root, path) : NULL;
}

/*
 * Return whether the file's inode differs from the recorded one. Without ANY_DEVICE, inodes are
 * compared only on the recorded device, because some file systems number their files anew at each
 * mount. ANY_DEVICE is for files that a process maps, where only the device may look different.
 */
static bool is_other_file(const struct object *object, const struct stat *st, bool any_device)
{
	return object->inode && !object_has_id(object) && st->st_ino != object->inode &&
	       (any_device || (major(st->st_dev) == object->major &&
			       minor(st->st_dev) == object->minor));
}

/*
 * Open PATH below ROOT, the path of OBJECT or a link to its file.  If that is a file in an archive,
 * open the archive, and set *NAME to the file's name in it.
 */
static int open_object(const char *root, const char *path, const struct object *object,
		       struct stat *st, const char **name)
{
	const char *separator = archive_separator(object->path);
	char archive[PATH_MAX];
	int fd = open_regular(root, path, st);

	*name = NULL;
	if (!separator || (fd >= 0 && path == object->path))
		return fd;
	*name = separator + 2;
	if (fd >= 0 || path != object->path)
		return fd;
	snprintf(archive, sizeof(archive), "%.*s", (int)(separator - path), path);
	return open_regular(root, archive, st);
}

/* Open the ELF file NAME in the archive FD, which is closed; NAME is NULL: FD is an ELF file. */
static struct elf *open_elf(const struct locate_options *where, int fd, const char *name)
{
	struct archive_file file;
	struct mapped zip;
	const char *why;

	if (!name)
		return elf_pool_open(where->pool, fd, &why);
	if (!mapped_open(&zip, fd)) {
		close(fd);
		return NULL;
	}
	bool is_there = archive_find_name(&zip, name, &file);
	mapped_close(&zip);
	if (is_there && file.size)
		return elf_pool_open_part(where->pool, fd, file.offset, file.size, &why);
	close(fd);
	return NULL;
}

static enum locate_result try_path(const struct locate_options *where, const char *root,
				   const char *path, const struct object *object,
				   bool any_device, struct elf **out)
{
	const char *name;
	const uint8_t *id;
	struct stat st;
	int fd = open_object(root, path, object, &st, &name);

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? LOCATE_TOO_MANY : LOCATE_ABSENT;
	if (is_other_file(object, &st, any_device)) {
		close(fd);
		return LOCATE_OTHER_FILE;
	}
	struct elf *elf = open_elf(where, fd, name);
	if (!elf)
		return LOCATE_NO_ELF;
	size_t size = elf_build_id(elf, &id);
	/* Old recorders pad the ID with zeros, and do not record its size. */
	if (object->build_id_size && (size == 0 || size > object->build_id_size ||
				      memcmp(id, object->build_id, size))) {
		elf_close(elf);
		return LOCATE_OTHER_BUILD;
	}
	if (object->go_build_id && strcmp(elf_go_build_id(elf), object->go_build_id)) {
		elf_close(elf);
		return LOCATE_OTHER_BUILD;
	}
	*out = elf;
	return LOCATED;
}

/*
 * Return whether LINK refers to OBJECT, judged by its path. By now another program may run under
 * the same PID and map something else.
 */
static bool is_mapping_of(const struct object *object, const char *link)
{
	char target[PATH_MAX];
	ssize_t length = readlink(link, target, sizeof(target) - 1);
	const char *separator = archive_separator(object->path);
	size_t path = separator ? (size_t)(separator - object->path) : strlen(object->path);

	if (length < 0)
		return false;
	target[length] = '\0';
	return !strncmp(target, object->path, path) &&
	       (!target[path] || !strcmp(target + path, " (deleted)"));
}

/* Open the file that the living process maps, whatever the file's path names by now. */
static enum locate_result try_live(const struct locate_options *where,
				   const struct object *object, pid_t pid,
				   const struct mapping *m, struct elf **elf)
{
	struct proc_path path = proc_map_file(pid, m->start, m->end);

	if (!object_has_id(object) && !object->inode && !is_mapping_of(object, path.text))
		return LOCATE_ABSENT;
	return try_path(where, "", path.text, object, true, elf);
}

/* Return whether OBJECT was mapped from the file that ST describes. */
static bool is_its_file(const struct object *object, const struct stat *st)
{
	return object->inode && st->st_ino == object->inode &&
	       major(st->st_dev) == object->major && minor(st->st_dev) == object->minor;
}

/*
 * Open the program that the living process runs, whatever its path names by now. The user of the
 * process may open it, while map_files needs CAP_CHECKPOINT_RESTORE. But PID may run another
 * program by now, or OBJECT may be a library. So if OBJECT has no build ID, its inode must match,
 * and its device or its path.
 */
static enum locate_result try_program(const struct locate_options *where,
				      const struct object *object, pid_t pid, struct elf **elf)
{
	struct proc_path path = proc_path(pid, "exe");
	struct stat st;

	if (!object_has_id(object) &&
	    (stat(path.text, &st) < 0 ||
	     (!is_its_file(object, &st) && !(object->inode && is_mapping_of(object, path.text)))))
		return LOCATE_ABSENT;
	return try_path(where, "", path.text, object, true, elf);
}

/* Look for OBJECT's path below ROOT, unless it was found before. Notes why a file was refused. */
static void try_below(const struct locate_options *where, struct image *l,
		      const struct object *object, const char *root)
{
	if (l->elf)
		return;
	enum locate_result here = try_path(where, root, object->path, object, false,
					   &l->elf);
	if (here != LOCATE_ABSENT)
		l->result = here;
	if (here == LOCATED)
		l->root = mem_text(root);
}

/*
 * Look for OBJECT's path in the root directory that the process PID had.  Which one that was is a
 * guess, so the file must have the recorded build ID, or else be the very file that was recorded.
 */
static void try_kept_root(const struct locate_options *where, struct image *l,
			  const struct object *object, pid_t pid)
{
	struct proc_path root;
	struct stat st;
	const char *name;

	if (l->elf || !locate_roots_find(where->roots, pid, &root))
		return;
	if (!object_has_id(object)) {
		int fd = open_object(root.text, object->path, object, &st, &name);
		bool is_it = fd >= 0 && !object->deleted && is_its_file(object, &st);
		descriptor_close(fd);
		if (!is_it)
			return;
	}
	try_below(where, l, object, root.text);
}

/*
 * Find the file of OBJECT.  While the process lives, the file that it really maps is opened, even
 * if its path names another file by now or none.  After that, the path is looked up in the root
 * directory that the process had, if that is known, and the file must have the recorded build ID,
 * or device and inode.
 */
static void find_file(const struct locate_options *where, const struct object *object, pid_t pid,
		      const struct mapping *m, bool is_local, struct image *out)
{
	bool has_id = object_has_id(object);

	pid = is_local && pid > 0 ? proc_living_thread(pid) : pid;
	struct proc_path root = proc_path(pid, "root");

	if (where->sysroot) {
		struct object copy = *object;
		copy.inode = 0;		/* a copy has another inode */
		out->result = LOCATE_ABSENT;
		try_below(where, out, &copy, where->sysroot);
	} else if (is_local || has_id) {
		if (is_local && pid > 0 &&
		    (try_live(where, object, pid, m, &out->elf) == LOCATED ||
		     try_program(where, object, pid, &out->elf) == LOCATED)) {
			out->result = LOCATED;
			out->root = mem_text(root.text);
		}
		/* The path of a deleted file names nothing, or another file. */
		if (is_local && pid > 0 && (!object->deleted || has_id))
			try_below(where, out, object, root.text);
		if (!object->deleted || has_id)
			try_below(where, out, object, "");
		if (is_local)
			try_kept_root(where, out, object, pid);
	}
}

void locate_file(const struct locate_options *where, const struct object *object, pid_t pid,
		 const struct mapping *m, bool is_local, struct image *out)
{
	out->result = is_local || object_has_id(object) ? LOCATE_ABSENT : LOCATE_UNSURE;
	if (object->kind == OBJECT_VDSO && is_local) {
		out->elf = locate_vdso(object, pid, m);
		out->result = out->elf ? LOCATED : LOCATE_ABSENT;
	} else if (where->files == LOCATE_RECORDED &&
		   (object->kind == OBJECT_FILE || object_is_memfd(object))) {
		find_file(where, object, pid, m, is_local, out);
	}
	if (!out->root)
		out->root = mem_text("");
}

bool locate_address(const struct elf *elf, const struct mapping *m, uint64_t address,
		    struct elf_segment *segment, uint64_t *own)
{
	uint64_t offset = address - m->start + m->file_offset;
	struct elf_segment found;

	if (!elf || !elf_segment(elf, offset, &found))
		return false;
	if (segment)
		*segment = found;
	*own = offset - found.file_offset + found.address;
	return true;
}

void locate_elsewhere(const struct locate_options *where, const struct object *object,
		      struct image *out)
{
	bool is_file = object->kind == OBJECT_FILE || object->kind == OBJECT_VDSO ||
		       object_is_memfd(object);

	if (out->elf || !is_file || !object->build_id_size)
		return;
	out->elf = locate_by_id(where, "", object->build_id, object->build_id_size,
				LOCATE_PROGRAM);
	if (!out->elf)
		return;
	free(out->root);
	out->root = mem_text("");
	out->result = LOCATED;
}

void locate_check_list(const char **list, struct report *report)
{
	struct stat st;

	if (!*list)
		return;
	if (access(*list, R_OK) < 0 || stat(*list, &st) < 0)
		report_failure(report, "cannot read '%s'", *list);
	else if (!S_ISREG(st.st_mode))
		report_error(report, "cannot read '%s': it is not a regular file", *list);
	else
		return;
	*list = NULL;
}

const char *locate_reason(enum locate_result result)
{
	static const char *const reason[] = {
		[LOCATED] = "found",
		[LOCATE_ABSENT] = "the file is gone, or may not be read",
		[LOCATE_TOO_MANY] = "too many open files: raise the limit, ulimit -n",
		[LOCATE_NO_ELF] = "it is not an ELF file",
		[LOCATE_OTHER_BUILD] = "the file here is of another build than the one recorded",
		[LOCATE_OTHER_FILE] = "another file is in its place now",
		[LOCATE_CHANGED] = "it was changed after the recording",
		[LOCATE_UNSURE] = ("the stream has no build ID of it, and may be from "
				   "another machine"),
	};

	return reason[result];
}

const char *locate_advice(const struct object *object, enum locate_result result)
{
	static const char directory[] = "/go-build";
	const char *at = result == LOCATE_ABSENT ? strstr(object->path, directory) : NULL;
	size_t length = strlen(object->path);

	if (result == LOCATE_UNSURE)
		return "; if the stream is from here, use --sysroot /";
	if (!at || !strchr("0123456789", at[sizeof(directory) - 1]) || !at[sizeof(directory) - 1])
		return "";
	if (length > 5 && !strcmp(object->path + length - 5, ".test"))
		return "; 'go test' deletes what it ran: make it with 'go test -c', and run that";
	return strstr(at, "/exe/") ? "; 'go run' deletes what it ran: make it with 'go build', and "
				     "run that" : "";
}
