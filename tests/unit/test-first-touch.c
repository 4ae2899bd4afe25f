/* SPDX-License-Identifier: Apache-2.0 */
/* The last function that touched a page is remembered, for the newest pages, and few functions. */
#include "process/first-touch.h"
#include "tests/unit/tap.h"

#include <string.h>

static struct first_touches touches;

static bool is_by(uint64_t space, uint64_t address, const char *function)
{
	uint32_t name = first_touch_find(&touches, space, address);

	return !strcmp(name ? touches.names.text[name] : "", function);
}

static void test_pages(void)
{
	first_touch_add(&touches, 1, 0x10010, "first");
	first_touch_add(&touches, 1, 0x11000, "second");
	first_touch_add(&touches, 2, 0x10010, "third");
	tap(is_by(1, 0x10fff, "first") && is_by(1, 0x10000, "first") && is_by(1, 0x11000, "second"),
	    "a name holds for its page");
	tap(is_by(2, 0x10000, "third") && is_by(3, 0x10000, ""), "each process has its own pages");
	first_touch_add(&touches, 1, 0x10020, "second");
	tap(is_by(1, 0x10000, "second") && touches.count == 3, "the last page fault counts");
}

static void test_limits(void)
{
	char name[16];

	for (uint64_t page = 0; page < TOUCHES_MAX - 2; page++)
		first_touch_add(&touches, 4, page * TOUCHED_PAGE, "many");
	tap(touches.count == TOUCHES_MAX, "a million pages are remembered, no more");
	tap(is_by(1, 0x10000, "") && is_by(1, 0x11000, "second") && is_by(4, 0, "many"),
	    "the oldest page gives way");
	for (int i = 0; i < TOUCH_NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		first_touch_add(&touches, 5, (uint64_t)i * TOUCHED_PAGE, name);
	}
	tap(touches.names.count == TOUCH_NAMES_MAX && is_by(5, 0, "f0") &&
	    is_by(5, (uint64_t)(TOUCH_NAMES_MAX - 1) * TOUCHED_PAGE, ""),
	    "further functions are not remembered");
	first_touch_add(&touches, 6, 0, "f0");
	tap(is_by(6, 0, "f0"), "those that are known still are");
}

int main(void)
{
	test_pages();
	test_limits();
	first_touches_release(&touches);
	return tap_done();
}
