#!/bin/sh
# Instructions read by lib/unwind, held against objdump -d: the size of each, its kind, where it
# jumps, and what it does to the stack pointer and to frame pointers (tests/bin/read-code.c).
# Each is also read with its last byte missing, which must fail.
#
# CODE=all: every library of this system.
# kinds: release asan
. tests/lib.sh

# read_like OBJDUMP MACHINE LEAST FILE [OPTION...]: both read FILE in the same way, at least LEAST
# instructions of it
read_like() {
	objdump=$1 machine=$2 least=$3 file=$4
	shift 4
	$objdump -dw --insn-width=15 "$@" "$file" >code
	read-code "$machine" <code >said
	at_least "$(awk 'END { print $1 }' said)" "$least"
	test "$(wc -l <said)" = 1 || { head -n 20 said; return 1; }
}

check 'the C library' <<'END'
	libc=$(ldd /bin/sh | awk '/libc\.so/ { print $3 }')
	needs "$libc"
	sanitized && end=--stop-address=0x60000 || end=
	case $(uname -m) in
	x86_64) read_like objdump x86_64 50000 "$libc" $end ;;
	aarch64) read_like objdump aarch64 50000 "$libc" $end ;;
	*) skip "not of $(uname -m)" ;;
	esac
END

check 'arm64' <<'END'
	needs_command aarch64-linux-gnu-gcc aarch64-linux-gnu-objdump
	sanitized && end=--stop-address=0x60000 || end=
	read_like aarch64-linux-gnu-objdump aarch64 50000 \
		"$(aarch64-linux-gnu-gcc -print-file-name=libc.so.6)" $end
END

check 'instructions that compilers seldom write' <<'END'
	cat >t.s <<-'ASM'
	1:	enter $32, $0
		leave
		ret $8
		push %fs
		pop %gs
		pushf
		popf
		push $0x12345678
		push $-1
		push 8(%rsp)
		pop 8(%rsp)
		push %r13
		pop %r13
		sub $0x12345678, %rsp
		add $-128, %rsp
		and $-64, %rsp
		and $-32, %rax
		lea -8(%rsp), %rsp
		lea 0x1234(%r13), %rsp
		lea (%rsp,%rax,8), %rsp
		lea (%r12), %rbp
		mov %rsp, %r11
		.byte 0x48, 0x8b, 0xec
		mov %rax, 0x1234(%rsp)
		mov (%r13), %rsp
		mov %fs:0x28, %rax
		mov %rax, %fs:8(%rbp)
		mov 8(%ebp), %rax
		movabs $0x123456789abcdef, %rax
		movabs 0x123456789abcdef, %al
		mov $0x1234, %ax
		testw $0x1234, (%rax)
		testl $0x12345678, 8(%rax,%rbx,4)
		testb $1, %sil
		notq (%rax)
		imul $0x1234, %ax, %ax
		call 1b
		call *%rax
		call *8(%rax,%rbx)
		call *1b(%rip)
		call *%fs:8
		jmp *1b(%rip)
		jmp *(%rax)
		notrack jmp *%rax
		bnd jmp 1b
		bnd ret
		repz ret
		rex.w call 1b
		je 1b
		.byte 0x0f, 0x84, 1, 0, 0, 0
	2:	loop 2b
		jrcxz 2b
		xbegin 1b
		xabort $1
		int3
		hlt
		ud2
		ud1 8(%rax), %eax
		lock cmpxchg16b (%rdi)
		rep movsq
		fstpt 8(%rsp)
		pfadd 8(%rax), %mm1
		vzeroupper
		vpermq $1, %ymm1, %ymm2
		vpblendvb %ymm1, 8(%rax), %ymm3, %ymm4
		vpinsrb $1, 8(%rsp), %xmm1, %xmm2
		vpcmpistri $1, 8(%rax), %xmm1
		vmovdqu64 0x40(%rsp), %zmm30
		vpternlogd $0xff, 0x1234(%r13){1to16}, %zmm1, %zmm2{%k1}{z}
		vaddph %zmm1, %zmm2, %zmm3
		vrndscaleph $1, %zmm1, %zmm2
		kmovq %k1, %rax
		rorx $3, 8(%rax), %rbx
		mulx 8(%rax), %rbx, %rcx
		andn %rax, %rbx, %rcx
		vfmaddps %xmm1, %xmm2, %xmm3, %xmm4
		vpperm %xmm1, 8(%rax), %xmm3, %xmm4
		blcfill %eax, %ebx
		bextr $0x12345678, %eax, %ebx
		movbe 8(%rax), %rbx
		crc32q 8(%rax), %rbx
		adcx %rax, %rbx
		aesenc 8(%rax), %xmm8
		sha1rnds4 $1, %xmm1, %xmm2
		pclmulqdq $1, %xmm1, %xmm2
		pshufb 8(%rip), %mm1
		endbr64
		nopw %cs:0x12345678(%rax,%rax,1)
		syscall
		cpuid
		rdtscp
		xgetbv
		rdfsbase %rax
		ptwrite %rax
		clflushopt (%rax)
	ASM
	as t.s -o t.o || skip 'an assembler that does not know all of them'
	read_like objdump x86_64 90 t.o
END

check 'what is not an instruction of user code, or is read in two ways, is refused' <<'END'
	{
		echo "  1:	06                   	(a segment, of 32 bits)"
		echo "  2:	66 e8 00 00          	(16 bits for some processors)"
		echo "  3:	66 50                	(two bytes)"
		echo "  4:	cf                   	(iret)"
		echo "  5:	ff 18                	(far)"
		echo "  6:	c8 00 00 01          	(nested)"
		echo "  7:	62 f4 7c 08 01 c0    	(APX)"
		echo "  8:	66 66 66 66 66 66 66 66 66 66 66 66 66 66 90 	(15)"
		echo "  9:	66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 	(16)"
	} >code
	read-code x86_64 <code >said
	test "$(grep -c "^not read" said) $(tail -n 1 said)" = "8 9 instructions"
END

# Wrong are only ways into a function that no call takes: the first entry of a PLT, a resolver.
check 'rows from code itself are those of the call frame information that it has' <<'END'
	test "$(uname -m)" = x86_64 || skip "not yet on $(uname -m)"
	library=$(readlink -f "$(gcc -print-file-name=libz.so)")
	needs "$library"
	objdump -dw "$library" >code
	scan-rows "$library" <code >said
	read -r right wrong none other <<-COUNTS
		$(tail -n 1 said)
	COUNTS
	at_least "$right" 10000
	at_most "$wrong" $((right / 1000)) || { head -n 20 said; return 1; }
	at_most $((none + other)) $((right / 10))
END

test "$CODE" != all || check 'every library of this system' <<'END'
	needs_command aarch64-linux-gnu-objdump
	find /usr/lib /usr/aarch64-linux-gnu -type f -name "*.so*" | while read -r file; do
		case $(readelf -h "$file" 2>/dev/null) in
		*X86-64*) read_like objdump x86_64 0 "$file" ;;
		*AArch64*) read_like aarch64-linux-gnu-objdump aarch64 0 "$file" ;;
		esac || echo "$file"
	done >differ
	# tables between functions
	sed -i "/libcrypto/d" differ
	none cat differ
END

done_testing
