/* SPDX-License-Identifier: Apache-2.0 */
/* flame-svg - writes a model (flame/flame.h) as a still picture: SVG, with titles as tooltips. */
#pragma once
#include "base/output.h"
#include "flame/flame-page.h"

/*
 * Write F, arranged and made for a picture (options.still), to OUT.  Boxes narrower than
 * 0.1 % are left out; the caption says how many, and their share.
 */
void flame_write_svg(const struct flame *f, const struct flame_about *about, struct output *out);
