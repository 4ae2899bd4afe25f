/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buffer.h"
#include "names/internal.h"

#include <stdlib.h>
#include <string.h>

/* Arguments of a template. */
struct list {
	struct slice *item;
	size_t count;
};

static struct slice trimmed(struct slice s)
{
	for (; s.size && *s.at == ' '; s.size--)
		s.at++;
	while (s.size && s.at[s.size - 1] == ' ')
		s.size--;
	return s;
}

static bool equal(struct slice a, struct slice b)
{
	return a.size == b.size && !memcmp(a.at, b.at, a.size);
}

/* Remove TEXT from the start of S, if it is there. */
static bool skip(struct slice *s, const char *text)
{
	size_t size = strlen(text);

	if (!slice_starts(*s, text))
		return false;
	s->at += size;
	s->size -= size;
	return true;
}

/* Return the parts of TEXT between the commas outside of brackets. */
static struct list split(struct arena *arena, struct slice text)
{
	const uint32_t *end = name_brackets(arena, text);
	struct list list = { arena_alloc(arena, (text.size + 1) * sizeof(*list.item)), 0 };
	size_t start = 0;

	for (size_t i = 0; i <= text.size; i = (end[i] ? end[i] : i) + 1)
		if (i == text.size || text.at[i] == ',') {
			struct slice part = { text.at + start, i - start };
			list.item[list.count++] = trimmed(part);
			start = i + 1;
		}
	return list;
}

/* Return whether ARGUMENT of a template of std is its default, which programs leave out. */
static bool is_default(struct slice argument, struct slice first)
{
	static const char *const same[] = { "char_traits<", "less<", "hash<", "equal_to<",
					    "default_delete<" };

	if (!skip(&argument, "std::") || argument.size == 0 ||
	    argument.at[argument.size - 1] != '>')
		return false;
	argument.size--;
	if (slice_starts(argument, "allocator<"))
		return true;
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		if (skip(&argument, same[i]))
			return equal(trimmed(argument), first);
	return false;
}

/* Return the usual name of the template NAME of std for characters of type LETTER, or NULL. */
static const char *everyday(struct slice name, struct slice letter)
{
	static const char *const wide[] = {
		"wstring", "wstring_view", "wstream", "wistream", "wostream", "wstringstream",
		"wistringstream", "wostringstream", "wfstream", "wifstream", "wofstream", "wios",
		"wstreambuf", "wstringbuf", "wfilebuf", "wregex", "wiostream",
	};
	bool is_wide = slice_is(letter, "wchar_t");

	if ((!is_wide && !slice_is(letter, "char")) || !skip(&name, "basic_"))
		return NULL;
	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		if (slice_is(name, wide[i] + 1))
			return wide[i] + !is_wide;
	return NULL;
}

/* Return the name of a template of std at the end of TEXT, and set *START to its "std::". */
static struct slice template_of_std(struct slice text, size_t *start)
{
	static const char *const before[] = { "std::__cxx11::", "std::__1::", "std::" };
	struct slice name = { text.at + text.size, 0 };

	for (; name.at > text.at && name_is_word(name.at[-1]) && name.at[-1] != '$'; name.size++)
		name.at--;
	for (size_t i = 0; i < sizeof(before) / sizeof(*before) && name.size; i++) {
		size_t size = strlen(before[i]);
		if ((size_t)(name.at - text.at) < size || memcmp(name.at - size, before[i], size))
			continue;
		*start = (size_t)(name.at - text.at) - size;
		if (*start == 0 || !name_is_word(text.at[*start - 1]))
			return name;
	}
	return (struct slice){ 0 };
}

static struct slice known(struct arena *arena, struct slice name, unsigned depth);

/* Write the template NAME of std with its arguments INSIDE. */
static void write_template(struct arena *arena, struct slice name, struct slice inside,
			   unsigned depth, struct buffer *out)
{
	struct list list = split(arena, inside);

	for (size_t i = 0; i < list.count; i++)
		list.item[i] = known(arena, list.item[i], depth + 1);
	while (list.count > 1 && is_default(list.item[list.count - 1], list.item[0]))
		list.count--;
	const char *plain = list.count == 1 ? everyday(name, list.item[0]) : NULL;
	buffer_add(out, "std::", 5);
	if (plain) {
		buffer_add(out, plain, strlen(plain));
		return;
	}
	buffer_add(out, name.at, name.size);
	for (size_t i = 0; i < list.count; i++) {
		buffer_add(out, i ? ", " : "<", i ? 2 : 1);
		buffer_add(out, list.item[i].at, list.item[i].size);
	}
	struct slice last = list.item[list.count - 1];
	bool closes = last.size && last.at[last.size - 1] == '>';
	buffer_add(out, closes ? " >" : ">", closes ? 2 : 1);
}

static struct slice known(struct arena *arena, struct slice name, unsigned depth)
{
	struct buffer out = { 0 };
	const uint32_t *end = name_brackets(arena, name);
	size_t start;

	if (depth > NAME_DEEPEST)
		return name;
	buffer_grow(&out, name.size + 1);
	for (size_t i = 0; i < name.size; i++) {
		struct slice inside = { name.at + i + 1, end[i] ? end[i] - i - 1 : 0 };
		if (name.at[i] != '<' || !end[i]) {
			buffer_add(&out, name.at + i, 1);
			continue;
		}
		struct slice before = { (char *)out.at, out.size };
		struct slice template = template_of_std(before, &start);
		i = end[i];
		if (template.size) {
			template.at = arena_text(arena, template.at, template.size);
			out.size = start;
			write_template(arena, template, inside, depth, &out);
			continue;
		}
		inside = known(arena, inside, depth + 1);
		buffer_add(&out, "<", 1);
		buffer_add(&out, inside.at, inside.size);
		buffer_add(&out, ">", 1);
	}
	struct slice result = { arena_text(arena, (char *)out.at, out.size), out.size };
	free(out.at);
	return result;
}

struct slice name_known(struct arena *arena, struct slice name)
{
	return known(arena, name, 0);
}
