/* SPDX-License-Identifier: Apache-2.0 */
#include "record/types.h"
#include "record/origin.h"
#include "record/record.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* linux/perf_event.h, enum perf_event_type.  Bytes after the last field are not converted. */
static const struct type_info kernel_types[] = {
	[PERF_RECORD_MMAP] = { "MMAP", "pid:4 tid:4 start:8x bytes:8x file_offset:8x path:s" },
	[PERF_RECORD_LOST] = { "LOST", "id:8 lost:8" },
	[PERF_RECORD_COMM] = { "COMM", "pid:4 tid:4 comm:s" },
	[PERF_RECORD_EXIT] = { "EXIT", "pid:4 parent_pid:4 tid:4 parent_tid:4 at:8" },
	[PERF_RECORD_THROTTLE] = { "THROTTLE", "at:8 id:8 stream_id:8" },
	[PERF_RECORD_UNTHROTTLE] = { "UNTHROTTLE", "at:8 id:8 stream_id:8" },
	[PERF_RECORD_FORK] = { "FORK", "pid:4 parent_pid:4 tid:4 parent_tid:4 at:8" },
	[PERF_RECORD_READ] = { "READ", "pid:4 tid:4 values:w" },
	[PERF_RECORD_SAMPLE] = { "SAMPLE", NULL },	/* record/sample.c */
	[PERF_RECORD_MMAP2] = { "MMAP2", "pid:4 tid:4 start:8x bytes:8x file_offset:8x major:4 "
				"minor:4 inode:8 generation:8 prot:4x flags:4x path:s" },
	[PERF_RECORD_AUX] = { "AUX", "aux_offset:8x aux_bytes:8 flags:8x" },
	[PERF_RECORD_ITRACE_START] = { "ITRACE_START", "pid:4 tid:4" },
	[PERF_RECORD_LOST_SAMPLES] = { "LOST_SAMPLES", "lost:8" },
	[PERF_RECORD_SWITCH] = { "SWITCH", "" },
	[PERF_RECORD_SWITCH_CPU_WIDE] = { "SWITCH_CPU_WIDE", "other_pid:4 other_tid:4" },
	[PERF_RECORD_NAMESPACES] = { "NAMESPACES", "pid:4 tid:4 count:8 device_inode:w" },
	[PERF_RECORD_KSYMBOL] = { "KSYMBOL", "start:8x bytes:4 kind:2 flags:2x name:s" },
	[PERF_RECORD_BPF_EVENT] = { "BPF_EVENT", "kind:2 flags:2x id:4 tag:cx" },
	[PERF_RECORD_CGROUP] = { "CGROUP", "id:8 path:s" },
	[PERF_RECORD_TEXT_POKE] = { "TEXT_POKE", "start:8x old_bytes:2 new_bytes:2" },
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = { "AUX_OUTPUT_HW_ID", "hw_id:8" },
	[RECORD_CALLCHAIN_DEFERRED] = { "CALLCHAIN_DEFERRED", "cookie:8x count:8 callchain:w" },
};

/* With MISC_MMAP_BUILD_ID: u8 size, u8, u16, u8 build_id[20] in place of the inode. */
static const struct type_info mmap2_with_build_id = {
	"MMAP2", "pid:4 tid:4 start:8x bytes:8x file_offset:8x :C :c prot:4x flags:4x path:s",
};

/* tools/lib/perf/include/perf/event.h, from RECORD_ATTR on */
static const struct type_info perf_types[] = {
	/* converted by its own code: the attr states its own size */
	{ "ATTR", "kind:4 attr_bytes:4 config:8x period:8 sample_type:8x read_format:8x flags:fx" },
	{ "EVENT_TYPE", "config:8x name:s" },
	{ "TRACING_DATA", "bytes_after:4" },
	{ "BUILD_ID", "pid:4" },
	{ "FINISHED_ROUND", NULL },
	{ "ID_INDEX", "count:8 id_index_cpu_tid:w" },
	{ "AUXTRACE_INFO", "kind:4 :4 :w" },
	{ "AUXTRACE", "bytes_after:8 aux_offset:8x reference:8 index:4 tid:4 cpu:4 :4" },
	{ "AUXTRACE_ERROR", "kind:4 code:4 cpu:4 pid:4 tid:4 :4 :4 :4 :8 :8 :8" },
	{ "THREAD_MAP", "count:8 *( :8 :C )" },
	{ "CPU_MAP", "kind:2 *( :2 )" },
	{ "STAT_CONFIG", ":8 :w" },
	{ "STAT", ":8 :4 :4 :8 :8 :8" },
	{ "STAT_ROUND", ":8 :8" },
	{ "EVENT_UPDATE", "kind:8 id:8" },
	{ "TIME_CONV", "shift:8 mult:8 zero:8x :8 :8" },
	{ "FEATURE", NULL },		/* types_feature() has the layout */
	{ "COMPRESSED", NULL },
	{ "FINISHED_INIT", NULL },
	{ "COMPRESSED2", "compressed_bytes:8" },
};

/* simpleperf's record.h, from RECORD_SIMPLEPERF on */
static const struct type_info simpleperf_types[] = {
	{ "KERNEL_SYMBOL", NULL }, { "DSO", NULL }, { "SYMBOL", NULL }, { "SPLIT", NULL },
	{ "SPLIT_END", NULL }, { "EVENT_ID", NULL }, { "CALLCHAIN", NULL },
	{ "UNWINDING_RESULT", NULL }, { "TRACING_DATA", NULL }, { "DEBUG", NULL },
};

/* resolved streams, from RECORD_STRING on: read only in the machine's own byte order */
static const struct type_info resolved_types[] = {
	{ "STRING", NULL }, { "OBJECT", NULL }, { "FUNCTION", NULL }, { "FRAME", NULL },
	{ "RESOLVED_SAMPLE", NULL }, { "TOOL", NULL }, { "END", NULL }, { "RESTART", NULL },
	{ "LABELS", NULL }, { "NAME", NULL }, { "DATA", NULL }, { "CHAIN", NULL },
	{ "CHAIN_SAMPLE", NULL }, { "CHAINS_RESTART", NULL },
};

struct type_info record_type_info(uint32_t type, uint16_t misc)
{
	static const struct {
		uint32_t first;
		size_t count;
		const struct type_info *info;
	} tables[] = {
		{ 0, COUNT_OF(kernel_types), kernel_types },
		{ RECORD_ATTR, COUNT_OF(perf_types), perf_types },
		{ RECORD_SIMPLEPERF, COUNT_OF(simpleperf_types), simpleperf_types },
		{ RECORD_STRING, COUNT_OF(resolved_types), resolved_types },
	};

	if (type == PERF_RECORD_MMAP2 && misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return mmap2_with_build_id;
	for (size_t i = 0; i < COUNT_OF(tables); i++)
		if (type >= tables[i].first && type - tables[i].first < tables[i].count)
			return tables[i].info[type - tables[i].first];
	return (struct type_info){ 0 };
}

/* tools/perf/Documentation/perf.data-file-format.txt; perf's own names */
static const struct type_info features[] = {
	[FEATURE_HOSTNAME] = { "HOSTNAME", ":S" },
	[FEATURE_OSRELEASE] = { "OSRELEASE", ":S" },
	[FEATURE_VERSION] = { "VERSION", ":S" },
	[FEATURE_ARCH] = { "ARCH", ":S" },
	[FEATURE_NRCPUS] = { "NRCPUS", ":4 :4" },
	[FEATURE_CPUDESC] = { "CPUDESC", ":S" },
	[FEATURE_CPUID] = { "CPUID", ":S" },
	[10] = { "TOTAL_MEM", ":8" },
	[FEATURE_CMDLINE] = { "CMDLINE", "#( :S )" },
	[FEATURE_EVENT_DESC] = { "EVENT_DESC", NULL },		/* converted by its own code */
	[13] = { "CPU_TOPOLOGY", NULL },
	[14] = { "NUMA_TOPOLOGY", "#( :4 :8 :8 :S )" },
	[15] = { "BRANCH_STACK", "" },
	[FEATURE_PMU_MAPPINGS] = { "PMU_MAPPINGS", "#( :4 :S )" },
	[17] = { "GROUP_DESC", "#( :S :4 :4 )" },
	[18] = { "AUXTRACE", ":w" },
	[19] = { "STAT", "" },
	[20] = { "CACHE", ":4 #( :4 :4 :4 :4 :S :S :S )" },
	[FEATURE_SAMPLE_TIME] = { "SAMPLE_TIME", ":8 :8" },
	[22] = { "MEM_TOPOLOGY", ":w" },
	[23] = { "CLOCKID", ":8" },
	[24] = { "DIR_FORMAT", ":8" },
	[25] = { "BPF_PROG_INFO", NULL },
	[26] = { "BPF_BTF", NULL },
	[27] = { "COMPRESSED", ":4 :4 :4 :4 :4" },
	[FEATURE_CPU_PMU_CAPS] = { "CPU_PMU_CAPS", "#( :S :S )" },
	[FEATURE_CLOCK_DATA] = { "CLOCK_DATA", ":4 :4 :8 :8" },
	[30] = { "HYBRID_TOPOLOGY", "#( :S :S )" },
	[31] = { "PMU_CAPS", "#( #( :S :S ) :S )" },
	/* simpleperf's; these have no names of perf's */
	[FEATURE_FILE] = { NULL, ":4 :z :4 :8 #( :8 :4 :z ) :8" },
	[FEATURE_META_INFO] = { NULL, "" },
};

struct type_info types_feature(uint64_t feature)
{
	return feature < COUNT_OF(features) ? features[feature] : (struct type_info){ 0 };
}

/* Return the text after the parenthesis that closes the group whose fields start at TEXT. */
static const char *after_group(const char *text)
{
	int depth = 1;

	for (; depth > 0 && *text; text++)
		depth += (*text == '(') - (*text == ')');
	return text;
}

bool types_next_field(const char **layout, struct layout_field *field)
{
	const char *text = *layout;

	while (*text == ' ')
		text++;
	if (!*text || *text == ')')
		return false;
	*field = (struct layout_field){ .name = text };
	if (*text == '#' || *text == '*') {
		field->kind = *text;
		field->group = text + 2;
		*layout = after_group(field->group);
		return true;
	}
	while (text[field->name_size] != ':')
		field->name_size++;
	text += field->name_size + 1;
	field->kind = *text++;
	field->hex = *text == 'x';
	*layout = text + field->hex;
	return true;
}
