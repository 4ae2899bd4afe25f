/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short-ways - lets a test build the tools without short ways.  A short way is a cache in front of
 * a table, a decoder that reads a part of a record, or a rule that skips what is not used.  Built
 * with -DSHORT_WAYS=0, the tools take none.  Their output must stay the same
 * (tests/t150-short-ways.sh).
 */
#pragma once

#ifndef SHORT_WAYS
#define SHORT_WAYS 1
#endif
