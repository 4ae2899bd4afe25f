#!/bin/sh
# Kernel code: vmlinux with inlined calls, kallsyms moved in memory, code that the kernel made.
# kinds: release asan
. tests/lib.sh

# A stream of a kernel at 0xffffffff9a000000: record.py BUILDID ADDRESS...
cat >"$scratch/record.py" <<'END'
import struct, sys
out, text = sys.stdout.buffer, 0xffffffff9a000000
def record(kind, misc, body):
    body += b"\0" * (-len(body) % 8)
    out.write(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)
def string(s): return s.encode() + b"\0" * (8 - len(s) % 8)
out.write(b"PERFILE2" + struct.pack("<Q", 16))
IP_TID_TIME = 1 | 2 | 4
record(64, 0, struct.pack("<IIQQQQ", 1, 64, 0, 1, IP_TID_TIME, 0) + bytes(24))
build_id = bytes.fromhex(sys.argv[1])
if build_id:
    record(67, 1 << 15 | 1, struct.pack("<i20sBBBB", -1, build_id, len(build_id), 0, 0, 0)
           + string("[kernel.kallsyms]"))
def mapped(start, size, offset, name):
    record(1, 1, struct.pack("<iIQQQ", -1, 0, start, size, offset) + string(name))
mapped(text, 0x10000000, text, "[kernel.kallsyms]_text")
mapped(0xffffffffc0100000, 0x10000, 0, "[first_module]")
mapped(0xffffffffc0200000, 0x10000, 0, "/lib/modules/6.1/net/second-module.ko.xz")
def bpf(start, size, gone, name):
    record(17, 0, struct.pack("<QIHH", start, size, 1, gone) + string(name))
bpf(0xffffffffc0001000, 0x100, 0, "bpf_prog_0123456789abcdef_first")
bpf(0xffffffffc0002000, 0x100, 0, "bpf_prog_fedcba9876543210_other")
bpf(0xffffffffc0002000, 0x100, 1, "bpf_prog_fedcba9876543210_other")
bpf(0xffffffffc0002000, 0x80, 0, "bpf_prog_aaaaaaaaaaaaaaaa_third")
for i, address in enumerate(sys.argv[2:]):
    record(9, 1, struct.pack("<QIIQ", int(address, 16), 42, 42, 1000 + i))
END

cat >"$scratch/kernel.c" <<'END'
__asm__(".text\n.globl _text\n_text: .fill 64, 1, 0x90\n");
extern volatile long counter;
volatile long counter;
static inline __attribute__((always_inline)) void helper(long x) { counter += x; }
__attribute__((noinline)) void do_something(long x)
{
	helper(x);
}
END

# kernel: builds ./vmlinux, and writes where do_something is once it runs
kernel() {
	gcc -O1 -g -fno-pic -mcmodel=kernel -fcf-protection=none -ffreestanding -nostdlib \
		-static -Wl,-e,_text -Wl,-Ttext=0xffffffff81000000 -Wl,--build-id=sha1 \
		"$scratch/kernel.c" -o vmlinux
	at=$(nm vmlinux | sed -n 's/^ffffffff81\(.*\) T do_something$/ffffffff9a\1/p')
	id=$(file_build_id vmlinux)
}

check 'vmlinux, found by build ID, gives kernel code inlined calls and lines' <<'END'
	test "$(uname -m)" = x86_64 || skip "its addresses are those of x86-64"
	kernel
	printf "%s %s\n" "$id" "$PWD/vmlinux" >list
	python3 "$scratch/record.py" "$id" "$at" >s.data
	pmu-symbolize -v --build-id-map list s.data 2>err | pmu-topprof >p.pb.gz
	cat err
	go tool pprof -top -lines p.pb.gz 2>/dev/null >top
	cat top
	grep -q " helper .*kernel.c:4 (inline)" top
	grep -q " do_something .*kernel.c:7" top
	none grep "another kernel" err
	grep -q "kernel.kallsyms.*: 1 frames, 1 named by debug information$" err
END

check 'a vmlinux of another build is not used, and why names are missing is said once' <<'END'
	test "$(uname -m)" = x86_64 || skip "its addresses are those of x86-64"
	kernel
	printf "%s %s\n" 0000000000000000000000000000000000000000 "$PWD/vmlinux" >list
	python3 "$scratch/record.py" 0000000000000000000000000000000000000001 \
		"$at" ffffffff9a000000 >s.data
	pmu-symbolize -v --build-id-map list s.data 2>err | pmu-topprof >p.pb.gz
	cat err
	test "$(grep -c "another kernel was recorded" err)" -eq 1
	grep -q "kernel.kallsyms.*: 2 frames, 2 unnamed: no symbols of the recorded kernel" err
END

check 'kallsyms of the recorded machine, which booted elsewhere in memory' <<'END'
	printf "%s\n" "ffffffff81000000 T _text" "ffffffff81001000 T first_one" \
		"ffffffff81002000 t second_one" >kallsyms
	python3 "$scratch/record.py" "" ffffffff9a001000 ffffffff9a0020ff >s.data
	pmu-symbolize --kallsyms kallsyms s.data | pmu-topprof >p.pb.gz
	go tool pprof -top p.pb.gz 2>/dev/null >top
	cat top
	grep -q " first_one" top
	grep -q " second_one" top
END

check 'code after the end of the mapping, such as boot code, if kallsyms has its end' <<'END'
	printf "%s\n" "ffffffff81000000 T _text" "ffffffff95000000 T start_kernel" \
		"ffffffff95001000 T _einittext" >kallsyms
	python3 "$scratch/record.py" "" ffffffffae000010 ffffffffae001000 >s.data
	pmu-symbolize -v --kallsyms kallsyms s.data 2>err | pmu-topprof >p.pb.gz
	cat err
	grep -q "kernel.kallsyms.*: 1 frames, 1 named by kallsyms" err
	grep -q "unknown.*: 1 frames, 1 unnamed: nothing is mapped there" err
	go tool pprof -top p.pb.gz 2>/dev/null | grep -q " start_kernel"
END

check 'the last functions of the kernel and of a module do not name all that follows' <<'END'
	printf "%s\n" "ffffffff9a000000 T _text" "ffffffff9a001000 T first_one" \
		"ffffffff9a002000 T last_one" "ffffffff9a010000 t in_module	[some_module]" \
		"ffffffff9a010100 t in_other	[other_module]" >kallsyms
	python3 "$scratch/record.py" "" ffffffff9a001ff0 ffffffff9a003ff0 ffffffff9a005000 \
		ffffffff9a010090 ffffffff9a011ff0 ffffffff9a012000 >s.data
	pmu-symbolize --kallsyms kallsyms s.data | pmu-topprof >p.pb.gz
	go tool pprof -top p.pb.gz 2>/dev/null >top
	cat top
	for name in first_one last_one in_module in_other; do
		grep -q " 16.67%  $name$" top
	done
END

check 'modules: by symbols of their own alone, which do not move with the kernel' <<'END'
	printf "%s\n" "ffffffff9a000000 T _text" "ffffffff9a001000 T first_one" \
		"ffffffffc0100000 t in_first	[first_module]" \
		"ffffffffc0150000 t in_other	[other_module]" \
		"ffffffffc0200000 t in_second	[second_module]" \
		"ffffffffc0208000 t in_second_too	[second_module_2]" >kallsyms
	python3 "$scratch/record.py" "" \
		ffffffff9a001000 ffffffffc0100010 ffffffffc0200010 ffffffffc0208010 >s.data
	pmu-symbolize -v --kallsyms kallsyms s.data 2>err | pmu-topprof >p.pb.gz
	cat err
	go tool pprof -top p.pb.gz 2>/dev/null | grep -o "first_one\|in_.*" | sort >names
	printf "%s\n" first_one in_first in_second | same names -
	grep "second-module.ko.xz.: 2 frames, 1 named by kallsyms, 1 unnamed" err |
		grep ": no symbol covers them"
	sed "s/^ffffffffc0100000/ffffffffc0050000/" kallsyms >less
	pmu-symbolize --kallsyms less s.data | pmu-topprof >p.pb.gz
	go tool pprof -top p.pb.gz 2>/dev/null | grep -q in_first
	sed "s/^ffffffff9a/ffffffff81/" kallsyms >moved	# the same kernel after a reboot
	pmu-symbolize --kallsyms moved s.data | pmu-topprof >p.pb.gz
	go tool pprof -top p.pb.gz 2>/dev/null | grep -o "first_one\|in_.*" >names
	echo first_one | same names -
END

check 'a list without the end of the code for booting; one that cannot be read' <<'END'
	printf "ffffffff81000000 T _text\nffffffff81001000 T first_one\n" >kallsyms
	python3 "$scratch/record.py" "" ffffffff9a001000 ffffffffae001000 >s.data
	pmu-symbolize -v --kallsyms kallsyms s.data 2>err | pmu-topprof >p.pb.gz
	cat err
	grep -q "kernel.kallsyms.*: 1 frames, 1 named by kallsyms" err
	grep -q "unknown.*: 1 frames, 1 unnamed: nothing is mapped there" err
	pmu-symbolize -v --kallsyms nosuch s.data 2>err | pmu-topprof >p.pb.gz
	cat err
	why="cannot read nosuch: No such file or directory"
	grep -q "kernel.kallsyms.*: 1 frames, 1 unnamed: $why" err
END

check 'a kernel that hides its addresses (kptr_restrict): explained once, with what to do' <<'END'
	printf "0000000000000000 T _text\n0000000000000000 T first_one\n" >kallsyms
	python3 "$scratch/record.py" "" ffffffff9a001000 ffffffff9a002000 ffffffff9a003000 >s.data
	pmu-symbolize --kallsyms kallsyms s.data 2>err | pmu-topprof >p.pb.gz
	advice="run as root, or set sysctl kernel.kptr_restrict=0"
	test "$(grep -c "kallsyms shows no addresses: $advice" err)" -eq 1
	test "$(wc -l <err)" -eq 1
END

check 'BPF programs by KSYMBOL records; what came in the place of one is another' <<'END'
	printf "ffffffff9a000000 T _text\nffffffff9a001000 T first_one\n" >kallsyms
	python3 "$scratch/record.py" "" \
		ffffffffc0001000 ffffffffc00010ff ffffffffc0002010 ffffffffc0001100 >s.data
	pmu-symbolize --kallsyms kallsyms -v s.data 2>err | pmu-topprof >p.pb.gz
	cat err
	go tool pprof -top p.pb.gz 2>/dev/null >top
	cat top
	grep -q " 50.00% .* bpf_prog_0123456789abcdef_first" top
	grep -q " bpf_prog_aaaaaaaaaaaaaaaa_third" top
	none grep bpf_prog_fedcba9876543210_other top
END

check 'code of the kernel that is replaced by other code of the same size has another name' <<'END'
	compose s.data <<-END
		at = 0xffffffffc0001000
		def bpf(name):
		    return record(17, struct.pack("<QIHH", at, 0x100, 1, 0) + pad(name), 0)
		def sample(tid):
		    return record(9, struct.pack("<QII", at + 16, 42, tid), 1)
		out = pipe(record(64, attr(1, 0, 1000, IP | TID)), bpf(b"bpf_prog_first"), sample(1),
		           bpf(b"bpf_prog_second"), sample(2))
	END
	pmu-symbolize s.data | pmu-topprof -l tid -Z none --to folded | sed "s/.*;//" >got
	printf "%s 1000\n" bpf_prog_first bpf_prog_second | same - got
END

check 'kernel names are those of perf script, on one recording' <<'END'
	case $BIN in *asan*) skip "compared once, without sanitizers" ;; esac
	cat >work <<-END
		head -c 2000000000 /dev/zero >/dev/null
		seq 200 | xargs -n 1 true
	END
	perf_record -a -g -e cpu-clock:k -F 500 -o p.data -- sh work || skip "perf records nothing"
	# perf looks a caller up after its call, where another function may begin: at its first
	# byte, or its padding
	perf script -i p.data -F ip,sym,symoff,dso --no-inline 2>/dev/null |
		awk '/kernel.kallsyms/ && $2 !~ /\+0x0$/ { sub(/\+0x.*/, "", $2); print $2 }' |
		sort -u >theirs
	pmu-symbolize p.data | pmu-topprof >p.pb.gz
	go tool pprof -raw p.pb.gz 2>/dev/null | awk '
		/^Locations/ { on = 1 } /^Mappings/ { on = 0 } on && / M=/ { print $4 }' |
		sort -u >ours
	test "$(wc -l <theirs)" -gt 10
	comm -23 theirs ours | grep -v "^__pfx_" >missing || :
	cat missing
	test "$(wc -l <missing)" -eq 0
END

done_testing
