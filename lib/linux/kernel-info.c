/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/kernel-info.h"
#include "base/descriptor.h"
#include "base/digest.h"
#include "base/hex.h"
#include "linux/read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Return the kernel's default of sysctl NAME. */
static long usual_value(const char *name)
{
	static const struct {
		const char *name;
		long value;
	} usual[] = {
		{ "perf_event_paranoid", 2 },
		{ "perf_event_max_sample_rate", 100000 },
		{ "perf_event_mlock_kb", 516 },
		{ "perf_event_max_stack", 127 },
	};

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (!strcmp(name, usual[i].name))
			return usual[i].value;
	return 0;
}

long kernel_sysctl(const char *name)
{
	char text[32], *end;

	linux_read_text(text, sizeof(text), "/proc/sys/kernel/%s", name);
	long number = strtol(text, &end, 10);
	return end == text ? usual_value(name) : number;
}

bool kernel_has_sysctls(void)
{
	return access("/proc/sys/kernel", R_OK) == 0;
}

/* This loop reads 5 MB at each start: one pass, without calls. */
static char *end_of_name(char *at)
{
	while ((uint8_t)*at > ' ' || (*at && *at != '\t' && *at != ' ' && *at != '\n'))
		at++;
	return at;
}

char *kernel_parse_symbol(char *at, struct kernel_symbol *out)
{
	enum { DIGITS = 16 };
	char *end;

	out->type = '\0';
	at += hex_number(at, at + DIGITS, &out->address) - at;
	if (at[0] == ' ' && at[1] && at[1] != '\n' && at[2] == ' ') {
		out->type = at[1];
		out->name = at + 3;
		end = end_of_name(at + 3);
		out->module = *end && *end != '\n' ? end + 1 : NULL;
	} else {
		end = at;
	}
	at = end;
	end = *at == '\n' ? at : strchrnul(at, '\n');
	char *next = *end ? end + 1 : end;
	*at = *end = '\0';
	return next;
}

uint64_t kernel_start(void)
{
	enum { LINES_MAX = 64 };	/* these symbols are among the first */
	struct kernel_symbol s;
	uint64_t start = 0;
	char *line = NULL;
	size_t capacity = 0;

	FILE *f = linux_open_stream(KERNEL_KALLSYMS);
	for (int i = 0; f && !start && i < LINES_MAX && getline(&line, &capacity, f) > 0; i++) {
		kernel_parse_symbol(line, &s);
		if (s.type && (!strcmp(s.name, "_text") || !strcmp(s.name, "_stext")))
			start = s.address;
	}
	free(line);
	if (f)
		fclose(f);
	return start;
}

ssize_t kernel_notes(const char *name, void *notes, size_t size)
{
	return name ? linux_read(notes, size, "/sys/module/%s/notes/.note.gnu.build-id", name)
		    : linux_read(notes, size, "/sys/kernel/notes");
}

FILE *kernel_modules(void)
{
	return linux_open_stream("/proc/modules");
}

/* NAME SIZE REFERENCES USERS STATE ADDRESS */
bool kernel_next_module(FILE *modules, struct kernel_module *module)
{
	char state[16];
	bool found = modules && fscanf(modules, "%63s %" SCNu64 " %*s %*s %15s 0x%" SCNx64
				       "%*[^\n]", module->name, &module->size, state,
				       &module->start) == 4;

	module->is_live = found && !strcmp(state, "Live");
	return found;
}

/* Return the digest of STATE and of all modules.  *IS_CALM: none is being loaded or removed. */
static uint64_t digest_of_modules(uint64_t state, bool *is_calm)
{
	FILE *modules = kernel_modules();
	struct kernel_module module;
	char path[128];
	struct stat st;

	*is_calm = modules || errno == ENOENT;	/* a kernel may have none */
	while (kernel_next_module(modules, &module)) {
		*is_calm &= module.is_live;
		snprintf(path, sizeof(path), "/sys/module/%s", module.name);
		/* a module that is loaded anew has another inode there */
		uint64_t inode = stat(path, &st) == 0 ? st.st_ino : 0;
		state = digest_more(state, digest_bytes(module.name, strlen(module.name)));
		state = digest_more(digest_more(digest_more(state, module.start), module.size),
				    inode);
	}
	if (modules)
		fclose(modules);
	return state;
}

/* Return the digest of the first symbols: what hides addresses changes them. */
static uint64_t digest_of_symbols(void)
{
	enum { PARTS = 4 };	/* of a page */
	uint64_t digest = 0;
	char part[4096];
	ssize_t n = 1;
	int fd = linux_open(KERNEL_KALLSYMS);

	for (int i = 0; fd >= 0 && i < PARTS && n > 0; i++) {
		n = read(fd, part, sizeof(part));
		digest = digest_more(digest, n > 0 ? digest_bytes(part, (size_t)n) : 0);
	}
	descriptor_close(fd);
	return digest;
}

bool kernel_state(struct kernel_state *state)
{
	bool is_calm;

	if (!linux_read_text(state->boot, sizeof(state->boot), "/proc/sys/kernel/random/boot_id") ||
	    strspn(state->boot, "0123456789abcdef-") != sizeof(state->boot) - 1)
		return false;
	state->digest = digest_of_modules(digest_of_symbols(), &is_calm);
	return is_calm;
}
