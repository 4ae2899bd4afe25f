/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler's messages.
 *
 * They are in a file, not in a pipe, which might get full: then the sampler would wait.  Each line
 * is "pmu-sample: TEXT"; after wrong usage there are more.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/text.h"
#include "self/running-profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES_MOST = 1 << 20 };	/* bytes that are read at once: more are not for people */

/* Return the text that the sampler has written since, or "".  The caller frees. */
static char *read_messages(struct pmukit_profile *p)
{
	size_t size = 0;
	char *text = mem_resize(NULL, 1);
	ssize_t n = 0;

	do {
		enum { PART = 4096 };

		text = mem_resize(text, size + PART + 1);
		n = pread(owned_fd(&p->messages), text + size, PART, p->messages_read);
		if (n > 0) {
			size += (size_t)n;
			p->messages_read += n;
		}
	} while ((n > 0 && size < MESSAGES_MOST) || (n < 0 && errno == EINTR));
	text[size] = '\0';
	return text;
}

/* Return the next line of *REST without the tool's name, safe to print, or NULL. */
static char *next_line(char **rest)
{
	static const char tool[] = "pmu-sample: ";
	char *line;

	do {
		line = strsep(rest, "\n");
	} while (line && !*line);
	if (line && !strncmp(line, tool, sizeof(tool) - 1))
		line += sizeof(tool) - 1;
	if (line)
		text_make_safe(line);
	return line;
}

static bool is_usage(const char *line)
{
	return !strncmp(line, "usage:", 6);
}

void messages_pass(struct pmukit_profile *p)
{
	char *text = read_messages(p), *rest = text, *line;

	while ((line = next_line(&rest)))
		report_take(&p->handle.report, REPORT_NOTE, false, line);
	free(text);
}

/* Return the errno that LINE ends with, if it says that the result could not be written; or 0. */
static int error_of(const char *line)
{
	static const int known[] = { ENOSPC, EFBIG, EDQUOT, EIO };
	size_t length = strlen(line);

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const char *text = strerror(known[i]);
		size_t size = strlen(text);

		if (length > size && !strcmp(line + length - size, text))
			return known[i];
	}
	return 0;
}

/* Say what is known of a sampler that has written no message. */
static int fail_silently(struct pmukit_profile *p)
{
	struct report *report = &p->handle.report;

	if (p->is_silent)
		report_error(report, "'%s' did not answer, and was ended", p->program);
	else if (p->has_started)
		report_error(report, "pmu-sample ended on its own, without a message; somebody may "
			     "have killed it");
	else
		report_error(report, "'%s' ended at once, without a message: is it pmu-sample?",
			     p->program);
	return PMUKIT_SAMPLER_FAILED;
}

/* Report LINE, by which the sampler says why it failed.  Return the status for it. */
static int fail_as_said(struct pmukit_profile *p, const char *line)
{
	char *sentence = result_sentence(p, line);
	int error = p->has_started ? error_of(line) : 0;

	errno = error;
	report_take(&p->handle.report, error ? REPORT_FAILURE : REPORT_ERROR, false, sentence);
	free(sentence);
	return error ? PMUKIT_SYSTEM : p->cause ? p->cause : PMUKIT_SAMPLER_FAILED;
}

/*
 * Give the caller the lines of TEXT as notes, but not the error that the sampler has named.  If it
 * has named none, this is the last line: set p->error to it.  Return whether the sampler says that
 * it was called wrongly.
 */
static bool pass_but_error(struct pmukit_profile *p, char *text)
{
	struct report *report = &p->handle.report;
	bool is_named = p->error[0];
	char *rest = text, *line, *last = NULL;

	while ((line = next_line(&rest)) && !is_usage(line)) {
		if (is_named && !strncmp(line, p->error, sizeof(p->error) - 1))
			continue;
		if (last)
			report_take(report, REPORT_NOTE, false, last);
		last = line;
	}
	if (last && (is_named || p->is_silent))
		report_take(report, REPORT_NOTE, false, last);
	else if (last)
		snprintf(p->error, sizeof(p->error), "%s", last);
	return line;
}

int messages_fail(struct pmukit_profile *p)
{
	if (profile_is_lost(p)) {
		messages_pass(p);
		report_error(&p->handle.report, OWNED_LOST);
		return PMUKIT_BROKEN;
	}
	char *text = read_messages(p);
	bool is_wrong_usage = pass_but_error(p, text);

	free(text);
	if (!p->error[0] || p->is_silent)
		return fail_silently(p);
	int status = fail_as_said(p, p->error);
	return is_wrong_usage ? PMUKIT_WRONG_ARGUMENT : status;
}
