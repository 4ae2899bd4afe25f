/* SPDX-License-Identifier: Apache-2.0 */
/* What unwinding costs while it happens, and whether the budget has room for more. */
#include "base/clock.h"
#include "base/memory.h"
#include "linux/cpus.h"
#include "linux/proc.h"
#include "unwind/internal.h"

void spending_begin(struct unwind *u)
{
	struct cpu_list online = cpus_online();

	cpu_budget_init(&u->cpu, u->options.budget.cpu,
			online.count ? (unsigned)online.count : 1);
	cpus_release(&online);
	u->cpu_charged = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	u->is_over_memory = proc_own_memory() > u->options.budget.memory;
}

void spending_charge(struct unwind *u, pid_t pid)
{
	if (!u->options.budget.is_set)
		return;
	uint64_t used = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	cpu_budget_charge(&u->cpu, pid, used - u->cpu_charged);
	u->cpu_charged = used;
}

bool spending_allows(struct unwind *u, pid_t pid)
{
	if (!u->options.budget.is_set)
		return true;
	if (u->is_over_memory || !cpu_budget_allows(&u->cpu, pid, monotonic_ns()))
		return false;
	spending_charge(u, CPU_BUDGET_COMMON);
	return true;
}

void spending_check_memory(struct unwind *u)
{
	const uint64_t most = u->options.budget.memory, pause = 100000000;
	bool was_over = u->is_over_memory;

	if (!u->options.budget.is_set || monotonic_ns() < u->memory_due)
		return;
	u->memory_due = monotonic_ns() + pause;
	u->is_over_memory = proc_own_memory() > most;
	if (!u->is_over_memory || was_over)
		return;
	code_close_all(u);
	if (u->joiner) {
		joiner_free(u->joiner);
		u->joiner = joiner_new();
	}
	memory_trim();
	u->is_over_memory = proc_own_memory() > most;
}
