/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/wait-frames.h"
#include "record/words.h"

#include <stdio.h>
#include <string.h>

/* Return the name of the outermost function at LOCATION, or "". */
static const char *function_at(const struct decoded *d, uint32_t location)
{
	struct decoded_location l = decoded_location(d, location);
	struct decoded_line line;
	const char *name = "";

	while (decoded_next_line(d, &l, &line))
		if (line.function != TABLE_NONE)
			name = decoded_string(d, decoded_function(d, line.function).name);
	return name;
}

/* Return whether LOCATION is in the kernel or one of its modules: "[kernel.kallsyms]", "[ext4]". */
static bool is_in_kernel(const struct decoded *d, uint32_t location)
{
	struct decoded_location l = decoded_location(d, location);

	if (l.mapping == TABLE_NONE)
		return false;
	return word_is_of_kernel(decoded_string(d, decoded_mapping(d, l.mapping).file));
}

/* Return the system call that a function of the kernel is the entry of, or NULL. */
static const char *system_call(const char *function)
{
	static const char *const entry[] = {
		"__x64_sys_", "__arm64_sys_", "__ia32_sys_", "__ia32_compat_sys_",
		"__arm64_compat_sys_", "__x32_compat_sys_",
	};

	for (size_t i = 0; i < sizeof(entry) / sizeof(*entry); i++)
		if (!strncmp(function, entry[i], strlen(entry[i])))
			return function + strlen(entry[i]);
	return NULL;
}

bool wait_frames_divided_by(const char *name)
{
	return !strcmp(name, WORD_KEPT_BY) || !strcmp(name, WORD_WAITED_IN);
}

size_t wait_frames(const struct decoded *d, const struct decoded_sample *stack, size_t first,
		   char *name, size_t size)
{
	const char *leaf = "", *call = NULL;
	size_t i;

	if (first < stack->locations && stack->location[first] != TABLE_NONE)
		leaf = function_at(d, stack->location[first]);
	if (wait_frames_divided_by(leaf))
		return 0;
	bool has_name = *leaf == '[';
	bool wakes = !strcmp(leaf, "try_to_wake_up");	/* where the kernel counts wakes */
	for (i = first + has_name; i < stack->locations; i++) {
		if (stack->location[i] == TABLE_NONE || !is_in_kernel(d, stack->location[i]))
			break;
		const char *entered = system_call(function_at(d, stack->location[i]));
		call = entered ? entered : call;
	}
	if (has_name)
		snprintf(name, size, "%s", leaf);
	else if (call)
		snprintf(name, size, wakes ? WORD_WAKES_BY : WORD_WAITS_FOR, call);
	else
		snprintf(name, size, wakes ? WORD_WAKES : WORD_WAITS);
	return i - first;
}
