/* SPDX-License-Identifier: Apache-2.0 */
/* Labels records that are cut or wrong; sets of labels, and when they are forgotten. */
#include "labels/label-join.h"
#include "resolved/label-sets.h"
#include "tests/unit/tap.h"

#include <stdlib.h>

/* A payload with two pairs, of which one value is empty. */
static const uint8_t pairs[] = { 4, 'u', 's', 'e', 'r', 5, 'a', 'l', 'i', 'c', 'e', 1, 'p', 0 };
enum { SIZE = LABEL_PAYLOAD_HEAD + sizeof(pairs) };

static void make(uint8_t payload[SIZE])
{
	const uint32_t magic = LABEL_MAGIC, used = sizeof(pairs), count = 2;
	const uint64_t event = 1, ip = 0x401000;

	memcpy(payload, &magic, 4);
	memcpy(payload + 4, (const uint8_t[]){ LABEL_STATUS_LABELS, 2, 0, LABEL_FORM_MAP }, 4);
	memcpy(payload + 8, &event, 8);
	memcpy(payload + 16, &ip, 8);
	memcpy(payload + 24, &used, 4);
	memcpy(payload + 28, &count, 4);
	memcpy(payload + LABEL_PAYLOAD_HEAD, pairs, sizeof(pairs));
}

/* Read SIZE bytes that a sanitizer sees the end of, and take them apart.  NULL: they are good. */
static const char *read_exactly(const uint8_t *payload, size_t size, struct label_record *r)
{
	struct label_sets sets = { .version = 0 };
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, payload, size);
	const char *wrong = label_record_read((struct bytes){ .at = copy, .size = size }, r);
	if (!wrong)
		label_sets_of_sample(&sets, &r->labels);
	label_sets_release(&sets);
	free(copy);
	return wrong;
}

static void test_payload(void)
{
	uint8_t payload[SIZE], changed[SIZE];
	struct label_record r;
	size_t good_cuts = 0, good = 0, all = 0;

	make(payload);
	tap(!read_exactly(payload, SIZE, &r) && r.event == 1 && r.ip == 0x401000 &&
	    r.labels.pairs == 2 && r.labels.is_known && r.labels.flags == 0, "a labels record");
	for (size_t size = 0; size < SIZE; size++)
		good_cuts += !read_exactly(payload, size, &r);
	tap(good_cuts == 0, "cut at any byte it is refused");
	for (size_t i = 0; i < SIZE; i++)
		for (unsigned byte = 0; byte < 256; byte++) {
			memcpy(changed, payload, SIZE);
			changed[i] = (uint8_t)byte;
			good += !read_exactly(changed, SIZE, &r);
			all++;
		}
	tap(good > 0 && good < all, "with a byte changed it is read within its bytes, or refused");
}

static struct sample_labels labels_of(const uint8_t *text, size_t size, uint8_t count)
{
	return (struct sample_labels){ .is_known = true, .pairs = count,
				       .text = { .at = text, .size = size } };
}

static void test_sets(void)
{
	const uint8_t ab[] = { 1, 'a', 1, '1', 1, 'b', 1, '2' }, a[] = { 1, 'a', 1, '1' };
	struct label_sets sets = { .version = 0 };
	struct sample_labels both = labels_of(ab, sizeof(ab), 2), one = labels_of(a, sizeof(a), 1);
	struct sample_labels none = labels_of(ab, 0, 0), cut = one;

	cut.flags = LABEL_CUT;		/* but this text is short: it was not cut */
	uint32_t id = label_sets_of_sample(&sets, &both);
	tap(label_sets_of_sample(&sets, &one) != id && label_sets_of_sample(&sets, &both) == id,
	    "equal labels are one set");
	tap(label_sets_of_sample(&sets, &one) == label_sets_of_sample(&sets, &cut),
	    "whatever their bytes are");
	tap(sets.set[label_sets_of_sample(&sets, &none)].pairs == 0 && sets.sets == 3 &&
	    sets.pairs == 2, "no labels are a set, too");
	label_sets_release(&sets);
}

/* A recorder may give each sample other labels. */
static void test_many(void)
{
	struct label_sets sets = { .version = 0 };
	uint32_t most = 0;
	size_t memory = 0;

	for (uint32_t i = 0; i < 200000; i++) {
		uint8_t text[200] = { 1, 'k', sizeof(text) - 3 };
		memcpy(text + 3, &i, sizeof(i));
		struct sample_labels labels = labels_of(text, sizeof(text), 1);
		if (label_sets_is_full(&sets))
			label_sets_forget(&sets);
		label_sets_of_sample(&sets, &labels);
		most = sets.sets > most ? sets.sets : most;
		if (sets.arena.size + sets.texts.arena.size > memory)
			memory = sets.arena.size + sets.texts.arena.size;
	}
	tap(sets.version > 1 && most > 10000 && most <= 65536 && memory < 40 << 20,
	    "200,000 sets of labels take bounded memory");
	label_sets_release(&sets);
}

int main(void)
{
	test_payload();
	test_sets();
	test_many();
	return tap_done();
}
