/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libiberty does most of the work. References to references let a hostile name make its output
 * grow without end. So the output goes to a buffer, and when the buffer is full, a jump leaves
 * the demangler. This leaks no memory, except a non-ASCII identifier of a Rust name.
 */
#include "names/demangle-internal.h"

#include <libiberty/demangle.h>

enum { LIMITED_MAX = 1024 };	/* bytes; libiberty refuses longer names by default */

static void add_text(const char *text, size_t size, void *opaque)
{
	struct sink *s = opaque;

	if (size > sizeof(s->text) - s->used)
		longjmp(s->full, 1);
	memcpy(s->text + s->used, text, size);
	s->used += size;
}

/*
 * Return whether MANGLED is Rust. Old Rust names look like C++, and end in "17h", 16 digits, "E".
 */
static bool is_rust(const char *mangled)
{
	size_t length = strlen(mangled);

	return mangled[1] == 'R' || (length > 22 && mangled[length - 1] == 'E' &&
				     !strncmp(mangled + length - 20, "17h", 3));
}

/*
 * Return the length of the mangled part of a name, before what compilers and linkers append:
 * ".cold", ".constprop.0", "@plt". Names of old Rust contain dots.
 */
static size_t mangled_part(const char *mangled)
{
	size_t whole = strcspn(mangled, "@"), part = 0;
	const char *hash = strstr(mangled, "17h");

	for (; hash && hash + 20 <= mangled + whole; hash = strstr(hash + 1, "17h"))
		if (hash[19] == 'E' && (hash[20] == '.' || hash + 20 == mangled + whole))
			part = (size_t)(hash + 20 - mangled);
	if (!part || mangled[1] != 'Z')
		part = strcspn(mangled, ".@");
	return part;
}

/* Return the length of a compiler's number at the start of SUFFIX (".llvm.123"); 0: none. */
static size_t numbering(const char *suffix)
{
	static const char *const kind[] = { ".llvm.", ".__uniq.", ".lto_priv." };

	for (size_t i = 0; i < sizeof(kind) / sizeof(*kind); i++) {
		size_t length = strlen(kind[i]);
		size_t digits = strncmp(suffix, kind[i], length) ? 0
				: strspn(suffix + length, "0123456789");
		if (digits)
			return length + digits;
	}
	return 0;
}

/*
 * Append SUFFIX, which marks a part, a copy or a stub of a function, without compilers' numbers.
 * Returns false if S is full.
 */
static bool add_suffix(const char *suffix, struct sink *s)
{
	while (*suffix && s->used < sizeof(s->text)) {
		size_t skipped = numbering(suffix);
		if (!skipped)
			s->text[s->used++] = *suffix;
		suffix += skipped ? skipped : 1;
	}
	return !*suffix;
}

static bool demangle_any(const char *mangled, enum demangle_style style, struct sink *s)
{
	int options = style == DEMANGLE_FULL ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;

	if (mangled[1] == 'D')
		return demangle_d(mangled, style, s);
	if (is_rust(mangled)) {
		bool with_hash = style == DEMANGLE_FULL && mangled[1] == 'Z';
		if (rust_demangle_callback(mangled, with_hash ? DMGL_VERBOSE : 0, add_text, s))
			return true;
		s->used = 0;
	}
	if (strlen(mangled) > LIMITED_MAX)
		options |= DMGL_NO_RECURSE_LIMIT;
	return mangled[1] == 'Z' && cplus_demangle_v3_callback(mangled, options, add_text, s);
}

/* Returns false if MANGLED is not mangled, or if its readable form is too long. */
static bool readable_form(const char *mangled, enum demangle_style style, struct sink *s)
{
	s->used = 0;
	return setjmp(s->full) == 0 && demangle_any(mangled, style, s);
}

/* Return whether the '<' at AT belongs to the name of an operator: <, <<, <=, <=>, <<=. */
static bool is_operator(const char *start, const char *at)
{
	while (at > start && strchr("<-=", at[-1]))
		at--;
	return at - start >= 8 && !memcmp(at - 8, "operator", 8);
}

/*
 * Cut out template arguments, which may nest. Rust also uses such brackets for the type that a
 * method belongs to, and for its trait: brackets at the start of a name, or of a part of it, stay.
 */
static void drop_arguments(struct sink *s)
{
	size_t kept = 0, depth = 0;
	size_t parentheses = 0;		/* open in arguments: "(1 > 2)" has no bracket */

	for (size_t i = 0; i < s->used; i++) {
		const char *at = &s->text[i];
		bool is_name = i == 0 || at[-1] == ':' || (i > 3 && !memcmp(at - 4, " as ", 4));
		if (depth && (*at == '(' || (*at == ')' && parentheses)))
			parentheses += *at == '(' ? 1 : (size_t)-1;
		else if (parentheses)
			continue;
		else if (*at == '<' && (depth || (!is_name && !is_operator(s->text, at))))
			depth++;
		else if (*at == '>' && depth && at[-1] != '-')
			depth--;
		else if (!depth)
			s->text[kept++] = *at;
	}
	while (kept && s->text[kept - 1] == ' ')	/* "operator< <int>" */
		kept--;
	if (!depth && kept)
		s->used = kept;
}

/* Write the readable form of the first LENGTH bytes, and the rest as a suffix. */
static bool readable_parts(const char *mangled, size_t length, enum demangle_style style,
			   struct sink *s)
{
	char part[MANGLED_MAX];

	snprintf(part, sizeof(part), "%.*s", (int)length, mangled);
	if (style == DEMANGLE_FULL && !is_rust(part) && mangled[1] == 'Z') {
		/* libiberty turns what compilers append to C++ names into "[clone .cold]". */
		length = strcspn(mangled, "@");
		snprintf(part, sizeof(part), "%.*s", (int)length, mangled);
	}
	if (!readable_form(part, style, s))
		return false;
	if (style == DEMANGLE_SIMPLE && mangled[1] != 'D')
		drop_arguments(s);
	return add_suffix(mangled + length, s);
}

const char *demangle(struct arena *arena, const char *mangled, enum demangle_style style)
{
	struct sink s;
	size_t length = strnlen(mangled, MANGLED_MAX);

	if (style != DEMANGLE_NONE && length < MANGLED_MAX &&
	    (demangle_go(mangled, style, &s) || demangle_ocaml(mangled, style, &s)))
		return arena_text(arena, s.text, s.used);
	/* "_Z" is C++ or old Rust, "_R" is new Rust, "_D" is D. Other names are not mangled. */
	if (style == DEMANGLE_NONE || length < 3 || length == MANGLED_MAX || mangled[0] != '_' ||
	    !strchr("ZRD", mangled[1]))
		return mangled;
	/* Names from some old compilers contain dots. */
	if (!readable_parts(mangled, mangled_part(mangled), style, &s) &&
	    !readable_parts(mangled, strcspn(mangled, "@"), style, &s))
		return mangled;
	return arena_text(arena, s.text, s.used);
}
