/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/ratio-request.h"
#include "pprof/sample-type.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char ratio_request_form[] = "A/B, A/B*NUMBER or A/B*NUMBER=NAME of two sample types, or ipc, "
				  "mpki or miss-rate";

/* An event's names: the one for messages, then the others of the kernel, perf and Go. */
struct spellings {
	const char *name[4];
};

static const struct spellings cycles = { { "cycles", "cpu-cycles" } };
static const struct spellings instructions = { { "instructions" } };

/* Misses, and the accesses that miss.  The first pair is the usual one. */
static const struct pair {
	struct spellings misses, accesses;
} pairs[] = {
	{ { { "cache-misses", "cacheMisses" } }, { { "cache-references", "cacheReferences" } } },
	{ { { "branch-misses", "branchMisses" } },
	  { { "branches", "branch-instructions", "branchInstructions" } } },
	{ { { "L1-dcache-load-misses" } }, { { "L1-dcache-loads" } } },
	{ { { "L1-dcache-store-misses" } }, { { "L1-dcache-stores" } } },
	{ { { "L1-icache-load-misses" } }, { { "L1-icache-loads" } } },
	{ { { "LLC-load-misses" } }, { { "LLC-loads" } } },
	{ { { "LLC-store-misses" } }, { { "LLC-stores" } } },
	{ { { "dTLB-load-misses" } }, { { "dTLB-loads" } } },
	{ { { "dTLB-store-misses" } }, { { "dTLB-stores" } } },
	{ { { "iTLB-load-misses" } }, { { "iTLB-loads" } } },
	{ { { "node-load-misses" } }, { { "node-loads" } } },
	{ { { "node-store-misses" } }, { { "node-stores" } } },
};

enum { PAIRS = sizeof(pairs) / sizeof(*pairs) };

/* A ratio that has a name. */
struct ratio_known {
	const char *name;
	double factor;
	const struct spellings *a, *b;	/* NULL: misses; the accesses that miss */
};

static const struct ratio_known knowns[] = {
	{ "ipc", 1, &instructions, &cycles },
	{ "mpki", 1000, NULL, &instructions },
	{ "miss-rate", 1, NULL, NULL },
};

enum { KNOWNS = sizeof(knowns) / sizeof(*knowns) };

static const struct ratio_known *known(const char *text, size_t length)
{
	for (size_t i = 0; i < KNOWNS; i++)
		if (!strncmp(text, knowns[i].name, length) && !knowns[i].name[length])
			return &knowns[i];
	return NULL;
}

/* Split "A/B", the first LENGTH bytes of R->text. */
static bool split(struct ratio_request *r, size_t length)
{
	/* an event's name may contain a slash; the names of its types do not start with one */
	const char *slash = memchr(r->text, '/', length);
	size_t of_a = slash ? (size_t)(slash - r->text) : 0;

	if (!slash || of_a == 0 || of_a >= sizeof(r->a) || length - of_a - 1 == 0 ||
	    length - of_a - 1 >= sizeof(r->b))
		return false;
	snprintf(r->a, sizeof(r->a), "%.*s", (int)of_a, r->text);
	snprintf(r->b, sizeof(r->b), "%.*s", (int)(length - of_a - 1), slash + 1);
	return true;
}

bool ratio_request_parse(const char *text, struct ratio_request *r)
{
	const char *name = strrchr(text, '='), *times = strrchr(text, '*');
	size_t length = name ? (size_t)(name - text) : strlen(text);
	char *end;

	*r = (struct ratio_request){ .text = text, .factor = 1, .name = name ? name + 1 : text };
	if (times && times < text + length) {
		r->factor = strtod(times + 1, &end);
		if (end != text + length || end == times + 1 || !(r->factor > 0) ||
		    isinf(r->factor))
			return false;
		length = (size_t)(times - text);
	}
	r->known = known(text, length);
	if (r->known)
		r->factor *= r->known->factor;
	return (r->known || split(r, length)) && *r->name;
}

/* Return the type of the event with these names, or TABLE_NONE. */
static uint32_t find_event(const struct decoded *d, const struct spellings *event)
{
	uint32_t found = TABLE_NONE;

	for (size_t i = 0; i < 4 && event->name[i] && found == TABLE_NONE; i++)
		found = decoded_find_type(d, event->name[i]);
	return found;
}

/*
 * Return the pair of the misses that D has: the usual one; or the only one; or the usual one if D
 * has none.  Return NULL (reported) if D has several others.
 */
static const struct pair *choose_pair(const struct ratio_request *r, const struct decoded *d,
				      struct report *report)
{
	const struct pair *found = NULL;

	for (size_t i = 0; i < PAIRS; i++) {
		if (find_event(d, &pairs[i].misses) == TABLE_NONE)
			continue;
		if (found) {
			report_error(report, "--ratio %s: the profile has %s and %s: name two "
				     "sample types, such as %s/%s", r->text, found->misses.name[0],
				     pairs[i].misses.name[0], found->misses.name[0],
				     r->known->b ? r->known->b->name[0]
						 : found->accesses.name[0]);
			return NULL;
		}
		found = &pairs[i];
		if (i == 0)
			break;
	}
	return found ? found : &pairs[0];
}

/* Return the type of EVENT, or TABLE_NONE (reported). */
static uint32_t need_event(const struct decoded *d, const struct spellings *event,
			   struct report *report)
{
	uint32_t found = find_event(d, event);

	if (found == TABLE_NONE)
		sample_type_refuse(d, event->name[0], NULL, report);
	return found;
}

bool ratio_request_find(const struct ratio_request *r, const struct decoded *d,
			struct ratio_types *types, struct report *report)
{
	const struct ratio_known *k = r->known;

	*types = (struct ratio_types){ TABLE_NONE, TABLE_NONE };
	if (!k) {
		types->a = sample_type_find(d, r->a, NULL, report);
		if (types->a != TABLE_NONE)
			types->b = sample_type_find(d, r->b, NULL, report);
		return types->b != TABLE_NONE;
	}
	const struct pair *pair = k->a && k->b ? NULL : choose_pair(r, d, report);
	if (!pair && !(k->a && k->b))
		return false;
	types->a = need_event(d, k->a ? k->a : &pair->misses, report);
	if (types->a != TABLE_NONE)
		types->b = need_event(d, k->b ? k->b : &pair->accesses, report);
	return types->b != TABLE_NONE;
}
