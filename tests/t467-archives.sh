#!/bin/sh
# Libraries that are stored in an APK and mapped from it: the same names, callers and build IDs as
# those of the library by itself; and archives that are damaged or made to mislead.
# kinds: release asan
. tests/lib.sh

# The library needs no other, so it can be called wherever it is.
cat >"$scratch/lib.c" <<"C"
__attribute__((noinline)) static unsigned inner(unsigned n)
{
	unsigned sum = n;
	for (unsigned i = 0; i < n; i++)
		sum = sum * 31 + i;
	return sum;
}
__attribute__((noinline)) static unsigned middle(unsigned n)
{
	return inner(n) + 1;
}
unsigned ENTRY(unsigned n);
unsigned ENTRY(unsigned n)
{
	return middle(n) * 3;
}
C

# load FILE OFFSET ADDRESS MS: map the code of the library that is at OFFSET of FILE, and call the
# function at ADDRESS
cat >"$scratch/load.c" <<"C"
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY);
	size_t offset = strtoul(argv[2], NULL, 0);
	const char *image = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE, fd, (off_t)offset);
	if (fd < 0 || image == MAP_FAILED)
		return 1;
	const Elf64_Ehdr *e = (const void *)image;
	const Elf64_Phdr *p = (const void *)(image + e->e_phoff);
	char *base = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < e->e_phnum; i++) {
		size_t lead = p[i].p_vaddr % 4096;
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X &&
		    mmap(base + p[i].p_vaddr - lead, p[i].p_filesz + lead, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd,
			 (off_t)(offset + p[i].p_offset - lead)) == MAP_FAILED)
			return 2;
	}
	unsigned (*call)(unsigned) = (void *)(base + strtoul(argv[3], NULL, 16)), sum = 0;
	clock_t end = atoi(argv[4]) * (CLOCKS_PER_SEC / 1000);
	while (clock() < end)
		sum += call(100000);
	return argc == 9 ? (int)sum : 0;
}
C

# Write ZIP archives as the tools of Android do: stored files start at a page
cat >"$scratch/archives.py" <<"PY"
import struct, sys, warnings, zipfile
warnings.simplefilter("ignore")		# about names that are there twice

def write(path, files, comment=b"", zip64=False, page=4096):
    with zipfile.ZipFile(path, "w") as z:
        for name, data, stored in files:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            pad = -(z.fp.tell() + 30 + len(name) + 20 * zip64) % page if stored else 0
            if pad:
                pad += page if pad < 4 else 0
                info.extra = struct.pack("<HH", 0xd935, pad - 4) + bytes(pad - 4)
            with z.open(info, "w", force_zip64=zip64) as f:
                f.write(data)
        z.comment = comment

def places(path):
    """(name, offset of the bytes, size, stored) of each file, by zipfile's own reading"""
    out = []
    with zipfile.ZipFile(path) as z, open(path, "rb") as f:
        for i in z.infolist():
            f.seek(i.header_offset + 26)
            name, extra = struct.unpack("<HH", f.read(4))
            out.append((i.filename, i.header_offset + 30 + name + extra, i.file_size,
                        i.compress_type == zipfile.ZIP_STORED))
    return out
PY

python() { PYTHONPATH="$scratch" PYTHONDONTWRITEBYTECODE=1 python3 - "$@"; }

# apk: base.apk with libone.so and libtwo.so; "places" says where
apk() {
	test "$(uname -m)" = x86_64 || test "$(uname -m)" = aarch64 || skip "not for this machine"
	needs_command gcc python3
	gcc -O1 -fomit-frame-pointer -shared -fPIC -nostdlib -Wl,--build-id -DENTRY=first \
		"$scratch/lib.c" -o libone.so
	gcc -O2 -g -fomit-frame-pointer -shared -fPIC -nostdlib -Wl,--build-id -DENTRY=second \
		"$scratch/lib.c" -o libtwo.so
	gcc -O1 -fno-inline "$scratch/load.c" -o load
	python <<-PY >places
		from archives import *
		one, two = (open(f"lib{n}.so", "rb").read() for n in ("one", "two"))
		write("base.apk", [("AndroidManifest.xml", b"x" * 5000, False),
		    ("lib/libone.so", one, True), ("res/a", b"a" * 100, True),
		    ("lib/libtwo.so", two, True), ("lib/packed.so", two, False)])
		for name, offset, size, stored in places("base.apk"):
		    print(name, offset, size, stored)
	PY
	cat places
}

# called NAME FUNCTION OPTION...: s.data, of FUNCTION of the stored library NAME
called() {
	place=$(awk -v n="lib/$1" '$1 == n { print $2 }' places)
	address=$(nm "$1" | awk -v f="$2" '$3 == f { print $1 }')
	file=$1
	shift 2
	pmu-sample -q -e cpu-clock:u -F 997 "$@" -o s.data -- ./load base.apk $place $address 200
}

# share FILE PATTERN: percent of the weight of the stacks in FILE that match
share() { awk -v p="$2" '{ n += $NF } $0 ~ p { m += $NF } END { print int(100 * m / n) }' "$1"; }

check 'libraries in an APK: names, lines, callers and build IDs, live and later' <<'END'
	apk
	for what in "libone.so first" "libtwo.so second"; do
		called $what --unwind
		pmu-symbolize s.data >r.data
		pmu-topprof --to folded r.data >stacks
		cat stacks
		at_least "$(share stacks ";main;${what#* };middle;inner ")" 80
		called $what --call-graph dwarf
		pmu-unwind -v s.data -o u.data
		pmu-symbolize u.data >r.data
		pmu-topprof --to folded r.data >stacks
		cat stacks
		at_least "$(share stacks ";main;${what#* };middle;inner ")" 80
		pmu-topprof r.data | gzip -dc >profile
		grep -ac "base.apk!/lib/${what% *}" profile
		grep -ac "$(file_build_id ${what% *})" profile
	done
END

check 'addresses in an APK have the lines that llvm-symbolizer finds in the library' <<'END'
	needs_command llvm-symbolizer
	apk
	called libtwo.so second
	pmu-symbolize s.data | pmu-topprof -o p.pb.gz
	pmu-top --by line --to csv p.pb.gz | grep "lib.c:" | sed "s/.*\(lib.c:[0-9]*\).*/\1/" |
		sort -u >ours
	base=$(pmu-stream -D s.data | grep "MMAP2.* executable=1 .*base.apk" | head -n 1 |
		sed "s/.* start=\([^ ]*\) .* file_offset=\([^ ]*\) .*/\1 \2/")
	set -- $base
	pmu-stream -D s.data | sed -n 's/.* SAMPLE .* ip=\(0x[0-9a-f]*\) .*/\1/p' | sort -u >ips
	segment=$(readelf -lW libtwo.so | awk '$1 == "LOAD" && / R E / { print $3, $2 }')
	python "$1" "$2" $place $segment <<-PY >own
		import sys
		start, offset, place, address, file = (int(a, 0) for a in sys.argv[1:])
		for line in open("ips"):
		    own = int(line, 16) - start + offset - place - file + address
		    if 0 <= own < 0x10000:
		        print(hex(own))
	PY
	at_least "$(wc -l <own)" 2
	llvm-symbolizer --obj=libtwo.so --no-inlines <own |
		sed -n "s|.*/\(lib.c:[0-9]*\):.*|\1|p" | sort -u >theirs
	cmp ours theirs
END

check "simpleperf's name of a library in an APK: below --sysroot, and with its build ID" <<'END'
	any_user
	apk
	mkdir -p root/data/app
	cp base.apk root/data/app
	read -r offset address <<-IN
		$(readelf -lW libtwo.so | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
	IN
	inner=$(nm libtwo.so | awk '$3 == "inner" { print "0x" $1 }')
	right=$(file_build_id libtwo.so)
	wrong=$(file_build_id libone.so)
	for id in $right $wrong; do
		for path in "/data/app/base.apk!/lib/libtwo.so" "/data/app/base.apk!/lib/none.so" \
			"/data/app/none.apk!/lib/libtwo.so" "/data/app/base.apk!/lib/packed.so"; do
			compose s.data <<-PY
				start = 0x7000000000
				id = bytes.fromhex("$id")
				name = pad(b"$path")
				out = pipe(record(64, attr(1, 0, 1000, IP | TID | TIME, 0) + bytes(8)),
				    record(3, struct.pack("<II", 7, 7) + pad(b"prog"), 0),
				    record(67, struct.pack("<i", 7) + id + bytes([20, 0, 0, 0]) + name,
				        2 | 1 << 15),
				    record(1, mmap(7, start, 0x10000, b"$path", $offset)),
				    *[record(9, struct.pack("<QIIQ", start + $inner - $address + 4, 7, 7,
				        i), 2) for i in (1, 2)])
			PY
			pmu-symbolize --sysroot root s.data 2>err | pmu-topprof --to folded >stacks
			cat err stacks
			case $id-$path in
			$right-*app/base.apk!/lib/libtwo.so) grep "prog;inner 2000" stacks ;;
			*) none grep inner stacks ;;
			esac
		done
	done
END

check 'files in archives are where zipfile finds them; ambiguous and packed ones are not' <<'END'
	any_user
	needs_command python3
	python "$(command -v archive-find)" <<-PY
		import random, subprocess, sys
		from archives import *
		random.seed(467)
		for turn in range(60):
		    files = [(random.choice(["a", "b/c", "lib/x.so", "n" * random.randint(1, 900)]) +
		              str(random.randint(0, 12)), bytes(random.randint(0, 9000)),
		              random.random() < .7) for i in range(random.randint(0, 12))]
		    write("z.apk", files, b"PK" * random.randint(0, 90), turn % 3 == 0,
		          random.choice([4, 4096]))
		    where = places("z.apk")
		    names = [w[0] for w in where]
		    asked, want = ["none"], ["-"]
		    for name, offset, size, stored in where:
		        one = names.count(name) == 1 and stored
		        asked.append(name)
		        want.append(f"{offset} {size} {name}" if one else "-")
		        for at in (offset - 1, offset, offset + size - 1, offset + size):
		            has = [w for w in where if w[1] <= at < w[1] + w[2] and w[3] and
		                   names.count(w[0]) == 1]
		            asked.append(f"@{at}")
		            want.append(f"{has[0][1]} {has[0][2]} {has[0][0]}" if has else "-")
		    got = subprocess.run([sys.argv[1], "z.apk"], input="\n".join(asked) + "\n",
		                         capture_output=True, text=True, check=True).stdout.split("\n")
		    for q, w, g in zip(asked, want, got, strict=False):
		        assert w == g, (turn, q, w, g)
	PY
END

check 'damaged archives: no answer, or one that is in the archive' <<'END'
	any_user
	needs_command python3
	python "$(command -v archive-find)" <<-PY
		import random, struct, subprocess, sys
		from archives import *
		random.seed(1)
		ask = "".join(f"@{at}\n" for at in range(0, 600, 37)) + "a\nb/c\n"
		def answers(data):
		    open("z.apk", "wb").write(data)
		    got = subprocess.run([sys.argv[1], "z.apk"], input=ask, capture_output=True,
		                         text=True, errors="replace")
		    assert got.returncode == 0, got
		    for line in got.stdout.splitlines():
		        if line != "-":
		            offset, size = (int(n) for n in line.split(" ")[:2])
		            assert offset + size <= len(data), line
		    return got.stdout
		for zip64 in (False, True):
		    write("z.apk", [("a", bytes(300), True), ("b/c", bytes(90), True)], b"x", zip64, 4)
		    good = open("z.apk", "rb").read()
		    assert answers(good).count("\n") - answers(good).count("-\n") > 2
		    for size in range(1, len(good), 7):
		        answers(good[:size])
		    directory = good.index(b"PK\1\2")
		    for turn in range(150):
		        bad = bytearray(good)
		        for i in range(random.randint(1, 3)):
		            at = random.randrange(directory, len(bad) - 3)
		            value = random.choice([0, 1, 0xffff, 0xffffffff, 0x7fffffff, len(bad),
		                                   random.getrandbits(32)])
		            bad[at:at + 4] = struct.pack("<I", value)
		        answers(bytes(bad))
	PY
END

check 'a process that maps an archive with a large directory again and again costs little' <<'END'
	any_user
	needs_command python3
	python <<-PY
		from archives import *
		write("big.apk", [("n" * 900 + str(i), b"", True) for i in range(60000)], page=4)
	PY
	compose s.data <<-PY
		out = pipe(record(64, attr(1, 0, 1000, IP | TID | TIME, 0) + bytes(8)),
		    *[record(1, mmap(7, 0x10000 + 0x1000 * (i % 50), 0x1000, b"$PWD/big.apk", 0x1000))
		      for i in range(20000)],
		    record(9, struct.pack("<QIIQ", 0x10004, 7, 7, 1), 2))
	PY
	for tool in pmu-symbolize pmu-unwind; do
		read -r seconds kib <<-IN
			$(cost $tool -q --sysroot / s.data)
		IN
		echo "$seconds $kib"
		at_most "$seconds" "$(if sanitized; then echo 40; else echo 4; fi)"
	done
END

done_testing
