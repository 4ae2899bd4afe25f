/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted - a program for arm64 of exactly 2 * TURNS + 6 instructions:
 *
 *	aarch64-linux-gnu-gcc -nostdlib -static -DTURNS=199999997 -o counted counted.S
 */
	.globl _start
_start:
	nop
	movz x0, #TURNS & 0xffff
	movk x0, #TURNS >> 16, lsl #16
1:	subs x0, x0, #1
	b.ne 1b
	mov x0, #0
	mov x8, #93	/* exit */
	svc #0
