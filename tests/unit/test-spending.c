/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of the CPU time for unwinding, and whether frame pointers are good enough. */
#include "tests/unit/tap.h"
#include "unwind/cpu-budget.h"
#include "unwind/judge.h"

enum { MS = 1000000, SECOND = 1000 * MS, PROCESSES = 8 };

/* A process: its stacks cost COST ns each, and it has one every EVERY ns. */
struct process {
	uint64_t cost, every;
	uint64_t allowed, refused, taken;	/* stacks, stacks, ns */
};

static uint64_t taken_by_all;	/* ns */

/* Let COUNT processes have stacks from FROM on for NS; the times of day mean nothing. */
static void run(struct cpu_budget *b, struct process *p, unsigned count, uint64_t from, uint64_t ns)
{
	taken_by_all = 0;
	for (unsigned i = 0; i < count; i++)
		p[i].allowed = p[i].refused = p[i].taken = 0;
	for (uint64_t now = from; now < from + ns; now += MS / 10)
		for (unsigned i = 0; i < count; i++) {
			if ((now - from) % p[i].every)
				continue;
			if (!cpu_budget_allows(b, 100 + (pid_t)i, now)) {
				p[i].refused++;
				continue;
			}
			cpu_budget_charge(b, 100 + (pid_t)i, p[i].cost);
			p[i].allowed++;
			p[i].taken += p[i].cost;
			taken_by_all += p[i].cost;
		}
}

static void test_limit(void)
{
	struct process greedy = { .cost = 500000, .every = MS };
	struct cpu_budget b;

	cpu_budget_init(&b, 0.02, 2);
	run(&b, &greedy, 1, SECOND, 60ULL * SECOND);
	tap(taken_by_all <= 0.04 * 65 * SECOND, "all together take no more than their share, and "
	    "what five seconds allow in advance");
	tap(taken_by_all >= 0.03 * 60 * SECOND, "a single process may take most of it");
	tap(greedy.refused > 0, "the rest is refused");
	run(&b, &greedy, 1, 1000ULL * SECOND, SECOND / 10);
	tap(greedy.refused == 0, "after a pause there is room again");
	cpu_budget_release(&b);

	cpu_budget_init(&b, 0, 64);
	run(&b, &greedy, 1, SECOND, SECOND);
	tap(greedy.allowed == 0, "a share of 0 allows nothing");
	cpu_budget_release(&b);
}

static void test_fairness(void)
{
	struct process p[PROCESSES] = {
		{ .cost = 500000, .every = MS }, { .cost = 2000000, .every = MS },
		{ .cost = 5000, .every = MS }, { .cost = 5000, .every = MS },
		{ .cost = 2000, .every = 10 * MS },
	};
	struct cpu_budget b;

	cpu_budget_init(&b, 0.02, 2);
	run(&b, p, 5, SECOND, 60ULL * SECOND);
	tap(!p[2].refused && !p[3].refused && !p[4].refused, "beside two costly processes, those "
	    "that need less than their share are never refused");
	tap(p[0].refused && p[1].refused, "the costly ones are");
	tap(p[0].taken < 2 * p[1].taken && p[1].taken < 2 * p[0].taken,
	    "the costly ones get about the same, whatever a stack of theirs costs");
	tap(taken_by_all >= 0.03 * 60 * SECOND, "most of the budget is used");
	cpu_budget_release(&b);
}

static void test_many(void)
{
	struct cpu_budget b;
	uint64_t now = SECOND;
	bool good = true;

	cpu_budget_init(&b, 0.5, 4);
	for (int pid = 1; pid <= 100000; pid++, now += MS / 10) {
		good &= cpu_budget_allows(&b, pid, now);
		cpu_budget_charge(&b, pid, 5000);
	}
	tap(good, "many short processes find room");
	tap(b.users < 250000 && b.users > 1, "some are known");
	cpu_budget_allows(&b, 1, now + 200ULL * SECOND);
	tap(b.users == 0 && b.sum < 1, "and are forgotten");
	cpu_budget_release(&b);

	struct process old = { .cost = 5000, .every = MS };
	unsigned refused = 0;
	cpu_budget_init(&b, 0.02, 2);
	run(&b, &old, 1, now, SECOND);
	for (int pid = 1000; pid < 100000; pid++, now += MS) {
		if (cpu_budget_allows(&b, pid, now))
			cpu_budget_charge(&b, pid, 200000);
		else
			refused++;
		run(&b, &old, 1, now, MS);
		good &= old.allowed == 1;
	}
	tap(good && refused, "very many costly short processes leave room for an older one");
	cpu_budget_release(&b);
}

/* Judge COUNT stacks, one a ms; of each 100 of them, the last LACKING lack callers. */
static void judge_some(struct judge *j, uint64_t *now, unsigned count, unsigned lacking)
{
	for (unsigned i = 0; i < count; i++, *now += MS)
		judge_add(j, *now, i % 100 >= 100 - lacking);
}

static void test_judge(void)
{
	struct judge good = { 0 }, bad = { 0 }, late = { 0 }, slow = { 0 };
	uint64_t now = SECOND;

	judge_some(&good, &now, 999, 5);
	tap(!good.is_spared && !good.is_needed, "nothing is decided in the first second");
	judge_some(&good, &now, 100, 5);
	tap(good.is_spared && !good.is_needed, "5 % of the stacks may lack callers");
	judge_some(&bad, &now, 1100, 6);
	tap(!bad.is_spared && bad.is_needed, "6 % may not");
	judge_some(&bad, &now, 10000, 0);
	tap(!bad.is_spared && bad.is_needed, "once needed, always needed");
	judge_some(&late, &now, 1100, 0);
	tap(late.is_spared, "a program starts well");
	judge_some(&late, &now, 100, 50);
	tap(!late.is_spared && late.is_needed, "... and changes: unwinding begins");
	for (int i = 0; i < 19; i++, now += SECOND)
		judge_add(&slow, now, false);
	tap(!slow.is_spared && !slow.is_needed, "few stacks say little");
	judge_add(&slow, now, false);
	tap(slow.is_spared, "twenty are enough");
}

int main(void)
{
	test_limit();
	test_fairness();
	test_many();
	test_judge();
	return tap_done();
}
