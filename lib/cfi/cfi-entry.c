/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read CIEs and FDEs.  Sections .eh_frame (LSB Core 5.0, chapter 10.6) and .debug_frame (DWARF 5,
 * section 6.4.1) have the same entries, with three differences.  The id of a CIE is 0, or else
 * all ones.  An FDE has the distance to its CIE, or else the CIE's offset in the section.  And
 * in .eh_frame, ids have 4 bytes even after a length of 8 bytes.
 */
#include "cfi/cfi-internal.h"
#include "dwarf/constants.h"

enum { AUGMENTATION_MAX = 32 };		/* bytes of the text; real ones have fewer than ten */

static uint64_t place_of(const struct cfi_section *s, const struct cursor *c)
{
	return s->address + (uint64_t)(c->at - s->bytes.at);
}

/* Read a number in the FORMAT of a DW_EH_PE_*. */
static uint64_t read_format(struct cursor *c, uint8_t format, uint8_t address_size)
{
	switch (format) {
	case DW_EH_PE_absptr:
		return address_size == 4 ? cursor_u32(c) : cursor_u64(c);
	case DW_EH_PE_uleb128:
		return cursor_uleb(c);
	case DW_EH_PE_sleb128:
		return (uint64_t)cursor_sleb(c);
	case DW_EH_PE_udata2:
		return cursor_u16(c);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)cursor_u16(c);
	case DW_EH_PE_udata4:
		return cursor_u32(c);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)cursor_u32(c);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(c);
	default:
		cursor_fail(c);
		return 0;
	}
}

uint64_t cfi_section_pointer(const struct cfi_section *s, struct cursor *c, uint8_t encoding,
			     uint8_t address_size)
{
	uint64_t place = place_of(s, c);

	switch (encoding & 0xf0) {
	case 0:
		return read_format(c, encoding & 0x0f, address_size);
	case DW_EH_PE_pcrel:
		return place + read_format(c, encoding & 0x0f, address_size);
	default:
		cursor_fail(c);
		return 0;
	}
}

/* Skip the pointer to a personality routine. */
static void skip_pointer(const struct cfi_section *s, struct cursor *c, uint8_t address_size)
{
	uint8_t encoding = cursor_u8(c);

	if (encoding == DW_EH_PE_omit)
		return;
	if (encoding == DW_EH_PE_aligned)
		cursor_bytes(c, -place_of(s, c) & (address_size - 1U));
	read_format(c, encoding == DW_EH_PE_aligned ? DW_EH_PE_absptr : encoding & 0x0f,
		    address_size);
}

bool cfi_entry_read(const struct cfi_section *s, uint64_t offset, struct cfi_entry *e)
{
	struct cursor c = elf_cursor(s->elf, s->bytes);

	if (offset >= s->bytes.size)
		return false;
	c.at += offset;
	uint64_t length = cursor_u32(&c);
	bool is_long = length == UINT32_MAX;
	if (is_long)
		length = cursor_u64(&c);
	if (c.failed || length > cursor_left(&c) || (length == 0 && !s->is_eh))
		return false;
	c.end = c.at + length;
	*e = (struct cfi_entry){ .offset = offset, .next = (uint64_t)(c.end - s->bytes.at) };
	if (length == 0) {
		e->kind = ENTRY_ZERO;
		return true;
	}
	uint64_t here = (uint64_t)(c.at - s->bytes.at);
	uint64_t id = is_long && !s->is_eh ? cursor_u64(&c) : cursor_u32(&c);
	uint64_t cie_id = s->is_eh ? 0 : is_long ? UINT64_MAX : UINT32_MAX;
	e->kind = id == cie_id ? ENTRY_CIE : ENTRY_FDE;
	e->cie = s->is_eh ? here - id : id;
	e->body = c;
	return !c.failed;
}

/* Read the augmentation data of a CIE after its size, as the letters of TEXT say. */
static void read_augmentation(const struct cfi_section *s, struct cursor c, const char *text,
			      struct cie *cie)
{
	for (; *text; text++)
		switch (*text) {
		case 'R':
			cie->encoding = cursor_u8(&c);
			break;
		case 'L':	/* encoding of the pointer to language-specific data */
			cursor_u8(&c);
			break;
		case 'P':
			skip_pointer(s, &c, cie->address_size);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B':	/* return addresses are signed with key B */
		case 'G':	/* the stack has memory tags */
			break;
		default:	/* the meaning of what follows is unknown */
			return;
		}
}

/* Read the text that says which parts an entry has; "" and a failed cursor if too long. */
static const char *read_augmentation_text(struct cursor *c)
{
	size_t left = c->failed ? 0 : cursor_left(c), length = 0;

	while (length < left && length < AUGMENTATION_MAX && c->at[length])
		length++;
	if (length < left && length < AUGMENTATION_MAX)
		return cursor_bytes(c, length + 1);
	cursor_fail(c);
	return "";
}

/* Read the CIE at OFFSET.  False: damaged, or of an unknown version. */
static bool cie_read(const struct cfi_section *s, uint64_t offset, struct cie *cie)
{
	struct cfi_entry e;
	uint64_t size;

	if (!cfi_entry_read(s, offset, &e) || e.kind != ENTRY_CIE)
		return false;
	struct cursor c = e.body;
	*cie = (struct cie){ .offset = offset, .address_size = 8 };
	uint8_t version = cursor_u8(&c);
	const char *text = read_augmentation_text(&c);
	if (version >= 4) {
		cie->address_size = cursor_u8(&c);
		if (cursor_u8(&c))	/* size of segment selectors */
			return false;
	}
	cie->code_factor = cursor_uleb(&c);
	cie->data_factor = cursor_sleb(&c);
	uint64_t ra_reg = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
	if (c.failed || (version != 1 && version != 3 && version != 4) ||
	    (cie->address_size != 4 && cie->address_size != 8) || ra_reg >= CFI_REGISTERS)
		return false;
	cie->ra_reg = (uint8_t)ra_reg;
	if (*text && *text != 'z')	/* the size of what follows is unknown */
		return false;
	cie->has_augmentation = *text == 'z';
	if (cie->has_augmentation) {
		size = cursor_uleb(&c);
		struct cursor data = c;
		if (!cursor_bytes(&c, size))
			return false;
		data.end = c.at;
		read_augmentation(s, data, text + 1, cie);
	}
	cie->program = c;
	return !c.failed;
}

bool cfi_fde_read(struct cfi_section *s, const struct cfi_entry *e, struct fde *fde)
{
	struct cursor c = e->body;

	if (!s->has_cie || s->cie.offset != e->cie)
		s->has_cie = cie_read(s, e->cie, &s->cie);
	if (!s->has_cie)
		return false;
	fde->cie = s->cie;
	fde->offset = e->offset;
	const struct cie *cie = &fde->cie;
	fde->start = cfi_section_pointer(s, &c, cie->encoding, cie->address_size);
	/* The size has the same format, but is not relative and never negative. */
	uint64_t size = read_format(&c, cie->encoding & 0x07, cie->address_size);
	fde->end = fde->start + size;
	if (cie->has_augmentation)
		cursor_bytes(&c, cursor_uleb(&c));
	fde->program = c;
	return !c.failed && fde->end >= fde->start;
}
