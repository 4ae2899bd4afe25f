/* SPDX-License-Identifier: Apache-2.0 */
/* cursor: each read on bytes cut at each place, in exact copies, for ASan to see one too far. */
#include "base/arena.h"
#include "base/cursor.h"
#include "tests/unit/host.h"
#include "tests/unit/tap.h"

/* How a field is read: as a number, for the test to compare. */
typedef uint64_t read_field(struct cursor *c);

static uint64_t read_u8(struct cursor *c) { return cursor_u8(c); }
static uint64_t read_u16(struct cursor *c) { return cursor_u16(c); }
static uint64_t read_u32(struct cursor *c) { return cursor_u32(c); }
static uint64_t read_u64(struct cursor *c) { return cursor_u64(c); }
static uint64_t read_uleb(struct cursor *c) { return cursor_uleb(c); }
static uint64_t read_sleb(struct cursor *c) { return (uint64_t)cursor_sleb(c); }
static uint64_t read_string(struct cursor *c) { return strlen(cursor_string(c)); }

struct field {
	const char *name;
	read_field *read;
	const char *bytes;
	size_t size;
	uint64_t little, big;	/* its value, if the lowest or the highest byte comes first */
};

#define BYTES(text) text, sizeof(text) - 1
#define SAME(value) value, value

static const struct field fields[] = {
	{ "u8", read_u8, BYTES("\x81"), SAME(0x81) },
	{ "u16", read_u16, BYTES("\x01\x82"), 0x8201, 0x0182 },
	{ "u32", read_u32, BYTES("\x01\x02\x03\x84"), 0x84030201, 0x01020384 },
	{ "u64", read_u64, BYTES("\x01\x02\x03\x04\x05\x06\x07\x88"),
	  0x8807060504030201, 0x0102030405060788 },
	/* DWARF 5, tables 7.7 and 7.8 */
	{ "uleb 2", read_uleb, BYTES("\x02"), SAME(2) },
	{ "uleb 127", read_uleb, BYTES("\x7f"), SAME(127) },
	{ "uleb 128", read_uleb, BYTES("\x80\x01"), SAME(128) },
	{ "uleb 129", read_uleb, BYTES("\x81\x01"), SAME(129) },
	{ "uleb 12857", read_uleb, BYTES("\xb9\x64"), SAME(12857) },
	{ "uleb 2^64 - 1", read_uleb, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	  SAME(UINT64_MAX) },
	{ "uleb 1, padded", read_uleb, BYTES("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"),
	  SAME(1) },
	{ "uleb of more than 64 bits", read_uleb,
	  BYTES("\x83\x80\x80\x80\x80\x80\x80\x80\x80\x80\xff\x7f"), SAME(3) },
	{ "sleb 2", read_sleb, BYTES("\x02"), SAME(2) },
	{ "sleb -2", read_sleb, BYTES("\x7e"), SAME(-2ULL) },
	{ "sleb 127", read_sleb, BYTES("\xff\x00"), SAME(127) },
	{ "sleb -127", read_sleb, BYTES("\x81\x7f"), SAME(-127ULL) },
	{ "sleb 128", read_sleb, BYTES("\x80\x01"), SAME(128) },
	{ "sleb -128", read_sleb, BYTES("\x80\x7f"), SAME(-128ULL) },
	{ "sleb 129", read_sleb, BYTES("\x81\x01"), SAME(129) },
	{ "sleb -129", read_sleb, BYTES("\xff\x7e"), SAME(-129ULL) },
	{ "sleb 2^63 - 1", read_sleb, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"),
	  SAME(INT64_MAX) },
	{ "sleb -2^63", read_sleb, BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"),
	  SAME(1ULL << 63) },
	{ "sleb -1, padded", read_sleb, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
	  SAME(-1ULL) },
	{ "string", read_string, BYTES("text\0"), SAME(4) },
	{ "empty string", read_string, BYTES("\0"), SAME(0) },
};

enum { FIELDS = sizeof(fields) / sizeof(*fields) };

/* Return what the field's bytes mean here; SWAP: on a machine of the other byte order. */
static uint64_t value_of(const struct field *f, bool swap)
{
	return swap == host_is_big ? f->little : f->big;
}

/* A cursor over a copy of SIZE bytes that end where the heap block ends; *COPY is to be freed. */
static struct cursor open_copy(const char *bytes, size_t size, bool swap, uint8_t **copy)
{
	*copy = memcpy(mem_resize(NULL, size), bytes, size);
	/* malloc() gives a block of one byte for none: stay at its end */
	return (struct cursor){ .at = *copy, .end = *copy + size, .swap = swap };
}

/* Return whether the whole field gives its value and leaves the cursor at its end. */
static bool is_right(const struct field *f, bool swap)
{
	uint8_t *copy;
	struct cursor c = open_copy(f->bytes, f->size, swap, &copy);
	bool right = f->read(&c) == value_of(f, swap) && !c.failed && c.at == c.end &&
		     cursor_left(&c) == 0;

	free(copy);
	return right;
}

/* Return whether every read gives 0 and fails. */
static bool all_fail(struct cursor *c)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].read(c) != 0 || !c->failed)
			return false;
	return cursor_bytes(c, 0) == NULL && cursor_bytes(c, 1) == NULL && c->at <= c->end;
}

/* Return whether the first SIZE bytes of the field fail, and what is read after that does. */
static bool cut_fails(const struct field *f, size_t size, bool swap)
{
	uint8_t *copy;
	struct cursor c = open_copy(f->bytes, size, swap, &copy);
	bool right = f->read(&c) == 0 && c.failed && all_fail(&c);

	free(copy);
	return right;
}

static void test_fields(void)
{
	char text[100];

	for (size_t i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];
		snprintf(text, sizeof(text), "%s in both byte orders", f->name);
		tap(is_right(f, false) && is_right(f, true), text);
		bool good = true;
		for (size_t size = 0; size < f->size; size++)
			good &= cut_fails(f, size, false) && cut_fails(f, size, true);
		snprintf(text, sizeof(text), "%s cut at each byte fails, and all after it",
			 f->name);
		tap(good, text);
	}
}

/* Two fields after each other: the second begins where the first ended. */
static void test_pairs(void)
{
	size_t wrong = 0;

	for (size_t i = 0; i < FIELDS; i++)
		for (size_t k = 0; k < FIELDS; k++) {
			const struct field *f = &fields[i], *g = &fields[k];
			char both[64];
			uint8_t *copy;
			memcpy(both, f->bytes, f->size);
			memcpy(both + f->size, g->bytes, g->size);
			struct cursor c = open_copy(both, f->size + g->size, false, &copy);
			wrong += f->read(&c) != value_of(f, false) ||
				 g->read(&c) != value_of(g, false) || c.failed ||
				 cursor_left(&c) != 0;
			free(copy);
		}
	tap(wrong == 0, "fields of each kind after each other");
}

static void test_bytes(void)
{
	uint8_t *copy;
	struct cursor c = open_copy("abcd", 4, false, &copy);

	tap(cursor_bytes(&c, 0) == copy && cursor_left(&c) == 4, "no bytes take no room");
	tap(cursor_bytes(&c, 3) == copy && cursor_bytes(&c, 1) == copy + 3 && !c.failed,
	    "bytes are lent where they are");
	tap(cursor_bytes(&c, 0) && !cursor_bytes(&c, 1) && c.failed, "at the end no byte is left");
	c = (struct cursor){ .at = copy, .end = copy + 4 };
	tap(!cursor_bytes(&c, SIZE_MAX) && c.failed && !cursor_bytes(&c, 1),
	    "a size that is larger than memory does not fit");
	free(copy);
	c = (struct cursor){ .failed = true };
	tap(all_fail(&c), "an empty cursor that failed gives nothing");
	c = (struct cursor){ 0 };
	tap(cursor_left(&c) == 0 && !cursor_u8(&c) && c.failed, "nor does one without bytes");
	/* no byte of what is left after a read that failed counts */
	c = open_copy("\x01\x02\x03", 3, false, &copy);
	tap(cursor_u32(&c) == 0 && all_fail(&c), "what a failed read left is not read");
	free(copy);
}

int main(void)
{
	test_fields();
	test_pairs();
	test_bytes();
	return tap_done();
}
