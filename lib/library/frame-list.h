/* SPDX-License-Identifier: Apache-2.0 */
/* frame-list - the frames of a sample or of an address, as the library returns them. */
#pragma once
#include "library/handle.h"
#include "resolved/resolved.h"

/* Zero-initialised: empty. */
struct frame_list {
	struct pmukit_frame *frame;
	size_t count, room;
	char (*build_id)[BUILD_ID_HEX];	/* by object of the definitions */
	uint32_t objects;		/* elements of BUILD_ID that are set */
};

/* Empty L for frames of definitions T. */
void frame_list_begin(struct frame_list *l, const struct resolved *t);

/*
 * Add the frames of frame ID of T: one for each line.  ADDRESS is that in the process; 0: it is the
 * one in the object.  Texts stay T's.
 */
void frame_list_add(struct frame_list *l, const struct resolved *t, uint32_t id, uint64_t address);

/* The definitions have new ids. */
void frame_list_forget(struct frame_list *l);

void frame_list_release(struct frame_list *l);
