/* SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
	LONGEST = 64,		/* no suggestions for longer names */
	MOST_EDITS = 2,		/* with more edits, it is another name: LLC-loads is not a typing
				   error for mem-loads */
};

void suggest_begin(struct suggestion *s, struct slice wanted)
{
	*s = (struct suggestion){ .wanted = wanted };
	/* if more than a third of the letters are wrong, it is another word, not a typing error */
	size_t most = wanted.size / 3 < MOST_EDITS ? wanted.size / 3 : MOST_EDITS;
	s->distance = wanted.size > LONGEST ? 0 : (unsigned int)most + 1;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Return the number of edits from A to B, both at most LONGEST: keeps three rows of the table. */
static unsigned int distance(struct slice a, struct slice b)
{
	unsigned int row[3][LONGEST + 1];

	for (unsigned int j = 0; j <= b.size; j++)
		row[0][j] = j;
	for (unsigned int i = 1; i <= a.size; i++) {
		unsigned int *now = row[i % 3];
		const unsigned int *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
		now[0] = i;
		for (unsigned int j = 1; j <= b.size; j++) {
			bool same = same_letter(a.at[i - 1], b.at[j - 1]);
			now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same);
			if (i > 1 && j > 1 && same_letter(a.at[i - 1], b.at[j - 2]) &&
			    same_letter(a.at[i - 2], b.at[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return row[a.size % 3][b.size];
}

void suggest_try(struct suggestion *s, const char *name)
{
	struct slice b = { name, strlen(name) };
	size_t differ = b.size > s->wanted.size ? b.size - s->wanted.size
						: s->wanted.size - b.size;

	if (b.size > LONGEST || differ >= s->distance)
		return;
	unsigned int d = distance(s->wanted, b);
	if (d < s->distance) {
		s->distance = d;
		snprintf(s->best, sizeof(s->best), "%s", name);
	}
}
