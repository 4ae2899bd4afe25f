/* SPDX-License-Identifier: Apache-2.0 */
/* The options of tools that look for files, with the same names and texts in each. */
#pragma once
#include "locate/locate.h"
#include "tool/command.h"

/* Initial values of a struct locate_options; DIRS is a struct word_list for --debug-dir. */
#define LOCATE_DEFAULTS(dirs) { .debug_dirs = &(dirs), .debuginfod_time = LOCATE_FETCH_TIME, \
	.stop = &command_stop }

/* Rows of a table of options, which set WHERE, a struct locate_options, and DIRS. */
#define LOCATE_OPTIONS(where, dirs) \
	{ 0, "debug-dir", "DIR", "look for debug files in DIR first; may be repeated", \
	  SETS_LIST(dirs), .group = GROUP_FIND }, \
	{ 0, "sysroot", "DIR", "take files from DIR, a copy of the recorded machine's root", \
	  SETS_TEXT((where).sysroot), .group = GROUP_FIND }, \
	{ 0, "build-id-map", "FILE", "find files by the build IDs and paths in FILE", \
	  SETS_TEXT((where).build_id_map), .group = GROUP_FIND }, \
	{ 0, "buildid-dir", "DIR", "look for files in DIR, a cache of perf, not in ~/.debug", \
	  SETS_TEXT((where).build_id_dir), .group = GROUP_FIND }, \
	{ 0, "debuginfod", "URLS", "fetch missing files from these servers, by debuginfod-find", \
	  SETS_TEXT((where).debuginfod), .group = GROUP_FIND }, \
	{ 0, "debuginfod-time", "TIME", "wait at most TIME for these servers, in total", \
	  SETS_TIME((where).debuginfod_time), .needs = "debuginfod", .group = GROUP_FIND }

/* perf's spellings of these options, for struct command. */
#define LOCATE_SPELLINGS { .name = "symfs", .means = "sysroot" }
