/* SPDX-License-Identifier: Apache-2.0 */
/* The constants used here, from the standard (DWARF 5, chapter 7) and from GNU's extensions. */
#pragma once

enum {
	DW_TAG_array_type = 0x01, DW_TAG_class_type = 0x02, DW_TAG_enumeration_type = 0x04,
	DW_TAG_lexical_block = 0x0b, DW_TAG_member = 0x0d, DW_TAG_pointer_type = 0x0f,
	DW_TAG_reference_type = 0x10, DW_TAG_structure_type = 0x13,
	DW_TAG_subroutine_type = 0x15, DW_TAG_typedef = 0x16, DW_TAG_union_type = 0x17,
	DW_TAG_variant = 0x19, DW_TAG_inheritance = 0x1c, DW_TAG_inlined_subroutine = 0x1d,
	DW_TAG_ptr_to_member_type = 0x1f, DW_TAG_subrange_type = 0x21, DW_TAG_catch_block = 0x25,
	DW_TAG_const_type = 0x26, DW_TAG_packed_type = 0x2d, DW_TAG_subprogram = 0x2e,
	DW_TAG_try_block = 0x32, DW_TAG_variant_part = 0x33, DW_TAG_variable = 0x34,
	DW_TAG_volatile_type = 0x35, DW_TAG_restrict_type = 0x37, DW_TAG_namespace = 0x39,
	DW_TAG_shared_type = 0x40, DW_TAG_rvalue_reference_type = 0x42,
	DW_TAG_atomic_type = 0x47, DW_TAG_call_site = 0x48, DW_TAG_immutable_type = 0x4b,
	DW_TAG_GNU_call_site = 0x4109,
};

enum {
	DW_AT_sibling = 0x01, DW_AT_location = 0x02, DW_AT_name = 0x03, DW_AT_byte_size = 0x0b,
	DW_AT_bit_offset = 0x0c, DW_AT_bit_size = 0x0d, DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11, DW_AT_high_pc = 0x12, DW_AT_comp_dir = 0x1b,
	DW_AT_lower_bound = 0x22, DW_AT_upper_bound = 0x2f, DW_AT_abstract_origin = 0x31,
	DW_AT_count = 0x37, DW_AT_data_member_location = 0x38,
	DW_AT_decl_file = 0x3a, DW_AT_decl_line = 0x3b, DW_AT_declaration = 0x3c,
	DW_AT_specification = 0x47, DW_AT_type = 0x49, DW_AT_ranges = 0x55,
	DW_AT_call_column = 0x57,
	DW_AT_call_file = 0x58, DW_AT_call_line = 0x59, DW_AT_signature = 0x69,
	DW_AT_data_bit_offset = 0x6b, DW_AT_linkage_name = 0x6e,
	DW_AT_str_offsets_base = 0x72, DW_AT_addr_base = 0x73, DW_AT_rnglists_base = 0x74,
	DW_AT_dwo_name = 0x76, DW_AT_MIPS_linkage_name = 0x2007, DW_AT_GNU_dwo_name = 0x2130,
	DW_AT_GNU_dwo_id = 0x2131, DW_AT_GNU_ranges_base = 0x2132, DW_AT_GNU_addr_base = 0x2133,
};

enum {
	DW_FORM_addr = 0x01, DW_FORM_block2 = 0x03, DW_FORM_block4, DW_FORM_data2, DW_FORM_data4,
	DW_FORM_data8, DW_FORM_string, DW_FORM_block, DW_FORM_block1, DW_FORM_data1, DW_FORM_flag,
	DW_FORM_sdata, DW_FORM_strp, DW_FORM_udata, DW_FORM_ref_addr, DW_FORM_ref1, DW_FORM_ref2,
	DW_FORM_ref4, DW_FORM_ref8, DW_FORM_ref_udata, DW_FORM_indirect, DW_FORM_sec_offset,
	DW_FORM_exprloc, DW_FORM_flag_present, DW_FORM_strx, DW_FORM_addrx, DW_FORM_ref_sup4,
	DW_FORM_strp_sup, DW_FORM_data16, DW_FORM_line_strp, DW_FORM_ref_sig8,
	DW_FORM_implicit_const, DW_FORM_loclistx, DW_FORM_rnglistx, DW_FORM_ref_sup8,
	DW_FORM_strx1, DW_FORM_strx2, DW_FORM_strx3, DW_FORM_strx4, DW_FORM_addrx1,
	DW_FORM_addrx2, DW_FORM_addrx3, DW_FORM_addrx4,
	DW_FORM_GNU_addr_index = 0x1f01, DW_FORM_GNU_str_index = 0x1f02,
	DW_FORM_GNU_ref_alt = 0x1f20, DW_FORM_GNU_strp_alt = 0x1f21,
};

enum {
	DW_UT_compile = 1, DW_UT_type, DW_UT_partial, DW_UT_skeleton, DW_UT_split_compile,
	DW_UT_split_type,
};

enum {
	DW_RLE_end_of_list, DW_RLE_base_addressx, DW_RLE_startx_endx, DW_RLE_startx_length,
	DW_RLE_offset_pair, DW_RLE_base_address, DW_RLE_start_end, DW_RLE_start_length,
};

enum {
	DW_LNS_copy = 1, DW_LNS_advance_pc, DW_LNS_advance_line, DW_LNS_set_file,
	DW_LNS_set_column, DW_LNS_negate_stmt, DW_LNS_set_basic_block, DW_LNS_const_add_pc,
	DW_LNS_fixed_advance_pc, DW_LNS_set_prologue_end, DW_LNS_set_epilogue_begin, DW_LNS_set_isa,
	DW_LNE_end_sequence = 1, DW_LNE_set_address, DW_LNE_define_file,
	DW_LNCT_path = 1, DW_LNCT_directory_index = 2,
};

enum { DW_SECT_INFO = 1, DW_SECT_ABBREV = 3, DW_SECT_STR_OFFSETS = 6, DW_SECT_RNGLISTS = 8 };

enum {
	DW_CFA_advance_loc = 0x40, DW_CFA_offset = 0x80, DW_CFA_restore = 0xc0, /* upper two bits */
	DW_CFA_nop = 0x00, DW_CFA_set_loc, DW_CFA_advance_loc1, DW_CFA_advance_loc2,
	DW_CFA_advance_loc4, DW_CFA_offset_extended, DW_CFA_restore_extended, DW_CFA_undefined,
	DW_CFA_same_value, DW_CFA_register, DW_CFA_remember_state, DW_CFA_restore_state,
	DW_CFA_def_cfa, DW_CFA_def_cfa_register, DW_CFA_def_cfa_offset, DW_CFA_def_cfa_expression,
	DW_CFA_expression, DW_CFA_offset_extended_sf, DW_CFA_def_cfa_sf, DW_CFA_def_cfa_offset_sf,
	DW_CFA_val_offset, DW_CFA_val_offset_sf, DW_CFA_val_expression,
	DW_CFA_AARCH64_negate_ra_state_with_pc = 0x2c, DW_CFA_AARCH64_negate_ra_state = 0x2d,
	DW_CFA_GNU_args_size = 0x2e, DW_CFA_GNU_negative_offset_extended = 0x2f,
};

/* Encodings of pointers in .eh_frame (LSB Core 5.0, 10.5.1): a format, and a base. */
enum {
	DW_EH_PE_absptr = 0x00, DW_EH_PE_uleb128 = 0x01, DW_EH_PE_udata2 = 0x02,
	DW_EH_PE_udata4 = 0x03, DW_EH_PE_udata8 = 0x04, DW_EH_PE_sleb128 = 0x09,
	DW_EH_PE_sdata2 = 0x0a, DW_EH_PE_sdata4 = 0x0b, DW_EH_PE_sdata8 = 0x0c,
	DW_EH_PE_pcrel = 0x10, DW_EH_PE_datarel = 0x30, DW_EH_PE_aligned = 0x50,
	DW_EH_PE_omit = 0xff,
};

enum {
	DW_OP_addr = 0x03, DW_OP_deref = 0x06, DW_OP_const1u = 0x08, DW_OP_const1s, DW_OP_const2u,
	DW_OP_const2s, DW_OP_const4u, DW_OP_const4s, DW_OP_const8u, DW_OP_const8s, DW_OP_constu,
	DW_OP_consts, DW_OP_dup, DW_OP_drop, DW_OP_over, DW_OP_pick, DW_OP_swap, DW_OP_rot,
	DW_OP_abs = 0x19, DW_OP_and, DW_OP_div, DW_OP_minus, DW_OP_mod, DW_OP_mul, DW_OP_neg,
	DW_OP_not, DW_OP_or, DW_OP_plus, DW_OP_plus_uconst, DW_OP_shl, DW_OP_shr, DW_OP_shra,
	DW_OP_xor, DW_OP_bra, DW_OP_eq, DW_OP_ge, DW_OP_gt, DW_OP_le, DW_OP_lt, DW_OP_ne,
	DW_OP_skip, DW_OP_lit0 = 0x30, DW_OP_lit31 = 0x4f, DW_OP_breg0 = 0x70, DW_OP_breg31 = 0x8f,
	DW_OP_bregx = 0x92, DW_OP_deref_size = 0x94, DW_OP_nop = 0x96, DW_OP_call_frame_cfa = 0x9c,
	DW_OP_stack_value = 0x9f, DW_OP_addrx = 0xa1, DW_OP_GNU_addr_index = 0xfb,
};
