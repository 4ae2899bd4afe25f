/* SPDX-License-Identifier: Apache-2.0 */
#include "record/label-record.h"
#include "base/cursor.h"
#include "record/events.h"

struct label_text label_next(const uint8_t **text)
{
	struct label_text label = { .key_size = (*text)[0], .key = (const char *)*text + 1 };

	*text += 1 + label.key_size;
	label.value_size = (*text)[0];
	label.value = (const char *)*text + 1;
	*text += 1 + label.value_size;
	return label;
}

/* Return whether TEXT consists of exactly COUNT pairs. */
static bool has_pairs(struct cursor text, unsigned count)
{
	for (unsigned i = 0; i < 2 * count; i++)
		cursor_bytes(&text, cursor_u8(&text));
	return !text.failed;
}

const char *label_record_read(struct bytes raw, struct label_record *r)
{
	struct cursor c = { .at = raw.at, .end = raw.at + raw.size };
	uint32_t magic = cursor_u32(&c);

	r->labels = (struct sample_labels){ .is_known = true, .status = cursor_u8(&c) };
	r->labels.pairs = cursor_u8(&c);
	r->labels.flags = cursor_u8(&c) & (LABEL_CUT | LABEL_FAULT);
	r->labels.form = cursor_u8(&c);
	uint64_t event = cursor_u64(&c);
	r->ip = cursor_u64(&c);
	uint32_t used = cursor_u32(&c), count = cursor_u32(&c);
	if (c.failed)
		return "labels record is shorter than its fields";
	if (magic != LABEL_MAGIC)
		return "labels record without the magic of one";
	if (used > cursor_left(&c))
		return "labels record with more labels than bytes";
	r->labels.text = (struct bytes){ .at = c.at, .size = used };
	c.end = c.at + used;
	if (!has_pairs(c, r->labels.pairs))
		return "labels record with a label that does not fit into it";
	if (event >= EVENTS_MAX || r->labels.status >= LABEL_STATUSES ||
	    (r->labels.status != LABEL_STATUS_LABELS && r->labels.pairs))
		return "labels record with impossible fields";
	if (count > r->labels.pairs)
		r->labels.flags |= LABEL_LEFT_OUT;
	r->event = (uint32_t)event;
	return NULL;
}
