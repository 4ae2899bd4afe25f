/* SPDX-License-Identifier: Apache-2.0 */
#include "names/object-name.h"
#include "base/units.h"
#include "record/words.h"

#include <stdio.h>
#include <string.h>

void object_name(const char *file, bool brackets, char *name, size_t size)
{
	const char *slash = strrchr(file, '/');

	if (!*file)
		file = WORD_UNKNOWN_OBJECT;
	if (slash)
		file = slash + 1;
	int length = (int)strcspn(*file == '[' ? ++file : file, "]");
	brackets &= file[length] != '\0';
	snprintf(name, size, "%s%.*s%s", brackets ? "[" : "", length, file, brackets ? "]" : "");
}

void object_name_addresses(const char *object, uint64_t addresses, char *name, size_t size)
{
	char number[UNITS_SIZE];

	units_format_grouped(number, addresses);
	snprintf(name, size, "[%s: %s address%s]", object, number, addresses == 1 ? "" : "es");
}

bool object_name_is_of(const char *name, const char *object)
{
	size_t length = strlen(object);

	return *name == '[' && !strncmp(name + 1, object, length) &&
	       !strncmp(name + 1 + length, ": ", 2);
}
