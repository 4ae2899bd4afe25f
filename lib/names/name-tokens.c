/* SPDX-License-Identifier: Apache-2.0 */
#include "names/internal.h"

#include <string.h>

/* What separates the parts of a name. */
struct style {
	const char *separator[2];
	size_t slash;		/* "." is a separator from here on */
};

static char *find(struct slice s, const char *text)
{
	return memmem(s.at, s.size, text, strlen(text));
}

/* Return NAME with "()" for what is in brackets, and set *SLASH to the last '/' outside of them. */
static struct slice outside(struct arena *arena, struct slice name, const uint32_t *end,
			    size_t *slash)
{
	char *text = arena_alloc(arena, name.size + 1);
	size_t size = 0;

	*slash = 0;
	for (size_t i = 0; i < name.size; i = (end[i] ? end[i] : i) + 1) {
		text[size++] = end[i] ? '(' : name.at[i];
		if (end[i])
			text[size++] = ')';
		if (name.at[i] == '/')
			*slash = i;
	}
	return (struct slice){ text, size };
}

/* Return whether TEXT is a library's name, or words for people. */
static bool is_one_word(struct slice text)
{
	const char *so = find(text, ".so"), *space = memrchr(text.at, ' ', text.size);
	const char *bracket = memrchr(text.at, '(', text.size);

	while (so) {
		struct slice rest = { so + 3, text.size - (size_t)(so + 3 - text.at) };
		if (rest.size == 0 || !name_is_word(*rest.at))
			return true;
		so = find(rest, ".so");
	}
	return space && (!bracket || space > bracket);
}

static struct style style_of(struct arena *arena, struct slice name, const uint32_t *end)
{
	size_t slash;
	struct slice text = outside(arena, name, end, &slash);

	if (find(text, "::"))
		return (struct style){ .separator = { "::" } };
	if (text.size && *text.at == '/' && !memchr(text.at, ' ', text.size))
		return (struct style){ .separator = { "/" } };
	if (text.size > 4 && slice_starts(text, "caml") && text.at[4] >= 'A' && text.at[4] <= 'Z')
		return (struct style){ .separator = { "__", "." } };
	if (is_one_word(text))
		return (struct style){ 0 };
	return (struct style){ .separator = { "/", "." }, .slash = slash };
}

/* Return the size of the separator at I of NAME, or 0. */
static size_t separator_at(const struct style *style, struct slice name, size_t i)
{
	struct slice rest = { name.at + i, name.size - i };

	for (size_t k = 0; k < 2 && style->separator[k]; k++)
		if ((k == 0 || i >= style->slash) && slice_starts(rest, style->separator[k]))
			return strlen(style->separator[k]);
	return 0;
}

static void add(struct name_tokens *t, enum token_kind kind, const char *at, size_t size)
{
	struct token *last = t->count ? &t->token[t->count - 1] : NULL;

	if (last && last->kind == TOKEN_WORD && kind == TOKEN_WORD)
		last->text.size += size;
	else
		t->token[t->count++] = (struct token){ kind, { at, size } };
}

/* Return the kind of what is in the brackets at I of NAME. */
static enum token_kind kind_in_brackets(const struct name_tokens *t, struct slice name, size_t i)
{
	enum token_kind before = t->count ? t->token[t->count - 1].kind : TOKEN_SPACE;

	if (name.at[i] == '{' || (before != TOKEN_WORD && before != TOKEN_ARGUMENTS))
		return TOKEN_GROUP;
	return name.at[i] == '(' && name.at[i - 1] != '!' ? TOKEN_PARAMETERS : TOKEN_ARGUMENTS;
}

/* Return where the operator at I of NAME ends, with the type that it converts to. */
static size_t operator_end(struct slice name, const uint32_t *end, size_t i)
{
	bool converts = i < name.size && name.at[i] == ' ';

	while (converts && i < name.size && name.at[i] != '(')
		i = (end[i] ? end[i] : i) + 1;
	return i;
}

struct name_tokens name_tokens(struct arena *arena, struct slice name)
{
	struct name_tokens t = { arena_alloc(arena, (name.size + 1) * sizeof(*t.token)), 0 };
	const uint32_t *end = name_brackets(arena, name);
	struct style style = style_of(arena, name, end);

	for (size_t i = 0, next; i < name.size; i = next) {
		size_t after = name_after_operator(name, i);
		size_t separator = separator_at(&style, name, i);
		enum token_kind kind;
		if (after > i) {
			kind = TOKEN_WORD;
			next = operator_end(name, end, after);
		} else if (end[i]) {
			kind = kind_in_brackets(&t, name, i);
			next = end[i] + 1;
		} else if (separator) {
			kind = TOKEN_SEPARATOR;
			next = i + separator;
		} else {
			kind = name.at[i] == ' ' ? TOKEN_SPACE : TOKEN_WORD;
			next = i + 1;
		}
		add(&t, kind, name.at + i, next - i);
	}
	return t;
}
