#!/bin/sh
# Kernel modules: relocatable files, whose debug information is relocated, and whose sections
# are laid out as the kernel's loader does it.
# kinds: release asan
. tests/lib.sh

# What a module is made of: two sources, joined by ld -r; code in four sections, one for boot.
cat >"$scratch/one.c" <<'END'
#define SECTION(name) __attribute__((noinline, aligned(1), section(name)))
extern volatile long counter;
volatile long counter;
static inline __attribute__((always_inline)) void helper(long x) { counter += x; }
__attribute__((noinline)) void first(long x)
{
	helper(x);
}
SECTION(".init.text") void booting(long x) { helper(3 * x); }
SECTION(".text.unlikely") void seldom(long x)
{
	helper(x);
	counter++;
}
END
cat >"$scratch/two.c" <<'END'
extern volatile long counter;
void second(long x);
void second(long x)
{
	if (x > 5)
		counter = x;
	counter += 2;
}
static inline __attribute__((always_inline)) void last(void) { counter = 0; }
__attribute__((section(".exit.text"))) void leaving(void);
__attribute__((section(".exit.text"))) void leaving(void) { last(); }
END

# module PREFIX OPTION...: compiles ./m.ko with the tools of PREFIX, and ./m.debug without code
module() {
	prefix=$1
	shift
	for one in one two; do
		"${prefix}gcc" -c -g -O1 -ffreestanding -fno-pic -fcf-protection=none "$@" \
			"$scratch/$one.c" -o $one.o 2>/dev/null ||
			"${prefix}gcc" -c -g -O1 -ffreestanding -fno-pic "$@" "$scratch/$one.c" \
				-o $one.o
	done
	"${prefix}ld" -r --build-id=sha1 one.o two.o -o m.ko
	"${prefix}objcopy" --only-keep-debug m.ko m.debug
	id=$(file_build_id m.ko)
	test -n "$id"
	echo "$id $PWD/m.debug" >list
}

# kernel_module [FLAG...]: a module for x86-64, and the "places" of its sections
kernel_module() {
	needs_command gcc
	test "$(uname -m)" = x86_64 || skip "its relocations are those of x86-64"
	module "" -mcmodel=kernel "$@"
	python3 "$scratch/places.py" m.ko >places
}

# places FILE [NAME=START]...: each address of the code, "SECTION OFFSET ADDRESS", laid out from
# 0xffffffffc0100000 on as the kernel does it (aligned, in the file's order), or at START
cat >"$scratch/places.py" <<'END'
import re, subprocess, sys
at = 0xffffffffc0100000
starts = dict(a.split("=") for a in sys.argv[2:])
sections = subprocess.run(["readelf", "-SW", sys.argv[1]], stdout=-1, text=True).stdout
for line in sections.splitlines():
    f = re.sub(r"^ *\[ *\d+\]", "", line).split()
    if len(f) < 9 or "A" not in f[6] or "X" not in f[6] or f[0].startswith(".init"):
        continue
    align, size = int(f[-1]), int(f[4], 16)
    at = (at + align - 1) // align * align
    start = int(starts.get(f[0], hex(at)), 16)
    for offset in range(size):
        print(f[0], hex(offset)[2:], hex(start + offset)[2:])
    at += size
END

# truth FILE [OPTION...]: what addr2line knows of the places, as "FUNCTION FILE:LINE", inlined
# calls first
truth() {
	for section in $(cut -d " " -f 1 places | uniq); do
		"${prefix}addr2line" -i -f -a -j "$section" -e "$1" $(
			awk -v s="$section" '$1 == s { print $2 }' places)
	done | awk '
		/^0x/ { if (n++) print line; line = ""; name = ""; next }
		name == "" { name = $0; next }
		{ sub(/ .*/, ""); sub(/.*\//, ""); line = line " " name " " $0; name = "" }
		END { print line }'
}

# ours [OPTION...]: the same by pmu-symbolize, of ./s.data
ours() {
	pmu-symbolize --build-id-map list "$@" s.data 2>err | pmu-topprof >p.pb.gz
	go tool pprof -raw p.pb.gz 2>/dev/null | awk '
		/^Locations/ { on = 1; next }
		/^Mappings/ { on = 0 }
		!on { next }
		/^ *[0-9]+: 0x/ { if (n++) print line; line = ""; $1 = $2 = $3 = "" }
		{ sub(/ s=.*/, ""); place = $NF; sub(/.*\//, "", place)
		  name = $(NF - 1); line = line " " name " " place }
		END { print line }'
}

# record: a sample at each of the places, in ./s.data, with the module's build ID if there is one
record() {
	compose s.data <<-END
		ko = 0xffffffffc0100000
		note = struct.pack("<i20sB3x", -1, bytes.fromhex("$id"), 20) + b"[m]".ljust(12, b"\0")
		places = [int(line.split()[2], 16) for line in open("places")]
		out = pipe(record(64, attr(1, 0, 1, IP | TID | TIME, flags=0) + bytes(8)),
		           record(67, note, 1 << 15 | 1),
		           record(1, struct.pack("<iIQQQ", -1, 0, ko, 1 << 20, 0) + pad(b"[m]"), 1),
		           *(record(9, struct.pack("<QIIQ", place, 42, 42, i), 1)
		             for i, place in enumerate(places)))
	END
}

# agrees [OPTION...]: we and addr2line say the same of the places
agrees() {
	truth m.ko >theirs
	ours "$@" >own
	test "$(wc -l <theirs)" -gt 40
	for function in first second seldom leaving helper last; do
		grep -q " $function " theirs
	done
	same theirs own
}

for form in 4 5; do
	check "a module's debug file: as addr2line, function by function; DWARF $form" <<'END'
		needs_command go
		kernel_module "-gdwarf-$form"
		record
		agrees
		objcopy --compress-debug-sections=zlib m.debug
		agrees
END
done

check 'the same of an arm64 module' <<'END'
	needs_command aarch64-linux-gnu-gcc go
	module aarch64-linux-gnu-
	python3 "$scratch/places.py" m.ko >places
	record
	agrees
END

check 'sections that the loader has put elsewhere are found by the symbols of the kernel' <<'END'
	needs_command go
	kernel_module
	python3 "$scratch/places.py" m.ko .text=ffffffffc0100400 .exit.text=ffffffffc0109000 \
		.text.unlikely=ffffffffc0108000 >places
	record
	at() { nm m.ko | awk -v name="$1" '$3 == name { print substr($1, 14) }'; }
	printf '%s\t[m]\n' "ffffffffc0100$(printf %03x $((0x400 + 0x$(at second)))) t second" \
		"ffffffffc0109000 t leaving" "ffffffffc0108000 t seldom" >kallsyms
	agrees --kallsyms kallsyms
END

check 'a module of another build is not used' <<'END'
	kernel_module
	id=$(echo "$id" | tr 0-9a-f 1-9a-f0)
	record
	sed -i "s/^[0-9a-f]*/$id/" list
	pmu-symbolize -v --build-id-map list s.data 2>err >/dev/null
	cat err
	grep "'.m.': .* frames, .* unnamed" err
	none grep "debug information" err
END

# release: ./t.data is ./s.data of the kernel 6.1.0-test, whose modules are listed in $dir
release() {
	compose t.data <<-END
		release = b"6.1.0-test".ljust(64, b"\0")
		out = open("s.data", "rb").read()
		out = out[:16] + record(80, struct.pack("<QI", 4, 64) + release, 0) + out[16:]
	END
	dir=root/lib/modules/6.1.0-test
	mkdir -p $dir/kernel/a
	printf '%s\n' "kernel/b/m-m.ko.xz:" "kernel/a/m.ko.xz: kernel/b/m-m.ko.xz" >$dir/modules.dep
}

check 'the file is found where distributions put it, by the list of modules' <<'END'
	kernel_module
	record
	release
	mkdir -p root/usr/lib/debug/lib/modules/6.1.0-test/kernel/a
	for name in m.ko m.ko.debug; do
		cp m.debug "root/usr/lib/debug/lib/modules/6.1.0-test/kernel/a/$name"
		pmu-symbolize -v --sysroot root t.data 2>err >/dev/null
		cat err
		grep "'.m.': .* named by debug information" err
		rm "root/usr/lib/debug/lib/modules/6.1.0-test/kernel/a/$name"
	done
END

# pack FILE: FILE in each form that distributions have, ./FILE.gz, .xz and .zst, as kernels make it
pack() {
	gzip -9 -n -k -f "$1"
	xz --check=crc32 --lzma2=dict=1MiB -k -f "$1"
	zstd -q -f "$1"
	zstd -q -c <"$1" >"$1.unsized.zst"		# a stream does not say its size
}

check 'a compressed module: as addr2line, whatever compressed it; also from a list' <<'END'
	needs_command go xz zstd
	kernel_module
	record
	release
	pack m.ko
	cp s.data plain.data
	cp t.data s.data
	for form in gz xz zst unsized.zst; do
		cp "m.ko.$form" "$dir/kernel/a/m.ko.${form##*.}"
		: >list
		agrees --sysroot root
		none grep "cannot read" err
		rm "$dir"/kernel/a/*
		echo "$id $PWD/m.ko.$form" >list
		cp plain.data s.data
		agrees
		cp t.data s.data
	done
END

# refused PART: pmu-symbolize says once that it cannot read the module's file, and why, and goes on
refused() {
	( ulimit -t 20; sanitized || ulimit -v 1000000
	  exec pmu-symbolize -v --sysroot root t.data 2>err >r.data )
	cat err
	test "$(grep -c "cannot read the module 'root$(echo $dir | cut -c 5-)/kernel/a/m.ko\..*': .*$1" \
		err)" = 1
	grep "'.m.': .* frames, .* unnamed" err
	rm "$dir"/kernel/a/*
}

check 'compressed modules that are cut, damaged, or far too large: one message, and no more' <<'END'
	needs_command gcc xz zstd
	kernel_module
	record
	release
	pack m.ko
	head -c 300000000 /dev/zero >bomb
	pack bomb
	for form in gz xz zst unsized.zst; do
		file=$dir/kernel/a/m.ko.${form##*.}
		for share in 1 2 3 4 5 6 7; do
			head -c $(($(wc -c <m.ko.$form) * share / 8)) m.ko.$form >"$file"
			refused "damaged or cut short;"
		done
		head -c $(($(wc -c <m.ko.$form) - 1)) m.ko.$form >"$file"
		refused "damaged or cut short;"
		python3 - "m.ko.$form" "$file" <<-PY
			import sys
			b = bytearray(open(sys.argv[1], "rb").read())
			for at in range(len(b) // 2, len(b) // 2 + 16):
			    b[at] ^= 0x55
			open(sys.argv[2], "wb").write(b)
		PY
		refused "damaged or cut short;"
		cp bomb.$form "$file"
		refused "too well to be true;"
		head -c 8 m.ko.$form >"$file"
		refused "damaged or cut short;"
		printf "not a module" >"$file"
		refused "it is not an ELF file;"
		head -c 30 m.ko >part
		pack part
		cp part.$form "$file"		# whole, but not the ELF file
		refused "it ends inside its header;"
	done
END

done_testing
