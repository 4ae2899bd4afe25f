/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own-lock - for programs with a lock of their own, lock() and unlock(): waiter() waits for it, and
 * culprit() makes it wait.
 */
#pragma once
#include "tests/bin/waiting.h"

#include <stdatomic.h>

static atomic_uint_fast64_t waited;

static void lock(void);
static void unlock(void);

FUNCTION void waiter(void)
{
	uint64_t start = now();

	lock();
	atomic_fetch_add(&waited, now() - start);
	unlock();
	STAY;
}

FUNCTION void culprit(void)
{
	lock();
	nap(4000);
	unlock();
	STAY;
}
