/* SPDX-License-Identifier: Apache-2.0 */
/* The resolver: composes its parts, and passes records and samples to them. */
#include "base/clock.h"
#include "record/ibs.h"
#include "waits/futex.h"
#include "resolve/internal.h"

#include <stdlib.h>
#include <time.h>

/* Give each part what it needs of the others. */
static void compose(struct resolver *r, const struct resolver_options *o)
{
	struct resolved *definitions = r->definitions;
	struct report *report = r->report;

	r->jits = (struct jits){ .symbols = o->symbols && o->where.files == LOCATE_RECORDED,
				 .sysroot = o->where.sysroot, .spaces = &r->spaces,
				 .recent = &r->callchains.recent, .report = report };
	r->namer = (struct namer){
		.definitions = definitions, .kernel = &r->places.kernel,
		.recorded = &r->places.recorded, .source_strings = &r->sources.strings,
		.report = report, .demangle = o->demangle, .no_inlines = o->no_inlines,
		.no_lines = o->no_lines };
	r->ranges = (struct object_ranges){ .definitions = definitions, .namer = &r->namer,
					    .objects = &r->spaces.objects, .report = report };
	r->places = (struct places){
		.symbols = o->symbols, .kallsyms = o->kallsyms, .spaces = &r->spaces,
		.sources = &r->sources, .ranges = &r->ranges, .jits = &r->jits,
		.report = report };
	r->frames = (struct frame_index){ .definitions = definitions, .namer = &r->namer,
					  .ranges = &r->ranges, .jits = &r->jits,
					  .report = report, .symbols = o->symbols };
	r->callchains = (struct callchains){ .spaces = &r->spaces, .places = &r->places,
					     .frames = &r->frames, .ends = &r->ends };
	r->chains = (struct chain_index){ .chains = &definitions->chains };
	r->data = (struct data_places){ .definitions = definitions, .spaces = &r->spaces,
					.places = &r->places, .ranges = &r->ranges,
					.namer = &r->namer };
}

struct resolver *resolver_new(const struct resolver_options *options, struct resolved *definitions,
			      struct report *report)
{
	struct resolver *r = mem_zeroed(1, sizeof(*r));

	r->definitions = definitions;
	r->report = report;
	r->symbols = options->symbols;
	r->limit = r->limit_min = options->definitions_max;
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
	compose(r, options);
	jits_begin(&r->jits);
	callchains_begin(&r->callchains);
	chain_index_begin(&r->chains);
	return r;
}

void resolver_forget_thread_names(struct resolver *r)
{
	free(r->thread_names.string);
	r->thread_names.string = NULL;
	r->thread_names.size = 0;
	r->thread_names.renumbered = r->spaces.tasks.renumbered;
}

/* Open what the MMAP record REC maps, while it still exists. */
static void open_mapped(struct resolver *r, const struct stream_reader *in,
			const struct record *rec)
{
	struct mmap_record mmap;

	if (!record_mmap(rec, &mmap) || !mmap.executable || mmap.pid <= 0)
		return;
	jits_open_dump(&r->jits, in, mmap.pid, mmap.path);
	places_open_mapped(&r->places, rec);
}

/* Follow REC, which may change what is known of processes. */
static void follow_spaces(struct resolver *r, struct stream_reader *in, const struct record *rec)
{
	bool is_local = r->sources.images.is_local;

	if (!spaces_follow(&r->spaces, rec))
		stream_damaged(in, rec, "record with fields that do not fit into it");
	stream_note_tasks(in, &r->spaces.tasks);
	if (rec->type == RECORD_FINISHED_ROUND && is_local && r->time && r->time != JIT_LATEST)
		spaces_forget_ended(&r->spaces, monotonic_ns(), r->time);
	if (r->spaces.silenced)
		report_more(r->report, r->spaces.silenced, SPACES_SILENCED, PROCESSES_MAX);
	if (r->thread_names.renumbered != r->spaces.tasks.renumbered)
		resolver_forget_thread_names(r);
}

void resolver_follow(struct resolver *r, struct stream_reader *in, const struct record *rec)
{
	struct images *images = &r->sources.images;

	resolver_remove_objects(r);
	r->spaces.all_is_code = stream_origin(in)->is_simpleperf;
	images->is_local = may_ask_here(&images->where, in);
	images->origin = stream_origin(in);
	r->places.in = in;
	if (r->symbols)
		images_follow(images, rec);
	follow_spaces(r, in, rec);
	if (!r->symbols)
		return;
	if (rec->type == RECORD_FEATURE)
		places_follow_feature(&r->places, in, rec);
	else if (rec->type == PERF_RECORD_MMAP || rec->type == PERF_RECORD_MMAP2)
		open_mapped(r, in, rec);
	else if (rec->type == PERF_RECORD_KSYMBOL)
		places_follow_kernel(&r->places, rec);
	pid_t ended = jits_follow(&r->jits, in, rec);
	if (ended)
		resolver_name_ended(r, in, ended);
}

/* Return the string of thread TID's name. */
static uint32_t thread_name(struct resolver *r, pid_t tid)
{
	uint32_t name = tasks_name(&r->spaces.tasks, tid);
	uint32_t **string = &r->thread_names.string, *size = &r->thread_names.size;

	if (name == 0)
		return 0;
	for (; *size <= name; ++*size) {
		*string = array_grow(*string, *size, sizeof(**string));
		(*string)[*size] = 0;
	}
	if (!(*string)[name])
		(*string)[name] = namer_string(&r->namer, r->spaces.tasks.names.text[name]);
	return (*string)[name];
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
	return mappings_are_none(&user->data) && mappings_are_none(&r->spaces.guest.data);
}

uint64_t resolver_version(struct resolver *r, const struct sample *s)
{
	uint16_t mode = s->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	const struct space *user = spaces_find(&r->spaces, s->pid);
	const struct mapping *data = space_find_data(
		mode == PERF_RECORD_MISC_GUEST_KERNEL ? &r->spaces.guest : user, s->ip);
	uint64_t version = version_of(r, user);

	if (!data)
		return version;
	version = hash_more(version, (uint64_t)r->spaces.objects.removals << 32 | data->object);
	return hash_more(version, data->start - data->file_offset);
}

void resolver_fields(struct resolver *r, const struct stream_reader *in, const struct sample *s,
		     struct resolved_sample *out)
{
	uint64_t has = ibs_fields(&stream_events(in)->event[s->event]);
	uint32_t comm = thread_name(r, s->tid);

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
			? 1 + label_sets_of_sample(&r->definitions->labels, &s->labels) : 0,
		.label_status = s->labels.status, .label_flags = s->labels.flags,
	};
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

/* Return the time of a sample of event ATTR in jitdump's clock; JIT_LATEST: unknown. */
static uint64_t jit_time(const struct perf_event_attr *attr, const struct sample *sample)
{
	bool is_common = attr->sample_type & PERF_SAMPLE_TIME && attr->use_clockid &&
			 attr->clockid == CLOCK_MONOTONIC;

	return is_common ? sample->time : JIT_LATEST;
}

/* Return what decides what the addresses of S, a sample of the event ATTR, mean. */
static struct sampled sampled_of(const struct stream_reader *in, const struct sample *s,
				 const struct perf_event_attr *attr)
{
	return (struct sampled){
		.in = in, .pid = s->pid, .jit_time = jit_time(attr, s),
		.time = attr->sample_type & PERF_SAMPLE_TIME ? s->time : 0 };
}

/* Return 1 + the string of the member of a variable that PLACE is in; 0: unknown. */
static uint32_t member_of(struct resolver *r, const struct data_place *place)
{
	const char *member = source_member(place->in.source, place->in.address - place->offset,
					   place->offset);

	return member ? 1 + namer_file_string(&r->namer, member) : 0;
}

/* Set what the data address of S is in. */
static void set_datum(struct resolver *r, const struct stream_reader *in, const struct sample *s,
		      struct resolved_sample *out)
{
	const struct perf_event_attr *attr = &stream_events(in)->event[s->event].attr;
	const struct sampled sampled = sampled_of(in, s, attr);
	data_place_note(&r->data, s, attr, out->frame, out->frames);
	struct data_place place = data_place_find(&r->data, &sampled, s, attr);
	out->datum = 1 + place.datum;
	out->data_offset = place.offset;
	if (r->definitions->datum[place.datum].kind == DATA_VARIABLE)
		out->member = member_of(r, &place);
}

/* Set the word that the thread of S waits for, or wakes others at, as the data address of OUT. */
static void set_futex(struct resolver *r, const struct stream_reader *in, const struct sample *s,
		      struct resolved_sample *out)
{
	struct sample with = *s;
	bool guessed;

	with.addr = futex_address(&r->wait_names, r->definitions, out, in, s, &guessed);
	if (!with.addr)
		return;
	if (guessed)
		report_once(r->report, "no kernel symbols (kptr_restrict): locks are recognised by "
			    "the names of the C library's functions");
	out->has |= PERF_SAMPLE_ADDR;
	out->value[VALUE_ADDR] = with.addr;
	set_datum(r, in, &with, out);
}

void resolver_data(struct resolver *r, const struct stream_reader *in,
		   const struct sample *s, struct resolved_sample *out)
{
	if (s->addr)
		set_datum(r, in, s, out);
	else if (futex_has_samples(&stream_events(in)->event[s->event].attr))
		set_futex(r, in, s, out);
}

/* Samples come after the files of JIT compilers that were written before them. */
static void reach(struct resolver *r, const struct sample *s, const struct perf_event_attr *attr)
{
	r->time = jit_time(attr, s);
	jits_refresh(&r->jits);
}

static void resolve_frames(struct resolver *r, const struct stream_reader *in,
			   const struct sample *s, const struct perf_event_attr *attr,
			   struct resolved_sample *out)
{
	const struct sampled sampled = sampled_of(in, s, attr);

	places_prefetch(&r->places, &sampled, s);
	out->frames = callchain_resolve(&r->callchains, &sampled, s, attr, &out->end);
	out->frame = r->callchains.frame;
}

/* Note what the leaf of OUT, the frames of S, says about its process, for advice. */
static void note_leaf(struct resolver *r, const struct stream_reader *in, const struct sample *s,
		      const struct resolved_sample *out)
{
	const struct resolved_frame *leaf = &r->definitions->frame[out->frame[0]];
	const struct object_range *range = &r->ranges.range[leaf->object];

	if (!leaf->lines && range->pid)
		jits_advise(&r->jits, in, range->pid);
	if (range->is_python) {
		r->python_samples++;
		r->python_pid = s->pid;
	}
}

void resolver_frames(struct resolver *r, const struct stream_reader *in,
		     const struct sample *s, struct resolved_sample *out)
{
	const struct perf_event_attr *attr = &stream_events(in)->event[s->event].attr;

	reach(r, s, attr);
	resolve_frames(r, in, s, attr, out);
	note_leaf(r, in, s, out);
}

const uint64_t *resolver_addresses(const struct resolver *r)
{
	return r->callchains.address;
}

struct resolver_key resolver_key(struct resolver *r, const struct stream_reader *in,
				 const struct sample *s)
{
	uint16_t mode = s->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	uint64_t flushes = r->callchains.recent.flushes;
	uint64_t context = version_of(r, spaces_find(&r->spaces, s->pid));

	context = hash_more(hash_more(context, s->ip), (uint64_t)s->event << 32 |
			    (uint32_t)mode << 1 | resolver_follows(r, in, s->event));
	context = hash_more(context, flushes);
	struct resolver_key key = {
		hash_wide(s->callchain.at, 8 * s->callchain.count, context), flushes };
	chain_index_prefetch(&r->chains, key.hash);
	return key;
}

struct hash_wide resolver_reach(struct resolver *r, const struct stream_reader *in,
				const struct sample *s, const struct resolver_key *key)
{
	reach(r, s, &stream_events(in)->event[s->event].attr);
	return key->flushes == r->callchains.recent.flushes ? key->hash
							    : resolver_key(r, in, s).hash;
}

/* Return whether some of COUNT frames may call for advice: memory without a file, Python. */
static bool is_special(const struct resolver *r, const uint32_t *frame, uint32_t count)
{
	const struct resolved_frame *leaf = &r->definitions->frame[frame[0]];
	const struct resolved_frame *root = &r->definitions->frame[frame[count - 1]];

	return r->ranges.range[leaf->object].is_python || r->ranges.range[leaf->object].pid ||
	       r->ranges.range[root->object].pid;
}

bool resolver_frames_stay(const struct resolver *r, const struct resolved_sample *out)
{
	return r->callchains.is_pure && !is_special(r, out->frame, out->frames);
}

/* Return the chain of S, which has no known chain under KEY. */
static struct known_chain add_chain(struct resolver *r, const struct stream_reader *in,
				    const struct sample *s, const struct perf_event_attr *attr,
				    struct hash_wide key)
{
	struct resolved_sample walked;

	resolve_frames(r, in, s, attr, &walked);
	uint32_t id = chain_index_add(&r->chains, walked.frame, walked.frames, walked.end);
	const struct known_chain chain = {
		id, walked.end, is_special(r, walked.frame, walked.frames) };
	if (r->callchains.is_pure)
		chain_index_keep(&r->chains, key, chain);
	return chain;
}

/* Count the stack in OUT of S, which is cut, if Java would have kept frame pointers for it. */
static void count_java(struct resolver *r, const struct stream_reader *in, const struct sample *s,
		       const struct resolved_sample *out)
{
	const struct resolved_frame *root = &r->definitions->frame[out->frame[out->frames - 1]];

	if (r->ranges.range[root->object].pid == s->pid && resolver_follows(r, in, s->event))
		r->ends.java += jits_lack_pointers(&r->jits, s->pid);
}

void resolver_sample(struct resolver *r, const struct stream_reader *in, const struct sample *s,
		     const struct resolver_key *key, struct resolved_sample *out)
{
	const struct perf_event_attr *attr = &stream_events(in)->event[s->event].attr;

	resolver_fields(r, in, s, out);
	struct hash_wide hash = resolver_reach(r, in, s, key);
	struct known_chain chain = chain_index_find(&r->chains, hash);
	if (chain.id == TABLE_NONE)
		chain = add_chain(r, in, s, attr, hash);
	out->chain = 1 + chain.id;
	out->end = chain.end;
	if (chain.is_special || s->addr || futex_has_samples(attr)) {
		const struct resolved_chains *all = &r->definitions->chains;
		out->frames = all->chain[chain.id].frames;
		out->frame = all->frame + all->chain[chain.id].first;
		note_leaf(r, in, s, out);
		resolver_data(r, in, s, out);
	}
	resolver_count(r, in, s, out->end);
	if (chain.is_special && out->end > STACK_WHOLE)
		count_java(r, in, s, out);
}

const struct tasks *resolver_tasks(const struct resolver *r)
{
	return &r->spaces.tasks;
}

struct resolver_counts resolver_counts(const struct resolver *r)
{
	return (struct resolver_counts){ .frames = r->frames.added, .named = r->frames.named,
					 .objects = r->sources.images.opened };
}

void resolver_save(struct resolver *r)
{
	if (!r->sources.cache.directory)
		return;
	for (uint32_t i = 0; i < r->sources.images.count; i++)
		if (r->sources.images.image[i])
			source_save(source_of(&r->sources, i));
	places_save_kernel(&r->places);
	cache_trim(&r->sources.cache);
}

void resolver_free(struct resolver *r)
{
	images_release(&r->sources.images);
	jits_release(&r->jits);
	places_release(&r->places);
	spaces_release(&r->spaces);
	namer_release(&r->namer);
	free(object_ranges_restart(&r->ranges));
	frame_index_release(&r->frames);
	callchains_release(&r->callchains);
	chain_index_release(&r->chains);
	data_places_release(&r->data);
	free(r->wait_names.hints);
	resolver_forget_thread_names(r);
	free(r);
}
