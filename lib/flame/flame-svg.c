/* SPDX-License-Identifier: Apache-2.0 */
#include "flame/flame-svg.h"
#include "compare/diff.h"
#include "flame/internal.h"
#include "names/short-name.h"
#include "record/words.h"
#include "show/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
	WIDTH = 1200, MARGIN = 10,	/* pixels */
	ROW = 18, HEAD = 44, FOOT = 30,
	LETTER = 7,			/* width of a letter of 11.5 px, about */
	DEPTH_MAX = 400,		/* rows: a viewer need not show the whole of a recursion */
};

#define NARROWEST 0.001			/* share of the width of the narrowest box */

struct picture {
	const struct flame *f;
	struct output *out;
	double *value, *other;		/* by node; OTHER: of the base, or of the other type */
	double samples, other_samples;	/* in all; 0: unknown */
	uint32_t *depth;		/* by node: its row, from 0 */
	double *x;			/* by node: its left edge, as a share of the width */
	double *used;			/* by node: share of the width that its children have */
	uint32_t rows;
	uint32_t left_out;
	double left_out_value;
};

static double *totals(const struct flame *f, enum flame_side side, uint32_t type)
{
	const struct flame_rows *rows = &f->side[side];
	double *total = mem_zeroed(f->nodes, sizeof(*total));

	for (uint32_t i = 0; i < rows->rows; i++)
		total[rows->row[i].node] += (double)rows->value[rows->row[i].values + type];
	for (uint32_t i = f->nodes - 1; i > 0; i--)
		total[f->node[i].parent] += total[i];
	return total;
}

static double samples_of(const struct flame *f, uint32_t type, double total)
{
	return f->type[type].per > 0 ? total / f->type[type].per : 0;
}

static bool is_shown(const struct picture *p, uint32_t node)
{
	return p->value[node] >= NARROWEST * p->value[0] && p->value[node] > 0 &&
	       p->depth[node] < DEPTH_MAX;
}

/* Give each box its place: nodes are depth first, the heaviest child first. */
static void lay_out(struct picture *p)
{
	const struct flame *f = p->f;

	for (uint32_t i = 1; i < f->nodes; i++) {
		uint32_t parent = f->node[i].parent;
		double share = p->value[0] > 0 ? p->value[i] / p->value[0] : 0;
		p->depth[i] = p->depth[parent] + 1;
		p->x[i] = p->x[parent] + p->used[parent];
		p->used[parent] += share;
		if (is_shown(p, i))
			p->rows = p->depth[i] > p->rows ? p->depth[i] : p->rows;
		else if (is_shown(p, parent) || parent == 0)
			p->left_out_value += p->value[i];
		p->left_out += !is_shown(p, i);
	}
}

/* A colour that says what kind of code it is, and varies a little by name. */
static void kind_colour(char *text, size_t size, enum flame_kind kind, const char *name)
{
	static const int hsl[][3] = { { 40, 92, 70 }, { 16, 82, 76 }, { 208, 72, 76 },
				      { 152, 44, 68 }, { 0, 0, 80 }, { 322, 70, 78 } };
	uint32_t seed = 0;

	for (size_t i = 0; i < 60 && name[i]; i++)
		seed = 31 * seed + (unsigned char)name[i];
	seed = (seed >> 5) % 6;
	snprintf(text, size, "hsl(%d,%d%%,%.1f%%)", hsl[kind][0] + ((int)(seed % 3) - 1) * 4,
		 hsl[kind][1], hsl[kind][2] + (seed - 2.5) * 1.7);
}

static struct flame_share share_of(double value, double all, double samples)
{
	return (struct flame_share){ value, all, samples };
}

/* The factor by which the share of NODE is above that on the other side. */
static double change_factor(const struct picture *p, uint32_t node)
{
	double share = p->value[node] / p->value[0];
	double other = p->other[0] != 0 ? p->other[node] / p->other[0] : 0;

	return share / (other > 0 ? other : 1e-9);
}

/* Return the verdict on the change of NODE; UNKNOWN: none. */
static enum verdict verdict_of(const struct picture *p, uint32_t node, bool *unknown)
{
	uint8_t code = flame_verdict(p->f, node);
	bool more = p->value[node] / p->value[0] > (p->other[0] > 0 ? p->other[node] / p->other[0]
							            : 0);

	*unknown = false;
	if (p->f->over != TABLE_NONE)
		return fabs(flame_change(share_of(p->value[node], p->value[0], p->samples),
					 share_of(p->other[node], p->other[0],
						  p->other_samples))) < FLAME_SIGNIFICANT
			? VERDICT_CHANCE : VERDICT_SURE;
	/* the verdict on a function says nothing of a path that changed the other way */
	*unknown = code < 2 || (code % 2 == 1) != more;
	return *unknown ? VERDICT_CHANCE : (enum verdict)(code / 2 - 1);
}

/*
 * Orange is more, blue is less; of a ratio, violet and green-blue.  Yellow is large, but unsteady;
 * grey may be chance; what is not judged is pale.
 */
static void change_colour(const struct picture *p, uint32_t node, char *text, size_t size)
{
	bool ratio = p->f->over != TABLE_NONE, unknown;
	double by = log2(change_factor(p, node)) / 1.5, strength = fabs(by) > 1 ? 1 : fabs(by);
	enum verdict verdict = verdict_of(p, node, &unknown);

	strength = unknown ? 0 : strength;
	if (!unknown && verdict <= VERDICT_CHANCE)
		snprintf(text, size, "#dcd9d3");
	else if (verdict == VERDICT_UNSTEADY)
		snprintf(text, size, "hsl(52,88%%,70%%)");
	else
		snprintf(text, size, "hsl(%d,%.0f%%,%.0f%%)",
			 ratio ? (by > 0 ? 285 : 165) : by > 0 ? 18 : 214,
			 (ratio ? 0.6 : 1) * (30 + 60 * strength), 88 - 22 * strength);
}

/* The name of NODE, whole. */
static void name_of(const struct flame *f, uint32_t node, char *text, size_t size)
{
	const struct flame_frame *frame = flame_frame(f, f->node[node].frame);
	const char *name = f->strings.text[f->function[frame->function].name];

	if (f->cut.nodes && frame->function == f->cut.function)
		snprintf(text, size, "%.*s: %" PRId64 " paths]", (int)strlen(name) - 1, name,
			 frame->line);
	else
		snprintf(text, size, "%s", name);
}

/* The tooltip: name, file and line, object, value, share, and what has changed. */
static void write_title(const struct picture *p, uint32_t node, const char *name)
{
	const struct flame *f = p->f;
	const struct flame_function *function = flame_function_of(f, node);
	const char *file = f->strings.text[function->file];
	const char *object = f->strings.text[function->object];
	char value[VALUE_SIZE];

	value_format(value, p->value[node], f->type[f->shown].unit);
	flame_print(p->out, "<title>");
	flame_markup(p->out, name);
	flame_print(p->out, "\n");
	flame_markup(p->out, file);
	if (*file && function->line)
		flame_print(p->out, ":%" PRIu32, function->line);
	if (*object) {
		flame_print(p->out, *file ? " in " : "in ");
		flame_markup(p->out, object);
	}
	flame_print(p->out, "\n%s, %.2f %%", value, 100 * p->value[node] / p->value[0]);
	if (p->other && f->over != TABLE_NONE && p->other[node] != 0)
		flame_print(p->out, ", ratio %.3g, of all %.3g", p->value[node] / p->other[node],
			    p->value[0] / p->other[0]);
	else if (p->other && f->over == TABLE_NONE)
		flame_print(p->out, ", before %.2f %%", p->other[0] != 0
			    ? 100 * p->other[node] / p->other[0] : 0);
	flame_print(p->out, "</title>");
}

/* The second sign of a kind, for those who cannot see its colour; as in the page. */
static void write_mark(const struct picture *p, enum flame_kind kind, double x, double y,
		       double width)
{
	static const char *const style[] = {
		[KIND_LIBRARY] = "stroke-width=\"1\"", [KIND_KERNEL] = "stroke-width=\"4\"",
		[KIND_JIT] = "stroke-width=\"4\" stroke-dasharray=\"2.5\"",
		[KIND_BETWEEN] = "stroke-width=\"4\"" };

	if (kind == KIND_BETWEEN)
		flame_print(p->out, "<path d=\"M%.1f %.1fh%.1f\" stroke=\"#000\" "
			    "stroke-opacity=\".35\" %s/>", x, y + 1.5, width, style[kind]);
	if (kind == KIND_LOST)
		flame_print(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
			    "fill=\"url(#hatch)\"/>", x, y, width, ROW - 1);
	else if (kind != KIND_PROGRAM)
		flame_print(p->out, "<path d=\"M%.1f %.1fh%.1f\" stroke=\"#000\" "
			    "stroke-opacity=\".35\" %s/>", x, y + ROW - 1.5, width, style[kind]);
}

/* Dots say that a change is unsteady, for those who cannot see the colour. */
static void write_dots(const struct picture *p, uint32_t node, double x, double y, double width)
{
	bool unknown;

	if (p->other && verdict_of(p, node, &unknown) == VERDICT_UNSTEADY)
		flame_print(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
			    "fill=\"url(#dots)\"/>", x, y, width, ROW - 1);
}

static void write_box(const struct picture *p, uint32_t node)
{
	const struct flame *f = p->f;
	double inside = WIDTH - 2 * MARGIN, x = MARGIN + p->x[node] * inside;
	double width = p->value[node] / p->value[0] * inside;
	bool down = f->options.invert;
	double y = HEAD + ROW * (double)(down ? p->depth[node] : p->rows - p->depth[node]);
	enum flame_kind kind = flame_function_of(f, node)->kind;
	char name[1024], colour[64];

	name_of(f, node, name, sizeof(name));
	if (node == 0)
		snprintf(colour, sizeof(colour), "#e4e0d9");
	else if (p->other)
		change_colour(p, node, colour, sizeof(colour));
	else
		kind_colour(colour, sizeof(colour), kind, name);
	flame_print(p->out, "<g>");
	write_title(p, node, name);
	width = width > 1 ? width - 0.5 : width;
	flame_print(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"1\" "
		    "fill=\"%s\"/>", x, y, width, ROW - 1, colour);
	if (node > 0) {
		write_dots(p, node, x, y, width);
		write_mark(p, kind, x, y, width);
	}
	if (width > 3 * LETTER) {
		flame_print(p->out, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y + ROW - 5.5);
		char *text = short_name(name, (size_t)((width - 4) / LETTER));
		flame_markup(p->out, text);
		free(text);
		flame_print(p->out, "</text>");
	}
	flame_print(p->out, "</g>\n");
}

/* Write how long the recording of SIDE took. */
static void write_length(const struct picture *p, enum flame_side side)
{
	int64_t duration = p->f->when[side].duration;
	char text[VALUE_SIZE];

	value_format(text, (double)duration, UNIT_TIME);
	if (duration > 0)
		flame_print(p->out, " in %s", text);
}

static void write_caption(const struct picture *p, const struct flame_about *about, int height)
{
	const struct flame_type *type = &p->f->type[p->f->shown];
	char value[VALUE_SIZE];

	value_format(value, p->value[0], type->unit);
	flame_print(p->out, "<text x=\"%d\" y=\"18\" font-size=\"15\" font-weight=\"600\">",
		    MARGIN);
	flame_markup(p->out, about->title);
	flame_print(p->out, "</text>\n<text x=\"%d\" y=\"35\" fill=\"#6a645c\">", MARGIN);
	flame_markup(p->out, type->name);
	flame_print(p->out, " %s", value);
	write_length(p, FLAME_PROFILE);
	if (p->f->over != TABLE_NONE) {
		flame_print(p->out, "; colour: per ");
		flame_markup(p->out, p->f->type[p->f->over].name);
		flame_print(p->out, ", violet is above the whole, green below, grey may "
			    "be chance");
	} else if (p->other) {
		value_format(value, p->other[0], type->unit);
		flame_print(p->out, ", before %s", value);
		write_length(p, FLAME_BASE);
		flame_print(p->out, "; orange: more than in ");
		flame_markup(p->out, about->base ? about->base : "the base");
		flame_print(p->out, ", blue: less, yellow with dots: large, but unsteady, grey: "
			    "may be chance");
	}
	flame_print(p->out, "</text>\n");
	if (p->left_out)
		flame_print(p->out, "<text x=\"%d\" y=\"%d\" fill=\"#6a645c\">%" PRIu32
			    " call paths narrower than 0.1 %% are left out, %.2f %% of all</text>"
			    "\n", MARGIN, height - 10, p->left_out, p->value[0] > 0
			    ? 100 * p->left_out_value / p->value[0] : 0);
}

static void draw(const struct picture *p, const struct flame_about *about)
{
	int height = HEAD + ROW * (int)(p->rows + 1) + FOOT;

	flame_print(p->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		    "viewBox=\"0 0 %d %d\" font-family=\"ui-monospace,Menlo,Consolas,"
		    "'DejaVu Sans Mono',monospace\" font-size=\"11.5\" fill=\"#1d1b19\">\n",
		    WIDTH, height, WIDTH, height);
	flame_print(p->out, "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" "
		    "patternUnits=\"userSpaceOnUse\"><path d=\"M0 6L6 0\" stroke=\"#000\" "
		    "stroke-opacity=\".3\"/></pattern>"
		    "<pattern id=\"dots\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
		    "<path d=\"M2 3h2\" stroke=\"#000\" stroke-width=\"2\" stroke-opacity=\".3\"/>"
		    "</pattern></defs>\n"
		    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
	write_caption(p, about, height);
	for (uint32_t i = 0; i < p->f->nodes; i++)
		if (i == 0 || is_shown(p, i))
			write_box(p, i);
	flame_print(p->out, "</svg>\n");
}

void flame_write_svg(const struct flame *f, const struct flame_about *about, struct output *out)
{
	struct picture p = { .f = f, .out = out };

	p.value = totals(f, FLAME_PROFILE, f->shown);
	p.samples = samples_of(f, f->shown, p.value[0]);
	if (f->over != TABLE_NONE || f->has_base) {
		bool ratio = f->over != TABLE_NONE;
		uint32_t type = ratio ? f->over : f->shown;
		p.other = totals(f, ratio ? FLAME_PROFILE : FLAME_BASE, type);
		p.other_samples = samples_of(f, type, p.other[0]);
	}
	p.depth = mem_zeroed(f->nodes, sizeof(*p.depth));
	p.x = mem_zeroed(f->nodes, sizeof(*p.x));
	p.used = mem_zeroed(f->nodes, sizeof(*p.used));
	lay_out(&p);
	draw(&p, about);
	free(p.value);
	free(p.other);
	free(p.depth);
	free(p.x);
	free(p.used);
}
