/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds files that are not at the path of a mapping: separate debug files by build ID or by a link
 * with a checksum, files in the user's list, and files that a debuginfod client has on disk or can
 * fetch.
 */
#include "base/arena.h"
#include "base/cursor.h"
#include "base/regular.h"
#include "locate/internal.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_MAX_SIZE = PATH_MAX + 2 * BUILD_ID_HEX };

struct elf *locate_with_id(struct elf *elf, const uint8_t *id, size_t size)
{
	const uint8_t *own;

	if (!elf || (elf_build_id(elf, &own) == size && !memcmp(own, id, size)))
		return elf;
	elf_close(elf);
	return NULL;
}

/* Open DIRECTORY/.build-id/12/345678...SUFFIX below ROOT. Returns NULL on failure. */
static struct elf *open_in(const struct locate_options *where, const char *root,
			   const char *directory, const char *hex, const char *suffix)
{
	return locate_printed(where, root, "%s/.build-id/%.2s/%s%s", directory, hex, hex + 2,
			      suffix);
}

/* Return ELF if it is of KIND. Otherwise close ELF and return NULL. ELF may be NULL. */
static struct elf *of_kind(struct elf *elf, enum locate_kind kind)
{
	if (!elf || (kind == LOCATE_DEBUG ? elf_has_debug(elf) : elf_has_code(elf)))
		return elf;
	elf_close(elf);
	return NULL;
}

/*
 * Open a file from the user's list of lines "BUILDID PATH", separated by spaces or tabs. A program
 * and its debug file have the same build ID, so the first file of KIND is taken.
 */
static struct elf *open_listed(const struct locate_options *where, const char *hex,
			       enum locate_kind kind)
{
	const char *list = where->build_id_map;
	char line[LINE_MAX_SIZE];
	struct elf *elf = NULL;
	size_t length = strlen(hex);
	int fd = list ? regular_open(list, false) : -1;
	FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;

	while (in && !elf && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (strncasecmp(line, hex, length) || !strchr(" \t", line[length]))
			continue;
		const char *path = line + length + strspn(line + length, " \t");
		elf = of_kind(locate_packed(where, "", path, NULL), kind);
	}
	if (in)
		fclose(in);
	return elf;
}

/* Open a file that a debuginfod client has fetched, see FILES in debuginfod_find_debuginfo(3). */
static struct elf *open_fetched(const struct locate_options *where, const char *hex,
				enum locate_kind kind)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH");
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const char *name = fetch_kind_name(kind);

	if (where->no_home)
		return NULL;
	if (cache && *cache)
		return locate_printed(where, "", "%s/%s/%s", cache, hex, name);
	if (xdg && *xdg)
		return locate_printed(where, "", "%s/debuginfod_client/%s/%s", xdg, hex, name);
	return locate_printed(where, "", "%s/.cache/debuginfod_client/%s/%s", home ? home : "", hex,
			      name);
}

bool locate_kept(const struct locate_options *where, const uint8_t *id, size_t size,
		 const char *name, char path[PATH_MAX])
{
	const char *home = getenv("HOME"), *directory = where->build_id_dir;
	char hex[BUILD_ID_HEX];

	if (size < 2 || size > BUILD_ID_MAX || where->files != LOCATE_RECORDED ||
	    (!directory && (where->no_home || !(home && *home))))
		return false;
	record_build_id_hex(id, size, hex);
	int length = snprintf(path, PATH_MAX, "%s%s/.build-id/%.2s/%s/%s",
			      directory ? directory : home, directory ? "" : "/.debug", hex,
			      hex + 2, name);
	return length < PATH_MAX && access(path, R_OK) == 0;
}

/* Open a file in perf's cache. A program is stored there as "elf", its debug file as "debug". */
static struct elf *open_kept(const struct locate_options *where, const uint8_t *id, size_t size,
			     enum locate_kind kind)
{
	char path[PATH_MAX];
	struct elf *elf = NULL;

	if (kind == LOCATE_DEBUG && locate_kept(where, id, size, "debug", path))
		elf = locate_elf(where, "", path);
	if (!elf && locate_kept(where, id, size, "elf", path))
		elf = of_kind(locate_elf(where, "", path), kind);
	return elf;
}

static const char system_directory[] = "/usr/lib/debug";

/* Open the file with this build ID in the places that the user named. */
static struct elf *open_named(const struct locate_options *where, const char *hex,
			      const uint8_t *id, size_t size, enum locate_kind kind)
{
	struct locate_options here = *where;
	const char *suffix = kind == LOCATE_DEBUG ? ".debug" : "";
	size_t directories = where->debug_dirs ? where->debug_dirs->count : 0;
	size_t files = where->binaries ? where->binaries->count : 0;
	struct elf *elf = NULL;

	here.files = LOCATE_RECORDED;	/* these paths are the user's own */
	for (size_t i = 0; i < directories && !elf; i++)
		elf = locate_with_id(open_in(&here, "", where->debug_dirs->item[i], hex, suffix),
				     id, size);
	for (size_t i = 0; i < files && !elf; i++)
		elf = locate_with_id(of_kind(locate_packed(&here, "", where->binaries->item[i],
							   NULL), kind), id, size);
	if (!elf && !directories && where->files == LOCATE_BY_ID)
		elf = locate_with_id(open_in(&here, "", system_directory, hex, suffix), id, size);
	return elf;
}

struct elf *locate_by_id(const struct locate_options *where, const char *root, const uint8_t *id,
			 size_t size, enum locate_kind kind)
{
	const char *const system = system_directory;
	const char *suffix = kind == LOCATE_DEBUG ? ".debug" : "";
	char hex[BUILD_ID_HEX];

	if (size < 2 || size > BUILD_ID_MAX || where->files == LOCATE_NOTHING)
		return NULL;
	record_build_id_hex(id, size, hex);
	struct elf *elf = open_named(where, hex, id, size, kind);
	if (elf || where->files != LOCATE_RECORDED)
		return elf;
	if (where->sysroot)
		elf = locate_with_id(open_in(where, where->sysroot, system, hex, suffix), id, size);
	if (!elf && *root)
		elf = locate_with_id(open_in(where, root, system, hex, suffix), id, size);
	if (!elf)
		elf = locate_with_id(open_in(where, "", system, hex, suffix), id, size);
	if (!elf)
		elf = locate_with_id(open_listed(where, hex, kind), id, size);
	if (!elf)
		elf = locate_with_id(open_kept(where, id, size, kind), id, size);
	if (!elf)
		elf = locate_with_id(open_fetched(where, hex, kind), id, size);
	if (!elf && fetch_wait(where->fetcher, hex, kind))
		elf = locate_with_id(open_fetched(where, hex, kind), id, size);
	return elf;
}

/* Return ELF if its checksum is CRC. Otherwise close ELF and return NULL. ELF may be NULL. */
static struct elf *with_checksum(struct elf *elf, uint32_t crc)
{
	struct elf_bytes image = elf ? elf_image(elf) : (struct elf_bytes){ 0 };

	if (!elf || libdeflate_crc32(0, image.at, image.size) == crc)
		return elf;
	elf_close(elf);
	return NULL;
}

/*
 * Open the file of .gnu_debuglink. The section has the name of the file, zeros up to a multiple
 * of 4, and the file's CRC-32. The file is in the program's directory, in .debug there, or in the
 * directory of the same path below a directory for debug files (see gdb's manual).
 */
static struct elf *open_link(const struct locate_options *where, struct elf *elf,
			     const char *path, const char *root)
{
	struct elf_bytes link;

	if (!elf_section(elf, ".gnu_debuglink", &link) || link.size < 8 ||
	    !memchr(link.at, 0, link.size - 4) || memchr(link.at, '/', link.size - 4))
		return NULL;
	const char *name = (const char *)link.at, *slash = strrchr(path, '/');
	size_t crc_at = (strlen(name) + 4) & ~(size_t)3;
	if (!slash || link.size - crc_at < 4)
		return NULL;
	struct cursor c = { .at = link.at + crc_at, .end = link.at + link.size,
			    .swap = elf_is_swapped(elf) };
	uint32_t crc = cursor_u32(&c);
	size_t own = where->debug_dirs ? where->debug_dirs->count : 0;
	int length = (int)(slash - path);
	struct elf *found = NULL;

	for (size_t i = 0; i < own + 3 && !found; i++) {
		const char *directory = i < own ? where->debug_dirs->item[i]
				      : i == own + 2 ? "/usr/lib/debug" : "";
		found = with_checksum(locate_printed(where, i < own ? "" : root, "%s%.*s%s/%s",
						     directory, length, path,
						     i == own + 1 ? "/.debug" : "", name), crc);
	}
	return found;
}

bool locate_has_debug(const struct locate_options *where, struct elf *elf, const char *path,
		      const char *root)
{
	struct locate_options here = *where;

	here.fetcher = NULL;
	struct elf *debug = elf_has_dwarf(elf) ? NULL : locate_debug(&here, elf, path, root);
	bool found = elf_has_dwarf(elf) || debug;
	elf_close(debug);
	return found;
}

struct elf *locate_debug(const struct locate_options *where, struct elf *elf, const char *path,
			 const char *root)
{
	struct locate_options here = *where;
	const uint8_t *id;
	size_t size = elf_build_id(elf, &id);

	if (elf_has_dwarf(elf))		/* no server would have more */
		here.fetcher = NULL;
	struct elf *debug = locate_by_id(&here, root, id, size, LOCATE_DEBUG);

	if (!debug)
		debug = open_link(where, elf, path, root);
	if (!debug && *root)
		debug = open_link(where, elf, path, "");
	return debug;
}

/* A file's reference to the file with the debug information that it shares. */
struct alternate {
	bool is_dwarf5;
	const char *path;	/* absolute, or relative to the referring file */
	struct elf_bytes sum;	/* build ID; in DWARF 5 a checksum, which both files have */
};

/* Read .gnu_debugaltlink: the path, a NUL, the build ID. Returns false if ELF has no link. */
static bool read_alternate_link(struct elf *elf, struct alternate *out)
{
	struct elf_bytes link;

	if (!elf_section(elf, ".gnu_debugaltlink", &link))
		return false;
	const uint8_t *nul = memchr(link.at, 0, link.size);
	if (!nul)
		return false;
	*out = (struct alternate){
		.path = (const char *)link.at,
		.sum = { nul + 1, link.size - (size_t)(nul + 1 - link.at) },
	};
	return true;
}

/*
 * Read .debug_sup (DWARF 5 §7.3.6). OF_ITSELF: ELF must be the file with the shared information;
 * otherwise a file that refers to it. Returns false if there is no such section.
 */
static bool read_supplementary(struct elf *elf, bool of_itself, struct alternate *out)
{
	struct elf_bytes link;

	if (!elf_section(elf, ".debug_sup", &link))
		return false;
	struct cursor c = { .at = link.at, .end = link.at + link.size,
			    .swap = elf_is_swapped(elf) };
	uint16_t version = cursor_u16(&c);
	bool is_supplementary = cursor_u8(&c);
	*out = (struct alternate){ .is_dwarf5 = true, .path = cursor_string(&c) };
	out->sum.size = cursor_uleb(&c);
	out->sum.at = cursor_bytes(&c, out->sum.size);
	return !c.failed && version == 5 && is_supplementary == of_itself && out->sum.size > 0;
}

/* Return ELF if LINK refers to it. Otherwise close ELF and return NULL. ELF may be NULL. */
static struct elf *as_linked(struct elf *elf, const struct alternate *link)
{
	struct alternate own;

	if (!link->is_dwarf5)
		return locate_with_id(elf, link->sum.at, link->sum.size);
	if (!elf || (read_supplementary(elf, true, &own) && own.sum.size == link->sum.size &&
		     !memcmp(own.sum.at, link->sum.at, own.sum.size)))
		return elf;
	elf_close(elf);
	return NULL;
}

struct elf *locate_alternate(const struct locate_options *where, struct elf *debug,
			     const char *root, const char **name)
{
	struct alternate link;

	*name = NULL;
	if (!elf_has_dwarf(debug))	/* strip(1) leaves the link */
		return NULL;
	if (!read_alternate_link(debug, &link) && !read_supplementary(debug, false, &link))
		return NULL;
	const char *path = *name = link.path;
	struct elf *elf = link.is_dwarf5 ? NULL : locate_by_id(where, root, link.sum.at,
							      link.sum.size, LOCATE_DEBUG);
	const char *own = elf_path(debug), *slash = strrchr(own, '/');
	bool is_relative = *path != '/';	/* to the file with the link */
	if (is_relative && !slash)
		return elf;
	int before = is_relative ? (int)(slash + 1 - own) : 0;
	if (!elf)
		elf = as_linked(locate_printed(where, root, "%.*s%s", before, own, path), &link);
	if (!elf && *root)
		elf = as_linked(locate_printed(where, "", "%.*s%s", before, own, path), &link);
	return elf;
}

struct elf *locate_package(const struct locate_options *where, const char *path,
			   const char *root)
{
	return *path == '/' ? locate_printed(where, root, "%s.dwp", path) : NULL;
}

struct elf *locate_kernel(const struct locate_options *where, const uint8_t *id, size_t size,
			  const char *release)
{
	static const char *const paths[] = {
		"/usr/lib/debug/boot/vmlinux-%s", "/usr/lib/debug/lib/modules/%s/vmlinux",
		"/boot/vmlinux-%s", "/lib/modules/%s/build/vmlinux",
	};
	const char *root = where->sysroot ? where->sysroot : "";
	struct elf *elf = locate_by_id(where, "", id, size, LOCATE_DEBUG);

	if (!release || strchr(release, '/'))
		return elf;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) && !elf; i++) {
		const char *hole = strchr(paths[i], '%');
		elf = locate_with_id(locate_printed(where, root, "%.*s%s%s", (int)(hole - paths[i]),
						    paths[i], release, hole + 2), id, size);
	}
	return elf;
}
