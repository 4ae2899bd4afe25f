/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/comments.h"
#include "pprof/figures.h"
#include "record/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *comment_after(const char *comment, const char *key)
{
	size_t length = strlen(key);

	return strncmp(comment, key, length) ? NULL : comment + length;
}

const char *comment_user_key(const char *text)
{
	/* older versions wrote facts as comments, too */
	static const char *const key[] = {
		COMMENT_COMMAND, COMMENT_FILTERS, COMMENT_HOST, COMMENT_SERVICE, COMMENT_RECORDER,
		COMMENT_LOST, COMMENT_ENDS, COMMENT_THROTTLED, COMMENT_LABELS, COMMENT_LATENCY,
		COMMENT_ESTIMATED, COMMENT_SCALED, COMMENT_MULTIPLEXED, COMMENT_LEFT_OUT,
		FIGURES_KEY, FIGURES_SIDES_KEY, FIGURES_SLICES_KEY, FIGURES_SLOTS_KEY,
		FIGURES_OF_BASE FIGURES_KEY, FIGURES_ROW_HOST_KEY, FIGURES_ROW_SERVICE_KEY,
		FIGURES_ROW_TIME_KEY,
	};

	for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++)
		if (comment_after(text, key[i]))
			return COMMENT_USER;
	return "";
}

static const struct {
	const char *what, *how, *where;
} lost[] = {
	[LOSS_SAMPLES] = { " samples", "", "; they are at " WORD_LOST },
	[LOSS_MIXED] = { " records", ", samples, mappings or names",
			 "; " WORD_LOST " is an estimate of the samples" },
	[LOSS_OTHERS] = { " other records", ", such as mappings and names: names of functions may "
			  "be missing", "" },
};

void comment_write_lost(char text[COMMENT_SIZE], enum loss_kind kind, uint64_t count,
			bool is_shown)
{
	snprintf(text, COMMENT_SIZE, COMMENT_LOST "%" PRIu64 "%s never reached the stream%s%s",
		 count, lost[kind].what, lost[kind].how, is_shown ? lost[kind].where : "");
}

bool comment_is_of_lost_records(const char *comment)
{
	const char *what = comment_after(comment, COMMENT_LOST);

	if (!what)
		return false;
	what += strspn(what, "0123456789");
	return comment_after(what, lost[LOSS_MIXED].what) ||
	       comment_after(what, lost[LOSS_OTHERS].what);
}

/* Return where the command of the recorder begins in the command line TEXT, or NULL. */
static const char *command_in(const char *text)
{
	const char *command = strstr(text, " -- "), *filter = strstr(text, " | ");

	return command && (!filter || command < filter) ? command : NULL;
}

/* Return where the recorder's options end in the command line TEXT. */
static const char *end_of_options(const char *text)
{
	const char *command = command_in(text), *filter = strstr(text, " | ");

	return command ? command : filter ? filter : text + strlen(text);
}

/* Return whether one of the recorder's options in TEXT starts with OPTION: " --jitter". */
static bool has_option(const char *text, const char *option)
{
	const char *end = end_of_options(text), *at = strstr(text, option);

	return at && at < end;
}

bool comment_is_whole_command(const char *comment)
{
	const char *text = comment_after(comment, COMMENT_COMMAND);

	return text && command_in(text) && !has_option(text, " -d") &&
	       !has_option(text, " --duration") && !has_option(text, " -p") &&
	       !has_option(text, " -a");
}

bool comments_have_jitter(const struct decoded *d)
{
	for (uint32_t i = 0; i < d->comments; i++) {
		const char *text = comment_after(decoded_string(d, d->comment[i]),
						 COMMENT_COMMAND);
		if (text && has_option(text, " --jitter"))
			return true;
	}
	return false;
}
