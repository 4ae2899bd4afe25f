/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short-ways - a switch for all short ways.  A short way is a cache in front of a table, a decoder
 * that reads a part of a record, or a rule that skips what is not used.  A build with
 * -DSHORT_WAYS=0 has none of them.  tests/t150-short-ways.sh checks that the output of both builds
 * is the same.
 */
#pragma once

#ifndef SHORT_WAYS
#define SHORT_WAYS 1
#endif
