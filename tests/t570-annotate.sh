#!/bin/sh
# pmu-annotate: costs of lines and of instructions, as pprof and perf have them.
# kinds: release asan
. tests/lib.sh

# The programs take 0.1 s of CPU time each, most of it in "hot", with "mix" inlined.
cat >"$scratch/w.c" <<'END'
#include <stdint.h>
volatile uint64_t sink;
static inline __attribute__((always_inline)) uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	return x ^ x >> 29;
}
__attribute__((noinline)) uint64_t hot(uint64_t n)
{
	uint64_t s = !__builtin_frame_address(0);	/* so it has a frame */
	for (uint64_t i = 0; i < n; i++)
		s += mix(i) / (i + 3);
	return s;
}
__attribute__((noinline)) uint64_t outer(uint64_t n)
{
	uint64_t a = hot(n);
	return a + hot(n / 2);
}
int main(void)
{
	for (int i = 0; i < 60; i++)
		sink += outer(400000 + i);
}
END
cat >"$scratch/w.cc" <<'END'
#include <cstdint>
volatile uint64_t sink;
namespace ns {
template <typename T> struct Mixer {
	T seed;
	inline __attribute__((always_inline)) T mix(T x) const
	{
		x ^= x >> 33;
		return x / (seed + 3);
	}
	__attribute__((noinline)) T hot(T n)
	{
		T s = 0;
		for (T i = 0; i < n; i++)
			s += mix(i);
		return s;
	}
};
}
int main()
{
	ns::Mixer<uint64_t> m{7};
	for (int i = 0; i < 60; i++)
		sink = sink + m.hot(400000 + i);
}
END
cat >"$scratch/w.go" <<'END'
package main

import "fmt"

//go:noinline
func hot(n uint64) uint64 {
	var s uint64
	for i := uint64(0); i < n; i++ {
		s += mix(i) / (i + 3)
	}
	return s
}

func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>29
}

func main() {
	var t uint64
	for i := 0; i < 60; i++ {
		t += hot(400000 + uint64(i))
	}
	fmt.Println(t)
}
END
cat >"$scratch/w.rs" <<'END'
#[inline(always)]
fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51afd7ed558ccd);
    x ^ x >> 29
}
#[inline(never)]
fn hot(n: u64) -> u64 {
    let mut s: u64 = 0;
    for i in 0..n {
        s = s.wrapping_add(mix(i) / (i + 3));
    }
    s
}
fn main() {
    let mut t: u64 = 0;
    for i in 0..60 {
        t = t.wrapping_add(hot(400000 + i));
    }
    println!("{}", t);
}
END
cd "$scratch"
gcc -O2 -g -Wl,--build-id -fno-omit-frame-pointer -fno-optimize-sibling-calls -o w w.c
pmu-sample -q -g -e cpu-clock -F 5000 -o w.data -- ./w
pmu-symbolize -q w.data 2>err | pmu-topprof --slices 20 -o w.pb.gz
cd "$TOP"

# profile PROGRAM: record it here, to p.pb.gz
profile() {
	pmu-sample -q -e cpu-clock -F 5000 -o p.data -- "$1" >out
	pmu-symbolize -q p.data 2>err | pmu-topprof -o p.pb.gz
}

# ours OPTION...: the lines of pmu-annotate that have samples: place, flat, cum; without "ret",
# which pprof does not show at the end of a function, unless $returns is set
ours() {
	pmu-annotate -q -t samples --bars none --context 0 "$@" | awk -v returns="${returns-}" '
		NR > 2 && $NF != "..." && NF > 4 {
			i = 1
			flat = $i == "." ? 0 : $i
			i += $i == "." ? 1 : 2
			cum = $i == "." ? 0 : $i
			i += $i == "." ? 1 : 2
			i += $i == ">"
			sub(/^>/, "", $i)
			if ($i ~ /^[0-9a-f?]+:$/ && (flat || cum) && (returns || $(i + 1) !~ /^retq?$/)) {
				sub(":", "", $i)
				print $i, flat, cum
			}
		}' | sort
}

# theirs WHAT REGEX PROFILE: the same of go tool pprof -list and -disasm
theirs() {
	go tool pprof -sample_index=samples "-$1" "$2" "$3" 2>/dev/null | awk '
		/^ROUTINE/ || /\(flat, cum\)/ { next }
		$3 ~ /^[0-9a-f]+:/ && ($1 != "." || $2 != ".") && $4 != "RET" {
			split($3, at, ":")
			print at[1], $1 == "." ? 0 : $1, $2 == "." ? 0 : $2
		}' | sort
}

# agrees REGEX PROFILE [LEAST]: on lines and on instructions, of which some have samples
agrees() {
	ours "$1" "$2" >mine
	theirs list "$1" "$2" | same - mine
	at_least "$(awk '{ n += $2 } END { print n }' mine)" "${3:-20}"
	ours --show asm "$1" "$2" >mine
	theirs disasm "$1" "$2" | same - mine
	at_least "$(awk '{ n += $2 } END { print n }' mine)" "${3:-20}"
}

check 'lines and instructions of a C program have the counts of pprof -list and -disasm' <<'END'
	needs_command go objdump
	agrees 'hot|outer' "$scratch/w.pb.gz"
	ours '^mix$' "$scratch/w.pb.gz" >mine
	theirs list '^mix$' "$scratch/w.pb.gz" | same - mine
	# the caller's instruction is its call, whose target has a name
	pmu-annotate --show asm '^outer$' "$scratch/w.pb.gz" | grep "[1-9]\..*call  *0x[0-9a-f]* <hot>$"
END

check 'lines and instructions of C++ and Rust have those counts, too' <<'END'
	unsanitized
	needs_command go objdump g++
	g++ -O2 -g -Wl,--build-id -o cc "$scratch/w.cc"
	profile ./cc
	agrees 'hot|mix' p.pb.gz
	rustc=$(PATH=/usr/bin:$PATH command -v rustc) || skip "no rustc"
	$rustc -O -g -C link-arg=-Wl,--build-id -o rs "$scratch/w.rs"
	profile ./rs
	agrees hot p.pb.gz
END

check 'those of Go have them, too, and a stripped program has the same as the other' <<'END'
	unsanitized
	needs_command go objdump
	go build -o w "$scratch/w.go"
	profile ./w
	agrees 'main\.(hot|mix)' p.pb.gz
	pmu-annotate --show asm --context 1000 'main\.hot$' p.pb.gz | grep -o ' [0-9a-f]*: .*' >whole
	go build -ldflags=-s -o w "$scratch/w.go"
	none nm w 2>err
	profile ./w
	pmu-annotate --show asm --context 1000 'main\.hot$' p.pb.gz | grep -o ' [0-9a-f]*: .*' >stripped
	at_least "$(wc -l <whole)" 20
	# without symbols, what is called has no name
	sed 's/ <[^+>]*>$//; s/ <[^>]*[^>+]+0x[^>]*>$//' whole >plain
	head -n "$(wc -l <whole)" stripped | same plain -
	none sed "1,$(wc -l <whole)d; /int3\|nop/d" stripped	# up to the next function
END

check 'instructions have the counts of perf annotate' <<'END'
	unsanitized
	needs_command perf objdump
	perf_record -e cpu-clock -F 4000 -o perf.data "$scratch/w"
	returns=1	# perf shows them
	ours --show asm '^hot$' perf.data | cut -d " " -f 1,2 >mine
	perf annotate --stdio -n -i perf.data -s hot 2>err | sed -n \
		"s/^ *\([1-9][0-9]*\) : *\([0-9a-f]*\):.*/\2 \1/p" | sort | same - mine
	at_least "$(awk "{ n += \$2 } END { print n }" mine)" 20
END

check 'all instructions are there, as objdump of the program itself has them' <<'END'
	needs_command objdump
	pmu-annotate --show asm --context 1000 '^hot$' "$scratch/w.pb.gz" |
		sed -n "s/.* \([0-9a-f]*\): \(.*\)/\1 \2/p" |
		sed "s/0x\([0-9a-f]* <\)/\1/; s/ <.*//; s/ *$//" | tr -s " " >mine
	objdump -dw --no-show-raw-insn --disassemble=hot "$scratch/w" |
		sed -n "s/^ *\([0-9a-f]*\):\t\(.*\)/\1 \2/p" | sed "s/ <.*//" | tr -s " " >all
	sed "s/ *$//" all | same - mine
	at_least "$(wc -l <mine)" 15
	pmu-annotate --show both --context 1000 '^hot$' "$scratch/w.pb.gz" >both
	at_least "$(grep -c "w.c:[0-9]* .*mix(i)" both)" 1
	test "$(grep -c " [0-9a-f]*: " both)" = "$(wc -l <mine)"
END

check 'a stripped program with a debug file has the same lines and instructions' <<'END'
	needs_command objdump
	cp "$scratch/w" w
	id=$(file_build_id w)
	directory=debug/.build-id/$(echo "$id" | cut -c 1-2)
	mkdir -p "$directory"
	objcopy --only-keep-debug w "$directory/$(echo "$id" | cut -c 3-).debug"
	strip w
	pmu-annotate --show both '^hot$' "$scratch/w.pb.gz" >want
	rm -rf root
	mkdir -p "root$scratch"
	mv w "root$scratch/w"
	cp "$scratch/w.c" "root$scratch/w.c"
	pmu-annotate --show both --sysroot root --debug-dir debug '^hot$' "$scratch/w.pb.gz" |
		same want -
END

check 'a file of another build is refused, with the reason; lines need no file' <<'END'
	export HOME=$PWD	# perf record keeps the right file in ~/.debug
	mkdir -p "root$scratch"
	sed 's/400000/400001/' "$scratch/w.c" >other.c
	gcc -O2 -g -Wl,--build-id -o "root$scratch/w" other.c
	exits 1 pmu-annotate --show asm --sysroot root '^hot$' "$scratch/w.pb.gz" >out 2>err
	cat err
	grep -q "w.: the file here is of another build than the one recorded$" err
	grep -q "no function has instructions to show" err
	none grep -E " [0-9a-f]{4,}: " out
	pmu-annotate --sysroot root '^hot$' "$scratch/w.pb.gz" >out 2>err
	grep -q "13: .*mix(i) / (i + 3);" out
END

check 'rebuilt since the profile: refused by its build ID; without one, shown with a note' <<'END'
	unsanitized
	needs_command objdump
	export HOME=$PWD	# perf record keeps the right file in ~/.debug
	note="was changed after the profile was made; its instructions may be others$"
	for id in sha1 none; do
		gcc -O2 -g "-Wl,--build-id=$id" -o plain "$scratch/w.c"
		profile ./plain
		pmu-annotate --show asm '^hot$' p.pb.gz >out 2>err
		grep -qE " [0-9a-f]{4,}: " out
		none grep "changed" err
		sed 's/400000/400001/' "$scratch/w.c" >other.c
		gcc -O2 -g "-Wl,--build-id=$id" -o other other.c
		cat other >plain	# which keeps its inode
		if [ $id = sha1 ]; then
			exits 1 pmu-annotate --show asm '^hot$' p.pb.gz >out 2>err
			grep "plain': the file here is of another build than the one recorded$" err
		else
			pmu-annotate --show asm '^hot$' p.pb.gz >out 2>err
			grep -qE " [0-9a-f]{4,}: " out
			test "$(grep -c "/plain' $note" err)" = 1
		fi
	done
	# names follow the same rule; a file that is too small for what was mapped is refused by both
	pmu-symbolize p.data 2>err >r.data
	grep "/plain' was changed after the recording; its names may be wrong$" err
	echo "void _start(void) {}" |
		gcc -nostdlib -static -Wl,--build-id=none,-z,noseparate-code -o other -x c -
	cat other >plain
	exits 1 pmu-annotate --show asm '^hot$' p.pb.gz >out 2>err
	grep "no instructions in '.*/plain': it was changed after the recording$" err
END

check 'bars and ratios of a function are those of pmu-top' <<'END'
	unsanitized
	pmu-top "$scratch/w.pb.gz" | awk '$NF == "hot" { print $1, $2, $3, $4, $5, $6 }' >want
	pmu-annotate '^hot$' "$scratch/w.pb.gz" | awk '$NF == "hot" { print $1, $2, $3, $4, $5, $6 }' |
		same want -
	test -s want
	pmu-top --ratio cpu/samples=R "$scratch/w.pb.gz" >out
	sed -n "s/.*\( [0-9.e+]* \[.*\]\) *hot$/\1/p" out >want
	pmu-annotate --ratio cpu/samples=R '^hot$' "$scratch/w.pb.gz" >out
	sed -n "s/.*\( [0-9.e+]* \[.*\]\) *hot$/\1/p" out | same want -
	test -s want
	grep -q "^R of all:" out
	# one line has all that the function has
	ours --ratio cpu/samples=R '^hot$' "$scratch/w.pb.gz" >/dev/null
	exits 2 pmu-annotate --ratio x '^hot$' "$scratch/w.pb.gz"
	for wrong in "--ratio cpu/x" "--ratio x/cpu" "-t x"; do
		exits 1 pmu-annotate $wrong '^hot$' "$scratch/w.pb.gz" >out 2>err
		none grep . out
		echo "pmu-annotate: the profile has no sample type 'x'; it has samples cpu" | same - err
		exits 1 pmu-annotate -q $wrong '^hot$' "$scratch/w.pb.gz" >out 2>&1
		none grep . out
	done
	ours --ratio 1/0=R '^hot$' "$scratch/w.pb.gz" >numbers
	ours --ratio cpu/samples=R '^hot$' "$scratch/w.pb.gz" | same numbers -
	exits 1 pmu-annotate '(' "$scratch/w.pb.gz"
	exits 2 pmu-annotate --show asm,source hot "$scratch/w.pb.gz"
	exits 1 pmu-annotate 'no such function' "$scratch/w.pb.gz"
END

check 'lines with a tenth of the function are marked; without lines, --show asm is named' <<'END'
	pmu-annotate --bars none -t samples '^hot$' "$scratch/w.pb.gz" >out
	awk '$NF == "hot" { all = $3 }
		$5 ~ /^>?[0-9]+:$|^>$/ && $3 > 0 { print ($3 * 10 >= all) == ($5 ~ /^>/) }' out >right
	at_least "$(grep -c ">  *[0-9]*: " out)" 1
	none grep -v 1 right
	echo "a;b 3" | pmu-annotate . >out
	grep -q "the profile has no source lines of it; --show asm shows instructions" out
	none grep "source text of" out
END

check 'a profile in the place of the name is said to be one' <<'END'
	echo "a;b 3" >"named [x"
	gzip <"named [x" >p.gz
	for file in p.gz "$scratch/w.data" "$scratch/w.pb.gz"; do
		exits 2 pmu-annotate "$file" </dev/null 2>err
		grep -q "'$file' is taken for a name, and is a profile: type pmu-annotate NAME" err
	done
	echo "a;named [x 3" | pmu-annotate "named [x" | grep -q "; 1 of 1 functions"
END

check '-n takes the hottest, --context the lines around; streams are read as profiles are' <<'END'
	pmu-annotate -n 1 '.' "$scratch/w.pb.gz" >out 2>err
	grep -q "1 of [0-9]* functions that match" out
	test "$(grep -cE "(from|in) /" out)" = 1
	grep -q " hot$" out
	grep -q "more functions match" err
	pmu-annotate --context 0 '^hot$' "$scratch/w.pb.gz" >out
	none grep "int64_t hot" out
	pmu-annotate --context 3 '^hot$' "$scratch/w.pb.gz" | grep -q "10: {"
	ours '^(hot|outer)$' "$scratch/w.data" >raw
	ours '^(hot|outer)$' "$scratch/w.pb.gz" | same - raw
	ours '^(hot|outer)$' <"$scratch/w.pb.gz" | same - raw
	ours -i "$scratch/w.pb.gz" '^(hot|outer)$' | same - raw
END

# made: a profile p.pb by Python on stdin, which sets PARTS from string FIRST on
made() {
	{
		echo 'import sys; from profiles import *'
		cat
		echo 'sys.stdout.buffer.write(profile(parts, strings))'
	} | PYTHONPATH=$TOP/tests PYTHONDONTWRITEBYTECODE=1 python3 - >p.pb
}

# sourced FILE: a profile with a line 2 of the function "f" in this file
sourced() {
	made <<-PY
		strings = [b"f", b"$1"]
		line = lambda f, n: bytes_of(4, number(1, f) + number(2, n))
		parts = [function(1, FIRST, number(4, FIRST + 1)),
		         location(1, more=line(1, 2)), sample([1], [7])]
	PY
}

check 'source files are found in a tree that moved, and refused if not text or not a file' <<'END'
	mkdir -p moved/src
	printf 'one\n\ttwo\033[31m\nthree\n' >moved/src/f.c
	sourced /build/job/src/f.c
	pmu-annotate f p.pb >out 2>err
	grep -q "no source text of ./build/job/src/f.c.: it is not here: --source-path says" out
	grep -q " 2: $" out
	pmu-annotate --source-path nowhere --source-path moved f p.pb >out
	grep -q " 2:         two?\[31m$" out
	grep -q " 3: three$" out
	none grep "$(printf "\033")" out
	sourced ../../etc/../build/./src/f.c
	pmu-annotate --source-path moved f p.pb | grep -q " 3: three"
	printf 'one\n' >moved/src/f.c
	pmu-annotate --source-path moved f p.pb | grep -q "has only 1 lines: it is not what the program"
	mkfifo fifo
	sourced "$PWD/fifo"
	timeout 60 pmu-annotate f p.pb | grep -q "it is not a regular file"
	sourced /dev/zero
	timeout 60 pmu-annotate f p.pb | grep -q "it is not a regular file"
	sourced "$BIN/pmu-annotate"
	pmu-annotate f p.pb | grep -q "it is not text"
END

check 'a source file that is newer than the program is said to be' <<'END'
	unsanitized
	none grep "is newer" <<-EOF
		$(pmu-annotate '^hot$' "$scratch/w.pb.gz")
	EOF
	mkdir "src"
	cp "$scratch/w.c" src/w.c
	touch src/w.c
	pmu-annotate --source-path src '^hot$' "$scratch/w.pb.gz" |
		grep "src/w.c. is newer than the program: its lines may be others now"
END

check 'root shows only source files that all users may read, except below --source-path' <<'END'
	needs_root
	echo secret >secret.c
	echo secret >>secret.c
	chmod 640 secret.c
	sourced "$PWD/secret.c"
	pmu-annotate f p.pb >out
	none grep secret$ out
	grep -q "not all users may read it: name its directory with --source-path" out
	pmu-annotate --source-path / f p.pb | grep -q "2: secret"
	# a link does not lead out of the directory
	mkdir -p tree/src
	ln -s "$PWD/secret.c" tree/src/link.c
	ln -s ../own.c tree/src/near.c
	cp secret.c tree/own.c
	chmod 640 tree/own.c
	sourced /build/src/link.c
	pmu-annotate --source-path tree f p.pb >out
	none grep secret$ out
	sourced /build/src/near.c
	pmu-annotate --source-path tree f p.pb | grep -q "2: secret"
	chmod 644 secret.c
	sourced /build/src/link.c
	pmu-annotate --source-path tree f p.pb | grep -q "2: secret"
END

check 'numbers and names of a hostile profile do no harm' <<'END'
	made <<-PY
		name = b"f\033[31m<b>&\"" + b"x" * 5000
		strings = [name, b"/tmp/\033]0;x" + b"y" * 9000, b"$scratch/w", b"zz", b"[vdso]",
		           b"//anon"]
		line = lambda f, n: bytes_of(4, number(1, f) + number(2, n))
		far = [0, 1, 1 << 60, 1 << 63, (1 << 64) - 1, (1 << 63) - 1]
		parts = [function(1, FIRST, number(4, FIRST + 1)), function(2, FIRST)]
		for i, start in enumerate(far):
		    parts.append(bytes_of(3, number(1, i + 1) + number(2, start) +
		        number(3, far[-1 - i]) + number(4, far[i]) +
		        number(5, FIRST + 2 + i % 4) + number(6, i % 3 and FIRST + 3)))
		at = 1
		for of in range(len(far)):
		    for address in far:
		        for n in far:
		            lines = line(1 + at % 2, n) * (1 + at % 3)
		            parts.append(location(at, of=of + 1, address=address, more=lines))
		            parts.append(sample([at, at], [far[at % 6]]))
		            at += 1
	PY
	for how in "--show source" "--show asm" "--show both"; do
		for to in text html; do
			for context in 0 5 18446744073709551615; do
				timeout 120 pmu-annotate $how --context $context --to $to f p.pb >out 2>err ||
					test $? = 1
				test -s out
				none grep "$(printf "\033")" out err
				test $to = text || none grep "f?\[31m<b>" out
			done
		done
	done
END

check 'a profile in which nothing has a name has no function to show' <<'END'
	made <<-PY
		strings = []
		parts = [location(1, address=7), location(2, address=8), sample([1, 2], [3])]
	PY
	exits 1 pmu-annotate . p.pb >out 2>err
	grep -q "no function with samples" err
	test ! -s out
END

check 'a function of more than 1 MiB is cut, and shown once' <<'END'
	unsanitized
	needs_command objdump
	case $(uname -m) in x86_64) ;; *) skip "code of x86-64" ;; esac
	gcc -nostdlib -static -Wl,--build-id -o large -xassembler - <<-S
		.globl _start
		.type _start, @function
		_start: .rept 200000
		movabs \$0x1122334455667788, %rax
		.endr
		.size _start, . - _start
	S
	at=$(nm large | sed -n "s/ T _start$//p")
	made <<-PY
		strings = [b"_start", b"$PWD/large", b"$(file_build_id large)"]
		parts = [bytes_of(3, number(1, 1) + number(5, FIRST + 1) + number(6, FIRST + 2)),
		         function(1, FIRST)]
		for i, at in enumerate([1990000, 10, 1500000, 1048500, 1048580]):
		    parts += [location(i + 1, [1], 1, 0x$at + at), sample([i + 1], [9 + i])]
	PY
	pmu-annotate --show asm --context 0 --bars none _start p.pb >out
	test "$(grep -c " in /" out)" = 1
	grep -q "the function is larger than 1024 KiB: the rest is left out" out
	test "$(grep -c ": movabs" out)" = 2
END

check 'objdump is the only program that is run, on nothing but bytes in memory' <<'END'
	unsanitized
	needs_command strace objdump
	export HOME=$PWD	# without what perf record keeps
	strace -f -e trace=execve,open,openat,socket -o calls pmu-annotate --show both '^(hot|outer)$' \
		"$scratch/w.pb.gz" >out
	grep execve calls | grep -v ENOENT | sed 's/.*execve("\([^"]*\)".*/\1/' | sort -u >ran
	printf "%s\n" "$(command -v objdump)" "$(command -v pmu-annotate)" | sort | same - ran
	test "$(grep -c "openat.*\"/dev/stdin\"" calls)" = 2
	# our process opens these, and objdump nothing of them
	grep -v ENOENT calls | sed -n 's/.*openat([^"]*"\([^"]*\)".*/\1/p' | sort -u |
		grep -vE "^/(proc/s|dev/(stdin|null)|usr/lib/(x86|aarch)|lib|etc/ld)|locale|gconv" >opened
	printf "%s\n" "$scratch/w" "$scratch/w.c" "$scratch/w.pb.gz" | sort | same - opened
	none grep socket calls
END

check 'an objdump that is missing, fails or hangs is reported, and nothing is left' <<'END'
	unsanitized
	PATH=/nonexistent exits 1 "$BIN/pmu-annotate" --show asm 'hot|outer|main' "$scratch/w.pb.gz" \
		>out 2>err
	test "$(grep -c "objdump is not in PATH: install binutils" err)" = 1
	at_least "$(grep -c "its instructions are not known here" out)" 3
	mkdir fakes
	printf '#!/bin/sh\necho >>%s/runs; echo nonsense; exit 1\n' "$PWD" >fakes/objdump
	chmod +x fakes/objdump
	PMU_PATH=$PWD/fakes exits 1 pmu-annotate --show asm 'hot|outer' "$scratch/w.pb.gz" >out 2>err
	test "$(grep -c "fakes/objdump. failed: is it objdump of the GNU binutils?" err)" = 1
	test "$(wc -l <runs)" = 1	# what failed is not tried again
	printf '#!/bin/sh\necho $$ >%s/pid; exec sleep 1000\n' "$PWD" >fakes/objdump
	PMU_PATH=$PWD/fakes pmu-annotate --show asm -o out.txt '^hot$' "$scratch/w.pb.gz" 2>err &
	tool=$!
	eventually test -s pid
	kill -TERM $tool
	wait $tool || :
	eventually gone "$(cat pid)"
	test ! -e out.txt
	test "$(ls -A | grep -c pmukit)" = 0
END

check 'a page has the counts of the text, one style by its hash, and text that is escaped' <<'END'
	pmu-annotate --to html --show asm -t samples --context 0 -o page.html '^hot$' "$scratch/w.pb.gz"
	cat >read.py <<-'PY'
		import base64, hashlib, html.parser, re, sys
		text = open("page.html").read()
		style = re.search("<style>(.*)</style>", text, re.S).group(1)
		digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
		assert "style-src 'sha256-%s'" % digest in text and "default-src 'none'" in text
		assert "prefers-color-scheme" in style
		class Page(html.parser.HTMLParser):
		    rows, tags = [], set()
		    def handle_starttag(self, tag, attributes):
		        self.tags.add(tag)
		        assert not [a for a in attributes if a[0] in ("style", "src") or a[0][:2] == "on"]
		        if tag == "tr":
		            self.rows.append((dict(attributes).get("class", ""), []))
		        if tag == "td":
		            self.rows[-1][1].append("")
		    def handle_data(self, data):
		        if self.rows and self.rows[-1][1]:
		            self.rows[-1][1][-1] += data
		page = Page()
		page.feed(text)
		assert text.count("all of it") == text.count("<h2>") == 1
		assert not page.tags & {"script", "img", "a", "iframe", "form"}, page.tags
		for kind, cells in page.rows:
		    cells = [c.strip() for c in cells]
		    if kind.startswith("code") and cells[-1].split()[:1] not in (["ret"], ["retq"]):
		        print(cells[6], cells[0] or 0, cells[3] or 0)
	PY
	python3 read.py | sort >got
	ours --show asm '^hot$' "$scratch/w.pb.gz" | same - got
	test -s got
	pmu-annotate --to html '^hot$' "$scratch/w.pb.gz" | grep -q "i &lt; n; i++"
	exits 1 pmu-annotate --to html -o /dev/full '^hot$' "$scratch/w.pb.gz"
END

check 'JIT code comes from the jitdump file: the last of its name at an address' <<'END'
	needs_command objdump
	compose s.data <<-PY
		from jitdumps import *
		dump = Dump()
		dump.load(1000, 0x20000, 4, "first", 1, b"\x90\x90\x90\xc3")
		dump.load(1001, 0x30000, 3, "second", 2, b"\x31\xc0\xc3")
		dump.load(1002, 0x20000, 4, "first", 3, b"\x31\xc9\x90\xc3")
		dump.load(1003, 0x20000, 4, "other", 4, b"\xcc\xcc\xcc\xcc")
		dump.move(1004, 0x30000, 0x40000, 3, 2)
		open("jit-4194000.dump", "wb").write(dump.out)
		out = jit_file([(1002, 0x20002, "first"), (1002, 0x30002, "second"),
		                (2000, 0x40000, "second"), (2000, 0x40002, "second")],
		               "jit-4194000.dump")
	PY
	pmu-symbolize -q s.data | pmu-topprof -o p.pb.gz
	exits 1 pmu-annotate --show asm 'first|second' p.pb.gz >out 2>err
	grep -q "for code of a JIT compiler, name its jitdump file by --jitdump" err
	pmu-annotate --show asm --bars none -t samples --jitdump jit-4194000.dump 'first|second' p.pb.gz \
		>out 2>err
	sed -n "s/.* \([0-9a-f]*\): \([a-z]*\).*/\1 \2/p" out >got
	printf "%s\n" "40000 xor" "40002 ret" "30000 xor" "30002 ret" "20000 xor" "20002 nop" "20003 ret" |
		sort >want
	sort got | same want -
	grep -q "1 .* 20002: nop" out
	grep -q "first. was compiled 2 times to the same address" err
	head -c 100 jit-4194000.dump >cut.dump
	exits 1 pmu-annotate --show asm --jitdump cut.dump first p.pb.gz
	exits 1 pmu-annotate --show asm --jitdump p.pb.gz first p.pb.gz 2>err
	grep -q "is not a jitdump file" err
END

check 'code of another architecture needs an objdump that knows it' <<'END'
	unsanitized
	needs_command aarch64-linux-gnu-gcc aarch64-linux-gnu-objdump
	aarch64-linux-gnu-gcc -g -O2 -nostdlib -static -Wl,--build-id,-e,hot -o arm -xc - <<-C
		__attribute__((noinline)) int leaf(int i) { __asm__ volatile("nop"); return i / 7; }
		int hot(int i) { return leaf(i) + leaf(i + 1); }
	C
	at=$(nm arm | sed -n "s/ T hot$//p")
	made <<-PY
		strings = [b"hot", b"$PWD/arm", b"$(file_build_id arm)"]
		at = 0x$at
		parts = [bytes_of(3, number(1, 1) + number(5, FIRST + 1) + number(6, FIRST + 2)),
		         function(1, FIRST), location(1, [1], 1, at + 4), sample([1], [9])]
	PY
	pmu-annotate --show asm --context 100 hot p.pb >out
	at_least "$(grep -c " bl 0x[0-9a-f]* <leaf>$" out)" 1
	grep -q "^ *9 100.00%.* $(printf %x $((0x$at + 4))): " out
	# an objdump that does not know it says so
	mkdir fakes
	ln -s "$(command -v objdump)" fakes/objdump
	case $(uname -m) in x86_64) ;; *) exit 0 ;; esac
	objdump -i | grep -q "^aarch64" && exit 0
	PATH=$PWD/fakes exits 1 "$BIN/pmu-annotate" --show asm hot p.pb >out 2>err
	grep -q "could not disassemble code for aarch64; aarch64-linux-gnu-objdump or" err
END

done_testing
