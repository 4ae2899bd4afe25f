/* SPDX-License-Identifier: Apache-2.0 */
/* counting-machine - which machine counted: counts of different ones seldom compare. */
#pragma once
#include <stdbool.h>

struct counting_machine {
	char name[128], kernel[128], cpu[128];	/* host name, release, model; "": unknown */
};

/* Set M to this machine.  The texts are safe for a terminal. */
void counting_machine_read(struct counting_machine *m);

/* Return whether A and B are the same, as far as both are known. */
bool counting_machine_is(const struct counting_machine *a, const struct counting_machine *b);
