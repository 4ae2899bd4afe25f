/* SPDX-License-Identifier: Apache-2.0 */
#include "flame/flame.h"
#include "compare/diff.h"
#include "compare/wait-frames.h"
#include "flame/flame-internal.h"
#include "pprof/figures.h"
#include "pprof/label-kinds.h"
#include "pprof/sample-type.h"
#include "record/words.h"
#include "resolved/resolved.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is known of one profile while its samples are added. */
struct adding {
	struct flame *f;
	const struct decoded *d;
	enum flame_side side;
	struct flame_rows *to[2];	/* for samples of the profile, and of a base inside it */
	uint32_t type_index[FLAME_TYPES_MAX];	/* index in D of each type; TABLE_NONE: absent */
	struct location_frames {
		uint32_t first, count;	/* in FRAME, the outermost first; COUNT 0: not yet */
	} *location;
	uint32_t *frame;
	uint32_t frames;
	uint32_t *string;		/* in F->strings, by string of D; TABLE_NONE: not yet */
	uint32_t *fold;			/* by index in a stack of waits: see fold_waits() */
	size_t fold_room;
	const char *main;		/* object of the program; "": unknown */
	bool has_by;			/* a sample has the label F->options.by */
	uint32_t number;		/* of the next sample */
};

struct flame *flame_new(const struct flame_options *options, struct report *report)
{
	struct flame *f = mem_zeroed(1, sizeof(*f));

	f->report = report;
	f->options = *options;
	f->over = TABLE_NONE;
	f->tick = 1;
	intern_text(&f->strings, "");
	byte_ids_add(&f->sets, "", 0);
	flame_line(f, flame_function(f, "all", "", "", 0, KIND_PROGRAM), 0, false);
	f->node = array_grow(NULL, 0, sizeof(*f->node));
	f->node[f->nodes++] = (struct flame_node){ 0 };
	return f;
}

void flame_free(struct flame *f)
{
	for (int side = 0; side < FLAME_SIDES; side++) {
		free(f->side[side].row);
		free(f->side[side].value);
		free(f->sample[side].node);
		free(f->sample[side].of_base);
	}
	free(f->cut.flat);
	free(f->cut.cumulative);
	byte_ids_release(&f->frames);
	byte_ids_release(&f->sets);
	byte_ids_release(&f->identities);
	intern_release(&f->strings);
	intern_release(&f->names);
	table_release(&f->children);
	arena_release(&f->arena);
	free(f->type);
	free(f->function);
	free(f->node);
	free(f->step);
	free(f->comment);
	flame_free_bars(f);
	flame_free_verdicts(f);
	free(f);
}

uint32_t flame_function(struct flame *f, const char *name, const char *file, const char *object,
			uint32_t line, enum flame_kind kind)
{
	/*
	 * The names of the files, without directories: the same function of two builds is one.
	 * Builds that are compared may have files of other names, too; then the function's name
	 * alone tells functions apart, as in pmu-diff.
	 */
	bool by_name = f->options.compares && *name;
	uint32_t identity[] = { intern_text(&f->names, name),
				by_name ? 0 : intern_text(&f->names, flame_base_name(file)),
				by_name ? 0 : intern_text(&f->names, flame_base_name(object)) };
	uint32_t count = f->identities.count;
	uint32_t id = byte_ids_add(&f->identities, identity, sizeof(identity));

	if (id == count) {
		f->function = array_grow(f->function, count, sizeof(*f->function));
		f->function[id] = (struct flame_function){ intern_text(&f->strings, name),
			intern_text(&f->strings, file), intern_text(&f->strings, object), line,
			kind, { 0 } };
	}
	return id;
}

uint32_t flame_line(struct flame *f, uint32_t function, int64_t line, bool inlined)
{
	struct flame_frame frame = { line, function, inlined };

	if (f->options.still && !f->cut.nodes)
		frame = (struct flame_frame){ .function = function };
	return byte_ids_add(&f->frames, &frame, sizeof(frame));
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_one_of(const char *text, const char *const *list)
{
	while (*list && strcmp(text, *list))
		list++;
	return *list != NULL;
}

/* Return the kind of function NAME in OBJECT, by these names; MAIN is the program's object. */
static enum flame_kind kind_of(const char *name, const char *object, const char *main)
{
	static const char *const lost[] = { WORD_LOST, "[truncated]", WORD_UNKNOWN, "(lost)",
					    WORD_NOT_SAMPLED, NULL };
	static const char *const jit[] = { "[jit]", WORD_ANON_FILE, WORD_ANON, WORD_ANON_OBJECT,
					   NULL };
	static const char *const user[] = { WORD_VDSO, WORD_VSYSCALL, WORD_HEAP, WORD_STACK, NULL };
	const char *base = flame_base_name(object);
	size_t length = strlen(base);

	if (is_one_of(name, lost))
		return KIND_LOST;
	if (wait_frames_divided_by(name))
		return KIND_BETWEEN;
	if (is_one_of(object, jit) || strstr(object, "/perf-") || starts(base, "jitted-"))
		return KIND_JIT;
	if (is_one_of(object, user))
		return KIND_LIBRARY;
	if (*object == '[' || starts(base, "vmlinux") || strstr(base, ".ko.") ||
	    (length > 3 && !strcmp(base + length - 3, ".ko")))
		return KIND_KERNEL;
	return !*object || !strcmp(object, main) ? KIND_PROGRAM : KIND_LIBRARY;
}

/* The first mapping of a file: writers of profiles put the program there. */
static const char *main_object(const struct decoded *d)
{
	for (uint32_t i = 0; i < d->mappings.count; i++) {
		const char *file = decoded_string(d, decoded_mapping(d, i).file);
		if (*file && *file != '[')
			return file;
	}
	return "";
}

static uint32_t clamped_line(int64_t line)
{
	return line < 0 ? 0 : line > INT32_MAX ? INT32_MAX : (uint32_t)line;
}

static void add_frame(struct adding *a, uint32_t frame)
{
	a->frame = array_grow(a->frame, a->frames, sizeof(*a->frame));
	a->frame[a->frames++] = frame;
}

/* All addresses of an object that have no function are one function, whose lines they are. */
static void add_address(struct adding *a, const struct decoded_location *l, const char *object)
{
	uint32_t function = flame_function(a->f, "", "", object, 0,
					   kind_of(object, object, a->main));
	uint64_t address = l->address;

	if (l->mapping != TABLE_NONE) {
		struct decoded_mapping m = decoded_mapping(a->d, l->mapping);
		if (m.start == RESOLVED_NOT_ZERO && m.offset == 0)
			address -= m.start;
	}
	a->f->function[function].addresses[a->side]++;
	add_frame(a, flame_line(a->f, function, (int64_t)address, false));
}

static uint32_t function_of_line(struct adding *a, const struct decoded_line *line,
				 const char *object)
{
	struct decoded_function g = { 0 };

	if (line->function != TABLE_NONE)
		g = decoded_function(a->d, line->function);
	const char *name = decoded_string(a->d, g.name);
	name = *name ? name : "?";
	return flame_function(a->f, name, decoded_string(a->d, g.file), object,
			      clamped_line(g.line), kind_of(name, object, a->main));
}

/* Return the frames of the location with this index, the outermost first. */
static struct location_frames frames_of_location(struct adding *a, uint32_t index)
{
	struct location_frames *of = &a->location[index];
	struct decoded_line line;

	if (of->count > 0)
		return *of;
	struct decoded_location l = decoded_location(a->d, index);
	const char *object = l.mapping == TABLE_NONE ? ""
		: decoded_string(a->d, decoded_mapping(a->d, l.mapping).file);
	of->first = a->frames;
	for (bool more = decoded_next_line(a->d, &l, &line); more;) {
		uint32_t function = function_of_line(a, &line, object);
		int64_t number = line.line;
		more = decoded_next_line(a->d, &l, &line);	/* the last was not inlined */
		add_frame(a, flame_line(a->f, function, clamped_line(number), more));
	}
	if (a->frames == of->first)
		add_address(a, &l, object);
	for (uint32_t i = of->first, k = a->frames - 1; i < k; i++, k--) {
		uint32_t swap = a->frame[i];
		a->frame[i] = a->frame[k];
		a->frame[k] = swap;
	}
	of->count = a->frames - of->first;
	return *of;
}

/* Return the child of PARENT with this frame; TABLE_NONE: there is no room for one more. */
static uint32_t child_of(struct flame *f, uint32_t parent, uint32_t frame)
{
	uint64_t hash = hash_u64((uint64_t)parent << 32 | frame);
	uint32_t id = TABLE_FIND(&f->children, hash, i, f->node[i].parent == parent &&
				 f->node[i].frame == frame);

	if (id != TABLE_NONE)
		return id;
	if (f->nodes == FLAME_NODES_MAX)
		return TABLE_NONE;
	f->node = array_grow(f->node, f->nodes, sizeof(*f->node));
	f->node[f->nodes] = (struct flame_node){ parent, frame };
	table_add(&f->children, hash, f->nodes);
	return f->nodes++;
}

/* A stack as it is walked down from its outermost frame. */
struct flame_walk {
	uint32_t node;
	size_t depth;
	bool is_known;		/* so far it is the last stack, whose nodes need no search */
	bool is_full;		/* there was no room for its next node */
};

static void walk_down(struct flame *f, struct flame_walk *w, uint32_t frame)
{
	w->is_known = w->is_known && w->depth < f->steps && f->step[w->depth].frame == frame;
	if (w->is_full)
		return;
	uint32_t next = w->is_known ? f->step[w->depth].node : child_of(f, w->node, frame);
	if (next == TABLE_NONE) {
		w->is_full = true;
		f->too_deep++;
		return;
	}
	if (w->depth == f->step_room) {
		f->step_room = 2 * f->step_room + 64;
		f->step = mem_resize(f->step, f->step_room * sizeof(*f->step));
	}
	f->step[w->depth++] = (struct flame_step){ frame, next };
	w->node = next;
}

/* A frame of its own for the value of the label that the tree starts with. */
static void walk_label(struct adding *a, struct flame_walk *w, const struct decoded_sample *s)
{
	const char *by = a->f->options.by;
	char name[600];

	if (!by)
		return;
	snprintf(name, sizeof(name), "%.200s: none", by);
	for (size_t i = 0; i < s->labels; i++)
		if (!strcmp(decoded_string(a->d, s->label[i].key), LABELS_STATE))
			snprintf(name, sizeof(name), "%.200s: not known", by);
	for (size_t i = 0; i < s->labels; i++) {
		const struct decoded_label *l = &s->label[i];
		if (strcmp(decoded_string(a->d, l->key), by))
			continue;
		a->has_by = true;
		if (l->text)
			snprintf(name, sizeof(name), "%.200s: %.300s", by,
				 decoded_string(a->d, l->text));
		else
			snprintf(name, sizeof(name), "%.200s: %" PRId64, by, l->number);
		break;
	}
	uint32_t function = flame_function(a->f, name, "", "", 0, KIND_PROGRAM);
	walk_down(a->f, w, flame_line(a->f, function, 0, false));
}

/* Return whether S is of contentions, and of nothing else. */
static bool is_of_contentions(const struct adding *a, const struct decoded_sample *s)
{
	bool any = false;

	for (uint32_t i = 0; i < a->d->types; i++) {
		const char *type = decoded_string(a->d, a->d->type[i].type);
		if (s->value[i] == 0)
			continue;
		if (!sample_type_is_of_contentions(type))
			return false;
		any = true;
	}
	return any;
}

/* What a location of a stack of waits has instead of its frames, if it is not another frame. */
enum { FOLD_NOTHING = 0, FOLD_AWAY = UINT32_MAX };

/* Make one frame NAME of the COUNT locations of S from FIRST on. */
static void fold_part(struct adding *a, const struct decoded_sample *s, size_t first, size_t count,
		      const char *name)
{
	struct decoded_location l = decoded_location(a->d, s->location[first]);
	const char *object = l.mapping == TABLE_NONE ? ""
		: decoded_string(a->d, decoded_mapping(a->d, l.mapping).file);
	uint32_t function = flame_function(a->f, name, "", object, 0,
					   kind_of(name, object, a->main));

	a->fold[first] = flame_line(a->f, function, 0, false);
	for (size_t i = 1; i < count; i++)
		a->fold[first + i] = FOLD_AWAY;
}

/*
 * The kernel's frames of a wait are one frame, as in a table of pmu-top.  Set A->fold for each
 * location of S: that frame, FOLD_AWAY if a neighbour has it, or FOLD_NOTHING.
 */
static void fold_waits(struct adding *a, const struct decoded_sample *s)
{
	bool starts_part = true;
	char name[256];

	if (s->locations >= a->fold_room) {
		a->fold_room = 2 * s->locations + 1;
		a->fold = mem_resize(a->fold, a->fold_room * sizeof(*a->fold));
	}
	memset(a->fold, 0, s->locations * sizeof(*a->fold));
	for (size_t i = 0; i < s->locations; i++) {
		size_t count = starts_part ? wait_frames(a->d, s, i, name, sizeof(name)) : 0;
		starts_part = false;
		if (count > 0) {
			fold_part(a, s, i, count, name);
			i += count - 1;
		} else if (s->location[i] != TABLE_NONE) {
			uint32_t frame = frames_of_location(a, s->location[i]).first;
			uint32_t function = flame_frame(a->f, a->frame[frame])->function;
			starts_part = wait_frames_divided_by(
				a->f->strings.text[a->f->function[function].name]);
		}
	}
}

static uint32_t node_of(struct adding *a, const struct decoded_sample *s)
{
	struct flame_walk w = { .is_known = true };
	bool up = a->f->options.invert && a->f->options.still, folds = is_of_contentions(a, s);

	walk_label(a, &w, s);
	if (folds)
		fold_waits(a, s);
	for (size_t i = 0; i < s->locations; i++) {
		size_t index = up ? i : s->locations - 1 - i;
		uint32_t at = s->location[index], fold = folds ? a->fold[index] : FOLD_NOTHING;
		if (fold != FOLD_NOTHING && fold != FOLD_AWAY)
			walk_down(a->f, &w, fold);
		if (fold != FOLD_NOTHING || at == TABLE_NONE)
			continue;
		struct location_frames of = frames_of_location(a, at);
		for (uint32_t k = 0; k < of.count; k++)
			walk_down(a->f, &w, a->frame[of.first + (up ? of.count - 1 - k : k)]);
	}
	a->f->steps = w.depth;
	return w.node;
}

static uint32_t string_of(struct adding *a, uint32_t string)
{
	if (a->string[string] == TABLE_NONE)
		a->string[string] = intern_text(&a->f->strings, decoded_string(a->d, string));
	return a->string[string];
}

static uint32_t string_of_value(struct adding *a, const struct decoded_label *l)
{
	char number[32];

	if (l->text)
		return string_of(a, l->text);
	snprintf(number, sizeof(number), "%" PRId64, l->number);
	return intern_text(&a->f->strings, number);
}

static int compare_label_pairs(const void *a, const void *b)
{
	return memcmp(a, b, 2 * sizeof(uint32_t));
}

/* How a label gives the time of its sample. */
enum time_label { TIME_NONE, TIME_NS, TIME_SLICE };

static enum time_label is_time(const struct decoded *d, const struct decoded_label *l)
{
	const char *key = decoded_string(d, l->key);

	if (l->text)
		return TIME_NONE;
	if (!strcmp(key, LABEL_SLICE))
		return TIME_SLICE;
	return !strcmp(key, "timestamp_ns") || !strcmp(key, "time_ns") ? TIME_NS : TIME_NONE;
}

/* Split the labels of S into its time (INT64_MIN: none), whether it is a base's, and the rest. */
static uint32_t set_of(struct adding *a, const struct decoded_sample *s, int64_t *time,
		       bool *of_base)
{
	uint32_t pair[2 * PROFILE_LABELS_MAX];
	enum time_label best = TIME_NONE;
	size_t pairs = 0;

	*time = INT64_MIN;
	*of_base = false;
	for (size_t i = 0; i < s->labels; i++) {
		const struct decoded_label *l = &s->label[i];
		const char *key = decoded_string(a->d, l->key);
		enum time_label kind = is_time(a->d, l);
		if (!strcmp(key, PROFILE_BASE)) {
			*of_base = true;
		} else if (kind != TIME_NONE) {
			if (best == TIME_NONE || kind == TIME_NS) {
				*time = l->number;
				best = kind;
			}
		} else if (!a->f->options.by || strcmp(key, a->f->options.by)) {
			pair[2 * pairs] = string_of(a, l->key);
			pair[2 * pairs++ + 1] = string_of_value(a, l);
		}
	}
	if (best == TIME_SLICE && *time < INT32_MAX && *time > a->f->slices)
		a->f->slices = *time;
	qsort(pair, pairs, 2 * sizeof(*pair), compare_label_pairs);
	return byte_ids_add(&a->f->sets, pair, pairs * 2 * sizeof(*pair));
}

static void add_sample(struct adding *a, const struct decoded_sample *s)
{
	struct flame *f = a->f;
	struct flame_row row = { 0 };
	bool of_base;

	row.set = set_of(a, s, &row.time, &of_base);
	row.node = node_of(a, s);
	a->f->sample[a->side].node[a->number] = row.node;
	a->f->sample[a->side].of_base[a->number++] = of_base;
	struct flame_rows *to = a->to[of_base];
	f->has_base |= of_base;
	f->has_times |= row.time != INT64_MIN;
	row.values = to->samples * f->types;
	to->row = array_grow(to->row, to->rows, sizeof(*to->row));
	to->row[to->rows++] = row;
	to->value = array_grow(to->value, to->samples, f->types * sizeof(*to->value));
	int64_t *value = to->value + (size_t)f->types * to->samples++;
	for (uint32_t i = 0; i < f->types; i++) {
		int64_t v = a->type_index[i] == TABLE_NONE ? 0 : s->value[a->type_index[i]];
		value[i] = of_base ? (int64_t)(0 - (uint64_t)v) : v;
		int64_t *total = &f->type[i].total[to - f->side];
		*total = (int64_t)((uint64_t)*total + (uint64_t)value[i]);
	}
}

static void take_slice(struct flame *f, const char *fact)
{
	uint64_t ns;

	if (figures_read_slices(fact, &ns) && ns > 0 && ns < INT64_MAX / INT32_MAX)
		f->slice = f->slice && f->slice != (int64_t)ns ? -1 : (int64_t)ns;
}

static void take_about(struct flame *f, const struct decoded *d)
{
	for (uint32_t i = 0; i < d->comments; i++) {
		const char *text = decoded_string(d, d->comment[i]);
		f->comment = array_grow(f->comment, f->comments, sizeof(*f->comment));
		f->comment[f->comments++] = arena_text(&f->arena, text, strlen(text));
	}
}

/* Take from D what its facts say, and when SIDE was recorded: of a difference, both sides. */
static void take_facts(struct flame *f, const struct decoded *d, enum flame_side side)
{
	struct figures_sides sides;
	const char *fact;

	f->when[side] = (struct flame_when){ d->time, d->duration };
	for (uint32_t i = 0; (fact = decoded_fact(d, i)); i++) {
		if (side == FLAME_PROFILE)
			take_slice(f, fact);
		if (!figures_read_sides(fact, &sides))
			continue;
		f->when[side] = (struct flame_when){ sides.after.time, sides.after.duration };
		f->when[FLAME_BASE] = (struct flame_when){ sides.base.time,
							   sides.base.duration };
	}
}

/* Map each type of F to the type of D with the same name and unit. */
static bool match_types(struct adding *a, enum flame_side side)
{
	const struct decoded *d = a->d;
	bool any = false;

	for (uint32_t i = 0; i < a->f->types; i++) {
		a->type_index[i] = side == FLAME_PROFILE ? i : TABLE_NONE;
		for (uint32_t k = 0; side == FLAME_BASE && k < d->types; k++)
			if (!strcmp(decoded_string(d, d->type[k].type), a->f->type[i].name) &&
			    !strcmp(decoded_string(d, d->type[k].unit), a->f->type[i].unit))
				a->type_index[i] = k;
		any |= a->type_index[i] != TABLE_NONE;
	}
	if (!any)
		report_error(a->f->report, "the base has no sample type of the profile");
	return any;
}

static bool add_samples(struct adding *a)
{
	struct decoded_reader r = { .d = a->d };

	a->location = mem_zeroed(a->d->locations.count, sizeof(*a->location));
	a->string = mem_resize(NULL, (a->d->strings + 1) * sizeof(*a->string));
	memset(a->string, 0xff, a->d->strings * sizeof(*a->string));
	a->f->sample[a->side].node = mem_zeroed(a->d->samples, sizeof(uint32_t));
	a->f->sample[a->side].of_base = mem_zeroed(a->d->samples, sizeof(bool));
	while (decoded_next(&r))
		add_sample(a, &r.sample);
	decoded_reader_release(&r);
	free(a->location);
	free(a->frame);
	free(a->string);
	free(a->fold);
	if (a->f->options.by && !a->has_by && a->d->samples > 0)
		report_error(a->f->report, "no sample has the label '%s': make the profile with "
			     "pmu-topprof --label %s", a->f->options.by, a->f->options.by);
	return !a->f->options.by || a->has_by || a->d->samples == 0;
}

bool flame_add(struct flame *f, const struct decoded *d, enum flame_side side)
{
	struct adding a = { .f = f, .d = d, .side = side, .main = main_object(d),
			    .to = { &f->side[side], &f->side[FLAME_BASE] } };

	f->options.compares |= diff_has_sides(d);
	if (side == FLAME_PROFILE && !flame_take_types(f, d))
		return false;
	if (!match_types(&a, side))
		return false;
	f->has_base |= side == FLAME_BASE;
	if (side == FLAME_PROFILE)
		take_about(f, d);
	take_facts(f, d, side);
	if (!add_samples(&a))
		return false;
	/* an old difference: its times are sums of both sides */
	if (side == FLAME_PROFILE && f->has_base && f->when[FLAME_BASE].duration == 0)
		f->when[side].duration = 0;
	if (side == FLAME_PROFILE)
		flame_weigh_types(f, d);
	if (f->too_deep)
		report_error(f->report, "the profile has more than %d call paths: the innermost "
			     "frames of %" PRIu64 " stacks are left out", FLAME_NODES_MAX,
			     f->too_deep);
	return true;
}
