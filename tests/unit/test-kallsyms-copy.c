/* SPDX-License-Identifier: Apache-2.0 */
/* kallsyms-copy: the same answers as the list's; damaged copies are refused. */
#include "symbol/kallsyms-copy.h"
#include "tests/memory-file.h"
#include "tests/unit/tap.h"

#include <string.h>

enum { KEY = 77 };

static const char list[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81001000 T one\n"
	"ffffffff81001000 W one_too\n"
	"ffffffff81000800 t between\n"
	"ffffffff81002000 D variable\n"
	"ffffffff81003000 t last\n"
	"ffffffffc0001000 t bpf_prog_one\t[bpf]\n";

static struct kallsyms *open_list(void)
{
	char file[MEMORY_FILE_PATH];
	int fd = memory_file(list, sizeof(list) - 1, file);
	struct kallsyms *k = kallsyms_open(file);

	close(fd);
	return k;
}

/* Return the list in a copy of just SIZE bytes. */
static struct kallsyms *decode(const uint8_t *bytes, size_t size, uint64_t key, const char **why)
{
	uint8_t *copy = malloc(size);

	if (size > 0 && !copy)
		abort();
	if (size > 0)
		memcpy(copy, bytes, size);
	return kallsyms_decode(copy, size, key, why);
}

static bool same_text(const char *one, const char *two)
{
	return one && two ? !strcmp(one, two) : one == two;
}

/* All addresses for which K is certain have the names of WANT. */
static bool all_right(const struct kallsyms *k, const struct kallsyms *want)
{
	const char *module, *want_module;

	for (uint64_t at = 0xffffffff80fffff0; at < 0xffffffff81003000; at++) {
		const char *name = kallsyms_find(k, at, &module);
		const char *want_name = kallsyms_find(want, at, &want_module);
		bool is_certain = at >= 0xffffffff81000000;
		if (kallsyms_is_certain(k, at) != is_certain || !kallsyms_is_certain(want, at))
			return false;
		if (is_certain && (!same_text(name, want_name) || module || want_module))
			return false;
	}
	return true;
}

static void test_found(const struct kallsyms *whole, const uint8_t *bytes, size_t size)
{
	const char *why, *module;
	struct kallsyms *k = decode(bytes, size, KEY, &why);

	tap(k && !kallsyms_trouble(k), "a copy has symbols");
	tap(k && all_right(k, whole), "the same names, of several at one address the same one");
	tap(k && !kallsyms_is_certain(k, 0xffffffff81003000) &&
	    !kallsyms_is_certain(k, 0xffffffffc0001000),
	    "after the last function there may be generated code");
	tap(k && kallsyms_address(k, "_text") == 0xffffffff81000000 &&
	    !kallsyms_address(k, "bpf_prog_one") && !kallsyms_address(k, "variable"),
	    "symbols of generated code and of variables are left out");
	tap(same_text(kallsyms_find(whole, 0xffffffffc0001000, &module), "bpf_prog_one"),
	    "the list has the generated code");
	kallsyms_close(k);
	k = decode(bytes, size, KEY + 1, &why);
	tap(!k && !why, "a copy with another key is not used, but nothing is wrong with it");
}

static void test_damaged(uint8_t *bytes, size_t size)
{
	size_t accepted = 0, silent = 0;
	const char *why;

	for (size_t cut = 0; cut < size; cut++) {
		struct kallsyms *k = decode(bytes, cut, KEY, &why);
		accepted += k != NULL;
		silent += !why;
		kallsyms_close(k);
	}
	tap(accepted == 0 && silent == 0, "cut anywhere it is refused");
	for (size_t at = 0; at < size; at++) {
		bytes[at] ^= 0x10;
		struct kallsyms *k = decode(bytes, size, KEY, &why);
		accepted += k != NULL;
		silent += !why;
		kallsyms_close(k);
		bytes[at] ^= 0x10;
	}
	tap(accepted == 0 && silent == 0, "with any byte changed it is refused");
}

int main(void)
{
	struct kallsyms *whole = open_list();
	size_t size;
	uint8_t *bytes = kallsyms_encode(whole, KEY, &size);

	test_found(whole, bytes, size);
	test_damaged(bytes, size);
	kallsyms_close(whole);
	free(bytes);
	return tap_done();
}
