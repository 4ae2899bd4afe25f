/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modifier - the letters after an event's name; they mean what they mean in perf.
 *
 * The first of u, k and h excludes the other two levels; each further one includes its level
 * again.  An event without modifiers excludes guests.  An event with modifiers excludes guests
 * only if u, p or H is among them: an accident in perf, kept so that the same name counts the
 * same events.
 */
#include "event/internal.h"

enum { MOST_LETTERS = 24 };

/* Check LETTERS: all known, none given twice, at most three p. */
static bool check_letters(struct slice letters, struct modifier_error *wrong)
{
	static const char known[] = "ukhGHIpPSDeW";
	int precise = 0;

	for (size_t i = 0; i < letters.size; i++) {
		const char *at = letters.at + i;
		wrong->at = at;
		if (!*at || !strchr(known, *at)) {
			wrong->why = "is not a modifier; u k h G H I p pp ppp P S D e W are";
			return false;
		}
		if (*at == 'p' ? ++precise > 3 : memchr(letters.at, *at, i) != NULL) {
			wrong->why = *at == 'p' ? "asks for more than precise level 3"
						: "is given twice";
			return false;
		}
	}
	if (precise && memchr(letters.at, 'P', letters.size)) {
		wrong->why = "and p exclude each other";
		wrong->at = memchr(letters.at, 'P', letters.size);
		return false;
	}
	return true;
}

/* Include the privilege level LETTER.  The first level included excludes the others. */
static void include_level(struct perf_event_attr *attr, char letter)
{
	if (!attr->exclude_user && !attr->exclude_kernel && !attr->exclude_hv)
		attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 1;
	if (letter == 'u')
		attr->exclude_user = 0;
	else if (letter == 'k')
		attr->exclude_kernel = 0;
	else
		attr->exclude_hv = 0;
}

/* Include guests (G) or the host (H).  The first one included excludes the other. */
static void include_side(struct perf_event_attr *attr, char letter, bool *chosen)
{
	if (!*chosen)
		attr->exclude_guest = attr->exclude_host = 1;
	*chosen = true;
	if (letter == 'G')
		attr->exclude_guest = 0;
	else
		attr->exclude_host = 0;
}

bool event_modify(struct event_list *list, struct event *event, struct slice letters, bool group,
		  struct modifier_error *wrong)
{
	struct perf_event_attr *attr = &event->attr;
	bool chosen = group && attr->exclude_host;
	unsigned int precise = 0;

	if (!check_letters(letters, wrong))
		return false;
	if (letters.size > 0 && !group)
		attr->exclude_guest = 0;
	for (size_t i = 0; i < letters.size; i++) {
		switch (letters.at[i]) {
		case 'u': case 'k': case 'h':
			include_level(attr, letters.at[i]);
			break;
		case 'G': case 'H':
			include_side(attr, letters.at[i], &chosen);
			break;
		case 'I': attr->exclude_idle = 1; break;
		case 'D': attr->pinned = 1; break;
		case 'e': attr->exclusive = 1; break;
		case 'p': precise++; break;
		case 'P': event->precise_max = true; break;
		case 'W': event->weak = true; break;
		case 'S':
			attr->sample_type |= PERF_SAMPLE_READ;
			attr->read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
			break;
		}
		if (strchr("up", letters.at[i]) && !chosen)
			attr->exclude_guest = 1;
	}
	if (precise) {
		attr->precise_ip = precise & 3;
		event->precise_max = false;
	} else if (event->precise_max) {
		attr->precise_ip = 0;	/* event_probe_precise() sets it */
	}
	event_rename(list, event);
	return true;
}

/* Write the modifiers of EVENT's attr to LETTERS.  READ: also the modifier S. */
static void spell_letters(const struct event *event, bool read, char letters[MOST_LETTERS])
{
	const struct perf_event_attr *attr = &event->attr;
	bool some = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;
	bool user = some && !attr->exclude_user;
	const char *precise = event->precise_max ? "P" : &"ppp"[3 - attr->precise_ip];
	const char *side = "";

	snprintf(letters, MOST_LETTERS, "%s%s%s%s%s%s%s%s%s", user ? "u" : "",
		 some && !attr->exclude_kernel ? "k" : "", some && !attr->exclude_hv ? "h" : "",
		 attr->exclude_idle ? "I" : "", precise,
		 read && attr->sample_type & PERF_SAMPLE_READ ? "S" : "",
		 attr->pinned ? "D" : "", attr->exclusive ? "e" : "", event->weak ? "W" : "");
	bool no_guest = !*letters || user || (attr->precise_ip && !event->precise_max);
	if (attr->exclude_host)
		side = "G";
	else if (attr->exclude_guest != no_guest)
		side = attr->exclude_guest ? "H" : "GH";
	snprintf(letters + strlen(letters), MOST_LETTERS - strlen(letters), "%s", side);
}

void event_rename(struct event_list *list, struct event *event)
{
	char letters[MOST_LETTERS];
	size_t base = strlen(event->base);
	bool slash = base > 0 && event->base[base - 1] == '/';

	spell_letters(event, true, letters);
	event->letters = arena_text(&list->arena, letters, sizeof(letters));
	if (event->named)
		return;
	/* :S says how an event is read, not what it counts: sample types have the name only */
	spell_letters(event, false, letters);
	size_t size = base + sizeof(letters) + 2;
	char *name = arena_alloc(&list->arena, size);
	snprintf(name, size, "%s%s%s", event->base, *letters && !slash ? ":" : "", letters);
	event->name = name;
}
