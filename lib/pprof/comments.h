/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comments - the lines of a profile that are for people, and what tools read in them.
 *
 * Each starts with a key, which says what it is about.  A line of the user (--comment) never starts
 * with one of these keys, so tools cannot take it for one of theirs.
 */
#pragma once
#include "pprof/decode.h"
#include "record/loss.h"

#define COMMENT_COMMAND "command: "	/* the recorder's command line, then " | FILTER" for each */
#define COMMENT_FILTERS "filters: "	/* the same, if only the filters are known */
#define COMMENT_HOST "host: "
#define COMMENT_SERVICE "service: "	/* of all rows that a profile is made of */
#define COMMENT_RECORDER "recorder: "	/* its version, if the host is unknown */
#define COMMENT_LOST "lost: "
#define COMMENT_ENDS "cut stacks of programs: "
#define COMMENT_THROTTLED "throttled: "
#define COMMENT_LABELS "labels: "
#define COMMENT_LATENCY "latency: "
#define COMMENT_ESTIMATED "estimated: "
#define COMMENT_SCALED "scaled: "
#define COMMENT_MULTIPLEXED "multiplexed: "
#define COMMENT_LEFT_OUT "left out: "
#define COMMENT_USER "comment: "	/* of the user, where one of the other keys would follow */

enum { COMMENT_SIZE = 256 };	/* bytes of a comment that is written here, with its NUL */

/* Return COMMENT_USER if TEXT, a comment of the user, starts with one of the other keys, or "". */
const char *comment_user_key(const char *text);

/*
 * Write the comment on COUNT lost records of KIND to TEXT.  IS_SHOWN: the profile has WORD_LOST for
 * them.
 */
void comment_write_lost(char text[COMMENT_SIZE], enum loss_kind kind, uint64_t count,
			bool is_shown);

/* Return whether COMMENT says that other records than samples were lost, or may have been. */
bool comment_is_of_lost_records(const char *comment);

/* Return the text after KEY if COMMENT starts with KEY, or NULL. */
const char *comment_after(const char *comment, const char *key);

/* Return whether COMMENT shows that pmu-sample recorded a command from its start to its end. */
bool comment_is_whole_command(const char *comment);

/* Return whether a recorder of D varied the periods of the samples: pmu-sample --jitter. */
bool comments_have_jitter(const struct decoded *d);
