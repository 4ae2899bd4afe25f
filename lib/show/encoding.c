/* SPDX-License-Identifier: Apache-2.0 */
#include "show/encoding.h"
#include "base/json.h"

#include <ctype.h>
#include <inttypes.h>

static const char *type_name(const struct event *event)
{
	static const char *const names[] = {
		[PERF_TYPE_HARDWARE] = "hardware", [PERF_TYPE_SOFTWARE] = "software",
		[PERF_TYPE_TRACEPOINT] = "tracepoint", [PERF_TYPE_HW_CACHE] = "cache",
		[PERF_TYPE_RAW] = "raw", [PERF_TYPE_BREAKPOINT] = "breakpoint",
	};
	uint32_t type = event->attr.type;

	return type < sizeof(names) / sizeof(names[0]) ? names[type]
						       : event->pmu ? event->pmu : "a PMU's own";
}

/* Get names and values of the config words after the first; in a breakpoint they are bp_*. */
static int config_words(const struct event *event, const char *name[3], uint64_t value[3])
{
	const struct perf_event_attr *attr = &event->attr;
	bool breakpoint = attr->type == PERF_TYPE_BREAKPOINT;
	int n = 0;

	name[n] = breakpoint ? "bp_addr" : "config1";
	value[n++] = attr->config1;
	name[n] = breakpoint ? "bp_len" : "config2";
	value[n++] = attr->config2;
#ifdef PERF_ATTR_SIZE_VER8
	name[n] = "config3";
	value[n++] = attr->config3;
#else
	name[n] = "bp_type";
	value[n] = attr->bp_type;
	n += breakpoint;
#endif
	return n;
}

/* Print the CPUs of EVENT as ranges, "0-7,16". */
static void print_cpus(const struct event *event)
{
	for (size_t i = 0; i < event->cpus; i++) {
		size_t last = i;
		while (last + 1 < event->cpus && event->cpu[last + 1] == event->cpu[last] + 1)
			last++;
		printf("%s%d", i ? "," : "", event->cpu[i]);
		if (last > i)
			printf("-%d", event->cpu[last]);
		i = last;
	}
}

static void print_sampling(const struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->freq)
		printf("\tsample   %" PRIu64 " times per second\n", (uint64_t)attr->sample_freq);
	else if (attr->sample_period == 0)
		printf("\tsample   never: the sampled event of its group reads it\n");
	else if (attr->sample_period == 1)
		printf("\tsample   every one\n");
	else
		printf("\tsample   every %" PRIu64 "\n", (uint64_t)attr->sample_period);
}

static void print_one(const struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	const char *name[3];
	uint64_t value[3];

	printf("%s\n", event->name);
	if (attr->type == EVENT_TYPE_ABSENT)
		printf("\ttype     unknown (this machine has no %s)\n", event->pmu);
	else
		printf("\ttype     %u (%s)\n", attr->type, type_name(event));
	printf("\tconfig   0x%" PRIx64 "\n", (uint64_t)attr->config);
	int words = config_words(event, name, value);
	for (int i = 0; i < words; i++)
		if (value[i])
			printf("\t%-8s 0x%" PRIx64 "\n", name[i], value[i]);
	printf("\texclude  user %u, kernel %u, hv %u, idle %u, host %u, guest %u\n",
	       attr->exclude_user, attr->exclude_kernel, attr->exclude_hv, attr->exclude_idle,
	       attr->exclude_host, attr->exclude_guest);
	if (event->precise_max)
		printf("\tprecise  the highest level that opens\n");
	else
		printf("\tprecise  %u\n", attr->precise_ip);
	print_sampling(event);
	if (attr->pinned || attr->exclusive || event->weak)
		printf("\tcounter %s%s%s\n", attr->pinned ? " pinned" : "",
		       attr->exclusive ? " exclusive" : "", event->weak ? " weak" : "");
	if (event->cpus) {
		printf("\tcpus     ");
		print_cpus(event);
		printf("%s\n", event->per_cpu ? ", and no process" : "");
	}
	if (event->group)
		printf("\tgroup    %u%s\n", event->group,
		       attr->read_format & PERF_FORMAT_GROUP ? ", read together" : "");
	if (event->scale != 1)
		printf("\tunit     %s, of %g\n", event->unit, event->scale);
	else
		printf("\tunit     %s\n", event->unit);
}

void encoding_print(const struct event_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		print_one(&list->event[i]);
}

static void json_number(const char *key, uint64_t value)
{
	json_key(key, false);
	printf("%" PRIu64, value);
}

/* Print 64 bits as a string: numbers in JavaScript have only 53 bits. */
static void json_hex(const char *key, uint64_t value)
{
	json_key(key, false);
	printf("\"0x%" PRIx64 "\"", value);
}

static void json_bool(const char *key, bool value)
{
	json_key(key, false);
	fputs(value ? "true" : "false", stdout);
}

static void print_one_json(const struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	const char *name[3];
	uint64_t value[3];

	json_key("name", true);
	json_string(event->name);
	json_text("base", event->base);
	json_text("modifiers", event->letters);
	json_key("type", false);
	printf(attr->type == EVENT_TYPE_ABSENT ? "null" : "%u", attr->type);
	json_text("type_name", type_name(event));
	json_hex("config", attr->config);
	int words = config_words(event, name, value);
	for (int i = 0; i < words; i++)
		json_hex(name[i], value[i]);
	json_bool("exclude_user", attr->exclude_user);
	json_bool("exclude_kernel", attr->exclude_kernel);
	json_bool("exclude_hv", attr->exclude_hv);
	json_bool("exclude_idle", attr->exclude_idle);
	json_bool("exclude_host", attr->exclude_host);
	json_bool("exclude_guest", attr->exclude_guest);
	json_number("precise_ip", attr->precise_ip);
	json_bool("precise_max", event->precise_max);
	json_number("sample_period", attr->freq ? 0 : attr->sample_period);
	json_number("sample_freq", attr->freq ? attr->sample_freq : 0);
	json_number("floor", event->floor);
	json_bool("pinned", attr->pinned);
	json_bool("exclusive", attr->exclusive);
	json_bool("weak", event->weak);
	json_bool("read_group", attr->read_format & PERF_FORMAT_GROUP);
	json_number("group", event->group);
	json_text("pmu", event->pmu);
	json_key("cpus", false);
	putchar('"');
	print_cpus(event);
	putchar('"');
	json_bool("per_cpu", event->per_cpu);
	json_text("unit", event->unit);
	json_key("scale", false);
	printf("%.17g", event->scale);
}

void encoding_print_json(const struct event_list *list)
{
	printf("[");
	for (size_t i = 0; i < list->count; i++) {
		printf("%s\n  {", i ? "," : "");
		print_one_json(&list->event[i]);
		printf("}");
	}
	printf("\n]\n");
}

/* Print EVENT's period or frequency as a term for perf. */
static void print_rate(const struct event *event)
{
	if (event->attr.freq)
		printf("freq=%" PRIu64, (uint64_t)event->attr.sample_freq);
	else
		printf("period=%" PRIu64, (uint64_t)event->attr.sample_period);
}

/* Return whether BASE has the form PMU/terms/, which perf accepts as it is. */
static bool has_terms(const char *base)
{
	size_t size = strlen(base);

	return size > 2 && base[size - 1] == '/' && base[size - 2] != '/';
}

/* Print a raw event as PMU/terms/, with a name in which perf's lexer allows all characters. */
static void print_raw(const struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	printf("%s/config=0x%" PRIx64, event->pmu ? event->pmu : "cpu", (uint64_t)attr->config);
	if (attr->config1)
		printf(",config1=0x%" PRIx64, (uint64_t)attr->config1);
	if (attr->config2)
		printf(",config2=0x%" PRIx64, (uint64_t)attr->config2);
	printf(",name=");
	for (const char *c = event->base; *c; c++)
		putchar(isalnum((unsigned char)*c) ? *c : '_');
	if (attr->sample_period || attr->freq) {
		putchar(',');
		print_rate(event);
	}
	printf("/%s", event->letters);
}

static void print_one_perf(const struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	bool sampled = attr->sample_period || attr->freq;

	bool maker = strstr(event->base, "::") && !event->per_cpu && event->pmu;

	if ((attr->type == PERF_TYPE_RAW || maker) && !has_terms(event->base)) {
		print_raw(event);
	} else if (!sampled || attr->type == PERF_TYPE_TRACEPOINT ||
		   attr->type == PERF_TYPE_BREAKPOINT) {
		/* perf allows no period term here; its default is a period of 1, like ours */
		printf("%s%s%s", event->base, *event->letters && !has_terms(event->base) ? ":" : "",
		       event->letters);
	} else if (has_terms(event->base)) {
		printf("%.*s,", (int)strlen(event->base) - 1, event->base);
		print_rate(event);
		printf("/%s", event->letters);
	} else {
		printf("%s/", event->base);
		print_rate(event);
		printf("/%s", event->letters);
	}
}

void encoding_print_perf(const struct event_list *list)
{
	uint32_t group = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct event *event = &list->event[i];
		if (group && event->group != group)
			putchar('}');
		if (i)
			putchar(',');
		if (event->group && event->group != group)
			putchar('{');
		group = event->group;
		print_one_perf(event);
	}
	printf("%s\n", group ? "}" : "");
}

bool encoding_print_check(const struct event_list *list, bool json)
{
	int width = 0;
	bool all = true;
	char why[400];

	for (size_t i = 0; i < list->count; i++)
		if ((int)strlen(list->event[i].name) > width && strlen(list->event[i].name) < 40)
			width = (int)strlen(list->event[i].name);
	for (size_t i = 0; i < list->count; i++) {
		const struct event *event = &list->event[i];
		bool good = event_check(event, why, sizeof(why));
		all &= good;
		if (json) {
			printf("%s\n  {\"name\": ", i ? "," : "[");
			json_string(event->name);
			json_bool("ok", good);
			json_text("why", why);
			printf("}");
		} else {
			printf("%-*s  %s\n", width, event->name, why);
		}
	}
	if (json)
		printf(list->count ? "\n]\n" : "[]\n");
	return all;
}
