/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/judge.h"

void judge_add(struct judge *j, uint64_t time, bool lacks_callers)
{
	enum { FEW = 20, GROUP = 64, PERCENT = 5 };
	const uint64_t second = 1000000000;

	j->all++;
	j->all_lacking += lacks_callers;
	j->stacks++;
	j->lacking += lacks_callers;
	if (!j->from)
		j->from = time;
	if (j->is_needed || j->stacks < (j->is_spared ? GROUP : FEW) ||
	    (!j->is_spared && time < j->from + second))
		return;
	j->is_needed = j->lacking * 100 > j->stacks * PERCENT;
	j->is_spared = !j->is_needed;
	j->stacks = j->lacking = 0;
}
