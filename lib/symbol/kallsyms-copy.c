/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kallsyms-copy.h"
#include "base/buffer.h"
#include "symbol/kallsyms-internal.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#define COPY_MAGIC 0x736c6c616b756d70ULL	/* "pmukalls" */

enum {
	COPY_VERSION = 1,
	CHECKED = 16,		/* offset of the first byte that the checksum covers */
};

struct copy_header {
	uint64_t magic;
	uint32_t version, checksum;
	uint64_t key;
	uint32_t symbols, strings;
};

struct copy_symbol {
	uint64_t address;
	uint32_t name, module;
};

/* --- write --- */

/* The modules of the list, and where their names, with brackets, are in the strings. */
struct module_names {
	struct { char name[66]; uint32_t at; } *module;
	size_t count;
	const char *last;		/* the last that was looked for */
	uint32_t last_at;		/* where its name is; 0: it is not a module */
};

static void add_string(struct buffer *strings, const char *text)
{
	buffer_add(strings, text, strlen(text) + 1);
}

static void list_modules(struct module_names *names, struct buffer *strings)
{
	FILE *modules = kernel_modules();
	struct kernel_module module;

	while (kernel_next_module(modules, &module)) {
		names->module = array_grow(names->module, names->count, sizeof(*names->module));
		snprintf(names->module[names->count].name, sizeof(names->module->name), "[%s]",
			 module.name);
		names->module[names->count].at = (uint32_t)strings->size;
		add_string(strings, names->module[names->count++].name);
	}
	if (modules)
		fclose(modules);
}

/* Return where the name of MODULE is; 0: no module has this name, so its code is generated. */
static uint32_t find_module(struct module_names *names, const char *module)
{
	if (names->last && !strcmp(names->last, module))
		return names->last_at;
	names->last = module;
	names->last_at = 0;
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->module[i].name, module))
			names->last_at = names->module[i].at;
	return names->last_at;
}

static void add_symbols(const struct kallsyms *k, struct buffer *symbols, struct buffer *strings)
{
	struct module_names names = { .count = 0 };

	add_string(strings, "");		/* no string that is used has offset 0 */
	list_modules(&names, strings);
	for (size_t i = 0; i < k->symbols; i++) {
		const struct kernel_symbol *s = &k->symbol[i];
		struct copy_symbol copy = { .address = s->address,
					    .name = (uint32_t)strings->size };
		if (s->module && !(copy.module = find_module(&names, s->module)))
			continue;
		buffer_add(symbols, &copy, sizeof(copy));
		add_string(strings, s->name);
	}
	free(names.module);
}

uint8_t *kallsyms_encode(const struct kallsyms *k, uint64_t key, size_t *size)
{
	struct copy_header header = { .magic = COPY_MAGIC, .version = COPY_VERSION, .key = key };
	struct buffer out = { 0 }, strings = { 0 };

	buffer_add(&out, &header, sizeof(header));
	add_symbols(k, &out, &strings);
	header.symbols = (uint32_t)((out.size - sizeof(header)) / sizeof(struct copy_symbol));
	header.strings = (uint32_t)strings.size;
	buffer_add(&out, strings.at, strings.size);
	free(strings.at);
	memcpy(out.at, &header, sizeof(header));
	header.checksum = libdeflate_crc32(0, out.at + CHECKED, out.size - CHECKED);
	memcpy(out.at, &header, sizeof(header));
	*size = out.size;
	return out.at;
}

/* --- read --- */

/* Return what is wrong with the header of the SIZE bytes at BYTES, or NULL. */
static const char *check_header(struct copy_header *header, const uint8_t *bytes, size_t size)
{
	if (size >= sizeof(*header))
		memcpy(header, bytes, sizeof(*header));
	if (header->magic != COPY_MAGIC || header->version != COPY_VERSION)
		return "it is not a copy of this version";
	if (libdeflate_crc32(0, bytes + CHECKED, size - CHECKED) != header->checksum)
		return "its checksum is wrong";
	size -= sizeof(*header);
	if (!header->symbols || !header->strings || bytes[sizeof(*header) + size - 1] ||
	    size != header->strings + (uint64_t)header->symbols * sizeof(struct copy_symbol))
		return "the sizes of its tables are wrong";
	return NULL;
}

/* Fill the list of K from its text.  Return false if it is not sorted, or an offset is wrong. */
static bool fill_list(struct kallsyms *k, const struct copy_header *header)
{
	const char *table = k->text + sizeof(*header);
	const char *strings = table + header->symbols * sizeof(struct copy_symbol);
	struct copy_symbol copy;

	k->symbol = mem_resize(NULL, header->symbols * sizeof(*k->symbol));
	for (uint64_t last = 0; k->symbols < header->symbols; last = copy.address) {
		memcpy(&copy, table + k->symbols * sizeof(copy), sizeof(copy));
		if (copy.address < last || copy.name >= header->strings ||
		    copy.module >= header->strings)
			return false;
		k->symbol[k->symbols++] = (struct kernel_symbol){
			.address = copy.address, .name = strings + copy.name,
			.module = copy.module ? strings + copy.module : NULL,
		};
	}
	return true;
}

/* Set k->image to the addresses of the first symbols that follow each other without a module. */
static void find_image(struct kallsyms *k)
{
	size_t first = 0, last;

	while (first < k->symbols && k->symbol[first].module)
		first++;
	for (last = first; last + 1 < k->symbols && !k->symbol[last + 1].module; )
		last++;
	if (last < k->symbols)
		k->image = (struct extent){ k->symbol[first].address, k->symbol[last].address };
}

struct kallsyms *kallsyms_decode(uint8_t *bytes, size_t size, uint64_t key, const char **why)
{
	struct kallsyms *k = mem_zeroed(1, sizeof(*k));
	struct copy_header header = { 0 };

	k->text = (char *)bytes;
	k->is_copy = true;
	*why = check_header(&header, bytes, size);
	bool is_other = !*why && header.key != key;
	if (!*why && !is_other && !fill_list(k, &header))
		*why = "its symbols are not sorted";
	if (!*why && !is_other) {
		find_image(k);
		return k;
	}
	kallsyms_close(k);
	return NULL;
}
