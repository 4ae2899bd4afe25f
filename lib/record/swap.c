/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields are described by a string:
 *
 *	2 4 8	a number of so many bytes
 *	S	a string of perf's: u32 size, then so many bytes
 *	C c	16 bytes, 8 bytes as they are
 *	#(...)	u32 count, then so many times what is in the parentheses
 *	*(...)	the same, as often as there are bytes left
 *
 * Bytes behind the last field (names, build IDs, what a tracepoint has) stay.
 */
#include "record/swap.h"
#include "record/origin.h"

struct swapper {
	uint8_t *at, *end;
};

/* What comes next, in our order; 0, and the end, if it does not fit. */
static uint64_t swap_number(struct swapper *s, size_t size)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v = 0;

	if ((size_t)(s->end - s->at) < size) {
		s->at = s->end;
		return 0;
	}
	for (size_t i = 0; i < size / 2; i++) {
		uint8_t byte = s->at[i];
		s->at[i] = s->at[size - 1 - i];
		s->at[size - 1 - i] = byte;
	}
	if (size == 2)
		v = (memcpy(&v16, s->at, 2), v16);
	else if (size == 4)
		v = (memcpy(&v32, s->at, 4), v32);
	else
		memcpy(&v, s->at, 8);
	s->at += size;
	return v;
}

static void pass(struct swapper *s, uint64_t size)
{
	uint64_t left = (uint64_t)(s->end - s->at);

	s->at += size < left ? size : left;
}

/* COUNT words of 64 bits, as far as they are there. */
static void swap_u64s(struct swapper *s, uint64_t count)
{
	for (; count > 0 && s->at < s->end; count--)
		swap_number(s, 8);
}

/* Behind the parenthesis that closes the one at LAYOUT. */
static const char *behind_group(const char *layout)
{
	int depth = 0;

	do {
		depth += (*layout == '(') - (*layout == ')');
		layout++;
	} while (depth > 0);
	return layout;
}

/* The fields up to the end of LAYOUT, or to the parenthesis that closes it. */
static void swap_fields(struct swapper *s, const char *layout)
{
	while (*layout && *layout != ')') {
		char field = *layout++;
		if (field == 'S') {
			pass(s, swap_number(s, 4));
		} else if (field == 'C' || field == 'c') {
			pass(s, field == 'C' ? 16 : 8);
		} else if (field == '#' || field == '*') {
			uint64_t count = field == '#' ? swap_number(s, 4) : UINT64_MAX;
			for (; count > 0 && s->at < s->end; count--)
				swap_fields(s, layout + 1);
			layout = behind_group(layout);
		} else {
			swap_number(s, (size_t)(field - '0'));
		}
	}
}

void swap_words(uint8_t *bytes, size_t size)
{
	struct swapper s = { bytes, bytes + (size & ~(size_t)7) };

	swap_u64s(&s, size / 8);
}

/*
 * The attr's 64 flags are bit fields: here they are counted from the other end
 * of each byte.  precise_ip, bits 15 and 16, is a number of two.
 */
static void swap_flags(uint8_t *flags)
{
	for (int i = 0; i < 8; i++) {
		uint8_t in = flags[i], out = 0;
		for (int bit = 0; bit < 8; bit++)
			out |= (uint8_t)((in >> bit & 1) << (7 - bit));
		flags[i] = out;
	}
	bool low = flags[1] & 0x80, high = flags[2] & 1;
	flags[1] = (uint8_t)((flags[1] & 0x7f) | high << 7);
	flags[2] = (uint8_t)((flags[2] & 0xfe) | low);
}

/* struct perf_event_attr, linux/perf_event.h, up to config3 */
void swap_attr(uint8_t *attr, size_t size)
{
	enum { FLAGS = 40 };
	struct swapper s = { attr, attr + size };

	swap_fields(&s, "448888");
	if (size >= FLAGS + 8)
		swap_flags(attr + FLAGS);
	pass(&s, 8);
	swap_fields(&s, "44888844842244888");
}

/* u32 events, u32 attr size; each: attr, u32 ids, string name, u64 id[ids] */
static void swap_event_desc(struct swapper *s)
{
	uint64_t count = swap_number(s, 4), attr_size = swap_number(s, 4);

	for (; count > 0 && s->at < s->end; count--) {
		uint8_t *attr = s->at;
		pass(s, attr_size);
		swap_attr(attr, (size_t)(s->at - attr));
		uint64_t ids = swap_number(s, 4);
		swap_fields(s, "S");
		swap_u64s(s, ids);
	}
}

/* tools/perf/Documentation/perf.data-file-format.txt */
static const char *feature_layout(uint64_t feature)
{
	static const char *const layouts[] = {
		[FEATURE_HOSTNAME] = "S", [FEATURE_OSRELEASE] = "S", [FEATURE_VERSION] = "S",
		[FEATURE_ARCH] = "S", [FEATURE_NRCPUS] = "44", [FEATURE_CPUDESC] = "S",
		[9] = "S",				/* CPUID */
		[10] = "8",				/* TOTAL_MEM */
		[FEATURE_CMDLINE] = "#(S)",
		[14] = "#(488S)",			/* NUMA_TOPOLOGY */
		[16] = "#(4S)",				/* PMU_MAPPINGS */
		[17] = "#(S44)",			/* GROUP_DESC */
		[20] = "4#(4444SSS)",			/* CACHE */
		[FEATURE_SAMPLE_TIME] = "88",
		[22] = "*(8)",				/* MEM_TOPOLOGY */
		[23] = "8",				/* CLOCKID */
		[24] = "8",				/* DIR_FORMAT */
		[27] = "44444",				/* COMPRESSED */
		[28] = "#(SS)",				/* CPU_PMU_CAPS */
		[FEATURE_CLOCK_DATA] = "4488",
		[30] = "#(SS)",				/* HYBRID_TOPOLOGY */
		[31] = "#(#(SS)S)",			/* PMU_CAPS */
	};

	return feature < sizeof(layouts) / sizeof(*layouts) ? layouts[feature] : NULL;
}

bool swap_feature(uint64_t feature, uint8_t *bytes, size_t size)
{
	struct swapper s = { bytes, bytes + size };
	const char *layout = feature_layout(feature);

	if (feature == FEATURE_EVENT_DESC)
		swap_event_desc(&s);
	else if (layout)
		swap_fields(&s, layout);
	return layout || feature == FEATURE_EVENT_DESC;
}

/* linux/perf_event.h, enum perf_event_type; NULL: not one of them */
static const char *kernel_layout(uint32_t type, uint16_t misc)
{
	static const char *const layouts[] = {
		[PERF_RECORD_MMAP] = "44888", [PERF_RECORD_LOST] = "88",
		[PERF_RECORD_COMM] = "44", [PERF_RECORD_EXIT] = "44448",
		[PERF_RECORD_THROTTLE] = "888", [PERF_RECORD_UNTHROTTLE] = "888",
		[PERF_RECORD_FORK] = "44448", [PERF_RECORD_READ] = "44*(8)",
		[PERF_RECORD_MMAP2] = "44888448844", [PERF_RECORD_AUX] = "888",
		[PERF_RECORD_ITRACE_START] = "44", [PERF_RECORD_LOST_SAMPLES] = "8",
		[PERF_RECORD_SWITCH] = "", [PERF_RECORD_SWITCH_CPU_WIDE] = "44",
		[PERF_RECORD_NAMESPACES] = "448*(88)", [PERF_RECORD_KSYMBOL] = "8422",
		[PERF_RECORD_BPF_EVENT] = "224", [PERF_RECORD_CGROUP] = "8",
		[PERF_RECORD_TEXT_POKE] = "822", [PERF_RECORD_AUX_OUTPUT_HW_ID] = "8",
	};

	if (type == PERF_RECORD_MMAP2 && misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return "44888Cc44";
	return type < sizeof(layouts) / sizeof(*layouts) ? layouts[type] : NULL;
}

/* perf's own, tools/lib/perf/include/perf/event.h; those not here stay as they are */
static const char *user_layout(uint32_t type)
{
	static const char *const layouts[] = {
		[RECORD_EVENT_TYPE - RECORD_ATTR] = "8",
		[RECORD_TRACING_DATA - RECORD_ATTR] = "4",
		[RECORD_BUILD_ID - RECORD_ATTR] = "4",
		[RECORD_ID_INDEX - RECORD_ATTR] = "*(8)",
		[RECORD_AUXTRACE_INFO - RECORD_ATTR] = "44*(8)",
		[RECORD_AUXTRACE - RECORD_ATTR] = "8884444",
		[RECORD_AUXTRACE_ERROR - RECORD_ATTR] = "44444444888",
		[RECORD_THREAD_MAP - RECORD_ATTR] = "8*(8C)",
		[RECORD_CPU_MAP - RECORD_ATTR] = "*(2)",
		[RECORD_EVENT_UPDATE - RECORD_ATTR] = "88",
		[RECORD_TIME_CONV - RECORD_ATTR] = "88888",
		[RECORD_COMPRESSED2 - RECORD_ATTR] = "8",
	};

	return type - RECORD_ATTR < sizeof(layouts) / sizeof(*layouts) ? layouts[type - RECORD_ATTR]
								       : NULL;
}

/* struct sample_id, at the end of the kernel's records but SAMPLE */
static void swap_trailer(struct swapper *s, uint64_t sample_type)
{
	if (sample_type & PERF_SAMPLE_TID)
		swap_fields(s, "44");
	swap_u64s(s, (uint64_t)__builtin_popcountll(sample_type & (PERF_SAMPLE_TIME |
				PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)));
	if (sample_type & PERF_SAMPLE_CPU)
		swap_fields(s, "44");
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		swap_number(s, 8);
}

static void swap_kernel(const struct stream_events *events, struct swapper *s, const char *layout)
{
	struct cursor body = { .at = s->at, .end = s->end, .swap = true };
	const struct stream_event *event = events_trailer(events, body);
	struct swapper trailer = { s->end, s->end };

	if (event)
		trailer.at = s->end -= event->layout.trailer_size;
	swap_fields(s, layout);
	if (event)
		swap_trailer(&trailer, event->attr.sample_type);
}

static void swap_read(struct swapper *s, uint64_t format)
{
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	uint64_t left = (uint64_t)(s->end - s->at);
	uint64_t count = format & PERF_FORMAT_GROUP ? swap_number(s, 8) : 1;

	swap_u64s(s, times + (count < left ? count : left) * each);
}

/*
 * struct perf_branch_entry: from, to, and bit fields, which are counted from
 * the other end: mispred, predicted, in_tx, abort of 1 bit, cycles of 16, type
 * and spec, new_type, priv of 4, 2, 4, 3.
 */
static void swap_branch(struct swapper *s)
{
	static const uint8_t width[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3 };
	uint64_t out = 0;
	unsigned low = 0;

	swap_u64s(s, 2);
	if (s->at == s->end)
		return;
	uint64_t in = swap_number(s, 8);
	for (size_t i = 0; i < sizeof(width); i++) {
		uint64_t field = in >> (64 - low - width[i]) & ((1ULL << width[i]) - 1);
		out |= field << low;
		low += width[i];
	}
	memcpy(s->at - 8, &out, 8);
}

static void swap_branches(struct swapper *s, uint64_t branch_type)
{
	uint64_t count = swap_number(s, 8), i;

	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		swap_number(s, 8);
	for (i = 0; i < count && s->at < s->end; i++)
		swap_branch(s);
	if (branch_type & SAMPLE_BRANCH_COUNTERS)
		swap_u64s(s, i);
}

static void swap_regs(struct swapper *s, uint64_t mask)
{
	if (swap_number(s, 8))		/* abi; 0: none */
		swap_u64s(s, (uint64_t)__builtin_popcountll(mask));
}

static void swap_user_stack(struct swapper *s)
{
	uint64_t size = swap_number(s, 8);

	pass(s, size);
	if (size > 0)
		swap_number(s, 8);
}

/* The fields in the order of linux/perf_event.h, PERF_RECORD_SAMPLE. */
static void swap_sample(const struct perf_event_attr *attr, struct swapper *s)
{
	const uint64_t before_cpu = PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
				    PERF_SAMPLE_STREAM_ID;
	const uint64_t before_intr = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |
				     PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION;
	const uint64_t behind_intr = PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
				     PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE |
				     PERF_SAMPLE_AUX;
	uint64_t type = attr->sample_type;

	swap_u64s(s, !!(type & PERF_SAMPLE_IDENTIFIER) + !!(type & PERF_SAMPLE_IP));
	if (type & PERF_SAMPLE_TID)
		swap_fields(s, "44");
	swap_u64s(s, (uint64_t)__builtin_popcountll(type & before_cpu));
	if (type & PERF_SAMPLE_CPU)
		swap_fields(s, "44");
	swap_u64s(s, !!(type & PERF_SAMPLE_PERIOD));
	if (type & PERF_SAMPLE_READ)
		swap_read(s, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		swap_u64s(s, swap_number(s, 8));
	if (type & PERF_SAMPLE_RAW)
		pass(s, swap_number(s, 4));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		swap_branches(s, attr->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		swap_regs(s, attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		swap_user_stack(s);
	swap_u64s(s, (uint64_t)__builtin_popcountll(type & before_intr));
	if (type & PERF_SAMPLE_REGS_INTR)
		swap_regs(s, attr->sample_regs_intr);
	swap_u64s(s, (uint64_t)__builtin_popcountll(type & behind_intr));
}

/* HEADER_ATTR: an attr of the size it says itself, then ids. */
static void swap_attr_record(struct swapper *s)
{
	struct cursor c = { .at = s->at, .end = s->end, .swap = true };
	size_t size = attr_stated_size(c), left = (size_t)(s->end - s->at);

	swap_attr(s->at, size < left ? size : left);
	pass(s, size);
	swap_u64s(s, UINT64_MAX);
}

bool swap_record(const struct stream_events *events, uint8_t *record, size_t size)
{
	struct swapper s = { record, record + size };
	uint32_t type = (uint32_t)swap_number(&s, 4);
	uint16_t misc = (uint16_t)swap_number(&s, 2);
	struct cursor body = { .at = record + RECORD_HEADER_SIZE, .end = s.end, .swap = true };

	swap_number(&s, 2);
	if (type == PERF_RECORD_SAMPLE) {
		uint32_t event = events_of_sample(events, body);
		if (event != TABLE_NONE)
			swap_sample(&events->event[event].attr, &s);
	} else if (type == RECORD_ATTR) {
		swap_attr_record(&s);
	} else if (type == RECORD_FEATURE) {
		uint64_t feature = swap_number(&s, 8);
		return swap_feature(feature, s.at, (size_t)(s.end - s.at));
	} else if (kernel_layout(type, misc)) {
		swap_kernel(events, &s, kernel_layout(type, misc));
	} else if (user_layout(type)) {
		swap_fields(&s, user_layout(type));
	}
	return type < RECORD_STRING || type > RECORD_END;	/* resolved on that machine */
}
