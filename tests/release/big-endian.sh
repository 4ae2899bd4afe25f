#!/bin/sh
# The readers on a big-endian machine, s390x: the hardest test of what they know about byte order.
# pmukit is not for such machines: recordings are read there, and nothing is sampled.
#
# These unit tests have bytes of little-endian machines in them, or test what only samples:
#	test-cfi test-cfi-expressions test-cfi-hostile test-lines test-gotable	DWARF, tables of Go
#	test-unwind		code of arm64
#	test-label-program test-label-recorder	programs for the kernel
#	test-foreign-id test-ring-merge		the kernel's rings
# And test-elf and test-cfi-hostile shorten a file that is mapped: the emulator ends the program
# there.  Stacks of a machine of the other byte order are not unwound, so that is not compared.
exec env OUTPUTS='summary summary_json dump dump_json folded profile resolved symbols top csv page
	picture copied read_back compressed read_packed' \
	tests/release/emulated s390x qemu-s390x test-cfi test-cfi-expressions test-cfi-hostile \
	test-lines test-gotable test-unwind test-label-program test-label-recorder test-foreign-id \
	test-ring-merge test-elf
