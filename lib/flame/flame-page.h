/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame-page - writes a model (flame/flame.h) as one HTML file that needs nothing else.
 *
 * The file has our style and script, and the model as data: JSON of version 1, whose fields
 * are named in flame-page.c.  A policy in the file forbids all other scripts, styles and
 * requests.
 */
#pragma once
#include "base/output.h"
#include "flame/flame-source.h"
#include "show/page-asset.h"

/* The text around the graph in a page or picture. */
struct flame_about {
	const char *title;
	const char *base;	/* name of the base, or NULL */
	const char *tool;	/* name and version */
	const char *file;	/* path of the profile, for a command; "": it has none */
	const struct flame_source *source;	/* lines that the page shows; NULL: none */
};

/* Write F, arranged, to OUT.  Writes may be discarded: output_ended(). */
void flame_write_page(const struct flame *f, const struct flame_about *about,
		      struct output *out);

/* Our own texts: made by the build (lib/show/embed) from flame-*.js and flame.css. */
extern const struct page_asset flame_script, flame_style;
