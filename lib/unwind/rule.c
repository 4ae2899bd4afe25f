/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules at addresses, and their caches.
 *
 * A first cache (base/recent.h) maps an address in one generation of an address space straight to
 * a rule.  If it misses, an exact cache maps an address in an object to a rule, so that a new
 * mapping or another process costs no look at the file.  If both miss, the call frame information
 * is run up to the address.  Most programs have fewer than a hundred distinct rules.
 */
#include "unwind/internal.h"
#include "elf/call.h"
#include "elf/section.h"

/* Ids of the rules without a row.  ID_LATER is not kept in a cache: the next stack tries again. */
enum { ID_END, ID_NO_CFI, ID_NO_CODE, ID_COSTLY, ID_LATER };

enum { LOOKUP_STEPS = 64 };	/* steps that looking at the file of an object takes */

#define EXACT (1ULL << 63)

static uint32_t add_rule(struct rules *r, const struct rule *rule, size_t size)
{
	r->rule = array_grow(r->rule, r->count, sizeof(struct rule *));
	r->rule[r->count] = arena_copy(&r->arena, rule, size);
	return r->count++;
}

void rules_init(struct rules *r)
{
	static const enum rule_kind fixed[RULES_FIXED] = {
		[ID_END] = RULE_END, [ID_NO_CFI] = RULE_NO_CFI, [ID_NO_CODE] = RULE_NO_CODE,
		[ID_COSTLY] = RULE_COSTLY, [ID_LATER] = RULE_COSTLY,
	};

	for (int i = 0; i < RULES_FIXED; i++) {
		struct rule rule = { .kind = (uint8_t)fixed[i] };
		add_rule(r, &rule, offsetof(struct rule, save));
	}
	recent_reset(&r->recent, RECENT_FIRST);
}

void rules_release(struct rules *r)
{
	arena_release(&r->arena);
	table_release(&r->table);
	table_release(&r->known_table);
	free(r->rule);
	free(r->known);
	recent_release(&r->recent);
	*r = (struct rules){ 0 };
}

void rules_forget(struct rules *r)
{
	rules_release(r);
	rules_init(r);
}

/*
 * Return whether the function of RULE keeps a frame pointer.  Go's CFI does not say so, but all
 * functions with a frame keep one.  On x86-64, other functions may use the register for anything
 * unless the CFA comes from it.
 */
static bool keeps_pointer(const struct rule *rule, const struct machine *m, bool is_go)
{
	enum { RETURN = 8 };	/* bytes; x86-64: a function with only this has no frame */

	if (rule->cfa_kind != CFI_OFFSET || rule->ra_kind != CFI_OFFSET)
		return false;
	if (is_go)
		return rule->cfa_value > (m->lr == NO_REGISTER ? RETURN : 0);
	for (unsigned i = 0; i < rule->saves; i++)
		if (rule->save[i].reg == m->fp)
			return rule->save[i].kind == CFI_OFFSET &&
			       rule->save[i].value == rule->ra_value - 8 &&
			       (m->lr != NO_REGISTER || rule->cfa_reg == m->fp);
	return false;
}

/* Fill RULE from ROW of OBJECT.  Return the number of bytes of RULE in use. */
static size_t convert(const struct cfi_row *row, const struct machine *m, uint32_t object,
		      bool is_go, enum scan_result scan, struct rule *rule)
{
	bool needs_object = row->cfa_kind == CFI_VALUE_EXPRESSION;
	bool is_plain = row->cfa_kind == CFI_OFFSET && !row->is_signal;

	*rule = (struct rule){ .kind = RULE_ROW, .is_signal = row->is_signal,
			       .scan = (uint8_t)scan,
			       .cfa_kind = row->cfa_kind, .cfa_reg = row->cfa_reg,
			       .cfa_value = row->cfa_value, .ra_reg = row->ra_reg };
	for (unsigned i = 0; i < row->saves; i++) {
		const struct cfi_save *save = &row->save[i];
		needs_object |= save->kind == CFI_EXPRESSION || save->kind == CFI_VALUE_EXPRESSION;
		is_plain &= save->kind == CFI_OFFSET && save->reg != m->sp;
		if (save->reg == row->ra_reg) {
			rule->ra_kind = save->kind;
			rule->ra_value = save->value;
		}
		if (save->reg != m->pc)
			rule->save[rule->saves++] = *save;
	}
	/* Without a rule, x86-64's return address is nowhere. */
	if (row->ra_reg == m->pc && rule->ra_kind == CFI_SAME)
		rule->ra_kind = CFI_UNDEFINED;
	rule->is_plain = is_plain;
	rule->keeps_pointer = keeps_pointer(rule, m, is_go);
	rule->object = needs_object ? object : TABLE_NONE;
	return offsetof(struct rule, save) + rule->saves * sizeof(rule->save[0]);
}

/* Return the id of RULE, of which SIZE bytes are in use. */
static uint32_t intern_rule(struct rules *r, const struct rule *rule, size_t size)
{
	uint64_t hash = hash_bytes(rule, size);
	uint32_t id = TABLE_FIND(&r->table, hash, i, r->rule[i]->saves == rule->saves &&
				 !memcmp(r->rule[i], rule, size));

	if (id != TABLE_NONE)
		return id;
	if (r->count >= RULE_MAX)
		return ID_NO_CFI;
	id = add_rule(r, rule, size);
	table_add(&r->table, hash, id);
	return id;
}

/* Return the id of the rule with ROW of OBJECT.  IS_GO: Go's own compiler made the code. */
static uint32_t intern(struct rules *r, const struct cfi_row *row, const struct machine *m,
		       uint32_t object, bool is_go, enum scan_result scan)
{
	struct rule rule;
	size_t size = convert(row, m, object, is_go, scan, &rule);

	return intern_rule(r, &rule, size);
}

/* Return the id of rule ID for a frame whose return address was put on the stack by hand. */
static uint32_t intern_pushed(struct rules *r, uint32_t id)
{
	size_t size = offsetof(struct rule, save) + r->rule[id]->saves * sizeof(struct cfi_save);
	struct rule rule;

	memcpy(&rule, r->rule[id], size);
	rule.is_pushed = true;
	return intern_rule(r, &rule, size);
}

/* Return the bytes of code around address OWN of ELF. */
static struct machine_code code_around(const struct elf *elf, uint64_t own)
{
	enum { AFTER = 4 * MACHINE_BEFORE };	/* more than any of these functions looks at */
	struct elf_bytes from = elf_constant_at(elf, own, AFTER);
	struct machine_code around = { .at = from.at, .after = from.size };

	if (!from.size)
		return around;
	/* Take as many bytes as there are: nearly always all of them, at once. */
	for (uint64_t n = own < MACHINE_BEFORE ? own : MACHINE_BEFORE; n > 0; n--) {
		struct elf_bytes bytes = elf_constant_at(elf, own - n, n + 1);
		if (bytes.size > n && bytes.at == from.at - n) {
			around.before = n;
			break;
		}
	}
	return around;
}

/* Return whether OWN is in a procedure linkage table; *AT: bytes after the table's start. */
static bool is_in_plt(const struct elf *elf, uint64_t own, uint64_t *at)
{
	static const char *const name[] = { ".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt" };
	struct elf_section s;

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		if (!elf_find_section(elf, name[i], &s) || own < s.address ||
		    own - s.address >= s.size)
			continue;
		*at = i == 0 ? own - s.address : UINT32_MAX;	/* only .plt has a first entry */
		return true;
	}
	return false;
}

/* Return the address range of the code at ELF's entry point: there is no caller. */
static void find_entry(struct code *code)
{
	enum { UNKNOWN = 64, MOST = 256 };	/* bytes */
	struct elf_symbol symbol;

	code->entry = elf_entry(code->image.elf);
	code->entry_end = code->entry + (code->entry ? UNKNOWN : 0);
	if (code->entry && elf_symbol(code->image.elf, code->entry, &symbol) &&
	    symbol.same.end - code->entry <= MOST)
		code->entry_end = symbol.same.end;
}

static bool is_entry(struct code *code, uint64_t own)
{
	enum { MOST = 256 };

	uint64_t entry = elf_entry(code->image.elf);
	if (!entry || own < entry || own - entry >= MOST)
		return false;
	if (!code->entry)
		find_entry(code);
	return own < code->entry_end;
}

/* Look for the row at OWN also in the separate debug file. */
static bool find_in_debug(struct unwind *u, struct code *code, uint64_t own, struct cfi_row *row)
{
	struct locate_options here = u->images.where;
	struct extent same;

	if (code->debug_tried)
		return false;
	code->debug_tried = true;
	here.fetcher = NULL;	/* a debug file may be large, and few have CFI */
	code->debug = locate_debug(&here, code->image.elf, code->image.path, code->image.root);
	if (!code->debug)
		return false;
	cfi_add_debug(code->cfi, code->debug);
	return cfi_row_at(code->cfi, own, row, &same) == CFI_FOUND;
}

/*
 * Find the row at OWN in Go's own table of functions, which stripped programs have, too.  *SAME:
 * the function's addresses.
 */
static bool find_in_go(struct code *code, const struct machine *m, uint64_t own,
		       struct cfi_row *row, struct extent *same)
{
	uint32_t bytes;

	if (!code->go_tried && *elf_go_build_id(code->image.elf))
		code->go = gotable_open(code->image.elf);
	code->go_tried = true;
	if (!gotable_stack(code->go, own, &bytes))
		return false;
	machine_go_row(m, bytes, row);
	*same = gotable_function(code->go, own);
	row->is_debug = true;	/* as if it were from the .debug_frame that was removed */
	return true;
}

/*
 * Return whether OWN + 1 is on the stack although no call pushed it: a row or a function starts
 * there, and no call is before it.
 */
static bool is_pushed(struct code *code, const struct machine *m, uint64_t own)
{
	struct cfi_row row;
	struct extent same;

	return !elf_follows_call(code->image.elf, own + 1) &&
	       (cfi_row_at(code->cfi, own + 1, &row, &same) == CFI_FOUND ||
		find_in_go(code, m, own + 1, &row, &same)) && same.start == own + 1;
}

/*
 * Return whether the code of ELF may be read.  With a budget, only little code may, because other
 * stacks have to wait: 15 ms for 4 MiB, and for the relocations of large programs ten times as
 * long.
 */
static bool may_read_code(const struct unwind *u, const struct elf *elf)
{
	const uint64_t most = 4 << 20;
	uint64_t start, end;

	if (!u->options.budget.is_set)
		return true;
	elf_text(elf, &start, &end);
	return end - start <= most;
}

/* Find the row at OWN in the code itself. */
static enum scan_result find_in_code(struct unwind *u, struct code *code, uint64_t own,
				     bool is_exact, struct cfi_row *row)
{
	const uint64_t most = 64 << 20;	/* bytes of code to read */
	const struct machine *m = unwind_machine(u);
	struct elf_symbol symbol;
	/* Jumps, not calls, lead to the rarely run part of a function. */
	bool has_start = elf_symbol(code->image.elf, own, &symbol) && !strstr(symbol.name, ".cold");

	if (!may_read_code(u, code->image.elf))
		return SCAN_NONE;
	if (!code->scan_tried) {
		code->scan_fuel = elf_allowance(code->image.elf, most);
		code->starts = starts_open(m, code->image.elf, &code->scan_fuel);
	}
	code->scan_tried = true;
	if (!u->scan)
		u->scan = scan_new();
	struct scan_request request = {
		.machine = m, .elf = code->image.elf, .own = own, .is_exact = is_exact,
		.symbol = has_start && !symbol.is_label ? symbol.address : 0,
		.label = has_start && symbol.is_label ? symbol.address : 0,
		.starts = code->starts, .fuel = &code->scan_fuel };
	return scan_row(u->scan, &request, code->cfi, row);
}

/* Find the rule at address OWN of the object that M maps. */
static uint32_t look_up(struct unwind *u, struct code *code, const struct mapping *m,
			uint64_t own, bool is_exact)
{
	const struct machine *machine = unwind_machine(u);
	struct cfi_row row;
	struct extent same;
	uint64_t at;

	enum cfi_result result = cfi_row_at(code->cfi, own, &row, &same);
	if (result == CFI_COSTLY || result == CFI_LATER)
		return result == CFI_COSTLY ? ID_COSTLY : ID_LATER;
	bool found = result == CFI_FOUND ||
		     find_in_debug(u, code, own, &row) ||
		     find_in_go(code, machine, own, &row, &same);
	if (!is_exact && is_pushed(code, machine, own))
		return intern_pushed(&u->rules, look_up(u, code, m, own + 1, true));
	if (found && row.is_signal)
		return intern(&u->rules, &row, machine, m->object, false, SCAN_NONE);
	/* C code in a Go program has .eh_frame. */
	bool is_go = found && row.is_debug && *elf_go_build_id(code->image.elf);
	/* The entry point's CFI may say nothing about the end of the stack. */
	if (is_entry(code, own))
		return ID_END;
	struct machine_code around = code_around(code->image.elf, own);
	struct machine_code after = around;
	if (!is_exact && after.after > 0) {	/* the return address itself */
		after.at++;
		after.after--;
		after.before++;
	}
	if (machine_signal_row(machine, after, is_exact, &row))
		return intern(&u->rules, &row, machine, m->object, false, SCAN_NONE);
	if (!is_exact && machine_changes_stack(machine, after))
		return ID_END;
	if (found && !is_exact && machine_is_first(machine, &row, own - same.start))
		return ID_END;
	if (found && row.cfa_kind == CFI_OFFSET && row.cfa_reg == machine->sp)
		row.cfa_reg = machine_saved_sp(machine, after, is_exact);
	/*
	 * No call has the start of a function as its return address, but makecontext() writes it
	 * there.
	 */
	if (!found && !is_exact && cfi_row_at(code->cfi, own + 1, &row, &same) == CFI_FOUND)
		return ID_END;
	if (!found && !is_exact && machine_ends_context(machine, after) &&
	    !elf_follows_call(code->image.elf, own + 1))
		return ID_END;
	if (!found && is_in_plt(code->image.elf, own, &at)) {
		machine_plt_row(machine, around, at, &row);
		found = true;
	}
	if (!found && is_exact)
		found = machine_edge_row(machine, around, &row) ||
			machine_clone_row(machine, around, code->cfi, &row);
	enum scan_result scan = found ? SCAN_NONE : find_in_code(u, code, own, is_exact, &row);
	return found || scan ? intern(&u->rules, &row, machine, m->object, is_go, scan)
			     : (uint32_t)ID_NO_CFI;
}

/* Return the rule at address OWN of CODE, by the exact cache. */
static uint32_t known_rule_at(struct unwind *u, struct code *code, const struct mapping *m,
			      uint64_t own, bool is_exact)
{
	struct rules *r = &u->rules;
	uint64_t key = own | (is_exact ? EXACT : 0), hash = hash_more(m->object, key);
	uint32_t id = TABLE_FIND(&r->known_table, hash, i, r->known[i].address == key &&
				 r->known[i].object == m->object);

	if (id != TABLE_NONE)
		return r->known[id].rule;
	if (u->budget.left < LOOKUP_STEPS)
		return ID_LATER;
	u->budget.left -= LOOKUP_STEPS;
	uint32_t rule = look_up(u, code, m, own, is_exact);
	if (rule == ID_LATER)
		return rule;
	if (r->knowns == KNOWN_MAX) {
		table_release(&r->known_table);
		r->knowns = 0;
	}
	r->known = array_grow(r->known, r->knowns, sizeof(*r->known));
	r->known[r->knowns] = (struct known_rule){ key, m->object, rule };
	table_add(&r->known_table, hash, r->knowns++);
	return rule;
}

static uint32_t find_slowly(struct unwind *u, const struct space *space, pid_t pid,
			    uint64_t address, bool is_exact)
{
	const struct mapping *m = space_find(space, address);
	uint64_t own;

	if (!m)
		return ID_NO_CODE;
	struct code *code = code_of(u, m->object, m, pid);
	if (!code->cfi || !locate_address(code->image.elf, m, address, NULL, &own))
		return ID_NO_CFI;
	return known_rule_at(u, code, m, own, is_exact);
}

uint32_t rule_find(struct unwind *u, const struct space *space, pid_t pid, uint64_t address,
		   bool is_exact)
{
	struct rules *r = &u->rules;
	uint32_t rule;

	if (recent_find(&r->recent, space->generation, address, &rule))
		return rule;
	rule = find_slowly(u, space, pid, address, is_exact);
	if (rule == ID_LATER)
		return rule;
	if (++r->misses > r->recent.slots && r->recent.slots < RECENT_MAX) {
		recent_reset(&r->recent, 2 * r->recent.slots);
		r->misses = 0;
	}
	recent_add(&r->recent, space->generation, address, rule);
	return rule;
}
