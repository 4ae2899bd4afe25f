/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/figures.h"
#include "base/arena.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void figures_write(char text[FIGURES_SIZE], const struct figures *f)
{
	snprintf(text, FIGURES_SIZE, FIGURES_KEY "samples=%" PRIu64 " squares=%.9g lost=%" PRIu64
		 " enabled=%" PRIu64 " running=%" PRIu64 " complete=%d group=%d"
		 " run=%s count=%.199s value=%.199s", f->samples, f->squares,
		 f->lost, f->enabled, f->running, f->is_complete, f->is_group,
		 *f->run ? f->run : "-", f->count, f->value);
}

bool figures_read(const char *fact, struct figures *f, struct figures_text *room)
{
	int complete, group;

	*f = (struct figures){ .run = room->run, .count = room->count, .value = room->value };
	if (sscanf(fact, FIGURES_KEY "samples=%" SCNu64 " squares=%lg lost=%" SCNu64 " enabled=%"
		   SCNu64 " running=%" SCNu64 " complete=%d group=%d run=%15s count=%199s"
		   " value=%199s",
		   &f->samples, &f->squares, &f->lost, &f->enabled, &f->running, &complete,
		   &group, room->run, room->count, room->value) != 10)
		return false;
	f->is_complete = complete;
	f->is_group = group;
	if (!strcmp(room->run, "-"))
		room->run[0] = '\0';
	return isfinite(f->squares) && f->squares >= 0;
}

void figures_write_sides(char text[FIGURES_SIZE], const struct figures_sides *s)
{
	snprintf(text, FIGURES_SIZE, FIGURES_SIDES_KEY "base_time=%" PRId64 " base_duration=%"
		 PRId64 " after_time=%" PRId64 " after_duration=%" PRId64, s->base.time,
		 s->base.duration, s->after.time, s->after.duration);
}

bool figures_read_sides(const char *fact, struct figures_sides *s)
{
	*s = (struct figures_sides){ { 0 }, { 0 } };
	return sscanf(fact, FIGURES_SIDES_KEY "base_time=%" SCNd64 " base_duration=%"
		      SCNd64 " after_time=%" SCNd64 " after_duration=%" SCNd64,
		      &s->base.time, &s->base.duration, &s->after.time, &s->after.duration) == 4;
}

void figures_write_slices(char text[FIGURES_SIZE], uint64_t length)
{
	snprintf(text, FIGURES_SIZE, FIGURES_SLICES_KEY "%" PRIu64 "ms each", length / 1000000);
}

bool figures_read_slices(const char *fact, uint64_t *length)
{
	char text[32];

	return sscanf(fact, FIGURES_SLICES_KEY "%31s", text) == 1 &&
	       units_parse_duration(text, length);
}

char *figures_write_rows(const struct figures_rows *r)
{
	const size_t size = r->host_size + r->service_size + 128;
	char *text = mem_resize(NULL, size);
	int length = snprintf(text, size, FIGURES_ROW_TIME_KEY "time=%" PRId64 " duration=%" PRId64
			      " host=%zu service=%zu ", r->time, r->duration, r->host_size,
			      r->service_size);
	char *to = mempcpy(text + length, r->host, r->host_size);

	*(char *)mempcpy(to, r->service, r->service_size) = '\0';
	return text;
}

bool figures_read_rows(const char *fact, struct figures_rows *r)
{
	int length = 0;

	if (sscanf(fact, FIGURES_ROW_TIME_KEY "time=%" SCNd64 " duration=%" SCNd64 " host=%zu "
		   "service=%zu%n", &r->time, &r->duration, &r->host_size, &r->service_size,
		   &length) != 4 || fact[length] != ' ')
		return false;
	r->host = fact + length + 1;
	size_t size = strlen(r->host);
	if (r->host_size > size || r->service_size != size - r->host_size)
		return false;
	r->service = r->host + r->host_size;
	return true;
}

void figures_write_slots(char text[FIGURES_SIZE], uint32_t slots)
{
	snprintf(text, FIGURES_SIZE, FIGURES_SLOTS_KEY "%" PRIu32, slots);
}

bool figures_read_slots(const char *fact, uint32_t *slots)
{
	return sscanf(fact, FIGURES_SLOTS_KEY "%9" SCNu32, slots) == 1 && *slots > 0;
}
