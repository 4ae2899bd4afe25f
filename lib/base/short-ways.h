/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short-ways - turns every short way off, for tests: caches in front of tables, decoders that read
 * a part of a record, rules that skip what is not used.  Built with -DSHORT_WAYS=0, the tools go
 * the long way each time.  Their output must stay the same (tests/t150-short-ways.sh).
 */
#pragma once

#ifndef SHORT_WAYS
#define SHORT_WAYS 1
#endif
