/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resolver and its frames. A cache maps an address in an object to a frame, exactly. It is
 * used if the cache of resolver-chain.c misses; symbol tables are searched only if both miss.
 */
#include "base/clock.h"
#include "record/words.h"
#include "resolve/resolver-internal.h"

#include <sys/resource.h>

/* Return how many files this process may have open. */
static uint32_t files_limit(void)
{
	struct rlimit limit;
	bool is_known = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < UINT32_MAX;

	return is_known ? (uint32_t)limit.rlim_cur : UINT32_MAX;
}

struct resolver *resolver_new(const struct resolver_options *options, struct resolved *tables,
			      struct report *report)
{
	struct resolver *r = mem_zeroed(1, sizeof(*r));

	r->options = *options;
	/* The line in a caller comes from its inlined calls: needed unless lines are off, too. */
	r->sources = (struct sources){
		.images = { .where = options->where, .report = report,
			    .size = sizeof(struct source) },
		.cache = options->cache, .no_calls = options->no_inlines && options->no_lines,
		.no_lines = options->no_lines,
	};
	r->sources.cache.report = report;
	cache_check(&r->sources.cache);
	sources_begin(&r->sources);
	r->spaces.rename = options->symbols ? images_rename : NULL;
	r->spaces.rename_context = &r->sources.images;
	r->tables = tables;
	r->report = report;
	r->jit_credit = JIT_CREDIT_FIRST;
	r->limit = options->definitions_max;
	r->jit_budget.files_max = files_limit() / 2;
	recent_reset(&r->recent, RECENT_FIRST);
	return r;
}

/* Add symbols that the recorder put into the stream. */
static void follow_recorded(struct resolver *r, struct stream_reader *in,
			    const struct record *rec)
{
	struct cursor c = rec->body;

	if (cursor_u64(&c) == FEATURE_FILE && !recorded_names_add(&r->recorded, c))
		stream_damaged(in, rec, "FEATURE record with symbols that do not fit into it");
	if (r->recorded.is_full)
		report_once(r->report, "the stream has more symbols than are kept; further symbols "
			    "are dropped");
}

/* Forget the strings of thread names, because the names have new ids. */
static void forget_comms(struct resolver *r)
{
	free(r->comm);
	r->comm = NULL;
	r->comms = 0;
	r->comms_renumbered = r->spaces.tasks.renumbered;
}

void resolver_follow(struct resolver *r, struct stream_reader *in, const struct record *rec)
{
	resolver_remove_objects(r);
	r->spaces.all_is_code = stream_origin(in)->is_simpleperf;
	r->sources.images.is_local = resolver_is_local(in);
	r->sources.images.origin = stream_origin(in);
	r->in = in;
	if (r->options.symbols)
		images_follow(&r->sources.images, rec);
	if (!spaces_follow(&r->spaces, rec))
		stream_damaged(in, rec, "record with fields that do not fit into it");
	stream_note_tasks(in, &r->spaces.tasks);
	if (rec->type == RECORD_FINISHED_ROUND && r->sources.images.is_local && r->time &&
	    r->time != JIT_LATEST)
		spaces_forget_ended(&r->spaces, monotonic_ns(), r->time);
	if (r->spaces.silenced)
		report_more(r->report, r->spaces.silenced, SPACES_SILENCED, PROCESSES_MAX);
	if (r->comms_renumbered != r->spaces.tasks.renumbered)
		forget_comms(r);
	if (!r->options.symbols)
		return;
	if (rec->type == RECORD_FEATURE)
		follow_recorded(r, in, rec);
	else if (rec->type == PERF_RECORD_MMAP || rec->type == PERF_RECORD_MMAP2)
		resolver_open_mapped(r, in, rec);
	else if (rec->type == PERF_RECORD_KSYMBOL)
		resolver_kernel_follow(r, rec);
	resolver_jit_follow(r, in, rec);
}

/* Return the name counts of OBJECT, or of addresses without a mapping for TABLE_NONE. */
static struct name_counts *find_counts(struct resolver *r, uint32_t object)
{
	if (object >= PART_REMOVED)
		return object == TABLE_NONE ? &r->unmapped_counts : &r->removed_counts;
	for (; r->counts_size <= object; r->counts_size++) {
		r->name_counts = array_grow(r->name_counts, r->counts_size,
					    sizeof(*r->name_counts));
		r->name_counts[r->counts_size] = (struct name_counts){ 0 };
	}
	return &r->name_counts[object];
}

/* Add a frame with the LINES lines in r->line, and return its id. */
static uint32_t add_frame(struct resolver *r, const struct place *place, uint32_t lines)
{
	struct resolved_frame frame = { .object = place->object, .address = place->address,
					.lines = lines, .line = r->line };

	r->added++;
	r->again += resolver_was_defined(r, place);
	r->named += frame.lines > 0;
	find_counts(r, r->part[place->object].object)->frames[r->from]++;
	return resolved_add_frame(r->tables, &frame);
}

void resolver_name_frame(struct resolver *r, uint32_t id, uint32_t lines)
{
	const struct resolved_frame *f = &r->tables->frame[id];
	struct name_counts *counts = find_counts(r, r->part[f->object].object);

	counts->frames[FROM_NOTHING] -= counts->frames[FROM_NOTHING] > 0;
	counts->frames[r->from]++;
	r->named++;
	resolved_name_frame(r->tables, id, r->line, lines);
}

/* Return whether F has the LINES lines in r->line. */
static bool has_lines(const struct resolver *r, const struct resolved_frame *f, uint32_t lines)
{
	return f->lines == lines &&
	       (lines == 0 || !memcmp(f->line, r->line, lines * sizeof(*r->line)));
}

/*
 * Return the merged frame of OBJECT with the LINES lines in r->line, or TABLE_NONE.  Set *HASH to
 * the hash with which such a frame is added.
 */
static uint32_t find_merged(const struct resolver *r, uint32_t object, uint32_t lines,
			    uint64_t *hash)
{
	const struct resolved_frame *frame = r->tables->frame;

	*hash = hash_more(object, hash_bytes(r->line, lines * sizeof(*r->line)));
	return TABLE_FIND(&r->merged_table, *hash, i,
			  frame[i].object == object && has_lines(r, &frame[i], lines));
}

/*
 * Return the frame of PLACE beyond FRAMES_MAX frames. Then addresses of one object with the same
 * names and lines share a frame. If even these frames are too many, all share one.
 */
static uint32_t merged_frame(struct resolver *r, struct place place)
{
	bool is_full = r->tables->frames >= 2 * FRAMES_MAX;
	uint32_t lines = is_full ? 0 : resolver_find_lines(r, &place);

	if (r->tables->frames == FRAMES_MAX)
		report_note(r->report, "more than %d addresses were sampled: further addresses "
			    "of the same line are shown as one", FRAMES_MAX);
	if (is_full)
		place = resolver_place_unmapped(r, 0);
	if (lines == 0)
		lines = resolver_find_named_line(r, WORD_MORE_ADDRESSES);
	uint64_t hash;
	uint32_t id = find_merged(r, place.object, lines, &hash);
	if (id != TABLE_NONE)
		return id;
	id = add_frame(r, &place, lines);
	table_add(&r->merged_table, hash, id);
	return id;
}

uint32_t resolver_left_out_frame(struct resolver *r)
{
	struct place place = resolver_place_unmapped(r, 0);
	uint32_t lines = resolver_find_named_line(r, WORD_FRAMES_LEFT_OUT);
	uint64_t hash;
	uint32_t id = find_merged(r, place.object, lines, &hash);

	if (id != TABLE_NONE)
		return id;
	id = resolved_add_frame(r->tables, &(struct resolved_frame){
		.object = place.object, .lines = lines, .line = r->line });
	table_add(&r->merged_table, hash, id);
	return id;
}

uint32_t resolver_frame_at(struct resolver *r, const struct place *place)
{
	uint64_t hash = hash_more(place->object, place->address);
	uint32_t lines = place->jit ? resolver_find_lines(r, place) : 0;
	const struct resolved_frame *frame = r->tables->frame;
	uint32_t id = TABLE_FIND(&r->frame_table, hash, i, frame[i].address == place->address &&
				 frame[i].object == place->object &&
				 (!place->jit || has_lines(r, &frame[i], lines)));

	if (id != TABLE_NONE)
		return id;
	if (r->options.symbols && r->tables->frames >= FRAMES_MAX)
		return merged_frame(r, *place);
	if (!place->jit)
		lines = resolver_find_lines(r, place);
	id = add_frame(r, place, lines);
	table_add(&r->frame_table, hash, id);
	if (place->jit && !lines)
		resolver_late_add(r, r->part[place->object].pid, id);
	return id;
}

/* Return the string of thread TID's name. */
static uint32_t comm_id(struct resolver *r, pid_t tid)
{
	uint32_t name = tasks_name(&r->spaces.tasks, tid);

	if (name == 0)
		return 0;
	for (; r->comms <= name; r->comms++) {
		r->comm = array_grow(r->comm, r->comms, sizeof(*r->comm));
		r->comm[r->comms] = 0;
	}
	if (!r->comm[name])
		r->comm[name] = resolver_string_id(r, r->spaces.tasks.names.text[name]);
	return r->comm[name];
}

/* Return the version of samples whose IP is not in data. */
static uint64_t version_of(const struct resolver *r, const struct space *user)
{
	return hash_more(hash_more(user->generation, r->spaces.kernel.generation),
			 r->spaces.guest.generation);
}

bool resolver_process_version(struct resolver *r, pid_t pid, uint64_t *version)
{
	const struct space *user = spaces_find(&r->spaces, pid);

	*version = version_of(r, user);
	return mappings_are_none(&user->data);
}

uint64_t resolver_version(struct resolver *r, const struct sample *s)
{
	const struct space *user = spaces_find(&r->spaces, s->pid);
	const struct mapping *data = space_find_data(user, s->ip);
	uint64_t version = version_of(r, user);

	if (!data)
		return version;
	version = hash_more(version, (uint64_t)r->spaces.objects.removals << 32 | data->object);
	return hash_more(version, data->start - data->file_offset);
}

void resolver_fields(struct resolver *r, const struct stream_reader *in, const struct sample *s,
		     struct resolved_sample *out)
{
	uint64_t has = stream_events(in)->event[s->event].attr.sample_type;
	uint32_t comm = comm_id(r, s->tid);

	if (!comm)
		tasks_sampled(&r->spaces.tasks, s->pid, s->tid);
	*out = (struct resolved_sample){
		.event = s->event, .misc = s->misc, .pid = s->pid, .tid = s->tid, .cpu = s->cpu,
		.comm = comm, .time = s->time, .period = s->period,
		.has = has & (PERF_SAMPLE_RAW | RESOLVED_VALUE_BITS), .raw = s->raw,
		.value = {
			[VALUE_ADDR] = s->addr, [VALUE_WEIGHT] = s->weight,
			[VALUE_DATA_SRC] = s->data_src, [VALUE_TRANSACTION] = s->transaction,
			[VALUE_PHYS_ADDR] = s->phys_addr, [VALUE_CGROUP] = s->cgroup,
			[VALUE_DATA_PAGE_SIZE] = s->data_page_size,
			[VALUE_CODE_PAGE_SIZE] = s->code_page_size,
		},
		.end = STACK_NONE, .frames = 0, .frame = NULL,
		.labels = s->labels.is_known
			? 1 + label_sets_of_sample(&r->tables->labels, &s->labels) : 0,
		.label_status = s->labels.status, .label_flags = s->labels.flags,
	};
}

void resolver_sample(struct resolver *r, const struct stream_reader *in,
		     const struct sample *s, struct resolved_sample *out)
{
	resolver_fields(r, in, s, out);
	resolver_frames(r, in, s, out);
	resolver_count(r, in, s, out->end);
	if (out->end > STACK_WHOLE)
		resolver_count_java(r, in, s, out);
}

void resolver_count(struct resolver *r, const struct stream_reader *in,
		    const struct sample *s, enum stack_end end)
{
	stack_ends_add(&r->ends, &stream_events(in)->event[s->event].attr, stream_origin(in), s,
		       end, r->report);
}

bool resolver_follows(struct resolver *r, const struct stream_reader *in, uint32_t event)
{
	return stack_ends_follows(&r->ends, &stream_events(in)->event[event].attr,
				  stream_origin(in));
}

void resolver_count_end(struct resolver *r, enum stack_end end, bool follows)
{
	stack_ends_count(&r->ends, end, follows);
}

const struct stack_ends *resolver_stack_ends(const struct resolver *r)
{
	return &r->ends;
}

void resolver_frames(struct resolver *r, const struct stream_reader *in,
		     const struct sample *s, struct resolved_sample *out)
{
	const struct perf_event_attr *attr = &stream_events(in)->event[s->event].attr;

	resolver_jit_refresh_all(r);
	resolver_prefetch_files(r, s);
	r->time = resolver_jit_time(attr, s);
	r->sources.images.time = attr->sample_type & PERF_SAMPLE_TIME ? s->time : 0;
	out->frames = resolver_chain(r, in, s, attr, &out->end);
	out->frame = r->frame;
	const struct resolved_frame *leaf = &r->tables->frame[out->frame[0]];
	if (!leaf->lines && r->part[leaf->object].pid)
		resolver_jit_advise(r, r->part[leaf->object].pid);
	if (r->part[leaf->object].is_python) {
		r->python_samples++;
		r->python_pid = s->pid;
	}
}

const struct tasks *resolver_tasks(const struct resolver *r)
{
	return &r->spaces.tasks;
}

struct resolver_counts resolver_counts(const struct resolver *r)
{
	return (struct resolver_counts){ .frames = r->added, .named = r->named,
					 .objects = r->sources.images.opened };
}

void resolver_save(struct resolver *r)
{
	if (!r->sources.cache.directory)
		return;
	for (uint32_t i = 0; i < r->sources.images.count; i++)
		if (r->sources.images.image[i])
			source_save(source_of(&r->sources, i));
	cache_trim(&r->sources.cache);
}

void resolver_free(struct resolver *r)
{
	images_release(&r->sources.images);
	resolver_jit_release(r);
	jitmap_free(r->ksymbols);
	recorded_names_release(&r->recorded);
	free(r->name_counts);
	kallsyms_close(r->kallsyms);
	spaces_release(&r->spaces);
	byte_ids_release(&r->long_seen);
	resolver_release_ids(r);
	free(r->before);
	recent_release(&r->recent);
	free(r->frame);
	free(r->last.word);
	free(r->last.frame);
	free(r);
}
