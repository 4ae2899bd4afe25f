/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line tables (DWARF 5 §6.2).  A line table is a program for a simple state machine.  Its output
 * is rows of address, file, line and column, which are stored in sequences of ascending
 * addresses.
 */
#include "dwarf/constants.h"
#include "dwarf/internal.h"

#include <stdlib.h>

/* The registers of the state machine; OPERATION is the standard's op_index. */
struct registers {
	uint64_t address;
	uint32_t operation, file, line, column;
};

static const struct registers first_registers = { .file = 1, .line = 1 };

/* The state of running a line program, and its output. */
struct line_machine {
	struct lines *lines;
	struct spans spans;	/* address ranges of the sequences */
	struct row *row;
	size_t rows, room;	/* number of rows; capacity of ROW */
	bool in_sequence;	/* SEQUENCE is open */
	struct sequence sequence;
	uint64_t last;		/* last address in SEQUENCE */
};

struct lines *unit_lines(struct unit *u)
{
	struct unit *owner = u->skeleton ? u->skeleton : u;
	struct dwarf_file *f = owner->file;
	uint32_t id;

	if (owner->lines_read)
		return owner->lines;
	owner->lines_read = true;
	if (owner->stmt_list.kind != V_OFFSET && owner->stmt_list.kind != V_CONSTANT)
		return NULL;
	uint64_t hash = hash_u64(owner->stmt_list.number);
	id = TABLE_FIND(&f->lines_table, hash, i,
			f->lines[i]->offset == owner->stmt_list.number);
	if (id != TABLE_NONE)
		return owner->lines = f->lines[id];
	struct lines *l = mem_zeroed(1, sizeof(*l));
	l->offset = owner->stmt_list.number;
	l->unit = owner;
	lines_read_header(l);
	f->lines = array_grow(f->lines, f->lines_count, sizeof(l));
	f->lines[f->lines_count] = l;
	table_add(&f->lines_table, hash, (uint32_t)f->lines_count++);
	return owner->lines = l;
}

void lines_release(struct dwarf_file *f)
{
	for (size_t i = 0; i < f->lines_count; i++) {
		struct lines *l = f->lines[i];
		free(l->directory);
		free(l->file);
		free(l->row);
		free(l->sequence);
		free(l);
	}
	free(f->lines);
	table_release(&f->lines_table);
}

/* End the sequence at END.  Discard its rows if its address range cannot be code. */
static void end_sequence(struct line_machine *m, uint64_t end)
{
	struct lines *l = m->lines;
	const struct dwarf *d = l->unit->file->dwarf;
	struct sequence *s = &m->sequence;
	bool is_code = s->start < end && s->start < UINT64_MAX - 1 &&
		(d->text_end ? s->start >= d->text_start && s->start < d->text_end
			     : s->start != 0);

	if (m->in_sequence && is_code) {
		s->end = end;
		s->rows = m->rows - s->row;
		l->sequence = array_grow(l->sequence, l->sequences, sizeof(*s));
		spans_add(&m->spans, s->start, end, (uint32_t)l->sequences);
		l->sequence[l->sequences++] = *s;
	} else if (m->in_sequence) {
		m->rows = s->row;
	}
	m->in_sequence = false;
}

static void begin_sequence(struct line_machine *m, uint64_t start)
{
	end_sequence(m, m->last);
	m->in_sequence = true;
	m->sequence = (struct sequence){ .start = start, .row = m->rows };
}

/* Make room for more rows.  False: too many rows. */
static bool make_room(struct line_machine *m)
{
	enum { FIRST = 64 };

	size_t more = m->room ? m->room : FIRST;
	if (!dwarf_pay(m->lines->unit->file, more * sizeof(*m->row)))
		return false;
	m->room += more;
	m->row = mem_resize(m->row, m->room * sizeof(*m->row));
	return true;
}

/* Write the registers as a row, unless it repeats the last one.  False: too many rows. */
static inline __attribute__((always_inline)) bool
emit(struct line_machine *m, const struct registers *r)
{
	uint64_t delta = r->address - m->sequence.start;

	if (!m->in_sequence || r->address < m->last || delta > UINT32_MAX) {
		begin_sequence(m, r->address);
		delta = 0;
	} else {
		const struct row *before = &m->row[m->rows - 1];
		m->last = r->address;
		if (before->line == r->line && before->column == r->column &&
		    before->file == r->file)
			return true;
		m->rows -= before->delta == delta;	/* the last row for an address wins */
	}
	if (m->rows == m->room && !make_room(m))
		return false;
	m->row[m->rows++] = (struct row){ (uint32_t)delta, r->line, r->file, r->column };
	m->last = r->address;
	return true;
}

static inline void advance(struct registers *r, const struct lines *l, uint64_t operations)
{
	if (l->max_operations <= 1) {
		r->address += operations * l->min_length;
		return;
	}
	operations += r->operation;
	r->address += operations / l->max_operations * l->min_length;
	r->operation = (uint32_t)(operations % l->max_operations);
}

static inline bool run_extended(struct line_machine *m, struct registers *r, struct cursor *c)
{
	uint64_t size = cursor_uleb(c);
	const uint8_t *at = cursor_bytes(c, size);

	if (!at || size == 0)
		return !c->failed;
	struct cursor operand = { .at = at + 1, .end = at + size, .swap = c->swap };
	switch (*at) {
	case DW_LNE_end_sequence:
		end_sequence(m, r->address);
		*r = first_registers;
		break;
	case DW_LNE_set_address:
		r->address = form_number(&operand, (unsigned)cursor_left(&operand));
		r->operation = 0;
		return !operand.failed;
	}
	return true;
}

static inline bool run_standard(struct line_machine *m, struct registers *r, struct cursor *c,
				uint8_t opcode)
{
	const struct lines *l = m->lines;

	switch (opcode) {
	case DW_LNS_copy:
		return emit(m, r);
	case DW_LNS_advance_pc:
		advance(r, l, cursor_uleb(c));
		return true;
	case DW_LNS_advance_line:
		r->line += (uint32_t)cursor_sleb(c);
		return true;
	case DW_LNS_set_file:
		r->file = (uint32_t)cursor_uleb(c);
		return true;
	case DW_LNS_set_column:
		r->column = (uint32_t)cursor_uleb(c);
		return true;
	case DW_LNS_const_add_pc:
		advance(r, l, (255U - l->opcode_base) / l->line_range);
		return true;
	case DW_LNS_fixed_advance_pc:
		r->address += cursor_u16(c);
		r->operation = 0;
		return true;
	default:	/* opcodes without effect here, and unknown opcodes */
		for (uint8_t i = l->operands[opcode - 1]; i > 0 && !c->failed; i--)
			cursor_uleb(c);
		return true;
	}
}

/* Run a special opcode: it advances address and line, and writes a row. */
static inline bool run_special(struct line_machine *m, struct registers *r, uint8_t opcode)
{
	const struct lines *l = m->lines;
	uint32_t step = (uint32_t)opcode - l->opcode_base;
	/* This is step / line_range, for all numbers below 256; a division takes longer. */
	uint32_t operations = step * l->line_scale >> 16;

	advance(r, l, operations);
	r->line += (uint32_t)l->line_base + step - operations * l->line_range;
	return emit(m, r);
}

static void read_rows(struct lines *l)
{
	struct dwarf_file *f = l->unit->file;
	struct line_machine m = { .lines = l };
	struct registers r = first_registers;
	struct cursor c = section_cursor(f, S_LINE, l->program);

	l->rows_read = true;
	c.end = f->section[S_LINE].at + l->end;
	/* Programs may overlap, so each byte takes fuel. */
	uint64_t size = fuel_take_some(&f->fuel, cursor_left(&c));
	bool is_good = !c.failed;
	f->dwarf->exceeded |= size < cursor_left(&c);
	c.end = c.at + size;
	const uint8_t *at = c.at;
	while (is_good && c.at < c.end) {
		at = c.at;
		uint8_t opcode = *c.at++;
		if (opcode >= l->opcode_base)
			is_good = run_special(&m, &r, opcode);
		else if (opcode == 0)
			is_good = run_extended(&m, &r, &c) && !c.failed;
		else
			is_good = run_standard(&m, &r, &c, opcode) && !c.failed;
	}
	end_sequence(&m, m.last);	/* in case DW_LNE_end_sequence is missing */
	if (!is_good)
		dwarf_damaged(f, S_LINE, (uint64_t)(at - f->section[S_LINE].at));
	l->row = m.row;
	for (size_t s = 0; s < l->sequences; s++)
		BINS_MAKE(&l->sequence[s].bins, &f->dwarf->arena, l->sequence[s].rows, i,
			     l->row[l->sequence[s].row + i].delta);
	dwarf_charge(f->dwarf, m.room * sizeof(*m.row) +
		     l->sequences * (sizeof(*l->sequence) + 2 * sizeof(*l->flat.at)));
	l->flat = spans_flatten(&m.spans, &f->dwarf->arena);
	spans_release(&m.spans);
}

bool lines_find(struct lines *l, uint64_t address, struct row *row, struct extent *same)
{
	if (!l || l->is_bad)
		return false;
	if (!l->rows_read)
		read_rows(l);
	uint32_t id = flats_narrow(&l->flat, address, same);
	if (id == SPAN_NONE)
		return false;
	const struct sequence *s = &l->sequence[id];
	const struct row *of = l->row + s->row;
	uint64_t delta = address - s->start;
	size_t next = BINS_BISECT(&s->bins, of, delta, s->rows, i, of[i].delta > delta);
	extent_narrow(same, next == 0 ? 0 : s->start + of[next - 1].delta,
		      next == s->rows ? UINT64_MAX : s->start + of[next].delta);
	if (next == 0)
		return false;
	*row = of[next - 1];
	return true;
}
