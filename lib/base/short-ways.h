/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short-ways - turns all short ways on or off.  A short way saves work: a cache in front of a
 * table, a decoder that reads only a part of a record, or a rule that skips unused parts.  A build
 * with -DSHORT_WAYS=0 has no short way.  tests/t150-short-ways.sh checks that both builds have the
 * same output.
 */
#pragma once

#ifndef SHORT_WAYS
#define SHORT_WAYS 1
#endif
