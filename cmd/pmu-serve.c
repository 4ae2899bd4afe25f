/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-serve - serve profiles by HTTP, to go tool pprof and to profile collectors.
 *
 * Runs the other tools for each request, and writes its addresses to stdout.
 */
#include "base/units.h"
#include "labels/label-options.h"
#include "push/push-url.h"
#include "serve/allow.h"
#include "serve/listen.h"
#include "serve/query.h"
#include "serve/server.h"
#include "tool/command.h"

#include <stdio.h>
#include <string.h>

static bool insecure;
static const char *keep_query = "frequency=19";
static struct query kept;
static struct word_list push;
static struct push_url push_url;
static struct word_list addresses;
static struct serve_settings settings = {
	.addresses = &addresses, .allow = ALLOW_DEFAULT, .call_graph = "auto",
	.max_seconds = 60 * UINT64_C(1000000000), .jobs = 8, .max_cost = 0.05,
	.interval = 60 * UINT64_C(1000000000), .keep_bytes = 1 << 30, .keep_query = &kept,
};

/* Parse LIST, which --labels passes to pmu-sample, into the text VALUE. */
static const char *parse_labels(const char *list, void *value)
{
	struct label_options unused = { 0 };

	*(const char **)value = list;
	const char *wrong = label_options_parse(list, &unused);

	label_options_release(&unused);
	return wrong;
}

/* Parse "TIME" or "TIME,SIZE" into a struct serve_settings. */
static const char *parse_keep(const char *text, void *value)
{
	enum { SECOND = 1000000000 };
	struct serve_settings *s = value;
	const char *comma = strchr(text, ',');
	char time[32];

	snprintf(time, sizeof(time), "%.*s", comma ? (int)(comma - text) : 31, text);
	if (!units_parse_duration(time, &s->keep) || s->keep < SECOND)
		return text;
	if (comma && (!units_parse_count(comma + 1, &s->keep_bytes) || !s->keep_bytes))
		return comma + 1;
	return NULL;
}

#define KEEP "Keep profiles"
#define PUSH "Send kept profiles to another server"
#define LIMITS "Who may ask, and for how much"
#define RECORDING "How to sample"
#define TARGETS "pid comm cgroup uid all"

static const char *const push_forms[] = {
	[PUSH_ROWS] = "rows", [PUSH_PPROF] = "pprof", [PUSH_ROWS_DETAIL] = "rows-detail", NULL
};

static const struct command_option options[] = {
	{ 'l', "listen", "ADDRESS", "listen on ADDRESS:PORT or unix:PATH; may be repeated",
	  SETS_LIST(addresses) },
	{ 'p', "pid", "PID", "sample process PID", SETS_INTEGER(settings.pid), .least = 1,
	  .excludes = TARGETS },
	{ 0, "comm", "NAME", "sample the processes with this name at the time of a request",
	  SETS_TEXT(settings.comm), .excludes = TARGETS },
	{ 0, "cgroup", "PATH", "sample the processes in a cgroup", SETS_TEXT(settings.cgroup),
	  .excludes = TARGETS },
	{ 'u', "uid", "USER", "sample the processes of a user", SETS_TEXT(settings.user),
	  .excludes = TARGETS },
	{ 'a', "all", NULL, "sample all processes and the kernel", SETS_FLAG(settings.system),
	  .excludes = TARGETS },
	{ 0, "any", NULL, "let requests choose a process: pid=, comm=", SETS_FLAG(settings.any),
	  .group = LIMITS },
	{ 0, "allow", "EVENTS", "allow these kinds of events, or events by name",
	  SETS_TEXT(settings.allow),
	  .group = LIMITS },
	{ 0, "max-seconds", "TIME", "limit the length of a profile",
	  SETS_TIME(settings.max_seconds),
	  .least = 10 * 1000 * 1000,
	  .group = LIMITS },
	{ 0, "jobs", "COUNT", "sample for at most COUNT requests at the same time",
	  SETS_COUNT(settings.jobs), .least = 1, .most = 1000,
	  .group = LIMITS },
	{ 0, "max-cost", "SHARE", "refuse requests while profiling takes this share of a CPU",
	  SETS_SHARE(settings.max_cost),
	  .group = LIMITS },
	{ 0, "token-file", "FILE", "answer only requests with the token in FILE",
	  SETS_TEXT(settings.token_file),
	  .group = LIMITS },
	{ 0, "insecure", NULL, "listen to other machines without a token", SETS_FLAG(insecure),
	  .group = LIMITS },
	{ 0, "call-graph", "HOW", "record callchains: auto, fp, dwarf[,BYTES], lbr or none",
	  SETS_TEXT(settings.call_graph),
	  .group = RECORDING },
	{ 0, "labels", "[LIST]", "record labels of threads: go, otel, custom (all), ids, key:NAME",
	  PARSED_BY(parse_labels, settings.labels, LABEL_OPTIONS_TAKES),
	  .group = RECORDING },
	{ 0, "cache", "DIR", "let pmu-symbolize cache functions and lines in DIR",
	  SETS_TEXT(settings.cache),
	  .group = RECORDING },
	{ 0, "keep", "TIME[,SIZE]", "sample all the time; keep profiles of the last TIME in DIR",
	  PARSED_BY(parse_keep, settings, "a time from 1s on, such as 24h, and a size such as 1Gi"),
	  .group = KEEP },
	{ 0, "interval", "TIME", "write one of these profiles every TIME",
	  SETS_TIME(settings.interval), .least = 1000000000, .needs = "keep", .group = KEEP },
	{ 0, "keep-query", "QUERY", "events and options of these profiles, as in a request",
	  SETS_TEXT(keep_query), .needs = "keep", .group = KEEP },
	{ 0, "push", "URL", "send each kept profile to URL: http://HOST:PORT/..., or unix:PATH",
	  SETS_LIST(push), .needs = "keep", .group = PUSH },
	{ 0, "push-as", "FORM", "as rows, or as files (Pyroscope)",
	  SETS_CHOICE(settings.push_as, push_forms), .needs = "push", .group = PUSH },
	{ 0, "push-credentials", "FILE", "send a token, or a user and a password, from FILE",
	  SETS_TEXT(settings.push_credentials), .needs = "push", .group = PUSH },
	{ 0, "host", "NAME", "name this machine NAME there, not by its own name",
	  SETS_TEXT(settings.host), .needs = "push", .group = PUSH },
	{ 0, "service", "NAME", "name what is sampled NAME there", SETS_TEXT(settings.service),
	  .needs = "push", .group = PUSH },
	{ 0 }
};

static const struct command_spelling spellings[] = {
	{ .name = "label-allow", .argument = true, .instead = "use --labels=key:NAME" },
	{ .name = "keep-bytes", .argument = true, .instead = "use --keep TIME,SIZE" },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-serve",
	.purpose = "serve profiles by HTTP",
	.operands = "{-p PID | --comm NAME | -a | ... | --any} [DIR]",
	.options = options,
	.spellings = spellings,
};

static bool has_target(void)
{
	return settings.pid || settings.comm || settings.cgroup || settings.user ||
	       settings.system;
}

static void check_target(void)
{
	if (!has_target() && !settings.any)
		command_misused(&command, "nothing to sample: give -p PID, --comm NAME, -a, or "
				"--any");
}

static void check_addresses(void)
{
	if (addresses.count == 0) {
		static const char *normal[] = { "127.0.0.1:6060" };
		addresses = (struct word_list){ .item = normal, .count = 1 };
	}
	for (size_t i = 0; i < addresses.count; i++) {
		const char *address = addresses.item[i];
		if (listen_check(address))
			command_misused(&command, "--listen takes an address such as "
					"127.0.0.1:6060, [::1]:6060 or unix:PATH, not '%s'",
					address);
		if (!listen_is_local(address) && !settings.token_file && !insecure)
			command_misused(&command, "'%s' is open to other machines: give a "
					"--token-file, or --insecure", address);
	}
}

static void check_texts(void)
{
	struct query *unused = &(struct query){ 0 };

	if (allow_check(settings.allow))
		command_misused(&command, "--allow takes kinds and names of events, such as "
				"hardware,sched:sched_switch, not '%s'", settings.allow);
	if (!query_set_callgraph(unused, settings.call_graph))
		command_misused(&command, "--call-graph takes one of auto, fp, dwarf, lbr, none, "
				"or dwarf,BYTES with a multiple of 8 up to 65528, not '%s'",
				settings.call_graph);
}

/* Check --keep and the options that need it.  OPERAND: the directory of --keep, or NULL. */
static void check_keep(const char *operand)
{
	enum { PARAMETERS = QUERY_EVENT | QUERY_PERIOD | QUERY_RATE | QUERY_HZ | QUERY_CALLGRAPH |
			    QUERY_LABEL | QUERY_FALLBACK };

	if (!operand && settings.keep)
		command_misused(&command, "--keep needs DIR, a directory for the profiles");
	if (operand && !settings.keep)
		command_misused(&command, "'%s' is used only with --keep TIME", operand);
	if (settings.keep && !has_target())
		command_misused(&command, "--keep needs a target: -p PID, --comm NAME, -a, ...");
	if (!query_parse(&kept, keep_query, PARAMETERS))
		command_misused(&command, "--keep-query: %s", kept.wrong);
	if (kept.program_labels && !settings.labels)
		command_misused(&command, "--keep-query: labels of programs need --labels");
	settings.keep_dir = operand;
}

static void check_push(void)
{
	if (push.count == 0)
		return;
	if (push.count > 1)
		command_misused(&command, "give only one --push: each other server needs a "
				"pmu-serve of its own, with a DIR of its own");
	const char *wrong = push_url_parse(push.item[0], &push_url);
	if (wrong)
		command_misused(&command, "--push does not take '%s': %s", push.item[0], wrong);
	settings.push = &push_url;
}

int main(int argc, char **argv)
{
	struct report report;
	int first = command_begin(&command, &report, argc, argv);

	if (first + 1 < argc)
		command_misused(&command, "takes no '%s'", argv[first + 1]);
	check_keep(first < argc ? argv[first] : NULL);
	check_target();
	check_addresses();
	check_texts();
	check_push();
	struct server *server = server_open(&settings, &report);
	for (size_t i = 0; server && server_address(server, i); i++)
		printf("%s\n", server_address(server, i));
	fflush(stdout);
	if (server)
		server_run(server);
	server_close(server);
	push_url_release(&push_url);
	return command_end(&report);
}
