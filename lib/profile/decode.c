/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/decode.h"
#include "base/arena.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

/* All of FILE, uncompressed by zlib if it is gzip'd; the caller frees. */
static uint8_t *read_whole(const char *file, size_t *size, struct report *report)
{
	int fd = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	gzFile in = fd < 0 ? NULL : gzdopen(fd, "rb");
	size_t capacity = 1 << 16;
	uint8_t *bytes = NULL;
	int n, error;

	if (!in) {
		report_failure(report, "cannot open '%s'", file);
		return NULL;
	}
	*size = 0;
	do {
		bytes = mem_resize(bytes, capacity *= 2);
		n = gzread(in, bytes + *size, (unsigned)(capacity - *size));
		*size += n > 0 ? (size_t)n : 0;
	} while (n > 0 && *size == capacity && capacity < PROFILE_MAX);
	const char *why = gzerror(in, &error);
	if (error != Z_OK && error != Z_STREAM_END) {
		report_error(report, "cannot read '%s': %s", file,
			     error == Z_ERRNO ? strerror(errno) : why);
		free(bytes);
		bytes = NULL;
	}
	gzclose(in);
	return bytes;
}

static bool is_string(const Perftools__Profiles__Profile *p, int64_t index)
{
	return index >= 0 && (uint64_t)index < p->n_string_table;
}

/* Whether all the indices into the string table are inside it. */
static bool strings_are_sound(const Perftools__Profiles__Profile *p)
{
	bool good = p->n_string_table > 0 && is_string(p, p->default_sample_type);

	for (size_t i = 0; i < p->n_sample_type; i++)
		good &= is_string(p, p->sample_type[i]->type) &&
			is_string(p, p->sample_type[i]->unit);
	for (size_t i = 0; i < p->n_mapping; i++)
		good &= is_string(p, p->mapping[i]->filename) &&
			is_string(p, p->mapping[i]->build_id);
	for (size_t i = 0; i < p->n_function; i++)
		good &= is_string(p, p->function[i]->name) &&
			is_string(p, p->function[i]->system_name) &&
			is_string(p, p->function[i]->filename);
	for (size_t i = 0; i < p->n_comment; i++)
		good &= is_string(p, p->comment[i]);
	for (size_t i = 0; i < p->n_sample; i++)
		for (size_t k = 0; k < p->sample[i]->n_label; k++)
			good &= is_string(p, p->sample[i]->label[k]->key) &&
				is_string(p, p->sample[i]->label[k]->str) &&
				is_string(p, p->sample[i]->label[k]->num_unit);
	if (p->period_type)
		good &= is_string(p, p->period_type->type) && is_string(p, p->period_type->unit);
	return good && is_string(p, p->drop_frames) && is_string(p, p->keep_frames);
}

static bool samples_are_sound(const Perftools__Profiles__Profile *p)
{
	for (size_t i = 0; i < p->n_sample; i++)
		if (p->sample[i]->n_value != p->n_sample_type)
			return false;
	return p->n_sample_type > 0;
}

Perftools__Profiles__Profile *profile_read(const char *file, struct report *report)
{
	size_t size;
	uint8_t *bytes = read_whole(file, &size, report);

	if (!bytes)
		return NULL;
	Perftools__Profiles__Profile *p = perftools__profiles__profile__unpack(NULL, size, bytes);
	free(bytes);
	if (!p || !strings_are_sound(p) || !samples_are_sound(p)) {
		report_error(report, "'%s' is no pprof profile, or damaged; streams are joined by "
			     "pmu-stream --cat", file);
		profile_free(p);
		return NULL;
	}
	for (size_t i = 0; i < p->n_string_table; i++)
		text_make_safe(p->string_table[i]);
	return p;
}

void profile_free(Perftools__Profiles__Profile *p)
{
	if (p)
		perftools__profiles__profile__free_unpacked(p, NULL);
}
