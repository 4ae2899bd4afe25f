/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/push-log.h"
#include "serve/internal.h"

#include <inttypes.h>

static const double hour = 3600;	/* s until the same failure is reported again */

static const struct {
	const char *name, *hint;	/* what to do, for the report */
} failures[PUSH_FAILURES] = {
	[PUSH_NAME] = { "name", "" },
	[PUSH_CONNECT] = { "connect", "" },
	[PUSH_TIMEOUT] = { "timeout", "" },
	[PUSH_CONNECTION] = { "connection", "" },
	[PUSH_ANSWER] = { "answer", "" },
	[PUSH_REDIRECT] = { "redirect", "; redirects are not followed: give that URL" },
	[PUSH_UNAUTHORIZED] = { "unauthorized", "; see --push-credentials" },
	[PUSH_MISSING] = { "missing", "; is the URL right, and does the table exist?" },
	[PUSH_BUSY] = { "busy", "" },
	[PUSH_SERVER] = { "server", "" },
	[PUSH_REFUSED] = { "refused", "; are the URL, the table and the server's version right?" },
	[PUSH_CREDENTIALS] = { "credentials", "" },
	[PUSH_PROFILE] = { "profile", "" },
	[PUSH_MARK] = { "mark", "; after a restart, profiles are sent a second time" },
};

static const char *const drops[PUSH_DROPS] = {
	[PUSH_DELETED] = "deleted", [PUSH_NOT_TAKEN] = "refused", [PUSH_DAMAGED] = "damaged",
};

void push_log_failure(struct push_log *l, enum push_failure failure, const char *why,
		      size_t waiting)
{
	double now = server_now();

	l->failures[failure]++;
	if (now < l->due[failure])
		return;
	l->due[failure] = now + hour;
	l->has_failed |= failure != PUSH_MARK;
	report_event(l->report, "--push: %s: %s%s; profiles that wait: %zu", l->server, why,
		     failures[failure].hint, waiting);
}

void push_log_sent(struct push_log *l, uint64_t bytes, bool whole)
{
	l->bytes += bytes;
	if (!whole)
		return;
	l->profiles++;
	l->succeeded = time(NULL);
	if (l->has_failed)
		report_event(l->report, "--push: %s: profiles are sent again", l->server);
	l->has_failed = false;
}

void push_log_deleted(struct push_log *l, size_t count)
{
	double now = server_now();

	l->drops[PUSH_DELETED] += count;
	l->lost += count;
	if (l->lost == 0 || now < l->lost_due)
		return;
	report_event(l->report, "--push: profiles that were deleted before they were sent: %" PRIu64
		     "; --keep TIME,SIZE gives them more time and room", l->lost);
	l->lost = 0;
	l->lost_due = now + hour;
}

void push_log_dropped(struct push_log *l, enum push_drop drop, const char *name, const char *why)
{
	l->drops[drop]++;
	l->failures[PUSH_REFUSED] += drop == PUSH_NOT_TAKEN;
	if (drop == PUSH_NOT_TAKEN)
		report_note(l->report, "--push: %s takes others, but refuses '%s', which is not "
			    "sent again: %s", l->server, name, why);
	else
		report_note(l->report, "--push: '%s' cannot be sent: %s", name, why);
}

static void print_head(struct evbuffer *out, const char *name, const char *help)
{
	evbuffer_add_printf(out, "# HELP pmu_serve_%s %s\n# TYPE pmu_serve_%s counter\n", name,
			    help, name);
}

void push_log_print(const struct push_log *l, size_t waiting, struct evbuffer *out)
{
	metrics_print_one(out, "push_profiles_total", "counter", "Profiles that were sent.",
			  (double)l->profiles);
	metrics_print_one(out, "push_bytes_total", "counter",
			  "Bytes that were sent, without the heads of requests.",
			  (double)l->bytes);
	print_head(out, "push_failures_total", "Failures to send a profile, by reason.");
	for (int i = 0; i < PUSH_FAILURES; i++)
		evbuffer_add_printf(out, "pmu_serve_push_failures_total{reason=\"%s\"} %" PRIu64
				    "\n", failures[i].name, l->failures[i]);
	print_head(out, "push_dropped_total", "Profiles that will not be sent, by reason.");
	for (int i = 0; i < PUSH_DROPS; i++)
		evbuffer_add_printf(out, "pmu_serve_push_dropped_total{reason=\"%s\"} %" PRIu64
				    "\n", drops[i], l->drops[i]);
	metrics_print_one(out, "push_pending", "gauge", "Profiles that wait to be sent.",
			  (double)waiting);
	metrics_print_one(out, "push_last_success_timestamp_seconds", "gauge",
			  "When the last profile was sent, in seconds since 1970; 0: none was.",
			  (double)l->succeeded);
}
