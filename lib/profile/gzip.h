/* SPDX-License-Identifier: Apache-2.0 */
/* gzip - compress what is written to an output. */
#pragma once
#include "base/output.h"

struct gzip;

/* OUT must outlive the result. */
struct gzip *gzip_open(struct output *out);

void gzip_write(struct gzip *gz, const void *bytes, size_t size);

/* Write what is left, and the trailer; OUT is not flushed. */
void gzip_close(struct gzip *gz);
