/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/counting-machine.h"
#include "base/text.h"
#include "linux/cpus.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

void counting_machine_read(struct counting_machine *m)
{
	struct utsname here;

	*m = (struct counting_machine){ .name = "" };
	if (uname(&here) == 0) {
		snprintf(m->name, sizeof(m->name), "%s", here.nodename);
		snprintf(m->kernel, sizeof(m->kernel), "%s", here.release);
		if (!cpus_model(m->cpu, sizeof(m->cpu)))
			snprintf(m->cpu, sizeof(m->cpu), "%s", here.machine);
	}
	text_make_safe(m->name);
	text_make_safe(m->kernel);
	text_make_safe(m->cpu);
}

static bool is(const char *a, const char *b)
{
	return !*a || !*b || !strcmp(a, b);
}

bool counting_machine_is(const struct counting_machine *a, const struct counting_machine *b)
{
	return is(a->name, b->name) && is(a->kernel, b->kernel) && is(a->cpu, b->cpu);
}
