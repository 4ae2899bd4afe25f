/* SPDX-License-Identifier: Apache-2.0 */
/* branch-list - the branches that were mispredicted most, as a table or as JSON. */
#pragma once
#include "base/output.h"
#include "branch/branches.h"
#include "names/demangle.h"

enum branch_list { BRANCH_TABLE, BRANCH_JSON };

/*
 * Write the branches that branches_choose() has left of B, which is for people, to OUT: all as
 * JSON, or the first 20 as a table.  Names have STYLE.
 */
void branch_list_write(struct branches *b, enum branch_list form, enum demangle_style style,
		       struct output *out);
