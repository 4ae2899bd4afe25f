/* SPDX-License-Identifier: Apache-2.0 */
#include "flame/flame-page.h"
#include "flame/internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* The page, up to the data, which come last: nothing looks for a place in them. */
static void write_head(const struct flame_about *about, struct output *out)
{
	flame_print(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "script-src 'sha256-%s'; style-src 'sha256-%s'; img-src data:; "
		    "base-uri 'none'; form-action 'none'; ", flame_script.hash,
		    flame_style.hash);
	flame_print(out, "require-trusted-types-for 'script'; trusted-types 'none'\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		    "<meta name=\"generator\" content=\"%s\">", about->tool);
	flame_print(out, "<meta name=\"referrer\" content=\"no-referrer\">\n"
		    "<link rel=\"icon\" href=\"data:,\"><title>");
	flame_markup(out, about->title);
	flame_print(out, "</title>\n<style>");
	output_write(out, flame_style.text, flame_style.size);
	flame_print(out, "</style></head>\n<body><noscript>This page needs JavaScript: it draws "
		    "the profile that it holds. Nothing is loaded from the network.</noscript>\n"
		    "<script type=\"application/json\" id=\"data\">");
}

static void write_tail(struct output *out)
{
	flame_print(out, "</script>\n<script type=\"module\">");
	output_write(out, flame_script.text, flame_script.size);
	flame_print(out, "</script>\n</body></html>\n");
}

static void write_key(struct output *out, const char *key)
{
	flame_print(out, ",\"%s\":", key);
}

static void write_string(struct output *out, const char *key, const char *text)
{
	write_key(out, key);
	flame_json(out, text);
}

/*
 * "comments": lines of the profile; "types": name, unit, value of a sample (0: unknown), and the
 * type that counts the samples, if there is one
 */
static void write_about(const struct flame *f, const struct flame_about *about,
			struct output *out)
{
	flame_print(out, "{\"v\":1");
	write_string(out, "title", about->title);
	write_string(out, "tool", about->tool);
	write_string(out, "file", about->file);
	flame_print(out, ",\"time\":%" PRId64 ",\"duration\":%" PRId64 ",\"default\":%" PRIu32,
		    f->when[FLAME_PROFILE].time, f->when[FLAME_PROFILE].duration, f->shown);
	if (f->options.invert)
		write_string(out, "view", "callers");
	if (f->over != TABLE_NONE)
		flame_print(out, ",\"ratio\":[%" PRIu32 ",%" PRIu32 "]", f->shown, f->over);
	write_key(out, "comments");
	for (uint32_t i = 0; i < f->comments; i++) {
		flame_print(out, i ? "," : "[");
		flame_json(out, f->comment[i]);
	}
	flame_print(out, f->comments ? "]" : "[]");
	write_key(out, "types");
	for (uint32_t i = 0; i < f->types; i++) {
		flame_print(out, "%s{\"name\":", i ? "," : "[");
		flame_json(out, f->type[i].name);
		write_string(out, "unit", f->type[i].unit);
		flame_print(out, ",\"per\":%.17g", f->type[i].per);
		if (f->type[i].count != TABLE_NONE)
			flame_print(out, ",\"count\":%" PRIu32, f->type[i].count);
		flame_print(out, "}");
	}
	flame_print(out, "]");
}

static void write_column(struct output *out, const char *key, struct flame_column *c)
{
	write_key(out, key);
	flame_column_write(c, 0, out);
}

/* "strings": all texts, 0 is ""; "sets": sets of labels, as pairs of strings; set 0 is empty */
static void write_texts(const struct flame *f, struct output *out)
{
	write_key(out, "strings");
	for (uint32_t i = 0; i < f->strings.count; i++) {
		flame_print(out, i ? "," : "[");
		flame_json(out, f->strings.text[i]);
	}
	flame_print(out, "]");
	write_key(out, "sets");
	for (uint32_t i = 0; i < f->sets.count; i++) {
		const uint32_t *pair = f->sets.item[i].bytes;
		size_t pairs = f->sets.item[i].size / (2 * sizeof(*pair));
		flame_print(out, i ? ",[" : "[[");
		for (size_t k = 0; k < pairs; k++)
			flame_print(out, "%s[%" PRIu32 ",%" PRIu32 "]", k ? "," : "", pair[2 * k],
				    pair[2 * k + 1]);
		flame_print(out, "]");
	}
	flame_print(out, "]");
}

/*
 * "funcs": columns of strings, first line (signed; -1: an object's addresses, which are the
 * lines of its frames), enum flame_kind; 0 is "all"
 */
static void write_functions(const struct flame *f, struct output *out)
{
	struct flame_column name = { 0 }, file = { 0 }, object = { 0 }, line = { 0 }, kind = { 0 };

	for (uint32_t i = 0; i < f->identities.count; i++) {
		flame_column_add(&name, f->function[i].name);
		flame_column_add(&file, f->function[i].file);
		flame_column_add(&object, f->function[i].object);
		flame_column_add_signed(&line, f->function[i].addresses[FLAME_PROFILE] ||
					f->function[i].addresses[FLAME_BASE] ? -1
					: (int64_t)f->function[i].line);
		flame_column_add(&kind, f->function[i].kind);
	}
	write_key(out, "funcs");
	flame_print(out, "{\"n\":%" PRIu32, f->identities.count);
	write_column(out, "name", &name);
	write_column(out, "file", &file);
	write_column(out, "object", &object);
	write_column(out, "line", &line);
	write_column(out, "kind", &kind);
	flame_print(out, "}");
}

struct used_frame {
	uint32_t frame, uses;
};

static int compare_uses(const void *a, const void *b)
{
	const struct used_frame *x = a, *y = b;

	if (x->uses != y->uses)
		return x->uses < y->uses ? 1 : -1;
	return x->frame < y->frame ? -1 : 1;
}

/* Return the frames, those with most nodes first: their numbers are the shortest.  0 stays. */
static struct used_frame *frames_by_use(const struct flame *f)
{
	struct used_frame *used = mem_zeroed(f->frames.count, sizeof(*used));

	for (uint32_t i = 0; i < f->frames.count; i++)
		used[i].frame = i;
	for (uint32_t i = 1; i < f->nodes; i++)
		used[f->node[i].frame].uses++;
	qsort(used + 1, f->frames.count - 1, sizeof(*used), compare_uses);
	return used;
}

/*
 * "frames": columns of function, line (signed), 1 if inlined; "nodes": columns, see
 * write_nodes()
 */
static void write_frames(const struct flame *f, const struct used_frame *used,
			 struct output *out)
{
	struct flame_column function = { 0 }, line = { 0 }, inlined = { 0 };

	for (uint32_t i = 0; i < f->frames.count; i++) {
		const struct flame_frame *frame = flame_frame(f, used[i].frame);
		flame_column_add(&function, frame->function);
		flame_column_add_signed(&line, frame->line);
		flame_column_add(&inlined, frame->inlined);
	}
	write_key(out, "frames");
	flame_print(out, "{\"n\":%" PRIu32, f->frames.count);
	write_column(out, "func", &function);
	write_column(out, "line", &line);
	write_column(out, "inl", &inlined);
	flame_print(out, "}");
}

/*
 * For each node from 1 on, depth first: how many levels to go up from the previous node before
 * going down one (0: the node is its child), and the frame.
 */
static void write_nodes(const struct flame *f, const struct used_frame *used,
			struct output *out)
{
	struct flame_column pop = { 0 }, frame = { 0 };
	uint32_t *rank = mem_zeroed(f->frames.count, sizeof(*rank));

	for (uint32_t i = 0; i < f->frames.count; i++)
		rank[used[i].frame] = i;
	for (uint32_t i = 1; i < f->nodes; i++) {
		uint32_t up = 0;
		for (uint32_t at = i - 1; at != f->node[i].parent; at = f->node[at].parent)
			up++;
		flame_column_add(&pop, up);
		flame_column_add(&frame, rank[f->node[i].frame]);
	}
	free(rank);
	write_key(out, "nodes");
	flame_print(out, "{\"n\":%" PRIu32, f->nodes - 1);
	write_column(out, "pop", &pop);
	write_column(out, "frame", &frame);
	flame_print(out, "}");
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* The values of one type, without their greatest common divisor: a constant period is free. */
static void write_values(const struct flame *f, const struct flame_rows *rows, uint32_t type,
			 struct output *out)
{
	struct flame_column c = { 0 };
	uint64_t common = 0;

	for (uint32_t i = 0; i < rows->rows; i++) {
		int64_t value = rows->value[rows->row[i].values + type];
		common = divisor(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, common);
	}
	common = common == 0 || common > INT64_MAX ? 1 : common;
	for (uint32_t i = 0; i < rows->rows; i++)
		flame_column_add_signed(&c, rows->value[rows->row[i].values + type] /
					(int64_t)common);
	flame_print(out, type ? "," : "[");
	flame_column_write(&c, common, out);
	if (type == f->types - 1)
		flame_print(out, "]");
}

/*
 * "rows", "base": columns of nodes (deltas), label sets, times (deltas of ticks; the first
 * UNTIMED rows have no time), and "val", the values of each type
 */
static void write_rows(const struct flame *f, const char *key, const struct flame_rows *rows,
		       struct output *out)
{
	struct flame_column node = { 0 }, set = { 0 }, time = { 0 };
	int64_t last_time = 0, last_node = 0;
	uint32_t untimed = 0;

	for (uint32_t i = 0; i < rows->rows; i++) {
		const struct flame_row *row = &rows->row[i];
		flame_column_add_signed(&node, (int64_t)row->node - last_node);
		flame_column_add(&set, row->set);
		last_node = row->node;
		untimed += row->time < 0;
		if (row->time >= 0) {
			flame_column_add(&time, (uint64_t)(row->time - last_time));
			last_time = row->time;
		} else {
			flame_column_add(&time, 0);
		}
	}
	write_key(out, key);
	flame_print(out, "{\"n\":%" PRIu32, rows->rows);
	write_column(out, "node", &node);
	if (f->sets.count > 1)
		write_column(out, "set", &set);
	if (f->has_times) {
		flame_print(out, ",\"untimed\":%" PRIu32 ",\"slices\":%" PRId64, untimed,
			    f->slices);
		flame_print(out, ",\"tick\":%" PRId64, f->tick);
		write_column(out, "time", &time);
	}
	free(set.bytes.at);
	free(time.bytes.at);
	write_key(out, "val");
	for (uint32_t i = 0; i < f->types; i++)
		write_values(f, rows, i, out);
	flame_print(out, "}");
}

/*
 * "bars": for each type its note, and columns of the bars of "flat" and "cum", if there are any
 */
static void write_bars(const struct flame *f, struct output *out)
{
	static const char *const key[] = { [BARS_FLAT] = "flat", [BARS_CUMULATIVE] = "cum" };

	write_key(out, "bars");
	flame_print(out, "[");
	for (uint32_t i = 0; f->bars && i < f->types; i++) {
		const struct flame_bars *b = &f->bars[i];
		flame_print(out, i ? ",{\"note\":" : "{\"note\":");
		flame_json(out, b->note ? b->note : "");
		for (int kind = 0; b->functions && kind < BARS_KINDS; kind++) {
			struct flame_column c = { 0 };
			for (uint32_t k = 0; k < b->functions; k++)
				flame_column_add(&c, b->code[kind][k]);
			write_column(out, key[kind], &c);
		}
		flame_print(out, "}");
	}
	flame_print(out, "]");
}

static void write_codes(const char *key, const uint8_t *code, uint32_t count, struct output *out)
{
	struct flame_column c = { 0 };

	for (uint32_t i = 0; i < count; i++)
		flame_column_add(&c, code[i]);
	write_column(out, key, &c);
}

/*
 * "verdicts": for each type "why" nothing is judged, or "", and codes (flame-verdicts.h): "flat"
 * and "cum" of functions, and "path" of nodes, if they are judged
 */
static void write_verdicts(const struct flame *f, struct output *out)
{
	write_key(out, "verdicts");
	for (uint32_t i = 0; i < f->types; i++) {
		const struct flame_verdicts *v = &f->verdicts[i];
		flame_print(out, i ? ",{\"why\":" : "[{\"why\":");
		flame_json(out, v->why_not ? v->why_not : "");
		if (!v->why_not) {
			write_codes("flat", v->flat, v->functions, out);
			write_codes("cum", v->cumulative, v->functions, out);
		}
		if (v->path)
			write_codes("path", v->path, f->nodes, out);
		flame_print(out, "}");
	}
	flame_print(out, "]");
}

static void write_sums(const struct flame *f, const char *key, const int64_t *sum,
		       struct output *out)
{
	write_key(out, key);
	for (uint32_t type = 0; type < f->types; type++) {
		struct flame_column c = { 0 };
		for (uint32_t i = 0; i < f->identities.count; i++)
			flame_column_add_signed(&c, i == f->cut.function ? 0
						: sum[(size_t)i * f->types + type]);
		flame_print(out, type ? "," : "[");
		flame_column_write(&c, 0, out);
	}
	flame_print(out, "]");
}

/* "cut": what was summed up, and the exact sums of each function and type */
static void write_cut(const struct flame *f, struct output *out)
{
	write_key(out, "cut");
	flame_print(out, "{\"nodes\":%" PRIu32 ",\"share\":%.6g,\"func\":%" PRIu32, f->cut.nodes,
		    f->cut.share, f->cut.function);
	write_sums(f, "flat", f->cut.flat, out);
	write_sums(f, "cum", f->cut.cumulative, out);
	flame_print(out, "}");
}

void flame_write_page(const struct flame *f, const struct flame_about *about,
		      struct output *out)
{
	struct used_frame *used = frames_by_use(f);

	write_head(about, out);
	write_about(f, about, out);
	write_texts(f, out);
	write_functions(f, out);
	write_frames(f, used, out);
	write_nodes(f, used, out);
	write_rows(f, "rows", &f->side[FLAME_PROFILE], out);
	if (f->has_base) {
		write_rows(f, "base", &f->side[FLAME_BASE], out);
		write_string(out, "baseName", about->base ? about->base : "the base");
		flame_print(out, ",\"baseTime\":%" PRId64 ",\"baseDuration\":%" PRId64,
			    f->when[FLAME_BASE].time, f->when[FLAME_BASE].duration);
		write_verdicts(f, out);
	}
	write_bars(f, out);
	if (f->cut.nodes)
		write_cut(f, out);
	if (about->source) {	/* "source": see flame_source_write() */
		write_key(out, "source");
		flame_source_write(about->source, out);
	}
	flame_print(out, "}");
	write_tail(out);
	free(used);
}
