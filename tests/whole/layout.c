/* SPDX-License-Identifier: Apache-2.0 */
/* Where the fields of records lie: linux/perf_event.h, and pmu-stream(5). */
#include "whole.h"
#include "record/record.h"
#include "resolved/resolved.h"

struct walk {
	const struct model *m;
	struct span body;
	size_t at, count;
	struct field *field;
};

/* The next field; its value. */
static uint64_t take(struct walk *w, uint8_t size, enum meaning meaning)
{
	uint64_t v = size == 4 ? get32(w->m, w->body, w->at) : get64(w->m, w->body, w->at);

	if (w->at + size > w->body.size)
		return 0;
	if (w->count < FIELDS_MAX)
		w->field[w->count++] = (struct field){ w->at, size, meaning };
	w->at += size;
	return v;
}

static void skip(struct walk *w, uint64_t size)
{
	w->at += size < w->body.size - w->at ? size : w->body.size - w->at;
}

/* Some of COUNT fields of 8 bytes, for there may be thousands. */
static void take_some(struct walk *w, uint64_t count, enum meaning meaning)
{
	uint64_t i = 0;

	for (; i < count && i < 8 && w->at < w->body.size; i++)
		take(w, 8, meaning);
	if (count > i)
		skip(w, count - i < w->body.size ? 8 * (count - i) : w->body.size);
}

static void take_read(struct walk *w)
{
	uint64_t format = w->m->read_format;
	uint64_t times = !!(format & 1) + !!(format & 2);
	uint64_t each = 1 + !!(format & 4) + !!(format & 16);

	uint64_t count = format & 8 ? take(w, 8, COUNT) : 1;
	take_some(w, times, TIME);
	take_some(w, count < 100 ? count * each : 0, ID);
}

static void take_sample_tail(struct walk *w, uint64_t type)
{
	if (type & PERF_SAMPLE_REGS_USER && take(w, 8, COUNT))
		take_some(w, (uint64_t)__builtin_popcountll(w->m->user_regs), ADDRESS);
	if (type & PERF_SAMPLE_STACK_USER) {
		uint64_t size = take(w, 8, COUNT);
		skip(w, size);
		if (size)
			take(w, 8, COUNT);
	}
	for (uint64_t left = type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
				     PERF_SAMPLE_TRANSACTION); left; left &= left - 1)
		take(w, 8, ANY);
	if (type & PERF_SAMPLE_REGS_INTR && take(w, 8, COUNT))
		take_some(w, (uint64_t)__builtin_popcountll(w->m->intr_regs), ADDRESS);
	take_some(w, 4, ANY);
}

static void take_sample(struct walk *w)
{
	uint64_t type = w->m->sample_type;
	static const struct { uint64_t bit; enum meaning meaning; } words[] = {
		{ PERF_SAMPLE_IDENTIFIER, ID }, { PERF_SAMPLE_IP, ADDRESS },
		{ PERF_SAMPLE_TID, PID }, { PERF_SAMPLE_TIME, TIME }, { PERF_SAMPLE_ADDR, ADDRESS },
		{ PERF_SAMPLE_ID, ID }, { PERF_SAMPLE_STREAM_ID, ID }, { PERF_SAMPLE_CPU, COUNT },
		{ PERF_SAMPLE_PERIOD, COUNT },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		bool halves = words[i].meaning == PID || words[i].bit == PERF_SAMPLE_CPU;
		if (!(type & words[i].bit))
			continue;
		take(w, halves ? 4 : 8, words[i].meaning);
		if (halves)
			take(w, 4, words[i].meaning);
	}
	if (type & PERF_SAMPLE_READ)
		take_read(w);
	if (type & PERF_SAMPLE_CALLCHAIN)
		take_some(w, take(w, 8, COUNT), ADDRESS);
	if (type & PERF_SAMPLE_RAW)
		skip(w, take(w, 4, SIZE32));
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		uint64_t count = take(w, 8, COUNT);
		if (w->m->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
			take(w, 8, COUNT);
		take_some(w, count < 10000 ? 3 * count : count, ADDRESS);
	}
	take_sample_tail(w, type);
}

/* Fields of other records, in letters: p PID, a address, t time, c count, i id, s size, . any. */
static const char *letters_of(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP: return "ppaaa";
	case PERF_RECORD_MMAP2: return "ppaaass..is";
	case PERF_RECORD_COMM: return "pp";
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: return "ppppt";
	case PERF_RECORD_LOST: return "ic";
	case PERF_RECORD_LOST_SAMPLES: return "c";
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE: return "tii";
	case PERF_RECORD_READ: return "ppcttic";
	case PERF_RECORD_SWITCH_CPU_WIDE: return "pp";
	case PERF_RECORD_KSYMBOL: return "assS";
	case PERF_RECORD_AUX: return "cc.";
	case RECORD_ATTR: return "ss...........ciiii";
	case RECORD_EVENT_UPDATE: return "ii";
	case RECORD_BUILD_ID: return "p";
	case RECORD_ID_INDEX: return "ciiccii";
	case RECORD_FEATURE: return "issss";
	case RECORD_TRACING_DATA: return "s";
	case RECORD_AUXTRACE: return "ccaics";
	case RECORD_COMPRESSED2: return "c";
	case RECORD_STRING: return "s";
	case RECORD_OBJECT: return "sssaaa";
	case RECORD_FUNCTION: return "sssss";
	case RECORD_FRAME: return "ssassssssss";
	case RECORD_RESOLVED_SAMPLE: return "spps" "tcc" "sssssssss";
	case RECORD_END:
	case RECORD_RESTART: return "csssssss";
	case RECORD_LABELS: return "ss";
	case RECORD_NAME: return "ssssssssss";
	case RECORD_CHAIN: return "ssssss";
	case RECORD_CHAIN_SAMPLE: return "ss" "pp" "ss" "tc" "ssssssss";
	default: return "";
	}
}

size_t fields_of(const struct model *m, const struct item *item, struct field field[FIELDS_MAX])
{
	static const struct { char letter; uint8_t size; enum meaning meaning; } table[] = {
		{ 'p', 4, PID }, { 'a', 8, ADDRESS }, { 't', 8, TIME }, { 'c', 8, COUNT },
		{ 'i', 8, ID }, { 's', 4, SIZE32 }, { '.', 8, ANY },
	};
	struct walk w = { .m = m, .body = item->body, .field = field };

	if (item->type == PERF_RECORD_SAMPLE) {
		take_sample(&w);
		return w.count;
	}
	for (const char *at = letters_of(item->type); *at; at++)
		for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
			if (table[i].letter == *at)
				take(&w, table[i].size, table[i].meaning);
	/* The sample_id at the end: its fields are of 8 bytes each. */
	size_t trailer = 8 * (size_t)__builtin_popcountll(m->sample_type & 0x10246);
	if (item->type < RECORD_ATTR && m->has_trailers && item->body.size >= w.at + trailer) {
		w.at = item->body.size - trailer;
		while (w.at < item->body.size)
			take(&w, 8, TIME);
	}
	return w.count;
}
