/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect-options - parse arguments of options into a struct collect_options: for
 * command_option.parse.  Each returns NULL, or the first wrong word.
 */
#pragma once

/* "process", "thread" or a time. */
const char *collect_parse_split(const char *text, void *options);

/* "N" or "N,STACKS": the slices of time. */
const char *collect_parse_slices(const char *text, void *options);

/* Nothing, or "all": a profile of where threads wait. */
const char *collect_parse_block(const char *text, void *options);

/* Nothing, or "causes": a profile of who keeps threads waiting. */
const char *collect_parse_mutex(const char *text, void *options);
