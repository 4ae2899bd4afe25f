/* SPDX-License-Identifier: Apache-2.0 */
/* merge: profiles composed by hand, whose sum is known. */
#include "base/arena.h"
#include "pprof/merge.h"
#include "pprof/unpack.h"
#include "profile.pb-c.h"
#include "tests/memory-file.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <unistd.h>


/* Strings by their index, in all of the profiles that are composed here. */
enum {
	NONE, SAMPLES, COUNT, CYCLES, OUTER, INNER, LEAF, FILE_C, PROGRAM, LIBRARY, ID1, ID2,
	THREAD, BYTES, MAIN, WORKER, COMMENT1, COMMENT2, STRINGS,
};

static const char *const strings[STRINGS] = {
	"", "samples", "count", "cycles", "outer", "inner", "leaf", "file.c", "/bin/program",
	"/lib/library", "aaaa", "bbbb", "thread", "bytes", "main", "worker", "by hand", "too",
};

/*
 * A profile with two values for each sample, a mapping at START, of which:
 *	id F + 0	function outer		id L + 0	location at 0x100, in outer
 *	id F + 1	function inner		id L + 1	at 0x200, inner inlined in outer
 *	id F + 2	function leaf		id L + 2	at 0x300, leaf
 * The first sample is 2 < 1 < 0; the second 0 alone.
 */
struct made {
	Perftools__Profiles__Profile p;
	Perftools__Profiles__ValueType type[3], *types[2];
	Perftools__Profiles__Mapping mapping, *mappings[1];
	Perftools__Profiles__Function function[3], *functions[3];
	Perftools__Profiles__Line line[4], *lines[4];
	Perftools__Profiles__Location location[3], *locations[3];
	Perftools__Profiles__Sample sample[2], *samples[2];
	Perftools__Profiles__Label label[3], *labels[3];
	uint64_t stack[3];
	int64_t value[4], comment[2];
	char *string[STRINGS];
};

static void make_code(struct made *m, uint64_t start, uint64_t id)
{
	perftools__profiles__mapping__init(&m->mapping);
	m->mapping.id = id;
	m->mapping.memory_start = start;
	m->mapping.memory_limit = start + 0x1800;
	m->mapping.file_offset = 0x1000;
	m->mapping.filename = PROGRAM;
	m->mapping.build_id = ID1;
	m->mapping.has_functions = true;
	m->mappings[0] = &m->mapping;
	for (unsigned i = 0; i < 4; i++) {
		perftools__profiles__line__init(&m->line[i]);
		m->line[i].line = 10 + i;
		m->line[i].column = i;
		m->lines[i] = &m->line[i];
	}
	for (unsigned i = 0; i < 3; i++) {
		perftools__profiles__function__init(&m->function[i]);
		m->function[i].id = id + 10 + i;
		m->function[i].name = m->function[i].system_name = OUTER + i;
		m->function[i].filename = FILE_C;
		m->function[i].start_line = 5 + i;
		m->functions[i] = &m->function[i];
		perftools__profiles__location__init(&m->location[i]);
		m->location[i].id = id + 20 + i;
		m->location[i].mapping_id = id;
		m->location[i].address = start + 0x100 * (i + 1);
		m->location[i].n_line = i == 1 ? 2 : 1;
		m->location[i].line = &m->lines[i == 0 ? 0 : i == 1 ? 1 : 3];
		m->locations[i] = &m->location[i];
		m->stack[i] = id + 22 - i;
	}
	m->line[0].function_id = m->line[2].function_id = id + 10;
	m->line[1].function_id = id + 11;
	m->line[3].function_id = id + 12;
}

static void make_samples(struct made *m)
{
	for (unsigned i = 0; i < 2; i++) {
		perftools__profiles__sample__init(&m->sample[i]);
		m->sample[i].n_location_id = i ? 1 : 3;
		m->sample[i].location_id = m->stack + (i ? 2 : 0);
		m->sample[i].n_value = 2;
		m->sample[i].value = m->value + 2 * i;
		m->samples[i] = &m->sample[i];
	}
	for (unsigned i = 0; i < 3; i++) {
		perftools__profiles__label__init(&m->label[i]);
		m->labels[i] = &m->label[i];
	}
	m->label[0].key = THREAD;
	m->label[0].str = MAIN;
	m->label[1].key = BYTES;
	m->label[1].num = 64;
	m->label[1].num_unit = BYTES;
	m->sample[0].n_label = 2;
	m->sample[0].label = m->labels;
}

/* Values 1 and 100 of the first sample, 2 and 200 of the second, times FACTOR. */
static void make(struct made *m, uint64_t start, uint64_t id, int64_t factor)
{
	memset(m, 0, sizeof(*m));
	perftools__profiles__profile__init(&m->p);
	make_code(m, start, id);
	make_samples(m);
	for (unsigned i = 0; i < 3; i++) {
		perftools__profiles__value_type__init(&m->type[i]);
		m->type[i].type = i ? CYCLES : SAMPLES;
		m->type[i].unit = COUNT;
	}
	for (unsigned i = 0; i < 4; i++)
		m->value[i] = factor * (int[]){ 1, 100, 2, 200 }[i];
	m->types[0] = &m->type[0];
	m->types[1] = &m->type[1];
	for (unsigned i = 0; i < STRINGS; i++)	/* nobody writes to them */
		m->string[i] = (char *)(uintptr_t)strings[i];
	m->comment[0] = COMMENT1;
	m->p.n_sample_type = 2;
	m->p.sample_type = m->types;
	m->p.n_sample = 2;
	m->p.sample = m->samples;
	m->p.n_mapping = 1;
	m->p.mapping = m->mappings;
	m->p.n_location = m->p.n_function = 3;
	m->p.location = m->locations;
	m->p.function = m->functions;
	m->p.n_string_table = STRINGS;
	m->p.string_table = m->string;
	m->p.period_type = &m->type[2];
	m->p.period = 100;
	m->p.time_nanos = 5000;
	m->p.duration_nanos = 70;
	m->p.n_comment = 1;
	m->p.comment = m->comment;
	m->p.default_sample_type = CYCLES;
}

/* The profile P as our reader reads it. */
static struct decoded *read_back(const Perftools__Profiles__Profile *p)
{
	struct report report = { .tool = "test-merge", .quiet = true };
	size_t size = perftools__profiles__profile__get_packed_size(p);
	uint8_t *bytes = mem_resize(NULL, size);
	char file[MEMORY_FILE_PATH];

	perftools__profiles__profile__pack(p, bytes);
	int fd = memory_file(bytes, size, file);
	struct decoded *d = decoded_read(file, NULL, &report);
	close(fd);
	free(bytes);
	return d;
}

/* Add P.  Return false if it is refused, and an error is reported. */
static bool add(struct merge *m, const Perftools__Profiles__Profile *p, enum merge_side side)
{
	struct report report = { .tool = "test-merge", .quiet = true };
	struct decoded *d = read_back(p);
	bool good = d && merge_add(m, d, side, "profile", &report);

	decoded_free(d);
	return good || report.status == 0;
}

static void profile_free(Perftools__Profiles__Profile *p)
{
	if (p)
		perftools__profiles__profile__free_unpacked(p, NULL);
}

/*
 * The sum, written by us and read by the library; NULL: it is not a profile that we read.
 * Ends M.
 */
static Perftools__Profiles__Profile *write_sum(struct merge *m, enum pack_how how)
{
	struct report report = { .tool = "test-merge", .quiet = true };
	Perftools__Profiles__Profile *p = NULL;
	struct output out;
	char file[MEMORY_FILE_PATH];
	size_t size;

	int fd = memory_file("", 0, file);
	output_open(&out, file, &report);
	merge_write(m, how, &out);
	output_close(&out);
	struct decoded *d = decoded_read(file, NULL, &report);
	uint8_t *bytes = d && lseek(fd, 0, SEEK_SET) == 0
		       ? unpack_rest(fd, file, NULL, 0, &size, &report) : NULL;
	if (bytes)
		p = perftools__profiles__profile__unpack(NULL, size, bytes);
	free(bytes);
	decoded_free(d);
	close(fd);
	return p;
}

/* The sum of two profiles. */
static Perftools__Profiles__Profile *add_two(struct made *a, struct made *b,
					     enum merge_side side)
{
	struct merge *m = merge_new();

	if (add(m, &a->p, MERGE_SUM) && add(m, &b->p, side))
		return write_sum(m, PACK_NONE);
	merge_free(m);
	return NULL;
}

static bool says(const Perftools__Profiles__Profile *p, int64_t index, int wanted)
{
	return !strcmp(p->string_table[index], strings[wanted]);
}

static bool has_values(const Perftools__Profiles__Profile *p, size_t sample, int64_t first,
		       int64_t second)
{
	return sample < p->n_sample && p->sample[sample]->n_value == 2 &&
	       p->sample[sample]->value[0] == first && p->sample[sample]->value[1] == second;
}

/* What the id stands for. */
static const Perftools__Profiles__Location *location(const Perftools__Profiles__Profile *p,
						       uint64_t id)
{
	for (size_t i = 0; i < p->n_location; i++)
		if (p->location[i]->id == id)
			return p->location[i];
	abort();
}

static const Perftools__Profiles__Function *function(const Perftools__Profiles__Profile *p,
						       uint64_t id)
{
	for (size_t i = 0; i < p->n_function; i++)
		if (p->function[i]->id == id)
			return p->function[i];
	abort();
}

static bool is_line(const Perftools__Profiles__Profile *p, const Perftools__Profiles__Line *l,
		    int name, int line)
{
	const Perftools__Profiles__Function *f = function(p, l->function_id);

	return says(p, f->name, name) && says(p, f->system_name, name) &&
	       says(p, f->filename, FILE_C) && f->start_line == 5 + name - OUTER &&
	       l->line == line && l->column == line - 10;
}

/*
 * Return whether the first sample is leaf < inner inlined in outer < outer, in a mapping at START.
 */
static bool has_stack(const Perftools__Profiles__Profile *p, uint64_t start)
{
	const Perftools__Profiles__Sample *s = p->sample[0];

	if (s->n_location_id != 3 || p->sample[1]->location_id[0] != s->location_id[2])
		return false;
	const Perftools__Profiles__Location *leaf = location(p, s->location_id[0]);
	const Perftools__Profiles__Location *inner = location(p, s->location_id[1]);
	const Perftools__Profiles__Location *outer = location(p, s->location_id[2]);
	return leaf->n_line == 1 && is_line(p, leaf->line[0], LEAF, 13) &&
	       inner->n_line == 2 && is_line(p, inner->line[0], INNER, 11) &&
	       is_line(p, inner->line[1], OUTER, 12) &&
	       outer->n_line == 1 && is_line(p, outer->line[0], OUTER, 10) &&
	       leaf->address == start + 0x300 && inner->address == start + 0x200 &&
	       outer->address == start + 0x100 && leaf->mapping_id == p->mapping[0]->id;
}

static bool has_label(const Perftools__Profiles__Profile *p, size_t sample, int key, int text,
		      int64_t number, int unit)
{
	for (size_t i = 0; i < p->sample[sample]->n_label; i++) {
		const Perftools__Profiles__Label *l = p->sample[sample]->label[i];
		if (says(p, l->key, key) && says(p, l->str, text) && l->num == number &&
		    says(p, l->num_unit, unit))
			return true;
	}
	return false;
}

static void test_sum(void)
{
	struct made a, b;

	make(&a, 0x400000, 1, 1);
	make(&b, 0x400000, 1000, 10);
	b.p.time_nanos = 3000;
	b.p.duration_nanos = 7;
	b.p.period = 400;
	b.comment[1] = COMMENT2;
	b.p.n_comment = 2;
	Perftools__Profiles__Profile *p = add_two(&a, &b, MERGE_SUM);
	tap(p && p->n_sample == 2 && has_values(p, 0, 11, 1100) && has_values(p, 1, 22, 2200),
	    "values of the same samples are added up");
	tap(p->n_mapping == 1 && p->n_location == 3 && p->n_function == 3,
	    "nothing is there twice");
	tap(has_stack(p, 0x400000), "stacks, functions, files and lines are kept");
	tap(p->sample[0]->n_label == 2 && has_label(p, 0, THREAD, MAIN, 0, NONE) &&
	    has_label(p, 0, BYTES, NONE, 64, BYTES) && p->sample[1]->n_label == 0, "labels, too");
	const Perftools__Profiles__Mapping *m = p->mapping[0];
	tap(m->memory_start == 0x400000 && m->memory_limit == 0x401800 &&
	    m->file_offset == 0x1000 && says(p, m->filename, PROGRAM) &&
	    says(p, m->build_id, ID1) && m->has_functions && !m->has_inline_frames,
	    "the mapping is as it was");
	tap(p->n_sample_type == 2 && says(p, p->sample_type[0]->type, SAMPLES) &&
	    says(p, p->sample_type[1]->type, CYCLES) && says(p, p->sample_type[1]->unit, COUNT) &&
	    says(p, p->period_type->type, CYCLES) && says(p, p->default_sample_type, CYCLES),
	    "so are the types");
	tap(p->time_nanos == 3000 && p->duration_nanos == 77 && p->period == 400,
	    "the first start, the duration of all, the largest period");
	tap(p->n_comment == 2 && says(p, p->comment[0], COMMENT1) &&
	    says(p, p->comment[1], COMMENT2), "each comment once");
	profile_free(p);
}

/* How many labels the sample has that say that it is the base's. */
static size_t base_labels(const Perftools__Profiles__Profile *p, size_t sample)
{
	size_t count = 0;

	for (size_t i = 0; i < p->sample[sample]->n_label; i++) {
		const Perftools__Profiles__Label *l = p->sample[sample]->label[i];
		count += !strcmp(p->string_table[l->key], "pprof::base") &&
			 !strcmp(p->string_table[l->str], "true");
	}
	return count;
}

static void test_difference(void)
{
	struct made a, b;

	make(&a, 0x400000, 1, 10);
	make(&b, 0x400000, 1, 1);
	Perftools__Profiles__Profile *p = add_two(&a, &b, MERGE_BASE);
	tap(p && p->n_sample == 4 && has_values(p, 0, 10, 1000) && has_values(p, 1, 20, 2000) &&
	    has_values(p, 2, -1, -100) && has_values(p, 3, -2, -200),
	    "the samples of a base are samples of their own, subtracted");
	tap(!base_labels(p, 0) && !base_labels(p, 1) && base_labels(p, 2) == 1 &&
	    base_labels(p, 3) == 1 && has_label(p, 2, THREAD, MAIN, 0, NONE) &&
	    p->sample[2]->n_label == 3, "they are labelled as such, besides their own labels");
	tap(p->n_location == 3 && p->n_function == 3 && p->duration_nanos == 140,
	    "what they refer to is there once");
	struct merge *m = merge_new();
	add(m, p, MERGE_BASE);
	profile_free(p);
	p = write_sum(m, PACK_NONE);
	tap(p && p->n_sample == 2 && base_labels(p, 0) == 1 && has_values(p, 0, -9, -900) &&
	    has_values(p, 1, -18, -1800), "a base with that label gets no other one");
	profile_free(p);
	memset(a.value, 0, 2 * sizeof(*a.value));
	p = add_two(&a, &b, MERGE_BASE);
	tap(p && p->n_sample == 3 && has_values(p, 0, 20, 2000), "samples of 0 go");
	profile_free(p);
	a.value[0] = INT64_MAX;
	a.value[1] = 1000;
	p = add_two(&a, &b, MERGE_SUM);
	tap(p && has_values(p, 0, INT64_MAX, 1100), "what does not fit is cut, and does not wrap");
	profile_free(p);
}

/* How many samples the sum of two has whose labels differ by CHANGE. */
static size_t samples_with(void change(struct made *))
{
	struct made a, b;

	make(&a, 0x400000, 1, 1);
	make(&b, 0x400000, 1, 1);
	change(&b);
	Perftools__Profiles__Profile *p = add_two(&a, &b, MERGE_SUM);
	size_t samples = p ? p->n_sample : 0;
	profile_free(p);
	return samples;
}

static void change_text(struct made *m) { m->label[0].str = WORKER; }
static void change_number(struct made *m) { m->label[1].num = 65; }
static void change_unit(struct made *m) { m->label[1].num_unit = COUNT; }
static void drop_label(struct made *m) { m->sample[0].n_label = 1; }
static void repeat_label(struct made *m)
{
	m->label[2] = m->label[1];
	m->sample[0].n_label = 3;
}
static void swap_labels(struct made *m)
{
	m->labels[0] = &m->label[1];
	m->labels[1] = &m->label[0];
}
static void change_line(struct made *m) { m->line[3].line++; }
static void change_column(struct made *m) { m->line[3].column++; }
static void change_name(struct made *m) { m->function[2].name = INNER; }
static void change_start(struct made *m) { m->function[2].start_line++; }
static void fold(struct made *m) { m->location[2].is_folded = true; }
static void shorten(struct made *m) { m->sample[0].n_location_id = 2; }

static void test_differences(void)
{
	tap(samples_with(swap_labels) == 2, "the order of labels does not matter");
	tap(samples_with(change_text) == 3, "another text of a label is one");
	tap(samples_with(change_number) == 3 && samples_with(change_unit) == 3,
	    "so is another number or unit");
	tap(samples_with(drop_label) == 3 && samples_with(repeat_label) == 3,
	    "or one label less or more");
	tap(samples_with(change_line) == 3 && samples_with(change_column) == 3 &&
	    samples_with(fold) == 3, "or another line or column, or folded code");
	tap(samples_with(change_name) == 3 && samples_with(change_start) == 3,
	    "or another function");
	tap(samples_with(shorten) == 3, "or a stack less deep");
}

/* The sum of two with the code of the second at another address, and changed. */
static Perftools__Profiles__Profile *sum_elsewhere(void change(struct made *))
{
	struct made a, b;

	make(&a, 0x400000, 1, 1);
	make(&b, 0x7f0000001000, 50, 10);
	change(&b);
	return add_two(&a, &b, MERGE_SUM);
}

static void change_file(struct made *m) { m->mapping.filename = LIBRARY; }
static void change_build_id(struct made *m) { m->mapping.build_id = ID2; }
static void change_offset(struct made *m) { m->mapping.file_offset = 0x2000; }
static void change_size(struct made *m) { m->mapping.memory_limit += 0x1000; }
static void change_size_in_page(struct made *m) { m->mapping.memory_limit += 0x7ff; }

/* Nothing of the second is the first's but the functions, and its addresses are its own. */
static bool stays_apart(void change(struct made *))
{
	Perftools__Profiles__Profile *p = sum_elsewhere(change);
	bool good = p && p->n_mapping == 2 && p->n_location == 6 && p->n_function == 3 &&
		    p->n_sample == 4 && has_values(p, 2, 10, 1000) &&
		    location(p, p->sample[3]->location_id[0])->address == 0x7f0000001100;

	profile_free(p);
	return good;
}

static void test_mappings(void)
{
	Perftools__Profiles__Profile *p = sum_elsewhere(change_file);

	tap(p && p->n_mapping == 1 && p->n_location == 3 && has_stack(p, 0x400000) &&
	    has_values(p, 0, 11, 1100) && says(p, p->mapping[0]->filename, PROGRAM),
	    "mappings of the same build ID are one, whatever their address and name");
	profile_free(p);
	p = sum_elsewhere(change_size_in_page);
	tap(p && p->n_mapping == 1, "sizes are compared in pages");
	profile_free(p);
	tap(stays_apart(change_build_id), "of another build ID they are two");
	tap(stays_apart(change_offset), "at another offset, too");
	tap(stays_apart(change_size), "of another size, too");
}

static void test_refused(void)
{
	struct merge *m = merge_new();
	struct made a, b;

	make(&a, 0x400000, 1, 1);
	make(&b, 0x400000, 1, 1);
	tap(add(m, &a.p, MERGE_SUM), "one profile");
	b.type[1].unit = BYTES;
	tap(!add(m, &b.p, MERGE_SUM), "another unit is refused");
	make(&b, 0x400000, 1, 1);
	b.type[2].type = SAMPLES;
	tap(!add(m, &b.p, MERGE_SUM), "another type of the period, too");
	make(&b, 0x400000, 1, 1);
	b.p.n_sample_type = b.sample[0].n_value = b.sample[1].n_value = 1;
	tap(!add(m, &b.p, MERGE_SUM), "another number of types, too");
	Perftools__Profiles__Profile *p = write_sum(m, PACK_GZIP);
	tap(p && p->n_sample == 2 && has_values(p, 0, 1, 100) && p->n_comment == 1,
	    "the sum is as if they had not been there");
	profile_free(p);
}

static void test_empty(void)
{
	struct merge *m = merge_new();
	struct made a, b;

	tap(!write_sum(m, PACK_NONE), "the sum of no profiles is none");
	make(&a, 0x400000, 1, 1);
	make(&b, 0x400000, 1, 1);
	a.p.n_sample = a.p.n_mapping = a.p.n_location = a.p.n_function = a.p.n_comment = 0;
	Perftools__Profiles__Profile *p = add_two(&a, &b, MERGE_SUM);
	tap(p && p->n_sample == 2 && has_stack(p, 0x400000) && has_values(p, 1, 2, 200),
	    "a profile without samples adds none");
	profile_free(p);
	b.sample[0].n_location_id = 0;
	b.sample[1].n_location_id = 0;
	b.sample[0].n_label = 0;
	p = add_two(&a, &b, MERGE_SUM);
	tap(p && p->n_sample == 1 && has_values(p, 0, 3, 300) && p->n_mapping == 1,
	    "samples without a stack are one");
	profile_free(p);
}

/* Ids that lead nowhere: no stack is made of what is not there. */
static void test_damaged(void)
{
	struct made a, b;

	make(&a, 0x400000, 1, 1);
	make(&b, 0x400000, 1, 1);
	b.stack[0] = 12345;
	b.line[0].function_id = 54321;
	b.location[1].mapping_id = 99999;
	Perftools__Profiles__Profile *p = add_two(&a, &b, MERGE_SUM);
	tap(p && p->n_sample == 4 && p->sample[0]->n_location_id == 3 &&
	    p->sample[2]->n_location_id == 2 && p->sample[2]->location_id[0] != 0 &&
	    p->sample[2]->location_id[1] != 0, "locations that are not there are left out");
	profile_free(p);
}

int main(void)
{
	test_sum();
	test_difference();
	test_differences();
	test_mappings();
	test_refused();
	test_empty();
	test_damaged();
	return tap_done();
}
