/* SPDX-License-Identifier: Apache-2.0 */
/* notes - what a profile's comments say that a reader of its values must know. */
#pragma once
#include "base/report.h"
#include "pprof/decode.h"

/*
 * Report what the comments of D say of values that were scaled to the recorder's count, and, if
 * LOSSES, of records that were lost, because names may be missing for that reason.
 */
void notes_report(const struct decoded *d, bool losses, struct report *report);
