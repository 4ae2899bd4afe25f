/* SPDX-License-Identifier: Apache-2.0 */
#include "names/short-name.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/text.h"
#include "names/internal.h"

#include <stdlib.h>
#include <string.h>

static const char left_out[] = "…";

/* A name, taken apart, and the form that is being made of it. */
struct shortening {
	struct arena arena;
	struct name_tokens t;
	struct slice *shrunk;	/* each token without what is in brackets after words */
	size_t start;		/* the first token after the type that is returned */
	size_t own;		/* the first token of the function's own name */
	size_t columns;		/* that there are */
	struct buffer form;	/* a text, with its NUL */
};

static void append(struct buffer *b, struct slice s)
{
	buffer_add(b, s.at, s.size);
}

static void append_left_out(struct buffer *b)
{
	buffer_add(b, left_out, strlen(left_out));
}

/* Write a token without what is in brackets after words. */
static void shrink(struct arena *arena, const struct token *token, unsigned depth,
		   struct buffer *out)
{
	struct slice inside = { token->text.at + 1, token->text.size - 2 };
	bool in_brackets = token->kind == TOKEN_ARGUMENTS || token->kind == TOKEN_PARAMETERS;

	if ((in_brackets && inside.size == 0) || token->kind < TOKEN_ARGUMENTS ||
	    depth > NAME_DEEPEST) {
		append(out, token->text);
		return;
	}
	buffer_add(out, token->text.at, 1);
	if (in_brackets) {
		append_left_out(out);
	} else {
		struct name_tokens t = name_tokens(arena, inside);
		for (size_t i = 0; i < t.count; i++)
			shrink(arena, &t.token[i], depth + 1, out);
	}
	buffer_add(out, inside.at + inside.size, 1);
}

/* Return the last token before BEFORE of KIND, or SIZE_MAX. */
static size_t last_of(const struct name_tokens *t, enum token_kind kind, size_t before)
{
	while (before-- > 0)
		if (t->token[before].kind == kind)
			return before;
	return SIZE_MAX;
}

/* Return whether the space at token I ends the type that a function returns. */
static bool ends_type(const struct name_tokens *t, size_t i)
{
	struct slice next = t->token[i + 1].text;

	return t->token[i].kind == TOKEN_SPACE &&
	       (i == 0 || t->token[i - 1].kind != TOKEN_PARAMETERS) && !slice_is(next, "const") &&
	       !slice_is(next, "volatile") && !slice_is(next, "&") && !slice_is(next, "&&");
}

static size_t start_of(const struct name_tokens *t)
{
	size_t last = last_of(t, TOKEN_PARAMETERS, t->count);

	for (size_t i = last == SIZE_MAX ? 0 : last; i-- > 0; )
		if (ends_type(t, i))
			return i + 1;
	return 0;
}

/* Return whether S is the last part of a mangled name of Rust: h, and 16 hexadecimal digits. */
static bool is_hash(struct slice s)
{
	if (s.size != 17 || *s.at != 'h')
		return false;
	for (size_t i = 1; i < s.size; i++)
		if (!memchr("0123456789abcdef", s.at[i], 16))
			return false;
	return true;
}

/* Return whether a part says nothing without the part before: closures, numbers, hashes. */
static bool is_attached(struct slice s)
{
	static const char *const starts[] = { "{", "operator()", "gowrap", "deferwrap", "cold",
					      "constprop", "isra", "lto_priv" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (slice_starts(s, starts[i]))
			return true;
	if (slice_starts(s, "func")) {
		s.at += 4;
		s.size -= 4;
	}
	return (s.size && *s.at >= '0' && *s.at <= '9') || slice_is(s, "part") ||
	       slice_is(s, "llvm") || is_hash(s);
}

static size_t own_of(const struct name_tokens *t, size_t start)
{
	size_t own = t->count;

	for (;;) {
		own = last_of(t, TOKEN_SEPARATOR, own ? own - 1 : 0);
		if (own == SIZE_MAX || own < start)
			return start;
		if (own <= start || !is_attached(t->token[own + 1].text))
			return own + 1;
	}
}

/* Remove spaces at the end of the form. */
static void trim(struct shortening *p)
{
	while (p->form.size && p->form.at[p->form.size - 1] == ' ')
		p->form.size--;
}

/* End the form, and return whether it fits. */
static bool fits(struct shortening *p)
{
	trim(p);
	*buffer_extend(&p->form, 1) = '\0';
	return text_width((char *)p->form.at) <= p->columns;
}

/* Make a form from token I on: without parameters, or WITH_PARAMETERS. */
static bool try_from(struct shortening *p, size_t i, bool with_parameters)
{
	p->form.size = 0;
	if (i > 0)
		append_left_out(&p->form);
	for (; i < p->t.count; i++)
		append(&p->form, with_parameters && p->t.token[i].kind == TOKEN_PARAMETERS
		       ? p->t.token[i].text : p->shrunk[i]);
	return fits(p);
}

/* Make a form of the function's own name, and what is left out, or WITHOUT_SIGN. */
static bool try_own(struct shortening *p, bool without_sign)
{
	size_t last = last_of(&p->t, TOKEN_PARAMETERS, p->t.count), used = 0, i;

	p->form.size = 0;
	if (p->own > 0 && !without_sign)
		append_left_out(&p->form);
	for (i = p->own; i < p->t.count && (last == SIZE_MAX || last < p->own || i < last); i++)
		if (p->t.token[i].kind != TOKEN_ARGUMENTS &&
		    p->t.token[i].kind != TOKEN_PARAMETERS && !slice_is(p->shrunk[i], left_out)) {
			append(&p->form, p->shrunk[i]);
			used++;
		}
	trim(p);
	if (!without_sign && used == p->t.count - p->own)
		return false;	/* nothing was left out: this form was tried before */
	if (!without_sign)
		append_left_out(&p->form);
	return fits(p);
}

/* Make a form of the first word of the own name, and what is left out, or WITHOUT_SIGN. */
static bool try_word(struct shortening *p, bool without_sign)
{
	const struct token *first = &p->t.token[p->own];

	if (p->own + 1 >= p->t.count || first->kind != TOKEN_WORD)
		return false;
	p->form.size = 0;
	append(&p->form, first->text);
	trim(p);
	if (!without_sign)
		append_left_out(&p->form);
	return fits(p);
}

/* Take NAME apart. */
static void take_apart(struct shortening *p, struct slice name)
{
	p->t = name_tokens(&p->arena, name);
	p->shrunk = arena_alloc(&p->arena, (p->t.count + 1) * sizeof(*p->shrunk));
	p->start = start_of(&p->t);
	p->own = own_of(&p->t, p->start);
	for (size_t i = 0; i < p->t.count; i++) {
		p->form.size = 0;
		shrink(&p->arena, &p->t.token[i], 0, &p->form);
		p->shrunk[i].at = arena_text(&p->arena, (char *)p->form.at, p->form.size);
		p->shrunk[i].size = p->form.size;
	}
	if (p->t.count > p->own + 2 && is_hash(p->t.token[p->t.count - 1].text)) {
		p->shrunk[p->t.count - 2] = (struct slice){ left_out, strlen(left_out) };
		p->shrunk[p->t.count - 1] = (struct slice){ "", 0 };
	}
}

/* Make the longest form that fits.  If none does, the last one made is the function's own name. */
static void find_form(struct shortening *p)
{
	if (try_from(p, 0, true))
		return;
	for (size_t i = p->start; i <= p->own; i++)
		if ((i == p->start || p->t.token[i - 1].kind == TOKEN_SEPARATOR) &&
		    try_from(p, i, false))
			return;
	(void)(try_own(p, false) || try_own(p, true) || try_word(p, false) || try_word(p, true));
}

/* Return TEXT with '…' in its middle, in COLUMNS. */
static char *cut_middle(const char *text, size_t columns)
{
	size_t last = columns ? (columns - 1) * 2 / 5 : 0, width = text_width(text);
	const char *head = text_fitting(text, strlen(text), columns ? columns - 1 - last : 0);
	const char *tail = text;
	uint32_t code;
	struct buffer b = { 0 };

	while (width > last) {
		tail += text_character(tail, &code);
		width -= text_columns(code);
	}
	/* an accent belongs to the character before it */
	tail = text_fitting(tail, strlen(tail), 0);
	buffer_add(&b, text, (size_t)(head - text));
	if (columns)
		append_left_out(&b);
	buffer_add(&b, tail, strlen(tail) + 1);
	return (char *)b.at;
}

char *short_name(const char *name, size_t columns)
{
	struct shortening p = { .columns = columns };
	struct slice whole = { name, strlen(name) };

	if (whole.size <= NAME_LONGEST)
		whole = name_known(&p.arena, whole);
	append(&p.form, whole);
	trim(&p);
	whole.size = p.form.size;
	if (!fits(&p) && whole.size <= NAME_LONGEST) {
		take_apart(&p, whole);
		find_form(&p);
	}
	char *text = (char *)p.form.at;
	if (text_width(text) > columns) {
		text = cut_middle(text, columns);
		free(p.form.at);
	}
	arena_release(&p.arena);
	return text;
}
