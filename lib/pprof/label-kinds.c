/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/label-kinds.h"
#include "record/words.h"

#include <string.h>

const struct label_kind label_kinds[FACT_KINDS] = {
	[FACT_PID] = { LABEL_PID, "", false },
	[FACT_TID] = { LABEL_TID, "", false },
	[FACT_COMM] = { LABEL_COMM, "", true },
	[FACT_THREAD_COMM] = { LABEL_THREAD_COMM, "", true },
	[FACT_CPU] = { LABEL_CPU, "cpu", false },
	[FACT_CGROUP] = { "cgroup", "", true },
	[FACT_TIME] = { "timestamp_ns", UNIT_TIME, false },
	[FACT_MODE] = { "execution_mode", "", true },
	[FACT_DATA_SRC] = { "data_src", "", true },
	[FACT_SNOOP] = { "snoop_status", "", true },
	[FACT_WEIGHT] = { "weight", "cycles", false },
	[FACT_ADDR] = { "addr", "", true },
	[FACT_PHYS_ADDR] = { "phys_addr", "", true },
	[FACT_DATA_PAGE] = { "data_page_size", "bytes", false },
	[FACT_CODE_PAGE] = { "code_page_size", "bytes", false },
	[FACT_TRANSACTION] = { "transaction", "", true },
	[FACT_SLICE] = { LABEL_SLICE, "", false },
	[FACT_RUN] = { LABEL_RUN, "", true },
	[FACT_PARALLELISM] = { "parallelism", "", true },
	[FACT_LOCK] = { "lock", "", true },
	[FACT_WAKER] = { "waker", "", true },
	[FACT_ENDED] = { "ended", "", true },
	[FACT_RULE] = { "rule", "", true },
	[FACT_FIELD] = { "", "", true },
	[FACT_PROGRAM] = { "", "", true },
	[FACT_PROGRAM_STATE] = { LABELS_STATE, "", true },
};

const char label_names[] =
	"pid, tid, comm, thread_comm, cpu, cgroup, timestamp_ns, execution_mode, data_src, "
	"snoop_status, weight, addr, phys_addr, data_page_size, code_page_size, transaction, "
	"field:NAME, label:NAME, label:*";

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

bool label_is_ours(const char *name)
{
	for (int kind = 0; kind < FACT_KINDS; kind++)
		if (*name && !strcmp(label_kinds[kind].name, name))
			return true;
	return false;
}

bool label_is_reserved(const char *key)
{
	return !*key || label_is_ours(key) || starts_with(key, LABEL_PROGRAM_PREFIX) ||
	       starts_with(key, "pprof::");
}

const char *label_shown(const char *name)
{
	const char *key = name + strlen(LABEL_PROGRAM_PREFIX);

	return starts_with(name, LABEL_PROGRAM_PREFIX) && !label_is_reserved(key) ? key : name;
}
