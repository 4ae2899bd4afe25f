/* SPDX-License-Identifier: Apache-2.0 */
/* The options of tools that select samples, with the same names and texts in each. */
#pragma once
#include "stream/selection.h"
#include "tool/command.h"

#define SELECTION_TIME_TAKES \
	"FROM,TO in seconds of the stream's clock, either of which may be missing"

/* The rows of a table of options (tool/command.h) that fill SELECTION, a struct selection. */
#define SELECTION_OPTIONS(selection) \
	{ 'p', "pid", "PID", "only samples of process PID", SETS_INTEGER((selection).pid), \
	  .group = GROUP_SELECT }, \
	{ 't', "tid", "TID", "only samples of thread TID", SETS_INTEGER((selection).tid), \
	  .group = GROUP_SELECT }, \
	{ 0, "comm", "NAME", "only samples of threads called NAME", \
	  SETS_TEXT((selection).comm), \
	  .group = GROUP_SELECT }, \
	{ 'C', "cpu", "CPU", "only samples taken on CPU", SETS_INTEGER((selection).cpu), \
	  .group = GROUP_SELECT }, \
	{ 'e', "event", "NAME", "only samples of this event", SETS_TEXT((selection).event), \
	  .group = GROUP_SELECT }, \
	{ 0, "time", "FROM,TO", "only samples between FROM and TO, in seconds", \
	  PARSED_BY(selection_parse_time, (selection), SELECTION_TIME_TAKES), \
	  .only = FOR_STREAMS, \
	  .group = GROUP_SELECT }
