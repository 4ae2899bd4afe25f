/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cpu-budget.h"
#include "base/arena.h"

#include <stdlib.h>

#define REMEMBERED 5e9		/* ns: in this time the remembered CPU time fades to 1/e */
#define STEP 200000000		/* ns between reductions */
#define FIRST 1000		/* ns: CPU time with which a new process starts */
#define KEPT_FROM 20		/* ns: a process with less is forgotten: after 20 s without any */
#define GREED 8			/* what a process may take, as a multiple of what is left */
#define RESERVE 0.1		/* part of all that is left to processes that take little: ... */
#define LITTLE 0.01		/* ... at most this part of all */

void cpu_budget_init(struct cpu_budget *b, double share, unsigned cpus)
{
	*b = (struct cpu_budget){ .room = share * cpus * REMEMBERED };
}

static uint32_t find(const struct cpu_budget *b, pid_t pid)
{
	return TABLE_FIND(&b->table, hash_u64((uint64_t)pid), i, b->user[i].pid == pid);
}

/* Reduce all times by the factor KEPT, and forget processes that took little. */
static void fade(struct cpu_budget *b, double kept)
{
	uint32_t users = 0;

	b->sum = 0;
	table_release(&b->table);
	for (uint32_t i = 0; i < b->users; i++) {
		struct cpu_user user = { b->user[i].pid, b->user[i].taken * kept };
		if (user.taken < KEPT_FROM)
			continue;
		b->sum += user.taken;
		table_add(&b->table, hash_u64((uint64_t)user.pid), users);
		b->user[users++] = user;
	}
	b->users = users;
}

bool cpu_budget_allows(struct cpu_budget *b, pid_t pid, uint64_t now)
{
	if (!b->faded_at)
		b->faded_at = now;
	for (; now >= b->faded_at + STEP && b->users; b->faded_at += STEP)
		fade(b, 1 - STEP / REMEMBERED);
	if (!b->users)
		b->faded_at = now;
	uint32_t i = find(b, pid);
	if (i == TABLE_NONE)
		i = find(b, CPU_BUDGET_COMMON);
	double taken = i == TABLE_NONE ? 0 : b->user[i].taken;
	return b->sum < b->room &&
	       (taken < LITTLE * b->room || taken < GREED * ((1 - RESERVE) * b->room - b->sum));
}

static void take(struct cpu_budget *b, uint32_t i, double ns)
{
	b->user[i].taken += ns;
	b->sum += ns;
}

static uint32_t add(struct cpu_budget *b, pid_t pid)
{
	b->user = array_grow(b->user, b->users, sizeof(*b->user));
	b->user[b->users] = (struct cpu_user){ .pid = pid };
	table_add(&b->table, hash_u64((uint64_t)pid), b->users);
	return b->users++;
}

void cpu_budget_charge(struct cpu_budget *b, pid_t pid, uint64_t ns)
{
	uint32_t i = find(b, pid);

	if (i == TABLE_NONE && pid != CPU_BUDGET_COMMON) {
		take(b, add(b, pid), FIRST);
		i = find(b, CPU_BUDGET_COMMON);
	}
	if (i == TABLE_NONE)
		i = add(b, CPU_BUDGET_COMMON);
	take(b, i, (double)ns);
}

void cpu_budget_release(struct cpu_budget *b)
{
	table_release(&b->table);
	free(b->user);
	*b = (struct cpu_budget){ 0 };
}
