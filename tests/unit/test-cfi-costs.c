/* SPDX-License-Identifier: Apache-2.0 */
/* cfi: what lookups in long functions cost, and that a limit is not called damage. */
#include "tests/unit/cfi-entries.h"

enum { ROWS = 300000, PLENTY = 1 << 30 };	/* PLENTY: steps */

static struct cfi_budget budget;

static void use_budget(struct cfi *c)
{
	budget = (struct cfi_budget){ .left = PLENTY };
	cfi_use_budget(c, &budget);
}

static uint64_t taken(void)
{
	return PLENTY - budget.left;
}

/* A function of ROWS rows, one for each address; some states are remembered for ten rows. */
static struct bytes many_rows(void)
{
	static uint8_t program[ROWS * 8];
	struct bytes b = { 0 };

	for (size_t i = 0; i < ROWS; i++) {
		const uint8_t row[8] = { 0x41, 0x0e, (uint8_t)(8 + i % 100), 0x83,
					 (uint8_t)(i % 7), i % 50 == 0 ? 0x0a : 0,
					 i % 50 == 10 ? 0x0b : 0 };
		memcpy(program + 8 * i, row, sizeof(row));
	}
	add_fde(&b, add_cie(&b, "zR", initial, sizeof(initial) - 1), 0x1000, ROWS + 1, program,
		sizeof(program));
	return b;
}

/* Rows that are looked up in any order are those of a run from the start. */
static bool rows_are_equal(void)
{
	struct bytes b = many_rows();
	struct object o = open_frames(&b);
	uint64_t random = 1;
	bool good = true;

	for (int i = 0; i < 100 && good; i++) {
		struct extent same, first;
		char text[512];
		random = random * 6364136223846793005 + 1442695040888963407;
		uint64_t at = 0x1000 + (random >> 33) % (ROWS / 10);
		snprintf(text, sizeof(text), "%s", text_at(o.cfi, at, &same));
		struct object fresh = open_frames(&b);
		good = !strcmp(text, text_at(fresh.cfi, at, &first)) && same.start == at &&
		       same.start == first.start && same.end == first.end;
		close_object(&fresh);
	}
	close_object(&o);
	free(b.at);
	return good;
}

/* All lookups in a long function together take about as many steps as it has instructions. */
static bool is_linear(void)
{
	struct bytes b = many_rows();
	struct object o = open_frames(&b);
	struct extent same;
	bool good = true;

	use_budget(o.cfi);
	for (uint64_t row = ROWS; row > 0; row -= row > 16 ? 16 : row)
		good &= strcmp(text_at(o.cfi, 0x1000 + row, &same), "damaged") != 0;
	good &= !cfi_damage(o.cfi) && taken() < 5 * b.size;
	close_object(&o);
	free(b.at);
	return good;
}

/* The same for the instructions of a CIE, which are run before those of each FDE. */
static bool is_linear_in_a_cie(void)
{
	static char program[1 << 20];
	struct bytes b = { 0 };
	struct extent same;
	bool good = true;

	memcpy(program, initial, sizeof(initial) - 1);
	size_t cie = add_cie(&b, "zR", program, sizeof(program));
	for (uint32_t i = 0; i < 1000; i++)
		add_fde(&b, cie, 0x1000 + 16 * i, 16, "", 0);
	struct object o = open_frames(&b);
	use_budget(o.cfi);
	for (uint64_t i = 0; i < 1000; i++)
		good &= !strcmp(text_at(o.cfi, 0x1000 + 16 * i, &same), "r7+8 r16=c-8");
	good &= taken() < 3 * b.size;
	close_object(&o);
	free(b.at);
	return good;
}

enum { FUNCTIONS = 300, TAIL = 1 << 20 };

/*
 * Functions whose instructions have one end: each starts with an expression that contains the
 * header of the next.  Only a search table finds the entries inside others.
 */
static struct object open_one_end(struct bytes *b, struct bytes *table, char last)
{
	enum { HEADER = 17 };		/* bytes of an FDE before its instructions */
	static const uint8_t swallow[3] = { 0x10, 3, HEADER };
	static uint8_t nops[TAIL];
	size_t offset[FUNCTIONS], cie = add_cie(b, "zR", initial, sizeof(initial) - 1);
	uint64_t base = cfi_image_table();

	for (uint32_t i = 0; i < FUNCTIONS; i++)
		offset[i] = add_fde(b, cie, 0x1000 + 16 * i, 16, swallow,
				    i + 1 < FUNCTIONS ? sizeof(swallow) : 0);
	add(b, nops, TAIL);
	add(b, &last, 1);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		end_entry(b, offset[i]);
	uint32_t size = 12 + 8 * FUNCTIONS;
	add(table, "\x01\x1b\x03\x3b", 4);
	add_u32(table, size - 4);
	add_u32(table, FUNCTIONS);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		add_u32(table, 0x1000 + 16 * i - (uint32_t)base);
		add_u32(table, size + (uint32_t)offset[i]);
	}
	return open_object(&(struct cfi_parts){
		.frames = b->at, .frames_size = b->size, .table = table->at,
		.table_size = table->size, .machine = EM_X86_64 });
}

/* Return how many functions of O have a row. */
static int functions_of(const struct object *o)
{
	struct extent same;
	int found = 0;

	for (uint64_t i = 0; i < FUNCTIONS; i++)
		found += !strncmp(text_at(o->cfi, 0x1000 + 16 * i, &same), "r7+8", 4);
	return found;
}

/* Bytes that are run again and again cost 32 steps each; a copy of the file takes no more. */
static void test_share(void)
{
	struct bytes b[3] = { 0 }, table[3] = { 0 };
	struct object o = open_one_end(&b[0], &table[0], 0);
	struct object copy = open_one_end(&b[1], &table[1], 0);
	struct object other = open_one_end(&b[2], &table[2], 0x0a);

	use_budget(o.cfi);
	cfi_use_budget(copy.cfi, &budget);
	cfi_use_budget(other.cfi, &budget);
	int first = functions_of(&o);
	printf("# %d functions have a row, %d of a copy\n", first, functions_of(&copy));
	tap(first > 20 && first < 40, "functions that share their bytes have so many steps");
	tap(cfi_damage(o.cfi) && cfi_damage(o.cfi)->limit == CFI_LIMIT_STEPS,
	    "the others are beyond a limit, not damaged");
	budget.left = PLENTY;
	tap(functions_of(&copy) <= 5, "a copy of the file shares its steps");
	budget.left = PLENTY;
	tap(functions_of(&other) == first, "another file has its own");
	for (int i = 0; i < 3; i++) {
		free(b[i].at);
		free(table[i].at);
	}
	close_object(&o);
	close_object(&copy);
	close_object(&other);
}

/* Without steps, a lookup is put off; each further try continues where the last one ended. */
static void test_budget(void)
{
	struct bytes b = many_rows();
	struct object o = open_frames(&b);
	struct extent same;
	struct cfi_row row;
	int tries = 0;

	use_budget(o.cfi);
	budget.left = 0;
	tap(cfi_row_at(o.cfi, 0x1000, &row, &same) == CFI_LATER, "no steps: entries are not read");
	budget.left = PLENTY;
	tap(cfi_row_at(o.cfi, 0x1000, &row, &same) == CFI_FOUND, "but with steps they are");
	budget.left = 0;
	tap(cfi_row_at(o.cfi, 0x1000, &row, &same) == CFI_LATER, "no steps, no row");
	while (cfi_row_at(o.cfi, 0x1000 + ROWS, &row, &same) == CFI_LATER && tries++ < 10000)
		budget.left = 4096;
	tap(tries > 100 && tries < 2000, "each try continues");
	tap(!cfi_damage(o.cfi), "a row that is put off is neither damaged nor beyond a limit");
	close_object(&o);
	free(b.at);
}

/* A limit has its own words. */
static bool is_called(const void *program, size_t size, enum cfi_limit limit)
{
	struct bytes b = { 0 };
	struct extent same;

	add_fde(&b, add_cie(&b, "zR", initial, sizeof(initial) - 1), 0x1000, 0x1000, program,
		size);
	struct object o = open_frames(&b);
	text_at(o.cfi, 0x1800, &same);
	bool good = cfi_damage(o.cfi) && cfi_damage(o.cfi)->limit == limit;
	close_object(&o);
	free(b.at);
	return good;
}

int main(void)
{
	static uint8_t program[20000];

	tap(rows_are_equal(), "rows in the middle of a long function");
	tap(is_linear(), "a function of 300,000 rows is run once");
	tap(is_linear_in_a_cie(), "long instructions of a CIE are run once");
	test_share();
	test_budget();
	tap(is_called("\x0b", 1, CFI_NO_LIMIT), "damage");
	memset(program, 0x0a, sizeof(program));
	tap(is_called(program, 65, CFI_LIMIT_DEPTH), "too many remembered states are a limit");
	memcpy(program, "\x10\x03\x90\x9c\x01", 5);
	tap(is_called(program, sizeof(program), CFI_LIMIT_EXPRESSIONS),
	    "a long expression is beyond a limit");
	return tap_done();
}
