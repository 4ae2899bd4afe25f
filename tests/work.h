/* SPDX-License-Identifier: Apache-2.0 */
/* Two functions that work for some time, for the programs whose labels are tested. */
#pragma once
#include <stdint.h>

static volatile uint64_t sink;

__attribute__((noinline)) void workA(void)
{
	for (int i = 0; i < 40000; i++)
		sink = sink * 6364136223846793005u + 1;
}

__attribute__((noinline)) void workB(void)
{
	for (int i = 0; i < 40000; i++)
		sink = sink * 2862933555777941757u + 3;
}
